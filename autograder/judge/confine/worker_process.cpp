#include "judge/confine/worker_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/build/diagnostics.hpp"
#include "judge/confine/gpu_process.hpp"
#include "judge/confine/held_reader.hpp"
#include "judge/options.hpp"
#include "judge/result/defences.hpp"
#include "simt/inspect/columns.h"
#include "simt/inspect/names.h"

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;
using protocol::Status;
using protocol::Word;

constexpr std::size_t least_bytes = 16U << 20;
constexpr std::size_t cpu_memory = 8ULL << 30;
/// Of addresses, for each thread that runs blocks: its own stack, those of a block's lanes, what malloc()
/// sets aside for it. That is 90 MiB, and the device's heap takes half of all addresses.
constexpr std::size_t addresses_per_processor = 256U << 20;

/// Three quarters of the machine, at most 8 GiB: enough for every case of the CPU backend.
std::size_t memory_limit() {
    const auto machine =
        static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return std::min(cpu_memory, machine / 4 * 3);
}

const char* signal_words(int number) {
    switch (number) {
        case SIGSEGV:
            return "SIGSEGV: it used an address that is not its own";
        case SIGBUS:
            return "SIGBUS: it used an address without memory behind it";
        case SIGFPE:
            return "SIGFPE: integer division by zero, or an overflow";
        case SIGILL:
            return "SIGILL: an illegal instruction";
        case SIGABRT:
            return "SIGABRT: it gave up, by abort(), assert() or an exception that nobody caught";
        case SIGXFSZ:
            return "SIGXFSZ: it wrote to a file";
        case SIGSYS:
            return "SIGSYS: a forbidden system call";
        case SIGTRAP:
            return "SIGTRAP: a trap";
        case SIGKILL:
            return "SIGKILL";
        case SIGPIPE:
            return "SIGPIPE";
        case SIGTERM:
            return "SIGTERM";
        default:
            return nullptr;
    }
}

/// A memfd: this file's own memory has no name that a submission could find.
Descriptor anonymous_file(std::size_t bytes) {
    Descriptor file(memfd_create("rungs", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file) fail_with_errno("memfd_create");
    if (ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) fail_with_errno("shared memory");
    return file;
}

/// What a worker sees as the name of its program.
constexpr const char* program_name = "rungs-worker";
#ifndef MFD_EXEC
constexpr unsigned MFD_EXEC = 0x10;
#endif

/// The same program in memory: the name of a file would tell a submission where the judge and its cache are.
/// @returns the file itself where this system runs no program from memory
Descriptor without_name(Descriptor program) {
    constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    Descriptor copy(memfd_create(program_name, flags | MFD_EXEC));
    if (!copy && errno == EINVAL) copy = Descriptor(memfd_create(program_name, flags));  // before Linux 6.3
    const std::optional<std::string> bytes = copy ? read_all(program.get()) : std::nullopt;
    const bool whole =
        bytes && write_all(copy.get(), bytes->data(), bytes->size()) &&
        fcntl(copy.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0;
    return whole ? std::move(copy) : std::move(program);
}

}  // namespace

std::size_t round_up(std::size_t value, std::size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

SharedMemory::SharedMemory(std::size_t bytes) : descriptor_(anonymous_file(bytes)), size_(bytes) {
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.get(), 0);
    if (address == MAP_FAILED) fail_with_errno("mapping shared memory");
    data_ = static_cast<std::byte*>(address);
}

SharedMemory::~SharedMemory() {
    if (data_) munmap(data_, size_);
}

void SharedMemory::seal(bool read_only) {
#ifndef F_SEAL_FUTURE_WRITE
    constexpr int F_SEAL_FUTURE_WRITE = 0x0010;
#endif
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | (read_only ? F_SEAL_FUTURE_WRITE : 0);
    if (fcntl(descriptor_.get(), F_ADD_SEALS, seals) != 0) fail_with_errno("sealing shared memory");
}

WorkerProcess::WorkerProcess(const fs::path& executable, const WorkerOptions& options)
    : executable_(executable),
      backend_(options.backend),
      report_bytes_(options.report_bytes),
      in_(round_up(std::max(options.in_bytes, least_bytes) + report_bytes_, 4096)),
      out_(round_up(std::max(options.out_bytes, least_bytes) + report_bytes_, 4096)),
      stop_(options.stop) {
    if (is_on(Defence::seals)) {
        in_.seal(true);
        out_.seal(false);
    }

    Descriptor file(open(executable.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) {
        throw InfraError(
            fmt::format("cannot open {}: {}; check again", executable.string(), std::strerror(errno)));
    }
    const Descriptor program = is_on(Defence::names) ? without_name(std::move(file)) : std::move(file);
    Command command;
    command.arguments = {program_name};
    command.program = program.get();
    command.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
    command.descriptors = {{in_.descriptor(), protocol::in_memory},
                           {out_.descriptor(), protocol::out_memory},
                           {go_.read.get(), protocol::go_pipe},
                           {done_.write.get(), protocol::done_pipe}};
    Confinement& confinement = command.confinement;
    confinement.untrusted = true;
    confinement.one_process = true;
    const auto processors =
        options.processors ? options.processors : std::max(1U, std::thread::hardware_concurrency());
    confinement.limits.cpu_seconds = static_cast<std::size_t>(options.cpu_seconds) * processors + 1;
    const std::size_t shared = 2 * (in_.size() + out_.size());
    memory_limit_ = memory_limit() + shared;
    confinement.limits.resident = memory_limit_;
    if (options.backend == Backend::cpu) {
        // A small machine has no fewer addresses, and stacks of lanes take many that are never used.
        confinement.limits.address_space = cpu_memory + shared + processors * addresses_per_processor;
        confinement.limits.processes = 32 + 2 * processors;
        confinement.limits.open_files = 64;
        confinement.limits.no_files = true;
        confinement.hide_files = true;
        command.environment.push_back(
            fmt::format("RUNGS_SIMT_SEED={}", options.order_seed.value_or(random_seed())));
        command.environment.push_back(fmt::format("RUNGS_SIMT_MULTIPROCESSORS={}", options.multiprocessors));
        command.environment.push_back(fmt::format("RUNGS_SIMT_THREADS={}", processors));
    } else {
        awake_ = std::chrono::milliseconds(20);  // only here does a clock run that counts
        let_use_gpu(command);
    }
    process_.emplace(command);
    // Our copies of the worker's ends: without them a worker that hangs up is noticed.
    go_.read.close();
    done_.write.close();
    fcntl(done_.read.get(), F_SETFL, O_NONBLOCK);
}

void WorkerProcess::kill() {
    process_->kill();
    if (process_->left_behind()) {
        throw InfraError(
            "processes of the worker are still running and could not be killed: end them, then check again");
    }
}

Cause WorkerProcess::ended(bool before_ready) {
    kill();
    const End& end = process_->end();
    const protocol::Claim claim = claimed();
    const std::string report = backend_report();
    const std::string when =
        before_ready ? "before its first call" : "instead of returning from its launcher";
    const auto with_report = [&](std::string reason) { return report.empty() ? reason : report; };
    switch (end.kind) {
        case End::Kind::not_started:
            if (end.code == ENOMEM && !end.step)
                return {Verdict::oom, "has too much static data to be loaded"};
            throw InfraError(fmt::format("the worker could not be started: {}", why_not_started(end)));
        case End::Kind::exited:
            if (claim == protocol::Claim::deadlock) return {Verdict::deadlock, report};
            if (end.code == 0 && !is_on(Defence::exit_status)) return {Verdict::ok, "says that all is well"};
            if (end.code == 0) {
                return {Verdict::protocol, fmt::format("ended the process, with exit status 0, {}", when)};
            }
            return {Verdict::runtime_exit,
                    with_report(fmt::format("ended the process, with exit status {}, {}", end.code, when))};
        case End::Kind::signalled: {
            if (claim == protocol::Claim::deadlock) return {Verdict::deadlock, report};
            if (claim == protocol::Claim::out_of_memory ||
                (memory_limit_ && end.peak_bytes > memory_limit_ / 10 * 9)) {
                return {Verdict::oom, fmt::format("ran out of memory (limit {} MiB)", memory_limit_ >> 20)};
            }
            if (end.code == SIGXCPU) return {Verdict::timeout, "used up its processor time"};
            const char* words = signal_words(end.code);
            return {Verdict::runtime_signal,
                    with_report(words ? fmt::format("crashed {}: {}", when, words)
                                      : fmt::format("crashed {} with signal {}", when, end.code)),
                    end.code == SIGKILL};  // by the system, where memory is short
        }
        default:
            throw InfraError(
                end.code == 0 ? "the worker was ended by another process"
                              : fmt::format("the worker could not be watched: {}", std::strerror(end.code)));
    }
}

Cause WorkerProcess::timed_out(double seconds) {
    kill();
    const std::string report = backend_report();
    if (claimed() == protocol::Claim::deadlock) return {Verdict::deadlock, report};
    return {Verdict::timeout,
            fmt::format("did not return within {:.2g} s{}{}", seconds, report.empty() ? "" : ": ", report)};
}

std::optional<Cause> WorkerProcess::start(double seconds) {
    if (!is_on(Defence::clock)) seconds *= 4;
    const auto event = process_->wait(done_.read.get(), in_seconds(seconds), stop_);
    if (event == Process::Event::stopped) throw Stopped{};
    if (event == Process::Event::ended) return ended(true);
    if (event == Process::Event::deadline) {
        Cause cause = timed_out(seconds);
        cause.text = "did not start: " + cause.text;
        return cause;
    }
    Word word;
    const ssize_t got = read(done_.read.get(), &word, sizeof word);
    if (is_on(Defence::protocol) &&
        (got != static_cast<ssize_t>(sizeof word) || word.sequence != protocol::ready_sequence)) {
        kill();
        return Cause{Verdict::protocol, "wrote to the grader's pipe before its first call"};
    }
    return std::nullopt;
}

Process::Event WorkerProcess::wait_for_answer(double seconds) {
    if (!is_on(Defence::clock)) seconds *= 4;
    const bool counted = backend_ == Backend::cpu;
    const auto start = Clock::now();
    const double busy_before = counted ? process_->activity().busy_seconds : 0;
    for (double left = seconds;;) {
        const auto event = process_->wait(done_.read.get(), in_seconds(left), stop_, awake_);
        if (event != Process::Event::deadline || !counted) return event;
        const Activity activity = process_->activity();
        const double busy = activity.busy_seconds - busy_before;
        const double passed = std::chrono::duration<double>(Clock::now() - start).count();
        // One that sleeps, or waits for what does not come, is not kept from working by others.
        if (!activity.has_more || busy > 0.95 * seconds || passed > beside_others * seconds) return event;
        left = std::max(0.1, seconds - busy);
    }
}

std::optional<Cause> WorkerProcess::command(std::uint32_t steps, double seconds) {
    Word word;
    if (is_on(Defence::protocol) && read(done_.read.get(), &word, sizeof word) > 0) {
        kill();
        return Cause{Verdict::protocol, "wrote to the grader's pipe without being asked"};
    }
    const Word go{++sequence_, steps, 0};
    request().sequence = sequence_;
    // The worker's output from here on must be this call's.
    *reinterpret_cast<protocol::Reply*>(out_.data()) = {};
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (write(go_.write.get(), &go, sizeof go) != static_cast<ssize_t>(sizeof go) && errno != EPIPE) {
        fail_with_errno("writing to the worker");
    }
    const auto event = wait_for_answer(seconds);
    if (event == Process::Event::stopped) throw Stopped{};
    if (event == Process::Event::ended) return ended(false);
    if (event == Process::Event::deadline) return timed_out(seconds);
    const ssize_t got = read(done_.read.get(), &word, sizeof word);
    if (is_on(Defence::protocol) &&
        (got != static_cast<ssize_t>(sizeof word) || word.sequence != sequence_ || word.steps != steps)) {
        kill();
        return Cause{Verdict::protocol, "wrote to the grader's pipe what only the grader's part may write"};
    }
    return std::nullopt;
}

protocol::Reply WorkerProcess::reply() const {
    protocol::Reply reply;
    std::memcpy(static_cast<void*>(&reply), out_.data(), sizeof reply);
    reply.text[sizeof reply.text - 1] = 0;
    reply.report[sizeof reply.report - 1] = 0;
    return reply;
}

protocol::Claim WorkerProcess::claimed() const {
    const protocol::Claim claim = reply().claim;
    if (is_on(Defence::claims) || claim != protocol::Claim::nothing) return claim;
    const std::string words = process_->errors().text();
    if (words.find("error=deadlock") != std::string::npos) return protocol::Claim::deadlock;
    const bool no_memory = words.find("bad_alloc") != std::string::npos;
    return no_memory ? protocol::Claim::out_of_memory : protocol::Claim::nothing;
}

std::optional<Cause> WorkerProcess::complaint() const {
    const protocol::Reply reply = this->reply();
    if (!is_on(Defence::protocol)) return std::nullopt;
    if (reply.sequence != sequence_) return Cause{Verdict::protocol, "did not answer the call it was given"};
    if (reply.status == Status::done) return std::nullopt;
    const std::string report = backend_report();
    std::string text = reply.text;  // CudaError has a line for the call, the error and the hint
    for (std::size_t at; (at = text.find("\n  ")) != std::string::npos;) text.replace(at, 3, "; ");
    text = one_line(text, 600);
    switch (reply.status) {
        case Status::out_of_memory:
            return Cause{Verdict::oom, "ran out of memory: " + text};
        case Status::exception:
        case Status::cuda_error:
            if (reply.claim == protocol::Claim::deadlock) return Cause{Verdict::deadlock, report};
            return Cause{Verdict::runtime_error, report.empty() ? text : report};
        default:
            return Cause{Verdict::protocol, "gave an answer that the grader does not know"};
    }
}

std::optional<Cause> WorkerProcess::report(double seconds, std::string& json) {
    constexpr int rounds = 4;  // one question is usual: the lines of a rung are all asked for at once
    constexpr std::size_t most = 4096;  // addresses
    protocol::Request& asked = request();
    asked.report_offset = out_.size() - report_bytes_;
    asked.places_offset = in_.size() - report_bytes_;
    asked.report_bytes = report_bytes_;
    asked.places_bytes = 0;
    looked_up_ = false;
    unread_.clear();
    for (int round = 0; round < rounds; ++round) {
        if (std::optional<Cause> cause = command(protocol::report, seconds)) return cause;
        if (std::optional<Cause> cause = complaint()) return cause;
        const protocol::Reply answer = reply();
        const std::byte* from = out_.data() + asked.report_offset;
        if (answer.addresses == 0) {
            const std::size_t size = std::min<std::size_t>(answer.report_bytes, report_bytes_);
            json = with_lines({reinterpret_cast<const char*>(from), size});
            return std::nullopt;
        }
        looked_up_ = true;
        std::vector<std::uint64_t> addresses(std::min<std::size_t>(answer.addresses, most));
        std::memcpy(addresses.data(), from, addresses.size() * sizeof addresses[0]);
        std::vector<std::string> hex;
        for (const std::uint64_t address : addresses) hex.push_back(fmt::format("{:#x}", address));
        std::string places;
        try {
            places = with_columns(places_of(hex));
        } catch (const Rejected& rejected) {
            return Cause{Verdict::protocol, rejected.what()};
        }
        asked.places_bytes = std::min(places.size(), report_bytes_);
        std::memcpy(in_.data() + asked.places_offset, places.data(), asked.places_bytes);
    }
    return Cause{Verdict::protocol, "keeps asking for lines of its code"};
}

std::string WorkerProcess::printed() const {
    const std::string text = process_->errors().text() + process_->output().text();
    return trim_diagnostics(text, {}, 20);
}

std::string WorkerProcess::places_of(const std::vector<std::string>& addresses) const {
    std::vector<std::string> line{"addr2line", "-a", "-C", "-f", "-i", "-e", executable_.string()};
    line.insert(line.end(), addresses.begin(), addresses.end());
    return run_binutil(line, stop_);
}

std::string WorkerProcess::with_columns(const std::string& places) {
    const auto lines = static_cast<std::size_t>(std::count(places.begin(), places.end(), '\n')) + 1;
    Reader reader = program_reader();
    reader.words = {"columns"};
    return simt::check::with_columns(places,
                                     read_numbers(reader, executable_, places, lines, unread_, stop_));
}

std::string WorkerProcess::with_lines(std::string report) const {
    constexpr std::size_t most = 64;  // addresses
    // As the link /proc/self/exe has it (without_name() above).
    const std::string in_memory = fmt::format("memfd:{} (deleted)+0x", program_name);
    const std::string own = executable_.filename().string() + "+0x";
    for (std::size_t at = 0; (at = report.find(in_memory, at)) != std::string::npos; at += own.size())
        report.replace(at, in_memory.size(), own);
    std::vector<std::string> addresses;
    std::vector<std::size_t> starts;
    for (std::size_t at = report.find(own); at != std::string::npos && starts.size() < most;
         at = report.find(own, at + 1)) {
        const std::size_t digits = at + own.size();
        const std::size_t end = std::min(report.find_first_not_of("0123456789abcdef", digits), report.size());
        addresses.push_back(report.substr(digits, std::min<std::size_t>(end - digits, 16)));
        starts.push_back(at);
    }
    if (starts.empty()) return report;
    std::istringstream answer;
    try {
        answer.str(places_of(addresses));
    } catch (const std::exception&) {
        return report;  // the addresses have to do
    }
    // One line "0x...", then two a frame: the function, and "file:line". The innermost comes first.
    std::vector<std::string> places(starts.size()), functions(starts.size());
    std::size_t count = 0;
    for (std::string text, place; std::getline(answer, text);) {
        if (text.rfind("0x", 0) == 0) {
            ++count;
        } else if (count > 0 && count <= places.size() && std::getline(answer, place)) {
            functions[count - 1] = text;
            std::string& known = places[count - 1];
            if ((known.empty() || simt::is_own_source(known)) && place.rfind("??", 0) != 0)
                known = place.substr(0, place.find(" (discriminator"));
        }
    }
    for (std::size_t i = starts.size(); i-- > 0;) {
        const std::size_t length = own.size() + addresses[i].size();
        const std::string& place = places[i];
        const bool kernel = starts[i] >= 7 && report.compare(starts[i] - 7, 7, "kernel ") == 0;
        const std::string known =
            kernel ? simt::short_name(functions[i]) : place.substr(place.rfind('/') + 1);
        // Unknown, or what would end a string of a report.
        if (known.empty() || known.find_first_of("\"\\?") != std::string::npos) continue;
        report.replace(starts[i], length, known);
    }
    return report;
}

std::string WorkerProcess::backend_report() const {
    // For people: "kernel k: thread (17,0,0) of block (0,0,0): ...", one line or more; then for tools:
    // "simt: error=deadlock kernel=..."
    std::vector<std::string> lines;
    std::istringstream in(with_lines(reply().report));
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    std::string report;
    std::size_t first = lines.size();
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].rfind("kernel ", 0) == 0) first = i;
        if (lines[i].rfind("simt: ", 0) != 0) continue;
        const bool about_people = lines[i].rfind("simt: error=", 0) == 0 && first < i;
        if (!about_people) {
            report += (report.empty() ? "" : "; ") + lines[i].substr(std::strlen("simt: "));
            continue;
        }
        const std::string word = lines[i].substr(std::strlen("simt: error="));
        report += (report.empty() ? "" : "; ") + word.substr(0, word.find(' ')) + ": ";
        for (std::size_t j = first; j < i; ++j) report += (j > first ? "; " : "") + lines[j];
        first = lines.size();
    }
    return one_line(report, 600);
}

}  // namespace rungs::judge
