#pragma once
// From wrong accelerations to the likely mistake: what common mistakes would have given is computed beside
// the truth. A guess is made only where it explains several bodies.

#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exam/reference.hpp"

namespace nbody {

class Diagnosis {
  public:
    Diagnosis(const State& state, double softening, std::span<const float> got)
        : state_(state), softening_(softening), got_(got) {}

    /// One sentence, or nothing where no pattern fits. `wrong` names the bodies that are wrong.
    std::string of(const std::vector<std::size_t>& wrong) const {
        if (wrong.empty()) return {};
        bool number = true, unset = true, zero = true;
        for (const std::size_t i : wrong) {
            const Vector a = got(i);
            number = number && std::isfinite(length(a));
            unset = unset && std::isnan(a[0]) && std::isnan(a[1]) && std::isnan(a[2]);
            zero = zero && length(a) == 0;
        }
        const std::size_t n = state_.size(), first = wrong.front();
        if (!number) return of_not_finite(wrong, unset);
        if (zero) {
            return first > 0 ? "bodies from " + std::to_string(first) + " on have no acceleration"
                             : "all accelerations that are wrong are exactly 0: nothing was added up. If all "
                               "squared distances are very large, is their third power infinite?";
        }
        if (explains(wrong, [&](std::size_t i) { return reference_pull(state_, i, softening_).sum; })) {
            return "x, y and z are right, but the fourth component is not 0";
        }
        const std::pair<std::function<Vector(std::size_t)>, std::string> suspects[] = {
            {[&](std::size_t i) { return -1.0 * pull(i); },
             "the accelerations point the wrong way: gravity attracts, so the vector is other - own"},
            {[&](std::size_t i) { return 2.0 * pull(i); }, "every pull was added twice"},
            {[&](std::size_t i) { return reference_pull(state_, i, std::sqrt(softening_)).sum; },
             "the softening went in without being squared"},
            {[&](std::size_t i) { return reference_pull(state_, i, softening_ * softening_).sum; },
             "the softening was squared twice"},
            {[&](std::size_t i) { return reference_pull(state_, i, 1e-300).sum; },
             "the softening is missing"},
            {[&](std::size_t i) { return power(i, 2); },
             "the pull was divided by the squared distance, but the vector has a length, too: it takes the "
             "third power"},
            {[&](std::size_t i) { return power(i, 1); },
             "the pull was divided by the distance, not by its third power"},
            {[&](std::size_t i) { return own_mass(i); },
             "the mass of the body itself was used where that of the other one pulls"},
            {[&](std::size_t i) { return state_.mass[i] * pull(i); },
             "this is the force, m a: the acceleration does not contain the body's own mass"},
            {[&](std::size_t i) { return no_mass(i); }, "the masses were not used"},
        };
        for (const auto& [suspect, cause] : suspects) {
            if (explains(wrong, suspect)) return cause;
        }
        for (std::size_t c = 0; c < 3; ++c) {
            if (differs_only_in(wrong, c)) {
                return std::string("only ") + "xyz"[c] +
                       " is wrong: is its sum added to, and from its own difference?";
            }
        }
        for (const std::size_t block : {32, 64, 128, 256, 512, 1024}) {
            if (n > block && explains(wrong, [&](std::size_t i) { return without_last_of(i, block); })) {
                return "the last of every " + std::to_string(block) +
                       " bodies does not pull: where does the loop end?";
            }
            const std::size_t whole = n / block * block;
            if (whole < n && whole > 0 && explains_prefix(wrong, whole)) {
                return "only whole tiles of " + std::to_string(block) + " bodies pull: those from " +
                       std::to_string(whole) + " on do not";
            }
            if (n > block && explains_prefix(wrong, block)) {
                return "only the first tile of " + std::to_string(block) + " bodies pulls";
            }
        }
        if (first > 0 && wrong.size() == n - first) {
            return "only bodies from " + std::to_string(first) + " on are wrong: look at the last block";
        }
        double mean = 0;
        for (const std::size_t i : wrong) {
            const Pull right = reference_pull(state_, i, softening_);
            const double error = length(got(i) - right.sum) / (right.magnitude > 0 ? right.magnitude : 1);
            mean += error / static_cast<double>(wrong.size());
        }
        if (mean < 0.01 && wrong.size() > n / 4) {
            return "nearly right everywhere: a type shorter than float, or |x|^2 + |y|^2 - 2 x y in place of "
                   "a difference, loses digits like that";
        }
        return {};
    }

  private:
    using Candidate = std::function<Vector(std::size_t)>;

    Vector got(std::size_t i) const { return {got_[4 * i], got_[4 * i + 1], got_[4 * i + 2]}; }
    Vector pull(std::size_t i) const { return reference_pull(state_, i, softening_).sum; }

    /// Whether the first wrong bodies have what `candidate` says.
    bool explains(const std::vector<std::size_t>& wrong, const Candidate& candidate) const {
        std::size_t looked_at = 0;
        for (std::size_t k = 0; k < wrong.size() && looked_at < 4; k += 1 + wrong.size() / 4, ++looked_at) {
            const Vector suspected = candidate(wrong[k]);
            if (!(length(got(wrong[k]) - suspected) <= 1e-4 * length(suspected))) return false;
        }
        return looked_at > 0;
    }
    bool explains_prefix(const std::vector<std::size_t>& wrong, std::size_t end) const {
        return explains(wrong, [&](std::size_t i) { return reference_pull(state_, i, softening_, end).sum; });
    }

    bool differs_only_in(const std::vector<std::size_t>& wrong, std::size_t component) const {
        for (std::size_t k = 0; k < wrong.size(); k += 1 + wrong.size() / 8) {
            const Pull right = reference_pull(state_, wrong[k], softening_);
            for (std::size_t c = 0; c < 3; ++c) {
                const double off = std::abs(got(wrong[k])[c] - right.sum[c]);
                if (c != component && !(off <= 1e-4 * right.magnitude)) return false;
            }
        }
        return wrong.size() > 1;
    }

    /// Sum of factor(mass of j, squared distance) times the vector to j.
    template <class Factor>
    Vector sum(std::size_t i, const Factor& factor) const {
        Vector sum{};
        for (std::size_t j = 0; j < state_.size(); ++j) {
            const Vector d = state_.place[j] - state_.place[i];
            const double squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening_ * softening_;
            sum = sum + factor(state_.mass[j], squared) * d;
        }
        return sum;
    }
    Vector power(std::size_t i, double exponent) const {
        return sum(i, [=](double mass, double squared) { return mass * std::pow(squared, -exponent / 2); });
    }
    Vector own_mass(std::size_t i) const {
        return sum(i, [&](double, double squared) { return state_.mass[i] * std::pow(squared, -1.5); });
    }
    Vector without_last_of(std::size_t i, std::size_t block) const {
        Vector sum = pull(i);
        for (std::size_t j = block - 1; j < state_.size(); j += block) {
            const Vector d = state_.place[j] - state_.place[i];
            const double squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening_ * softening_;
            sum = sum - state_.mass[j] * std::pow(squared, -1.5) * d;
        }
        return sum;
    }
    Vector no_mass(std::size_t i) const {
        return sum(i, [](double, double squared) { return std::pow(squared, -1.5); });
    }

    std::string of_not_finite(const std::vector<std::size_t>& wrong, bool unset) const {
        const std::size_t n = state_.size(), first = wrong.front();
        if (unset && wrong.size() < n && first > 0) {
            return "bodies from " + std::to_string(first) +
                   " on are NaN, as the grader left them: they were never written. Does the grid cover all "
                   "n, and does every thread store all its bodies?";
        }
        if (unset) {
            return "NaN, and no input is. The grader fills the output with it before the call: was it never "
                   "written? Memory that is read before it is written can hold NaN, too: is a barrier "
                   "missing? And a body meets itself at distance 0: without softening that is 0 / 0";
        }
        return "not finite, and every input is: was a power of a distance too large or too small for a "
               "float, or something read that is not a body?";
    }

    const State& state_;
    double softening_;
    std::span<const float> got_;
};

}  // namespace nbody
