#include "rungs/random.hpp"

#include <cstring>

namespace rungs {
namespace {

/// Blocks that go through the rounds together: enough for the widest vector registers with several
/// multiplications in flight, and too many for a compiler to unroll into scalar code, as gcc -O3
/// does with 16.
constexpr std::size_t lanes = 32;

// For wide registers, too, which this machine may have: all of it is integers, so the words are the same. A
// sanitizer is not there yet when the loader chooses.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RUNGS_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define RUNGS_WIDE
#endif

/// Blocks `block` ... `block + lanes - 1`. The same arithmetic as philox(), turned inside out: the innermost
/// loop runs over blocks, which do not depend on each other.
RUNGS_WIDE void philox_lanes(std::uint32_t* out, std::uint64_t seed, std::uint64_t block) {
    std::uint32_t a[lanes], b[lanes], c[lanes], d[lanes];
    for (std::size_t i = 0; i < lanes; ++i) {
        a[i] = static_cast<std::uint32_t>(block + i);
        b[i] = static_cast<std::uint32_t>((block + i) >> 32);
        c[i] = d[i] = 0;
    }
    auto key0 = static_cast<std::uint32_t>(seed);
    auto key1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        for (std::size_t i = 0; i < lanes; ++i) {
            const std::uint64_t even = 0xD2511F53ull * a[i];
            const std::uint64_t odd = 0xCD9E8D57ull * c[i];
            a[i] = static_cast<std::uint32_t>(odd >> 32) ^ b[i] ^ key0;
            b[i] = static_cast<std::uint32_t>(odd);
            c[i] = static_cast<std::uint32_t>(even >> 32) ^ d[i] ^ key1;
            d[i] = static_cast<std::uint32_t>(even);
        }
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    for (std::size_t i = 0; i < lanes; ++i) {
        out[4 * i] = a[i];
        out[4 * i + 1] = b[i];
        out[4 * i + 2] = c[i];
        out[4 * i + 3] = d[i];
    }
}

/// Upper-tail quantile of the normal distribution: the x with P(X > x) = p, for 0 < p <= 1/2.
double normal_quantile(double p) {
    double low = 0;
    double high = 8;
    for (int step = 0; step < 60; ++step) {  // bisection: slow and sure, and done 2049 times in all
        const double middle = 0.5 * (low + high);
        (0.5 * std::erfc(middle * std::sqrt(0.5)) > p ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

/// Quantiles at p = 2^octave * (1 + j/64) / 2^33 for octave 0..31, j 0..63, and at 1/2; times 2^24.
/// Rounded to 2^-24, so that the last bits of erfc, in which mathematical libraries differ, do not show.
struct NormalTable {
    std::array<std::int32_t, 32 * 64 + 1> quantile;

    NormalTable() {
        for (std::size_t i = 0; i < quantile.size(); ++i) {
            const double p = std::ldexp(1 + static_cast<double>(i % 64) / 64, static_cast<int>(i / 64) - 33);
            quantile[i] = static_cast<std::int32_t>(std::lround(normal_quantile(p) * 0x1p24));
        }
    }
};

}  // namespace

void random_words(std::span<std::uint32_t> out, std::uint64_t seed, std::uint64_t first) {
    std::size_t done = 0;
    while (done < out.size() && (first + done) % 4 != 0) {  // up to a block boundary
        out[done] = random_word(seed, first + done);
        ++done;
    }
    for (; out.size() - done >= 4 * lanes; done += 4 * lanes) {
        philox_lanes(out.data() + done, seed, (first + done) / 4);
    }
    if (done < out.size()) {
        std::uint32_t rest[4 * lanes];
        philox_lanes(rest, seed, (first + done) / 4);
        std::copy(rest, rest + (out.size() - done), out.begin() + static_cast<std::ptrdiff_t>(done));
    }
}

std::int32_t Normal::fixed_point(std::uint32_t word) {
    static const NormalTable table;
    // The last bit is the sign, the others the distance from the nearer end of (0, 1): p = t / 2^33, t odd.
    const std::uint32_t t = word | 1u;
    const int zeros = std::countl_zero(t);
    const std::uint32_t normalised =
        t << zeros;  // leading 1, then 6 bits of place and 25 of the way to the next
    const std::size_t i = static_cast<std::size_t>(31 - zeros) * 64 + ((normalised >> 25) & 63u);
    const std::int64_t way = normalised & 0x1FFFFFFu;
    const std::int64_t step = table.quantile[i + 1] - table.quantile[i];
    const auto magnitude = static_cast<std::int32_t>(table.quantile[i] + ((step * way) >> 25));
    return word & 1u ? magnitude : -magnitude;
}

std::uint64_t siphash(std::array<std::uint64_t, 2> key, std::string_view message) {
    std::uint64_t a = key[0] ^ 0x736f6d6570736575u, b = key[1] ^ 0x646f72616e646f6du;
    std::uint64_t c = key[0] ^ 0x6c7967656e657261u, d = key[1] ^ 0x7465646279746573u;
    const auto rounds = [&](int count) {
        for (int round = 0; round < count; ++round) {
            a += b, b = std::rotl(b, 13) ^ a, a = std::rotl(a, 32);
            c += d, d = std::rotl(d, 16) ^ c;
            a += d, d = std::rotl(d, 21) ^ a;
            c += b, b = std::rotl(b, 17) ^ c, c = std::rotl(c, 32);
        }
    };
    const auto compress = [&](std::uint64_t word) {
        d ^= word;
        rounds(2);
        a ^= word;
    };
    std::size_t at = 0;
    for (std::uint64_t word = 0; at + sizeof word <= message.size(); at += sizeof word) {
        std::memcpy(&word, message.data() + at, sizeof word);
        compress(word);
    }
    // The last word: what is left of the message, and its length in the highest byte.
    std::uint64_t last = std::uint64_t{message.size()} << 56;
    for (unsigned byte = 0; at < message.size(); ++at, ++byte)
        last |= std::uint64_t{static_cast<unsigned char>(message[at])} << (8 * byte);
    compress(last);
    c ^= 0xff;
    rounds(4);
    return a ^ b ^ c ^ d;
}

}  // namespace rungs
