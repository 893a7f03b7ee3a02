# Makes Debian packages and uses what is in them: the command compiles a pipeline, the runtime alone runs it, Python
# imports its package.
#
#   cmake -DBUILD=nbcc's build folder -DSOURCE=nbcc's source -DSCRATCH=an empty folder to be -P packages.cmake
cmake_minimum_required(VERSION 3.22)
find_program(dpkg_deb dpkg-deb)
find_program(dpkg_shlibdeps dpkg-shlibdeps)
find_program(compiler cc)
if(NOT dpkg_deb OR NOT dpkg_shlibdeps OR NOT compiler)
  message("skipped: no dpkg-deb, dpkg-shlibdeps or cc")
  return()
endif()

function(must)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE error)
  if(NOT code EQUAL 0)
    string(REPLACE ";" " " words "${ARGV}")
    message(FATAL_ERROR "${words}\nended with ${code}:\n${out}${error}")
  endif()
  set(said "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})
must(${CMAKE_CPACK_COMMAND} -G DEB --config ${BUILD}/CPackConfig.cmake -B ${SCRATCH}/packages -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip)
set(unpacked ${SCRATCH}/unpacked)
foreach(name libnbcc-runtime0 libnbcc-jit0 libnbcc-dev nbcc python3-nbcc)
  file(GLOB package ${SCRATCH}/packages/${name}_*.deb)
  if(NOT package)
    message(FATAL_ERROR "there is no package ${name}")
  endif()
  must(${dpkg_deb} -x ${package} ${unpacked})
  must(${dpkg_deb} -f ${package} Depends)
  if(name STREQUAL "libnbcc-runtime0" AND said MATCHES "llvm|clang")
    message(FATAL_ERROR "the runtime's package wants a compiler: ${said}")
  endif()
  if(name STREQUAL "nbcc" AND NOT said MATCHES "libllvm[0-9]+.*|libclang-cpp[0-9]+.*")
    message(FATAL_ERROR "the command's package does not say what it needs: ${said}")
  endif()
  if(name STREQUAL "python3-nbcc" AND NOT said MATCHES "python3 .*libnbcc-jit0 ")
    message(FATAL_ERROR "Python's package does not say what it needs: ${said}")
  endif()
endforeach()

set(program ${SCRATCH}/program)
file(MAKE_DIRECTORY ${program})
must(${unpacked}/usr/bin/nbcc compile ${unpacked}/usr/share/nbcc/pipelines/gravity.pipe
  ${unpacked}/usr/share/nbcc/pipelines/lennard_jones.pipe -o ${program}/libforces.so --isa sse2)
must(${compiler} -std=c11 -I${program} -I${unpacked}/usr/include ${SOURCE}/tests/library/outside/from_c.c
  -o ${program}/from_c -L${program} -lforces -L${unpacked}/usr/lib -lnbcc_runtime -lm
  -Wl,-rpath,${program}:${unpacked}/usr/lib)
must(${program}/from_c)

# Any interpreter will do; this one is told where Debian's looks by itself, and where the system's loader does.
find_program(python python3)
if(python)
  set(ENV{PYTHONPATH} ${unpacked}/usr/lib/python3/dist-packages)
  set(ENV{LD_LIBRARY_PATH} ${unpacked}/usr/lib)
  set(ENV{NBCC_CACHE_DIR} ${SCRATCH}/cache)
  unset(ENV{NBCC_LIBRARY})
  must(${python} ${SOURCE}/tests/library/package.py ${unpacked})
endif()
file(REMOVE_RECURSE ${SCRATCH})
