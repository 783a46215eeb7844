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
    simt_compile_together(${target}_core)
    add_executable(${target} ${main})
    target_link_libraries(${target} PRIVATE ${target}_core rungs_warnings)
endfunction()

# rungs_expect_tests()
#   A build can silently lose tests: a binary that does not start registers none, and CTest is content. So one
#   test looks whether every test program has registered one.
function(rungs_expect_tests)
    get_property(programs GLOBAL PROPERTY SIMT_TEST_PROGRAMS)
    list(JOIN programs "," programs)
    add_test(NAME "every test program registers tests"
             COMMAND ${CMAKE_COMMAND} -D CTEST=${CMAKE_CTEST_COMMAND} -D BUILD=${CMAKE_BINARY_DIR}
                     -D PROGRAMS=${programs} -P ${CMAKE_CURRENT_SOURCE_DIR}/common/cmake/expect_tests.cmake)
endfunction()
