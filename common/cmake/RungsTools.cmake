# rungs_add_program(<target> <folder>)
#   Every .cpp of the folder but main.cpp becomes the library <target>_core, which tests can link;
#   main.cpp becomes the executable <target>.
function(rungs_add_program target folder)
    set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
    set(main ${folder}/main.cpp)
    list(REMOVE_ITEM sources ${main})
    add_library(${target}_core STATIC ${sources})
    target_include_directories(${target}_core PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${target}_core PRIVATE rungs_warnings)
    add_executable(${target} ${main})
    target_link_libraries(${target} PRIVATE ${target}_core rungs_warnings)
endfunction()

# Options of test code: tests are compiled once and run briefly, so compile time is what counts.
add_library(rungs_test_options INTERFACE)
# CHECK(size == 3) compares inside Catch2's templates, whose warnings a precompiled header makes visible; and
# Catch2 v3 takes the CPU backend for nvcc, whose pragmas other compilers do not know.
target_compile_options(rungs_test_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-O1;-g0;-Wno-sign-compare;-Wno-unknown-pragmas>)
target_link_libraries(rungs_test_options INTERFACE rungs_warnings Catch2::Catch2WithMain)

# Catch2 v2 is one large header: compiling it once, for all test programs with the same options, is what keeps the
# test build short. (v3's headers are small; there it costs nothing.)
set(RUNGS_SANITIZERS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
if(NOT Catch2_VERSION VERSION_GREATER_EQUAL 3)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/catch.cpp CONTENT "")  # a target has at least one source
    foreach(target IN ITEMS rungs_catch rungs_catch_sanitized)
        add_library(${target} OBJECT ${CMAKE_BINARY_DIR}/catch.cpp)
        target_link_libraries(${target} PRIVATE rungs_warnings rungs_test_options)
        target_precompile_headers(${target} PRIVATE <catch2/catch.hpp>)
    endforeach()
    target_compile_options(rungs_catch_sanitized PRIVATE ${RUNGS_SANITIZERS})
endif()

# rungs_add_test(<target> [LABEL <label>] [LOCK <resource>] [TIMEOUT <seconds>] [SANITIZED] SOURCES <file...>)
#   A Catch2 program and one CTest test for every TEST_CASE. A skipped test is never a pass: exit code 4
#   (Catch2 v3) and the line "[SKIP] why" (v2) both read as Skipped.
function(rungs_add_test target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "SANITIZED" "LABEL;LOCK;TIMEOUT" "SOURCES")
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    add_executable(${target} ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE rungs_warnings rungs_test_options)
    set(catch rungs_catch)
    if(arg_SANITIZED)
        set(catch rungs_catch_sanitized)
        target_compile_options(${target} PRIVATE ${RUNGS_SANITIZERS})
        target_link_options(${target} PRIVATE ${RUNGS_SANITIZERS})
    endif()
    if(TARGET ${catch})
        target_precompile_headers(${target} REUSE_FROM ${catch})
    endif()
    set(properties TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 4 SKIP_REGULAR_EXPRESSION "\\[SKIP\\]")
    if(arg_LABEL)
        list(APPEND properties LABELS ${arg_LABEL})
    endif()
    if(arg_LOCK)
        list(APPEND properties RESOURCE_LOCK ${arg_LOCK})
    endif()
    catch_discover_tests(${target} TEST_PREFIX "${target}: " PROPERTIES ${properties})
    set_property(GLOBAL APPEND PROPERTY RUNGS_TEST_PROGRAMS ${target})
endfunction()

# rungs_add_sanitized_test(<target> LABEL <label> LIBRARY <file...> SOURCES <file...> [INCLUDES <folder...>])
#   The same tests once more, with the library they test compiled under AddressSanitizer and
#   UndefinedBehaviorSanitizer. For host code: lanes on fibers and limits on memory do not go with them.
function(rungs_add_sanitized_test target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL" "LIBRARY;SOURCES;INCLUDES")
    rungs_add_test(${target} LABEL ${arg_LABEL} SANITIZED SOURCES ${arg_SOURCES} ${arg_LIBRARY})
    target_include_directories(${target} PRIVATE ${arg_INCLUDES})
    target_include_directories(${target} SYSTEM PRIVATE ${TOMLPLUSPLUS_INCLUDE_DIR} ${STB_INCLUDE_DIR})
    target_link_libraries(${target} PRIVATE Threads::Threads)
endfunction()

# rungs_expect_tests()
#   A build can silently lose tests: a binary that does not start registers none, and CTest is content. So one
#   test looks whether every test program has registered one.
function(rungs_expect_tests)
    get_property(programs GLOBAL PROPERTY RUNGS_TEST_PROGRAMS)
    list(JOIN programs "," programs)
    add_test(NAME "every test program registers tests"
             COMMAND ${CMAKE_COMMAND} -D CTEST=${CMAKE_CTEST_COMMAND} -D BUILD=${CMAKE_BINARY_DIR}
                     -D PROGRAMS=${programs} -P ${CMAKE_CURRENT_SOURCE_DIR}/common/cmake/expect_tests.cmake)
endfunction()
