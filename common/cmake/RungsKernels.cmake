# How real CUDA sources are compiled, per backend; for the CPU, common/simt/cmake/SimtKernels.cmake knows. The same
# flags go into toolchain.json, from which the grader compiles a student's rung without CMake.

# rungs_add_kernels(<target> <cpu|cuda> <file.cu>...)
#   Adds CUDA sources to a target.
function(rungs_add_kernels target backend)
    if(backend STREQUAL "cpu")
        simt_add_kernels(${target} ${ARGN})
        return()
    endif()
    target_sources(${target} PRIVATE ${ARGN})
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
    target_link_libraries(${target} PUBLIC CUDA::cudart_static)
endfunction()

# rungs_compile_kernels(<target> INCLUDE <folder>... [DEFINE <name=value>] SOURCES <file.cu>...)
#   For a machine without a GPU: shows that nvcc compiles CUDA sources, host code included, to machine code. What would
#   only link them, and compile host code once more, takes three quarters of the time; such targets are built on demand.
#   Nobody runs that code, so neither compiler nor assembler makes more of it than they have to.
function(rungs_compile_kernels target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "DEFINE" "INCLUDE;SOURCES")
    list(GET CMAKE_CUDA_ARCHITECTURES 0 architecture)
    string(REGEX REPLACE "-.*" "" architecture ${architecture})
    list(TRANSFORM arg_INCLUDE PREPEND -I)
    list(TRANSFORM arg_DEFINE PREPEND -D)
    set(compiled)
    foreach(source IN LISTS arg_SOURCES)
        get_filename_component(name ${source} NAME)
        set(output ${CMAKE_BINARY_DIR}/compiled/${target}/${name}.cubin)
        add_custom_command(
            OUTPUT ${output}
            COMMAND ${CMAKE_CUDA_COMPILER} -std=c++20 -Xcicc=-O1 -Xptxas=-O1 -lineinfo
                    -Xcompiler=-Wall,-Wextra -Werror=all-warnings
                    -arch=sm_${architecture} ${arg_DEFINE} ${arg_INCLUDE} -I${PROJECT_SOURCE_DIR}/common/include
                    -MD -MF ${output}.d -cubin ${source} -o ${output}
            DEPENDS ${source}
            DEPFILE ${output}.d
            COMMENT "Compiling ${name} for ${target}"
            VERBATIM)
        list(APPEND compiled ${output})
    endforeach()
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/compiled/${target})
    add_custom_target(${target} ALL DEPENDS ${compiled})
endfunction()

# rungs_precompile(<mode> <variable> <target> OPTIONS <option>... HEADERS <header>...)
#   Precompiles, before <target> is built, what each rung includes first on the CPU backend, and beside it what many
#   include next and cost most; <variable> is the key of toolchain.json that names them, most first. Not with Clang,
#   which would have to be told of the file itself.
function(rungs_precompile mode variable target)
    cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "OPTIONS;HEADERS")
    set(${variable} "" PARENT_SCOPE)
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        return()
    endif()
    set(preludes)
    foreach(more IN ITEMS "algorithm;stdexcept" "algorithm" "")
        string(REPLACE ";" "_" name "${more}")
        set(header ${CMAKE_BINARY_DIR}/prelude/${mode}/${name}/prelude.h)
        simt_precompile(${header} COMPILER ${CMAKE_CXX_COMPILER} OPTIONS ${arg_OPTIONS} HEADERS ${arg_HEADERS} ${more})
        list(APPEND preludes ${header})
    endforeach()
    list(TRANSFORM preludes APPEND .gch OUTPUT_VARIABLE precompiled)
    add_custom_target(rungs_prelude_${mode} DEPENDS ${precompiled})
    add_dependencies(${target} rungs_prelude_${mode})
    list(JOIN preludes "\", \"" names)
    set(${variable} "\n    \"preludes\": [\"${names}\"]," PARENT_SCOPE)
endfunction()

# rungs_write_toolchain()
#   build/<preset>/toolchain.json: everything the grader must know to compile and link a rung.
function(rungs_write_toolchain)
    set(include -I${PROJECT_SOURCE_DIR}/common/include -I${SIMT_ROOT}/include)
    # What a rung does not use yet is no mistake: students begin with empty launchers. At -O2 chapter 7's last rungs are
    # compiled in twice the time, and calls take a tenth less of theirs.
    # The string of an #ident would go to the assembler as it is.
    set(no_ident -fno-ident)
    set(cpu_compile -std=c++20 -O1 ${SIMT_DEBUG_OPTIONS} ${no_ident} -Wall -Wextra -Wno-unused ${SIMT_RUN_OPTIONS} ${include})
    if(SIMT_CHECK_COMPILERS)
        list(APPEND cpu_compile ${SIMT_LIKE_CHECK_OPTIONS})  # no rung is another program where it is checked
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        list(APPEND cpu_compile -fno-gnu-unique)  # the judge makes inline code local, which it cannot of such
    endif()
    rungs_precompile(run cpu_prelude rungs_worker_cpu OPTIONS ${cpu_compile} HEADERS cuda_runtime.h)
    list(TRANSFORM cpu_compile REPLACE "(.+)" "\"\\1\"")
    list(JOIN cpu_compile ", " cpu_compile)
    set(check_tools null)
    if(SIMT_CHECK_COMPILERS)
        # Warnings are run mode's to give: once is enough.
        set(check_compile ${SIMT_CHECK_OPTIONS_${CMAKE_CXX_COMPILER_ID}} ${SIMT_COUNT_OPTIONS_${CMAKE_CXX_COMPILER_ID}}
            -finline-small-functions ${no_ident} -w ${include})
        rungs_precompile(check check_prelude rungs_worker_check OPTIONS ${check_compile}
                         HEADERS simt/intercept.h cuda_runtime.h)
        list(TRANSFORM check_compile REPLACE "(.+)" "\"\\1\"")
        list(JOIN check_compile ", " check_compile)
        list(TRANSFORM SIMT_CHECK_LINK_OPTIONS REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE check_link)
        list(JOIN check_link ", " check_link)
        set(check_tools "{${check_prelude}
    \"translator\": \"$<TARGET_FILE:cu2cpp>\",
    \"compiler\": \"${CMAKE_CXX_COMPILER}\",
    \"compile\": [${check_compile}],
    \"archives\": [\"$<TARGET_FILE:rungs_worker_check>\", \"$<TARGET_FILE:simt_check>\"],
    \"link\": [\"-pthread\", ${check_link}],
    \"describe\": \"${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\"
  }")
    endif()
    set(cuda_tools null)
    if(cuda IN_LIST RUNGS_BACKENDS)
        # Not with -split-compile: with it chapter 5's last rung was compiled in 12 s instead of 17 s and took 194 us
        # instead of 142 us (H200, nvcc 13.0).
        set(cuda_compile -std=c++20 -O3 -lineinfo -Xcompiler=-Wall,-Wextra,-Wno-unused,-U_FORTIFY_SOURCE,${no_ident} -diag-suppress=177,550
            -I${PROJECT_SOURCE_DIR}/common/include)
        foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
            string(REGEX REPLACE "-.*" "" number ${architecture})
            list(APPEND cuda_compile -gencode=arch=compute_${number},code=[sm_${number},compute_${number}])
        endforeach()
        list(TRANSFORM cuda_compile REPLACE "(.+)" "\"\\1\"")
        list(JOIN cuda_compile ", " cuda_compile)
        set(cuda_tools "{
    \"compiler\": \"${CMAKE_CUDA_COMPILER}\",
    \"compile\": [${cuda_compile}],
    \"archives\": [\"$<TARGET_FILE:rungs_worker_cuda>\"],
    \"link\": [\"-cudart\", \"static\"],
    \"describe\": \"nvcc ${CMAKE_CUDA_COMPILER_VERSION}\"
  }")
    endif()
    file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/toolchain.json CONTENT "{
  \"root\": \"${PROJECT_SOURCE_DIR}\",
  \"build\": \"${CMAKE_BINARY_DIR}\",
  \"cache\": \"${CMAKE_BINARY_DIR}/cache\",
  \"cpu\": {${cpu_prelude}
    \"translator\": \"$<TARGET_FILE:cu2cpp>\",
    \"compiler\": \"${CMAKE_CXX_COMPILER}\",
    \"compile\": [${cpu_compile}],
    \"archives\": [\"$<TARGET_FILE:rungs_worker_cpu>\", \"$<TARGET_FILE:simt>\"],
    \"link\": [\"-pthread\"],
    \"describe\": \"${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\"
  },
  \"check\": ${check_tools},
  \"cuda\": ${cuda_tools}
}
")
endfunction()
