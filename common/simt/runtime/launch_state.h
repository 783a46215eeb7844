/// @file
/// One running launch, as the OS threads that work on it share it.
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "simt/launch.h"
#include "simt/stream.h"

namespace simt {

/// Nanoseconds of processor time that a thread has had.
std::int64_t processor_time(pthread_t thread);

/// A bijection of 0 .. n-1 chosen by a seed; the identity for seed 0. A small Feistel network over the next
/// even power of two, walked until it lands below n.
class Permutation {
  public:
    Permutation(std::uint64_t n, std::uint64_t seed);
    std::uint64_t operator()(std::uint64_t i) const;

  private:
    std::uint64_t n_;
    std::uint64_t seed_;
    unsigned half_bits_ = 0;
};

struct Launch {
    Launch(const Grid& grid, unsigned max_workers);

    const Grid& grid;
    const std::uint64_t blocks;
    const unsigned lanes;  ///< of one block
    const std::uint64_t seed;
    std::vector<std::uint16_t> order;  ///< in which a block's lanes start; empty: ascending
    Permutation block_order;
    std::uint64_t chunk;  ///< blocks a worker takes at a time
    const unsigned max_workers;

    std::atomic<std::uint64_t> next{0};  ///< first block that no worker has taken
    std::atomic<bool> cancelled{false};

    std::int64_t overdue = 0;  ///< ns it has run when the watchdog began to end it; 0: it has not

    // Guarded by `mutex`.
    std::mutex mutex;
    std::condition_variable changed;
    unsigned joined = 0;  ///< workers
    struct Working {
        pthread_t thread;
        std::int64_t since;  ///< ns of processor time that it had had when it joined
    };
    std::vector<Working> threads;  ///< of these, for the watchdog
    unsigned idle = 0;             ///< of these: all their blocks wait at the grid barrier
    std::uint64_t at_grid_barrier = 0;
    std::uint64_t finished = 0;  ///< blocks; counted in cooperative launches only
    cudaError_t error = cudaSuccess;

    const unsigned depth;  ///< launches around this one: 0 for a host's
    // Guarded by `lanes_mutex`, which only lanes take: one that is ended by force may keep it.
    std::mutex lanes_mutex;
    std::vector<Action> nested, tail;  ///< launches by its lanes, and those to its tail
    struct LaneError {
        uint3 block, thread;
        cudaError_t error;
    };
    std::vector<LaneError> lane_errors;  ///< the last ones, of lanes that made one

    std::atomic<std::uint64_t> generation{0};    ///< of the grid barrier
    std::atomic<unsigned> spinning{0};           ///< workers whose lanes only poll
    std::atomic<std::int64_t> last_progress{0};  ///< ns: when one of these last got anywhere

    /// A random number that belongs to a block in the launch's order.
    std::uint64_t draw(std::uint64_t block) const;
    bool all_started() const { return next.load(std::memory_order_relaxed) >= blocks; }
    /// Stops the launch with `error`; the first caller's error counts, and only it gets true.
    bool cancel(cudaError_t error);
};

}  // namespace simt
