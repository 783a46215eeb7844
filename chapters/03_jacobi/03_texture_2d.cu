// A two-dimensional texture knows rows and columns: it takes the pitch into account, and it clamps
// coordinates that leave the field. So every thread may fetch all its neighbours, and decide afterwards.

#include "iterate.cuh"
#include "jacobi.cuh"
#include "rungs/cuda_check.cuh"
#include "texture.cuh"

/// What the texture over `field` is. Both descriptions are all zero before.
static void describe(const float* field, const jacobi::Lattice& lattice, cudaResourceDesc& resource,
                     cudaTextureDesc& reading) {
    // TODO 3.1: rows of floats in pitched memory, clamped at the sides, read as they are.
}

// TODO 3.2: the kernel, texture_2d_kernel: one sweep, reading through a cudaTextureObject_t.

void jacobi::texture_2d(const float* start, float* phi, float* work, float* norm, int* sweeps, int nx, int ny,
                        float q, int x0, int y0, int most, float eps, cudaStream_t stream) {
    const Lattice lattice{nx, ny, q, x0, y0};
    const FieldTextures textures(start, phi, work, lattice, describe);
    iterate(start, phi, work, norm, sweeps, lattice, most, eps, stream, [&](const float* from, float* to) {
        // TODO 3.3: one sweep on `stream`, from textures.over(from).
    });
}
