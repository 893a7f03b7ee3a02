# Drivers of CUNBODY-1's form, which define force() themselves and call cunbody_api() with rows of numbers, against
# libraries of pipelines/cunbody_*.pipe. Where the published drivers and listings lie beside the source tree, these too,
# word for word. Forces are compared with sums written out.
#
#   cmake -DBUILD=nbcc's build folder -DSOURCE=nbcc's source -DSCRATCH=an empty folder to be -P cunbody_drivers.cmake
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/cunbody/common.cmake)
set(published ${SOURCE}/../shared/seed_pipelines)
if(NOT c_compiler)
  message("skipped: there is no C compiler")
  return()
endif()

# A driver has a force() of its own, and is compiled with cunbody_api.h alone. program: calls force() and checks its results.
function(test_driver driver listing program precision)
  make_libraries(${listing} ${precision})
  foreach(library "-L.;-lnbody" libnbody.a)
    must(${c_compiler} ${strict} -I. -DNBCC_OWN_DECLARATION ${driver} ${programs}/${program}.c -o driver ${library}
      ${runtime})
    must(${SCRATCH}/driver ${bound_${precision}})
  endforeach()
endfunction()

foreach(precision single double)
  test_driver(${programs}/rows_of_gravity.c ${SOURCE}/pipelines/cunbody_gravity.pipe force ${precision})
  test_driver(${programs}/rows_of_hermite.c ${SOURCE}/pipelines/cunbody_hermite.pipe hermite ${precision})
  if(EXISTS ${published}/fig12_driver.c)
    test_driver(${published}/fig12_driver.c ${published}/cunbody_force.pipe force ${precision})
    test_driver(${published}/fig13_driver.c ${published}/cunbody_force_jerk_potential.pipe hermite ${precision})
  endif()
endforeach()
# A driver with the header of another pipeline does not compile.
execute_process(COMMAND ${c_compiler} -c -I${SCRATCH} ${programs}/rows_of_gravity.c -o ${SCRATCH}/driver.o
  RESULT_VARIABLE code ERROR_VARIABLE said)
if(code EQUAL 0 OR NOT said MATCHES "IDIM is not that of [a-z_]+, which is 6")
  message(FATAL_ERROR "rows of the wrong width were taken:\n${said}")
endif()
file(REMOVE_RECURSE ${SCRATCH})
