# The published drivers of CUNBODY-1 word for word, against libraries made of the published listings, where both lie
# beside the source tree. Forces are compared with sums written out.
#
#   cmake -DBUILD=nbcc's build folder -DSOURCE=nbcc's source -DSCRATCH=an empty folder to be -P cunbody_drivers.cmake
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/cunbody/common.cmake)
set(published ${SOURCE}/../shared/seed_pipelines)
if(NOT c_compiler)
  message("skipped: there is no C compiler")
  return()
endif()
foreach(file fig12_driver.c fig13_driver.c cunbody_force.pipe cunbody_force_jerk_potential.pipe)
  if(NOT EXISTS ${published}/${file})
    message("skipped: ${published}/${file} is absent")
    return()
  endif()
endforeach()

# They have a force() of their own, and are compiled with cunbody_api.h alone.
function(test_driver driver listing program precision)
  make_libraries(${published}/${listing}.pipe ${precision})
  foreach(library "-L.;-lnbody" libnbody.a)
    must(${c_compiler} ${strict} -I. -DNBCC_OWN_DECLARATION ${published}/${driver}.c ${programs}/${program}.c -o driver
      ${library} ${runtime})
    must(${SCRATCH}/driver ${bound_${precision}})
  endforeach()
endfunction()
foreach(precision single double)
  test_driver(fig12_driver cunbody_force force ${precision})
  test_driver(fig13_driver cunbody_force_jerk_potential hermite ${precision})
endforeach()
# A driver with the header of another pipeline does not compile.
execute_process(COMMAND ${c_compiler} -c -I${SCRATCH} ${published}/fig12_driver.c -o ${SCRATCH}/driver.o
  RESULT_VARIABLE code ERROR_VARIABLE said)
if(code EQUAL 0 OR NOT said MATCHES "IDIM is not that of cunbody_force_jerk_potential, which is 6")
  message(FATAL_ERROR "rows of the wrong width were taken:\n${said}")
endif()
file(REMOVE_RECURSE ${SCRATCH})
