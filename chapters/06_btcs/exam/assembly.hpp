#pragma once
// The exam's problems that solve nothing: the matrix of a time step, the rows of finite elements, and a
// recurrence. Of each the inputs, what is expected, and what the usual mistakes would have left.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exam/reference.hpp"
#include "exam/systems.hpp"
#include "rungs/diagnosis.hpp"
#include "rungs/exam.hpp"
#include "rungs/random.hpp"

namespace btcs {

namespace detail {

/// Four numbers of one row, by the names that a rung gives them.
struct Line {
    double lower = 0, diagonal = 0, upper = 0, rhs = 0;
    double at(std::size_t band) const {
        return band == 0 ? lower : band == 1 ? diagonal : band == 2 ? upper : rhs;
    }
};

using Lines = std::function<Line(std::size_t)>;
constexpr Line unknown{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN(),
                       std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
struct Suspect {
    const char* cause;
    Lines lines;  ///< NaN where the mistake does not say what it leaves
};

/// Compares bands with rows: each number may be off by `allowed` of the magnitudes that it is made of.
inline rungs::Check compare_rows(std::span<const rungs::Array> outputs, std::size_t n, const Lines& right,
                                 const Lines& sizes, std::span<const Suspect> suspects) {
    constexpr double allowed = 0x1p-21;
    rungs::Check check;
    check.of = n * outputs.size();
    check.measure = "largest |got - expected| of a number, relative";
    check.tolerance = allowed;
    const auto off = [&](std::size_t band, std::size_t i, const Lines& lines) {
        const double value = lines(i).at(band);
        const double distance = std::abs(outputs[band].as<float>()[i] - value);
        return distance == 0 ? 0 : distance / std::max(std::abs(sizes(i).at(band)), std::abs(value));
    };
    std::string untouched;
    for (std::size_t band = 0; band < outputs.size(); ++band) {
        for (std::size_t i = 0; i < n; ++i) {
            const double error = off(band, i, right), got = outputs[band].as<float>()[i];
            if (std::isnan(got) && untouched.empty()) {
                untouched =
                    outputs[band].name + "[" + std::to_string(i) + "] is not a number: was it written?";
            }
            if (!(error <= check.error))
                check.error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
            if (error <= allowed) continue;
            ++check.wrong;
            if (check.first.size() < 5) {
                const double expected = right(i).at(band);
                check.first.push_back(
                    {i, got, expected,
                     rungs::ulp_distance(outputs[band].as<float>()[i], static_cast<float>(expected))});
                check.first.back().where = outputs[band].name + "[" + std::to_string(i) + "]";
            }
        }
    }
    check.passed = check.wrong == 0;
    if (check.passed) return check;
    check.cause = untouched;
    for (const Suspect& suspect : suspects) {
        if (!check.cause.empty()) break;
        bool fits = true, says = false;
        for (std::size_t band = 0; band < outputs.size() && fits; ++band) {
            for (std::size_t i = 0; i < n && fits; ++i) {
                const double error = off(band, i, suspect.lines);
                says |= !std::isnan(error);
                fits = !(error > allowed);
            }
        }
        if (fits && says) check.cause = suspect.cause;
    }
    if (!check.cause.empty()) return check;
    std::string bands, first;
    std::size_t count = 0;
    for (const rungs::Array& output : outputs) {
        std::size_t i = 0;
        while (i < n && off(static_cast<std::size_t>(&output - outputs.data()), i, right) <= allowed) ++i;
        if (i == n) continue;
        if (++count == 1) first = output.name + "[" + std::to_string(i) + "]";
        bands += (count == 1 ? "" : ", ") + output.name;
    }
    if (count == outputs.size()) return check;  // that all are wrong is no cause
    check.cause = (count == 1 ? "only " + bands + " is wrong" : "wrong are " + bands) +
                  "; the first number is " + first;
    return check;
}

}  // namespace detail

// ---------------------------------------------------------------------------------------------------------------
// The matrix of a time step

struct Creation {
    std::vector<float> faces;
    double r = 0;
};

inline Creation make_creation(const rungs::Case& which) {
    if (which.sizes.size() != 1 || which.sizes[0] < 0)
        throw std::invalid_argument("a matrix has one size: its rows");
    const auto n = static_cast<std::size_t>(which.sizes[0]);
    constexpr double some[] = {0.1, 1, 10, 90};
    Creation made{rungs::random_field(n + 1, which.seed_of(1), rungs::Uniform{0.5, 4}),
                  some[rungs::random_word(which.seed_of(0), 0) % 4]};
    if (which.kind == "constant") std::fill(made.faces.begin(), made.faces.end(), 1.0f);
    if (which.kind == "insulated") made.faces.front() = made.faces.back() = 0;
    if (which.kind == "still") made.r = 0;
    return made;
}

inline rungs::Task make_matrix(const rungs::Case& which, std::size_t off) {
    const Creation made = make_creation(which);
    const std::size_t n = made.faces.size() - 1;
    return {{rungs::Array::of("faces", made.faces, off)},
            {rungs::Array::unset<float>("lower", n, off), rungs::Array::unset<float>("diagonal", n, off),
             rungs::Array::unset<float>("upper", n, off)},
            {rungs::Number(static_cast<long long>(n)), rungs::Number(made.r)}};
}

inline rungs::Check check_matrix(const rungs::Case& which, std::span<const rungs::Array> outputs) {
    using detail::Line, detail::unknown;
    const Creation made = make_creation(which);
    const std::size_t n = made.faces.size() - 1;
    const double r = made.r;
    const auto k = [&](std::size_t i) { return static_cast<double>(made.faces[std::min(i, n)]); };
    const auto row = [](double before, double behind) { return Line{-before, 1 + before + behind, -behind}; };
    const detail::Lines right = [&](std::size_t i) { return row(r * k(i), r * k(i + 1)); };
    const detail::Suspect suspects[] = {
        {"lower and upper are exchanged: faces[i] lies before point i",
         [&](std::size_t i) {
             return Line{-r * k(i + 1), 1 + r * (k(i) + k(i + 1)), -r * k(i)};
         }},
        {"the diagonal lacks its 1: a step is the old value plus a change",
         [&](std::size_t i) {
             return Line{-r * k(i), r * (k(i) + k(i + 1)), -r * k(i + 1)};
         }},
        {"the entries beside the diagonal have the wrong sign",
         [&](std::size_t i) {
             return Line{r * k(i), 1 + r * (k(i) + k(i + 1)), r * k(i + 1)};
         }},
        {"the diagonal has the wrong sign: heat flows from warm to cold",
         [&](std::size_t i) {
             return Line{-r * k(i), 1 - r * (k(i) + k(i + 1)), -r * k(i + 1)};
         }},
        {"the diagonal takes one face twice: it has one on either side",
         [&](std::size_t i) {
             return Line{-r * k(i), 1 + 2 * r * k(i), -r * k(i + 1)};
         }},
        {"all of a row comes from one face: there is another one behind point i, faces[i + 1]",
         [&](std::size_t i) { return row(r * k(i), r * k(i)); }},
        {"the faces of row i are taken from row i + 1",
         [&](std::size_t i) { return row(r * k(i + 1), r * k(i + 2)); }},
        {"the faces of row i are taken from row i - 1",
         [&](std::size_t i) { return i > 0 ? row(r * k(i - 1), r * k(i)) : unknown; }},
        {"lower[0] and upper[n - 1] are wanted as well: with them the values at the ends go to the "
         "right-hand side",
         [&](std::size_t i) {
             return Line{i > 0 ? -r * k(i) : 0, 1 + r * (k(i) + k(i + 1)), i + 1 < n ? -r * k(i + 1) : 0};
         }},
        {"r is missing", [&](std::size_t i) { return row(k(i), k(i + 1)); }},
        {"r is cut off to an integer, 0 where it is below 1: it is a double, and a float in the kernel",
         [&](std::size_t i) { return row(std::trunc(r) * k(i), std::trunc(r) * k(i + 1)); }},
        {"this is the matrix for faces of 1: the conductivity differs from place to place",
         [&](std::size_t) { return row(r, r); }},
    };
    const detail::Lines sizes = [&](std::size_t i) {
        return Line{r * k(i), 1 + r * (k(i) + k(i + 1)), r * k(i + 1)};
    };
    return detail::compare_rows(outputs, n, right, sizes, suspects);
}

// ---------------------------------------------------------------------------------------------------------------
// Finite elements

struct Elements {
    std::vector<float> nodes, conductivity, load;
    std::size_t inner() const { return nodes.size() - 2; }
    double length(std::size_t e) const { return static_cast<double>(nodes[e + 1]) - nodes[e]; }
};

inline Elements make_elements(const rungs::Case& which) {
    if (which.sizes.size() != 1 || which.sizes[0] < 0)
        throw std::invalid_argument("elements have one size: the inner nodes");
    const auto n = static_cast<std::size_t>(which.sizes[0]);
    Elements made{std::vector<float>(n + 2),
                  rungs::random_field(n + 1, which.seed_of(1), rungs::Uniform{0.25, 4}),
                  rungs::random_field(n + 1, which.seed_of(2), rungs::signed_uniform)};
    // Lengths of elements are whole multiples of 2^-10: nodes, and what lies between them, are exact.
    const std::vector<float> lengths = rungs::random_field(n + 1, which.seed_of(3), rungs::Integers{1, 64});
    double at = which.kind == "shifted" ? -3 : 0;
    for (std::size_t e = 0; e <= n + 1; ++e) {
        made.nodes[e] = static_cast<float>(at);
        if (e <= n) at += (which.kind == "even" ? 16 : lengths[e]) * 0x1p-10;
    }
    return made;
}

inline rungs::Task make_assembly(const rungs::Case& which, std::size_t off) {
    const Elements made = make_elements(which);
    const std::size_t n = made.inner();
    return {
        {rungs::Array::of("nodes", made.nodes, off), rungs::Array::of("conductivity", made.conductivity, off),
         rungs::Array::of("load", made.load, off)},
        {rungs::Array::unset<float>("lower", n, off), rungs::Array::unset<float>("diagonal", n, off),
         rungs::Array::unset<float>("upper", n, off), rungs::Array::unset<float>("rhs", n, off)},
        {rungs::Number(static_cast<long long>(n))}};
}

inline rungs::Check check_assembly(const rungs::Case& which, std::span<const rungs::Array> outputs) {
    using detail::Line, detail::unknown;
    const Elements made = make_elements(which);
    const std::size_t n = made.inner();
    const auto h = [&](std::size_t e) { return made.length(std::min(e, n)); };
    const auto k = [&](std::size_t e) { return static_cast<double>(made.conductivity[std::min(e, n)]); };
    const auto f = [&](std::size_t e) { return static_cast<double>(made.load[std::min(e, n)]); };
    const auto row = [](double before, double behind, double rhs) {
        return Line{-before, before + behind, -behind, rhs};
    };
    const auto load = [&](std::size_t i) { return (f(i) * h(i) + f(i + 1) * h(i + 1)) / 2; };
    const auto s = [&](std::size_t e) { return k(e) / h(e); };
    const detail::Lines right = [&](std::size_t i) { return row(s(i), s(i + 1), load(i)); };
    const detail::Suspect suspects[] = {
        {"the stiffness of an element is k / h: here it is k h",
         [&](std::size_t i) { return row(k(i) * h(i), k(i + 1) * h(i + 1), load(i)); }},
        {"the stiffness of an element is k / h: the length is missing",
         [&](std::size_t i) { return row(k(i), k(i + 1), load(i)); }},
        {"the stiffness of an element is k / h: here it is k / h^2, as in finite differences",
         [&](std::size_t i) { return row(s(i) / h(i), s(i + 1) / h(i + 1), load(i)); }},
        {"lower and upper are exchanged: element i lies before inner node i",
         [&](std::size_t i) {
             return Line{-s(i + 1), s(i) + s(i + 1), -s(i), load(i)};
         }},
        {"the entries beside the diagonal have the wrong sign",
         [&](std::size_t i) {
             return Line{s(i), s(i) + s(i + 1), s(i + 1), load(i)};
         }},
        {"the load of a node is half that of both elements: the half is missing",
         [&](std::size_t i) { return row(s(i), s(i + 1), 2 * load(i)); }},
        {"the load of a node is half that of both elements: only the one before counts",
         [&](std::size_t i) { return row(s(i), s(i + 1), f(i) * h(i) / 2); }},
        {"the load of a node is half that of both elements: only the one behind counts",
         [&](std::size_t i) { return row(s(i), s(i + 1), f(i + 1) * h(i + 1) / 2); }},
        {"the right-hand side is 0 everywhere: in integers 1 / 2 is 0, so write 0.5f",
         [&](std::size_t i) { return row(s(i), s(i + 1), 0); }},
        {"load and conductivity are exchanged",
         [&](std::size_t i) {
             return row(f(i) / h(i), f(i + 1) / h(i + 1), (k(i) * h(i) + k(i + 1) * h(i + 1)) / 2);
         }},
        {"the load lacks the elements' lengths",
         [&](std::size_t i) { return row(s(i), s(i + 1), (f(i) + f(i + 1)) / 2); }},
        {"row i belongs to node i + 1, between elements i and i + 1: this is the row of node i + 2",
         [&](std::size_t i) { return i + 1 < n ? row(s(i + 1), s(i + 2), load(i + 1)) : unknown; }},
        {"row i belongs to node i + 1, between elements i and i + 1: this is the row of node i",
         [&](std::size_t i) { return i > 0 ? row(s(i - 1), s(i), load(i - 1)) : unknown; }},
        {"lower[0] and upper[n - 1] are wanted as well: with them values at the ends go to the "
         "right-hand side",
         [&](std::size_t i) {
             return Line{i > 0 ? -s(i) : 0, s(i) + s(i + 1), i + 1 < n ? -s(i + 1) : 0, load(i)};
         }},
    };
    const detail::Lines sizes = [&](std::size_t i) {
        return Line{s(i), s(i) + s(i + 1), s(i + 1),
                    (std::abs(f(i)) * h(i) + std::abs(f(i + 1)) * h(i + 1)) / 2};
    };
    rungs::Check check = detail::compare_rows(outputs, n, right, sizes, suspects);
    if (!check.passed) return check;
    // What a solver asks of these rows, exactly.
    Matrix a;
    for (std::size_t i = 0; i < n; ++i) {
        a.lower.push_back(outputs[0].as<float>()[i]);
        a.diagonal.push_back(outputs[1].as<float>()[i]);
        a.upper.push_back(outputs[2].as<float>()[i]);
    }
    const auto fail = [&](std::size_t i, const std::string& cause) {
        check.passed = false, check.wrong = 1;
        check.first = {{i, a.diagonal[i], right(i).diagonal, 1, "diagonal[" + std::to_string(i) + "]"}};
        check.cause = cause;
        return check;
    };
    for (std::size_t i = 0; i + 1 < n; ++i) {
        if (a.upper[i] == a.lower[i + 1]) continue;
        return fail(i, "upper[" + std::to_string(i) + "] and lower[" + std::to_string(i + 1) +
                           "] belong to one element and are different floats: compute both in the same way");
    }
    if (const std::size_t weak = first_not_dominant(a); weak < n) {
        return fail(
            weak,
            "the diagonal of row " + std::to_string(weak) +
                " was rounded to less than the sum of the magnitudes beside it, and a solver refuses the "
                "row: add with __fadd_ru(), which rounds up");
    }
    return check;
}

// ---------------------------------------------------------------------------------------------------------------
// The recurrence

struct Chain {
    std::vector<float> d;
    double lambda = 0;  ///< a float
};

inline Chain make_chain(const rungs::Case& which) {
    if (which.sizes.size() != 1 || which.sizes[0] < 0)
        throw std::invalid_argument("a recurrence has one size: its elements");
    const auto n = static_cast<std::size_t>(which.sizes[0]);
    constexpr double some[] = {0.1, 1, 10, 90};
    double lambda = decay(some[rungs::random_word(which.seed_of(0), 0) % 4]);
    if (which.kind == "long_memory") lambda = decay(1e4);
    if (which.kind == "no_memory") lambda = 0;
    Chain made{rungs::random_field(n, which.seed_of(1), rungs::signed_uniform),
               static_cast<double>(static_cast<float>(lambda))};
    if (which.kind == "spike" && n > 0) {
        const std::size_t row = rungs::random_word(which.seed_of(2), 0) % n;
        for (std::size_t i = 0; i < n; ++i) made.d[i] = i == row ? 1.0f : 0.0f;
    }
    return made;
}

inline rungs::Task make_recurrence(const rungs::Case& which, std::size_t off) {
    const Chain made = make_chain(which);
    return {{rungs::Array::of("d", made.d, off)},
            {rungs::Array::unset<float>("z", made.d.size(), off)},
            {rungs::Number(static_cast<long long>(made.d.size())), rungs::Number(made.lambda)}};
}

/// z with a slip: `power` is what a term counts that is `distance` away, `begins` whether a chunk forgets.
inline Vector chain(const Chain& made, double lambda, std::size_t forgets) {
    Vector z(made.d.size());
    double last = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
        if (forgets > 0 && i % forgets == 0) last = 0;
        z[i] = last = lambda * last + made.d[i];
    }
    return z;
}

inline rungs::Check check_recurrence(const rungs::Case& which, std::span<const rungs::Array> outputs) {
    const Chain made = make_chain(which);
    const auto got = outputs[0].as<float>();
    const std::size_t n = made.d.size();
    const Vector right = chain(made, made.lambda, 0);
    double largest = 0;
    for (const float value : made.d) largest = std::max(largest, std::abs(static_cast<double>(value)));
    const double sum = 1 / (1 - made.lambda);
    rungs::Check check;
    check.of = n;
    check.measure = "largest |got - expected|";
    check.tolerance = 0x1p-24 * largest * (4 * sum * sum + 32 * sum);
    double wrong = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double error = std::abs(got[i] - right[i]);
        if (!(error <= check.error))
            check.error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
        wrong = std::max(wrong, error);
        if (error <= check.tolerance) continue;
        ++check.wrong;
        if (check.first.size() < 5)
            check.first.push_back(
                {i, got[i], right[i], rungs::ulp_distance(got[i], static_cast<float>(right[i]))});
    }
    check.passed = check.wrong == 0;
    if (check.passed) return check;
    const auto is = [&](const Vector& candidate) {
        double off = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double one = std::abs(got[i] - candidate[i]);
            if (!(one <= off)) off = one;
        }
        return rungs::explains(off, wrong, 4 * check.tolerance);
    };
    for (std::size_t i = 0; i < n && check.cause.empty(); ++i) {
        if (std::isnan(got[i])) check.cause = "z[" + std::to_string(i) + "] is not a number: was it written?";
    }
    if (check.cause.empty() && is(Vector(made.d.begin(), made.d.end()))) check.cause = "z is still d";
    if (check.cause.empty() && is(chain(made, 1, 0)))
        check.cause =
            "this is the plain prefix sum: what is further away has to count less, by lambda a step";
    for (std::size_t chunk = 32; chunk <= 1024 && check.cause.empty(); chunk *= 2) {
        if (n > chunk && is(chain(made, made.lambda, chunk))) {
            check.cause = "every chunk of " + std::to_string(chunk) +
                          " begins anew: the last z of the chunk before has to come in. If it does, is it "
                          "read between two barriers?";
        }
    }
    if (check.cause.empty()) {
        Vector before(n, 0.0);
        for (std::size_t i = 1; i < n; ++i) before[i] = right[i - 1];
        if (is(before)) check.cause = "this is the exclusive scan: z_i has d_i in it";
    }
    if (check.cause.empty()) {
        Vector back(n, 0.0);
        double last = 0;
        for (std::size_t i = n; i-- > 0;) back[i] = last = made.lambda * last + made.d[i];
        if (is(back))
            check.cause = "this is the recurrence from the other end: z_i depends on what is before it";
    }
    // What the chunk before brings comes after the scan, to its first element or to all alike.
    for (std::size_t chunk = 32; chunk <= 1024 && check.cause.empty(); chunk *= 2) {
        for (const bool all : {false, true}) {
            Vector z = chain(made, made.lambda, chunk);
            for (std::size_t i = chunk; i < n; ++i) {
                if (all || i % chunk == 0) z[i] += made.lambda * z[i / chunk * chunk - 1];
            }
            if (n <= chunk + 1 || !is(z)) continue;
            check.cause =
                "the last z of the chunk before counts lambda^(t + 1) in element t of the next one: "
                "bring it into the first element before the scan, not after it";
            break;
        }
    }
    // A step with distance s counts lambda, lambda s or lambda^(1 + log2 s) instead of lambda^s.
    for (std::size_t chunk = 32; chunk <= 1024 && check.cause.empty(); chunk *= 2) {
        for (const int slip : {0, 1, 2}) {
            Vector z(made.d.begin(), made.d.end());
            double power = made.lambda;
            for (std::size_t s = 1; s < chunk; s *= 2, power *= made.lambda) {
                const Vector old = z;
                const double factor = slip == 0   ? made.lambda
                                      : slip == 1 ? made.lambda * static_cast<double>(s)
                                                  : power;
                for (std::size_t i = 0; i < std::min(n, chunk); ++i) {
                    if (i >= s) z[i] += factor * old[i - s];
                }
            }
            const std::size_t until = std::min(n, chunk);
            double off = 0;
            for (std::size_t i = 0; i < until; ++i) off = std::max(off, std::abs(got[i] - z[i]));
            if (until > 4 && rungs::explains(off, wrong, 4 * check.tolerance)) {
                check.cause =
                    "what comes from s elements away counts lambda^s: the power has to be squared from "
                    "step to step";
                break;
            }
        }
    }
    // What a chunk hands to the next: without lambda, or another thread's.
    for (std::size_t chunk = 32; chunk <= 1024 && check.cause.empty(); chunk *= 2) {
        for (const bool of_first : {false, true}) {
            Vector z(made.d.begin(), made.d.end());
            for (std::size_t i = 1; i < n; ++i) {
                const bool begins = i % chunk == 0;
                z[i] += begins && !of_first ? z[i - 1] : made.lambda * z[begins ? i - chunk : i - 1];
            }
            if (n <= chunk || !is(z)) continue;
            check.cause =
                of_first ? "a chunk takes over the first z of the chunk before: it has to be the last one"
                         : "the last z of the chunk before counts in full in the first element of the next "
                           "one: it counts lambda there";
            break;
        }
    }
    if (check.cause.empty()) {
        std::size_t first = 0;
        while (first < n && std::abs(got[first] - right[first]) <= check.tolerance) ++first;
        check.cause = std::to_string(check.wrong) + " of " + std::to_string(n) +
                      " elements are wrong, the first is " + std::to_string(first);
        // A step that is missing leaves sums of so many terms.
        bool short_of_terms = false;
        for (std::size_t terms = 16; terms <= first && first < n; terms *= 2) {
            const double lost = std::pow(made.lambda, static_cast<double>(terms)) * right[first - terms];
            short_of_terms = short_of_terms || std::abs(got[first] + lost - right[first]) <= check.tolerance;
        }
        if (first > 0 && first % 32 == 0 && !short_of_terms) {
            check.cause +=
                ", where a chunk of the block may begin: what is handed from one chunk to the next, and from "
                "which thread?";
        } else if (first >= 16) {
            check.cause += ": how many terms does each z have by then?";
        }
    }
    return check;
}

}  // namespace btcs
