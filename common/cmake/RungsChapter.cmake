# rungs_add_chapter(<NN_topic>) makes, from the names of the files and rooms in chapters/<NN_topic>,
#   <NN_topic>.exam                               the exam and the oracle, for tests; <NN_topic>.exam.module for graders
#   <NN_topic>.<student|solution>.<cpu|cuda>      the chapter's program; <NN_topic>.<student|solution> builds both
#   <NN_topic>.<student|solution>.<cpu|cuda>.test what every contract promises, and this one, as Catch2 tests
#   <NN_topic>.solution.checked.<own|clang>.test  no finding of check mode in the solutions, compiled by either
#   <NN_topic>.ladder.<cpu|cuda>                  times of the solutions: modelled on cpu, measured on cuda
#   <NN_topic>.demonstrations.<own|clang>.test    what check mode says of the wrong kernels in demonstrations/, if any
#   <NN_topic>.figures                            draws the lesson's pictures, where there is figures/figures.cpp
#   <NN_topic>.library.<cpu|cuda>                 the solutions as a shared library, where there is a folder library/;
#                                                 tested from C11 and from Python
#   <NN_topic>.compiled                           where nvcc is, but no GPU: shows that nvcc compiles all of it
#   <NN_topic>.bench                              the ladder against the libraries (cuda only), where there is bench/
# What a rung may include lies on top, beside the rungs; the rooms exam/, program/, bench/ and figures/ have the rest.
# A chapter's rungs are its NN_*.cu files; in the solution version, a file of the same name in solutions/
# replaces one. Students' versions are built on demand only: a half-edited rung must not break the build.
# In a student edition there is only the exam and the student's program.
add_custom_target(benchmarks)
add_custom_target(exams)
set(RUNGS_EXAMS ${CMAKE_BINARY_DIR}/exams)

function(rungs_add_chapter chapter)
    set(lesson ${PROJECT_SOURCE_DIR}/chapters/${chapter})
    set(answers ${PROJECT_SOURCE_DIR}/solutions/${chapter})
    file(GLOB rungs CONFIGURE_DEPENDS RELATIVE ${lesson} ${lesson}/[0-9][0-9]_*.cu)
    file(GLOB test CONFIGURE_DEPENDS ${lesson}/exam/*_test.cpp)
    foreach(file chapter.toml exam/exam.cpp exam/reference.cpp program/main.cu)
        if(NOT EXISTS ${lesson}/${file})
            message(FATAL_ERROR "chapters/${chapter}/${file} is missing: docs/contributing.md lists a chapter's files")
        endif()
    endforeach()
    if(NOT rungs OR NOT (test OR RUNGS_EDITION))
        message(FATAL_ERROR "chapters/${chapter} needs a rung such as 01_naive.cu, and tests in an exam/*_test.cpp")
    endif()

    # The judge loads the exams it is asked for, so that the others need not be built before a first verdict.
    add_library(${chapter}.exam.objects OBJECT ${lesson}/exam/exam.cpp ${lesson}/exam/reference.cpp)
    set_target_properties(${chapter}.exam.objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${chapter}.exam.objects PRIVATE -O3)
    target_include_directories(${chapter}.exam.objects PRIVATE ${lesson} ${PROJECT_SOURCE_DIR}/common/simt/include)
    target_link_libraries(${chapter}.exam.objects PUBLIC rungs_common PRIVATE rungs_warnings)
    add_library(${chapter}.exam STATIC $<TARGET_OBJECTS:${chapter}.exam.objects>)
    target_link_libraries(${chapter}.exam PUBLIC rungs_program)
    add_library(${chapter}.exam.module MODULE $<TARGET_OBJECTS:${chapter}.exam.objects>)
    set_target_properties(${chapter}.exam.module PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${RUNGS_EXAMS} PREFIX "" OUTPUT_NAME ${chapter})
    target_link_libraries(${chapter}.exam.module PRIVATE rungs_common)
    add_dependencies(exams ${chapter}.exam.module)
    set_property(GLOBAL APPEND PROPERTY RUNGS_CHAPTERS ${chapter})

    # Calls of all rungs, by rung and problem.
    set(entries ${CMAKE_BINARY_DIR}/entries/${chapter}/entries.cu)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/entries/${chapter})
    add_custom_command(OUTPUT ${entries}
                       COMMAND rungs_entries ${lesson} ${entries}
                       DEPENDS rungs_entries ${lesson}/chapter.toml
                       VERBATIM)
    set(ladder ${PROJECT_SOURCE_DIR}/common/ladder)

    rungs_gpu_of(${chapter} gpu)
    set(versions student)
    if(NOT RUNGS_EDITION)
        list(APPEND versions solution)
    endif()
    foreach(version IN LISTS versions)
        add_custom_target(${chapter}.${version})
    endforeach()
    foreach(backend IN LISTS RUNGS_BACKENDS)
        foreach(version IN LISTS versions)
            set(name ${chapter}.${version}.${backend})
            set(sources)
            foreach(rung IN LISTS rungs)
                if(version STREQUAL "solution" AND EXISTS ${answers}/${rung})
                    list(APPEND sources ${answers}/${rung})
                else()
                    list(APPEND sources ${lesson}/${rung})
                endif()
            endforeach()
            add_library(${name}.rungs STATIC)
            target_include_directories(${name}.rungs PUBLIC ${lesson})
            target_link_libraries(${name}.rungs PUBLIC rungs_common)
            target_compile_options(${name}.rungs PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${SIMT_DEBUG_OPTIONS}>")
            rungs_add_kernels(${name}.rungs ${backend} ${sources})

            add_executable(${name})
            target_include_directories(${name} PRIVATE ${lesson})
            target_link_libraries(${name} PRIVATE ${name}.rungs ${chapter}.exam)
            rungs_add_kernels(${name} ${backend} ${lesson}/program/main.cu)
            add_dependencies(${chapter}.${version} ${name})

            if(version STREQUAL "student")
                set_target_properties(${name} ${name}.rungs PROPERTIES EXCLUDE_FROM_ALL ON)
                continue()
            endif()
            target_link_libraries(${name}.rungs PRIVATE rungs_warnings)
            target_link_libraries(${name} PRIVATE rungs_warnings)
            if(backend STREQUAL "cuda" AND NOT RUNGS_CUDA_RUNS)
                set_target_properties(${name} ${name}.rungs PROPERTIES EXCLUDE_FROM_ALL ON)
                file(GLOB others CONFIGURE_DEPENDS ${lesson}/bench/*.cu ${lesson}/library/*.cu)
                rungs_compile_kernels(${chapter}.compiled INCLUDE ${lesson} ${PROJECT_SOURCE_DIR}/common
                                      DEFINE RUNGS_CHAPTER=${chapter}
                                      SOURCES ${sources} ${lesson}/program/main.cu ${entries} ${others})
                continue()
            endif()
            if(backend STREQUAL "cuda")
                # Creating a context takes longer than most cases. Exams are tested once, beside the CPU backend.
                set(on_device ${test})
                list(FILTER on_device EXCLUDE REGEX "/exam_test\\.cpp$")
                simt_add_test(${name}.test LABEL gpu LOCK ${gpu} AS_ONE
                              SOURCES ${ladder}/promises_test.cpp ${on_device})
            else()
                simt_add_test(${name}.test LABEL ${chapter}
                              SOURCES ${ladder}/promises_test.cpp ${ladder}/manifest_test.cpp ${test})
            endif()
            target_compile_definitions(${name}.test PRIVATE RUNGS_CHAPTER=${chapter} RUNGS_CHAPTER_FOLDER="${lesson}")
            target_include_directories(${name}.test PRIVATE ${lesson} ${PROJECT_SOURCE_DIR}/common)
            target_link_libraries(${name}.test PRIVATE ${name}.rungs ${chapter}.exam)
            rungs_add_kernels(${name}.test ${backend} ${entries})
        endforeach()
    endforeach()

    if(RUNGS_EDITION)
        return()
    endif()

    # The reference rungs in check mode: common/ladder/clean_test.cpp.
    set(sources)
    foreach(rung IN LISTS rungs)
        if(EXISTS ${answers}/${rung})
            list(APPEND sources ${answers}/${rung})
        else()
            list(APPEND sources ${lesson}/${rung})
        endif()
    endforeach()
    foreach(compiler IN LISTS SIMT_CHECK_COMPILERS)
        set(name ${chapter}.solution.checked.${compiler})
        simt_add_test(${name}.test LABEL ${chapter} SOURCES ${ladder}/clean_test.cpp)
        set(orders 1)
        if(compiler STREQUAL "own")
            set(orders 2)
        endif()
        target_compile_definitions(${name}.test PRIVATE RUNGS_CHAPTER=${chapter} RUNGS_CHAPTER_FOLDER="${lesson}"
                                                         RUNGS_ORDERS=${orders})
        target_include_directories(${name}.test PRIVATE ${lesson} ${PROJECT_SOURCE_DIR}/common)
        target_link_libraries(${name}.test PRIVATE ${chapter}.exam)
        if(compiler STREQUAL "own" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # whose counts are committed
            set(validation ${ladder}/validation)
            target_link_libraries(${name}.test PRIVATE rungs_validation_core)
            target_compile_definitions(${name}.test PRIVATE RUNGS_COUNTED="${validation}")
        endif()
        simt_add_checked_kernels(${name}.test COMPILER ${compiler} SOURCES ${sources} ${entries})
    endforeach()

    # The same rungs' times, measured on a GPU or modelled: common/ladder/times.cu. Built on demand.
    foreach(way IN LISTS RUNGS_BACKENDS)
        if(way STREQUAL "cpu" AND NOT SIMT_CHECK_COMPILERS)
            continue()  # no check mode in this build
        endif()
        set(name ${chapter}.ladder.${way})
        add_executable(${name} EXCLUDE_FROM_ALL)
        target_compile_definitions(${name} PRIVATE RUNGS_CHAPTER=${chapter})
        target_include_directories(${name} PRIVATE ${lesson} ${PROJECT_SOURCE_DIR}/common)
        target_link_libraries(${name} PRIVATE rungs_warnings)
        if(way STREQUAL "cpu")
            simt_add_checked_kernels(${name} SOURCES ${sources} ${entries})
            simt_translate(${name} plain FILES ${ladder}/times.cu)  # is not what is watched
            target_sources(${name} PRIVATE ${plain})
            target_link_libraries(${name} PRIVATE simt_metrics simt_model)
        else()
            rungs_add_kernels(${name} cuda ${sources} ${entries} ${ladder}/times.cu)
        endif()
        target_link_libraries(${name} PRIVATE ${chapter}.exam)
    endforeach()

    # Kernels that are wrong on purpose, and what check mode says of them.
    file(GLOB demonstrations CONFIGURE_DEPENDS ${lesson}/demonstrations/*.cu)
    file(GLOB test CONFIGURE_DEPENDS ${lesson}/demonstrations/*_test.cpp)
    foreach(compiler IN LISTS SIMT_CHECK_COMPILERS)
        if(demonstrations)
            set(name ${chapter}.demonstrations.${compiler}.test)
            simt_add_test(${name} LABEL ${chapter} SOURCES ${test})
            target_include_directories(${name} PRIVATE ${lesson})
            target_link_libraries(${name} PRIVATE rungs_common)
            simt_add_checked_kernels(${name} COMPILER ${compiler} SOURCES ${demonstrations})
        endif()
    endforeach()

    if(EXISTS ${lesson}/library)
        rungs_add_chapter_library(${chapter} ${lesson})
    endif()

    # The lesson's pictures are drawn by code; drawn again, they must be the committed ones.
    if(EXISTS ${lesson}/figures/figures.cpp)
        add_executable(${chapter}.figures ${lesson}/figures/figures.cpp)
        target_include_directories(${chapter}.figures PRIVATE ${lesson} ${PROJECT_SOURCE_DIR}/common/simt/include)
        target_compile_definitions(${chapter}.figures PRIVATE RUNGS_CHAPTER_FOLDER="${lesson}")
        target_link_libraries(${chapter}.figures PRIVATE ${chapter}.exam rungs_common rungs_warnings)
        add_test(NAME "${chapter}: figures are current"
                 COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:${chapter}.figures> -D FOLDER=${lesson}/figures
                         -D SCRATCH=${CMAKE_BINARY_DIR}/figures/${chapter}
                         -P ${PROJECT_SOURCE_DIR}/common/cmake/check_figures.cmake)
        set_tests_properties("${chapter}: figures are current" PROPERTIES LABELS ${chapter} TIMEOUT 600)
    endif()

    if(cuda IN_LIST RUNGS_BACKENDS AND EXISTS ${lesson}/bench)
        add_executable(${chapter}.bench)
        rungs_add_kernels(${chapter}.bench cuda ${lesson}/bench/bench.cu ${lesson}/bench/peers.cu)
        target_link_libraries(${chapter}.bench PRIVATE ${chapter}.solution.cuda.rungs ${chapter}.exam CUDA::cublas
                                                     CUDA::cusparse rungs_warnings)
        if(NOT RUNGS_CUDA_RUNS)
            set_target_properties(${chapter}.bench PROPERTIES EXCLUDE_FROM_ALL ON)
        endif()
        add_dependencies(benchmarks ${chapter}.bench)
    endif()
endfunction()

# rungs_gpu_of(<NN_topic> <variable>)
#   The lock of a chapter's tests on the GPU: so many at once as its memory has room for.
function(rungs_gpu_of chapter variable)
    string(SUBSTRING ${chapter} 0 2 number)
    # Behind a 1: what begins with a zero would be octal.
    math(EXPR place "1${number} % ${RUNGS_GPU_TESTS}")
    set(${variable} gpu0_${place} PARENT_SCOPE)
endfunction()

# rungs_add_chapter_library(<NN_topic> <lesson>)
#   lib/lib<topic>_<cpu|cuda>.so from the solutions, library/library.cu and the symbols of library/exports.map alone.
function(rungs_add_chapter_library chapter lesson)
    string(REGEX REPLACE "^[0-9]+_" "" topic ${chapter})
    find_program(RUNGS_PYTHON NAMES python3)
    foreach(backend IN LISTS RUNGS_BACKENDS)
        if(backend STREQUAL "cuda" AND NOT RUNGS_CUDA_RUNS)
            continue()  # it is compiled with the rest
        endif()
        set(name ${chapter}.library.${backend})
        add_library(${name} SHARED)
        set_target_properties(${name} PROPERTIES OUTPUT_NAME ${topic}_${backend}
                              LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib LINK_DEPENDS ${lesson}/library/exports.map)
        target_include_directories(${name} PRIVATE ${lesson} PUBLIC ${lesson}/library)
        target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/common/include)
        target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/common/src/cuda_error.cpp)
        target_link_options(${name} PRIVATE -Wl,--version-script=${lesson}/library/exports.map -Wl,--no-undefined)
        # Compilers take their time: what they have made for the tests will do.
        set_target_properties(${chapter}.solution.${backend}.rungs PROPERTIES POSITION_INDEPENDENT_CODE ON)
        rungs_add_kernels(${name} ${backend} ${lesson}/library/library.cu)
        if(backend STREQUAL "cpu")  # as objects: the library itself would bring a runtime of its own
            target_sources(${name} PRIVATE $<TARGET_OBJECTS:${chapter}.solution.cpu.rungs>)
        else()
            target_link_libraries(${name} PRIVATE ${chapter}.solution.cuda.rungs)
        endif()

        set(label ${chapter})
        set(lock)
        if(backend STREQUAL "cuda")
            set(label gpu)
            rungs_gpu_of(${chapter} gpu)
            set(lock RESOURCE_LOCK ${gpu})
        endif()
        add_executable(${name}.test ${lesson}/library/library_test.c)
        set_target_properties(${name}.test PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
        target_compile_options(${name}.test PRIVATE -Wall -Wextra -Wpedantic)
        target_link_libraries(${name}.test PRIVATE ${name} m)
        add_test(NAME "${chapter}: library from C, ${backend}" COMMAND ${name}.test)
        # A caller whose data is in device memory.
        add_executable(${name}.device.test)
        target_include_directories(${name}.device.test PRIVATE ${PROJECT_SOURCE_DIR}/common/include)
        rungs_add_kernels(${name}.device.test ${backend} ${lesson}/library/device_test.cu)
        target_link_libraries(${name}.device.test PRIVATE ${name} rungs_common rungs_warnings)
        add_test(NAME "${chapter}: library on device memory, ${backend}" COMMAND ${name}.device.test)
        if(RUNGS_PYTHON)
            add_test(NAME "${chapter}: library from Python, ${backend}"
                     COMMAND ${RUNGS_PYTHON} ${lesson}/library/library_test.py $<TARGET_FILE:${name}>)
        else()
            add_test(NAME "${chapter}: library from Python, ${backend}"
                     COMMAND sh -c "echo '[SKIP] python3 was not found when the build was configured'; exit 77")
        endif()
        set_tests_properties("${chapter}: library from C, ${backend}" "${chapter}: library from Python, ${backend}"
                             "${chapter}: library on device memory, ${backend}"
                             PROPERTIES LABELS ${label} TIMEOUT 600 ${lock})
        if(NOT RUNGS_PYTHON)
            set_tests_properties("${chapter}: library from Python, ${backend}" PROPERTIES SKIP_RETURN_CODE 77)
        endif()
    endforeach()
endfunction()
