/// @file
/// Names of functions as people say them.
#pragma once

#include <string>

namespace simt {

/// Without the type it returns and its parameters: "void tile<float>(float*, int)" becomes "tile<float>".
/// For the names that demanglers, compute-sanitizer and ncu print.
std::string short_name(std::string name);

}  // namespace simt
