// Chapter 4's exam: which systems the iterations are tried on, and how near to the oracle they have to stay.

#include "rungs/exam.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "exam/diagnosis.hpp"
#include "exam/reference.hpp"
#include "red_black.cuh"
#include "rungs/random.hpp"

namespace {

using red_black::Grid;
using red_black::Method;
using red_black::Run;

class RedBlackExam : public rungs::Exam {
  public:
    rungs::Task make(const rungs::Case& which) const override {
        return is_double(which) ? make_of<double>(which) : make_of<float>(which);
    }

    rungs::Check check(const rungs::Case& which, const rungs::Task& task,
                       std::span<const rungs::Array> outputs) const override {
        return is_double(which) ? check_of<double>(which, task, outputs)
                                : check_of<float>(which, task, outputs);
    }

    std::vector<std::string> size_names(const rungs::Case& /*which*/) const override {
        return {"n", "iterations"};
    }

    /// u and b read and u written, in every iteration; a chip that held everything between two would
    /// still read start and b and write u. The oldest of all counts of an update: 6 additions, 1 product. A
    /// tile's sweeps count each.
    rungs::Work work(const rungs::Case& which) const override {
        const Run run = run_of(which);
        const double pass = 3 * (is_double(which) ? 8 : 4) * std::pow(static_cast<double>(run.n), 3);
        const double updates = std::pow(static_cast<double>(run.n), 3) * run.iterations * run.sweeps;
        return {pass * std::max(run.iterations, 1), 7 * updates, pass};
    }

  private:
    static bool is_double(const rungs::Case& which) { return which.problem.ends_with("_double"); }

    static Run run_of(const rungs::Case& which) {
        const std::string name = which.problem.substr(0, which.problem.find("_double"));
        const std::pair<const char*, Method> methods[] = {{"jacobi", Method::jacobi},
                                                          {"red_black", Method::red_black},
                                                          {"sor", Method::sor},
                                                          {"block", Method::block}};
        Run run;
        const auto found = std::find_if(std::begin(methods), std::end(methods),
                                        [&](const auto& method) { return method.first == name; });
        if (found == std::end(methods)) {
            throw std::invalid_argument(
                "chapter 4 has the problems jacobi, red_black, sor and block, each also with _double, not '" +
                which.problem + "'");
        }
        run.method = found->second;
        if (which.sizes.size() != 2 || which.sizes[0] < 0 || which.sizes[1] < 0 || which.sizes[0] > 2000) {
            throw std::invalid_argument("a case of chapter 4 has two sizes: n, up to 2000, and iterations");
        }
        run.n = static_cast<int>(which.sizes[0]);
        run.iterations = static_cast<int>(which.sizes[1]);
        const std::uint32_t random = rungs::random_word(which.seed_of(2), 0);
        if (run.method == Method::sor && which.kind != "mode" && which.kind != "manufactured") {
            run.omega = 0.5 + 1.4 * (random % 1024) / 1024;  // 0.5 to 1.9; else 0, the best
        }
        if (run.method == Method::block) run.sweeps = 1 + static_cast<int>(random % 3);
        return run;
    }

    template <class T>
    static rungs::Task make_of(const rungs::Case& which) {
        const Run run = run_of(which);
        const auto n = static_cast<std::size_t>(run.n), points = n * n * n;
        std::vector<T> start(points), b(points);
        if (which.kind == "random" || which.kind == "tiny" || which.kind == "huge" || which.kind == "nan") {
            start = rungs::random_field<T>(points, which.seed_of(0), rungs::signed_uniform);
            b = rungs::random_field<T>(points, which.seed_of(1), rungs::signed_uniform);
            if (which.kind == "nan") {
                put_nan(b, run.n, which.seed_of(2));
            } else if (which.kind != "random") {  // the ends of the range that the contract promises
                const T unit =
                    which.kind == "tiny" ? T(0x1p-50) : T(0x1p46);  // over-relaxation may overshoot
                for (std::vector<T>* const values : {&start, &b}) {
                    for (T& value : *values) value *= unit;  // by a power of two: the same digits
                }
            }
        } else if (which.kind == "spike") {
            // One point that is not 0: what an iteration reaches, and what it does not, shows exactly.
            if (points > 0) start[rungs::random_word(which.seed_of(0), 0) % points] = 1;
            if (points > 0) b[rungs::random_word(which.seed_of(1), 0) % points] = 1;
        } else if (which.kind == "mode") {
            if (run.method == Method::block) throw std::invalid_argument("tiles have no mode in closed form");
            const Grid mode = red_black::slowest_mode(run);
            std::copy(mode.begin(), mode.end(), start.begin());
        } else if (which.kind == "manufactured") {
            const Grid rhs = red_black::manufactured(run.n).b;
            std::transform(rhs.begin(), rhs.end(), b.begin(),
                           [](double value) { return static_cast<T>(value); });
        } else {
            throw std::invalid_argument("chapter 4 has no data of kind '" + which.kind +
                                        "'; it has random, tiny, huge, nan, spike, mode, manufactured");
        }
        // The workspace is not an answer, so it is an output with content: NaN, in case it is read first.
        const std::vector<T> nan(red_black::work_size(run.n), std::numeric_limits<T>::quiet_NaN());
        rungs::Task task{{rungs::Array::of("start", start), rungs::Array::of("b", b)},
                         {rungs::Array::unset<T>("u", points),
                          rungs::Array::unset<double>("norms", static_cast<std::size_t>(run.iterations)),
                          rungs::Array::of("work", nan)},
                         {rungs::Number(static_cast<long long>(run.n)),
                          rungs::Number(static_cast<long long>(run.iterations))}};
        if (run.method == Method::sor) task.numbers.emplace_back(run.omega);
        if (run.method == Method::block) task.numbers.emplace_back(static_cast<long long>(run.sweeps));
        return task;
    }

    /// Four NaN, in planes 5 to 8 before the cube's last one, a quarter of their plane each: far enough from
    /// the last plane for its values to stay finite for two iterations, and where a ring of so many planes
    /// keeps them when planes that the cube does not have go through it.
    template <class T>
    static void put_nan(std::vector<T>& b, int n, std::uint64_t seed) {
        for (int one = 0; one < 4 && n > 8; ++one) {
            const auto place = [&](std::uint64_t index, int quarter) {
                return quarter * (n / 2) +
                       static_cast<int>(rungs::random_word(seed, index) % static_cast<unsigned>(n / 2));
            };
            const auto index = static_cast<std::uint64_t>(2 * one);
            const int i = n - 5 - one, j = place(index, one / 2), k = place(index + 1, one % 2);
            b[(static_cast<std::size_t>(i) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j)) *
                  static_cast<std::size_t>(n) +
              static_cast<std::size_t>(k)] = std::numeric_limits<T>::quiet_NaN();
        }
    }

    template <class T>
    static Grid grid_of(const rungs::Array& array) {
        const auto values = array.as<T>();
        return Grid(values.begin(), values.end());
    }

    template <class T>
    static rungs::Check check_of(const rungs::Case& which, const rungs::Task& task,
                                 std::span<const rungs::Array> outputs) {
        const Run run = run_of(which);
        const Grid start = grid_of<T>(task.inputs[0]), b = grid_of<T>(task.inputs[1]);
        if (outputs.size() != 3 || outputs[0].as<T>().size() != start.size() ||
            outputs[1].as<double>().size() != static_cast<std::size_t>(run.iterations)) {
            throw std::invalid_argument("chapter 4 leaves n^3 points, a norm for each iteration, and work");
        }
        const Grid got = grid_of<T>(outputs[0]);
        const std::vector<double> norms = grid_of<double>(outputs[1]);
        const red_black::History expected = red_black::history(start, b, run);
        const red_black::Tolerance allowed =
            red_black::tolerance(run, expected, std::numeric_limits<T>::epsilon() / 2);
        const red_black::Diagnosis diagnosis(start, b, run, expected, allowed);

        rungs::Check check;
        check.of = got.size();
        compare<T>(
            got, expected.u, [&](std::size_t) { return allowed.point; }, check);
        check.measure = "largest |got - expected| of a point";
        if (check.wrong > 0) check.cause = diagnosis.of_points(got);
        if (check.wrong == 0 && run.iterations > 0 && run.n > 0) {
            rungs::Check of_norms;
            compare<double>(
                norms, expected.norms, [&](std::size_t t) { return allowed.norms[t]; }, of_norms);
            if (of_norms.wrong > 0) {
                check = of_norms;
                check.of = norms.size();
                check.things = "norms";
                for (rungs::Mismatch& mismatch : check.first)
                    mismatch.where = "norms[" + std::to_string(mismatch.index) + "]";
                check.measure = "|norms - expected|, the first that is wrong";
                check.cause = diagnosis.of_norms(norms);
            } else if (which.kind == "mode") {
                against_theory(run, norms, red_black::residual_norm(start, b, run.n), allowed, check);
            } else if (which.kind == "manufactured") {
                against_solution(run, got, expected, allowed, check);
            }
        }
        if (run.n == 0) {
            for (const double norm : norms) {
                if (norm != 0) check.wrong = 1, check.cause = "without points every norm is 0";
            }
        }
        check.passed = check.wrong == 0;
        return check;
    }

    /// Compares element by element; the error and the tolerance of a Check are those of the worst element.
    template <class T, class Allowed>
    static void compare(const std::vector<double>& got, const std::vector<double>& expected,
                        const Allowed& allowed, rungs::Check& check) {
        for (std::size_t c = 0; c < got.size(); ++c) {
            // NaN and infinities reach what the updates carry them to; which of the two it is
            // depends on the order.
            const bool neither = !std::isfinite(got[c]) && !std::isfinite(expected[c]);
            const double error = neither ? 0 : std::abs(got[c] - expected[c]);
            const bool wrong = !(error <= allowed(c));  // also for NaN
            if (wrong && check.first.size() < 5) {
                check.first.push_back(
                    {c, got[c], expected[c],
                     rungs::ulp_distance(static_cast<T>(got[c]), static_cast<T>(expected[c]))});
            }
            if (neither) continue;
            if (check.tolerance == 0 || !(error / allowed(c) <= check.error / check.tolerance)) {
                check.error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
                check.tolerance = allowed(c);
            }
            check.wrong += wrong;
        }
    }

    /// The slowest mode has to shrink by the factor that the theory of the method says,
    /// iteration by iteration.
    static void against_theory(const Run& run, const std::vector<double>& norms, double before,
                               const red_black::Tolerance& allowed, rungs::Check& check) {
        const double factor = red_black::convergence_factor(run);
        for (std::size_t t = 0; t < norms.size(); ++t) {
            const double expected = std::pow(factor, static_cast<double>(t + 1)) * before;
            if (std::abs(norms[t] - expected) <= allowed.norms[t]) continue;
            check.wrong = 1;
            check.measure =
                "|norms[" + std::to_string(t) + "] - factor^" + std::to_string(t + 1) + " norm of start|";
            check.error = std::abs(norms[t] - expected);
            check.tolerance = allowed.norms[t];
            check.cause = "an iteration has to shrink this mode by " + std::to_string(factor);
            return;
        }
    }

    /// Once the iteration is done, what is left is the error of the discretisation, of second order: at
    /// most h^2 / 12 times the fourth derivatives, and by the maximum principle an eighth of that in the
    /// solution (J. Strikwerda, Finite Difference Schemes and Partial Differential Equations, 2nd ed.
    /// 2004, section 12.5).
    static void against_solution(const Run& run, const Grid& got, const red_black::History& expected,
                                 const red_black::Tolerance& allowed, rungs::Check& check) {
        const double h = 1 / (run.n + 1.0);
        // The iteration's own error: the smallest eigenvalue of A is 12 sin^2(pi h / 2).
        const double least = 12 * std::pow(std::sin(std::acos(-1.0) * h / 2), 2);
        const double unfinished = expected.norms.back() / least;
        const red_black::Manufactured made = red_black::manufactured(run.n);
        const double bound = h * h / 12 * made.fourth / 8 + unfinished + allowed.point;
        double worst = 0;
        for (std::size_t c = 0; c < got.size(); ++c) worst = std::max(worst, std::abs(got[c] - made.u[c]));
        if (worst <= bound) return;
        check.wrong = 1;
        check.measure = "largest |got - solution of the differential equation|";
        check.error = worst;
        check.tolerance = bound;
        check.cause = "the iterates are the oracle's, but not near the solution: is the case too short?";
    }
};

}  // namespace

RUNGS_EXAM(RedBlackExam)
