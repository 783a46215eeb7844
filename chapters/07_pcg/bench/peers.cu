// The libraries, called as a careful user would: everything that can be kept is made once.

#include "bench/peers.cuh"

#include <cublas_v2.h>
#include <cusparse.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "rungs/cuda_check.cuh"
#include "rungs/device_buffer.cuh"

namespace {

void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS)
        throw std::runtime_error(std::string("cuBLAS: ") + cublasGetStatusString(status));
}

void check(cusparseStatus_t status) {
    if (status != CUSPARSE_STATUS_SUCCESS)
        throw std::runtime_error(std::string("cuSPARSE: ") + cusparseGetErrorString(status));
}

/// A thread owns a row of A in CSR: counts its entries, and with `columns` also writes them.
template <class T>
__global__ void rows_kernel(int* starts, int* columns, T* values, int d, int side, int n) {
    const long long row = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (row > n) return;
    // Entries of the rows before this one: 2d + 1 each, without neighbours that are outside.
    long long before = (2LL * d + 1) * row, stride = 1;
    for (int k = 0; k < d; ++k, stride *= side) {
        const long long period = stride * side, whole = row / period, rest = row % period;
        before -= whole * 2 * stride + min(rest, stride) + max(rest - (period - stride), 0LL);
    }
    starts[row] = static_cast<int>(before);
    if (row == n) return;
    int at = static_cast<int>(before);
    const auto put = [&](long long column, T value) {
        columns[at] = static_cast<int>(column);
        values[at++] = value;
    };
    stride = n;
    for (int k = d - 1; k >= 0; --k) {  // columns in ascending order
        stride /= side;
        if (row / stride % side > 0) put(row - stride, T(-1));
    }
    put(row, T(2 * d));
    for (int k = 0; k < d; ++k, stride *= side) {
        if (row / stride % side < side - 1) put(row + stride, T(-1));
    }
}

/// Scalars in device memory, by their place.
enum { rr, next_rr, pAp, alpha, minus_alpha, beta, one, zero, scalar_count };

template <class T>
__global__ void alpha_kernel(T* s) {
    s[alpha] = s[rr] / s[pAp];
    s[minus_alpha] = -s[alpha];
}
template <class T>
__global__ void beta_kernel(T* s) {
    s[beta] = s[next_rr] / s[rr];
    s[rr] = s[next_rr];
}

template <class T>
struct Library {
    cublasHandle_t blas = nullptr;
    cusparseHandle_t sparse = nullptr;
    int d = 0, side = 0, n = 0;
    rungs::DeviceBuffer<int> starts, columns;
    rungs::DeviceBuffer<T> values, r, p, w, scalars{std::vector<T>{0, 0, 0, 0, 0, 0, 1, 0}};
    rungs::DeviceBuffer<unsigned char> buffer;
    cusparseSpMatDescr_t matrix = nullptr;
    cusparseDnVecDescr_t p_vector = nullptr, w_vector = nullptr;
    static constexpr cudaDataType type = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_64F;

    Library() {
        check(cublasCreate(&blas));
        check(cusparseCreate(&sparse));
    }

    /// The one library of the process, ready for this cube.
    static Library& of(int d, int side, cudaStream_t stream) {
        static Library library;
        if (library.d != d || library.side != side) library.prepare(d, side);
        check(cublasSetStream(library.blas, stream));
        check(cusparseSetStream(library.sparse, stream));
        return library;
    }

    void prepare(int cube_d, int cube_side) {
        if (matrix) {
            check(cusparseDestroySpMat(matrix));
            check(cusparseDestroyDnVec(p_vector));
            check(cusparseDestroyDnVec(w_vector));
        }
        d = cube_d, side = cube_side;
        const long long all = pcg::points(d, side), entries = (2LL * d + 1) * all - 2LL * d * all / side;
        if (entries >= 1LL << 31) throw std::runtime_error("the matrix has too many entries");
        n = static_cast<int>(all);
        values = {}, columns = {};  // not two matrices at a time
        starts = rungs::DeviceBuffer<int>(all + 1);
        columns = rungs::DeviceBuffer<int>(entries);
        values = rungs::DeviceBuffer<T>(entries);
        r = rungs::DeviceBuffer<T>(all), p = rungs::DeviceBuffer<T>(all), w = rungs::DeviceBuffer<T>(all);
        rows_kernel<<<n / 256 + 1, 256>>>(starts.data(), columns.data(), values.data(), d, side, n);
        CUDA_CHECK(cudaGetLastError());
        check(cusparseCreateCsr(&matrix, n, n, entries, starts.data(), columns.data(), values.data(),
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
        check(cusparseCreateDnVec(&p_vector, n, p.data(), type));
        check(cusparseCreateDnVec(&w_vector, n, w.data(), type));
        std::size_t bytes = 0;
        const T plus = 1, none = 0;
        check(cusparseSetPointerMode(sparse, CUSPARSE_POINTER_MODE_HOST));
        check(cusparseSpMV_bufferSize(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &plus, matrix, p_vector,
                                      &none, w_vector, type, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
        buffer = rungs::DeviceBuffer<unsigned char>(bytes + 1);
        CUDA_CHECK(cudaDeviceSynchronize());
    }

    T* scalar(int which) { return scalars.data() + which; }
    void product() {
        const T plus = 1, none = 0;  // known to the host, also where the other scalars are not
        check(cusparseSpMV(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &plus, matrix, p_vector, &none, w_vector,
                           type, CUSPARSE_SPMV_ALG_DEFAULT, buffer.data()));
    }
    void dot(const T* u, const T* v, T* result) {
        if constexpr (std::is_same_v<T, float>)
            check(cublasSdot(blas, n, u, 1, v, 1, result));
        else
            check(cublasDdot(blas, n, u, 1, v, 1, result));
    }
    void add(const T* factor, const T* u, T* to) {
        if constexpr (std::is_same_v<T, float>)
            check(cublasSaxpy(blas, n, factor, u, 1, to, 1));
        else
            check(cublasDaxpy(blas, n, factor, u, 1, to, 1));
    }
    void scale(const T* factor, T* u) {
        if constexpr (std::is_same_v<T, float>)
            check(cublasSscal(blas, n, factor, u, 1));
        else
            check(cublasDscal(blas, n, factor, u, 1));
    }
};

template <class T>
Library<T>& start(const T* b, T* x, int d, int side, cudaStream_t stream) {
    auto& l = Library<T>::of(d, side, stream);
    CUDA_CHECK(cudaMemsetAsync(x, 0, l.n * sizeof(T), stream));
    CUDA_CHECK(cudaMemcpyAsync(l.r.data(), b, l.n * sizeof(T), cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(cudaMemcpyAsync(l.p.data(), b, l.n * sizeof(T), cudaMemcpyDeviceToDevice, stream));
    return l;
}

/// Leaves the outcome of a solve whose scalars are on the host.
void leave(int* outcome, int what, int iterations, cudaStream_t stream) {
    const int both[] = {what, iterations};
    CUDA_CHECK(cudaMemcpyAsync(outcome, both, sizeof both, cudaMemcpyHostToDevice, stream));
}

template <class T>
void solve_on_host(const T* b, T* x, int* outcome, int d, int side, int limit, double tolerance,
                   cudaStream_t stream) {
    auto& l = start(b, x, d, side, stream);
    check(cublasSetPointerMode(l.blas, CUBLAS_POINTER_MODE_HOST));
    T *const r = l.r.data(), *const p = l.p.data(), *const w = l.w.data();
    T now = 0, then = 0, curvature = 0;
    const T plus = 1;
    l.dot(r, r, &now);
    const T enough = static_cast<T>(tolerance * tolerance) * now;
    for (int k = 0; k < limit; ++k) {
        l.product();
        l.dot(p, w, &curvature);
        const T step = now / curvature, back = -step;
        l.add(&step, p, x);
        l.add(&back, w, r);
        l.dot(r, r, &then);
        if (tolerance > 0 && then <= enough) return leave(outcome, pcg::converged, k + 1, stream);
        const T turn = then / now;
        now = then;
        l.scale(&turn, p);
        l.add(&plus, r, p);
    }
    if (tolerance > 0) leave(outcome, pcg::limit_reached, limit, stream);
}

template <class T>
void solve_on_device(const T* b, T* x, int d, int side, int limit, cudaStream_t stream) {
    auto& l = start(b, x, d, side, stream);
    check(cublasSetPointerMode(l.blas, CUBLAS_POINTER_MODE_DEVICE));
    T *const r = l.r.data(), *const p = l.p.data(), *const w = l.w.data(), *const s = l.scalars.data();
    l.dot(r, r, l.scalar(rr));
    for (int k = 0; k < limit; ++k) {
        l.product();
        l.dot(p, w, l.scalar(pAp));
        alpha_kernel<<<1, 1, 0, stream>>>(s);
        l.add(l.scalar(alpha), p, x);
        l.add(l.scalar(minus_alpha), w, r);
        l.dot(r, r, l.scalar(next_rr));
        beta_kernel<<<1, 1, 0, stream>>>(s);
        l.scale(l.scalar(beta), p);
        l.add(l.scalar(one), r, p);
    }
    CUDA_CHECK(cudaGetLastError());
}

// The course's kernels. Mended: u has no element behind its end that has to be 0, the second load of the
// reduction is guarded, sums are set to 0 first, a 64-bit index, and what `pow` did in integers is a product.

__device__ long long course_neighbour(long long index, int direction, int amount, int side) {
    long long n = 1, rest = index;
    for (int k = 0; k < direction; ++k) {
        rest /= side;
        n *= side;
    }
    const long long coordinate = rest % side + amount;
    return coordinate < 0 || coordinate == side ? -1 : index + amount * n;
}

__global__ void course_laplace_kernel(float* result, const float* u, int d, int side, long long n) {
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < d; ++k) {
        const long long up = course_neighbour(i, k, 1, side), down = course_neighbour(i, k, -1, side);
        sum += -(up < 0 ? 0 : u[up]) + 2 * u[course_neighbour(i, k, 0, side)] - (down < 0 ? 0 : u[down]);
    }
    result[i] = sum;
}

__global__ void course_dot_kernel(const float* v, const float* w, float* result, long long n) {
    extern __shared__ float shared[];
    const long long step = 2LL * blockDim.x * gridDim.x;
    float sum = 0;
    for (long long i = blockIdx.x * 2LL * blockDim.x + threadIdx.x; i < n; i += step) {
        sum += v[i] * w[i];
        if (i + blockDim.x < n) sum += v[i + blockDim.x] * w[i + blockDim.x];
    }
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) shared[threadIdx.x] += shared[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(result, shared[0]);
}

/// to = u + factor * v.
__global__ void course_add_kernel(const float* u, float factor, const float* v, float* to, long long n) {
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i < n) to[i] = u[i] + factor * v[i];
}

// Rung 02's opposite: nobody finds a neighbour, all of them are read from a table, 2d indices for each point.

__global__ void fill_table_kernel(int* table, int d, int side, int outside, long long n) {
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    for (int k = 0; k < d; ++k) {
        for (int after = 0; after < 2; ++after) {
            const long long j = course_neighbour(i, k, after ? 1 : -1, side);
            table[(2 * k + after) * n + i] = j < 0 ? outside : static_cast<int>(j);
        }
    }
}

/// With a slot, what is outside is element n of u, which is 0, and nothing is asked.
template <bool slot>
__global__ void table_laplace_kernel(const float* u, float* y, const int* table, int d, long long n) {
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    float around = 0;
    for (int k = 0; k < 2 * d; ++k) {
        const int j = table[k * n + i];
        if (slot || j >= 0) around += u[j];
    }
    y[i] = 2 * d * u[i] - around;
}

/// The table of a cube: made by the first call for the cube, and kept.
struct Table {
    int d = 0, side = 0;
    rungs::DeviceBuffer<int> neighbours;
};

template <bool slot>
void apply_table(const float* u, float* y, int d, int side, cudaStream_t stream) {
    static Table table;
    const long long n = pcg::points(d, side);
    const auto blocks = static_cast<unsigned>((n + 255) / 256);
    if (table.d != d || table.side != side) {
        table.d = d, table.side = side;
        table.neighbours = rungs::DeviceBuffer<int>(2 * d * n);
        fill_table_kernel<<<blocks, 256, 0, stream>>>(table.neighbours.data(), d, side,
                                                      slot ? static_cast<int>(n) : -1, n);
    }
    table_laplace_kernel<slot><<<blocks, 256, 0, stream>>>(u, y, table.neighbours.data(), d, n);
    CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void pcg::peers::table_laplace(const float* u, float* y, int d, int side, cudaStream_t stream) {
    apply_table<false>(u, y, d, side, stream);
}

void pcg::peers::slot_laplace(const float* u, float* y, int d, int side, cudaStream_t stream) {
    apply_table<true>(u, y, d, side, stream);
}

void pcg::peers::library_cg(const float* b, float* x, double*, int* outcome, int d, int side, int limit,
                            double tolerance, cudaStream_t stream) {
    solve_on_host(b, x, outcome, d, side, limit, tolerance, stream);
}

void pcg::peers::library_cg(const double* b, double* x, double*, int* outcome, int d, int side, int limit,
                            double tolerance, cudaStream_t stream) {
    solve_on_host(b, x, outcome, d, side, limit, tolerance, stream);
}

void pcg::peers::course_cg(const float* b, float* x, double*, int* outcome, int d, int side, int limit,
                           double tolerance, cudaStream_t stream) {
    constexpr int threads = 256;
    const long long n = points(d, side);
    const auto blocks = static_cast<unsigned>((n + threads - 1) / threads);
    static rungs::DeviceBuffer<float> vectors, result(1);
    if (vectors.size() != 3 * static_cast<std::size_t>(n))
        vectors = {}, vectors = rungs::DeviceBuffer<float>(3 * n);
    float *const r = vectors.data(), *const p = r + n, *const w = p + n;
    const auto dot = [&](const float* u, const float* v) {
        float sum = 0;
        result.fill_bytes(0, stream);
        course_dot_kernel<<<std::min(blocks, 1024u), threads, threads * sizeof(float), stream>>>(
            u, v, result.data(), n);
        CUDA_CHECK(cudaMemcpyAsync(&sum, result.data(), sizeof sum, cudaMemcpyDeviceToHost, stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));
        return sum;
    };
    const auto add = [&](const float* u, float factor, const float* v, float* to) {
        course_add_kernel<<<blocks, threads, 0, stream>>>(u, factor, v, to, n);
    };
    CUDA_CHECK(cudaMemsetAsync(x, 0, n * sizeof(float), stream));
    CUDA_CHECK(cudaMemcpyAsync(r, b, n * sizeof(float), cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(cudaMemcpyAsync(p, b, n * sizeof(float), cudaMemcpyDeviceToDevice, stream));
    float now = dot(r, r);
    const float enough = static_cast<float>(tolerance * tolerance) * now;
    for (int k = 0; k < limit; ++k) {
        course_laplace(p, w, d, side, stream);
        const float alpha = now / dot(p, w);
        add(x, alpha, p, x);
        add(r, -alpha, w, r);
        const float then = dot(r, r);
        if (tolerance > 0 && then <= enough) return leave(outcome, converged, k + 1, stream);
        add(r, then / now, p, p);
        now = then;
    }
    CUDA_CHECK(cudaGetLastError());
    if (tolerance > 0) leave(outcome, limit_reached, limit, stream);
}

void pcg::peers::library_cg_device(const float* b, float* x, double*, int*, int d, int side, int limit,
                                   double, cudaStream_t stream) {
    solve_on_device(b, x, d, side, limit, stream);
}

void pcg::peers::library_cg_device(const double* b, double* x, double*, int*, int d, int side, int limit,
                                   double, cudaStream_t stream) {
    solve_on_device(b, x, d, side, limit, stream);
}

void pcg::peers::course_laplace(const float* u, float* y, int d, int side, cudaStream_t stream) {
    const long long n = points(d, side);
    course_laplace_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(y, u, d, side, n);
    CUDA_CHECK(cudaGetLastError());
}
