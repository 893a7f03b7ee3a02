# A compiled library searches for neighbours, and finds what all pairs find; one without a cutoff has nothing to search;
# one with inputs of pairs sums over pairs that are listed.
#
#   cmake -DBUILD=nbcc's build folder -DSOURCE=nbcc's source -DSCRATCH=an empty folder to be -P neighbours.cmake
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/must.cmake)
set(programs ${SOURCE}/tests/library/neighbours)
find_compilers()
empty_scratch()
set(words ${BUILD}/bin/nbcc compile ${programs}/near.pipe ${SOURCE}/pipelines/gravity.pipe
  ${SOURCE}/examples/water/bonds.pipe --precision double --force)
must(${words} -o libnear.so --rpath ${BUILD}/lib)
must(${words} -o libnear.a --static)
foreach(library "-L.;-lnear" libnear.a)
  must(${c_compiler} -Wall -Wextra -Werror -std=c11 -I. -I${BUILD}/include ${programs}/near.c -o near ${library}
    -L${BUILD}/lib -lnbcc_runtime -lm -Wl,-rpath,${SCRATCH}:${BUILD}/lib)
  must(${SCRATCH}/near)
endforeach()
file(REMOVE_RECURSE ${SCRATCH})
