# cmake -D NM=... -D OBJCOPY=... -D OBJECT=... -P make_private.cmake
#   Makes an instrumented object's inline code its own. The linker would give the checks the same code, as it keeps
#   one copy for all objects, and they would be told of what they do themselves.
execute_process(COMMAND ${NM} -P ${OBJECT} OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR "${NM} cannot read ${OBJECT}")
endif()
string(REGEX MATCHALL "[^\n]+ [WV] [^\n]*\n" weak "${symbols}")
list(TRANSFORM weak REPLACE " .*" "")
list(JOIN weak "\n" weak)
file(WRITE ${OBJECT}.weak "${weak}\n")
if(weak)  # objcopy refuses an empty list
    execute_process(COMMAND ${OBJCOPY} --remove-section=.group --localize-symbols=${OBJECT}.weak ${OBJECT}
                    RESULT_VARIABLE failed)
    if(failed)
        message(FATAL_ERROR "${OBJCOPY} failed for ${OBJECT}")
    endif()
endif()
