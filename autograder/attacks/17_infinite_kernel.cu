// Launches a kernel that never ends.
//
//     verdicts = ["TIMEOUT", "RUNTIME_ERROR"]
//     goal = "time"
//     success = 3.5
//     defences = ["clock"]
//     checks = false
//     spins = true
//     time_limit = 1

// Launches a kernel that never ends.

#include "reduction.cuh"

__global__ void spin_kernel(float* sum) {
    // It computes: a loop that only looks would be told as one.
    for (volatile unsigned count = 0; *static_cast<volatile float*>(sum) != 1.0f;) count = count + 1;
}

void reduction::shared_tree(const float*, float* sum, std::size_t, cudaStream_t stream) {
    spin_kernel<<<1, 32, 0, stream>>>(sum);
}

void reduction::shared_tree(const float*, const float*, float* sum, std::size_t, cudaStream_t stream) {
    spin_kernel<<<1, 32, 0, stream>>>(sum);
}
