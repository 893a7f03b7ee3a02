# What `cmake --install` puts where: the command, the two libraries, their headers, packages for CMake and pkg-config,
# and the library of pipelines.
include(CMakePackageConfigHelpers)

# Programs outside include <nbcc/nbcc.h>; here headers are included from the root of the source. The build tree has them
# as an installation has, for tests and examples.
set(public_include ${PROJECT_BINARY_DIR}/include)
set(public_headers runtime/api/nbcc.h runtime/api/nbcc_fields.h runtime/api/nbcc_pair_lists.h runtime/api/nbcc_ranks.h runtime/api/nbcc_statistics.h runtime/api/nbcc.hpp runtime/api/nbcc_device.hpp
  runtime/api/nbcc_pair_lists.hpp runtime/api/nbcc_views.hpp)
if(TARGET nbcc_mpi)
  list(APPEND public_headers mpi/nbcc_mpi.h mpi/nbcc_mpi.hpp)
endif()
foreach(path IN LISTS public_headers)
  get_filename_component(header ${path} NAME)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${path})
  file(READ ${PROJECT_SOURCE_DIR}/${path} text)
  string(REGEX REPLACE "#include \"(runtime/api|mpi)/nbcc" "#include \"nbcc" text "${text}")
  file(CONFIGURE OUTPUT ${public_include}/nbcc/${header} CONTENT "${text}" @ONLY)
endforeach()
install(DIRECTORY ${public_include}/nbcc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)

install(TARGETS nbcc EXPORT nbcc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
foreach(library runtime jit)
  install(TARGETS nbcc_${library}_shared EXPORT nbcc
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${library} NAMELINK_COMPONENT dev)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/pipelines DESTINATION ${CMAKE_INSTALL_DATADIR}/nbcc COMPONENT tools FILES_MATCHING PATTERN "*.pipe")
if(TARGET nbcc_mpi)
  # By itself, since who asks for it must have an MPI.
  install(TARGETS nbcc_mpi_shared EXPORT nbcc_mpi
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi NAMELINK_COMPONENT dev)
endif()
# Source, since every Fortran compiler has modules of its own.
install(FILES ${PROJECT_SOURCE_DIR}/bindings/fortran/nbcc.f90 DESTINATION ${CMAKE_INSTALL_DATADIR}/nbcc/fortran COMPONENT dev)
# Source as well, since the plugin fits the LAMMPS alone that it is compiled for.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/lammps/plugin DESTINATION ${CMAKE_INSTALL_DATADIR}/nbcc/bindings/lammps COMPONENT dev)
install(FILES ${PROJECT_SOURCE_DIR}/docs/nbcc.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/nbcc)
install(EXPORT nbcc NAMESPACE nbcc:: FILE nbccTargets.cmake DESTINATION ${package_folder} COMPONENT dev)
if(TARGET nbcc_mpi)
  install(EXPORT nbcc_mpi NAMESPACE nbcc:: FILE nbccMpiTargets.cmake DESTINATION ${package_folder} COMPONENT dev)
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/nbccConfig.cmake.in ${PROJECT_BINARY_DIR}/nbccConfig.cmake
  INSTALL_DESTINATION ${package_folder} PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nbccConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/nbccConfig.cmake ${PROJECT_BINARY_DIR}/nbccConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/nbcc_add_pipeline.cmake DESTINATION ${package_folder} COMPONENT dev)

# Relative, so that an installation may be moved.
file(RELATIVE_PATH pkgconfig_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(pkgconfig_libraries runtime jit)
if(NOT SKBUILD)
  list(APPEND pkgconfig_libraries g5 g6)  # of bindings/grape
endif()
if(TARGET nbcc_mpi)
  list(APPEND pkgconfig_libraries mpi)  # besides, the compiler is mpicc
endif()
foreach(library IN LISTS pkgconfig_libraries)
  set(pkgconfig_library ${library})
  set(pkgconfig_requires)
  if(library STREQUAL mpi)
    set(pkgconfig_requires nbcc-runtime)
  endif()
  configure_file(${CMAKE_CURRENT_LIST_DIR}/nbcc.pc.in ${PROJECT_BINARY_DIR}/nbcc-${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/nbcc-${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()

# `cpack -G DEB` in the build folder: packages for Debian and what is like it. Each library is a package of its own, since
# programs with compiled pipelines need the runtime and nothing else.
set(CPACK_PACKAGE_NAME nbcc)
set(CPACK_PACKAGE_VENDOR nbcc)
set(CPACK_PACKAGE_CONTACT "the nbcc project <nbcc@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL runtime jit tools dev python)
if(TARGET nbcc_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME libnbcc-mpi0)
  set(CPACK_DEBIAN_MPI_PACKAGE_SECTION libs)
  set(CPACK_COMPONENT_MPI_DESCRIPTION "Sums over particles that are spread over the ranks of MPI.")
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libnbcc-runtime0)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_JIT_PACKAGE_NAME libnbcc-jit0)
set(CPACK_DEBIAN_JIT_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME nbcc)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libnbcc-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "libnbcc-runtime0 (= ${PROJECT_VERSION}), libnbcc-jit0 (= ${PROJECT_VERSION}), nbcc (= ${PROJECT_VERSION})")
# Python files alone, compiled by the interpreter of the machine that they are installed on.
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-nbcc)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.9), libnbcc-jit0 (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS python3-numpy)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
  "${CMAKE_CURRENT_LIST_DIR}/python3-nbcc/postinst;${CMAKE_CURRENT_LIST_DIR}/python3-nbcc/prerm")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "Runs compiled pipelines; needs no compiler.")
set(CPACK_COMPONENT_JIT_DESCRIPTION "Compiles pipelines inside programs.")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "The nbcc command and the library of pipelines.")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers, and packages for CMake and pkg-config.")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "Pipelines as functions of NumPy's, CuPy's and PyTorch's arrays.")
include(CPack)
