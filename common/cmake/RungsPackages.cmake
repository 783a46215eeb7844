# Finds the libraries we build on, or says which package has them. The one list of packages is
# common/packages.txt, which the launcher installs from.

# rungs_require(<package> <debian package>)
macro(rungs_require name package)
    find_package(${name} QUIET)
    if(NOT ${name}_FOUND)
        message(FATAL_ERROR "${name} was not found. On Debian or Ubuntu: sudo apt-get install ${package}\n"
                            "or let the launcher install everything: ./rungs demo\n"
                            "If it lies in a folder of its own, put that folder into CMAKE_PREFIX_PATH.")
    endif()
endmacro()

rungs_require(Threads build-essential)
rungs_require(fmt libfmt-dev)
rungs_require(CLI11 libcli11-dev)
rungs_require(nlohmann_json nlohmann-json3-dev)
rungs_require(pugixml libpugixml-dev)
rungs_require(LibArchive libarchive-dev)
rungs_require(yaml-cpp libyaml-cpp-dev)

# toml++ ships no CMake file in every release that distributions have; it is one header folder.
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h)
find_path(STB_INCLUDE_DIR stb/stb_image_write.h)
# Nor does libseccomp.
find_path(SECCOMP_INCLUDE_DIR seccomp.h)
find_library(SECCOMP_LIBRARY seccomp)
foreach(pair "TOMLPLUSPLUS_INCLUDE_DIR libtomlplusplus-dev" "STB_INCLUDE_DIR libstb-dev"
             "SECCOMP_INCLUDE_DIR libseccomp-dev" "SECCOMP_LIBRARY libseccomp-dev")
    separate_arguments(pair)
    list(GET pair 0 variable)
    list(GET pair 1 package)
    if(NOT ${variable})
        message(FATAL_ERROR "The files of ${package} were not found. On Debian or Ubuntu: "
                            "sudo apt-get install ${package}")
    endif()
endforeach()
