/// @file
/// Complex numbers as CUDA's cuComplex.h has them, for host and device, in C and C++.
#pragma once

#include <math.h>

#include "vector_types.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

static inline cuFloatComplex make_cuFloatComplex(float re, float im) {
    cuFloatComplex z;
    z.x = re;
    z.y = im;
    return z;
}
static inline cuDoubleComplex make_cuDoubleComplex(double re, double im) {
    cuDoubleComplex z;
    z.x = re;
    z.y = im;
    return z;
}
static inline cuComplex make_cuComplex(float re, float im) { return make_cuFloatComplex(re, im); }

static inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) {
    return make_cuDoubleComplex((double)z.x, (double)z.y);
}
static inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
    return make_cuFloatComplex((float)z.x, (float)z.y);
}

static inline float cuCrealf(cuFloatComplex z) { return z.x; }
static inline float cuCimagf(cuFloatComplex z) { return z.y; }
static inline cuFloatComplex cuConjf(cuFloatComplex z) { return make_cuFloatComplex(z.x, -z.y); }
static inline cuFloatComplex cuCaddf(cuFloatComplex z, cuFloatComplex w) {
    return make_cuFloatComplex(z.x + w.x, z.y + w.y);
}
static inline cuFloatComplex cuCsubf(cuFloatComplex z, cuFloatComplex w) {
    return make_cuFloatComplex(z.x - w.x, z.y - w.y);
}
static inline cuFloatComplex cuCmulf(cuFloatComplex z, cuFloatComplex w) {
    return make_cuFloatComplex(z.x * w.x - z.y * w.y, z.x * w.y + z.y * w.x);
}
/// Both are scaled first: the squares of large and of small numbers do not fit a float.
static inline cuFloatComplex cuCdivf(cuFloatComplex z, cuFloatComplex w) {
    const float scale = 1.0f / (fabsf(w.x) + fabsf(w.y));
    const float a = z.x * scale, b = z.y * scale, c = w.x * scale, d = w.y * scale;
    const float square = 1.0f / (c * c + d * d);
    return make_cuFloatComplex((a * c + b * d) * square, (b * c - a * d) * square);
}
static inline float cuCabsf(cuFloatComplex z) { return hypotf(z.x, z.y); }
/// z * w + u
static inline cuFloatComplex cuCfmaf(cuFloatComplex z, cuFloatComplex w, cuFloatComplex u) {
    return make_cuFloatComplex(z.x * w.x + u.x - z.y * w.y, z.x * w.y + u.y + z.y * w.x);
}

static inline double cuCreal(cuDoubleComplex z) { return z.x; }
static inline double cuCimag(cuDoubleComplex z) { return z.y; }
static inline cuDoubleComplex cuConj(cuDoubleComplex z) { return make_cuDoubleComplex(z.x, -z.y); }
static inline cuDoubleComplex cuCadd(cuDoubleComplex z, cuDoubleComplex w) {
    return make_cuDoubleComplex(z.x + w.x, z.y + w.y);
}
static inline cuDoubleComplex cuCsub(cuDoubleComplex z, cuDoubleComplex w) {
    return make_cuDoubleComplex(z.x - w.x, z.y - w.y);
}
static inline cuDoubleComplex cuCmul(cuDoubleComplex z, cuDoubleComplex w) {
    return make_cuDoubleComplex(z.x * w.x - z.y * w.y, z.x * w.y + z.y * w.x);
}
static inline cuDoubleComplex cuCdiv(cuDoubleComplex z, cuDoubleComplex w) {
    const double scale = 1.0 / (fabs(w.x) + fabs(w.y));
    const double a = z.x * scale, b = z.y * scale, c = w.x * scale, d = w.y * scale;
    const double square = 1.0 / (c * c + d * d);
    return make_cuDoubleComplex((a * c + b * d) * square, (b * c - a * d) * square);
}
static inline double cuCabs(cuDoubleComplex z) { return hypot(z.x, z.y); }
static inline cuDoubleComplex cuCfma(cuDoubleComplex z, cuDoubleComplex w, cuDoubleComplex u) {
    return make_cuDoubleComplex(z.x * w.x + u.x - z.y * w.y, z.x * w.y + u.y + z.y * w.x);
}
