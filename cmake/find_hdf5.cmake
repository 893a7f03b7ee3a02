# Finds HDF5 for C -> the target nbcc_hdf5. pkg-config is asked first: Debian's hdf5.pc names the serial build. HDF5 that
# was built by its configure script has no hdf5.pc; CMake's FindHDF5 asks its h5cc (HDF5_ROOT names the folder).
find_package(PkgConfig QUIET)
add_library(nbcc_hdf5 INTERFACE)
if(PkgConfig_FOUND)
  pkg_check_modules(NBCC_HDF5 QUIET IMPORTED_TARGET hdf5)
endif()
if(TARGET PkgConfig::NBCC_HDF5)
  target_link_libraries(nbcc_hdf5 INTERFACE PkgConfig::NBCC_HDF5)
else()
  find_package(HDF5 COMPONENTS C)
  if(NOT HDF5_FOUND)
    message(FATAL_ERROR "HDF5 for C is missing: neither pkg-config (hdf5) nor CMake's FindHDF5 finds it "
      "(on Debian libhdf5-dev). -DHDF5_ROOT=FOLDER names an installation")
  endif()
  target_include_directories(nbcc_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
  target_link_libraries(nbcc_hdf5 INTERFACE ${HDF5_C_LIBRARIES})
  target_compile_definitions(nbcc_hdf5 INTERFACE ${HDF5_C_DEFINITIONS})
endif()
