#pragma once
// A rung's solve in float as the InnerSolve of float_inside.hpp: the preconditioner works on the device, and
// what it preconditions on the host.

#include <cstddef>
#include <vector>

#include "exam/reference.hpp"
#include "pcg.cuh"
#include "rungs/device_buffer.cuh"

namespace pcg {

class DeviceInside {
  public:
    /// @param rung   solves in float on the device
    /// @param grid   the cube
    /// @param limit  iterations of one call,
    /// @param gain   which ends sooner where ||r|| has fallen by this factor
    DeviceInside(FloatSolve* rung, const Grid& grid, int limit, double gain)
        : rung_(rung),
          grid_(grid),
          limit_(limit),
          gain_(gain),
          r_(grid.points()),
          e_(grid.points()),
          history_(static_cast<std::size_t>(limit) + 1),
          outcome_(2) {}

    int operator()(const std::vector<float>& r, double /*norm*/, std::vector<float>& e) {
        r_.copy_from(r);
        rung_(r_.data(), e_.data(), history_.data(), outcome_.data(), grid_.d, grid_.L, limit_, gain_,
              nullptr);
        e = e_.to_host();
        return outcome_.to_host()[1];
    }

  private:
    FloatSolve* rung_;
    Grid grid_;
    int limit_;
    double gain_;
    rungs::DeviceBuffer<float> r_, e_;
    rungs::DeviceBuffer<double> history_;
    rungs::DeviceBuffer<int> outcome_;
};

}  // namespace pcg
