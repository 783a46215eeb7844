#ifndef RUNGS_PCG_H
#define RUNGS_PCG_H
/* Conjugate gradients for Poisson's equation on a cube, as a library with a plain C interface.
 *
 * Solves A x = b, A being h^2 times the negative Laplacian in d dimensions on a cube of L points along each
 * axis, with the value 0 beyond its boundary: 2d on the diagonal, -1 for each of the 2d neighbours.
 *
 * - d, L: 1 <= d <= 6, L >= 0. A field has L^d elements; L = 0 is none, and solved at once. L^d may pass
 *   2^31, but L may not, nor L^d 2^40 or what the memory holds.
 * - Order: point (c_0, c_1, ... c_{d-1}), 0 <= c_k < L, is element c_0 + L (c_1 + L (c_2 + ...)): the first
 *   coordinate is the fastest. In C that is field[c_2][c_1][c_0], in NumPy array[c_2, c_1, c_0] of the
 *   default order, in Fortran and Julia array(c_0 + 1, c_1 + 1, c_2 + 1).
 * - h: A has no h in it: for -Laplace(u) = f with spacing h = length / (L + 1) pass b = h^2 f.
 * - Memory: b, x and history may each be in host memory, device memory or managed memory of the current
 *   device. b and x start at any element and do not overlap; nothing is kept when a call has returned but
 *   scratch memory on the device, which the next call uses again. Their contents are as for a copy on the
 *   default stream: work of other streams on them has to be over.
 * - Threads: any number of host threads may call at the same time; their work on the device runs one after
 *   another.
 *
 * No call throws, ends the process or prints. If an argument is bad, the result is negative, and the call
 * has written nothing: neither x nor history. */

#ifdef __cplusplus
extern "C" {
#endif

/* What a call returns. From 0 up: how the solve ended, and x, history and iterations are set. */
enum pcg_status {
    PCG_CONVERGED = 0,      /* ||b - A x|| <= tolerance ||b||, computed from this x */
    PCG_LIMIT_REACHED = 1,  /* `limit` iterations did not suffice; x is the last iterate */
    PCG_BREAKDOWN = 2,      /* a sum has left the range of its type */
    PCG_DIVERGED = 3,       /* b has an element that is no finite number; x is 0 */
    PCG_NULL_POINTER = -1,  /* b or x is null, and L is not 0 */
    PCG_BAD_DIMENSION = -2, /* d is not 1 to 6 */
    PCG_BAD_SIDE = -3,      /* L is negative */
    PCG_TOO_LARGE = -4,     /* L is more than 2^31 - 1, or L^d more than 2^40 */
    PCG_BAD_LIMIT = -5,     /* limit is negative */
    PCG_BAD_TOLERANCE = -6, /* tolerance is negative, or no number */
    PCG_BAD_METHOD = -7,    /* method is none of pcg_method */
    PCG_OUT_OF_MEMORY = -8, /* on the host or on the device */
    PCG_NO_DEVICE = -9,     /* no GPU, or no driver for it */
    PCG_DEVICE_ERROR = -10, /* CUDA reports another error */
    PCG_INTERNAL_ERROR = -11
};

/* How a double solve works. */
enum pcg_method {
    PCG_PLAIN = 0,    /* conjugate gradients in double */
    PCG_MIXED = 1,    /* conjugate gradients in float, corrected in double */
    PCG_MULTIGRID = 2 /* preconditioned by a multigrid V-cycle in float: few iterations at any L */
};

/* A sentence for a pcg_status, or for any other number. Never null; static memory. */
const char* pcg_strerror(int status);

/* Solves in float from x = 0, by conjugate gradients. What float reaches is about 1e-7 times the condition
 * number, 0.4 (L + 1)^2.
 *
 * b           L^d elements. The largest magnitude is 0 or from 1e-25 to 1e25 (in double from 1e-100 to
 *             1e100): below that the result is not to be relied on, above it a sum may leave its range
 * x           L^d elements, written
 * limit       the most iterations, from 0 up
 * tolerance   of ||b - A x|| / ||b||, from 0 up
 * history     null, or limit + 1 doubles: ||r|| after 0, 1, ... iterations, and NaN behind
 * iterations  null, or an int in host memory: how many were done
 * Returns a pcg_status. */
int pcg_solve_float(const float* b, float* x, int d, long long L, int limit, double tolerance,
                    double* history, int* iterations);

/* The same in double, by one of pcg_method: iterations are those of the outer solve. */
int pcg_solve_double(const double* b, double* x, int d, long long L, int method, int limit, double tolerance,
                     double* history, int* iterations);

#ifdef __cplusplus
}
#endif
#endif
