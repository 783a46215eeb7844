// Measures run mode and check mode against the goals they are built to, and says which of them hold on
// this machine now.
//
// Every time is the best of many repetitions, those of a ratio interleaved: other work on the machine can
// only make a time longer. What check mode is compared by is processor time, which does not count waiting for
// a core. Two threads need two idle cores: where others compete for them, the rows with two threads show that
// competition. Exit status: 0 if every goal holds, 1 if not.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#if defined(SIMT_WITH_BOOST_CONTEXT)
#include <boost/context/detail/fcontext.hpp>
#endif

#include "benchmark/kernels.h"
#include "runtime/fiber.h"
#include "simt/inspect/control.h"

namespace {

constexpr int n = 1 << 20;
constexpr int switches = 1000000;

double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Best times of two pieces of work that are to be compared, repeated in turn.
template <class F, class G>
std::pair<double, double> compare(int repeats, F f, G g) {
    double best_f = 1e30, best_g = 1e30;
    for (int i = 0; i < repeats; ++i) {
        const double start = seconds();
        f();
        const double middle = seconds();
        g();
        best_f = std::min(best_f, middle - start);
        best_g = std::min(best_g, seconds() - middle);
    }
    return {best_f, best_g};
}

// ---- Plain loops ------------------------------------------------------------------------------------------

[[gnu::noinline]] float serial_sum(const float* in) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += in[i];
    return sum;
}

[[gnu::noinline]] void plain_add(const float* a, const float* b, float* c) {
    for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

// ---- Switches ---------------------------------------------------------------------------------------------

simt::Context root, side;

[[noreturn]] void come_back() {
    for (;;) simt::switch_context(side, root);
}

void own_switches() {
    for (int i = 0; i < switches / 2; ++i) simt::switch_context(root, side);
}

#if defined(SIMT_WITH_BOOST_CONTEXT)
namespace context = boost::context::detail;
context::fcontext_t boost_side;

void boost_come_back(context::transfer_t from) {
    for (;;) from = context::jump_fcontext(from.fctx, nullptr);
}

void boost_switches() {
    context::fcontext_t side_now = boost_side;
    for (int i = 0; i < switches / 2; ++i) side_now = context::jump_fcontext(side_now, nullptr).fctx;
    boost_side = side_now;
}
#endif

// ---- Check mode -------------------------------------------------------------------------------------------

/// What simt_benchmark_MODE printed: best time in seconds, memory besides the data.
struct Probe {
    double seconds = 1e30, memory = 0;
};

/// Runs the program beside this one; false if there is none.
bool run_probe(const char* mode, Probe& best) {
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return false;
    const std::string program = std::string(path, static_cast<size_t>(length)) + "_" + mode;
    if (access(program.c_str(), X_OK) != 0) return false;
    std::FILE* pipe = popen(("'" + program + "'").c_str(), "r");
    if (!pipe) return false;
    Probe now;
    const bool good = std::fscanf(pipe, "%lf %lf", &now.seconds, &now.memory) == 2;
    if (pclose(pipe) != 0 || !good) return false;
    best.seconds = std::min(best.seconds, now.seconds / 1e3);
    best.memory = std::max(best.memory, now.memory);
    return true;
}

int failures = 0;

void row(const char* what, double ours, double theirs, const char* unit, double scale, double ratio,
         double goal, bool at_least) {
    const bool holds = at_least ? ratio >= goal : ratio <= goal;
    failures += !holds;
    std::printf("%-44s %9.3f %9.3f %-3s %8.2fx  %s %5.2fx  %s\n", what, ours * scale, theirs * scale, unit,
                ratio, at_least ? ">=" : "<=", goal, holds ? "PASS" : "FAIL");
}

}  // namespace

int main() {
    const unsigned cores = std::min(2u, simt::thread_count());
    std::vector<float> a(n), b(n), c(n), sums(n / 32);
    for (int i = 0; i < n; ++i) {
        a[static_cast<size_t>(i)] = static_cast<float>(i % 7);
        b[static_cast<size_t>(i)] = static_cast<float>(i % 5);
    }
    volatile float sink = 0;

    std::printf("2^20 elements, blocks of 256 threads, %u threads; best of many, interleaved\n\n", cores);
    std::printf("%-44s %9s %9s %-3s %9s  %9s\n", "", "ours", "baseline", "", "ratio", "goal");

    simt::FiberPool pool;
    pool.prepare();
#if defined(SIMT_WITH_BOOST_CONTEXT)
    // Several stacks each, because a switch can be slow where two stacks meet in the caches by accident.
    double own = 1e30, boost = 1e30;
    for (int i = 0; i < 4; ++i) {
        side = simt::start_context(pool.take(), come_back);
        const simt::Fiber& stack = pool.take();
        boost_side = context::make_fcontext(stack.top, stack.size / 2, boost_come_back);
        const auto [a_try, another] = compare(10, own_switches, boost_switches);
        own = std::min(own, a_try);
        boost = std::min(boost, another);
    }
    row("fiber switch against Boost fcontext", own / switches, boost / switches, "ns", 1e9, own / boost, 2,
        false);
#else
    side = simt::start_context(pool.take(), come_back);
    const auto [own, again] = compare(30, own_switches, own_switches);
    std::printf("%-44s %9.3f %9s ns   (Boost.Context not found: not compared)\n", "fiber switch",
                std::min(own, again) / switches * 1e9, "");
#endif

    simt::set_threads(cores);
    simt::set_seed(0);
    const auto [tree, serial] = compare(
        40, [&] { tree_sum(a.data(), sums.data(), n); }, [&] { sink = serial_sum(a.data()); });
    row("shared-memory tree against a serial sum", tree, serial, "ms", 1e3, tree / serial, 8, false);
    float total = 0;
    for (int i = 0; i < n / 256; ++i) total += sums[static_cast<size_t>(i)];
    if (total != sink)
        std::printf("wrong sum: %g, not %g\n", static_cast<double>(total), static_cast<double>(sink)),
            ++failures;

    const auto [shuffle, serial2] = compare(
        20, [&] { warp_sum(a.data(), sums.data(), n); }, [&] { sink = serial_sum(a.data()); });
    row("shuffle sums against a serial sum", shuffle, serial2, "ms", 1e3, shuffle / serial2, 1.5, false);
    simt::set_loops_over_lanes(false);
    const auto [stacks, serial3] = compare(
        20, [&] { tree_sum(a.data(), sums.data(), n); }, [&] { sink = serial_sum(a.data()); });
    row("  the tree with a stack per lane", stacks, serial3, "ms", 1e3, stacks / serial3, 70, false);
    simt::set_loops_over_lanes(true);

    const auto [add, plain] = compare(
        60, [&] { vector_add(a.data(), b.data(), c.data(), n); },
        [&] { plain_add(a.data(), b.data(), c.data()); });
    row("vector addition against a plain loop", add, plain, "ms", 1e3, add / plain, 4, false);

    simt::set_threads(1);
    double processor = 1e30;
    for (int i = 0; i < 20; ++i) {
        const std::clock_t start = std::clock();
        tree_sum(a.data(), sums.data(), n);
        processor = std::min(processor, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    std::printf("%-44s %9.3f %9.3f ms  %8.2fx  (no goal)\n", "  the tree on one thread, processor time",
                processor * 1e3, serial * 1e3, processor / serial);
    const auto [add1, plain1] = compare(
        60, [&] { vector_add(a.data(), b.data(), c.data(), n); },
        [&] { plain_add(a.data(), b.data(), c.data()); });
    row("  the same on one thread", add1, plain1, "ms", 1e3, add1 / plain1, 4, false);

    if (cores >= 2) {
        const auto with = [&](unsigned threads, auto work) {
            simt::set_threads(threads);
            work();
        };
        const auto work = [&] { iterate(a.data(), c.data(), n); };
        const auto [two, one] = compare(
            40, [&] { with(2, work); }, [&] { with(1, work); });
        row("two threads against one: arithmetic", two, one, "ms", 1e3, one / two, 1.7, true);
        const auto sum = [&] { tree_sum(a.data(), sums.data(), n); };
        const auto [tree2, tree1] = compare(
            20, [&] { with(2, sum); }, [&] { with(1, sum); });
        row("two threads against one: barriers", tree2, tree1, "ms", 1e3, tree1 / tree2, 1.7, true);
    } else {
        std::printf("one core: scaling not measured\n");
    }

    Probe run, find, count;
    bool probed = true;  // one program after the other, again and again: what is slow at times, is so for all
    for (int i = 0; i < 9 && probed; ++i)
        probed = run_probe("run", run) && run_probe("find", find) && run_probe("count", count);
    if (probed) {
        row("all checks against stacks in run mode: the tree", find.seconds, run.seconds, "ms", 1e3,
            find.seconds / run.seconds, 2.5, false);
        row("checks and counters against the same", count.seconds, run.seconds, "ms", 1e3,
            count.seconds / run.seconds, 4, false);
        row("memory of the checks against the data", find.memory, 1, "", 1, find.memory, 6, false);
        std::printf("%-44s %9.3f %9.3f      (no goal)\n", "  with counters", count.memory, 1.0);
    } else {
        std::printf("check mode is not measured: this build has none\n");
    }

    simt::set_threads(cores);
    const auto [tiny, ignored] = compare(
        10, [&] { tiny_blocks(a.data(), n); }, [] {});
    (void)ignored;
    std::printf("%-44s %9.3f           ms  %8.2f ns a block  (no goal)\n", "2^20 blocks of one thread",
                tiny * 1e3, tiny / n * 1e9);
    std::printf("\n%s\n", failures == 0 ? "every goal holds" : "NOT every goal holds");
    return failures == 0 ? 0 : 1;
}
