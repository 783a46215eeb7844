#include "judge/held_reader.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "judge/build.hpp"
#include "judge/large_blocks.hpp"
#include "judge/worker_process.hpp"

namespace rungs::judge {
namespace {

constexpr double reader_seconds = 10;  ///< of a processor; usual programs are read in 0.01
constexpr double reader_clock = 60;    ///< seconds, beside others that work
constexpr std::size_t reader_memory = 512U << 20;
constexpr int has_thrown = 3;  ///< exit status

}  // namespace

Command held_reader(std::function<int()> read, double seconds, std::size_t memory) {
    Command command;
    command.inside = [read = std::move(read)] {
        for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
        try {
            return read();
        } catch (...) {
            return has_thrown;
        }
    };
    Confinement& how = command.confinement;
    how.untrusted = how.one_process = how.hide_files = true;
    // Before all are counted, since another thread may take some.
    const std::size_t kept = addresses_kept_from_children();
    std::size_t addresses = 0, resident = 0;  // pages
    std::ifstream("/proc/self/statm") >> addresses >> resident;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    how.limits.address_space = std::max(addresses * page, kept) - kept + memory;
    how.limits.resident = resident * page + memory;
    how.limits.cpu_seconds = static_cast<std::size_t>(seconds) + 1;
    how.limits.no_files = true;
    return command;
}

std::vector<std::uint32_t> read_numbers(const std::function<std::vector<std::uint32_t>()>& read,
                                        std::size_t most, std::string& why_not,
                                        const std::atomic<bool>* stop) {
    constexpr std::size_t size = sizeof(std::uint32_t);
    try {
        const SharedMemory answer((most + 1) * size);  // their count comes first
        const Command command = held_reader(
            [&] {
                const std::vector<std::uint32_t> numbers = read();
                const auto count = static_cast<std::uint32_t>(std::min(numbers.size(), most));
                std::memcpy(answer.data() + size, numbers.data(), count * size);
                std::memcpy(answer.data(), &count, size);
                return 0;
            },
            reader_seconds, reader_memory);
        Process process(command);
        const bool in_time = run_to_end(process, reader_clock, stop);
        if (stop && stop->load()) throw Stopped{};
        const End& end = process.end();
        if (in_time && end.kind == End::Kind::exited && end.code == 0) {
            std::uint32_t count = 0;
            std::memcpy(&count, answer.data(), size);
            std::vector<std::uint32_t> numbers(std::min<std::size_t>(count, most));
            std::memcpy(numbers.data(), answer.data() + size, numbers.size() * size);
            return numbers;
        }
        if (!in_time || (end.kind == End::Kind::signalled && end.code == SIGXCPU)) {
            why_not = fmt::format("which takes more than {} s", reader_seconds);
        } else if (end.kind == End::Kind::not_started) {
            why_not = "as its reader cannot be confined: " + why_not_started(end);
        } else if (end.kind == End::Kind::exited) {
            why_not = "as its reader gave up, or ran out of memory";
        } else {
            why_not = fmt::format("as its reader was ended by signal {}", end.code);
        }
    } catch (const std::system_error& error) {
        why_not = std::string("as its reader cannot be started: ") + error.what();
    }
    return {};
}

}  // namespace rungs::judge
