// Opens sockets to the outside, and leaves with status 1 when it gets one.

#include "reduction.cuh"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static void connect_out() {
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_INET6, SOCK_DGRAM, 0) >= 0) _exit(1);
}

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) { connect_out(); }

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) { connect_out(); }
