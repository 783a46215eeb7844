// A class whose table of virtual functions is nowhere.
//
//     verdicts = ["COMPILE_ERROR"]
//     goal = "verdict"
//     wanted = "INFRA"
//     defences = ["blame"]
//     checks = false

// A class whose table of virtual functions is nowhere.


struct Missing {
    virtual void key();
    virtual ~Missing() = default;
};

static void attack() {
    static Missing object;
    object.key();
}

#include "honest.cuh"
