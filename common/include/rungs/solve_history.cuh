#pragma once
// How the residual of iterative methods falls with time: what a chapter's program writes for --history.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "rungs/atomic_file.hpp"
#include "rungs/csv.hpp"
#include "rungs/timing.cuh"

namespace rungs {

/// What a solve has left.
struct Reached {
    int iterations = 0;   ///< that were done
    double residual = 1;  ///< ||b - A x|| / ||b||
};

/// A table with the rows method,iteration,seconds,residual. Every row is a solve of its own, from x = 0,
/// which was timed as a whole: nothing is put between two measured points.
class SolveHistory {
  public:
    /// @param least    a method ends at this residual,
    /// @param seconds  or at a solve that takes longer
    /// @param timing   how often a solve is repeated
    SolveHistory(double least, double seconds, const TimingOptions& timing)
        : least_(least), seconds_(seconds), timing_(timing) {}

    /// Solves with ever more iterations, about 1.4 times as many each time, until `least` is reached, a solve
    /// takes too long, or eight in a row have gained nothing.
    /// @param method  its name in the table
    /// @param run     run(k, stream) queues a solve of at most k iterations
    /// @param look    look(k) is what the last solve has left
    template <class Run, class Look>
    void record(const std::string& method, const Run& run, const Look& look) {
        std::vector<double> residuals;
        csv_.row(method, 0, 0.0, 1.0);
        for (int k = 1; k < (1 << 28); k = std::max(k + 1, static_cast<int>(1.4 * k))) {
            const auto timed = [&](int most) {
                return 1e-3 * median_milliseconds([&](cudaStream_t stream) { run(most, stream); }, timing_);
            };
            double seconds = timed(k);
            const Reached now = look(k);
            if (now.iterations < k) seconds = timed(now.iterations);  // without what was queued in vain
            csv_.row(method, now.iterations, seconds, now.residual);
            residuals.push_back(now.residual);
            const std::size_t tried = residuals.size();
            const bool stalled = tried > 8 && !(now.residual < 0.9 * residuals[tried - 9]);
            if (now.residual <= least_ || now.iterations < k || seconds > seconds_ || stalled) break;
        }
        std::printf("%-32s %s\n", method.c_str(), last_row().c_str());
    }

    /// Writes the table under a header of machine, date and command. @throws FileError
    void write(const std::string& file, const std::string& machine, const std::string& command) const {
        char date[16] = "";
        const std::time_t now = std::time(nullptr);
        std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
        std::string rows = csv_.text();
        std::erase(rows, '\r');  // as the other tables in a chapter's bench/
        write_file(file,
                   "# machine: " + machine + "\n# date: " + date + "\n# command: " + command + "\n" + rows);
    }

    const std::string& text() const { return csv_.text(); }

  private:
    std::string last_row() const {
        const std::string& text = csv_.text();
        const std::size_t end = text.size() - 2, begin = text.rfind('\n', end - 1) + 1;
        return text.substr(begin, end - begin);
    }

    double least_, seconds_;
    TimingOptions timing_;
    Csv csv_{{"method", "iteration", "seconds", "residual"}};
};

}  // namespace rungs
