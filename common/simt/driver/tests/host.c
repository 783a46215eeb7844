/* A host in C, for the vendor's headers as for ours: all kinds of parameters that the runtime API has. */
#include <cuda_runtime.h>
#include <stdio.h>

/* Of a .cu file. */
extern void launch(float* v, int n, float4 add, cudaStream_t stream);
extern void* kernel_address(void);

#define CHECK(call)                                               \
    do {                                                          \
        const cudaError_t error = (call);                         \
        if (error != cudaSuccess) {                               \
            printf("%s: %s\n", #call, cudaGetErrorString(error)); \
            return 1;                                             \
        }                                                         \
    } while (0)

static void CUDART_CB count(void* number) { ++*(int*)number; }

int main(void) {
    struct cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    int warp = 0;
    CHECK(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0));
    printf("warp %d %d\n", properties.warpSize, warp);

    enum { n = 4 };
    float *device = NULL, *pinned = NULL;
    float host[n] = {1, 2, 3, 4};
    CHECK(cudaMalloc((void**)&device, sizeof host));
    CHECK(cudaMallocHost((void**)&pinned, sizeof host));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMemcpyAsync(device, host, sizeof host, cudaMemcpyHostToDevice, stream));
    launch(device, n, make_float4(10, 20, 30, 40), stream);
    CHECK(cudaMemcpyAsync(pinned, device, sizeof host, cudaMemcpyDeviceToHost, stream));
    int calls = 0;
    CHECK(cudaLaunchHostFunc(stream, count, &calls));
    CHECK(cudaStreamSynchronize(stream));
    printf("sums %g %g %g %g, calls %d\n", pinned[0], pinned[1], pinned[2], pinned[3], calls);

    float factor = 2;
    int length = n;
    void* arguments[] = {&device, &length, &factor};
    dim3 grid = {1, 1, 1}, block = {32, 1, 1};
    CHECK(cudaLaunchKernel(kernel_address(), grid, block, arguments, 0, stream));
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    printf("scaled %g %g %g %g\n", host[0], host[1], host[2], host[3]);

    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t executable;
    struct cudaKernelNodeParams kernel = {0};
    kernel.func = kernel_address();
    kernel.gridDim = grid;
    kernel.blockDim = block;
    kernel.kernelParams = arguments;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    printf("by a graph %g %g %g %g\n", host[0], host[1], host[2], host[3]);

    struct cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    struct cudaMemcpy3DParms copy = {0};
    CHECK(cudaMalloc3DArray(&copy.dstArray, &format, make_cudaExtent(n, 0, 0), cudaArrayDefault));
    copy.srcPtr = make_cudaPitchedPtr(host, sizeof host, n, 1);
    copy.extent = make_cudaExtent(n, 1, 1);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    CHECK(cudaFreeArray(copy.dstArray));

    int blocks = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel_address(), 1024, 0));
    printf("blocks %d, %s\n", blocks, cudaGetErrorName(cudaFree(host)));
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(device));
    return cudaGetLastError() == cudaErrorInvalidValue ? 0 : 1;
}
