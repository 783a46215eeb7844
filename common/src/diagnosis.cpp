#include "rungs/diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "rungs/compare.hpp"

namespace rungs {
namespace {

/// Nine digits are enough for a float.
std::string number(double value) { return to_digits(value, 9); }
std::string number(std::size_t value) { return std::to_string(value); }

/// "2nd", "3rd", "32nd"
std::string ordinal(std::size_t k) {
    const std::size_t tens = k % 100;
    const char* ending = tens >= 11 && tens <= 13 ? "th"
                         : k % 10 == 1            ? "st"
                         : k % 10 == 2            ? "nd"
                         : k % 10 == 3            ? "rd"
                                                  : "th";
    return number(k) + ending;
}

/// The places of the wrong elements, and the mistake that leaves them there.
struct Place {
    std::string elements;  ///< subject of a sentence; empty: no pattern
    std::string advice;
};

struct Pattern {
    std::size_t n = 0;
    std::size_t count = 0;
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t stride = 0;  ///< greatest common divisor of the distances
};

Pattern scan(const std::vector<bool>& wrong) {
    Pattern p;
    p.n = wrong.size();
    for (std::size_t i = 0; i < p.n; ++i) {
        if (!wrong[i]) continue;
        if (p.count++ == 0) p.first = i;
        p.stride = std::gcd(p.stride, i - p.first);
        p.last = i;
    }
    return p;
}

/// The block sizes 32, 64, ... 1024 whose last full block ends at `end`, as "256" or "32 to 256";
/// empty if none.
std::string blocks_ending_at(std::size_t end, std::size_t n) {
    std::size_t smallest = 0;
    std::size_t largest = 0;
    for (std::size_t block = 32; block <= 1024; block *= 2) {
        if (n % block == 0 || n - n % block != end) continue;
        if (smallest == 0) smallest = block;
        largest = block;
    }
    if (smallest == 0) return {};
    return smallest == largest ? number(largest) : number(smallest) + " to " + number(largest);
}

bool on_edge(std::size_t i, std::size_t tile) { return i % tile == 0 || i % tile == tile - 1; }

/// Are all wrong elements at the edges of tiles, and are half of the elements there wrong?
Place tile_edges(const Failure& failure, const Pattern& p) {
    const std::size_t width = failure.width;
    if (p.count < (width ? 16u : 4u)) return {};
    for (std::size_t tile = 1024; tile >= 8; tile /= 2) {
        if (tile > (width ? width : p.n)) continue;
        std::size_t edges = 0;
        bool all = true;
        for (std::size_t i = 0; i < p.n && all; ++i) {
            const bool edge = width ? on_edge(i / width, tile) || on_edge(i % width, tile) : on_edge(i, tile);
            edges += edge;
            all = edge || !failure.wrong[i];
        }
        if (all && 2 * p.count >= edges) {
            return {"only elements at the edges of tiles of " + number(tile),
                    "look at the halo: is it loaded, and is there a __syncthreads() before it is read?"};
        }
    }
    return {};
}

Place find_place(const Failure& failure, const Pattern& p) {
    if (p.count == p.n) return {"all " + number(p.n) + " elements", ""};
    const bool to_the_end = p.last + 1 == p.n && 2 * p.count >= p.n - p.first;
    if (to_the_end && p.first > 0) {
        const std::string blocks = blocks_ending_at(p.first, p.n);
        if (!blocks.empty()) {
            return {"only elements past the last full block of " + blocks + " (from index " +
                        number(p.first) + " on)",
                    "is the number of blocks rounded up, and does the kernel guard with `if (i < n)`?"};
        }
    }
    if (p.count >= 3 && p.stride >= 2) {
        const std::size_t offset = p.first % p.stride;
        const std::size_t members = (p.n - offset + p.stride - 1) / p.stride;
        if (10 * p.count >= 9 * members) {
            return {"only every " + ordinal(p.stride) + " element (from index " + number(offset) + " on)",
                    p.stride == 32  ? "one lane of each warp does not do its part"
                    : p.stride < 32 ? "is the index multiplied or the stride of the loop right?"
                                    : "one thread of each block does not do its part"};
        }
    }
    if (Place edges = tile_edges(failure, p); !edges.elements.empty()) return edges;
    if (p.count == p.n - p.first && p.first > 0 && p.count > 1) {
        return {"all elements from index " + number(p.first) + " on",
                "does the grid, or the loop, cover all " + number(p.n) + " elements?"};
    }
    if (p.count == p.last + 1 && p.count > 1) return {"only the first " + number(p.count) + " elements", ""};
    return {};
}

/// Does `holds` for at least nine in ten of the elements below n? Looks at 4096 of them at most.
template <class Test>
bool mostly(std::size_t n, const Test& holds) {
    const std::size_t step = n / 4096 + 1;
    std::size_t seen = 0;
    std::size_t held = 0;
    for (std::size_t i = 0; i < n; i += step) {
        ++seen;
        held += holds(i);
    }
    return seen > 0 && 10 * held >= 9 * seen;
}

bool close(double a, double b) { return std::abs(a - b) <= 2e-6 * std::max(std::abs(a), std::abs(b)); }

/// "32 times" or "1/32 of" for an integer or its reciprocal, the number otherwise.
std::string times(double factor) {
    if (factor == -1) return "minus";
    const double inverse = 1 / factor;
    if (close(factor, std::round(factor))) return number(std::round(factor)) + " times";
    if (close(inverse, std::round(inverse))) return "1/" + number(std::round(inverse)) + " of";
    return number(factor) + " times";
}

/// Is got = factor * expected, with one factor for nearly all elements?
std::string constant_factor(const Failure& failure, const Pattern& p) {
    if (p.count < 3 || 2 * p.count < p.n) return {};
    double factor = 0;
    for (std::size_t i = p.first; i <= p.last && factor == 0; ++i) {
        if (failure.wrong[i] && failure.expected(i) != 0) factor = failure.got(i) / failure.expected(i);
    }
    if (factor == 0 || !std::isfinite(factor) || close(factor, 1)) return {};
    const auto fits = [&](std::size_t i) { return close(failure.got(i), factor * failure.expected(i)); };
    if (!mostly(p.n, fits)) return {};
    return "every element is " + times(factor) + " the expected value: a factor is missing or applied twice";
}

/// Is the field right, but moved by one place?
std::string shifted(const Failure& failure, const Pattern& p) {
    if (p.n < 8 || 2 * p.count < p.n) return {};
    const auto moved = [&](std::size_t got_at, std::size_t expected_at) {
        return mostly(p.n - 1, [&](std::size_t i) {
            return close(failure.got(i + got_at), failure.expected(i + expected_at));
        });
    };
    const char* advice = ": an index is off by one";
    if (moved(1, 0)) return std::string("element i holds the value expected at i - 1") + advice;
    if (moved(0, 1)) return std::string("element i holds the value expected at i + 1") + advice;
    return {};
}

/// Do all wrong elements have this property?
template <class Test>
bool all_wrong(const Failure& failure, const Test& holds) {
    for (std::size_t i = 0; i < failure.wrong.size(); ++i) {
        if (failure.wrong[i] && !holds(i)) return false;
    }
    return true;
}

}  // namespace

std::string likely_cause(const Failure& failure) {
    const Pattern p = scan(failure.wrong);
    if (p.count == 0) return {};
    const Place place = find_place(failure, p);

    const char* what = nullptr;  // the predicate, in the plural
    const char* everywhere = "";
    if (failure.untouched && all_wrong(failure, failure.untouched)) {
        what = "were never written";
        everywhere = ": did the kernel run, and does it write to the output's pointer?";
    } else if (all_wrong(failure, [&](std::size_t i) { return failure.got(i) == 0; })) {
        what = "are 0";
        everywhere = ": was the result stored, and is it stored after the work?";
    } else if (all_wrong(failure, [&](std::size_t i) { return std::isnan(failure.got(i)); })) {
        what = "are NaN";
        everywhere = ": is something read before it was written, or divided 0/0?";
    }
    if (what && p.n == 1) {
        const std::string plural = what;
        const std::string singular = plural.substr(0, 4) == "were" ? "was" : "is";
        return "the result " + singular + plural.substr(plural.find(' ')) + everywhere;
    }
    if (!what) {
        if (std::string cause = constant_factor(failure, p); !cause.empty()) return cause;
        if (std::string cause = shifted(failure, p); !cause.empty()) return cause;
        if (p.count == p.n) return {};  // "all are wrong" tells nothing new
    }
    if (place.elements.empty()) return {};
    const std::string advice = p.count == p.n ? everywhere : place.advice.empty() ? "" : ": " + place.advice;
    return place.elements + " " + (what ? what : "are wrong") + advice;
}

std::string Comparison::message() const {
    if (passed()) return "all " + number(of) + " elements are right";
    std::string text =
        number(wrong) + " of " + number(of) + (of == 1 ? " element is" : " elements are") + " wrong";
    if (wrong_class > 0) text += ", " + number(wrong_class) + " by NaN or infinity";
    if (!cause.empty()) text += "\n  likely cause: " + cause;
    for (const Mismatch& one : first) {
        text +=
            "\n  [" + number(one.index) + "] got " + number(one.got) + ", expected " + number(one.expected);
        if (one.ulp != ulp_undefined) text += " (" + std::to_string(one.ulp) + " ULP)";
    }
    if (wrong > first.size()) text += "\n  ... and " + number(wrong - first.size()) + " more";
    return text;
}

std::string to_digits(double value, int digits) {
    if (std::isnan(value)) return "nan";
    char text[40];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    return text;
}

}  // namespace rungs
