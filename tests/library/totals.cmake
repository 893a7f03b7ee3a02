# Compiled libraries with totals, from C, C++ and Fortran: numbers, vectors, arrays, counts and histograms,
# some of them ignored; and interfaces that have no place for totals refuse them.
#
#   cmake -DBUILD=nbcc's build folder -DSOURCE=nbcc's source -DSCRATCH=an empty folder to be -P totals.cmake
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/must.cmake)
set(programs ${SOURCE}/tests/library/totals)
find_program(c_compiler NAMES cc gcc clang)
if(NOT c_compiler)
  message("skipped: there is no C compiler")
  return()
endif()
find_program(cpp_compiler NAMES c++ g++ clang++)
find_program(fortran_compiler NAMES gfortran)
file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})
set(pipelines ${programs}/energies.pipe ${programs}/alone.pipe ${programs}/histograms.pipe)
set(words ${BUILD}/bin/nbcc compile ${pipelines} --fortran --precision double --force)
must(${words} -o libtotals.so --rpath ${BUILD}/lib)
must(${words} -o libtotals.a --static)
set(strict -Wall -Wextra -Werror -I. -I${BUILD}/include)
set(runtime -L${BUILD}/lib -lnbcc_runtime -lm -Wl,-rpath,${SCRATCH}:${BUILD}/lib)
foreach(library "-L.;-ltotals" libtotals.a)
  must(${c_compiler} -std=c11 ${strict} ${programs}/from_c.c -o from_c ${library} ${runtime})
  must(${SCRATCH}/from_c)
endforeach()
if(cpp_compiler)
  must(${cpp_compiler} -std=c++20 ${strict} -I${SOURCE} ${programs}/from_cpp.cpp -o from_cpp -L. -ltotals ${runtime})
  must(${SCRATCH}/from_cpp)
endif()
if(fortran_compiler)
  must(${fortran_compiler} -Wall ${SOURCE}/bindings/fortran/nbcc.f90 totals.f90 ${programs}/from_fortran.f90
    -o from_fortran -L. -ltotals ${runtime})
  must(${SCRATCH}/from_fortran)
endif()

execute_process(COMMAND ${BUILD}/bin/nbcc compile ${programs}/alone.pipe --api fdps -o libalone.so
  --class-map a=a,b=b,product=product,least=least
  WORKING_DIRECTORY ${SCRATCH} RESULT_VARIABLE code ERROR_VARIABLE said)
if(NOT code EQUAL 1 OR NOT said MATCHES "output 'product' is a total, which FDPS has no place for" OR
   NOT said MATCHES "declare it as output\\(min\\)")
  message(FATAL_ERROR "FDPS and totals: ${code}, ${said}")
endif()
if(EXISTS ${SCRATCH}/libalone.so)
  message(FATAL_ERROR "a library was written in spite of totals")
endif()
file(REMOVE_RECURSE ${SCRATCH})
