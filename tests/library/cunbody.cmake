# A library with CUNBODY-1's interface, shared and static, called from C, C++ and Fortran; forces are compared with sums
# written out.
#
#   cmake -DBUILD=nbcc's build folder -DSOURCE=nbcc's source -DSCRATCH=an empty folder to be -P cunbody.cmake
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/cunbody/common.cmake)
find_compilers()

foreach(precision single double)
  make_libraries(${SOURCE}/pipelines/cunbody_gravity.pipe ${precision})
  foreach(library "-L.;-lnbody" libnbody.a)
    must(${c_compiler} -std=c11 ${strict} -I. -I${BUILD}/include ${programs}/force.c -o force ${library} ${runtime})
    must(${SCRATCH}/force ${bound_${precision}})
    if(cpp_compiler)
      must(${cpp_compiler} -std=c++20 ${strict} -I. -I${BUILD}/include ${programs}/force.cpp -o force ${library} ${runtime})
      must(${SCRATCH}/force)
    endif()
    if(fortran_compiler)
      must(${fortran_compiler} nbody.f90 ${programs}/force.f90 -o force ${library} ${runtime})
      must(${SCRATCH}/force)
      must(${fortran_compiler} ${programs}/by_name.f90 -o force ${library} ${runtime})
      must(${SCRATCH}/force)
    endif()
  endforeach()
endforeach()
file(REMOVE_RECURSE ${SCRATCH})
