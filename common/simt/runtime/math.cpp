#include "simt/math.h"

#include <cfenv>
#include <cmath>
#include <limits>

namespace simt {
namespace {

// Runs `f` with the processor's rounding direction changed. Operands and results pass through volatile
// objects, so that the compiler neither computes them itself nor moves them out of the region.
template <class T, class F>
T directed(Round round, F f) {
    static constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    const int before = std::fegetround();
    std::fesetround(modes[static_cast<int>(round)]);
    const volatile T result = f();
    std::fesetround(before);
    return result;
}

}  // namespace

#define SIMT_DIRECTED(T)                                                       \
    T rounded_add(T a, T b, Round round) {                                     \
        const volatile T x = a, y = b;                                         \
        return directed<T>(round, [&] { return x + y; });                      \
    }                                                                          \
    T rounded_mul(T a, T b, Round round) {                                     \
        const volatile T x = a, y = b;                                         \
        return directed<T>(round, [&] { return x * y; });                      \
    }                                                                          \
    T rounded_div(T a, T b, Round round) {                                     \
        const volatile T x = a, y = b;                                         \
        return directed<T>(round, [&] { return x / y; });                      \
    }                                                                          \
    T rounded_fma(T a, T b, T c, Round round) {                                \
        const volatile T x = a, y = b, z = c;                                  \
        return directed<T>(round, [&] { return std::fma(T(x), T(y), T(z)); }); \
    }                                                                          \
    T rounded_sqrt(T a, Round round) {                                         \
        const volatile T x = a;                                                \
        return directed<T>(round, [&] { return std::sqrt(T(x)); });            \
    }
SIMT_DIRECTED(float)
SIMT_DIRECTED(double)
#undef SIMT_DIRECTED

float rounded_float(double a, Round round) {
    const volatile double x = a;
    return directed<float>(round, [&] { return static_cast<float>(x); });
}

// Integers: round to nearest, then step to the neighbour on the right side. 128-bit
// arithmetic compares exactly.
template <class T, class I>
static T rounded_integer(I value, Round round) {
    const T nearest = static_cast<T>(value);
    const simt_int128 exact = value, got = static_cast<simt_int128>(nearest);
    const T inf = std::numeric_limits<T>::infinity();
    if (round == Round::zero) round = value < 0 ? Round::up : Round::down;
    if (round == Round::up && got < exact) return std::nextafter(nearest, inf);
    if (round == Round::down && got > exact) return std::nextafter(nearest, -inf);
    return nearest;
}
float rounded_float(long long a, Round round) { return rounded_integer<float>(a, round); }
float rounded_float(unsigned long long a, Round round) { return rounded_integer<float>(a, round); }
double rounded_double(long long a, Round round) { return rounded_integer<double>(a, round); }
double rounded_double(unsigned long long a, Round round) { return rounded_integer<double>(a, round); }

double sin_pi(double x) {
    if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
    // Reduce exactly to [-1/2, 1/2], where sin(pi x) is exact at the ends and at 0.
    double r = std::remainder(x, 2.0);
    if (r > 0.5) r = 1.0 - r;
    if (r < -0.5) r = -1.0 - r;
    return r == 0.0 ? std::copysign(0.0, x) : std::sin(M_PI * r);
}

double cos_pi(double x) {
    if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
    const double r = std::fabs(std::remainder(x, 2.0));
    // Near its zeros the cosine is a sine of a small number, which keeps its digits.
    return r < 0.25   ? std::cos(M_PI * r)
           : r > 0.75 ? -std::cos(M_PI * (1.0 - r))
                      : std::sin(M_PI * (0.5 - r));
}

double erfc_inverse(double y) {
    if (std::isnan(y) || y < 0.0 || y > 2.0) return std::numeric_limits<double>::quiet_NaN();
    if (y == 0.0) return std::numeric_limits<double>::infinity();
    if (y == 2.0) return -std::numeric_limits<double>::infinity();
    if (y >= 1.5) return -erfc_inverse(2.0 - y);
    if (y > 0.5) return erf_inverse(1.0 - y);  // the difference is exact
    // A rough start, then Halley's method on log(erfc), which converges from there for every positive double.
    const double l = std::sqrt(-2.0 * std::log(0.5 * y));
    double x = -0.70710678118654752 * ((2.30753 + l * 0.27061) / (1.0 + l * (0.99229 + l * 0.04481)) - l);
    for (int step = 0; step < 6; ++step) {
        const double value = std::erfc(x);
        if (value == 0.0) {  // beyond the range of erfc: come back
            x *= 0.99;
            continue;
        }
        const double slope = -1.12837916709551257390 * std::exp(-x * x);
        const double newton = (value - y) / slope;
        const double next = x - newton / (1.0 + x * newton);
        if (std::fabs(next - x) <= 1e-16 * std::fabs(next)) return next;
        x = next;
    }
    return x;
}

double erf_inverse(double y) {
    if (std::isnan(y) || y < -1.0 || y > 1.0) return std::numeric_limits<double>::quiet_NaN();
    if (std::fabs(y) > 0.5) return y > 0.0 ? erfc_inverse(1.0 - y) : -erfc_inverse(1.0 + y);
    double x = 0.88622692545275801365 * y;  // sqrt(pi)/2: the slope at 0
    for (int step = 0; step < 6; ++step) {
        const double slope = 1.12837916709551257390 * std::exp(-x * x);
        const double newton = (std::erf(x) - y) / slope;
        const double next = x - newton / (1.0 + x * newton);
        if (std::fabs(next - x) <= 1e-16 * std::fabs(next)) return next;
        x = next;
    }
    return x;
}

double erfc_scaled(double x) {
    if (x < 12.0) {
        // exp(x^2) loses digits if x^2 is rounded first: the rest of the square multiplies in.
        const double square = x * x;
        return std::exp(square) * (1.0 + std::fma(x, x, -square)) * std::erfc(x);
    }
    // Continued fraction: quick and accurate this far out.
    double fraction = x;
    for (int k = 30; k > 0; --k) fraction = x + 0.5 * k / fraction;
    return 0.56418958354775628695 / fraction;
}

double bessel_i(int order, double x) {
    const double value = std::cyl_bessel_i(static_cast<double>(order), std::fabs(x));
    return order % 2 != 0 && x < 0.0 ? -value : value;
}

}  // namespace simt
