// The benchmark: every rung and the libraries side by side on this GPU, on a cube, each checked before it is
// timed. `--help` lists the options.

#include "rungs/bench.cuh"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/peers.cuh"
#include "pcg.cuh"
#include "rungs/random.hpp"

static const rungs::Benchmark benchmark{
    "07",
    "points along an edge of the cube",
    "The cube has d = 3. An iteration: a whole solve of 200, over their number. Floor: 8 bytes a point for\n"
    "the operator, 20 for an iteration in float, at the speed of a copy; twice that in double. To 1e-10:\n"
    "a whole solve in double. The libraries' scalars are on the host, or (device) stay where they are.\n"
    "Random data; medians; all of a table take turns.\n",
    {64, 100, 128, 255, 256, 400},
    {64, 256},
    {"side", "what", "name", "us"}};

/// A random field on the device, and what solves leave.
template <class T>
struct Cube {
    int side;
    rungs::DeviceBuffer<T> b, x;
    rungs::DeviceBuffer<double> history;
    rungs::DeviceBuffer<int> outcome;

    static constexpr int limit = 4000;

    explicit Cube(int L)
        : side(L),
          b(rungs::random_field<T>(static_cast<std::size_t>(pcg::points(3, L)), 1, rungs::signed_uniform)),
          x(b.size()),
          history(limit + 1),
          outcome(2) {}

    void solve(pcg::Solve<T>* one, int iterations, double tolerance, cudaStream_t stream) {
        one(b.data(), x.data(), history.data(), outcome.data(), 3, side, iterations, tolerance, stream);
    }
    void compare(const std::string& name, const std::vector<T>& got, const std::vector<T>& right) const {
        rungs::require_close(name, static_cast<std::size_t>(side), got, right, sizeof(T) == 4 ? 1e-4 : 1e-11);
    }
};

/// Prints times in the order of the race, a point's bytes and how many times the first one is as slow.
static void table(const char* title, const std::vector<rungs::Timing>& times, double per, double points,
                  double bytes, double roof, std::size_t peer, const char* what, rungs::Csv& csv, int side) {
    std::printf("\n%s\n%-26s %12s %10s %9s %14s\n", title, "", "us", "Gpoint/s", "of floor", "peer's / this");
    for (const rungs::Timing& time : times) {
        const double us = 1e3 * time.median() / per;
        std::printf("%-26s %12.2f %10.1f %7.0f %% %14.2f\n", time.name.c_str(), us, points / us / 1e3,
                    100 * points * bytes / roof / (1e-6 * us), times[peer].median() / time.median());
        csv.row(static_cast<std::size_t>(side), what, time.name, us);
    }
}

static void operators(int side, double roof, const rungs::TimingOptions& timing, rungs::Csv& csv) {
    Cube<float> cube(side);
    rungs::Race race;
    std::vector<float> right;
    const auto enter = [&](const std::string& name, pcg::FloatApply* apply) {
        cube.x.fill_bytes(0xff);
        apply(cube.b.data(), cube.x.data(), 3, side, nullptr);
        const std::vector<float> got = cube.x.to_host();
        if (right.empty()) right = got;
        cube.compare(name, got, right);
        race.enter(name, [&cube, apply, side](cudaStream_t stream) {
            apply(cube.b.data(), cube.x.data(), 3, side, stream);
        });
    };
    enter("the course's, mended", pcg::peers::course_laplace);
    enter("neighbours from a table", pcg::peers::table_laplace);
    enter("the same, boundary slot", pcg::peers::slot_laplace);
    for (const pcg::Rung& rung : pcg::rungs) {
        if (rung.apply) enter(rung.name, rung.apply);
    }
    // Rung 02 on managed memory, which is on the device once it has been used there.
    float *managed_u = nullptr, *managed_y = nullptr;
    const std::size_t bytes = cube.b.size() * sizeof(float);
    CUDA_CHECK(cudaMallocManaged(&managed_u, bytes));
    CUDA_CHECK(cudaMallocManaged(&managed_y, bytes));
    CUDA_CHECK(cudaMemcpy(managed_u, cube.b.data(), bytes, cudaMemcpyDefault));
    race.enter("02, managed memory",
               [=](cudaStream_t stream) { pcg::laplace_stencil(managed_u, managed_y, 3, side, stream); });
    const double n = static_cast<double>(pcg::points(3, side));
    table("The operator, float", race.as_called(timing), 1, n, 8, roof, 0, "operator", csv, side);
    CUDA_CHECK(cudaFree(managed_u));
    CUDA_CHECK(cudaFree(managed_y));
}

template <class T>
static void iterations(int side, double roof, const rungs::TimingOptions& timing, rungs::Csv& csv) {
    constexpr int checked = 12, count = 200;
    Cube<T> cube(side);
    rungs::Race race;
    std::vector<T> right;
    const auto enter = [&](const std::string& name, pcg::Solve<T>* solve) {
        cube.x.fill_bytes(0xff);
        cube.solve(solve, checked, 0, nullptr);
        const std::vector<T> got = cube.x.to_host();
        if (right.empty()) right = got;
        cube.compare(name, got, right);
        race.enter(name, [&cube, solve](cudaStream_t stream) { cube.solve(solve, count, 0, stream); });
    };
    enter("cuSPARSE + cuBLAS", pcg::peers::library_cg);
    enter("cuSPARSE + cuBLAS, device", pcg::peers::library_cg_device);
    for (const pcg::Rung& rung : pcg::rungs) {
        if (std::string(rung.method) == "cg") enter(rung.name, rung.solve_of(T()));
    }
    const bool single = sizeof(T) == 4;
    const double n = static_cast<double>(pcg::points(3, side));
    table(single ? "An iteration, float" : "An iteration, double", race.as_called(timing), count, n,
          single ? 20 : 40, roof, 0, single ? "iteration_float" : "iteration_double", csv, side);
}

static void solves(int side, rungs::Csv& csv) {
    Cube<double> cube(side);
    std::printf("\nTo 1e-10, double\n%-26s %12s %12s\n", "", "ms", "iterations");
    for (const pcg::Rung& rung : pcg::rungs) {
        if (!rung.solve_double) continue;
        const auto call = [&](cudaStream_t stream) {
            cube.solve(rung.solve_double, Cube<double>::limit, 1e-10, stream);
        };
        const double ms = rungs::median_milliseconds(call, {.rounds = 3, .warm_up = 1, .calls = 1});
        const std::vector<int> outcome = cube.outcome.to_host();
        std::printf("%-26s %12.2f %12d%s\n", rung.name, ms, outcome[1],
                    outcome[0] == pcg::converged ? "" : "  not converged");
        csv.row(static_cast<std::size_t>(side), "to_1e-10", rung.name, 1e3 * ms);
    }
}

static void bench_all(rungs::BenchOptions& options, rungs::Csv& csv) {
    const double roof = rungs::print_copy_bandwidth(benchmark);
    const rungs::TimingOptions timing{.rounds = options.quick ? 5u : 11u, .calls = 1};
    for (const std::size_t side : options.sizes) {
        if (side > 700) {
            std::printf("%zu is left out: the libraries' matrix would have 2^31 entries\n", side);
            continue;
        }
        std::printf("\nside %zu\n", side);
        operators(static_cast<int>(side), roof, timing, csv);
        iterations<float>(static_cast<int>(side), roof, timing, csv);
        iterations<double>(static_cast<int>(side), roof, timing, csv);
        solves(static_cast<int>(side), csv);
    }
}

int main(int argc, char** argv) { return rungs::run_benchmark(argc, argv, benchmark, bench_all); }
