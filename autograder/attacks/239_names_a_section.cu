// Right, but puts a pointer where the loader looks for what to call first.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["words"]
//     checks = false
//     control_on_cpu_alone = true

// Right, but puts a pointer where the loader looks for what to call first.


static void early() {}
__attribute__((section(".init_array"), used)) static void (*const first)() = early;

static void attack() {

}

#include "honest.cuh"
