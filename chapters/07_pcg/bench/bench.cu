// The benchmark: every rung and the libraries side by side on this GPU, on a cube, each checked before it is
// timed. `--help` lists the options.

#include "rungs/bench.cuh"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/peers.cuh"
#include "exam/reference.hpp"
#include "grids.cuh"
#include "pcg.cuh"
#include "rungs/random.hpp"

static const rungs::Benchmark benchmark{
    "07",
    "points along an edge of the cube",
    "The cube has d = 3. An iteration: a whole solve of 200, over their number. Floor: 8 bytes per point\n"
    "for the operator, 20 for an iteration in float, at the speed of a copy; twice that in double.\n"
    "To 1e-10: a whole solve in double, at most as many iterations queued as it needs; what took longer\n"
    "than two seconds was timed once, all else of a table takes turns. The libraries' scalars are on the\n"
    "host, or (device) stay where they are. Random data; medians.\n",
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
    const auto enter_on = [&](const std::string& name, pcg::FloatApply* apply, const float* u, float* y) {
        CUDA_CHECK(cudaMemset(y, 0xff, cube.x.bytes()));
        apply(u, y, 3, side, nullptr);
        std::vector<float> got(cube.x.size());
        CUDA_CHECK(cudaMemcpy(got.data(), y, cube.x.bytes(), cudaMemcpyDefault));
        if (right.empty()) right = got;
        cube.compare(name, got, right);
        race.enter(name, [apply, u, y, side](cudaStream_t stream) { apply(u, y, 3, side, stream); });
    };
    const auto enter = [&](const std::string& name, pcg::FloatApply* apply) {
        enter_on(name, apply, cube.b.data(), cube.x.data());
    };
    enter("the course's, fixed", pcg::peers::course_laplace);
    enter("neighbours from a table", pcg::peers::table_laplace);
    rungs::DeviceBuffer<float> with_slot(cube.b.size() + 1);
    with_slot.fill_bytes(0);
    CUDA_CHECK(cudaMemcpy(with_slot.data(), cube.b.data(), cube.b.bytes(), cudaMemcpyDefault));
    enter_on("the same, boundary slot", pcg::peers::slot_laplace, with_slot.data(), cube.x.data());
    for (const pcg::Rung& rung : pcg::rungs) {
        if (rung.apply) enter(rung.name, rung.apply);
    }
    // Rung 02 on managed memory, which is on the device once it has been used there.
    float *managed_u = nullptr, *managed_y = nullptr;
    CUDA_CHECK(cudaMallocManaged(&managed_u, cube.b.bytes()));
    CUDA_CHECK(cudaMallocManaged(&managed_y, cube.b.bytes()));
    CUDA_CHECK(cudaMemcpy(managed_u, cube.b.data(), cube.b.bytes(), cudaMemcpyDefault));
    enter_on("02, managed memory", pcg::laplace_stencil, managed_u, managed_y);
    const double n = static_cast<double>(pcg::points(3, side));
    table("The operator, float", race.as_called(timing), 1, n, 8, roof, 0, "operator", csv, side);
    CUDA_CHECK(cudaFree(managed_u));
    CUDA_CHECK(cudaFree(managed_y));
}

/// The parts of a V-cycle, and the whole of it, which 14 makes its own way.
static void parts(int side, const rungs::TimingOptions& timing, rungs::Csv& csv) {
    const pcg::Grid grid{3, side};
    const std::size_t n = grid.points(), coarse_n = pcg::coarser(grid).points();
    const auto random = [](std::size_t count, std::uint64_t seed) {
        return rungs::random_field<float>(count, seed, rungs::signed_uniform);
    };
    const std::vector<float> host_r = random(n, 1), host_x = random(n, 2), host_coarse = random(coarse_n, 3);
    const rungs::DeviceBuffer<float> r(host_r), x(host_x), coarse(host_coarse);
    rungs::DeviceBuffer<float> y(n), below(coarse_n);
    const auto doubles = [](const std::vector<float>& v) { return pcg::Field(v.begin(), v.end()); };
    const auto require = [&](const std::string& name, const std::vector<float>& got,
                             const pcg::Field& right) {
        rungs::require_close(name, static_cast<std::size_t>(side), got,
                             std::vector<float>(right.begin(), right.end()), 1e-4);
    };
    rungs::Race race;
    const auto enter = [&](const std::string& name, const auto& call) {
        y.fill_bytes(0xff), below.fill_bytes(0xff);
        call(nullptr);
        race.enter(name, call);
    };
    enter("09_smoother", [&](cudaStream_t s) { pcg::smoother(r.data(), x.data(), y.data(), 3, side, 0, s); });
    require("09_smoother", y.to_host(), pcg::smoothed(grid, doubles(host_r), doubles(host_x), 0));
    enter("10_transfer, down", [&](cudaStream_t s) { pcg::transfer(r.data(), below.data(), 3, side, s); });
    require("10_transfer, down", below.to_host(), pcg::restricted(grid, doubles(host_r)));
    enter("10_transfer, up",
          [&](cudaStream_t s) { pcg::transfer(coarse.data(), x.data(), y.data(), 3, side, s); });
    pcg::Field up = pcg::prolonged(grid, doubles(host_coarse));
    for (std::size_t i = 0; i < n; ++i) up[i] += host_x[i];
    require("10_transfer, up", y.to_host(), up);
    // u.M u of the two cycles, which end on different grids, is nearly the same number.
    double first = 0;
    const auto cycle = [&](const std::string& name, pcg::Precondition* apply) {
        enter(name, [&, apply](cudaStream_t s) { apply(r.data(), y.data(), 3, side, 1, s); });
        const double product = pcg::dot(doubles(host_r), doubles(y.to_host()));
        if (first == 0) first = product;
        if (!(product > 0.5 * first && product < 2 * first))
            rungs::throw_wrong(name, static_cast<std::size_t>(side), "u.M u is " + std::to_string(product));
    };
    cycle("11_v_cycle", pcg::v_cycle);
    cycle("14_multigrid", pcg::multigrid);
    std::printf("\nThe parts of a V-cycle, and M alone, float\n%-26s %12s %10s\n", "", "us", "Gpoint/s");
    for (const rungs::Timing& time : race.as_called(timing)) {
        const double us = 1e3 * time.median();
        std::printf("%-26s %12.2f %10.1f\n", time.name.c_str(), us, static_cast<double>(n) / us / 1e3);
        csv.row(static_cast<std::size_t>(side), "part", time.name, us);
    }
}

template <class T>
static void iterations(int side, double roof, const rungs::TimingOptions& timing, rungs::Csv& csv) {
    constexpr int checked = 12, count = 200;
    constexpr double slowest = 1e5;  // ms: every one is timed in turn
    Cube<T> cube(side);
    rungs::Race race;
    std::vector<T> right;
    const auto enter = [&](const std::string& name, pcg::Solve<T>* solve) {
        cube.x.fill_bytes(0xff);
        cube.solve(solve, checked, 0, nullptr);
        const std::vector<T> got = cube.x.to_host();
        if (right.empty()) right = got;
        cube.compare(name, got, right);
        race.enter(
            name, [&cube, solve](cudaStream_t stream) { cube.solve(solve, count, 0, stream); }, slowest);
    };
    enter("cuSPARSE + cuBLAS", pcg::peers::library_cg);
    enter("cuSPARSE + cuBLAS, device", pcg::peers::library_cg_device);
    if constexpr (sizeof(T) == 4) enter("the course's, fixed", pcg::peers::course_cg);
    for (const pcg::Rung& rung : pcg::rungs) {
        if (std::string(rung.method) == "cg") enter(rung.name, rung.solve_of(T()));
    }
    const bool single = sizeof(T) == 4;
    const double n = static_cast<double>(pcg::points(3, side));
    rungs::TimingOptions few = timing;
    few.rounds = race.rounds(6000, 3, static_cast<double>(timing.rounds)), few.warm_up = 0;
    table(single ? "An iteration, float" : "An iteration, double", race.as_called(few), count, n,
          single ? 20 : 40, roof, 0, single ? "iteration_float" : "iteration_double", csv, side);
}

static void solves(int side, const rungs::TimingOptions& timing, rungs::Csv& csv) {
    constexpr double tolerance = 1e-10, slowest = 2000;  // ms
    Cube<double> cube(side);
    const pcg::Grid grid{3, side};
    const pcg::Field b = cube.b.to_host();
    const double whole = std::sqrt(pcg::dot(b, b));
    struct Entered {
        std::string name;
        int iterations;
        double once;
    };
    std::vector<Entered> all;
    rungs::Race race;
    std::printf("\nTo 1e-10, double\n%-26s %12s %12s\n", "", "ms", "iterations");
    const auto enter = [&](const std::string& name, pcg::DoubleSolve* solve) {
        cube.x.fill_bytes(0xff), cube.outcome.fill_bytes(0xff);
        cube.solve(solve, Cube<double>::limit, tolerance, nullptr);
        const std::vector<int> outcome = cube.outcome.to_host();
        const double residual = pcg::residual_norm(grid, b, cube.x.to_host()) / whole;
        if (outcome[0] != pcg::converged || !(residual <= 1.1 * tolerance)) {
            std::printf("%-26s not converged: outcome %d after %d iterations, residual %.2e\n", name.c_str(),
                        outcome[0], outcome[1], residual);
            return;
        }
        const int iterations = outcome[1];
        const auto call = [&cube, solve, iterations, tolerance](cudaStream_t stream) {
            cube.solve(solve, iterations, tolerance, stream);
        };
        all.push_back({name, iterations, race.enter(name, call, slowest)});
    };
    enter("cuSPARSE + cuBLAS", pcg::peers::library_cg);
    for (const pcg::Rung& rung : pcg::rungs) {
        if (rung.solve_double) enter(rung.name, rung.solve_double);
    }
    rungs::TimingOptions few = timing;
    few.rounds = race.rounds(3000, 3, static_cast<double>(timing.rounds)), few.warm_up = 0;
    const std::vector<rungs::Timing> times = race.as_called(few);
    for (const Entered& one : all) {
        const double raced = rungs::median_of(times, one.name), ms = raced > 0 ? raced : one.once;
        std::printf("%-26s %12.2f %12d%s\n", one.name.c_str(), ms, one.iterations,
                    raced > 0 ? "" : "  timed once");
        csv.row(static_cast<std::size_t>(side), "to_1e-10", one.name, 1e3 * ms);
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
        parts(static_cast<int>(side), timing, csv);
        solves(static_cast<int>(side), timing, csv);
    }
}

int main(int argc, char** argv) { return rungs::run_benchmark(argc, argv, benchmark, bench_all); }
