// What the contract of chapter 3 promises besides what all do. Each rung has its own tests, under its
// own tag: `[05_shared_halo]`.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "exam/reference.hpp"
#include "jacobi.cuh"
#include "ladder/promises.hpp"
#include "rungs/catch.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/random.hpp"

namespace {

using jacobi::Lattice;
using jacobi::Rung;
using rungs::DeviceBuffer;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// One call with buffers of its own, poisoned with NaN.
class Call {
  public:
    Call(const Lattice& lattice, const std::vector<float>& start)
        : lattice_(lattice),
          start_(jacobi::with_pitch(start, lattice.nx, lattice.ny, nan)),
          phi_(start_.size()),
          work_(start_.size()),
          norm_(1),
          sweeps_(1) {
        phi_.fill_bytes(0xff), work_.fill_bytes(0xff), norm_.fill_bytes(0xff), sweeps_.fill_bytes(0xff);
    }

    Call& run(const Rung& rung, int most, float eps = -1) {
        rung.solve(start_.data(), phi_.data(), work_.data(), norm_.data(), sweeps_.data(), lattice_.nx,
                   lattice_.ny, lattice_.q, lattice_.x0, lattice_.y0, most, eps, nullptr);
        return *this;
    }

    std::vector<float> phi() const { return jacobi::without_pitch(phi_.to_host(), lattice_.nx, lattice_.ny); }
    float norm() const { return norm_.to_host()[0]; }
    int sweeps() const { return sweeps_.to_host()[0]; }

  private:
    Lattice lattice_;
    DeviceBuffer<float> start_, phi_, work_, norm_;
    DeviceBuffer<int> sweeps_;
};

std::vector<float> random_start(const Lattice& lattice, std::uint64_t seed) {
    return rungs::random_field(static_cast<std::size_t>(lattice.nx) * static_cast<std::size_t>(lattice.ny),
                               seed, rungs::signed_uniform);
}

bool near(const std::vector<float>& got, const jacobi::Reference& expected, const Lattice& lattice) {
    const double allowed =
        jacobi::rounding_bound(lattice, expected.largest, static_cast<int>(expected.norms.size()));
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (!(std::abs(got[i] - expected.phi[i]) <= allowed)) return false;
    }
    return true;
}

// The promises. Each is a function of one rung; the table at the end makes a test of each pair.

void gives_the_field_of_every_sweep(const Rung& rung) {
    const Lattice lattice{45, 21, 1.5f, 40, 3};
    const std::vector<float> start = random_start(lattice, 3);
    for (const int most : {0, 1, 2, 3, 7, 16, 31, 32, 33, 130}) {
        const jacobi::Reference expected = jacobi::reference_solve(start, lattice, most, -1);
        Call call(lattice, start);
        call.run(rung, most);
        CAPTURE(most);
        CHECK(call.sweeps() == most);
        CHECK(near(call.phi(), expected, lattice));
        CHECK(std::abs(call.norm() - (most ? expected.norms.back() : 0)) <=
              jacobi::norm_bound(lattice, expected.largest, most ? expected.norms.back() : 0));
    }
}

void stops_at_the_first_small_sweep(const Rung& rung) {
    const Lattice lattice{23, 37, -2, 5, 30};
    const std::vector<float> start = random_start(lattice, 4);
    const jacobi::Reference all = jacobi::reference_solve(start, lattice, 150, -1);
    for (const int stop : {1, 2, 5, 15, 16, 17, 31, 32, 100, 128, 129}) {
        const auto at = static_cast<std::size_t>(stop);
        const double before = at > 1 ? all.norms[at - 2] : 2 * all.norms[0];
        const auto eps = static_cast<float>(std::sqrt(before * all.norms[at - 1]));
        Call call(lattice, start);
        call.run(rung, 1'000, eps);
        CAPTURE(stop, eps);
        CHECK(call.sweeps() == stop);
        CHECK(call.norm() <= eps);
        CHECK(near(call.phi(), jacobi::reference_solve(start, lattice, stop, -1), lattice));
    }
    Call call(lattice, start);
    call.run(rung, 1'000, std::numeric_limits<float>::infinity());  // every norm is as small
    CHECK(call.sweeps() == 1);
    CHECK(near(call.phi(), jacobi::reference_solve(start, lattice, 1, -1), lattice));
}

void stops_at_most_when_nothing_gets_small(const Rung& rung) {
    const Lattice lattice{20, 20, 0, 0, 0};
    const std::vector<float> start = random_start(lattice, 5);
    Call call(lattice, start);
    call.run(rung, 37, 1e-20f);
    CHECK(call.sweeps() == 37);
    CHECK(near(call.phi(), jacobi::reference_solve(start, lattice, 37, -1), lattice));
}

void keeps_its_range(const Rung& rung) {
    // No field has larger updates than a checkerboard; and with eps = 0 no sweep is the last.
    const Lattice lattice{6, 6, 0, 0, 0};
    for (const float size : {0x1p-50f, 0x1p50f}) {
        std::vector<float> start;
        for (int i = 0; i < 36; ++i) start.push_back((i / 6 + i % 6) % 2 ? -size : size);
        const jacobi::Reference expected = jacobi::reference_solve(start, lattice, 40, 0);
        Call call(lattice, start);
        call.run(rung, 40, 0);
        CAPTURE(size);
        CHECK(call.sweeps() == 40);
        CHECK(near(call.phi(), expected, lattice));
        CHECK(std::abs(call.norm() - expected.norms.back()) <=
              jacobi::norm_bound(lattice, expected.largest, expected.norms.back()));
    }
}

void obeys_the_maximum_principle(const Rung& rung) {
    // A mean of four values lies among them, in floats too; so does every iterate.
    const Lattice lattice{40, 50, 0, 0, 0};
    const std::vector<float> start = random_start(lattice, 6);
    const auto [low, high] = std::minmax_element(start.begin(), start.end());
    for (const int most : {1, 20}) {
        for (const float value : Call(lattice, start).run(rung, most).phi()) {
            REQUIRE(value >= *low);
            REQUIRE(value <= *high);
        }
    }
}

void is_symmetric_where_the_problem_is(const Rung& rung) {
    const Lattice lattice{65, 33, 0, 0, 0};
    std::vector<float> start(65 * 33, 0.0f);
    std::fill(start.end() - 65, start.end(), 1.0f);
    const std::vector<float> phi = Call(lattice, start).run(rung, 64).phi();
    const double allowed = 2 * jacobi::rounding_bound(lattice, 1, 64);
    for (std::size_t i = 0; i < phi.size(); ++i) {
        REQUIRE(std::abs(phi[i] - phi[i / 65 * 65 + 64 - i % 65]) <= allowed);
    }
}

void solves_a_lattice_beyond_the_chip(const Rung& rung) {
    // More tiles than the GPU holds at once, an odd number of everything, and a charge where four tiles meet.
    if (!rungs::on_a_gpu()) RUNGS_SKIP("a lattice of 20 million points is a matter for a GPU");
    const Lattice lattice{5003, 4001, 100, 2000, 2000};
    const std::vector<float> start = random_start(lattice, 11);
    for (const int most : {1, 17, 34}) {
        Call call(lattice, start);
        call.run(rung, most);
        CAPTURE(most);
        CHECK(near(call.phi(), jacobi::reference_solve(start, lattice, most, -1), lattice));
    }
}

// The table of tests: every promise, for every rung of the contract's own table.

constexpr rungs::Promise<Rung> promises[] = {
    {gives_the_field_of_every_sweep, "gives the field of every sweep"},
    {stops_at_the_first_small_sweep, "stops at the first small sweep"},
    {stops_at_most_when_nothing_gets_small, "stops at most when nothing gets small"},
    {keeps_its_range, "keeps its range"},
    {obeys_the_maximum_principle, "obeys the maximum principle"},
    {is_symmetric_where_the_problem_is, "is symmetric where the problem is"},
    {solves_a_lattice_beyond_the_chip, "solves a lattice beyond the chip"},
};

const bool registered = rungs::register_promises<jacobi::rungs, promises>("03_jacobi");

}  // namespace

TEST_CASE("passes stop at the exact sweep, to the bit as sweep by sweep",
          "[03_jacobi][08_two_sweeps][09_temporal]") {
    // Stopping at a pass and going back must give the very bits of going there sweep by sweep.
    const Lattice lattice{150, 140, 1, 75, 64};
    const std::vector<float> start = random_start(lattice, 12);
    const jacobi::Reference all = jacobi::reference_solve(start, lattice, 30, -1);
    const auto eps = static_cast<float>(std::sqrt(all.norms[20] * all.norms[21]));
    for (const Rung& rung : jacobi::rungs) {
        const std::string name = rung.name;
        if (name != "08_two_sweeps" && name != "09_temporal") continue;
        CAPTURE(name);
        Call until(lattice, start), exactly(lattice, start);
        until.run(rung, 1'000, eps);
        exactly.run(rung, 22);
        CHECK(until.sweeps() == 22);
        CHECK((until.phi() == exactly.phi()));  // in parentheses: nobody wants to see 42000 numbers
        CHECK(until.norm() == exactly.norm());
    }
}
