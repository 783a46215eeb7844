/// @file
/// Enumerations and structures of the runtime API.
#pragma once

#include "simt/qualifiers.h"
#include "simt/structures.h"
