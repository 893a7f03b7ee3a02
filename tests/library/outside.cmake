# Installs nbcc into a folder of its own and builds tests/library/outside against it, as somebody would who has never
# seen the source; then runs its programs, and changes a pipeline to see what is made again.
#
#   cmake -DBUILD=nbcc's build folder -DSOURCE=nbcc's source -DSCRATCH=an empty folder to be -P outside.cmake
cmake_minimum_required(VERSION 3.22)

function(must)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    string(REPLACE ";" " " words "${ARGV}")
    message(FATAL_ERROR "${words}\nended with ${code}:\n${out}")
  endif()
  set(said "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
set(prefix ${SCRATCH}/prefix)
set(project ${SCRATCH}/build)
must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

must(${CMAKE_COMMAND} -S ${SOURCE}/tests/library/outside -B ${project} -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_BUILD_TYPE=Release -DNBCC_PIPELINES=${prefix}/share/nbcc/pipelines)
must(${CMAKE_COMMAND} --build ${project})
must(${CMAKE_CTEST_COMMAND} --test-dir ${project} --output-on-failure --no-tests=error)

# Nothing changed: nothing is made. A pipeline changed: the library is.
set(library ${project}/forces/libforces.so)
file(SHA256 ${library} before)
must(${CMAKE_COMMAND} --build ${project})
if(said MATCHES "Compiling pipelines")
  message(FATAL_ERROR "pipelines were compiled again though nothing had changed:\n${said}")
endif()
# Some file systems know whole seconds only.
execute_process(COMMAND ${CMAKE_COMMAND} -E sleep 1.1)
file(APPEND ${project}/gravity.pipe "pot -= 1000.0;\n")
must(${CMAKE_COMMAND} --build ${project})
file(SHA256 ${library} after)
if(before STREQUAL after)
  message(FATAL_ERROR "a pipeline was changed and the library was not")
endif()
execute_process(COMMAND ${project}/from_c OUTPUT_VARIABLE out RESULT_VARIABLE code)
if(code EQUAL 0)
  message(FATAL_ERROR "a pipeline was changed and the program did not see it")
endif()

# A library that needs the runtime alone: no compiler comes along.
find_program(ldd ldd)
if(ldd)
  must(${ldd} ${library})
  if(NOT said MATCHES "libnbcc_runtime" OR said MATCHES "not found" OR said MATCHES "LLVM|clang")
    message(FATAL_ERROR "what the library needs:\n${said}")
  endif()
endif()

# By hand, with pkg-config.
find_program(pkg_config pkg-config)
find_program(compiler cc)
if(pkg_config AND compiler)
  set(ENV{PKG_CONFIG_PATH} "")
  file(GLOB_RECURSE found ${prefix}/nbcc-runtime.pc)
  get_filename_component(folder ${found} DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  must(${pkg_config} --cflags --libs nbcc-runtime)
  string(STRIP "${said}" flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  set(by_hand ${SCRATCH}/by_hand)
  file(MAKE_DIRECTORY ${by_hand})
  must(${prefix}/bin/nbcc compile ${prefix}/share/nbcc/pipelines/gravity.pipe
    ${prefix}/share/nbcc/pipelines/lennard_jones.pipe -o ${by_hand}/libforces.so --isa sse2)
  get_filename_component(libraries ${folder}/.. ABSOLUTE)
  must(${compiler} -std=c11 -I${by_hand} ${SOURCE}/tests/library/outside/from_c.c -o ${by_hand}/from_c
    -L${by_hand} -lforces ${flags} -lm -Wl,-rpath,${by_hand}:${libraries})
  must(${by_hand}/from_c)
endif()
file(REMOVE_RECURSE ${SCRATCH})
