#pragma once
// One call of a rung on one case of its chapter's exam, for tests.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "ladder/chapter_exam.hpp"
#include "ladder/entries.hpp"
#include "ladder/invocation.hpp"
#include "rungs/catch.hpp"

namespace rungs {

/// The exam of the chapter that a test is compiled for.
inline const Exam& chapter_exam() {
    static const std::unique_ptr<Exam> exam = make_chapter_exam();
    return *exam;
}

/// A rung's calls, one for each problem that it solves.
inline std::vector<Entry> entries_of(const std::string& rung) {
    std::vector<Entry> entries;
    for (const LadderEntry& one : ladder_entries()) {
        if (one.rung == rung) entries.push_back(one.entry);
    }
    return entries;
}

/// A case, its input in device memory with NaN around, and outputs that are NaN where the exam
/// gives no content.
class Trial {
  public:
    static constexpr std::size_t guard = 4096;  ///< bytes on either side of an array

    /// @throws std::invalid_argument where the rung does not solve the problem
    Trial(const std::string& rung, const Case& which) : Trial(rung, which, chapter_exam().make(which)) {}

    /// @param task  what the exam makes of `which`, with other numbers, say
    Trial(const std::string& rung, const Case& which, Task task)
        : rung_(rung), which_(which), task_(std::move(task)), invocation_(task_, guard) {
        const std::vector<Entry> entries = entries_of(rung);
        const auto found = std::find_if(entries.begin(), entries.end(),
                                        [&](const Entry& one) { return which.problem == one.problem; });
        if (found == entries.end()) throw std::invalid_argument(rung + " does not solve " + which.problem);
        entry_ = *found;
        invocation_.reset_outputs();
    }

    void run(cudaStream_t stream = nullptr) const { invocation_.run(entry_, stream); }

    /// Fails the test unless the exam passes what the outputs hold.
    void require() const {
        const Check check = chapter_exam().check(which_, task_, invocation_.results());
        CAPTURE(rung_, which_.problem, which_.sizes, which_.kind, which_.seed, check.error, check.tolerance,
                check.measure, check.cause);
        REQUIRE(check.passed);
    }

    /// The numbers that output `index` holds.
    template <class T>
    std::vector<T> output(std::size_t index) const {
        const Array array = invocation_.outputs()[index].to_host();
        return {array.as<T>().begin(), array.as<T>().end()};
    }

    const Case& which() const { return which_; }
    const Task& task() const { return task_; }
    Invocation& invocation() { return invocation_; }
    const Invocation& invocation() const { return invocation_; }

  private:
    std::string rung_;
    Case which_;
    Task task_;
    Invocation invocation_;
    Entry entry_{};
};

/// Fails the test unless a history has numbers up to ||r_k|| and NaN after it.
inline void require_marked(const std::vector<double>& history, std::size_t k) {
    for (std::size_t i = 0; i <= k; ++i) REQUIRE(history[i] >= 0);
    for (std::size_t i = k + 1; i < history.size(); ++i) REQUIRE(std::isnan(history[i]));
}

}  // namespace rungs
