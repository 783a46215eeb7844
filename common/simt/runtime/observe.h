/// @file
/// What the runtime tells whoever watches it. In run mode every function here is empty and inlined: nothing
/// is watched and nothing is paid. In check mode (`SIMT_CHECK`, the library simt_check) they are defined in
/// check/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "simt/error.h"
#include "simt/inspect/kinds.h"

#if defined(SIMT_CHECK)
#define SIMT_OBSERVED(declaration) declaration;
#else
#define SIMT_OBSERVED(declaration) \
    inline declaration {}
#endif

namespace simt {
struct Block;
struct Launch;
enum class SymbolKind : unsigned char;

namespace observe {

#if defined(SIMT_CHECK)
constexpr bool on = true;
#else
constexpr bool on = false;
#endif

/// While one lives, what this thread accesses is the runtime's own work, and none of the kernel's.
struct Unobserved {
#if defined(SIMT_CHECK)
    Unobserved();
    ~Unobserved();
    bool before;
#else
    Unobserved() {}
#endif
    Unobserved(const Unobserved&) = delete;
    Unobserved& operator=(const Unobserved&) = delete;
};

/// A launch that passed its checks; blocks of one launch run on one thread in check mode.
SIMT_OBSERVED(void launch_begins(const Launch&))
SIMT_OBSERVED(void launch_ends(const Launch&))

/// The current lane has launched a kernel; to its launch's tail?
SIMT_OBSERVED(void lane_launches(bool))
/// A launch has run its blocks, and those begin that its lanes have made; one of them begins, of its tail or
/// not; all have ended.
SIMT_OBSERVED(void nested_launches_begin())
SIMT_OBSERVED(void nested_launch_begins(bool))
SIMT_OBSERVED(void nested_launches_end())

/// A block starts: its shared memory is new. `number` is its linear index.
SIMT_OBSERVED(void block_begins(Block&, std::uint64_t))
/// The block whose lanes run next.
SIMT_OBSERVED(void block_continues(Block&))

/// The current lane, unlike the one before it, has come to a barrier of the block, of kind `Wait`, by the
/// call that returns to `site`.
SIMT_OBSERVED(void barrier_reached(Block&, int, const void*))
/// All lanes that have not exited have come to a barrier; `grid`: the grid's, which is complete later.
SIMT_OBSERVED(void barrier_completes(Block&))
/// All blocks have come to the grid's barrier.
SIMT_OBSERVED(void grid_barrier_completes())
/// The lanes of a mask, the third parameter, of one warp have met in a WarpOperation, the fourth.
SIMT_OBSERVED(void warp_completes(Block&, unsigned, unsigned, unsigned))
/// The current lane arrives, by the call that returns to `site`, at a barrier in two halves; has come to
/// know that all have, and ends the phase; ends it; has waited for one.
SIMT_OBSERVED(void phase_reached(const void*, const void*))
SIMT_OBSERVED(void phase_completes(const void*))
SIMT_OBSERVED(void phase_ends(const void*))
SIMT_OBSERVED(void phase_awaited(const void*, const void*))
/// The kernel uses tiles of more than a warp.
SIMT_OBSERVED(void tiles_made())
/// The lanes of a tile, whose first warp and number of warps these are, have met in a TileOperation.
SIMT_OBSERVED(void tile_completes(Block&, unsigned, unsigned, unsigned))
/// The current lane ends, in whatever way.
SIMT_OBSERVED(void lane_exits())
/// A warp operation's mask does not name the current lane, which ends here.
SIMT_OBSERVED(void wrong_mask(unsigned, const void*))
/// A shuffle at `site` read a lane that took no part: one that has exited though its mask names
/// it, or another.
SIMT_OBSERVED(void stray_shuffle(bool, const void*))

/// The current lane or the launch failed (deadlock, livelock, crash, assertion or failure): what was printed,
/// and where.
SIMT_OBSERVED(void failed(check::Kind, check::Cause, const char*, const void*))
/// A signal ended the launch, which took too long, or the current lane: what was printed; the return
/// addresses of the calls that it was in, innermost first, with a null behind the last.
SIMT_OBSERVED(void interrupted(check::Kind, check::Cause, const char*, const void* const*))

/// An operation of the stream with this id (legacy default stream? blocking?) begins and ends, on this thread
/// and alone. Without a name it is none: only locked.
SIMT_OBSERVED(void operation_begins(unsigned long long, bool, bool, const char*))
SIMT_OBSERVED(void operation_ends(unsigned long long, const char*))
/// The running operation calls a function of the host.
SIMT_OBSERVED(void host_function_begins())
/// The running operation has allocated this memory for its stream.
SIMT_OBSERVED(void claimed(const void*))
/// The host has waited: for a stream (as above), for everything, for an event.
SIMT_OBSERVED(void host_waits(unsigned long long, bool, bool))
SIMT_OBSERVED(void host_waits_for_all())
SIMT_OBSERVED(void host_waits_for_event(const void*))
/// The running operation records an event; waits for one.
SIMT_OBSERVED(void event_recorded(const void*))
SIMT_OBSERVED(void operation_waits(const void*))
SIMT_OBSERVED(void event_destroyed(const void*))
/// The running operation is a graph, whose nodes follow: handles of those before it, their number, its name.
SIMT_OBSERVED(void graph_begins())
SIMT_OBSERVED(void node_begins(const void* const*, std::size_t, const char*))
SIMT_OBSERVED(void node_ends(const void*))
SIMT_OBSERVED(void graph_ends())

/// The current lane shall stop at its next access. Async-signal-safe.
SIMT_OBSERVED(void ask_to_stop())
/// The host asked for a launch that cannot be: why.
SIMT_OBSERVED(void refused(check::Cause, const char*))

/// The host calls the runtime.
SIMT_OBSERVED(void call_begins())
/// The call will fail, and this is why: what it does wrong, as a clause.
SIMT_OBSERVED(void call_fails(const std::string&))
/// It fails.
SIMT_OBSERVED(void call_failed(cudaError_t))
/// The host has been told the last error of this thread.
SIMT_OBSERVED(void error_read())

/// A copy whose kind says that this address is the host's, and it is device memory: what the kind is called.
SIMT_OBSERVED(void copy_disagrees(const void*, const char*))

/// Memory of the heap: `kind` is a Location::Kind.
SIMT_OBSERVED(void allocated(const void*, std::size_t, unsigned char))
SIMT_OBSERVED(void named(const void*, const char*))
SIMT_OBSERVED(void released(const void*))
/// The function of this name was given an address that it cannot free.
SIMT_OBSERVED(void release_failed(const void*, const char*))
/// A variable at namespace scope.
SIMT_OBSERVED(void symbol_added(const void*, std::size_t, const char*, SymbolKind))
SIMT_OBSERVED(void symbol_removed(const void*))
/// Memory between such variables: nobody's.
SIMT_OBSERVED(void red_zone(const void*, std::size_t))
/// A fetch at `site` of a texel that a texture over linear memory does not have: memory, bytes of a texel,
/// its index, texels.
SIMT_OBSERVED(void stray_fetch(const void*, std::size_t, long, long, const void*))
/// The runtime reads a texel for device code at `site`: memory, bytes, the address whose sector is counted,
/// how many lanes one request covers.
SIMT_OBSERVED(void texel_read(const void*, std::size_t, const void*, unsigned, const void*))
/// Host memory that belongs to the runtime and that inlined device code reads.
SIMT_OBSERVED(void runtime_memory(const void*, std::size_t))

#if defined(SIMT_CHECK)
/// A kernel has allocated what begins there, and a kernel has to free it.
bool is_of_kernel(const void*);
/// On a device the event may not have been reached yet: nothing that the host has waited for comes after it.
/// Only the first question gets this answer, so that a program may ask until it has a time.
bool may_be_ahead(const void* event);
/// The name of the device function for which of_host() gave this address; nullptr if it gave none.
const char* function_of_host(const void*);
#else
inline bool is_of_kernel(const void*) { return false; }
inline bool may_be_ahead(const void*) { return false; }
inline const char* function_of_host(const void*) { return nullptr; }
#endif

}  // namespace observe
}  // namespace simt

#undef SIMT_OBSERVED
