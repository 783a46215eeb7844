/// @file
/// What a translated `.cu` file includes for the CPU backend: the runtime API and the device side of CUDA
/// C++. A file in C gets the API.
#pragma once

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "simt/api.h"
#include "simt/attributes.h"
#include "simt/error.h"
#include "simt/graph.h"
#include "simt/qualifiers.h"
#include "simt/symbol.h"
#include "simt/texture.h"
#include "simt/types.h"

#if defined(__cplusplus)
#include <new>
#include <utility>

#include "simt/device.h"
#if !defined(SIMT_CHECK)
// In check mode kernels have it already (-include). Code next to them must not have it: if the linker takes
// one of two equal functions of theirs and of the runtime's, it would be what a kernel frees memory by.
#include "simt/intercept.h"
#endif
#include "simt/launch.h"
#include "simt/math.h"
#include "simt/registers.h"
#include "simt/shared.h"
#include "simt/shift.h"
#include "simt/stores.h"
#include "simt/stream.h"
#include "simt/virtual_device.h"
#endif
