/// @file
/// The host side of the runtime API, as CUDA names it.
#pragma once

#include "cuda_runtime.h"
