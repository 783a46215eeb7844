// What every launch has in common. A file of its own, never compiled together with others: a linker's --wrap
// sees its calls of run_grid(), and whoever embeds the backend can count them.
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "runtime/nested_launch.h"
#include "simt/launch.h"

namespace simt {

cudaError_t launch_action(const Grid& grid, cudaStream_t stream, Action run) {
    if (cudaError_t error = check_grid(grid)) return fail(error);
    if (execution.in_lane) return fail(launch_from_lane(std::move(run), stream));
    return fail(enqueue(stream, {Operation::Kind::kernel, grid.name, std::move(run), grid.grid, grid.block,
                                 grid.dynamic_shared}));
}

cudaError_t launch_copy(const Grid& grid, std::size_t alignment, cudaStream_t stream) {
    const auto free = [aligned = std::align_val_t{alignment}](void* bytes) {
        ::operator delete(bytes, aligned);
    };
    std::unique_ptr<void, decltype(free)> closure(
        ::operator new (grid.closure_bytes, std::align_val_t{alignment}), free);
    std::memcpy(closure.get(), grid.closure, grid.closure_bytes);
    return launch_action(grid, stream, [grid = grid, closure = std::move(closure)]() mutable {
        grid.closure = closure.get();
        return run_grid(grid);
    });
}

}  // namespace simt
