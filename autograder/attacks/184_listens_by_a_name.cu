// Computes honestly; listens under a name that no file has, for a worker of somebody else. Leaves with
// status 1 when it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     needs = "S2"

// Computes honestly; listens under a name that no file has, for a worker of somebody else. Leaves with status
// 1 when it can.

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cstring>

static void attack() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path + 1, "RUNGS_ROOM-2");
    const int service = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(service, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) _exit(1);
}

#include "honest.cuh"
