// Chapter 1's exam: which data a sum is tried on, how near it has to come, and what a wrong one looks like.

#include "rungs/exam.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "exam/diagnosis.hpp"
#include "exam/reference.hpp"
#include "rungs/random.hpp"

namespace {

using reduction::Reference;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

class ReductionExam : public rungs::Exam {
  public:
    rungs::Task make(const rungs::Case& which) const override {
        const std::size_t n = size_of(which);
        std::vector<rungs::Array> inputs;
        const unsigned vectors = is_dot(which) ? 2 : 1;
        for (unsigned operand = 0; operand < vectors; ++operand) {
            inputs.push_back(rungs::Array::of(operand == 0 ? "v" : "w", values(which, n, operand),
                                              misalignment(which, operand)));
        }
        return {std::move(inputs),
                {rungs::Array::unset<float>("sum", 1)},
                {rungs::Number(static_cast<long long>(n))}};
    }

    rungs::Check check(const rungs::Case& which, const rungs::Task& task,
                       std::span<const rungs::Array> outputs) const override {
        if (outputs.size() != 1 || outputs[0].as<float>().size() != 1) {
            throw std::invalid_argument("a reduction leaves one output of one float");
        }
        const float got = outputs[0].as<float>()[0];
        const Reference expected = answer(which, task);

        rungs::Check check;
        check.of = 1;
        double tolerance = 0;
        if (!std::isfinite(expected.value)) {
            check.measure = "NaN and infinities must be the same";
            check.passed = std::isnan(expected.value) ? std::isnan(got) : got == expected.value;
            check.error = check.passed ? 0 : std::numeric_limits<double>::infinity();
        } else {
            // A sum of n terms takes n - 1 additions; a dot product rounds each product as well.
            const std::size_t n = task.inputs[0].count;
            const std::size_t roundings = is_dot(which) ? n : std::max<std::size_t>(n, 1) - 1;
            if (!expected.exact) tolerance = reduction::rounding_bound(roundings, expected.magnitude);
            const double error = std::abs(static_cast<double>(got) - expected.value);
            const double scale = expected.magnitude > 0 ? expected.magnitude : 1;
            check.measure = is_dot(which) ? "|got - expected| / sum |v w|" : "|got - expected| / sum |v|";
            check.passed = error <= tolerance;  // false for NaN
            check.error = error / scale;
            check.tolerance = tolerance / scale;
        }
        if (!check.passed) {
            const auto nearest = static_cast<float>(expected.value);
            check.wrong = 1;
            check.first.push_back({0, got, expected.value, rungs::ulp_distance(got, nearest)});
            check.cause = cause(which, task, expected, tolerance, got);
        }
        return check;
    }

    rungs::Work work(const rungs::Case& which) const override {
        const auto n = static_cast<double>(size_of(which));
        const double reads = is_dot(which) ? 2 * n : n;
        const double adds = std::max(n - 1, 0.0);
        return {sizeof(float) * (reads + 1), is_dot(which) ? n + adds : adds};
    }

  private:
    static bool is_dot(const rungs::Case& which) {
        if (which.problem == "dot") return true;
        if (which.problem == "sum") return false;
        throw std::invalid_argument("chapter 1 has the problems sum and dot, not '" + which.problem + "'");
    }

    static std::size_t size_of(const rungs::Case& which) {
        if (which.sizes.size() != 1 || which.sizes[0] < 0) {
            throw std::invalid_argument("a reduction has one size, the number of elements");
        }
        return static_cast<std::size_t>(which.sizes[0]);
    }

    /// 1 to 3 elements past the boundary, and not the same for both vectors.
    static std::size_t misalignment(const rungs::Case& which, unsigned operand) {
        if (which.kind != "unaligned") return 0;
        return 1 + (which.seed + operand) % 3;
    }

    /// The elements of v (operand 0) or w (operand 1).
    static std::vector<float> values(const rungs::Case& which, std::size_t n, unsigned operand) {
        const std::string_view kind = which.kind;
        const std::uint64_t seed = which.seed_of(operand);
        if (kind == "uniform") return rungs::random_field(n, seed);
        if (kind == "signed") return rungs::random_field(n, seed, rungs::signed_uniform);
        if (kind == "wide") return rungs::random_field(n, seed, rungs::LogUniform{-30, 30});
        if (kind == "ones") return std::vector<float>(n, 1.0f);
        if (kind == "integers" || kind == "unaligned") return integers(which, n, seed);
        if (kind == "spike") {  // whole blocks whose sum is zero
            const std::vector<float> all = integers(which, n, seed);
            std::vector<float> v(n, 0.0f);
            if (n > 0) v[hit(which) % n] = all[hit(which) % n];
            return v;
        }
        if (kind == "cancelling") {
            // w is symmetric, so that partners still cancel after the multiplication.
            if (operand == 0) return rungs::random_field(n, seed, rungs::Cancelling{n, seed});
            std::vector<float> w = rungs::random_field(n, seed, rungs::Uniform{1, 2});
            for (std::size_t i = 0; i < n / 2; ++i) w[n - 1 - i] = w[i];
            return w;
        }
        if (kind == "nan" || kind == "infinity" || kind == "opposite_infinities") {
            std::vector<float> v = rungs::random_field(n, seed);
            if (operand == hit(which) % 2 || !is_dot(which)) place_special(which, v);
            return v;
        }
        throw std::invalid_argument("chapter 1 has no data of kind '" + which.kind +
                                    "'; it has uniform, signed, cancelling, wide, ones, integers, spike, "
                                    "nan, infinity, opposite_infinities, unaligned");
    }

    /// Whole numbers from 1 up, as large as a float sum of n can take without rounding: every element counts,
    /// and one that is missing or counted twice shows at any size. Zeros and ones where all would be ones,
    /// whose sum nobody would have to compute.
    static std::vector<float> integers(const rungs::Case& which, std::size_t n, std::uint64_t seed) {
        const double room = 0x1p24 / static_cast<double>(std::max<std::size_t>(n, 1));
        const int largest = static_cast<int>(is_dot(which) ? std::sqrt(room) : room);
        return rungs::random_field(n, seed,
                                   largest > 1 ? rungs::Integers{1, largest} : rungs::Integers{0, 1});
    }

    /// A random number for the places of special values.
    static std::uint32_t hit(const rungs::Case& which) { return rungs::random_word(which.seed_of(2), 0); }

    /// Puts NaN or infinities in: often at the ends, where loops go wrong, else anywhere.
    static void place_special(const rungs::Case& which, std::vector<float>& v) {
        const std::size_t n = v.size();
        if (n == 0) return;
        const std::uint32_t random = hit(which);
        const std::size_t anywhere = rungs::random_word(which.seed_of(2), 1) % n;
        const std::size_t places[] = {0, n - 1, anywhere, n / 256 * 256 % n};
        const std::size_t at = places[random / 2 % 4];
        const float sign = random / 8 % 2 ? -1.0f : 1.0f;
        v[at] = which.kind == "nan" ? nan : sign * infinity;
        if (which.kind == "opposite_infinities" && n > 1) v[(at + 1 + anywhere % (n - 1)) % n] = -v[at];
    }

    static Reference answer(const rungs::Case& which, const rungs::Task& task) {
        const auto v = task.inputs[0].as<float>();
        return is_dot(which) ? reduction::reference_dot(v, task.inputs[1].as<float>())
                             : reduction::reference_sum(v);
    }

    static std::string cause(const rungs::Case& which, const rungs::Task& task, const Reference& expected,
                             double tolerance, float got) {
        const auto v = task.inputs[0].as<float>();
        std::vector<double> terms(v.begin(), v.end());
        if (!is_dot(which)) return reduction::Diagnosis(terms, expected, tolerance).of(got);

        const auto w = task.inputs[1].as<float>();
        for (std::size_t i = 0; i < terms.size(); ++i) terms[i] *= static_cast<double>(w[i]);
        reduction::Diagnosis diagnosis(terms, expected, tolerance);
        const auto suspect = [&](const Reference& wrong, const char* what) {
            diagnosis.suspect(wrong.value, wrong.magnitude, what);
        };
        suspect(reduction::reference_sum(v), "this is the sum of v alone: w was not used");
        suspect(reduction::reference_sum(w), "this is the sum of w alone: v was not used");
        suspect(reduction::reference_dot(v, v), "this is the dot product of v with itself");
        suspect(reduction::reference_dot(w, w), "this is the dot product of w with itself");
        return diagnosis.of(got);
    }
};

}  // namespace

RUNGS_EXAM(ReductionExam)
