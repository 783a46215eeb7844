// The same sweep, reading through the texture units: a field is bound to a one-dimensional texture object,
// and tex1Dfetch takes element i of it. Texture *references*, declared globally, are gone since CUDA 12.

#include "iterate.cuh"
#include "jacobi.cuh"
#include "rungs/cuda_check.cuh"

/// A field as the texture units see it: a row of floats, read only. Kernels take `object()` by value.
class LinearTexture {
  public:
    /// @throws rungs::CudaError for more elements than a texture can have: 2^28 on most GPUs
    LinearTexture(const float* field, std::size_t elements) {
        if (elements == 0) return;  // nothing to see
        cudaResourceDesc resource{};
        cudaTextureDesc texture{};
        // TODO 2.1 (about 6 lines): `resource` describes the memory: cudaResourceTypeLinear, and in res.linear the
        // pointer (devPtr, without its const), the bytes and the channel format of float. `texture` says how
        // to read: as the elements are, cudaReadModeElementType. Then create the object in object_.
        // BEGIN SOLUTION
        //~ static_cast<void>(field), static_cast<void>(resource), static_cast<void>(texture);
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = const_cast<float*>(field);
        resource.res.linear.desc = cudaCreateChannelDesc<float>();
        resource.res.linear.sizeInBytes = elements * sizeof(float);
        texture.readMode = cudaReadModeElementType;
        CUDA_CHECK(cudaCreateTextureObject(&object_, &resource, &texture, nullptr));
        // END SOLUTION
    }
    LinearTexture(const LinearTexture&) = delete;
    LinearTexture& operator=(const LinearTexture&) = delete;
    ~LinearTexture() {
        if (object_) static_cast<void>(cudaDestroyTextureObject(object_));
    }
    cudaTextureObject_t object() const { return object_; }

  private:
    cudaTextureObject_t object_ = 0;
};

/// A block owns 32 times 8 sites, a thread one of them.
static __global__ void texture_linear_kernel(cudaTextureObject_t from, float* to, jacobi::Lattice lattice) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= lattice.nx || y >= lattice.ny) return;

    const int row = static_cast<int>(lattice.pitch());
    const int i = x + row * y;
    // TODO 2.2 (about 7 lines): the sweep of rung 01, with tex1Dfetch<float>(from, index) for from[index].
    // BEGIN SOLUTION
    //~ to[i] = 0.0f * static_cast<float>(from);
    if (lattice.fixed(x, y)) {
        to[i] = tex1Dfetch<float>(from, i);
    } else {
        const float sum = tex1Dfetch<float>(from, i - row) + tex1Dfetch<float>(from, i - 1) +
                          tex1Dfetch<float>(from, i + 1) + tex1Dfetch<float>(from, i + row);
        to[i] = 0.25f * (sum - lattice.charge(x, y));
    }
    // END SOLUTION
}

void jacobi::texture_linear(const float* start, float* phi, float* work, float* norm, int* sweeps, int nx,
                            int ny, float q, int x0, int y0, int most, float eps, cudaStream_t stream) {
    const Lattice lattice{nx, ny, q, x0, y0};
    const dim3 block(32, 8);
    const dim3 grid((static_cast<unsigned>(nx) + 31) / 32, (static_cast<unsigned>(ny) + 7) / 8);

    // A texture is a view: made once for each buffer, it shows what later launches find there.
    const std::size_t elements = lattice.pitch() * static_cast<std::size_t>(ny);
    const LinearTexture start_texture(start, elements), phi_texture(phi, elements),
        work_texture(work, elements);
    iterate(start, phi, work, norm, sweeps, lattice, most, eps, stream, [&](const float* from, float* to) {
        const LinearTexture& view = from == start ? start_texture : from == phi ? phi_texture : work_texture;
        texture_linear_kernel<<<grid, block, 0, stream>>>(view.object(), to, lattice);
        CUDA_CHECK(cudaGetLastError());
    });
}
