# Test programs, with Catch2 v3 where it is packaged, v2 otherwise; "testing/catch.h" hides the difference.
include_guard(GLOBAL)

find_package(Catch2 3 CONFIG QUIET)
if(NOT Catch2_FOUND)
    find_package(Catch2 2.13 CONFIG QUIET)
endif()
if(NOT Catch2_FOUND)
    message(FATAL_ERROR "Catch2 was not found. On Debian or Ubuntu: sudo apt-get install catch2")
endif()
include(Catch)

# Options of test code: tests are compiled once and run briefly, so compile time is what counts. Of what sanitizers add,
# optimisation takes as long again.
add_library(simt_test_options INTERFACE)
# CHECK(size == 3) compares inside Catch2's templates, whose warnings a precompiled header makes visible; and
# Catch2 v3 takes the CPU backend for nvcc, whose pragmas other compilers do not know.
target_compile_options(simt_test_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:$<IF:$<BOOL:$<TARGET_PROPERTY:SIMT_SANITIZED>>,-O0,-Og>;-g0;-Wno-sign-compare;-Wno-unknown-pragmas>)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH root)
target_include_directories(simt_test_options INTERFACE ${root})
target_link_libraries(simt_test_options INTERFACE simt_warnings Catch2::Catch2WithMain)
# What every test program leaves with.
add_library(simt_test_main OBJECT ${root}/testing/main.cpp)
target_link_libraries(simt_test_main PRIVATE simt_test_options)

# Catch2 v2 is one large header: compiling it once, for all test programs with the same options, is what keeps the
# test build short. (v3's headers are small; there it costs nothing.)
set(SIMT_SANITIZERS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
if(NOT Catch2_VERSION VERSION_GREATER_EQUAL 3)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/catch.cpp CONTENT "")  # a target has at least one source
    foreach(target IN ITEMS simt_catch simt_catch_sanitized)
        add_library(${target} OBJECT ${CMAKE_BINARY_DIR}/catch.cpp)
        target_link_libraries(${target} PRIVATE simt_test_options)
        target_precompile_headers(${target} PRIVATE <catch2/catch.hpp>)
    endforeach()
    target_compile_options(simt_catch_sanitized PRIVATE ${SIMT_SANITIZERS})
    set_target_properties(simt_catch_sanitized PROPERTIES SIMT_SANITIZED ON)
endif()

# simt_add_test(<target> [LABEL <label>] [LOCK <resource>] [AS_ONE] [SANITIZED] SOURCES <file...>)
#   A Catch2 program and one CTest test for every TEST_CASE. A skipped test is never a pass, a failed one never
#   skipped, and one that asserts nothing fails: testing/main.cpp sees to it. What a test prints decides nothing: CTest
#   would look at that before the exit code. AS_ONE: one CTest test for the whole program, where starting it costs
#   more than most of its cases; it is skipped where all of them are. SANITIZED: compiled under AddressSanitizer and
#   UndefinedBehaviorSanitizer, so <file...> has to hold what is tested, too. For host code: lanes on fibers and limits
#   on memory do not go with them.
function(simt_add_test target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "AS_ONE;SANITIZED" "LABEL;LOCK" "SOURCES")
    add_executable(${target} ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE simt_test_main simt_test_options)
    target_link_options(${target} PRIVATE LINKER:--wrap=main)
    set(catch simt_catch)
    if(arg_SANITIZED)
        set(catch simt_catch_sanitized)
        target_compile_options(${target} PRIVATE ${SIMT_SANITIZERS})
        set_target_properties(${target} PROPERTIES SIMT_SANITIZED ON)
        target_link_options(${target} PRIVATE ${SIMT_SANITIZERS})
    endif()
    if(TARGET ${catch})
        target_precompile_headers(${target} REUSE_FROM ${catch})
    endif()
    # Ten times what the longest takes on two cores: a limit is for what hangs, not for a machine that is busy.
    set(properties TIMEOUT 600 SKIP_RETURN_CODE 77)
    if(arg_LABEL)
        list(APPEND properties LABELS ${arg_LABEL})
    endif()
    if(arg_LOCK)
        list(APPEND properties RESOURCE_LOCK ${arg_LOCK})
    endif()
    if(arg_AS_ONE)
        add_test(NAME "${target}: all cases" COMMAND ${target} --durations yes)
        set_tests_properties("${target}: all cases" PROPERTIES ${properties})
    else()
        catch_discover_tests(${target} TEST_PREFIX "${target}: " PROPERTIES ${properties})
    endif()
    set_property(GLOBAL APPEND PROPERTY SIMT_TEST_PROGRAMS ${target})
endfunction()
