// The benchmark: every rung and the classic tile side by side on this GPU, each checked before it is timed.
// `--help` lists the options.

#include "rungs/bench.cuh"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>

#include "bench/peers.cuh"
#include "exam/reference.hpp"
#include "exam/systems.hpp"
#include "nbody.cuh"
#include "rungs/roof.cuh"

static const rungs::Benchmark benchmark{
    "02",
    "bodies",
    "TFLOP/s at 20 operations per interaction, n^2 interactions, whoever computes them how: the convention\n"
    "of the literature. A rung that needs fewer operations can exceed what the GPU does. Medians; all\n"
    "take turns; a ball of random bodies, two of them heavy; calls queued after a spinning kernel, so\n"
    "that the host's launches do not count.\n",
    rungs::powers_of_two(12, 18, 1),
    rungs::powers_of_two(12, 18, 2),
    {"n", "name", "milliseconds", "teraflops"}};

static constexpr float softening = 0.01f;
static constexpr double slowest = 3000;  // milliseconds of one call; what needs more is left out

/// One way to compute the force, and what it takes.
struct Contestant {
    std::string name;
    nbody::Accelerate* accelerate;
    nbody::Leapfrog* leapfrog;  // of a rung
    double milliseconds = 0;
};

/// n bodies on the device.
class Bodies {
  public:
    explicit Bodies(std::size_t n) : system_(nbody::two_heavy(n, 1)), x_(n), v_(n), a_(n) {
        std::vector<float4> quads(n);
        std::memcpy(quads.data(), system_.bodies.data(), x_.bytes());
        x_.copy_from(quads);
        v_.zero();
    }
    int count() const { return static_cast<int>(x_.size()); }

    void call(const Contestant& one, cudaStream_t stream) {
        one.accelerate(x_.data(), a_.data(), count(), softening, stream);
    }
    /// Steps that move nothing: a step of length 0 does the same work.
    void steps(const Contestant& one, int steps, cudaStream_t stream) {
        one.leapfrog(x_.data(), v_.data(), x_.data(), v_.data(), a_.data(), count(), steps, 0.0f, softening,
                     stream);
    }

    /// @throws std::runtime_error when a force is further off than rounding explains, on 300
    /// bodies of all strips
    void check(const Contestant& one) {
        a_.fill_bytes(0xff);
        call(one, nullptr);
        const std::vector<float4> a = a_.to_host();
        const nbody::State state = nbody::state_of(system_.bodies);
        for (std::size_t i = 0; i < a.size(); i += 1 + a.size() / 300) {
            const nbody::Pull pull = nbody::reference_pull(state, i, softening);
            const double error =
                nbody::length(nbody::Vector{a[i].x, a[i].y, a[i].z} - pull.sum) / pull.magnitude;
            if (error <= nbody::force_tolerance(a.size())) continue;  // not for NaN
            rungs::throw_wrong(one.name, a.size(), "at body " + std::to_string(i));
        }
    }

  private:
    nbody::System system_;
    rungs::DeviceBuffer<float4> x_, v_, a_;
};

static double teraflops(std::size_t n, double milliseconds) {
    return 20e-9 * static_cast<double>(n) * static_cast<double>(n) / milliseconds;
}

/// Times all that are not too slow. A step is timed beside the force of the last rung.
static double measure(std::vector<Contestant>& all, std::size_t n, bool quick) {
    Bodies bodies(n);
    rungs::Race race;
    for (const Contestant& one : all) {
        if (n % 256 != 0 && !one.leapfrog) continue;
        bodies.check(one);
        race.enter(
            one.name, [&](cudaStream_t stream) { bodies.call(one, stream); }, slowest);
    }
    const Contestant& last =
        *std::find_if(all.rbegin(), all.rend(), [](const auto& one) { return one.leapfrog; });
    constexpr int steps = 4;  // and the force before them
    race.enter("steps", [&](cudaStream_t stream) { bodies.steps(last, steps, stream); });
    const double budget = quick ? 500 : 3000;
    const auto timings = race.queued({.rounds = race.rounds(budget, 5, 200), .warm_up = 1, .calls = 1});
    for (Contestant& one : all) one.milliseconds = rungs::median_of(timings, one.name);
    return timings.back().median() / (steps + 1);
}

static void bench_all(rungs::BenchOptions& options, rungs::Csv& csv) {
    std::vector<Contestant> all;
    for (const nbody::Rung& rung : nbody::rungs) all.push_back({rung.name, rung.accelerate, rung.leapfrog});
    all.push_back({"classic", nbody::peers::classic, nullptr});
    all.push_back({"classic, ftz", nbody::peers::classic_ftz, nullptr});

    std::printf("multiply-adds alone: %.1f TFLOP/s\n%s\n%8s", 1e-12 * rungs::fma_roof(),
                benchmark.explanation, "n");
    for (const Contestant& one : all) std::printf("  %s", one.name.c_str());
    std::printf("  08 us  step/force\n");
    for (const std::size_t n : options.sizes) {
        const double step = measure(all, n, options.quick);
        std::printf("%8s", rungs::size_name(n).c_str());
        double force = 0;
        for (const Contestant& one : all) {
            const int width = static_cast<int>(one.name.size());
            if (one.milliseconds == 0) {
                std::printf("  %*s", width, "-");
                continue;
            }
            std::printf("  %*.2f", width, teraflops(n, one.milliseconds));
            csv.row(n, one.name, one.milliseconds, teraflops(n, one.milliseconds));
            if (one.leapfrog) force = one.milliseconds;
        }
        std::printf("  %5.0f  %10.3f\n", 1e3 * force, step / force);
    }
}

int main(int argc, char** argv) { return rungs::run_benchmark(argc, argv, benchmark, bench_all); }
