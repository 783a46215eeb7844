// Kernels that are known by their address alone.
#include <mutex>
#include <unordered_map>

#include "simt/attributes.h"
#include "simt/graph.h"

namespace simt {
namespace {

std::mutex& kernel_type_mutex() {
    static auto* mutex = new std::mutex;
    return *mutex;
}

// Signatures of kernels that were seen typed.
std::unordered_map<const void*, const KernelType*>& kernel_types() {
    static auto* map = new std::unordered_map<const void*, const KernelType*>;
    return *map;
}

cudaError_t launch_known(const void* function, const LaunchConfiguration& configuration, bool cooperative,
                         void** arguments) {
    const KernelType* const type = kernel_type(function);
    return type ? type->launch(function, configuration, cooperative, arguments)
                : fail(cudaErrorInvalidDeviceFunction);
}

}  // namespace

void remember_kernel(const void* kernel, const KernelType* type) {
    std::lock_guard lock(kernel_type_mutex());
    kernel_types()[kernel] = type;
}

const KernelType* kernel_type(const void* kernel) {
    std::lock_guard lock(kernel_type_mutex());
    const auto known = kernel_types().find(kernel);
    return known == kernel_types().end() ? nullptr : known->second;
}

}  // namespace simt

using namespace simt;

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t dynamic_shared, cudaStream_t stream) {
    return launch_known(function, {grid, block, dynamic_shared, stream}, false, arguments);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                        size_t dynamic_shared, cudaStream_t stream) {
    return launch_known(function, {grid, block, dynamic_shared, stream}, true, arguments);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* configuration, const void* function,
                                void** arguments) {
    bool cooperative = false;
    if (const cudaError_t error = read_attributes(configuration, &cooperative)) return fail(error);
    return launch_known(function, configuration_of(*configuration), cooperative, arguments);
}
