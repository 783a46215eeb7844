/// @file
/// Loops over lanes: what cu2cpp makes of a kernel in which all lanes of a block reach
/// each barrier together.
///
///     __global__ void k(float* out) {
///         __shared__ float s[256];
///         const int i = threadIdx.x;          //  first loop: i is kept
///         s[i] = i;
///         __syncthreads();
///         for (int d = 128; d > 0; d /= 2) {  //  no lane's: d is the same for all
///             if (i < d) s[i] += s[i + d];    //  second loop
///             __syncthreads();
///         }
///         if (i == 0) out[blockIdx.x] = s[0]; //  third loop
///     }
///
/// The first lane of a block then runs all of them: the code between two barriers is a loop over the lanes,
/// and what a lane's variables hold from one loop to another is in arrays. A barrier costs nothing, while a
/// change of stacks costs each lane some nanoseconds. If the order of the lanes is not the plain one
/// (set_seed()), the same code runs lane by lane, each loop once, and waits at its barriers.
#pragma once
#pragma GCC system_header

#include <cstddef>
#include <new>
#include <type_traits>

#include "simt/device.h"
#include "simt/lane.h"
#include "simt/warp.h"

namespace simt {

/// Where lanes of the running block keep what outlives a loop: as much as their stacks could hold. One per OS
/// thread; empty if there is no memory for it.
struct LaneRoom {
    char *begin, *end;
};
LaneRoom lane_room();
[[noreturn]] void fail_lane_room();
/// At a barrier that all lanes have come to: ends the block if its launch is over.
void go_on_as_whole();

enum class ShuffleKind : unsigned char { index, up, down, exclusive_or };

/// What a shuffle gives each of `lanes` lanes, all of which have called it but those that are `gone`.
void shuffle_lanes(ShuffleKind kind, void* result, const void* value, std::size_t size, unsigned lanes,
                   const unsigned char* gone, unsigned mask, unsigned operand, int width);
/// Ends the launch if a lane calls an operation of its warp with a mask that does not name it.
void check_mask_of_lanes(unsigned lanes, const unsigned char* gone, unsigned mask);

/// The lanes that a call of the kernel is to run: a block's, or the one that has called it.
class Lanes {
  public:
    SIMT_DEVICE Lanes() {
        const uint3 first = threadIdx;
        whole = execution.loops && execution.fast && execution.lane == nullptr &&
                (first.x | first.y | first.z) == 0;
        LaneRoom own{nullptr, nullptr};
        if (whole) {
            own = lane_room();
            whole = own.begin != nullptr;
        }
        if (whole) {
            const dim3 size = blockDim;
            x_begin = y_begin = z_begin = 0;
            x_end = size.x, y_end = size.y, z_end = size.z;
            count = x_end * y_end * z_end;
            room = own.begin;
            room_end = own.end;
            execution.whole = true;
        } else {
            x_begin = first.x, y_begin = first.y, z_begin = first.z;
            x_end = x_begin + 1, y_end = y_begin + 1, z_end = z_begin + 1;
            count = 1;
        }
    }
    /// All of the block have run: the scheduler sees its last one end.
    SIMT_DEVICE ~Lanes() {
        if (!whole) return;
        execution.whole = false;
        threadIdx = uint3{x_end - 1, y_end - 1, z_end - 1};
    }
    Lanes(const Lanes&) = delete;
    Lanes& operator=(const Lanes&) = delete;

    SIMT_DEVICE void synchronise() const {
        if (!whole) return __syncthreads();
        threadIdx = uint3{0, 0, 0};
        go_on_as_whole();
    }
    SIMT_DEVICE void synchronise_warp(unsigned mask = 0xffffffffu) const {
        if (!whole)
            __syncwarp(mask);
        else if (mask != 0xffffffffu)
            check_mask_of_lanes(count, gone, mask);
    }
    /// The place in arrays of the first lane of a row.
    SIMT_DEVICE std::size_t row(unsigned y, unsigned z) const { return whole ? x_end * (y + y_end * z) : 0; }

    /// For kernels from which lanes return early.
    SIMT_DEVICE void may_leave(unsigned char* own) {
        gone = whole ? take<unsigned char>() : own;
        __builtin_memset(gone, 0, count);
    }
    SIMT_DEVICE void leave(std::size_t lane) {
        gone[lane] = 1;
        ++left;
    }
    SIMT_DEVICE bool is_gone(std::size_t lane) const { return left != 0 && gone[lane] != 0; }
    SIMT_DEVICE bool all_gone() const { return left == count; }

    template <class T>
    SIMT_DEVICE T* take() {
        constexpr std::size_t alignment = alignof(T) < 64 ? 64 : alignof(T);
        const std::size_t bytes = sizeof(T) * count + 32 * sizeof(T);  // a shuffle reads past the last warp
        const std::size_t skip = -reinterpret_cast<std::size_t>(room) & (alignment - 1);
        if (__builtin_expect(static_cast<std::size_t>(room_end - room) < bytes + skip, 0)) fail_lane_room();
        T* const place = reinterpret_cast<T*>(room + skip);
        room += bytes + skip;
        return place;
    }

    bool whole;
    unsigned x_begin, x_end, y_begin, y_end, z_begin, z_end;
    unsigned count;
    unsigned left = 0;
    unsigned char* gone = nullptr;
    char* room = nullptr;
    char* room_end = nullptr;
};

/// A variable of a kernel that every lane has its own of, from one loop to another.
template <class T>
class LaneVariable {
  public:
    using Value = std::remove_cv_t<T>;

    /// @param own room for the value of the only lane, where it is not the block's; apart from this object,
    ///            whose members then are what compilers keep in registers
    SIMT_DEVICE LaneVariable(Lanes& lanes, unsigned char* own)
        : lanes_(lanes), room_(lanes.room), values_(reinterpret_cast<Value*>(own)) {
        if (lanes.whole) values_ = lanes.take<Value>();
    }
    SIMT_DEVICE ~LaneVariable() {
        if constexpr (!std::is_trivially_destructible_v<Value>)
            if (full_)
                for (unsigned i = 0; i < lanes_.count; ++i)
                    if (!lanes_.is_gone(i)) values_[i].~Value();
        lanes_.room = room_;
    }
    LaneVariable(const LaneVariable&) = delete;
    LaneVariable& operator=(const LaneVariable&) = delete;

    SIMT_DEVICE T& operator[](std::size_t lane) { return *reinterpret_cast<T*>(values_ + lane); }
    /// A parameter, which each lane has its own copy of: of bytes, as a device makes it.
    SIMT_DEVICE void copy(std::size_t lane, const T& parameter) {
        __builtin_memcpy(static_cast<void*>(values_ + lane), static_cast<const void*>(&parameter),
                         sizeof(Value));
    }
    /// Keeps what the loop that declares the variable has made of it, which may be nothing yet.
#pragma GCC diagnostic push
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
    SIMT_DEVICE void keep(std::size_t lane, T& value) {
        if constexpr (std::is_trivially_copyable_v<Value>) {
            __builtin_memcpy(values_ + lane, const_cast<const Value*>(&value), sizeof(Value));
        } else {
            ::new (static_cast<void*>(values_ + lane)) Value(value);
            full_ = true;
        }
    }
#pragma GCC diagnostic pop

  private:
    Lanes& lanes_;
    char* room_;
    Value* values_;
    bool full_ = false;
};

/// One call of a shuffle, by all lanes.
template <class T>
class LaneShuffle {
  public:
    using Value = std::remove_cv_t<T>;
    static_assert(Shuffles<Value>::value, "a shuffle exchanges numbers of at most 8 bytes");

    SIMT_DEVICE LaneShuffle(Lanes& lanes, LaneVariable<T>& value, unsigned char* own)
        : lanes_(lanes), value_(value), result_(lanes, own) {}
    /// What the call gives a lane.
    SIMT_DEVICE Value operator[](std::size_t lane) { return result_[lane]; }

    SIMT_DEVICE void index(unsigned mask, int source, int width = warpSize) {
        if (lanes_.whole) return exchange(ShuffleKind::index, mask, static_cast<unsigned>(source), width);
        result_[0] = __shfl_sync(mask, value(), source, width);
    }
    SIMT_DEVICE void up(unsigned mask, unsigned delta, int width = warpSize) {
        if (lanes_.whole) return exchange(ShuffleKind::up, mask, delta, width);
        result_[0] = __shfl_up_sync(mask, value(), delta, width);
    }
    SIMT_DEVICE void down(unsigned mask, unsigned delta, int width = warpSize) {
        if (lanes_.whole) return exchange(ShuffleKind::down, mask, delta, width);
        result_[0] = __shfl_down_sync(mask, value(), delta, width);
    }
    SIMT_DEVICE void exclusive_or(unsigned mask, int lane_mask, int width = warpSize) {
        if (lanes_.whole)
            return exchange(ShuffleKind::exclusive_or, mask, static_cast<unsigned>(lane_mask), width);
        result_[0] = __shfl_xor_sync(mask, value(), lane_mask, width);
    }

  private:
    SIMT_DEVICE Value value() const { return value_[0]; }
    SIMT_DEVICE void exchange(ShuffleKind kind, unsigned mask, unsigned operand, int width) {
        shuffle_lanes(kind, &result_[0], &value_[0], sizeof(Value), lanes_.count,
                      lanes_.left != 0 ? lanes_.gone : nullptr, mask, operand, width);
    }
    Lanes& lanes_;
    LaneVariable<T>& value_;
    LaneVariable<Value> result_;
};

}  // namespace simt

/// At a kernel's beginning. What no lane changes is read once.
#define SIMT_LANES                                      \
    ::simt::Lanes simt_lanes;                           \
    [[maybe_unused]] const uint3 blockIdx = ::blockIdx; \
    [[maybe_unused]] const dim3 blockDim = ::blockDim;  \
    [[maybe_unused]] const dim3 gridDim = ::gridDim;
/// Behind it, where lanes may return early.
#define SIMT_LANES_MAY_LEAVE \
    unsigned char simt_gone; \
    simt_lanes.may_leave(&simt_gone);

/// What each lane keeps of the variable `name`, whose type follows.
#define SIMT_LANE_VARIABLE(name, ...)                                         \
    alignas(__VA_ARGS__) unsigned char simt_room_##name[sizeof(__VA_ARGS__)]; \
    ::simt::LaneVariable<__VA_ARGS__> simt_own_##name(simt_lanes, simt_room_##name);
/// In a loop, the variable, or the parameter that it stands for.
#define SIMT_LANE_NAME(name, value) auto& name = value;
#define SIMT_LANE_PARAMETER(name, value)                                                              \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") auto& name = value; \
    _Pragma("GCC diagnostic pop")
/// A shuffle of it, by a name of its own.
#define SIMT_LANE_SHUFFLE(shuffle, name, ...)                                    \
    alignas(__VA_ARGS__) unsigned char simt_room_##shuffle[sizeof(__VA_ARGS__)]; \
    ::simt::LaneShuffle<__VA_ARGS__> shuffle(simt_lanes, simt_own_##name, simt_room_##shuffle);

// The loops over rows say which one runs; `threadIdx` is a constant in each turn of the innermost.
#define SIMT_ROWS_OF_LANES                                                                                   \
    for (unsigned simt_z = simt_lanes.z_begin; simt_z != simt_lanes.z_end && (::threadIdx.z = simt_z, true); \
         ++simt_z)                                                                                           \
        for (unsigned simt_y = simt_lanes.y_begin;                                                           \
             simt_y != simt_lanes.y_end && (::threadIdx.y = simt_y, true); ++simt_y)
#define SIMT_ROW_OF_LANES(how)                                                                              \
    if (std::size_t simt_lane = simt_lanes.row(simt_y, simt_z); true)                                       \
        how for (unsigned simt_x = simt_lanes.x_begin; simt_x != simt_lanes.x_end; ++simt_x, ++simt_lane) { \
            [[maybe_unused]] const uint3 threadIdx = {simt_x, simt_y, simt_z};
/// A loop over lanes, whose body begins here. Its `}` is the translator's.
#define SIMT_EACH_LANE SIMT_ROWS_OF_LANES SIMT_ROW_OF_LANES()::threadIdx.x = simt_x;
/// One that cannot fail, as it touches only lanes' own variables, or has all that can fail inside of
/// `if (... && SIMT_THIS_LANE)`: no other code asks which lane runs.
#define SIMT_EACH_LANE_ALONE SIMT_ROWS_OF_LANES SIMT_ROW_OF_LANES(_Pragma("GCC ivdep"))
#define SIMT_EACH_LANE_QUIET SIMT_ROWS_OF_LANES SIMT_ROW_OF_LANES()
#define SIMT_THIS_LANE (::threadIdx.x = simt_x, true)
