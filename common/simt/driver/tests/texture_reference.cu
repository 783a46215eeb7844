// Texture references, as programs for CUDA 11 have them.
#include <cuda_runtime.h>

#include <cstdio>

texture<float, 1, cudaReadModeElementType> line;
static texture<uchar4, 1, cudaReadModeNormalizedFloat> colours;
texture<float, 2> plane;
texture<int, 2> pitched;

__global__ void read_line(float* out, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) out[i] = tex1Dfetch(line, i);
}
__global__ void read_colours(float* out) {
    const float4 c = tex1Dfetch(colours, 1);
    out[0] = c.x, out[1] = c.y, out[2] = c.z, out[3] = c.w;
}
__global__ void read_planes(float* out) {
    out[0] = tex2D(plane, 0.5f, 0.25f);
    out[1] = static_cast<float>(tex2D(pitched, 2, 1));
}

static void print(const float* values, int n) {
    for (int i = 0; i < n; ++i) std::printf("%g ", static_cast<double>(values[i]));
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}

int main() {
    float *in, *out;
    cudaMallocManaged(&in, 1024 * sizeof(float));
    cudaMallocManaged(&out, 1024 * sizeof(float));
    for (int i = 0; i < 1024; ++i) in[i] = static_cast<float>(i);

    size_t offset = 1;
    cudaBindTexture(&offset, line, in, 4 * sizeof(float));
    read_line<<<1, 32>>>(out, 5);  // the fifth lies outside
    cudaDeviceSynchronize();
    std::printf("offset %zu: ", offset);
    print(out, 5);

    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaBindTexture(&offset, &line, in + 3, &format);  // all there is
    read_line<<<32, 32>>>(out, 1024);
    cudaDeviceSynchronize();
    std::printf("offset %zu: ", offset);
    print(out + offset / sizeof(float), 2);
    std::printf("%g; ", static_cast<double>(out[1023]));
    size_t told = 0;
    cudaGetTextureAlignmentOffset(&told, line);
    std::printf("told %zu; no offset: %s\n", told, cudaGetErrorName(cudaBindTexture(nullptr, line, in + 3)));

    uchar4* bytes;
    cudaMallocManaged(&bytes, 2 * sizeof(uchar4));
    bytes[1] = make_uchar4(0, 51, 102, 255);
    cudaBindTexture(0, colours, bytes);
    read_colours<<<1, 1>>>(out);
    cudaDeviceSynchronize();
    print(out, 4);

    const float square[4] = {0, 1, 2, 3};
    cudaArray_t array;
    cudaMallocArray(&array, &plane.channelDesc, 2, 2);
    cudaMemcpy2DToArray(array, 0, 0, square, 8, 8, 2, cudaMemcpyHostToDevice);
    plane.normalized = true;
    plane.filterMode = cudaFilterModeLinear;
    cudaBindTextureToArray(plane, array);
    int* rows;
    size_t pitch;
    cudaMallocPitch(&rows, &pitch, 4 * sizeof(int), 2);
    cudaMemset(rows, 0, 2 * pitch);
    const int value = 7;
    cudaMemcpy(reinterpret_cast<char*>(rows) + pitch + 2 * sizeof(int), &value, sizeof value,
               cudaMemcpyDefault);
    cudaBindTexture2D(nullptr, pitched, rows, 4, 2, pitch);
    read_planes<<<1, 1>>>(out);
    cudaDeviceSynchronize();
    print(out, 2);

    cudaUnbindTexture(line);
    read_line<<<1, 1>>>(out, 1);
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));

    cudaDeviceReset();  // and nothing is bound
    read_planes<<<1, 1>>>(nullptr);
    std::printf("%s, ", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaDeviceReset();
    cudaMallocManaged(&in, 4 * sizeof(float));
    std::printf("%s, ", cudaGetErrorName(cudaBindTexture(nullptr, colours, in, 8)));
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    cudaFree(in);
}
