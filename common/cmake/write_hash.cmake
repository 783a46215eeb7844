# Writes a header that names FILES by their content: cmake -D FILES=... -D OUT=... -P write_hash.cmake
set(hashes)
foreach(file IN LISTS FILES)
    file(SHA256 ${file} hash)
    string(APPEND hashes ${hash})
endforeach()
string(SHA256 all "${hashes}")
file(CONFIGURE OUTPUT ${OUT} CONTENT "#pragma once\nconstexpr const char* judge_sources = \"${all}\";\n")
