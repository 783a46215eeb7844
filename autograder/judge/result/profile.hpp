#pragma once
// Where the seconds of a verdict go.

#include <array>
#include <chrono>
#include <cstddef>

namespace rungs::judge {

/// The parts of a verdict.
enum class Part {
    build,         ///< the worker
    start,         ///< workers that begin, and create a CUDA context
    inputs,        ///< the exam makes them
    calls,         ///< of the rung, in run mode
    expected,      ///< the exam judges what they left
    check_build,   ///< the worker in check mode; this and the next three beside run mode, of a rung that is
                   ///< right
    checks,        ///< calls in check mode, and what they report
    counts,        ///< counted calls of the rung
    solutions,     ///< counted calls of baseline and reference, their build included
    waiting,       ///< for check mode, once run mode has come to its end
    clock_builds,  ///< of the workers that it is timed against
    turn,          ///< for the clock, which other rungs have; no part of the rung's seconds
    clock,         ///< timed calls, those of baseline and reference included
    tools,         ///< compute-sanitizer
};
constexpr std::size_t parts = 14;

/// "build", "start", ...: the word in the JSON.
const char* name_of(Part part);

/// Seconds by part. Not thread-safe: it belongs to the thread that judges.
class Profile {
  public:
    double seconds(Part part) const { return seconds_[static_cast<std::size_t>(part)]; }
    void add(Part part, double seconds) { seconds_[static_cast<std::size_t>(part)] += seconds; }

  private:
    std::array<double, parts> seconds_{};
};

/// Counts the time from here to the end of the block.
class Lap {
  public:
    Lap(Profile& profile, Part part)
        : profile_(profile), part_(part), start_(std::chrono::steady_clock::now()) {}
    ~Lap() {
        profile_.add(part_, std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count());
    }
    Lap(const Lap&) = delete;
    Lap& operator=(const Lap&) = delete;

  private:
    Profile& profile_;
    Part part_;
    std::chrono::steady_clock::time_point start_;
};

}  // namespace rungs::judge
