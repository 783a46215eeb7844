// Computes honestly; leaves a note for the next worker on a ring of keys. Leaves with status 1 when it
// can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     needs = "S1"

// Computes honestly; leaves a note for the next worker on a ring of keys. Leaves with status 1 when it can.

#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void attack() {
    if (syscall(SYS_add_key, "user", "rungs", "x", 1, KEY_SPEC_SESSION_KEYRING) >= 0) _exit(1);
}

#include "honest.cuh"
