// Chapter 3's exam: which lattices a solver is tried on, how near it has to come, and what a wrong
// field looks like.

#include "rungs/exam.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "exam/diagnosis.hpp"
#include "exam/reference.hpp"
#include "rungs/compare.hpp"
#include "rungs/random.hpp"

namespace {

using jacobi::Lattice;
using jacobi::Reference;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// What a case asks for, decoded.
struct Problem {
    Lattice lattice;
    int most = 0;
    float eps = -1;
    std::vector<float> start;  ///< without pitch
};

class JacobiExam : public rungs::Exam {
  public:
    rungs::Task make(const rungs::Case& which) const override {
        const Problem problem = decode(which);
        const Lattice& lattice = problem.lattice;
        const std::vector<float> field = jacobi::with_pitch(problem.start, lattice.nx, lattice.ny, nan);
        // Between rows, and in the workspace, nothing needs to be written: outputs with content, NaN for
        // whoever reads before writing.
        const std::vector<float> unknown(field.size(), nan);
        return {
            {rungs::Array::of("start", field)},
            {rungs::Array::of("phi", unknown), rungs::Array::of("work", unknown),
             rungs::Array::unset<float>("norm", 1), rungs::Array::unset<int>("sweeps", 1)},
            {rungs::Number(static_cast<long long>(lattice.nx)),
             rungs::Number(static_cast<long long>(lattice.ny)), rungs::Number(static_cast<double>(lattice.q)),
             rungs::Number(static_cast<long long>(lattice.x0)),
             rungs::Number(static_cast<long long>(lattice.y0)),
             rungs::Number(static_cast<long long>(problem.most)),
             rungs::Number(static_cast<double>(problem.eps))}};
    }

    rungs::Check check(const rungs::Case& which, const rungs::Task& task,
                       std::span<const rungs::Array> outputs) const override {
        if (outputs.size() != 4 || outputs[2].as<float>().size() != 1 || outputs[3].as<int>().size() != 1) {
            throw std::invalid_argument(
                "a Jacobi solver leaves phi, work, one norm and one number of sweeps");
        }
        const Lattice lattice = lattice_of(task);
        const auto most = static_cast<int>(task.numbers[5].integer);
        const std::vector<float> start =
            jacobi::without_pitch(task.inputs[0].as<float>(), lattice.nx, lattice.ny);
        const double eps = task.numbers[6].real;
        Reference expected = jacobi::reference_solve(start, lattice, most, eps, jacobi::Norms::last);
        const jacobi::Outcome got{jacobi::without_pitch(outputs[0].as<float>(), lattice.nx, lattice.ny),
                                  outputs[2].as<float>()[0], outputs[3].as<int>()[0]};

        const jacobi::Diagnosis diagnosis(lattice, start, expected, eps);
        rungs::Check check;
        check.of = got.phi.size() + 2;
        check.measure = "largest |phi - expected| in units of the field's largest value";
        const double scale =
            std::max({expected.largest, std::abs(static_cast<double>(lattice.q)) / 4, 1e-30});
        check.tolerance = diagnosis.tolerance() / scale;
        check_field(lattice, got, expected, diagnosis.tolerance(), check);
        check.error /= scale;

        const bool same_sweeps = got.sweeps == static_cast<int>(expected.norms.size());
        const bool same_norm = diagnosis.is_norm(got.norm);
        if (!same_sweeps) count(check, 1, got.sweeps, static_cast<double>(expected.norms.size()));
        if (!same_norm) count(check, 0, got.norm, expected.norms.empty() ? 0 : expected.norms.back());
        check.passed = check.wrong == 0;
        if (check.passed && which.kind == "green") check_far_field(lattice, got, check);
        if (!check.passed && check.cause.empty()) {
            expected = jacobi::reference_solve(start, lattice, most, eps);  // all norms tell more
            check.cause = diagnosis.of(got);
            const bool unset =
                std::all_of(got.phi.begin(), got.phi.end(), [](float value) { return std::isnan(value); });
            if (unset && most > 1)
                check.unwritten =
                    "does every sweep or pass run, and do the two buffers change places after each?";
        }
        return check;
    }

    std::vector<std::string> size_names(const rungs::Case& /*which*/) const override {
        return {"nx", "ny", "sweeps"};
    }

    std::vector<std::size_t> extents(const rungs::Case& /*which*/) const override { return {0, 1}; }

    rungs::Work work(const rungs::Case& which) const override {
        const auto [nx, ny, most] = sizes_of(which);
        const double sites = static_cast<double>(nx) * ny;
        // A sweep reads and writes every point, adds and scales four values, and adds up the square
        // of a difference.
        return {2 * sizeof(float) * sites * most, 7 * sites * most, 2 * sizeof(float) * sites};
    }

  private:
    struct Sizes {
        int nx, ny, most;
    };

    static Sizes sizes_of(const rungs::Case& which) {
        if (which.problem != "solve" && which.problem != "wide") {
            throw std::invalid_argument("chapter 3 has the problems solve and wide, not '" + which.problem +
                                        "'");
        }
        if (which.sizes.size() != 3 ||
            std::any_of(which.sizes.begin(), which.sizes.end(),
                        [](long long size) { return size < 0 || size > 1 << 30; })) {
            throw std::invalid_argument("a Jacobi case has three sizes: nx, ny and the most sweeps");
        }
        return {static_cast<int>(which.sizes[0]), static_cast<int>(which.sizes[1]),
                static_cast<int>(which.sizes[2])};
    }

    static Lattice lattice_of(const rungs::Task& task) {
        const auto whole = [&](std::size_t i) { return static_cast<int>(task.numbers[i].integer); };
        return {whole(0), whole(1), static_cast<float>(task.numbers[2].real), whole(3), whole(4)};
    }

    /// A number below `bound` that depends on the case's seed and `index` alone.
    static int draw(const rungs::Case& which, std::uint64_t index, int bound) {
        return bound > 0
                   ? static_cast<int>(rungs::random_word(~which.seed, index) % static_cast<unsigned>(bound))
                   : 0;
    }

    static Problem decode(const rungs::Case& which) {
        const auto [nx, ny, most] = sizes_of(which);
        Problem problem{{nx, ny, 0, 0, 0}, most, -1, {}};
        Lattice& lattice = problem.lattice;
        const std::size_t sites = static_cast<std::size_t>(nx) * static_cast<std::size_t>(ny);
        const std::string& kind = which.kind;

        if (kind == "hot_top" || kind == "hot_until_small") {
            problem.start.assign(sites, 0.0f);
            std::fill(problem.start.end() - (ny > 0 ? nx : 0), problem.start.end(), 1.0f);
        } else if (kind == "flat") {
            problem.start.assign(sites, 0.75f);
            problem.eps = 0;  // the first update is nothing at all, and that is small enough
        } else if (kind == "green") {
            lattice.q = 1;
            lattice.x0 = nx / 2, lattice.y0 = ny / 2;
            for (int y = 0; y < ny; ++y) {
                for (int x = 0; x < nx; ++x) {
                    const double r = std::hypot(x - lattice.x0, y - lattice.y0);
                    problem.start.push_back(r == 0 ? 0.0f : static_cast<float>(jacobi::green(r)));
                }
            }
        } else {
            problem.start = rungs::random_field(sites, which.seed, rungs::signed_uniform);
            if (kind == "charge" || kind == "until_small" || is_extreme(kind)) {
                place_charge(which, lattice);
                if (is_extreme(kind)) {  // a power of two changes no digit of any value
                    const float unit = kind == "tiny" ? 0x1p-50f : 0x1p49f;
                    for (float& value : problem.start) value *= unit;
                    lattice.q *= unit;
                }
            } else if (kind == "charge_outside") {
                place_charge(which, lattice);
                const int places[][2] = {{0, ny / 2}, {nx - 1, ny / 2}, {nx / 2, 0},  {nx / 2, ny - 1},
                                         {-1, 0},     {nx, ny / 2},     {nx / 2, ny}, {2 * nx + 40, -3}};
                const auto& place = places[draw(which, 3, 8)];
                lattice.x0 = place[0], lattice.y0 = place[1];
            } else if (kind == "nan") {
                if (sites > 0)
                    problem.start[static_cast<std::size_t>(draw(which, 4, static_cast<int>(sites)))] = nan;
                problem.eps = 1e30f;  // nothing is small beside NaN, whatever eps
            } else if (kind != "random") {
                throw std::invalid_argument("chapter 3 has no data of kind '" + kind +
                                            "'; it has random, hot_top, hot_until_small, charge, "
                                            "charge_outside, until_small, tiny, huge, flat, nan, green");
            }
        }
        if (kind == "until_small" || kind == "hot_until_small" || is_extreme(kind))
            problem.eps = reachable_eps(which, problem);
        return problem;
    }

    /// At one end of the range that the contract promises.
    static bool is_extreme(const std::string& kind) { return kind == "tiny" || kind == "huge"; }

    /// A charge of size 1 to 2 of either sign on an inner point, often beside the boundary.
    static void place_charge(const rungs::Case& which, Lattice& lattice) {
        lattice.q =
            (draw(which, 0, 2) ? 1.0f : -1.0f) * (1 + rungs::random_at(5, which.seed, rungs::Uniform{}));
        const auto inner = [&](int n, std::uint64_t index) {
            const int place = draw(which, index, std::max(n - 2, 0));
            return place % 5 == 0 ? 1 : place + 1;
        };
        lattice.x0 = inner(lattice.nx, 1);
        lattice.y0 = inner(lattice.ny, 2);
    }

    /// An `eps` that the norm passes in a sweep before `most`, drawn at random, and by so much that no
    /// rounding makes it another sweep.
    static float reachable_eps(const rungs::Case& which, const Problem& problem) {
        const Reference all = jacobi::reference_solve(problem.start, problem.lattice, problem.most, -1);
        for (int sweep = draw(which, 6, problem.most); sweep > 0; --sweep) {
            const double before = all.norms[static_cast<std::size_t>(sweep - 1)];
            const double after = all.norms[static_cast<std::size_t>(sweep)];
            const double middle = std::sqrt(before * after);
            const double doubt = 3 * jacobi::norm_bound(problem.lattice, all.largest, before);
            if (before - middle > doubt && middle - after > doubt) return static_cast<float>(middle);
        }
        return all.norms.empty() ? 0 : static_cast<float>(2 * all.norms.front());
    }

    /// Compares phi, in the numbering that it has in memory.
    static void check_field(const Lattice& lattice, const jacobi::Outcome& got, const Reference& expected,
                            double tolerance, rungs::Check& check) {
        const auto width = static_cast<std::size_t>(lattice.nx);
        for (std::size_t i = 0; i < got.phi.size(); ++i) {
            const double value = got.phi[i], right = expected.phi[i];
            const double error = std::isnan(value) && std::isnan(right) ? 0 : std::abs(value - right);
            if (!(error <= check.error) && !std::isnan(check.error)) check.error = error;
            if (error <= tolerance) continue;
            ++check.wrong;
            if (check.first.size() < 5) {
                check.first.push_back({i / width * lattice.pitch() + i % width, value, right,
                                       rungs::ulp_distance(got.phi[i], static_cast<float>(right))});
            }
        }
    }

    /// One more wrong number, behind the field. A table of points that are wrong has no column to name it in.
    static void count(rungs::Check& check, std::size_t index, double got, double expected) {
        ++check.wrong;
        if (!(check.error <= check.tolerance)) return;  // NaN, too
        check.first.push_back({index, got, expected,
                               rungs::ulp_distance(static_cast<float>(got), static_cast<float>(expected))});
    }

    /// The potential four points and more from the charge against that of an endless lattice, which owes
    /// nothing to the oracle. What the formula leaves out is at most q / (24 pi r^2), to leading order.
    static void check_far_field(const Lattice& lattice, const jacobi::Outcome& got, rungs::Check& check) {
        for (int y = 0; y < lattice.ny; ++y) {
            for (int x = 0; x < lattice.nx; ++x) {
                const double r = std::hypot(x - lattice.x0, y - lattice.y0);
                if (r < 4) continue;
                const auto i = static_cast<std::size_t>(x) +
                               static_cast<std::size_t>(lattice.nx) * static_cast<std::size_t>(y);
                if (std::abs(got.phi[i] - jacobi::green(r)) <= 0.03 / (r * r)) continue;
                if (check.wrong++ == 0) {
                    check.first.push_back(
                        {lattice.at(x, y), got.phi[i], jacobi::green(r), rungs::ulp_undefined});
                }
            }
        }
        check.passed = check.wrong == 0;
        if (!check.passed) check.cause = "far from the charge this is not the potential of a point charge";
    }
};

}  // namespace

RUNGS_EXAM(JacobiExam)
