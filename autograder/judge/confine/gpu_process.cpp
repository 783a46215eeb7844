#include "judge/confine/gpu_process.hpp"

#include <dlfcn.h>
#include <fcntl.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <exception>

#include <fmt/format.h>

#include "judge/build/diagnostics.hpp"
#include "judge/clock/device.hpp"
#include "judge/confine/process.hpp"

namespace rungs::judge {
namespace {

/// Where the driver's library lies, which may be outside of what a worker sees. Loaded when there is a GPU.
std::string driver_folder() {
    void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    char folder[PATH_MAX] = "";
    if (driver && dlinfo(driver, RTLD_DI_ORIGIN, folder) != 0) folder[0] = 0;
    if (driver) dlclose(driver);
    return folder;
}

void allow(Command& command, bool closed) {
    Confinement& confinement = command.confinement;
    confinement.hide_files = closed;
    confinement.gpu = true;
    confinement.limits.no_files = closed;
    confinement.limits.file_size = 64U << 20;  // where files are open
    // A CUDA context reserves the address space of the device, and keeps files and threads of its own.
    confinement.limits.processes = 512;
    confinement.limits.open_files = 1024;
    if (const std::string folder = driver_folder(); !folder.empty()) command.readable.push_back(folder);
    for (const char* name : {"CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"}) {
        if (const char* value = std::getenv(name))
            command.environment.push_back(fmt::format("{}={}", name, value));
    }
}

std::string try_closed() {
    if (!Device::missing().empty()) return "";
    const Descriptor program(open(RUNGS_GPU_PROBE, O_RDONLY | O_CLOEXEC));
    if (!program) return fmt::format("cannot open {}: {}", RUNGS_GPU_PROBE, std::strerror(errno));
    Command command;
    command.arguments = {"rungs-gpu-probe"};
    command.program = program.get();
    command.confinement.untrusted = command.confinement.one_process = true;
    allow(command, true);
    const Device memory(1 << 20);
    if (unsigned char handle[64]; memory.share(handle)) {
        std::string digits;
        for (const unsigned char byte : handle) digits += fmt::format("{:02x}", byte);
        command.arguments.push_back(digits);
    }
    Process process(command);
    if (!run_to_end(process, 30)) return "CUDA did not start in 30 s";
    const End& end = process.end();
    if (end.kind == End::Kind::not_started) return why_not_started(end);
    if (end.kind == End::Kind::exited && end.code == 0) return "";
    const std::string words = trim_diagnostics(process.errors().text(), {}, 1);
    return words.empty() ? "CUDA did not start" : words;
}

}  // namespace

const std::string& why_gpu_stays_open() {
    static const std::string why = []() -> std::string {
        try {
            return try_closed();
        } catch (const std::exception& error) {
            return error.what();
        }
    }();
    return why;
}

void let_use_gpu(Command& command) { allow(command, why_gpu_stays_open().empty()); }

}  // namespace rungs::judge
