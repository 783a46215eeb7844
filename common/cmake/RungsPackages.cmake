# Finds the libraries we build on, or says which package has them. The one list of packages is
# common/packages.txt, which the launcher installs from.

# rungs_require(<package> <debian package>)
macro(rungs_require name package)
    find_package(${name} QUIET)
    if(NOT ${name}_FOUND)
        message(FATAL_ERROR "${name} was not found. On Debian or Ubuntu: sudo apt-get install ${package}\n"
                            "or let the launcher install everything: ./rungs demo")
    endif()
endmacro()

rungs_require(Threads build-essential)
rungs_require(fmt libfmt-dev)
rungs_require(CLI11 libcli11-dev)
rungs_require(nlohmann_json nlohmann-json3-dev)

# toml++ ships no CMake file in every release that distributions have; it is one header folder.
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h)
find_path(STB_INCLUDE_DIR stb/stb_image_write.h)
foreach(pair "TOMLPLUSPLUS_INCLUDE_DIR libtomlplusplus-dev" "STB_INCLUDE_DIR libstb-dev")
    separate_arguments(pair)
    list(GET pair 0 variable)
    list(GET pair 1 package)
    if(NOT ${variable})
        message(FATAL_ERROR "The headers of ${package} were not found. On Debian or Ubuntu: "
                            "sudo apt-get install ${package}")
    endif()
endforeach()

# Catch2 v3 where it is packaged, v2 otherwise; "rungs/catch.hpp" hides the difference.
find_package(Catch2 3 CONFIG QUIET)
if(NOT Catch2_FOUND)
    find_package(Catch2 2.13 CONFIG QUIET)
endif()
if(NOT Catch2_FOUND)
    message(FATAL_ERROR "Catch2 was not found. On Debian or Ubuntu: sudo apt-get install catch2")
endif()
include(Catch)
