#pragma once
// One attack, tried once.

#include <filesystem>
#include <string>
#include <vector>

#include "judge/judge.hpp"

namespace rungs::attacks {

/// What an attack is after, and what tells that it got there.
enum class Goal {
    points,    ///< OK, and a share of the rung's points
    status,    ///< the worker leaves with status 1
    secret,    ///< a planted secret is in the result
    seed,      ///< the seed of the run does
    terminal,  ///< bytes that a terminal obeys do
    litter,    ///< a file, an object or a process is left, or a service was called
    time,      ///< the judge is kept for longer than the limit allows
    verdict    ///< one that says something else than what was done
};

struct Attack {
    std::string name;  ///< of its file, without the ending
    std::string what;
    std::string rung = "03_shared_tree";  ///< of chapter 1, as which it is handed in
    std::string file;                     ///< the name of what is handed in: "03_shared_tree.cu"
    std::string text;                     ///< what is handed in
    std::string kind = "attack";          ///< attack, accident (a mistake that nobody means) or control
    std::vector<std::string> verdicts;
    double min_share = 0;  ///< of the rung's points: at least, at most
    double max_share = 0;
    double time_limit = 2;                         ///< seconds a call
    double budget = judge::JudgeOptions().budget;  ///< seconds for all calls
    bool spins = false;                            ///< Goal::time: keeps a processor busy, and does not wait
    bool clock = false;                            ///< is about the clock of a GPU
    bool cpu_alone = false;                        ///< means nothing on a GPU
    bool control_on_cpu_alone = false;             ///< cannot succeed on a GPU, whatever the judge does
    bool control_needs_namespace = false;          ///< succeeds only where the kernel grants a user namespace
    bool control_needs_open_build = false;  ///< succeeds only where every user may enter the build's folder
    bool control_needs_clone3 =
        false;                ///< succeeds only where the kernel has that call, which containers refuse
    std::string needs;        ///< least sandbox level at which it is held: "S2"; empty: any
    bool needs_root = false;  ///< held, or tried without its defence, by root alone
    bool checks = true;       ///< whether check mode has anything to do with it
    std::vector<std::string> defences;  ///< what holds it; without all of them it succeeds
    Goal goal = Goal::points;
    double success = 1;  ///< Goal::points: the share that it gets; Goal::time: the seconds
    std::string wanted;  ///< Goal::verdict

    /// The name of its own file: "22_daemon.cu".
    std::string case_file() const { return name + std::filesystem::path(file).extension().string(); }
};

/// Reads an attack's file. @throws std::runtime_error
Attack read_attack(const std::filesystem::path& file);

struct Tried {
    std::string line;   ///< what became of it, for people
    std::string fault;  ///< empty: as expected
    std::string details;
};

/// Whether workers are confined enough here for an attack to be tried; else why not.
std::string why_not_tried(const Attack& attack, const judge::JudgeOptions& options);

/// Judges an attack. The judge that has all its parts must hold it, leave nothing behind, and judge an honest
/// rung as before (`checked_canary`: in check mode as well); the one without the attack's defences must fail.
Tried attempt(const Attack& attack, const Manifest& manifest, const Exam& exam,
              const judge::JudgeOptions& options, bool checked_canary);

}  // namespace rungs::attacks
