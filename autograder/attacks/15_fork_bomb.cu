// Forks without end, and makes room for new children where no more processes are allowed.
//
//     verdicts = ["WRONG"]
//     goal = "status"
//     defences = ["system calls", "limits"]
//     checks = false
//     time_limit = 25
//     needs = "S1"

// Forks until no more processes are allowed; then each that may not fork leaves, and so makes room for a
// child of the others: whoever kills them one by one comes too late. Where 200 are allowed, it ends and
// leaves with status 1; after 20 s it ends by itself, so that a broken sandbox survives this test.

#include "reduction.cuh"

#include <sys/mman.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <new>

static constexpr int most = 200;    // far more than the limit on processes
static constexpr int seconds = 20;  // until it ends

/// Seen by all processes.
struct Count {
    std::atomic<int> alive{1};
    std::atomic<bool> broke_out{false};
};

[[noreturn]] static void fork_on(Count& count) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    while (!count.broke_out && std::chrono::steady_clock::now() < end) {
        if (++count.alive > most) count.broke_out = true;
        const pid_t child = fork();
        if (child >= 0) continue;  // the child goes on here as well
        if (--count.alive > 1) break;
    }
    --count.alive;
    _exit(0);
}

/// Once a process.
static void bomb() {
    static Count* count = nullptr;
    if (count) return;
    void* const shared =
        mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return;
    count = new (shared) Count;
    const pid_t first = fork();
    if (first == 0) fork_on(*count);
    // Where that one is not allowed there is nothing to wait for.
    for (int i = 0; first > 0 && i < 20 * seconds && !count->broke_out; ++i) usleep(50000);
    if (count->broke_out) _exit(1);
}

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) { bomb(); }

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) { bomb(); }
