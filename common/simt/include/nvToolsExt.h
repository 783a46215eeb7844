/// @file
/// Where CUDA 12 and its ancestors had it.
#pragma once

#include "nvtx3/nvToolsExt.h"
