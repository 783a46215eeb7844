// Runs every adversarial submission in this folder through the judge and compares with what it must earn.
//     rungs_attacks [--cuda] [NN ...]        all, or those whose folder name contains one of the words
// After each attack: no process is left, no file outside the cache has changed, and an honest submission
// still passes. Exit status: 0 all held, 1 not, 3 could not check.

#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "judge.hpp"
#include "source.hpp"

namespace {

namespace fs = std::filesystem;
using namespace rungs;
using namespace rungs::judge;

struct Expectation {
    std::string what;
    std::vector<std::string> verdicts;
    double min_share = 0;  ///< of the rung's points: at least, at most
    double max_share = 0;
    double time_limit = 2;  ///< seconds a call
    bool control = false;
    std::string needs;  ///< least sandbox level at which it is held: "S2"; empty: any
};

Expectation read_expectation(const fs::path& file) {
    std::ifstream in(file);
    const auto json = nlohmann::json::parse(in);
    Expectation expectation;
    expectation.what = json.at("what");
    expectation.verdicts = json.at("verdicts").get<std::vector<std::string>>();
    for (const std::string& name : expectation.verdicts) verdict_of(name);  // throws for a misspelt one
    expectation.max_share = json.at("max_share");
    expectation.min_share = json.value("min_share", 0.0);
    expectation.time_limit = json.value("time_limit", 2.0);
    expectation.control = json.value("control", false);
    expectation.needs = json.value("needs", "");
    return expectation;
}

/// A folder with a copy of the submission, and beside it what an attack would like to find: another student's
/// work, a solution, somebody's results.
class Class {
  public:
    explicit Class(const fs::path& submission) {
        std::string name = (fs::temp_directory_path() / "rungs_attacks_XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
        path_ = name;
        for (const char* file :
             {"other_student/03_shared_tree.cu", "solutions/03_shared_tree.cu", "results.json"}) {
            fs::create_directories((path_ / file).parent_path());
            std::ofstream(path_ / file) << "secret\n";
        }
        fs::create_directories(path_ / "student");
        fs::copy(submission, path_ / "student" / submission.filename());
        before_ = snapshot();
    }
    ~Class() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Class(const Class&) = delete;
    Class& operator=(const Class&) = delete;

    fs::path folder() const { return path_ / "student"; }
    bool changed() const { return snapshot() != before_; }

  private:
    /// Size and time of every file here, and of the places where attacks try to leave something.
    std::map<fs::path, std::string> snapshot() const {
        std::map<fs::path, std::string> files;
        const auto add = [&](const fs::path& file) {
            std::error_code gone;
            if (!fs::exists(fs::symlink_status(file, gone))) return;
            const auto time = fs::last_write_time(file, gone).time_since_epoch().count();
            const auto size = fs::is_regular_file(file, gone) ? fs::file_size(file, gone) : 0;
            files[file] = fmt::format("{} {}", size, time);
        };
        for (const auto& entry : fs::recursive_directory_iterator(path_)) add(entry.path());
        for (const char* place : {"/tmp", "/var/tmp", "/dev/shm", "/", "."}) {
            add(fs::path(place) / "rungs_attack_proof");
        }
        return files;
    }

    fs::path path_;
    std::map<fs::path, std::string> before_;
};

/// This process adopts whatever a judge fails to clean up, and so can count it.
bool processes_left() { return waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD; }

std::string broken(const Expectation& expected, const RungResult& result) {
    const std::string verdict = name_of(result.verdict);
    if (std::find(expected.verdicts.begin(), expected.verdicts.end(), verdict) == expected.verdicts.end()) {
        return fmt::format("the verdict is {}, expected {}", verdict, fmt::join(expected.verdicts, " or "));
    }
    if (result.points > expected.max_share * result.max_points ||
        result.points < expected.min_share * result.max_points) {
        return fmt::format("it earned {} of {} points", result.points, result.max_points);
    }
    if (result.verdict != Verdict::ok && result.reason.empty()) return "there is no reason";
    return "";
}

int run(std::vector<std::string> words) {
    const bool cuda = std::erase(words, "--cuda") > 0;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    const fs::path root = RUNGS_ROOT;
    JudgeOptions options;
    options.backend = cuda ? Backend::cuda : Backend::cpu;
    options.speed = false;
    options.toolchain = read_toolchain(fs::path(RUNGS_BUILD) / "toolchain.json");
    const Manifest manifest = read_manifest(root / "chapters" / "01_reduction");
    const RungEntry& rung = *manifest.find("03_shared_tree");
    std::unique_ptr<Exam> exam;
    for (const RegisteredExam& entry : registered_exams()) {
        if (entry.chapter == manifest.chapter) exam = entry.make();
    }
    if (!exam) throw std::runtime_error("chapter 01_reduction has no exam");

    const auto judge = [&](const fs::path& source, double time_limit) {
        options.key = random_key();
        options.time_limit = time_limit;
        return judge_rung(manifest, rung, source, *exam, options);
    };
    const fs::path honest = source_of(manifest, rung, root, Whose::solution);

    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(root / "autograder" / "attacks")) {
        const std::string name = entry.path().filename().string();
        const bool chosen =
            words.empty() || std::any_of(words.begin(), words.end(), [&](const std::string& word) {
                return name.find(word) != std::string::npos;
            });
        if (entry.is_directory() && chosen) folders.push_back(entry.path());
    }
    std::sort(folders.begin(), folders.end());
    if (folders.empty()) throw std::runtime_error("no attack has such a name");

    int attacks = 0, held = 0, controls = 0, controls_right = 0, skipped = 0;
    std::string faults;
    for (const fs::path& folder : folders) {
        Expectation expected = read_expectation(folder / "expect.json");
        // On a GPU, host code that reads or writes device memory crashes before it can cheat.
        if (cuda && !expected.control) expected.verdicts.push_back("RUNTIME_SIGNAL");
        if (expected.needs > sandbox_level(options.backend).name) {
            fmt::print("skip {:<34} needs sandbox level {}\n", folder.filename().string(), expected.needs);
            ++skipped;
            continue;
        }
        const Class room(folder / (rung.name + ".cu"));
        const RungResult result = judge(room.folder() / (rung.name + ".cu"), expected.time_limit);
        std::string fault = broken(expected, result);
        if (fault.empty() && processes_left()) fault = "it left a process behind";
        if (fault.empty() && room.changed()) fault = "it changed a file";
        if (fault.empty()) {
            const RungResult canary = judge(honest, 0);
            if (canary.verdict != Verdict::ok) {
                fault = fmt::format("an honest submission got {} after it: {}", name_of(canary.verdict),
                                    canary.reason);
            }
        }
        ++(expected.control ? controls : attacks);
        if (fault.empty()) ++(expected.control ? controls_right : held);
        fmt::print("{:<4} {:<34} {:<15} {:5.1f} s  {}\n", fault.empty() ? "ok" : "FAIL",
                   folder.filename().string(), name_of(result.verdict), result.seconds,
                   fault.empty() ? result.reason : fault);
        if (!fault.empty()) {
            faults += fmt::format("FAIL {}: {}. {}\n", folder.filename().string(), fault, result.reason);
        }
        std::fflush(stdout);
    }
    fmt::print("{}attacks {}, held {}, controls {}/{}", faults, attacks, held, controls_right, controls);
    if (skipped > 0) fmt::print(", not tried {}", skipped);
    fmt::print(", sandbox {}\n", sandbox_level(options.backend).name);
    return attacks == held && controls == controls_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "rungs_attacks: {}\n", error.what());
        return 3;
    }
}
