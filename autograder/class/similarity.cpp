#include "class/similarity.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "class/export.hpp"
#include "judge/build/build.hpp"
#include "judge/build/cache.hpp"
#include "judge/build/source.hpp"
#include "judge/confine/process.hpp"
#include "judge/session.hpp"
#include "report/text.hpp"
#include "rungs/atomic_file.hpp"
#include "rungs/statistics.hpp"

namespace rungs::classroom {
namespace {

namespace fs = std::filesystem;
using judge::InfraError;

// Pairs that are listed: as words, or as structure where that is unusual for the rung.
constexpr double many_words = 0.6, much_structure = 0.9, unusual = 0.15;
constexpr std::size_t most_pairs = 25;   ///< of a rung
constexpr std::size_t least_words = 30;  ///< that a hand-in has of its own, to be compared
// The shortest run that is a similarity.
constexpr const char *run_of_words = "8", *run_of_tokens = "16";
constexpr double compare_seconds = 900;
constexpr std::size_t compare_memory = 2ULL << 30, output_bytes = 256U << 20;

/// The package's program. @throws ClassError
std::string tester(const std::string& name) {
    if (const fs::path file = judge::find_on_path(name); !file.empty()) return file.string();
    throw ClassError(name +
                     " is not installed; it compares hand-ins: sudo apt-get install similarity-tester");
}

/// Lines without blanks at their ends.
std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(trimmed(line));
    return lines;
}

/// A file without what the starter has, line by line, so that lines keep their numbers.
std::string own_text(const std::string& text, const std::set<std::string>& starter) {
    std::string own;
    for (const std::string& line : lines_of(clean_utf8(text))) {
        if (!starter.count(line)) own += line;
        own += '\n';
    }
    return own;
}

std::size_t words_in(const std::string& text) {
    std::size_t words = 0;
    bool inside = false;
    for (const char c : text) {
        const bool letter = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
        words += letter && !inside;
        inside = letter;
    }
    return words;
}

std::string without_blanks(std::string text) {
    std::erase_if(text, [](char c) { return std::isspace(static_cast<unsigned char>(c)); });
    return text;
}

/// Of two files, by number and the smaller one first, the share of the shorter one's text that the other one
/// has; those without anything in common are not there.
using Shares = std::map<std::pair<std::size_t, std::size_t>, double>;

/// Files of one rung in a folder of their own, by number, for the tester to compare.
class Comparison {
  public:
    Comparison(const judge::Toolchain& toolchain, const std::atomic<bool>* stop)
        : words_(tester("sim_text")),
          structure_(tester("sim_c++")),
          root_(toolchain.root.string()),
          stop_(stop),
          work_(toolchain.cache) {}

    void add(const std::string& text) {
        judge::write_working_file(work_.path() / std::to_string(count_++), text);
    }

    std::size_t count() const { return count_; }

    Shares words() const { return shares(words_, run_of_words); }
    Shares structure() const { return shares(structure_, run_of_tokens); }

    /// What two files share, in the order of the first one's lines.
    std::vector<AlikeLines> lines(std::size_t one, std::size_t other) const {
        std::vector<AlikeLines> found;
        std::istringstream in(run(
            {structure_, "-e", "-n", "-s", "-r", run_of_tokens, std::to_string(one), std::to_string(other)}));
        for (std::string line; std::getline(in, line);) {
            std::size_t left = 0, right = 0;
            AlikeLines lines;
            if (std::sscanf(line.c_str(), "%zu: line %d-%d |%zu: line %d-%d", &left, &lines.first,
                            &lines.last, &right, &lines.other_first, &lines.other_last) != 6)
                continue;
            if (left != one) lines = {lines.other_first, lines.other_last, lines.first, lines.last};
            found.push_back(lines);
        }
        std::sort(found.begin(), found.end(), [](const AlikeLines& a, const AlikeLines& b) {
            return std::tie(a.first, a.last, a.other_first) < std::tie(b.first, b.last, b.other_first);
        });
        if (found.size() > AlikePair::most_lines) found.resize(AlikePair::most_lines);
        return found;
    }

  private:
    Shares shares(const std::string& program, const char* shortest) const {
        std::vector<std::string> arguments{program, "-e", "-p", "-t", "1", "-r", shortest};
        for (std::size_t i = 0; i < count_; ++i) arguments.push_back(std::to_string(i));
        std::vector<double> sizes(count_);
        Shares all;
        std::istringstream in(run(arguments));
        for (std::string line; std::getline(in, line);) {
            std::size_t one = 0, other = 0;
            double value = 0;
            if (std::sscanf(line.c_str(), "File %zu: %lf", &one, &value) == 2 && one < count_) {
                sizes[one] = value;
            } else if (std::sscanf(line.c_str(), "%zu consists for %lf %% of %zu material", &one, &value,
                                   &other) == 3 &&
                       one < count_ && other < count_) {
                const double shorter = std::min(sizes[one], sizes[other]);
                double& most = all[std::minmax(one, other)];
                if (shorter > 0) most = std::max(most, std::min(1.0, value / 100 * sizes[one] / shorter));
            }
        }
        return all;
    }

    /// What the tester prints. It reads what students have written, so it is held as compilers are.
    std::string run(std::vector<std::string> arguments) const {
        const std::string name = fs::path(arguments.front()).filename().string();
        const judge::Descriptor out(memfd_create("rungs-similarity", MFD_CLOEXEC));
        if (!out) throw InfraError(fmt::format("no memory for what {} says: {}", name, std::strerror(errno)));
        judge::Command command;
        command.readable = {arguments.front()};
        command.arguments = std::move(arguments);
        command.environment = {"LC_ALL=C"};
        command.directory = work_.path();
        command.output = out.get();
        command.writable = work_.path().string();
        command.hidden = root_;
        command.confinement.tool = true;
        command.confinement.limits.address_space = compare_memory;
        command.confinement.limits.cpu_seconds = static_cast<std::size_t>(compare_seconds);
        command.confinement.limits.file_size = output_bytes;
        command.confinement.limits.open_files = 64;
        judge::Process process(command);
        const bool in_time = judge::run_to_end(process, judge::beside_others * compare_seconds, stop_);
        if (stop_ && stop_->load()) throw judge::Stopped{};
        const judge::End& end = process.end();
        if (end.kind == judge::End::Kind::not_started || end.kind == judge::End::Kind::lost)
            throw InfraError(fmt::format("{} could not be run: {}", name, judge::why_not_started(end)));
        if (!in_time || end.kind != judge::End::Kind::exited || end.code != 0) {
            throw InfraError(fmt::format("{} did not finish: {}", name, clean_name(process.errors().text())));
        }
        std::optional<std::string> text = judge::read_all(out.get());
        if (!text)
            throw InfraError(fmt::format("what {} says cannot be read: {}", name, std::strerror(errno)));
        return *std::move(text);
    }

    std::string words_, structure_, root_;
    const std::atomic<bool>* stop_;
    judge::WorkFolder work_;
    std::size_t count_ = 0;
};

/// A hand-in's own text, and whose it is: several where they handed in the same.
struct Own {
    std::string text;
    std::vector<std::string> students;
    std::set<std::string> origins;  ///< members of a group have one
};

/// The median over all pairs of hand-ins, of which most have nothing in common.
double usual(const Shares& shares, std::size_t hand_ins) {
    if (hand_ins < 2) return 0;
    std::vector<double> all;
    for (const auto& [pair, share] : shares) {
        if (pair.first > 0) all.push_back(share);  // 0 is the solution
    }
    all.resize(hand_ins * (hand_ins - 1) / 2, 0.0);
    return median(all);
}

RungSimilarity compare(const Gradebook& book, const AskedRung& asked, const judge::Toolchain& toolchain,
                       const std::atomic<bool>* stop) {
    RungSimilarity result;
    result.asked = asked;
    const auto text_of = [](const fs::path& file) {
        std::error_code unknown;
        return fs::is_regular_file(file, unknown) ? read_own_file(file) : std::string();
    };
    const fs::path place = fs::path(asked.chapter) / (asked.rung + ".cu");
    const std::vector<std::string> starter =
        lines_of(clean_utf8(text_of(toolchain.root / "chapters" / place)));
    std::set<std::string> everybodys(starter.begin(), starter.end());
    for (const char* mark : {"// BEGIN SOLUTION", "// END SOLUTION"}) everybodys.insert(mark);

    std::map<std::string, Own> hand_ins;  // by what is compared
    for (const Student& student : book.students) {
        const Attempt* const attempt = counted_attempt(student);
        if (!attempt) continue;
        const auto rung =
            std::find_if(attempt->rungs.begin(), attempt->rungs.end(), [&](const GradedRung& one) {
                return one.asked.chapter == asked.chapter && one.asked.rung == asked.rung;
            });
        if (rung == attempt->rungs.end() || rung->source.extension() != ".cu") continue;
        const std::string text = text_of(rung->source);
        if (text.empty()) continue;
        const std::string own = own_text(text, everybodys);
        if (words_in(own) < least_words) {
            ++result.untouched;
            continue;
        }
        Own& entry = hand_ins[without_blanks(own)];
        if (entry.text.empty()) entry.text = own;
        // Of a group that has handed in together one name stands for all.
        if (entry.origins.insert(attempt->from + " " + attempt->origin).second)
            entry.students.push_back(student.person.id);
    }
    result.hand_ins = hand_ins.size();
    std::vector<const Own*> files;
    for (const auto& [text, own] : hand_ins) files.push_back(&own);
    std::sort(files.begin(), files.end(),
              [](const Own* a, const Own* b) { return a->students.front() < b->students.front(); });
    for (const Own* own : files) {
        if (own->students.size() > 1) result.equal.push_back(own->students);
    }

    Comparison comparison(toolchain, stop);
    std::string solution = text_of(toolchain.root / "solutions" / place);
    solution = own_text(solution, everybodys);
    comparison.add(words_in(solution) < least_words ? "" : solution);
    for (const Own* own : files) comparison.add(own->text);
    const auto words = comparison.words(), structure = comparison.structure();
    result.usual_words = usual(words, files.size());
    result.usual_structure = usual(structure, files.size());

    struct Listed {
        double beyond;
        std::size_t one, other;
        AlikePair pair;
    };
    std::vector<Listed> listed;
    const auto share_in = [](const Shares& shares, const std::pair<std::size_t, std::size_t>& pair) {
        const auto found = shares.find(pair);
        return found == shares.end() ? 0.0 : found->second;
    };
    std::set<std::pair<std::size_t, std::size_t>> all;
    for (const auto* shares : {&words, &structure}) {
        for (const auto& [pair, share] : *shares) all.insert(pair);
    }
    for (const auto& pair : all) {
        AlikePair found;
        found.words = share_in(words, pair);
        found.structure = share_in(structure, pair);
        const double beyond = found.structure - result.usual_structure;
        if (found.words < many_words && (found.structure < much_structure || beyond < unusual)) continue;
        const auto [solution_or_one, other] = pair;
        found.student = files[other - 1]->students.front();
        if (solution_or_one > 0) {
            found.other = found.student;
            found.student = files[solution_or_one - 1]->students.front();
        }
        listed.push_back(
            {std::max(found.words - result.usual_words, beyond), solution_or_one, other, std::move(found)});
    }
    std::sort(listed.begin(), listed.end(), [](const Listed& a, const Listed& b) {
        if (a.beyond != b.beyond) return a.beyond > b.beyond;
        return std::tie(a.one, a.other) < std::tie(b.one, b.other);
    });
    if (listed.size() > most_pairs) result.more = listed.size() - most_pairs;
    listed.resize(std::min(listed.size(), most_pairs));
    for (Listed& one : listed) {
        one.pair.lines = one.one == 0 ? comparison.lines(one.other, 0) : comparison.lines(one.one, one.other);
        result.pairs.push_back(std::move(one.pair));
    }
    return result;
}

}  // namespace

std::vector<RungSimilarity> find_similar(const Gradebook& book, const judge::Toolchain& toolchain,
                                         const std::atomic<bool>* stop,
                                         const std::function<void(const AskedRung&)>& tell) {
    for (const char* name : {"sim_text", "sim_c++"}) tester(name);
    std::vector<RungSimilarity> all;
    for (const AskedRung& asked : book.assignment.rungs) {
        if (asked.kind == "predict") continue;  // numbers, which are the same where they are right
        tell(asked);
        all.push_back(compare(book, asked, toolchain, stop));
    }
    return all;
}

nlohmann::ordered_json to_json(const std::vector<RungSimilarity>& rungs) {
    using Json = nlohmann::ordered_json;
    const auto percent = [](double share) { return std::lround(100 * share); };
    Json all = Json::array();
    for (const RungSimilarity& rung : rungs) {
        Json pairs = Json::array();
        for (const AlikePair& pair : rung.pairs) {
            Json lines = Json::array();
            for (const AlikeLines& one : pair.lines)
                lines.push_back({one.first, one.last, one.other_first, one.other_last});
            pairs.push_back({{"student", pair.student},
                             {"other", pair.other.empty() ? Json(nullptr) : Json(pair.other)},
                             {"words", percent(pair.words)},
                             {"structure", percent(pair.structure)},
                             {"lines", lines}});
        }
        all.push_back(
            {{"chapter", rung.asked.chapter},
             {"rung", rung.asked.rung},
             {"hand_ins", rung.hand_ins},
             {"untouched", rung.untouched},
             {"usual", {{"words", percent(rung.usual_words)}, {"structure", percent(rung.usual_structure)}}},
             {"equal", rung.equal},
             {"pairs", pairs},
             {"more", rung.more}});
    }
    return {{"schema", "rungs.similarity/1"}, {"rungs", all}};
}

std::string lines_text(const std::vector<AlikeLines>& lines) {
    const auto range = [](int first, int last) {
        return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
    };
    std::vector<std::string> all;
    for (const AlikeLines& one : lines)
        all.push_back(range(one.first, one.last) + " = " + range(one.other_first, one.other_last));
    return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace rungs::classroom
