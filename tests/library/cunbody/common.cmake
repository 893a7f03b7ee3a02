# What the tests of CUNBODY-1's interface have in common: where programs are, how far forces may be off, must() and
# make_libraries(). Included by ../cunbody.cmake and ../cunbody_drivers.cmake, with BUILD, SOURCE and SCRATCH set.
set(programs ${SOURCE}/tests/library/cunbody)
# Of the sum of the terms' lengths: some ten roundings of single precision, some hundreds of double.
set(bound_single 1e-6)
set(bound_double 1e-13)
find_program(c_compiler NAMES cc gcc clang)
set(runtime -L${BUILD}/lib -lnbcc_runtime -lm -Wl,-rpath,${SCRATCH}:${BUILD}/lib)
set(strict -Wall -Wextra -Werror)

include(${CMAKE_CURRENT_LIST_DIR}/../must.cmake)

# In a fresh folder: libnbody.so, libnbody.a and what they are used by.
macro(make_libraries pipeline precision)
  empty_scratch()
  set(words ${BUILD}/bin/nbcc compile ${pipeline} --api cunbody --fortran --force --precision ${precision})
  must(${words} -o libnbody.so --rpath "$ORIGIN:${BUILD}/lib")
  must(${words} -o libnbody.a --static)
endmacro()
