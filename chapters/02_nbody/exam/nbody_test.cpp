// What the contract of chapter 2 promises besides what all do. Each rung has its own tests, under its
// own tag: `[04_unrolled]`.

#include <cuda_runtime.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "exam/reference.hpp"
#include "exam/systems.hpp"
#include "ladder/promises.hpp"
#include "nbody.cuh"
#include "program/simulation.cuh"
#include "rungs/catch.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/stream.cuh"
#include "rungs/temporary_folder.hpp"

namespace {

using nbody::Rung;
using nbody::State;
using nbody::System;
using rungs::DeviceBuffer;
using Floats = std::vector<float>;
using Catch::Matchers::ContainsSubstring;

constexpr float softening = 0.125f;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

DeviceBuffer<float4> on_device(std::span<const float> floats) {
    std::vector<float4> quads(floats.size() / 4);
    if (!quads.empty()) std::memcpy(quads.data(), floats.data(), floats.size_bytes());
    return DeviceBuffer<float4>(quads);
}

Floats on_host(const DeviceBuffer<float4>& buffer) {
    const std::vector<float4> quads = buffer.to_host();
    Floats floats(4 * quads.size());
    if (!quads.empty()) std::memcpy(floats.data(), quads.data(), sizeof(float4) * quads.size());
    return floats;
}

/// n quads that start as NaN: a rung has to set them.
DeviceBuffer<float4> poisoned(std::size_t n) { return on_device(Floats(4 * n, nan)); }

int count(const Floats& bodies) { return static_cast<int>(bodies.size() / 4); }

/// The accelerations that a rung gives.
Floats force(const Rung& rung, const Floats& bodies, cudaStream_t stream = nullptr) {
    const DeviceBuffer<float4> x = on_device(bodies);
    DeviceBuffer<float4> a = poisoned(x.size());
    rung.accelerate(x.data(), a.data(), count(bodies), softening, stream);
    return on_host(a);
}

/// A system after some time.
System moved(const Rung& rung, const System& system, int steps, float dt) {
    DeviceBuffer<float4> x = on_device(system.bodies), v = on_device(system.velocity), a = poisoned(x.size());
    rung.leapfrog(x.data(), v.data(), x.data(), v.data(), a.data(), count(system.bodies), steps, dt,
                  softening, nullptr);
    return {on_host(x), on_host(v)};
}

// The promises. Each is a function of one rung; the table at the end makes a test of each pair.

void touches_nothing_without_bodies(const Rung& rung) {
    DeviceBuffer<float4> guard = on_device(Floats(8, 7.0f));
    rung.accelerate(nullptr, guard.data(), 0, softening, nullptr);
    rung.leapfrog(nullptr, nullptr, guard.data(), guard.data(), guard.data(), 0, 3, 0.1f, softening, nullptr);
    CHECK(on_host(guard) == Floats(8, 7.0f));
}

void lets_a_body_alone_rest(const Rung& rung) {
    CHECK(force(rung, {3, -4, 5, 100}) == Floats{0, 0, 0, 0});
    // Nor do bodies in one place pull each other.
    CHECK(force(rung, {3, -4, 5, 100, 3, -4, 5, 7}) == Floats(8, 0.0f));
}

void gives_the_same_bits_in_every_run(const Rung& rung) {
    const Floats bodies = nbody::two_heavy(2100, 11).bodies;
    const Floats first = force(rung, bodies);
    const rungs::Stream stream;
    for (int run = 0; run < 4; ++run) REQUIRE(force(rung, bodies, run % 2 ? stream.get() : nullptr) == first);
}

void adds_up_to_no_force(const Rung& rung) {
    // Newton's third law: the sum of m a is 0, to what rounding leaves. It scatters, so the sum is far
    // below the bound.
    const Floats bodies = nbody::cube(1000, 13).bodies;
    const Floats a = force(rung, bodies);
    nbody::Vector sum{};
    double scale = 0;
    for (std::size_t i = 0; i < 1000; ++i) {
        const nbody::Vector one{a[4 * i], a[4 * i + 1], a[4 * i + 2]};
        sum = sum + bodies[4 * i + 3] * one;
        scale += bodies[4 * i + 3] * nbody::length(one);
    }
    CHECK(nbody::length(sum) <= 1e-6 * scale);
}

void steps_in_place_and_apart_alike(const Rung& rung) {
    const System system = nbody::two_heavy(300, 17);
    const DeviceBuffer<float4> x = on_device(system.bodies), v = on_device(system.velocity);
    DeviceBuffer<float4> x_after = poisoned(300), v_after = poisoned(300), a = poisoned(300);
    rung.leapfrog(x.data(), v.data(), x_after.data(), v_after.data(), a.data(), 300, 5, 0.01f, softening,
                  nullptr);
    const System in_place = moved(rung, system, 5, 0.01f);
    CHECK(on_host(x_after) == in_place.bodies);
    CHECK(on_host(v_after) == in_place.velocity);
    CHECK(on_host(x) == system.bodies);
    CHECK(on_host(v) == system.velocity);
    // Three steps and two are five steps, except for the rounding of two half kicks instead of a whole one.
    const System resumed = moved(rung, moved(rung, system, 3, 0.01f), 2, 0.01f);
    for (std::size_t i = 0; i < resumed.bodies.size(); ++i) {
        REQUIRE(std::abs(resumed.bodies[i] - in_place.bodies[i]) < 1e-6f);
    }
}

void keeps_energy_to_second_order(const Rung& rung) {
    // Half the step, a fourth of the error; and no drift: on the way back the same energy returns.
    const System start = nbody::orbit(24, 19);
    const auto drift = [&](const System& system) {
        const double before = nbody::energy(nbody::state_of(start.bodies, start.velocity), softening).total();
        return nbody::energy(nbody::state_of(system.bodies, system.velocity), softening).total() / before - 1;
    };
    const double coarse = std::abs(drift(moved(rung, start, 20, 0.1f)));
    const double fine = std::abs(drift(moved(rung, start, 40, 0.05f)));
    CAPTURE(coarse, fine);
    CHECK(fine > 1e-5);
    CHECK(std::abs(coarse / fine - 4) < 0.5);

    const System there = moved(rung, start, 64, 1.0f / 32);
    const System back = moved(rung, there, 64, -1.0f / 32);  // a leapfrog can be run backwards
    for (std::size_t i = 0; i < start.bodies.size(); ++i) {
        REQUIRE(std::abs(back.bodies[i] - start.bodies[i]) < 1e-4f);
    }
}

// The table of tests: every promise, for every rung of the contract's own table.

constexpr rungs::Promise<Rung> promises[] = {
    {touches_nothing_without_bodies, "touches nothing without bodies"},
    {lets_a_body_alone_rest, "lets a body alone rest"},
    {gives_the_same_bits_in_every_run, "gives the same bits in every run"},
    {adds_up_to_no_force, "adds up to no force"},
    {steps_in_place_and_apart_alike, "steps in place and apart alike"},
    {keeps_energy_to_second_order, "keeps energy to second order"},
};

const bool registered = rungs::register_promises<nbody::rungs, promises>("02_nbody");

}  // namespace

TEST_CASE("an interrupted run goes on where it was, with the same bits", "[02_nbody][program]") {
    nbody::Options options;
    options.n = 100, options.frames = 4, options.steps = 3;
    const rungs::TemporaryFolder folder;
    const auto finish = [&] {
        nbody::Simulation simulation(options);
        const int found = simulation.done();
        while (simulation.done() <= options.frames) simulation.next(nbody::rungs[0]);
        return std::pair{found, simulation.frame(options.frames).bodies};
    };
    options.out = folder / "whole";
    const auto whole = finish();
    CHECK(whole.first == 0);

    options.out = folder / "parts";
    for (int done = 0; done < 3; ++done) {
        nbody::Simulation simulation(options);
        CHECK(simulation.done() == done);
        simulation.next(nbody::rungs[0]);
    }
    const auto parts = finish();
    CHECK(parts.first == 3);
    CHECK(parts.second == whole.second);

    options.seed = 2;  // other bodies in the same folder
    CHECK_THROWS_WITH(nbody::Simulation(options),
                      ContainsSubstring("another run") && ContainsSubstring("--fresh"));
    options.fresh = true;
    CHECK(nbody::Simulation(options).done() == 0);

    // A frame cut short is not a frame.
    options.fresh = false;
    nbody::Simulation(options).next(nbody::rungs[0]);
    std::filesystem::resize_file(options.out / "frames" / "0000.bin", 100);
    CHECK_THROWS_AS(nbody::Simulation(options), rungs::FileError);
}

TEST_CASE("the program refuses what it does not understand", "[02_nbody][program]") {
    const auto parse = [](std::vector<const char*> words) {
        words.insert(words.begin(), "nbody");
        nbody::Options options;
        const auto count = static_cast<int>(words.size());
        const bool goes_on = rungs::parse_options(count, words.data(), "nbody", "bodies", options);
        CHECK(goes_on);
        return options;
    };
    const nbody::Options options = parse({"--bodies", "17", "--rung", "03", "--fresh"});
    CHECK(options.n == 17);
    CHECK(options.rung == "03");
    CHECK(options.fresh);
    CHECK(parse({}).out == "nbody-out");
    CHECK(parse({"--out", "a b"}).out == "a b");
    CHECK_THROWS_WITH(parse({"--bodies", "0"}),
                      ContainsSubstring("--bodies") &&
                          (ContainsSubstring("1 to 4194304") || ContainsSubstring("1 - 4194304")));
    CHECK_THROWS_WITH(parse({"--bodies", "many"}),
                      ContainsSubstring("--bodies") && ContainsSubstring("many"));
    CHECK_THROWS_WITH(parse({"--softening", "0"}), ContainsSubstring("--softening"));
    CHECK_THROWS_WITH(parse({"--seed", "-1"}), ContainsSubstring("--seed"));
    CHECK_THROWS_WITH(parse({"--out"}), ContainsSubstring("--out"));
    CHECK_THROWS_WITH(parse({"--stars", "3"}), ContainsSubstring("--stars") && ContainsSubstring("--help"));
}
