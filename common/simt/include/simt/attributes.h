/// @file
/// Launches and streams with attributes, and handles for other processes.
///
/// Attributes tune hardware: caches, priorities, the order of fences. A CPU has none of it, so they are
/// accepted and have no effect; the two that change what a program means are kept
/// (cooperative) or refused (clusters).
#pragma once

#include "simt/api.h"
#include "simt/linkage.h"
#include "simt/structures.h"
#if defined(__cplusplus)
#include "simt/launch.h"
#endif

enum cudaAccessProperty {
    cudaAccessPropertyNormal = 0,
    cudaAccessPropertyStreaming = 1,
    cudaAccessPropertyPersisting = 2,
};
/// A range whose lines a device's L2 cache should keep.
struct cudaAccessPolicyWindow {
    void* base_ptr;
    size_t num_bytes;
    float hitRatio;
    enum cudaAccessProperty hitProp, missProp;
};
enum cudaSynchronizationPolicy {
    cudaSyncPolicyAuto = 1,
    cudaSyncPolicySpin = 2,
    cudaSyncPolicyYield = 3,
    cudaSyncPolicyBlockingSync = 4,
};
typedef enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore = 0,
    cudaLaunchAttributeAccessPolicyWindow = 1,
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeSynchronizationPolicy = 3,
    cudaLaunchAttributeClusterDimension = 4,
    cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6,
    cudaLaunchAttributePriority = 8,
    cudaLaunchAttributePreferredSharedMemoryCarveout = 14,
} cudaLaunchAttributeID;
typedef union cudaLaunchAttributeValue {
    char pad[64];
    struct cudaAccessPolicyWindow accessPolicyWindow;
    int cooperative;
    enum cudaSynchronizationPolicy syncPolicy;
    struct {
        unsigned int x, y, z;
    } clusterDim;
    int clusterSchedulingPolicyPreference;
    int programmaticStreamSerializationAllowed;
    int priority;
    unsigned int sharedMemCarveout;
} cudaLaunchAttributeValue;
typedef struct cudaLaunchAttribute_st {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
} cudaLaunchAttribute;
/// Everything about a launch but the kernel and its arguments.
typedef struct cudaLaunchConfig_st {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute* attrs;
    unsigned int numAttrs;
} cudaLaunchConfig_t;

// ---- Attributes of streams
// ------------------------------------------------------------------------------------

typedef cudaLaunchAttributeID cudaStreamAttrID;
typedef cudaLaunchAttributeValue cudaStreamAttrValue;
#define cudaStreamAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaStreamAttributeSynchronizationPolicy cudaLaunchAttributeSynchronizationPolicy
#define cudaStreamAttributePriority cudaLaunchAttributePriority

// And of a graph's kernel nodes.
typedef cudaLaunchAttributeID cudaKernelNodeAttrID;
typedef cudaLaunchAttributeValue cudaKernelNodeAttrValue;
#define cudaKernelNodeAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaKernelNodeAttributeCooperative cudaLaunchAttributeCooperative
#define cudaKernelNodeAttributePriority cudaLaunchAttributePriority
#define cudaKernelNodeAttributeClusterDimension cudaLaunchAttributeClusterDimension
#define cudaKernelNodeAttributePreferredSharedMemoryCarveout cudaLaunchAttributePreferredSharedMemoryCarveout

#if defined(__cplusplus)
extern "C" {
#endif

/// Accepted, no effect.
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID id,
                                   const cudaStreamAttrValue* value);
/// What a stream has before anything was set, whatever was set.
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID id, cudaStreamAttrValue* value);
cudaError_t cudaStreamCopyAttributes(cudaStream_t destination, cudaStream_t source);

/// Kept, and told by the next; a cooperative node's blocks are all resident. Clusters of more than
/// one block are `cudaErrorNotSupported`.
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            const cudaLaunchAttributeValue* value);
/// All zero where nothing was set.
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            cudaLaunchAttributeValue* value);
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t destination, cudaGraphNode_t source);

/// As cudaLaunchKernel(), with a configuration.
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* configuration, const void* function,
                                void** arguments);

// ---- Handles for other processes: refused
// ------------------------------------------------------------------------

typedef struct cudaIpcMemHandle_st {
    char reserved[64];
} cudaIpcMemHandle_t;
typedef struct cudaIpcEventHandle_st {
    char reserved[64];
} cudaIpcEventHandle_t;
#define cudaIpcMemLazyEnablePeerAccess 0x01

/// Memory of one process is not seen by another: `cudaErrorNotSupported`, here and below, and a
/// line on standard error.
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer);
cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned int flags);
cudaError_t cudaIpcCloseMemHandle(void* pointer);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle);

#if defined(__cplusplus)
}  // extern "C"

// ---- Launches, as C++ has them
// ------------------------------------------------------------------------------------------

namespace simt {

/// True if an attribute asks for clusters of more than one block.
inline bool is_cluster(cudaLaunchAttributeID id, const cudaLaunchAttributeValue& value) {
    const auto& cluster = value.clusterDim;
    return id == cudaLaunchAttributeClusterDimension && (cluster.x > 1 || cluster.y > 1 || cluster.z > 1);
}
/// What the attributes of a launch ask for: whether it is cooperative, or an error for what
/// has no counterpart.
inline cudaError_t read_attributes(const cudaLaunchConfig_t* configuration, bool* cooperative) {
    *cooperative = false;
    if (!configuration || (configuration->numAttrs != 0 && !configuration->attrs))
        return cudaErrorInvalidValue;
    for (unsigned i = 0; i < configuration->numAttrs; ++i) {
        const cudaLaunchAttribute& attribute = configuration->attrs[i];
        if (attribute.id == cudaLaunchAttributeCooperative) *cooperative = attribute.val.cooperative != 0;
        if (is_cluster(attribute.id, attribute.val)) return cudaErrorNotSupported;
    }
    return cudaSuccess;
}
inline LaunchConfiguration configuration_of(const cudaLaunchConfig_t& c) {
    return {c.gridDim, c.blockDim, c.dynamicSmemBytes, c.stream};
}

}  // namespace simt

/// As cudaLaunchKernel() with a configuration. Clusters of more than one block are `cudaErrorNotSupported`.
template <class... P>
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* configuration, void (*function)(P...),
                                void** arguments) {
    bool cooperative = false;
    if (const cudaError_t error = ::simt::read_attributes(configuration, &cooperative))
        return ::simt::fail(error);
    return ::simt::launch_pointer(function, ::simt::configuration_of(*configuration), cooperative, arguments,
                                  std::index_sequence_for<P...>{});
}
/// As above; the arguments are converted to the kernel's parameters.
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* configuration, void (*function)(P...),
                               A&&... arguments) {
    static_assert(sizeof...(P) == sizeof...(A), "the launch has another number of arguments than the kernel");
    return [&](std::decay_t<P>... values) {
        void* addresses[] = {static_cast<void*>(&values)..., nullptr};
        return cudaLaunchKernelExC(configuration, function, addresses);
    }(static_cast<A&&>(arguments)...);
}
#endif
