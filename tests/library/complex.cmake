# Compiled libraries with complex numbers, from C, C++ and Fortran: arrays, params, sums and totals.
#
#   cmake -DBUILD=nbcc's build folder -DSOURCE=nbcc's source -DSCRATCH=an empty folder to be -P complex.cmake
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/must.cmake)
find_compilers()
set(programs ${SOURCE}/tests/library/complex)
empty_scratch()
must(${BUILD}/bin/nbcc compile ${programs}/waves.pipe --fortran --precision double --force -o libcomplexes.so
  --rpath ${BUILD}/lib)
run_programs(complexes)
file(REMOVE_RECURSE ${SCRATCH})
