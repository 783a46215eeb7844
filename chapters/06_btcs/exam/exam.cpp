// Chapter 6's exam: which systems and which rods the rungs are tried on, and how near to the truth they
// have to stay.

#include "rungs/exam.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>
#include <string_view>

#include "btcs.cuh"
#include "exam/assembly.hpp"
#include "exam/diagnosis.hpp"
#include "exam/reference.hpp"
#include "exam/systems.hpp"
#include "rungs/random.hpp"

namespace {

using btcs::Finding;
using btcs::Rod;
using btcs::System;
using btcs::Vector;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The value of x before a system that has to be refused: NaN would be found there in any case.
constexpr float stale = 0x1p100f;

struct MarchKind {
    const char* name;
    double theta;   ///< negative: random, from 0.1 up: with less, values may grow beyond a float's range
    double r;       ///< 0: one of several, by the seed; negative: no heat flows
    int scale = 0;  ///< values times 2^scale
};

constexpr MarchKind march_kinds[] = {
    {"btcs", 1, 0},
    {"crank_nicolson", 0.5, 0},
    {"theta", -1, 0},
    {"explicit", 0, 0.4375},
    {"unstable", 0, 0.75},  // grows by up to 2 a step
    {"stiff", 1, 1e4},      //
    {"stiff_crank_nicolson", 0.5, 1e4},
    {"still", 1, -1},  // r = 0
    {"still_explicit", 0, -1},
    {"ends_explicit", 0, 0.25},
    {"unaligned_explicit", 0, 0.375},
    {"ends", 0.5, 4},     // heat comes from the ends alone
    {"spike", 1, 2},      // and from one point
    {"sine_btcs", 1, 0},  // sin(pi x), cold ends, up to t = 0.1
    {"sine_crank_nicolson", 0.5, 0},
    {"huge", 1, 3, 100},
    {"tiny", 0.5, 3, -100},
    {"unaligned", 0.75, 5},
    {"nan", 1, 2},
};

/// The time up to which the sine marches.
constexpr double sine_end = 0.1;

bool is_sine(std::string_view kind) { return kind.substr(0, 4) == "sine"; }

class BtcsExam : public rungs::Exam {
  public:
    rungs::Task make(const rungs::Case& which) const override {
        const bool unaligned = which.kind == "unaligned" || which.kind == "unaligned_explicit";
        const std::size_t off = unaligned ? 1 + which.seed % 3 : 0;
        if (which.problem == "matrix") return btcs::make_matrix(which, off);
        if (which.problem == "elements") return btcs::make_assembly(which, off);
        if (which.problem == "recurrence") return btcs::make_recurrence(which, off);
        if (marches(which)) {
            const March march = make_march(which);
            // The workspace is not an answer, so it is an output with content: NaN, in case it is read first.
            const std::vector<float> nan(march.rod.n, std::numeric_limits<float>::quiet_NaN());
            return {{rungs::Array::of("start", march.start, off), rungs::Array::of("left", march.left, off),
                     rungs::Array::of("right", march.right, off)},
                    {rungs::Array::unset<float>("u", march.rod.n, off), rungs::Array::of("work", nan, off)},
                    {rungs::Number(static_cast<long long>(march.rod.n)),
                     rungs::Number(static_cast<long long>(march.rod.steps)), rungs::Number(march.rod.r),
                     rungs::Number(march.rod.theta)}};
        }
        const Batch batch = shape_of(which);
        const std::size_t m = batch.m, count = batch.count;
        std::vector<rungs::Array> arrays;
        std::vector<float> start;
        float* values[4];
        for (const char* name : {"lower", "diagonal", "upper", "rhs"}) {
            rungs::Array& array = arrays.emplace_back(rungs::Array::unset<float>(name, m * count, off));
            array.bytes.resize(m * count * sizeof(float));
            values[arrays.size() - 1] = reinterpret_cast<float*>(array.bytes.data());
        }
        bool refused = false;
        std::vector<System> systems;
        batch.each_group([&](std::size_t first, std::size_t last) {
            systems.clear();
            for (std::size_t s = first; s < last; ++s) {
                const System& system = systems.emplace_back(make_system(which, batch, s));
                refused =
                    refused || btcs::first_not_dominant(system.lower, system.diagonal, system.upper) < m;
            }
            for (std::size_t i = 0; i < m; ++i) {
                for (std::size_t s = first; s < last; ++s) {
                    const System& system = systems[s - first];
                    const std::size_t e = batch.at(i, s);
                    values[0][e] = system.lower[i], values[1][e] = system.diagonal[i];
                    values[2][e] = system.upper[i], values[3][e] = system.rhs[i];
                }
            }
        });
        if (!batch.many) {
            // A direct solver need not look at the start, and finds NaN there; a warm one is the solution.
            start.assign(m, which.problem == "solve" ? std::numeric_limits<float>::quiet_NaN() : 0);
            if (which.kind == "warm") {
                const Vector x = btcs::solve(systems[0].matrix(), systems[0].right());
                std::copy(x.begin(), x.end(), start.begin());
            }
        }
        rungs::Task task{std::move(arrays),
                         {refused ? rungs::Array::of("x", std::vector<float>(m * count, stale), off)
                                  : rungs::Array::unset<float>("x", m * count, off)},
                         {rungs::Number(static_cast<long long>(m))}};
        if (!batch.many) task.inputs.push_back(rungs::Array::of("start", start, off));
        if (batch.many) {
            task.outputs.push_back(rungs::Array::unset<int>("status", count));
            task.numbers.emplace_back(static_cast<long long>(count));
        } else {
            task.outputs.push_back(rungs::Array::unset<long long>("status", 1));
        }
        return task;
    }

    rungs::Check check(const rungs::Case& which, const rungs::Task& task,
                       std::span<const rungs::Array> outputs) const override {
        if (which.problem == "matrix") return btcs::check_matrix(which, outputs);
        if (which.problem == "elements") return btcs::check_assembly(which, outputs);
        if (which.problem == "recurrence") return btcs::check_recurrence(which, outputs);
        if (outputs.size() != 2) throw std::invalid_argument("a solver of chapter 6 leaves two arrays");
        return marches(which) ? check_march(which, outputs) : check_systems(which, task, outputs);
    }

    std::vector<std::string> size_names(const rungs::Case& which) const override {
        if (marches(which)) return {"points", "steps"};
        if (which.problem == "elements") return {"nodes"};
        if (which.problem == "recurrence") return {"elements"};
        return {"rows", "systems"};
    }

    std::vector<std::size_t> extents(const rungs::Case& which) const override {
        if (marches(which) || which.sizes.size() == 1) return {0};
        return {0, 1};
    }

    /// A system: three diagonals and a right-hand side read once, x written once; elimination takes eight
    /// operations a row. A march: values read and written once, whatever the steps; a step takes six
    /// operations a point.
    rungs::Work work(const rungs::Case& which) const override {
        const double rows = static_cast<double>(which.sizes.at(0));
        if (which.problem == "matrix") return {16 * rows, 5 * rows};
        if (which.problem == "elements") return {28 * rows, 12 * rows};
        if (which.problem == "recurrence") return {8 * rows, 2 * rows};
        if (marches(which)) return {8 * rows, 6 * rows * static_cast<double>(which.sizes.at(1))};
        const double all = rows * (which.sizes.size() == 2 ? static_cast<double>(which.sizes[1]) : 1);
        return {20 * all, 8 * all};
    }

  private:
    static bool marches(const rungs::Case& which) {
        return which.problem == "march" || which.problem == "gentle" || which.problem == "explicit";
    }

    // -----------------------------------------------------------------------------------------------------------
    // Systems

    /// One system, or many of one size.
    struct Batch {
        std::size_t m = 0, count = 1;
        bool many = false, interleaved = false;
        btcs::Method method = btcs::Method::elimination;
        std::size_t at(std::size_t row, std::size_t system) const {
            return interleaved ? row * count + system : system * m + row;
        }
        /// Calls visit(first, last) for systems that are best worked on together: those that lie side by side
        /// share cache lines, and each line would be gone before its next system wants it.
        template <class Visit>
        void each_group(const Visit& visit) const {
            constexpr std::size_t beside = 16;
            for (std::size_t first = 0; first < count; first += beside)
                visit(first, std::min(first + beside, count));
        }
    };

    static Batch shape_of(const rungs::Case& which) {
        const bool sweeps = which.problem == "sweeps", symmetric = which.problem == "symmetric",
                   level = which.problem == "semidefinite" && which.kind == "level";
        Batch batch;
        batch.interleaved = which.problem == "interleaved";
        const bool brief = which.problem == "short" || which.problem == "tied";  // a thread a row
        const bool contiguous = which.problem == "contiguous";
        batch.many = batch.interleaved || brief || contiguous;
        if (sweeps || symmetric) batch.method = btcs::Method::iteration;
        if (brief || contiguous) batch.method = btcs::Method::reduction;
        if (!batch.many && !sweeps && !symmetric && !level && which.problem != "solve") {
            throw std::invalid_argument(
                "chapter 6 has the problems matrix, elements, recurrence, sweeps, symmetric, semidefinite, "
                "solve, interleaved, contiguous, short, tied, gentle, explicit and march, not '" +
                which.problem + "'");
        }
        const bool right = which.sizes.size() == (batch.many ? 2u : 1u);
        if (!right || which.sizes[0] < 0 || which.sizes.back() < 0 ||
            (batch.many && which.sizes[0] > (brief ? btcs::most_short_rows : btcs::most_rows))) {
            throw std::invalid_argument(
                "a case of chapter 6 has the rows of a system and, of a batch, the number of systems");
        }
        const auto known = [&](const char* kind) { return which.kind == kind; };
        const bool mixed = batch.many && which.kind == "mixed";
        const bool warm = (sweeps || symmetric) && which.kind == "warm";
        if (!mixed && !warm && !level &&
            std::none_of(std::begin(btcs::system_kinds), std::end(btcs::system_kinds), known)) {
            throw std::invalid_argument("chapter 6 has no systems of kind '" + which.kind + "'");
        }
        const bool one_sided = which.kind == "one_sided" || which.kind == "from_behind";
        if (symmetric && (which.kind == "graded" || one_sided)) {
            throw std::invalid_argument("systems of kind '" + which.kind + "' are not symmetric");
        }
        batch.m = static_cast<std::size_t>(which.sizes[0]);
        if (batch.many) batch.count = static_cast<std::size_t>(which.sizes[1]);
        return batch;
    }

    static System make_system(const rungs::Case& which, const Batch& batch, std::size_t s) {
        const bool mixed = batch.many && which.kind == "mixed";
        constexpr std::size_t kinds = std::size(btcs::system_kinds);
        // Of a mixed batch every other system is an easy one: what is wrong beside it must not reach it.
        std::string_view kind = which.kind;
        if (mixed) kind = s % 2 ? btcs::system_kinds[(s / 2 + which.seed) % kinds] : "dominant";
        if (mixed && kind == "singular") kind = "rod";
        // Each x on its own: where nothing is left of the dominance, it is not as good.
        if (mixed && which.problem == "short" &&
            (kind == "barely" || kind == "one_sided" || kind == "from_behind"))
            kind = "rod";
        if (mixed && which.problem != "interleaved" && kind == "laplacian") kind = "rod";
        return btcs::make_system(kind, batch.m, which.seed_of(s), which.problem == "symmetric");
    }

    static rungs::Check check_systems(const rungs::Case& which, const rungs::Task& task,
                                      std::span<const rungs::Array> outputs) {
        const Batch batch = shape_of(which);
        const auto x = outputs[0].as<float>();
        const std::size_t count = batch.count;
        std::vector<long long> status;
        if (batch.many) {
            const auto all = outputs[1].as<int>();
            status.assign(all.begin(), all.end());
        } else {
            const auto all = outputs[1].as<long long>();
            status.assign(all.begin(), all.end());
        }
        if (x.size() != task.inputs[0].count || status.size() != count) {
            throw std::invalid_argument("a row has one x, and a system one status");
        }
        rungs::Check check;
        check.of = count;
        check.things = "systems";
        check.measure = batch.method == btcs::Method::reduction
                            ? "largest |b - A x| of a row / (|A| max |x| if nothing cancelled)"
                            : "largest |b - A x| of a row / (|A| max |x|)";
        check.tolerance = btcs::tolerance;
        // The systems are those that the task was made of: to make them again takes longer.
        const auto lower = task.inputs[0].as<float>(), diagonal = task.inputs[1].as<float>(),
                   upper = task.inputs[2].as<float>(), rhs = task.inputs[3].as<float>();
        std::vector<System> systems;
        std::vector<Vector> solutions;
        const auto examine = [&](std::size_t s, const System& system, const Vector& own) {
            Finding finding = which.problem == "semidefinite"
                                  ? btcs::examine_level(own, status[s])
                                  : btcs::examine(system, own, status[s], batch.method);
            if (!(finding.error <= check.error)) check.error = finding.error;
            if (finding.passed()) return;
            if (check.wrong++ > 0) return;
            check.cause = finding.cause;
            if (which.kind == "warm" && status[s] == btcs::not_converged) {
                check.cause += "; from the values in start it takes none: does x begin with them?";
            }
            if (batch.many && count > 1) {
                check.cause =
                    "system " + std::to_string(s) + " of " + std::to_string(count) + ": " + check.cause;
                if (std::isinf(finding.error) && finding.cause.find("written") != std::string::npos)
                    check.cause += ". Here " + place(batch);
            }
            for (rungs::Mismatch& mismatch : finding.first) {
                if (batch.many && count > 1) {
                    mismatch.where =
                        "row " + std::to_string(mismatch.index) + " of system " + std::to_string(s);
                }
                mismatch.index = batch.at(mismatch.index, s);
            }
            check.first = finding.first;
        };
        batch.each_group([&](std::size_t first, std::size_t last) {
            systems.resize(last - first);
            solutions.resize(last - first, Vector(batch.m));
            for (System& system : systems) {
                for (auto* array : {&system.lower, &system.diagonal, &system.upper, &system.rhs})
                    array->resize(batch.m);
            }
            for (std::size_t i = 0; i < batch.m; ++i) {
                for (std::size_t s = first; s < last; ++s) {
                    System& system = systems[s - first];
                    const std::size_t e = batch.at(i, s);
                    system.lower[i] = lower[e], system.diagonal[i] = diagonal[e];
                    system.upper[i] = upper[e], system.rhs[i] = rhs[e];
                    solutions[s - first][i] = x[e];
                }
            }
            for (std::size_t s = first; s < last; ++s) examine(s, systems[s - first], solutions[s - first]);
        });
        if (check.wrong > 0 && batch.many && batch.m > 1 && count > 1) {
            if (const std::string cause = other_layout(batch, task, x); !cause.empty()) check.cause = cause;
        }
        check.passed = check.wrong == 0;
        return check;
    }

    /// Is it right for systems in the other layout?
    static std::string other_layout(const Batch& batch, const rungs::Task& task, std::span<const float> x) {
        Batch other = batch;
        other.interleaved = !batch.interleaved;
        std::span<const float> parts[4];
        for (std::size_t k = 0; k < 4; ++k) parts[k] = task.inputs[k].as<float>();
        std::size_t agree = 0, of = 0;
        for (std::size_t s = 0; s < std::min<std::size_t>(batch.count, 8); ++s) {
            btcs::Matrix a;
            Vector rhs, got;
            for (std::size_t i = 0; i < batch.m; ++i) {
                const std::size_t e = other.at(i, s);
                a.lower.push_back(parts[0][e]), a.diagonal.push_back(parts[1][e]);
                a.upper.push_back(parts[2][e]), rhs.push_back(parts[3][e]), got.push_back(x[e]);
            }
            agree += btcs::near(got, btcs::solve(a, rhs)), ++of;
        }
        if (agree * 2 <= of) return {};
        return std::string("this is right for ") +
               (batch.interleaved ? "systems one after the other" : "interleaved systems") + ": here " +
               place(batch);
    }

    static std::string place(const Batch& batch) {
        return std::string("row i of system s is element ") +
               (batch.interleaved ? "i * systems + s" : "s * m + i");
    }

    // -----------------------------------------------------------------------------------------------------------
    // Marches

    struct March {
        Rod rod;
        std::vector<float> start, left, right;
        btcs::Journey journey() const {
            return {rod, Vector(start.begin(), start.end()), Vector(left.begin(), left.end()),
                    Vector(right.begin(), right.end())};
        }
    };

    static MarchKind kind_of(const rungs::Case& which) {
        std::string known;
        for (const MarchKind& kind : march_kinds) {
            if (which.kind == kind.name) return kind;
            known += std::string(known.empty() ? "" : ", ") + kind.name;
        }
        throw std::invalid_argument("chapter 6 has no march of kind '" + which.kind + "'; it has " + known);
    }

    static March make_march(const rungs::Case& which) {
        if (which.sizes.size() != 2 || which.sizes[0] < 0 || which.sizes[1] < 0) {
            throw std::invalid_argument("a march has two sizes: points and steps");
        }
        const MarchKind kind = kind_of(which);
        const auto n = static_cast<std::size_t>(which.sizes[0]),
                   steps = static_cast<std::size_t>(which.sizes[1]);
        const std::uint32_t random = rungs::random_word(which.seed_of(0), 0);
        constexpr double some[] = {0.1, 1, 10, 90};
        const std::uint32_t choices = which.problem == "gentle" ? 2 : 4;  // sweeps take long for a large r
        if (which.problem == "explicit" && kind.theta != 0) {
            throw std::invalid_argument("'" + which.kind + "' is not explicit");
        }
        March march{{n, steps,
                     kind.r > 0   ? kind.r
                     : kind.r < 0 ? 0
                                  : some[random % choices],
                     kind.theta >= 0 ? kind.theta : (100 + (random >> 8) % 901) / 1000.0},
                    rungs::random_field(n, which.seed_of(1), rungs::signed_uniform),
                    rungs::random_field(steps + 1, which.seed_of(2), rungs::signed_uniform),
                    rungs::random_field(steps + 1, which.seed_of(3), rungs::signed_uniform)};
        const std::size_t row = n > 0 ? rungs::random_word(which.seed_of(4), 0) % n : 0;
        const bool spike = which.kind == "spike",
                   ends = which.kind == "ends" || which.kind == "ends_explicit", sine = is_sine(which.kind);
        const double points = static_cast<double>(n + 1);
        if (sine && steps > 0) march.rod.r = sine_end / static_cast<double>(steps) * points * points;
        for (std::size_t i = 0; i < n; ++i) {
            if (sine) march.start[i] = static_cast<float>(wave(i, n));
            if (ends || (spike && i != row)) march.start[i] = 0;
            march.start[i] = std::ldexp(march.start[i], kind.scale);
        }
        for (auto* end : {&march.left, &march.right}) {
            for (float& value : *end) value = spike || sine ? 0 : std::ldexp(value, kind.scale);
        }
        if (which.kind == "nan" && n > 0) march.start[row] = std::numeric_limits<float>::quiet_NaN();
        return march;
    }

    /// sin(pi x) at point i.
    static double wave(std::size_t i, std::size_t n) {
        return std::sin(std::numbers::pi * static_cast<double>(i + 1) / static_cast<double>(n + 1));
    }

    static rungs::Check check_march(const rungs::Case& which, std::span<const rungs::Array> outputs) {
        const March march = make_march(which);
        const auto left = outputs[0].as<float>();
        if (left.size() != march.rod.n) throw std::invalid_argument("a march leaves n values");
        const Vector got(left.begin(), left.end());
        rungs::Check check;
        check.of = got.size();
        check.measure = "largest |got - expected|";
        if (which.kind == "nan" && march.rod.n > 0) {
            const auto nan =
                std::find_if(march.start.begin(), march.start.end(), [](float v) { return v != v; });
            const auto row = static_cast<std::size_t>(nan - march.start.begin());
            check.passed = std::isnan(got[row]);
            check.wrong = !check.passed;
            if (!check.passed)
                check.cause =
                    "start[" + std::to_string(row) + "] is NaN, and u there is a number: is start read?";
            return check;
        }
        const btcs::Journey journey = march.journey();
        const btcs::Arrival expected = btcs::march(journey);
        check.tolerance = btcs::rounding_bound(journey.rod, expected.largest);
        for (std::size_t i = 0; i < got.size(); ++i) {
            const double error = std::abs(got[i] - expected.u[i]);
            if (!(error <= check.error)) check.error = std::isnan(error) ? infinity : error;
            if (error <= check.tolerance) continue;  // NaN does not
            ++check.wrong;
            if (check.first.size() < 5) {
                check.first.push_back({i, got[i], expected.u[i],
                                       rungs::ulp_distance(left[i], static_cast<float>(expected.u[i]))});
            }
        }
        if (check.wrong > 0) {
            check.cause = btcs::explain_march(journey, got, expected.u, check.tolerance);
        } else if (is_sine(which.kind) && march.rod.n > 2 && march.rod.steps > 1) {
            against_theory(march.rod, got, check);
        }
        check.passed = check.wrong == 0;
        return check;
    }

    /// The error of the time discretisation alone, which is what is left when sin(pi x) decays by the
    /// eigenvalue of this grid, has to shrink with the step as theory says: by the rung's own error at this
    /// step, and the scheme's at half of it.
    static void against_theory(const Rod& rod, const Vector& got, rungs::Check& check) {
        const double pi = std::numbers::pi, points = static_cast<double>(rod.n + 1);
        const double lambda = 4 * std::pow(points * std::sin(pi / 2 / points), 2);
        const double truth = std::exp(-lambda * sine_end);
        double error = 0;
        for (std::size_t i = 0; i < got.size(); ++i)
            error = std::max(error, std::abs(got[i] - truth * wave(i, rod.n)));
        const double half = std::pow(btcs::amplification(rod.r / 2, rod.theta, pi / points),
                                     2 * static_cast<double>(rod.steps));
        double refined = 0;
        for (std::size_t i = 0; i < got.size(); ++i)
            refined = std::max(refined, std::abs((half - truth) * wave(i, rod.n)));
        const double order = std::log2(error / refined), right = rod.theta == 1 ? 1 : 2;
        const double blur = 0.1 + 1.5 * check.tolerance / refined;  // rounding, and terms of higher order
        if (std::abs(order - right) <= blur) return;
        check.wrong = 1;
        check.measure = "order of accuracy in time, distance from " + std::to_string(static_cast<int>(right));
        check.error = std::abs(order - right);
        check.tolerance = blur;
        check.cause =
            "halving the step should divide the error by " + std::string(right == 1 ? "two" : "four");
    }
};

}  // namespace

RUNGS_EXAM(BtcsExam)
