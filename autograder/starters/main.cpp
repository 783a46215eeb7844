// rungs_starters: makes starters from solutions, fills lessons, and holds the maintainer's gates.
//   --write  refresh starters and lessons      --check  name those that are stale
//   --gate  these, and judge solutions and starters      --barriers  solutions without each of their barriers
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "judge/build/build.hpp"
#include "judge/build/toolchain.hpp"
#include "judge/checks.hpp"
#include "judge/result/clean_text.hpp"
#include "program/starter.hpp"
#include "rungs/atomic_file.hpp"
#include "rungs/temporary_folder.hpp"
#include "starters/gate.hpp"

namespace {

namespace fs = std::filesystem;
using namespace rungs;

/// Compiles the device code to unoptimised PTX and throws that away; the compiler's messages where that
/// fails. The front end, which finds what is wrong with a starter, is a tenth of a full compilation; host
/// code has gone through g++ for the cpu backend.
std::string compile_only(const judge::BackendTools& tools, const fs::path& chapter, const fs::path& source,
                         const fs::path& scratch) {
    std::string command = "NVCC_APPEND_FLAGS= " + shell_quoted(tools.compiler);  // may set a level of its own
    for (const std::string& flag : tools.compile) {
        const bool of_a_back_end = flag[0] == '-' && (flag[1] == 'O' || flag.rfind("-gencode", 0) == 0);
        if (!of_a_back_end) command += " " + shell_quoted(flag);
    }
    command += " -I" + shell_quoted(chapter.string()) + " -ptx -Xcicc -O0 " + shell_quoted(source.string()) +
               " -o " + shell_quoted((scratch / "starter.ptx").string()) + " 2>&1";
    std::FILE* pipe = popen(command.c_str(), "re");
    if (!pipe) return "the compiler could not be started";
    std::string messages;
    for (std::array<char, 4096> buffer; std::fgets(buffer.data(), buffer.size(), pipe);)
        messages += buffer.data();
    return pclose(pipe) == 0 ? std::string() : messages.substr(0, 4000);
}

fs::path build_folder() {
    if (const char* folder = std::getenv("RUNGS_BUILD"); folder && *folder) return folder;
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
}

judge::JudgeOptions options_for(const fs::path& root, std::uint64_t seed) {
    judge::JudgeOptions options;
    options.toolchain = judge::read_toolchain(build_folder() / "toolchain.json");
    options.toolchain.root = root;
    options.seed = seed;
    options.speed = false;
    return options;
}

/// Writes a program, made of a source with switched barriers, in which one is left out.
void leave_out(const fs::path& program, std::uint64_t barrier, const fs::path& changed) {
    std::string bytes = read_file(program);
    const std::string_view none(reinterpret_cast<const char*>(&no_barrier), sizeof no_barrier);
    const std::size_t at = bytes.find(none);
    if (at == std::string::npos || bytes.find(none, at + 1) != std::string::npos)
        throw std::runtime_error("its program must hold the number of the barrier to leave out exactly once");
    std::memcpy(bytes.data() + at, &barrier, sizeof barrier);
    write_file(changed, bytes);
    fs::permissions(changed, fs::perms{0755});
}

/// Gate 6 with the real check mode.
std::vector<GateFinding> miss_barriers(const fs::path& root, const std::string& chapter, std::uint64_t seed,
                                       const Say& say) {
    const judge::JudgeOptions options = options_for(root, seed);
    const TemporaryFolder scratch;
    fs::permissions(scratch.path(), fs::perms{0755});  // workers run as another user, and tools read them
    const FaultFunction fault = [&](const Manifest& manifest, const RungEntry& rung, const fs::path& source,
                                    std::size_t barrier) {
        const std::unique_ptr<Exam> exam = judge::exam_of(manifest);
        const judge::Trial trial{manifest, rung, source, *exam, options};
        const judge::Build build = judge::build_worker(trial, Backend::cpu, judge::Mode::check);
        if (build.executable.empty())
            throw std::runtime_error("does not compile in check mode: " + build.reason);
        const fs::path changed = scratch.path() / "worker";
        leave_out(build.executable, barrier, changed);
        return judge::first_fault(trial, changed);
    };
    return check_barriers(root, chapter, scratch.path(), fault, say, Slice::of_environment());
}

/// Gates 2 and 3 with the real judge.
std::vector<GateFinding> judge_all(const fs::path& root, const std::string& chapter,
                                   const std::string& backend, std::uint64_t seed, const Say& say) {
    judge::JudgeOptions options = options_for(root, seed);
    const TemporaryFolder scratch;
    const JudgeFunction judge_one = [&](const Manifest& manifest, const RungEntry& rung,
                                        const fs::path& source, Backend on) {
        options.backend = on;
        return judge::judge_rung({manifest, rung, source, *judge::exam_of(manifest), options});
    };
    std::vector<Backend> backends;
    if (backend != "cuda") backends.push_back(Backend::cpu);
    if (backend == "cuda" || backend == "both") backends.push_back(Backend::cuda);
    CompileFunction compile;
    if (backend == "cpu" && options.toolchain.cuda) {
        compile = [&](const Manifest& manifest, const fs::path& source) {
            return compile_only(*options.toolchain.cuda, manifest.folder, source, scratch.path());
        };
    }
    return check_verdicts(root, chapter, scratch.path(), backends, judge_one, compile, say,
                          Slice::of_environment());
}

int run(int argc, char** argv) {
    CLI::App app("Makes starters from solutions, fills lessons, and holds the maintainer's gates",
                 "rungs_starters");
    std::string root = ".", chapter, backend = "cpu";
    std::uint64_t seed = 1;
    bool check = false, write = false, gate = false, barriers = false, quiet = false;
    app.add_option("--root", root, "The workbook")->type_name("DIR")->capture_default_str();
    app.add_flag("--check", check, "Name stale starters and lessons, and exercises that lack something");
    app.add_flag("--write", write, "Refresh starters, solved ones too, and the generated regions of lessons");
    app.add_flag("--gate", gate, "All gates: also solutions that pass and starters that fail");
    app.add_flag("--barriers", barriers, "Check mode misses every barrier that is taken out of a solution");
    app.add_option("--chapter", chapter, "The only chapter that the gates judge, as 01_reduction")
        ->type_name("NAME");
    app.add_option("--backend", backend,
                   "Where the gate judges; without a GPU cuda sources are only compiled")
        ->check(CLI::IsMember({"cpu", "cuda", "both"}))
        ->capture_default_str();
    app.add_option("--seed", seed, "Key of the inputs that the gate judges with")
        ->type_name("N")
        ->capture_default_str();
    app.add_flag("--quiet", quiet, "Only findings");
    app.footer(
        "Example: rungs_starters --root . --write\nExit status: 0 all gates hold, 1 findings, 2 wrong use, 3 "
        "could not check.");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    if (!check && !write && !gate && !barriers) {
        std::fprintf(
            stderr,
            "rungs_starters: one of --check, --write, --gate and --barriers is needed; --help tells more\n");
        return 2;
    }
    if (!gate && !barriers && (app.count("--chapter") || app.count("--seed"))) {
        std::fprintf(stderr, "rungs_starters: --chapter and --seed need --gate or --barriers\n");
        return 2;
    }
    const fs::path folder = fs::absolute(root).lexically_normal();
    if (!fs::is_directory(folder / "chapters") || !fs::is_directory(folder / "solutions")) {
        std::fprintf(stderr,
                     "rungs_starters: %s has no chapters/ and solutions/; name the workbook with --root\n",
                     folder.c_str());
        return 2;
    }
    if (!chapter.empty() && !fs::is_directory(folder / "chapters" / chapter)) {
        std::fprintf(stderr, "rungs_starters: there is no chapter %s; chapters/ has those there are\n",
                     chapter.c_str());
        return 2;
    }
    const Say say = [&](const std::string& text) {
        if (!quiet) std::printf("  %s\n", text.c_str()), std::fflush(stdout);
    };
    int wrong = 0, ours = 0;
    const auto stage = [&](const char* title, const std::vector<GateFinding>& findings) {
        for (const GateFinding& finding : findings) {
            std::fprintf(stderr, "%s\n", finding.text.c_str());
            ++(finding.ours ? ours : wrong);
        }
        if (!quiet)
            std::printf("%s: %s\n", title,
                        findings.empty() ? "good" : fmt::format("{} found", findings.size()).c_str());
        std::fflush(stdout);
    };
    if (check || write || gate) {
        stage("starters are current", check_starters(folder, write, say));
        stage("what is printed before the first build is current", check_before_build(folder, write, say));
        stage("lessons are current and agree with the manifest", check_lessons(folder, write, say));
    }
    if (check || gate) stage("nothing is left to write", check_written(folder));
    if (check || gate) stage("exercises have TODO, points and hint", check_exercises(folder));
    if (gate)
        stage("solutions pass, starters compile and fail", judge_all(folder, chapter, backend, seed, say));
    if (barriers) stage("every barrier is missed", miss_barriers(folder, chapter, seed, say));
    return wrong ? 1 : ours ? 3 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rungs_starters: %s\n", error.what());
        return 3;
    }
}
