// The benchmark: every rung and the libraries side by side on this GPU, each checked before it is timed.
// `--help` lists the options.

#include "rungs/bench.cuh"

#include <cmath>
#include <cstdio>
#include <functional>

#include "bench/peers.cuh"
#include "exam/reference.hpp"
#include "reduction.cuh"
#include "rungs/random.hpp"

static const rungs::Benchmark benchmark{
    "01",
    "elements",
    "us as called: an event, one call, an event, a wait. The GPU idles before: the host's launch counts.\n"
    "us queued: the same after a kernel that spins while the host queues. What the device alone needs.\n"
    "Medians; all take turns; random numbers in [-1, 1); each call reads memory that has left the cache.\n",
    rungs::powers_of_two(20, 30, 2),
    rungs::powers_of_two(20, 30, 4),
    {"problem", "n", "name", "us_as_called", "us_queued", "gigabytes_per_second", "of_roof"}};

static constexpr double slowest = 50;  // milliseconds of one call; what needs more is left out: "-"

/// One way to add up, and what it takes.
struct Contestant {
    std::string name;
    std::function<void(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t)> run;
    double as_called = 0;  ///< milliseconds at the present size; 0: left out
    double queued = 0;
    double expected = 0;  ///< milliseconds for one element, by the size before
};

/// Two vectors of random numbers, longer than any cache: a block of 2^22 again and again, so that the exact
/// sum is quickly known.
class Data {
  public:
    explicit Data(std::size_t n) : v_(n), w_(n), sum_(1) { fill(v_, block_v_), fill(w_, block_w_); }

    /// Read and copy bandwidth.
    std::pair<double, double> roofs() {
        const std::pair<double, double> roofs{rungs::read_bandwidth(v_), rungs::copy_bandwidth(v_, w_)};
        fill(w_, block_w_);
        return roofs;
    }

    /// Queues one call on the n elements after those of the call before.
    void call(const Contestant& contestant, std::size_t n, cudaStream_t stream) {
        if (next_ + n > v_.size()) next_ = 0;
        contestant.run(v_.data() + next_, w_.data() + next_, sum_.data(), n, stream);
        next_ += (n + 31) / 32 * 32;  // the next starts at a line of 128 bytes, too
    }

    /// @throws std::runtime_error when the sum of the first n elements is further off than rounding explains
    void check(const Contestant& contestant, bool dot, std::size_t n) {
        const reduction::Reference whole = exact(dot, n < block ? 0 : block), rest = exact(dot, n % block);
        const auto times = static_cast<double>(n / block);
        const double value = times * whole.value + rest.value;
        const double allowed = reduction::rounding_bound(n, times * whole.magnitude + rest.magnitude);
        sum_.fill_bytes(0xff);
        next_ = 0;
        call(contestant, n, nullptr);
        const double got = sum_.to_host()[0];
        if (std::abs(got - value) <= allowed) return;  // not for NaN
        rungs::throw_wrong(contestant.name, n, std::to_string(got) + " instead of " + std::to_string(value));
    }

  private:
    static constexpr std::size_t block = std::size_t{1} << 22;

    reduction::Reference exact(bool dot, std::size_t n) const {
        const auto v = std::span(block_v_).first(n), w = std::span(block_w_).first(n);
        return dot ? reduction::reference_dot(v, w) : reduction::reference_sum(v);
    }
    static void fill(rungs::DeviceBuffer<float>& buffer, const std::vector<float>& values) {
        for (std::size_t i = 0; i < buffer.size(); i += block) {
            const std::size_t bytes = sizeof(float) * std::min(block, buffer.size() - i);
            CUDA_CHECK(cudaMemcpy(buffer.data() + i, values.data(), bytes, cudaMemcpyHostToDevice));
        }
    }

    std::vector<float> block_v_ = rungs::random_field(block, 1, rungs::signed_uniform);
    std::vector<float> block_w_ = rungs::random_field(block, 2, rungs::signed_uniform);
    rungs::DeviceBuffer<float> v_, w_, sum_;
    std::size_t next_ = 0;
};

/// As many elements as the largest size that fits, but at least twice the cache.
static std::size_t elements_for(std::vector<std::size_t>& sizes) {
    const std::size_t free = rungs::free_device_memory();
    std::size_t most = 0;
    int cache = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, 0));
    const std::size_t room = (free - free / 8) / (2 * sizeof(float));
    std::erase_if(sizes, [&](std::size_t n) {
        if (n > room)
            std::printf("%s is left out: two such vectors do not fit\n", rungs::size_name(n).c_str());
        return n > room;
    });
    for (const std::size_t n : sizes) most = std::max(most, n);
    return std::min(room, std::max(most, std::max<std::size_t>(2 * cache, 1 << 28) / sizeof(float)));
}

static std::vector<Contestant> contestants_for(bool dot) {
    std::vector<Contestant> all;
    for (const reduction::Rung& rung : reduction::rungs) {
        all.push_back({rung.name, [dot, &rung](auto v, auto w, auto sum, auto n, auto stream) {
                           dot ? rung.dot(v, w, sum, n, stream) : rung.sum(v, sum, n, stream);
                       }});
    }
    all.push_back({dot ? "cuBLAS" : "CUB", [dot](auto v, auto w, auto sum, auto n, auto stream) {
                       dot ? reduction::peers::cublas_dot(v, w, sum, n, stream)
                           : reduction::peers::cub_sum(v, sum, n, stream);
                   }});
    return all;
}

/// Checks and times all that are fast enough.
static void measure(std::vector<Contestant>& all, Data& data, bool dot, std::size_t n, bool quick) {
    rungs::Race race;
    for (Contestant& one : all) {
        if (one.expected * static_cast<double>(n) > slowest) continue;
        data.check(one, dot, n);
        const auto call = [&](cudaStream_t stream) { data.call(one, n, stream); };
        one.expected = race.enter(one.name, call, slowest) / static_cast<double>(n);
    }
    const double budget = quick ? 100 : 500;  // milliseconds for each way of timing
    const rungs::TimingOptions options{.rounds = race.rounds(budget, 15, 300), .calls = 1};
    const auto queued = race.queued(options);  // first: it wakes the GPU up
    const auto as_called = race.as_called(options);
    for (Contestant& one : all) {
        one.as_called = rungs::median_of(as_called, one.name);
        one.queued = rungs::median_of(queued, one.name);
    }
}

/// A time in microseconds, or a dash for a rung that was left out.
static std::string us(double milliseconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", 1e3 * milliseconds);
    return milliseconds > 0 ? text : "-";
}

/// Times one problem at all sizes and prints its table.
static void bench(bool dot, Data& data, double roof, const rungs::BenchOptions& options, rungs::Csv& csv) {
    std::vector<Contestant> all = contestants_for(dot);
    const Contestant &ours = all[all.size() - 2], &library = all.back();
    std::printf("\n%s\n%8s", dot ? "dot product of two vectors: us queued" : "sum: us queued", "n");
    for (const Contestant& one : all) std::printf("  %s", one.name.c_str());
    std::printf("\n");
    std::string duel;  // the second half of the table: the last rung against the library
    for (const std::size_t n : options.sizes) {
        measure(all, data, dot, n, options.quick);
        const double bytes = static_cast<double>(n) * sizeof(float) * (dot ? 2 : 1);
        std::printf("%8s", rungs::size_name(n).c_str());
        for (const Contestant& one : all) {
            std::printf("  %*s", static_cast<int>(one.name.size()), us(one.queued).c_str());
            if (one.queued == 0) continue;
            const double speed = 1e3 * bytes / one.queued;
            csv.row(dot ? "dot" : "sum", n, one.name, 1e3 * one.as_called, 1e3 * one.queued, speed / 1e9,
                    speed / roof);
        }
        std::printf("\n");
        char line[160];
        const double speed = 1e3 * bytes / ours.queued;
        std::snprintf(line, sizeof line, "%8s %10s %10s %7.3f %10s %10s %7.3f %8.0f %6.1f %%\n",
                      rungs::size_name(n).c_str(), us(ours.as_called).c_str(), us(library.as_called).c_str(),
                      library.as_called / ours.as_called, us(ours.queued).c_str(), us(library.queued).c_str(),
                      library.queued / ours.queued, speed / 1e9, 100 * speed / roof);
        duel += line;
    }
    std::printf(
        "%s against %s\n%8s %10s %10s %7s %10s %10s %7s %8s %8s\n%8s %10s %10s %7s %10s %10s %7s %8s %8s\n%s",
        ours.name.c_str(), library.name.c_str(), "", "as called", library.name.c_str(), "ratio", "queued",
        library.name.c_str(), "ratio", "GB/s", "of roof", "n", "us", "us", "", "us", "us", "", "", "",
        duel.c_str());
}

static void bench_all(rungs::BenchOptions& options, rungs::Csv& csv) {
    Data data(elements_for(options.sizes));
    const auto [read, copy] = data.roofs();
    std::printf("memory: read %.0f GB/s (the roof below), copied %.0f GB/s (read + written)\n%s", read / 1e9,
                copy / 1e9, benchmark.explanation);
    for (const bool dot : {false, true}) bench(dot, data, read, options, csv);
}

int main(int argc, char** argv) { return rungs::run_benchmark(argc, argv, benchmark, bench_all); }
