#pragma once
/// @file
/// What both blurs need: pixels beyond the border, and the mean of many pixels.

#include <cuda_runtime.h>

namespace first_kernels {

/// The index in 0 .. size - 1 that is nearest to i.
inline __host__ __device__ int clamped(int i, int size) {
    if (i < 0) return 0;
    return i < size ? i : size - 1;
}

/// A sum of pixels, channel by channel.
struct PixelSum {
    int red = 0, green = 0, blue = 0, alpha = 0;

    __host__ __device__ void add(uchar4 pixel) {
        red += pixel.x;
        green += pixel.y;
        blue += pixel.z;
        alpha += pixel.w;
    }

    /// The mean of `count` pixels, rounded down.
    __host__ __device__ uchar4 mean(int count) const {
        const auto channel = [count](int sum) { return static_cast<unsigned char>(sum / count); };
        return {channel(red), channel(green), channel(blue), channel(alpha)};
    }
};

}  // namespace first_kernels
