// The benchmark: every rung and the libraries side by side on this GPU, each checked before it is timed.
// `--help` lists the options.

#include "rungs/bench.cuh"

#include <cmath>
#include <cstdio>

#include "bench/peers.cuh"
#include "gradient_descent.cuh"

static const rungs::Benchmark benchmark{
    "05",
    "unknowns",
    "us: of an iteration, i.e. of a whole solve of that many iterations, with all that comes before and\n"
    "after, over their number. As called: the host's launches count. Graph: the libraries' calls,\n"
    "captured once and replayed. A is symmetric, dominated by its diagonal, random; medians; all take\n"
    "turns.\n",
    {512, 1024, 2048, 3072, 4096, 8192, 16384, 32768},
    {2048, 16384},
    {"n", "name", "us", "us_as_graph", "full_matrix_gigabytes_per_second"}};

static constexpr double slowest = 300;  // milliseconds of one solve; what needs more is left out: "-"

/// A random number in [0, 1) that is the same for (i, j) and (j, i).
static __device__ float symmetric_random(unsigned i, unsigned j) {
    return rungs::hashed_uniform(min(i, j) * 0x9E3779B9u ^ (max(i, j) * 0x85EBCA6Bu + 0x1234567u));
}

/// Off the diagonal from -1 to -0.25, and a diagonal that makes the spectral radius
/// of Gauss-Jacobi about 0.9.
static __global__ void make_kernel(float* a, float* b, int n) {
    const std::size_t all = std::size_t(n) * n, threads = std::size_t(gridDim.x) * blockDim.x;
    for (std::size_t e = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; e < all; e += threads) {
        const auto i = static_cast<unsigned>(e / n), j = static_cast<unsigned>(e % n);
        a[e] = i == j ? 0.625f * (n - 1) / 0.9f : -0.25f - 0.75f * symmetric_random(i, j);
        if (j == 0) b[i] = 2 * symmetric_random(i, i + 77777777u) - 0.7f;
    }
}

/// One way to solve, and what it takes.
struct Contestant {
    std::string name;
    gradient_descent::Solve* solve;
    bool descends, library;
    double us = 0, graph_us = 0;  ///< of an iteration at the present size; 0: left out
    double expected = 0;          ///< milliseconds of an iteration for one element of A, by the size before
};

static std::vector<Contestant> contestants() {
    using namespace gradient_descent;
    std::vector<Contestant> all;
    for (const Rung& rung : gradient_descent::rungs)
        all.push_back({rung.name, rung.solve, rung.descends, false});
    all.push_back({"cuBLAS Jacobi", peers::cublas_jacobi, false, true});
    all.push_back({"cuBLAS gemv", peers::cublas_descent_gemv, true, true});
    all.push_back({"cuBLAS symv", peers::cublas_descent_symv, true, true});
    return all;
}

/// One system of n unknowns in device memory.
struct System {
    rungs::DeviceBuffer<float> a, b, x;
    rungs::DeviceBuffer<double> history;
    rungs::DeviceBuffer<int> outcome;
    int n;

    System(int size, int limit)
        : a(std::size_t(size) * size), b(size), x(size), history(limit + 1), outcome(2), n(size) {
        make_kernel<<<2048, 256>>>(a.data(), b.data(), n);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaDeviceSynchronize());
    }
    void solve(const Contestant& one, int limit, cudaStream_t stream) {
        one.solve(a.data(), b.data(), x.data(), history.data(), outcome.data(), n, limit, 0, stream);
    }
    /// The iterate after 12 steps.
    std::vector<float> iterate(const Contestant& one) {
        x.fill_bytes(0xff);
        solve(one, 12, nullptr);
        return x.to_host();
    }
};

/// Checks and times all that are fast enough.
static void measure(std::vector<Contestant>& all, int n, int limit, bool quick) {
    System system(n, std::max(limit, 12));
    std::vector<float> right[2];
    for (const Contestant& one : all) {
        if (one.library && right[one.descends].empty()) right[one.descends] = system.iterate(one);
    }
    rungs::Race race, replays;
    for (Contestant& one : all) {
        if (one.expected * limit * n * n > slowest) continue;
        rungs::require_close(one.name, static_cast<std::size_t>(n), system.iterate(one), right[one.descends],
                             1e-4);
        const auto call = [&system, &one, limit](cudaStream_t stream) { system.solve(one, limit, stream); };
        const double once = race.enter(one.name, call, slowest);
        one.expected = once / limit / n / n;
        if (one.library && once <= slowest) replays.enter(one.name, call);
    }
    const rungs::TimingOptions options{.rounds = quick ? 7u : 15u, .calls = 1};
    const auto times = race.as_called(options);
    rungs::TimingOptions as_graph = options;
    as_graph.graph = true;
    const auto graphs = replays.as_called(as_graph);
    for (Contestant& one : all) {
        one.us = 1e3 * rungs::median_of(times, one.name) / limit;
        one.graph_us = 1e3 * rungs::median_of(graphs, one.name) / limit;
    }
}

static void row(std::size_t n, int limit, const std::vector<Contestant>& all, double roof, rungs::Csv& csv) {
    const double bytes = 4.0 * double(n) * double(n);
    std::printf("\nn = %zu, %d iterations; 4 n^2 bytes / roof = %.2f us, half of it %.2f us\n", n, limit,
                1e6 * bytes / roof, 5e5 * bytes / roof);
    std::printf("%-16s %10s %10s %12s %8s   %s\n", "", "us", "as graph", "full-A GB/s", "of floor",
                "libraries' time over this one's: as called (as graph)");
    for (const Contestant& one : all) {
        if (one.us == 0) {
            std::printf("%-16s %10s\n", one.name.c_str(), "-");
            continue;
        }
        const double floor = (one.name == "11_symmetric" ? 0.5 : 1) * 1e6 * bytes / roof;
        std::printf("%-16s %10.2f %10s %12.0f %6.0f %%  ", one.name.c_str(), one.us,
                    one.library ? std::to_string(one.graph_us).substr(0, 7).c_str() : "",
                    bytes / one.us / 1e3, 100 * floor / one.us);
        for (const Contestant& library : all) {
            if (one.library || !library.library || library.us == 0 || library.descends != one.descends)
                continue;
            std::printf("  %s %.2f (%.2f)", library.name.c_str() + 7, library.us / one.us,
                        library.graph_us / one.us);
        }
        std::printf("\n");
        csv.row(n, one.name, one.us, one.graph_us, bytes / one.us / 1e3);
    }
}

static void bench_all(rungs::BenchOptions& options, rungs::Csv& csv) {
    double roof = 0;
    {
        const rungs::DeviceBuffer<float> large(std::size_t{1} << 28);
        roof = rungs::read_bandwidth(large);
    }
    std::printf("memory: read %.0f GB/s (the roof below)\n%s", roof / 1e9, benchmark.explanation);
    std::vector<Contestant> all = contestants();
    for (const std::size_t n : options.sizes) {
        if (n > 200'000 || 4.2 * double(n) * double(n) > 0.9 * double(rungs::free_device_memory())) {
            std::printf("%zu is left out: the matrix does not fit\n", n);
            continue;
        }
        const int limit = n <= 4096 ? 200 : n <= 16384 ? 100 : 60;
        measure(all, static_cast<int>(n), limit, options.quick);
        row(n, limit, all, roof, csv);
    }
}

int main(int argc, char** argv) { return rungs::run_benchmark(argc, argv, benchmark, bench_all); }
