#pragma once
// Why a sum is wrong. A faulty reduction rarely returns noise: it returns the sum of *some* of the
// terms, or of some of them twice, and which ones says where the fault is. This adds up what the common
// faults would have given and looks whether the answer is one of those.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exam/reference.hpp"

namespace reduction {

/// The likely cause of a wrong sum.
class Diagnosis {
  public:
    /// @param terms      what had to be added, v[i] or v[i] * w[i]
    /// @param reference  the right answer
    /// @param tolerance  how far from it is still right
    Diagnosis(std::span<const double> terms, const Reference& reference, double tolerance)
        : terms_(terms), right_(reference), tolerance_(tolerance) {
        for (std::size_t i = 0; i < terms.size(); ++i) by_index_[i % period].add(terms[i]);
        for (const Part& part : by_index_) all_.add(part);
    }

    /// A wrong answer that is not a subset of the terms: "this is the sum of v alone".
    void suspect(double value, double magnitude, std::string cause) {
        others_.push_back({{value, magnitude, terms_.size()}, std::move(cause)});
    }

    /// What `got` looks like; empty when it looks like nothing known. The order is
    /// from certain to likely.
    std::string of(float got) const {
        if (!std::isfinite(got) || !std::isfinite(right_.value)) return of_not_finite(got);
        if (terms_.empty()) return "an empty sum is 0: n = 0 still has to write it";
        if (got == 0 && terms_.size() < 4) {
            return "the output is exactly 0, for " + elements(terms_.size()) +
                   ": so few make no group of four, and no block where the number of blocks is rounded "
                   "down. Who adds what is left over?";
        }
        if (got == 0) {
            return "the output is exactly 0: it was cleared, and then nothing was added to it. Did the "
                   "kernel run, on `stream`, with at least one block? Is the guard the right way round?";
        }
        if (std::abs(got) == 0x1p24 && std::abs(right_.value) > 0x1p24) {
            return "stuck at 2^24 = 16777216: from there on, adding 1 to a float no longer changes it. Sum "
                   "in several accumulators, or in double";
        }
        for (const auto& search :
             {&Diagnosis::multiple, &Diagnosis::block_steps, &Diagnosis::block_starts, &Diagnosis::prefix,
              &Diagnosis::suffix, &Diagnosis::tails, &Diagnosis::last_trip, &Diagnosis::lost_step,
              &Diagnosis::shuffles, &Diagnosis::quads, &Diagnosis::folds, &Diagnosis::one_element,
              &Diagnosis::one_block, &Diagnosis::any_prefix, &Diagnosis::other, &Diagnosis::precision,
              &Diagnosis::too_much}) {
            if (std::string cause = (this->*search)(got); !cause.empty()) return cause;
        }
        return {};
    }

  private:
    static constexpr std::size_t period = 1024;  ///< the largest block there is
    static constexpr std::array<std::size_t, 6> blocks{256, 128, 512, 1024, 64, 32};  ///< likeliest first

    /// The sum of some of the terms.
    struct Part {
        double sum = 0;
        double magnitude = 0;
        std::size_t count = 0;

        void add(double term) { add(Part{term, std::abs(term), 1}); }
        void add(const Part& part) {
            sum += part.sum;
            magnitude += part.magnitude;
            count += part.count;
        }
        Part without(const Part& part) const {
            return {sum - part.sum, magnitude - part.magnitude, count - part.count};
        }
        Part times(double factor) const {
            const double more = std::max(1.0, std::abs(factor));
            return {factor * sum, std::abs(factor) * magnitude,
                    static_cast<std::size_t>(more * static_cast<double>(count))};
        }
    };

    /// Whether `got` is `part`, and whether that explains anything, i.e. differs from the right answer.
    bool is(float got, const Part& part) const {
        const bool exact = right_.exact && part.magnitude <= 0x1p24;
        double allowed = exact ? 0 : rounding_bound(part.count, part.magnitude);
        if (!right_.exact || std::abs(part.sum) > 0x1p24) allowed += unit_roundoff * std::abs(part.sum);
        return std::abs(static_cast<double>(got) - part.sum) <= allowed &&
               std::abs(part.sum - right_.value) > 2 * (tolerance_ + allowed);
    }

    static std::string text(std::size_t number) { return std::to_string(number); }

    static std::string elements(std::size_t count) {
        return count == 1 ? "element" : text(count) + " elements";
    }

    std::string of_not_finite(float got) const {
        if (std::isnan(got) && std::isfinite(right_.value)) {
            return "the output is NaN, and no input is. The grader fills it with NaN before the call: was it "
                   "never written, or added to without being set to 0 first? Memory that is read before it "
                   "is written can hold NaN too: is a barrier missing?";
        }
        if (std::isfinite(right_.value)) {
            return "the output is infinite, and no input is: something was read that is not an element "
                   "(past the end of the data, or memory that was never set), or the sum overflowed";
        }
        std::vector<std::size_t> special;
        for (std::size_t i = 0; i < terms_.size(); ++i) {
            if (!std::isfinite(terms_[i])) special.push_back(i);
        }
        if (special.size() > 1) {
            return "elements " + text(special[0]) + " and " + text(special[1]) +
                   " are infinite with opposite signs, which makes NaN: at least one of the two "
                   "was not added";
        }
        const std::size_t at = special.empty() ? 0 : special[0];
        const std::string what = std::isnan(terms_[at]) ? "NaN" : "infinite";
        if (std::isnan(got)) {
            return "element " + text(at) +
                   " is infinite and became NaN: inf - inf or inf * 0, as in a compensated sum without a "
                   "special case, or in multiplying by a 0/1 mask instead of branching";
        }
        std::string cause = "element " + text(at) + " is " + what + " and did not reach the sum";
        const std::size_t last = terms_.size() - 1;
        if (at == last) return cause + ": it is the last one";
        if (at >= terms_.size() / 256 * 256) return cause + ": it lies after the last full block of 256";
        return cause;
    }

    std::string multiple(float got) const {
        const std::size_t count = all_.count;
        if (is(got, all_.times(-1))) return "this is the right sum with the wrong sign";
        if (count > 1 && is(got, all_.times(1.0 / static_cast<double>(count)))) {
            return "this is the mean, not the sum";
        }
        for (const int factor : {2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024}) {
            if (!is(got, all_.times(factor))) continue;
            const std::string times = text(static_cast<std::size_t>(factor)) + " times the right sum: ";
            if (factor <= 3) {
                return times +
                       "was the result added to an output that already held it (set it to 0 in every call), "
                       "or does every element have more than one owner? (A shuffle by 32 lanes doubles a "
                       "warp's sum, too: each lane gets its own value.)";
            }
            if (factor == 4) {
                return times +
                       "a shuffle by 32 lanes leaves the warp and gives each lane its own value again, so "
                       "a warp's sum whose step starts at 32 instead of 16 is doubled, and so is that of "
                       "the warps' sums";
            }
            if (factor == 32) return times + "do all 32 lanes of a warp add what only lane 0 should?";
            return times + "do all threads of a block add what only thread 0 should?";
        }
        return {};
    }

    /// A loop over the grid that steps by the block: block b adds up everything from
    /// its first element on.
    std::string block_steps(float got) const {
        for (const std::size_t block : blocks) {
            Part part;
            for (std::size_t i = 0; i < terms_.size(); ++i) {
                part.add(Part{terms_[i], std::abs(terms_[i]), 1}.times(static_cast<double>(i / block + 1)));
            }
            if (!is(got, part)) continue;
            return "each block of " + text(block) +
                   " went on to the end, over elements that other blocks own too: is a thread's step the "
                   "block's threads instead of the whole grid's?";
        }
        return {};
    }

    /// The terms, each as often as `times` says of its index.
    template <class Times>
    Part weighted(const Times& times) const {
        Part part;
        for (std::size_t i = 0; i < terms_.size(); ++i) {
            part.add(Part{terms_[i], std::abs(terms_[i]), 1}.times(times(i)));
        }
        return part;
    }

    /// A loop over the grid in which every block begins at element 0.
    std::string block_starts(float got) const {
        for (const std::size_t block : blocks) {
            const std::size_t grid = std::min<std::size_t>((terms_.size() + block - 1) / block, 2048);
            const auto times = [&](std::size_t i) {
                return i % (grid * block) < block ? static_cast<double>(grid) : 0.0;
            };
            if (grid < 2 || !is(got, weighted(times))) continue;
            return "each of the " + text(grid) + " blocks of " + text(block) +
                   " added the same elements: does a thread's first element depend on blockIdx.x?";
        }
        return {};
    }

    /// The first `count` terms, and which length of a prefix is a plausible fault.
    std::string prefix(float got) const {
        const std::size_t n = terms_.size();
        Part part;
        std::vector<std::size_t> hits;
        for (std::size_t count = 1; count < n; ++count) {
            part.add(terms_[count - 1]);
            // Among many lengths one fits any number by chance, unless the next differs by far
            // more than rounding.
            const bool sharp = right_.exact || 128 * rounding_bound(count, part.magnitude) <
                                                   256 * part.magnitude / static_cast<double>(count);
            if ((is_rare(count) || (sharp && count % 256 == 0)) && is(got, part)) hits.push_back(count);
        }
        if (hits.empty()) return {};

        // Of several, the longest: it needs the smallest fault.
        const std::size_t count = hits.back();
        const std::size_t missing = n - count;
        if (missing == 1) {
            return "this is the sum without the last element: is the guard `i < n - 1`, or is a tail "
                   "loop one short?";
        }
        for (const std::size_t block : blocks) {
            if (n % block != missing || count < block) continue;
            return "this is the sum without the last " + elements(missing) + ": whole blocks of " +
                   text(block) + " were added, and n is not a multiple of " + text(block);
        }
        for (const std::size_t width : {std::size_t{4}, std::size_t{2}}) {
            if (missing < width && n % width == missing) {
                return "this is the sum without the last " + elements(missing) + ": whole groups of " +
                       text(width) + " were added, and n is not a multiple of " + text(width);
            }
        }
        if (count == 1) {
            return "this is element 0 alone: nothing was added to it. Is thread 0's own value written "
                   "instead of the sum, or does the tree run no step?";
        }
        if (count == 32) return "this is the sum of the first 32 elements: only warp 0 contributed";
        if (count <= period && std::has_single_bit(count)) {
            return "this is the sum of the first " + text(count) + " elements: only block 0 contributed";
        }
        std::string cause = "this is the sum of the first " + text(count) + " elements of " + text(n);
        if (count % 256 == 0) {
            cause += ", that is " + text(count / 256) +
                     " blocks of 256: does the grid cover n, and does a loop over the grid go on to the end?";
        }
        return cause;
    }

    /// A prefix of any length. Only a sum that grows with every term, in steps so large that few numbers
    /// are a prefix by chance, pins the length down.
    std::string any_prefix(float got) const {
        const auto n = static_cast<double>(terms_.size());
        if (!right_.exact || right_.value != right_.magnitude || right_.magnitude < 64 * n) return {};
        Part part;
        for (std::size_t count = 1; count < terms_.size(); ++count) {
            part.add(terms_[count - 1]);
            if (is(got, part)) {
                return "this is the sum of the first " + text(count) + " elements of " + text(terms_.size());
            }
        }
        return {};
    }

    /// The few prefix lengths that a fault is likely to leave: a power of two up to a block, the whole
    /// blocks, all but the last.
    bool is_rare(std::size_t count) const {
        const std::size_t n = terms_.size();
        if (count + 1 == n) return true;
        if (count <= period && std::has_single_bit(count)) return true;
        for (const std::size_t block : blocks) {
            if (n / block * block == count) return true;
        }
        return n / 4 * 4 == count;
    }

    /// The head or the tail, left out or added twice: where 16-byte loads begin and end.
    std::string suffix(float got) const {
        Part head;
        Part tail;
        const std::size_t most = std::min<std::size_t>(terms_.size() - 1, 32);
        for (std::size_t count = 1; count <= most; ++count) {
            head.add(terms_[count - 1]);
            tail.add(terms_[terms_.size() - count]);
            const std::string first = "the first " + elements(count);
            const std::string last = "the last " + elements(count);
            if (is(got, all_.without(head))) {
                return "this is the sum without " + first +
                       ": are the elements before the first aligned address added, one by one?";
            }
            Part twice = all_;
            twice.add(head);
            if (is(got, twice)) return first + (count == 1 ? " was" : " were") + " added twice";
            twice = all_;
            twice.add(tail);
            if (is(got, twice)) {
                return last + (count == 1 ? " was" : " were") +
                       " added twice: do the tail loop and the main loop overlap?";
            }
        }
        return {};
    }

    /// What is left over after the last group of four, added by every block. Only sums that grow tell.
    std::string tails(float got) const {
        const std::size_t count = terms_.size() % 4;
        if (count == 0 || !right_.exact || right_.value != right_.magnitude) return {};
        Part tail;
        for (std::size_t i = terms_.size() - count; i < terms_.size(); ++i) tail.add(terms_[i]);
        for (int more = 2; more <= 4096 && tail.sum > 0; ++more) {
            Part part = all_;
            part.add(tail.times(more));
            if (is(got, part)) {
                return "the last " + elements(count) + (count == 1 ? " was" : " were") + " added " +
                       std::to_string(more + 1) + " times: by every block, where one should?";
            }
        }
        return {};
    }

    /// The last terms: what is left where each thread keeps its last one only.
    std::string last_trip(float got) const {
        Part part;
        for (std::size_t count = 1; count < terms_.size(); ++count) {
            part.add(terms_[terms_.size() - count]);
            if (count % 256 != 0) continue;
            const bool sharp = right_.exact || 128 * rounding_bound(count, part.magnitude) <
                                                   256 * part.magnitude / static_cast<double>(count);
            if (!sharp || !is(got, part)) continue;
            return "this is the sum of the last " + text(count) + " elements of " + text(terms_.size()) +
                   ": does each thread keep its last one only, with `=` in the loop instead of `+=`?";
        }
        return {};
    }

    /// Faults of a block's sum by shuffles: within the warps, then over their sums.
    std::string shuffles(float got) const {
        for (const std::size_t block : blocks) {
            if (block < 64 || terms_.size() <= 32) continue;
            for (unsigned bit = 0; bit < 5; ++bit) {
                const auto kept = [&](std::size_t i) {
                    const std::size_t thread = i % block;
                    return thread >> bit & 1 || thread / 32 >> bit & 1 ? 0.0 : 1.0;
                };
                if (!is(got, weighted(kept))) continue;
                const std::string step = text(std::size_t{1} << bit);
                return "the shuffle by " + step + (bit == 0 ? " lane" : " lanes") +
                       " never happened, neither within the warps nor over their sums: " +
                       (bit == 0 ? "does the loop stop at `step > 1` instead of `step > 0`?"
                                 : "which steps does the loop take?");
            }
            if (is(got, weighted([&](std::size_t i) { return i % block < 32 ? 1.0 : 2.0; }))) {
                return "of each block of " + text(block) +
                       " the sums of all warps but the first were added twice: does lane 0 of every warp add "
                       "to the output, where only thread 0 should?";
            }
            const std::array<double, 32> held = held_by_all();
            if (is(got, weighted([&](std::size_t i) { return held[i % block / 32]; }))) {
                return "all 32 lanes of the first warp added what they held after the shuffles; only lane 0 "
                       "holds the block's sum";
            }
        }
        return {};
    }

    /// How often all lanes of a warp together hold the value of each lane after five shuffles down.
    static std::array<double, 32> held_by_all() {
        std::array<double, 32> all{};
        for (unsigned source = 0; source < 32; ++source) {
            std::array<double, 32> x{};
            x[source] = 1;
            for (unsigned step = 16; step > 0; step /= 2) {
                const std::array<double, 32> before = x;
                for (unsigned lane = 0; lane < 32; ++lane) {
                    x[lane] += before[lane + step < 32 ? lane + step : lane];  // past the end: its own
                }
            }
            for (const double value : x) all[source] += value;
        }
        return all;
    }

    /// Faults of 16-byte loads: one of the four left out, or all loads in flight but the first.
    std::string quads(float got) const {
        for (std::size_t left_out = 0; left_out < 4 && terms_.size() > 4; ++left_out) {
            const auto times = [&](std::size_t i) { return i % 4 == left_out ? 0.0 : 1.0; };
            if (!is(got, weighted(times))) continue;
            return "every 4th element is missing (" + text(left_out) + ", " + text(left_out + 4) + ", " +
                   text(left_out + 8) + ", ...): is one of the four of a float4 left out?";
        }
        for (const std::size_t block : blocks) {
            for (const std::size_t loads : {std::size_t{4}, std::size_t{2}, std::size_t{8}}) {
                const auto times = [&](std::size_t i) {
                    return i % (4 * block * loads) < 4 * block ? 1.0 : 0.0;
                };
                if (terms_.size() <= 4 * block || !is(got, weighted(times))) continue;
                return "of every " + text(4 * block * loads) + " elements only the first " + text(4 * block) +
                       " were added: of the " + text(loads) + " loads of a thread, only the first?";
            }
        }
        return {};
    }

    /// Faults of a tree in device memory, in which the lower half of what is left adds the upper half.
    std::string folds(float got) const {
        for (const bool up : {true, false}) {
            std::vector<Part> left;
            for (const double term : terms_) left.push_back({term, std::abs(term), 1});
            for (int steps = 1; left.size() > 1; ++steps) {
                const std::size_t half = (left.size() + (up ? 1 : 0)) / 2;
                for (std::size_t i = 0; i + half < left.size() && i < half; ++i) left[i].add(left[i + half]);
                left.resize(half);
                if (up && half > 1 && is(got, left[0])) {
                    return "this is the first of " + text(half) + " words that are left after " +
                           std::to_string(steps) + (steps == 1 ? " step" : " steps") +
                           " of a tree over all elements: does the loop over the steps end too early?";
                }
                if (!up && half == 1 && is(got, left[0])) {
                    return "a tree over all elements that loses the last word wherever a step has an odd "
                           "number of them: half of them has to be rounded up";
                }
            }
        }
        return {};
    }

    /// The terms whose index has bits `low` to `high - 1` clear: what a tree leaves when the steps with
    /// strides 2^low to 2^(high - 1) do not happen.
    std::string lost_step(float got) const {
        std::size_t run = 0;
        std::size_t group = 0;
        double nearest = std::numeric_limits<double>::infinity();
        for (std::size_t low = 0; low < 10; ++low) {
            for (std::size_t high = low + 1; high <= 10; ++high) {
                if (terms_.size() <= std::size_t{1} << low) continue;
                Part part;
                for (std::size_t i = 0; i < period; ++i) {
                    if (i % (std::size_t{1} << high) < std::size_t{1} << low) part.add(by_index_[i]);
                }
                const double distance = std::abs(static_cast<double>(got) - part.sum);
                if (!is(got, part) || distance >= nearest) continue;
                nearest = distance;
                run = std::size_t{1} << low;
                group = std::size_t{1} << high;
            }
        }
        return group ? lost_step(run, group) : std::string();
    }

    static std::string lost_step(std::size_t run, std::size_t group) {
        if (run == 1) {
            const std::string every = "this is the sum of every " + ordinal(group) + " element (0, " +
                                      text(group) + ", " + text(2 * group) + ", ...): ";
            if (group == 2) {
                return every +
                       "the last step, with stride 1, never happened. Does the loop stop at `stride > 1` "
                       "instead of `stride > 0`?";
            }
            if (group == 32) return every + "of each warp only lane 0's own value was added";
            if (group >= 64)
                return every +
                       "of each block only thread 0's own value was added. "
                       "Is the array `__shared__`, and does the tree run?";
            return every + "the steps with strides " + text(group / 2) + " to 1 never happened";
        }
        const std::string first =
            "this is the sum of the first " + text(run) + " of every " + text(group) + " elements: ";
        if (run == 32) {
            return first +
                   "of each block only warp 0 counted. Are the other warps' sums stored, and is there a "
                   "barrier before warp 0 reads them?";
        }
        if (2 * run == group) {
            return first + "the step with stride " + text(run) +
                   " never happened, or the second load of each thread is missing. Where does the loop "
                   "start, and does every thread pass the barrier between two steps?";
        }
        return first + "the steps with strides " + text(group / 2) + " to " + text(run) +
               " never happened. Where does the loop start?";
    }

    static std::string ordinal(std::size_t number) {
        return number == 2 ? "2nd" : text(number) + (number % 10 == 2 && number % 100 != 12 ? "nd" : "th");
    }

    /// One element left out, or added twice, where the data tells which.
    std::string one_element(float got) const {
        std::size_t missing = 0;
        std::size_t twice = 0;
        std::size_t which = 0;
        for (std::size_t i = 0; i < terms_.size(); ++i) {
            Part one;
            one.add(terms_[i]);
            Part more = all_;
            more.add(one);
            if (is(got, all_.without(one))) which = i, ++missing;
            if (is(got, more)) which = i, ++twice;
        }
        if (missing + twice == 0 || (missing > 0 && twice > 0)) return {};
        const std::string name = missing + twice == 1 ? "element " + text(which) : "one element";
        return missing ? "this is the sum without " + name : name + " was added twice";
    }

    /// The sum of one block: blocks that store where they should add leave the last one's.
    std::string one_block(float got) const {
        for (const std::size_t block : blocks) {
            if (terms_.size() <= block) continue;
            for (std::size_t begin = block; begin < terms_.size(); begin += block) {  // 0: see prefix()
                Part part;
                const std::size_t end = std::min(begin + block, terms_.size());
                for (std::size_t i = begin; i < end; ++i) part.add(terms_[i]);
                if (!is(got, part)) continue;
                return "this is what block " + text(begin / block) + " alone adds up to (elements " +
                       text(begin) + " to " + text(end - 1) + ", " + text(block) +
                       " a block): do the blocks store to the output where they should add to it?";
            }
        }
        return {};
    }

    std::string other(float got) const {
        Part absolute = all_;
        absolute.sum = absolute.magnitude;
        if (is(got, absolute)) return "this is the sum of absolute values";
        for (const auto& [part, cause] : others_) {
            if (is(got, part)) return cause;
        }
        double largest = terms_[0];
        for (const double term : terms_) largest = std::max(largest, term);
        Part one;
        one.add(largest);
        if (terms_.size() > 1 && is(got, one)) return "this is the largest element, not the sum";
        return {};
    }

    /// A sum of all the terms, but with too few digits.
    std::string precision(float got) const {
        const double error = std::abs(static_cast<double>(got) - right_.value);
        if (error > right_.magnitude / 256) return {};
        const bool eleven_bits = (std::bit_cast<std::uint32_t>(got) & 0x1fff) == 0;
        if (right_.exact && !eleven_bits) return {};  // no float sum of these terms rounds
        if (eleven_bits && std::abs(got) > 2048) {
            return "the result has 11 significant bits, a float has 24: was it held in half precision?";
        }
        return "all elements seem to be there, but the sum is less exact than float addition explains: a "
               "shorter type on the way, or one accumulator that has grown too large for its summands";
    }

    /// More than all of the terms, of which none is negative. What a race or garbage
    /// leaves is mostly less.
    std::string too_much(float got) const {
        if (!right_.exact || right_.value != right_.magnitude || !(got > right_.value)) return {};
        return "this is more than the sum of all elements, and none is negative: some were added more than "
               "once. Do two threads, or two rounds of a loop, own the same element?";
    }

    std::span<const double> terms_;
    Reference right_;
    double tolerance_;
    std::array<Part, period> by_index_{};  ///< terms by index modulo `period`
    Part all_;
    std::vector<std::pair<Part, std::string>> others_;
};

}  // namespace reduction
