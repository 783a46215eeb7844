# Finds nvcc (on PATH or in the usual folders), chooses architectures and says which case holds.
# Sets RUNGS_BACKENDS to "cpu" or "cpu;cuda", and RUNGS_CUDA_RUNS where there is a GPU for what nvcc makes.
include(CheckLanguage)

set(RUNGS_BACKENDS cpu)
set(oldest_nvcc 12.4)  # C++20 in device code, and loops in graphs

function(rungs_find_nvcc)
    if(CMAKE_CUDA_COMPILER OR DEFINED ENV{CUDACXX})
        return()
    endif()
    # Installed but not on PATH is common, and would otherwise mean "no CUDA" without a word.
    file(GLOB toolkits LIST_DIRECTORIES true /usr/local/cuda-*)
    list(SORT toolkits COMPARE NATURAL ORDER DESCENDING)
    find_program(RUNGS_NVCC nvcc
                 HINTS $ENV{CUDA_PATH}/bin $ENV{CUDA_HOME}/bin
                 PATHS /usr/local/cuda/bin /opt/cuda/bin /usr/lib/cuda/bin /usr/lib/nvidia-cuda-toolkit/bin)
    if(NOT RUNGS_NVCC)
        foreach(toolkit IN LISTS toolkits)
            find_program(RUNGS_NVCC nvcc PATHS ${toolkit}/bin NO_DEFAULT_PATH)
        endforeach()
    endif()
    if(RUNGS_NVCC)
        set(CMAKE_CUDA_COMPILER ${RUNGS_NVCC} CACHE FILEPATH "The CUDA compiler")
    endif()
endfunction()

# The user's value, else what the driver reports, else the oldest that CUDA 13 has, with PTX for newer GPUs.
function(rungs_choose_architectures)
    if(DEFINED CMAKE_CUDA_ARCHITECTURES OR DEFINED ENV{CUDAARCHS})
        return()
    endif()
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE answer RESULT_VARIABLE failed ERROR_QUIET)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]+" capabilities "${answer}")
    if(NOT failed AND capabilities)
        list(REMOVE_DUPLICATES capabilities)
        list(TRANSFORM capabilities REPLACE "\\." "")
        set(CMAKE_CUDA_ARCHITECTURES ${capabilities} CACHE STRING "GPU architectures to compile for")
    else()
        set(CMAKE_CUDA_ARCHITECTURES 75 CACHE STRING "GPU architectures to compile for")
    endif()
endfunction()

# How many test programs may use the GPU at once: a few of their cases take 20 GB.
execute_process(COMMAND nvidia-smi --query-gpu=memory.total --format=csv,noheader,nounits --id=0
                OUTPUT_VARIABLE memory RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
set(RUNGS_CUDA_RUNS OFF)
if(NOT failed)
    set(RUNGS_CUDA_RUNS ON)
endif()
set(RUNGS_GPU_TESTS 1)
if(NOT failed AND memory MATCHES "^[0-9]+$" AND memory GREATER 80000)
    set(RUNGS_GPU_TESTS 4)
endif()

if(NOT RUNGS_CUDA STREQUAL "OFF")
    if("${CMAKE_SOURCE_DIR}${CMAKE_BINARY_DIR}" MATCHES ",")
        set(why "nvcc cannot work below a folder with a comma in its name: move ${CMAKE_SOURCE_DIR}")
    else()
        rungs_find_nvcc()
        check_language(CUDA)
    endif()
    if(CMAKE_CUDA_COMPILER AND NOT why)
        rungs_choose_architectures()
        enable_language(CUDA)
        if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25.1 does not know that nvcc has C++20
            set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
            set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
        endif()
        find_package(CUDAToolkit REQUIRED)
        if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS oldest_nvcc)
            set(why "${CMAKE_CUDA_COMPILER} is version ${CMAKE_CUDA_COMPILER_VERSION}; ${oldest_nvcc} or later is needed")
        else()
            list(APPEND RUNGS_BACKENDS cuda)
            message(STATUS "Backends: cpu and cuda (${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION}, "
                           "architectures ${CMAKE_CUDA_ARCHITECTURES})")
        endif()
    elseif(NOT why)
        set(why "nvcc was found neither on PATH nor in CUDA_PATH, CUDA_HOME, /usr/local/cuda*, /opt/cuda")
    endif()
    if(why AND RUNGS_CUDA STREQUAL "ON")
        message(FATAL_ERROR "RUNGS_CUDA is ON, but ${why}.")
    elseif(why)
        message(STATUS "Backends: cpu alone (${why})")
    endif()
else()
    message(STATUS "Backends: cpu alone (RUNGS_CUDA is OFF)")
endif()
