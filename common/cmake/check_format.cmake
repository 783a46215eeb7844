# Run by the test "sources are formatted": what clang-format would change is named. Versions of clang-format differ in
# what they make of one configuration, so it is the one of Debian 12 or none. What only Catch2 of Debian 12 has is
# named as well: others have version 3.
foreach(folder autograder chapters common solutions)
    file(GLOB_RECURSE files ${ROOT}/${folder}/*.c ${ROOT}/${folder}/*.h ${ROOT}/${folder}/*.hpp ${ROOT}/${folder}/*.cpp
         ${ROOT}/${folder}/*.cuh ${ROOT}/${folder}/*.cu)
    list(APPEND sources ${files})
endforeach()
foreach(source IN LISTS sources)
    file(STRINGS ${source} of_version_2 REGEX "^#include <catch2/|[^:A-Za-z]Approx\\(")
    if(of_version_2 AND NOT source MATCHES "/testing/(catch\\.h|main\\.cpp)$")
        message(FATAL_ERROR "${source}: ${of_version_2}: include testing/catch.h, and say Catch::Approx")
    endif()
endforeach()
set(version 14)
find_program(clang_format NAMES clang-format-${version} clang-format)
if(clang_format)
    execute_process(COMMAND ${clang_format} --version OUTPUT_VARIABLE found)
endif()
if(NOT clang_format OR NOT found MATCHES "version ${version}\\.")
    message("[SKIP] clang-format ${version} was not found")
    return()
endif()
# Rungs are a student's. Programs that are wrong on purpose, and what the translator is tested with, need not be pretty.
list(FILTER sources EXCLUDE REGEX
     "/chapters/[^/]*/[0-9][^/]*\\.cu$|/attacks/[0-9]|/tests/recorded/|/tests/corpus/|/check/tests/[^/]*\\.cu$|/tests/bad_input\\.cu$|/tests/samples/")
execute_process(COMMAND ${clang_format} --dry-run -Werror ${sources} RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR "clang-format -i makes of these files what they should be")
endif()
