/// @file
/// Switches of the CPU backend and its reports, for tests and tools. Device code needs none of it.
///
/// Each switch starts from the environment:
/// | variable | meaning | default |
/// |---|---|---|
/// | `RUNGS_SIMT_THREADS` | OS threads that run blocks, the launching one included | all cores |
/// | `RUNGS_SIMT_SEED` | order of blocks, which overlap in check mode, warps and lanes; 0: ascending | 0 |
/// | `RUNGS_SIMT_POISON` | 0: shared memory starts with what an earlier block left there | 1 |
/// | `RUNGS_SIMT_LOOPS` | 0: each lane runs on a stack of its own, also where loops over lanes would do | 1 |
/// | `RUNGS_SIMT_SPIN_LIMIT` | seconds after which a launch whose lanes only poll is ended | 3 |
/// | `RUNGS_SIMT_TIME_LIMIT` | seconds after which any launch is ended; 0: never | 0 |
/// | `RUNGS_SIMT_STACK` | bytes of a lane's stack | 65536 |
/// | `RUNGS_SIMT_QUIET` | 1: reports are kept, not printed | 0 |
/// | `RUNGS_SIMT_MULTIPROCESSORS` | multiprocessors of the virtual device | 16 |
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace simt {

/// OS threads that run blocks; at least 1, at most 256.
void set_threads(unsigned threads);
unsigned thread_count();

/// The order in which blocks, warps of a block, and lanes of a warp start. A program whose result depends on
/// it is wrong. One seed always gives one order.
void set_seed(std::uint64_t seed);
std::uint64_t seed();

/// Whether shared memory holds 0xFF bytes (NaN, -1) when a block starts.
void set_poison(bool on);
bool poisons_shared();

/// Whether blocks are run by loops over their lanes, of kernels for which the translator has made such.
void set_loops_over_lanes(bool on);
bool loops_over_lanes();

/// Seconds after which a launch is ended in which every lane only waits or polls; half the time limit, if
/// that is shorter: which of the two ends a launch must not depend on what else the machine does.
void set_spin_limit(double seconds);
std::int64_t spin_limit_ns();

/// Seconds of processor time of its busiest thread after which a launch is ended, whatever it does; 0: never.
/// The report names the line at which a lane was. (By a signal, SIGVTALRM, to the threads that run it.)
void set_time_limit(double seconds);
std::int64_t time_limit_ns();

/// Multiprocessors that the virtual device says it has, from 1 to 4096. Programs size grids by them: give
/// them as many as a device has whose time is to be modelled (simt/inspect/model.h).
void set_multiprocessors(int count);
int multiprocessors();

/// Whether reports go to standard error as well.
void set_quiet(bool on);

/// Bytes of a lane's stack, for launches from now on; at least 64 KiB.
std::size_t lane_stack_size();
void set_lane_stack_size(std::size_t bytes);

/// What the last failed launch of this process said, or "". Several lines: one for people, and one for tools
/// that starts with `simt: ` and holds `key=value` pairs.
std::string last_report();
void clear_report();

/// Is told, in place of standard error, what last_report() says, as soon as a launch fails; `deadlock`:
/// because its threads wait for each other.
using ReportListener = void (*)(const std::string& report, bool deadlock);
void set_report_listener(ReportListener listener);

}  // namespace simt
