// One launch that keeps the vectors of conjugate gradients on the chip, and has no barrier of the grid.

#include <algorithm>
#include <cstring>
#include <cuda/atomic>

#include "grid_sums.cuh"
#include "rungs/shared_memory.cuh"
#include "solver.cuh"

using namespace pcg;

// TODO 15.1: the kernel, persistent_kernel, and its launch. The design is yours. What does not fit on the chip
// has to be solved as well.
// BEGIN SOLUTION
// A block owns a brick of the cube, with x, r, p and w = A p in registers and shared memory from the first
// iteration to the last. What it needs of its neighbours is p one point beyond its faces. That it works out
// itself: it keeps r and p there, too, and receives w. So an iteration sends one number for each point of a
// face, and four sums, and waits once. Each number travels with the turn that it belongs to, and whoever
// needs it looks until it is there.

static constexpr int most_threads = 512, streamed_threads = 1024;
static constexpr int short_row = 32;  ///< packs

/// Two floats or a double, whose last bit says in which turn they were sent. It is written and read as a
/// whole: who sees the turn has the numbers, without a fence.
using Word = unsigned long long;

static __device__ void send(Word* to, Word word) {
    cuda::atomic_ref<Word, cuda::thread_scope_device>(*to).store(word, cuda::memory_order_relaxed);
}
static __device__ Word look(Word* at) {
    return cuda::atomic_ref<Word, cuda::thread_scope_device>(*at).load(cuda::memory_order_relaxed);
}

/// Every place is used in every second turn, so one bit tells a turn from the one before. At first it is 0,
/// which neither of the first two turns has.
static __device__ Word marked(Word word, unsigned turn) { return (word & ~Word(1)) | (turn + 1) / 2 % 2; }

/// Waits for words of this turn; all are looked for at once. The last look is tested first: the other way
/// round the compiler puts tests before the last look, which then begins when the others have come back.
template <int count, class Place>
static __device__ void wait_for(Word (&word)[count], unsigned turn, unsigned nanoseconds,
                                const Place& place) {
    for (bool there = false; !there;) {
#pragma unroll
        for (int i = 0; i < count; ++i) word[i] = look(place(i));
        there = true;
#pragma unroll
        for (int i = count - 1; i >= 0; --i) there = there && word[i] == marked(word[i], turn);
        if (!there) __nanosleep(nanoseconds);
    }
}

/// Packs of w that blocks show each other. Two places in turn: a neighbour may still read the other.
template <class T>
class Faces {
  public:
    static constexpr int words = sizeof(Pack<T>) / sizeof(Word);
    __host__ __device__ static constexpr std::size_t count(long long packs) { return 2 * words * packs; }

    __device__ Faces(Word* memory, long long packs) : memory_(memory), packs_(packs) {}

    /// `value` becomes what the neighbours see: last bits are changed.
    __device__ void show(long long pack, Pack<T>& value, unsigned turn) const {
        Word word[words];
        memcpy(word, &value, sizeof(value));
#pragma unroll
        for (int i = 0; i < words; ++i) {
            word[i] = marked(word[i], turn);
            send(place(i, pack, turn), word[i]);
        }
        memcpy(&value, word, sizeof(value));
    }
    __device__ Pack<T> wait(long long pack, unsigned turn) const {
        Word word[words];
        // All threads look: too often, and the sums come late.
        wait_for(word, turn, 40, [&](int i) { return place(i, pack, turn); });
        Pack<T> value;
        memcpy(&value, word, sizeof(value));
        return value;
    }

  private:
    __device__ Word* place(int i, long long pack, unsigned turn) const {
        return memory_ + ((turn % 2) * words + i) * packs_ + pack;
    }

    Word* memory_;
    long long packs_;
};

/// The sum over the lanes that have the same lane % 4.
static __device__ double sum_of_fours(double sum) {
    for (int step = 4; step < 32; step *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    return sum;
}

/// Four sums over the warp: lane l has sum l % 4.
static __device__ double warp_sums(const Sums<4>& own) {
    const auto other = [](double x, int step) { return __shfl_xor_sync(0xffffffffu, x, step); };
    const bool upper = threadIdx.x & 2, odd = threadIdx.x & 1;
    const double even_sum = (upper ? own.of[2] : own.of[0]) + other(upper ? own.of[0] : own.of[2], 2);
    const double odd_sum = (upper ? own.of[3] : own.of[1]) + other(upper ? own.of[1] : own.of[3], 2);
    return sum_of_fours((odd ? odd_sum : even_sum) + other(odd ? even_sum : odd_sum, 1));
}

/// Four sums over the grid, without a barrier: each block sends its own to all. So that not all blocks look
/// at the same few places, there are copies. The four of a block lie beside each other, in one sector.
class SentSums {
  public:
    static constexpr int copies = 8, at_once = 4;  ///< and words that a thread looks for
    __host__ __device__ static constexpr std::size_t count(int blocks) {
        return 2 * 4 * copies * static_cast<std::size_t>(blocks);
    }

    __device__ explicit SentSums(Word* memory) : memory_(memory) {}

    /// All threads of the block must call it.
    __device__ void send_own(const Sums<4>& own, unsigned turn) {
        __shared__ double of_warp[32][4];
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
        double sum = warp_sums(own);
        if (lane < 4) of_warp[warp][lane] = sum;
        __syncthreads();
        if (warp > 0) return;
        sum = 0;
        for (int i = lane / 4; i < warps; i += 8) sum += of_warp[i][lane % 4];
        const Word bits = static_cast<Word>(__double_as_longlong(sum_of_fours(sum)));
        send(place(lane / 4, turn) + 4 * blockIdx.x + lane % 4, marked(bits, turn));
    }
    /// The sums, in all threads. The order of additions is always the same.
    __device__ Sums<4> wait(unsigned turn) {
        __shared__ double of_warp[32][4];
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const int words = 4 * gridDim.x, share = 32 * at_once;
        const int listening = min(static_cast<int>(blockDim.x) / 32, (words + share - 1) / share);
        if (warp < listening) {
            double sum = 0;
            Word* const from = place(blockIdx.x % copies, turn);
            for (int first = warp * share + lane; first < words; first += listening * share) {
                const auto exists = [&](int i) { return first + 32 * i < words; };
                Word word[at_once];
                wait_for(word, turn, 0, [&](int i) { return from + first + (exists(i) ? 32 * i : 0); });
#pragma unroll
                for (int i = 0; i < at_once; ++i)
                    if (exists(i)) sum += __longlong_as_double(static_cast<long long>(word[i] & ~Word(1)));
            }
            sum = sum_of_fours(sum);
            if (lane < 4) of_warp[warp][lane] = sum;
        }
        __syncthreads();
        Sums<4> sums;
        for (int i = 0; i < listening; ++i) {
            for (int s = 0; s < 4; ++s) sums.of[s] += of_warp[i][s];
        }
        return sums;
    }

  private:
    /// Two places in turn: a block may begin with the next sums while another still reads these.
    __device__ Word* place(int copy, unsigned turn) const {
        return memory_ + (turn % 2 * copies + copy) * 4 * gridDim.x;
    }

    Word* memory_;
};

/// A cube of 2 or 3 dimensions, cut into bricks of whole rows, `high` x `deep` of them. A thread owns a pack
/// of each of `each` rows above each other. Of a square, the coordinate between the first and the last has
/// the one value 0.
struct Bricks {
    int dimensions, side, sides_high;  ///< of the cube; sides_high is side, or 1 of a square
    int packs, pitch;                  ///< of a row, and what it takes where rows are kept
    int each, beside;                  ///< rows that a thread has, and such threads above each other
    int deep;
    int stacks, layers;  ///< bricks along the coordinate between, and along the last one

    __host__ __device__ int high() const { return each * beside; }
    __host__ __device__ int workers() const { return packs * beside * deep; }
    __host__ __device__ int rim_rows() const { return 2 * (high() + deep); }
    __host__ __device__ int padded() const { return (high() + 2) * (deep + 2) * pitch; }
    int blocks() const { return stacks * layers; }
    int threads() const { return (workers() + 31) / 32 * 32; }
    long long all_packs() const { return static_cast<long long>(side) * sides_high * pitch; }
    std::size_t shared() const {
        return 16 * static_cast<std::size_t>(padded() + 2 * rim_rows() * pitch + each * most_threads) +
               2 * rim_rows() * sizeof(int);
    }
};

/// A thread adds up products with w in T. So that none leaves the range of float, w is multiplied by this
/// there, a power of two near to one over the norm of r.
template <class T>
static __device__ T scale_for(double rr) {
    if (sizeof(T) == sizeof(double) || !(rr > 0) || isinf(rr)) return 1;
    return ldexp(T(1), min(max(-ilogb(rr) / 2, -126), 126));
}

/// Short rows are kept `fixed` apart, so that the places of a thread's packs differ by
/// what the compiler knows.
template <class T, int each, int fixed>
__global__ void __launch_bounds__(most_threads, 1)
    persistent_kernel(const T* b, T* x, double* history, int* outcome, T* fresh, Word* words, double* partial,
                      Bricks bricks, int limit, double tolerance) {
    constexpr int size = Pack<T>::size;
    extern __shared__ __align__(16) double memory[];
    const int side = bricks.side, packs = bricks.packs, pitch = fixed > 0 ? fixed : bricks.pitch,
              high = bricks.high(), deep = bricks.deep;
    const int lane = threadIdx.x % 32, workers = bricks.workers(), rim_rows = bricks.rim_rows();
    const int y0 = blockIdx.x % bricks.stacks * high, z0 = blockIdx.x / bricks.stacks * deep;
    const T diagonal = 2 * bricks.dimensions;
    GridSums over_grid(partial);
    SentSums sent(words);
    const Faces<T> faces(words + SentSums::count(gridDim.x),
                         static_cast<long long>(side) * bricks.sides_high * pitch);

    // p of the brick and around it; x of the brick; r and w around it; where a rim's row is in p,
    // and in the cube.
    Pack<T>* const p = reinterpret_cast<Pack<T>*>(memory);
    Pack<T>* const own_x = p + bricks.padded() + threadIdx.x;  // and every so many-th
    Pack<T>* const rim_r = p + bricks.padded() + each * most_threads;
    Pack<T>* const rim_w = rim_r + rim_rows * pitch;
    int* const rim_place = reinterpret_cast<int*>(rim_w + rim_rows * pitch);
    int* const rim_index = rim_place + rim_rows;
    const int up = (high + 2) * pitch;  // from a layer of p to the next
    // A thread's packs: `rows` above each other that are in the cube, the first of them here in p
    // and in the cube.
    const bool works = static_cast<int>(threadIdx.x) < workers;
    const int column = works ? threadIdx.x % packs : 0, number = works ? threadIdx.x / packs : 0;
    const int first = number % bricks.beside * each, layer = number / bricks.beside;
    const int rows = works && z0 + layer < side ? min(each, max(bricks.sides_high - y0 - first, 0)) : 0;
    const int live =
        min(size, side - column * size);  // the last pack of a row may have numbers without a point
    const int place = (layer + 1) * up + (first + 1) * pitch + column;
    const int row0 = (z0 + layer) * bricks.sides_high + y0 + first;
    for (int row = threadIdx.x; row < rim_rows; row += blockDim.x) {
        // The rim's rows: `deep` at y = -1, as many at y = high, then `high` at z = -1, and at z = deep.
        const int side_row = row - 2 * deep;
        const int y = side_row >= 0 ? side_row % high : row < deep ? -1 : high;
        const int z = side_row < 0 ? row % deep : side_row < high ? -1 : deep;
        const bool exists = y0 + y >= 0 && y0 + y < bricks.sides_high && z0 + z >= 0 && z0 + z < side;
        rim_place[row] = exists ? (z + 1) * up + (y + 1) * pitch : -1;
        rim_index[row] = (z0 + z) * bricks.sides_high + y0 + y;
    }
    // action(number, place in p, row of the cube) for the packs of the rim that a thread looks after.
    const auto for_rim = [&](const auto& action) {
        for (int row = works ? number : rim_rows; row < rim_rows; row += bricks.beside * deep) {
            const int at = rim_place[row];
            if (at >= 0) action(row * pitch + column, at + column, rim_index[row]);
        }
    };
    const auto load = [&](const T* from, int row) {
        Pack<T> value{};
        for (int c = 0; c < size; ++c)
            if (c < live) value.of[c] = from[static_cast<long long>(row) * side + column * size + c];
        return value;
    };
    const auto store_x = [&] {
        for (int i = 0; i < rows; ++i) {
            for (int c = 0; c < size; ++c)
                if (c < live)
                    x[static_cast<long long>(row0 + i) * side + column * size + c] =
                        own_x[i * most_threads].of[c];
        }
    };

    Sums<1> square;
    for (int i = 0; i < rows * live; ++i) {
        const double value = b[static_cast<long long>(row0 + i / live) * side + column * size + i % live];
        square.of[0] += value * value;
    }
    square = over_grid(square);
    T scale = scale_for<T>(square.of[0]);
    double unit = 1 / scale;

    for (int i = threadIdx.x; i < bricks.padded(); i += blockDim.x)
        p[i] = Pack<T>{};  // and so it stays outside of the cube
    Pack<T> r[each], w[each] = {};
    __syncthreads();
#pragma unroll
    for (int i = 0; i < each; ++i) {
        r[i] = i < rows ? load(b, row0 + i) : Pack<T>{};
        if (works) own_x[i * most_threads] = Pack<T>{};
    }
    for_rim([&](int i, int, int row) {
        rim_r[i] = load(b, row);
        rim_w[i] = Pack<T>{};
    });

    T alpha = 0, beta = 0;
    double bb = 0, last = 0;  // r.r at first, and of the iteration before
    bool carried = false;     // r is not b - A x, but what the recurrence says
    int k = 0, what;
    for (unsigned turn = 0;;) {
        Sums<4> sums;  // r.r, p.w, r.w, w.w
#pragma unroll
        for (int i = 0; i < each; ++i) {
            if (!works) break;
            Pack<T> here = p[place + i * pitch], move = own_x[i * most_threads];
#pragma unroll
            for (int c = 0; c < size; ++c) {
                move.of[c] += alpha * here.of[c];
                r[i].of[c] -= alpha * w[i].of[c];
                here.of[c] = r[i].of[c] + beta * here.of[c];
                const double own_r = r[i].of[c];
                sums.of[0] += own_r * own_r;
            }
            own_x[i * most_threads] = move, p[place + i * pitch] = here;
        }
        for_rim([&](int i, int at, int) {
            const Pack<T> shown = rim_w[i];
            Pack<T> rim = rim_r[i], here = p[at];
#pragma unroll
            for (int c = 0; c < size; ++c) {
                rim.of[c] -= alpha * shown.of[c];
                here.of[c] = rim.of[c] + beta * here.of[c];
            }
            rim_r[i] = rim, p[at] = here;
        });
        __syncthreads();
        ++turn;
        T own[4] = {};  // the last three, of this thread
        Pack<T> south = p[place - pitch], here = p[place];
        const T* const ends = reinterpret_cast<const T*>(p + place) + (lane == 0    ? -1
                                                                       : lane == 31 ? size
                                                                                    : -size * lane);
#pragma unroll
        for (int i = 0; i < each; ++i) {
            const int at = place + i * pitch;
            const Pack<T> north = p[at + pitch], under = p[at - up], over = p[at + up];
            // Left and right neighbours are the lanes beside, except at a warp's ends.
            const T beyond = ends[i * pitch * size];
            const T shown_before = __shfl_up_sync(0xffffffffu, here.of[size - 1], 1);
            const T shown_after = __shfl_down_sync(0xffffffffu, here.of[0], 1);
            const T before = column == 0 ? T(0) : lane == 0 ? beyond : shown_before;
            const T after = column == packs - 1 ? T(0) : lane == 31 ? beyond : shown_after;
#pragma unroll
            for (int c = 0; c < size; ++c) {
                const T around =
                    (under.of[c] + over.of[c]) + (south.of[c] + north.of[c]) +
                    ((c > 0 ? here.of[c - 1] : before) + (c + 1 < size ? here.of[c + 1] : after));
                w[i].of[c] = i < rows && c < live ? diagonal * here.of[c] - around : T(0);
                const T scaled_w = scale * w[i].of[c];
                own[1] += here.of[c] * scaled_w;
                own[2] += r[i].of[c] * scaled_w;
                own[3] += scaled_w * scaled_w;
            }
            const int y = first + i;
            if (i < rows && (y == 0 || y == high - 1 || layer == 0 || layer == deep - 1))
                faces.show(static_cast<long long>(row0) * pitch + column + i * pitch, w[i], turn);
            south = here, here = north;
        }
        sums.of[1] = unit * own[1], sums.of[2] = unit * own[2], sums.of[3] = unit * unit * own[3];
        sent.send_own(sums, turn);
        if (k > 0 && blockIdx.x == 0 && threadIdx.x + 1 == blockDim.x)
            history[k - 1] = sqrt(last);  // while it waits
        for_rim([&](int i, int, int row) {
            rim_w[i] = faces.wait(static_cast<long long>(row) * pitch + column, turn);
        });
        sums = sent.wait(turn);
        const double rr = sums.of[0], pw = sums.of[1], rw = sums.of[2], ww = sums.of[3];
        if (k == 0) bb = rr;
        what = verdict(rr, bb, k, limit, tolerance);
        if (what == converged && carried) {  // it seems to be the end: look again
            store_x();
            cooperative_groups::this_grid().sync();
            square = {};
            const int plane = side * bricks.sides_high;
            for (int i = 0; i < rows * live; ++i) {
                const int y = y0 + first + i / live, z = z0 + layer, at = column * size + i % live;
                const long long point = static_cast<long long>(row0 + i / live) * side + at;
                T around = 0;
                if (at > 0) around += x[point - 1];
                if (at + 1 < side) around += x[point + 1];
                if (y > 0) around += x[point - side];
                if (y + 1 < bricks.sides_high) around += x[point + side];
                if (z > 0) around += x[point - plane];
                if (z + 1 < side) around += x[point + plane];
                fresh[point] = b[point] - (diagonal * x[point] - around);
                square.of[0] += double(fresh[point]) * fresh[point];
            }
            square = over_grid(square);
            scale = scale_for<T>(square.of[0]), unit = 1 / scale;
            if (!(square.of[0] <=
                  tolerance * tolerance * bb)) {  // go on from here: the same p - r, another r
#pragma unroll
                for (int i = 0; i < each; ++i) {
                    if (i >= rows) break;
                    for (int c = 0; c < size; ++c) p[place + i * pitch].of[c] -= r[i].of[c];
                    r[i] = load(fresh, row0 + i);
                }
                for_rim([&](int i, int at, int row) {
                    for (int c = 0; c < size; ++c) p[at].of[c] -= rim_r[i].of[c];
                    rim_r[i] = load(fresh, row);
                });
                alpha = 0, beta = 1;
                carried = false;
                continue;
            }
            last = square.of[0];
            break;
        }
        last = rr;
        if (what >= 0) break;
        if (!(pw > 0) || isinf(pw)) {
            what = breakdown;
            break;
        }
        alpha = static_cast<T>(rr / pw);
        if (rr < 0x1p-40 * unit * unit) scale = scale_for<T>(rr), unit = 1 / scale;
        const double next = rr - 2 * alpha * rw + double(alpha) * alpha * ww;
        // This division need not wait for the other. And 1 / rr has to be a number.
        beta = static_cast<T>(fmax(next, 0.0) * (1 / fmax(rr, 0x1p-1022)));
        ++k;
        carried = true;
    }
    store_x();
    if (blockIdx.x == 0 && threadIdx.x == 0) history[k] = sqrt(last), outcome[0] = what, outcome[1] = k;
}

/// What does not fit on the chip, or has another dimension: one launch, but vectors in global memory.
template <class T, int d>
__global__ void __launch_bounds__(streamed_threads, 1)
    streamed_kernel(const T* b, T* x, double* history, int* outcome, T* vectors, double* partial, int side,
                    int limit, double tolerance) {
    GridSums over_grid(partial);
    const long long n = points(d, side), threads = static_cast<long long>(gridDim.x) * blockDim.x;
    const long long me = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
    T *const r = vectors, *const p = r + n, *const w = p + n;
    const auto sum =
        [&](const auto& term) {  // term(i) for all points: one after the other, then over the grid
            Sums<1> own;
            for (long long i = me; i < n; i += threads) own.of[0] += term(i);
            return over_grid(own).of[0];
        };
    double rr = sum([&](long long i) {
        x[i] = 0, r[i] = p[i] = b[i];
        return double(b[i]) * b[i];
    });
    const double bb = rr;
    int k = 0, what;
    for (;; ++k) {
        if (me == 0) history[k] = sqrt(rr);
        what = verdict(rr, bb, k, limit, tolerance);
        if (what >= 0) break;
        const double pw = sum([&](long long i) {
            w[i] = laplace_at(p, Point<d>(i, side), side);
            return double(p[i]) * w[i];
        });
        if (!(pw > 0) || isinf(pw)) {
            what = breakdown;
            break;
        }
        const T alpha = static_cast<T>(rr / pw);
        double next = sum([&](long long i) {
            x[i] += alpha * p[i];
            r[i] -= alpha * w[i];
            return double(r[i]) * r[i];
        });
        if (next <= tolerance * tolerance * bb) {  // it seems to be the end: look again
            next = sum([&](long long i) {
                r[i] = b[i] - laplace_at(x, Point<d>(i, side), side);
                return double(r[i]) * r[i];
            });
        }
        const T beta = static_cast<T>(next / rr);
        rr = next;
        for (long long i = me; i < n; i += threads) p[i] = r[i] + beta * p[i];
        cooperative_groups::this_grid().sync();
    }
    if (me == 0) outcome[0] = what, outcome[1] = k;
}

/// The way to cut that leaves a block the least to do. @returns whether there is one
static bool cut(Bricks& best, int d, int side, int size, int blocks, std::size_t room) {
    double least = 0;
    if ((d != 2 && d != 3) || side < 1) return false;
    const int packs = (side + size - 1) / size, pitch = std::max(packs, short_row),
              sides_high = d == 3 ? side : 1;
    for (const int each : {1, 2, 4, 8}) {
        if (packs > short_row && each != 1 && each != 8) continue;
        for (int deep = 1; deep <= side && deep * packs <= most_threads; ++deep) {
            for (int beside = 1; beside * deep * packs <= most_threads; ++beside) {
                if ((beside - 1) * each >= sides_high) break;  // the last would own nothing
                Bricks now{d,    side,   sides_high, packs, pitch,
                           each, beside, deep,       0,     (side + deep - 1) / deep};
                now.stacks = (sides_high + now.high() - 1) / now.high();
                if (now.blocks() > blocks || now.shared() > room) continue;
                // A row of the rim costs less than one of the brick, and a thread's rows come
                // one after the other.
                const double cost = (now.high() * deep + 0.7 * now.rim_rows()) * packs + 40 * each;
                if (least == 0 || cost < least) best = now, least = cost;
            }
        }
    }
    return least > 0;
}

template <class T>
static void launch(const T* b, T* x, double* history, int* outcome, int dimensions, int side, int limit,
                   double tolerance, cudaStream_t stream) {
    with_dimensions(dimensions, side, [&](auto known) {
        constexpr int d = decltype(known)::value;
        const long long n = points(d, side);
        clear_history(history, limit, stream);
        const int sms = device_attribute(cudaDevAttrMultiProcessorCount);
        const std::size_t sums = GridSums::bytes(sms);
        Bricks bricks;
        const std::size_t room = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - 4096;
        if (cut(bricks, d, side, Pack<T>::size, sms, room)) {
            const std::size_t count = SentSums::count(bricks.blocks()) + Faces<T>::count(bricks.all_packs());
            auto* partial = static_cast<double*>(
                rungs::stream_workspace(stream, sums + count * sizeof(Word) + n * sizeof(T)));
            Word* words = reinterpret_cast<Word*>(partial + sums / sizeof(double));
            T* fresh = reinterpret_cast<T*>(words + count);
            CUDA_CHECK(cudaMemsetAsync(words, 0, count * sizeof(Word), stream));  // of no turn
            auto kernel = persistent_kernel<T, 1, 0>;
            if (bricks.packs > short_row) {
                if (bricks.each == 8) kernel = persistent_kernel<T, 8, 0>;
            } else {
                if (bricks.each == 1) kernel = persistent_kernel<T, 1, short_row>;
                if (bricks.each == 2) kernel = persistent_kernel<T, 2, short_row>;
                if (bricks.each == 4) kernel = persistent_kernel<T, 4, short_row>;
                if (bricks.each == 8) kernel = persistent_kernel<T, 8, short_row>;
            }
            rungs::allow_shared_memory(kernel, bricks.shared());
            void* arguments[] = {&b,     &x,       &history, &outcome, &fresh,
                                 &words, &partial, &bricks,  &limit,   &tolerance};
            CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, dim3(bricks.blocks()), dim3(bricks.threads()),
                                                   arguments, bricks.shared(), stream));
        } else {
            auto* partial = static_cast<double*>(rungs::stream_workspace(stream, sums + 3 * n * sizeof(T)));
            T* vectors = reinterpret_cast<T*>(partial + sums / sizeof(double));
            const int blocks = static_cast<int>(std::clamp<long long>(n / streamed_threads, 1, sms));
            const int threads =
                static_cast<int>(std::clamp<long long>((n + 31) / 32 * 32, 32, streamed_threads));
            void* arguments[] = {&b, &x, &history, &outcome, &vectors, &partial, &side, &limit, &tolerance};
            CUDA_CHECK(cudaLaunchCooperativeKernel(streamed_kernel<T, d>, dim3(blocks), dim3(threads),
                                                   arguments, 0, stream));
        }
    });
}
// END SOLUTION

void pcg::persistent(const float* b, float* x, double* history, int* outcome, int d, int side, int limit,
                     double tolerance, cudaStream_t stream) {
    // TODO 15.2: in float.
    // BEGIN SOLUTION
    launch(b, x, history, outcome, d, side, limit, tolerance, stream);
    // END SOLUTION
}

void pcg::persistent(const double* b, double* x, double* history, int* outcome, int d, int side, int limit,
                     double tolerance, cudaStream_t stream) {
    // TODO 15.3: in double.
    // BEGIN SOLUTION
    launch(b, x, history, outcome, d, side, limit, tolerance, stream);
    // END SOLUTION
}
