// The exam itself on trial: honest forces and leapfrogs must pass, each classic fault must fail, and the
// cause that a student reads must be the right one. No rung is called here.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "exam/reference.hpp"
#include "exam/systems.hpp"
#include "ladder/chapter_exam.hpp"
#include "ladder/exam_trial.hpp"
#include "rungs/catch.hpp"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"
#include "rungs/random.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Floats = std::vector<float>;
using Bodies = std::span<const float>;
using Force = std::function<Floats(Bodies, float softening)>;

const std::unique_ptr<rungs::Exam> exam = rungs::make_chapter_exam();

/// What a force can get wrong.
struct Fault {
    float softening_power = 2;   ///< softening to this power is added to the squared distance
    double exponent = 3;         ///< of the distance
    float sign = 1;              ///< of the vector
    bool own_mass = false;       ///< times the mass of the body itself, too
    bool sixth_power = false;    ///< 1 / sqrt(r^6), as in a well-known listing
    bool expanded = false;       ///< |x|^2 + |y|^2 - 2 x y for the squared distance
    std::size_t tile = 0;        ///< only whole tiles of this many bodies pull
    std::size_t step = 1;        ///< only every step-th body pulls
    std::size_t skip_block = 0;  ///< bodies from here on are not written
    int bits = 24;               ///< significant bits of what is read
    std::size_t last_of = 0;     ///< the last of every so many bodies does not pull
    int component = -1;          ///< of the sum, to which nothing is added
    std::size_t padding = 0;     ///< bodies at the origin that are added up, too
    float (*mass)(float other, float own) = [](float other, float) { return other; };
};

Force faulty(const Fault& fault) {
    return [fault](Bodies bodies, float softening) {
        const std::size_t n = bodies.size() / 4;
        const std::size_t pulling = fault.tile ? n / fault.tile * fault.tile : n + fault.padding;
        const float added = std::pow(softening, fault.softening_power);
        const auto read = [&](std::size_t i) {
            if (i >= bodies.size()) return 0.0f;
            return fault.bits < 24 ? rungs::rounded(bodies[i], fault.bits) : bodies[i];
        };
        Floats out(4 * n, 0.0f);
        for (std::size_t i = 0; i < n; ++i) {
            if (fault.skip_block && i >= fault.skip_block) {
                std::fill_n(out.begin() + static_cast<long>(4 * i), 4,
                            std::numeric_limits<float>::quiet_NaN());
                continue;
            }
            for (std::size_t j = 0; j < pulling; j += fault.step) {
                if (fault.last_of && j % fault.last_of == fault.last_of - 1) continue;
                float d[3], squared = added, dot = 0, left = 0, right = 0;
                for (std::size_t c = 0; c < 3; ++c) {
                    const float x = read(4 * i + c), y = read(4 * j + c);
                    d[c] = fault.sign * (y - x);
                    squared += d[c] * d[c];
                    left += x * x, right += y * y, dot += x * y;
                }
                if (fault.expanded) squared = added + std::max(0.0f, left + right - 2 * dot);
                float factor = fault.sixth_power
                                   ? 1 / std::sqrt(squared * squared * squared)
                                   : static_cast<float>(std::pow(double(squared), -fault.exponent / 2));
                factor *= fault.mass(read(4 * j + 3), bodies[4 * i + 3]) *
                          (fault.own_mass ? bodies[4 * i + 3] : 1.0f);
                for (std::size_t c = 0; c < 3; ++c) {
                    if (static_cast<int>(c) != fault.component) out[4 * i + c] += factor * d[c];
                }
            }
        }
        return out;
    };
}

const Force honest = faulty({});

/// Strips of 256 bodies visit each other, and what both sides of a pair feel is found once. `factor` is that
/// of the vector to the visitor for the visitor: right is minus the mass of the one at home.
/// @param handed  whether the visitor's sum moves on with it; else it stays in its lane
/// @param ring    whether strips meet as in a tournament; else a body is a strip, and visits all before it
Force in_pairs(float (*factor)(float home, float visitor), bool handed = true, bool ring = true) {
    return [=](Bodies bodies, float softening) {
        const std::size_t strip = ring ? 256 : 1;
        const std::size_t n = bodies.size() / 4, strips = (n + strip - 1) / strip;
        Floats padded(bodies.begin(), bodies.end()), out(4 * strips * strip, 0.0f);
        padded.resize(out.size(), 0.0f);
        for (std::size_t i = 0; i < strips * strip; ++i) {
            for (std::size_t j = 0; j < strips * strip; ++j) {
                const std::size_t away = (j / strip + strips - i / strip) % strips;
                if (ring ? 2 * away > strips || (2 * away == strips && i > j) : j < i) continue;
                float d[3], squared = softening * softening;
                for (std::size_t c = 0; c < 3; ++c) {
                    d[c] = padded[4 * j + c] - padded[4 * i + c];
                    squared += d[c] * d[c];
                }
                const float inverse3 = 1 / (squared * std::sqrt(squared));
                const std::size_t to = handed ? j : j / 32 * 32 + i % 32;
                for (std::size_t c = 0; c < 3; ++c) {
                    out[4 * i + c] += padded[4 * j + 3] * inverse3 * d[c];
                    if (away > 0)
                        out[4 * to + c] += factor(padded[4 * i + 3], padded[4 * j + 3]) * inverse3 * d[c];
                }
            }
        }
        out.resize(4 * n);
        return out;
    };
}

rungs::Check judge(const rungs::Case& which, const Force& force) {
    const rungs::Task task = exam->make(which);
    const auto softening = static_cast<float>(task.numbers.back().real);
    const std::vector<rungs::Array> outputs{
        rungs::Array::of("acceleration", force(task.inputs[0].as<float>(), softening))};
    return exam->check(which, task, outputs);
}

/// Body j pulls times(j) times.
Force weighted(std::function<float(std::size_t)> times) {
    return [=](Bodies bodies, float softening) {
        Floats pulling(bodies.begin(), bodies.end());
        for (std::size_t j = 0; j < bodies.size() / 4; ++j) pulling[4 * j + 3] *= times(j);
        return honest(pulling, softening);
    };
}

rungs::Case cube(long long n, std::uint64_t seed = 1) { return {"force", {n}, "cube", seed}; }

// Honest sums in other orders.

Floats backwards(Bodies bodies, float softening) {
    const std::size_t n = bodies.size() / 4;
    Floats mirrored(bodies.begin(), bodies.end());
    const auto mirror = [n](Floats& values) {
        for (std::size_t i = 0; i < n / 2; ++i) {
            std::swap_ranges(values.begin() + static_cast<long>(4 * i),
                             values.begin() + static_cast<long>(4 * i + 4),
                             values.begin() + static_cast<long>(4 * (n - 1 - i)));
        }
    };
    mirror(mirrored);
    Floats out = honest(mirrored, softening);
    mirror(out);
    return out;
}

Floats in_double(Bodies bodies, float softening) {
    const nbody::State state = nbody::state_of(bodies);
    Floats out(bodies.size(), 0.0f);
    for (std::size_t i = 0; i < state.size(); ++i) {
        const nbody::Vector sum = nbody::reference_pull(state, i, softening).sum;
        for (std::size_t c = 0; c < 3; ++c) out[4 * i + c] = static_cast<float>(sum[c]);
    }
    return out;
}

/// What a leapfrog can get wrong.
struct Misstep {
    bool half_kick = true;   ///< begins and ends with half a kick
    bool stale = false;      ///< each force is that of the step before
    bool crossed = false;    ///< the x velocity takes the z acceleration: a well-known listing's slip
    bool euler = false;      ///< drifts with the old velocity
    bool heavier = false;    ///< the mass grows
    bool lopsided = false;   ///< the second body does not feel the first
    std::size_t fewer = 0;   ///< steps left out at the end
    float drift_factor = 1;  ///< of the step
};

rungs::Check judge_leapfrog(const rungs::Case& which, const Misstep& misstep) {
    const rungs::Task task = exam->make(which);
    const auto x_before = task.inputs[0].as<float>(), v_before = task.inputs[1].as<float>();
    Floats x(x_before.begin(), x_before.end()), v(v_before.begin(), v_before.end());
    const auto steps = static_cast<std::size_t>(task.numbers[1].integer) - misstep.fewer;
    const auto dt = static_cast<float>(task.numbers[2].real),
               softening = static_cast<float>(task.numbers[3].real);
    const auto force = [&] {
        Floats a = honest(x, softening);
        if (misstep.lopsided) std::fill_n(a.begin() + 4, 3, 0.0f);
        return a;
    };
    Floats a = force(), old = a;
    const auto kick = [&](float time) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (i % 4 < 3)
                v[i] += time * (misstep.stale ? old : a)[misstep.crossed && i % 4 == 0 ? i + 2 : i];
        }
    };
    for (std::size_t step = 0; step < steps; ++step) {
        const Floats before = v;
        kick(misstep.half_kick && step == 0 ? dt / 2 : dt);
        const Floats& velocity = misstep.euler ? before : v;
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (i % 4 < 3) x[i] += misstep.drift_factor * dt * velocity[i];
            if (i % 4 == 3 && misstep.heavier) x[i] *= 1.0001f;
        }
        old = a;
        a = force();
    }
    if (misstep.half_kick && steps > 0) kick(dt / 2);
    if (misstep.stale) a = old;
    const std::vector<rungs::Array> outputs{
        rungs::Array::of("bodies_after", x), rungs::Array::of("velocity_after", v),
        rungs::Array::of("acceleration", misstep.lopsided ? honest(x, softening) : a)};
    return exam->check(which, task, outputs);
}

}  // namespace

TEST_CASE("the oracle knows two bodies", "[exam][oracle]") {
    // Masses 2 and 3 at distance 4, softening 3: r^2 + s^2 = 25.
    const nbody::State state = nbody::state_of(Floats{0, 0, 0, 2, 4, 0, 0, 3});
    const nbody::Pull pull = nbody::reference_pull(state, 0, 3);
    CHECK(pull.sum[0] == 3 * 4 / 125.0);
    CHECK(pull.sum[1] == 0);
    CHECK(pull.magnitude == 3 * 4 / 125.0);
    CHECK(nbody::reference_pull(state, 1, 3).sum[0] == -2 * 4 / 125.0);
    CHECK(nbody::reference_pull(state, 0, 3, 1).magnitude == 0);
    CHECK(nbody::energy(state, 3).total() == Catch::Approx(-6 / 5.0));
    CHECK_THROWS_AS(nbody::state_of(Floats(5)), std::length_error);
    CHECK_THROWS_AS(nbody::state_of(Floats(8), Floats(4)), std::length_error);
}

TEST_CASE("the oracle's leapfrog follows a circle, with an error of second order", "[exam][oracle]") {
    // Two masses 1/2 at distance 1 circle in the time 2 pi.
    const auto error = [](std::size_t steps) {
        nbody::State state = nbody::state_of(Floats{-0.5f, 0, 0, 0.5f, 0.5f, 0, 0, 0.5f},
                                             Floats{0, -0.5f, 0, 0, 0, 0.5f, 0, 0});
        nbody::leapfrog(state, steps, 2 * 3.14159265358979 / static_cast<double>(steps), 1e-6);
        return nbody::length(state.place[1] - nbody::Vector{0.5, 0, 0});
    };
    CHECK(error(1000) < 1e-4);
    CHECK(std::abs(error(500) / error(1000) - 4) < 0.05);
}

TEST_CASE("the tolerance grows with the root of n", "[exam][tolerance]") {
    CHECK(nbody::force_tolerance(1) < 3e-6);
    const double few = nbody::force_tolerance(10'000), many = nbody::force_tolerance(1'000'000);
    CHECK(many / few > 5);
    CHECK(many / few < 10);
}

TEST_CASE("tasks have the arrays that the contract says", "[exam][cases]") {
    const rungs::Manifest manifest = rungs::read_manifest(RUNGS_CHAPTER_FOLDER);
    for (const rungs::Backend backend : {rungs::Backend::cpu, rungs::Backend::cuda}) {
        for (const rungs::Case& which : manifest.cases_of(manifest.rungs.back(), backend, 1)) {
            CAPTURE(which.problem, which.sizes, which.kind, which.seed);
            const rungs::Task task = exam->make(which);
            REQUIRE(task.inputs.size() == (which.problem == "force" ? 1u : 2u));
            REQUIRE(task.outputs.size() == (which.problem == "force" ? 1u : 3u));
            REQUIRE(task.inputs[0].count == 4 * static_cast<std::size_t>(which.sizes[0]));
            for (const float value : task.inputs[0].as<float>()) REQUIRE(std::isfinite(value));
        }
    }
}

TEST_CASE("the exam refuses what it does not know", "[exam][cases]") {
    CHECK_THROWS_WITH(exam->make({"torque", {10}, "cube"}), ContainsSubstring("torque"));
    CHECK_THROWS_WITH(exam->make({"force", {10}, "disk"}), ContainsSubstring("it has cube"));
    CHECK_THROWS_WITH(exam->make({"leapfrog", {10, 2}, "far"}), ContainsSubstring("it has cluster"));
    CHECK_THROWS_AS(exam->make({"force", {10, 10}, "cube"}), std::invalid_argument);
    CHECK_THROWS_AS(exam->make({"leapfrog", {10}, "cluster"}), std::invalid_argument);
    CHECK_THROWS_AS(exam->make({"force", {-1}, "cube"}), std::invalid_argument);
}

TEST_CASE("honest forces pass in every order, on all bodies", "[exam][tolerance]") {
    rungs::Honest answers;
    for (const rungs::Case& which : rungs::manifest_cases(1)) {
        if (which.problem != "force" || which.sizes[0] > 1100) continue;
        for (const Force& force : {honest, Force(backwards), Force(in_double)}) {
            const rungs::Check check = judge(which, force);
            answers.require(which, check, which.sizes[0] > 100);
            REQUIRE(check.first.empty());
        }
    }
    answers.require_room(0.6, 0.01);
}

TEST_CASE("the cause of a wrong force is named", "[exam][diagnosis]") {
    const auto with = [](auto change) {
        Fault fault;
        change(fault);
        return faulty(fault);
    };
    struct Named {
        const char* name;
        Force force;
        const char* cause;
    };
    const Named faults[] = {
        {"softening not squared", with([](Fault& f) { f.softening_power = 1; }), "without being squared"},
        {"softening squared twice", with([](Fault& f) { f.softening_power = 4; }), "squared twice"},
        {"squared distance", with([](Fault& f) { f.exponent = 2; }), "third power"},
        {"distance", with([](Fault& f) { f.exponent = 1; }), "divided by the distance"},
        {"repels", with([](Fault& f) { f.sign = -1; }), "wrong way"},
        {"force, not acceleration", with([](Fault& f) { f.own_mass = true; }), "m a"},
        {"last tile of 256 skipped", with([](Fault& f) { f.tile = 256; }), "whole tiles of 256"},
        {"last tile of 128 skipped", with([](Fault& f) { f.tile = 128; }), "whole tiles of 128"},
        {"loop ends early", with([](Fault& f) { f.last_of = 256; }), "last of every 256 bodies"},
        {"sum.x forgotten", with([](Fault& f) { f.component = 0; }), "only x is wrong"},
        {"half precision", with([](Fault& f) { f.bits = 11; }), "shorter than float"},
        {"last block not written", with([](Fault& f) { f.skip_block = 768; }), "bodies from 768 on are NaN"},
        {"nothing written", [](Bodies bodies, float) { return Floats(bodies.size(), std::nanf("")); },
         "never written"},
        {"nothing added", with([](Fault& f) { f.tile = 2000; }), "Does any body pull at all?"},
        {"mass of the body itself",
         with([](Fault& f) { f.mass = [](float, float own) { return own; }, f.padding = 24; }),
         "mass of the body itself"},
        {"no mass", with([](Fault& f) { f.mass = [](float, float) { return 1.0f; }; }),
         "masses were not used"},
        {"the loop leaves tiles out", weighted([](std::size_t j) { return j / 128 % 4 == 0 ? 1 : 0; }),
         "of every 4 tiles of 128 bodies only the first"},
        {"parts of 250 bodies in tiles of 128",
         weighted([](std::size_t j) { return j % 250 < 6 && j >= 250 ? 2 : 1; }), "some bodies pull twice"},
        {"parts of 2 bodies in tiles of 128", weighted([](std::size_t j) {
             return j >= 134 ? 0 : j / 2 < 4 ? j / 2 + 1 : 4 - (j < 128 ? 0 : (j - 126) / 2);
         }),
         "begin every 2 bodies"},
        {"8 bodies instead of 8 tiles", weighted([](std::size_t j) { return j < 8 ? 1 : 0; }),
         "only the first 8 bodies pull"},
        {"sums that begin anywhere",
         [](Bodies bodies, float softening) {
             Floats out = honest(bodies, softening);
             for (std::size_t i = 0; i < out.size(); ++i)
                 if (i % 4 < 3) out[i] += i % 5 ? 0.1f * static_cast<float>(i % 7) : 1e20f;
             return out;
         },
         "does every sum begin at 0"},
        {"the push is a pull", in_pairs([](float home, float) { return home; }), "pushed the wrong way"},
        {"the push has the visitor's mass", in_pairs([](float, float visitor) { return -visitor; }),
         "visitor's own mass"},
        {"no push", in_pairs([](float, float) { return 0.0f; }), "visitors feel nothing"},
        {"the push is a pull, body by body", in_pairs([](float home, float) { return home; }, true, false),
         "pushed the wrong way"},
        {"no push, body by body", in_pairs([](float, float) { return 0.0f; }, true, false),
         "only the one before the other is pulled"},
        {"the push is not handed on", in_pairs([](float home, float) { return -home; }, false), "handed on"},
    };
    for (const Named& fault : faults) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            const rungs::Check check = judge(cube(1000, seed), fault.force);
            CAPTURE(fault.name, seed, check.cause);
            CHECK(check.wrong > 100);
            CHECK(check.first.size() == 5);
            rungs::require_cause(check, fault.cause);
        }
    }
    CHECK_FALSE(judge(cube(1000), with([](Fault& f) { f.step = 2; })).passed);
    CHECK(judge(cube(1000), in_pairs([](float home, float) { return -home; })).passed);
    CHECK(judge(cube(1000), in_pairs([](float home, float) { return -home; }, true, false)).passed);
    // Only where it can be is a third power infinite.
    rungs::require_cause(judge({"force", {100}, "sparse"}, with([](Fault& f) { f.tile = 2000; })),
                         "Is their third power infinite?");
    // The last block is one: all bodies but some of the first are not.
    for (const auto& [first, named] : {std::pair<std::size_t, bool>{1, false}, {992, true}, {256, false}}) {
        const rungs::Check check = judge(cube(1000), [first = first](Bodies bodies, float softening) {
            Floats out = honest(bodies, softening);
            for (std::size_t i = 4 * first; i < out.size(); ++i)
                if (i % 4 < 3) out[i] *= 0.5f + 0.1f * static_cast<float>(i % 7);
            return out;
        });
        CAPTURE(first, check.cause);
        CHECK_FALSE(check.passed);
        CHECK((check.cause.find("look at the last block") != std::string::npos) == named);
    }
    // Each thread pulls the first of its two bodies alone.
    rungs::require_cause(judge(cube(1000),
                               [](Bodies bodies, float softening) {
                                   Floats out = honest(bodies, softening);
                                   for (std::size_t i = 0; i < out.size(); ++i)
                                       if (i / 512 % 2) out[i] = 0;
                                   return out;
                               }),
                         "488 of 1000 bodies have no acceleration, the first is body 128");
}

TEST_CASE("data find what ordinary bodies hide", "[exam][cases]") {
    Fault sixth, expanded;
    sixth.sixth_power = expanded.expanded = true;
    for (const long long n : {2, 33, 257, 521}) {
        CAPTURE(n);
        CHECK(judge(cube(n), faulty(sixth)).passed);  // the listing is right on these
        CHECK_FALSE(judge({"force", {n}, "sparse"}, faulty(sixth)).passed);
        CHECK_FALSE(judge({"force", {n}, "dense"}, faulty(sixth)).passed);
        CHECK_FALSE(judge({"force", {n}, "far"}, faulty(expanded)).passed);
        // If it is only a little wrong, the cause does not say that only one component is.
        for (std::uint64_t seed = 1; seed <= 8; ++seed) {
            const rungs::Check check = judge(cube(n, seed), faulty(expanded));
            if (!check.passed && check.error < 10 * check.tolerance) rungs::require_cause(check, "2 x y");
        }
    }
}

TEST_CASE("one body that does not pull is missed, at every size", "[exam][tolerance]") {
    const long long n = GENERATE(2, 3, 33, 257, 1025, 2053);
    const rungs::Check check = judge(cube(n), [](Bodies bodies, float softening) {
        Floats changed(bodies.begin(), bodies.end());
        changed[changed.size() / 8 * 4 + 3] = 0;  // the mass in the middle
        return honest(changed, softening);
    });
    CAPTURE(n);
    CHECK_FALSE(check.passed);
}

TEST_CASE("the fourth component must be 0, and every body is looked at", "[exam]") {
    const auto changed = [](std::size_t at, float value) {
        return [=](Bodies bodies, float softening) {
            Floats out = honest(bodies, softening);
            out[at] = value;
            return out;
        };
    };
    CHECK_THAT(judge(cube(100), changed(4 * 99 + 3, 1)).cause, ContainsSubstring("fourth component"));
    CHECK_FALSE(judge(cube(100), changed(0, std::nanf(""))).passed);
    const rungs::Check large = judge(cube(5000), changed(4 * 2500 + 1, std::nanf("")));  // compared or not
    CHECK_FALSE(large.passed);
    CHECK(large.of < 5000);
    CHECK(judge(cube(0), honest).passed);
}

TEST_CASE("noise is given no cause", "[exam][diagnosis]") {
    int guesses = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const rungs::Check check = judge(cube(257, seed), [seed](Bodies bodies, float) {
            return rungs::random_field(bodies.size(), seed + 100, rungs::signed_uniform);
        });
        CHECK_FALSE(check.passed);
        if (!check.cause.empty()) ++guesses;
    }
    CHECK(guesses <= 1);
}

TEST_CASE("honest leapfrogs pass", "[exam][leapfrog]") {
    for (std::uint64_t key = 1; key <= 5; ++key) {
        rungs::Honest answers;
        for (const rungs::Case& which : rungs::manifest_cases(key)) {
            if (which.problem == "leapfrog") answers.require(which, judge_leapfrog(which, {}));
        }
        answers.require_room(1, 0.01);
    }
}

TEST_CASE("an honest leapfrog keeps the energy of every orbit that is drawn", "[exam][leapfrog]") {
    // With the first seed and light bodies of a millionth of the pair's mass one came so close to the pair
    // that the energy told how: 1 in 100 draws failed a right rung.
    for (std::uint64_t seed = 0x7aafce3002933c8; seed < 0x7aafce3002933c8 + 500; ++seed) {
        const rungs::Check check = judge_leapfrog({"leapfrog", {14, 256}, "orbit", seed}, {});
        CAPTURE(seed, check.error, check.tolerance, check.measure, check.cause);
        REQUIRE(check.passed);
        REQUIRE(check.error < 0.5 * check.tolerance);
    }
}

TEST_CASE("a wrong leapfrog fails, and its cause is named", "[exam][leapfrog]") {
    const rungs::Case cluster{"leapfrog", {65, 8}, "cluster"}, refined{"leapfrog", {65, 16}, "refined"},
        orbit{"leapfrog", {14, 256}, "orbit"};
    const auto with = [](auto change) {
        Misstep misstep;
        change(misstep);
        return misstep;
    };
    struct Named {
        const char* name;
        rungs::Case which;
        Misstep misstep;
        const char* cause;
    };
    const Named faults[] = {
        {"no half kick", cluster, with([](Misstep& m) { m.half_kick = false; }), "elsewhere"},
        {"no half kick, refined", refined, with([](Misstep& m) { m.half_kick = false; }), "elsewhere"},
        {"no half kick, long", orbit, with([](Misstep& m) { m.half_kick = false; }), "energy drifts"},
        {"stale force", cluster, with([](Misstep& m) { m.stale = true; }), "earlier step"},
        {"x takes z", cluster, with([](Misstep& m) { m.crossed = true; }), "elsewhere"},
        {"Euler", orbit, with([](Misstep& m) { m.euler = true; }), "energy drifts"},
        {"mass grows", cluster, with([](Misstep& m) { m.heavier = true; }), "mass"},
        {"stops early", cluster, with([](Misstep& m) { m.fewer = 1; }), "elsewhere"},
        {"step too long", refined, with([](Misstep& m) { m.drift_factor = 1.01f; }), "elsewhere"},
    };
    for (const Named& fault : faults) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            rungs::Case which = fault.which;
            which.seed = seed;
            const rungs::Check check = judge_leapfrog(which, fault.misstep);
            CAPTURE(fault.name, seed, check.error, check.tolerance, check.measure, check.cause);
            rungs::require_cause(check, fault.cause);
        }
    }
    // A force that is one-sided, but consistently so, loses momentum.
    const rungs::Check check = judge_leapfrog(orbit, with([](Misstep& m) { m.lopsided = true; }));
    CAPTURE(check.cause);
    CHECK_FALSE(check.passed);
}

TEST_CASE("useful work is counted once", "[exam]") {
    const rungs::Work force = exam->work(cube(1000));
    CHECK(force.bytes == 32'000);
    CHECK(force.flops == 20e6);
    const rungs::Work leapfrog = exam->work({"leapfrog", {1000, 9}, "cluster"});
    CHECK(leapfrog.bytes == 80'000);
    CHECK(leapfrog.flops == 200e6);
}
