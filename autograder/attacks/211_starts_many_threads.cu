// Computes honestly; starts hundreds of threads. Leaves with status 1 when it can.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["limits"]
//     checks = false
//     cpu_alone = true
//     needs_root = true

// Computes honestly; starts hundreds of threads. Leaves with status 1 when it can.

#include <pthread.h>
#include <unistd.h>
#include <atomic>

static std::atomic<bool> over;

static void* wait(void*) {
    while (!over) usleep(1000);
    return nullptr;
}

static void attack() {
    constexpr int most = 300;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    static pthread_t threads[most];
    int started = 0;
    while (started < most && pthread_create(&threads[started], &small, wait, nullptr) == 0) ++started;
    if (started == most) _exit(1);
    over = true;
    for (int i = 0; i < started; ++i) pthread_join(threads[i], nullptr);
}

#include "honest.cuh"
