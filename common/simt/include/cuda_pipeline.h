/// @file
/// The primitives, by the name under which CUDA programs include them.
#pragma once

#include "cuda_pipeline_primitives.h"
