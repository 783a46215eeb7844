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
    // BEGIN SOLUTION
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = const_cast<float*>(field);
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = static_cast<std::size_t>(lattice.nx);
    resource.res.pitch2D.height = static_cast<std::size_t>(lattice.ny);
    resource.res.pitch2D.pitchInBytes = lattice.pitch() * sizeof(float);
    reading.addressMode[0] = reading.addressMode[1] = cudaAddressModeClamp;
    reading.filterMode = cudaFilterModePoint;
    reading.readMode = cudaReadModeElementType;
    // END SOLUTION
}

// TODO 3.2: the kernel, texture_2d_kernel: one sweep, reading through a cudaTextureObject_t.
// BEGIN SOLUTION
/// A block owns 16 times 16 points, a thread one of them.
static __global__ void texture_2d_kernel(cudaTextureObject_t from, float* to, jacobi::Lattice lattice) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= lattice.nx || y >= lattice.ny) return;

    const float column = static_cast<float>(x) + 0.5f, row = static_cast<float>(y) + 0.5f;
    const float old = tex2D<float>(from, column, row);
    const float sum = tex2D<float>(from, column, row - 1) + tex2D<float>(from, column - 1, row) +
                      tex2D<float>(from, column + 1, row) + tex2D<float>(from, column, row + 1);
    to[lattice.at(x, y)] = lattice.fixed(x, y) ? old : 0.25f * (sum - lattice.charge(x, y));
}
// END SOLUTION

void jacobi::texture_2d(const float* start, float* phi, float* work, float* norm, int* sweeps, int nx, int ny,
                        float q, int x0, int y0, int most, float eps, cudaStream_t stream) {
    const Lattice lattice{nx, ny, q, x0, y0};
    const FieldTextures textures(start, phi, work, lattice, describe);
    iterate(start, phi, work, norm, sweeps, lattice, most, eps, stream, [&](const float* from, float* to) {
        // TODO 3.3: one sweep on `stream`, from textures.over(from).
        // BEGIN SOLUTION
        const dim3 block(16, 16);
        const dim3 grid((static_cast<unsigned>(nx) + 15) / 16, (static_cast<unsigned>(ny) + 15) / 16);
        texture_2d_kernel<<<grid, block, 0, stream>>>(textures.over(from), to, lattice);
        CUDA_CHECK(cudaGetLastError());
        // END SOLUTION
    });
}
