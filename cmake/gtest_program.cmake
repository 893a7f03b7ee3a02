# Programs of GoogleTest, and their suites as tests of CTest.
#
#   gtest_program(NAME PREFIX SOURCES...)
#
# Their suites and not their cases: a process a case would load LLVM for longer than it tests, and GoogleTest names the
# case that failed. A test is called PREFIX and its suite, without what was given to INSTANTIATE_TEST_SUITE_P; those for
# GPUs ("OnGpu" in the name) have the label gpu. It counts as skipped when all its cases are.

# Tests, the command and the examples wait for kernels, which nbcc compiles, not for their own statements: the compiler that
# takes the least time is the best. Headers that all tests include are read once.
set(quickly_compiled $<$<COMPILE_LANGUAGE:CXX>:-O1>)
if(NBCC_BUILD_TESTS)
  find_package(GTest REQUIRED)
  file(WRITE ${PROJECT_BINARY_DIR}/gtest_headers.cpp "")
  add_library(gtest_headers OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/gtest_headers.cpp)
  set_target_properties(gtest_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(gtest_headers PRIVATE ${quickly_compiled})
  target_link_libraries(gtest_headers PRIVATE GTest::gmock fmt::fmt)
  target_precompile_headers(gtest_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <fmt/format.h> <algorithm> <filesystem>
    <fstream> <functional> <map> <optional> <string> <vector>)
endif()

# Compiles the sources of a target in groups, a translation unit for each, because most of a small file's time goes to the
# headers and templates that it shares with others. A group is the files that begin with the same letter; those that begin
# with "c", and with "cuda_", are divided by their next letter, so that a new file changes no other group. Files that use
# the interface of programs (nbcc.hpp) are groups of their own: its inline namespace has names of the compiler, too.
function(compile_in_groups target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME)
    string(REGEX MATCH "^(cuda_.|c.|.)" group ${name})
    file(STRINGS ${source} interface REGEX "^#include .*nbcc[.]hpp")
    if(interface)
      string(PREPEND group "interface_")
    endif()
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A type of one file may have members of types that only this file knows.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()

function(gtest_program name prefix)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_link_libraries(${name} PRIVATE GTest::gmock GTest::gtest_main fmt::fmt)
  target_compile_options(${name} PRIVATE ${quickly_compiled})
  target_precompile_headers(${name} REUSE_FROM gtest_headers)
  list(LENGTH ARGN count)
  if(count GREATER 3)
    compile_in_groups(${name})
  endif()
  # The program is asked for its suites when it has been linked. Before that there is one test, which fails.
  set(suites ${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake)
  add_custom_command(
    TARGET ${name} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${name}> "-DEMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}" -DPREFIX=${prefix} -DOUTPUT=${suites}
            -DKERNELS=${PROJECT_BINARY_DIR}/test-cache -P ${PROJECT_SOURCE_DIR}/cmake/list_gtest_suites.cmake
    BYPRODUCTS ${suites}
    VERBATIM)
  set(include ${CMAKE_CURRENT_BINARY_DIR}/${name}_tests.cmake)
  file(WRITE ${include} "if(EXISTS \"${suites}\")\n  include(\"${suites}\")\nelse()\n  add_test(${prefix}NOT_BUILT ${name})\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include})
endfunction()
