/// @file
/// Kernels that store and load by calls; see calls.cu.
#pragma once

#include <vector>

namespace calls {

enum class Fault { none, race, outside, unwritten };

struct Run {
    const char* form;    ///< of the store or load
    const char* memory;  ///< what kind it goes to
    Fault fault;
    void (*run)();
};
std::vector<Run> runs();
/// A kernel prints a line, or asks printf() to store how many letters it has.
void prints_into_memory(bool into_memory);

/// The lines at which classes begin whose copies the compiler makes: nothing is done there.
bool is_class(unsigned line);

}  // namespace calls
