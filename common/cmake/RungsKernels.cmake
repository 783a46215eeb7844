# How real CUDA sources are compiled, per backend. The same flags go into toolchain.json, from which the
# grader compiles a student's rung without CMake.

# A loop without end is the student's to find out, not the compiler's to remove; and a large local array has to
# meet the guard page of its stack rather than the next stack.
set(RUNGS_CPU_SAFE_OPTIONS -fno-finite-loops)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")  # Clang has it there only
    list(APPEND RUNGS_CPU_SAFE_OPTIONS -fstack-clash-protection)
endif()
set(RUNGS_CPU_COMPILE_OPTIONS -Wall -Wextra -Wno-unknown-pragmas ${RUNGS_CPU_SAFE_OPTIONS})
set(RUNGS_CUDA_COMPILE_OPTIONS -Xcompiler=-Wall,-Wextra)

# rungs_translate(<target> <variable> <file.cu>...)
#   Lets cu2cpp translate CUDA sources for a target; the names of the results are in <variable>.
function(rungs_translate target variable)
    set(folder ${CMAKE_BINARY_DIR}/translated/${target})
    set(include "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
    set(translated)
    foreach(source IN LISTS ARGN)
        get_filename_component(source ${source} ABSOLUTE)
        get_filename_component(name ${source} NAME)
        set(output ${folder}/${name}.cpp)
        add_custom_command(
            OUTPUT ${output}
            COMMAND cu2cpp ${source} -o ${output} "$<$<BOOL:${include}>:-I$<JOIN:${include},;-I>>"
                    --header-dir ${folder}/headers --depfile ${output}.d
            DEPENDS ${source} cu2cpp
            DEPFILE ${output}.d
            COMMENT "Translating ${name} for ${target}"
            COMMAND_EXPAND_LISTS VERBATIM)
        list(APPEND translated ${output})
    endforeach()
    set(${variable} ${translated} PARENT_SCOPE)
endfunction()

# rungs_add_kernels(<target> <cpu|cuda> <file.cu>...)
#   Adds CUDA sources to a target. On cpu each file goes through cu2cpp first; quoted headers with CUDA
#   syntax are translated along with it.
function(rungs_add_kernels target backend)
    if(backend STREQUAL "cuda")
        target_sources(${target} PRIVATE ${ARGN})
        set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
        target_link_libraries(${target} PUBLIC CUDA::cudart_static)
        return()
    endif()
    rungs_translate(${target} outputs ${ARGN})
    target_sources(${target} PRIVATE ${outputs})
    set_source_files_properties(${outputs} PROPERTIES SKIP_PRECOMPILE_HEADERS OFF)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-unknown-pragmas>)
    set_property(SOURCE ${outputs} APPEND PROPERTY COMPILE_OPTIONS ${RUNGS_CPU_SAFE_OPTIONS})
    target_link_libraries(${target} PUBLIC simt)
endfunction()

# What makes a compiler report every access to memory and every index out of an array's bounds. Linked without
# the sanitizers' libraries: simt_check is what is called. Debug information and the missing tail calls tell
# findings where they are; optimisation stays low, so that an access in the source is one in the code.
set(RUNGS_CHECK_COMPILE_OPTIONS
    -O1 -gdwarf-4 -fsanitize=thread -fno-optimize-sibling-calls -fno-omit-frame-pointer
    -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset -Wno-unknown-pragmas
    -include simt/intercept.h ${RUNGS_CPU_SAFE_OPTIONS})
set(RUNGS_CHECK_COMPILE_OPTIONS_GNU
    -Wno-tsan -fsanitize=bounds --param=tsan-distinguish-volatile=1 -fno-gnu-unique)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
    # A store that is moved behind its loop would be found at the loop's line, and counted once.
    list(APPEND RUNGS_CHECK_COMPILE_OPTIONS_GNU -fno-move-loop-stores)
endif()
set(RUNGS_CHECK_COMPILE_OPTIONS_Clang
    -fsanitize=array-bounds -fno-unroll-loops -fno-vectorize -fno-slp-vectorize -mllvm -tsan-distinguish-volatile
    -mllvm -tsan-instrument-read-before-write)
# What the counters need besides: every basic block. Without it, and without the steps into and out of functions,
# the checks find the same in less time.
set(RUNGS_COUNT_COMPILE_OPTIONS_GNU -fsanitize-coverage=trace-pc)
set(RUNGS_FIND_COMPILE_OPTIONS_GNU --param=tsan-instrument-func-entry-exit=0)
set(RUNGS_FIND_COMPILE_OPTIONS_Clang -mllvm -tsan-instrument-func-entry-exit=0)
set(RUNGS_COUNT_COMPILE_OPTIONS_Clang -fsanitize-coverage=bb,no-prune,trace-pc)

# rungs_add_checked_kernels(<target> <file.cu>...)
#   As rungs_add_kernels(<target> cpu ...), in check mode. The target's other sources are not instrumented; they
#   must not be compiled against the run mode's headers, whose vector types differ.
function(rungs_add_checked_kernels target)
    rungs_add_kernels_checked_by(${target} ${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_ID} ${ARGN})
endfunction()

# Who compiles tests of check mode: this build's compiler, and Clang beside it where there is one. Not in a build
# under a sanitizer, of which a compiler takes one kind at a time.
find_program(RUNGS_CLANG NAMES clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14)
set(RUNGS_CHECK_COMPILERS)
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    list(APPEND RUNGS_CHECK_COMPILERS own)
    if(RUNGS_CLANG AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        list(APPEND RUNGS_CHECK_COMPILERS clang)
    endif()
endif()

# rungs_add_kernels_checked_with(<target> <own|clang> <file.cu>...)
#   rungs_add_checked_kernels(), for one of RUNGS_CHECK_COMPILERS.
function(rungs_add_kernels_checked_with target compiler)
    if(compiler STREQUAL "own")
        rungs_add_checked_kernels(${target} ${ARGN})
    else()
        rungs_add_kernels_checked_by(${target} ${RUNGS_CLANG} Clang ${ARGN})
    endif()
endfunction()

# rungs_add_kernels_checked_by(<target> <compiler> <GNU|Clang> [FINDINGS_ONLY] [OPTIONS <option>...] <file.cu>...)
#   As rungs_add_checked_kernels(), with another compiler than this build's, with more options, or so that nothing
#   can be counted.
function(rungs_add_kernels_checked_by target compiler id)
    cmake_parse_arguments(PARSE_ARGV 3 arg "FINDINGS_ONLY" "" "OPTIONS;SOURCES")
    set(kind COUNT)
    if(arg_FINDINGS_ONLY)
        set(kind FIND)
    endif()
    rungs_translate(${target} outputs ${arg_UNPARSED_ARGUMENTS} ${arg_SOURCES})
    set(include "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
    set(define "$<TARGET_PROPERTY:simt_check,INTERFACE_COMPILE_DEFINITIONS>")
    foreach(source IN LISTS outputs)
        add_custom_command(
            OUTPUT ${source}.o
            COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${compiler} -std=c++20 ${RUNGS_CHECK_COMPILE_OPTIONS} ${RUNGS_CHECK_COMPILE_OPTIONS_${id}}
                    ${RUNGS_${kind}_COMPILE_OPTIONS_${id}} ${arg_OPTIONS}
                    "$<$<BOOL:${include}>:-I$<JOIN:${include},;-I>>" "-D$<JOIN:${define},;-D>" -c ${source} -o ${source}.o
                    -MMD -MF ${source}.o.d
            COMMAND ${CMAKE_COMMAND} -D NM=${CMAKE_NM} -D OBJCOPY=${CMAKE_OBJCOPY} -D OBJECT=${source}.o
                    -P ${PROJECT_SOURCE_DIR}/common/cmake/make_private.cmake
            DEPENDS ${source} ${PROJECT_SOURCE_DIR}/common/cmake/make_private.cmake
            DEPFILE ${source}.o.d
            COMMAND_EXPAND_LISTS VERBATIM)
        target_sources(${target} PRIVATE ${source}.o)
        set_source_files_properties(${source}.o PROPERTIES EXTERNAL_OBJECT ON)
    endforeach()
    target_link_libraries(${target} PUBLIC simt_check)
endfunction()

# rungs_write_toolchain()
#   build/<preset>/toolchain.json: everything the grader must know to compile and link a rung.
function(rungs_write_toolchain)
    set(cpu_compile -std=c++20 -O2 -g1 -gdwarf-4 ${RUNGS_CPU_COMPILE_OPTIONS}
        -I${PROJECT_SOURCE_DIR}/common/include -I${PROJECT_SOURCE_DIR}/common/simt/include)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        list(APPEND cpu_compile -fno-gnu-unique)  # the judge makes inline code local, which it cannot of such
    endif()
    list(TRANSFORM cpu_compile REPLACE "(.+)" "\"\\1\"")
    list(JOIN cpu_compile ", " cpu_compile)
    set(check_tools null)
    if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")  # of which a compiler takes one kind at a time
        # Warnings are run mode's to give: once is enough.
        set(check_compile -std=c++20 -finline-small-functions ${RUNGS_CHECK_COMPILE_OPTIONS} ${RUNGS_CHECK_COMPILE_OPTIONS_${CMAKE_CXX_COMPILER_ID}}
            ${RUNGS_COUNT_COMPILE_OPTIONS_${CMAKE_CXX_COMPILER_ID}}
            -w -DSIMT_CHECK -DRUNGS_SIMT_WHOLE_VECTORS=1
            -I${PROJECT_SOURCE_DIR}/common/include -I${PROJECT_SOURCE_DIR}/common/simt/include)
        list(TRANSFORM check_compile REPLACE "(.+)" "\"\\1\"")
        list(JOIN check_compile ", " check_compile)
        set(check_tools "{
    \"translator\": \"$<TARGET_FILE:cu2cpp>\",
    \"compiler\": \"${CMAKE_CXX_COMPILER}\",
    \"compile\": [${check_compile}],
    \"archives\": [\"$<TARGET_FILE:rungs_worker_check>\", \"$<TARGET_FILE:simt_check>\"],
    \"link\": [\"-pthread\", \"-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset\"],
    \"describe\": \"${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\"
  }")
    endif()
    set(cuda_tools null)
    if(cuda IN_LIST RUNGS_BACKENDS)
        set(cuda_compile -std=c++20 -O3 -lineinfo ${RUNGS_CUDA_COMPILE_OPTIONS} -I${PROJECT_SOURCE_DIR}/common/include)
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
  \"cpu\": {
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
