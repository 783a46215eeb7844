// Random fields: known answers, independence of where one starts, and the distributions they promise.

#include "rungs/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>

#include "rungs/catch.hpp"
#include "rungs/norms.hpp"

using namespace rungs;

TEST_CASE("philox gives the published known answers", "[common][random]") {
    using Words = std::array<std::uint32_t, 4>;
    // Known-answer vectors that the authors of the generator distribute for philox4x32 with 10 rounds.
    CHECK(philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
          Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("siphash gives the published known answers", "[common][random]") {
    const std::string message("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e", 15);
    const auto hash = [&](std::size_t bytes) {
        return siphash({0x0706050403020100, 0x0f0e0d0c0b0a0908}, std::string_view(message).substr(0, bytes));
    };
    CHECK(hash(0) == 0x726fdb47dd0e0e31);
    CHECK(hash(8) == 0x93f5f5799a932462);
    CHECK(hash(15) == 0xa129ca6149be45e5);
}

TEST_CASE("words do not depend on where or how one starts", "[common][random]") {
    const std::uint64_t first =
        GENERATE(as<std::uint64_t>{}, 0, 1, 2, 3, 4, 127, 128, 129, (1ull << 34) - 5, (1ull << 40) + 3);
    const std::size_t n = GENERATE(0, 1, 3, 4, 5, 127, 128, 129, 1000);
    std::vector<std::uint32_t> words(n);
    random_words(words, 0x123456789abcdef0, first);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) wrong += words[i] != random_word(0x123456789abcdef0, first + i);
    CHECK(wrong == 0);
}

namespace {

template <class T, class Field>
void check_start(const Field& field) {
    const std::size_t n = 5000;
    const std::vector<T> whole = random_field<T>(n, 7, field);
    for (const std::size_t first : {0, 1, 1023, 1024, 1025, 4999}) {
        std::vector<T> part(n - first);
        fill(std::span<T>(part), 7, field, first);
        CHECK(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(first)));
        CHECK(random_at<T>(first, 7, field) == whole[first]);
    }
    CHECK(random_field<T>(n, 8, field) != whole);
    CHECK(random_field<T>(0, 7, field).empty());
}

/// Bits of a field in one number, to see that they never change.
template <class T, class Field>
std::uint64_t fingerprint(const Field& field) {
    std::uint64_t hash = 14695981039346656037ull;
    for (const T value : random_field<T>(10007, 42, field)) {
        unsigned char bytes[sizeof(T)];
        std::memcpy(bytes, &value, sizeof(T));
        for (const unsigned char byte : bytes) hash = (hash ^ byte) * 1099511628211ull;
    }
    return hash;
}

double mean(const std::vector<float>& v) {
    return pairwise_sum(std::span<const float>(v)) / static_cast<double>(v.size());
}

}  // namespace

TEST_CASE("a field can be made from any element on", "[common][random]") {
    check_start<float>(Uniform{});
    check_start<double>(Uniform{-3, 5});
    check_start<float>(Normal{});
    check_start<double>(Normal{});
    check_start<float>(LogUniform{});
    check_start<double>(LogUniform{-300, 300});
    check_start<float>(Integers{});
    check_start<double>(Integers{});
    CHECK(random_at<float>(17, 7, Cancelling{5000, 7}) == random_field(5000, 7, Cancelling{5000, 7})[17]);
}

TEST_CASE("fields never change from one machine or version to another", "[common][random]") {
    CHECK(fingerprint<float>(Uniform{}) == 0xad715c731b132823);
    CHECK(fingerprint<float>(Uniform{-0.1, 0.7}) == 0x4e9c6a9b8be069ca);
    CHECK(fingerprint<double>(Uniform{-0.1, 0.7}) == 0x180b972e62aa8b7a);
    CHECK(fingerprint<float>(Normal{}) == 0xbf44a333bc36fd11);
    CHECK(fingerprint<double>(Normal{}) == 0xf7ca6950095a6fca);
    CHECK(fingerprint<float>(LogUniform{}) == 0x1e0923bcdc625d22);
    CHECK(fingerprint<double>(LogUniform{}) == 0x0cf652933cbdfe36);
    CHECK(fingerprint<float>(Integers{}) == 0x1f65123f5ca47312);
    CHECK(fingerprint<float>(Cancelling{10007, 42}) == 0x85b6283f314a1d2d);
}

TEST_CASE("uniform values fill their interval evenly", "[common][random]") {
    const std::vector<float> v = random_field(1'000'000, 3);
    CHECK(*std::min_element(v.begin(), v.end()) >= 0);
    CHECK(*std::max_element(v.begin(), v.end()) < 1);
    CHECK(std::abs(mean(v) - 0.5) < 5 * std::sqrt(1 / 12.0 / 1e6));
    std::array<int, 64> bins{};
    for (const float x : v) ++bins[static_cast<std::size_t>(x * 64)];
    double chi2 = 0;
    for (const int count : bins) chi2 += (count - 15625.0) * (count - 15625.0) / 15625.0;
    CHECK(chi2 < 63 + 5 * std::sqrt(2 * 63.0));
    CHECK(chi2 > 63 - 5 * std::sqrt(2 * 63.0));
    const std::vector<double> d = random_field<double>(100'000, 3, Uniform{2, 3});
    CHECK(std::all_of(d.begin(), d.end(), [](double x) { return x >= 2 && x < 3; }));
    CHECK(std::any_of(d.begin(), d.end(), [](double x) { return x != static_cast<float>(x); }));
}

TEST_CASE("neighbours are not correlated, and seeds neither", "[common][random]") {
    const std::vector<float> a = random_field(1'000'000, 1, signed_uniform);
    const std::vector<float> b = random_field(1'000'000, 2, signed_uniform);
    for (const std::size_t lag : {1, 2, 3, 4, 32, 128}) {
        double self = 0, cross = 0;
        for (std::size_t i = 0; i + lag < a.size(); ++i) {
            self += double(a[i]) * a[i + lag];
            cross += double(a[i]) * b[i + lag];
        }
        CHECK(std::abs(self) < 5 * 1000.0 / 3);  // standard deviation sqrt(n) / 3
        CHECK(std::abs(cross) < 5 * 1000.0 / 3);
    }
}

TEST_CASE("normal values follow the normal distribution", "[common][random]") {
    std::vector<float> v = random_field(1'000'000, 5, Normal{});
    double second = 0, fourth = 0;
    for (const float x : v) {
        second += double(x) * x;
        fourth += double(x) * x * x * x;
    }
    CHECK(std::abs(mean(v)) < 5e-3);
    CHECK(std::abs(second / 1e6 - 1) < 5 * std::sqrt(2e-6));
    CHECK(std::abs(fourth / 1e6 - 3) < 5 * std::sqrt(96e-6));
    std::sort(v.begin(), v.end());
    double largest = 0;  // Kolmogorov-Smirnov distance
    for (std::size_t i = 0; i < v.size(); ++i) {
        const double phi = 0.5 * std::erfc(-v[i] * std::sqrt(0.5));
        largest = std::max(largest, std::abs(phi - (double(i) + 0.5) / 1e6));
    }
    CHECK(largest < 1.95e-3);  // exceeded by one seed in a thousand
}

TEST_CASE("normal values are the quantiles of their word", "[common][random]") {
    for (const std::uint32_t word :
         {0u, 1u, 2u, 3u, 1000u, 0x10000u, 0x7fffffffu, 0x80000001u, 0xfffffffeu, ~0u}) {
        const double x = Normal::fixed_point(word) * 0x1p-24;
        const double p = (word | 1u) * 0x1p-33;
        CAPTURE(word, x, p);
        CHECK(std::abs(0.5 * std::erfc(std::abs(x) * std::sqrt(0.5)) / p - 1) < 2e-4);
        CHECK(Normal::fixed_point(word ^ 1u) == -Normal::fixed_point(word));
        CHECK((word & 1u ? x >= 0 : x <= 0));
    }
}

TEST_CASE("log-uniform values reach all exponents with both signs", "[common][random]") {
    for (const LogUniform field : {LogUniform{-20, 20}, LogUniform{-3, 4}, LogUniform{0, 0}}) {
        const std::vector<float> v = random_field(100'000, 9, field);
        std::vector<int> count(static_cast<std::size_t>(field.highest - field.lowest + 1), 0);
        int negative = 0;
        for (const float x : v) {
            ++count.at(static_cast<std::size_t>(std::ilogb(x) - field.lowest));
            negative += x < 0;
        }
        CHECK(std::abs(negative - 50'000) < 5 * 158);
        const double expected = 1e5 / static_cast<double>(count.size());
        for (const int c : count) CHECK(std::abs(c - expected) < 5 * std::sqrt(expected) + 1e-9);
    }
}

TEST_CASE("integers are whole, inside their bounds, and all of them occur", "[common][random]") {
    const std::vector<float> v = random_field(100'000, 9, Integers{-8, 8});
    std::array<int, 17> count{};
    for (const float x : v) {
        REQUIRE(x == std::round(x));
        ++count.at(static_cast<std::size_t>(x + 8));
    }
    for (const int c : count) CHECK(std::abs(c - 1e5 / 17) < 5 * std::sqrt(1e5 / 17));
    CHECK(random_field(100, 1, Integers{3, 3}) == std::vector<float>(100, 3));
    const std::vector<float> large = random_field(1000, 1, Integers{-(1 << 24), 1 << 24});
    CHECK(std::all_of(large.begin(), large.end(), [](float x) { return std::abs(x) <= 0x1p24f; }));
}

TEST_CASE("cancelling values have a tiny sum that is known", "[common][random]") {
    for (const std::size_t n : {0, 1, 2, 3, 1000, 100'001}) {
        const std::vector<float> v = random_field(n, 11, Cancelling{n, 11});
        double left = n % 2;
        for (std::size_t i = 0; i < n / 2; ++i) left += (random_word(11, i) & 15u) * 0x1p-23;
        CHECK(compensated_sum(std::span<const float>(v)) == left);
        CHECK(
            std::all_of(v.begin(), v.end(), [](float x) { return std::abs(x) < 2 && std::abs(x) > 0.999; }));
    }
}
