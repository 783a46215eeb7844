// Stores and loads by calls, in each kind of memory: compilers instrument assignments, and check mode has to
// make some of them.
#include "check/tests/calls.h"

#include <cmath>
#include <new>

#include "check/tests/corpus/corpus.h"

using calls::Fault;
using calls::Run;

namespace {

constexpr unsigned first_class = __LINE__ + 1;
struct Large {  // returned through a hidden pointer
    double v[5];
};
struct Words {
    long long v[5];
};
struct Small {  // returned in registers
    float a, b;
};
union Either {
    long long number[4];
    char bytes[32];
};
struct Bits {
    unsigned low : 5, high : 27;
    Small tail;
};
constexpr unsigned last_class = __LINE__ - 1;
typedef float Vector __attribute__((vector_size(16)));

// Calls, not inlined: a recursion, a pointer, a virtual function and a lambda cannot be either.
template <class T>
__device__ __noinline__ T made(int i) {
    T t;
    auto* bytes = reinterpret_cast<unsigned char*>(&t);
    for (unsigned k = 0; k < sizeof(T); ++k) bytes[k] = static_cast<unsigned char>(i + 1);
    return t;
}
template <class T>
__device__ __noinline__ int sum(T t) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&t);
    int s = 0;
    for (unsigned k = 0; k < sizeof(T); ++k) s += bytes[k];
    return s;
}
template <class T>
__device__ T recursive(int i, int depth) {
    if (depth == 0) return made<T>(i);
    T t = recursive<T>(i, depth - 1);
    reinterpret_cast<unsigned char&>(t) = 1;
    return t;
}
struct Maker {
    __device__ virtual Large make(int i) const { return made<Large>(i); }
    __device__ Large operator()(int i) const { return made<Large>(i); }
    __device__ operator Large() const { return made<Large>(1); }
};
struct OtherMaker : Maker {
    __device__ Large make(int i) const override { return made<Large>(i + 1); }
};
__device__ __noinline__ Large operator+(const Large& a, const Large& b) {
    Large c;
    for (int k = 0; k < 5; ++k) c.v[k] = a.v[k] + b.v[k];
    return c;
}
__device__ Large chained(int i) { return recursive<Large>(i, 1); }

// How a call's result gets to a place. Each stores to its place what depends on `i`.
struct Assigned {
    using T = Large;
    __device__ static void store(T* place, int i) { *place = made<Large>(i); }
};
struct AssignedSmall {
    using T = Small;
    __device__ static void store(T* place, int i) { *place = made<Small>(i); }
};
struct AssignedUnion {
    using T = Either;
    __device__ static void store(T* place, int i) { *place = made<Either>(i); }
};
struct AssignedBits {
    using T = Bits;
    __device__ static void store(T* place, int i) { *place = made<Bits>(i); }
};
struct AssignedVector {
    using T = Vector;
    __device__ static void store(T* place, int i) { *place = made<Vector>(i); }
};
struct Recursive {
    using T = Large;
    __device__ static void store(T* place, int i) { *place = recursive<Large>(i, 3); }
};
struct Chained {
    using T = Large;
    __device__ static void store(T* place, int i) { *place = chained(i); }
};
struct Pointed {
    using T = Large;
    __device__ static void store(T* place, int i) {
        Large (*volatile function)(int) = made<Large>;
        *place = function(i);
    }
};
struct Virtual {
    using T = Large;
    __device__ static void store(T* place, int i) {
        const Maker one;
        const OtherMaker other;
        const Maker* const both[] = {&one, &other};
        *place = both[i % 2]->make(i);
    }
};
struct Lambda {
    using T = Large;
    __device__ static void store(T* place, int i) {
        const auto make = [=](int k) { return made<Large>(i + k); };
        *place = make(1);
    }
};
struct CallOperator {
    using T = Large;
    __device__ static void store(T* place, int i) { *place = Maker()(i); }
};
struct Conversion {
    using T = Large;
    __device__ static void store(T* place, int i) { *place = Maker(); }
};
struct Operator {
    using T = Large;
    __device__ static void store(T* place, int i) { *place = made<Large>(i) + made<Large>(1); }
};
struct Conditional {
    using T = Large;
    __device__ static void store(T* place, int i) {
        *place = i % 2 == 0 ? made<Large>(i) : recursive<Large>(i, 1);
    }
};
struct Comma {
    using T = Large;
    __device__ static void store(T* place, int i) { *place = (sum(i), made<Large>(i)); }
};
struct Aggregate {
    struct T {
        Large first;
        int rest;
    };
    __device__ static void store(T* place, int i) { *place = {made<Large>(i), 1}; }
};
struct Member {
    using T = Aggregate::T;
    __device__ static void store(T* place, int i) {
        place->rest = 1;
        place->first = made<Large>(i);
    }
};
struct Placed {
    using T = Large;
    __device__ static void store(T* place, int i) { new (place) Large(made<Large>(i)); }
};
struct PlacedInBraces {
    using T = Aggregate::T;
    __device__ static void store(T* place, int i) { ::new (static_cast<void*>(place)) T{made<Large>(i), 1}; }
};
struct PlacedMember {
    struct T {
        __device__ explicit T(int i) : large(made<Large>(i)) {}
        T() = default;
        Large large;
    };
    __device__ static void store(T* place, int i) { new (place) T(i); }
};
struct PlacedByItself {
    using T = Large;
    struct Made {
        __device__ Made() : large(made<Large>(static_cast<int>(threadIdx.x))) {}
        Large large;
    };
    __device__ static void store(T* place, int) { new (static_cast<void*>(place)) Made; }
};
struct Copied {
    using T = Large;
    __device__ static void store(T* place, int i) {
        const Large large = made<Large>(i);
        __builtin_memcpy(place, &large, sizeof large);
    }
};
struct Filled {
    using T = Large;
    __device__ static void store(T* place, int i) { __builtin_memset(place, i, sizeof(Large)); }
};
struct Overflow {
    using T = long long;
    __device__ static void store(T* place, int i) {
        const bool wide = __builtin_add_overflow(static_cast<long long>(i), 3ll, place);
        if (wide) *place = 0;
    }
};
struct Assembly {
    using T = unsigned;
    __device__ static void store(T* place, int i) {
        asm volatile("" : "=r"(*place) : "0"(static_cast<unsigned>(i)));
    }
};

// What the C library stores.
struct Modff {
    using T = float;
    __device__ static void store(T* place, int i) { (void)modff(static_cast<float>(i) + 0.5f, place); }
};
struct Modf {
    using T = double;
    __device__ static void store(T* place, int i) { (void)modf(i + 0.5, place); }
};
struct StdModf {
    using T = float;
    __device__ static void store(T* place, int i) { (void)std::modf(static_cast<float>(i), place); }
};
struct Frexpf {
    using T = int;
    __device__ static void store(T* place, int i) { (void)frexpf(static_cast<float>(i), place); }
};
struct Frexp {
    using T = int;
    __device__ static void store(T* place, int i) { (void)frexp(static_cast<double>(i), place); }
};
struct Remquof {
    using T = int;
    __device__ static void store(T* place, int i) { (void)remquof(static_cast<float>(i), 2.5f, place); }
};
struct Remquo {
    using T = int;
    __device__ static void store(T* place, int i) { (void)remquo(static_cast<double>(i), 2.5, place); }
};
struct Sincosf {
    using T = float2;
    __device__ static void store(T* place, int i) { sincosf(static_cast<float>(i), &place->x, &place->y); }
};
struct Sincos {
    using T = double2;
    __device__ static void store(T* place, int i) { sincos(static_cast<double>(i), &place->x, &place->y); }
};
struct FastSincosf {
    using T = float2;
    __device__ static void store(T* place, int i) { __sincosf(static_cast<float>(i), &place->x, &place->y); }
};
struct Sincospi {
    using T = double2;
    __device__ static void store(T* place, int i) { sincospi(static_cast<double>(i), &place->x, &place->y); }
};

// How a call gets its argument. Each loads its place.
template <class Type>
struct ByValue {
    using T = Type;
    __device__ static int load(const T* place, int) { return sum(*place); }
};
struct ByPointer {
    using T = Large;
    __device__ static int load(const T* place, int) {
        int (*volatile function)(Large) = sum<Large>;
        return function(*place);
    }
};
struct ToLambda {
    using T = Large;
    __device__ static int load(const T* place, int) {
        const auto add = [](Large large) { return sum(large); };
        return add(*place);
    }
};
struct Captured {
    using T = Large;
    __device__ static int load(const T* place, int) {
        const auto add = [large = *place] { return sum(large); };
        return add();
    }
};
struct OfReference {
    using T = Large;
    __device__ static int load(const T* place, int) {
        const T& same = *place;
        return sum(static_cast<T>(same));
    }
};
struct Returned {
    using T = Large;
    __device__ __noinline__ static T copy(const T* place) { return *place; }
    __device__ static int load(const T* place, int) { return sum(copy(place)); }
};
struct Chosen {
    using T = Large;
    __device__ static int load(const T* place, int i) { return sum(i < 1000 ? *place : made<Large>(i)); }
};
struct CopiedFrom {
    using T = Large;
    __device__ static int load(const T* place, int) {
        Large large;
        __builtin_memcpy(&large, place, sizeof large);
        return sum(large);
    }
};
struct BitCast {
    using T = Large;
    __device__ static int load(const T* place, int) { return sum(__builtin_bit_cast(Words, *place)); }
};
struct Norm {
    using T = double;
    __device__ static int load(const T* place, int) { return norm(1, place) > 2 ? 1 : 0; }
};
struct Normf {
    using T = float;
    __device__ static int load(const T* place, int) { return normf(1, place) > 2 ? 1 : 0; }
};

// ---- Stores -----------------------------------------------------------------------------------------------

constexpr int threads = 64;

/// Every thread stores to its own place, and reads its neighbour's behind a barrier.
template <class Form, Fault fault>
__device__ void use_store(typename Form::T* places, int* out) {
    const int t = static_cast<int>(threadIdx.x);
    if (fault != Fault::unwritten || t % 2 == 0) Form::store(places + (fault == Fault::race ? 0 : t), t);
    if (fault == Fault::outside && t == 0) Form::store(places + threads, t);
    __syncthreads();
    const typename Form::T& other = places[fault == Fault::race ? 0 : threads - 1 - t];
    out[t] = reinterpret_cast<const unsigned char&>(other);
}
template <class Form, Fault fault>
__global__ void store_to_shared(int* out) {
    __shared__ typename Form::T places[threads];
    use_store<Form, fault>(places, out);
}
template <class Form, Fault fault>
__global__ void store_to_global(typename Form::T* places, int* out) {
    use_store<Form, fault>(places, out);
}

// ---- Loads ------------------------------------------------------------------------------------------------

template <class Form, Fault fault>
__device__ void use_load(typename Form::T* places, int* out) {
    const int t = static_cast<int>(threadIdx.x);
    if (fault != Fault::unwritten || t % 2 == 0) places[t] = typename Form::T{};
    if (fault != Fault::race) __syncthreads();
    out[t] = Form::load(places + (fault == Fault::outside && t == 0 ? threads : threads - 1 - t), t);
}
template <class Form, Fault fault>
__global__ void load_from_shared(int* out) {
    __shared__ typename Form::T places[threads];
    use_load<Form, fault>(places, out);
}
template <class Form, Fault fault>
__global__ void load_from_global(typename Form::T* places, int* out) {
    use_load<Form, fault>(places, out);
}
__constant__ Large constants[threads];
template <class Form, Fault fault>
__global__ void load_from_constant(int* out) {
    const int t = static_cast<int>(threadIdx.x);
    out[t] = Form::load(constants + (fault == Fault::outside && t == 0 ? threads : t), t);
}

__global__ void print_into_memory(int* letters) { printf("%5d%%%n\n", 1, letters); }
__global__ void print(int* letters) { printf("%d%%n %s\n", *letters, "%n"); }

// ---- Launches ---------------------------------------------------------------------------------------------

template <void (*kernel)(int*)>
void run() {
    const corpus::Device<int> out("out", threads);
    kernel<<<1, threads>>>(out.get());
    cudaDeviceSynchronize();
}
template <class T, void (*kernel)(T*, int*), bool managed>
void run_with() {
    const corpus::Device<int> out("out", threads);
    T* places = nullptr;
    if (managed)
        cudaMallocManaged(&places, threads * sizeof(T));
    else
        cudaMalloc(&places, threads * sizeof(T));
    kernel<<<1, threads>>>(places, out.get());
    cudaDeviceSynchronize();
    cudaFree(places);
}

template <class Form, Fault fault>
void add_store(std::vector<Run>& all, const char* form) {
    using T = typename Form::T;
    all.push_back({form, "shared", fault, run<store_to_shared<Form, fault>>});
    all.push_back({form, "global", fault, run_with<T, store_to_global<Form, fault>, false>});
    if constexpr (fault != Fault::unwritten)  // of managed memory nobody keeps that
        all.push_back({form, "managed", fault, run_with<T, store_to_global<Form, fault>, true>});
}
template <class Form>
void add_store(std::vector<Run>& all, const char* form) {
    add_store<Form, Fault::none>(all, form);
    add_store<Form, Fault::race>(all, form);
    add_store<Form, Fault::outside>(all, form);
    add_store<Form, Fault::unwritten>(all, form);
}
template <class Form, Fault fault>
void add_load(std::vector<Run>& all, const char* form) {
    using T = typename Form::T;
    all.push_back({form, "shared", fault, run<load_from_shared<Form, fault>>});
    all.push_back({form, "global", fault, run_with<T, load_from_global<Form, fault>, false>});
    if constexpr (fault != Fault::unwritten)
        all.push_back({form, "managed", fault, run_with<T, load_from_global<Form, fault>, true>});
    if constexpr (std::is_same_v<T, Large> && (fault == Fault::none || fault == Fault::outside))
        all.push_back({form, "constant", fault, run<load_from_constant<Form, fault>>});
}
template <class Form>
void add_load(std::vector<Run>& all, const char* form) {
    add_load<Form, Fault::none>(all, form);
    add_load<Form, Fault::race>(all, form);
    add_load<Form, Fault::outside>(all, form);
    add_load<Form, Fault::unwritten>(all, form);
}

}  // namespace

bool calls::is_class(unsigned line) { return line >= first_class && line <= last_class; }

void calls::prints_into_memory(bool into_memory) {
    const corpus::Device<int> letters("letters", 1, 3);
    if (into_memory)
        print_into_memory<<<1, 1>>>(letters.get());
    else
        print<<<1, 1>>>(letters.get());
    cudaDeviceSynchronize();
}

std::vector<Run> calls::runs() {
    std::vector<Run> all;
#define STORE(form) add_store<form>(all, #form)
#define LOAD(...) add_load<__VA_ARGS__>(all, #__VA_ARGS__)
    STORE(Assigned);
    STORE(AssignedSmall);
    STORE(AssignedUnion);
    STORE(AssignedBits);
    STORE(AssignedVector);
    STORE(Recursive);
    STORE(Chained);
    STORE(Pointed);
    STORE(Virtual);
    STORE(Lambda);
    STORE(CallOperator);
    STORE(Conversion);
    STORE(Operator);
    STORE(Conditional);
    STORE(Comma);
    STORE(Aggregate);
    STORE(Member);
    STORE(Placed);
    STORE(PlacedInBraces);
    STORE(PlacedMember);
    STORE(PlacedByItself);
    STORE(Copied);
    STORE(Filled);
    STORE(Overflow);
    STORE(Assembly);
    STORE(Modff);
    STORE(Modf);
    STORE(StdModf);
    STORE(Frexpf);
    STORE(Frexp);
    STORE(Remquof);
    STORE(Remquo);
    STORE(Sincosf);
    STORE(Sincos);
    STORE(FastSincosf);
    STORE(Sincospi);
    LOAD(ByValue<Small>);
    LOAD(CopiedFrom);
    LOAD(Norm);
    LOAD(Normf);
#if !defined(__clang__)  // which hands a large structure over without a copy
    LOAD(ByValue<Large>);
    LOAD(ByValue<Either>);
    LOAD(ByValue<Bits>);
    LOAD(ByValue<Vector>);
    LOAD(ByPointer);
    LOAD(ToLambda);
    LOAD(OfReference);
    LOAD(Captured);
    LOAD(Returned);
    LOAD(Chosen);
    LOAD(BitCast);
#endif
    return all;
}
