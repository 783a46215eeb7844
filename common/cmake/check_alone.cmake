# cmake -D SOURCE=common/simt -D BUILD=... -D COMPILER=... -D LAUNCHER=... -D WARNINGS_AS_ERRORS=ON|OFF -P check_alone.cmake
#   Run by the test "the CPU backend stands alone": nothing of it names what is outside, and it builds by itself.
file(GLOB_RECURSE files ${SOURCE}/*)
foreach(file IN LISTS files)
    file(STRINGS ${file} outside REGEX "rungs[_/]|RUNGS_[^S]|(PROJECT|CMAKE)_SOURCE_DIR|^#include \"\\.\\.")
    if(outside)
        message(FATAL_ERROR "${file} names what is outside of ${SOURCE}: ${outside}")
    endif()
endforeach()
# As a packager builds it, in Release: no warning ends a build unless that is asked for. Then simt++ and the smallest
# test; the rest is compiled from the same files and by the same rules in the tree.
set(configure "-S;${SOURCE};-B;${BUILD};-G;Ninja;-D;CMAKE_BUILD_TYPE=Release;-D;CMAKE_CXX_COMPILER=${COMPILER};-D;CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}")
foreach(command IN ITEMS "${configure};-U;SIMT_WARNINGS_AS_ERRORS" "${configure};-D;SIMT_WARNINGS_AS_ERRORS=${WARNINGS_AS_ERRORS}"
        "--build;${BUILD};--target;simt_driver;simt_columns_test" "-E;chdir;${BUILD};bin/simt_columns_test")
    execute_process(COMMAND ${CMAKE_COMMAND} ${command} RESULT_VARIABLE failed)
    if(failed)
        message(FATAL_ERROR "cmake ${command} failed")
    endif()
    file(STRINGS ${BUILD}/build.ninja errors REGEX "-Werror")
    if(errors AND command MATCHES ";-U;")
        message(FATAL_ERROR "warnings are errors in a build that has not asked for that")
    endif()
endforeach()
