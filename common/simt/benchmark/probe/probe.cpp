// Times the shared-memory tree in the mode that it is linked with: run mode, check mode, or check mode that
// counts. Prints the best processor time of five launches, in ms, and the memory that the mode took besides
// the data, in bytes a byte. simt_benchmark runs the three in turn.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "benchmark/kernels.h"
#include "simt/api.h"
#include "simt/inspect/control.h"
#if defined(PROBE_COUNTS)
#include "simt/inspect/counters.h"
#endif

namespace {

/// Resident bytes of this process.
double resident() {
    long total = 0, pages = 0;
    if (std::FILE* f = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(f, "%ld %ld", &total, &pages) != 2) pages = 0;
        std::fclose(f);
    }
    return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

int main() {
    constexpr int n = 1 << 20;
    constexpr std::size_t bytes = n * sizeof(float);
    simt::set_threads(1);
    simt::set_loops_over_lanes(false);  // check mode has none
    const std::vector<float> host(n, 1.0f);
    // Once at a small size, so that what every program needs does not count as the data's.
    float *in = nullptr, *out = nullptr;
    cudaMalloc(reinterpret_cast<void**>(&in), 4096);
    cudaMemcpy(in, host.data(), 4096, cudaMemcpyHostToDevice);
    cudaMalloc(reinterpret_cast<void**>(&out), bytes / 256);
    tree_sum(in, out, 1024);
    cudaFree(in);
#if defined(PROBE_COUNTS)
    simt::check::Counting counting;
#endif
    const double before = resident();
    cudaMalloc(reinterpret_cast<void**>(&in), bytes);
    cudaMemcpy(in, host.data(), bytes, cudaMemcpyHostToDevice);
    double best = 1e30, memory = 0;
    for (int i = 0; i < 5; ++i) {
        const std::clock_t start = std::clock();
        tree_sum(in, out, n);
        best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
        if (i == 0) memory = (resident() - before) / static_cast<double>(bytes) - 1;
    }
    std::printf("%.3f %.2f\n", best * 1e3, memory);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
