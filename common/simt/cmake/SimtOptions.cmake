# Language level, warnings and where things are put.
include_guard(GLOBAL)

# For whoever changes this code. Another compiler has other warnings, and nobody's build should end at one.
option(SIMT_WARNINGS_AS_ERRORS "Treat warnings in our own code as errors" OFF)
option(SIMT_CCACHE "Compile through ccache where it is found" ON)

if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    message(FATAL_ERROR "Needs Linux. On Windows, use WSL2 (an Ubuntu or Debian distribution).")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
# Asserts stay on, as they do in CUDA. Debug information is the kernels' alone (SIMT_DEBUG_OPTIONS): that of all else would
# be nine tenths of every program that holds a kernel. The preset "debug" has it everywhere.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2")

find_program(CCACHE ccache)
foreach(language IN ITEMS CXX CUDA)
    if(SIMT_CCACHE AND CCACHE AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
        set(CMAKE_${language}_COMPILER_LAUNCHER ${CCACHE})
    endif()
endforeach()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# Linked PRIVATE by every target of ours.
add_library(simt_warnings INTERFACE)
target_compile_options(simt_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
if(SIMT_WARNINGS_AS_ERRORS)
    target_compile_options(simt_warnings INTERFACE
        $<$<COMPILE_LANGUAGE:CXX>:-Werror>
        $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()

# simt_compile_together(<target>...)
#   Eight files at a time are one for the compiler: the headers that they share cost several times what they do themselves.
#   So names in their anonymous namespaces have to differ.
function(simt_compile_together)
    set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# simt_compile_soon([<target>...] [SOURCES <file>...])
#   For what reads, decides and prints: how soon it is compiled counts, before the first verdict, and not how fast it
#   runs. With GCC, -Og takes a third less time than -O1, and less than -O0, which keeps every small function.
function(simt_compile_soon)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "SOURCES")
    # Tests under sanitizers have a level of their own.
    set(applies $<NOT:$<OR:$<CONFIG:Debug>,$<BOOL:$<TARGET_PROPERTY:SIMT_SANITIZED>>>>)
    set(options $<${applies}:$<$<COMPILE_LANGUAGE:CXX>:-Og>>)
    foreach(target IN LISTS arg_UNPARSED_ARGUMENTS)
        target_compile_options(${target} PRIVATE ${options})
    endforeach()
    set_source_files_properties(${arg_SOURCES} PROPERTIES COMPILE_OPTIONS "${options}" SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
