// Right, but brings a function in the grader's namespace.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["symbols"]
//     checks = false

// Right, but brings a function in the grader's namespace.


namespace rungs {
void speak();
void speak() {}
}  // namespace rungs

static void attack() {

}

#include "honest.cuh"
