// The exam itself on trial: right answers pass, each usual mistake fails, and the cause that a student reads
// is the right one. No rung is called here.

#include <cmath>
#include <functional>

#include "exam/kernels_on_the_host.hpp"
#include "exam/reference.hpp"
#include "ladder/chapter_exam.hpp"
#include "ladder/exam_trial.hpp"
#include "rungs/catch.hpp"
#include "rungs/exam.hpp"

namespace {

using namespace first_kernels::host;
using Catch::Matchers::ContainsSubstring;
using Leave = std::function<Outputs(const rungs::Task&)>;

const std::unique_ptr<rungs::Exam> exam = rungs::make_chapter_exam();

rungs::Check judge(const rungs::Case& which, const Leave& leave) {
    const rungs::Task task = exam->make(which);
    return exam->check(which, task, leave(task));
}

/// formula(i, x, y, a) for every element that `written` picks by index and n.
template <class Formula, class Written>
Leave elements(const Formula& formula, const Written& written) {
    return [=](const rungs::Task& task) {
        const Floats x = floats_of(task.inputs[0]);
        const Floats y = task.inputs.size() > 1 ? floats_of(task.inputs[1]) : x;
        const auto a = static_cast<float>(task.numbers.back().is_integer ? 0 : task.numbers.back().real);
        Floats out(x.size(), unwritten);
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (written(i, x.size())) out[i] = formula(i, x, y, a);
        }
        return outputs_of(task, out);
    };
}

constexpr auto all = [](auto, auto) { return true; };
constexpr auto squared = [](auto i, const Floats& x, const Floats&, float) { return x[i] * x[i]; };
constexpr auto scaled = [](auto i, const Floats& x, const Floats& y, float a) { return a * x[i] + y[i]; };

int number(const rungs::Task& task, std::size_t index) {
    return static_cast<int>(task.numbers[index].integer);
}

Leave grey_with(const GreyMistake& mistake) {
    return [=](const rungs::Task& task) {
        return outputs_of(task, grey(image_of(task.inputs[0]), number(task, 0), number(task, 1), mistake));
    };
}

/// What a kernel leaves that writes only those pixels that `written` picks by column and row.
template <class Written>
Leave grey_only(const Written& written) {
    return [=](const rungs::Task& task) {
        const int width = number(task, 0), height = number(task, 1);
        Image image = grey(image_of(task.inputs[0]), width, height);
        const Image nothing = new_image(image.size());
        for (std::size_t k = 0; k < image.size(); ++k) {
            const auto row_length = static_cast<std::size_t>(width);
            if (!written(k % row_length, k / row_length)) image[k] = nothing[k];
        }
        return outputs_of(task, image);
    };
}

Leave shift_with(const ShiftMistake& mistake) {
    return [=](const rungs::Task& task) {
        return outputs_of(task, shift(floats_of(task.inputs[0]), number(task, 1), mistake));
    };
}

Leave blur_with(const BlurMistake& mistake) {
    return [=](const rungs::Task& task) {
        return outputs_of(
            task, blur(image_of(task.inputs[0]), number(task, 0), number(task, 1), number(task, 2), mistake));
    };
}

Leave split_from(const std::array<std::size_t, 3>& fields) {
    return
        [=](const rungs::Task& task) { return outputs_of(task, split(floats_of(task.inputs[0]), fields)); };
}

/// Positions from the floats in a row, velocities and masses as they should be.
Leave split_in_a_row() {
    return [](const rungs::Task& task) {
        const Floats particles = floats_of(task.inputs[0]);
        Floats out = split(particles);
        std::copy_n(particles.begin(), out.size() / 3, out.begin());
        return outputs_of(task, out);
    };
}

/// What a kernel leaves that writes only those particles that `written` picks by index and n.
template <class Written>
Leave split_only(const Written& written) {
    return [=](const rungs::Task& task) {
        Floats out = split(floats_of(task.inputs[0]));
        const std::size_t n = out.size() / 3;
        for (std::size_t i = 0; i < out.size(); ++i) {
            if (!written(i % n, n)) out[i] = unwritten;
        }
        return outputs_of(task, out);
    };
}

Leave transpose_with(const TransposeMistake& mistake) {
    return [=](const rungs::Task& task) {
        return outputs_of(task,
                          transpose(floats_of(task.inputs[0]), number(task, 0), number(task, 1), mistake));
    };
}

Leave spheres_with(Pick pick, std::size_t loaded = first_kernels::sphere_count) {
    return [=](const rungs::Task& task) {
        return outputs_of(task, spheres(number(task, 0), number(task, 1), pick, loaded));
    };
}

/// What each pixel of the right picture, the k-th, is made into.
template <class Change>
Leave spheres_as(const Change& change) {
    return [=](const rungs::Task& task) {
        Image image = spheres(number(task, 0), number(task, 1));
        for (std::size_t k = 0; k < image.size(); ++k) image[k] = change(k, image[k]);
        return outputs_of(task, image);
    };
}

Leave unchanged() {
    return [](const rungs::Task& task) {
        Outputs outputs{task.inputs[0]};
        if (task.outputs.size() == 3) return outputs_of(task, floats_of(task.inputs[0]));
        return outputs;
    };
}

Leave right(const std::string& problem) {
    if (problem == "square") return elements(squared, all);
    if (problem == "axpy") return elements(scaled, all);
    if (problem == "grey") return grey_with({});
    if (problem == "shift") return shift_with({});
    if (problem == "blur") return blur_with({});
    if (problem == "split") return split_from({0, 1, 2});
    if (problem == "transpose") return transpose_with({});
    return spheres_with(Pick::highest);
}

struct Fault {
    const char* name;
    const char* problem;
    Leave leave;
    const char* cause;
};

/// Every seed of a case on which the fault shows has to be told its cause.
void require_causes(const std::vector<Fault>& faults, const std::vector<long long>& sizes) {
    for (const Fault& fault : faults) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            const rungs::Case which{fault.problem, sizes, "random", seed};
            CAPTURE(fault.name, seed);
            rungs::require_cause(judge(which, fault.leave), fault.cause);
        }
    }
}

}  // namespace

TEST_CASE("right answers pass every case", "[exam]") {
    for (const char* rung : {"01_square", "02_axpy", "04_grey", "06_shift", "08_blur_tile", "09_split",
                             "11_transpose_tiled", "13_spheres"}) {
        for (const rungs::Case& which : rungs::manifest_cases(1, rung)) {
            CAPTURE(which.problem, which.sizes, which.kind);
            const rungs::Check check = judge(which, right(which.problem));
            CAPTURE(check.cause);
            REQUIRE(check.passed);
            REQUIRE(check.first.empty());
        }
    }
}

TEST_CASE("one wrong element fails at any size", "[exam]") {
    for (const long long n : {1, 2, 33, 1000, 4097}) {
        const auto at = static_cast<std::size_t>(n / 2);
        const rungs::Check check =
            judge({"square", {n}, "random"}, elements(squared, [at](auto i, auto) { return i != at; }));
        CHECK_FALSE(check.passed);
        CHECK(check.wrong == 1);
    }
    const rungs::Case which{"grey", {45, 100}, "random"};
    const rungs::Check check = judge(which, [](const rungs::Task& task) {
        Image image = grey(image_of(task.inputs[0]), 45, 100);
        image[46][1] ^= 1;
        return outputs_of(task, image);
    });
    CHECK(check.wrong == 1);
    rungs::require_cause(check, "pixel (1, 1): green is");
}

TEST_CASE("the exam refuses what it does not know", "[exam][cases]") {
    CHECK_THROWS_WITH(exam->make({"cube", {10}, "random"}), ContainsSubstring("spheres"));
    CHECK_THROWS_WITH(exam->make({"square", {10}, "uniform"}), ContainsSubstring("unaligned"));
    CHECK_THROWS_AS(exam->make({"square", {10, 10}, "random"}), std::invalid_argument);
    CHECK_THROWS_AS(exam->make({"square", {-1}, "random"}), std::invalid_argument);
}

TEST_CASE("the causes of mistakes with one index are named", "[exam][diagnosis]") {
    const auto first = [](std::size_t count) { return [count](auto i, auto) { return i < count; }; };
    require_causes(
        {
            {"grid rounded down", "square",
             elements(squared, [](auto i, auto n) { return i < n / 256 * 256; }),
             "the last 232 elements (n % 256) were not written"},
            {"grid of 128 rounded down", "square",
             elements(squared, [](auto i, auto n) { return i < n / 128 * 128; }), "(n % 128)"},
            {"no block in the index", "square", elements(squared, first(256)),
             "Does the index count the blocks"},
            {"gridDim for blockDim", "square", elements(squared, first(268)), "blockDim.x, not gridDim.x"},
            {"no thread in the index", "square", elements(squared, first(4)), "one for each block"},
            {"guard one short", "square", elements(squared, first(999)), "the last element was not written"},
            {"guard turned round", "square", elements(squared, first(0)), "is the guard the right way round"},
            {"a quarter came back", "square", elements(squared, first(250)), "A copy counts bytes"},
            {"not squared", "square", unchanged(), "they were copied, and not squared"},
            {"doubled", "square",
             elements([](auto i, const Floats& x, auto&&, float) { return 2 * x[i]; }, all), "twice"},
            {"never copied in", "square", elements([](auto...) { return 0.0f; }, all),
             "was x copied to the device"},
            {"one index for all", "square",
             elements([](auto, const Floats& x, auto&&, float) { return x[0] * x[0]; }, all),
             "the same for all"},
            {"no y", "axpy", elements([](auto i, const Floats& x, auto&&, float a) { return a * x[i]; }, all),
             "y was not added"},
            {"no a", "axpy",
             elements([](auto i, const Floats& x, const Floats& y, float) { return x[i] + y[i]; }, all),
             "a was not used"},
            {"a to y", "axpy",
             elements([](auto i, const Floats& x, const Floats& y, float a) { return a * y[i] + x[i]; }, all),
             "a belongs to x"},
            {"a to both", "axpy",
             elements([](auto i, const Floats& x, const Floats& y, float a) { return a * (x[i] + y[i]); },
                      all),
             "a belongs to x alone"},
            {"grid rounded down", "axpy", elements(scaled, [](auto i, auto n) { return i < n / 256 * 256; }),
             "is the number of blocks rounded up"},
        },
        {1000});
    require_causes({{"no loop over the grid", "square", elements(squared, first(4096)),
                     "Does every thread go on to its next element"},
                    {"one block", "square", elements(squared, first(256)), "one block's worth"}},
                   {10007});
}

TEST_CASE("the causes of mistakes with an image are named", "[exam][diagnosis]") {
    GreyMistake no_division;
    no_division.weights[3] = 1;
    require_causes(
        {
            {"red and blue", "grey", grey_with({.weights = {29, 150, 77, 256}}), "red and blue"},
            {"green and blue", "grey", grey_with({.weights = {77, 29, 150, 256}}), "green and blue"},
            {"red and green", "grey", grey_with({.weights = {150, 77, 29, 256}}), "red and green"},
            {"mean", "grey", grey_with({.weights = {1, 1, 1, 3}}), "the mean of the three channels"},
            {"opaque", "grey", grey_with({.alpha = 255}), "alpha is 255 everywhere"},
            {"clear", "grey", grey_with({.alpha = 0}), "alpha is 0 everywhere"},
            {"not divided", "grey", grey_with(no_division), "not divided by 256"},
            {"rows of height", "grey", grey_with({.row_of_height = true}), "a row begins at y * width"},
            {"swapped grid", "grey", grey_with({.swapped_grid = true}), "are its two sizes swapped"},
            {"divided first", "grey", grey_with({.weights = {0, 0, 0, 256}}), "divide the sum"},
            {"grid in a row", "grey", grey_only([](auto, auto y) { return y < 16; }),
             "does the grid have two dimensions"},
            {"grid in a column", "grey", grey_only([](auto x, auto) { return x < 16; }),
             "only the first 16 columns"},
            {"block in a row", "grey", grey_only([](auto, auto y) { return y % 16 == 0; }),
             "does the block have two dimensions"},
            {"grid rounded down", "grey", grey_with({.rounded_down = true}), "rounded up in both dimensions"},
            {"copied", "grey", unchanged(), "this is the colour image"},
        },
        {45, 100});
    require_causes(
        {{"no scene", "spheres", spheres_with(Pick::highest, 0), "only background"},
         {"lowest", "spheres", spheres_with(Pick::lowest), "the lowest is seen"},
         {"first", "spheres", spheres_with(Pick::first), "the first sphere"},
         {"last", "spheres", spheres_with(Pick::last), "the last sphere"},
         {"one sphere", "spheres", spheres_with(Pick::highest, 1), "only the first sphere is there"},
         {"black beside", "spheres", spheres_as([](auto, auto seen) {
              const uchar4 empty = first_kernels::background();
              return seen == Pixel{empty.x, empty.y, empty.z, 255} ? Pixel{0, 0, 0, 255} : seen;
          }),
          "only pixels beside the spheres are wrong"}},
        {45, 100});
}

TEST_CASE("the causes of mistakes with a tile are named", "[exam][diagnosis]") {
    require_causes(
        {
            {"black border", "blur", blur_with({.black = true}), "0 was added"},
            {"border left out", "blur", blur_with({.skips = true}), "only pixels of the image were averaged"},
            {"short window", "blur", blur_with({.last = 1}), "the window is one too small"},
            {"short window, right divisor", "blur", blur_with({.last = 1, .divisor = 49}), "are missing"},
            {"wrong divisor", "blur", blur_with({.divisor = 36}), "(2 radius)^2"},
            {"corners", "blur", blur_with({.divisor = 49, .corners = true}), "four corners of the halo"},
            {"no offset", "blur", blur_with({.right = 3, .below = 3}),
             "too far to the right and too far down"},
            {"no offset of rows", "blur", blur_with({.below = 3}), "too far down"},
            {"no offset of columns", "blur", blur_with({.right = 3}), "too far to the right:"},
            {"no halo", "blur", blur_with({.divisor = 49, .halo = true}), "is the whole halo loaded"},
            {"copied", "blur", unchanged(), "nothing was blurred"},
        },
        {45, 100, 3});
    require_causes(
        {
            {"not moved", "shift", unchanged(), "have not moved"},
            {"once", "shift", shift_with({.times = 1}), "moved once"},
            {"other way", "shift", shift_with({.back = true}), "the other way"},
            {"zero", "shift", shift_with({.zero = true}), "keeps its own value"},
            {"across", "shift", shift_with({.crosses = true}), "across the ends"},
            {"round", "shift", shift_with({.wraps = true}), "round the group"},
        },
        {1000, 3});
}

TEST_CASE("the causes of mistakes with a layout are named", "[exam][diagnosis]") {
    require_causes(
        {
            {"position and velocity", "split", split_from({1, 0, 2}), "position and velocity"},
            {"position and mass", "split", split_from({2, 1, 0}), "position and mass"},
            {"velocity and mass", "split", split_from({0, 2, 1}), "velocity and mass"},
            {"velocity twice", "split", split_from({1, 1, 2}), "position holds what belongs to velocity"},
            {"mass twice", "split", split_from({0, 2, 2}), "velocity holds what belongs to mass"},
            {"floats in a row", "split", split_in_a_row(), "one after the other: its own are three apart"},
            {"one field", "split", split_from({0, 0, 0}), "all three arrays hold the positions"},
            {"cut in three", "split", unchanged(), "cut in three"},
            {"grid rounded down", "split", split_only([](auto i, auto n) { return i < n / 256 * 256; }),
             "is the number of blocks rounded up"},
        },
        {1000});
    for (const int side : {32, 16, 8}) {
        require_causes(
            {
                {"tile stays", "transpose", transpose_with({.side = side, .stays = true}),
                 "lies where it came from"},
                {"tile not turned", "transpose", transpose_with({.side = side, .not_turned = true}),
                 "none is turned"},
                {"grid rounded down", "transpose", transpose_with({.side = side, .rounded_down = true}),
                 "rounded up in both dimensions"},
                {"swapped grid", "transpose", transpose_with({.side = side, .swapped_grid = true}),
                 "are its two sizes swapped"},
                {"copied", "transpose", unchanged(), "nothing was transposed"},
            },
            {45, 100});
    }
}
