#include "class/ledger.hpp"

#include <sys/random.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "class/sharing.hpp"
#include "judge/build/hash.hpp"
#include "judge/build/source.hpp"
#include "judge/confine/process.hpp"
#include "judge/judge.hpp"
#include "report/text.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs::classroom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using judge::Sha256;

/// What git says in the workbook; nothing where that is none of its repositories.
std::optional<std::string> ask_git(const fs::path& root, std::vector<std::string> arguments) {
    judge::Command command;
    command.arguments = {"/usr/bin/git", "-C", root.string(), "-c", "safe.directory=*"};
    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    command.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
    judge::Process process(command);
    if (!judge::run_to_end(process, 60) || process.end().kind != judge::End::Kind::exited ||
        process.end().code != 0)
        return std::nullopt;
    return trimmed(process.output().text());
}

std::string hash_of(const fs::path& file) { return Sha256::of(read_file(file)); }

/// Writes RUNG.N.json behind those that are there: never in place of another, whoever writes beside it.
template <class Numbered>
void put_next(const fs::path& folder, const std::string& rung, const Numbered& numbered) {
    make_folder(folder);
    for (int number = last_judging(folder, rung) + 1;; ++number) {
        if (write_new_file(folder / fmt::format("{}.{}.json", rung, number), numbered(number).dump(1) + '\n'))
            return;
    }
}

}  // namespace

// ------------------------------------------------------------------------------------------ seed

Secret::Secret(const fs::path& out, bool may_draw) {
    const fs::path path = out / "seed";
    std::error_code unknown;
    if (!fs::exists(fs::symlink_status(path, unknown))) {
        if (!may_draw)
            throw ClassError(path.string() + " is gone: nothing can be judged again with the same inputs");
        unsigned char bytes[32];
        if (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
            judge::fail_with_errno("getrandom");
        std::string hex;
        for (const unsigned char byte : bytes) hex += fmt::format("{:02x}", byte);
        const mode_t before = umask(is_shared(out) ? 0027 : 0077);
        try {
            write_file(path, hex + '\n', Special::refuse);
        } catch (...) {
            umask(before);
            throw;
        }
        umask(before);
    }
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
        throw ClassError(path.string() + " is not a regular file");
    // The group of a shared folder, if it is the seed's as well.
    struct stat folder {};
    const bool shared = is_shared(out) && stat(out.c_str(), &folder) == 0 && folder.st_gid == status.st_gid;
    if ((status.st_mode & (shared ? 037 : 077)) != 0) {
        throw ClassError(
            fmt::format("{} can be read by others (mode {:o}): whoever has it knows all inputs; chmod {} it, "
                        "or grade in a new folder",
                        path.string(), status.st_mode & 07777, shared ? 640 : 600));
    }
    const std::string text = read_own_file(path);
    hex_ = trimmed(text.substr(0, text.find('\n')));
    if (hex_.size() != 64 || hex_.find_first_not_of("0123456789abcdef") != std::string::npos)
        throw ClassError(path.string() + " does not hold 64 hexadecimal digits; restore it");
}

std::uint64_t Secret::seed() const {
    return std::stoull(Sha256().add("inputs").add(hex_).hex().substr(0, 16), nullptr, 16);
}

std::string Secret::name() const { return Sha256().add("name").add(hex_).hex().substr(0, 16); }

// --------------------------------------------------------------------------------------- records

Workshop describe_workshop(const judge::Toolchain& toolchain, const std::vector<const Manifest*>& chapters,
                           Backend backend, const Machine& machine, const std::string& version) {
    Workshop workshop;
    workshop.commit = ask_git(toolchain.root, {"rev-parse", "HEAD"}).value_or("");
    workshop.dirty =
        !ask_git(toolchain.root, {"status", "--porcelain", "--untracked-files=no"}).value_or("").empty();
    Sha256 judge;
    judge.add_file("/proc/self/exe");
    for (const judge::Mode mode : {judge::Mode::run, judge::Mode::check}) {
        if (const judge::BackendTools* tools = toolchain.tools(backend, mode)) {
            workshop.toolchain = tools->describe;
            for (const std::string& archive : tools->archives) judge.add_file(archive);
        }
    }
    workshop.judge = judge.hex();
    for (const Manifest* chapter : chapters) {
        Sha256 solutions;
        for (const RungEntry& rung : chapter->rungs)
            solutions.add_file(judge::source_of(*chapter, rung, toolchain.root, judge::Whose::solution));
        workshop.chapters[chapter->chapter] = {{"manifest", hash_of(chapter->folder / "chapter.toml")},
                                               {"contract", hash_of(chapter->folder / chapter->contract)},
                                               {"exam", hash_of(judge::exam_module(*chapter))},
                                               {"solutions", solutions.hex()}};
    }
    const judge::SandboxLevel level = judge::sandbox_level(backend);
    workshop.sandbox = level.name + ": " + level.describe;
    workshop.backend = name_of(backend);
    workshop.machine = machine;
    workshop.version = version;
    return workshop;
}

std::string record_key(const Workshop& workshop, const Secret& secret, const AskedRung& rung,
                       const std::string& bytes) {
    Sha256 hash;
    hash.add("1").add(workshop.judge).add(workshop.toolchain).add(workshop.backend);
    hash.add(workshop.sandbox.substr(0, 2)).add(secret.name()).add(rung.chapter).add(rung.rung).add(bytes);
    for (const auto& [part, digest] : workshop.chapters.at(rung.chapter)) hash.add(part).add(digest);
    return hash.hex();
}

fs::path Slot::folder(const fs::path& top) const {
    return top / student / std::to_string(attempt) / rung.chapter;
}

Json make_record(const Slot& slot, const Workshop& workshop, const Secret& secret, const RungReport& report,
                 const Canary& canary, const std::string& started, double spent) {
    Json result = to_json(report);
    // The seed is the assignment's secret; OUT/seed has it.
    result.erase("seed");
    const auto thresholds = [](bool done, const auto& rule) {
        return done && rule.max_points > 0
                   ? Json{{"zero", rule.zero}, {"full", rule.full}, {"points", rule.max_points}}
                   : Json(nullptr);
    };
    Json workbook = {{"commit", workshop.commit}, {"dirty", workshop.dirty}};
    for (const auto& [part, digest] : workshop.chapters.at(slot.rung.chapter)) workbook[part] = digest;
    return {{"schema", "rungs.record/2"},
            {"key", record_key(workshop, secret, slot.rung, slot.bytes)},
            {"student", slot.student},
            {"attempt", slot.attempt},
            {"judging", 0},
            {"same_as", ""},
            {"bytes", slot.bytes},
            {"workbook", workbook},
            {"judge", {{"version", workshop.version}, {"build", workshop.judge}}},
            {"toolchain", workshop.toolchain},
            {"backend", workshop.backend},
            {"machine", to_json(workshop.machine)},
            {"sandbox", workshop.sandbox},
            {"secret", secret.name()},
            {"started", started},
            {"spent", spent},
            {"canary", {{"tries", canary.tries}, {"reference", canary.verdict}}},
            {"thresholds",
             {{"speed", thresholds(report.result.speed.judged, report.result.speed)},
              {"modelled", thresholds(report.result.modelled.done, report.result.modelled)}}},
            {"result", result}};
}

void put_record(const fs::path& out, const Slot& slot, Json record, const std::string& same_as) {
    record["student"] = slot.student;
    record["attempt"] = slot.attempt;
    record["same_as"] = same_as;
    put_next(slot.folder(out / "records"), slot.rung.rung, [&](int judging) {
        record["judging"] = judging;
        return record;
    });
}

void put_decision(const fs::path& out, const Slot& slot, const Decision& decision) {
    const Json json = {{"schema", "rungs.decision/1"},
                       {"student", slot.student},
                       {"attempt", slot.attempt},
                       {"chapter", slot.rung.chapter},
                       {"rung", slot.rung.rung},
                       {"points", decision.points},
                       {"because", decision.because},
                       {"by", decision.by},
                       {"when", decision.when},
                       {"on",
                        {{"verdict", decision.verdict},
                         {"points", decision.judged ? Json(*decision.judged) : Json(nullptr)},
                         {"max_points", decision.max_points},
                         {"take", decision.take}}}};
    put_next(slot.folder(out / "decisions"), slot.rung.rung, [&](int) { return json; });
}

void put_withdrawal(const fs::path& out, const std::string& student, int attempt,
                    const Withdrawal& withdrawal) {
    const Json json = {{"schema", "rungs.withdrawal/1"},
                       {"student", student},
                       {"attempt", attempt},
                       {"withdrawn", withdrawal.withdrawn},
                       {"because", withdrawal.because},
                       {"by", withdrawal.by},
                       {"when", withdrawal.when}};
    put_next(out / "decisions" / student / std::to_string(attempt), "hand-in", [&](int) { return json; });
}

void put_take(const fs::path& out, const Slot& slot, const Take& take) {
    const Json json = {{"schema", "rungs.take/1"},
                       {"student", slot.student},
                       {"attempt", slot.attempt},
                       {"chapter", slot.rung.chapter},
                       {"rung", slot.rung.rung},
                       {"name", take.name},
                       {"bytes", slot.bytes},
                       {"because", take.because},
                       {"by", take.by},
                       {"when", take.when}};
    put_next(slot.folder(out / "takes"), slot.rung.rung, [&](int) { return json; });
}

}  // namespace rungs::classroom
