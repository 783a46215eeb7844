// Chapter 0's exam: whole numbers in, and the one right answer out.

#include "rungs/exam.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "exam/diagnosis.hpp"
#include "exam/reference.hpp"
#include "first_kernels.cuh"
#include "rungs/random.hpp"

namespace {

using first_kernels::Question;
using first_kernels::Values;

class FirstKernelsExam : public rungs::Exam {
  public:
    rungs::Task make(const rungs::Case& which) const override {
        if (which.kind != "random" && which.kind != "unaligned") {
            throw std::invalid_argument("chapter 0 has no data of kind '" + which.kind +
                                        "'; it has random, unaligned");
        }
        const std::vector<std::string> names = size_names(which);
        if (which.sizes.size() != names.size() ||
            std::any_of(which.sizes.begin(), which.sizes.end(), [](long long size) { return size < 0; })) {
            throw std::invalid_argument("the problem " + which.problem + " has " +
                                        std::to_string(names.size()) + " sizes, none of them negative");
        }
        rungs::Task task;
        const std::size_t count = elements(which);
        const std::size_t off = which.kind == "unaligned" ? 1 + which.seed % 3 : 0;
        const std::string& problem = which.problem;
        if (is_image(problem)) {
            if (problem != "spheres") {
                task.inputs = {rungs::Array::of("image", pixels(count, which.seed_of(0)), off)};
            }
            task.outputs = {rungs::Array::unset<int>(output_names(problem)[0], count, off)};
        } else if (problem == "split") {
            task.inputs = {rungs::Array::of("particles", numbers(3 * count, which.seed_of(0)), off)};
            for (const char* name : output_names(problem)) {
                task.outputs.push_back(rungs::Array::unset<float>(name, count, off));
            }
        } else {
            const bool in = problem == "shift" || problem == "transpose";
            task.inputs = {rungs::Array::of(in ? "in" : "x", numbers(count, which.seed_of(0)), off)};
            if (problem == "axpy") {
                task.inputs.push_back(rungs::Array::of("y", numbers(count, which.seed_of(1)), off));
            }
            task.outputs = {rungs::Array::unset<float>(output_names(problem)[0], count, off)};
        }
        for (const long long size : which.sizes) task.numbers.emplace_back(size);
        if (problem == "axpy") task.numbers.emplace_back(factor(which));
        return task;
    }

    rungs::Check check(const rungs::Case& which, const rungs::Task& task,
                       std::span<const rungs::Array> outputs) const override {
        if (outputs.size() != task.outputs.size()) throw std::invalid_argument("an output is missing");
        Question question{which.problem, which.sizes, factor(which), {}, {}};
        if (!task.inputs.empty()) question.x = values_of(task.inputs[0]);
        if (task.inputs.size() > 1) question.y = values_of(task.inputs[1]);
        Values got;
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (outputs[i].bytes.size() != task.outputs[i].count * 4) {
                throw std::invalid_argument("the output '" + task.outputs[i].name + "' has another size");
            }
            const Values one = values_of(outputs[i]);
            got.insert(got.end(), one.begin(), one.end());
        }
        const Values expected = first_kernels::answer(question);

        rungs::Check check;
        const std::size_t channels = is_image(which.problem) ? 4 : 1;
        check.of = got.size() / channels;
        check.measure =
            channels == 4 ? "pixels that are not as expected" : "elements that are not as expected";
        for (std::size_t i = 0; i < got.size(); ++i) {
            if (got[i] == expected[i]) continue;  // false for NaN
            if (check.first.size() < 5) {
                check.first.push_back({i / channels, got[i], expected[i], rungs::ulp_undefined,
                                       name_of(which, i), channels == 4 && std::isnan(got[i])});
            }
            ++check.wrong;
            i = i / channels * channels + channels - 1;  // a pixel counts once
        }
        check.passed = check.wrong == 0;
        check.error = static_cast<double>(check.wrong);
        if (!check.passed) check.cause = first_kernels::cause_of(question, got, expected, &check.certain);
        return check;
    }

    rungs::Work work(const rungs::Case& which) const override {
        const auto count = static_cast<double>(elements(which));
        const std::string& problem = which.problem;
        if (problem == "square") return {8 * count, count};
        if (problem == "axpy") return {12 * count, 2 * count};
        if (problem == "grey") return {8 * count, 6 * count};
        if (problem == "shift") return {8 * count, count * static_cast<double>(which.sizes.at(1))};
        if (problem == "blur") {
            return {8 * count, 4 * count * std::pow(2 * static_cast<double>(which.sizes.at(2)) + 1, 2)};
        }
        if (problem == "split") return {24 * count, 0};
        if (problem == "transpose") return {8 * count, 0};
        return {4 * count, 40 * 8 * count};  // spheres
    }

    std::vector<std::string> size_names(const rungs::Case& which) const override {
        const std::string& problem = which.problem;
        if (problem == "square" || problem == "axpy" || problem == "split") return {"n"};
        if (problem == "shift") return {"n", "times"};
        if (problem == "grey" || problem == "spheres") return {"width", "height"};
        if (problem == "blur") return {"width", "height", "radius"};
        if (problem == "transpose") return {"rows", "columns"};
        first_kernels::answer({problem, {}, 0, {}, {}});  // throws, and names the problems that there are
        return {};
    }

    std::vector<std::size_t> extents(const rungs::Case& which) const override {
        if (which.problem == "shift" || size_names(which).size() == 1) return {0};
        return {0, 1};
    }

  private:
    static bool is_image(const std::string& problem) {
        return problem == "grey" || problem == "blur" || problem == "spheres";
    }

    static std::vector<const char*> output_names(const std::string& problem) {
        if (problem == "square") return {"y"};
        if (problem == "axpy") return {"z"};
        if (problem == "grey") return {"grey"};
        if (problem == "blur") return {"blurred"};
        if (problem == "split") return {"position", "velocity", "mass"};
        if (problem == "spheres") return {"image"};
        return {"out"};
    }

    /// What number `i` of all outputs is called, where its index does not say which it is.
    std::string name_of(const rungs::Case& which, std::size_t i) const {
        static constexpr const char* channels[] = {".x", ".y", ".z", ".w"};
        const std::vector<const char*> outputs = output_names(which.problem);
        if (is_image(which.problem))
            return std::string(outputs[0]) + "[" + std::to_string(i / 4) + "]" + channels[i % 4];
        if (outputs.size() == 1) return "";
        const std::size_t count = elements(which);
        return std::string(outputs[i / count]) + "[" + std::to_string(i % count) + "]";
    }

    /// Of each output.
    std::size_t elements(const rungs::Case& which) const {
        const bool flat = size_names(which).size() == 1 || which.problem == "shift";
        return static_cast<std::size_t>(which.sizes.at(0) * (flat ? 1 : which.sizes.at(1)));
    }

    /// 2 to 9: whole, and neither 0 nor 1.
    static double factor(const rungs::Case& which) { return 2 + rungs::random_word(which.seed_of(2), 0) % 8; }

    /// From 1 to 999, whose squares a float holds exactly: 0 is left out, as it hides what is missing.
    static std::vector<float> numbers(std::size_t count, std::uint64_t seed) {
        return rungs::random_field(count, seed, rungs::Integers{1, 999});
    }

    /// Pixels of any colour, no channel of which is 255: see left_by_the_grader().
    static std::vector<int> pixels(std::size_t count, std::uint64_t seed) {
        std::vector<int> all(count);
        for (std::size_t i = 0; i < count; ++i) {
            std::uint32_t pixel = 0, random = rungs::random_word(seed, i);
            for (int c = 0; c < 4; ++c) pixel |= (random >> 8 * c & 255) % 255 << 8 * c;
            all[i] = std::bit_cast<int>(pixel);
        }
        return all;
    }

    /// What pixels hold that nobody has written: before the call, a grader fills an output with one and the
    /// same NaN, which as a pixel has alpha 255 and blue from 192 on. No right answer has such a pixel.
    static std::optional<int> left_by_the_grader(std::span<const int> all) {
        std::optional<int> left;
        for (const int pixel : all) {
            if (std::bit_cast<std::uint32_t>(pixel) < 0xffc00000u) continue;
            if (left && *left != pixel) return {};  // so they are somebody's
            left = pixel;
        }
        return left;
    }

    static Values values_of(const rungs::Array& array) {
        if (array.element == rungs::Element::f32) {
            const auto all = array.as<float>();
            return Values(all.begin(), all.end());
        }
        const auto all = array.as<int>();
        const std::optional<int> left = left_by_the_grader(all);
        Values channels;
        for (const int pixel : all) {
            for (int c = 0; c < 4; ++c) {
                const auto channel = std::bit_cast<std::uint32_t>(pixel) >> 8 * c & 255;
                channels.push_back(pixel == left ? first_kernels::untouched : channel);
            }
        }
        return channels;
    }
};

}  // namespace

RUNGS_EXAM(FirstKernelsExam)
