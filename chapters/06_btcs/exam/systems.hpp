#pragma once
// The systems of the exam and of the program, by what is hard about them.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "exam/reference.hpp"
#include "rungs/random.hpp"

namespace btcs {

/// A tridiagonal system as a rung gets it. lower[0] and upper[n-1] are NaN: nobody may look.
struct System {
    std::vector<float> lower, diagonal, upper, rhs;
    std::size_t rows() const { return diagonal.size(); }

    Matrix matrix() const {
        return {Vector(lower.begin(), lower.end()), Vector(diagonal.begin(), diagonal.end()),
                Vector(upper.begin(), upper.end())};
    }
    Vector right() const { return {rhs.begin(), rhs.end()}; }
};

namespace detail {

/// Different data from one seed.
inline std::uint64_t stream(std::uint64_t seed, std::uint64_t which) {
    return seed + 0x9e3779b97f4a7c15u * which;
}

/// The magnitudes beside the diagonal of row i, summed up.
inline double beside(const System& system, std::size_t i) {
    const std::size_t n = system.rows();
    return (i > 0 ? std::abs(static_cast<double>(system.lower[i])) : 0) +
           (i + 1 < n ? std::abs(static_cast<double>(system.upper[i])) : 0);
}

/// Both neighbours of each row from `off`, or, for a symmetric system, off[i] between rows i and i + 1.
inline void set_neighbours(System& system, const std::vector<float>& off, bool symmetric) {
    for (std::size_t i = 0; i < system.rows(); ++i) {
        system.upper[i] = off[2 * i];
        system.lower[i] = symmetric ? (i > 0 ? off[2 * i - 2] : 0) : off[2 * i + 1];
    }
}

}  // namespace detail

/// The rod (-r, 1 + 2r, -r), or, where `faces` are given, the one that they make. Exact if r and faces
/// have few digits.
inline System rod_system(std::size_t n, double r, const Vector& faces, const std::vector<float>& rhs) {
    const Matrix a = heat_matrix(faces.empty() ? Vector(n + 1, 1.0) : faces, r);
    System system{std::vector<float>(a.lower.begin(), a.lower.end()),
                  std::vector<float>(a.diagonal.begin(), a.diagonal.end()),
                  std::vector<float>(a.upper.begin(), a.upper.end()), rhs};
    if (n > 0) system.lower[0] = system.upper[n - 1] = std::numeric_limits<float>::quiet_NaN();
    return system;
}

/// Conductivities that differ by up to 16 from place to place, with heat-tight ends. Multiples of 1/16: with
/// r = 2 each entry of the matrix and the sum of each column, 1, are exact in float.
inline Vector insulated_faces(std::size_t n, std::uint64_t seed) {
    Vector faces(n + 1, 0.0);
    const std::vector<float> random = rungs::random_field(n + 1, seed, rungs::Integers{4, 64});
    for (std::size_t i = 1; i < n; ++i) faces[i] = random[i] / 16;
    return faces;
}

/// A system of a kind that `system_kinds` names.
/// @param symmetric  upper[i] = lower[i+1], with a positive diagonal, where the kind has
/// not the matrix itself
inline System make_system(std::string_view kind, std::size_t n, std::uint64_t seed, bool symmetric) {
    using detail::stream;
    const std::vector<float> rhs = rungs::random_field(n, stream(seed, 1), rungs::signed_uniform);
    if (kind == "rod") return rod_system(n, 10, {}, rhs);
    if (kind == "warm") return rod_system(n, 1e5, {}, rhs);  // of an iteration that starts at the solution
    if (kind == "insulated") return rod_system(n, 2, insulated_faces(n, stream(seed, 2)), rhs);

    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    if (kind == "level") {  // A times equal elements is 0, like the curvature along the first residual
        System system{std::vector<float>(n, -1), std::vector<float>(n, 2), std::vector<float>(n, -1),
                      std::vector<float>(n, 1)};
        if (n > 0)
            system.diagonal.front() -= 1, system.diagonal.back() -= 1,
                system.lower[0] = system.upper[n - 1] = nan;
        return system;
    }
    if (kind == "laplacian") {  // -u'': a step of infinite length, with a solution that is small and rough
        System system{std::vector<float>(n, -1), std::vector<float>(n, 2), std::vector<float>(n, -1),
                      std::vector<float>(n)};
        const auto x = [&](std::size_t i) { return std::round(rhs[i] * 0x1p12f) * 0x1p-12f; };
        for (std::size_t i = 0; i < n; ++i)
            system.rhs[i] = 2 * x(i) - (i > 0 ? x(i - 1) : 0) - (i + 1 < n ? x(i + 1) : 0);
        if (n > 0) system.lower[0] = system.upper[n - 1] = nan;
        return system;
    }
    System system{std::vector<float>(n), std::vector<float>(n), std::vector<float>(n), rhs};
    std::vector<float> off = rungs::random_field(2 * n, stream(seed, 3), rungs::signed_uniform);
    const std::vector<float> sign = rungs::random_field(n, stream(seed, 4), rungs::signed_uniform);
    // Asked once, not for each row.
    const bool barely = kind == "barely", tie = barely || kind == "singular", one_sided = kind == "one_sided",
               from_behind = kind == "from_behind", graded = kind == "graded", huge = kind == "huge",
               tiny = kind == "tiny", zero = kind == "zero", spike = kind == "spike";
    if (kind == "diagonal") std::fill(off.begin(), off.end(), 0.0f);
    if (tie) {
        for (float& value : off) value = -std::round((1 - std::abs(value) / 8) * 0x1p12f) * 0x1p-12f;
    }
    detail::set_neighbours(system, off, symmetric);
    for (std::size_t i = 0; i < n; ++i) {
        if (one_sided) {  // what the first row holds is felt by the last one
            system.lower[i] = -0.999f;
            system.upper[i] = 0x1p-12f * off[2 * i];
            system.diagonal[i] = 1;
            continue;
        }
        if (from_behind) {  // and the other way round
            system.lower[i] = 0x1p-12f * off[2 * i];
            system.upper[i] = -0.999f;
            system.diagonal[i] = 1;
            continue;
        }
        const double sum = detail::beside(system, i);
        double diagonal = sum > 0 ? sum / 0.9 : 1 + std::abs(sign[i]);
        if (symmetric) diagonal += 0.5;  // a condition number of some 10: descent does not scale rows
        if (tie) diagonal = sum;         // exact: multiples of 2^-12
        if (barely && i == 0) diagonal = 2 * sum + (n == 1);
        system.diagonal[i] = static_cast<float>(sign[i] < 0 && !symmetric && !tie ? -diagonal : diagonal);
    }
    const std::size_t row = n > 0 ? rungs::random_word(stream(seed, 5), 0) % n : 0;
    const std::size_t middle = n > 2 ? 1 + rungs::random_word(stream(seed, 5), 1) % (n - 2) : row;
    const auto weaken = [&](std::size_t i) {
        system.diagonal[i] = static_cast<float>(0.98 * detail::beside(system, i));
    };
    if (n > 0) {
        if (kind == "weak_row") weaken(middle);
        if (kind == "weak_first") weaken(0);
        if (kind == "weak_last") weaken(n - 1);
        if (kind == "two_weak") weaken(middle), weaken(n - 1);
        if (kind == "zero_diagonal") system.diagonal[row] = 0;
        if (kind == "zero_row") system.lower[middle] = system.diagonal[middle] = system.upper[middle] = 0;
        if (kind == "nan_diagonal") system.diagonal[row] = nan;
        if (kind == "nan_beside") system.lower[middle] = nan;
        if (kind == "hairline") {  // 1 < 1 + 2^-60: neither float nor double can add that up
            system.lower[middle] = -1, system.upper[middle] = 0x1p-60f, system.diagonal[middle] = 1;
        }
        if (kind == "nan_rhs") system.rhs[row] = nan;
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (graded) {
            const int power = static_cast<int>(rungs::random_word(stream(seed, 6), i) % 81) - 40;
            for (auto* array : {&system.lower, &system.diagonal, &system.upper, &system.rhs})
                (*array)[i] = std::ldexp((*array)[i], power);
        }
        if (huge) system.rhs[i] = std::ldexp(system.rhs[i], 80);
        if (tiny) system.rhs[i] = std::ldexp(system.rhs[i], -80);
        if (zero || (spike && i != row)) system.rhs[i] = 0;
    }
    if (n > 0) system.lower[0] = system.upper[n - 1] = nan;
    return system;
}

/// The kinds of systems.
inline constexpr const char* system_kinds[] = {
    "dominant",       // random, the diagonal a tenth larger than it has to be
    "rod",            // a step of the heat equation, r = 10
    "insulated",      // the same with conductivities of all sizes and ends that let no heat out
    "barely",         // the diagonal is exactly as large as its neighbours together
    "laplacian",      // the same except at both ends, where 1 is to spare: the middle is far from either
    "graded",         // each row in a unit of its own, 2^-40 to 2^40
    "one_sided",      // the first row is felt by the last,
    "from_behind",    // the last one by the first
    "diagonal",       // nothing beside the diagonal
    "spike",          // one row of the right-hand side is not 0
    "zero",           // none is
    "huge",           // squares of the right-hand side overflow in float
    "tiny",           // squares of the right-hand side vanish in float
    "unaligned",      //
    "nan_rhs",        //
    "singular",       // dominated, and without a solution
    "weak_row",       // not dominated: a row somewhere,
    "weak_first",     // the first one,
    "weak_last",      // the last one,
    "two_weak",       // two of them, of which the first counts,
    "zero_diagonal",  // a 0 on the diagonal,
    "zero_row",       // a row of zeros: 0 >= 0 + 0,
    "nan_diagonal",   // a NaN on the diagonal
    "nan_beside",     // or beside it,
    "hairline",       // and a row that falls short by 2^-60
};

}  // namespace btcs
