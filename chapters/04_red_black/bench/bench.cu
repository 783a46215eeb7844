// The benchmark: every rung and the masked kernels side by side on this GPU, each checked before it is timed.
// `--help` lists the options.

#include "rungs/bench.cuh"

#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>

#include "bench/peers.cuh"
#include "bench/solution.cuh"
#include "program/shapes.cuh"
#include "red_black.cuh"
#include "rungs/random.hpp"

static const rungs::Benchmark benchmark{
    "04",
    "points along an edge",
    "ms: one call of 21 iterations with a norm after each, with copies between layouts and the pass for\n"
    "the last norm. us each: what a further iteration costs, from calls of 21 and 63. Gcell/s: 10^9\n"
    "points updated per second, by that. of floor: of one pass over memory that reads u and b and writes u,\n"
    "at the speed of a copy. Rung 10 moves less than that, and rung 11 does two iterations in a pass:\n"
    "both may exceed it. Medians; all take turns; random numbers in [-1, 1). After the last size: blocks\n"
    "of eight shapes, and the time to the solution. --csv FILE.csv also writes these two, as a lesson\n"
    "wants them, to FILE_shapes.csv and FILE_solution.csv.\n",
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
        expect(red_black::rungs[2]);  // rung 03, which is given
    }

    /// The others of its problem have to leave what this rung leaves.
    void expect(const red_black::Rung& rung) {
        run(rung, few, nullptr);
        right_.copy_from(u_);
        norm_ = norms_.to_host()[few - 1];
    }

    void run(const red_black::Rung& rung, int iterations, cudaStream_t stream) {
        const red_black::Tuning tuning{1.0, 2};  // omega 1: the iterates of red-black
        rung.of(T())(start_.data(), b_.data(), u_.data(), norms_.data(), work_.data(), n_, iterations, tuning,
                     stream);
    }

    /// @throws std::runtime_error when a rung leaves other iterates than the one that is expected
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

    /// Microseconds of one Jacobi sweep in such blocks.
    double shaped_us(dim3 block) {
        return 1e3 * red_black::shaped_milliseconds(b_.data(), start_.data(), u_.data(), n_, block,
                                                    {.rounds = 21, .calls = 1});
    }

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

/// Checks each rung against the first given one of its problem; tiles have none.
template <class T>
static void add_rungs(std::vector<Contestant>& all, System<T>& system, const char* type) {
    for (const red_black::Rung& rung : red_black::rungs) {
        const std::string problem = rung.problem, name = rung.name;
        if (name == "01_jacobi" || name == "03_parity") system.expect(rung);
        if (problem != "block") system.check(rung);  // with omega = 1, sor is red_black
        all.push_back({std::string(rung.name) + type,
                       [&](int iterations, cudaStream_t stream) { system.run(rung, iterations, stream); }});
    }
}

/// A table with its heading.
using Table = std::vector<std::vector<std::string>>;

/// A number as "%.{digits}g" prints it, followed by `behind`.
static std::string text(double value, int digits, const char* behind = "") {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.*g%s", digits, value, behind);
    return buffer;
}

/// Prints a table, and writes it as a lesson wants it, if --csv named a file.
static void show(const Table& table, const char* kind, const std::string& how,
                 const rungs::BenchOptions& options) {
    std::printf("\n%s\n", how.c_str());
    std::string cells;
    for (const std::vector<std::string>& row : table) {
        for (std::size_t c = 0; c < row.size(); ++c) {
            std::printf(c == 0 ? "%-24s" : " %22s", row[c].c_str());
            cells += row[c] + (c + 1 < row.size() ? "," : "\n");
        }
        std::printf("\n");
    }
    if (options.csv.empty()) return;
    char date[20];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    const std::filesystem::path file = options.csv;
    rungs::write_file(file.parent_path() / (file.stem().string() + "_" + kind + ".csv"),
                      "# machine: one " + rungs::machine_name() + "\n# date: " + date +
                          "\n# command: ./rungs bench 04\n# how: " + how + "\n" + cells);
}

/// The times of a Jacobi sweep in blocks of eight shapes.
static void bench_shapes(int n, System<float>& single, System<double>& twice,
                         const rungs::BenchOptions& options) {
    Table table{{"us"}, {"float"}, {"double"}};
    for (const dim3 block : red_black::shapes) {
        table[0].push_back(std::to_string(block.x) + " x " + std::to_string(block.y) + " x " +
                           std::to_string(block.z));
        table[1].push_back(text(single.shaped_us(block), 4));
        table[2].push_back(text(twice.shaped_us(block), 4));
    }
    show(table, "shapes",
         "One Jacobi sweep of a cube, n = " + std::to_string(n) +
             ", in blocks of k x j x i threads; measured.",
         options);
}

static constexpr double most_seconds = 2.5;  ///< of a solve that is run; longer ones are computed

/// Adds a column of iterations and one of times to the table; `us_each` are those of an iteration in double.
static void add_solution(Table& table, int n, const std::function<double(const red_black::Rung&)>& us_each) {
    if (table.empty()) table.push_back({"double"});
    table[0].push_back("iterations at n = " + std::to_string(n));
    table[0].push_back("seconds");
    red_black::Wave wave(n);
    std::size_t row = 0;
    for (const red_black::Rung& rung : red_black::rungs) {
        const std::string problem = rung.problem, name = rung.name;
        if (problem == "jacobi" ? name != "01_jacobi" : name < "07") continue;
        if (table.size() == ++row) table.push_back({name});
        const int expected = red_black::iterations_by_theory(problem, n);
        const double computed = 1e-6 * expected * us_each(rung);
        if (computed <= most_seconds) {
            const int iterations = wave.iterations(rung, expected);
            table[row].push_back(std::to_string(iterations));
            table[row].push_back(text(wave.seconds(rung, iterations), 3));
        } else if (problem == "block") {  // theory says nothing
            table[row].insert(table[row].end(), {"-", "-"});
        } else {
            table[row].push_back(std::to_string(expected) + " by theory");
            table[row].push_back(text(computed, 3, " computed"));
        }
    }
}

/// Times one size, prints its table, and adds to that of the time to the solution.
static void bench(int n, double copy, const rungs::BenchOptions& options, rungs::Csv& csv, Table& solution) {
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
    add_solution(solution, n, [&](const red_black::Rung& rung) {
        for (const Contestant& one : all) {
            if (one.name == std::string(rung.name) + " (double)")
                return 1e3 * (one.many - one.few) / (many - few);
        }
        return 0.0;
    });
    if (n == static_cast<int>(options.sizes.back())) bench_shapes(n, single, twice, options);
}

static void bench_all(rungs::BenchOptions& options, rungs::Csv& csv) {
    const double copy = rungs::print_copy_bandwidth(benchmark);
    Table solution;
    for (const std::size_t n : options.sizes) {
        if (n == 0 || n > 1024) throw std::invalid_argument("--sizes takes points along an edge, 1 to 1024");
        bench(static_cast<int>(n), copy, options, csv, solution);
    }
    show(solution, "solution",
         "From u = 0 until the error, the smoothest wave, is 1e-6 of what it was, in double. Measured, but "
         "where it says computed: iterations by theory times the measured time of one.",
         options);
}

int main(int argc, char** argv) { return rungs::run_benchmark(argc, argv, benchmark, bench_all); }
