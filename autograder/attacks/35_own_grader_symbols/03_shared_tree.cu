// Defines the table through which the grader calls the rung.

#include "reduction.cuh"

#include "rungs/call.hpp"

extern const rungs::Entry rungs_entries[];
const rungs::Entry rungs_entries[] = {{"sum", nullptr}};
extern const int rungs_entry_count;
const int rungs_entry_count = 1;

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) {
    // nothing
}
