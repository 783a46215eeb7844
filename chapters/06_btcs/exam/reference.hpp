#pragma once
// What the rungs ought to find: tridiagonal systems and the rod's march through time, in double; and the
// theory of both.

#include <cstddef>
#include <span>
#include <vector>

namespace btcs {

using Vector = std::vector<double>;

/// A tridiagonal matrix, row by row: lower[i] x[i-1] + diagonal[i] x[i] + upper[i] x[i+1]. lower[0] and
/// upper[n-1] are outside of it and are never read.
struct Matrix {
    Vector lower, diagonal, upper;
    std::size_t rows() const { return diagonal.size(); }
};

/// The solution, by elimination without pivoting (L. Thomas, 1949). @throws std::length_error when
/// the sizes differ
Vector solve(const Matrix& a, const Vector& rhs);

/// A x.
Vector product(const Matrix& a, const Vector& x);

/// The first row that its diagonal does not dominate: it is 0, or smaller than the magnitudes beside it
/// summed up, or one of them is NaN. Exact for numbers that were floats. rows() where there is none.
std::size_t first_not_dominant(const Matrix& a);
std::size_t first_not_dominant(std::span<const float> lower, std::span<const float> diagonal,
                               std::span<const float> upper);

/// |rhs - A x| / ((|lower| + |diagonal| + |upper|) size), row by row; NaN where x has one. With max |x| for
/// `size`: by how much, relative to its own size, a row would have to change for x to be its solution.
/// Scaling a row does not change it.
Vector backward_errors(const Matrix& a, const Vector& rhs, const Vector& x, double size);

/// The largest element of the solution where nothing cancels: of the system with |rhs|, |diagonal|, -|lower|
/// and -|upper|. Each x[i] is a sum of terms, and so large can their magnitudes together be.
double size_of_terms(const Matrix& a, const Vector& rhs);

/// A rod of constant conductivity, n inner points, and how time is discretised.
struct Rod {
    std::size_t n = 0, steps = 0;
    double r = 0;      ///< conductivity times time step / spacing^2
    double theta = 1;  ///< 0: FTCS, explicit; 1/2: Crank-Nicolson; 1: BTCS
};

/// What holds at both ends at one time.
struct Ends {
    double left = 0, right = 0;
};

/// u one time step later.
Vector step(const Rod& rod, const Vector& u, const Ends& before, const Ends& after);

/// A march through time. Step k leads from time level k to k + 1; left[k] and right[k] are the ends
/// at level k.
struct Journey {
    Rod rod;
    Vector start, left, right;
};

struct Arrival {
    Vector u;  ///< after the last step
    /// The largest value on the way, ends included; where a scheme lets waves grow, at least what would have
    /// become of the largest value at first.
    double largest = 0;
};

/// @throws std::length_error unless there are n values and steps + 1 of each end
Arrival march(const Journey& journey);

/// How far the values of a float march may be from march(), for the `largest` value on the way.
double rounding_bound(const Rod& rod, double largest);

/// By what a step multiplies a wave whose phase advances by `phase` from point to point (J. von Neumann; J.
/// Strikwerda, Finite Difference Schemes and Partial Differential Equations, 2nd ed. 2004, section 6.3).
double amplification(double r, double theta, double phase);

/// The matrix of an implicit step, 1 + `r` times a rod whose conductivity differs from place to place:
/// faces[i] is the conductivity between points i - 1 and i, faces[n] that after the last one. A face of 0
/// lets no heat through: with both ends like that, the columns sum up to 1, and the heat is conserved.
Matrix heat_matrix(const Vector& faces, double r);

/// How fast a change of one row fades: the solution of (-r, 1 + 2r, -r) changes by this power of the
/// distance. 0 < decay(r) < 1.
double decay(double r);

}  // namespace btcs
