#pragma once
// The chapter's program at work: a problem with a known solution, how many iterations a rung needs for it,
// and what an iteration costs.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "exam/reference.hpp"
#include "red_black.cuh"
#include "rungs/device_buffer.cuh"
#include "rungs/image.hpp"
#include "rungs/timing.cuh"

namespace red_black {

/// A difference of two times: only one above 0 is a time.
inline std::string difference_text(double time) {
    if (!(time > 0)) return "noisy";
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", time);
    return text.data();
}

/// The manufactured problem in device memory, from u = 0.
template <class T>
class Study {
  public:
    Study(int n, rungs::TimingOptions timing)
        : n_(n),
          timing_(timing),
          solution_(manufactured(n).u),
          start_(std::vector<T>(solution_.size(), T(0))),
          b_(converted(manufactured(n).b)),
          u_(solution_.size()),
          work_(work_size(n)) {
        first_ = residual_norm(Grid(solution_.size(), 0.0), manufactured(n).b, n);
    }

    /// The norms after each of `iterations` iterations, relative to that of the start.
    std::vector<double> run(const Rung& rung, int iterations, const Tuning& tuning) {
        rungs::DeviceBuffer<double> norms(static_cast<std::size_t>(iterations));
        rung.of(T())(start_.data(), b_.data(), u_.data(), norms.data(), work_.data(), n_, iterations, tuning,
                     nullptr);
        std::vector<double> all = norms.to_host();
        for (double& norm : all) norm /= first_;
        return all;
    }

    /// After how many iterations the residual is below `tolerance`; 0 for none of the first `most`.
    int iterations_to(const Rung& rung, double tolerance, int most, const Tuning& tuning) {
        for (int tried = std::min(most, 50);; tried = std::min(most, 4 * tried)) {
            const std::vector<double> norms = run(rung, tried, tuning);
            const auto reached = std::find_if(norms.begin(), norms.end(),
                                              [&](double norm) { return norm > 0 && norm <= tolerance; });
            if (reached != norms.end()) return static_cast<int>(reached - norms.begin()) + 1;
            if (tried == most) return 0;
        }
    }

    /// Milliseconds of so many iterations.
    double milliseconds(const Rung& rung, int iterations, const Tuning& tuning) {
        rungs::DeviceBuffer<double> norms(static_cast<std::size_t>(iterations));
        const auto call = [&](cudaStream_t stream) {
            rung.of(T())(start_.data(), b_.data(), u_.data(), norms.data(), work_.data(), n_, iterations,
                         tuning, stream);
        };
        return rungs::median_milliseconds(call, timing_);
    }

    /// Microseconds of one more iteration, without what a call does once; "noisy" where more iterations took
    /// no longer, which other work on the machine can do.
    std::string microseconds_each(const Rung& rung, const Tuning& tuning) {
        return difference_text(1e3 * (milliseconds(rung, 18, tuning) - milliseconds(rung, 6, tuning)) / 12);
    }

    /// u of the last run, and largest |u - solution|.
    std::vector<T> u() const { return u_.to_host(); }
    double error() const {
        const std::vector<T> got = u();
        double worst = 0;
        for (std::size_t c = 0; c < got.size(); ++c) worst = std::max(worst, std::abs(got[c] - solution_[c]));
        return worst;
    }

    const Grid& solution() const { return solution_; }
    const T* start() const { return start_.data(); }
    const T* b() const { return b_.data(); }
    T* work() { return work_.data(); }

  private:
    static std::vector<T> converted(const Grid& grid) { return std::vector<T>(grid.begin(), grid.end()); }

    int n_;
    rungs::TimingOptions timing_;
    Grid solution_;
    rungs::DeviceBuffer<T> start_, b_, u_, work_;
    double first_ = 1;
};

/// By how much an iteration shrank the residual in the second half of a run, in the mean.
inline double last_factor(const std::vector<double>& norms) {
    if (norms.size() < 5) return 0;
    const std::size_t half = norms.size() / 2;
    return std::pow(norms.back() / norms[half], 1.0 / static_cast<double>(norms.size() - 1 - half));
}

/// The middle slice of u - solution, or of u, as a picture.
inline void draw_slice(const std::filesystem::path& file, const Study<float>& study, int n, bool error) {
    const std::vector<float> u = study.u();
    const std::size_t size = static_cast<std::size_t>(n), from = size / 2 * size * size;
    std::vector<float> slice(u.begin() + from, u.begin() + from + size * size);
    for (std::size_t c = 0; c < slice.size() && error; ++c)
        slice[c] -= static_cast<float>(study.solution()[from + c]);
    rungs::Picture picture;
    picture.map = rungs::ColourMap::symmetric;
    picture.pixel = std::max<std::size_t>(1, 320 / size);
    rungs::write_field_png(file, std::span<const float>(slice), size, size, picture);
}

}  // namespace red_black
