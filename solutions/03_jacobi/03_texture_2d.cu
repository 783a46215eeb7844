// A two-dimensional texture knows rows and columns: it takes the pitch into account, and it clamps
// coordinates that leave the field. So every thread may fetch all its neighbours, and decide afterwards.

#include "iterate.cuh"
#include "jacobi.cuh"
#include "rungs/cuda_check.cuh"

/// A field as the texture units see it: rows of floats in pitched memory, read only.
class PitchedTexture {
  public:
    /// @throws rungs::CudaError for more rows or columns than a texture can have: 65000 and 131072 on most
    /// GPUs
    PitchedTexture(const float* field, const jacobi::Lattice& lattice) {
        if (lattice.empty()) return;  // nothing to see
        cudaResourceDesc resource{};
        cudaTextureDesc texture{};
        // TODO 3.1 (about 10 lines): now cudaResourceTypePitch2D, and in res.pitch2D pointer, format, width and
        // height in elements and pitchInBytes. In `texture`, addressMode[0] and [1] say what happens outside:
        // cudaAddressModeClamp. Then create the object in object_.
        // BEGIN SOLUTION
        //~ static_cast<void>(field), static_cast<void>(resource), static_cast<void>(texture);
        resource.resType = cudaResourceTypePitch2D;
        resource.res.pitch2D.devPtr = const_cast<float*>(field);
        resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
        resource.res.pitch2D.width = static_cast<std::size_t>(lattice.nx);
        resource.res.pitch2D.height = static_cast<std::size_t>(lattice.ny);
        resource.res.pitch2D.pitchInBytes = lattice.pitch() * sizeof(float);
        texture.addressMode[0] = texture.addressMode[1] = cudaAddressModeClamp;
        texture.filterMode = cudaFilterModePoint;
        texture.readMode = cudaReadModeElementType;
        CUDA_CHECK(cudaCreateTextureObject(&object_, &resource, &texture, nullptr));
        // END SOLUTION
    }
    PitchedTexture(const PitchedTexture&) = delete;
    PitchedTexture& operator=(const PitchedTexture&) = delete;
    ~PitchedTexture() {
        if (object_) static_cast<void>(cudaDestroyTextureObject(object_));
    }
    cudaTextureObject_t object() const { return object_; }

  private:
    cudaTextureObject_t object_ = 0;
};

/// A block owns 16 times 16 sites, a thread one of them.
static __global__ void texture_2d_kernel(cudaTextureObject_t from, float* to, jacobi::Lattice lattice) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= lattice.nx || y >= lattice.ny) return;

    // TODO 3.2 (about 7 lines): fetch the site and its four neighbours with tex2D<float>(from, column, row). The
    // coordinates are floats, and texel (x, y) lies around (x + 0.5f, y + 0.5f). Store the new value, or the
    // old one where the site is fixed.
    // BEGIN SOLUTION
    //~ to[lattice.at(x, y)] = 0.0f * static_cast<float>(from);
    const float column = static_cast<float>(x) + 0.5f, row = static_cast<float>(y) + 0.5f;
    const float old = tex2D<float>(from, column, row);
    const float sum = tex2D<float>(from, column, row - 1) + tex2D<float>(from, column - 1, row) +
                      tex2D<float>(from, column + 1, row) + tex2D<float>(from, column, row + 1);
    to[lattice.at(x, y)] = lattice.fixed(x, y) ? old : 0.25f * (sum - lattice.charge(x, y));
    // END SOLUTION
}

void jacobi::texture_2d(const float* start, float* phi, float* work, float* norm, int* sweeps, int nx, int ny,
                        float q, int x0, int y0, int most, float eps, cudaStream_t stream) {
    const Lattice lattice{nx, ny, q, x0, y0};
    const dim3 block(16, 16);  // squarer than before: the texture cache is made for neighbourhoods
    const dim3 grid((static_cast<unsigned>(nx) + 15) / 16, (static_cast<unsigned>(ny) + 15) / 16);

    const PitchedTexture start_texture(start, lattice), phi_texture(phi, lattice),
        work_texture(work, lattice);
    iterate(start, phi, work, norm, sweeps, lattice, most, eps, stream, [&](const float* from, float* to) {
        const PitchedTexture& view = from == start ? start_texture : from == phi ? phi_texture : work_texture;
        texture_2d_kernel<<<grid, block, 0, stream>>>(view.object(), to, lattice);
        CUDA_CHECK(cudaGetLastError());
    });
}
