// rungs run and rungs bench: a chapter's own programs.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "program/grading.hpp"
#include "program/interrupt.hpp"
#include "program/verbs.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;

/// That a launch may compute on the CPU backend: far more than any of the reference solutions' with the
/// programs' own sizes.
constexpr const char* launch_seconds = "60";

[[noreturn]] void cannot_start(const fs::path& program) {
    throw CannotCheck("cannot start " + program.string() + ": " + std::strerror(errno));
}

std::vector<char*> argument_list(std::string& program, std::vector<std::string>& arguments) {
    std::vector<char*> list{program.data()};
    for (std::string& argument : arguments) list.push_back(argument.data());
    list.push_back(nullptr);
    return list;
}

/// The status of a program that ran to its end, as a shell reports it.
int status_of(int raw) { return WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw); }

}  // namespace

int run(const RunOptions& options, Terminal& out) {
    const Workbook workbook = open_workbook();
    const Manifest& chapter = choose_chapter(workbook, options.chapter);
    for (const RungEntry& rung : chapter.rungs)
        if (options.solution) require_solution(workbook, {&chapter, &rung});
    const Gpu gpu = options.backend == "cpu" ? Gpu{} : find_gpu();
    const BackendChoice choice = choose_backend(workbook, options.backend, gpu);
    if (!choice.cannot.empty()) throw CannotCheck(choice.cannot + "; without a GPU: --backend cpu");
    const char* whose = options.solution ? "solution" : "student";
    std::string program = (workbook.toolchain.build / "bin" /
                           fmt::format("{}.{}.{}", chapter.chapter, whose, name_of(choice.backend)))
                              .string();
    if (access(program.c_str(), X_OK) != 0) {
        throw CannotCheck("the chapter's program is not built: " + program + "; ./rungs run " +
                          chapter.chapter.substr(0, 2) + (options.solution ? " --solution" : "") +
                          " builds it");
    }
    if (out.is_terminal()) {
        out.line(out.paint(
            Style::dim, fmt::format("{} ({}), backend {}", chapter.chapter, whose, name_of(choice.backend))));
    }
    // A launch that does not end is told with its line, where the user has not set another limit.
    if (choice.backend == Backend::cpu) setenv("RUNGS_SIMT_TIME_LIMIT", launch_seconds, 0);
    std::vector<std::string> arguments = options.arguments;
    default_signals();
    execv(program.c_str(), argument_list(program, arguments).data());
    cannot_start(program);
}

int bench(const BenchOptions& options, Terminal& out) {
    const Workbook workbook = open_workbook();
    std::vector<const Manifest*> chapters;
    if (options.chapter.empty()) {
        for (const Manifest& chapter : workbook.chapters) chapters.push_back(&chapter);
    } else {
        chapters.push_back(&choose_chapter(workbook, options.chapter));
    }
    const BackendChoice choice = choose_backend(workbook, "cuda", find_gpu());
    if (!choice.cannot.empty()) {
        throw CannotCheck(choice.cannot + "; a benchmark needs a GPU. ./rungs check works without one");
    }
    int worst = 0;
    for (const Manifest* chapter : chapters) {
        std::string program = (workbook.toolchain.build / "bin" / (chapter->chapter + ".bench")).string();
        if (access(program.c_str(), X_OK) != 0) {
            out.line("no benchmark of chapter " + chapter->chapter + " was built (" + program + ")");
            worst = 3;
            continue;
        }
        if (chapters.size() > 1) out.line(out.paint(Style::bold, chapter->chapter));
        std::vector<std::string> arguments = options.arguments;
        const std::vector<char*> list = argument_list(program, arguments);
        const pid_t child = fork();
        if (child < 0) cannot_start(program);
        if (child == 0) {
            default_signals();
            execv(program.c_str(), list.data());
            _exit(127);
        }
        int raw = 0;
        while (waitpid(child, &raw, 0) < 0 && errno == EINTR) {
            if (stop_requested()) kill(child, SIGTERM);
        }
        stop_here();
        const int status = status_of(raw);
        if (status == 127) throw CannotCheck("cannot start " + program);
        worst = std::max(worst, status == 0 ? 0 : status == 3 ? 3 : 1);
    }
    return worst;
}

}  // namespace rungs
