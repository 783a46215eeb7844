// What the contract of chapter 6 promises besides what all do. Each rung has its own tests, under its
// own tag: `[05_thomas]`.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numbers>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "btcs.cuh"
#include "ladder/promises.hpp"
#include "ladder/trial.hpp"
#include "program/simulation.cuh"
#include "rungs/catch.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/temporary_folder.hpp"

namespace {

using btcs::Rung;
using btcs::Vector;
using rungs::DeviceBuffer;

// The promises. Each is a function of one rung; the table at the end makes a test of each pair.

void takes_no_rows_and_no_systems(const Rung& rung) {
    if (rung.march) {
        rung.march(nullptr, nullptr, nullptr, nullptr, nullptr, 0, 0, 1, rung.explicit_only ? 0 : 1, nullptr);
    } else if (rung.create) {
        rung.create(nullptr, nullptr, nullptr, nullptr, 0, 1, nullptr);
    } else if (rung.assemble) {
        rung.assemble(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0, nullptr);
    } else if (rung.scan) {
        rung.scan(nullptr, nullptr, 0, 0.5, nullptr);
    } else if (rung.batch) {
        rung.batch(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 5, 0, nullptr);
        DeviceBuffer<int> status(std::vector<int>(3, 77));
        rung.batch(nullptr, nullptr, nullptr, nullptr, nullptr, status.data(), 0, 3, nullptr);
        CHECK(status.to_host() == std::vector<int>(3, btcs::solved));
    } else {
        DeviceBuffer<long long> status(std::vector<long long>{77});
        rung.solve(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, status.data(), 0, nullptr);
        CHECK(status.to_host()[0] == btcs::solved);
    }
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

void refuses_what_the_contract_excludes(const Rung& rung) {
    float* const none = nullptr;
    if (rung.batch) {
        CHECK_THROWS_AS(rung.batch(none, none, none, none, none, nullptr, rung.most_rows + 1, 1, nullptr),
                        std::invalid_argument);
    }
    if (rung.march) {
        const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
        for (const auto& [r, theta] :
             {std::pair(-1.0, 1.0), {infinity, 1}, {nan, 1}, {1, -0.1}, {1, 1.1}, {1, nan}}) {
            CAPTURE(r, theta);
            CHECK_THROWS_AS(rung.march(none, none, none, none, none, 1, 1, r, theta, nullptr),
                            std::invalid_argument);
        }
    }
}

/// Marches sin(pi x) on 31 points up to t = 0.1. @returns the error of the time discretisation: distance from
/// what the differential equation of this grid's points would do.
double sine_error(const Rung& rung, int steps, double theta) {
    constexpr int n = 31;
    constexpr double end = 0.1, pi = std::numbers::pi;
    std::vector<float> sine(n);
    for (int i = 0; i < n; ++i)
        sine[static_cast<std::size_t>(i)] = static_cast<float>(std::sin(pi * (i + 1) / (n + 1)));
    const DeviceBuffer<float> start(sine),
        cold(std::vector<float>(static_cast<std::size_t>(steps) + 1, 0.0f));
    DeviceBuffer<float> u(n), work(n);
    rung.march(start.data(), cold.data(), cold.data(), u.data(), work.data(), n, steps,
               end / steps * (n + 1) * (n + 1), theta, nullptr);
    const double lambda = 4 * std::pow((n + 1) * std::sin(pi / 2 / (n + 1)), 2);
    const std::vector<float> got = u.to_host();
    double error = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
        error = std::max(error,
                         std::abs(got[i] - std::exp(-lambda * end) * std::sin(pi * double(i + 1) / (n + 1))));
    return error;
}

void has_the_order_of_its_scheme(const Rung& rung) {
    // Steps are halved as long as the error stays far above rounding, some 1e-6.
    for (int steps = 8; steps <= 32; steps *= 2) {
        CAPTURE(steps);
        CHECK(std::abs(std::log2(sine_error(rung, steps, 1) / sine_error(rung, 2 * steps, 1)) - 1) < 0.1);
    }
    for (int steps = 4; steps <= 8; steps *= 2) {
        CAPTURE(steps);
        CHECK(std::abs(std::log2(sine_error(rung, steps, 0.5) / sine_error(rung, 2 * steps, 0.5)) - 2) < 0.1);
    }
}

void keeps_the_heat_of_an_insulated_rod(const Rung& rung) {
    constexpr long long n = 500;
    const std::string problem = rungs::entries_of(rung.name).front().problem;
    rungs::Case which{problem, {n}, "insulated", 4};
    if (rung.batch) which.sizes.push_back(1);
    rungs::Trial trial(rung.name, which);
    trial.run();
    trial.require();
    double before = 0, after = 0;
    for (const float value : trial.task().inputs[3].as<float>()) before += value;
    for (const float value : trial.output<float>(0)) after += value;
    // Iterations stop with a residual of one sign; elimination's errors cancel.
    CHECK(std::abs(after - before) < n * 33.0 * btcs::tolerance);
}

void tells_when_there_is_no_solution(const Rung& rung) {
    rungs::Trial trial(rung.name, {rungs::entries_of(rung.name).front().problem, {2}, "singular", 1});
    trial.run();
    trial.require();
}

constexpr rungs::Promise<Rung> promises[] = {
    {takes_no_rows_and_no_systems, "takes no rows and no systems"},
    {refuses_what_the_contract_excludes, "refuses what the contract excludes",
     [](const Rung& rung) { return rung.batch || rung.march; }},
    {has_the_order_of_its_scheme, "has the order of its scheme",
     [](const Rung& rung) { return rung.march && !rung.explicit_only; }},
    {tells_when_there_is_no_solution, "tells when there is no solution",
     [](const Rung& rung) { return rung.solve != nullptr; }},
    {keeps_the_heat_of_an_insulated_rod, "keeps the heat of an insulated rod",
     [](const Rung& rung) { return rung.solve || rung.batch; }},
};

const bool registered = rungs::register_promises<btcs::rungs, promises>("06_btcs");

}  // namespace

TEST_CASE("11 asks a few tiles of a large system how far its rows reach", "[06_btcs][11_partitioned]") {
    // r = 1: a few rows; 100: some hundred; 10^5: further than a tile.
    const float r = GENERATE(1.0f, 100.0f, 1e5f);
    const long long n = (1LL << 22) + 5, weak = GENERATE(-1LL, 3000001LL);
    const auto size = static_cast<std::size_t>(n);
    std::vector<float> side(size, -r), middle(size, 1 + 2 * r), rhs(size);
    for (std::size_t i = 0; i < size; ++i)
        rhs[i] = static_cast<float>(static_cast<int>(i * 7919 % 1009) - 504);
    if (weak >= 0) middle[static_cast<std::size_t>(weak)] = r;
    const DeviceBuffer<float> beside(side), diagonal(middle), b(rhs);
    DeviceBuffer<float> x(size);
    DeviceBuffer<long long> status(1);
    btcs::partitioned(beside.data(), diagonal.data(), beside.data(), b.data(), nullptr, x.data(),
                      status.data(), n, nullptr);
    const std::vector<float> got = x.to_host();
    REQUIRE(status.to_host()[0] == (weak >= 0 ? weak : static_cast<long long>(btcs::solved)));
    double largest = 0, residual = 0;
    long long numbers = 0;
    for (std::size_t i = 0; i < size; ++i) {
        numbers += !std::isnan(got[i]);
        const double before = i > 0 ? got[i - 1] : 0, behind = i + 1 < size ? got[i + 1] : 0;
        largest = std::max(largest, std::abs(double(got[i])));
        residual = std::max(residual, std::abs(rhs[i] - double(middle[i]) * got[i] + r * (before + behind)));
    }
    REQUIRE(numbers == (weak >= 0 ? 0 : n));
    if (weak < 0) CHECK(residual <= btcs::tolerance * (1 + 4.0 * r) * largest);
}

// Each unknown is a sum of terms that, for one seed in a hundred, nearly cancel.
TEST_CASE("10 keeps its promise where rows have nothing to spare", "[06_btcs][10_hybrid_reduction]") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        rungs::Trial trial("10_hybrid_reduction", {"contiguous", {4100, 2}, "barely", seed});
        trial.run();
        trial.require();
    }
}

TEST_CASE("15 keeps its digits where a row is felt all over the rod", "[06_btcs][15_time_loop]") {
    const auto n = static_cast<std::size_t>(GENERATE(4096, 4097, 8192, 20000));  // a tile, and several
    const double r = GENERATE(1e6, 1e8, 1e12), theta = GENERATE(0.5, 1.0);
    CAPTURE(n, r, theta);
    constexpr int steps = 5;
    std::vector<float> start(n), left(steps + 1), right(steps + 1);
    for (std::size_t i = 0; i < n; ++i)
        start[i] = static_cast<float>(static_cast<int>(i * 7919 % 1009) - 504) / 504;
    for (std::size_t s = 0; s <= steps; ++s)
        left[s] = 1 - static_cast<float>(s) / 8, right[s] = static_cast<float>(s) / 4 - 1;
    const DeviceBuffer<float> from(start), at_left(left), at_right(right);
    DeviceBuffer<float> u(n), work(n);
    btcs::time_loop(from.data(), at_left.data(), at_right.data(), u.data(), work.data(),
                    static_cast<long long>(n), steps, r, theta, nullptr);
    const std::vector<float> got = u.to_host();
    const Vector expected = btcs::march({{n, steps, r, theta},
                                         {start.begin(), start.end()},
                                         {left.begin(), left.end()},
                                         {right.begin(), right.end()}})
                                .u;
    double off = 0;
    for (std::size_t i = 0; i < n; ++i) off = std::max(off, std::abs(got[i] - expected[i]));
    CHECK(off < 1e-5);
}

TEST_CASE("06 remembers on the chip or in memory, and is right with both", "[06_btcs][06_thomas_batched]") {
    struct Restore {
        ~Restore() { btcs::remember = btcs::Remember::where_it_pays; }
    } restore;
    btcs::remember = GENERATE(btcs::Remember::on_chip, btcs::Remember::in_memory);
    const auto [m, systems] = GENERATE(table<long long, long long>(
        {{0, 3}, {1, 33}, {2, 5}, {3, 97}, {15, 4}, {16, 4}, {17, 4}, {64, 100}, {513, 40}, {2048, 33}}));
    CAPTURE(m, systems);
    rungs::Trial trial("06_thomas_batched", {"interleaved", {m, systems}, m > 2 ? "mixed" : "dominant", 1});
    trial.run();
    trial.require();
}

namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

/// A file that is gone in the end.
struct Scratch {
    rungs::TemporaryFolder folder;
    fs::path path = folder / "rod.csv";

    /// The numbers of each line that begins with a digit.
    std::vector<std::vector<double>> rows() const {
        std::ifstream file(path);
        std::vector<std::vector<double>> all;
        for (std::string line; std::getline(file, line);) {
            if (line.empty() || line[0] < '0' || line[0] > '9') continue;
            std::istringstream cells(line);
            all.emplace_back();
            for (std::string cell; std::getline(cells, cell, ',');) all.back().push_back(std::stod(cell));
        }
        return all;
    }
};

btcs::Options asked(const Scratch& file) {
    btcs::Options options;
    options.n = 33, options.r = 0.4, options.steps = 5, options.every = 2;
    options.numbers = file.path.string();
    return options;
}

}  // namespace

TEST_CASE("the program writes a rod through time, with every solver", "[06_btcs][program]") {
    const Scratch file;
    btcs::Options options = asked(file);
    std::tie(options.solver, options.theta) = GENERATE(table<std::string, double>(
        {{"", 1}, {"01", 1}, {"04", 1}, {"11", 1}, {"12", 0.5}, {"14", 0}, {"15", 0.5}, {"15", 0}}));
    CAPTURE(options.solver, options.theta);
    btcs::simulate(options);
    const auto rows = file.rows();
    REQUIRE(rows.size() == 4);
    Vector hot(33, 0.0);
    std::fill(hot.begin() + 12, hot.begin() + 20, 1.0);
    std::size_t line = 0;
    for (const std::size_t steps : {0u, 2u, 4u, 5u}) {
        CAPTURE(steps);
        const Vector cold(steps + 1, 0.0);
        const Vector right = btcs::march({{33, steps, options.r, options.theta}, hot, cold, cold}).u;
        const std::vector<double>& row = rows[line++];
        REQUIRE(row.size() == 35);
        CHECK(row[0] == static_cast<double>(steps));
        CHECK(std::abs(row[1] - static_cast<double>(steps) * options.r / (34.0 * 34)) < 1e-6);
        for (std::size_t i = 0; i < 33; ++i) CHECK(std::abs(row[2 + i] - right[i]) < 1e-5);
    }
}

TEST_CASE("the program counts steps to a time, or says why it cannot", "[06_btcs][program]") {
    const Scratch file;
    btcs::Options options = asked(file);
    SECTION("steps to --t-end") {
        options.dt = 0.001, options.kappa = 0.5, options.t_end = 0.1;
        const btcs::Course course(options);
        CHECK(course.steps == 100);
        CHECK(course.dt == 0.001);
        CHECK(std::abs(course.r - 0.5 * 0.001 * 34 * 34) < 1e-12);
        options.dt = 0, options.r = 2, options.t_end = 1;
        CHECK(btcs::Course(options).steps == 289);
    }
    SECTION("no heat flows, and no time passes") {
        options.r = 0, options.t_end = 1;
        CHECK_THROWS_WITH(btcs::simulate(options), ContainsSubstring("--t-end needs a time step"));
    }
    SECTION("too many steps") {
        options.dt = 1e-9, options.t_end = 1;
        CHECK_THROWS_WITH(btcs::simulate(options), ContainsSubstring("steps away"));
    }
    SECTION("none") {
        options.dt = 1, options.t_end = 0.1;
        CHECK_THROWS_WITH(btcs::simulate(options), ContainsSubstring("half of the first step"));
    }
    CHECK(!fs::exists(file.path));
}

TEST_CASE("the program tells why a rung takes no steps, and writes nothing", "[06_btcs][program]") {
    const Scratch file;
    btcs::Options options = asked(file);
    SECTION("it is none that could") {
        options.solver = "13";
        CHECK_THROWS_AS(btcs::simulate(options), std::invalid_argument);
        options.solver = "06";
        CHECK_THROWS_WITH(btcs::simulate(options), ContainsSubstring("takes no time steps"));
    }
    SECTION("not with this scheme") {
        options.solver = "11", options.theta = 0.5;
        CHECK_THROWS_WITH(btcs::simulate(options), ContainsSubstring("--theta has to be 1"));
        options.solver = "14";
        CHECK_THROWS_WITH(btcs::simulate(options), ContainsSubstring("--theta has to be 0"));
    }
    SECTION("it does not converge") {
        options.solver = "01", options.r = 1e6, options.n = 200, options.steps = 1;
        CHECK_THROWS_WITH(btcs::simulate(options), ContainsSubstring("does not converge"));
    }
    SECTION("no rung of this name") {
        options.solver = "77";
        CHECK_THROWS_AS(btcs::simulate(options), std::invalid_argument);
    }
    CHECK(!fs::exists(file.path));
}

TEST_CASE("the program does not trust a rung that is not right", "[06_btcs][program]") {
    const Rung lazy{.name = "15_time_loop",
                    .march = [](const float*, const float*, const float*, float*, float*, long long, int,
                                double, double, cudaStream_t) {}};
    CHECK_FALSE(btcs::is_right(lazy));
    CHECK(btcs::is_right(btcs::rungs[0]));
    REQUIRE(btcs::creator());
    CHECK(std::string(btcs::creator()->name) == "02_create_tridiag");
}

TEST_CASE("a step that is refused is no result", "[06_btcs][program]") {
    const Rung refuses{.name = "11_partitioned",
                       .solve = [](const float*, const float*, const float*, const float*, const float*,
                                   float*, long long* status, long long, cudaStream_t) {
                           const long long row = 7;
                           CUDA_CHECK(cudaMemcpy(status, &row, sizeof row, cudaMemcpyHostToDevice));
                       }};
    btcs::SolvingStepper stepper(refuses, nullptr, Vector(33, 1.0), 0.4);
    CHECK_THROWS_WITH(stepper.take(1), ContainsSubstring("refuses row 7"));
    CHECK_THROWS_WITH(btcs::insulated_rod(refuses, nullptr, 33, 0.4, 1), ContainsSubstring("refuses row 7"));
}

TEST_CASE("the matrix that a rung makes is the host's", "[06_btcs][program]") {
    const Vector faces{0.5, 1, 2, 0.25, 4};
    const btcs::DeviceMatrix made(btcs::creator(), faces, 2), right(nullptr, faces, 2);
    CHECK(made.diagonal.to_host() == right.diagonal.to_host());
    const std::vector<float> lower = made.lower.to_host(), upper = made.upper.to_host();
    for (std::size_t i = 0; i + 1 < 4; ++i) {
        CHECK(lower[i + 1] == right.lower.to_host()[i + 1]);
        CHECK(upper[i] == right.upper.to_host()[i]);
    }
}

TEST_CASE("the program counts how many steps each scheme takes to an error", "[06_btcs][program]") {
    const Scratch file;
    btcs::Options options;
    options.race = file.path.string(), options.solver = GENERATE("", "15");
    btcs::race(options, rungs::ProgramDevice(), 31);
    const auto rows = file.rows();
    REQUIRE(rows.size() == 3);
    const std::size_t width = rows[0].size() / 3;  // 1 without times, 2 with
    for (const std::vector<double>& row : rows) {
        CHECK(row[1] == 205);                        // stability: 0.1 * 32^2 / 0.5
        CHECK(row[1 + 2 * width] < row[1 + width]);  // the second order takes fewer
        CHECK(row[1 + width] < row[1]);              // and the first fewer than stability asks for
    }
    CHECK(rows[2][1 + width] > 2 * rows[1][1 + width]);  // a third of the error: three times as many
    options.solver = "14";
    CHECK_THROWS_WITH(btcs::race(options, rungs::ProgramDevice(), 31), ContainsSubstring("any scheme"));
}

TEST_CASE("the program tells an order only where errors are above rounding", "[06_btcs][program]") {
    // Errors of 2, 4, 64, 128 and 512 steps, some of which a float's rounding hides.
    const rungs::Series line{
        "", {0.05, 0.025, 0.1 / 64, 0.1 / 128, 0.1 / 512}, {1e-2, 2.5e-3, 2e-5, 5.8e-6, 9e-7}};
    std::vector<std::string> orders;
    for (std::size_t k = 0; k < line.x.size(); ++k) orders.push_back(btcs::order_text(line, k));
    CHECK(orders == std::vector<std::string>{"-", "2.00", "6.97", "-", "-"});
    const rungs::Series exact{"", {0.05, 0.025}, {1e-2, 0}};
    CHECK(btcs::order_text(exact, 1) == "-");
}
