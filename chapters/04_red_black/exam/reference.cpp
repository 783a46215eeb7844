// The oracle: the four iterations in double, point by point, and the theory of their convergence.

#include "exam/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "red_black.cuh"
#include "rungs/norms.hpp"

namespace red_black {
namespace {

std::size_t index(int n, int i, int j, int k) {
    const auto size = static_cast<std::size_t>(n);
    return (static_cast<std::size_t>(i) * size + static_cast<std::size_t>(j)) * size +
           static_cast<std::size_t>(k);
}

/// Calls point(i, j, k) for the points of a box, k fastest.
template <class Point>
void each(int i0, int i1, int j0, int j1, int k0, int k1, const Point& point) {
    for (int i = i0; i < i1; ++i) {
        for (int j = j0; j < j1; ++j) {
            for (int k = k0; k < k1; ++k) point(i, j, k);
        }
    }
}

template <class Point>
void each(int n, const Point& point) {
    each(0, n, 0, n, 0, n, point);
}

/// The sums of the six neighbours of the points of one row.
struct Around {
    const double *above, *below, *before, *behind, *row;
    int n;

    double operator()(int k) const {
        return above[k] + below[k] + before[k] + behind[k] + (k > 0 ? row[k - 1] : 0) +
               (k + 1 < n ? row[k + 1] : 0);
    }
};

/// Calls visit(i, j, c, around) for the rows of planes i0 to i1 of a cube; c is the row's first point. Point
/// by point most of the time would go into asking what lies outside.
template <class Visit>
void each_row(const Grid& u, int n, int i0, int i1, const Visit& visit) {
    const std::vector<double> outside(static_cast<std::size_t>(n));
    const auto row = [&](int i, int j) {
        const bool inside = std::min(i, j) >= 0 && std::max(i, j) < n;
        return inside ? u.data() + index(n, i, j, 0) : outside.data();
    };
    for (int i = std::max(i0, 0); i < std::min(i1, n); ++i) {
        for (int j = 0; j < n; ++j) {
            visit(i, j, index(n, i, j, 0),
                  Around{row(i - 1, j), row(i + 1, j), row(i, j - 1), row(i, j + 1), row(i, j), n});
        }
    }
}

void jacobi_sweep(Grid& u, const Grid& b, int n) {
    const Grid old = u;
    each_row(old, n, 0, n, [&](int, int, std::size_t c, const Around& around) {
        for (int k = 0; k < n; ++k, ++c) u[c] = (b[c] + around(k)) / 6;
    });
}

void block_sweep(Grid& u, const Grid& b, int n, int sweeps) {
    const Grid old = u;
    for (int i0 = 0; i0 < n; i0 += tile_i) {
        for (int j0 = 0; j0 < n; j0 += tile_j) {
            for (int k0 = 0; k0 < n; k0 += tile_k) {
                const int i1 = std::min(n, i0 + tile_i), j1 = std::min(n, j0 + tile_j);
                const int k1 = std::min(n, k0 + tile_k);
                const auto value = [&](int i, int j, int k) {
                    if (std::min({i, j, k}) < 0 || std::max({i, j, k}) >= n) return 0.0;
                    const bool mine = i >= i0 && i < i1 && j >= j0 && j < j1 && k >= k0 && k < k1;
                    return (mine ? u : old)[index(n, i, j, k)];
                };
                for (int half = 0; half < 2 * sweeps; ++half) {
                    each(i0, i1, j0, j1, k0, k1, [&](int i, int j, int k) {
                        if ((i + j + k) % 2 != half % 2) return;
                        const double sum = value(i - 1, j, k) + value(i + 1, j, k) + value(i, j - 1, k) +
                                           value(i, j + 1, k) + value(i, j, k - 1) + value(i, j, k + 1);
                        u[index(n, i, j, k)] = (b[index(n, i, j, k)] + sum) / 6;
                    });
                }
            }
        }
    }
}

/// Of the points of one colour in planes i0 to i1.
void half_sweep(Grid& u, const Grid& b, int n, int i0, int i1, int colour, double omega) {
    each_row(u, n, i0, i1, [&](int i, int j, std::size_t row, const Around& around) {
        for (int k = (i + j + colour) % 2; k < n; k += 2) {
            const std::size_t c = row + static_cast<std::size_t>(k);
            const double there = (b[c] + around(k)) / 6;
            u[c] = omega == 1 ? there : u[c] + omega * (there - u[c]);
        }
    });
}

struct Sums {
    rungs::CompensatedSum squares;  ///< of the residual
    double largest = 0;             ///< |u|
};

/// Adds what is found in planes i0 to i1.
void look_at(const Grid& u, const Grid& b, int n, int i0, int i1, Sums& sums) {
    each_row(u, n, i0, i1, [&](int, int, std::size_t c, const Around& around) {
        double of_row = 0;
        for (int k = 0; k < n; ++k, ++c) {
            const double r = b[c] - 6 * u[c] + around(k);
            of_row += r * r;
            sums.largest = std::max(sums.largest, std::abs(u[c]));
        }
        sums.squares.add(of_row);
    });
}

double largest(const Grid& u) {
    double size = 0;
    for (const double value : u) size = std::max(size, std::abs(value));
    return size;
}

double omega_of(const Run& run) {
    if (run.method != Method::sor) return 1;
    return run.omega == 0 ? best_omega(run.n) : run.omega;
}

/// sin(pi x) and its like at the points of one axis.
std::vector<double> sine(int n, int waves) {
    std::vector<double> values(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i)
        values[static_cast<std::size_t>(i)] = std::sin(std::numbers::pi * waves * (i + 1) / (n + 1));
    return values;
}

/// The largest norm of a power, up to `iterations`, of the matrix by which SOR multiplies a pair of modes:
/// the sine mode with Jacobi eigenvalue mu, on the red points and on the black ones.
double largest_power(const Run& run) {
    const double omega = omega_of(run), rho = jacobi_factor(run.n);
    double largest = 1;
    for (int step = 0; step <= 64; ++step) {
        const double mu = rho * step / 64;
        const std::array<double, 4> once{1 - omega, omega * mu, omega * mu * (1 - omega),
                                         1 - omega + omega * omega * mu * mu};
        std::array<double, 4> power{1, 0, 0, 1};
        for (int t = 0; t < run.iterations; ++t) {
            power = {once[0] * power[0] + once[1] * power[2], once[0] * power[1] + once[1] * power[3],
                     once[2] * power[0] + once[3] * power[2], once[2] * power[1] + once[3] * power[3]};
            double squares = 0;
            for (const double entry : power)
                squares += entry * entry;  // the Frobenius norm: not less than the 2-norm
            largest = std::max(largest, std::sqrt(squares));
        }
    }
    return largest;
}

}  // namespace

double neighbours(const Grid& u, int n, int i, int j, int k) {
    const auto inner = [n](int x) { return x > 0 && x < n - 1; };
    if (inner(i) && inner(j) && inner(k)) {  // most points: no question for each neighbour
        const auto row = static_cast<std::size_t>(n), plane = row * row, c = index(n, i, j, k);
        return u[c - plane] + u[c + plane] + u[c - row] + u[c + row] + u[c - 1] + u[c + 1];
    }
    const auto at = [&](int a, int c, int e) {
        const bool outside = std::min({a, c, e}) < 0 || std::max({a, c, e}) >= n;
        return outside ? 0 : u[index(n, a, c, e)];
    };
    return at(i - 1, j, k) + at(i + 1, j, k) + at(i, j - 1, k) + at(i, j + 1, k) + at(i, j, k - 1) +
           at(i, j, k + 1);
}

void half_sweep(Grid& u, const Grid& b, int n, int colour, double omega) {
    half_sweep(u, b, n, 0, n, colour, omega);
}

void iterate(Grid& u, const Grid& b, const Run& run) {
    if (run.method == Method::jacobi) return jacobi_sweep(u, b, run.n);
    if (run.method == Method::block) return block_sweep(u, b, run.n, run.sweeps);
    for (int colour = 0; colour < 2; ++colour) half_sweep(u, b, run.n, colour, omega_of(run));
}

double residual_norm(const Grid& u, const Grid& b, int n) {
    Sums sums;
    look_at(u, b, n, 0, n, sums);
    return std::sqrt(sums.squares.value());
}

History history(const Grid& start, const Grid& b, const Run& run) {
    const int n = run.n;
    const double largest_b = largest(b);
    History all{start, {}, largest(start) + largest_b / 6};
    for (int t = 0; t < run.iterations; ++t) {
        Sums sums;
        if (run.method == Method::jacobi || run.method == Method::block) {
            iterate(all.u, b, run);
            look_at(all.u, b, n, 0, n, sums);
        } else {
            // Each plane's neighbours in front have to be done, so the second colour follows a plane behind
            // the first, and what looks at both a plane behind that: memory is read once, not three times.
            for (int i = 0; i < n + 2; ++i) {
                half_sweep(all.u, b, n, i, i + 1, 0, omega_of(run));
                half_sweep(all.u, b, n, i - 1, i, 1, omega_of(run));
                look_at(all.u, b, n, i - 2, i - 1, sums);
            }
        }
        all.norms.push_back(std::sqrt(sums.squares.value()));
        all.scale = std::max(all.scale, sums.largest + largest_b / 6);
    }
    return all;
}

double jacobi_factor(int n) { return std::cos(std::numbers::pi / (n + 1.0)); }

double best_omega(int n) { return 2 / (1 + std::sin(std::numbers::pi / (n + 1.0))); }

// D. Young, "Iterative methods for solving partial difference equations of elliptic type", Trans. AMS 76,
// 1954: for a consistently ordered matrix, an eigenvalue mu of Jacobi and lambda of SOR belong together by
// (lambda + omega - 1)^2 = omega^2 mu^2 lambda. For omega = 1, lambda = mu^2; at the best omega the two
// solutions for mu = rho meet, and beyond it all have modulus omega - 1.
double convergence_factor(const Run& run) {
    const double rho = jacobi_factor(run.n), omega = omega_of(run);
    if (run.method == Method::jacobi) return rho;
    if (run.method == Method::red_black) return rho * rho;
    if (run.omega == 0) return omega - 1;  // where the two solutions meet
    const double below = omega * omega * rho * rho / 4 - (omega - 1);
    if (below <= 0) return omega - 1;
    const double root = omega * rho / 2 + std::sqrt(below);
    return root * root;
}

// With x = (x_red, x_black) the eigenvector of Jacobi for rho, SOR multiplies (x_red, sqrt(lambda) x_black)
// by lambda: insert it in the two half-sweeps and use Young's relation. Below the best omega, lambda is real.
Grid slowest_mode(const Run& run) {
    const int n = run.n;
    const std::vector<double> wave = sine(n, 1);
    const double black = run.method == Method::jacobi ? 1 : std::sqrt(convergence_factor(run));
    Grid mode(static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
    each(n, [&](int i, int j, int k) {
        const auto at = [&](int x) { return wave[static_cast<std::size_t>(x)]; };
        mode[index(n, i, j, k)] = at(i) * at(j) * at(k) * ((i + j + k) % 2 ? black : 1);
    });
    return mode;
}

Manufactured manufactured(int n) {
    // u = sin(pi x) sin(pi y) sin(pi z) + 1/2 sin(2 pi x) sin(pi y) sin(3 pi z): -Laplace multiplies the
    // terms by 3 pi^2 and 14 pi^2, and their fourth derivatives are at most 3 pi^4 and 98 pi^4 / 2 in sum.
    const double pi = std::numbers::pi, h = 1 / (n + 1.0);
    const std::vector<double> one = sine(n, 1), two = sine(n, 2), three = sine(n, 3);
    Manufactured made;
    made.fourth = (3 + 98 / 2.0) * std::pow(pi, 4);
    each(n, [&](int i, int j, int k) {
        const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j),
                   c = static_cast<std::size_t>(k);
        const double first = one[a] * one[b] * one[c], second = two[a] * one[b] * three[c] / 2;
        made.u.push_back(first + second);
        made.b.push_back(h * h * pi * pi * (3 * first + 14 * second));
    });
    return made;
}

// Let u be the unit roundoff and M the scale of the run. An update rounds at most nine times (six additions,
// the factor 1/6 and the product with it, omega), and no intermediate result exceeds 6 M: it is wrong by at
// most 9 u M (N. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. 2002, section 3.1), and
// SOR's by twice that. What such errors become:
//
// - Jacobi, red-black and tiles: a point is the mean of six others plus b / 6, so no error grows
// from one update to
//   the next, and after `updates` of them no point is further off than updates * 9 u M.
// - SOR: the sine modes are orthogonal, and on the pair (mode on red, mode on black) an iteration is a 2 x 2
//   matrix, so in the root mean square over the points an error grows at most by the largest norm of its
//   powers. A point may be further off than that mean; eight times is far in the tail of a sum of so many
//   independent errors.
//
// The residual of a wrong u is wrong by A times its error, at most 12 of it a point, and its own computation
// adds at most 9 roundings of numbers below 13 M. Squares may be added up in the rung's type by a thread, a
// thousand and as many again as the cube is wide. Residuals below 2^-60 may be missing.
Tolerance tolerance(const Run& run, const History& expected, double unit) {
    const double oracle = unit < 1e-10 ? 2 : 1;  // the oracle rounds as much as a rung in double does
    const double once = 9 * unit * expected.scale * oracle;
    const double grows = run.method == Method::sor ? 2 * 8 * largest_power(run) : 1;
    const double updates = run.method == Method::jacobi  ? 1
                           : run.method == Method::block ? 2 * run.sweeps
                                                         : 2;
    const double terms = 1024 + run.n, points = std::pow(static_cast<double>(run.n), 1.5);
    Tolerance allowed;
    allowed.point = run.iterations * updates * grows * once;
    for (int t = 0; t < run.iterations; ++t) {
        const double so_far = (t + 1) * updates * grows * once;
        const double norm = expected.norms[static_cast<std::size_t>(t)];
        allowed.norms.push_back(points * (12 * so_far + 13 * once + 0x1p-60) + terms / 2 * unit * norm);
    }
    return allowed;
}

}  // namespace red_black
