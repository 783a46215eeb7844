// Stacks and the switch between them, without any block.
#include "runtime/fiber.h"

#include <cstdint>
#include <set>

#include "testing/catch.h"

namespace {

simt::Context root;
simt::Context sides[2];
int steps;
double sum;

// Values that live across a switch have to survive it: integers, doubles, the frame.
template <int Side>
void bounce() {
    int count = 0;
    double local = Side + 0.5;
    for (;;) {
        ++count;
        local *= 2;
        if (++steps == 1000) {
            sum = local;
            simt::switch_context(sides[Side], root);
        }
        simt::switch_context(sides[Side], sides[1 - Side]);
        if (local > 1e6) local = Side + 0.5 + count * 0;
    }
}

}  // namespace

TEST_CASE("two fibers take turns and keep their locals", "[simt][fiber]") {
    simt::FiberPool pool;
    pool.prepare();
    sides[0] = simt::start_context(pool.take(), bounce<0>);
    sides[1] = simt::start_context(pool.take(), bounce<1>);
    steps = 0;
    simt::switch_context(root, sides[0]);
    CHECK(steps == 1000);
    // The last step was side 1's 500th; its value doubles from 1.5 and starts again beyond a million.
    double expected = 1.5;
    for (int i = 1; i <= 500; ++i) {
        expected *= 2;
        if (i < 500 && expected > 1e6) expected = 1.5;
    }
    CHECK(sum == expected);
}

TEST_CASE("stacks are distinct, sized, and guarded", "[simt][fiber]") {
    simt::FiberPool pool;
    pool.prepare();
    std::set<char*> bottoms, sets;
    for (int i = 0; i < 200; ++i) {
        simt::Fiber& fiber = pool.take();
        CHECK(bottoms.insert(fiber.bottom).second);
        CHECK(fiber.size >= 64 * 1024);
        CHECK(fiber.top <= fiber.bottom + fiber.size);
        CHECK(fiber.top > fiber.bottom + fiber.size - 8192);
        CHECK(reinterpret_cast<std::uintptr_t>(fiber.top) % 16 == 0);
        CHECK(pool.in_guard(fiber.bottom - 1));
        CHECK(!pool.in_guard(fiber.bottom));
        fiber.bottom[0] = 1;  // the whole stack is there
        fiber.top[-1] = 1;
        sets.insert(fiber.top - (reinterpret_cast<std::uintptr_t>(fiber.top) & ~std::uintptr_t{4095}));
    }
    CHECK(sets.size() == 64);  // every cache line of a page is some stack's hot end
}

TEST_CASE("a stack that is given back is used again", "[simt][fiber]") {
    simt::FiberPool pool;
    pool.prepare();
    simt::Fiber& first = pool.take();
    pool.give_back(first);
    CHECK(&pool.take() == &first);
    pool.reset();
    std::set<simt::Fiber*> all;
    for (int i = 0; i < 64; ++i) all.insert(&pool.take());
    CHECK(all.count(&first) == 1);
}

TEST_CASE("a change of the stack size takes effect at the next launch", "[simt][fiber]") {
    simt::FiberPool pool;
    pool.prepare();
    CHECK(pool.take().size == simt::lane_stack_size());
    const std::size_t before = simt::lane_stack_size();
    simt::set_lane_stack_size(1 << 20);
    pool.reset();
    pool.prepare();
    CHECK(pool.take().size == 1 << 20);
    simt::set_lane_stack_size(1);  // never below what host frames need
    CHECK(simt::lane_stack_size() == 64 * 1024);
    simt::set_lane_stack_size(before);
}
