// Tries every adversarial submission in this folder on the judge, and each attack once more on a judge that
// lacks what holds it, where it has to succeed: one that fails whatever the judge does proves nothing.
//     rungs_attacks [--names] [--cuda] [--ordinary-user] [--at LEVEL] [--sandbox] [--held | --controls]
//                   [WORD ...]
//         all, or those whose name has one of the words; name them alone; started as root, go on without its
//         rights; as on a host that gives no more than LEVEL (S0, S1 or S2); those alone that a part of the
//         sandbox holds; one half of it alone
// Each is tried in a process of its own, as many at a time as there are processors.
// Exit status: 0 all held and all succeed without their defence, 1 not, or of all, or of those with a WORD,
// not one was tried, 2 none is called that, 3 could not check, 77 this is no user, or no host,
// to try that with.
//
// The second program, rungs_attacks_undefended, has that other judge. It tries one attack,
// the file's name given:
//     rungs_attacks_undefended CACHE cpu|cuda FILE

#include <grp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "attempt.hpp"
#include "cases/slice.hpp"
#include "judge/build/cache.hpp"
#include "judge/confine/sandbox.hpp"
#include "lesser_host.hpp"
#include "room.hpp"

namespace {

namespace fs = std::filesystem;
using namespace rungs;
using namespace rungs::attacks;
using namespace rungs::judge;

constexpr unsigned nobody = 65534;  ///< a user, and a group, without rights

fs::path folder_of_attacks() { return fs::path(RUNGS_ROOT) / "autograder" / "attacks"; }

JudgeOptions options_for(Backend backend) {
    JudgeOptions options;
    options.backend = backend;
    options.speed = false;
    options.toolchain = read_toolchain(fs::path(RUNGS_BUILD) / "toolchain.json");
    return options;
}

/// One attack, in this process; prints what became of it. @returns an exit status
int try_one(const Attack& attack, const JudgeOptions& options, bool checked_canary) {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    Manifest manifest = read_manifest(fs::path(RUNGS_ROOT) / "chapters" / "01_reduction");
    // Most attacks add up with atomics: a promise of the same bits would stop them before their own defence.
    for (RungEntry& rung : manifest.rungs) rung.repeatable = false;
    if (!manifest.find(attack.rung)) throw std::runtime_error("chapter 1 has no rung " + attack.rung);
    if (const std::string why = why_not_tried(attack, options); !why.empty()) {
        fmt::print("skip {:<34} {}\n", attack.name, why);
        return 77;
    }
    const Tried tried = attempt(attack, manifest, *exam_of(manifest), options, checked_canary);
    fmt::print("{}", tried.line);
    if (!tried.fault.empty()) fmt::print(stderr, "{}", tried.details);
    return tried.fault.empty() ? 0 : 1;
}

#ifdef RUNGS_UNDEFENDED

/// Whether the kernel lets a user without rights enter a user namespace.
bool may_enter_namespace() {
    const pid_t child = fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "no process");
    if (child == 0) {
        const bool dropped = geteuid() != 0 || setresuid(nobody, nobody, nobody) == 0;
        _exit(dropped && unshare(CLONE_NEWUSER) == 0 ? 0 : 1);
    }
    int status = 1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status == 0;
}

/// Whether the user that the judge becomes for a worker may enter a folder. Only root becomes another user.
bool others_may_enter(fs::path folder) {
    if (geteuid() != 0) return true;
    for (; folder.has_relative_path(); folder = folder.parent_path()) {
        if ((fs::status(folder).permissions() & fs::perms::others_exec) == fs::perms::none) return false;
    }
    return true;
}

/// What keeps the attack from succeeding on this host whatever the judge lacks, so that its control shows
/// nothing; empty: it can succeed.
std::string why_not_shown(const Attack& attack) {
    if (attack.control_needs_namespace && !may_enter_namespace())
        return "needs a user namespace, which the kernel forbids here";
    if (attack.control_needs_clone3 && syscall(SYS_clone3, nullptr, 0) < 0 && errno == ENOSYS)
        return "needs clone3(), which is refused here";
    if (attack.control_needs_open_build && !others_may_enter(RUNGS_BUILD))
        return "needs " RUNGS_BUILD ", which other users may not enter here";
    return "";
}

int run(const std::vector<std::string>& words) {
    if (words.size() != 3) throw std::runtime_error("expected CACHE cpu|cuda FILE");
    JudgeOptions options = options_for(words[1] == "cuda" ? Backend::cuda : Backend::cpu);
    options.toolchain.cache = words[0];
    const Attack attack = read_attack(folder_of_attacks() / words[2]);
    if (const std::string why = why_not_shown(attack); !why.empty()) {
        fmt::print("skip {:<34} not shown here: its control {}\n", attack.name, why);
        return 77;
    }
    return try_one(attack, options, false);
}

#else

/// What is built without a gate has no place among what others run.
fs::path undefended_cache(const fs::path& cache, const Attack& attack) {
    static const std::set<std::string> of_builds{"words",       "includes", "symbols",   "tool files",
                                                 "tool limits", "blame",    "both modes"};
    std::string name = "undefended";
    for (const std::string& defence : attack.defences)
        if (of_builds.count(defence) > 0) name += "+" + defence;  // nvcc cannot work below a comma
    return cache.parent_path() / name;
}

/// A cache that is full, or holds what is old, gives that up while a rung is built, and a room that looks at
/// it would take that for an attack. So it does here, before there are rooms, and well below
/// the judge's own bound.
void make_ready(const fs::path& cache) {
    constexpr std::uintmax_t most_bytes = 1U << 30;
    plant(cache);
    prune(cache);
    remove_least_used(cache / "workers", most_bytes);
}

struct Job {
    const Attack* attack;
    bool defended;
    bool checked_canary;
    std::FILE* said = nullptr;
    std::FILE* details = nullptr;
};

std::string contents(std::FILE* file) {
    std::string text;
    std::rewind(file);
    for (int c; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
    std::fclose(file);
    return text;
}

/// Whether a part of the sandbox holds an attack: what holds the others is the same for every user
/// and at every level.
bool is_of_sandbox(const Attack& attack) {
    static const std::set<std::string> parts{"tool files", "tool limits", "user",   "system calls",
                                             "scopes",     "files",       "limits", "warden"};
    return std::any_of(attack.defences.begin(), attack.defences.end(),
                       [](const std::string& defence) { return parts.count(defence) > 0; });
}

/// Says why there is nothing to try. @returns the exit status that says the same
int not_here(const std::string& why) {
    fmt::print("skip: {}\n", why);
    return 77;
}

/// Goes on as a user without any rights, with a cache of its own.
void become_ordinary(fs::path& cache) {
    std::string name = (fs::temp_directory_path() / "rungs_attacks_cache_XXXXXX").string();
    if (!mkdtemp(name.data()) || chown(name.c_str(), nobody, nobody) != 0 || setgroups(0, nullptr) != 0 ||
        setresgid(nobody, nobody, nobody) != 0 || setresuid(nobody, nobody, nobody) != 0) {
        throw std::system_error(errno, std::generic_category(), "--ordinary-user needs root");
    }
    cache = fs::path(name) / "cache";
}

/// Starts a process for the job, which writes to files of its own.
pid_t start(Job& job, const JudgeOptions& options) {
    job.said = std::tmpfile();
    job.details = std::tmpfile();
    if (!job.said || !job.details)
        throw std::system_error(errno, std::generic_category(), "no temporary file");
    std::fflush(stdout);
    const pid_t child = fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "no process");
    if (child > 0) return child;
    dup2(fileno(job.said), 1);
    dup2(fileno(job.details), 2);
    int status = 3;
    try {
        if (job.defended) {
            status = try_one(*job.attack, options, job.checked_canary);
        } else {
            const std::string program = fs::read_symlink("/proc/self/exe").string() + "_undefended";
            const std::string cache = undefended_cache(options.toolchain.cache, *job.attack).string();
            execl(program.c_str(), program.c_str(), cache.c_str(), name_of(options.backend),
                  job.attack->case_file().c_str(), nullptr);
            throw std::system_error(errno, std::generic_category(), program);
        }
    } catch (const std::exception& error) {
        fmt::print("FAIL {}: {}\n", job.attack->name, error.what());
    }
    std::fflush(nullptr);
    _exit(status);
}

struct Count {
    int all = 0, right = 0;
};

/// Without words, what the tests' slice leaves of the attacks. What holds an attack, other attacks show as
/// well; what is honest is judged whole.
void keep_slice(std::vector<Attack>& attacks) {
    std::vector<Slice::Case> cases;
    for (const Attack& attack : attacks)
        cases.push_back({attack.name, {"autograder/attacks/" + attack.case_file()}});
    const std::vector<bool> tried = Slice::of_environment().choose("attacks", cases);
    std::size_t at = 0;
    std::erase_if(attacks, [&](const Attack& attack) { return !tried[at++] && attack.kind != "control"; });
}

/// The attacks that one of `words` names; without words all.
std::vector<Attack> chosen_attacks(const std::vector<std::string>& words, bool cuda) {
    std::vector<Attack> attacks;
    for (const auto& entry : fs::directory_iterator(folder_of_attacks())) {
        const std::string name = entry.path().stem().string();
        const bool chosen =
            words.empty() || std::any_of(words.begin(), words.end(), [&](const std::string& word) {
                return name.find(word) != std::string::npos;
            });
        if (std::isdigit(static_cast<unsigned char>(name.front())) == 0 || !chosen) continue;
        attacks.push_back(read_attack(entry.path()));
        // On a GPU, host code that reads or writes device memory crashes before it can cheat.
        if (cuda && attacks.back().kind != "control") attacks.back().verdicts.push_back("RUNTIME_SIGNAL");
    }
    return attacks;
}

int run(std::vector<std::string> words) {
    const bool names = std::erase(words, "--names") > 0;
    const bool cuda = std::erase(words, "--cuda") > 0;
    const bool ordinary = std::erase(words, "--ordinary-user") > 0;
    const bool held_alone = std::erase(words, "--held") > 0;
    const bool controls_alone = std::erase(words, "--controls") > 0;
    const bool sandbox_alone = std::erase(words, "--sandbox") > 0;
    std::string level;
    if (const auto at = std::find(words.begin(), words.end(), "--at"); at != words.end()) {
        if (at + 1 == words.end()) throw std::runtime_error("--at needs a level: S0, S1 or S2");
        level = at[1];
        words.erase(at, at + 2);
    }
    JudgeOptions options = options_for(cuda ? Backend::cuda : Backend::cpu);
    fs::path& cache = options.toolchain.cache;
    // Nobody else's, who would fill it while attacks are tried.
    cache = fs::path(RUNGS_BUILD) / "cache_of_attacks";  // as deep as that of others: attacks count folders
    if (ordinary && geteuid() != 0) return not_here("this is an ordinary user already");
    if (ordinary) become_ordinary(cache);
    if (ordinary && access((fs::path(RUNGS_BUILD) / "toolchain.json").c_str(), R_OK) != 0)
        return not_here("ordinary users may not read " RUNGS_BUILD);
    if (!level.empty()) become_lesser_host(level);
    if (!level.empty() && sandbox_level(options.backend).name != level)
        return not_here("this host gives " + sandbox_level(options.backend).name);

    std::vector<Attack> attacks = chosen_attacks(words, cuda);
    if (sandbox_alone) std::erase_if(attacks, [](const Attack& one) { return !is_of_sandbox(one); });
    if (held_alone && controls_alone) throw std::runtime_error("--held and --controls leave nothing to try");
    if (attacks.empty()) {
        fmt::print(stderr, "rungs_attacks: no attack is called that\n");
        return 2;
    }
    if (names) {
        for (const Attack& attack : attacks) fmt::print("{}: {}\n", attack.name, attack.what);
        return 0;
    }
    if (words.empty()) keep_slice(attacks);
    std::sort(attacks.begin(), attacks.end(),
              [](const Attack& a, const Attack& b) { return std::stoi(a.name) < std::stoi(b.name); });

    make_ready(cache);
    std::vector<Job> jobs;
    std::set<std::string> checked;
    std::set<fs::path> undefended;
    // In check mode, too, behind the first attack on each rung.
    for (const Attack& attack : attacks) {
        if (!controls_alone) jobs.push_back({&attack, true, checked.insert(attack.rung).second});
    }
    for (const Attack& attack : attacks) {
        if (held_alone || attack.kind != "attack" || (cuda && attack.control_on_cpu_alone)) continue;
        undefended.insert(undefended_cache(cache, attack));
        jobs.push_back({&attack, false, false});
    }
    for (const fs::path& one : undefended) make_ready(one);
    // At the end, where each is alone.
    std::stable_partition(jobs.begin(), jobs.end(), [](const Job& job) { return !job.attack->clock; });
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t at_once =
        cuda ? std::min<std::size_t>(cores, 4) : cores;  // of one GPU; nothing of these is timed
    std::map<pid_t, Job*> running;
    std::map<std::string, Count> counts;
    Count controls;
    std::set<std::string> tried;
    int skipped = 0;
    bool could_not = false;
    std::string faults;
    for (std::size_t next = 0; next < jobs.size() || !running.empty();) {
        while (next < jobs.size() && running.size() < at_once) {
            Job& job = jobs[next];
            if (job.attack->clock && !running.empty()) break;
            ++next;
            if (job.defended) know(cache);
            running[start(job, options)] = &job;
        }
        int status = 0;
        const pid_t child = wait(&status);
        if (child < 0 && errno == EINTR) continue;
        const auto found = running.find(child);
        if (found == running.end()) continue;
        Job& job = *found->second;
        running.erase(found);
        const std::string said = contents(job.said), details = contents(job.details);
        fmt::print("{}", said);
        std::fflush(stdout);
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        if (code == 77) {
            ++skipped;
            continue;
        }
        if (job.defended || controls_alone) tried.insert(job.attack->name);
        Count& count = job.defended ? counts[job.attack->kind] : controls;
        ++count.all;
        if (code == 0) ++count.right;
        could_not = could_not || code == 3;
        if (code != 0) {
            faults += !details.empty() ? details
                      : !said.empty()  ? said
                                       : fmt::format("FAIL {}: the judge ended\n", job.attack->name);
        }
    }
    // A host may honestly lack what some of them need; but at least one of those asked for has to be tried.
    if (words.empty()) words.emplace_back();
    for (const std::string& word : words) {
        if (std::any_of(tried.begin(), tried.end(),
                        [&](const std::string& name) { return name.find(word) != std::string::npos; }))
            continue;
        faults += fmt::format("FAIL {}: not one was tried\n", word.empty() ? "attacks" : word);
    }
    const Count held = counts["attack"], accidents = counts["accident"], honest = counts["control"];
    fmt::print("{}attacks {}, held {}, positive controls {} of {}, accidents {}/{}, controls {}/{}", faults,
               held.all, held.right, controls.right, controls.all, accidents.right, accidents.all,
               honest.right, honest.all);
    if (skipped > 0) fmt::print(", not tried {}", skipped);
    fmt::print(", sandbox {}\n", sandbox_level(options.backend).name);
    std::error_code ignored;
    if (ordinary) fs::remove_all(cache.parent_path(), ignored);
    return could_not ? 3 : faults.empty() ? 0 : 1;
}

#endif

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "rungs_attacks: {}\n", error.what());
        return 3;
    }
}
