#pragma once

#include <cmath>

namespace rungs::judge {

/// Points are rounded to hundredths wherever they arise, so that what is shown is what is added up.
inline double hundredths(double points) { return std::round(100 * points) / 100; }

}  // namespace rungs::judge
