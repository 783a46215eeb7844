// Ways to launch a kernel; each adds what it was given. Prints "ok".
#include <cstdio>
#include <vector>

#include "launches.cuh"

namespace outer {
template <typename T, int step>
__global__ void add(T* sum, T value = T(step)) {
    if (threadIdx.x % step == 0) atomicAdd(sum, value);
}
}  // namespace outer

__global__ void one(int* sum) { atomicAdd(sum, 1); }
__global__ void two(int* sum) { atomicAdd(sum, 2); }
template <typename T>
auto choose(bool first) -> void (*)(T*) {
    return first ? one : two;
}

#define RUN(kernel, blocks, ...) kernel<<<blocks, 32>>>(__VA_ARGS__)
#define RUN_LATER(n) one<<<n, \
                           1>>>
#define CHECKED(...)                                               \
    do {                                                           \
        __VA_ARGS__;                                               \
        if (cudaGetLastError() != cudaSuccess) std::puts("error"); \
    } while (0)

struct Launcher {
    void (*kernel)(int*);
    void run(int* sum) const { kernel<<<1, 1>>>(sum); }
};

int main() {
    int* sum = nullptr;
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    int expected = 0;

    outer::add<int, 1><<<1, 32>>>(sum, 1), expected += 32;
    ::outer::add<int, (3 > 2 ? 4 : 8)><<<2, 32, 0, nullptr>>>(sum, 2), expected += 32;
    choose<int>(true)<<<dim3(2, 2), dim3(4, 4)>>>(sum), expected += 64;
    for (int i = 0; i < 2; ++i)
        if (i == 0)
            one<<<1 << 1, 64 >> 1>>>(sum);
        else
            two<<<1, 1>>>(sum);
    expected += 64 + 2;

    (expected > 0 ? two : one)<<<1, 1>>>(sum), expected += 2;
    void (*table[])(int*) = {one, two};
    table[1]<<<1, 1>>>(sum), expected += 2;
    auto pointer = &one;
    pointer<<<1, 3>>>(sum), expected += 3;
    const Launcher launcher{two};
    launcher.run(sum), expected += 2;
    launcher.kernel<<<1, 1>>>(sum), expected += 2;

    RUN(one, 2, sum), expected += 64;
    RUN((outer::add<int, 2>), 1, sum, 1), expected += 16;
    RUN_LATER(4)(sum), expected += 4;
    CHECKED(two<<<1, 2>>>(sum));
    expected += 4;
    launch_from_header(sum), expected += 7;

    [&] { one<<<1, 1>>>(sum); }(), expected += 1;
    void* arguments[] = {&sum};
    cudaLaunchKernel((const void*)two, dim3(1), dim3(2), arguments, 0, 0), expected += 4;

    std::vector<std::vector<std::vector<int>>> nested;  // no launch
    int result = -1;
    cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(sum);
    if (result == expected && nested.empty() && cudaGetLastError() == cudaSuccess) {
        std::puts("ok");
        return 0;
    }
    std::printf("sum is %d, expected %d\n", result, expected);
    return 1;
}
