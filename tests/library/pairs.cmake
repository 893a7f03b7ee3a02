# Compiled libraries of pipelines with inputs and results of pairs, from C, C++ and Fortran, also of pipelines whose only
# real arrays are outputs; and interfaces without pairs refuse them.
#
#   cmake -DBUILD=nbcc's build folder -DSOURCE=nbcc's source -DSCRATCH=an empty folder to be -P pairs.cmake
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/must.cmake)
find_compilers()
set(programs ${SOURCE}/tests/library/pairs)
empty_scratch()
set(pipelines ${programs}/contacts.pipe ${programs}/differences.pipe ${programs}/excess.pipe ${programs}/links.pipe
  ${programs}/springs.pipe)
foreach(precision double mixed)
  set(words ${BUILD}/bin/nbcc compile ${pipelines} --fortran --precision ${precision} --force)
  must(${words} -o libpairs.so --rpath ${BUILD}/lib)
  run_programs(pairs)
endforeach()
must(${words} -o libpairs.a --static)
must(${c_compiler} -std=c11 -I. -I${BUILD}/include ${programs}/from_c.c -o from_c libpairs.a -L${BUILD}/lib
  -lnbcc_runtime -lm -Wl,-rpath,${BUILD}/lib)
must(${SCRATCH}/from_c)

execute_process(COMMAND ${BUILD}/bin/nbcc compile ${programs}/contacts.pipe --api fdps -o libfdps.so
  --class-map xi=x,xj=x,before=b,history=h,force=f
  WORKING_DIRECTORY ${SCRATCH} RESULT_VARIABLE code ERROR_VARIABLE said)
if(NOT code EQUAL 1 OR NOT said MATCHES "an input_pair cannot be used" OR
   NOT said MATCHES "an output\\(pair\\) cannot be used")
  message(FATAL_ERROR "FDPS and results of pairs: ${code}, ${said}")
endif()
file(REMOVE_RECURSE ${SCRATCH})
