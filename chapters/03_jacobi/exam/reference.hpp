#pragma once
// What the right answer is, how far from it an honest float solver may end, and what theory says about both.

#include <span>
#include <vector>

#include "jacobi.cuh"

namespace jacobi {

/// The field after some sweeps, as the oracle knows it. Fields here have no pitch: (x, y) is x + nx * y.
struct Reference {
    std::vector<double> phi;
    std::vector<double> norms;  ///< of every sweep that was done; as many as there were
    double largest = 0;         ///< the largest magnitude that a point ever had, without NaN and infinities
};

/// The points of a field with pitch, without what lies between the rows. @throws std::length_error when
/// `field` has not pitch_of(nx) * ny elements
std::vector<float> without_pitch(std::span<const float> field, int nx, int ny);

/// The opposite; `between` goes where no point is.
std::vector<float> with_pitch(std::span<const float> sites, int nx, int ny, float between);

/// Which norms are wanted of a solve that no norm ends. They cost as much as the sweeps.
enum class Norms { all, last };

/// Jacobi sweeps in double, one after the other, until the norm is at most `eps`, or `most` are done.
/// @param start  a field without pitch @throws std::length_error when it has not nx * ny elements
/// @param norms  where the last is enough, others may be NaN
Reference reference_solve(std::span<const float> start, const Lattice& lattice, int most, double eps,
                          Norms norms = Norms::all);

/// How far any point of a float solver may be from the oracle's after `sweeps` sweeps, rounding alone.
double rounding_bound(const Lattice& lattice, double largest, int sweeps);

/// How far its norm may be.
double norm_bound(const Lattice& lattice, double largest, double norm);

/// The factor by which a sweep shrinks the slowest part of the error on nx times ny points, boundary
/// included: (cos(pi / (nx - 1)) + cos(pi / (ny - 1))) / 2, the spectral radius of the sweep.
/// 0 without inner points.
double spectral_radius(int nx, int ny);

/// The potential of a charge 1 at the origin of an endless lattice, at a distance `r` > 0 of some points:
/// (ln r + gamma + (3/2) ln 2) / (2 pi), with 0 at the charge itself. What is left out falls off like 1/r^2.
double green(double r);

}  // namespace jacobi
