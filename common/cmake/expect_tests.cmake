# Run by the test "every test program registers tests"; see rungs_expect_tests().
execute_process(COMMAND ${CTEST} --show-only=json-v1 WORKING_DIRECTORY ${BUILD}
                OUTPUT_VARIABLE listing RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR "ctest could not list the tests of ${BUILD}")
endif()
string(REPLACE "," ";" PROGRAMS "${PROGRAMS}")
foreach(program IN LISTS PROGRAMS)
    string(FIND "${listing}" "\"${program}:" at)
    if(at LESS 0)
        message(FATAL_ERROR "the test program ${program} registered no test")
    endif()
endforeach()
