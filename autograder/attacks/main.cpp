// Runs every adversarial submission in this folder through the judge and compares with what it must earn.
//     rungs_attacks [--cuda] [--ordinary-user] [NN ...]     all, or those whose folder name has one of the
//                                                           words; started as root, go on without its rights
// After each attack: no process is left, no file outside the cache has changed, and an honest submission
// still passes. Exit status: 0 all held, 1 not, 3 could not check.

#include <grp.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "judge/judge.hpp"
#include "judge/source.hpp"

namespace {

namespace fs = std::filesystem;
using namespace rungs;
using namespace rungs::judge;

struct Expectation {
    std::string what;
    std::vector<std::string> verdicts;
    double min_share = 0;  ///< of the rung's points: at least, at most
    double max_share = 0;
    double time_limit = 2;                  ///< seconds a call
    double budget = JudgeOptions().budget;  ///< seconds for all calls
    std::string kind;                       ///< attack, accident (a mistake that nobody means) or control
    std::string needs;                      ///< least sandbox level at which it is held: "S2"; empty: any
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
    expectation.budget = json.value("budget", expectation.budget);
    expectation.kind = json.value("control", false) ? "control" : json.value("kind", "attack");
    if (expectation.kind != "attack" && expectation.kind != "accident" && expectation.kind != "control") {
        throw std::runtime_error(fmt::format("{}: there is no kind '{}'", file.string(), expectation.kind));
    }
    expectation.needs = json.value("needs", "");
    return expectation;
}

/// What stands in files that are nobody's business, and must stand in no result.
constexpr const char* planted = "planted-secret-5b1f3c";

/// The rung in an attack's folder: the file's name says which one it claims to be.
fs::path submission_in(const fs::path& folder) {
    for (const auto& entry : fs::directory_iterator(folder)) {
        const fs::path kind = entry.path().extension();
        if (kind == ".cu" || kind == ".toml") return entry.path();
    }
    throw std::runtime_error("there is no rung in " + folder.string());
}

/// Every text that a student gets to see.
std::vector<const std::string*> texts_of(const RungResult& result) {
    std::vector<const std::string*> texts{&result.diagnostics, &result.correctness.cause,
                                          &result.correctness.failing_case,
                                          &result.correctness.smallest_case};
    for (const Cause& cause : result.causes) {
        for (const std::string* text : {&cause.text, &cause.which, &cause.likely, &cause.place.file})
            texts.push_back(text);
    }
    for (const QuotedFinding& finding : result.checks.findings) {
        for (const std::string* text :
             {&finding.message, &finding.advice, &finding.source, &finding.other_source}) {
            texts.push_back(text);
        }
    }
    return texts;
}

bool tells(const RungResult& result, const std::string& secret) {
    const auto texts = texts_of(result);
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string* text) { return text->find(secret) != std::string::npos; });
}

/// Is there a byte that a terminal obeys?
bool has_control_bytes(const RungResult& result) {
    const auto is_control = [](unsigned char byte) {
        return (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    };
    const auto texts = texts_of(result);
    return std::any_of(texts.begin(), texts.end(), [&](const std::string* text) {
        return std::any_of(text->begin(), text->end(), is_control);
    });
}

/// A folder with a copy of the submission, and beside it what an attack would like to find: another student's
/// work, a solution, somebody's results. And a file that it can name from where the compiler works.
class Class {
  public:
    Class(const fs::path& submission, const fs::path& cache) : near_compiler_(cache / "planted") {
        std::string name = (fs::temp_directory_path() / "rungs_attacks_XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
        path_ = name;
        fs::permissions(path_, fs::perms{0755});
        for (const char* file :
             {"other_student/03_shared_tree.cu", "solutions/03_shared_tree.cu", "results.json"}) {
            fs::create_directories((path_ / file).parent_path());
            std::ofstream(path_ / file) << planted << '\n';
            fs::permissions(path_ / file, fs::perms{0666});
        }
        fs::create_directories(cache);
        std::ofstream(near_compiler_) << planted << '\n';
        fs::create_directories(path_ / "student");
        copy(submission);
        services_[0] = listen_at((path_ / "socket").string());
        services_[1] = listen_at("@" + path_.string());
        before_ = snapshot();
    }
    ~Class() {
        for (const int service : services_) close(service);
        std::error_code ignored;
        fs::remove_all(path_, ignored);
        fs::remove(near_compiler_, ignored);
    }
    Class(const Class&) = delete;
    Class& operator=(const Class&) = delete;

    fs::path folder() const { return path_ / "student"; }
    bool changed() const { return snapshot() != before_; }

    /// Removes what outlives a process without being a file. @returns whether there was any
    bool left_objects() const {
        const key_t key = ftok((path_ / "results.json").c_str(), 'r');
        const std::string queue = path_.filename().string();
        bool left = syscall(SYS_mq_unlink, queue.c_str()) == 0;
        if (const int memory = shmget(key, 0, 0); memory >= 0) left = shmctl(memory, IPC_RMID, nullptr) == 0;
        if (const int messages = msgget(key, 0); messages >= 0)
            left = msgctl(messages, IPC_RMID, nullptr) == 0;
        if (const int semaphores = semget(key, 0, 0); semaphores >= 0)
            left = semctl(semaphores, 0, IPC_RMID) == 0;
        return left;
    }

    /// Has anybody connected to what listens here?
    bool called() const {
        return std::any_of(std::begin(services_), std::end(services_), [](int service) {
            const int caller = accept(service, nullptr, nullptr);
            if (caller >= 0) close(caller);
            return caller >= 0;
        });
    }

  private:
    /// An attack knows where it is: its RUNGS_ROOM becomes the name of this folder.
    void copy(const fs::path& submission) const {
        std::ifstream in(submission, std::ios::binary);
        std::string text{std::istreambuf_iterator<char>(in), {}};
        const std::string word = "RUNGS_ROOM";
        for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
            text.replace(at, word.size(), path_.string());
        }
        std::ofstream(path_ / "student" / submission.filename(), std::ios::binary) << text;
    }

    /// A service of this machine, for everybody: by a path, or by a name that begins with '@' and
    /// no file has.
    static int listen_at(const std::string& name) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        name.copy(address.sun_path, sizeof address.sun_path - 1);
        if (name[0] == '@') address.sun_path[0] = 0;
        const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
        const int service = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (bind(service, reinterpret_cast<const sockaddr*>(&address), size) != 0 || listen(service, 8) != 0)
            throw std::system_error(errno, std::generic_category(), name);
        if (name[0] != '@') fs::permissions(name, fs::perms{0777});
        return service;
    }

    /// Mode, owner, size and time of every file here, and of the places where attacks try to leave something.
    std::map<fs::path, std::string> snapshot() const {
        std::map<fs::path, std::string> files;
        const auto add = [&](const fs::path& file) {
            struct stat now {};
            if (lstat(file.c_str(), &now) != 0) return;
            files[file] = fmt::format("{:o} {}:{} {} {}.{:09} {}.{:09}", now.st_mode, now.st_uid, now.st_gid,
                                      now.st_size, now.st_mtim.tv_sec, now.st_mtim.tv_nsec,
                                      now.st_ctim.tv_sec, now.st_ctim.tv_nsec);
        };
        for (const auto& entry : fs::recursive_directory_iterator(path_)) add(entry.path());
        add(near_compiler_);
        for (const char* place : {"/tmp", "/var/tmp", "/dev/shm", "/", "."}) {
            add(fs::path(place) / "rungs_attack_proof");
        }
        return files;
    }

    fs::path path_;
    int services_[2] = {-1, -1};
    fs::path near_compiler_;
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
    if (result.verdict != Verdict::ok && result.causes.empty()) return "there is no reason";
    return "";
}

/// Goes on as a user without any rights, with a cache of its own.
void become_ordinary(fs::path& cache) {
    constexpr unsigned user = 65534;
    std::string name = (fs::temp_directory_path() / "rungs_attacks_cache_XXXXXX").string();
    if (!mkdtemp(name.data()) || chown(name.c_str(), user, user) != 0 || setgroups(0, nullptr) != 0 ||
        setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0) {
        throw std::system_error(errno, std::generic_category(), "--ordinary-user needs root");
    }
    cache = name;
}

int run(std::vector<std::string> words) {
    const bool cuda = std::erase(words, "--cuda") > 0;
    const bool ordinary = std::erase(words, "--ordinary-user") > 0;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    const fs::path root = RUNGS_ROOT;
    JudgeOptions options;
    options.backend = cuda ? Backend::cuda : Backend::cpu;
    options.speed = false;
    options.toolchain = read_toolchain(fs::path(RUNGS_BUILD) / "toolchain.json");
    if (ordinary) become_ordinary(options.toolchain.cache);
    Manifest manifest = read_manifest(root / "chapters" / "01_reduction");
    // Most attacks add up with atomics: a promise of the same bits would stop them before their own defence.
    for (RungEntry& rung : manifest.rungs) rung.repeatable = false;
    const std::unique_ptr<Exam> exam = exam_of(manifest);

    const auto judge = [&](const RungEntry& rung, const fs::path& source, double time_limit, double budget,
                           bool checks = true) {
        options.seed = random_seed();
        options.checks = checks;
        options.time_limit = time_limit;
        options.budget = budget;
        return judge_rung(manifest, rung, source, *exam, options);
    };

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

    struct Count {
        int all = 0, right = 0;
    };
    std::map<std::string, Count> counts;
    int skipped = 0;
    std::string faults;
    std::set<std::string> checked;
    for (const fs::path& folder : folders) {
        Expectation expected = read_expectation(folder / "expect.json");
        // On a GPU, host code that reads or writes device memory crashes before it can cheat.
        if (cuda && expected.kind != "control") expected.verdicts.push_back("RUNTIME_SIGNAL");
        if (expected.needs > sandbox_level(options.backend).name) {
            fmt::print("skip {:<34} needs sandbox level {}\n", folder.filename().string(), expected.needs);
            ++skipped;
            continue;
        }
        const fs::path submission = submission_in(folder);
        const RungEntry* const entry = manifest.find(submission.stem().string());
        if (!entry) throw std::runtime_error("chapter 1 has no rung " + submission.stem().string());
        const RungEntry& rung = *entry;
        const Class room(submission, options.toolchain.cache);
        const RungResult result =
            judge(rung, room.folder() / submission.filename(), expected.time_limit, expected.budget);
        std::string fault = broken(expected, result);
        if (fault.empty() && tells(result, planted)) fault = "the result tells a planted secret";
        if (fault.empty() && has_control_bytes(result)) fault = "the result holds what a terminal obeys";
        for (const char* form : {"{}", "{:x}"}) {
            if (fault.empty() && tells(result, fmt::format(fmt::runtime(form), result.seed)))
                fault = "the result tells the seed";
        }
        if (fault.empty() && processes_left()) fault = "it left a process behind";
        if (fault.empty() && room.changed()) fault = "it changed a file";
        if (room.left_objects() && fault.empty()) fault = "it left shared memory, messages or semaphores";
        if (fault.empty() && room.called()) fault = "it opened a connection";
        if (fault.empty()) {
            // In check mode, too, behind the first attack on each rung.
            const RungResult canary = judge(rung, source_of(manifest, rung, root, Whose::solution), 0,
                                            JudgeOptions().budget, checked.insert(rung.name).second);
            if (canary.verdict != Verdict::ok) {
                fault = fmt::format("an honest submission got {} after it: {}", name_of(canary.verdict),
                                    canary.reason());
            }
        }
        Count& count = counts[expected.kind];
        ++count.all;
        if (fault.empty()) ++count.right;
        fmt::print("{:<4} {:<34} {:<15} {:5.1f} s  {}\n", fault.empty() ? "ok" : "FAIL",
                   folder.filename().string(), name_of(result.verdict), result.seconds,
                   fault.empty() ? result.reason() : fault);
        if (!fault.empty()) {
            faults += fmt::format("FAIL {}: {}. {}\n{}", folder.filename().string(), fault, result.reason(),
                                  result.diagnostics);
        }
        std::fflush(stdout);
    }
    const Count attacks = counts["attack"], accidents = counts["accident"], controls = counts["control"];
    fmt::print("{}attacks {}, held {}, accidents {}/{}, controls {}/{}", faults, attacks.all, attacks.right,
               accidents.right, accidents.all, controls.right, controls.all);
    if (skipped > 0) fmt::print(", not tried {}", skipped);
    fmt::print(", sandbox {}\n", sandbox_level(options.backend).name);
    std::error_code ignored;
    if (ordinary) fs::remove_all(options.toolchain.cache, ignored);
    return faults.empty() ? 0 : 1;
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
