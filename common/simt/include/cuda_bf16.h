/// @file
/// Half precision with the range of float: `__nv_bfloat16`, `__nv_bfloat162`.
#pragma once

#include "cuda_runtime.h"
#include "simt/half.h"
