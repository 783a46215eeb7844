// Many time steps for one pass over the memory. With constant r the elimination has no coefficients to read:
// the matrix of a rod without ends is the product of two recurrences,
//
//     z_i = c rhs_i + lambda z_{i-1}   and then   w_i = z_i + lambda w_{i+1},
//
// and what is d rows away counts with lambda^d. A block keeps a tile of the rod in registers and takes many
// steps with it; so long as the tile overlaps its neighbours by enough rows, it need not know what happens
// there. Where "enough" is too many, the tiles tell each other what runs into them, in two passes a step and
// for any lambda.

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "btcs.cuh"
#include "rows.cuh"
#include "rungs/cuda_check.cuh"
#include "rungs/scratch.cuh"

// TODO 15.1: the kernels, among them time_loop_kernel. The design is yours.
// BEGIN SOLUTION
static constexpr int rows = 32;      // of a thread
static constexpr int threads = 128;  // of a block
static constexpr int warps = threads / 32;
static constexpr int tile = rows * threads;
static constexpr int most_overlap = tile / 4;  // rows on either side
static constexpr int most_steps = 8;           // of one pass over overlapping tiles

/// An implicit step. Any theta >= 1/2 is BTCS for w = theta v + (1 - theta) u, the value in between:
/// w - theta r (second difference of w) = u, and then v = u + (w - u) / theta.
struct Scheme {
    double rho;  ///< theta r
    double theta;
    double mu;  ///< lambda = exp(-mu), with rho = lambda / (1 - lambda)^2
    double lambda;

    /// A smaller mu than 1e-18 makes no difference on any rod.
    Scheme(double rho_, double theta_)
        : rho(rho_),
          theta(theta_),
          mu(std::max(2 * std::asinh(0.5 / std::sqrt(rho)), 1e-18)),
          lambda(std::exp(-mu)) {}
    double power(double exponent) const { return exponent == 0 ? 1 : std::exp(-mu * exponent); }
    /// c: the product of the two recurrences has (1 + lambda^2) / c = 1 + 2 rho on its diagonal.
    double scale() const { return (1 + lambda * lambda) / (1 + 2 * rho); }
    /// w_0 for z_{-1} = 1 and w_n = 0.
    double response(double n) const { return lambda * std::expm1(-2 * mu * n) / std::expm1(-2 * mu); }
};

/// A scheme as kernels need it.
struct Factors {
    float lambda, loss;  ///< and 1 - lambda
    float scale, mu, theta;
    float doubling[5];  ///< lambda to the power of rows, 2 rows, 4 rows ... 16 rows
    float of_warp;      ///< lambda^(32 rows)

    explicit Factors(const Scheme& s)
        : lambda(static_cast<float>(s.lambda)),
          loss(static_cast<float>(-std::expm1(-s.mu))),
          scale(static_cast<float>(s.scale())),
          mu(static_cast<float>(s.mu)),
          theta(static_cast<float>(s.theta)),
          of_warp(static_cast<float>(s.power(32 * rows))) {
        for (int j = 0; j < 5; ++j) doubling[j] = static_cast<float>(s.power(rows << j));
    }

    /// lambda sum + more. Close to 1, what lambda lacks to 1 says more in a float than lambda does.
    template <bool precise>
    __device__ float next(float sum, float more) const {
        return precise ? (sum + more) - loss * sum : lambda * sum + more;
    }
};

/// The rod.
struct Rod {
    const float *left, *right;
    long long n;
    int steps;
    float theta;

    /// What w is at an end when step s is taken.
    __device__ float at_end(const float* end, int s) const {
        return theta * end[s + 1] + (1 - theta) * end[s];
    }
};

/// What a thread holds of a tile: its rows from rows * threadIdx.x on.
struct Part {
    float u[rows];
    float (*stage)[33 * 32];  ///< of each warp

    /// The places of the thread's own rows there, and of element 32 j + lane of the warp's: 33 j further.
    /// Rows of 33 keep 32 lanes out of each other's banks.
    __device__ float* own() const { return stage[threadIdx.x / 32] + 33 * (threadIdx.x % 32); }
    __device__ float* shared() const { return stage[threadIdx.x / 32] + threadIdx.x % 32; }

    /// Element 32 j + lane of the warp's comes to or from memory in u[j]; the lanes want 32 neighbours each.
    __device__ void gather() {
        // unchecked: the barriers of the step before stand between two uses of the stage
        __syncwarp();
#pragma unroll
        for (int j = 0; j < rows; ++j) shared()[33 * j] = u[j];
        __syncwarp();
#pragma unroll
        for (int j = 0; j < rows; ++j) u[j] = own()[j];
    }
    __device__ void scatter() {
        // unchecked: the barriers of the step stand between two uses of the stage
        __syncwarp();
#pragma unroll
        for (int j = 0; j < rows; ++j) own()[j] = u[j];
        __syncwarp();
#pragma unroll
        for (int j = 0; j < rows; ++j) u[j] = shared()[33 * j];
    }
    /// The place of this thread's element 0 of the warp's, in a tile that begins at `begin`.
    static __device__ long long first(long long begin) {
        return begin + threadIdx.x / 32 * (32 * rows) + threadIdx.x % 32;
    }
    /// How far it is from there to `to`, if that is less than a tile.
    static __device__ int distance(long long first, long long to) {
        return static_cast<int>(max(min(to - first, static_cast<long long>(tile)), 0LL));
    }
    /// Rows from `n` on are 0.
    __device__ void load(const float* from, long long begin, long long n) {
        const long long place = first(begin);
        const int there = distance(place, n);
#pragma unroll
        for (int j = 0; j < rows; ++j) u[j] = 32 * j < there ? from[place + 32 * j] : 0;
        gather();
    }
    __device__ void store(float* to, long long begin, long long from, long long until) {
        scatter();
        const long long place = first(begin);
        const int low = distance(place, from), high = distance(place, until);
#pragma unroll
        for (int j = 0; j < rows; ++j) {
            if (32 * j >= low && 32 * j < high) to[place + 32 * j] = u[j];
        }
    }
};

/// What the warps of a block hand each other in a step.
struct Exchange {
    float forward[warps], backward[warps], first;
};

/// The thread's first row of the tile. Through a shuffle, since the compiler moves what it knows to be the
/// same in all steps out of their loop, where 32 numbers a thread have no register.
static __device__ int first_row() {
    return rows * __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x), threadIdx.x % 32);
}

/// u becomes w, for z = `before` in front of the tile and w = `behind` at its end.
/// @param end    the row of the tile where the rod's right end is, which has the value
/// `at_end`; none if negative
/// @returns for thread 0, what leaves the tile: z of its last row, and w of its first
template <bool precise>
static __device__ __forceinline__ float2 solve(Part& t, Exchange& exchange, const Factors& f, float before,
                                               float behind, int end, float at_end) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    float(&u)[rows] = t.u;
    float from_front = 1, from_back = 1;  // lambda^(rows lane), lambda^(rows (31 - lane))
#pragma unroll
    for (int j = 0; j < 5; ++j) *(lane >> j & 1 ? &from_front : &from_back) *= f.doubling[j];

    // Forward: what the thread's rows send on when nothing comes in, then what comes in, then the rows.
    float sent = 0;
#pragma unroll
    for (int i = 0; i < rows; ++i) {
        u[i] *= f.scale;
        sent = f.next<precise>(sent, u[i]);
    }
#pragma unroll
    for (int j = 0; j < 5; ++j) {
        const float more = __shfl_up_sync(0xffffffffu, sent, 1 << j);
        if (lane >= 1 << j) sent += f.doubling[j] * more;
    }
    if (lane == 31) exchange.forward[warp] = sent;
    __syncthreads();
    float arrives = before, leaves = before;
    for (int w = 0; w < warps; ++w) {
        if (w == warp) arrives = leaves;
        leaves = exchange.forward[w] + f.of_warp * leaves;
    }
    float carry = __shfl_up_sync(0xffffffffu, sent, 1);
    carry = (lane > 0 ? carry : 0) + from_front * arrives;
#pragma unroll
    for (int i = 0; i < rows; ++i) u[i] = carry = f.next<precise>(carry, u[i]);
    if (end >= 0) {
        const int there = end - first_row();
#pragma unroll
        for (int i = 0; i < rows; ++i) {
            if (i >= there) u[i] = i == there ? at_end : 0;
        }
    }

    // Backward, the same from the other side.
    sent = 0;
#pragma unroll
    for (int i = rows - 1; i >= 0; --i) sent = f.next<precise>(sent, u[i]);
#pragma unroll
    for (int j = 0; j < 5; ++j) {
        const float more = __shfl_down_sync(0xffffffffu, sent, 1 << j);
        if (lane + (1 << j) < 32) sent += f.doubling[j] * more;
    }
    if (lane == 0) exchange.backward[warp] = sent;
    __syncthreads();
    float first = behind;
    arrives = behind;
    for (int w = warps - 1; w >= 0; --w) {
        if (w == warp) arrives = first;
        first = exchange.backward[w] + f.of_warp * first;
    }
    carry = __shfl_down_sync(0xffffffffu, sent, 1);
    carry = (lane < 31 ? carry : 0) + from_back * arrives;
#pragma unroll
    for (int i = rows - 1; i >= 0; --i) u[i] = carry = f.next<precise>(carry, u[i]);
    return {leaves, first};
}

/// Adds `missing` times the solution without right-hand side that is 1 in front of row 0 and 0 in row
/// `length`: in row i exp(-mu (i + 1)) expm1(-2 mu (length - i)) / expm1(-2 mu (length + 1)). From row to row
/// the second factor changes by a recurrence that only adds.
/// @param begin  the tile's first row
template <class Index>
static __device__ void add_homogeneous(Part& t, const Factors& f, float missing, Index begin, Index length) {
    const float less = expm1f(-2 * f.mu), kept = 1 + less;
    const float factor = missing / expm1f(-2 * f.mu * static_cast<float>(length + 1));
    const Index row = begin + first_row();
    float second = row + rows < length ? expm1f(-2 * f.mu * static_cast<float>(length - row - rows)) : 0;
#pragma unroll
    for (int i = rows - 1; i >= 0; --i) {
        second = row + i < length ? kept * second + less : 0;
        t.u[i] += factor * __expf(-f.mu * static_cast<float>(row + i + 1)) * second;
    }
}

/// So far the solution has w_{-1} = lambda w_0; gives it the value of the rod's left end.
/// @param length  rows of the tile in front of its right end, where w has the right value already
static __device__ void fix_left_end(Part& t, Exchange& exchange, const Factors& f, float at_end, int length) {
    if (threadIdx.x == 0) exchange.first = t.u[0];
    __syncthreads();
    add_homogeneous(t, f, at_end - f.lambda * exchange.first, 0, length);
}

/// What is kept of u while w is computed. A thread reads its own.
template <bool blended>
static __device__ void keep(const Part& t) {
    if constexpr (blended) {
#pragma unroll
        for (int i = 0; i < rows; ++i) t.own()[i] = t.u[i];
    }
}

/// From u and w to v.
template <bool blended>
static __device__ void blend(Part& t, float theta) {
    if constexpr (blended) {
        const float inverse = 1 / theta;
#pragma unroll
        for (int i = 0; i < rows; ++i) {
            const float old = t.own()[i];
            t.u[i] = old + (t.u[i] - old) * inverse;
        }
    }
}

/// A block owns a tile of the rod and takes `count` steps with it, from step `step` on. It stores what is
/// `overlap` rows away from the tile's cut sides.
template <bool precise, bool blended>
__global__ void __launch_bounds__(threads, 8)
    time_loop_kernel(const float* from, float* to, Rod rod, Factors f, int step, int count, int overlap) {
    __shared__ float stage[warps][33 * 32];
    __shared__ Exchange exchange;
    const long long begin = blockIdx.x * static_cast<long long>(tile - 2 * overlap);
    const bool leftmost = blockIdx.x == 0, rightmost = blockIdx.x == gridDim.x - 1;
    const int length = static_cast<int>(min(rod.n - begin, static_cast<long long>(tile)));  // rows of the rod
    Part t;
    t.stage = stage;
    t.load(from, begin, rod.n);
    for (int s = step; s < step + count; ++s) {
        keep<blended>(t);
        const float at_right = rightmost ? rod.at_end(rod.right, s) : 0;
        solve<precise>(t, exchange, f, 0, length == tile ? at_right : 0, length < tile ? length : -1,
                       at_right);
        if (leftmost) fix_left_end(t, exchange, f, rod.at_end(rod.left, s), length);
        blend<blended>(t, rod.theta);
    }
    t.store(to, begin, leftmost ? begin : begin + overlap, rightmost ? rod.n : begin + tile - overlap);
}

/// z in front of a tile and w behind it; or z of its last row and w of its first.
struct Ends {
    float z, w;
};

/// A block owns a tile; there is no overlap. Without `arriving` it leaves in `leaving` what leaves the tile
/// when nothing arrives; else it takes the step, with `*missing` of what the rod's left end has.
template <bool blended>
__global__ void __launch_bounds__(threads, 8)
    tile_kernel(const float* from, float* to, Rod rod, Factors f, int step, Ends* leaving,
                const Ends* arriving, const float* missing) {
    __shared__ float stage[warps][33 * 32];
    __shared__ Exchange exchange;
    const long long begin = blockIdx.x * static_cast<long long>(tile);
    const int length = static_cast<int>(min(rod.n - begin, static_cast<long long>(tile)));
    Part t;
    t.stage = stage;
    t.load(from, begin, rod.n);
    keep<blended>(t);
    const Ends in = arriving ? arriving[blockIdx.x] : Ends{0, 0};
    const float2 out = solve<true>(t, exchange, f, in.z, in.w, length < tile ? length : -1,
                                   length < tile ? rod.at_end(rod.right, step) : 0);
    if (arriving) {
        add_homogeneous(t, f, *missing, begin, rod.n);
        blend<blended>(t, rod.theta);
        t.store(to, begin, begin, begin + length);
    } else if (threadIdx.x == 0) {
        leaving[blockIdx.x] = {out.x, out.y};
    }
}

/// What carry_kernel has to know of the tiles.
struct Carries {
    long long tiles;
    int last_length;      ///< rows of the last one
    float mu_tile;        ///< a tile's last row sends lambda^tile = exp(-mu_tile) of what arrived
    float response;       ///< w of a tile's first row for z = 1 in front of it,
    float last_response;  ///< and that of the last tile
    float lambda;
};

static constexpr int carriers = 1024;

/// Thread t gets the sum over all threads s < t of v_s factor^(t - 1 - s).
static __device__ float exclusive_scan(float v, float factor) {
    __shared__ float all[carriers];
    const int t = static_cast<int>(threadIdx.x);
    for (int distance = 1; distance < carriers; distance *= 2, factor *= factor) {
        __syncthreads();
        all[t] = v;
        __syncthreads();
        if (t >= distance) v += factor * all[t - distance];
    }
    __syncthreads();
    all[t] = v;
    __syncthreads();
    return t > 0 ? all[t - 1] : 0;
}

/// One block. From what leaves the tiles alone to what arrives at each, for z = 0 in front of the rod. A
/// thread owns `share` consecutive tiles. `*missing` is by how much the rod's left end then has too little.
/// (To look for the z that gives it all would lose digits: where lambda is nearly 1 that is a small
/// difference, and w is far larger than it.)
static __global__ void carry_kernel(const Ends* __restrict__ leaving, Ends* __restrict__ arriving,
                                    float* missing, Rod rod, Carries c, int step) {
    const float at_right = rod.at_end(rod.right, step);
    const long long share = (c.tiles + carriers - 1) / carriers;
    const long long begin = min(threadIdx.x * share, c.tiles), end = min(begin + share, c.tiles);
    const float factor = expf(-c.mu_tile), of_share = expf(-c.mu_tile * static_cast<float>(share));
    float sum = 0;
#pragma unroll 8
    for (long long k = begin; k < end; ++k) sum = factor * sum + leaving[k].z;
    sum = exclusive_scan(sum, of_share);
#pragma unroll 8
    for (long long k = begin; k < end; ++k) {
        arriving[k].z = sum;
        sum = factor * sum + leaving[k].z;
    }
    __syncthreads();  // what is read below was written by others

    // Back, with tiles counted from the other end. The last one may end with the rod, and sends all it has.
    const bool whole = c.last_length == tile;
    const auto send = [&](long long k, float behind) {
        const bool last = k == c.tiles - 1;
        const float own = leaving[k].w + (last ? c.last_response : c.response) * arriving[k].z;
        return own + (last && !whole ? 0 : factor * behind);
    };
    if (whole && begin == 0)
        sum = at_right;
    else
        sum = 0;
    float first = sum;
#pragma unroll 8
    for (long long k = begin; k < end; ++k) first = send(c.tiles - 1 - k, first);
    const float before = exclusive_scan(first, of_share);
    first = begin == 0 ? sum : before;
#pragma unroll 8
    for (long long k = begin; k < end; ++k) {
        arriving[c.tiles - 1 - k].w = first;
        first = send(c.tiles - 1 - k, first);
    }
    if (begin < end && end == c.tiles) *missing = rod.at_end(rod.left, step) - c.lambda * first;
}

/// A thread owns one point: u + (1 - theta) r (second difference of u).
static __global__ void explicit_kernel(const float* from, float* to, Rod rod, float factor, int step) {
    const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    if (i >= rod.n) return;
    const float before = i > 0 ? from[i - 1] : rod.left[step];
    const float behind = i < rod.n - 1 ? from[i + 1] : rod.right[step];
    to[i] = from[i] + factor * ((before - from[i]) + (behind - from[i]));
}

/// How many rows have to overlap so that s = 1, 2 ... `steps` steps may be taken without a look at the
/// neighbours; ends early where that would be more than most_overlap.
///
/// A cut side is a wrong value of w in front of the tile (0 or lambda w_0 instead of what is there: off by 2
/// max |u| at most), in every step. After its step it has changed v in row d by lambda^(d + 1) / theta
/// of itself; what the later steps make of that is found by taking them. All changes together, from both
/// sides, have to stay below 2^-24 max |u|.
static std::vector<int> overlaps(const Scheme& scheme, int steps) {
    constexpr double limit = 0x1p-26;
    // Beyond `range` the changes are far below the limit.
    const int range = static_cast<int>(std::min(most_overlap + 1.0, 64 + (40 + 4 * steps) / scheme.mu));
    std::vector<double> change(range), w(range), sum(range);
    change[0] = scheme.lambda / scheme.theta;
    for (int d = 1; d < range; ++d) change[d] = scheme.lambda * change[d - 1];
    std::vector<int> found;
    for (int s = 1; s <= steps; ++s) {
        if (s > 1) {
            for (int d = 0; d < range; ++d)
                w[d] = scheme.scale() * change[d] + (d > 0 ? scheme.lambda * w[d - 1] : 0);
            for (int d = range - 2; d >= 0; --d) w[d] += scheme.lambda * w[d + 1];
            for (int d = 0; d < range; ++d) change[d] += (w[d] - change[d]) / scheme.theta;
        }
        int enough = range;
        for (int d = 0; d < range; ++d) sum[d] += std::abs(change[d]);
        while (enough > 0 && sum[enough - 1] <= limit) --enough;
        if (enough == range) break;
        found.push_back(enough);
    }
    return found;
}

/// Takes implicit steps.
class Stepper {
  public:
    Stepper(const Scheme& scheme, const Rod& rod, cudaStream_t stream)
        : scheme_(scheme), factors_(scheme), rod_(rod), stream_(stream) {
        if (rod.n > tile) overlaps_ = overlaps(scheme, std::min(rod.steps, most_steps));
    }

    /// Takes `count` steps, from step `step` on, and leaves the result in `to`; `other` is overwritten if
    /// count > 1.
    void run(const float* from, float* to, float* other, int step, int count) const {
        const int longest = rod_.n <= tile ? count : std::max(static_cast<int>(overlaps_.size()), 1);
        for (int passes = (count + longest - 1) / longest; passes > 0; --passes) {
            float* const next = passes % 2 == 1 ? to : other;
            const int now = (count + passes - 1) / passes;  // passes of about the same length
            pass(from, next, step, now);
            from = next, step += now, count -= now;
        }
    }

  private:
    void pass(const float* from, float* to, int step, int count) const {
        if (rod_.n > tile && overlaps_.empty()) return exact(from, to, step);
        const int overlap = rod_.n <= tile ? 0 : overlaps_[count - 1];
        const long long stored = tile - 2 * overlap, more = std::max(rod_.n - tile, 0LL);
        const auto blocks = static_cast<unsigned>(1 + (more + stored - 1) / stored);
        const bool precise = scheme_.lambda > 0.95, blended = scheme_.theta < 1;
        const auto kernel = precise   ? blended ? time_loop_kernel<true, true> : time_loop_kernel<true, false>
                              : blended ? time_loop_kernel<false, true>
                                      : time_loop_kernel<false, false>;
        kernel<<<blocks, threads, 0, stream_>>>(from, to, rod_, factors_, step, count, overlap);
    }

    /// One step, for any lambda.
    void exact(const float* from, float* to, int step) const {
        const long long tiles = (rod_.n + tile - 1) / tile;
        const long long last = rod_.n - (tiles - 1) * tile;
        auto* const leaving = static_cast<Ends*>(
            rungs::stream_workspace(stream_, (2 * static_cast<std::size_t>(tiles) + 1) * sizeof(Ends)));
        Ends* const arriving = leaving + tiles;
        float* const missing = &arriving[tiles].z;
        const Carries carries{tiles,
                              static_cast<int>(last),
                              static_cast<float>(scheme_.mu * tile),
                              static_cast<float>(scheme_.response(tile)),
                              static_cast<float>(scheme_.response(static_cast<double>(last))),
                              factors_.lambda};
        const auto kernel = scheme_.theta < 1 ? tile_kernel<true> : tile_kernel<false>;
        const auto blocks = static_cast<unsigned>(tiles);
        kernel<<<blocks, threads, 0, stream_>>>(from, to, rod_, factors_, step, leaving, nullptr, nullptr);
        carry_kernel<<<1, carriers, 0, stream_>>>(leaving, arriving, missing, rod_, carries, step);
        kernel<<<blocks, threads, 0, stream_>>>(from, to, rod_, factors_, step, nullptr, arriving, missing);
    }

    Scheme scheme_;
    Factors factors_;
    Rod rod_;
    cudaStream_t stream_;
    std::vector<int> overlaps_;
};
// END SOLUTION

void btcs::time_loop(const float* start, const float* left, const float* right, float* u, float* work,
                     long long n, int steps, double r, double theta, cudaStream_t stream) {
    // TODO 15.2: the launches, for any n, any r and any theta.
    // BEGIN SOLUTION
    if (!(r >= 0 && std::isfinite(r) && theta >= 0 && theta <= 1)) {
        throw std::invalid_argument("a step takes a finite r >= 0, and a theta from 0 to 1");
    }
    if (n == 0) return;
    if (steps == 0) {
        CUDA_CHECK(cudaMemcpyAsync(u, start, n * sizeof(float), cudaMemcpyDeviceToDevice, stream));
        return;
    }
    if (theta >= 0.5) {
        const Rod rod{left, right, n, steps, static_cast<float>(theta)};
        Stepper(Scheme(theta * r, theta), rod, stream).run(start, u, work, 0, steps);
    } else {
        // Stable for small r only: first the explicit part of a step, then the implicit one.
        const Rod rod{left, right, n, 1, 1};
        const Stepper stepper(Scheme(theta * r, 1), rod, stream);
        const auto blocks = static_cast<unsigned>((n + 255) / 256);
        const auto factor = static_cast<float>((1 - theta) * r);
        const float* from = start;
        for (int s = 0; s < steps; ++s) {
            float* const to = theta > 0 || (steps - s) % 2 == 0 ? work : u;
            explicit_kernel<<<blocks, 256, 0, stream>>>(from, to, rod, factor, s);
            if (theta > 0) stepper.run(work, u, nullptr, s, 1);
            from = theta > 0 ? u : to;
        }
    }
    CUDA_CHECK(cudaGetLastError());
    // END SOLUTION
}
