#pragma once
// Seeded random data that is the same on every machine. The generator is counter-based: element i depends
// on the seed and on i alone, so any part of a field can be made without the part before it, by any
// number of threads.
//
// Generator: Philox4x32-10, written from J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as
// easy as 1, 2, 3", SC 2011. Good statistics, not a cipher: where an answer must not be guessed, draw the
// seed from the operating system.
//
// "The same on every machine" forbids std:: distributions and the library's log and sin, which
// round differently from one system to the next. All values below are made from integers and
// exact floating-point steps.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rungs {

/// Philox4x32-10: 128 bits of counter and 64 bits of key to 128 random bits.
inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t even = 0xD2511F53ull * counter[0];
        const std::uint64_t odd = 0xCD9E8D57ull * counter[2];
        counter = {
            static_cast<std::uint32_t>(odd >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(odd),
            static_cast<std::uint32_t>(even >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(even)};
        key[0] += 0x9E3779B9u;  // golden ratio
        key[1] += 0xBB67AE85u;  // sqrt(3) - 1
    }
    return counter;
}

/// Word `index` of the sequence of `seed`: 2^66 words before it repeats.
inline std::uint32_t random_word(std::uint64_t seed, std::uint64_t index) {
    const std::uint64_t block = index / 4;
    return philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0},
                  {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)})[index % 4];
}

/// Words `first`, `first + 1`, ... of the sequence of `seed`. Several blocks go through the rounds together,
/// in a form that compilers turn into vector instructions: about five times faster than one word at a time.
void random_words(std::span<std::uint32_t> out, std::uint64_t seed, std::uint64_t first = 0);

/// SipHash-2-4, from J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012.
/// One-way: whoever knows hashes, and which messages they are of, learns neither the key nor another hash.
std::uint64_t siphash(std::array<std::uint64_t, 2> key, std::string_view message);

// ---------------------------------------------------------------------------------------------------------------
// Fields: how words become values. `high` holds the leading random bits; a double also takes
// the bits of `low`.

/// Uniform in [a, b): multiples of (b - a) / 2^24 in float, / 2^53 in double. `b - a` is rounded to T first,
/// so a value may reach b where a and b differ much in size.
struct Uniform {
    double a = 0;
    double b = 1;

    template <class T>
    T value(std::uint32_t high, std::uint32_t low, std::uint64_t) const {
        if constexpr (std::is_same_v<T, float>) {
            // 24 by 24 bits: the product is exact in double, so a fused multiply-add changes nothing.
            const double width = static_cast<float>(b - a);
            return static_cast<float>(a + width * ((high >> 8) * 0x1p-24));
        } else {
            const std::uint64_t bits = (std::uint64_t{high} << 21) | (low >> 11);
            return std::fma(b - a, static_cast<double>(bits) * 0x1p-53, a);
        }
    }
};

/// Uniform in [-1, 1): signs alternate at random, so sums cancel; |sum| grows like sqrt(n), sum |v| like n.
inline constexpr Uniform signed_uniform{-1, 1};

/// Normal distribution with mean 0 and variance 1, to 1e-5 in value; at most 6.3 in magnitude. A float and a
/// double field have the same values.
struct Normal {
    template <class T>
    T value(std::uint32_t high, std::uint32_t, std::uint64_t) const {
        return static_cast<T>(fixed_point(high) * 0x1p-24);
    }
    /// The value times 2^24, by linear interpolation in a table of the inverse distribution.
    static std::int32_t fixed_point(std::uint32_t word);
};

/// Random sign and magnitude: the exponent is uniform in [lowest, highest], the mantissa uniform in [1, 2).
/// Sums of such data show absorption: small terms vanish beside large ones.
struct LogUniform {
    int lowest = -20;
    int highest = 20;

    template <class T>
    T value(std::uint32_t high, std::uint32_t low, std::uint64_t) const {
        const auto range = static_cast<std::uint64_t>(highest - lowest) + 1;
        const int exponent = lowest + static_cast<int>((range * high) >> 32);
        // One word has too few bits for a float's three parts: a one-to-one scramble of it serves
        // the other two.
        const std::uint32_t rest = (high ^ (high >> 15)) * 0x2C1B3C6Du;
        const T mantissa =
            std::is_same_v<T, float>
                ? static_cast<T>(1 + (rest >> 9) * 0x1p-23)
                : static_cast<T>(1 + ((std::uint64_t{rest >> 9} << 29) | (low >> 3)) * 0x1p-52);
        const T magnitude = std::ldexp(mantissa, exponent);
        return (rest >> 8) & 1 ? -magnitude : magnitude;
    }
};

/// Integers in [lowest, highest], at most 2^24 in magnitude: exact in float. Their sum is exact too, in
/// any order, while no partial sum passes 2^24 (float) or 2^53 (double): such data finds a wrong sum
/// without a tolerance.
struct Integers {
    int lowest = -8;
    int highest = 8;

    template <class T>
    T value(std::uint32_t high, std::uint32_t, std::uint64_t) const {
        const auto range = static_cast<std::uint64_t>(std::int64_t{highest} - lowest) + 1;
        return static_cast<T>(lowest + static_cast<std::int64_t>((range * high) >> 32));
    }
};

/// `n` values of size 1 to 2 whose sum is tiny: element i and element n-1-i cancel up to 0..15 times
/// 2^-23 (an odd n leaves 1 in the middle). Sum |v| / |sum| is about 3 million for even n: a harsh
/// test of summation.
struct Cancelling {
    std::uint64_t n = 0;
    std::uint64_t seed = 1;  ///< of the field; both partners are made from the first one's word

    template <class T>
    T value(std::uint32_t, std::uint32_t, std::uint64_t index) const {
        const std::uint64_t partner = n - 1 - index;
        if (partner == index) return T{1};
        const std::uint32_t word = random_word(seed, std::min(index, partner));
        const T magnitude = static_cast<T>(1 + (word >> 9) * 0x1p-23);
        if (index < partner) return magnitude;
        return -(magnitude - static_cast<T>((word & 15u) * 0x1p-23));  // exact: both are multiples of 2^-24
    }
};

/// Element `index` of a field: what fill() writes there.
template <class T = float, class Field>
T random_at(std::uint64_t index, std::uint64_t seed, const Field& field) {
    if constexpr (std::is_same_v<T, float>)
        return field.template value<T>(random_word(seed, index), 0, index);
    else
        return field.template value<T>(random_word(seed, 2 * index), random_word(seed, 2 * index + 1), index);
}

/// Writes elements `first`, `first + 1`, ... of a field. T is float or double; a field of doubles is another
/// one than the field of floats with the same seed, except for Normal.
template <class T, class Field = Uniform>
void fill(std::span<T> out, std::uint64_t seed, const Field& field = {}, std::uint64_t first = 0) {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "fields are of float or double");
    constexpr std::size_t per_value = std::is_same_v<T, float> ? 1 : 2;
    constexpr std::size_t chunk = 1024;  // words: stays in the first-level cache
    std::array<std::uint32_t, chunk> words;
    for (std::size_t done = 0; done < out.size();) {
        const std::size_t count = std::min(chunk / per_value, out.size() - done);
        random_words(std::span(words).first(count * per_value), seed, per_value * (first + done));
        for (std::size_t i = 0; i < count; ++i) {
            out[done + i] = field.template value<T>(words[per_value * i],
                                                    words[per_value * i + per_value - 1], first + done + i);
        }
        done += count;
    }
}

/// `n` elements of a field: `random_field(n, seed)` or `random_field<double>(n, seed, Normal{})`.
template <class T = float, class Field = Uniform>
std::vector<T> random_field(std::size_t n, std::uint64_t seed, const Field& field = {}) {
    std::vector<T> values(n);
    fill(std::span<T>(values), seed, field);
    return values;
}

}  // namespace rungs
