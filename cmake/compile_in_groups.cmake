# How the sources of a target are compiled in little time.

# For code that is no loop over particles: the compiler, the command, tests and examples wait for kernels, which nbcc
# compiles, not for their own statements.
set(quickly_compiled $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-O1>)

option(NBCC_COMPILE_IN_GROUPS "Compile the files of a folder in groups: less than half of the time, but an #include that a file lacks may go unnoticed" ON)

# compile_in_groups(TARGET [BY_LETTER])
#
# Compiles the sources of a target in groups, a translation unit for each, because most of a small file's time goes to the
# headers and templates that it shares with others. A folder is one group, or several of equal size, in the order of the
# names, so that a group has at most 16 files (with 12, GCC 12 took 0.3 to 0.8 GB of memory, and 1.1 with Clang's headers).
# BY_LETTER, for tests, whose files have many names in common: a group is the files, of any folder, that begin with the same letter;
# those that begin with "c", and with "cuda_", are divided by their next letter.
# A name in an anonymous namespace is known to all files of the group, and is an error if two files define it.
# Files that use the interface of programs (nbcc.hpp) are in groups of their own, because its inline namespace has names of the
# compiler, too. Files that open the namespace of a kernel's data, and files with options of their own, are compiled
# separately.
function(compile_in_groups target)
  if(NOT NBCC_COMPILE_IN_GROUPS)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(SORT sources)
  set(groups)
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE)
    file(STRINGS ${path} interface REGEX "^#include .*nbcc[.]hpp")
    file(STRINGS ${path} opens_namespace REGEX "^using namespace .*_data;")
    get_source_file_property(options ${path} COMPILE_OPTIONS)
    get_source_file_property(definitions ${path} COMPILE_DEFINITIONS)
    if(opens_namespace OR options OR definitions)
      set_source_files_properties(${path} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      continue()
    endif()
    get_filename_component(group ${path} DIRECTORY)
    file(RELATIVE_PATH group ${PROJECT_SOURCE_DIR} ${group})
    string(MAKE_C_IDENTIFIER "${group}" group)
    if("BY_LETTER" IN_LIST ARGN)
      set(group tests)
    endif()
    if(interface)
      string(APPEND group _interface)
    endif()
    if("BY_LETTER" IN_LIST ARGN)
      get_filename_component(name ${path} NAME)
      string(REGEX MATCH "^(cuda_.|c.|.)" letter ${name})
      string(APPEND group _${letter})
    endif()
    list(APPEND groups ${group})
    list(APPEND files_of_${group} ${path})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    list(LENGTH files_of_${group} count)
    math(EXPR parts "(${count} + 15) / 16")
    set(index 0)
    foreach(path IN LISTS files_of_${group})
      math(EXPR part "${index} * ${parts} / ${count}")
      set_source_files_properties(${path} PROPERTIES UNITY_GROUP ${group}_${part})
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # A type of one file may have members of types that only this file knows.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()
