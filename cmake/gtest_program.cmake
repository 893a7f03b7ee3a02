# Programs of GoogleTest, and their suites as tests of CTest.
#
#   gtest_program(NAME PREFIX SOURCES...)
#
# Their suites and not their cases: a process a case would load LLVM for longer than it tests, and GoogleTest names the
# case that failed. A test is called PREFIX and its suite, without what was given to INSTANTIATE_TEST_SUITE_P; those for
# GPUs ("OnGpu" in the name) have the label gpu. It counts as skipped when all its cases are.

# Headers that all tests include are read once.
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

function(gtest_program name prefix)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_link_libraries(${name} PRIVATE GTest::gmock GTest::gtest_main fmt::fmt)
  target_compile_options(${name} PRIVATE ${quickly_compiled})
  target_precompile_headers(${name} REUSE_FROM gtest_headers)
  list(LENGTH ARGN count)
  if(count GREATER 3)
    compile_in_groups(${name} BY_LETTER)
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
