/// @file
/// The driver API does not exist in the CPU backend; programs include this header for `CUDA_VERSION`.
#pragma once

#define CUDA_VERSION 13000
