# cmake -D NM=... -D OBJCOPY=... -D OBJECT=... [-D LIBRARY=...] -P make_private.cmake
#   Makes an instrumented object's inline code its own. The linker would give the checks the same code, as it keeps
#   one copy for all objects, and they would be told of what they do themselves.
#   LIBRARY: the checks' archive. Functions that neither it nor the C++ library has stay for other objects to call, too:
#   a template may be instantiated here for all of them.
execute_process(COMMAND ${NM} -P ${OBJECT} OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR "${NM} cannot read ${OBJECT}")
endif()
string(REGEX MATCHALL "[^\n]+ [WV] [^\n]*\n" weak "${symbols}")
set(exported "")
if(DEFINED LIBRARY)
    execute_process(COMMAND ${NM} -P ${LIBRARY} OUTPUT_VARIABLE of_library RESULT_VARIABLE failed)
    if(failed)
        message(FATAL_ERROR "${NM} cannot read ${LIBRARY}")
    endif()
    foreach(symbol IN LISTS weak)
        # Functions, "NAME W VALUE SIZE"; each is alone in a section that is called after it.
        if(NOT symbol MATCHES "^_ZT?(N[VKRO]*)?(S[tabsiod]|9__gnu_cxx|4simt)" AND symbol MATCHES "^(_Z[^ ]+) W ([0-9a-f]+)")
            set(name ${CMAKE_MATCH_1})
            set(value ${CMAKE_MATCH_2})
            string(FIND "${of_library}" "${name} " in_library)
            if(in_library EQUAL -1)
                list(APPEND exported --add-symbol "${name}=.text.${name}:0x${value},function,global,weak")
            endif()
        endif()
    endforeach()
endif()
list(TRANSFORM weak REPLACE " .*" "")
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
