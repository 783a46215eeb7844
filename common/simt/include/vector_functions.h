/// @file
/// Vector types and their make functions.
#pragma once

#include "simt/qualifiers.h"
#include "simt/types.h"
