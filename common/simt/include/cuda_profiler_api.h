/// @file
/// cudaProfilerStart() and cudaProfilerStop(): accepted, no effect.
#pragma once

#include "cuda_runtime.h"
