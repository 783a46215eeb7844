# cmake -D NM=... -D OBJCOPY=... -D OBJECT=... [-D LIBRARY=...] -P make_private.cmake
#   Makes an instrumented object's inline code its own. The linker would give the checks the same code, as it keeps
#   one copy for all objects, and they would be told of what they do themselves.
#   LIBRARY: the checks' archive. Functions that neither it nor the C++ library has stay for other objects to call, too:
#   a template may be instantiated here for all of them.
execute_process(COMMAND ${NM} -f sysv ${OBJECT} OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR "${NM} cannot read ${OBJECT}")
endif()
# NAME |VALUE|   W  |  FUNC|SIZE|     |SECTION
string(REGEX MATCHALL "[^\n |]+ *[|][0-9a-f]+[|] +[WV] +[|][^\n]*" weak "${symbols}")
set(exported "")
if(DEFINED LIBRARY)
    execute_process(COMMAND ${NM} -P ${LIBRARY} OUTPUT_VARIABLE of_library RESULT_VARIABLE failed)
    if(failed)
        message(FATAL_ERROR "${NM} cannot read ${LIBRARY}")
    endif()
    foreach(symbol IN LISTS weak)
        if(NOT symbol MATCHES "^_ZT?(N[VKRO]*)?(S[tabsiod]|9__gnu_cxx|4simt)" AND
           symbol MATCHES "^([^ |]+) *[|]([0-9a-f]+)[|] +W +[|] +FUNC[|][0-9a-f]*[|] *[|]([^ ]+)$")
            string(FIND "${of_library}" "${CMAKE_MATCH_1} " in_library)
            if(in_library EQUAL -1)
                list(APPEND exported --add-symbol
                     "${CMAKE_MATCH_1}=${CMAKE_MATCH_3}:0x${CMAKE_MATCH_2},function,global,weak")
            endif()
        endif()
    endforeach()
endif()
list(TRANSFORM weak REPLACE " *[|].*" "")
list(JOIN weak "\n" weak)
file(WRITE ${OBJECT}.weak "${weak}\n")
if(weak)  # objcopy refuses an empty list
    execute_process(COMMAND ${OBJCOPY} --remove-section=.group --localize-symbols=${OBJECT}.weak ${OBJECT}
                    RESULT_VARIABLE failed)
    if(NOT failed AND exported)
        execute_process(COMMAND ${OBJCOPY} ${exported} ${OBJECT} RESULT_VARIABLE failed)
    endif()
    if(failed)
        message(FATAL_ERROR "${OBJCOPY} failed for ${OBJECT}")
    endif()
endif()
