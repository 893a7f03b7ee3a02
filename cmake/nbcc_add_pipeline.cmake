# nbcc_add_pipeline(TARGET SOURCES a.pipe [b.pipe ...] [options]): a library of pipelines, made by `nbcc compile`.
#
#   ARCH sm_80 sm_90 ...         architectures of GPUs to compile for (needs NVRTC)
#   ISA avx512 avx2 sse2 ...     instruction sets of the CPU
#   PRECISION single|mixed|double
#   MATH fast|precise
#   ROOT refined|estimate|exact
#   CXX_NAMESPACE name           of TARGET.hpp
#   API cunbody                  cunbody_api.h as well, and its functions
#   API fdps                     TARGET_fdps.hpp as well, with
#   CLASS_MAP xi=pos xj=pos ...  the members of the program's classes
#   STATIC                       an archive in place of a shared library
#   FORTRAN                      TARGET_fortran as well: a library with the module, and the module nbcc with it, for
#                                projects with Fortran enabled
#
# Link with TARGET: that brings TARGET.h, TARGET.hpp and nbcc::runtime along. It is made again when a pipeline or nbcc
# has changed. The files are in ${CMAKE_CURRENT_BINARY_DIR}/TARGET.
function(nbcc_add_pipeline target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STATIC;FORTRAN" "PRECISION;MATH;ROOT;CXX_NAMESPACE;API" "SOURCES;ARCH;ISA;CLASS_MAP")
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "nbcc_add_pipeline(${target}): SOURCES are missing")
  endif()
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "nbcc_add_pipeline(${target}): not understood: ${arg_UNPARSED_ARGUMENTS} ${arg_KEYWORDS_MISSING_VALUES}")
  endif()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target})
  file(MAKE_DIRECTORY ${folder})
  set(ending so)
  set(form SHARED)
  set(words)
  if(arg_STATIC)
    set(ending a)
    set(form STATIC)
    list(APPEND words --static)
  else()
    list(APPEND words --rpath "$ORIGIN:$<TARGET_FILE_DIR:nbcc::runtime>")
  endif()
  set(library ${folder}/lib${target}.${ending})
  set(made ${library} ${folder}/${target}.h ${folder}/${target}.hpp)
  if(arg_FORTRAN)
    list(APPEND words --fortran)
    list(APPEND made ${folder}/${target}.f90)
  endif()
  if(arg_API STREQUAL cunbody)
    list(APPEND made ${folder}/cunbody_api.h)
  elseif(arg_API STREQUAL fdps)
    list(APPEND made ${folder}/${target}_fdps.hpp)
  endif()
  foreach(option ARCH ISA CLASS_MAP)
    if(arg_${option})
      string(TOLOWER ${option} name)
      string(REPLACE "_" "-" name ${name})
      string(REPLACE ";" "," value "${arg_${option}}")
      list(APPEND words --${name} ${value})
    endif()
  endforeach()
  foreach(option PRECISION MATH ROOT CXX_NAMESPACE API)
    if(arg_${option})
      string(TOLOWER ${option} name)
      string(REPLACE "_" "-" name ${name})
      list(APPEND words --${name} ${arg_${option}})
    endif()
  endforeach()
  set(sources)
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(source ${source} ABSOLUTE)
    list(APPEND sources ${source})
  endforeach()

  add_custom_command(
    OUTPUT ${made}
    COMMAND nbcc::nbcc compile ${sources} -o ${library} --force ${words}
    DEPENDS ${sources} nbcc::nbcc
    COMMENT "Compiling pipelines into ${target}"
    VERBATIM)
  add_custom_target(${target}_pipelines DEPENDS ${made})
  add_library(${target} ${form} IMPORTED GLOBAL)
  add_dependencies(${target} ${target}_pipelines)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION ${library}
    INTERFACE_INCLUDE_DIRECTORIES ${folder}
    INTERFACE_LINK_LIBRARIES nbcc::runtime)
  if(arg_STATIC)
    set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES m)
  else()
    set_target_properties(${target} PROPERTIES IMPORTED_SONAME lib${target}.so)
  endif()
  if(arg_FORTRAN)
    if(NOT TARGET nbcc_fortran)
      set(nbcc_modules ${CMAKE_BINARY_DIR}/nbcc_fortran)
      add_library(nbcc_fortran STATIC ${nbcc_FORTRAN_SOURCE})
      set_target_properties(nbcc_fortran PROPERTIES Fortran_MODULE_DIRECTORY ${nbcc_modules})
      target_include_directories(nbcc_fortran PUBLIC ${nbcc_modules})
      target_link_libraries(nbcc_fortran PUBLIC nbcc::runtime)
    endif()
    add_library(${target}_fortran STATIC ${folder}/${target}.f90)
    set_target_properties(${target}_fortran PROPERTIES Fortran_MODULE_DIRECTORY ${folder}/modules)
    target_include_directories(${target}_fortran PUBLIC ${folder}/modules)
    target_link_libraries(${target}_fortran PUBLIC ${target} nbcc_fortran)
  endif()
endfunction()
