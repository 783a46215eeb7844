/// @file
/// What a translated `.cu` file includes for the CPU backend: the runtime API and the device side of CUDA C++.
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/qualifiers.h"
// The device's words first, then what is written in terms of them.
#include "simt/api.h"
#include "simt/error.h"
#include "simt/stream.h"
#include "simt/symbol.h"
#include "simt/types.h"
#include "simt/virtual_device.h"
#if __has_include("simt/math.h")
#include "simt/math.h"
#endif
#if __has_include("simt/texture.h")
#include "simt/texture.h"
#endif
#if __has_include("simt/device.h")
#include "simt/device.h"
#include "simt/launch.h"
#include "simt/shared.h"
#endif
#if __has_include("simt/graph.h")
#include "simt/graph.h"
#endif
