#pragma once
// How a chapter speaks to graders. An exam makes inputs, checks outputs and counts useful work; the Catch2
// tests, `rungs check`, class grading and the benchmark all use it, so there is one list of cases and one
// definition of "right". Exams run in the trusted process only: a submission never sees one.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "rungs/norms.hpp"

namespace rungs {

/// The element types that cross between a grader and a rung.
enum class Element : std::uint8_t { f32, f64, i32, i64 };

/// Bytes of one element.
constexpr std::size_t size_of(Element element) {
    return element == Element::f32 || element == Element::i32 ? 4 : 8;
}

template <class T>
constexpr Element element_of() {
    if constexpr (std::is_same_v<T, float>) {
        return Element::f32;
    } else if constexpr (std::is_same_v<T, double>) {
        return Element::f64;
    } else if constexpr (std::is_integral_v<T> && sizeof(T) == 4) {
        return Element::i32;
    } else {
        static_assert(std::is_integral_v<T> && sizeof(T) == 8, "float, double, or 4- or 8-byte integers");
        return Element::i64;
    }
}

/// One buffer of a task, in host memory.
struct Array {
    std::string name;  ///< as the contract calls the parameter
    Element element = Element::f32;
    std::size_t count = 0;         ///< elements
    std::size_t misalignment = 0;  ///< elements between a 512-byte boundary and the first one
    std::vector<std::byte> bytes;  ///< `count` elements; empty for an output that the grader poisons

    /// An array that holds `values`.
    template <class T>
    static Array of(std::string name, const std::vector<T>& values, std::size_t misalignment = 0) {
        Array array = unset<T>(std::move(name), values.size(), misalignment);
        array.bytes.resize(values.size() * sizeof(T));
        if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
        return array;
    }

    /// An output of `count` elements without initial values: the grader fills it with NaN first.
    template <class T>
    static Array unset(std::string name, std::size_t count, std::size_t misalignment = 0) {
        return {std::move(name), element_of<T>(), count, misalignment, {}};
    }

    /// The elements. @throws std::logic_error when T is not the array's element type.
    template <class T>
    std::span<const T> as() const {
        if (element_of<T>() != element)
            throw std::logic_error("array '" + name + "' has another element type");
        return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
};

/// One by-value argument of a rung, on the grader's side.
struct Number {
    bool is_integer = true;
    long long integer = 0;
    double real = 0;

    Number(long long value) : integer(value) {}               // NOLINT: a number is meant to convert
    Number(double value) : is_integer(false), real(value) {}  // NOLINT
    bool operator==(const Number&) const = default;
};

/// Everything one call of a rung is given: arrays in the order of the contract's parameters.
struct Task {
    std::vector<Array> inputs;
    std::vector<Array> outputs;
    std::vector<Number> numbers;
};

/// Which input to make. The same case always makes the same input, on every platform.
struct Case {
    std::string problem;           ///< "sum": a name under [problems] of the manifest
    std::vector<long long> sizes;  ///< n; or nx, ny
    std::string kind;              ///< which data: "uniform", "nan", ... as the exam defines them
    std::uint64_t seed = 1;

    /// A seed of its own for each kind of random numbers that an input is made of.
    std::uint64_t seed_of(std::uint64_t stream) const { return seed + 0x9e3779b97f4a7c15u * stream; }
    bool operator==(const Case&) const = default;
};

/// What an exam found out about one call's outputs.
struct Check {
    bool passed = false;
    double error = 0;  ///< in units of `tolerance`'s measure; NaN-safe: not passed unless error <= tolerance
    double tolerance = 0;             ///< derived from numerics; `measure` says how
    std::string measure;              ///< "|got - expected| / sum |v|"
    std::size_t wrong = 0;            ///< so many are wrong,
    std::size_t of = 0;               ///< of so many that were compared
    std::string things = "elements";  ///< which these are
    std::vector<Mismatch> first;      ///< the first five of them
    std::string cause;      ///< the likely cause where the pattern of the mismatches tells, else empty
    bool certain = false;   ///< it explains every element, right or wrong
    std::string unwritten;  ///< what the others say of an output that was never written, else empty
};

/// Useful work of one call, for rates.
struct Work {
    double bytes = 0;      ///< each input read once and each output written once, in every iteration
    double flops = 0;      ///< by the field's convention: a multiply-add is two
    double least = bytes;  ///< bytes that move even where a chip holds everything between two iterations

    /// What tells small cases from large ones.
    double size() const { return std::max(bytes, flops); }
};

/// One chapter's exam. Stateless: every function depends on its arguments alone.
class Exam {
  public:
    virtual ~Exam() = default;

    /// The input of a case. @throws std::invalid_argument for a problem, kind or size it does not know.
    virtual Task make(const Case& which) const = 0;

    /// Judges the outputs that a rung left for `task`, which `make(which)` had returned. `outputs` has
    /// `task.outputs.size()` arrays with their bytes.
    virtual Check check(const Case& which, const Task& task, std::span<const Array> outputs) const = 0;

    /// The useful work of a call on `which`.
    virtual Work work(const Case& which) const = 0;

    /// What the sizes of `which` are called, in their order: "n", "iterations". Empty: it has one size, the
    /// number of elements.
    virtual std::vector<std::string> size_names(const Case& /*which*/) const { return {}; }

    /// Positions in the sizes of `which` that may be made smaller and still give a case: extents, and not
    /// numbers of iterations or dimensions. The grader counts a rung on such cases, too,
    /// which nobody knows before.
    virtual std::vector<std::size_t> extents(const Case& /*which*/) const { return {0}; }
};

}  // namespace rungs

/// The chapter's exam, for the caller to delete. In each chapter's tests, and in the module
/// that the judge loads.
extern "C" rungs::Exam* rungs_new_exam();

/// Stands once in every exam.cpp: `RUNGS_EXAM(ReductionExam)`.
#define RUNGS_EXAM(type) \
    extern "C" rungs::Exam* rungs_new_exam() { return new type; }
