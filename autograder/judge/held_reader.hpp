#pragma once
// What reads a file that a student has made, and is no program of its own, runs in a fork of this process
// that is held like a worker: with neither files, network nor other processes, and a bound on its time and
// memory. So a fault of the reader's costs what it would have told, and reaches nobody. The fork has this
// process's memory: what it answers is counted and checked.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "judge/process.hpp"

namespace rungs::judge {

/// Runs `read`, with `seconds` of processor time and `memory` bytes beside those that this process has by
/// now. Exit status: what `read` returns, or that of one that has thrown.
Command held_reader(std::function<int()> read, double seconds, std::size_t memory);

/// What `read` returns, read like that: at most `most` numbers. Nothing where it fails or takes too long;
/// `why_not` says how then, and stays as it is otherwise. @throws Stopped
std::vector<std::uint32_t> read_numbers(const std::function<std::vector<std::uint32_t>()>& read,
                                        std::size_t most, std::string& why_not,
                                        const std::atomic<bool>* stop = nullptr);

}  // namespace rungs::judge
