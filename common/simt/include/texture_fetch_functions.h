/// @file
/// Part of cuda_runtime.h; CUDA programs name it separately.
#pragma once

#include "cuda_runtime.h"
