#pragma once
// A GPU, its workers and a clock that are made up, for tests of how speed is judged: time passes only where
// the model says so.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "judge/result/result.hpp"

namespace rungs::made {

/// What the worker of an executable does. Its answer to an input is twice that.
struct Runner {
    std::function<double(int run)> seconds;      ///< of one call of its nth run, from 0
    std::function<bool(int run)> is_wrong = {};  ///< whether that run's answers are
    std::function<std::optional<judge::Cause>(int run)> fails = {};
    std::optional<judge::Cause> does_not_start = {};
};

struct Machine {
    std::map<std::string, Runner> runners;          ///< by the executable's name
    std::size_t most_bytes = std::size_t{1} << 40;  ///< of the device's memory
    std::function<void()> while_timed = [] {};      ///< called in the middle of every run
};

/// The only one.
Machine& machine();

/// A test begins with one that nothing runs on.
void new_machine();

/// Lets time pass.
void pass(double seconds);

/// Whether a worker of that executable runs.
bool is_alive(const std::string& executable);

/// Bytes of the device that are taken, and workers' memories that are there.
std::size_t device_bytes();
std::size_t memories();

}  // namespace rungs::made
