#include "rungs/manifest.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "rungs/random.hpp"
#include "rungs/toml.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;

/// One file being read: knows how to say where something is wrong.
class Reader {
  public:
    explicit Reader(fs::path file) : file_(std::move(file)) {}

    [[noreturn]] void refuse(const toml::source_region& where, const std::string& what) const {
        std::ostringstream text;
        text << file_.string() << ':' << where.begin.line << ':' << where.begin.column << ": " << what;
        throw ManifestError(text.str());
    }
    [[noreturn]] void refuse(const toml::node& node, const std::string& what) const {
        refuse(node.source(), what);
    }

    /// A misspelt key would silently change a grade, so every key must be known.
    void only(const toml::table& table, const std::set<std::string>& known) const {
        for (const auto& [key, value] : table) {
            if (known.count(std::string(key.str()))) continue;
            std::string list;
            for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
            refuse(key.source(), "unknown key '" + std::string(key.str()) + "'; expected one of: " + list);
        }
    }

    const toml::node& required(const toml::table& table, const char* key, const std::string& where) const {
        const toml::node* node = table.get(key);
        if (!node) refuse(table, where + " needs the key '" + key + "'");
        return *node;
    }

    std::string text(const toml::node& node, const std::string& what) const {
        const auto value = node.value_exact<std::string>();
        if (!value) refuse(node, what + " must be a string");
        if (value->empty()) refuse(node, what + " must not be empty");
        return *value;
    }

    double number(const toml::node& node, const std::string& what, double least) const {
        const auto value = node.value<double>();
        if (!value || !(*value >= least)) {
            std::ostringstream need;
            need << what << " must be a number of at least " << least;
            refuse(node, need.str());
        }
        return *value;
    }

    /// Points are given, and added up, in hundredths.
    double points(const toml::node& node) const {
        const double value = number(node, "'points'", 0);
        if (std::abs(100 * value - std::round(100 * value)) > 1e-6)
            refuse(node, "'points' has at most two decimals");
        return value;
    }

    long long integer(const toml::node& node, const std::string& what, long long least) const {
        const auto value = node.value_exact<int64_t>();
        if (!value || *value < least)
            refuse(node, what + " must be a whole number of at least " + std::to_string(least));
        return *value;
    }

    const toml::table& table(const toml::node& node, const std::string& what) const {
        if (!node.as_table()) refuse(node, what + " must be a table");
        return *node.as_table();
    }

    const toml::array& array(const toml::node& node, const std::string& what) const {
        if (!node.as_array() || node.as_array()->empty())
            refuse(node, what + " must be a list with at least one entry");
        return *node.as_array();
    }

    std::vector<std::string> texts(const toml::node& node, const std::string& what) const {
        std::vector<std::string> values;
        for (const toml::node& entry : array(node, what))
            values.push_back(text(entry, "an entry of " + what));
        return values;
    }

    /// One size: `n`, or `[nx, ny]`.
    std::vector<long long> size(const toml::node& node) const {
        if (!node.is_array()) return {integer(node, "a size", 0)};
        std::vector<long long> values;
        for (const toml::node& entry : array(node, "a size")) values.push_back(integer(entry, "a size", 0));
        return values;
    }

  private:
    fs::path file_;
};

bool digit(char c) { return c >= '0' && c <= '9'; }

/// Lower-case letters, digits and underscores.
bool is_plain(const std::string& name) {
    return std::all_of(name.begin(), name.end(),
                       [&](char c) { return (c >= 'a' && c <= 'z') || digit(c) || c == '_'; });
}

bool is_rung_name(const std::string& name) {
    return name.size() > 3 && digit(name[0]) && digit(name[1]) && name[2] == '_' && is_plain(name.substr(3));
}

CaseGroup read_cases(const Reader& in, const toml::table& table, const Manifest& manifest) {
    in.only(table, {"problems", "sizes", "kinds", "seeds", "backend", "checked"});
    CaseGroup group;
    if (const toml::node* node = table.get("problems")) {
        group.problems = in.texts(*node, "'problems'");
        for (const std::string& name : group.problems) {
            const auto same = [&](const ProblemEntry& problem) { return problem.name == name; };
            if (std::none_of(manifest.problems.begin(), manifest.problems.end(), same)) {
                in.refuse(*node, "'" + name + "' is not one of the chapter's [problems]");
            }
        }
    }
    for (const toml::node& entry : in.array(in.required(table, "sizes", "[[cases]]"), "'sizes'")) {
        group.sizes.push_back(in.size(entry));
    }
    group.kinds = in.texts(in.required(table, "kinds", "[[cases]]"), "'kinds'");
    if (const toml::node* node = table.get("seeds"))
        group.seeds = static_cast<int>(in.integer(*node, "'seeds'", 1));
    if (const toml::node* node = table.get("backend")) {
        const std::string name = in.text(*node, "'backend'");
        if (name != "cpu" && name != "cuda") in.refuse(*node, "'backend' must be \"cpu\" or \"cuda\"");
        group.backend = name == "cpu" ? Backend::cpu : Backend::cuda;
    }
    if (const toml::node* node = table.get("checked")) {
        const auto value = node->value_exact<bool>();
        if (node->is_array())
            group.checked_rungs = in.texts(*node, "'checked'");
        else if (!value)
            in.refuse(*node, "'checked' must be true, false or a list of rungs");
        if (value.value_or(true) && group.backend == Backend::cuda)
            in.refuse(*node,
                      "cases of the cuda backend cannot be 'checked': check mode is the cpu backend's");
        group.checked = value;
    }
    return group;
}

CheckRule read_check(const Reader& in, const toml::table& table) {
    in.only(table, {"sizes", "kinds", "work", "orders", "required"});
    CheckRule rule;
    if (const toml::node* node = table.get("sizes")) {
        for (const toml::node& entry : in.array(*node, "'sizes'")) rule.sizes.push_back(in.size(entry));
        rule.kinds = in.texts(in.required(table, "kinds", "a [check] with 'sizes'"), "'kinds'");
    } else if (const toml::node* kinds = table.get("kinds")) {
        in.refuse(*kinds, "'kinds' of [check] needs 'sizes' as well");
    }
    if (const toml::node* node = table.get("work")) {
        if (!rule.sizes.empty()) in.refuse(*node, "[check] has either 'sizes' or 'work'");
        rule.work = in.number(*node, "'work'", 1);
    }
    if (const toml::node* node = table.get("orders"))
        rule.orders = static_cast<int>(in.integer(*node, "'orders'", 1));
    if (const toml::node* node = table.get("required")) {
        const auto value = node->value_exact<bool>();
        if (!value) in.refuse(*node, "'required' must be true or false");
        rule.required = *value;
    }
    return rule;
}

/// An entry of [[timed]], or of [[modelled]], which is not called more than once.
TimedCase read_timed(const Reader& in, const toml::table& table, const Manifest& manifest, bool calls) {
    if (calls) {
        in.only(table, {"problem", "sizes", "kind", "calls"});
    } else {
        in.only(table, {"problem", "sizes", "kind"});
    }
    TimedCase timed;
    if (!calls) timed.calls = 1;
    const toml::node& problem = in.required(table, "problem", calls ? "[[timed]]" : "[[modelled]]");
    timed.problem = in.text(problem, "'problem'");
    const auto same = [&](const ProblemEntry& entry) { return entry.name == timed.problem; };
    if (std::none_of(manifest.problems.begin(), manifest.problems.end(), same)) {
        in.refuse(problem, "'" + timed.problem + "' is not one of the chapter's [problems]");
    }
    for (const toml::node& entry :
         in.array(in.required(table, "sizes", calls ? "[[timed]]" : "[[modelled]]"), "'sizes'")) {
        timed.sizes.push_back(in.integer(entry, "a size", 1));
    }
    timed.kind = in.text(in.required(table, "kind", calls ? "[[timed]]" : "[[modelled]]"), "'kind'");
    if (const toml::node* node = table.get("calls"))
        timed.calls = static_cast<int>(in.integer(*node, "'calls'", 1));
    return timed;
}

SpeedRule read_speed(const Reader& in, const toml::table& table, Kind kind) {
    const bool summit = kind == Kind::summit;
    if (summit) {
        in.only(table, {"points", "baseline", "modelled"});
    } else {
        in.only(table, {"points", "baseline", "zero", "full", "modelled"});
    }
    SpeedRule rule;
    rule.points = in.points(in.required(table, "points", "'speed'"));
    rule.baseline = in.text(in.required(table, "baseline", "'speed'"), "'baseline'");
    if (summit) {
        rule.to_reference = true;
        rule.full = HUGE_VAL;
        if (const toml::node* node = table.get("modelled")) {
            const auto value = node->value_exact<bool>();
            if (!value) in.refuse(*node, "'modelled' of a summit must be true or false");
            if (*value) rule.modelled = SpeedRule::Thresholds{rule.zero, rule.full};
        }
        return rule;
    }
    rule.zero = in.number(in.required(table, "zero", "'speed'"), "'zero'", 1);
    const toml::node& full = in.required(table, "full", "'speed'");
    rule.full = in.number(full, "'full'", 1);
    if (!(rule.full > rule.zero)) in.refuse(full, "'full' must be greater than 'zero'");
    if (const toml::node* node = table.get("modelled")) {
        const toml::table& modelled = in.table(*node, "'modelled'");
        in.only(modelled, {"zero", "full"});
        SpeedRule::Thresholds thresholds;
        thresholds.zero = in.number(in.required(modelled, "zero", "'modelled'"), "'zero'", 1);
        const toml::node& most = in.required(modelled, "full", "'modelled'");
        thresholds.full = in.number(most, "'full'", 1);
        if (!(thresholds.full > thresholds.zero)) in.refuse(most, "'full' must be greater than 'zero'");
        rule.modelled = thresholds;
    }
    return rule;
}

Kind read_kind(const Reader& in, const toml::node& node) {
    const std::string name = in.text(node, "'kind'");
    std::string known;
    for (const Kind kind :
         {Kind::given, Kind::fill, Kind::write, Kind::repair, Kind::predict, Kind::summit}) {
        if (name == name_of(kind)) return kind;
        known += std::string(known.empty() ? "" : ", ") + name_of(kind);
    }
    in.refuse(node, "'kind' must be one of: " + known);
}

Question read_question(const Reader& in, const toml::table& table, const Manifest& manifest) {
    in.only(table,
            {"name", "ask", "rung", "counter", "over", "per", "case", "tolerance", "choices", "answer"});
    const auto text = [&](const char* key) {
        return in.text(in.required(table, key, "a question"), std::string("'") + key + "'");
    };
    Question question;
    question.name = text("name");
    if (digit(question.name[0]) || !is_plain(question.name))
        in.refuse(*table.get("name"), "'name' must be a key such as sectors_per_load");
    question.ask = text("ask");
    if (const toml::node* node = table.get("tolerance"))
        question.tolerance = in.number(*node, "'tolerance'", 0);
    if (const toml::node* node = table.get("choices")) {
        for (const toml::node& entry : in.array(*node, "'choices'"))
            question.choices.push_back(in.number(entry, "a choice", 0));
    }
    if (const toml::node* node = table.get("answer")) {
        question.answer = in.number(*node, "'answer'", 0);
        for (const char* key : {"rung", "counter", "over", "per", "case"}) {
            if (table.contains(key))
                in.refuse(*table.get(key), std::string("a question with an 'answer' has no '") + key + "'");
        }
        return question;
    }
    question.rung = text("rung");
    question.counter = text("counter");
    const std::vector<std::string>& known = counter_names();
    if (std::find(known.begin(), known.end(), question.counter) == known.end()) {
        std::string list;
        for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
        in.refuse(*table.get("counter"), "'counter' must be one of: " + list);
    }
    const bool relative = question.counter == "modelled_speedup";
    if (relative) question.over = text("over");
    if (!relative && table.contains("over"))
        in.refuse(*table.get("over"), "'over' belongs to the counter modelled_speedup");
    if (const toml::node* node = table.get("per")) question.per = in.number(*node, "'per'", 1e-300);
    if (const toml::node* node = table.get("case"))
        question.which = read_timed(in, in.table(*node, "'case'"), manifest, false);
    return question;
}

/// The rungs and the case of every question, which may come behind it in the manifest.
void settle_questions(const Reader& in, const toml::table& rungs, Manifest& manifest) {
    for (RungEntry& rung : manifest.rungs) {
        for (std::size_t i = 0; i < rung.questions.size(); ++i) {
            Question& question = rung.questions[i];
            const toml::node& place =
                *(*rungs.get(rung.name)->as_table()->get("questions")->as_array()).get(i);
            for (std::size_t j = 0; j < i; ++j) {
                if (rung.questions[j].name == question.name)
                    in.refuse(place, "there are two questions '" + question.name + "'");
            }
            if (question.answer) continue;
            const RungEntry* const about = manifest.find(question.rung);
            if (!about || about->name != question.rung || about->kind == Kind::predict)
                in.refuse(place, "'rung' of '" + question.name + "' must name a rung that has a kernel");
            if (question.which.problem.empty()) {
                const TimedCase* const modelled = Manifest::case_for(*about, manifest.modelled);
                if (!modelled) {
                    in.refuse(place, "'" + question.name +
                                         "' needs a 'case': none of [[modelled]] is a problem of " +
                                         about->name);
                }
                question.which = *modelled;
            }
            const RungEntry* const over = question.over.empty() ? about : manifest.find(question.over);
            if (!over || !over->solves(question.which.problem) || !about->solves(question.which.problem)) {
                in.refuse(place, "the rungs of '" + question.name + "' must both solve '" +
                                     question.which.problem + "'");
            }
        }
    }
}

RungEntry read_rung(const Reader& in, const std::string& name, const toml::table& table,
                    const Manifest& manifest) {
    in.only(table, {"idea", "kind", "minutes", "difficulty", "problems", "points", "speed", "hints",
                    "time_limit", "repeatable", "checks_launches", "questions", "limits"});
    RungEntry rung;
    rung.name = name;
    rung.idea = in.text(in.required(table, "idea", "[rungs." + name + "]"), "'idea'");
    if (const toml::node* node = table.get("problems")) {
        rung.problems = in.texts(*node, "'problems'");
    } else {
        for (const ProblemEntry& problem : manifest.problems) rung.problems.push_back(problem.name);
    }
    if (const toml::node* node = table.get("points")) rung.points = in.points(*node);
    rung.kind = rung.given() ? Kind::given : Kind::fill;
    if (const toml::node* node = table.get("kind")) {
        rung.kind = read_kind(in, *node);
        if ((rung.kind == Kind::given) != rung.given()) {
            in.refuse(*node, rung.given() ? "a rung without 'points' is given"
                                          : "a rung with 'points' is not given");
        }
    }
    if (const toml::node* node = table.get("minutes")) {
        rung.minutes = static_cast<int>(in.integer(*node, "'minutes'", 1));
    }
    if (const toml::node* node = table.get("difficulty")) {
        rung.difficulty = static_cast<int>(in.integer(*node, "'difficulty'", 1));
        if (rung.difficulty > 5) in.refuse(*node, "'difficulty' must be from 1 to 5");
    }
    if (const toml::node* node = table.get("speed"))
        rung.speed = read_speed(in, in.table(*node, "'speed'"), rung.kind);
    if (const toml::node* node = table.get("hints")) rung.hints = in.texts(*node, "'hints'");
    for (const auto& [key, flag] :
         {std::pair{"repeatable", &rung.repeatable}, {"checks_launches", &rung.checks_launches}}) {
        if (const toml::node* node = table.get(key)) {
            const auto value = node->value_exact<bool>();
            if (!value) in.refuse(*node, "'" + std::string(key) + "' must be true or false");
            *flag = *value;
        }
    }
    if (const toml::node* node = table.get("limits")) {
        if (rung.given()) in.refuse(*node, "'limits' cost points, and a given rung has none");
        for (const auto& [key, value] : in.table(*node, "'limits'")) {
            const std::string counter(key.str());
            const std::vector<std::string>& known = counter_names();
            if (counter.rfind("modelled", 0) == 0 ||
                std::find(known.begin(), known.end(), counter) == known.end()) {
                in.refuse(value, "'" + counter + "' is not a counter that can be limited");
            }
            rung.limits.push_back({counter, in.number(value, "'" + counter + "'", 1)});
        }
    }
    if (const toml::node* node = table.get("time_limit")) {
        rung.time_limit = in.number(*node, "'time_limit'", 0.1);
    }
    if (rung.kind == Kind::predict) {
        for (const char* key :
             {"problems", "speed", "time_limit", "repeatable", "checks_launches", "limits"}) {
            if (const toml::node* node = table.get(key))
                in.refuse(*node,
                          "a rung of kind predict has no kernel, and so no '" + std::string(key) + "'");
        }
        rung.problems.clear();
        for (const toml::node& entry :
             in.array(in.required(table, "questions", "a rung of kind predict"), "'questions'")) {
            rung.questions.push_back(read_question(in, in.table(entry, "a question"), manifest));
        }
    } else if (const toml::node* node = table.get("questions")) {
        in.refuse(*node, "'questions' are for rungs of kind predict");
    }
    if (rung.given() && rung.speed) in.refuse(table, "rung '" + name + "' has speed points but no 'points'");
    if (!rung.given() && rung.hints.empty()) {
        in.refuse(table, "rung '" + name + "' has points and so needs at least one entry in 'hints'");
    }
    return rung;
}

/// Folder and manifest must name the same rungs.
void check_files(const Reader& in, const toml::table& table, const Manifest& manifest) {
    for (const RungEntry& rung : manifest.rungs) {
        // A student's file that was deleted is reported where it is needed; it comes back from its solution.
        if (rung.given() && !fs::exists(manifest.folder / (rung.name + ".cu"))) {
            in.refuse(*table.get(rung.name), "there is no file " + rung.name + ".cu beside this manifest");
        }
        if (!rung.speed) continue;
        const RungEntry* baseline = manifest.find(rung.speed->baseline);
        if (!baseline || baseline->name != rung.speed->baseline || baseline->name == rung.name) {
            in.refuse(*table.get(rung.name),
                      "'baseline' of the speed of '" + rung.name + "' must name another rung of the chapter");
        }
        for (const auto* cases : {&manifest.timed, &manifest.modelled}) {
            const TimedCase* timed = Manifest::case_for(rung, *cases);
            if (!timed || baseline->solves(timed->problem)) continue;
            in.refuse(*table.get(rung.name), "'" + baseline->name + "', which the speed of '" + rung.name +
                                                 "' refers to, does not solve '" + timed->problem + "'");
        }
        if (rung.speed->modelled && !Manifest::case_for(rung, manifest.modelled)) {
            in.refuse(*table.get(rung.name), "the speed of '" + rung.name +
                                                 "' has 'modelled' thresholds, but none of [[modelled]] is a "
                                                 "problem of this rung");
        }
    }
    for (const auto& entry : fs::directory_iterator(manifest.folder)) {
        const std::string stem = entry.path().stem().string();
        const std::string type = entry.path().extension().string();
        if ((type != ".cu" && type != ".toml") || !is_rung_name(stem)) continue;
        const RungEntry* const rung = manifest.find(stem);
        if (!rung) in.refuse(table, "the file " + stem + type + " has no entry; add [rungs." + stem + "]");
        if (rung->file() != stem + type) {
            in.refuse(*table.get(stem), "a rung of kind " + std::string(name_of(rung->kind)) + " is a file " +
                                            rung->file() + ", not " + stem + type);
        }
    }
}

/// Every case with its group, which is the manifest's.
std::vector<std::pair<Case, const CaseGroup*>> grouped_cases(const Manifest& manifest, const RungEntry& rung,
                                                             Backend backend, std::uint64_t key) {
    std::vector<std::pair<Case, const CaseGroup*>> all;
    for (const CaseGroup& group : manifest.cases) {
        if (group.backend && *group.backend != backend) continue;
        for (const std::string& problem : rung.problems) {
            if (!group.problems.empty() &&
                std::find(group.problems.begin(), group.problems.end(), problem) == group.problems.end()) {
                continue;
            }
            for (const auto& size : group.sizes) {
                for (const std::string& kind : group.kinds) {
                    for (int seed = 0; seed < group.seeds; ++seed) {
                        const std::uint64_t input = seed_of(key, Purpose::cases, all.size());
                        all.emplace_back(Case{problem, size, kind, input}, &group);
                    }
                }
            }
        }
    }
    return all;
}

}  // namespace

const char* name_of(Backend backend) { return backend == Backend::cpu ? "cpu" : "cuda"; }

const char* name_of(Kind kind) {
    switch (kind) {
        case Kind::given:
            return "given";
        case Kind::fill:
            return "fill";
        case Kind::write:
            return "write";
        case Kind::repair:
            return "repair";
        case Kind::predict:
            return "predict";
        case Kind::summit:
            return "summit";
    }
    return "";
}

const std::vector<std::string>& counter_names() {
    static const std::vector<std::string> names = [] {
        std::istringstream words(
            "launches blocks warps threads barriers shuffles active_lanes load_requests load_sectors "
            "sectors_per_load store_requests store_sectors sectors_per_store atomics global_bytes "
            "useful_share shared_requests wavefronts wavefronts_per_request bank_conflicts copied_bytes "
            "modelled_microseconds modelled_speedup");
        return std::vector<std::string>(std::istream_iterator<std::string>(words), {});
    }();
    return names;
}

std::uint64_t seed_of(std::uint64_t key, Purpose purpose, std::uint64_t number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    return siphash({key, static_cast<std::uint64_t>(purpose)}, {bytes, sizeof bytes});
}

bool RungEntry::solves(const std::string& problem) const {
    return std::find(problems.begin(), problems.end(), problem) != problems.end();
}

const RungEntry* Manifest::find(const std::string& rung) const {
    for (const RungEntry& entry : rungs) {
        if (entry.name == rung || entry.name.substr(0, 2) == rung || entry.launcher() == rung) return &entry;
    }
    return nullptr;
}

const TimedCase* Manifest::case_for(const RungEntry& rung, const std::vector<TimedCase>& cases) {
    const auto found = std::find_if(cases.begin(), cases.end(),
                                    [&](const TimedCase& one) { return rung.solves(one.problem); });
    return found == cases.end() ? nullptr : &*found;
}

std::vector<Case> Manifest::cases_of(const RungEntry& rung, Backend backend, std::uint64_t key) const {
    std::vector<Case> all;
    for (const auto& [which, group] : grouped_cases(*this, rung, backend, key)) all.push_back(which);
    return all;
}

std::optional<bool> CaseGroup::checked_for(const std::string& rung) const {
    const auto& named = checked_rungs;
    return std::find(named.begin(), named.end(), rung) != named.end() ? true : checked;
}

std::vector<Case> Manifest::large_check_cases_of(const RungEntry& rung, std::uint64_t key) const {
    std::vector<Case> chosen;
    for (const auto& [which, group] : grouped_cases(*this, rung, Backend::cpu, key))
        if (group->checked_for(rung.name).value_or(false)) chosen.push_back(which);
    return chosen;
}

std::vector<Case> Manifest::check_cases_of(const RungEntry& rung, std::uint64_t key) const {
    std::vector<Case> chosen;
    if (check.sizes.empty()) {
        for (auto& [which, group] : grouped_cases(*this, rung, Backend::cpu, key)) {
            if (!group->checked_for(rung.name).value_or(true)) continue;
            const auto same = [&which = which](const Case& other) {
                return other.problem == which.problem && other.sizes == which.sizes;
            };
            if (std::none_of(chosen.begin(), chosen.end(), same)) chosen.push_back(std::move(which));
        }
        return chosen;
    }
    for (const std::string& problem : rung.problems) {
        for (const auto& size : check.sizes) {
            for (const std::string& kind : check.kinds) {
                chosen.push_back({problem, size, kind, seed_of(key, Purpose::checks, chosen.size())});
            }
        }
    }
    return chosen;
}

Manifest read_manifest(const fs::path& folder) {
    const fs::path file = folder / "chapter.toml";
    if (!fs::exists(file))
        throw ManifestError(file.string() + ": no such file; every chapter has a manifest");
    const Reader in(file);
    toml::table root;
    try {
        root = toml::parse_file(file.string());
    } catch (const toml::parse_error& error) {
        in.refuse(error.source(), std::string(error.description()));
    } catch (const std::logic_error& error) {
        throw ManifestError(file.string() + ": " + error.what());
    }

    Manifest manifest;
    manifest.folder = folder;
    manifest.chapter = fs::absolute(folder).lexically_normal().filename().string();
    in.only(root, {"title", "summary", "namespace", "contract", "problems", "cases", "check", "timed",
                   "modelled", "rungs"});
    manifest.title = in.text(in.required(root, "title", "a manifest"), "'title'");
    manifest.summary = in.text(in.required(root, "summary", "a manifest"), "'summary'");
    manifest.name_space = in.text(in.required(root, "namespace", "a manifest"), "'namespace'");
    const toml::node& contract = in.required(root, "contract", "a manifest");
    manifest.contract = in.text(contract, "'contract'");
    if (!fs::exists(folder / manifest.contract)) in.refuse(contract, "there is no file " + manifest.contract);

    const toml::table& problems = in.table(in.required(root, "problems", "a manifest"), "[problems]");
    std::map<std::size_t, ProblemEntry> by_line;  // toml++ sorts keys; the author's order is the one to show
    for (const auto& [key, value] : problems) {
        by_line[key.source().begin.line] = {std::string(key.str()), in.text(value, "a signature")};
    }
    if (by_line.empty())
        in.refuse(problems, "[problems] must name at least one problem, as in: sum = \"Sum\"");
    for (auto& [line, problem] : by_line) manifest.problems.push_back(std::move(problem));
    for (const toml::node& entry : in.array(in.required(root, "cases", "a manifest"), "[[cases]]")) {
        manifest.cases.push_back(read_cases(in, in.table(entry, "[[cases]]"), manifest));
    }
    if (const toml::node* node = root.get("timed")) {
        for (const toml::node& entry : in.array(*node, "[[timed]]"))
            manifest.timed.push_back(read_timed(in, in.table(entry, "[[timed]]"), manifest, true));
    }
    if (const toml::node* node = root.get("modelled")) {
        for (const toml::node& entry : in.array(*node, "[[modelled]]"))
            manifest.modelled.push_back(read_timed(in, in.table(entry, "[[modelled]]"), manifest, false));
    }
    if (const toml::node* node = root.get("check")) {
        manifest.check = read_check(in, in.table(*node, "[check]"));
    }
    const toml::table& rungs = in.table(in.required(root, "rungs", "a manifest"), "[rungs]");
    for (const auto& [key, value] : rungs) {
        const std::string name(key.str());
        if (!is_rung_name(name))
            in.refuse(key.source(), "'" + name + "' is not a rung name; expected NN_technique");
        manifest.rungs.push_back(read_rung(in, name, in.table(value, "[rungs." + name + "]"), manifest));
        manifest.kinds = manifest.kinds || value.as_table()->contains("kind");
    }
    for (const auto& [key, value] : rungs) {
        if (manifest.kinds && !value.as_table()->contains("kind"))
            in.refuse(value, "other rungs of the chapter state their 'kind': '" + std::string(key.str()) +
                                 "' has to as well");
    }
    const toml::array& groups = *root.get("cases")->as_array();
    for (std::size_t i = 0; i < groups.size(); ++i) {
        for (const std::string& name : manifest.cases[i].checked_rungs) {
            const toml::node& list = *groups[i].as_table()->get("checked");
            const RungEntry* rung = manifest.find(name);
            if (!rung || rung->name != name) in.refuse(list, "the chapter has no rung '" + name + "'");
            const auto& of_group = manifest.cases[i].problems;
            const auto solves = [&](const std::string& problem) {
                return of_group.empty() ||
                       std::find(of_group.begin(), of_group.end(), problem) != of_group.end();
            };
            if (std::none_of(rung->problems.begin(), rung->problems.end(), solves))
                in.refuse(list, "'" + name + "' solves none of the group's problems");
        }
    }
    // toml++ keeps tables sorted by key, which for two-digit names is the order of the ladder.
    settle_questions(in, rungs, manifest);
    check_files(in, rungs, manifest);
    return manifest;
}

std::vector<Manifest> read_manifests(const fs::path& chapters) {
    std::vector<fs::path> folders;
    if (!fs::is_directory(chapters)) throw ManifestError(chapters.string() + ": no such folder");
    for (const auto& entry : fs::directory_iterator(chapters)) {
        if (entry.is_directory() && is_rung_name(entry.path().filename().string()))
            folders.push_back(entry.path());
    }
    std::sort(folders.begin(), folders.end());
    std::vector<Manifest> manifests;
    for (const fs::path& folder : folders) manifests.push_back(read_manifest(folder));
    return manifests;
}

}  // namespace rungs
