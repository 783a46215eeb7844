// Right, but brings a function in the CPU backend's namespace.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["symbols"]
//     checks = false

// Right, but brings a function in the CPU backend's namespace.


namespace simt {
void speak();
void speak() {}
}  // namespace simt

static void attack() {

}

#include "honest.cuh"
