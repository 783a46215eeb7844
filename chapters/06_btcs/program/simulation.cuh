#pragma once
// A rod through time with a chosen solver and numbers in a file every so many steps; and how many steps each
// scheme takes to an error.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <map>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "btcs.cuh"
#include "exam/reference.hpp"
#include "exam/systems.hpp"
#include "program/options.hpp"
#include "program/study.cuh"
#include "rungs/atomic_file.hpp"
#include "rungs/device_buffer.cuh"

namespace btcs {

/// The numbers of a run that belong together: r = kappa dt / dx^2, and the steps to the end.
struct Course {
    double r, dt;
    int steps, every;

    /// @throws std::invalid_argument where there is no way to take so many steps
    explicit Course(const Options& options) : r(options.r), steps(options.steps), every(options.every) {
        const double dx = options.dx > 0 ? options.dx : 1.0 / (options.n + 1);
        if (options.dt > 0) r = options.kappa * options.dt / (dx * dx);
        dt = options.dt > 0 ? options.dt : r * dx * dx / options.kappa;
        if (!(options.t_end > 0)) return;
        // Steps are counted, since a sum of many dt is not what it should be.
        constexpr double most = 1e8;
        const double needed = options.t_end / dt;
        if (!(dt > 0))
            throw std::invalid_argument("--t-end needs a time step: --r is 0, and there is no --dt");
        if (!(needed < most)) {
            throw std::invalid_argument("--t-end is " + detail::number(needed) + " steps away; at most " +
                                        detail::number(most) + " are taken");
        }
        if (needed < 0.5) throw std::invalid_argument("--t-end comes before half of the first step");
        steps = static_cast<int>(std::llround(needed));
    }
};

/// The rung that takes implicit or explicit steps.
/// @param named  what was asked for; empty: the last one of the ladder that can do it and is right
/// @param march  it has to be a march of any scheme
/// @throws std::invalid_argument for a rung that does not exist or cannot do it, std::runtime_error for one
/// that is not right
inline const Rung& stepper_of(const std::string& named, double theta, bool march) {
    const auto why_not = [&](const Rung& rung) -> std::string {
        if (march && (!rung.march || rung.explicit_only)) return " does not march with any scheme";
        if (!rung.solve && !rung.march) return " takes no time steps";
        if (rung.solve && theta != 1) return " solves BTCS steps: --theta has to be 1";
        if (rung.explicit_only && theta != 0) return " takes explicit steps: --theta has to be 0";
        return {};
    };
    const auto all = rungs::rungs_named(rungs, named);
    if (!named.empty()) {
        const Rung& rung = all.front();
        if (const std::string reason = why_not(rung); !reason.empty())
            throw std::invalid_argument(rung.name + reason);
        if (!is_right(rung)) {
            throw std::runtime_error(
                std::string(rung.name) +
                " is not right yet, and what it finds would be no rod: nothing is written");
        }
        return rung;
    }
    for (auto rung = all.rbegin(); rung != all.rend(); ++rung) {
        if (why_not(rung->get()).empty() && is_right(rung->get())) return rung->get();
    }
    throw std::runtime_error("no rung is right yet that could take these steps: nothing is written");
}

/// The rung that makes the matrix of an implicit step; null: none is right yet.
inline const Rung* creator() {
    for (const Rung& rung : rungs) {
        if (rung.create && is_right(rung)) return &rung;
    }
    return nullptr;
}

/// Takes BTCS steps with a rung that solves one system; each starts from the values of the step before.
class SolvingStepper {
  public:
    SolvingStepper(const Rung& rung, const Rung* creates, const Vector& u, double r)
        : rung_(rung),
          matrix_(creates, Vector(u.size() + 1, 1.0), r),
          u_(std::vector<float>(u.begin(), u.end())),
          x_(u.size()) {}

    /// @throws std::runtime_error where a step is not solved
    void take(int steps) {
        for (int k = 0; k < steps; ++k) {
            matrix_.solve(rung_, u_, x_);
            std::swap(u_, x_);
        }
    }
    Vector values() const {
        const std::vector<float> got = u_.to_host();
        return {got.begin(), got.end()};
    }

  private:
    const Rung& rung_;
    DeviceMatrix matrix_;
    rungs::DeviceBuffer<float> u_, x_;
};

/// A rod with a hot stretch in its middle and cold ends. Writes step, time and values after every so many
/// steps, and after the last one, to the file that the options name. @throws std::invalid_argument for a
/// solver that does not exist or cannot do it, std::runtime_error for one that is not right or does not solve
/// a step: then no file is written
inline void simulate(const Options& options) {
    const Course course(options);
    const Rung& solver = stepper_of(options.solver, options.theta, false);
    const Rung* const creates = solver.solve ? creator() : nullptr;
    const auto n = static_cast<std::size_t>(options.n);
    Vector u(n, 0.0);
    std::fill(u.begin() + options.n * 3 / 8, u.begin() + options.n * 5 / 8, 1.0);

    std::string text = "step,t";
    for (std::size_t i = 0; i < n; ++i) text.append(",u").append(std::to_string(i));
    const auto record = [&](int step) {
        text.append("\n").append(std::to_string(step)).append(",").append(detail::number(step * course.dt));
        for (const double value : u) text.append(",").append(detail::number(value));
    };
    record(0);
    std::optional<SolvingStepper> stepper;
    if (solver.solve) stepper.emplace(solver, creates, u, course.r);
    for (int step = 0; step < course.steps;) {
        const int now = std::min(course.every - step % course.every, course.steps - step);
        if (stepper) {
            stepper->take(now);
            u = stepper->values();
        } else {
            u = march_with(solver, u, course.r, options.theta, now);
        }
        step += now;
        record(step);
    }
    rungs::write_file(options.numbers, text + "\n");
    std::printf("%d steps of dt = %g (r = %g) with %s%s%s, every %d of them and the last in %s\n",
                course.steps, course.dt, course.r, solver.name, creates ? " on the matrix of " : "",
                creates ? creates->name : "", course.every, options.numbers.c_str());
}

/// The time of the race, and r of so many steps until then.
inline constexpr double race_end = 0.1;
inline double race_r(std::size_t n, int steps) {
    const double points = static_cast<double>(n + 1);
    return race_end / steps * points * points;
}

/// The fewest steps with which sin(pi x) reaches that time with at most this error
/// of the time discretisation.
inline int steps_for(const Rung& rung, double theta, std::size_t n, double error) {
    constexpr double end = race_end, pi = std::numbers::pi;
    const double points = static_cast<double>(n + 1),
                 lambda = 4 * std::pow(points * std::sin(pi / 2 / points), 2);
    const Vector start = wave(n, 1);
    const auto good = [&](int steps) {
        if (theta < 0.5 && race_r(n, steps) > 0.5) return false;  // not stable
        Vector u = march_with(rung, start, race_r(n, steps), theta, steps);
        for (std::size_t i = 0; i < n; ++i) u[i] -= std::exp(-lambda * end) * start[i];
        return largest(u) <= error;
    };
    int enough = 1;
    while (!good(enough) && enough < 1 << 20) enough *= 2;
    for (int step = enough / 4; step > 0; step /= 2) {
        if (good(enough - step)) enough -= step;
    }
    return enough;
}

/// How long a march of that many steps takes, in milliseconds.
inline double time_of_steps(const Rung& rung, double theta, std::size_t n, int steps,
                            const rungs::TimingOptions& timing) {
    const Vector start = wave(n, 1);
    const rungs::DeviceBuffer<float> from(std::vector<float>(start.begin(), start.end())),
        cold(std::vector<float>(static_cast<std::size_t>(steps) + 1, 0.0f));
    rungs::DeviceBuffer<float> u(n), work(n);
    return rungs::median_milliseconds(
        [&](cudaStream_t stream) {
            rung.march(from.data(), cold.data(), cold.data(), u.data(), work.data(),
                       static_cast<long long>(n), steps, race_r(n, steps), theta, stream);
        },
        timing);
}

/// Steps, and on a GPU times, to several errors, by FTCS, BTCS and Crank-Nicolson. Unless a rung is named,
/// FTCS has the last explicit one that is right, which takes several steps in a launch.
/// @throws std::invalid_argument, std::runtime_error as stepper_of() does
inline void race(const Options& options, const rungs::ProgramDevice& device, std::size_t n = 255) {
    const Rung& rung = stepper_of(options.solver, 1, true);
    const Rung* ftcs = &rung;
    for (const Rung& other : rungs) {
        if (options.solver.empty() && other.explicit_only && is_right(other)) ftcs = &other;
    }
    const std::pair<double, const char*> schemes[] = {{0.0, "FTCS"}, {1.0, "BTCS"}, {0.5, "Crank-Nicolson"}};
    char day[32];
    const std::time_t now = std::time(nullptr);
    std::strftime(day, sizeof day, "%Y-%m-%d", std::gmtime(&now));
    std::string text =
        "# machine: " + device.name + "\n# date: " + day +
        "\n# command: ./rungs run 06 -- --race FILE\n# Steps from t = 0 to 0.1 of sin(pi x) on " +
        std::to_string(n) + " points with " + rung.name +
        (ftcs == &rung ? std::string() : std::string(", FTCS with ") + ftcs->name) +
        ", by the error of the time steps" + (device.gpu ? "; times in us.\nerror" : ".\nerror");
    for (const auto& [theta, name] : schemes)
        text += std::string(",") + name + (device.gpu ? std::string(" steps,") + name + " us" : "");
    std::map<std::pair<double, int>, double> times;  // of a scheme and its steps, which may be the same again
    for (const double error : {1e-2, 3e-3, 1e-3}) {
        text.append("\n").append(detail::number(error));
        for (const auto& [theta, name] : schemes) {
            const Rung& with = theta == 0 ? *ftcs : rung;
            const int steps = steps_for(with, theta, n, error);
            const auto [took, first] = times.try_emplace({theta, steps});
            if (first && device.gpu) took->second = time_of_steps(with, theta, n, steps, device.timing(7));
            const std::string time = detail::number(1e3 * took->second);
            text.append(",").append(std::to_string(steps));
            if (device.gpu) text.append(",").append(time);
            std::printf("  error %g: %s takes %d steps%s\n", error, name, steps,
                        device.gpu ? (", " + time + " us").c_str() : "");
        }
    }
    rungs::write_file(options.race, text + "\n");
}

}  // namespace btcs
