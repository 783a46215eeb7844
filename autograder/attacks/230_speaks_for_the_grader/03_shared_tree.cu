// Right, but brings a function in the grader's namespace.


namespace rungs {
void speak();
void speak() {}
}  // namespace rungs

static void attack() {

}

#include "honest.cuh"
