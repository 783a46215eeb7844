// compare() and the causes that it names.

#include "rungs/compare.hpp"

#include <limits>

#include "rungs/catch.hpp"
#include "rungs/diagnosis.hpp"
#include "rungs/random.hpp"

using namespace rungs;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();
const float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr Tolerance tight{0, 1e-6};

std::vector<float> field(std::size_t n) { return random_field(n, 1, Uniform{1, 2}); }

/// The cause that compare() names when `damage(got, i)` has changed the elements for which it returns true.
template <class Damage>
std::string cause(std::size_t n, const Damage& damage, std::size_t width = 0) {
    const std::vector<float> expected = field(n);
    std::vector<float> got = expected;
    std::size_t damaged = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const float before = got[i];
        damage(got[i], i);
        damaged += got[i] != before;
    }
    const Comparison result = compare(got, expected, tight, {{}, width});
    CHECK(result.wrong == damaged);
    return result.cause;
}

}  // namespace

TEST_CASE("numbers for messages are short, and a NaN has no sign", "[compare]") {
    CHECK(to_digits(0.1f, 9) == "0.100000001");
    CHECK(to_digits(0.1f, 6) == "0.1");
    CHECK(to_digits(-infinite, 3) == "-inf");
    CHECK(to_digits(not_a_number, 3) == "nan");
    CHECK(to_digits(-not_a_number, 3) == "nan");
}

TEST_CASE("right fields pass, whatever their size", "[common][compare]") {
    const std::size_t n = GENERATE(0, 1, 31, 32, 33, 1000);
    const Comparison result = compare(field(n), field(n), Tolerance{});
    CHECK(result.passed());
    CHECK(result.of == n);
    CHECK(result.first.empty());
    CHECK(result.cause.empty());
    CHECK_THAT(result.message(), ContainsSubstring("all " + std::to_string(n) + " elements are right"));
}

TEST_CASE("the tolerance is absolute plus relative, its border included", "[common][compare]") {
    CHECK(compare(1.5, 1.0, {0.5, 0}).passed());
    CHECK_FALSE(compare(1.51, 1.0, {0.5, 0}).passed());
    CHECK(compare(8.0, 10.0, {1, 0.1}).passed());
    CHECK_FALSE(compare(7.9, 10.0, {1, 0.1}).passed());
    CHECK(compare(-0.0f, 0.0f, Tolerance{}).passed());
    CHECK(compare(7, 7, Tolerance{}).passed());
    CHECK_FALSE(compare(7, 8, Tolerance{}).passed());
}

TEST_CASE("NaN and infinity must be where they are expected", "[common][compare]") {
    const Tolerance loose{1e30, 1e30};
    CHECK(compare(not_a_number, not_a_number, loose).passed());
    CHECK(compare(infinite, infinite, loose).passed());
    for (const auto& [got, expected] : std::vector<std::pair<float, float>>{{not_a_number, 1},
                                                                            {1, not_a_number},
                                                                            {infinite, 1},
                                                                            {1, infinite},
                                                                            {infinite, -infinite},
                                                                            {not_a_number, infinite},
                                                                            {infinite, not_a_number}}) {
        CAPTURE(got, expected);
        const Comparison result = compare(got, expected, loose);
        CHECK(result.wrong == 1);
        CHECK(result.wrong_class == 1);
    }
    // A double beyond float's range is infinity in float.
    CHECK(compare(infinite, 1e39, loose).passed());
    CHECK_FALSE(compare(3e38f, 1e39, Tolerance{0, 0.5}).passed());
    CHECK_FALSE(compare(1.0f, 1.0f, Tolerance{std::nan(""), 0}).passed());
}

TEST_CASE("the first five mismatches are kept, all are counted", "[common][compare]") {
    std::vector<float> got = field(100);
    const std::vector<float> expected = got;
    for (const std::size_t i : {3, 17, 18, 40, 41, 42, 99}) got[i] = std::nextafter(expected[i], 9.0f);
    const Comparison result = compare(got, expected, Tolerance{});
    CHECK(result.wrong == 7);
    REQUIRE(result.first.size() == 5);
    CHECK(result.first[0].index == 3);
    CHECK(result.first[4].index == 41);
    CHECK(result.first[0].ulp == 1);
    CHECK(result.first[0].got == got[3]);
    CHECK(result.first[0].expected == expected[3]);
    CHECK_THAT(result.message(), ContainsSubstring("7 of 100 elements are wrong"));
    CHECK_THAT(result.message(), ContainsSubstring("[3] got"));
    CHECK_THAT(result.message(), ContainsSubstring("(1 ULP)"));
    CHECK_THAT(result.message(), ContainsSubstring("... and 2 more"));
}

TEST_CASE("the worst element is known even where all are right", "[common][compare]") {
    const Comparison result = compare(std::vector<float>{1, 2.5, 3}, std::vector<double>{1, 2, 3.25}, {1, 0});
    CHECK(result.passed());
    CHECK(result.worst.index == 1);
}

TEST_CASE("different sizes are refused", "[common][compare]") {
    CHECK_THROWS_AS(compare(field(3), field(4), tight), std::length_error);
}

TEST_CASE("every single wrong element is found", "[common][compare]") {
    const std::vector<float> expected = field(1000);
    for (std::size_t trial = 0; trial < 200; ++trial) {
        std::vector<float> got = expected;
        const std::size_t at = random_word(5, trial) % got.size();
        switch (trial % 5) {
            case 0:
                got[at] = std::nextafter(got[at], 0.0f);
                break;
            case 1:
                got[at] = not_a_number;
                break;
            case 2:
                got[at] = -infinite;
                break;
            case 3:
                got[at] = -got[at];
                break;
            default:
                got[at] = 0;
                break;
        }
        const Comparison result = compare(got, expected, Tolerance{});
        REQUIRE(result.wrong == 1);
        REQUIRE(result.first.at(0).index == at);
    }
}

TEST_CASE("causes: nothing written, zeros, NaN", "[common][compare][cause]") {
    CHECK_THAT(cause(1000, [](float& x, std::size_t) { x = 0; }),
               ContainsSubstring("all 1000 elements are 0"));
    CHECK_THAT(cause(1000, [](float& x, std::size_t) { x = not_a_number; }), ContainsSubstring("NaN"));
    const std::vector<float> poisoned(1000, -12345.0f);
    CHECK_THAT(compare(poisoned, field(1000), tight, {-12345.0f}).cause,
               ContainsSubstring("all 1000 elements were never written"));
    std::vector<float> tail = field(1000);
    for (std::size_t i = 768; i < 1000; ++i) tail[i] = -12345.0f;
    CHECK_THAT(compare(tail, field(1000), tight, {-12345.0f}).cause,
               ContainsSubstring("past the last full block of 256 (from index 768 on) were never written"));
    CHECK(compare(0.0f, 5.0f, tight).cause ==
          "the result is 0: was the result stored, and is it stored after the work?");
    CHECK_THAT(compare(-12345.0f, 5.0f, tight, {-12345.0f}).cause,
               ContainsSubstring("the result was never written"));
}

TEST_CASE("a poison that is NaN is told from a computed NaN", "[common][compare][cause]") {
    const float poison = std::bit_cast<float>(0x7fc12345u);
    CHECK_THAT(compare(std::vector<float>(64, poison), field(64), tight, {poison}).cause,
               ContainsSubstring("never written"));
    CHECK_THAT(compare(std::vector<float>(64, not_a_number), field(64), tight, {poison}).cause,
               ContainsSubstring("NaN"));
}

TEST_CASE("causes: past the last full block", "[common][compare][cause]") {
    const std::size_t block = GENERATE(32, 64, 128, 256, 512, 1024);
    const std::size_t n = 3 * block + block / 2 + 1;
    const std::string text = cause(n, [&](float& x, std::size_t i) { x += i >= 3 * block ? 1.0f : 0.0f; });
    CHECK_THAT(text, ContainsSubstring("past the last full block of"));
    CHECK_THAT(text, ContainsSubstring(std::to_string(block)));
    CHECK_THAT(text, ContainsSubstring("from index " + std::to_string(3 * block)));
}

TEST_CASE("causes: every k-th element", "[common][compare][cause]") {
    const auto every = [](std::size_t k, std::size_t offset) {
        return cause(4096, [=](float& x, std::size_t i) { x += i % k == offset ? 1.0f : 0.0f; });
    };
    CHECK_THAT(every(32, 31), ContainsSubstring("only every 32nd element (from index 31 on)"));
    CHECK_THAT(every(2, 1), ContainsSubstring("every 2nd"));
    CHECK_THAT(every(3, 0), ContainsSubstring("every 3rd"));
    CHECK_THAT(every(11, 4), ContainsSubstring("every 11th"));
    CHECK_THAT(every(256, 255), ContainsSubstring("one thread of each block"));
}

TEST_CASE("causes: edges of tiles", "[common][compare][cause]") {
    CHECK_THAT(cause(4096, [](float& x, std::size_t i) { x += i % 64 == 0 || i % 64 == 63 ? 1.0f : 0.0f; }),
               ContainsSubstring("edges of tiles of 64"));
    const std::size_t width = 96;
    const auto damage = [&](float& x, std::size_t i) {
        const std::size_t row = i / width % 16, col = i % width % 16;
        x += row == 0 || row == 15 || col == 0 || col == 15 ? 1.0f : 0.0f;
    };
    CHECK_THAT(cause(width * 80, damage, width), ContainsSubstring("edges of tiles of 16"));
}

TEST_CASE("causes: a constant factor", "[common][compare][cause]") {
    CHECK_THAT(cause(500, [](float& x, std::size_t) { x *= 2; }), ContainsSubstring("2 times"));
    CHECK_THAT(cause(500, [](float& x, std::size_t) { x /= 32; }), ContainsSubstring("1/32 of"));
    CHECK_THAT(cause(500, [](float& x, std::size_t) { x *= 0.15f; }), ContainsSubstring("0.15"));
    CHECK_THAT(cause(500, [](float& x, std::size_t) { x = -x; }), ContainsSubstring("minus the expected"));
}

TEST_CASE("causes: moved by one", "[common][compare][cause]") {
    const std::vector<float> expected = field(1000);
    std::vector<float> got = expected;
    std::rotate(got.begin(), got.begin() + 1, got.end());
    CHECK_THAT(compare(got, expected, tight).cause, ContainsSubstring("expected at i + 1"));
    std::rotate(got.begin(), got.end() - 2, got.end());
    CHECK_THAT(compare(got, expected, tight).cause, ContainsSubstring("expected at i - 1"));
}

TEST_CASE("causes: cut short", "[common][compare][cause]") {
    CHECK_THAT(cause(1000, [](float& x, std::size_t i) { x += i >= 700 ? 1.0f : 0.0f; }),
               ContainsSubstring("all elements from index 700 on"));
    CHECK_THAT(cause(1000, [](float& x, std::size_t i) { x += i < 300 ? 1.0f : 0.0f; }),
               ContainsSubstring("only the first 300 elements"));
}

TEST_CASE("no cause is named where there is no pattern", "[common][compare][cause]") {
    // Ten elements at random places, and noise everywhere: neither tells anything.
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        CAPTURE(seed);
        std::vector<float> got = field(5000);
        for (std::uint64_t k = 0; k < 10; ++k) got[random_word(seed, k) % 5000] += 1;
        CHECK(compare(got, field(5000), tight).cause.empty());
    }
    const std::vector<float> noise = random_field(1000, 77);
    CHECK(compare(noise, field(1000), tight).cause.empty());
    CHECK(compare(4.9f, 5.0f, tight).cause.empty());
}
