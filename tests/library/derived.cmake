# Compiled libraries with more kernels (nbcc compile --with): sums to a tolerance, each pair once and a search for
# nearest neighbours, from C, Fortran and CUNBODY-1's interface; and what is refused without them.
#
#   cmake -DBUILD=nbcc's build folder -DSOURCE=nbcc's source -DSCRATCH=an empty folder to be -P derived.cmake
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/must.cmake)
find_compilers()
set(programs ${SOURCE}/tests/library/derived)
set(strict -Wall -Wextra -Werror -I. -I${BUILD}/include)
set(runtime -L${BUILD}/lib -lnbcc_runtime -lm -Wl,-rpath,${SCRATCH}:${BUILD}/lib)
empty_scratch()
set(pipelines ${SOURCE}/pipelines/gravity.pipe ${SOURCE}/pipelines/k_nearest.pipe ${programs}/wide.pipe
  ${programs}/periodic.pipe)
set(words ${BUILD}/bin/nbcc compile ${pipelines} --fortran --force --with tolerance,symmetric,nearest)
must(${words} -o libderived.so --rpath ${BUILD}/lib)
must(${words} -o libderived.a --static)
foreach(library "-L.;-lderived" libderived.a)
  must(${c_compiler} -std=c11 ${strict} ${programs}/from_c.c -o from_c ${library} ${runtime})
  must(${SCRATCH}/from_c with)
  # Calls without handles.
  must(${CMAKE_COMMAND} -E env NBCC_TOLERANCE=1e-3 ${SCRATCH}/from_c call)
endforeach()
if(fortran_compiler)
  must(${fortran_compiler} -Wall ${SOURCE}/bindings/fortran/nbcc.f90 derived.f90
    ${SOURCE}/tests/library/expectations.f90 ${programs}/from_fortran.f90 -o from_fortran -L. -lderived ${runtime})
  must(${SCRATCH}/from_fortran)
endif()

# Without them.
must(${BUILD}/bin/nbcc compile ${pipelines} --force -o libderived.so --rpath ${BUILD}/lib)
must(${c_compiler} -std=c11 ${strict} ${programs}/from_c.c -o from_c -L. -lderived ${runtime})
must(${SCRATCH}/from_c without)

# CUNBODY-1's functions take the tolerance of the environment.
must(${BUILD}/bin/nbcc compile ${SOURCE}/pipelines/cunbody_gravity.pipe --api cunbody --with tolerance --force
  -o libnbody.so --rpath ${BUILD}/lib)
must(${c_compiler} -std=c11 ${strict} ${programs}/from_cunbody.c -o from_cunbody -L. -lnbody ${runtime})
must(${SCRATCH}/from_cunbody exact)
must(${CMAKE_COMMAND} -E env NBCC_TOLERANCE=1e-2 ${SCRATCH}/from_cunbody tolerance)
foreach(none 1e-2x 2 1e-400)
  must(${CMAKE_COMMAND} -E env NBCC_TOLERANCE=${none} ${SCRATCH}/from_cunbody refused)
endforeach()
file(REMOVE_RECURSE ${SCRATCH})
