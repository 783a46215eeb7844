#pragma once
// How a grader calls a rung without knowing its chapter: arguments travel as plain arrays of buffers and
// scalars, and the rung's own type says which goes where. One rule serves every chapter, because all
// contracts share one parameter order: inputs, outputs, sizes, tuning, stream.

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>

namespace rungs {

/// One by-value argument: a size or a tuning number (`integer`), or a coefficient (`real`).
struct Scalar {
    enum class Kind : int { integer, real };
    Kind kind = Kind::integer;
    long long integer = 0;
    double real = 0;

    static Scalar of(long long value) { return {Kind::integer, value, 0}; }
    static Scalar of(double value) { return {Kind::real, 0, value}; }
};

/// The arguments of one call. Buffers are device memory; the arrays belong to the caller.
struct Call {
    const void* const* inputs = nullptr;  ///< one per `const T*` parameter, in order
    std::size_t input_count = 0;
    void* const* outputs = nullptr;  ///< one per `T*` parameter, in order
    std::size_t output_count = 0;
    const Scalar* scalars = nullptr;  ///< one per number, in order
    std::size_t scalar_count = 0;
    cudaStream_t stream = nullptr;
};

namespace detail {

/// Hands out the arguments of a call from left to right.
class Arguments {
  public:
    explicit Arguments(const Call& call) : call_(call) {}

    template <class P>
    P take() {
        if constexpr (std::is_same_v<P, cudaStream_t>) {
            return call_.stream;
        } else if constexpr (std::is_pointer_v<P>) {
            using T = std::remove_pointer_t<P>;
            if constexpr (std::is_const_v<T>) {
                return static_cast<P>(call_.inputs[at(input_, call_.input_count, "inputs")]);
            } else {
                return static_cast<P>(call_.outputs[at(output_, call_.output_count, "outputs")]);
            }
        } else {
            static_assert(std::is_arithmetic_v<P>, "a rung takes device pointers, numbers and one stream");
            const Scalar& scalar = call_.scalars[at(scalar_, call_.scalar_count, "numbers")];
            if constexpr (std::is_integral_v<P>) {
                if (scalar.kind != Scalar::Kind::integer) throw mismatch("an integer where a real was given");
                return static_cast<P>(scalar.integer);
            } else {
                return static_cast<P>(
                    scalar.kind == Scalar::Kind::real ? scalar.real : static_cast<double>(scalar.integer));
            }
        }
    }

    /// Every argument must have been used: one too many is as wrong as one too few.
    void finish() const {
        if (input_ != call_.input_count || output_ != call_.output_count || scalar_ != call_.scalar_count) {
            throw mismatch("fewer arguments than the exam gives");
        }
    }

  private:
    static std::invalid_argument mismatch(const std::string& what) {
        return std::invalid_argument("exam and contract disagree: the rung takes " + what);
    }
    static std::size_t at(std::size_t& next, std::size_t count, const char* what) {
        if (next == count) throw mismatch("more " + std::string(what) + " than the exam gives");
        return next++;
    }

    const Call& call_;
    std::size_t input_ = 0;
    std::size_t output_ = 0;
    std::size_t scalar_ = 0;
};

}  // namespace detail

/// Calls `rung` with the arguments of `call`: `const T*` takes the next input, `T*` the next output, a
/// number the next scalar, `cudaStream_t` the stream.
/// @throws std::invalid_argument where the numbers of arguments differ; the rung is not called then.
template <class... Parameters>
void invoke(void (*rung)(Parameters...), const Call& call) {
    detail::Arguments arguments(call);
    const std::tuple<Parameters...> values{arguments.take<Parameters>()...};  // braces: left to right
    arguments.finish();
    std::apply(rung, values);
}

/// One problem a rung solves, as the worker finds it: the name the exam uses, and the call.
struct Entry {
    const char* problem;
    void (*run)(const Call&);
};

}  // namespace rungs
