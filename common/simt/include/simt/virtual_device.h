/// @file
/// The virtual device: the one table of limits that the CPU backend presents and enforces.
///
/// The limits of a block are those of compute capability 9.0, so that a launch that fails here fails there.
/// The number of multiprocessors is not: it is small, because programs size grids by it and a grid for 132
/// multiprocessors would only be slow here; set_multiprocessors() in control.h changes it. Memory is what the
/// host can give; see simt::device_memory_capacity().
#pragma once

#include <stddef.h>

namespace simt {

struct VirtualDevice {
    static constexpr const char* name = "Rungs CPU (simt)";
    static constexpr int compute_major = 9;
    static constexpr int compute_minor = 0;
    static constexpr int warp_size = 32;
    static constexpr int multiprocessors = 16;

    static constexpr unsigned max_threads_per_block = 1024;
    static constexpr unsigned max_block_x = 1024, max_block_y = 1024, max_block_z = 64;
    static constexpr unsigned max_grid_x = 2147483647, max_grid_y = 65535, max_grid_z = 65535;

    static constexpr int max_threads_per_multiprocessor = 2048;
    static constexpr int max_blocks_per_multiprocessor = 32;
    static constexpr int registers_per_block = 65536;
    static constexpr int registers_per_multiprocessor = 65536;
    /// Registers a thread, for every kernel: the CPU's compiler has no such number, so occupancy
    /// uses this one.
    static constexpr int registers_per_thread = 32;

    /// Shared memory of a block, static and dynamic together, without and with the opt-in of
    /// `cudaFuncAttributeMaxDynamicSharedMemorySize`; of a multiprocessor; and what the system takes
    /// of a block.
    static constexpr size_t shared_per_block = 48 * 1024;
    static constexpr size_t shared_per_block_optin = 227 * 1024;
    static constexpr size_t shared_per_multiprocessor = 228 * 1024;
    static constexpr size_t shared_reserved_per_block = 1024;

    static constexpr size_t constant_memory = 64 * 1024;
    static constexpr size_t texture_alignment = 512;
    static constexpr size_t texture_pitch_alignment = 32;
    static constexpr size_t surface_alignment = 512;
    /// Pitch granularity of cudaMallocPitch().
    static constexpr size_t pitch_granularity = 512;
    static constexpr size_t max_pitch = 2147483647;
    /// Alignment of every device allocation.
    static constexpr size_t allocation_alignment = 512;

    static constexpr int max_texture_1d = 131072;
    static constexpr int max_texture_1d_linear = 268435456;
    static constexpr int max_texture_2d = 131072, max_texture_2d_height = 65536;
    static constexpr int max_texture_2d_linear = 131072, max_texture_2d_linear_height = 65000;
    static constexpr int max_texture_2d_linear_pitch = 2097120;
    static constexpr int max_texture_3d = 16384;
    static constexpr int max_texture_layers = 2048;
    static constexpr int max_texture_1d_layered = 32768, max_texture_2d_layered = 32768;
    static constexpr int max_texture_cubemap = 32768, max_texture_cubemap_faces = 2046;
    static constexpr int max_texture_2d_gather = 32768;

    static constexpr int l2_bytes = 4 * 1024 * 1024;
    static constexpr int memory_bus_bits = 128;
    static constexpr int clock_khz = 1000000;
    static constexpr int least_stream_priority = 0, greatest_stream_priority = -5;
};

/// Device memory in bytes: `RUNGS_SIMT_MEMORY` (bytes, with suffix K, M or G) or 64 % of the host's memory.
/// Memory is taken from the host only when it is touched.
size_t device_memory_capacity();

/// Dynamic shared memory that kernel `function` may ask for: what cudaFuncSetAttribute() set for it, at least
/// VirtualDevice::shared_per_block. With `nullptr`, the largest that was set for any kernel.
size_t dynamic_shared_limit(const void* function);

/// Blocks of `threads` threads and `shared_bytes` bytes of shared memory that one multiprocessor holds at
/// once; 0 if none fits.
int resident_blocks(unsigned threads, size_t shared_bytes);

}  // namespace simt
