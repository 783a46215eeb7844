#pragma once
/// @file
/// Storage by colour, given: red and black points in arrays of their own, rows of half_row(n) elements. In
/// row (i, j), element m of colour c is the point k = 2m + ((i + j + c) & 1). Elements with k >= n are
/// 0 and stay so.

#include "red_black.cuh"
#include "rungs/cuda_check.cuh"

#include "norm.cuh"

namespace red_black {

/// u and b by colour, 0 for red and 1 for black, in the workspace of a rung.
template <class T>
struct Split {
    T* u[2];
    T* b[2];

    Split(T* work, int n) {
        const std::size_t size = work_size(n) / 4;
        for (int colour = 0; colour < 2; ++colour) {
            u[colour] = work + colour * size;
            b[colour] = work + (2 + colour) * size;
        }
    }
};

/// A thread owns the points k = 2m and 2m + 1 of a row, one of each colour.
template <class T>
__global__ void split_kernel(const T* whole, T* red, T* black, int n) {
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = blockIdx.z;
    if (j >= n || m >= static_cast<int>(half_row(n))) return;
    const std::size_t row = static_cast<std::size_t>(i) * n + j;
    const T even = 2 * m < n ? whole[row * n + 2 * m] : T(0);
    const T odd = 2 * m + 1 < n ? whole[row * n + 2 * m + 1] : T(0);
    const bool swap = (i + j) & 1;
    red[row * half_row(n) + m] = swap ? odd : even;
    black[row * half_row(n) + m] = swap ? even : odd;
}

/// The way back.
template <class T>
__global__ void merge_kernel(const T* red, const T* black, T* whole, int n) {
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    const int i = blockIdx.z;
    if (j >= n || 2 * m >= n) return;
    const std::size_t row = static_cast<std::size_t>(i) * n + j;
    const bool swap = (i + j) & 1;
    whole[row * n + 2 * m] = (swap ? black : red)[row * half_row(n) + m];
    if (2 * m + 1 < n) whole[row * n + 2 * m + 1] = (swap ? red : black)[row * half_row(n) + m];
}

/// Four elements of one colour in a row, moved with 16-byte accesses.
template <class T>
struct alignas(16) Four {
    T v[4];
};

/// The four at element c of an array. c is a multiple of four.
template <class T>
__device__ Four<T> four(const T* array, std::size_t c) {
    return *reinterpret_cast<const Four<T>*>(array + c);
}

/// The sums of the six neighbours of four elements, from the other colour: the four beside them on each
/// side, the four of the same m, and along k the one element before those or, where `parity` is 1,
/// after them: `end`.
template <class T>
__device__ Four<T> six_sums(const Four<T>& up, const Four<T>& down, const Four<T>& north,
                            const Four<T>& south, const Four<T>& same, T end, int parity) {
    Four<T> sum;
#pragma unroll
    for (int v = 0; v < 4; ++v) {
        const T before = v > 0 ? same.v[v > 0 ? v - 1 : 0] : end,
                after = v < 3 ? same.v[v < 3 ? v + 1 : 3] : end;
        sum.v[v] =
            ((up.v[v] + down.v[v]) + (north.v[v] + south.v[v])) + (same.v[v] + (parity ? after : before));
    }
    return sum;
}

/// The sums of the six neighbours of elements m to m + 3, which start at c; `other` is the array of the other
/// colour. parity = (i + j + colour) & 1: the row's points of this colour have even or odd k.
template <class T>
__device__ Four<T> four_neighbours(const T* other, std::size_t c, int i, int j, int m, int parity, int n) {
    const std::size_t row = half_row(n), plane = row * n;
    const Four<T> none{};
    const Four<T> up = i > 0 ? four(other, c - plane) : none,
                  down = i + 1 < n ? four(other, c + plane) : none;
    const Four<T> north = j > 0 ? four(other, c - row) : none,
                  south = j + 1 < n ? four(other, c + row) : none;
    // Of the two neighbours along k one has the same m, and the other is one element before or after.
    const Four<T> same = four(other, c);
    const bool outside = parity ? m + 4 >= static_cast<int>(row) : m == 0;
    const T end = outside ? T(0) : parity ? other[c + 4] : other[c - 1];
    return six_sums(up, down, north, south, same, end, parity);
}

/// Adds ||b - A u||^2 over the red points to *total. A thread owns four red elements.
template <class T>
__global__ void red_residual_kernel(const T* b, const T* black, const T* red, double* total, int n) {
    const int m = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    double squares = 0;
    for (int i = blockIdx.z; i < n && j < n && 2 * m < n; i += gridDim.z) {
        const int parity = (i + j) & 1;
        const std::size_t c = (static_cast<std::size_t>(i) * n + j) * half_row(n) + m;
        const Four<T> sum = four_neighbours(black, c, i, j, m, parity, n), rhs = four(b, c),
                      mine = four(red, c);
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const T r = (rhs.v[v] - T(6) * mine.v[v]) + sum.v[v];
            if (2 * (m + v) + parity < n) squares += r * r;
        }
    }
    add_over_block(squares, total);
}

template <class T>
void split(const T* whole, T* const (&halves)[2], int n, cudaStream_t stream) {
    const dim3 block(32, 8), grid((half_row(n) + 31) / 32, (n + 7) / 8, n);
    split_kernel<<<grid, block, 0, stream>>>(whole, halves[0], halves[1], n);
    CUDA_CHECK(cudaGetLastError());
}

template <class T>
void merge(T* const (&halves)[2], T* whole, int n, cudaStream_t stream) {
    const dim3 block(32, 8), grid((half_row(n) + 31) / 32, (n + 7) / 8, n);
    merge_kernel<<<grid, block, 0, stream>>>(halves[0], halves[1], whole, n);
    CUDA_CHECK(cudaGetLastError());
}

/// Queues *total += ||b - A u||^2 over the red points, in a pass of its own.
template <class T>
void add_red_residual(const Split<T>& grid, double* total, int n, cudaStream_t stream) {
    const dim3 block(32, 8), blocks((half_row(n) + 127) / 128, (n + 7) / 8, n < 32 ? n : 32);
    red_residual_kernel<<<blocks, block, 0, stream>>>(grid.b[0], grid.u[1], grid.u[0], total, n);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace red_black
