// Right, but compiles only where there is such a file, about whose age it asks.


#pragma GCC dependency "../../planted"

static void attack() {

}

#include "honest.cuh"
