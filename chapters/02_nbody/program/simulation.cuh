#pragma once
// A run of the chapter's program: bodies that move from one frame to the next, each frame a file, so that a
// run that was stopped goes on where it was.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "exam/reference.hpp"
#include "exam/systems.hpp"
#include "nbody.cuh"
#include "program/options.hpp"
#include "rungs/atomic_file.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/timing.cuh"

namespace nbody {

class Simulation {
  public:
    /// Takes up the frames that the folder holds. @throws rungs::FileError, std::runtime_error for
    /// another run's folder
    explicit Simulation(const Options& options)
        : options_(options), system_(two_heavy(size(), options.seed)), x_(size()), v_(size()), a_(size()) {
        namespace fs = std::filesystem;
        const fs::path settings = options.out / "run.txt";
        if (options.fresh) fs::remove_all(options.out / "frames");
        fs::create_directories(options.out / "frames");
        if (!options.fresh && fs::exists(settings) && rungs::read_file(settings) != options.physics()) {
            throw std::runtime_error(options.out.string() +
                                     " holds another run: " + rungs::read_file(settings) +
                                     "asked for:                 " + options.physics() +
                                     "choose another folder with --out, or begin anew with --fresh");
        }
        rungs::write_file(settings, options.physics());
        while (done_ <= options.frames && fs::exists(file(done_))) ++done_;
        if (done_ > 0) system_ = frame(done_ - 1);
        upload();
    }

    int done() const { return done_; }  ///< frames that there are

    /// One call of a rung's force on the present bodies. @return what is wrong with it, in units of what
    /// rounding explains (NaN for NaN), and milliseconds
    std::pair<double, double> try_rung(const Rung& rung, const rungs::TimingOptions& timing) {
        a_.fill_bytes(0xff);
        const auto force = [&](cudaStream_t stream) {
            rung.accelerate(x_.data(), a_.data(), options_.n, options_.softening, stream);
        };
        force(nullptr);
        const std::vector<float4> a = a_.to_host();
        const State state = state_of(system_.bodies);
        double worst = 0;
        for (std::size_t i = 0; i < a.size(); i += 1 + a.size() / 500) {
            const Pull pull = reference_pull(state, i, options_.softening);
            const double scale = (pull.magnitude > 0 ? pull.magnitude : 1) * force_tolerance(a.size());
            const double error = length(Vector{a[i].x, a[i].y, a[i].z} - pull.sum) / scale;
            if (!(error <= worst)) worst = error;
        }
        return {worst, rungs::median_milliseconds(force, timing)};
    }

    /// Moves on to the next frame, and writes it: four floats a body for where it is, then four for its
    /// velocity. @throws rungs::CudaError, rungs::FileError
    void next(const Rung& rung) {
        if (done_ > 0) {
            rung.leapfrog(x_.data(), v_.data(), x_.data(), v_.data(), a_.data(), options_.n, options_.steps,
                          options_.dt(), options_.softening, nullptr);
            download(x_, system_.bodies), download(v_, system_.velocity);
        }
        const auto bytes = [](const std::vector<float>& floats) {
            return std::string(reinterpret_cast<const char*>(floats.data()), floats.size() * sizeof(float));
        };
        rungs::write_file(file(done_), bytes(system_.bodies) + bytes(system_.velocity));
        ++done_;
    }

    /// A frame as it was written. @throws rungs::FileError, also for a file that is not one of this run
    System frame(int number) const {
        const std::string both = rungs::read_file(file(number));
        const std::size_t half = sizeof(float) * 4 * size();
        if (both.size() != 2 * half) throw rungs::FileError(file(number), 0, "is not a frame of this run");
        System frame{std::vector<float>(4 * size()), std::vector<float>(4 * size())};
        std::memcpy(frame.bodies.data(), both.data(), half);
        std::memcpy(frame.velocity.data(), both.data() + half, half);
        return frame;
    }

  private:
    std::size_t size() const { return static_cast<std::size_t>(options_.n); }
    std::filesystem::path file(int number) const {
        char name[32];
        std::snprintf(name, sizeof name, "%04d.bin", number);
        return options_.out / "frames" / name;
    }
    static void download(const rungs::DeviceBuffer<float4>& buffer, std::vector<float>& floats) {
        const std::vector<float4> quads = buffer.to_host();
        std::memcpy(floats.data(), quads.data(), buffer.bytes());
    }
    void upload() {
        std::vector<float4> quads(size());
        std::memcpy(quads.data(), system_.bodies.data(), x_.bytes());
        x_.copy_from(quads);
        std::memcpy(quads.data(), system_.velocity.data(), v_.bytes());
        v_.copy_from(quads);
    }

    Options options_;
    System system_;
    rungs::DeviceBuffer<float4> x_, v_, a_;
    int done_ = 0;
};

/// Tries the rungs that were asked for. @return the fastest that is right, or none; `all_right` says how
/// the others did
inline const Rung* choose(Simulation& simulation, const Options& options, bool gpu, bool& all_right) {
    rungs::TimingOptions timing;
    timing.rounds = 5;
    if (!gpu) timing.rounds = timing.calls = 1, timing.warm_up = 0;
    const Rung* fastest = nullptr;
    double least = 0;
    bool found = false;
    std::printf("%-20s %10s %12s %22s\n", "rung", "error", gpu ? "ms" : "emulated ms",
                "interactions a second");
    for (const Rung& rung : nbody::rungs) {
        if (std::string(rung.name).rfind(options.rung, 0) != 0) continue;
        found = true;
        rungs::announce(rung.name);
        const auto [error, ms] = simulation.try_rung(rung, timing);
        const bool right = error <= 1;  // false for NaN
        all_right = all_right && right;
        std::printf("%-20s %10.2g %12.3f %22.3g%s\n", rung.name,
                    error * force_tolerance(static_cast<std::size_t>(options.n)), ms,
                    1e3 * static_cast<double>(options.n) * options.n / ms,
                    right ? "" : "  WRONG: more than rounding explains");
        if (right && (!fastest || ms < least)) fastest = &rung, least = ms;
    }
    if (!found) throw std::invalid_argument("there is no rung '" + options.rung + "'; see --help");
    return fastest;
}

}  // namespace nbody
