#include "judge/confine/held_reader.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/confine/worker_process.hpp"

namespace rungs::judge {
namespace {

constexpr double reader_clock = 60;  ///< seconds, beside others that work

Descriptor opened(const std::filesystem::path& file) {
    Descriptor descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!descriptor) fail_with_errno(file.c_str());
    return descriptor;
}

/// A file in memory with `text` in it, to be read from its start.
Descriptor file_with(const std::string& text) {
    Descriptor file(memfd_create("rungs-question", MFD_CLOEXEC));
    if (!file) fail_with_errno("memory for a question");
    if (!write_all(file.get(), text.data(), text.size()) || lseek(file.get(), 0, SEEK_SET) != 0)
        fail_with_errno("memory for a question");
    return file;
}

}  // namespace

Reader program_reader() { return {.program = RUNGS_PROGRAM_READER}; }

std::unique_ptr<Process> start_held(const Reader& reader, std::vector<std::pair<int, int>> descriptors) {
    const Descriptor program = opened(reader.program);
    Command command;
    command.arguments = {reader.program.filename().string()};
    command.arguments.insert(command.arguments.end(), reader.words.begin(), reader.words.end());
    command.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"};
    command.program = program.get();
    command.descriptors = std::move(descriptors);
    Confinement& how = command.confinement;
    how.untrusted = how.one_process = how.hide_files = true;
#if defined(__SANITIZE_ADDRESS__)
    how.limits.resident = reader.memory;  // addresses are what the sanitizer takes most of
#else
    how.limits.address_space = reader.memory;
#endif
    how.limits.cpu_seconds = static_cast<std::size_t>(reader.cpu_seconds) + 1;
    how.limits.open_files = 64;
    how.limits.no_files = true;
    return std::make_unique<Process>(command);
}

std::vector<std::uint32_t> read_numbers(const Reader& reader, const std::filesystem::path& file,
                                        const std::string& question, std::size_t most, std::string& why_not,
                                        const std::atomic<bool>* stop) {
    constexpr std::size_t size = sizeof(std::uint32_t);
    try {
        SharedMemory answer((most + 1) * size);  // their count comes first
        answer.seal(false);
        const Descriptor read = opened(file), asked = file_with(question);
        const auto process =
            start_held(reader, {{read.get(), 3}, {asked.get(), 4}, {answer.descriptor(), 5}});
        const bool in_time = run_to_end(*process, reader_clock, stop);
        if (stop && stop->load()) throw Stopped{};
        const End& end = process->end();
        if (in_time && end.kind == End::Kind::exited && end.code == 0) {
            std::uint32_t count = 0;
            std::memcpy(&count, answer.data(), size);
            std::vector<std::uint32_t> numbers(std::min<std::size_t>(count, most));
            std::memcpy(numbers.data(), answer.data() + size, numbers.size() * size);
            return numbers;
        }
        if (!in_time || (end.kind == End::Kind::signalled && end.code == SIGXCPU)) {
            why_not = fmt::format("which takes more than {} s", reader.cpu_seconds);
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
