// The judge as a whole, on the CPU backend: what it accepts, what it says about files it cannot use, and
// that it leaves nothing behind.

#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "judge/build/build.hpp"
#include "judge/build/cache.hpp"
#include "judge/session.hpp"
#include "judge_fixture.hpp"
#include "rungs/catch.hpp"

using namespace rungs;
using namespace rungs::judge;
namespace fs = std::filesystem;

namespace {

/// Without checks: judge_checks_test.cpp has them.
struct PlainCourt : Court {
    PlainCourt() { options.checks = false; }
};

bool no_children() { return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

std::size_t files_in(const fs::path& folder) {
    std::size_t count = 0;
    std::error_code ignored;
    for (const auto& entry : fs::recursive_directory_iterator(folder, ignored))
        count += entry.is_regular_file();
    return count;
}

}  // namespace

TEST_CASE("every reference solution is accepted with full points", "[judge][rung]") {
    const PlainCourt court;
    for (const RungEntry& rung : court.manifest.rungs) {
        if (rung.kind == Kind::predict) continue;  // predict_test.cpp has that
        const RungResult result =
            judge_rung({court.manifest, rung, source_of(court.manifest, rung, RUNGS_ROOT, Whose::solution),
                        *court.exam, court.options});
        INFO(rung.name << ": " << result.reason() << "\n" << result.diagnostics);
        CHECK(result.verdict == Verdict::ok);
        CHECK(result.judged);
        CHECK(result.points == rung.points);
        CHECK(result.max_points == rung.points);
        CHECK(result.correctness.passed == result.correctness.cases);
        CHECK(result.correctness.cases > 100);
        CHECK_FALSE(result.speed.judged);
        CHECK(result.speed.why_not == "speed: not judged on this backend");
    }
    CHECK(no_children());
}

TEST_CASE("files that are no rungs get COMPILE_ERROR and a plain reason", "[judge][rung]") {
    PlainCourt court;
    const auto reason = [&](const RungResult& result) {
        CHECK(result.verdict == Verdict::compile_error);
        CHECK(result.points == 0);
        CHECK(result.judged);
        return result.reason();
    };
    using Catch::Matchers::ContainsSubstring;
    CHECK(reason(court.judge(court.folder / "none.cu")) == "there is no file none.cu");
    CHECK(reason(court.judge_text("")) == "03_shared_tree.cu is empty");
    CHECK(reason(court.judge_text(" \n\t\n")) == "03_shared_tree.cu is empty");
    CHECK(reason(court.judge_text(std::string("int a;\0", 7))) ==
          "03_shared_tree.cu is not a text file: byte 6 is zero");
    CHECK_THAT(reason(court.judge_text(std::string((1U << 20) + 1, ' '))),
               ContainsSubstring("at most 1048576"));
    CHECK_THAT(reason(court.judge_text("int main() {}\n")), ContainsSubstring("defines main"));
    CHECK_THAT(reason(court.judge_text("// nothing here\n")),
               ContainsSubstring("does not define reduction::shared_tree"));
    CHECK_THAT(reason(court.judge_text("#include \"reduction.cuh\"\nint x = ;\n")),
               ContainsSubstring("03_shared_tree.cu:2:"));
    // In a namespace it is not there, and what names it is the submission's own text.
    CHECK_THAT(reason(court.judge_text("#include \"/etc/hostname\"\n")),
               !ContainsSubstring("/etc") || ContainsSubstring("/etc/hostname: No such file"));

    fs::create_directory(court.folder / "folder.cu");
    CHECK(reason(court.judge(court.folder / "folder.cu")) == "folder.cu is a folder, not a file");
    REQUIRE(mkfifo((court.folder / "fifo.cu").c_str(), 0600) == 0);
    CHECK(reason(court.judge(court.folder / "fifo.cu")) == "fifo.cu is not a regular file");
    CHECK_THAT(reason(court.judge("/dev/zero")), ContainsSubstring("not a regular file"));
    CHECK(no_children());
}

TEST_CASE("a rung sees what it includes, whatever is precompiled", "[judge][rung]") {
    const PlainCourt court;
    const std::string solution = TemporaryFolder::content_of(court.solution());
    const std::string sorts = replaced(solution, "void reduction::shared_tree(",
                                       "void sort_on_host(float* x, int n) { std::sort(x, x + n); }\n"
                                       "void reduction::shared_tree(");
    const RungResult without = court.judge_text(sorts);
    CHECK(without.verdict == Verdict::compile_error);
    CHECK_THAT(without.reason(), Catch::Matchers::ContainsSubstring("'sort' is not a member of 'std'"));
    CHECK(court.judge_text("#include <algorithm>\n" + sorts).verdict == Verdict::ok);
    CHECK(court.judge_text("#include <stdexcept>\n#include <algorithm>\n" + sorts).verdict == Verdict::ok);
}

// Debian 13 links <asm/errno.h> to where the kernel's headers lie, and g++ calls it by that name.
TEST_CASE("a header of the system's may be a link to elsewhere", "[judge][rung]") {
    PlainCourt court;
    const TemporaryFolder system;
    const fs::path compiler =
        system.write("bin/c++", "#!/bin/sh\nexec " + court.options.toolchain.cpu->compiler + " -isystem '" +
                                    (system / "include").string() + "' \"$@\"\n");
    REQUIRE(chmod(compiler.c_str(), 0755) == 0);
    system.write("lib/kernel/linked.h", "#include \"../lib/kernel/beside.h\"\n");
    system.write("lib/kernel/beside.h", "");
    system.write("lib/other/linked.h", "");
    system.write("include/own.h", "");
    fs::create_symlink("../lib/kernel/linked.h", system / "include/linked.h");
    fs::create_directory_symlink("../lib/other", system / "include/other");
    fs::create_symlink("../lib/nowhere.h", system / "include/nowhere.h");
    court.options.toolchain.cpu->compiler = compiler.string();
    const std::string solution = TemporaryFolder::content_of(court.solution());
    const auto reason = [&](const std::string& header) {
        const RungResult result = court.judge_text("#include <" + header + ">\n" + solution);
        return result.verdict == Verdict::ok ? "" : result.reason();
    };
    CHECK(reason("own.h") == "");
    CHECK(reason("other/linked.h") == "");
    // A link to a file is no word on what lies beside that.
    CHECK_THAT(reason("linked.h"), Catch::Matchers::StartsWith("includes beside.h"));
    CHECK_THAT(reason("nowhere.h"), Catch::Matchers::ContainsSubstring("No such file"));
    system.write("lib/kernel/linked.h", "");
    CHECK(reason("linked.h") == "");
}

TEST_CASE("what the compiler says quotes no file that was not handed in", "[judge][rung]") {
    PlainCourt court;
    std::ofstream(court.folder / "other") << "quoted_secret and more\n#error quoted_secret\n";
    const std::string other = "\"" + (court.folder / "other").string() + "\"";
    const auto reason = [&](const std::string& text) {
        const RungResult result = court.judge_text(text);
        INFO(text << result.reason() << "\n" << result.diagnostics);
        CHECK(result.verdict == Verdict::compile_error);
        CHECK((result.reason() + result.diagnostics).find("quoted_secret") == std::string::npos);
        return result.reason();
    };
    using Catch::Matchers::ContainsSubstring;
    CHECK_THAT(reason("#line 1 " + other + "\n#warning x\n"),
               ContainsSubstring("03_shared_tree.cu:1: a #line"));
    const auto is_refused = [](const std::string& told) {
        // At S3 the file is not there for a compiler.
        return told.find("includes other") != std::string::npos ||
               told.find("/other: No such file") != std::string::npos;
    };
    CHECK(is_refused(reason("#include " + other + "\n")));
    CHECK(is_refused(reason("#define F " + other + "\n#include F\n")));
    // The preprocessor stops here, and does not say which files it has read.
    const std::string stops = reason("#define F " + other + "\n#include F\n#include \"none.h\"\n");
    CHECK((is_refused(stops) ||
           stops.find("03_shared_tree.cu:3:10: fatal error: none.h") != std::string::npos));
    CHECK_THAT(reason("\n asm(\" .include \\\"" + (court.folder / "other").string() + "\\\"\");\n"),
               ContainsSubstring("03_shared_tree.cu:2: 'asm' is assembly"));
    CHECK_THAT(reason("int x __attribute__((section(\" .data\\n .include \\\"" +
                      (court.folder / "other").string() + "\\\"\")));\n"),
               ContainsSubstring("03_shared_tree.cu:1: 'section'"));
    CHECK_THAT(reason("#include <xmmintrin.h>\n"), ContainsSubstring("includes xmmintrin.h"));
    CHECK(no_children());
}

TEST_CASE("a link error is the submission's, unless it is there without it", "[judge][rung]") {
    PlainCourt court;
    const auto rung = [&](const std::string& more) {
        return "#include \"reduction.cuh\"\n" + more +
               "void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {}\n"
               "void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) "
               "{}\n";
    };
    using Catch::Matchers::ContainsSubstring;
    for (const char* more : {"void nowhere();\n[[gnu::used]] static void (*table[])() = {nowhere};\n",
                             "namespace simt { void nowhere(); }\n"
                             "[[gnu::used]] static void (*table[])() = {simt::nowhere};\n"}) {
        const RungResult result = court.judge_text(rung(more));
        INFO(result.reason() << "\n" << result.diagnostics);
        CHECK(result.verdict == Verdict::compile_error);
        CHECK_THAT(result.reason(),
                   ContainsSubstring("undefined reference to `") && ContainsSubstring("nowhere()'"));
    }
    court.options.toolchain.cache = court.folder / "cache";
    court.options.toolchain.cpu->archives.pop_back();  // the backend's
    const RungResult ours = court.judge_text(rung(""));
    CHECK(ours.verdict == Verdict::infra);
    CHECK_THAT(ours.reason(), ContainsSubstring("linking without the submission failed"));
}

TEST_CASE("what must not be built for the CPU is not built for a GPU", "[judge][rung][cuda]") {
    using Catch::Matchers::ContainsSubstring;
    const Court court;
    if (!court.options.toolchain.cuda) RUNGS_SKIP("this build has no nvcc");
    const std::string right = TemporaryFolder::content_of(court.solution());
    const auto reason = [&](const std::string& more) {
        const fs::path source =
            court.folder.write("03_shared_tree.cu", "#include <cuda_runtime.h>\n" + more + right);
        const Build build = build_worker(court.trial(source), Backend::cuda);
        INFO(build.diagnostics);
        CHECK(build.executable.empty() == !build.reason.empty());
        return build.reason;
    };
    CHECK(reason("static __global__ void spare() {}\n").empty());
    CHECK_THAT(reason("static void stop() { asm volatile(\"nop\"); }\n"),
               ContainsSubstring("03_shared_tree.cu:2: 'asm' is assembly"));
    CHECK_THAT(reason("#define JOIN(a, b) a##b\nJOIN(as, m)(\"nop\");\n"), ContainsSubstring("is assembly"));
    CHECK_THAT(reason("void nowhere();\n[[gnu::used]] static void (*table[])() = {nowhere};\n"),
               ContainsSubstring("nowhere"));
}

TEST_CASE("a wrong signature is an error at the student's line", "[judge][rung]") {
    const PlainCourt court;
    const RungResult result = court.judge_text(
        "#include \"reduction.cuh\"\n\nvoid reduction::shared_tree(const float*, double*, int) {}\n");
    CHECK(result.verdict == Verdict::compile_error);
    CHECK_THAT(result.reason(), Catch::Matchers::StartsWith("03_shared_tree.cu:3:"));
}

TEST_CASE("a stream in the place of shared memory's bytes is reported, at its line", "[judge][rung]") {
    const PlainCourt court;
    const std::string solution =
        TemporaryFolder::content_of(fs::path(RUNGS_ROOT) / "solutions/01_reduction/03_shared_tree.cu");
    const RungResult result =
        court.judge_text(replaced(solution, "block_size, 0, stream>>>", "block_size, stream>>>"));
    CHECK(result.verdict == Verdict::compile_error);
    CHECK_THAT(result.reason(), Catch::Matchers::StartsWith("03_shared_tree.cu:34:") &&
                                    Catch::Matchers::ContainsSubstring("the stream has the fourth"));
}

TEST_CASE("an honest mistake gets its case, numbers and cause", "[judge][rung]") {
    const PlainCourt court;
    const RungResult result = court.judge(attack("39_only_full_blocks"));
    CHECK(result.verdict == Verdict::wrong);
    CHECK(result.correctness.passed < result.correctness.cases);
    CHECK_THAT(result.correctness.failing_case, Catch::Matchers::StartsWith("sum of "));
    REQUIRE(result.correctness.first.size() == 1);
    CHECK(result.correctness.wrong == 1);
    CHECK(result.correctness.of == 1);
    CHECK_FALSE(result.correctness.measure.empty());
    CHECK(!(result.correctness.error <= result.correctness.tolerance));
}

TEST_CASE("beside the case that failed is the smallest one that fails", "[judge][rung]") {
    Court court("08_grid_stride");
    court.options.checks = false;
    const std::string right = TemporaryFolder::content_of(court.solution());
    const RungResult result = court.judge_text(
        replaced(right, "threads = std::size_t{gridDim.x} * block_size", "threads = block_size"));
    CHECK(result.verdict == Verdict::wrong);
    CHECK_THAT(result.correctness.failing_case, Catch::Matchers::StartsWith("sum of 1000 floats"));
    CHECK_THAT(result.correctness.smallest_case, Catch::Matchers::StartsWith("sum of 257 floats"));
    CHECK(court.judge_text(right).correctness.smallest_case.empty());
}

TEST_CASE("the same seed gives the same inputs, another seed others", "[judge][rung]") {
    PlainCourt court;
    const fs::path wrong = attack("39_only_full_blocks");
    const RungResult first = court.judge(wrong), again = court.judge(wrong);
    court.options.seed = 43;
    const RungResult other = court.judge(wrong);
    CHECK(first.reason() == again.reason());
    CHECK(first.reason() != other.reason());
    CHECK(random_seed() != random_seed());
}

TEST_CASE("the cache answers for what did not change, and only for that", "[judge][cache]") {
    PlainCourt court;
    court.options.toolchain.cache = court.folder / "cache";
    std::ifstream in(court.solution());
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    CHECK_FALSE(court.judge_text(text).cached);
    const RungResult second = court.judge_text(text);
    CHECK(second.cached);
    CHECK(second.verdict == Verdict::ok);
    const RungResult edited = court.judge_text(text + "// edited\n");
    CHECK_FALSE(edited.cached);
    CHECK(edited.verdict == Verdict::ok);
    CHECK(files_in(court.folder / "cache" / "work") == 0);
}

TEST_CASE("a cache that grows too large loses what nobody has used for longest", "[judge][cache]") {
    const rungs::TemporaryFolder folder;
    const auto now = fs::file_time_type::clock::now();
    for (int hours : {0, 1, 2, 3}) {
        const fs::path file = folder.write(std::to_string(hours), std::string(100, 'x'));
        fs::last_write_time(file, now - std::chrono::hours(hours));
    }
    remove_least_used(folder.path(), 400);
    CHECK(folder.listing(".") == "0 1 2 3");
    remove_least_used(folder.path(), 299);
    CHECK(folder.listing(".") == "0 1");
    remove_least_used(folder.path(), 0);
    CHECK(folder.listing(".") == "0");  // somebody may be running it
    remove_least_used(folder.path() / "nowhere", 0);
}

TEST_CASE("a cache that cannot be written is INFRA, with path and remedy", "[judge][cache]") {
    PlainCourt court;
    std::ofstream(court.folder / "file") << "x";
    court.options.toolchain.cache = court.folder / "file" / "cache";
    const RungResult result = court.judge(court.solution());
    CHECK(result.verdict == Verdict::infra);
    CHECK_FALSE(result.judged);
    CHECK_THAT(result.reason(),
               Catch::Matchers::ContainsSubstring((court.folder / "file" / "cache").string()));
    CHECK_THAT(result.reason(), Catch::Matchers::ContainsSubstring("make room"));
}

TEST_CASE("a full disk is INFRA and leaves no half-written entry", "[judge][cache]") {
    PlainCourt court;
    const fs::path disk = court.folder / "disk";
    fs::create_directory(disk);
    if (mount("none", disk.c_str(), "tmpfs", 0, "size=200k") != 0)
        RUNGS_SKIP("mounting a small disk needs root");
    court.options.toolchain.cache = disk / "cache";
    const RungResult result = court.judge(court.solution());
    CHECK(result.verdict == Verdict::infra);
    CHECK_THAT(result.reason(), Catch::Matchers::ContainsSubstring("make room"));
    CHECK(files_in(disk / "cache" / "workers") == 0);
    CHECK(files_in(disk / "cache" / "work") == 0);
    REQUIRE(umount(disk.c_str()) == 0);
}

TEST_CASE("stopping in any phase leaves no process and no half-written file", "[judge][stop]") {
    for (const Phase phase : {Phase::build, Phase::start, Phase::correctness}) {
        PlainCourt court;
        court.options.toolchain.cache = court.folder / "cache";
        std::atomic<bool> stop{false};
        court.options.stop = &stop;
        court.options.progress = [&](const PhaseProgress& progress) {
            if (progress.phase == phase) stop = true;
        };
        const RungResult result = court.judge(court.solution());
        INFO(name_of(phase));
        CHECK(result.verdict == Verdict::not_run);
        CHECK(result.reason() == "stopped");
        CHECK_FALSE(result.judged);
        CHECK(no_children());
        CHECK(files_in(court.folder / "cache" / "work") == 0);
    }
    // In the middle of a phase: while the compiler runs, and while a rung loops, once its worker is started.
    const auto stopped_after = [](int milliseconds, Phase phase) {
        PlainCourt court;
        court.options.toolchain.cache = court.folder / "cache";
        std::atomic<bool> begun{false}, stop{false};
        court.options.stop = &stop;
        court.options.progress = [&](const PhaseProgress& progress) {
            if (progress.phase != phase) return;
            begun = true;
            begun.notify_one();
        };
        std::thread interrupt([&] {
            begun.wait(false);
            std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
            stop = true;
        });
        const RungResult result = court.judge(attack("16_infinite_loop"));
        CHECK(begun);
        begun = true;  // a judge that never came there is over
        begun.notify_one();
        interrupt.join();
        CHECK(result.verdict == Verdict::not_run);
        CHECK(no_children());
        CHECK(files_in(court.folder / "cache" / "work") == 0);
    };
    stopped_after(200, Phase::build);
    stopped_after(400, Phase::build);
    stopped_after(500, Phase::start);
}

TEST_CASE("a backend that is not there is NOT_RUN, never a pass", "[judge][rung]") {
    PlainCourt court;
    court.options.backend = Backend::cuda;
    court.options.toolchain.cuda.reset();
    const RungResult result = court.judge(court.solution());
    CHECK(result.verdict == Verdict::not_run);
    CHECK_FALSE(result.passed());
    CHECK_FALSE(result.judged);
    CHECK(result.points == 0);
    CHECK_THAT(result.reason(), Catch::Matchers::ContainsSubstring("cuda backend was not built"));
}

// Each thread has stacks for the lanes of a block, and malloc() sets memory aside for it.
TEST_CASE("a worker has addresses for the threads of a large machine", "[judge][rung]") {
    const auto [chapter, name] = GENERATE(table<std::string, std::string>(
        {{"04_red_black", "02_shared_tile"}, {"05_gradient_descent", "09_persistent"}}));
    const Court court(name, chapter);
    const Build build = build_worker(court.trial(court.solution()), Backend::cpu);
    REQUIRE(build.reason == "");
    WorkerOptions how;
    how.processors = 64;
    Session session(build.executable, how, worker_start_seconds);
    for (const Case& which : court.manifest.cases_of(court.rung(), Backend::cpu, court.options.seed)) {
        const Task task = court.exam->make(which);
        CAPTURE(which.problem, which.sizes, which.kind);
        std::optional<Cause> cause = session.prepare(which.problem, task, lay_out(task));
        if (!cause) cause = session.run(protocol::all_steps, 60);
        REQUIRE((cause ? cause->text : "") == "");
    }
}

TEST_CASE("several rungs can be judged at once", "[judge][rung]") {
    const PlainCourt court;
    std::vector<Verdict> verdicts(4, Verdict::not_run);
    std::vector<std::thread> threads;
    for (Verdict& verdict : verdicts) {
        threads.emplace_back([&] { verdict = court.judge(court.solution()).verdict; });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(verdicts == std::vector<Verdict>(4, Verdict::ok));
    CHECK(no_children());
}

namespace {

/// Sits between the judge and the exam: every right output that a worker hands over is also checked with one
/// element changed. What the exam then lets pass, a wrong rung could pass with.
class Mutations : public Exam {
  public:
    explicit Mutations(const Exam& exam) : exam_(exam) {}
    Task make(const Case& which) const override { return exam_.make(which); }
    Work work(const Case& which) const override { return exam_.work(which); }

    Check check(const Case& which, const Task& task, std::span<const Array> outputs) const override {
        const Check right = exam_.check(which, task, outputs);
        if (right.passed) mutate(which, task, outputs, right);
        return right;
    }

    // Answers are examined side by side.
    mutable std::mutex mutex;
    mutable int tried = 0;
    mutable int caught = 0;
    mutable std::string escaped;

  private:
    void mutate(const Case& which, const Task& task, std::span<const Array> outputs,
                const Check& right) const {
        float value = 0;
        std::memcpy(&value, outputs[0].bytes.data(), sizeof value);
        // sum |v|, or sum |v w|: what the exam's error is relative to.
        double scale = 0, largest = 0;
        const auto v = task.inputs[0].as<float>();
        for (std::size_t i = 0; i < v.size(); ++i) {
            const double term = task.inputs.size() > 1 ? double{v[i]} * task.inputs[1].as<float>()[i] : v[i];
            scale += std::abs(term);
            if (std::abs(term) > std::abs(largest)) largest = term;
        }
        std::vector<float> wrong;
        constexpr float infinity = std::numeric_limits<float>::infinity();
        if (!std::isnan(value)) wrong.push_back(std::numeric_limits<float>::quiet_NaN());
        if (value != infinity) wrong.push_back(infinity);
        if (value != -infinity) wrong.push_back(-infinity);
        if (!std::isfinite(value)) wrong.push_back(1.0f);
        if (std::isfinite(value) && std::isfinite(scale)) {
            // Just beyond the tolerance on both sides, and one element left out or counted twice.
            const double bound = right.tolerance * scale + std::abs(value) * 1e-6;
            wrong.push_back(static_cast<float>(value + 3 * bound + 1e-30));
            wrong.push_back(static_cast<float>(value - 3 * bound - 1e-30));
            if (std::abs(largest) > 3 * bound) {
                wrong.push_back(static_cast<float>(value - largest));
                wrong.push_back(static_cast<float>(value + largest));
            }
            if (std::abs(value) > 3 * bound) {
                wrong.push_back(-value);
                wrong.push_back(0.0f);
            }
        }
        for (const float mutant : wrong) {
            std::vector<Array> changed(outputs.begin(), outputs.end());
            std::memcpy(changed[0].bytes.data(), &mutant, sizeof mutant);
            const bool passed = exam_.check(which, task, changed).passed;
            const std::lock_guard lock(mutex);
            ++tried;
            if (!passed) {
                ++caught;
            } else if (escaped.empty()) {
                escaped = describe(exam_, which, task) + ": " + std::to_string(mutant) + " instead of " +
                          std::to_string(value);
            }
        }
    }

    const Exam& exam_;
};

}  // namespace

TEST_CASE("the exam catches every change of a right output", "[judge][mutation]") {
    PlainCourt court;
    for (const std::uint64_t seed : {1, 2, 3}) {
        court.options.seed = seed;
        const Mutations mutations(*court.exam);
        const RungResult result =
            judge_rung({court.manifest, court.rung(), court.solution(), mutations, court.options});
        CHECK(result.verdict == Verdict::ok);
        INFO(mutations.escaped);
        CHECK(mutations.tried > 500);
        CHECK(mutations.caught == mutations.tried);
    }
}
