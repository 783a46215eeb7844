// Runs generated kernels and prints what each launch leaves in memory, a line a launch: case, error, values.
#include "cu2cpp/lanes/tests/fuzz/driver.h"

#include <cstdio>
#include <cstring>

#include "simt/inspect/control.h"

/// `stacks` as an argument: every lane has a stack, even in kernels that could be run by loops.
int main(int count, char** arguments) {
    simt::set_loops_over_lanes(count < 2 || std::strcmp(arguments[1], "stacks") != 0);
    simt::set_quiet(true);
    simt::set_time_limit(20);
    unsigned in[fuzz::inputs];
    for (unsigned i = 0; i < fuzz::inputs; ++i) in[i] = (i * 2654435761u) >> 7;
    for (const fuzz::Case& c : fuzz::cases) {
        unsigned out[fuzz::most_lanes] = {}, sums[fuzz::sums] = {};
        c.run(c, {in, out, sums});
        std::printf("%d %d", c.number, static_cast<int>(cudaDeviceSynchronize()));
        const unsigned lanes = c.grid.x * c.grid.y * c.block.x * c.block.y * c.block.z;
        for (unsigned i = 0; i < lanes; ++i) std::printf(" %x", out[i]);
        for (const unsigned sum : sums) std::printf(" %x", sum);
        std::printf("\n");
        cudaDeviceReset();
    }
}
