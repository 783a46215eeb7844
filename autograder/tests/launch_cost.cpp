// What it costs to hold a program: launches of /bin/true, unconfined and as the judge confines a worker of
// the CPU backend and a tool, and of a reader of programs, taking turns. For
// autograder/class_figures.py.
//     rungs_launch_cost [LAUNCHES]    prints JSON: milliseconds from the start to the end that was noticed
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "judge/confine/held_reader.hpp"
#include "judge/confine/process.hpp"
#include "judge/judge.hpp"

namespace {

using namespace rungs::judge;

/// As WorkerProcess has it.
Confinement of_worker() {
    Confinement how;
    how.untrusted = how.one_process = how.hide_files = true;
    how.limits.cpu_seconds = 600;
    how.limits.address_space = std::size_t{4} << 30;
    how.limits.processes = 64;
    how.limits.open_files = 64;
    how.limits.no_files = true;
    return how;
}

Confinement of_tool() {
    Confinement how;
    how.tool = true;
    how.limits.address_space = std::size_t{2} << 30;
    how.limits.processes = 128;
    return how;
}

Command of_true(const Confinement& how) {
    Command command;
    command.arguments = {"/bin/true"};
    command.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
    command.confinement = how;
    return command;
}

/// From its start to its end.
double milliseconds(const std::function<void()>& launch) {
    const auto start = Clock::now();
    launch();
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::function<void()> launch_of(const Command& command) {
    return [command] {
        Process process(command);
        const bool ended = run_to_end(process, 20);
        if (!ended || process.end().kind != End::Kind::exited || process.end().code != 0)
            throw std::runtime_error("it did not end as it should: " + why_not_started(process.end()));
    };
}

/// Of a program that says nothing, to which nothing is asked.
void read_nothing() {
    Reader reader = program_reader();
    reader.words = {"columns"};
    std::string why_not;
    read_numbers(reader, "/dev/null", "", 1, why_not);
    if (!why_not.empty()) throw std::runtime_error("it did not end as it should, " + why_not);
}

}  // namespace

int main(int count, char** words) {
    try {
        const int launches = count > 1 ? std::atoi(words[1]) : 200;
        const std::vector<std::pair<std::string, std::function<void()>>> ways{
            {"unconfined", launch_of(of_true({}))},
            {"as a worker", launch_of(of_true(of_worker()))},
            {"as a tool", launch_of(of_true(of_tool()))},
            {"a reader", read_nothing}};
        const SandboxLevel level = sandbox_level();  // tried out once, and not in what is measured
        nlohmann::ordered_json times;
        for (const auto& [name, launch] : ways) launch();
        for (int i = 0; i < launches; ++i) {
            for (const auto& [name, launch] : ways) times[name].push_back(milliseconds(launch));
        }
        std::printf("%s\n", nlohmann::ordered_json{{"sandbox", level.name + ": " + level.describe},
                                                   {"milliseconds", times}}
                                .dump()
                                .c_str());
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rungs_launch_cost: %s\n", error.what());
        return 3;
    }
}
