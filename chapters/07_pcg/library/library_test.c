/* The library from C11: what pcg.h promises. Prints what fails, and returns whether anything does. */

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcg.h"

static int failures = 0;

#define CHECK(condition)                                                     \
    do {                                                                     \
        if (!(condition)) {                                                  \
            printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
            ++failures;                                                      \
        }                                                                    \
    } while (0)

#define CHECK_STATUS(call, expected)                                                               \
    do {                                                                                           \
        const int status = (call);                                                                 \
        if (status != (expected)) {                                                                \
            printf("%s:%d: %s is %d (%s) instead of %d (%s)\n", __FILE__, __LINE__, #call, status, \
                   pcg_strerror(status), expected, pcg_strerror(expected));                        \
            ++failures;                                                                            \
        }                                                                                          \
    } while (0)

enum { side = 9, points = side * side * side, limit = 200 };

/* 0 beyond the boundary, as A has it. */
static double at(const double* u, int i, int j, int k) {
    if (i < 0 || j < 0 || k < 0 || i >= side || j >= side || k >= side) return 0;
    return u[i + side * (j + side * k)];
}

/* b = A u for a u without any symmetry: a coordinate in the wrong place would show. */
static void make(double* u, double* b) {
    for (int k = 0; k < side; ++k)
        for (int j = 0; j < side; ++j)
            for (int i = 0; i < side; ++i)
                u[i + side * (j + side * k)] = sin(0.3 * i * i + 1.1 * j) + 0.01 * i * k - 0.2 * k;
    for (int k = 0; k < side; ++k)
        for (int j = 0; j < side; ++j)
            for (int i = 0; i < side; ++i)
                b[i + side * (j + side * k)] = 6 * at(u, i, j, k) - at(u, i - 1, j, k) - at(u, i + 1, j, k) -
                                               at(u, i, j - 1, k) - at(u, i, j + 1, k) - at(u, i, j, k - 1) -
                                               at(u, i, j, k + 1);
}

static void solves(void) {
    static double u[points], b[points], x[points], history[limit + 1];
    make(u, b);
    for (int method = PCG_PLAIN; method <= PCG_MULTIGRID; ++method) {
        int iterations = -1;
        memset(x, 0xff, sizeof x);
        CHECK_STATUS(pcg_solve_double(b, x, 3, side, method, limit, 1e-12, history, &iterations),
                     PCG_CONVERGED);
        CHECK(iterations > 0 && iterations < limit);
        CHECK(history[iterations] <= 1.0001e-12 * history[0] && isnan(history[iterations + 1]));
        double worst = 0;
        for (int c = 0; c < points; ++c) worst = fmax(worst, fabs(x[c] - u[c]));
        CHECK(worst < 1e-9);
    }
    static float single_b[points], single_x[points];
    for (int c = 0; c < points; ++c) single_b[c] = (float)b[c];
    CHECK_STATUS(pcg_solve_float(single_b, single_x, 3, side, limit, 1e-5, NULL, NULL), PCG_CONVERGED);
    double worst = 0;
    for (int c = 0; c < points; ++c) worst = fmax(worst, fabs(single_x[c] - u[c]));
    CHECK(worst < 1e-2);

    int iterations = -1;
    CHECK_STATUS(pcg_solve_double(b, x, 3, side, PCG_PLAIN, 2, 1e-12, NULL, &iterations), PCG_LIMIT_REACHED);
    CHECK(iterations == 2);
    CHECK_STATUS(pcg_solve_float(NULL, NULL, 3, 0, limit, 1e-5, NULL, &iterations), PCG_CONVERGED);
    CHECK(iterations == 0);
    single_b[7] = NAN;
    CHECK_STATUS(pcg_solve_float(single_b, single_x, 3, side, limit, 1e-5, NULL, NULL), PCG_DIVERGED);
    CHECK(single_x[0] == 0);
}

static void refuses(void) {
    float b[8] = {1}, x[8] = {5};
    double bb[8] = {1}, xx[8] = {5};
    CHECK_STATUS(pcg_solve_float(NULL, x, 3, 2, 9, 1e-5, NULL, NULL), PCG_NULL_POINTER);
    CHECK_STATUS(pcg_solve_float(b, NULL, 3, 2, 9, 1e-5, NULL, NULL), PCG_NULL_POINTER);
    CHECK_STATUS(pcg_solve_float(b, x, 0, 2, 9, 1e-5, NULL, NULL), PCG_BAD_DIMENSION);
    CHECK_STATUS(pcg_solve_float(b, x, 7, 1, 9, 1e-5, NULL, NULL), PCG_BAD_DIMENSION);
    CHECK_STATUS(pcg_solve_float(b, x, 3, -1, 9, 1e-5, NULL, NULL), PCG_BAD_SIDE);
    CHECK_STATUS(pcg_solve_float(b, x, 1, LLONG_MAX, 9, 1e-5, NULL, NULL), PCG_TOO_LARGE);
    CHECK_STATUS(pcg_solve_float(b, x, 6, INT_MAX, 9, 1e-5, NULL, NULL), PCG_TOO_LARGE);
    CHECK_STATUS(pcg_solve_float(b, x, 3, 1LL << 22, 9, 1e-5, NULL, NULL),
                 PCG_TOO_LARGE); /* 2^66: 4 modulo 2^64 */
    CHECK_STATUS(pcg_solve_float(b, x, 3, 2, -1, 1e-5, NULL, NULL), PCG_BAD_LIMIT);
    CHECK_STATUS(pcg_solve_float(b, x, 3, 2, 9, -1e-5, NULL, NULL), PCG_BAD_TOLERANCE);
    CHECK_STATUS(pcg_solve_float(b, x, 3, 2, 9, NAN, NULL, NULL), PCG_BAD_TOLERANCE);
    CHECK_STATUS(pcg_solve_double(bb, xx, 3, 2, 3, 9, 1e-5, NULL, NULL), PCG_BAD_METHOD);
    CHECK_STATUS(pcg_solve_double(bb, xx, 3, 2, -1, 9, 1e-5, NULL, NULL), PCG_BAD_METHOD);
    /* 2^40 doubles are 8 TiB: noticed before b is read. */
    CHECK_STATUS(pcg_solve_double(bb, xx, 2, 1 << 20, PCG_PLAIN, 0, 0, NULL, NULL), PCG_OUT_OF_MEMORY);
    CHECK(x[0] == 5 && xx[0] == 5);
    CHECK_STATUS(pcg_solve_double(bb, xx, 3, 2, PCG_MULTIGRID, 9, 1e-10, NULL, NULL),
                 PCG_CONVERGED); /* still works */
}

static void explains(void) {
    for (int status = PCG_INTERNAL_ERROR; status <= PCG_DIVERGED; ++status)
        CHECK(strlen(pcg_strerror(status)) > 5 && strcmp(pcg_strerror(status), "unknown status") != 0);
    CHECK(strcmp(pcg_strerror(12345), "unknown status") == 0);
}

int main(void) {
    solves();
    refuses();
    explains();
    return failures != 0;
}
