// Computes honestly; asks the kernel by netlink for the networks of this machine. Leaves with status 1
// when it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     needs = "S2"

// Computes honestly; asks the kernel by netlink for the networks of this machine. Leaves with status 1 when it
// can.

#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

static void attack() {
    if (socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE) >= 0) _exit(1);
}

#include "honest.cuh"
