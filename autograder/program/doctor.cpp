// rungs doctor: what this machine has, what is missing, and the exact command that helps.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "judge/confine/gpu_process.hpp"
#include "judge/confine/process.hpp"
#include "judge/confine/sandbox.hpp"
#include "program/grading.hpp"
#include "program/verbs.hpp"
#include "report/text.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;

/// The first line that `command` prints, or nothing when it fails. The commands are constants of this file.
std::string first_line_of(const std::string& command) {
    std::FILE* pipe = popen((command + " 2>/dev/null").c_str(), "re");
    if (!pipe) return {};
    std::string text;
    for (char buffer[512]; std::fgets(buffer, sizeof buffer, pipe);) {
        if (text.find('\n') == std::string::npos) text += buffer;
    }
    if (pclose(pipe) != 0) return {};
    return text.substr(0, text.find('\n'));
}

/// Where a program is: on PATH, or in one of the folders it is usually installed in.
struct Found {
    fs::path path;
    bool on_path = false;
};

Found find_program(const std::string& name, const std::vector<fs::path>& folders) {
    if (fs::path file = judge::find_on_path(name); !file.empty()) return {std::move(file), true};
    for (const fs::path& folder : folders) {
        if (access((folder / name).c_str(), X_OK) == 0) return {folder / name, false};
    }
    return {};
}

std::vector<fs::path> cuda_folders() {
    std::vector<fs::path> folders;
    for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
        if (const char* value = std::getenv(variable); value && *value)
            folders.push_back(fs::path(value) / "bin");
    }
    folders.insert(folders.end(),
                   {"/usr/local/cuda/bin", "/opt/cuda/bin", "/usr/lib/nvidia-cuda-toolkit/bin"});
    std::error_code error;
    std::set<fs::path, std::greater<>> versions;
    for (fs::directory_iterator it("/usr/local", error), end; !error && it != end; it.increment(error)) {
        if (it->path().filename().string().rfind("cuda-", 0) == 0) versions.insert(it->path() / "bin");
    }
    folders.insert(folders.end(), versions.begin(), versions.end());
    return folders;
}

/// What is printed: a sign, what it is, what was found, and the command that helps.
class Diagnosis {
  public:
    explicit Diagnosis(Terminal& out) : out_(out) {}

    void section(const char* title) { out_.line(out_.paint(Style::bold, title)); }

    void good(const std::string& what, const std::string& found) {
        row(Style::good, out_.tick(), what, found);
    }

    /// Something that some people do without.
    void note(const std::string& what, const std::string& found, const std::string& help = {}) {
        row(Style::dim, out_.open(), what, found);
        advise(help);
    }

    /// Something without which Rungs cannot check.
    void missing(const std::string& what, const std::string& found, const std::string& help) {
        row(Style::bad, out_.cross(), what, found);
        advise(help);
        ++missing_;
    }

    int count() const { return missing_; }

  private:
    void row(Style style, const char* sign, const std::string& what, const std::string& found) {
        const int room = out_.width() - 23;
        out_.line("  " + out_.paint(style, sign) + fmt::format(" {:<17} ", what) +
                  (out_.is_terminal() ? out_.cut(found, room) : clean_utf8(found)));
    }
    void advise(const std::string& help) {
        if (!help.empty()) out_.line("      " + out_.paint(Style::link, help));
    }

    Terminal& out_;
    int missing_ = 0;
};

/// A package's file as common/packages.txt names it, bin/cmake or include/CLI/CLI.hpp, where it is; or
/// nothing. The launcher puts what it has unpacked into both variables.
fs::path find_file(const std::string& file) {
    if (file.rfind("bin/", 0) == 0) return find_program(file.substr(4), {}).path;
    const char* prefixes = std::getenv("CMAKE_PREFIX_PATH");
    std::stringstream folders((prefixes ? prefixes : "") + std::string(":/usr/local:/usr"));
    std::error_code error;
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (!folder.empty() && fs::exists(fs::path(folder) / file, error)) return fs::path(folder) / file;
    }
    return {};
}

/// Packages of common/packages.txt by group: "core" are needed, the others not by everybody.
void packages(const fs::path& root, Diagnosis& diagnosis) {
    struct Group {
        int count = 0, unpacked = 0;
        std::string absent;
    };
    std::map<std::string, Group> groups;
    const std::string unpacked = (root / "build" / "packages" / "").string();
    std::ifstream in(root / "common" / "packages.txt");
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string package, group, file;
        if (line.empty() || line[0] == '#' || !(words >> package >> group >> file)) continue;
        const fs::path found = find_file(file);
        ++groups[group].count;
        groups[group].unpacked += found.string().rfind(unpacked, 0) == 0;
        if (found.empty()) groups[group].absent += " " + package;
    }
    for (const auto& [name, group] : groups) {
        if (group.absent.empty()) {
            diagnosis.good(
                "packages (" + name + ")",
                fmt::format("all {} are here", group.count) +
                    (group.unpacked ? fmt::format(", {} of them unpacked in {}", group.unpacked, unpacked)
                                    : ""));
        } else {
            // What came from elsewhere may serve as well, and the build says what it really lacks.
            diagnosis.note("packages (" + name + ")", "not found:" + group.absent,
                           name == "docs"    ? "./rungs docs"
                           : name == "class" ? "only review --similar and pages_in_browser.py need it"
                                             : "./rungs demo");
        }
    }
}

void tool(Diagnosis& diagnosis, const char* name, bool needed) {
    const Found found = find_program(name, {});
    if (!found.path.empty()) {
        diagnosis.good(name, fmt::format("{} ({})", first_line_of(std::string(name) + " --version"),
                                         found.path.string()));
    } else if (needed) {
        diagnosis.missing(name, "not found", "./rungs demo says how to get it here");
    } else {
        diagnosis.note(name, "not found");
    }
}

}  // namespace

int doctor(Terminal& out) {
    Diagnosis diagnosis(out);
    const Machine machine = this_machine();
    diagnosis.section("machine");
    diagnosis.good("system", machine.system + ", kernel " + machine.kernel + (machine.wsl ? ", WSL" : ""));
    diagnosis.good("processor", fmt::format("{}, {} cores, {:.1f} GiB", machine.processor, machine.cores,
                                            machine.memory / (1 << 30)));
    const judge::SandboxLevel sandbox = judge::sandbox_level();
    diagnosis.good("isolation", sandbox.name + ": " + sandbox.describe);
    for (const judge::MissingPart& part : judge::host_level().missing)
        diagnosis.note("isolation " + part.level, part.what, part.advice);
    std::error_code error;
    fs::path build = build_folder();
    if (build.empty()) build = ".";
    const fs::space_info space = fs::space(build, error);
    const std::string free = fmt::format("{:.1f} GiB free at {}",
                                         static_cast<double>(space.available) / (1 << 30), build.string());
    const char* const advice = "free some space, or move the build folder";
    if (!error && space.available < (std::uintmax_t{1} << 30)) {
        diagnosis.missing("disk", free + "; at least 1 GiB is needed", advice);
    } else if (!error && space.available < (std::uintmax_t{3} << 30)) {
        diagnosis.note("disk", free + "; a build from scratch with its cache takes 3 GiB", advice);
    } else if (!error) {
        diagnosis.good("disk", free);
    }

    diagnosis.section("tools");
    tool(diagnosis, "cmake", true);
    tool(diagnosis, "ninja", true);
    tool(diagnosis, "g++", false);
    tool(diagnosis, "addr2line", true);
    tool(diagnosis, "git", false);

    diagnosis.section("workbook");
    std::optional<Workbook> workbook;
    try {
        workbook = open_workbook();
        diagnosis.good("root", workbook->root().string());
        packages(workbook->root(), diagnosis);
        std::size_t rungs_found = 0;
        for (const Manifest& chapter : workbook->chapters) rungs_found += chapter.rungs.size();
        diagnosis.good("chapters", fmt::format("{}, {} rungs", workbook->chapters.size(), rungs_found));
        if (workbook->toolchain.cpu) {
            diagnosis.good("backend cpu", workbook->toolchain.cpu->describe + " (" +
                                              workbook->toolchain.cpu->compiler + ")");
        } else {
            diagnosis.missing("backend cpu", "not built", "./rungs demo");
        }
    } catch (const std::exception& problem) {
        diagnosis.missing("workbook", problem.what(), "./rungs demo");
    }

    diagnosis.section("GPU (optional)");
    const Found nvcc = find_program("nvcc", cuda_folders());
    if (nvcc.path.empty()) {
        diagnosis.note("nvcc", "not found, neither on PATH nor in the usual folders",
                       "install the CUDA toolkit: https://developer.nvidia.com/cuda-downloads");
    } else {
        const std::string version =
            first_line_of("'" + nvcc.path.string() + "' --version | sed -n 's/.*release //p'");
        if (nvcc.on_path) {
            diagnosis.good("nvcc", version + " (" + nvcc.path.string() + ")");
        } else {
            diagnosis.good("nvcc",
                           version + " (" + nvcc.path.string() + ", found although it is not on PATH)");
        }
    }
    if (workbook && workbook->toolchain.cuda) {
        diagnosis.good("backend cuda", workbook->toolchain.cuda->describe);
    } else if (workbook) {
        diagnosis.note("backend cuda",
                       nvcc.path.empty() ? "not built: it needs nvcc" : "not built, though nvcc is here",
                       nvcc.path.empty() ? "" : "RUNGS_PRESET=cuda ./rungs demo");
    }
    if (machine.gpu.present) {
        diagnosis.good("GPU",
                       fmt::format("{} x {}, {:.0f} GiB, compute capability {}", machine.gpu.count,
                                   machine.gpu.name, machine.gpu.memory / (1 << 30), machine.gpu.capability));
        diagnosis.good("driver", "for CUDA up to " + machine.gpu.driver);
        const judge::SandboxLevel held = judge::sandbox_level(Backend::cuda);
        diagnosis.good("isolation", held.name + ": " + held.describe);
        if (const std::string& why = judge::why_gpu_stays_open(); !why.empty())
            diagnosis.note("isolation S2",
                           "a worker that sees only the system's files cannot use the GPU: " + why);
    } else {
        diagnosis.note("GPU", machine.gpu.why_not,
                       machine.wsl ? "WSL: install the NVIDIA driver in Windows, none inside WSL"
                                   : "everything except speed works without one");
    }
    for (const char* name : {"compute-sanitizer", "ncu", "nsys"}) {
        const Found found = find_program(name, cuda_folders());
        if (found.path.empty()) {
            if (!nvcc.path.empty())
                diagnosis.note(name, "not found; it is a separate package of the CUDA toolkit");
        } else {
            diagnosis.good(name, found.path.string());
        }
    }
    out.line();
    if (diagnosis.count() == 0) {
        out.line(out.paint(Style::good, "Everything needed is here.") + " Start: ./rungs demo");
        return 0;
    }
    out.line(
        out.paint(Style::bad, fmt::format("{} missing; the lines above say what helps.", diagnosis.count())));
    return 3;
}

}  // namespace rungs
