# Compiled libraries with totals, from C, C++ and Fortran: numbers, vectors, arrays, counts and histograms,
# some of them ignored; and interfaces that have no place for totals refuse them.
#
#   cmake -DBUILD=nbcc's build folder -DSOURCE=nbcc's source -DSCRATCH=an empty folder to be -P totals.cmake
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/must.cmake)
find_compilers()
set(programs ${SOURCE}/tests/library/totals)
empty_scratch()
set(pipelines ${programs}/energies.pipe ${programs}/alone.pipe ${programs}/histograms.pipe)
set(words ${BUILD}/bin/nbcc compile ${pipelines} --fortran --precision double --force)
must(${words} -o libtotals.so --rpath ${BUILD}/lib)
must(${words} -o libtotals.a --static)
run_programs(totals)
must(${c_compiler} -std=c11 -I. -I${BUILD}/include ${programs}/from_c.c -o from_c libtotals.a -L${BUILD}/lib
  -lnbcc_runtime -lm -Wl,-rpath,${BUILD}/lib)
must(${SCRATCH}/from_c)

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
