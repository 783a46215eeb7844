/// @file
/// Names of functions as people say them, and of source files.
#pragma once

#include <string>

namespace simt {

/// Without the type it returns and its parameters: "void tile<float>(float*, int)" becomes "tile<float>".
/// For the names that demanglers, compute-sanitizer and ncu print.
std::string short_name(std::string name);

/// Whether `path` is a source of the CPU backend or of the standard library: a report should name the caller.
/// Tests, in folders below the sources, are callers.
bool is_own_source(const std::string& path);

}  // namespace simt
