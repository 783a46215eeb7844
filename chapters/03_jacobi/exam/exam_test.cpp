// The exam itself on trial: honest solvers must pass, each classic fault must fail, and the cause that a
// student reads must be the right one. No rung is called here: a mutant is a few lines of C++ that leave what
// the faulty kernel would.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "exam/reference.hpp"
#include "jacobi.cuh"
#include "ladder/chapter_exam.hpp"
#include "ladder/exam_trial.hpp"
#include "rungs/catch.hpp"
#include "rungs/exam.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using jacobi::Lattice;

const std::unique_ptr<rungs::Exam> exam = rungs::make_chapter_exam();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// A float solver in plain C++, with a place for every fault.
struct Solver {
    using Field = std::vector<float>;

    /// The new value of a point: `old` is the whole field, x and y the point.
    std::function<float(const Field& old, const Lattice&, int x, int y)> site = honest_site;
    std::function<bool(const Lattice&, int x, int y)> skips = [](const Lattice&, int, int) { return false; };
    bool in_place = false;
    int look_every = 1;     ///< sweeps between two looks at the norm
    bool goes_back = true;  ///< to the exact sweep
    int extra = 0;          ///< sweeps more, or less, than the loop says
    float norm_factor = 1;
    bool squared_norm = false;
    std::function<double(float)> square = [](float update) { return static_cast<double>(update) * update; };

    static float honest_site(const Field& old, const Lattice& lattice, int x, int y) {
        const std::size_t i = lattice.at(x, y), row = lattice.pitch();
        return 0.25f * (old[i - row] + old[i - 1] + old[i + 1] + old[i + row] - lattice.charge(x, y));
    }

    struct Result {
        Field phi;
        float norm = 0;
        int sweeps = 0;
    };

    Result run(const Field& start, const Lattice& lattice, int most, float eps) const {
        Result result{start, 0, 0};
        const auto sweep = [&](Field& field) {
            Field next = field;
            double sum = 0;
            for (int y = 0; y < lattice.ny; ++y) {
                for (int x = 0; x < lattice.nx; ++x) {
                    if (lattice.fixed(x, y)) continue;
                    const std::size_t i = lattice.at(x, y);
                    const float old = field[i];
                    next[i] = skips(lattice, x, y) ? old : site(in_place ? next : field, lattice, x, y);
                    sum += square(next[i] - old);
                }
            }
            field = next;
            return std::sqrt(sum);
        };
        double norm = 0;
        Field before;
        int at = 0;
        while (result.sweeps < most + extra) {
            if (result.sweeps % look_every == 0) before = result.phi, at = result.sweeps;
            norm = sweep(result.phi);
            ++result.sweeps;
            const bool pass_ends = result.sweeps % look_every == 0 || result.sweeps == most + extra;
            if (!pass_ends || !(norm <= eps)) continue;  // NaN goes on
            if (look_every > 1 && goes_back) {
                result.phi = before, result.sweeps = at;
                do norm = sweep(result.phi), ++result.sweeps;
                while (!(norm <= eps));
            }
            break;
        }
        result.sweeps -= extra;
        result.norm = static_cast<float>((squared_norm ? norm * norm : norm) * norm_factor);
        return result;
    }
};

rungs::Check judge(const rungs::Case& which, const std::function<Solver::Result(Solver::Result)>& spoil,
                   const Solver& solver = {}) {
    const rungs::Task task = exam->make(which);
    const auto whole = [&](std::size_t i) { return static_cast<int>(task.numbers[i].integer); };
    const auto real = [&](std::size_t i) { return static_cast<float>(task.numbers[i].real); };
    const auto field = task.inputs[0].as<float>();
    const Lattice lattice{whole(0), whole(1), real(2), whole(3), whole(4)};
    const Solver::Result result = spoil(solver.run({field.begin(), field.end()}, lattice, whole(5), real(6)));
    return exam->check(
        which, task,
        std::vector<rungs::Array>{rungs::Array::of("phi", result.phi),
                                  rungs::Array::of("work", std::vector<float>(field.size(), not_a_number)),
                                  rungs::Array::of("norm", std::vector<float>{result.norm}),
                                  rungs::Array::of("sweeps", std::vector<int>{result.sweeps})});
}

rungs::Check judge(const rungs::Case& which, const Solver& solver) {
    return judge(
        which, [](Solver::Result result) { return result; }, solver);
}

rungs::Case make_case(std::vector<long long> sizes, const char* kind, std::uint64_t seed = 1) {
    return {"solve", std::move(sizes), kind, seed};
}

}  // namespace

TEST_CASE("honest solvers pass every case, with room to spare", "[exam][tolerance]") {
    Solver other_order;
    other_order.site = [](const auto& old, const Lattice& lattice, int x, int y) {
        const std::size_t i = lattice.at(x, y), row = lattice.pitch();
        return 0.25f * ((old[i - 1] + old[i + row]) + (old[i - row] + old[i + 1]) - lattice.charge(x, y));
    };
    Solver by_passes;
    by_passes.look_every = 16;
    rungs::Honest answers;
    for (std::uint64_t key = 1; key <= 2; ++key) {
        for (const rungs::Case& which : rungs::manifest_cases(key)) {
            for (const Solver& solver : {Solver{}, other_order, by_passes}) {
                answers.require(which, judge(which, solver));
            }
        }
    }
    answers.require_room(0.8, 0.02);
}

TEST_CASE("the cause of a wrong field is named", "[exam][diagnosis]") {
    struct Fault {
        const char* name;
        rungs::Case which;
        Solver solver;
        const char* cause;
    };
    const auto with = [](auto change) {
        Solver solver;
        change(solver);
        return solver;
    };
    const auto tile = make_case({257, 131, 3}, "charge");
    const auto small = make_case({37, 29, 4}, "charge");
    const auto until = make_case({67, 131, 18}, "until_small");
    const Fault faults[] = {
        {"one sweep too few", small, with([](Solver& s) { s.extra = -1; }), "after 3 sweeps, not after 4"},
        {"one sweep too many", small, with([](Solver& s) { s.extra = 1; }), "after 5 sweeps, not after 4"},
        {"stops at the end of a pass", until, with([](Solver& s) { s.look_every = 16, s.goes_back = false; }),
         "small already"},
        {"in place", small, with([](Solver& s) { s.in_place = true; }), "Gauss-Seidel"},
        {"no charge", small, with([](Solver& s) {
             s.site = [](const auto& old, Lattice lattice, int x, int y) {
                 lattice.q = 0;
                 return Solver::honest_site(old, lattice, x, y);
             };
         }),
         "without the charge"},
        {"charge of the other sign", small, with([](Solver& s) {
             s.site = [](const auto& old, Lattice lattice, int x, int y) {
                 lattice.q = -lattice.q;
                 return Solver::honest_site(old, lattice, x, y);
             };
         }),
         "wrong sign"},
        {"charge not divided", small, with([](Solver& s) {
             s.site = [](const auto& old, Lattice lattice, int x, int y) {
                 lattice.q *= 4;
                 return Solver::honest_site(old, lattice, x, y);
             };
         }),
         "counts 4 times"},
        {"half precision", small, with([](Solver& s) {
             s.site = [](const auto& old, const Lattice& lattice, int x, int y) {
                 return rungs::rounded(Solver::honest_site(old, lattice, x, y), 11);
             };
         }),
         "less exact than float"},
        {"halo not loaded", tile, with([](Solver& s) {
             s.site = [](const auto& old, const Lattice& lattice, int x, int y) {
                 const std::size_t i = lattice.at(x, y), row = lattice.pitch();
                 const float left = x % 128 == 0 ? 0.0f : old[i - 1],
                             right = x % 128 == 127 ? 0.0f : old[i + 1];
                 return 0.25f * (old[i - row] + left + right + old[i + row] - lattice.charge(x, y));
             };
         }),
         "columns beside multiples of 128"},
        {"wrong halo row", tile, with([](Solver& s) {
             s.site = [](const auto& old, const Lattice& lattice, int x, int y) {
                 const std::size_t i = lattice.at(x, y), row = lattice.pitch();
                 const float above = y % 32 == 0 ? old[i] : old[i - row];  // its own row is in the tile
                 return 0.25f * (above + old[i - 1] + old[i + 1] + old[i + row] - lattice.charge(x, y));
             };
         }),
         "rows beside multiples of"},
        {"last tile skipped", tile, with([](Solver& s) {
             s.skips = [](const Lattice& lattice, int x, int) { return x >= (lattice.nx - 1) / 96 * 96; };
         }),
         "last tile swept"},
        {"the row below is the one above", small, with([](Solver& s) {
             s.site = [](const auto& old, const Lattice& lattice, int x, int y) {
                 const std::size_t i = lattice.at(x, y), row = lattice.pitch();
                 return 0.25f * (2 * old[i - row] + old[i - 1] + old[i + 1] - lattice.charge(x, y));
             };
         }),
         "below, at (x, y + 1), is not read: in its place the one above, at (x, y - 1), counts twice"},
        {"the row above is the point's own", small, with([](Solver& s) {
             s.site = [](const auto& old, const Lattice& lattice, int x, int y) {
                 const std::size_t i = lattice.at(x, y), row = lattice.pitch();
                 return 0.25f * (old[i] + old[i - 1] + old[i + 1] + old[i + row] - lattice.charge(x, y));
             };
         }),
         "above, at (x, y - 1), is not read: in its place the point itself is"},
        {"a corner", small, with([](Solver& s) {
             s.site = [](const auto& old, const Lattice& lattice, int x, int y) {
                 const std::size_t i = lattice.at(x, y), row = lattice.pitch();
                 return 0.25f *
                        (old[i - row] + old[i - 1] + old[i + 1 - row] + old[i + row] - lattice.charge(x, y));
             };
         }),
         "at (x + 1, y), is not read: in its place the point at (x + 1, y - 1) is"},
        {"three neighbours", small, with([](Solver& s) {
             s.site = [](const auto& old, const Lattice& lattice, int x, int y) {
                 const std::size_t i = lattice.at(x, y), row = lattice.pitch();
                 return 0.25f * (old[i - row] + old[i + 1] + old[i + row] - lattice.charge(x, y));
             };
         }),
         "on the left, at (x - 1, y), is missing"},
        {"the last of the four behind", small, with([](Solver& s) {
             s.site = [](const auto& old, const Lattice& lattice, int x, int y) {
                 const std::size_t i = lattice.at(x, y), row = lattice.pitch();
                 const float right = x % 4 < 3 ? old[i + 1] : x + 4 < 40 ? old[i + 4] : 0;
                 return 0.25f * (old[i - row] + old[i - 1] + right + old[i + row] - lattice.charge(x, y));
             };
         }),
         "the last of the four behind is read instead of their first, .x"},
        {"1 / 4", small, with([](Solver& s) { s.site = [](auto&&...) { return 0.0f; }; }),
         "In integers 1 / 4"},
        {"norm of squares", small, with([](Solver& s) { s.squared_norm = true; }), "root is missing"},
        {"norm of the residual", small, with([](Solver& s) { s.norm_factor = 4; }), "4 times the update's"},
        {"norm counts overlaps", small, with([](Solver& s) { s.norm_factor = 1.3f; }), "counted twice"},
        {"norm of all threads", small, with([](Solver& s) { s.norm_factor = 16; }), "256 times too large"},
        {"norm misses warps", small, with([](Solver& s) { s.norm_factor = 0.5f; }),
         "every warp and every block"},
    };
    for (const Fault& fault : faults) {
        const rungs::Check check = judge(fault.which, fault.solver);
        CAPTURE(fault.name, check.cause, check.error, check.tolerance);
        CHECK(check.wrong > 0);
        rungs::require_cause(check, fault.cause);
    }
}

TEST_CASE("what a call leaves out is named", "[exam][diagnosis]") {
    const auto which = make_case({37, 29, 4}, "charge");
    const auto spoiled = [&](auto change) {
        return judge(which, [&](Solver::Result result) {
            change(result);
            return result;
        });
    };
    rungs::require_cause(spoiled([](auto& r) { std::fill(r.phi.begin(), r.phi.end(), not_a_number); }),
                         "boundary points are NaN");
    rungs::require_cause(spoiled([](auto& r) { r.phi[0] = 7; }), "boundary points have changed");
    rungs::require_cause(spoiled([](auto& r) { std::fill(r.phi.begin() + 14 * 64, r.phi.end(), 0.0f); }),
                         "from y = 14 on the boundary is 0");
    // Lanes own four points; those that a lost shuffle leaves out add nothing.
    const auto lanes = [&](std::size_t missing) {
        Solver solver;
        double squares = 0;
        solver.site = [&](const auto& old, const Lattice& lattice, int x, int y) {
            const float now = Solver::honest_site(old, lattice, x, y), update = now - old[lattice.at(x, y)];
            if (x == 1 && y == 1) squares = 0;
            if ((static_cast<std::size_t>(x) / 4 % 32 & missing) == 0)
                squares += static_cast<double>(update) * update;
            return now;
        };
        return judge(
            which,
            [&](Solver::Result result) {
                result.norm = static_cast<float>(std::sqrt(squares));
                return result;
            },
            solver);
    };
    CHECK(lanes(0).passed);
    rungs::require_cause(lanes(1), "the shuffle by 1 is missing");
    rungs::require_cause(lanes(8), "the shuffle by 8 is missing");
    rungs::require_cause(lanes(31), "lane 0 alone");
    rungs::require_cause(spoiled([](auto& r) { r.phi[64 + 5] = not_a_number; }),
                         "not finite, the first at x = 5, y = 1");
    rungs::require_cause(spoiled([](auto& r) { r.norm = not_a_number; }), "norm is NaN");
    // One NaN makes the error NaN, whatever comes behind it.
    CHECK(std::isnan(spoiled([](auto& r) { r.phi[64 + 5] = not_a_number; }).error));
    rungs::require_cause(spoiled([](auto& r) {
                             for (int x = 0; x < 37; ++x) r.phi[x] = r.phi[64 * 28 + x] = 7;
                             for (int y = 0; y < 29; ++y) r.phi[64 * y] = r.phi[64 * y + 36] = 7;
                         }),
                         "are they swept like the others");
    rungs::require_cause(spoiled([](auto& r) {
                             double squares = 0;
                             for (int y = 1; y < 28; ++y) {
                                 for (int x = 1; x < 36; ++x) squares += std::pow(r.phi[64 * y + x], 2);
                             }
                             r.norm = static_cast<float>(std::sqrt(squares));
                         }),
                         "norm is that of the values");
    rungs::require_cause(spoiled([](auto& r) {
                             const Solver::Field phi = r.phi;
                             for (std::size_t i = 0; i + 4 < phi.size(); ++i) r.phi[i] = phi[i + 4];
                         }),
                         "or is a tile shifted");
    rungs::require_cause(spoiled([](auto& r) { r.norm = 0; }), "anything added");
    // A pass of two sweeps, measured as a whole.
    rungs::require_cause(spoiled([&](auto& r) {
                             const auto norm_of = [&](int sweeps) {
                                 auto one = which;
                                 one.sizes[2] = sweeps;
                                 float norm = 0;
                                 judge(one, [&](Solver::Result result) {
                                     norm = result.norm;
                                     return result;
                                 });
                                 return norm;
                             };
                             r.norm = std::hypot(norm_of(3), norm_of(4));
                         }),
                         "norm has the squares of the last 2 sweeps");
    rungs::require_cause(spoiled([](auto& r) { r.sweeps = 5; }), "sweeps says 5 where 4 were done");
    rungs::require_cause(judge(which,
                               [&](Solver::Result r) {
                                   const auto start = exam->make(which).inputs[0];
                                   r.phi.assign(start.as<float>().begin(), start.as<float>().end());
                                   return r;
                               }),
                         "still the start");
}

TEST_CASE("every classic fault fails on the lattices of the manifest", "[exam][tolerance]") {
    // One wrong point in one sweep is enough, on any lattice that has inner points.
    for (const rungs::Case& which : rungs::manifest_cases(3)) {
        if (which.kind != "random" || std::min(which.sizes[0], which.sizes[1]) < 3) continue;
        Solver forgets;
        forgets.skips = [](const Lattice& lattice, int x, int y) {
            return x == lattice.nx / 2 && y == lattice.ny / 2;
        };
        CAPTURE(which.sizes);
        CHECK_FALSE(judge(which, forgets).passed);
    }
}

TEST_CASE("norms have to hold at both ends of the contract's range", "[exam][tolerance]") {
    const auto with = [](std::function<double(float)> square) {
        Solver solver;
        solver.square = std::move(square);
        return solver;
    };
    const rungs::Case tiny = make_case({41, 23, 60}, "tiny"), huge = make_case({41, 23, 60}, "huge");
    const Solver in_float = with([](float update) { return update * update; });
    CHECK(judge(tiny, in_float).passed);
    CHECK(judge(huge, in_float).passed);
    const Solver flushing = with([](float update) {
        return std::abs(update) < 0x1p-63f ? 0.0 : static_cast<double>(update) * update;
    });
    CHECK(judge(tiny, flushing).passed);
    // What is no longer than one rounding of 1 counts for nothing; squares of values 4^16 times too large.
    const Solver coarse =
        with([](float update) { return std::abs(update) < 0x1p-24f ? 0 : update * update; });
    const Solver scaled = with([](float update) {
        const float large = update * 0x1p32f;
        return static_cast<double>(large * large) * 0x1p-64;
    });
    CHECK(judge(make_case({41, 23, 60}, "until_small"), coarse).passed);
    CHECK(judge(make_case({41, 23, 60}, "until_small"), scaled).passed);
    rungs::require_cause(judge(tiny, coarse), "small update taken for zero");
    rungs::require_cause(judge(huge, scaled), "scaled before it is squared");
}

TEST_CASE("the oracle keeps the maximum principle and the symmetry of its problem", "[exam][oracle]") {
    const Lattice lattice{33, 21, 0, 0, 0};
    std::vector<float> start(33 * 21, 0.0f);
    std::fill(start.end() - 33, start.end(), 1.0f);
    const jacobi::Reference answer = jacobi::reference_solve(start, lattice, 500, -1);
    for (std::size_t i = 0; i < start.size(); ++i) {
        CHECK(answer.phi[i] >= 0);
        CHECK(answer.phi[i] <= 1);
        CHECK(std::abs(answer.phi[i] - answer.phi[i / 33 * 33 + 32 - i % 33]) < 1e-14);
    }
    CHECK(std::is_sorted(answer.norms.rbegin(), answer.norms.rend()));  // no norm exceeds the one before
}

TEST_CASE("the oracle converges with the spectral radius", "[exam][oracle]") {
    const int n = GENERATE(5, 9, 17);
    const Lattice lattice{n, n, 1, n / 2, n / 2};
    const std::vector<float> start(static_cast<std::size_t>(n * n), 0.0f);
    const jacobi::Reference answer = jacobi::reference_solve(start, lattice, 12 * n * n, 1e-9);
    const std::size_t last = answer.norms.size() - 1;
    // Two sweeps at a time: the wave with the opposite eigenvalue is as slow.
    const double factor = std::sqrt(answer.norms[last] / answer.norms[last - 2]);
    CHECK(std::abs(factor - jacobi::spectral_radius(n, n)) < 1e-6);
}

TEST_CASE("the oracle finds the potential of a lattice charge", "[exam][oracle]") {
    // With the asymptotic values on the boundary the iteration has to find, inside, the potential kernel of
    // the random walk, whose values near the origin are known: a(1, 0) = 1, a(1, 1) = 4 / pi, a(2, 0) = 4 - 8
    // / pi; here a quarter.
    constexpr int n = 41, middle = 20;
    const Lattice lattice{n, n, 1, middle, middle};
    std::vector<float> start;
    for (int y = 0; y < n; ++y) {
        for (int x = 0; x < n; ++x) {
            const double r = std::hypot(x - middle, y - middle);
            start.push_back(r == 0 ? 0.0f : static_cast<float>(jacobi::green(r)));
        }
    }
    const jacobi::Reference answer = jacobi::reference_solve(start, lattice, 20'000, 1e-12);
    const auto at = [&](int x, int y) {
        return answer.phi[static_cast<std::size_t>(middle + x + n * (middle + y))];
    };
    CHECK(std::abs(at(0, 0)) < 2e-5);
    CHECK(std::abs(at(1, 0) - 0.25) < 2e-5);
    CHECK(std::abs(at(1, 1) - 1 / std::numbers::pi) < 2e-5);
    CHECK(std::abs(at(0, 2) - (1 - 2 / std::numbers::pi)) < 2e-5);
}

TEST_CASE("tasks have the arrays that the contract says", "[exam][cases]") {
    for (const rungs::Case& which : rungs::manifest_cases(1)) {
        CAPTURE(which.sizes, which.kind);
        const rungs::Task task = exam->make(which);
        REQUIRE(task.inputs.size() == 1);
        REQUIRE(task.outputs.size() == 4);
        REQUIRE(task.inputs[0].count == jacobi::pitch_of(static_cast<int>(which.sizes[0])) *
                                            static_cast<std::size_t>(which.sizes[1]));
    }
}

TEST_CASE("an iteration that is to stop stops before its last sweep, at a clear distance", "[exam][cases]") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const rungs::Task task = exam->make(make_case({41, 23, 60}, "until_small", seed));
        CHECK(task.numbers[6].real > 0);
        const rungs::Check check = judge(make_case({41, 23, 60}, "until_small", seed), Solver{});
        CHECK(check.passed);
    }
}

TEST_CASE("the exam refuses what it does not know", "[exam][cases]") {
    CHECK_THROWS_WITH(exam->make({"sum", {10, 10, 1}, "random"}), ContainsSubstring("sum"));
    CHECK_THROWS_WITH(exam->make(make_case({10, 10, 1}, "gaussian")), ContainsSubstring("it has random"));
    CHECK_THROWS_AS(exam->make(make_case({10, 10}, "random")), std::invalid_argument);
    CHECK_THROWS_AS(exam->make(make_case({-1, 10, 1}, "random")), std::invalid_argument);
}

TEST_CASE("useful work is counted once", "[exam]") {
    const rungs::Work work = exam->work(make_case({100, 50, 10}, "random"));
    CHECK(work.bytes == 400'000);
    CHECK(work.flops == 350'000);
}
