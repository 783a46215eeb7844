#pragma once
// Texture objects over the fields of a call. Given: rung 03 says what is in them, and reads them.

#include <cuda_runtime.h>

#include "jacobi.cuh"
#include "rungs/cuda_check.cuh"

namespace jacobi {

/// Says what a texture over `field` is: fills in the two descriptions, which are all zero before.
using Describe = void(const float* field, const Lattice& lattice, cudaResourceDesc& resource,
                      cudaTextureDesc& reading);

/// Textures over the three buffers that sweeps read from. A texture is a view: made once for each buffer, it
/// shows what later launches find there.
class FieldTextures {
  public:
    /// @throws rungs::CudaError where a texture cannot hold the field
    FieldTextures(const float* start, const float* phi, const float* work, const Lattice& lattice,
                  Describe& describe)
        : views_{View(start, lattice, describe), View(phi, lattice, describe),
                 View(work, lattice, describe)} {}

    /// The texture over one of the three. Kernels take it by value. 0 for a lattice without points.
    cudaTextureObject_t over(const float* field) const {
        for (const View& view : views_) {
            if (view.field == field) return view.object;
        }
        return 0;
    }

  private:
    struct View {
        View(const float* buffer, const Lattice& lattice, Describe& describe) : field(buffer) {
            if (lattice.empty()) return;  // nothing to see
            cudaResourceDesc resource{};
            cudaTextureDesc reading{};
            describe(field, lattice, resource, reading);
            CUDA_CHECK(cudaCreateTextureObject(&object, &resource, &reading, nullptr));
        }
        View(const View&) = delete;
        View& operator=(const View&) = delete;
        ~View() {
            if (object) static_cast<void>(cudaDestroyTextureObject(object));
        }
        const float* field;
        cudaTextureObject_t object = 0;
    };
    View views_[3];
};

}  // namespace jacobi
