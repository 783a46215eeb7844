// The benchmark: what each first step is worth on this GPU, beside a copy. Every kernel is checked before it
// is timed. `--help` lists the options.

#include "rungs/bench.cuh"

#include <bit>
#include <cmath>
#include <cstdio>
#include <functional>

#include "bench/peers.cuh"
#include "first_kernels.cuh"
#include "pixels.cuh"
#include "rungs/random.hpp"
#include "spheres.cuh"

using namespace first_kernels;

static const rungs::Benchmark benchmark{
    "00",
    "elements",
    "Arrays of n floats; images and matrices with the square root of n on each side. us: on the device\n"
    "alone, medians, all in turn. GB/s: the bytes that the problem needs, each once, in that time.\n"
    "Of a copy: these over those of cudaMemcpy from device to device. At 2^26, no call finds its data in\n"
    "the cache; at 2^20 it may.\n",
    {1 << 20, 1 << 26},
    {},
    {"n", "rung", "us", "GB/s", "of a copy"}};

/// Word i of a result: a float or a pixel.
using Word = std::function<unsigned(std::size_t i)>;

/// One way to solve a problem, and what it takes.
struct Contestant {
    std::string name;
    std::size_t bytes;  ///< that the problem needs
    std::size_t words;  ///< of its result
    Word right;
    std::function<void(cudaStream_t)> call;
};

static unsigned word(float value) { return std::bit_cast<unsigned>(value); }
static unsigned word(uchar4 pixel) { return std::bit_cast<unsigned>(pixel); }

/// Three arrays of n whole numbers, an image, and room for three arrays of results.
class Data {
  public:
    explicit Data(std::size_t n)
        : n_(n),
          side_(static_cast<int>(std::sqrt(static_cast<double>(n)))),
          in_(3 * n),
          image_(n),
          out_(3 * n) {
        rungs::random_words(pixels_, 1);
        for (const unsigned pixel : pixels_) floats_.push_back(static_cast<float>(pixel >> 24));
        fill(in_.data(), floats_.data(), 3 * n);
        fill(image_.data(), pixels_.data(), n);
    }

    std::vector<Contestant> contestants();

    /// @throws std::runtime_error when a word is not what it should be: one in 997, and all of the last ones
    void check(const Contestant& one) {
        out_.fill_bytes(0xff);
        one.call(nullptr);
        std::vector<unsigned> got(one.words);
        CUDA_CHECK(cudaMemcpy(got.data(), out_.data(), 4 * got.size(), cudaMemcpyDeviceToHost));
        for (std::size_t i = 0; i < got.size(); i += i + 2000 < got.size() ? 997 : 1) {
            if (got[i] != one.right(i)) rungs::throw_wrong(one.name, n_, "word " + std::to_string(i));
        }
    }

    /// Milliseconds of a copy of n floats from the host. @param locked  from pages that stay where they are
    double from_host(bool locked) {
        std::vector<float> host(n_, 1.0f);
        if (locked) CUDA_CHECK(cudaHostRegister(host.data(), 4 * n_, cudaHostRegisterDefault));
        const double milliseconds = rungs::median_milliseconds(
            [&](cudaStream_t stream) {
                CUDA_CHECK(cudaMemcpyAsync(out_.data(), host.data(), 4 * n_, cudaMemcpyHostToDevice, stream));
            },
            {.rounds = 7, .warm_up = 1, .calls = 1});
        if (locked) CUDA_CHECK(cudaHostUnregister(host.data()));
        return milliseconds;
    }

  private:
    static constexpr std::size_t block =
        (1 << 22) - 77;  // again and again, each time shifted against the rows

    template <class T>
    static void fill(T* to, const T* from, std::size_t n) {
        for (std::size_t i = 0; i < n; i += block) {
            const std::size_t bytes = sizeof(T) * std::min(block, n - i);
            CUDA_CHECK(cudaMemcpy(to + i, from, bytes, cudaMemcpyHostToDevice));
        }
    }
    float x(std::size_t i) const { return floats_[i % block]; }
    uchar4 pixel(std::size_t i) const { return std::bit_cast<uchar4>(pixels_[i % block]); }
    unsigned shifted(std::size_t i, std::size_t times) const {
        return word(x(std::min({i + times, i / 256 * 256 + 255, n_ - 1})));
    }
    unsigned blurred(std::size_t i, int radius) const;
    unsigned drawn(std::size_t i) const;

    std::size_t n_;
    int side_;
    std::vector<unsigned> pixels_ = std::vector<unsigned>(block);
    std::vector<float> floats_;
    rungs::DeviceBuffer<float> in_;
    rungs::DeviceBuffer<unsigned> image_;
    rungs::DeviceBuffer<float> out_;
};

unsigned Data::blurred(std::size_t i, int radius) const {
    const int row = static_cast<int>(i) / side_, column = static_cast<int>(i) % side_;
    PixelSum sum;
    for (int y = row - radius; y <= row + radius; ++y) {
        for (int x = column - radius; x <= column + radius; ++x) {
            sum.add(pixel(static_cast<std::size_t>(clamped(y, side_) * side_ + clamped(x, side_))));
        }
    }
    return word(sum.mean((2 * radius + 1) * (2 * radius + 1)));
}

unsigned Data::drawn(std::size_t i) const {
    const int column = static_cast<int>(i) % side_, row = static_cast<int>(i) / side_;
    int highest = nowhere;
    uchar4 colour = background();
    for (const Sphere& sphere : spheres_of_the_scene) {
        const int z = height_of(sphere, column * scene_side / side_, row * scene_side / side_);
        if (z <= highest) continue;
        highest = z;
        colour = colour_of(sphere, z);
    }
    return word(colour);
}

std::vector<Contestant> Data::contestants() {
    const std::size_t n = n_, side = static_cast<std::size_t>(side_), area = side * side;
    const float *a = in_.data(), *b = a + n, *c = b + n;
    float* const out = out_.data();
    const auto* const image = reinterpret_cast<const uchar4*>(image_.data());
    auto* const picture = reinterpret_cast<uchar4*>(out);
    const auto* const particles = reinterpret_cast<const Particle*>(a);
    cudaDeviceProp gpu;
    CUDA_CHECK(cudaGetDeviceProperties(&gpu, 0));
    const auto full = static_cast<unsigned>(gpu.multiProcessorCount * gpu.maxThreadsPerMultiProcessor / 256);

    std::vector<Contestant> all;
    const auto enter = [&](const std::string& name, std::size_t bytes, std::size_t words, Word right,
                           auto call) {
        all.push_back({name, bytes, words, std::move(right), call});
    };
    const auto squares = [&](const std::string& name, auto call) {
        enter(
            name, 8 * n, n, [this](std::size_t i) { return word(x(i) * x(i)); }, call);
    };
    const auto images = [&](const std::string& name, Word right, auto call) {
        enter(name, 8 * area, area, std::move(right), call);
    };
    enter(
        "cudaMemcpy", 8 * n, n, [this](std::size_t i) { return word(x(i)); },
        [=](cudaStream_t s) { CUDA_CHECK(cudaMemcpyAsync(out, a, 4 * n, cudaMemcpyDeviceToDevice, s)); });
    squares("01", [=](cudaStream_t s) { square(a, out, n, s); });
    enter(
        "02", 12 * n, n, [=, this](std::size_t i) { return word(2 * x(i) + x(n + i)); },
        [=](cudaStream_t s) { axpy(a, b, out, n, 2.0f, s); });

    const Word grey_of = [this](std::size_t i) {
        const uchar4 p = pixel(i);
        const auto light = static_cast<unsigned char>((77 * p.x + 150 * p.y + 29 * p.z) / 256);
        return word(uchar4{light, light, light, p.w});
    };
    const int wide = side_;
    images("04", grey_of, [=](cudaStream_t s) { grey(image, picture, wide, wide, s); });
    images("04, x and y swapped", grey_of,
           [=](cudaStream_t s) { peers::grey_by_columns(image, picture, wide, wide, s); });

    squares("05, 16 blocks", [=](cudaStream_t s) { grid_stride(a, out, n, s); });
    squares("05, 16 blocks, pieces", [=](cudaStream_t s) { peers::pieces(a, out, n, 16, s); });
    squares("05, GPU full", [=](cudaStream_t s) { peers::strided(a, out, n, full, s); });
    squares("05, GPU full, pieces", [=](cudaStream_t s) { peers::pieces(a, out, n, full, s); });

    enter(
        "06, no round", 8 * n, n, [this](std::size_t i) { return shifted(i, 0); },
        [=](cudaStream_t s) { shift(a, out, n, 0, s); });
    enter(
        "06, 100 rounds", 8 * n, n, [this](std::size_t i) { return shifted(i, 100); },
        [=](cudaStream_t s) { shift(a, out, n, 100, s); });

    for (const int radius : {2, 8}) {
        const std::string of_radius = ", r = " + std::to_string(radius);
        const Word right = [this, radius](std::size_t i) { return blurred(i, radius); };
        images("07" + of_radius, right, [=](cudaStream_t s) { blur(image, picture, wide, wide, radius, s); });
        images("08" + of_radius, right,
               [=](cudaStream_t s) { blur_tile(image, picture, wide, wide, radius, s); });
    }

    enter(
        "09", 24 * n, 3 * n, [=, this](std::size_t i) { return word(x(3 * (i % n) + i / n)); },
        [=](cudaStream_t s) { split(particles, out, out + n, out + 2 * n, n, s); });
    enter(
        "09, the other way", 24 * n, 3 * n, [=, this](std::size_t i) { return word(x(i % 3 * n + i / 3)); },
        [=](cudaStream_t s) { peers::join(a, b, c, reinterpret_cast<Particle*>(out), n, s); });
    enter(
        "01 on structures", 8 * n, n, [this](std::size_t i) { return word(x(3 * i) * x(3 * i)); },
        [=](cudaStream_t s) { peers::square_positions(particles, out, n, s); });

    for (const auto& [name, call] : {std::pair{"10", &transpose},
                                     {"10, x and y swapped", &peers::transpose_by_columns},
                                     {"11, rows of 32 words", &peers::transpose_unpadded},
                                     {"11", &transpose_tiled},
                                     {"11, 32 x 8 threads", &peers::transpose_four}}) {
        images(
            name, [=, this](std::size_t i) { return word(x(i % side * side + i / side)); },
            [=, call = call](cudaStream_t s) { call(a, out, wide, wide, s); });
    }
    using peers::Scene;
    for (const auto& [name, call] :
         {std::pair{"13", &spheres},
          {"13, global memory", &peers::spheres<Scene::global>},
          {"13, lanes apart", &peers::spheres<Scene::constant_turned>},
          {"13, lanes apart, global memory", &peers::spheres<Scene::global_turned>}}) {
        enter(
            name, 4 * area, area, [this](std::size_t i) { return drawn(i); },
            [=, call = call](cudaStream_t s) { call(picture, wide, wide, s); });
    }
    return all;
}

static void bench_all(rungs::BenchOptions& options, rungs::Csv& csv) {
    std::printf("%s", benchmark.explanation);
    for (const std::size_t n : options.sizes) {
        if (n > std::size_t{1} << 30) throw std::invalid_argument("--sizes: at most 2^30 elements");
        Data data(n);
        const std::vector<Contestant> all = data.contestants();
        rungs::Race race;
        for (const Contestant& one : all) {
            data.check(one);
            race.enter(one.name, one.call, 1e3);
        }
        const double budget = options.quick ? 200 : 1000;  // milliseconds
        const auto timings = race.queued({.rounds = race.rounds(budget, 15, 300), .calls = 1});
        double copy = 0;
        std::printf("\nn = %s\n%-31s %10s %8s %10s\n", rungs::size_name(n).c_str(), "", "us", "GB/s",
                    "of a copy");
        const auto row = [&](const std::string& name, double milliseconds, std::size_t bytes) {
            const double speed = static_cast<double>(bytes) / milliseconds / 1e6;
            if (copy == 0) copy = speed;
            char us[32], gigabytes[32], share[32];
            std::snprintf(us, sizeof us, 1e3 * milliseconds < 100 ? "%.2f" : "%.0f", 1e3 * milliseconds);
            std::snprintf(gigabytes, sizeof gigabytes, "%.0f", speed);
            std::snprintf(share, sizeof share, "%.1f %%", 100 * speed / copy);
            std::printf("%-31s %10s %8s %10s\n", name.c_str(), us, gigabytes, share);
            csv.row(rungs::size_name(n), name, us, gigabytes, share);
        };
        for (std::size_t i = 0; i < all.size(); ++i) row(all[i].name, timings[i].median(), all[i].bytes);
        row("host to device", data.from_host(false), 4 * n);
        row("host to device, page-locked", data.from_host(true), 4 * n);
    }
}

int main(int argc, char** argv) { return rungs::run_benchmark(argc, argv, benchmark, bench_all); }
