#pragma once
// What reads a file that a student has made, and is no tool of the system's, is a program of its own
// (autograder/reader/). It is held like a worker, with neither files, network nor other processes, and a
// bound on its time and memory; it has the file and its question, and nothing else of the judge's. So a fault
// of the reader's costs what it would have told, and reaches nobody. Its answers are counted and checked.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "judge/confine/process.hpp"

namespace rungs::judge {

/// A program that reads, and how much of the machine it gets for that.
struct Reader {
    std::filesystem::path program;
    double cpu_seconds = 10;              ///< usual programs are read in 0.01
    std::size_t memory = 512U << 20;      ///< bytes
    std::vector<std::string> words = {};  ///< behind its name
};

/// Reads programs' debug information: autograder/reader/program_reader.cpp.
Reader program_reader();

/// Starts a reader with these descriptors: ours, and the number (3 or more) each gets there.
/// @throws std::system_error where that fails
std::unique_ptr<Process> start_held(const Reader& reader, std::vector<std::pair<int, int>> descriptors);

/// What `reader` answers to `question` about `file`: at most `most` numbers. Nothing where it fails or takes
/// too long; `why_not` says how then, and stays as it is otherwise. @throws Stopped
std::vector<std::uint32_t> read_numbers(const Reader& reader, const std::filesystem::path& file,
                                        const std::string& question, std::size_t most, std::string& why_not,
                                        const std::atomic<bool>* stop = nullptr);

}  // namespace rungs::judge
