#pragma once
// The loops around sweeps that decide by themselves when to stop. Given, as iterate.cuh.

#include <algorithm>
#include <limits>
#include <vector>

#include "fields.cuh"
#include "jacobi.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"

namespace jacobi {

/// How far a run of steps came.
struct Run {
    int steps = 0;       ///< done, the last of them included
    double square = 0;   ///< the sum of squares of the last one
    bool small = false;  ///< that is at most the limit
    Fields before{};     ///< where the last step began
};

/// The loop of rungs 04 and above. The host queues many steps and looks at their norms afterwards. A step is
/// one sweep or several; it reads `squares[-1]`, the sum of squares of the step before, and does nothing at
/// all if that is at most `limit`; else it adds its own sum to `squares[0]`. So the steps that were queued
/// after the last one leave their zero in turn, and nothing moves any more.
/// @param fields  where to begin; afterwards where the last step ended
/// @param most    the largest number of steps
/// @param queue   `queue(fields, count, squares)` queues `count` steps, which begin at `fields`; their sums
///                are squares[0], ... squares[count - 1]
template <class Queue>
Run run_steps(Fields& fields, int most, double limit, cudaStream_t stream, const Queue& queue) {
    constexpr int look_every = 128;  // steps. A look costs two copies, a memset and a wait, 14 us on an H200;
                                     // a step too many only a launch
    constexpr std::size_t bytes = (look_every + 1) * sizeof(double);
    auto* const scratch = static_cast<double*>(rungs::stream_scratch(stream, bytes));
    std::vector<double> squares(look_every + 1, std::numeric_limits<double>::infinity());
    Run run;
    run.before = fields;
    while (run.steps < most && !run.small) {
        const int count = std::min(look_every, most - run.steps);
        squares[0] = squares.back();
        CUDA_CHECK(cudaMemcpyAsync(scratch, squares.data(), sizeof(double), cudaMemcpyHostToDevice, stream));
        queue(fields, count, scratch + 1);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpyAsync(squares.data(), scratch, bytes, cudaMemcpyDeviceToHost, stream));
        CUDA_CHECK(cudaMemsetAsync(scratch, 0, bytes, stream));  // for the next steps, or whoever comes next
        CUDA_CHECK(cudaStreamSynchronize(stream));
        for (int i = 1; i <= count && !run.small; ++i) {
            run.before = fields;
            fields.advance();
            ++run.steps;
            run.square = squares[static_cast<std::size_t>(i)];
            run.small = run.square <= limit;
        }
    }
    return run;
}

/// A solver whose steps are single sweeps: rungs 04 to 06.
/// @param sweep  `sweep(from, to, squares)` queues one sweep, a step in the sense of run_steps
template <class Sweep>
void iterate_on_device(const float* start, float* phi, float* work, float* norm, int* sweeps,
                       const Lattice& lattice, int most, float eps, cudaStream_t stream, const Sweep& sweep) {
    Fields fields{start, phi, work};
    const Run run =
        run_steps(fields, most, limit_of(eps), stream, [&](Fields at, int count, double* squares) {
            for (int i = 0; i < count && !lattice.empty(); ++i, at.advance())
                sweep(at.now, at.next(), squares + i);
        });
    finish(fields, lattice, run.square, run.steps, norm, sweeps, stream);
}

/// A solver whose steps are passes of several sweeps: rung 08 and the summit. A pass measures its last sweep
/// alone. No norm is larger than the one before, so when that one is small and the pass before ended with
/// one that was not, the first small sweep is in this pass. The loop then goes back to where the pass
/// began, which the other buffer still holds, and repeats it in passes of one sweep.
/// @param depth  sweeps in a pass; fewer where `most` or the way back asks for it
/// @param queue  `queue(fields, levels, passes, squares)` queues that many passes of `levels` sweeps, each a
///               step in the sense of run_steps
template <class Queue>
void iterate_in_passes(const float* start, float* phi, float* work, float* norm, int* sweeps,
                       const Lattice& lattice, int most, float eps, int depth, cudaStream_t stream,
                       const Queue& queue) {
    const auto run = [&](Fields& fields, int levels, int most_passes) {
        return run_steps(fields, most_passes, limit_of(eps), stream,
                         [&](Fields at, int count, double* squares) {
                             if (!lattice.empty()) queue(at, levels, count, squares);
                         });
    };
    Fields fields{start, phi, work};
    Run last;
    int done = 0;
    for (int levels = depth; done < most;) {
        levels = std::min(levels, most - done);
        last = run(fields, levels, levels == 1 ? std::min(depth, most - done) : (most - done) / levels);
        done += last.steps * levels;
        if (!last.small) continue;
        if (levels == 1) break;
        fields = last.before;
        done -= levels;
        levels = 1;
    }
    finish(fields, lattice, last.square, done, norm, sweeps, stream);
}

}  // namespace jacobi
