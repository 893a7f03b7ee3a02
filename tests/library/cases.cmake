# The same numeric cases from every language: what the interpreter says of pipelines of the library at awkward sizes,
# and of particles that are NaN, is written into a file, which programs in C, C++ and Fortran read and compare with the
# functions of a compiled library, in each precision and for arrays of double and of float. Programs for CUNBODY-1 do so
# as far as its interface goes: gravity by force(), numbered fields by cunbody_api(), arrays of double. The Python
# package does it for a sample of all pipelines. And what each of them says to wrong arguments.
#
#   cmake -DBUILD=nbcc's build folder -DSOURCE=nbcc's source -DSCRATCH=an empty folder to be -P cases.cmake
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/cunbody/common.cmake)
find_compilers()
set(programs ${SOURCE}/tests/library/cases)
# Those that the programs know: vectors and numbers on either side, params of one and of three numbers and whole ones,
# sums, a maximum, a minimum with finish(), an index.
set(names gravity lennard_jones nearest_neighbour sph_force ks_statistic)

empty_scratch()
must(${BUILD}/bin/write_cases ${SCRATCH}/cases.txt ${names})
list(TRANSFORM names PREPEND ${SOURCE}/pipelines/ OUTPUT_VARIABLE pipelines)
list(TRANSFORM pipelines APPEND .pipe)
foreach(precision single mixed double)
  file(MAKE_DIRECTORY ${SCRATCH}/${precision})
  must(${BUILD}/bin/nbcc compile ${pipelines} --fortran --precision ${precision} -o ${precision}/libcases.so)
endforeach()

# Which of the libraries of one name a program takes, it is told when it runs.
set(library -Lsingle -lcases ${runtime})
must(${c_compiler} -std=c11 ${strict} -Isingle -I${BUILD}/include ${programs}/from_c.c -o from_c ${library})
set(made from_c)
if(cpp_compiler)
  must(${cpp_compiler} -std=c++20 ${strict} -Isingle -I${BUILD}/include -I${SOURCE} ${programs}/from_cpp.cpp -o from_cpp ${library})
  list(APPEND made from_cpp)
endif()
if(fortran_compiler)
  must(${fortran_compiler} -I${programs} ${SOURCE}/bindings/fortran/nbcc.f90 single/cases.f90 ${programs}/case_file.f90
    ${programs}/from_fortran.f90 -o from_fortran ${library})
  list(APPEND made from_fortran)
endif()
foreach(precision single mixed double)
  set(ENV{LD_LIBRARY_PATH} ${SCRATCH}/${precision})
  foreach(program IN LISTS made)
    must(${SCRATCH}/${program} cases.txt ${precision})
  endforeach()
endforeach()
unset(ENV{LD_LIBRARY_PATH})

# Bounds that hold for anything would prove nothing.
set(ENV{LD_LIBRARY_PATH} ${SCRATCH}/single)
execute_process(COMMAND ${SCRATCH}/from_c cases.txt double WORKING_DIRECTORY ${SCRATCH} OUTPUT_QUIET RESULT_VARIABLE code)
if(NOT code EQUAL 1)
  message(FATAL_ERROR "single precision passes for double: ${code}")
endif()
unset(ENV{LD_LIBRARY_PATH})

# CUNBODY-1's interface: a program has one pipeline of numbered fields.
must(${BUILD}/bin/write_cases gravity.txt gravity cunbody_gravity)
must(${BUILD}/bin/write_cases hermite.txt cunbody_hermite)
foreach(precision single mixed double)
  file(MAKE_DIRECTORY ${SCRATCH}/gravity_${precision} ${SCRATCH}/hermite_${precision})
  foreach(name gravity hermite)
    must(${BUILD}/bin/nbcc compile ${SOURCE}/pipelines/cunbody_${name}.pipe --api cunbody --fortran
      --precision ${precision} -o ${name}_${precision}/libnbody.so --rpath ${BUILD}/lib)
  endforeach()
endforeach()
set(c_words ${c_compiler} -std=c11 ${strict} -I${BUILD}/include ${programs}/from_cunbody.c)
must(${c_words} -DHAS_FORCE -Igravity_single -o cunbody_from_c -Lgravity_single -lnbody ${runtime})
must(${c_words} -Ihermite_single -o hermite_from_c -Lhermite_single -lnbody ${runtime})
set(made cunbody_from_c)
if(cpp_compiler)
  must(${cpp_compiler} -std=c++20 ${strict} -Igravity_single -I${BUILD}/include -I${SOURCE} ${programs}/from_cunbody.cpp
    -o cunbody_from_cpp -Lgravity_single -lnbody ${runtime})
  list(APPEND made cunbody_from_cpp)
endif()
if(fortran_compiler)
  must(${fortran_compiler} gravity_single/nbody.f90 ${programs}/case_file.f90 ${programs}/from_cunbody.f90
    -o cunbody_from_fortran -Lgravity_single -lnbody ${runtime})
  list(APPEND made cunbody_from_fortran)
endif()
foreach(precision single mixed double)
  set(ENV{LD_LIBRARY_PATH} ${SCRATCH}/gravity_${precision})
  foreach(program IN LISTS made)
    must(${SCRATCH}/${program} gravity.txt ${precision})
  endforeach()
  set(ENV{LD_LIBRARY_PATH} ${SCRATCH}/hermite_${precision})
  must(${SCRATCH}/hermite_from_c hermite.txt ${precision})
endforeach()
unset(ENV{LD_LIBRARY_PATH})

foreach(candidate $ENV{PYTHON} python3 /usr/bin/python3)
  execute_process(COMMAND ${candidate} -c "import numpy" RESULT_VARIABLE code OUTPUT_QUIET ERROR_QUIET)
  if(code EQUAL 0)
    set(python ${candidate})
    break()
  endif()
endforeach()
if(python)
  set(ENV{PYTHONDONTWRITEBYTECODE} 1)
  file(GLOB every_pipeline ${SOURCE}/pipelines/*.pipe)
  list(TRANSFORM every_pipeline REPLACE "^.*/([^/]*)\\.pipe$" "\\1")
  execute_process(
    COMMAND ${python} -c "import sampling, sys; print(*sampling.sampled(sys.argv[1:], 4), sep=';', end='')" ${every_pipeline}
    WORKING_DIRECTORY ${SOURCE}/tests/python OUTPUT_VARIABLE every_pipeline COMMAND_ERROR_IS_FATAL ANY)
  must(${BUILD}/bin/write_cases ${SCRATCH}/every.txt ${every_pipeline})
  set(ENV{PYTHONPATH} ${SOURCE}/bindings/python)
  set(ENV{NBCC_LIBRARY} ${BUILD}/lib/libnbcc_jit.so)
  set(ENV{NBCC_CACHE_DIR} ${SCRATCH}/cache)
  must(${python} ${programs}/from_python.py every.txt ${SOURCE}/pipelines)
endif()
file(REMOVE_RECURSE ${SCRATCH})
