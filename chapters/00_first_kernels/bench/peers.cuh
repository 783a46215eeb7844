#pragma once
/// @file
/// The other way for each rung: what the lesson says would be slower, or as fast.

#include "first_kernels.cuh"

namespace first_kernels::peers {

/// Rung 05 with as many blocks of 256 threads as it is told to use.
void strided(const float* x, float* y, std::size_t n, unsigned blocks, cudaStream_t stream);
/// The same, where a thread owns consecutive elements: neighbours in a warp are far from
/// each other in memory.
void pieces(const float* x, float* y, std::size_t n, unsigned blocks, cudaStream_t stream);

Grey grey_by_columns;  ///< rung 04 with threadIdx.x for the row

/// The other direction of rung 09: a structure of arrays becomes an array of structures.
void join(const float* position, const float* velocity, const float* mass, Particle* particles, std::size_t n,
          cudaStream_t stream);
/// y[i] = the square of particles[i].position: rung 01 on an array of structures.
void square_positions(const Particle* particles, float* y, std::size_t n, cudaStream_t stream);

Transpose transpose_by_columns;  ///< rung 10 with x and y swapped: it reads columns and writes rows
Transpose transpose_unpadded;    ///< rung 11 with rows of 32 words in its tile
Transpose transpose_four;        ///< rung 11 with blocks of 32 times 8 threads, four elements per thread

/// The place of rung 13's scene, and the order in which a lane goes through it.
enum class Scene { global, constant_turned, global_turned };
/// Rung 13. With a turned scene, every lane begins at a sphere of its own.
template <Scene where>
void spheres(uchar4* image, int width, int height, cudaStream_t stream);

}  // namespace first_kernels::peers
