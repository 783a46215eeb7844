#include "class/slurm.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "judge/build/hash.hpp"
#include "judge/confine/process.hpp"
#include "report/text.hpp"
#include "rungs/atomic_file.hpp"

extern char** environ;

namespace rungs::classroom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

fs::path file_of(const fs::path& out) { return out / "slurm" / "run.json"; }

std::string find_command(const std::string& name) {
    if (const fs::path file = judge::find_on_path(name); !file.empty()) return file.string();
    throw ClassError(name +
                     " is not on PATH: --slurm needs the commands of Slurm, on a machine from which jobs are "
                     "submitted; without --slurm the class is graded here");
}

/// What a command of Slurm has printed. @throws ClassError
std::string ask(const std::vector<std::string>& arguments) {
    constexpr double seconds = 120;
    judge::Command command;
    command.arguments = arguments;
    // Where its configuration is, and defaults of the site: SLURM_CONF, SBATCH_ACCOUNT, ...
    for (char** variable = environ; *variable; ++variable) command.environment.push_back(*variable);
    // All of it: a long queue is more than is kept otherwise.
    const judge::Descriptor output(memfd_create("rungs", MFD_CLOEXEC));
    if (!output) judge::fail_with_errno("memfd_create");
    command.output = output.get();
    judge::Process process(command);
    const std::string name = fs::path(arguments[0]).filename().string();
    if (!judge::run_to_end(process, seconds))
        throw ClassError(
            fmt::format("{} did not answer within {:.0f} s; is the cluster up? See sinfo", name, seconds));
    if (process.end().kind != judge::End::Kind::exited || process.end().code != 0) {
        const std::string said = trimmed(clean_utf8(process.errors().text()));
        throw ClassError(fmt::format("{} refused: {}", name, said.empty() ? "it did not say why" : said));
    }
    std::optional<std::string> said = judge::read_all(output.get());
    if (!said) judge::fail_with_errno("reading what a command says");
    return *std::move(said);
}

/// A name of a file as sbatch takes it, which replaces %a and the like.
std::string pattern(const fs::path& file) {
    std::string text;
    for (const char c : file.string()) text += c == '%' ? std::string("%%") : std::string(1, c);
    return text;
}

std::vector<std::string> common_arguments(const ArrayRun& run, const fs::path& out) {
    // What was killed, or was on a node that failed, begins again and goes on from the records.
    return {"--parsable",         "--job-name=" + run.name,  "--requeue",
            "--open-mode=append", "--chdir=" + out.string(), "--comment=./rungs grade --slurm"};
}

}  // namespace

fs::path ArrayRun::lock_of(const fs::path& out, int task) const {
    return folder(out) / fmt::format("task-{}.lock", task);
}

int ArrayRun::task_of(const std::string& key) const {
    const auto found = std::find(work.begin(), work.end(), key);
    return found == work.end() ? 0 : static_cast<int>((found - work.begin()) % tasks) + 1;
}

int ArrayRun::started(const fs::path& out) const {
    int count = 0;
    std::error_code unknown;
    for (int task = 1; task <= tasks; ++task)
        count += fs::exists(folder(out) / fmt::format("task-{}.log", task), unknown);
    return count;
}

std::optional<ArrayRun> read_run(const fs::path& out) {
    const fs::path file = file_of(out);
    std::error_code unknown;
    if (!fs::exists(file, unknown)) return std::nullopt;
    try {
        const Json json = Json::parse(read_own_file(file));
        ArrayRun run;
        run.name = json.at("name");
        run.submitted = json.at("submitted");
        run.tasks = json.at("tasks");
        run.workshop = json.at("workshop").get<std::map<std::string, std::string>>();
        run.work = json.at("work").get<std::vector<std::string>>();
        if (run.tasks < 1) throw ClassError(file.string() + ": a run has at least one task");
        return run;
    } catch (const Json::exception& error) {
        throw ClassError(
            fmt::format("{}: {}; delete it, then give the same command again", file.string(), error.what()));
    }
}

void write_run(const fs::path& out, const ArrayRun& run) {
    make_folder(run.folder(out));
    const Json json = {{"schema", "rungs.run/1"}, {"name", run.name},         {"submitted", run.submitted},
                       {"tasks", run.tasks},      {"workshop", run.workshop}, {"work", run.work}};
    write_file(file_of(out), json.dump(1) + '\n');
}

void end_run(const fs::path& out) {
    std::error_code ignored;
    fs::remove(file_of(out), ignored);
}

std::string new_run_name() {
    std::random_device random;
    return fmt::format("rungs-{:08x}{:04x}", random(), random() & 0xffffU);
}

std::map<std::string, std::string> parts_of(const Workshop& workshop) {
    std::map<std::string, std::string> parts{{"build of rungs", workshop.judge.substr(0, 12)},
                                             {"toolchain", workshop.toolchain},
                                             {"backend", workshop.backend},
                                             {"sandbox", workshop.sandbox.substr(0, 2)}};
    for (const auto& [chapter, digests] : workshop.chapters) {
        judge::Sha256 hash;
        for (const auto& [part, digest] : digests) hash.add(part).add(digest);
        parts["workbook's " + chapter] = hash.hex().substr(0, 12);
    }
    return parts;
}

std::string difference(const std::map<std::string, std::string>& here,
                       const std::map<std::string, std::string>& there) {
    for (const auto& [part, value] : there) {
        const auto mine = here.find(part);
        if (mine == here.end() || mine->second != value)
            return fmt::format("the {} is {} here and {} there", part,
                               mine == here.end() ? "missing" : mine->second, value);
    }
    return "";
}

std::string working_task(const fs::path& out, const Meanwhile& meanwhile, const Pace& pace) {
    std::vector<fs::path> locks;
    std::error_code none;
    for (const auto& run : fs::directory_iterator(out / "slurm", none)) {
        std::error_code no_folder;
        for (const auto& entry : fs::directory_iterator(run.path(), no_folder)) {
            if (entry.path().extension() == ".lock" && entry.path().filename().string().front() != '.')
                locks.push_back(entry.path());
        }
    }
    std::sort(locks.begin(), locks.end());
    for (const fs::path& lock : locks) {
        if (const std::optional<Holder> holder = holder_of(lock, meanwhile, pace))
            return fmt::format("{} of {}: {}", lock.stem().string(), lock.parent_path().filename().string(),
                               holder->text());
    }
    return "";
}

Slurm::Slurm() : sbatch_(find_command("sbatch")), squeue_(find_command("squeue")) {}

std::string Slurm::submit(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words{sbatch_};
    words.insert(words.end(), arguments.begin(), arguments.end());
    // "17" or "17;cluster"
    const std::string said = clean_name(trimmed(ask(words)));
    const std::string job = said.substr(0, said.find(';'));
    if (job.empty() || job.find_first_not_of("0123456789") != std::string::npos)
        throw ClassError(fmt::format("sbatch printed '{}' instead of a job number", said));
    return job;
}

std::string Slurm::queued(const std::string& name) const {
    std::istringstream lines(ask({squeue_, "--noheader", "--array", "--name=" + name, "--format=%T (%r)"}));
    std::map<std::string, int> states;
    for (std::string line; std::getline(lines, line);) {
        std::string state = trimmed(clean_name(line));
        // Why something runs, Slurm does not say.
        if (const std::size_t none = state.find(" (None)"); none != std::string::npos) state.resize(none);
        if (!state.empty()) ++states[state];
    }
    std::string text;
    for (const auto& [state, count] : states)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, state);
    return text;
}

void refuse_own_options(const std::vector<std::string>& options) {
    static const std::vector<std::string> own{
        "array",    "dependency", "requeue",   "no-requeue", "output",   "error",     "wrap",
        "parsable", "wait",       "open-mode", "chdir",      "job-name", "test-only", "kill-on-invalid-dep"};
    for (const std::string& option : options) {
        const bool is_short = option.size() >= 2 && option[0] == '-' && option[1] != '-';
        const std::string name = option.rfind("--", 0) == 0 ? option.substr(2, option.find('=') - 2) : "";
        const bool ours = is_short ? std::string("adoeDJW").find(option[1]) != std::string::npos
                                   : std::find(own.begin(), own.end(), name) != own.end();
        if (ours)
            throw ClassError(
                fmt::format("--slurm sets sbatch's option {} itself; --tasks sets the number of tasks",
                            clean_name(option)));
    }
}

std::vector<std::string> array_arguments(const ArrayRun& run, const fs::path& out,
                                         const std::vector<std::string>& options) {
    std::vector<std::string> words = common_arguments(run, out);
    words.push_back(fmt::format("--array=1-{}", run.tasks));
    words.push_back("--output=" + pattern(run.folder(out)) + "/task-%a.log");
    words.insert(words.end(), options.begin(), options.end());
    words.push_back((run.folder(out) / "job.sh").string());
    return words;
}

std::vector<std::string> report_arguments(const ArrayRun& run, const fs::path& out,
                                          const std::vector<std::string>& options,
                                          const std::string& array_job) {
    std::vector<std::string> words = common_arguments(run, out);
    words.push_back("--dependency=afterany:" + array_job);
    words.push_back("--output=" + pattern(run.folder(out)) + "/report.log");
    words.insert(words.end(), options.begin(), options.end());
    words.push_back((run.folder(out) / "job.sh").string());
    words.push_back("0");
    return words;
}

std::string job_script(const ArrayRun& run, const std::vector<std::string>& command,
                       const std::map<std::string, std::string>& variables) {
    std::string text = "#!/bin/sh\n# Each job of " + run.name +
                       ", which ./rungs grade --slurm has submitted. Task 0 is the report.\n";
    for (const auto& [name, value] : variables)
        text += fmt::format("export {}={}\n", name, shell_quoted(value));
    text += "exec";
    for (const std::string& word : command) text += " " + shell_quoted(word);
    return text + " --task " + run.name + "/\"${1:-$SLURM_ARRAY_TASK_ID}\"\n";
}

}  // namespace rungs::classroom
