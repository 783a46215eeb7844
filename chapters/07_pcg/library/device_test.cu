// The library on device and on managed memory, as pcg.h promises. Prints what fails, and
// returns whether anything does.

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "pcg.h"
#include "rungs/cuda_check.cuh"

static int failures = 0;

static void check(bool good, const char* memory, const char* what) {
    if (good) return;
    std::printf("%s memory: %s\n", memory, what);
    ++failures;
}

static constexpr int side = 9, points = side * side * side, limit = 200;

/// b = A u for a u without any symmetry.
template <class T>
static std::vector<T> right_hand_side(const std::vector<T>& u) {
    std::vector<T> b(points);
    for (int i = 0; i < points; ++i) {
        T value = 6 * u[i];
        for (int stride = 1; stride < points; stride *= side) {
            const int c = i / stride % side;
            if (c > 0) value -= u[i - stride];
            if (c + 1 < side) value -= u[i + stride];
        }
        b[i] = value;
    }
    return b;
}

/// Memory of one kind, which holds `values`.
template <class T>
static T* made(bool managed, const std::vector<T>& values) {
    void* memory = nullptr;
    const std::size_t bytes = values.size() * sizeof(T);
    if (managed) {
        CUDA_CHECK(cudaMallocManaged(&memory, bytes));
    } else {
        CUDA_CHECK(cudaMalloc(&memory, bytes));
    }
    CUDA_CHECK(cudaMemcpy(memory, values.data(), bytes, cudaMemcpyDefault));
    return static_cast<T*>(memory);
}

template <class T>
static std::vector<T> taken(T* memory, std::size_t count) {
    std::vector<T> values(count);
    CUDA_CHECK(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDefault));
    CUDA_CHECK(cudaFree(memory));
    return values;
}

/// @param call  (b, x, history, iterations): a status
template <class T, class Call>
static void solves(bool managed, const char* what, double allowed, const Call& call) {
    const char* const memory = managed ? "managed" : "device";
    std::vector<T> u(points);
    for (int i = 0; i < points; ++i) u[i] = static_cast<T>(std::sin(0.3 * i) + 0.001 * i);
    T* const b = made(managed, right_hand_side(u));
    T* const x = made(managed, std::vector<T>(points, T(7)));
    double* const history = made(managed, std::vector<double>(limit + 1, -1.0));
    int iterations = -1;
    check(call(b, x, history, &iterations) == PCG_CONVERGED, memory, what);
    const std::vector<T> got = taken(x, points), still = taken(b, points);
    const std::vector<double> norms = taken(history, limit + 1);
    double worst = 0;
    for (int i = 0; i < points; ++i) worst = std::fmax(worst, std::fabs(double(got[i]) - u[i]));
    check(worst < allowed, memory, "x is not the solution");
    check(still == right_hand_side(u), memory, "b has changed");
    check(iterations > 0 && iterations < limit && norms[0] > 0 && norms[iterations] < 1e-3 * norms[0] &&
              std::isnan(norms[iterations + 1]),
          memory, "the history is wrong");
}

int main() {
    for (const bool managed : {false, true}) {
        solves<float>(managed, "float", 1e-2, [](const float* b, float* x, double* history, int* iterations) {
            return pcg_solve_float(b, x, 3, side, limit, 1e-5, history, iterations);
        });
        for (const int method : {PCG_PLAIN, PCG_MIXED, PCG_MULTIGRID}) {
            solves<double>(
                managed, "double", 1e-8, [=](const double* b, double* x, double* history, int* iterations) {
                    return pcg_solve_double(b, x, 3, side, method, limit, 1e-12, history, iterations);
                });
        }
    }
    return failures != 0;
}
