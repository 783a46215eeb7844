#pragma once
/// @file
/// What the rungs share: one row of a system, whether its diagonal dominates it, and the elimination of a few
/// consecutive rows by one thread.

#include <cuda_runtime.h>

#include "btcs.cuh"

namespace btcs {

/// Row i of a system in memory; what lies outside of A is 0.
struct Coefficients {
    float lower, diagonal, upper, rhs;
};
inline __device__ Coefficients row_at(const float* lower, const float* diagonal, const float* upper,
                                      const float* rhs, long long i, long long n) {
    return {i > 0 ? lower[i] : 0, diagonal[i], i < n - 1 ? upper[i] : 0, rhs[i]};
}

/// The rows of one system in shared memory, each of which comes and goes by one request of 16 bytes.
struct SharedRows {
    float4 rows[most_short_rows];

    __device__ Coefficients get(int i) const {
        const float4 row = rows[i];
        return {row.x, row.y, row.z, row.w};
    }
    __device__ void set(int i, const Coefficients& row) {
        rows[i] = float4{row.lower, row.diagonal, row.upper, row.rhs};
    }
};

/// One equation: lower x_before + diagonal x + upper x_behind = rhs, with diagonal = |lower| + |upper| +
/// excess. A dominated row has excess >= 0, up to its sign. Elimination keeps it so, and finds the new excess
/// by additions alone; a difference of two diagonals would lose what is left of a row that is only just
/// dominated (the idea of W. Grassmann, M. Taksar and D. Heyman, Operations Research 33, 1985). Made like
/// this it says x = 0.
struct alignas(16) Row {
    float lower = 0, excess = 1, upper = 0, rhs = 0;

    __device__ float diagonal() const { return fabsf(lower) + fabsf(upper) + excess; }
};

/// |diagonal| >= |lower| + |upper|, exactly: the sum is rounded up, and no float lies between it and that.
inline __device__ bool dominated(float lower, float diagonal, float upper) {
    return fabsf(diagonal) >= __fadd_ru(fabsf(lower), fabsf(upper)) && diagonal != 0;
}

/// The row as it is in memory.
inline __device__ Row row_of(float lower, float diagonal, float upper, float rhs) {
    const float a = fmaxf(fabsf(lower), fabsf(upper)), b = fminf(fabsf(lower), fabsf(upper));
    const float excess = fmaxf((fabsf(diagonal) - a) - b, 0);  // in this order next to nothing is lost
    return diagonal < 0 ? Row{-lower, excess, -upper, -rhs} : Row{lower, excess, upper, rhs};
}

/// 1 / x for an x from 2^-126 to 2^126, to 1 unit in the last place: one instruction of a GPU. A division
/// takes several, and so does `__fdividef`, for the numbers outside of this range.
inline __device__ float reciprocal(float x) {
#ifndef __SIMT__
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return __fdividef(1, x);  // the CPU backend: a CPU has no such instruction
#endif
}

/// The same equation with a 1 on its diagonal, which has to be from 2^-126 to 2^126.
inline __device__ Row normalised(const Row& row) {
    const float inverse = reciprocal(row.diagonal());
    return {row.lower * inverse, row.excess * inverse, row.upper * inverse, row.rhs * inverse};
}

/// What a row's excess gains when a neighbour's unknown, which it has with the factor `factor`, is replaced.
/// The neighbour's row has a 1 on its diagonal, and `back` as the factor of this row's unknown.
inline __device__ float gain(float factor, float excess, float back) {
    const float product = factor * back;
    return fabsf(factor) * excess + (fabsf(product) - product);
}

/// `row`, with the unknown before it replaced by what `before` says of it.
inline __device__ Row without_before(const Row& row, const Row& before) {
    return {-row.lower * before.lower, row.excess + gain(row.lower, before.excess, before.upper), row.upper,
            row.rhs - row.lower * before.rhs};
}

/// `row`, with the unknown behind it replaced by what `behind` says of it.
inline __device__ Row without_behind(const Row& row, const Row& behind) {
    return {row.lower, row.excess + gain(row.upper, behind.excess, behind.lower), -row.upper * behind.upper,
            row.rhs - row.upper * behind.rhs};
}

/// `row` with the unknown behind it replaced, where `behind` has the same unknown before it as `row` has.
/// Both have a 1 on their diagonals, and the result has one, too.
inline __device__ Row composed(const Row& row, const Row& behind) {
    const float more = -row.upper * behind.lower;
    const float lost = row.lower * more < 0 ? 2 * fminf(fabsf(row.lower), fabsf(more)) : 0;
    return {row.lower + more, row.excess + fabsf(row.upper) * behind.excess + lost, -row.upper * behind.upper,
            row.rhs - row.upper * behind.rhs};
}

/// `count` consecutive rows of a larger system, in registers. The unknowns of the last row and of the one
/// before the first are kept; what lies between is eliminated.
template <int count>
struct Chunk {
    float lower[count], excess[count], upper[count], rhs[count];

    __device__ void set(int j, const Row& row) {
        lower[j] = row.lower, excess[j] = row.excess, upper[j] = row.upper, rhs[j] = row.rhs;
    }
    __device__ Row get(int j) const { return {lower[j], excess[j], upper[j], rhs[j]}; }

    /// From now on row j < count - 1 reads x_j = rhs - lower x_before - upper x_{j + 1}, with x_before
    /// the unknown in front of the chunk. @returns the last row, which now reaches from x_before to
    /// the unknown behind
    __device__ Row eliminate() {
#pragma unroll
        for (int j = 0; j < count - 1; ++j)
            set(j, normalised(j > 0 ? without_before(get(j), get(j - 1)) : get(0)));
        return count > 1 ? without_before(get(count - 1), get(max(count - 2, 0))) : get(0);
    }

    /// The first unknown in terms of the two that are kept: x_0 = rhs - lower x_before - upper x_last.
    __device__ Row first() const {
        Row row{0, 0, -1, 0};
#pragma unroll
        for (int j = count - 2; j >= 0; --j) row = composed(get(j), row);
        return row;
    }

    /// Leaves the solution in rhs.
    __device__ void substitute(float before, float last) {
        rhs[count - 1] = last;
#pragma unroll
        for (int j = count - 2; j >= 0; --j) rhs[j] -= lower[j] * before + upper[j] * rhs[j + 1];
    }
};

/// The place of element i in shared memory, such that neither 32 neighbours nor 32 elements that are 4, 8, 16
/// or 32 apart meet in a bank.
__host__ __device__ constexpr int padded(int i) { return i + i / 32; }

}  // namespace btcs
