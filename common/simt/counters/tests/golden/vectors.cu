// Vector types and structures: how wide is a load, and how many of its bytes are used?

#include "counters/tests/golden/golden.h"

namespace golden {

__global__ void copy_float2(const float2* in, float2* out) { out[own_index()] = in[own_index()]; }
__global__ void copy_float4(const float4* in, float4* out) { out[own_index()] = in[own_index()]; }
__global__ void copy_double2(const double2* in, double2* out) { out[own_index()] = in[own_index()]; }

/// 16 bytes that a thread shares with nobody, at a distance of 32.
__global__ void spread_float4(const float4* in, float4* out) { out[own_index()] = in[2 * own_index()]; }

__global__ void one_member_of_float4(const float4* in, float* out) { out[own_index()] = in[own_index()].y; }

__global__ void two_members_of_float4(const float4* in, float* out) {
    out[own_index()] = in[own_index()].x * in[own_index()].w;
}

struct Particle {
    float x, y, z, mass;
};

__global__ void structure_one_member(const Particle* in, float* out) {
    out[own_index()] = in[own_index()].mass;
}

struct Point {
    float x, y, z;
};

__global__ void structure_of_12_bytes(const Point* in, float* out) {
    const Point* const p = in + own_index();
    out[own_index()] = p->x * p->x + p->y * p->y + p->z * p->z;
}

__global__ void arrays_instead_of_structures(const float* x, const float* y, const float* z, float* out) {
    const unsigned i = own_index();
    out[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
}

__global__ void store_structure(const float* in, Point* out) {
    const float v = in[own_index()];
    out[own_index()] = {v, 2 * v, 3 * v};
}

std::vector<Kernel> vector_kernels() {
    return {
        {"float2", "copy of float2",
         [](const Data& d) {
             copy_float2<<<blocks, threads>>>(reinterpret_cast<const float2*>(d.in),
                                              reinterpret_cast<float2*>(d.out));
         }},
        {"float4", "copy of float4",
         [](const Data& d) {
             copy_float4<<<blocks, threads>>>(reinterpret_cast<const float4*>(d.in),
                                              reinterpret_cast<float4*>(d.out));
         }},
        {"double2", "copy of double2",
         [](const Data& d) {
             copy_double2<<<blocks, threads>>>(reinterpret_cast<const double2*>(d.doubles),
                                               reinterpret_cast<double2*>(d.wide));
         }},
        {"float4_stride_2", "float4 in[2i]",
         [](const Data& d) {
             spread_float4<<<blocks, threads>>>(reinterpret_cast<const float4*>(d.in),
                                                reinterpret_cast<float4*>(d.out));
         }},
        {"float4_one_member", "float4 in[i].y",
         [](const Data& d) {
             one_member_of_float4<<<blocks, threads>>>(reinterpret_cast<const float4*>(d.in), d.out);
         }},
        {"float4_two_members", "float4 in[i].x and in[i].w",
         [](const Data& d) {
             two_members_of_float4<<<blocks, threads>>>(reinterpret_cast<const float4*>(d.in), d.out);
         }},
        {"structure_one_member", "one float of a 16-byte structure",
         [](const Data& d) {
             structure_one_member<<<blocks, threads>>>(reinterpret_cast<const Particle*>(d.in), d.out);
         }},
        {"structure_of_12_bytes", "the three floats of a 12-byte structure",
         [](const Data& d) {
             structure_of_12_bytes<<<blocks, threads>>>(reinterpret_cast<const Point*>(d.in), d.out);
         }},
        {"arrays_instead_of_structures", "the same from three arrays",
         [](const Data& d) {
             arrays_instead_of_structures<<<blocks, threads>>>(d.in, d.in + 4 * count, d.in + 8 * count,
                                                               d.out);
         }},
        {"store_structure", "stores a 12-byte structure",
         [](const Data& d) { store_structure<<<blocks, threads>>>(d.in, reinterpret_cast<Point*>(d.out)); }},
    };
}

}  // namespace golden
