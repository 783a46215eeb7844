#pragma once
// What a solve ought to do: the same methods in double, step by step, and the true solution.

#include <span>
#include <vector>

#include "rungs/iteration_exam.hpp"

namespace gradient_descent {

/// A dense matrix, row by row, with its right-hand side; on the host.
struct System {
    int n = 0;
    std::span<const float> a;  ///< n x n
    std::span<const float> b;  ///< n
};

/// A solve, as the oracle saw it.
struct Trace : rungs::Solve {
    std::vector<double> step;  ///< descent: the step lengths alpha_0, ... alpha_{k-1}
};

/// Gauss-Jacobi in double, with the contract's rules for stopping.
Trace reference_jacobi(const System& system, int limit, double tolerance);

/// Steepest descent in double, with the contract's rules for stopping. Products read the whole of A.
Trace reference_descent(const System& system, int limit, double tolerance);

/// A v in double. @throws std::length_error when the sizes differ.
std::vector<double> product(const System& system, std::span<const double> v);

/// ||b - A x|| in double.
double residual_norm(const System& system, std::span<const double> x);

/// sqrt(v.A v); NaN where that is negative beyond rounding.
double norm_in(const System& system, std::span<const double> v);

/// The solution of a symmetric positive definite system, by conjugate gradients in double until the residual
/// no longer falls.
std::vector<double> solution(const System& system);

/// The rounding of one residual b - A x in float: u || |b| + |A| |x| ||, u the unit roundoff. A component is
/// a sum whose terms have this size and whose roundings go up as often as down; it is off by a few times
/// that, by more if many terms are added one after the other, and the residual of an x whose elements are
/// rounded to float is, too (N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. 2002,
/// section 3.5, and section 7.1 for the backward error this measures).
double rounding_floor(const System& system, std::span<const double> x);

/// The unit roundoff of float.
inline constexpr double unit_roundoff = 0x1p-24;

}  // namespace gradient_descent
