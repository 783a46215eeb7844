# How CUDA sources are compiled for the CPU, in this build and, by find_package(simt), in somebody else's. A program that
# compiles kernels without CMake takes the options from here.
include_guard()

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH SIMT_ROOT)

# A loop without end is for whoever wrote it to find, not for the compiler to remove; and a large local array has to
# meet the guard page of its stack rather than the next stack. Ubuntu's compilers turn memcpy into __memcpy_chk, which
# check mode does not see. Kernels read sixteen bytes as a uint4 and take halves out of it: nvcc follows them.
set(SIMT_RUN_OPTIONS -Wno-unknown-pragmas -fno-finite-loops -fno-strict-aliasing -U_FORTIFY_SOURCE)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")  # Clang has it there only
    list(APPEND SIMT_RUN_OPTIONS -fstack-clash-protection)
endif()

# Line numbers are all that crash reports and findings need. (In DWARF 5, addr2line may name the translated file instead of
# the one that its #line names.) Where variables are nobody asks, and to know it takes g++ a fifth of its time.
set(SIMT_DEBUG_OPTIONS_Clang -g1 -gdwarf-4)
set(SIMT_DEBUG_OPTIONS_GNU ${SIMT_DEBUG_OPTIONS_Clang} -fno-var-tracking)
set(SIMT_DEBUG_OPTIONS ${SIMT_DEBUG_OPTIONS_${CMAKE_CXX_COMPILER_ID}})

# What makes a compiler report every access to memory and every index out of an array's bounds. Linked without
# the sanitizers' libraries: simt_check is what is called. Debug information and the missing tail calls tell
# findings where they are; optimisation stays low, so that an access in the source is one in the code.
set(SIMT_CHECK_DEFINITIONS SIMT_CHECK RUNGS_SIMT_WHOLE_VECTORS=1)
list(TRANSFORM SIMT_CHECK_DEFINITIONS PREPEND -D OUTPUT_VARIABLE definitions)
set(both -std=c++20 -O1 -fsanitize=thread -fno-optimize-sibling-calls -fno-omit-frame-pointer
    -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset -include simt/intercept.h ${SIMT_RUN_OPTIONS} ${definitions})
# Nothing that a program includes shall be another text in check mode: the sanitizer's own macro is what headers ask for.
# g++ instruments assignments and no calls: in `a[i] = f()` the call itself would store the structure, and in `f(a[i])` load
# it, both unseen. Without the elision of copies both go through functions that it makes, whose assignments it sees. What these
# copy stays whole: taken apart (-Ospeed, -Osize: from how many bytes on it is not), a store of 16 bytes would be counted as four.
set(SIMT_CHECK_OPTIONS_GNU ${both} ${SIMT_DEBUG_OPTIONS_GNU} -U__SANITIZE_THREAD__ -Wno-tsan -fsanitize=bounds --param=tsan-distinguish-volatile=1
    -fno-gnu-unique -fno-elide-constructors
    --param=sra-max-scalarization-size-Ospeed=1 --param=sra-max-scalarization-size-Osize=1)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
    # A store that is moved behind its loop would be found at the loop's line, and counted once.
    list(APPEND SIMT_CHECK_OPTIONS_GNU -fno-move-loop-stores)
endif()
set(SIMT_CHECK_OPTIONS_Clang ${both} ${SIMT_DEBUG_OPTIONS_Clang} -fsanitize=array-bounds -fno-unroll-loops -fno-vectorize
    -fno-slp-vectorize -mllvm -tsan-distinguish-volatile -mllvm -tsan-instrument-read-before-write)
# What the counters need besides: every basic block. Without it, and without the steps into and out of functions,
# the checks find the same in less time.
set(SIMT_COUNT_OPTIONS_GNU -fsanitize-coverage=trace-pc)
set(SIMT_COUNT_OPTIONS_Clang -fsanitize-coverage=bb,no-prune,trace-pc)
set(SIMT_FIND_OPTIONS_GNU --param=tsan-instrument-func-entry-exit=0)
set(SIMT_FIND_OPTIONS_Clang -mllvm -tsan-instrument-func-entry-exit=0)
# Run mode for programs that nobody trusts: they see what they would see in check mode.
set(SIMT_LIKE_CHECK_OPTIONS -DSIMT_LIKE_CHECK -DRUNGS_SIMT_WHOLE_VECTORS=1)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND SIMT_LIKE_CHECK_OPTIONS -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset)
endif()
# What a kernel has the C library read and write: see check/hooks.cpp.
set(SIMT_CHECK_LINK_OPTIONS
    -Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset,--wrap=printf
    -Wl,--wrap=modf,--wrap=modff,--wrap=frexp,--wrap=frexpf,--wrap=remquo,--wrap=remquof,--wrap=sincos,--wrap=sincosf)

# What compiles tests of check mode: this build's compiler, and Clang beside it where there is one. Not in a build
# under a sanitizer, of which a compiler takes one kind at a time.
find_program(SIMT_CLANG NAMES clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14)
set(SIMT_CHECK_COMPILERS)
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    list(APPEND SIMT_CHECK_COMPILERS own)
    if(SIMT_CLANG AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        list(APPEND SIMT_CHECK_COMPILERS clang)
    endif()
endif()

# What check mode wants to know of the host's code.
set(SIMT_CHECK_TRANSLATION --dropped-errors)

# What run mode's kernels become loops over lanes by, and what the compiler then needs.
set(SIMT_LOOP_TRANSLATION --loops)
set(SIMT_LOOP_OPTIONS -include simt/lanes.h)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # which at -O2 vectorises only loops whose length it knows, and unrolls none
    list(APPEND SIMT_LOOP_OPTIONS -ftree-vectorize -fvect-cost-model=dynamic -funroll-loops)
endif()

# simt_translate(<target> <variable> [OPTIONS <option>...] FILES <file.cu>...)
#   Lets cu2cpp translate CUDA sources for a target; the names of the results are in <variable>. OPTIONS: what run mode or
#   check mode asks of it.
function(simt_translate target variable)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "OPTIONS;FILES")
    set(folder ${CMAKE_BINARY_DIR}/translated/${target})
    set(include "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
    set(translated)
    foreach(source IN LISTS arg_FILES)
        get_filename_component(source ${source} ABSOLUTE)
        get_filename_component(name ${source} NAME)
        set(output ${folder}/${name}.cpp)
        add_custom_command(
            OUTPUT ${output}
            COMMAND simt::cu2cpp ${source} -o ${output} "$<$<BOOL:${include}>:-I$<JOIN:${include},;-I>>"
                    --header-dir ${folder}/headers --depfile ${output}.d ${arg_OPTIONS}
            DEPENDS ${source} simt::cu2cpp
            DEPFILE ${output}.d
            COMMENT "Translating ${name} for ${target}"
            COMMAND_EXPAND_LISTS VERBATIM)
        list(APPEND translated ${output})
    endforeach()
    set(${variable} ${translated} PARENT_SCOPE)
endfunction()

# simt_add_kernels(<target> <file.cu>...)
#   Adds CUDA sources to a target. Each file goes through cu2cpp first; quoted headers with CUDA syntax are
#   translated along with it. The target is linked with the runtime.
function(simt_add_kernels target)
    simt_translate(${target} outputs OPTIONS ${SIMT_LOOP_TRANSLATION} FILES ${ARGN})
    target_sources(${target} PRIVATE ${outputs})
    # A kernel sees what it includes, and no precompiled header.
    set_source_files_properties(${outputs} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-unknown-pragmas>)
    set_property(SOURCE ${outputs} APPEND PROPERTY COMPILE_OPTIONS ${SIMT_RUN_OPTIONS} ${SIMT_LOOP_OPTIONS})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "SHARED_LIBRARY|MODULE_LIBRARY")
        target_link_libraries(${target} PRIVATE simt::simt_pic)
    else()
        target_link_libraries(${target} PUBLIC simt::simt)
    endif()
endfunction()

# simt_precompile(<header> COMPILER <compiler> OPTIONS <option>... HEADERS <name>...)
#   Writes <header>, which includes <name>..., and lets <header>.gch be made of it for compilations with these options;
#   <header>.d lists the files that are in it.
function(simt_precompile header)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "COMPILER" "OPTIONS;HEADERS")
    list(TRANSFORM arg_HEADERS REPLACE "(.+)" "#include <\\1>\n")
    list(JOIN arg_HEADERS "" text)
    file(CONFIGURE OUTPUT ${header} CONTENT "${text}" @ONLY)
    add_custom_command(
        OUTPUT ${header}.gch
        COMMAND ${arg_COMPILER} ${arg_OPTIONS} -x c++-header ${header} -o ${header}.gch -MD -MF ${header}.d
        DEPENDS ${header}
        DEPFILE ${header}.d
        COMMENT "Precompiling ${header}"
        VERBATIM)
endfunction()

# simt_add_checked_kernels(<target> [COMPILER <own|clang>] [FINDINGS_ONLY] [OPTIONS <option>...] SOURCES <file.cu>...)
#   As simt_add_kernels(), in check mode, compiled by one of SIMT_CHECK_COMPILERS. FINDINGS_ONLY: nothing can be
#   counted. The target's other sources are not instrumented; they must not be compiled against the run mode's headers,
#   whose vector types differ.
function(simt_add_checked_kernels target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "FINDINGS_ONLY" "COMPILER" "OPTIONS;SOURCES")
    set(name own)
    set(compiler ${CMAKE_CXX_COMPILER})
    set(id ${CMAKE_CXX_COMPILER_ID})
    if(arg_COMPILER STREQUAL "clang")
        set(name clang)
        set(compiler ${SIMT_CLANG})
        set(id Clang)
    endif()
    set(kind COUNT)
    if(arg_FINDINGS_ONLY)
        set(kind FIND)
    endif()
    # What the sources include most, precompiled once for all targets. Whether a source includes all that it uses is for run
    # mode to find.
    set(take)
    set(prelude)
    if(NOT arg_OPTIONS)  # which would have to be the prelude's as well
        set(prelude ${CMAKE_BINARY_DIR}/prelude/tests/${name}_${kind}/prelude.h)
        set(take -include ${prelude})
        if(id STREQUAL "Clang")
            set(take -include-pch ${prelude}.gch)
        endif()
        if(NOT TARGET simt_prelude_${name}_${kind})
            simt_precompile(${prelude} COMPILER ${compiler}
                            OPTIONS ${SIMT_CHECK_OPTIONS_${id}} ${SIMT_${kind}_OPTIONS_${id}} -I${SIMT_ROOT}/include
                            HEADERS simt/intercept.h cuda_runtime.h algorithm stdexcept vector)
            add_custom_target(simt_prelude_${name}_${kind} DEPENDS ${prelude}.gch)
        endif()
        set(prelude ${prelude}.gch)
    endif()
    simt_translate(${target} outputs OPTIONS ${SIMT_CHECK_TRANSLATION} FILES ${arg_SOURCES})
    set(include "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
    set(make_private ${SIMT_ROOT}/cmake/make_private.cmake)
    foreach(source IN LISTS outputs)
        add_custom_command(
            OUTPUT ${source}.o
            COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${compiler} ${take} ${SIMT_CHECK_OPTIONS_${id}} ${SIMT_${kind}_OPTIONS_${id}}
                    ${arg_OPTIONS} "$<$<BOOL:${include}>:-I$<JOIN:${include},;-I>>" -c ${source} -o ${source}.o
                    -MMD -MF ${source}.o.d
            COMMAND ${CMAKE_COMMAND} -D NM=${CMAKE_NM} -D OBJCOPY=${CMAKE_OBJCOPY} -D OBJECT=${source}.o -P ${make_private}
            DEPENDS ${source} ${make_private} ${prelude}
            DEPFILE ${source}.o.d
            COMMAND_EXPAND_LISTS VERBATIM)
        target_sources(${target} PRIVATE ${source}.o)
        set_source_files_properties(${source}.o PROPERTIES EXTERNAL_OBJECT ON)
    endforeach()
    target_link_libraries(${target} PUBLIC simt::simt_check)
endfunction()
