// Chapter 2's exam: which bodies a force is tried on, how near it has to come, and how a rung's leapfrog
// must move them.

#include "rungs/exam.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "exam/diagnosis.hpp"
#include "exam/reference.hpp"
#include "exam/systems.hpp"
#include "rungs/random.hpp"

namespace {

using nbody::State;
using nbody::System;
using nbody::Vector;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What a leapfrog is run for.
struct Run {
    std::size_t steps = 0;
    double dt = 0;
};

class NbodyExam : public rungs::Exam {
  public:
    rungs::Task make(const rungs::Case& which) const override {
        const std::size_t n = size_of(which);
        const System system = system_of(which, n);
        rungs::Task task;
        task.inputs.push_back(rungs::Array::of("bodies", system.bodies));
        task.numbers.push_back(static_cast<long long>(n));
        if (is_leapfrog(which)) {
            const Run run = run_of(which);
            task.inputs.push_back(rungs::Array::of("velocity", system.velocity));
            task.outputs.push_back(rungs::Array::unset<float>("bodies_after", 4 * n));
            task.outputs.push_back(rungs::Array::unset<float>("velocity_after", 4 * n));
            task.numbers.push_back(static_cast<long long>(run.steps));
            task.numbers.push_back(run.dt);
        }
        task.outputs.push_back(rungs::Array::unset<float>("acceleration", 4 * n));
        task.numbers.push_back(softening_of(which));
        return task;
    }

    rungs::Check check(const rungs::Case& which, const rungs::Task& task,
                       std::span<const rungs::Array> outputs) const override {
        if (outputs.size() != task.outputs.size()) throw std::invalid_argument("an output is missing");
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (outputs[i].as<float>().size() != task.outputs[i].count)
                throw std::invalid_argument("output '" + task.outputs[i].name + "' has another size");
        }
        if (!is_leapfrog(which)) {
            const State state = nbody::state_of(task.inputs[0].as<float>());
            return check_force(state, outputs[0].as<float>(), softening_of(which), which.seed);
        }
        return check_leapfrog(which, task, outputs);
    }

    std::vector<std::string> size_names(const rungs::Case& /*which*/) const override {
        return {"bodies", "steps"};
    }

    rungs::Work work(const rungs::Case& which) const override {
        const auto n = static_cast<double>(size_of(which));
        const double forces = is_leapfrog(which) ? static_cast<double>(run_of(which).steps) + 1 : 1;
        // By the field's convention, as in the lesson: 20 operations an interaction, two of them for a
        // multiply-add and two for a reciprocal root, and n^2 interactions, whoever computes a pair only
        // once. L. Nyland, M. Harris, J. Prins, GPU Gems 3 (2007), chapter 31.
        return {(is_leapfrog(which) ? 5 : 2) * 16 * n, 20 * n * n * forces};
    }

  private:
    static bool is_leapfrog(const rungs::Case& which) {
        if (which.problem != "force" && which.problem != "leapfrog") {
            throw std::invalid_argument("chapter 2 has no problem '" + which.problem +
                                        "'; it has force, leapfrog");
        }
        return which.problem == "leapfrog";
    }

    static std::size_t size_of(const rungs::Case& which) {
        const std::size_t wanted = is_leapfrog(which) ? 2 : 1;
        if (which.sizes.size() != wanted || which.sizes[0] < 0 || which.sizes.back() < 0) {
            throw std::invalid_argument(
                "a case of chapter 2 has n, and for a leapfrog the number of steps, from 0 up");
        }
        return static_cast<std::size_t>(which.sizes[0]);
    }

    static Run run_of(const rungs::Case& which) {
        const auto steps = static_cast<std::size_t>(which.sizes[1]);
        // "orbit" takes steps of one length, the others cover one stretch of time however many there are.
        if (which.kind == "orbit") return {steps, 1.0 / 64};
        return {steps, static_cast<float>(0.5 / static_cast<double>(std::max<std::size_t>(steps, 1)))};
    }

    /// All are floats, so that the rung and the oracle have the same number.
    static double softening_of(const rungs::Case& which) {
        if (which.kind == "sparse") return 1;
        if (which.kind == "dense") return 0x1p-28;
        if (which.kind == "orbit") return 0x1p-10;
        if (is_leapfrog(which)) return 0x1p-3;
        return 0x1p-5;
    }

    static System system_of(const rungs::Case& which, std::size_t n) {
        const std::string_view kind = which.kind;
        const bool leapfrog = is_leapfrog(which);
        if (leapfrog && kind == "orbit") return nbody::orbit(n, which.seed);
        if (!leapfrog && kind == "two_heavy") return nbody::two_heavy(n, which.seed);

        System system = nbody::cube(n, which.seed);
        std::vector<float>& bodies = system.bodies;
        if (leapfrog) {
            if (kind == "cluster" || kind == "refined") return system;
            throw std::invalid_argument("chapter 2 has no leapfrog of kind '" + which.kind +
                                        "'; it has cluster, refined, orbit");
        } else if (kind == "cube") {
            return system;
        } else if (kind ==
                   "zero_mass") {  // the first and the last are pulled and do not pull, and others too
            for (std::size_t i = 0; i < n; ++i) {
                if (i % 3 == 0 || i + 1 == n) bodies[4 * i + 3] = 0;
            }
        } else if (kind == "coincident") {  // pairs far apart in the array, and a crowd, in one place each
            for (std::size_t i = n / 2; i < n; ++i) {
                const std::size_t partner = i % 5 == 0 ? 0 : i - n / 2;
                std::copy_n(bodies.begin() + static_cast<long>(4 * partner), 3,
                            bodies.begin() + static_cast<long>(4 * i));
            }
        } else if (kind == "sparse" || kind == "dense") {
            // Distances whose squares are ordinary floats, while the third powers of those are not.
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t c = 0; c < 3; ++c)
                    bodies[4 * i + c] *= kind == "sparse" ? 0x1p27f : 0x1p-24f;
            }
        } else if (kind == "far") {  // from the origin: |x|^2 + |y|^2 - 2 x y would lose everything here
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t c = 0; c < 3; ++c) bodies[4 * i + c] += 4096;
            }
        } else {
            throw std::invalid_argument(
                "chapter 2 has no bodies of kind '" + which.kind +
                "'; it has cube, two_heavy, zero_mass, coincident, sparse, dense, far");
        }
        return system;
    }

    /// All bodies, or for many bodies some that nobody can foresee, the first and the last: the
    /// oracle is slow.
    static std::vector<std::size_t> compared(std::size_t n, std::uint64_t seed) {
        constexpr std::size_t all = 4200, some = 512;
        std::vector<std::size_t> bodies;
        if (n <= all) {
            for (std::size_t i = 0; i < n; ++i) bodies.push_back(i);
            return bodies;
        }
        for (std::size_t k = 0; k < some; ++k) bodies.push_back(rungs::random_word(seed ^ 0x5eed, k) % n);
        bodies.push_back(0);
        bodies.push_back(n - 1);
        std::sort(bodies.begin(), bodies.end());
        bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
        return bodies;
    }

    static rungs::Check check_force(const State& state, std::span<const float> got, double softening,
                                    std::uint64_t seed) {
        const std::size_t n = state.size();
        const std::vector<std::size_t> bodies = compared(n, seed);
        rungs::Check check;
        check.measure = "|got - expected| / sum of the pulls' magnitudes";
        check.tolerance = nbody::force_tolerance(n);
        check.of = 4 * bodies.size();  // floats, as their indices below
        std::vector<std::size_t> wrong;
        for (const std::size_t i : bodies) {
            const nbody::Pull pull = nbody::reference_pull(state, i, softening);
            const Vector a{got[4 * i], got[4 * i + 1], got[4 * i + 2]};
            const double scale = pull.magnitude > 0 ? pull.magnitude : 1;
            double error = nbody::length(a - pull.sum) / scale;
            const bool has_w = got[4 * i + 3] != 0;  // true for NaN
            if (has_w || std::isnan(error)) error = infinity;
            check.error = std::max(check.error, error);
            if (error <= check.tolerance) continue;
            wrong.push_back(i);
            for (std::size_t c = 0; c < 4; ++c) {
                const double expected = c < 3 ? pull.sum[c] : 0;
                const double room = c < 3 ? check.tolerance * scale / 2 : 0;
                if (std::abs(got[4 * i + c] - expected) <= room) continue;
                ++check.wrong;
                if (check.first.size() == 5) continue;
                check.first.push_back({4 * i + c, got[4 * i + c], expected,
                                       rungs::ulp_distance(got[4 * i + c], static_cast<float>(expected))});
            }
        }
        check.passed = wrong.empty();
        // Those that were not compared are held to being numbers.
        for (std::size_t i = 0; i < 4 * n && check.passed; ++i) {
            if (std::isfinite(got[i])) continue;
            check.passed = false;
            check.wrong = 1;
            check.error = infinity;
            wrong.push_back(i / 4);
            check.first.push_back({i, got[i], 0, rungs::ulp_undefined});
        }
        if (!check.passed) check.cause = nbody::Diagnosis(state, softening, got).of(wrong);
        return check;
    }

    // A leapfrog is judged in four ways: the force at its end, then by kind
    //   cluster  against the oracle's leapfrog with the same steps: what rounding in float may add to it
    //   refined  against the true motion: off by as much as the leapfrog of that step is, so a fourth of it
    //   for half the
    //            step. Any other order, or a leapfrog that starts without its half kick, is off by more or by
    //            less
    //   orbit    over many steps: energy as near to that at the start as the oracle's leapfrog keeps it,
    //   momentum kept
    static rungs::Check check_leapfrog(const rungs::Case& which, const rungs::Task& task,
                                       std::span<const rungs::Array> outputs) {
        const double softening = softening_of(which);
        const Run run = run_of(which);
        const State before = nbody::state_of(task.inputs[0].as<float>(), task.inputs[1].as<float>());
        const State after = nbody::state_of(outputs[0].as<float>(), outputs[1].as<float>());
        const std::size_t n = before.size();
        rungs::Check check;
        check.of = n;
        check.passed = true;
        const auto require = [&](double error, double tolerance, const std::string& measure,
                                 const std::string& cause) {
            if (!check.passed) return;
            check.error = error;
            check.tolerance = tolerance;
            check.measure = measure;
            if (error <= tolerance) return;  // not for NaN
            check.passed = false;
            check.error = std::isnan(error) ? infinity : error;
            check.wrong = n;
            check.cause = cause;
        };

        double moved = 0;  // the largest difference in mass: not a number if anything is not one
        for (std::size_t i = 0; i < n; ++i) moved += std::abs(after.mass[i] - before.mass[i]);
        require(moved, 0, "|mass after - mass before|", "a step must not change a mass");
        if (!check.passed) return check;

        rungs::Check force = check_force(after, outputs[2].as<float>(), softening, which.seed);
        if (!force.passed) {
            force.cause =
                "the acceleration left behind is not that of the places left behind: is a force of an "
                "earlier step used again, or is something kept from call to call? " +
                force.cause;
            return force;
        }

        const auto furthest = [&](const State& a, const State& b) {
            double largest = 0;
            for (std::size_t i = 0; i < n; ++i) {
                const double d = nbody::length(a.place[i] - b.place[i]);
                if (!(d <= largest)) largest = d;
            }
            return largest;
        };
        const double steps = static_cast<double>(run.steps);

        if (which.kind == "orbit") {
            const double start = nbody::energy(before, softening).total();
            State oracle = before;
            double drift = 0;
            for (std::size_t done = 0; done < run.steps; done += 8) {
                nbody::leapfrog(oracle, std::min<std::size_t>(8, run.steps - done), run.dt, softening);
                drift = std::max(drift, std::abs(nbody::energy(oracle, softening).total() - start));
            }
            // Roundings of places, velocities and forces scatter over the steps.
            const double rounding = 64 * nbody::unit_roundoff * std::sqrt(steps + 1);
            const double off = std::abs(nbody::energy(after, softening).total() - start);
            require(off / std::abs(start), (1.2 * drift) / std::abs(start) + rounding,
                    "|energy - energy at the start|",
                    "the energy drifts: a leapfrog keeps it. Are force and place of the same time?");
            const double carried =
                std::max(nbody::length(before.velocity[0]), nbody::length(after.velocity[0]));
            require(nbody::length(nbody::momentum(after) - nbody::momentum(before)) / std::max(carried, 0.1),
                    rounding, "|momentum - momentum at the start|",
                    "momentum is not kept: what i does to j is not the opposite of what j does to i");
            return check;
        }
        State oracle = before;
        nbody::leapfrog(oracle, run.steps, run.dt, softening);
        // Each step rounds places, velocities and forces again, by some u = 2^-24, up as often as down.
        // What a small difference grows to while the bodies fall together is measured: a copy starts with
        // other last digits.
        constexpr double nudge = 0x1p-20;
        State nudged = before;
        for (std::size_t i = 0; i < 3 * n; ++i) {
            const double sign = rungs::random_word(which.seed, i) % 2 ? 1 : -1;
            nudged.place[i / 3].components[i % 3] += sign * nudge;
        }
        nbody::leapfrog(nudged, run.steps, run.dt, softening);
        const double growth = std::max(1.0, furthest(nudged, oracle) / nudge);
        const double rounding = 32 * nbody::unit_roundoff * growth * std::sqrt(steps + 1);
        require(furthest(after, oracle), rounding, "distance from the oracle's leapfrog",
                "the bodies are elsewhere than a leapfrog brings them");
        if (which.kind != "refined" || run.steps == 0) return check;
        State exact = before;
        nbody::leapfrog(exact, 16 * run.steps, run.dt / 16, softening);
        const double own = furthest(oracle, exact);
        require(std::abs(furthest(after, exact) / own - 1), 0.1 + rounding / own,
                "|distance from the true motion / that of a leapfrog - 1|",
                "the error is not that of a method of second order");
        return check;
    }
};

}  // namespace

RUNGS_EXAM(NbodyExam)
