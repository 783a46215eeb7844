// Computes honestly; sends something out, for which no connection is needed. Leaves with status 1 when it
// can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["system calls"]
//     checks = false
//     needs = "S2"

// Computes honestly; sends something out, for which no connection is needed. Leaves with status 1 when it can.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static void attack() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(9);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int from = socket(AF_INET, SOCK_DGRAM, 0);
    if (sendto(from, "x", 1, 0, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 1) _exit(1);
}

#include "honest.cuh"
