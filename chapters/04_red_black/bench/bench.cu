// The benchmark: every rung and the masked kernels side by side on this GPU, each checked before it is timed.
// `--help` lists the options.

#include "rungs/bench.cuh"

#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>

#include "bench/peers.cuh"
#include "red_black.cuh"
#include "rungs/random.hpp"

static const rungs::Benchmark benchmark{
    "04",
    "points along an edge",
    "ms: one call of 21 iterations with a norm after each, with copies between layouts and the pass for\n"
    "the last norm. us each: what a further iteration costs, from calls of 21 and 63. Gcell/s: 10^9\n"
    "points updated a second, by that. of floor: of one pass over memory that reads u and b and writes u,\n"
    "at the speed of a copy. Rung 10 moves less than that, and rung 11 does two iterations in a pass:\n"
    "both may exceed it. Medians; all take turns; random numbers in [-1, 1).\n",
    {128, 256, 512},
    {},
    {"n", "name", "milliseconds_21", "us_each", "gigacells_per_second", "of_floor"}};

static constexpr int few = 21, many = 63;

/// One way to iterate.
struct Contestant {
    std::string name;
    std::function<void(int iterations, cudaStream_t)> run;
    double few = 0, many = 0;  ///< milliseconds
};

/// One system of n^3 unknowns, the same for all.
template <class T>
class System {
  public:
    explicit System(int n)
        : n_(n),
          start_(values(n, 1)),
          b_(values(n, 2)),
          u_(start_.size()),
          right_(start_.size()),
          work_(red_black::work_size(n)),
          norms_(many) {
        run(red_black::rungs[2], few, nullptr);  // rung 03, which is given, is what the others have to leave
        right_.copy_from(u_);
        norm_ = norms_.to_host()[few - 1];
    }

    void run(const red_black::Rung& rung, int iterations, cudaStream_t stream) {
        const red_black::Tuning tuning{1.0, 2};  // omega 1: the iterates of red-black
        rung.of(T())(start_.data(), b_.data(), u_.data(), norms_.data(), work_.data(), n_, iterations, tuning,
                     stream);
    }

    /// @throws std::runtime_error when a rung leaves other iterates than rung 03
    void check(const red_black::Rung& rung) {
        u_.fill_bytes(0xff);
        norms_.fill_bytes(0xff);
        work_.fill_bytes(0xff);
        run(rung, few, nullptr);
        compare(rung.name, norms_.to_host()[few - 1]);
    }
    void compare(const std::string& name, double norm) const {
        const std::vector<T> got = u_.to_host(), right = right_.to_host();
        const double unit = sizeof(T) == 4 ? 1e-6 : 1e-14;
        double worst = std::abs(norm / norm_ - 1);
        for (std::size_t c = 0; c < got.size(); ++c) {
            const double error = std::abs(static_cast<double>(got[c]) - static_cast<double>(right[c]));
            if (!(error <= worst)) worst = error;
        }
        if (worst <= 20 * unit) return;  // not for NaN
        rungs::throw_wrong(name, static_cast<std::size_t>(n_), "off by " + std::to_string(worst));
    }

    rungs::DeviceBuffer<T>& start() { return start_; }
    rungs::DeviceBuffer<T>& b() { return b_; }
    rungs::DeviceBuffer<T>& u() { return u_; }

  private:
    static std::vector<T> values(int n, std::uint64_t seed) {
        const auto size = static_cast<std::size_t>(n);
        return rungs::random_field<T>(size * size * size, seed, rungs::signed_uniform);
    }

    int n_;
    rungs::DeviceBuffer<T> start_, b_, u_, right_, work_;
    rungs::DeviceBuffer<double> norms_;
    double norm_ = 0;
};

static bool is_red_black(const red_black::Rung& rung) {
    const std::string problem = rung.problem;
    return problem == "red_black" || problem == "sor";  // with omega = 1
}

template <class T>
static void add_rungs(std::vector<Contestant>& all, System<T>& system, const char* type) {
    for (const red_black::Rung& rung : red_black::rungs) {
        if (is_red_black(rung)) system.check(rung);
        all.push_back({std::string(rung.name) + type,
                       [&](int iterations, cudaStream_t stream) { system.run(rung, iterations, stream); }});
    }
}

/// Times one size and prints its table.
static void bench(int n, double copy, const rungs::BenchOptions& options, rungs::Csv& csv) {
    System<float> single(n);
    System<double> twice(n);
    red_black::peers::Masked masked(n);
    masked.set(single.start().data(), single.b().data(), nullptr);
    const double norm = masked.red_black(few, nullptr);
    masked.get(single.u().data(), nullptr);
    single.compare("masked red-black", norm);

    std::vector<Contestant> all;
    add_rungs(all, single, "");
    all.push_back({"masked jacobi", [&](int t, cudaStream_t stream) { masked.jacobi(t, stream); }});
    all.push_back({"masked red-black", [&](int t, cudaStream_t stream) { masked.red_black(t, stream); }});
    add_rungs(all, twice, " (double)");

    rungs::Race race;
    for (const Contestant& one : all) {
        for (const int iterations : {few, many})
            race.enter(one.name, [&one, iterations](cudaStream_t stream) { one.run(iterations, stream); });
    }
    const auto times = race.as_called({.rounds = options.quick ? 5u : 15u, .warm_up = 1, .calls = 1});
    const double cells = std::pow(static_cast<double>(n), 3);
    std::printf("\n%d^3\n%-32s %10s %10s %10s %9s\n", n, "", "ms", "us each", "Gcell/s", "of floor");
    for (std::size_t c = 0; c < all.size(); ++c) {
        all[c].few = times[2 * c].median();
        all[c].many = times[2 * c + 1].median();
        const double each = (all[c].many - all[c].few) / (many - few), speed = cells / each / 1e6;
        const double element = all[c].name.find("double") == std::string::npos ? 4 : 8;
        const double of_floor = 1e9 * speed * 3 * element / copy;
        std::printf("%-32s %10.3f %10.2f %10.1f %7.0f %%\n", all[c].name.c_str(), all[c].few, 1e3 * each,
                    speed, 100 * of_floor);
        csv.row(n, all[c].name, all[c].few, 1e3 * each, speed, of_floor);
    }
}

static void bench_all(rungs::BenchOptions& options, rungs::Csv& csv) {
    const double copy = rungs::print_copy_bandwidth(benchmark);
    for (const std::size_t n : options.sizes) {
        if (n == 0 || n > 1024) throw std::invalid_argument("--sizes takes points along an edge, 1 to 1024");
        bench(static_cast<int>(n), copy, options, csv);
    }
}

int main(int argc, char** argv) { return rungs::run_benchmark(argc, argv, benchmark, bench_all); }
