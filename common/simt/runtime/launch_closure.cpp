// What every launch has in common. A file of its own, never compiled together with others: a linker's --wrap
// sees its calls of run_grid(), and whoever embeds the backend can count them.
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "simt/launch.h"

namespace simt {

cudaError_t launch_action(const Grid& grid, cudaStream_t stream, Action run) {
    if (cudaError_t error = check_grid(grid)) return fail(error);
    return fail(enqueue(stream, {Operation::Kind::kernel, grid.name, std::move(run), grid.grid, grid.block,
                                 grid.dynamic_shared}));
}

cudaError_t launch_copy(const Grid& grid, std::size_t alignment, cudaStream_t stream) {
    if (cudaError_t error = check_grid(grid)) return fail(error);
    const std::align_val_t aligned{alignment};
    const std::shared_ptr<void> closure(::operator new(grid.closure_bytes, aligned),
                                        [aligned](void* bytes) { ::operator delete(bytes, aligned); });
    std::memcpy(closure.get(), grid.closure, grid.closure_bytes);
    return launch_action(grid, stream, [grid = grid, closure]() mutable {
        grid.closure = closure.get();
        return run_grid(grid);
    });
}

}  // namespace simt
