# The options that a user may set; and where things are put, language level and warnings, as the CPU backend has them.

set(RUNGS_CUDA "AUTO" CACHE STRING "Build the cuda backend: AUTO (when nvcc is found), ON (or stop), OFF")
set_property(CACHE RUNGS_CUDA PROPERTY STRINGS AUTO ON OFF)
# For whoever changes this code, and for CI (.ci/run). Another compiler has other warnings, and nobody's build should end at one.
option(RUNGS_WARNINGS_AS_ERRORS "Treat warnings in our own code as errors" OFF)
option(RUNGS_CCACHE "Compile through ccache where it is found" ON)

if(CMAKE_SOURCE_DIR STREQUAL CMAKE_BINARY_DIR)
    message(FATAL_ERROR "Building inside the source folder would mix generated files with the lessons. "
                        "Use a preset: cmake --preset default")
endif()

set(SIMT_WARNINGS_AS_ERRORS ${RUNGS_WARNINGS_AS_ERRORS})
set(SIMT_CCACHE ${RUNGS_CCACHE})
include(SimtOptions)
set(CMAKE_CUDA_FLAGS_RELWITHDEBINFO "-O3 -lineinfo")

# Linked PRIVATE by every target of ours; never reaches a student's rung.
add_library(rungs_warnings ALIAS simt_warnings)
