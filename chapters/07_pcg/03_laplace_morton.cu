// Neighbours in all directions close together in time: threads walk the cube in the order of a Z curve. The
// bits of a thread's number are dealt out to the coordinates in turn, so that threads in a row own a
// small box, whose inner neighbours the caches have. The order of u and y in memory stays as it was.

#include "solver.cuh"

static constexpr int block_size = 256;
static constexpr int row_bits = 3;  ///< that direction 0 gets first: 8 points are a sector, or two in double

/// Takes the lowest bit of `code`, and drops it.
static __device__ int take_bit(long long& code) {
    const int bit = static_cast<int>(code & 1);
    code >>= 1;
    return bit;
}

/// A thread owns the point whose coordinates' bits, interleaved, are its number; `bits` is how many each has.
template <class T, int d>
__global__ void laplace_morton_kernel(const T* u, T* y, int side, int bits, long long codes) {
    long long code = blockIdx.x * static_cast<long long>(block_size) + threadIdx.x;
    if (code >= codes) return;
    int c[d] = {};
    // TODO 3.1: deal the bits of `code` out with take_bit(), the lowest first. Direction 0 gets row_bits
    // of them, or all where there are fewer; then, for all further bits, each direction one in turn, except
    // that direction 0 has some already.
    long long index = 0;
    // TODO 3.2: 2^bits is more than side, mostly: a thread with a point outside does nothing. The others
    // find the index of their point by Horner's rule: no division anywhere.
    // TODO 3.3: y at that point. Its coordinates say which neighbours are inside.
}

template <class T>
static void launch(const T* u, T* y, int dimensions, int side, cudaStream_t stream) {
    pcg::with_dimensions(dimensions, side, [=](auto known) {
        constexpr int d = decltype(known)::value;
        if (side == 0) return;
        // TODO 3.4: how many bits a coordinate has; how many numbers the walk then has; the launch.
    });
}

void pcg::laplace_morton(const float* u, float* y, int d, int side, cudaStream_t stream) {
    launch(u, y, d, side, stream);
}

void pcg::laplace_morton(const double* u, double* y, int d, int side, cudaStream_t stream) {
    launch(u, y, d, side, stream);
}
