#pragma once

#include <cmath>

namespace rungs::judge {

/// Points are hundredths, wherever they come about: so what is told, and what is added up, are one number.
inline double hundredths(double points) { return std::round(100 * points) / 100; }

}  // namespace rungs::judge
