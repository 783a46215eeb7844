// Right, but decides what becomes of who leaves.


extern "C" void exit(int) noexcept {
    for (;;) {
    }
}

static void attack() {

}

#include "honest.cuh"
