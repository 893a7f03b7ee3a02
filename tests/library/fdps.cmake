# Functors for FDPS, called by a stand-in for it from several threads and in MultiWalk's order, with particles of several
# classes; results are compared with sums written out. Classes that do not fit do not compile, and are told why.
#
#   cmake -DBUILD=nbcc's build folder -DSOURCE=nbcc's source -DSCRATCH=an empty folder to be -P fdps.cmake
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/must.cmake)
find_program(compiler NAMES c++ g++ clang++)
if(NOT compiler)
  message("skipped: there is no C++ compiler")
  return()
endif()
set(programs ${SOURCE}/tests/library/fdps)
# Of the sum of the terms' lengths: some ten roundings of single precision, some hundreds of double.
set(bound_single 2e-6)
set(bound_double 1e-13)

file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})
set(compile ${compiler} -std=c++17 -Wall -Wextra -Wpedantic -Werror -O1 -I. -I${BUILD}/include -I${programs})
set(runtime -L${BUILD}/lib -lnbcc_runtime -lm -pthread -Wl,-rpath,${SCRATCH}:${BUILD}/lib)
set(map xi=pos,xj=pos:x,mj=mass:m,acc=acc,pot=pot)

foreach(precision single double)
  set(words ${BUILD}/bin/nbcc compile ${SOURCE}/pipelines/gravity.pipe --api fdps --class-map ${map} --force
    --precision ${precision})
  must(${words} -o libforces.so --rpath "$ORIGIN:${BUILD}/lib")
  must(${words} -o libforces.a --static)
  must(${compile} -c ${programs}/gravity.cpp -o gravity.o)
  foreach(library "-L.;-lforces" libforces.a)
    must(${compiler} gravity.o -o gravity ${library} ${runtime})
    must(${SCRATCH}/gravity ${bound_${precision}})
  endforeach()
endforeach()

must(${BUILD}/bin/nbcc compile ${programs}/near.pipe ${programs}/far.pipe -o liblists.so --api fdps
  --class-map x=state.pos,y=state.pos,h=h,count=count --class-map least=of.range[0],most=of.range[1]
  --cxx-namespace mine::lists --rpath "$ORIGIN:${BUILD}/lib")
must(${compile} ${programs}/near.cpp -o near -L. -llists ${runtime})
must(${SCRATCH}/near)

must(${BUILD}/bin/nbcc compile ${programs}/odds.pipe -o libchances.so --api fdps --precision double
  --class-map x=pos,y=pos,logit=logit,weight=weight,chance=chance --rpath "$ORIGIN:${BUILD}/lib")
must(${compile} ${programs}/odds.cpp -o odds -L. -lchances ${runtime})
must(${SCRATCH}/odds)

# A header with another in one program: what they have in common is there once.
file(WRITE ${SCRATCH}/both.cpp "#include <forces_fdps.hpp>\n#include <lists_fdps.hpp>\nint main() {}\n")
must(${compile} -fsyntax-only both.cpp)

function(must_be_refused class said_of_it)
  execute_process(COMMAND ${compile} -DCLASS=${class} -fsyntax-only ${programs}/misfit.cpp WORKING_DIRECTORY ${SCRATCH}
    RESULT_VARIABLE code ERROR_VARIABLE said)
  string(FIND "${said}" "${said_of_it}" at)
  if(code EQUAL 0 OR at EQUAL -1)
    message(FATAL_ERROR "'${said_of_it}' was not said of ${class}, which ended with ${code}:\n${said}")
  endif()
endfunction()
must(${compile} -DCLASS=Particle -fsyntax-only ${programs}/misfit.cpp)
must_be_refused(WithoutMass "gravity: a class has no public member mass or m, which --class-map names for 'mj'")
must_be_refused(Hidden "gravity: a class has no public member mass or m, which --class-map names for 'mj'")
must_be_refused(OfShorts "gravity: the member mass or m for 'mj' must hold 1 float or double")
must_be_refused(OfTwo "gravity: the member pos or x for 'xj' must hold 3 float or double numbers")
file(REMOVE_RECURSE ${SCRATCH})
