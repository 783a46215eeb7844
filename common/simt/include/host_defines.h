/// @file
/// The keywords of CUDA C++.
#pragma once

#include "simt/qualifiers.h"
