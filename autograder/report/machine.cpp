#include "report/machine.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

namespace rungs {
namespace {

/// The first value of `key` in a file of `key<separator>value` lines, without quotes.
std::string value_in(const char* file, const std::string& key, char separator) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (line.rfind(key, 0) != 0) continue;
        const std::size_t at = line.find(separator);
        if (at == std::string::npos) continue;
        const std::size_t first = line.find_first_not_of(" \t\"", at + 1);
        if (first == std::string::npos) continue;
        return line.substr(first, line.find_last_not_of(" \t\"") + 1 - first);
    }
    return {};
}

/// Runs in the child: one line a fact on `out`. Only the driver library is used; its functions are declared
/// here as the CUDA driver API documents them, because a machine without a toolkit has no header.
void describe_gpu(int out) {
    const auto say = [&](const std::string& line) {
        const std::string text = line + '\n';
        if (write(out, text.data(), text.size()) < 0) _exit(1);
    };
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) return say("why_not no NVIDIA driver on this machine");
    const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
    const auto version = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
    const auto count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
    const auto device = reinterpret_cast<int (*)(int*, int)>(dlsym(driver, "cuDeviceGet"));
    const auto name = reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetName"));
    const auto attribute = reinterpret_cast<int (*)(int*, int, int)>(dlsym(driver, "cuDeviceGetAttribute"));
    const auto memory = reinterpret_cast<int (*)(std::size_t*, int)>(dlsym(driver, "cuDeviceTotalMem_v2"));
    const auto uuid = reinterpret_cast<int (*)(unsigned char*, int)>(dlsym(driver, "cuDeviceGetUuid_v2"));
    if (!init || !version || !count || !device || !name || !attribute || !memory) {
        return say("why_not the NVIDIA driver library lacks functions; reinstall the driver");
    }
    if (const int error = init(0); error != 0) {
        if (error == 100) return say("why_not the NVIDIA driver sees no GPU");
        return say(fmt::format("why_not the NVIDIA driver does not start (cuInit: error {})", error));
    }
    int number = 0, devices = 0, first = 0;
    if (version(&number) == 0) say(fmt::format("driver {}.{}", number / 1000, number % 1000 / 10));
    if (count(&devices) != 0 || devices == 0 || device(&first, 0) != 0) {
        return say("why_not the NVIDIA driver sees no GPU");
    }
    char text[256] = {};
    if (name(text, sizeof text - 1, first) == 0) say(std::string("name ") + text);
    int major = 0, minor = 0;
    // 75 and 76: compute capability, major and minor
    if (attribute(&major, 75, first) == 0 && attribute(&minor, 76, first) == 0) {
        say(fmt::format("capability {}.{}", major, minor));
    }
    unsigned char digits[16] = {};
    if (uuid && uuid(digits, first) == 0) {
        std::string hex;
        for (const unsigned char byte : digits) hex += fmt::format("{:02x}", byte);
        say("uuid " + hex);
    }
    int kilohertz = 0;
    // 13 and 36: the highest clock rates, of the multiprocessors and of the memory
    if (attribute(&kilohertz, 13, first) == 0) say(fmt::format("clock {}", kilohertz / 1000));
    if (attribute(&kilohertz, 36, first) == 0) say(fmt::format("memory_clock {}", kilohertz / 1000));
    // 32: whether its memory corrects errors
    if (int corrects = 0; attribute(&corrects, 32, first) == 0) say(fmt::format("ecc {}", corrects));
    std::size_t bytes = 0;
    if (memory(&bytes, first) == 0) say(fmt::format("memory {}", bytes));
    say(fmt::format("count {}", devices));
}

}  // namespace

Gpu find_gpu(double seconds) {
    Gpu gpu;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        gpu.why_not = std::string("could not ask the driver: ") + std::strerror(errno);
        return gpu;
    }
    const pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        gpu.why_not = std::string("could not ask the driver: ") + std::strerror(errno);
        return gpu;
    }
    if (child == 0) {
        describe_gpu(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    std::string answer;
    bool late = false;
    for (char buffer[1024];;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        pollfd waiting{ends[0], POLLIN, 0};
        const int ready = left.count() > 0 ? poll(&waiting, 1, static_cast<int>(left.count())) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) {
            late = true;
            break;
        }
        const ssize_t got = read(ends[0], buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        answer.append(buffer, static_cast<std::size_t>(got));
    }
    close(ends[0]);
    if (late) kill(child, SIGKILL);
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (late) {
        gpu.why_not = fmt::format("the NVIDIA driver did not answer within {:g} s", seconds);
        return gpu;
    }
    for (std::size_t at = 0; at < answer.size();) {
        const std::size_t line_end = answer.find('\n', at);
        const std::string line = answer.substr(at, line_end - at);
        at = line_end == std::string::npos ? answer.size() : line_end + 1;
        const std::size_t blank = line.find(' ');
        if (blank == std::string::npos) continue;
        const std::string key = line.substr(0, blank), value = line.substr(blank + 1);
        if (key == "why_not") gpu.why_not = value;
        if (key == "driver") gpu.driver = value;
        if (key == "name") gpu.name = value;
        if (key == "capability") gpu.capability = value;
        if (key == "uuid") gpu.uuid = value;
        if (key == "clock") gpu.clock_mhz = std::atoi(value.c_str());
        if (key == "memory_clock") gpu.memory_clock_mhz = std::atoi(value.c_str());
        if (key == "ecc") gpu.ecc = value != "0";
        if (key == "memory") gpu.memory = std::atof(value.c_str());
        if (key == "count") gpu.count = std::atoi(value.c_str());
    }
    gpu.present = gpu.count > 0;
    if (!gpu.present && gpu.why_not.empty())
        gpu.why_not = "the NVIDIA driver crashed when it was asked for GPUs";
    return gpu;
}

Machine this_machine(bool with_gpu) {
    Machine machine;
    machine.system = value_in("/etc/os-release", "PRETTY_NAME", '=');
    utsname names{};
    if (uname(&names) == 0) machine.kernel = names.release;
    if (machine.system.empty()) machine.system = names.sysname;
    machine.wsl = machine.kernel.find("icrosoft") != std::string::npos;
    machine.processor = value_in("/proc/cpuinfo", "model name", ':');
    if (machine.processor.empty()) machine.processor = names.machine;
    cpu_set_t set;
    CPU_ZERO(&set);
    machine.cores = sched_getaffinity(0, sizeof set, &set) == 0
                        ? CPU_COUNT(&set)
                        : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    machine.memory =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    if (with_gpu) {
        machine.gpu = find_gpu();
    } else {
        machine.gpu.why_not = "not asked";
    }
    return machine;
}

}  // namespace rungs
