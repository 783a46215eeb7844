#include "simt/inspect/control.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "simt/virtual_device.h"

namespace simt {
namespace {

double environment(const char* name, double otherwise) {
    const char* text = std::getenv(name);
    if (!text || !*text) return otherwise;
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    return *end == '\0' ? value : otherwise;
}

struct Settings {
    std::atomic<unsigned> threads;
    std::atomic<std::uint64_t> seed;
    std::atomic<bool> poison;
    std::atomic<bool> loops;
    std::atomic<std::int64_t> spin_limit;
    std::atomic<std::int64_t> time_limit;
    std::atomic<int> multiprocessors;

    Settings() {
        const double cores = std::max(1u, std::thread::hardware_concurrency());
        threads = static_cast<unsigned>(std::clamp(environment("RUNGS_SIMT_THREADS", cores), 1.0, 256.0));
        const char* text = std::getenv("RUNGS_SIMT_SEED");
        seed = text ? std::strtoull(text, nullptr, 0) : 0;
        poison = environment("RUNGS_SIMT_POISON", 1) != 0;
        loops = environment("RUNGS_SIMT_LOOPS", 1) != 0;
        spin_limit = static_cast<std::int64_t>(environment("RUNGS_SIMT_SPIN_LIMIT", 3) * 1e9);
        time_limit = static_cast<std::int64_t>(environment("RUNGS_SIMT_TIME_LIMIT", 0) * 1e9);
        multiprocessors = static_cast<int>(std::clamp(
            environment("RUNGS_SIMT_MULTIPROCESSORS", VirtualDevice::multiprocessors), 1.0, 4096.0));
    }
};

Settings& settings() {
    static Settings s;
    return s;
}

}  // namespace

void set_threads(unsigned threads) { settings().threads = std::clamp(threads, 1u, 256u); }
unsigned thread_count() { return settings().threads.load(std::memory_order_relaxed); }
void set_seed(std::uint64_t seed) { settings().seed = seed; }
std::uint64_t seed() { return settings().seed.load(std::memory_order_relaxed); }
void set_poison(bool on) { settings().poison = on; }
bool poisons_shared() { return settings().poison.load(std::memory_order_relaxed); }
void set_loops_over_lanes(bool on) { settings().loops = on; }
bool loops_over_lanes() { return settings().loops.load(std::memory_order_relaxed); }
void set_spin_limit(double seconds) { settings().spin_limit = static_cast<std::int64_t>(seconds * 1e9); }
std::int64_t spin_limit_ns() {
    const std::int64_t limit = settings().spin_limit.load(std::memory_order_relaxed);
    return time_limit_ns() > 0 ? std::min(limit, time_limit_ns() / 2) : limit;
}
void set_time_limit(double seconds) { settings().time_limit = static_cast<std::int64_t>(seconds * 1e9); }
std::int64_t time_limit_ns() { return settings().time_limit.load(std::memory_order_relaxed); }
void set_multiprocessors(int count) { settings().multiprocessors = std::clamp(count, 1, 4096); }
int multiprocessors() { return settings().multiprocessors.load(std::memory_order_relaxed); }

}  // namespace simt
