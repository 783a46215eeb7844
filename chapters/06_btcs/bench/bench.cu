// The benchmark: every rung that solves or steps and cuSPARSE side by side on this GPU, each checked before
// it is timed. `--help` lists the options.

#include "rungs/bench.cuh"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/peers.cuh"
#include "btcs.cuh"
#include "rows.cuh"

static const rungs::Benchmark benchmark{
    "06",
    "rows in all",
    "Grow/s: 10^9 rows solved, or stepped, per second. Floor: what has to be read and written, 20 bytes\n"
    "per row of a system (four numbers in, one out) and 8 per row of the heat equation (and pass), at the\n"
    "speed of a copy. cuSPARSE solves in place; its buffers are made before, and what it overwrites is not\n"
    "restored while it is timed. Medians; all of a table take turns.\n",
    {1 << 16, 1 << 20, 1 << 24, 1 << 26},
    {1 << 24},
    {"table", "name", "milliseconds", "gigarows_per_second"}};

/// A random number in [0, 1) for each i.
static __device__ float random(unsigned long long i) {
    return rungs::hashed_uniform(static_cast<unsigned>(i ^ i >> 32) * 0x9E3779B9u + 0x1234567u);
}

/// Rows that are dominated by a tenth or more, or those of the heat equation if r > 0. Row j of system i is
/// element i * m + j, or j * systems + i: it is the same row in both layouts.
static __global__ void make_kernel(float* lower, float* diagonal, float* upper, float* rhs, long long m,
                                   long long systems, bool interleaved, float r) {
    const long long e = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (e >= m * systems) return;
    const long long i = e / m, j = e % m, to = interleaved ? j * systems + i : e;
    lower[to] = j == 0 ? 0 : r > 0 ? -r : 2 * random(4 * e) - 1;
    upper[to] = j == m - 1 ? 0 : r > 0 ? -r : 2 * random(4 * e + 1) - 1;
    diagonal[to] =
        r > 0 ? 1 + 2 * r : (1.1f + random(4 * e + 2)) * (fabsf(lower[to]) + fabsf(upper[to])) + 0.01f;
    rhs[to] = 2 * random(4 * e + 3) - 1;
}

/// largest[0] becomes the largest |x|, as bits. All threads of a warp must come here.
static __global__ void size_kernel(const float* x, long long n, unsigned* largest) {
    const long long e = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    unsigned bits = e < n ? __float_as_uint(fabsf(x[e])) : 0;
    for (int step = 16; step > 0; step /= 2) bits = max(bits, __shfl_xor_sync(0xffffffffu, bits, step));
    if (threadIdx.x % 32 == 0 && bits > largest[0]) atomicMax(largest, bits);
}

/// largest[1] becomes the largest |b - A x| / ((|lower| + |diagonal| + |upper|) max |x|) of all
/// rows, as bits.
static __global__ void residual_kernel(const float* lower, const float* diagonal, const float* upper,
                                       const float* rhs, const float* x, long long m, long long systems,
                                       bool interleaved, unsigned* largest) {
    const long long e = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (e >= m * systems) return;
    const long long i = e / m, j = e % m, at = interleaved ? j * systems + i : e,
                    step = interleaved ? systems : 1;
    double r = rhs[at] - static_cast<double>(diagonal[at]) * x[at];
    if (j > 0) r -= static_cast<double>(lower[at]) * x[at - step];
    if (j < m - 1) r -= static_cast<double>(upper[at]) * x[at + step];
    const float scale =
        (fabsf(lower[at]) + fabsf(diagonal[at]) + fabsf(upper[at])) * __uint_as_float(largest[0]);
    const unsigned bits = __float_as_uint(static_cast<float>(fabs(r)) / scale);
    if (bits > largest[1]) atomicMax(largest + 1, bits);
}

/// largest[0] becomes the largest |u| or |v|, as bits; largest[1] the largest distance from the equation of a
/// step from u to v, with ends of 0.
static __global__ void step_kernel(const float* u, const float* v, long long n, double r, double theta,
                                   unsigned* largest) {
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    const auto bend = [=](const float* w) {
        return (i > 0 ? w[i - 1] : 0.0) - 2.0 * w[i] + (i < n - 1 ? w[i + 1] : 0.0);
    };
    const double off = v[i] - theta * r * bend(v) - (u[i] + (1 - theta) * r * bend(u));
    const unsigned size = __float_as_uint(fmaxf(fabsf(u[i]), fabsf(v[i]))),
                   bits = __float_as_uint(static_cast<float>(fabs(off)));
    if (size > largest[0]) atomicMax(largest, size);
    if (bits > largest[1]) atomicMax(largest + 1, bits);
}

/// largest[1] becomes the largest |z_i - lambda z_{i-1} - d_i|, as bits.
static __global__ void chain_kernel(const float* d, const float* z, long long n, double lambda,
                                    unsigned* largest) {
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    const double off = z[i] - lambda * (i > 0 ? z[i - 1] : 0) - d[i];
    const unsigned bits = __float_as_uint(static_cast<float>(fabs(off)));
    if (bits > largest[1]) atomicMax(largest + 1, bits);
}

/// largest[1] becomes the largest |a_i - b_i|, as bits.
static __global__ void distance_kernel(const float* a, const float* b, long long n, unsigned* largest) {
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    const unsigned bits = i < n ? __float_as_uint(fabsf(a[i] - b[i])) : 0;
    if (bits > largest[1]) atomicMax(largest + 1, bits);
}

/// The two numbers that one of the kernels above finds in n elements. A NaN is larger than any number.
template <class Launch>
static std::pair<float, float> largest_of(long long n, const Launch& launch) {
    rungs::DeviceBuffer<unsigned> largest(2);
    largest.zero();
    launch(static_cast<unsigned>((n + 255) / 256), largest.data());
    CUDA_CHECK(cudaGetLastError());
    float found[2];
    std::memcpy(found, largest.to_host().data(), sizeof found);
    return {found[0], found[1]};
}

/// @throws std::runtime_error unless `error` is at most `allowed`
static void require(const std::string& name, long long n, double error, double allowed) {
    if (error <= allowed) return;
    throw std::runtime_error(name + " is wrong for " + rungs::size_name(n) + " points: off by " +
                             std::to_string(error / allowed) + " times what is allowed");
}

/// Systems in device memory, and a second copy for those who overwrite it.
struct Problem {
    rungs::DeviceBuffer<float> lower, diagonal, upper, rhs, x, start, scratch[3];
    rungs::DeviceBuffer<int> status;
    rungs::DeviceBuffer<long long> single;
    long long m, systems;
    bool interleaved;

    Problem(long long rows, long long count, bool columns, float r)
        : lower(rows * count),
          diagonal(rows * count),
          upper(rows * count),
          rhs(rows * count),
          x(rows * count),
          start(rows * count),
          status(count),
          single(1),
          m(rows),
          systems(count),
          interleaved(columns) {
        start.zero();
        make_kernel<<<static_cast<unsigned>((m * systems + 255) / 256), 256>>>(
            lower.data(), diagonal.data(), upper.data(), rhs.data(), m, systems, interleaved, r);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaDeviceSynchronize());
    }
    btcs::peers::Systems copy() {
        for (auto& buffer : scratch) {
            if (buffer.empty()) buffer = rungs::DeviceBuffer<float>(x.size());
        }
        scratch[0].copy_from(lower), scratch[1].copy_from(diagonal), scratch[2].copy_from(upper);
        x.copy_from(rhs);
        return systems_in_place();
    }
    btcs::peers::Systems systems_in_place() {
        return {scratch[0].data(), scratch[1].data(),   scratch[2].data(),
                x.data(),          static_cast<int>(m), static_cast<int>(systems)};
    }
    /// @throws std::runtime_error when the rows are not fulfilled
    void check(const std::string& name, double allowed = btcs::tolerance) {
        const auto [size, error] = largest_of(m * systems, [&](unsigned blocks, unsigned* largest) {
            size_kernel<<<blocks, 256>>>(x.data(), m * systems, largest);
            residual_kernel<<<blocks, 256>>>(lower.data(), diagonal.data(), upper.data(), rhs.data(),
                                             x.data(), m, systems, interleaved, largest);
        });
        if (error <= allowed && std::isfinite(size)) return;
        throw std::runtime_error(name + " is wrong for m = " + std::to_string(m) + ", " +
                                 std::to_string(systems) + " systems: a row is off by " +
                                 std::to_string(error));
    }
};

/// One way to solve, and what it takes.
struct Contestant {
    std::string name;
    std::function<void(cudaStream_t)> run;
    double bytes = 20;  ///< a row
    int steps = 1;      ///< of a call; times are of one
    double milliseconds = 0;
};

static void measure(std::vector<Contestant>& all, bool quick) {
    rungs::Race race;
    for (const Contestant& one : all) race.enter(one.name, one.run);
    const auto times = race.as_called({.rounds = quick ? 7u : 15u});
    for (std::size_t i = 0; i < all.size(); ++i) all[i].milliseconds = times[i].median() / all[i].steps;
}

/// @param peer  what "x" counts in: the fastest of those whose names begin so
static void table(const std::string& title, const std::vector<Contestant>& all, double rows, double roof,
                  rungs::Csv& csv) {
    double best = 0;
    for (const Contestant& one : all) {
        if (one.name.rfind("cuSPARSE", 0) == 0 && (best == 0 || one.milliseconds < best))
            best = one.milliseconds;
    }
    std::printf("\n%s\n%-34s %10s %9s %8s %22s\n", title.c_str(), "", "ms", "Grow/s", "of floor",
                "best cuSPARSE / this");
    for (const Contestant& one : all) {
        const double rate = rows / one.milliseconds / 1e6;
        std::printf("%-34s %10.4f %9.1f %6.0f %%", one.name.c_str(), one.milliseconds, rate,
                    100 * rate * 1e9 * one.bytes / roof);
        best > 0 ? std::printf(" %22.2f\n", best / one.milliseconds) : std::printf("\n");
        csv.row(title, one.name, one.milliseconds, rate);
    }
}

static void bench_solve(long long n, double roof, const rungs::BenchOptions& options, rungs::Csv& csv) {
    for (const float r : {0.0f, 1.0f, 100.0f, 10000.0f}) {
        if (options.quick && r == 10000) continue;
        Problem p(n, 1, false, r);
        std::vector<Contestant> all;
        for (const btcs::Rung& rung : btcs::rungs) {
            if (!rung.solve) continue;
            const bool iterates = std::strcmp(rung.name, "11_partitioned") != 0;
            if (iterates && (r != 1 || n > 1 << 22)) continue;
            all.push_back({rung.name, [&p, &rung](cudaStream_t stream) {
                               rung.solve(p.lower.data(), p.diagonal.data(), p.upper.data(), p.rhs.data(),
                                          p.start.data(), p.x.data(), p.single.data(), p.m, stream);
                           }});
            p.x.fill_bytes(0xff);
            all.back().run(nullptr);
            p.check(rung.name);
        }
        if (n >= 3 && n < 1LL << 31) {
            const auto peer = [&](const char* name, btcs::peers::Solve* solve) {
                solve(p.copy(), nullptr);
                p.check(name, 1e-4);
                all.push_back({name, [&p, solve](cudaStream_t s) { solve(p.systems_in_place(), s); }});
            };
            peer("cuSPARSE gtsv2_nopivot", btcs::peers::gtsv2_nopivot);
            peer("cuSPARSE gtsv2", btcs::peers::gtsv2);
        }
        measure(all, options.quick);
        const std::string what = r > 0 ? "rows of the heat equation, r = " + std::to_string(r).substr(0, 7)
                                       : std::string("random coefficients, dominated by a tenth");
        table("One system of " + rungs::size_name(n) + " rows: " + what, all, static_cast<double>(n), roof,
              csv);
    }
}

static void bench_batch(long long n, int m, double roof, const rungs::BenchOptions& options,
                        rungs::Csv& csv) {
    const long long systems = n / m;
    if (systems < 1) return;
    Problem columns(m, systems, true, 0), rows(m, systems, false, 0);
    std::vector<Contestant> all;
    for (const btcs::Rung& rung : btcs::rungs) {
        if (!rung.batch || m > rung.most_rows) continue;
        Problem& p = rung.interleaved ? columns : rows;
        all.push_back({rung.name, [&p, &rung](cudaStream_t stream) {
                           rung.batch(p.lower.data(), p.diagonal.data(), p.upper.data(), p.rhs.data(),
                                      p.x.data(), p.status.data(), static_cast<int>(p.m),
                                      static_cast<int>(p.systems), stream);
                       }});
        p.x.fill_bytes(0xff);
        all.back().run(nullptr);
        p.check(rung.name);
        if (rung.batch != btcs::thomas_batched) continue;
        // Both of its forms, whichever it takes by itself.
        const std::size_t own = all.size() - 1;
        for (const auto& [form, words] : {std::pair(btcs::Remember::on_chip, ", on the chip"),
                                          {btcs::Remember::in_memory, ", in memory"}}) {
            all.push_back(
                {std::string(rung.name) + words, [run = all[own].run, form = form](cudaStream_t stream) {
                     btcs::remember = form;
                     run(stream);
                     btcs::remember = btcs::Remember::where_it_pays;
                 }});
            p.x.fill_bytes(0xff);
            all.back().run(nullptr);
            p.check(all.back().name);
        }
    }
    btcs::peers::strided_batch(rows.copy(), nullptr);
    rows.check("cuSPARSE gtsv2StridedBatch", 1e-4);
    btcs::peers::interleaved_batch(columns.copy(), nullptr);
    columns.check("cuSPARSE gtsvInterleavedBatch", 1e-4);
    all.push_back({"cuSPARSE gtsv2StridedBatch",
                   [&](cudaStream_t s) { btcs::peers::strided_batch(rows.systems_in_place(), s); }});
    all.push_back({"cuSPARSE gtsvInterleavedBatch",
                   [&](cudaStream_t s) { btcs::peers::interleaved_batch(columns.systems_in_place(), s); }});
    measure(all, options.quick);
    table(rungs::size_name(systems) + " systems of " + std::to_string(m) + " rows", all,
          static_cast<double>(m) * static_cast<double>(systems), roof, csv);
}

/// A rod with cold ends.
struct Road {
    rungs::DeviceBuffer<float> start, ends, u, work, next;
    long long n;

    explicit Road(const rungs::DeviceBuffer<float>& values)
        : start(values.size()),
          ends(17),
          u(values.size()),
          work(values.size()),
          next(values.size()),
          n(static_cast<long long>(values.size())) {
        start.copy_from(values);
        ends.zero();
    }
    std::function<void(cudaStream_t)> steps(btcs::March* march, int count, double r, double theta) {
        return [this, march, count, r, theta](cudaStream_t stream) {
            march(start.data(), ends.data(), ends.data(), u.data(), work.data(), n, count, r, theta, stream);
        };
    }
    /// Checks one step, and that `count` steps in one call are as many calls of one. Leaves a step in u.
    /// @throws std::runtime_error
    void check(const std::string& name, btcs::March* march, int count, double r, double theta) {
        // theta < 1 doubles the error of what is solved, and steps with a large r have fewer digits.
        const double allowed = (theta < 1 ? 4 : 1) * (r > 1000 ? 1e-5 : btcs::tolerance);
        u.fill_bytes(0xff);
        steps(march, 1, r, theta)(nullptr);
        const auto [size, off] = largest_of(n, [&](unsigned blocks, unsigned* largest) {
            step_kernel<<<blocks, 256>>>(start.data(), u.data(), n, r, theta, largest);
        });
        require(name, n, off, allowed * (1 + 4 * r) * size);
        if (count == 1) return;
        for (int k = 1; k < count; ++k) {
            march(u.data(), ends.data(), ends.data(), next.data(), work.data(), n, 1, r, theta, nullptr);
            std::swap(u, next);
        }
        std::swap(u, next);
        u.fill_bytes(0xff);
        steps(march, count, r, theta)(nullptr);
        const auto [none, apart] = largest_of(n, [&](unsigned blocks, unsigned* largest) {
            distance_kernel<<<blocks, 256>>>(u.data(), next.data(), n, largest);
        });
        require(name + ", several steps,", n, apart, 2e-5 * size);
    }
};

static void bench_march(long long n, double roof, const rungs::BenchOptions& options, rungs::Csv& csv) {
    const auto points = " " + rungs::size_name(n) + " points, ";
    const auto enter = [](std::vector<Contestant>& all, Road& road, const btcs::Rung& rung, int count,
                          double r, double theta) {
        road.check(rung.name, rung.march, count, r, theta);
        all.push_back({std::string(rung.name) + ", " + std::to_string(count) + " steps, each",
                       road.steps(rung.march, count, r, theta), 8, count});
    };
    for (const double theta : {1.0, 0.5}) {
        for (const double r : {1.0, 100.0, 10000.0}) {
            Problem p(n, 1, false, static_cast<float>(theta * r));
            Road road(p.rhs);
            std::vector<Contestant> all;
            for (const btcs::Rung& rung : btcs::rungs) {
                if (!rung.march || rung.explicit_only) continue;
                // Sweeps take long for a large r.
                if (rung.march == btcs::jacobi_steps && (r > 1 || n > 1 << 24)) continue;
                for (const int count : {1, 8, 16}) {
                    if (rung.march == btcs::jacobi_steps && count > 1) continue;
                    enter(all, road, rung, count, r, theta);
                }
            }
            btcs::peers::gtsv2_nopivot(p.copy(), nullptr);
            if (theta == 1) {
                p.check("cuSPARSE gtsv2_nopivot", 1e-4);
                all.push_back({"cuSPARSE gtsv2_nopivot, 1 step",
                               [&](cudaStream_t s) { btcs::peers::gtsv2_nopivot(p.systems_in_place(), s); }});
            }
            measure(all, options.quick);
            table("Heat equation," + points + (theta == 1 ? "BTCS" : "Crank-Nicolson") +
                      ", r = " + std::to_string(static_cast<int>(r)),
                  all, static_cast<double>(n), roof, csv);
        }
    }
    Problem p(n, 1, false, 1);
    Road road(p.rhs);
    std::vector<Contestant> all;
    for (const btcs::Rung& rung : btcs::rungs) {
        if (!rung.march) continue;
        for (const int count : {1, 8, 16}) enter(all, road, rung, count, 0.4375, 0);
    }
    measure(all, options.quick);
    table("Heat equation," + points + "FTCS, r = 0.4375", all, static_cast<double>(n), roof, csv);
}

/// The recurrence of rung 13, in one block.
static void bench_scan(long long n, double roof, const rungs::BenchOptions& options, rungs::Csv& csv) {
    constexpr double lambda = 0.5;
    Problem p(n, 1, false, 1);
    std::vector<Contestant> all;
    for (const btcs::Rung& rung : btcs::rungs) {
        if (!rung.scan) continue;
        all.push_back(
            {rung.name,
             [&p, &rung](cudaStream_t stream) { rung.scan(p.rhs.data(), p.x.data(), p.m, lambda, stream); },
             8});
        p.x.fill_bytes(0xff);
        all.back().run(nullptr);
        const auto found = largest_of(n, [&](unsigned blocks, unsigned* largest) {
            chain_kernel<<<blocks, 256>>>(p.rhs.data(), p.x.data(), n, lambda, largest);
        });
        // Two elements, each as far off as the contract lets it be, of numbers below 1.
        require(rung.name, n, found.second, 2 * 0x1p-24 * (4 / (0.5 * 0.5) + 32 / 0.5));
    }
    measure(all, options.quick);
    table("One recurrence of " + rungs::size_name(n) + " elements", all, static_cast<double>(n), roof, csv);
}

static void bench_all(rungs::BenchOptions& options, rungs::Csv& csv) {
    const double roof = rungs::print_copy_bandwidth(benchmark);
    csv.row("copy of 2^26 rows", "8 bytes per row", 0x1p26 * 8 / roof * 1e3, roof / 8e9);
    for (const std::size_t size : options.sizes) {
        const auto n = static_cast<long long>(size);
        if (120 * size > rungs::free_device_memory()) {
            std::printf("%zu is left out: it does not fit\n", size);
            continue;
        }
        bench_solve(n, roof, options, csv);
        if (n >= 1 << 20) {
            for (const int m : {64, 512, 1024, 2048}) bench_batch(n, m, roof, options, csv);
        }
        bench_march(n, roof, options, csv);
        if (n <= 1 << 20) bench_scan(n, roof, options, csv);
    }
}

int main(int argc, char** argv) { return rungs::run_benchmark(argc, argv, benchmark, bench_all); }
