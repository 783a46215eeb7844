#pragma once
// The data of the chapter's program.

#include <algorithm>
#include <cstddef>
#include <vector>

#include "exam/reference.hpp"
#include "jacobi.cuh"
#include "program/options.hpp"
#include "rungs/device_buffer.cuh"

namespace jacobi {

/// One lattice on the host and on the device, the same for every rung.
class Problem {
  public:
    explicit Problem(const Options& options)
        : lattice_{options.nx, options.ny, static_cast<float>(options.charge), options.nx / 2,
                   options.ny / 2},
          options_(options),
          sites_(static_cast<std::size_t>(options.nx) * static_cast<std::size_t>(options.ny), 0.0f),
          start_(pitch_of(options.nx) * static_cast<std::size_t>(options.ny)),
          phi_(start_.size()),
          work_(start_.size()) {
        if (options.charge == 0) std::fill(sites_.end() - options.nx, sites_.end(), 1.0f);
        start_.copy_from(with_pitch(sites_, options.nx, options.ny, 0));
    }

    const Lattice& lattice() const { return lattice_; }
    const std::vector<float>& start() const { return sites_; }

    /// Takes the last results away, so that a rung that writes none is seen.
    void forget() {
        phi_.fill_bytes(0xff);
        work_.fill_bytes(0xff);
        norm_.fill_bytes(0xff);
        sweeps_.fill_bytes(0xff);
    }

    /// Queues one solve, from the start.
    void run(const Rung& rung, cudaStream_t stream = nullptr) {
        solve(rung, start_, options_.most, static_cast<float>(options_.eps), stream);
    }

    /// Norms along the way: of the sweeps 1, 2, 4 ... up to the one where the iteration stops.
    /// @param rung  solves from the start for each of them
    /// @param sweeps  receives the numbers of these sweeps
    std::vector<double> history(const Rung& rung, std::vector<double>& sweeps) {
        std::vector<double> norms;
        rungs::DeviceBuffer<float> from(start_.size());
        from.copy_from(start_);
        int done = 0;
        for (int next = 1; done < options_.most; next = next + 1 + next / 8) {
            solve(rung, from, std::min(next, options_.most) - done, static_cast<float>(options_.eps),
                  nullptr);
            done += this->sweeps();
            from.copy_from(phi_);
            sweeps.push_back(done);
            norms.push_back(norm());
            if (done < next) break;
        }
        return norms;
    }

    std::vector<float> phi() const { return without_pitch(phi_.to_host(), lattice_.nx, lattice_.ny); }
    float norm() const { return norm_.to_host()[0]; }    ///< of the call before
    int sweeps() const { return sweeps_.to_host()[0]; }  ///< @copydoc norm

  private:
    void solve(const Rung& rung, const rungs::DeviceBuffer<float>& from, int most, float eps,
               cudaStream_t stream) {
        rung.solve(from.data(), phi_.data(), work_.data(), norm_.data(), sweeps_.data(), lattice_.nx,
                   lattice_.ny, lattice_.q, lattice_.x0, lattice_.y0, most, eps, stream);
    }

    Lattice lattice_;
    Options options_;
    std::vector<float> sites_;
    rungs::DeviceBuffer<float> start_, phi_, work_, norm_{1};
    rungs::DeviceBuffer<int> sweeps_{1};
};

}  // namespace jacobi
