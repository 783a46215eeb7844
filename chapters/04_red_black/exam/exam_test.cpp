// The exam itself on trial: honest iterates in float and double must pass, each classic fault must fail, and
// the cause that a student reads must be the right one. No rung is called here.

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "exam/reference.hpp"
#include "ladder/chapter_exam.hpp"
#include "ladder/exam_trial.hpp"
#include "red_black.cuh"
#include "rungs/catch.hpp"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using red_black::Grid;
using red_black::Method;
using red_black::Run;

const std::unique_ptr<rungs::Exam> exam = rungs::make_chapter_exam();

/// A system as a rung sees it.
template <class T>
struct System {
    int n, iterations;
    double omega = 1;
    int sweeps = 1;
    std::vector<T> u, b;

    explicit System(const rungs::Task& task)
        : n(static_cast<int>(task.numbers[0].integer)),
          iterations(static_cast<int>(task.numbers[1].integer)) {
        u.assign(task.inputs[0].as<T>().begin(), task.inputs[0].as<T>().end());
        b.assign(task.inputs[1].as<T>().begin(), task.inputs[1].as<T>().end());
        if (task.numbers.size() > 2 && task.numbers[2].is_integer)
            sweeps = static_cast<int>(task.numbers[2].integer);
        if (task.numbers.size() > 2 && !task.numbers[2].is_integer) omega = task.numbers[2].real;
        if (omega == 0) omega = red_black::best_omega(n);
    }

    std::size_t index(int i, int j, int k) const {
        const auto size = static_cast<std::size_t>(n);
        return (static_cast<std::size_t>(i) * size + static_cast<std::size_t>(j)) * size +
               static_cast<std::size_t>(k);
    }
    bool in(int i, int j, int k) const { return std::min({i, j, k}) >= 0 && std::max({i, j, k}) < n; }
    T at(const std::vector<T>& from, int i, int j, int k) const {
        return in(i, j, k) ? from[index(i, j, k)] : T(0);
    }
    T around(const std::vector<T>& from, int i, int j, int k) const {
        return ((at(from, i - 1, j, k) + at(from, i + 1, j, k)) +
                (at(from, i, j - 1, k) + at(from, i, j + 1, k))) +
               (at(from, i, j, k - 1) + at(from, i, j, k + 1));
    }
    template <class Point>
    void each(const Point& point) const {
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                for (int k = 0; k < n; ++k) point(i, j, k);
            }
        }
    }
    /// Points of one colour, from `seen`.
    void half(const std::vector<T>& seen, int colour) {
        each([&](int i, int j, int k) {
            if ((i + j + k) % 2 != colour) return;
            const T there = (b[index(i, j, k)] + around(seen, i, j, k)) * T(1.0 / 6.0);
            T& point = u[index(i, j, k)];
            point = omega == 1 ? there : point + T(omega) * (there - point);
        });
    }
    void both() {
        for (int colour = 0; colour < 2; ++colour) half(u, colour);
    }
    double norm() const {
        double squares = 0;
        each([&](int i, int j, int k) {
            const T r = (b[index(i, j, k)] - T(6) * u[index(i, j, k)]) + around(u, i, j, k);
            squares += static_cast<double>(r) * r;
        });
        return std::sqrt(squares);
    }
};

/// Runs `iteration` as often as the case asks; `finish` may spoil the norms.
template <class T>
rungs::Check judge(const rungs::Case& which, const std::function<void(System<T>&, int)>& iteration,
                   const std::function<void(System<T>&, std::vector<double>&)>& finish = nullptr) {
    const rungs::Task task = exam->make(which);
    System<T> system(task);
    std::vector<double> norms;
    for (int t = 0; t < system.iterations; ++t) {
        iteration(system, t);
        norms.push_back(system.norm());
    }
    if (finish) finish(system, norms);
    const std::vector<rungs::Array> outputs{
        rungs::Array::of("u", system.u), rungs::Array::of("norms", norms),
        rungs::Array::of("work", std::vector<T>(red_black::work_size(system.n)))};
    return exam->check(which, task, outputs);
}

rungs::Case random_case(const char* problem, long long n, long long iterations, std::uint64_t seed = 1) {
    return {problem, {n, iterations}, "random", seed};
}

template <class T>
void honest(System<T>& system, const std::string& problem) {
    if (problem.rfind("jacobi", 0) == 0) {
        const std::vector<T> seen = system.u;
        for (int colour = 0; colour < 2; ++colour) system.half(seen, colour);
    } else {
        system.both();
    }
}

}  // namespace

TEST_CASE("the oracle solves what can be solved by hand", "[exam][oracle]") {
    // One point: 6 u = b, after one iteration and all later ones.
    const Run run{Method::red_black, 1, 2};
    const red_black::History one = red_black::history({5.0}, {12.0}, run);
    CHECK(one.u == Grid{2.0});
    CHECK(one.norms == std::vector<double>{0.0, 0.0});
    // Two points along each edge, b = 3 everywhere: u = 1, as each point has three neighbours.
    const red_black::History two = red_black::history(Grid(8, 0.0), Grid(8, 3.0), {Method::red_black, 2, 60});
    for (const double value : two.u) CHECK(std::abs(value - 1) < 1e-14);
}

TEST_CASE("theory and oracle agree on convergence", "[exam][oracle]") {
    for (const int n : {3, 8, 15}) {
        for (const Method method : {Method::jacobi, Method::red_black, Method::sor}) {
            const Run run{method, n, 10};
            const Grid mode = red_black::slowest_mode(run), none(mode.size(), 0.0);
            const red_black::History history = red_black::history(mode, none, run);
            const double factor = red_black::convergence_factor(run);
            double norm = red_black::residual_norm(mode, none, n);
            for (const double next : history.norms) {
                CHECK(std::abs(next / norm - factor) < 1e-10);
                norm = next;
            }
        }
        CHECK(red_black::convergence_factor({Method::red_black, n, 1}) ==
              std::pow(red_black::convergence_factor({Method::jacobi, n, 1}), 2));
        CHECK(std::abs(red_black::convergence_factor({Method::sor, n, 1, 1.0}) -
                       red_black::convergence_factor({Method::red_black, n, 1})) < 1e-14);
    }
}

TEST_CASE("a tile is solved by many sweeps, and one tile is the whole cube", "[exam][oracle]") {
    const Run tiles{Method::block, 8, 3, 0, 1}, whole{Method::red_black, 8, 3};
    const red_black::Manufactured made = red_black::manufactured(8);
    const Grid zero(made.b.size(), 0.0);
    CHECK(red_black::history(zero, made.b, tiles).u == red_black::history(zero, made.b, whole).u);
}

TEST_CASE("tasks have the arrays that the contract says", "[exam][cases]") {
    const rungs::Manifest manifest = rungs::read_manifest(RUNGS_CHAPTER_FOLDER);
    for (const rungs::RungEntry& rung : manifest.rungs) {
        for (const rungs::Case& which : manifest.cases_of(rung, rungs::Backend::cpu, 1)) {
            CAPTURE(which.problem, which.sizes, which.kind, which.seed);
            const rungs::Task task = exam->make(which);
            REQUIRE(task.inputs.size() == 2);
            REQUIRE(task.outputs.size() == 3);
        }
    }
}

TEST_CASE("the exam refuses what it does not know", "[exam][cases]") {
    CHECK_THROWS_WITH(exam->make({"multigrid", {4, 1}, "random"}), ContainsSubstring("multigrid"));
    CHECK_THROWS_WITH(exam->make({"sor", {4, 1}, "gaussian"}), ContainsSubstring("it has random"));
    CHECK_THROWS_AS(exam->make({"sor", {4}, "random"}), std::invalid_argument);
    CHECK_THROWS_AS(exam->make({"block", {4, 1}, "mode"}), std::invalid_argument);
}

TEST_CASE("honest iterates pass, and use a part of the tolerance that matters", "[exam][tolerance]") {
    rungs::Honest answers;
    for (const char* name : {"01_jacobi", "03_parity", "08_sor"}) {
        for (const rungs::Case& which : rungs::manifest_cases(3, name)) {
            if (which.sizes[0] > 35) continue;
            const rungs::Check check =
                which.problem.ends_with("_double")
                    ? judge<double>(which,
                                    [&](System<double>& system, int) { honest(system, which.problem); })
                    : judge<float>(which, [&](System<float>& system, int) { honest(system, which.problem); });
            answers.require(which, check);
        }
    }
    answers.require_room(0.5, 0.02);
}

TEST_CASE("norms have to hold at both ends of the contract's range", "[exam][tolerance]") {
    const auto with = [](const char* kind, const std::function<double(float)>& square) {
        return judge<float>(
            {"red_black", {12, 3}, kind, 1}, [](System<float>& s, int) { s.both(); },
            [&](System<float>& s, std::vector<double>& norms) {
                double squares = 0;
                s.each([&](int i, int j, int k) {
                    const std::size_t c = s.index(i, j, k);
                    squares += square((s.b[c] - 6 * s.u[c]) + s.around(s.u, i, j, k));
                });
                norms.back() = std::sqrt(squares);
            });
    };
    const auto in_float = [](float r) { return r * r; };
    // What is no longer than one rounding of 1 counts for nothing; squares of values 4^16 times too large.
    const auto coarse = [](float r) { return std::abs(r) < 0x1p-24f ? 0 : r * r; };
    const auto scaled = [](float r) {
        const float large = r * 0x1p32f;
        return static_cast<double>(large * large) * 0x1p-64;
    };
    CHECK(with("tiny", in_float).passed);
    CHECK(with("huge", in_float).passed);
    CHECK(with("random", coarse).passed);
    CHECK(with("random", scaled).passed);
    rungs::require_cause(with("tiny", coarse), "small residual taken for zero");
    rungs::require_cause(with("huge", scaled), "scaled before it is squared");
}

TEST_CASE("NaN reaches what updates carry it to, and nothing else", "[exam][diagnosis]") {
    const rungs::Case which{"red_black", {12, 2}, "nan", 1};
    CHECK(judge<float>(which, [](System<float>& s, int) { s.both(); }).passed);
    rungs::require_cause(judge<float>(which,
                                      [](System<float>& s, int) {
                                          s.both();
                                          s.u.front() = std::numeric_limits<float>::quiet_NaN();
                                      }),
                         "A NaN times 0 is NaN");
    CHECK_FALSE(judge<float>(which, [](System<float>& s, int) {
                    s.both();
                    for (float& value : s.u) value = std::isnan(value) ? 0 : value;
                }).passed);
}

TEST_CASE("the causes of wrong iterates are named", "[exam][diagnosis]") {
    using Iteration = std::function<void(System<float>&, int)>;
    struct Fault {
        const char* name;
        const char* problem;
        Iteration iteration;
        const char* cause;
    };
    const auto in_tiles = [](System<float>& s, bool all_new) {
        // A tile of 8 x 8 x 32, its halo taken as 0, or from the new values of the other tiles.
        const std::vector<float> old = s.u;
        for (int half = 0; half < 2 * s.sweeps; ++half) {
            s.each([&](int i, int j, int k) {
                if ((i + j + k) % 2 != half % 2) return;
                float sum = 0;
                const int to[6][3] = {{i - 1, j, k}, {i + 1, j, k}, {i, j - 1, k},
                                      {i, j + 1, k}, {i, j, k - 1}, {i, j, k + 1}};
                for (const auto& p : to) {
                    if (!s.in(p[0], p[1], p[2])) continue;
                    const bool same = p[0] / 8 == i / 8 && p[1] / 8 == j / 8 && p[2] / 32 == k / 32;
                    if (same || all_new) sum += s.u[s.index(p[0], p[1], p[2])];
                }
                s.u[s.index(i, j, k)] = (s.b[s.index(i, j, k)] + sum) / 6;
            });
        }
    };
    const Fault faults[] = {
        {"nothing done", "red_black", [](auto&, int) {}, "nothing was updated"},
        {"Jacobi", "red_black", [](auto& s, int) { honest(s, "jacobi"); }, "Jacobi's iterate"},
        {"black first", "red_black", [](auto& s, int) { s.half(s.u, 1), s.half(s.u, 0); },
         "black was updated before red"},
        {"only red", "red_black", [](auto& s, int) { s.half(s.u, 0); }, "only the red points"},
        {"last black missing", "red_black",
         [](auto& s, int t) {
             s.half(s.u, 0);
             if (t + 1 < s.iterations) s.half(s.u, 1);
         },
         "last black half-sweep"},
        {"one iteration short", "red_black",
         [](auto& s, int t) {
             if (t > 0) s.both();
         },
         "one iteration is missing"},
        {"one too many", "red_black",
         [](auto& s, int t) {
             if (t == 0) s.both();
             s.both();
         },
         "one iteration too many"},
        {"b forgotten", "red_black",
         [](auto& s, int) {
             s.b.assign(s.b.size(), 0.0f);
             s.both();
         },
         "b was not used"},
        {"same colour read: a race", "red_black",
         [](auto& s, int t) {
             // One black point is updated with the others still red from before: what a
             // missing barrier gives.
             const std::vector<float> old = s.u;
             s.both();
             if (t + 1 < s.iterations) return;
             const int p = 2, q = 3;
             s.u[s.index(p, p, q)] = (s.b[s.index(p, p, q)] + s.around(s.u, p, p, q) -
                                      s.at(s.u, p, p, q + 1) + s.at(old, p, p, q + 1)) /
                                     6;
         },
         "(2, 2, 3), black, took its neighbour at k + 1 as it was before"},
        {"halo of a tile", "red_black",
         [](auto& s, int t) {
             s.both();
             if (t + 1 < s.iterations) return;
             s.u[s.index(1, 4, 4)] -= s.at(s.u, 1, 3, 4) / 6;
         },
         "took its neighbour at j - 1 as 0"},
        {"omega forgotten", "sor", [](auto& s, int) { s.omega = 1, s.both(); }, "omega was not used"},
        {"wrong omega", "sor", [](auto& s, int) { s.omega = red_black::best_omega(s.n), s.both(); },
         "iterate for omega"},
        {"tiles see new tiles", "block", [in_tiles](auto& s, int) { in_tiles(s, true); },
         "red-black over the whole cube"},
        {"1 / 6", "red_black", [](auto& s, int) { s.u.assign(s.u.size(), 0.0f); }, "In integers 1 / 6"},
        {"start forgotten", "red_black",
         [](auto& s, int t) {
             if (t == 0) s.u.assign(s.u.size(), 0.0f);
             s.both();
         },
         "was start copied"},
        {"a row left out", "red_black",
         [](auto& s, int) {
             for (int colour = 0; colour < 2; ++colour) {
                 const std::vector<float> before = s.u;
                 s.half(s.u, colour);
                 for (int i = 0; i < s.n; ++i) {
                     for (int k = 0; k < s.n; ++k)
                         s.u[s.index(i, s.n - 1, k)] = before[s.index(i, s.n - 1, k)];
                 }
             }
         },
         "points with j = n - 1 are never updated"},
        {"k + 1 twice", "red_black",
         [](auto& s, int) {
             for (int half = 0; half < 2; ++half) {
                 s.each([&](int i, int j, int k) {
                     if ((i + j + k) % 2 != half) return;
                     const float behind = s.at(s.u, i, j, k + 1);
                     const float sum = s.around(s.u, i, j, k) - s.at(s.u, i, j, k - 1) + (k > 0 ? behind : 0);
                     s.u[s.index(i, j, k)] = (s.b[s.index(i, j, k)] + sum) / 6;
                 });
             }
         },
         "at k - 1 is not read: in its place the one at k + 1 counts twice"},
        {"i - 1 forgotten", "red_black",
         [](auto& s, int) {
             for (int half = 0; half < 2; ++half) {
                 s.each([&](int i, int j, int k) {
                     if ((i + j + k) % 2 != half) return;
                     const float sum = s.around(s.u, i, j, k) - s.at(s.u, i - 1, j, k);
                     s.u[s.index(i, j, k)] = (s.b[s.index(i, j, k)] + sum) / 6;
                 });
             }
         },
         "the neighbour at i - 1 is missing"},
        {"half precision", "red_black",
         [](auto& s, int) {
             s.both();
             for (float& value : s.u) value = std::ldexp(std::nearbyint(std::ldexp(value, 10)), -10);
         },
         "shorter type"},
        {"not written", "red_black",
         [](auto& s, int) { s.both(), s.u[7] = std::numeric_limits<float>::quiet_NaN(); }, "NaN"},
    };
    for (const Fault& fault : faults) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            // A seed whose tiles do one sweep makes "new tiles" the whole cube's iterate.
            rungs::Case which =
                random_case(fault.problem, std::string(fault.problem) == "block" ? 17 : 6, 3, seed);
            if (std::string(fault.problem) == "block") {
                while (exam->make(which).numbers[2].integer != 1) ++which.seed;
            }
            const rungs::Check check = judge<float>(which, fault.iteration);
            CAPTURE(fault.name, which.seed, check.error, check.tolerance, check.cause);
            rungs::require_cause(check, fault.cause);
        }
    }
    // The slowest mode, whose iterates are all alike: what is hardly wrong looks like anything.
    for (const int n : {7, 15}) {
        const rungs::Check check = judge<float>({"sor", {n, 12}, "mode", 1}, [](auto& s, int) {
            s.omega = 2 / (1 + std::sin(std::acos(-1.0) / s.n));
            s.both();
        });
        rungs::require_cause(check, "that of h = 1 / n");
    }
    // A halo of zeros: no closed form knows it, but it has to fail.
    CHECK_FALSE(judge<float>(random_case("block", 17, 2), [&](auto& s, int) { in_tiles(s, false); }).passed);
}

TEST_CASE("the causes of wrong norms are named", "[exam][diagnosis]") {
    using Finish = std::function<void(System<float>&, std::vector<double>&)>;
    struct Fault {
        const char* name;
        Finish finish;
        const char* cause;
    };
    const auto all = [](double (*change)(double)) {
        return [change](auto&, std::vector<double>& norms) {
            for (double& norm : norms) norm = change(norm);
        };
    };
    const Fault faults[] = {
        {"squares", all([](double x) { return x * x; }), "squares of the norms"},
        {"shifted", [](auto&, auto& norms) { norms.pop_back(), norms.insert(norms.begin(), 0.0); },
         "iterate before"},
        {"shifted, and the last one added",
         [](auto&, auto& norms) {
             const double last = norms.back();
             norms.pop_back(), norms.insert(norms.begin(), 0.0);
             norms.back() = std::hypot(norms.back(), last);
         },
         "got two of them"},
        {"last missing", [](auto&, auto& norms) { norms.back() = 0; }, "last norm is missing"},
        {"the change", all([](double x) { return x / 6; }), "six times"},
        {"the change, but for the last pass",
         [](auto&, auto& norms) {
             for (std::size_t t = 0; t + 1 < norms.size(); ++t) norms[t] /= 6;
         },
         "six times"},
        {"one is zero", [](auto&, auto& norms) { norms[1] = 0; }, "norms[1] is 0: nothing was added"},
        {"mean", all([](double x) { return x / std::pow(9.0, 1.5); }), "root mean squares"},
        {"zero", all([](double) { return 0.0; }), "nothing was added"},
        {"counted twice", all([](double x) { return x * std::sqrt(2.0); }), "2 times too large"},
        {"points missing", all([](double x) { return 0.99 * x; }), "points are missing"},
        {"not cleared", all([](double x) { return x + 1; }),
         "set to 0 before it is added to, is every point counted once, and nothing outside the cube"},
        {"NaN", all([](double) { return std::numeric_limits<double>::quiet_NaN(); }), "too small"},
    };
    for (const Fault& fault : faults) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            const rungs::Check check = judge<float>(
                random_case("red_black", 9, 4, seed), [](auto& s, int) { s.both(); }, fault.finish);
            CAPTURE(fault.name, seed, check.error, check.tolerance, check.cause);
            rungs::require_cause(check, fault.cause);
        }
    }
}

TEST_CASE("a mode that shrinks too fast or too slowly fails", "[exam]") {
    // In double, so that an honest norm is near enough.
    const rungs::Case which{"red_black_double", {15, 12}, "mode", 1};
    CHECK(judge<double>(which, [](auto& s, int) { s.both(); }).passed);
    CHECK_FALSE(judge<double>(which, [](auto& s, int) { honest(s, "jacobi"); }).passed);
    const rungs::Case relaxed{"sor_double", {15, 12}, "mode", 1};
    CHECK(judge<double>(relaxed, [](auto& s, int) { s.both(); }).passed);
    CHECK_FALSE(judge<double>(relaxed, [](auto& s, int) { s.omega = 1.5, s.both(); }).passed);
}
