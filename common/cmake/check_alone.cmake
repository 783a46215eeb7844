# cmake -D SOURCE=common/simt -D BUILD=... -D COMPILER=... -D LAUNCHER=... -P check_alone.cmake
#   Run by the test "the CPU backend stands alone": nothing of it names what is outside, and it builds by itself.
file(GLOB_RECURSE files ${SOURCE}/*)
foreach(file IN LISTS files)
    file(STRINGS ${file} outside REGEX "rungs[_/]|RUNGS_[^S]|(PROJECT|CMAKE)_SOURCE_DIR|^#include \"\\.\\.")
    if(outside)
        message(FATAL_ERROR "${file} names what is outside of ${SOURCE}: ${outside}")
    endif()
endforeach()
# The translator and the smallest test: the rest is compiled from the same files and by the same rules in the tree.
foreach(command IN ITEMS "-S;${SOURCE};-B;${BUILD};-G;Ninja;-D;CMAKE_CXX_COMPILER=${COMPILER};-D;CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
        "--build;${BUILD};--target;cu2cpp;simt_columns_test" "-E;chdir;${BUILD};bin/simt_columns_test")
    execute_process(COMMAND ${CMAKE_COMMAND} ${command} RESULT_VARIABLE failed)
    if(failed)
        message(FATAL_ERROR "cmake ${command} failed")
    endif()
endforeach()
