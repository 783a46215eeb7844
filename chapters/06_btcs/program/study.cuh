#pragma once
// The chapter's program at work: every rung on a step of the same rod, and what the schemes make of a
// rod through time.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "btcs.cuh"
#include "exam/diagnosis.hpp"
#include "exam/reference.hpp"
#include "exam/systems.hpp"
#include "figures/pictures.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/random.hpp"
#include "rungs/timing.cuh"

namespace btcs {

/// How a rung did.
struct Tried {
    std::string outcome;  ///< a word or two for the table
    double error = 0;     ///< over what is allowed
    double us_a_row = 0;  ///< time of a call, divided by its rows and steps
    bool right = true;
};

/// One march of n points, through a rung.
inline Vector march_with(const Rung& rung, const Vector& start, double r, double theta, int steps) {
    const rungs::DeviceBuffer<float> from(std::vector<float>(start.begin(), start.end())),
        cold(std::vector<float>(static_cast<std::size_t>(steps) + 1, 0.0f));
    rungs::DeviceBuffer<float> u(start.size()), work(start.size());
    rung.march(from.data(), cold.data(), cold.data(), u.data(), work.data(),
               static_cast<long long>(start.size()), steps, r, theta, nullptr);
    const std::vector<float> got = u.to_host();
    return {got.begin(), got.end()};
}

/// A wave on n points: sin(waves pi x).
inline Vector wave(std::size_t n, double waves) {
    Vector u(n);
    for (std::size_t i = 0; i < n; ++i)
        u[i] = std::sin(std::numbers::pi * waves * static_cast<double>(i + 1) / static_cast<double>(n + 1));
    return u;
}

/// What a rung is tried on, for the table.
inline const char* what(const Rung& rung) {
    if (rung.march) return "8 steps";
    if (rung.batch) return "64 systems";
    if (rung.solve) return "one system";
    return rung.scan ? "one recurrence" : "one matrix";
}

/// Tries a rung whose answer is known number by number. @returns the largest distance from it, over `allowed`
template <class Call>
double distance(const Call& call, const std::vector<const Vector*>& right, double allowed) {
    std::vector<rungs::DeviceBuffer<float>> out;
    for (const Vector* one : right) out.emplace_back(one->size());
    call(out);
    double most = 0;
    for (std::size_t k = 0; k < right.size(); ++k) {
        const std::vector<float> got = out[k].to_host();
        for (std::size_t i = 0; i < got.size(); ++i) {
            const double error = std::abs(got[i] - (*right[k])[i]) / allowed;
            if (!(error <= most)) most = error;
        }
    }
    return most;
}

/// Tries the rungs that solve nothing: the rod's matrix, that of elements of length 1, and a recurrence.
inline Tried attempt_numbers(const Rung& rung, int n, double r, const rungs::TimingOptions& timing) {
    const auto rows = static_cast<std::size_t>(n);
    const rungs::DeviceBuffer<float> ones(std::vector<float>(rows + 2, 1.0f));
    std::vector<float> places(rows + 2);
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<float>(i);
    const rungs::DeviceBuffer<float> nodes(places);
    Tried tried;
    const auto time = [&](const auto& call, auto& out) {
        tried.us_a_row = 1e3 * rungs::median_milliseconds([&](cudaStream_t s) { call(out, s); }, timing) / n;
    };
    const auto judge = [&](const auto& call, const std::vector<const Vector*>& right, double allowed) {
        tried.error = distance([&](auto& out) { call(out, nullptr), time(call, out); }, right, allowed);
    };
    if (rung.create) {
        const Matrix a = heat_matrix(Vector(rows + 1, 1.0), r);
        judge(
            [&](auto& out, cudaStream_t stream) {
                rung.create(ones.data(), out[0].data(), out[1].data(), out[2].data(), n, r, stream);
            },
            {&a.lower, &a.diagonal, &a.upper}, 0x1p-21 * (1 + 4 * r));
    } else if (rung.assemble) {
        const Vector beside(rows, -1.0), middle(rows, 2.0), load(rows, 1.0);
        judge(
            [&](auto& out, cudaStream_t stream) {
                rung.assemble(nodes.data(), ones.data(), ones.data(), out[0].data(), out[1].data(),
                              out[2].data(), out[3].data(), n, stream);
            },
            {&beside, &middle, &beside, &load}, 0x1p-20);
    } else {
        Vector right(rows);
        for (std::size_t i = 0; i < rows; ++i) right[i] = 1 + (i > 0 ? 0.5 * right[i - 1] : 0);
        judge([&](auto& out, cudaStream_t stream) { rung.scan(ones.data(), out[0].data(), n, 0.5, stream); },
              {&right}, 0x1p-19);
    }
    tried.right = tried.error <= 1;
    if (!tried.right) tried.outcome = "WRONG: more than rounding explains";
    return tried;
}

/// Tries a rung on one BTCS step of a rod with random heat; a batch on 64 of them, a march on eight steps.
inline Tried attempt(const Rung& rung, int n, double r, const rungs::TimingOptions& timing) {
    if (!rung.march && !rung.batch && !rung.solve) return attempt_numbers(rung, n, r, timing);
    constexpr int steps = 8;
    const double theta = rung.explicit_only ? 0 : 1;
    if (rung.batch && n > rung.most_rows) return {"left out: too many rows", 0, 0, true};
    const int systems = rung.batch ? 64 : 1;
    const auto rows = static_cast<std::size_t>(n), count = static_cast<std::size_t>(systems);
    Tried tried;
    const auto time = [&](const auto& call, double divisor) {
        tried.us_a_row = 1e3 * rungs::median_milliseconds(call, timing) / divisor;
    };
    if (rung.march) {
        const std::vector<float> heat = rungs::random_field(rows, 1, rungs::Uniform{0, 1});
        const Vector start(heat.begin(), heat.end()), cold(steps + 1, 0.0);
        const Vector got = march_with(rung, start, r, theta, steps);
        const Arrival right = march({{rows, steps, r, theta}, start, cold, cold});
        const double allowed = rounding_bound({rows, steps, r, theta}, right.largest);
        for (std::size_t i = 0; i < rows; ++i) {
            const double error = std::abs(got[i] - right.u[i]) / allowed;
            if (!(error <= tried.error)) tried.error = error;
        }
        tried.right = tried.error <= 1;
        const rungs::DeviceBuffer<float> from(heat), ends(std::vector<float>(steps + 1, 0.0f));
        rungs::DeviceBuffer<float> u(rows), work(rows);
        time(
            [&](cudaStream_t stream) {
                rung.march(from.data(), ends.data(), ends.data(), u.data(), work.data(), n, steps, r, theta,
                           stream);
            },
            static_cast<double>(n) * steps);
    } else {
        std::vector<System> all;
        std::vector<float> parts[4];
        const auto at = [&](std::size_t i, std::size_t s) {
            return rung.interleaved ? i * count + s : s * rows + i;
        };
        for (auto& part : parts) part.resize(rows * count);
        for (std::size_t s = 0; s < count; ++s) {
            all.push_back(rod_system(rows, r, {}, rungs::random_field(rows, s + 1, rungs::Uniform{0, 1})));
            const std::vector<float>* own[] = {&all[s].lower, &all[s].diagonal, &all[s].upper, &all[s].rhs};
            for (std::size_t k = 0; k < 4; ++k) {
                for (std::size_t i = 0; i < rows; ++i) parts[k][at(i, s)] = (*own[k])[i];
            }
        }
        const rungs::DeviceBuffer<float> lower(parts[0]), diagonal(parts[1]), upper(parts[2]), rhs(parts[3]),
            cold(std::vector<float>(rows, 0.0f));
        rungs::DeviceBuffer<float> x(rows * count);
        rungs::DeviceBuffer<int> states(count);
        rungs::DeviceBuffer<long long> state(1);
        const auto call = [&](cudaStream_t stream) {
            if (rung.batch) {
                rung.batch(lower.data(), diagonal.data(), upper.data(), rhs.data(), x.data(), states.data(),
                           n, systems, stream);
            } else {
                rung.solve(lower.data(), diagonal.data(), upper.data(), rhs.data(), cold.data(), x.data(),
                           state.data(), n, stream);
            }
        };
        call(nullptr);
        const std::vector<float> got = x.to_host();
        for (std::size_t s = 0; s < count && tried.right; ++s) {
            const long long status = rung.batch ? states.to_host()[s] : state.to_host()[0];
            if (status == not_converged) tried.outcome = "not converged";
            Vector own(rows);
            for (std::size_t i = 0; i < rows; ++i) own[i] = got[at(i, s)];
            const Finding finding = examine(all[s], own, status, Method::iteration);
            tried.error = std::max(tried.error, finding.error / tolerance);
            tried.right = finding.passed() || status == not_converged;
        }
        time(call, static_cast<double>(rows * count));
    }
    if (!tried.right) tried.outcome = "WRONG: more than rounding explains";
    return tried;
}

/// Whether a rung is right on a small rod: what is not must not take part in what the program tells.
inline bool is_right(const Rung& rung) {
    const Tried tried = attempt(rung, 127, 0.4, {.rounds = 1, .warm_up = 0, .calls = 1});
    return tried.right && tried.outcome.empty();
}

/// @throws std::runtime_error unless `status` says that a system is solved
inline void require_solved(const Rung& rung, long long status) {
    if (status == solved) return;
    throw std::runtime_error(
        std::string(rung.name) +
        (status == not_converged ? " does not converge within its " + std::to_string(iteration_limit) +
                                       " iterations: take a shorter rod, a smaller r, or another solver"
         : status == indefinite ? " finds r.Ar <= 0, and gives up"
                                : " refuses row " + std::to_string(status) +
                                      " of the matrix, which its diagonal does not dominate in float"));
}

/// The matrix of an implicit step, in device memory.
struct DeviceMatrix {
    rungs::DeviceBuffer<float> lower, diagonal, upper;

    /// @param creates  the rung that makes it there; null: it is made on the host
    /// @param faces    conductivities between the points, one more than there are points
    /// @param r        the mesh ratio, by which the conductivities are multiplied
    DeviceMatrix(const Rung* creates, const Vector& faces, double r) {
        const std::size_t n = faces.size() - 1;
        if (creates) {
            lower = rungs::DeviceBuffer<float>(n), diagonal = rungs::DeviceBuffer<float>(n),
            upper = rungs::DeviceBuffer<float>(n);
            const rungs::DeviceBuffer<float> between(std::vector<float>(faces.begin(), faces.end()));
            creates->create(between.data(), lower.data(), diagonal.data(), upper.data(),
                            static_cast<long long>(n), r, nullptr);
            CUDA_CHECK(cudaDeviceSynchronize());  // `between` ends here
        } else {
            const System system = rod_system(n, r, faces, std::vector<float>(n));
            lower = rungs::DeviceBuffer<float>(system.lower);
            diagonal = rungs::DeviceBuffer<float>(system.diagonal);
            upper = rungs::DeviceBuffer<float>(system.upper);
        }
    }

    /// x for a right-hand side, from which an iteration begins. @throws std::runtime_error
    /// where there is none
    void solve(const Rung& rung, const rungs::DeviceBuffer<float>& rhs, rungs::DeviceBuffer<float>& x) const {
        rungs::DeviceBuffer<long long> status(1);
        rung.solve(lower.data(), diagonal.data(), upper.data(), rhs.data(), rhs.data(), x.data(),
                   status.data(), static_cast<long long>(x.size()), nullptr);
        require_solved(rung, status.to_host()[0]);
    }
};

/// The rod through time, one row a level.
inline History through_time(const Rung& rung, Vector u, double r, double theta, int steps) {
    History history{u};
    for (int k = 0; k < steps; ++k) {
        u = march_with(rung, u, r, theta, 1);
        history.push_back(u);
    }
    return history;
}

/// The largest value there is; infinity where there is none any more.
inline double largest(const Vector& u) {
    const double most = rungs::max_norm(std::span<const double>(u));
    return std::isnan(most) ? std::numeric_limits<double>::infinity() : most;
}

/// What one step of a rung does to waves, for the map of stability.
inline std::vector<Measured> measure_waves(const Rung& rung) {
    constexpr std::size_t n = 15;
    std::vector<Measured> all;
    for (const double theta : {0.0, 1.0, 0.5}) {
        for (const double r : {0.125, 0.5, 2.0, 8.0, 64.0}) {
            for (const double waves : {2.0, 5.0, 8.0, 11.0, 14.0}) {
                const Vector u = wave(n, waves), next = march_with(rung, u, r, theta, 1);
                double product = 0, square = 0;
                for (std::size_t i = 0; i < n; ++i) product += u[i] * next[i], square += u[i] * u[i];
                all.push_back({r, theta, std::numbers::pi * waves / (n + 1), product / square});
            }
        }
    }
    return all;
}

constexpr double study_end = 0.1;  ///< of the march whose error is measured

/// The order between lines k - 1 and k of a series from measure_order(); "-" in the first one, and where the
/// error is as large as rounding in float can be, which grows with the steps.
inline std::string order_text(const rungs::Series& line, std::size_t k) {
    const double steps = study_end / line.x[k];
    const double rounding = 2 * std::numeric_limits<float>::epsilon() * std::max(5.0, steps);
    if (k == 0 || !(line.y[k] > rounding) || !(line.y[k - 1] > rounding)) return "-";
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", std::log2(line.y[k - 1] / line.y[k]));
    return text.data();
}

/// The error of the time discretisation at t = 0.1, against the step: sin(pi x) has to decay by the
/// eigenvalue of the grid.
inline rungs::Series measure_order(const Rung& rung, const std::string& name, double theta) {
    constexpr std::size_t n = 31;
    constexpr double end = study_end, pi = std::numbers::pi;
    const double lambda = 4 * std::pow((n + 1) * std::sin(pi / 2 / (n + 1)), 2);
    rungs::Series line{name, {}, {}};
    for (int steps = 2; steps <= 512; steps *= 2) {
        const Vector start = wave(n, 1);
        Vector u = march_with(rung, start, end / steps * (n + 1) * (n + 1), theta, steps);
        for (std::size_t i = 0; i < n; ++i) u[i] -= std::exp(-lambda * end) * start[i];
        line.x.push_back(end / steps);
        line.y.push_back(largest(u));
    }
    return line;
}

/// A rod of two materials, the middle third sixteen times the better insulator, with ends that let no heat
/// out: hot on the left at first. @throws std::runtime_error where the rung does not solve a step
inline History insulated_rod(const Rung& rung, const Rung* creates, std::size_t n, double r, int steps) {
    Vector faces(n + 1, 1.0), u(n, 0.0);
    for (std::size_t i = 0; i <= n; ++i) {
        if (3 * i > n && 3 * i < 2 * n) faces[i] = 1 / 16.0;
        if (5 * i < n) u[i] = 1;
    }
    faces[0] = faces[n] = 0;
    const DeviceMatrix matrix(creates, faces, r);
    History history{u};
    rungs::DeviceBuffer<float> now(std::vector<float>(u.begin(), u.end())), next(n);
    for (int k = 0; k < steps; ++k) {
        matrix.solve(rung, now, next);
        std::swap(now, next);
        const std::vector<float> got = now.to_host();
        history.emplace_back(got.begin(), got.end());
    }
    return history;
}

/// -u'' = 1 on (0, 1) with u = 0 at the ends, by linear elements on nodes that lie the closer the nearer they
/// are to 0, assembled by one rung and solved by another. @returns the largest error at a node, where only
/// rounding should be left. @throws std::runtime_error where it is not solved
inline double elements_error(const Rung& assembles, const Rung& solves, std::size_t n) {
    std::vector<float> places(n + 2);
    for (std::size_t i = 0; i < places.size(); ++i) {
        const double x = static_cast<double>(i) / static_cast<double>(n + 1);
        places[i] = static_cast<float>(x * (1 + x) / 2);
    }
    const rungs::DeviceBuffer<float> nodes(places), ones(std::vector<float>(n + 1, 1.0f)),
        cold(std::vector<float>(n, 0.0f));
    rungs::DeviceBuffer<float> lower(n), diagonal(n), upper(n), rhs(n), u(n);
    rungs::DeviceBuffer<long long> status(1);
    const auto size = static_cast<long long>(n);
    assembles.assemble(nodes.data(), ones.data(), ones.data(), lower.data(), diagonal.data(), upper.data(),
                       rhs.data(), size, nullptr);
    solves.solve(lower.data(), diagonal.data(), upper.data(), rhs.data(), cold.data(), u.data(),
                 status.data(), size, nullptr);
    require_solved(solves, status.to_host()[0]);
    const std::vector<float> got = u.to_host();
    double most = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double x = places[i + 1], error = std::abs(got[i] - x * (1 - x) / 2);
        if (!(error <= most)) most = error;
    }
    return most;
}

/// The heat in a rod.
inline double heat(const Vector& u) {
    double sum = 0;
    for (const double value : u) sum += value;
    return sum;
}

}  // namespace btcs
