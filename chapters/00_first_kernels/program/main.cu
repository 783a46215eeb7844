// What the rungs for images make of the scene of rung 13: a PNG file each, held against the oracle.

#include <cstdio>
#include <filesystem>
#include <vector>

#include "exam/reference.hpp"
#include "first_kernels.cuh"
#include "program/options.hpp"
#include "rungs/device_buffer.cuh"
#include "rungs/image.hpp"
#include "rungs/program.hpp"

using namespace first_kernels;

/// One rung for images: what it is called with, and what it is to leave.
struct Stage {
    const char* name;
    const char* problem;
    const char* file;
    void (*call)(const uchar4* scene, uchar4* image, const Options& options);
};

static constexpr Stage stages[] = {
    {"04_grey", "grey", "grey.png",
     [](const uchar4* scene, uchar4* image, const Options& options) {
         grey(scene, image, options.width, options.height, nullptr);
     }},
    {"07_blur", "blur", "blur.png",
     [](const uchar4* scene, uchar4* image, const Options& options) {
         blur(scene, image, options.width, options.height, options.radius, nullptr);
     }},
    {"08_blur_tile", "blur", "blur_tile.png",
     [](const uchar4* scene, uchar4* image, const Options& options) {
         blur_tile(scene, image, options.width, options.height, options.radius, nullptr);
     }},
    {"13_spheres", "spheres", "spheres.png",
     [](const uchar4*, uchar4* image, const Options& options) {
         spheres(image, options.width, options.height, nullptr);
     }},
};

static bool run(const Options& options, const rungs::ProgramDevice& /*device*/) {
    const auto width = static_cast<std::size_t>(options.width),
               height = static_cast<std::size_t>(options.height);
    const Values scene = picture(width, height, Order::highest);
    std::vector<uchar4> pixels;
    for (std::size_t k = 0; k < scene.size(); k += 4) {
        const auto channel = [&](std::size_t c) { return static_cast<unsigned char>(scene[k + c]); };
        pixels.push_back({channel(0), channel(1), channel(2), channel(3)});
    }
    const rungs::DeviceBuffer<uchar4> input(pixels);
    std::filesystem::create_directories(options.out);

    return rungs::all_right(stages, options.rung, [&](const Stage& stage) {
        rungs::DeviceBuffer<uchar4> output(pixels.size());
        output.zero();
        stage.call(input.data(), output.data(), options);
        const std::vector<uchar4> got = output.to_host();
        const Values expected =
            answer({stage.problem, {options.width, options.height, options.radius}, 0, scene, {}});
        std::size_t wrong = 0;
        std::vector<rungs::Rgb> image;
        for (std::size_t k = 0; k < got.size(); ++k) {
            image.push_back({got[k].x, got[k].y, got[k].z});
            wrong += got[k].x != expected[4 * k] || got[k].y != expected[4 * k + 1] ||
                     got[k].z != expected[4 * k + 2] || got[k].w != expected[4 * k + 3];
        }
        rungs::write_png(options.out / stage.file, image, width, height);
        std::printf("%-14s %s: %zu of %zu pixels wrong\n", stage.name, (options.out / stage.file).c_str(),
                    wrong, got.size());
        return wrong == 0;
    });
}

int main(int argc, char** argv) {
    return rungs::run_program(argc, argv, run, "first_kernels",
                              "Draws a picture, and makes it grey and blurred.");
}
