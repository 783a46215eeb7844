// The benchmark: every rung and the lecture's solver side by side on this GPU, each checked before it is
// timed. `--help` lists the options.

#include "rungs/bench.cuh"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/peers.cuh"
#include "exam/reference.hpp"
#include "jacobi.cuh"
#include "rungs/random.hpp"

static const rungs::Benchmark benchmark{
    "03",
    "points along an edge",
    "Lattices of n times n points, random numbers in [-1, 1). A call does many sweeps and tests every\n"
    "norm; its time from event to event, the host's part included, is divided by the sweeps. Medians; all\n"
    "take turns. Gcell/s: 1e9 points swept per second. Floor: 8 bytes per point and sweep at the speed of a\n"
    "copy.\n",
    {1024, 4096, 16384},
    {},
    {"n", "name", "us_per_sweep", "gigacells_per_second", "of_floor"}};

/// One way to solve, and what it takes.
struct Contestant {
    const char* name;
    jacobi::Solve* solve;
    int pass = 1;    ///< sweeps for one pass over the memory
    int sweeps = 0;  ///< of one call at the present size
    double us = 0;   ///< of one sweep
};

/// A lattice of n times n random points and the buffers of a call.
class Data {
  public:
    explicit Data(int n)
        : n_(n),
          size_(jacobi::pitch_of(n) * static_cast<std::size_t>(n)),
          start_(size_),
          phi_(size_),
          work_(size_) {
        // A block of 2^22 random numbers again and again, each time shifted against the rows.
        const std::vector<float> block = rungs::random_field((1 << 22) - 77, 1, rungs::signed_uniform);
        for (std::size_t i = 0; i < size_; i += block.size()) {
            const std::size_t bytes = sizeof(float) * std::min(block.size(), size_ - i);
            CUDA_CHECK(cudaMemcpy(start_.data() + i, block.data(), bytes, cudaMemcpyHostToDevice));
        }
    }

    void call(jacobi::Solve* solve, int sweeps, cudaStream_t stream) {
        constexpr float eps = 1e-30f;  // tested after every sweep, never reached
        solve(start_.data(), phi_.data(), work_.data(), norm_.data(), sweeps_.data(), n_, n_, 1, n_ / 2,
              n_ / 3, sweeps, eps, stream);
    }

    /// Part of the field after 17 sweeps: the last points, where loops end.
    std::vector<float> sample(jacobi::Solve* solve) {
        phi_.fill_bytes(0xff);
        work_.fill_bytes(0xff);
        call(solve, 17, nullptr);
        std::vector<float> sites(std::min<std::size_t>(size_, std::size_t{1} << 22));
        CUDA_CHECK(cudaMemcpy(sites.data(), phi_.data() + (size_ - sites.size()),
                              sites.size() * sizeof(float), cudaMemcpyDeviceToHost));
        return sites;
    }

    /// Sweeps of the last call, and whether its norm is a number.
    bool complete(int sweeps) const {
        return sweeps_.to_host()[0] == sweeps && std::isfinite(norm_.to_host()[0]);
    }

    double copy_bandwidth() { return rungs::copy_bandwidth(start_, work_); }

  private:
    int n_;
    std::size_t size_;
    rungs::DeviceBuffer<float> start_, phi_, work_, norm_{1};
    rungs::DeviceBuffer<int> sweeps_{1};
};

/// @throws std::runtime_error when a contestant's field is not that of the first, except for rounding
static void check(std::vector<Contestant>& all, Data& data, int n) {
    const std::vector<float> expected = data.sample(all.front().solve);
    const double allowed = 2 * jacobi::rounding_bound({n, n, 1, n / 2, n / 3}, 1, 17);
    const auto width = static_cast<std::size_t>(n), pitch = jacobi::pitch_of(n);
    for (Contestant& one : all) {
        const std::vector<float> got = data.sample(one.solve);
        const std::size_t first = pitch * width - got.size();
        for (std::size_t i = 0; i < got.size(); ++i) {
            if ((first + i) % pitch >= width || std::abs(got[i] - expected[i]) <= allowed) continue;
            rungs::throw_wrong(one.name, width, "point " + std::to_string(first + i));
        }
        if (!data.complete(17)) rungs::throw_wrong(one.name, width, "it did not do 17 sweeps");
    }
}

/// Times all, with as many sweeps per call as fill `milliseconds`.
static void measure(std::vector<Contestant>& all, Data& data, double milliseconds, std::size_t rounds) {
    rungs::Race race;
    for (Contestant& one : all) {
        const auto once = [&](int sweeps) {
            const auto call = [&](cudaStream_t stream) { data.call(one.solve, sweeps, stream); };
            return rungs::median_milliseconds(call, {.rounds = 3, .warm_up = 1, .calls = 1});
        };
        const double pass = std::max(once(9 * one.pass) / 9, 1e-4);
        // An odd number of passes leaves the result in phi, and no copy.
        one.sweeps = one.pass * (2 * static_cast<int>(std::clamp(milliseconds / pass / 2, 4., 2000.)) + 1);
        race.enter(one.name, [&](cudaStream_t stream) { data.call(one.solve, one.sweeps, stream); });
    }
    const auto timings = race.as_called({.rounds = rounds, .warm_up = 1, .calls = 1});
    for (std::size_t i = 0; i < all.size(); ++i) all[i].us = 1e3 * timings[i].median() / all[i].sweeps;
}

static void bench_all(rungs::BenchOptions& options, rungs::Csv& csv) {
    std::printf("%s", benchmark.explanation);
    double copy = 0;
    for (const std::size_t size : options.sizes) {
        if (size > 1 << 16) throw std::invalid_argument("--sizes: a side of at most 65536 points");
        const auto n = static_cast<int>(size);
        std::vector<Contestant> all;
        for (const jacobi::Rung& rung : jacobi::rungs) {
            const bool two = rung.solve == jacobi::two_sweeps;
            all.push_back({rung.name, rung.solve, rung.solve == jacobi::temporal ? 16 : two ? 2 : 1});
        }
        all.push_back({"texture, 1-D", jacobi::peers::texture_linear});
        all.push_back({"lecture, global", jacobi::peers::lecture_global});
        all.push_back({"lecture, texture", jacobi::peers::lecture_texture});
        // The textures of rung 03 end at 65000 rows.
        if (n > 65000) std::erase_if(all, [](const Contestant& one) { return one.name[1] == '3'; });

        Data data(n);
        if (copy == 0) {
            Data large(1 << 14);
            copy = large.copy_bandwidth();
            std::printf("memory: copied %.0f GB/s (read + written), %.0f Gcell/s\n", copy / 1e9, copy / 8e9);
        }
        check(all, data, n);
        measure(all, data, options.quick ? 10 : 40, options.quick ? 7 : 21);
        std::printf("\n%d x %d points\n%-18s %12s %10s %9s\n", n, n, "", "us per sweep", "Gcell/s",
                    "of floor");
        for (const Contestant& one : all) {
            const double speed = static_cast<double>(n) * n / one.us / 1e3;
            const double floor = 8 * speed * 1e9 / copy;
            std::printf("%-18s %12.2f %10.1f %8.1f %%\n", one.name, one.us, speed, 100 * floor);
            csv.row(n, one.name, one.us, speed, floor);
        }
    }
}

int main(int argc, char** argv) { return rungs::run_benchmark(argc, argv, benchmark, bench_all); }
