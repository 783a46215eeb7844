// What it costs to hold a program: launches of /bin/true, unconfined and as the judge confines a worker of
// the CPU backend and a tool, taking turns. For autograder/class_figures.py.
//     rungs_launch_cost [LAUNCHES]    prints JSON: milliseconds from the start to the end that was noticed
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "judge/judge.hpp"
#include "judge/process.hpp"

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

double launch(const Confinement& how) {
    Command command;
    command.arguments = {"/bin/true"};
    command.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
    command.confinement = how;
    const auto start = Clock::now();
    Process process(command);
    const bool ended = run_to_end(process, 20);
    const std::chrono::duration<double, std::milli> took = Clock::now() - start;
    if (!ended || process.end().kind != End::Kind::exited || process.end().code != 0)
        throw std::runtime_error("/bin/true did not end as it should: " + why_not_started(process.end()));
    return took.count();
}

}  // namespace

int main(int count, char** words) {
    try {
        const int launches = count > 1 ? std::atoi(words[1]) : 200;
        const std::vector<std::pair<std::string, Confinement>> ways{
            {"unconfined", {}}, {"as a worker", of_worker()}, {"as a tool", of_tool()}};
        const SandboxLevel level = sandbox_level();  // tried out once, and not in what is measured
        nlohmann::ordered_json times;
        for (const auto& [name, how] : ways) launch(how);
        for (int i = 0; i < launches; ++i) {
            for (const auto& [name, how] : ways) times[name].push_back(launch(how));
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
