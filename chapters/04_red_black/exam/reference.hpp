#pragma once
// What the right iterates are, how fast they have to converge, and how far from them honest rounding may end.

#include <cstddef>
#include <span>
#include <vector>

namespace red_black {

/// What one iteration does; see red_black.cuh.
enum class Method { jacobi, red_black, sor, block };

/// A run: what a rung is asked to do.
struct Run {
    Method method = Method::red_black;
    int n = 0;
    int iterations = 0;
    double omega = 0;  ///< of sor; 0: the best
    int sweeps = 1;    ///< of block
};

/// Values at the n^3 inner points, k fastest; 0 outside.
using Grid = std::vector<double>;

/// The sum of the six neighbours of point (i, j, k). What lies outside the cube is 0.
double neighbours(const Grid& u, int n, int i, int j, int k);

/// Updates the points of one colour (0 red, 1 black) in place: u += omega / 6 (b - A u).
void half_sweep(Grid& u, const Grid& b, int n, int colour, double omega = 1);

/// One iteration of a method.
void iterate(Grid& u, const Grid& b, const Run& run);

/// ||b - A u||_2.
double residual_norm(const Grid& u, const Grid& b, int n);

/// What a run leaves, and how large its numbers become.
struct History {
    Grid u;
    std::vector<double> norms;
    double scale = 0;  ///< largest of |u| and (|b| + sum of |neighbours|) / 6 on the way, over all points
};

/// The oracle: the run in double.
History history(const Grid& start, const Grid& b, const Run& run);

/// The largest eigenvalue of the Jacobi iteration: cos(pi h).
double jacobi_factor(int n);

/// The relaxation factor with the smallest convergence factor: 2 / (1 + sqrt(1 - rho^2)).
double best_omega(int n);

/// By which factor an iteration shrinks the slowest mode: rho, rho^2, or that of SOR. Not for tiles.
double convergence_factor(const Run& run);

/// The slowest mode of a method's iteration (not of block): with b = 0, each iteration multiplies
/// it by convergence_factor(run), exactly.
Grid slowest_mode(const Run& run);

/// h^2 f for a solution of -Laplace(u) = f that is no eigenvector, and that solution. Its fourth derivatives
/// are at most `fourth` in sum.
struct Manufactured {
    Grid b;
    Grid u;
    double fourth = 0;
};
Manufactured manufactured(int n);

/// How far a rung that rounds honestly may be from the oracle.
struct Tolerance {
    double point = 0;           ///< |got - expected| of every point of u
    std::vector<double> norms;  ///< of each norm
};

/// @param unit  the unit roundoff of the rung's type: 2^-24 or 2^-53
Tolerance tolerance(const Run& run, const History& expected, double unit);

}  // namespace red_black
