#pragma once
// From wrong accelerations to the likely mistake: what common mistakes would have given is computed beside
// the truth. A guess is made only where it explains several bodies.

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exam/reference.hpp"
#include "rungs/diagnosis.hpp"

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
        if (zero && first > 0 && wrong.size() < n - first) {
            return std::to_string(wrong.size()) + " of " + std::to_string(n) +
                   " bodies have no acceleration, the first is body " + std::to_string(first) +
                   ": is every body that a thread owns pulled?";
        }
        if (zero && first > 0) return "bodies from " + std::to_string(first) + " on have no acceleration";
        if (zero) {
            return "all accelerations that are wrong are exactly 0: nothing was added up" +
                   std::string(third_powers_overflow(wrong)
                                   ? ", and all squared distances are very large. Is their third "
                                     "power infinite?"
                                   : ". Does any body pull at all? In integers a quotient below 1 is 0: is "
                                     "that a number of tiles or of parts?");
        }
        if (std::all_of(wrong.begin(), wrong.end(), [&](std::size_t i) {
                const Pull right = reference_pull(state_, i, softening_);
                return length(got(i) - right.sum) <= force_tolerance(n) * right.magnitude;
            })) {
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
             "the pull was divided by the squared distance, but the vector has a length, too: it takes "
             "the third power"},
            {[&](std::size_t i) { return power(i, 1); },
             "the pull was divided by the distance, not by its third power"},
            {[&](std::size_t i) { return state_.mass[i] * pull(i); },
             "this is the force, m a: the acceleration does not contain the body's own mass"},
        };
        for (const auto& [suspect, cause] : suspects) {
            if (explains(wrong, suspect)) return cause;
        }
        // Without the mass of the other body, those that fill up the last tile pull, too: from the origin.
        for (const std::size_t tile : {1, 32, 64, 128, 256, 512, 1024}) {
            const std::size_t padding = (tile - n % tile) % tile;
            if (explains(wrong, [&](std::size_t i) { return state_.mass[i] * no_mass(i, padding); }))
                return "the mass of the body itself was used where that of the other one pulls";
            if (explains(wrong, [&](std::size_t i) { return no_mass(i, padding); }))
                return "the masses were not used";
        }
        for (const std::size_t tile : {32, 64, 128, 256, 512}) {
            const std::size_t padding = (tile - n % tile) % tile;
            if (padding > 0 && explains(wrong, [&](std::size_t i) { return with_padding(i, padding); }))
                return "what fills up the last tile pulls, too: past the end there are bodies without mass";
        }
        if (std::string cause = of_pairs(wrong); !cause.empty()) return cause;
        if (std::string cause = of_distance(wrong); !cause.empty()) return cause;
        // Before what follows: where an answer is hardly wrong, patterns in it are chance.
        double mean = 0, largest = 0;
        bool beyond = false;
        for (const std::size_t i : wrong) {
            const Pull right = reference_pull(state_, i, softening_);
            const double scale = right.magnitude > 0 ? right.magnitude : 1;
            const double error = length(got(i) - right.sum) / scale;
            mean += error / static_cast<double>(wrong.size());
            largest = std::max(largest, error);
            beyond = beyond || length(got(i)) > 100 * scale;
        }
        const char* const loses_digits =
            "nearly right: a type shorter than float, or |x|^2 + |y|^2 - 2 x y in place of a difference, "
            "loses digits like that";
        if (largest < 16 * force_tolerance(n)) return loses_digits;
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
                const bool longer_too = n / (2 * block) * 2 * block == whole;  // which it is, is not known
                return "only whole tiles " + (longer_too ? "" : "of " + std::to_string(block) + " bodies ") +
                       "pull: those from " + std::to_string(whole) +
                       " on do not. Is the number of tiles, or of parts, rounded up?";
            }
            if (n > block && explains_prefix(wrong, block)) {
                return "only the first tile of " + std::to_string(block) + " bodies pulls";
            }
            const auto tiles = static_cast<double>((n - 1) / block + 1);
            if (n > block &&
                explains(wrong, [&](std::size_t i) { return tiles * pull_between(i, 0, block); })) {
                return "the first tile of " + std::to_string(block) + " bodies pulls for all the others";
            }
            const auto of_own_block = [&](std::size_t i) {
                const std::size_t first_of_block = i / block * block;
                return tiles * pull_between(i, first_of_block, first_of_block + block);
            };
            if (n > block && explains(wrong, of_own_block)) {
                return "every tile of " + std::to_string(block) +
                       " holds the block's own bodies: which body does a thread fetch, and which "
                       "does it own?";
            }
        }
        for (const std::size_t part : {128, 256, 512}) {
            if (n > part && explains(wrong, [&](std::size_t i) { return up_to_each(i, part); }))
                return "later bodies pull too many times: where does a part end?";
        }
        if (std::string cause = of_loops(wrong); !cause.empty()) return cause;
        for (const std::size_t step : {2, 4}) {
            if (explains(wrong, [&](std::size_t i) { return every(i, step); }))
                return "only every " + std::to_string(step) + (step == 2 ? "nd" : "th") + " body pulls";
        }
        if (std::string cause = of_one_sided_pairs(wrong); !cause.empty()) return cause;
        // The threads of one block, the last: where many more are wrong, what tells them is not the block.
        bool last_block = first > 0 && wrong.size() == n - first;
        for (std::size_t block = 32; last_block && (n - 1) / block * block != first; block *= 2)
            last_block = block < 1024;
        if (last_block)
            return "only bodies from " + std::to_string(first) + " on are wrong: look at the last block";
        if (mean < 0.01 && wrong.size() > n / 4) return loses_digits;
        if (beyond) {
            return "larger than all pulls together, were they all in one direction: does every sum begin at "
                   "0, and is every pull added once?";
        }
        return {};
    }

  private:
    using Candidate = std::function<Vector(std::size_t)>;
    /// Whether the bodies of one strip are at home when those of another one visit.
    using AtHome = std::function<bool(std::size_t, std::size_t)>;

    Vector got(std::size_t i) const { return {got_[4 * i], got_[4 * i + 1], got_[4 * i + 2]}; }
    Vector pull(std::size_t i) const { return reference_pull(state_, i, softening_).sum; }

    /// Whether the first wrong bodies have what `candidate` says.
    bool explains(const std::vector<std::size_t>& wrong, const Candidate& candidate) const {
        std::size_t looked_at = 0;
        for (std::size_t k = 0; k < wrong.size() && looked_at < 4; k += 1 + wrong.size() / 4, ++looked_at) {
            const Vector suspected = candidate(wrong[k]);
            const Pull right = reference_pull(state_, wrong[k], softening_);
            // A sum that cancels has fewer digits.
            const double rounding =
                1e-4 * length(suspected) + 2 * force_tolerance(state_.size()) * right.magnitude;
            if (!rungs::explains(length(got(wrong[k]) - suspected), length(got(wrong[k]) - right.sum),
                                 rounding))
                return false;
        }
        return looked_at > 0;
    }
    bool explains_prefix(const std::vector<std::size_t>& wrong, std::size_t end) const {
        return explains(wrong, [&](std::size_t i) { return reference_pull(state_, i, softening_, end).sum; });
    }

    /// Whether body j pulls times(j) times.
    template <class Times>
    bool explains_times(const std::vector<std::size_t>& wrong, const Times& times) const {
        return explains(wrong, [&](std::size_t i) {
            Vector sum{};
            for (std::size_t j = 0; j < state_.size(); ++j) {
                if (const std::size_t count = times(j))
                    sum = sum + static_cast<double>(count) * state_.mass[j] * unit_pull(i, j);
            }
            return sum;
        });
    }

    /// Faults of a loop over tiles, or over the tiles of a part.
    std::string of_loops(const std::vector<std::size_t>& wrong) const {
        const std::size_t n = state_.size();
        for (const std::size_t tile : {128, 256}) {
            for (const std::size_t step : {2, 4, 8}) {
                if (n > tile &&
                    explains_times(wrong, [&](std::size_t j) { return j / tile % step == 0 ? 1 : 0; })) {
                    return "of every " + std::to_string(step) + " tiles of " + std::to_string(tile) +
                           " bodies only the first pulls: how far does the loop go on after a tile?";
                }
            }
            // As many windows of whole tiles, one every `span` bodies, which is no number of tiles.
            const auto in_windows = [&](std::size_t windows, std::size_t span) {
                const std::size_t width = (span + tile - 1) / tile * tile;
                return explains_times(wrong, [&](std::size_t j) {
                    const std::size_t first = j < width ? 0 : (j - width) / span + 1;
                    const std::size_t end = std::min(windows, j / span + 1);
                    return first < end ? end - first : 0;
                });
            };
            for (std::size_t parts = 2; parts <= 32; ++parts) {
                const std::size_t span = (n + parts - 1) / parts;
                if (span % tile != 0 && span > tile && in_windows(parts, span)) {
                    return "some bodies pull twice: a part that ends within a tile of " +
                           std::to_string(tile) +
                           " bodies goes on to the end of the tile. Is a part a whole number of tiles?";
                }
            }
            const std::size_t tiles = (n + tile - 1) / tile;
            for (std::size_t span = 1; span < std::min<std::size_t>(tiles, 64); ++span) {
                if (in_windows((tiles + span - 1) / span, span))
                    return "parts seem to begin every " + std::to_string(span) +
                           " bodies: is the length of a part meant in bodies, or in tiles?";
            }
        }
        for (std::size_t few = 1; few < std::min<std::size_t>(n, 64); ++few) {
            if (explains_prefix(wrong, few)) {
                return "only the first " + std::to_string(few) +
                       " bodies pull: is the length of a part meant in bodies, or in tiles?";
            }
        }
        return {};
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
    /// What body j, of mass 1, does to body i. From n on, bodies are the padding: they are at the origin.
    Vector unit_pull(std::size_t i, std::size_t j) const {
        const Vector d = (j < state_.size() ? state_.place[j] : Vector{}) - state_.place[i];
        const double squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening_ * softening_;
        return std::pow(squared, -1.5) * d;
    }
    Vector pull_between(std::size_t i, std::size_t begin, std::size_t end) const {
        Vector sum{};
        for (std::size_t j = begin; j < std::min(end, state_.size()); ++j)
            sum = sum + state_.mass[j] * unit_pull(i, j);
        return sum;
    }
    Vector every(std::size_t i, std::size_t step) const {
        Vector sum{};
        for (std::size_t j = 0; j < state_.size(); j += step) sum = sum + state_.mass[j] * unit_pull(i, j);
        return sum;
    }
    /// Body j pulls j / part + 1 times, as if every part went on to the end.
    Vector up_to_each(std::size_t i, std::size_t part) const {
        Vector sum{};
        for (std::size_t j = 0; j < state_.size(); ++j)
            sum = sum + static_cast<double>(j / part + 1) * state_.mass[j] * unit_pull(i, j);
        return sum;
    }
    Vector with_padding(std::size_t i, std::size_t padding) const {
        return pull(i) + static_cast<double>(padding) * unit_pull(i, state_.size());
    }
    Vector without_last_of(std::size_t i, std::size_t block) const {
        Vector sum = pull(i);
        for (std::size_t j = block - 1; j < state_.size(); j += block)
            sum = sum - state_.mass[j] * unit_pull(i, j);
        return sum;
    }
    Vector no_mass(std::size_t i, std::size_t padding) const {
        Vector sum{};
        for (std::size_t j = 0; j < state_.size() + padding; ++j) sum = sum + unit_pull(i, j);
        return sum;
    }

    /// A squared distance in which a component is missing, and perhaps another one counts twice in its place.
    std::string of_distance(const std::vector<std::size_t>& wrong) const {
        for (std::size_t missing = 0; missing < 3; ++missing) {
            for (std::size_t doubled = 0; doubled < 3; ++doubled) {
                const Candidate suspect = [&](std::size_t i) {
                    Vector sum{};
                    for (std::size_t j = 0; j < state_.size(); ++j) {
                        const Vector d = state_.place[j] - state_.place[i];
                        double squared = softening_ * softening_;
                        for (std::size_t c = 0; c < 3; ++c) {
                            if (c != missing) squared += (c == doubled ? 2 : 1) * d[c] * d[c];
                        }
                        sum = sum + state_.mass[j] * std::pow(squared, -1.5) * d;
                    }
                    return sum;
                };
                if (explains(wrong, suspect))
                    return std::string("the squared distance lacks the square of d") + "xyz"[missing];
            }
        }
        return {};
    }

    /// Faults of rung 08, where strips of bodies visit each other and only one side of a pair works:
    /// as in a tournament.
    std::string of_pairs(const std::vector<std::size_t>& wrong) const {
        for (const std::size_t tile : {128, 256, 512, 1024}) {
            const std::size_t strips = (state_.size() - 1) / tile + 1;
            if (strips < 2) break;
            const AtHome at_home = [strips](std::size_t a, std::size_t b) {
                const std::size_t away = (b + strips - a) % strips;
                return 2 * away < strips || (2 * away == strips && a < b);
            };
            std::string cause =
                of_visits(wrong, tile, at_home,
                          "visitors feel nothing: only the pulls on the bodies at home are added up");
            if (!cause.empty()) return cause;
        }
        return {};
    }

    /// The same where every strip is at home to all behind it, or to all before it. With two strips that is
    /// what a loop leaves that ends with the first one, so it comes after those.
    std::string of_one_sided_pairs(const std::vector<std::size_t>& wrong) const {
        for (const std::size_t tile : {1, 32, 64, 128, 256, 512, 1024}) {
            if (state_.size() <= tile) break;
            std::string cause =
                of_visits(wrong, tile, std::less<>(),
                          "of two bodies only the one before the other is pulled: both have to be");
            if (cause.empty()) {
                cause = of_visits(wrong, tile, std::greater<>(),
                                  "of two bodies only the one behind the other is pulled: both have to be");
            }
            if (!cause.empty()) return cause;
        }
        return {};
    }

    /// The same for one length of strips, and one way to meet.
    /// @param one_sided  what is to be said where nobody is pulled as a visitor
    std::string of_visits(const std::vector<std::size_t>& wrong, std::size_t tile, const AtHome& at_home,
                          const char* one_sided) const {
        const std::size_t n = state_.size(), strips = (n - 1) / tile + 1;
        // The pulls that i feels at home, and what `visit(j)` says of those that it feels as a visitor.
        const auto felt = [&](std::size_t i, const auto& visit) {
            Vector sum{};
            for (std::size_t j = 0; j < strips * tile; ++j) {
                const bool home = i / tile == j / tile || at_home(i / tile, j / tile);
                if (!home) sum = sum + visit(j);
                if (home && j < n) sum = sum + state_.mass[j] * unit_pull(i, j);
            }
            return sum;
        };
        const auto mass = [&](std::size_t j) { return j < n ? state_.mass[j] : 0; };
        if (explains(wrong, [&](std::size_t i) {
                return felt(i, [&](std::size_t j) { return -mass(j) * unit_pull(i, j); });
            })) {
            return "a visitor is pushed the wrong way: what i does to j has the opposite sign of "
                   "what j does to i";
        }
        if (explains(wrong, [&](std::size_t i) {
                return felt(i, [&](std::size_t j) { return state_.mass[i] * unit_pull(i, j); });
            })) {
            return "the push on a visitor has the visitor's own mass: it takes that of the body that pushes";
        }
        if (explains(wrong, [&](std::size_t i) { return felt(i, [](std::size_t) { return Vector{}; }); }))
            return one_sided;
        // Lane l's `back` is that of visitor l + k in step k: unmoved, it mixes all that lane l has met.
        if (tile >= 32 && explains(wrong, [&](std::size_t i) {
                return felt(i, [&](std::size_t j) {
                    Vector sum{};
                    if (j >= n || i % 32 != j % 32) return sum;
                    for (std::size_t visitor = i / 32 * 32; visitor < i / 32 * 32 + 32 && visitor < n;
                         ++visitor)
                        sum = sum + state_.mass[j] * unit_pull(visitor, j);
                    return sum;
                });
            })) {
            return "the visitors' sums stay in their lanes: `back` belongs to the visitor, so it is "
                   "handed on with it after every step";
        }
        return {};
    }

    /// Whether no body is near enough to one of `wrong` for the third power of their squared distance
    /// to be a float.
    bool third_powers_overflow(const std::vector<std::size_t>& wrong) const {
        for (std::size_t k = 0; k < wrong.size(); k += 1 + wrong.size() / 8) {
            for (std::size_t j = 0; j < state_.size(); ++j) {
                const Vector d = state_.place[j] - state_.place[wrong[k]];
                const double squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening_ * softening_;
                if (j != wrong[k] && squared * squared * squared < 0x1p128) return false;
            }
        }
        return true;
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
               "float, or something read that is not a body, or that nobody stored?";
    }

    const State& state_;
    double softening_;
    std::span<const float> got_;
};

}  // namespace nbody
