// A header with CUDA syntax: translated along with the file that includes it.
#pragma once

__device__ int seven();

__global__ void add_seven(int* sum) { *sum += seven(); }

inline void launch_from_header(int* sum) { add_seven<<<1, 1>>>(sum); }

__device__ int seven() { return 7; }
