// Complex numbers of cuComplex.h, and what <cuda/std/...> takes from the C++ library.
#include <cuComplex.h>

#include <complex>
#include <cuda/std/array>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <limits>
#include <random>
#include <vector>

#include "runtime/tests/simt_tools.h"

using namespace simt_tools;

namespace {

/// Of z, w and u: sum, difference, product, quotient, z * w + u, conjugate of z; and |z|.
constexpr int results = 6;
__global__ void all(const cuFloatComplex* z, const cuDoubleComplex* y, cuFloatComplex* r, cuDoubleComplex* q,
                    float* f, double* d) {
    r[0] = cuCaddf(z[0], z[1]), q[0] = cuCadd(y[0], y[1]);
    r[1] = cuCsubf(z[0], z[1]), q[1] = cuCsub(y[0], y[1]);
    r[2] = cuCmulf(z[0], z[1]), q[2] = cuCmul(y[0], y[1]);
    r[3] = cuCdivf(z[0], z[1]), q[3] = cuCdiv(y[0], y[1]);
    r[4] = cuCfmaf(z[0], z[1], z[2]), q[4] = cuCfma(y[0], y[1], y[2]);
    r[5] = cuConjf(z[0]), q[5] = cuConj(y[0]);
    *f = cuCabsf(z[0]), *d = cuCabs(y[0]);
}

template <class T>
T pick(bool);

__global__ void with_std(float* x, int n) {
    static_assert(cuda::std::is_same<decltype(pick<float>(true)), float>::value, "types are compared");
    cuda::std::array<float, 2> a{1.0f, 2.0f};
    cuda::std::swap(a[0], a[1]);
    const cuda::std::plus<float> add{};
    if (static_cast<int>(threadIdx.x) < n) x[threadIdx.x] = add(x[threadIdx.x], a[0]);
    if (threadIdx.x == 0) x[n] = cuda::std::numeric_limits<float>::max();
}

}  // namespace

TEST_CASE("complex numbers of cuComplex.h", "[simt][complex]") {
    Managed<cuFloatComplex> z(3), r(results);
    Managed<cuDoubleComplex> y(3), q(results);
    Managed<float> f(1);
    Managed<double> d(1);
    std::mt19937 random(5);
    std::uniform_real_distribution<double> numbers(-4, 4);
    const auto is = [](std::complex<double> found, std::complex<double> wanted, double within) {
        CAPTURE(found, wanted);
        CHECK(std::abs(found - wanted) <= within * std::abs(wanted));
    };
    for (int round = 0; round < 50; ++round) {
        // Parts whose squares are beyond a float's range, or below it, and their quotient is not.
        const double scale = round % 3 == 0 ? 1 : round % 3 == 1 ? 1e25 : 1e-25;
        for (int i = 0; i < 3; ++i) {
            y[i] = make_cuDoubleComplex(numbers(random) * scale, numbers(random) * scale);
            z[i] = cuComplexDoubleToFloat(y[i]);
            y[i] = cuComplexFloatToDouble(z[i]);
        }
        all<<<1, 1>>>(z.get(), y.get(), r.get(), q.get(), f.get(), d.get());
        REQUIRE_LAUNCHED();
        const std::complex<double> a(cuCreal(y[0]), cuCimag(y[0])), b(cuCreal(y[1]), cuCimag(y[1])),
            c(cuCreal(y[2]), cuCimag(y[2]));
        const std::complex<double> wanted[results] = {a + b, a - b, a * b, a / b, a * b + c, std::conj(a)};
        for (const int i : {0, 1, 3, 5}) {
            is({cuCrealf(r[i]), cuCimagf(r[i])}, wanted[i], 1e-5);
            is({cuCreal(q[i]), cuCimag(q[i])}, wanted[i], 1e-13);
        }
        for (const int i : {2, 4}) {
            is({cuCreal(q[i]), cuCimag(q[i])}, wanted[i], 1e-12);
            if (scale == 1) is({cuCrealf(r[i]), cuCimagf(r[i])}, wanted[i], 1e-4);
        }
        CHECK(std::abs(f[0] - std::abs(a)) <= 1e-6 * std::abs(a));
        CHECK(std::abs(d[0] - std::abs(a)) <= 1e-14 * std::abs(a));
    }
    CHECK(make_cuComplex(1.0f, 2.0f).y == 2.0f);
}

TEST_CASE("headers of cuda/std give what the C++ library has", "[simt][complex]") {
    const int n = 20;
    Managed<float> x(n + 1);
    for (int i = 0; i < n; ++i) x[i] = static_cast<float>(i);
    with_std<<<1, 32>>>(x.get(), n);
    REQUIRE_LAUNCHED();
    for (int i = 0; i < n; ++i) CHECK(x[i] == static_cast<float>(i) + 2.0f);
    CHECK(x[n] == std::numeric_limits<float>::max());
}
