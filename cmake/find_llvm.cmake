# Finds LLVM with the Clang and the LLD of the same installation. LLVM_DIR chooses an installation:
#
#   cmake -DLLVM_DIR=/usr/lib/llvm-22/lib/cmake/llvm ...
#
# Otherwise the first of llvm_tested that is installed is taken, then any other version with a warning.
# compiler/source/llvm_versions.h has the differences between versions, docs/decisions/llvm_versions.md the reasons.
set(llvm_oldest 19)
set(llvm_tested 19 22)

list(JOIN llvm_tested ", " llvm_list)

if(LLVM_DIR)  # no other LLVM in place of the one that is named
  set(llvm_dir ${LLVM_DIR})
  find_package(LLVM QUIET CONFIG PATHS ${llvm_dir} NO_DEFAULT_PATH)
  if(NOT LLVM_FOUND)
    message(FATAL_ERROR "LLVM_DIR is ${llvm_dir}, which contains no LLVMConfig.cmake")
  endif()
else()
  foreach(major IN LISTS llvm_tested)
    find_package(LLVM ${major}.1 QUIET CONFIG PATHS /usr/lib/llvm-${major} /usr/lib64/llvm${major})
    if(LLVM_FOUND)
      break()
    endif()
  endforeach()
  find_package(LLVM QUIET CONFIG)
endif()
if(NOT LLVM_FOUND)
  message(FATAL_ERROR "LLVM is missing: nbcc needs the development files of LLVM, Clang and LLD of one version "
    "(tested: ${llvm_list}; on Debian llvm-19-dev libclang-19-dev liblld-19-dev). "
    "If they are installed in a folder of their own: -DLLVM_DIR=FOLDER/lib/cmake/llvm")
endif()
if(LLVM_VERSION_MAJOR LESS llvm_oldest)
  message(FATAL_ERROR "LLVM ${LLVM_VERSION} in ${LLVM_INSTALL_PREFIX} is too old: nbcc needs LLVM ${llvm_oldest} or later "
    "(tested: ${llvm_list}). -DLLVM_DIR=FOLDER/lib/cmake/llvm names another installation")
endif()
if(NOT LLVM_VERSION_MAJOR IN_LIST llvm_tested)
  message(WARNING "LLVM ${LLVM_VERSION} in ${LLVM_INSTALL_PREFIX} is untested: nbcc was tested with LLVM ${llvm_list}. "
    "-DLLVM_DIR=FOLDER/lib/cmake/llvm names another installation")
endif()
message(STATUS "LLVM ${LLVM_VERSION} in ${LLVM_INSTALL_PREFIX}")

# Not from an earlier choice of LLVM, and not from another installation: CMake's own search would combine LLVM 19 with
# the Clang that is the system's default.
foreach(part Clang LLD)
  unset(${part}_DIR CACHE)
  find_package(${part} QUIET CONFIG PATHS ${LLVM_INSTALL_PREFIX} NO_DEFAULT_PATH)
  if(NOT ${part}_FOUND)
    message(FATAL_ERROR "${part} is missing beside LLVM ${LLVM_VERSION} in ${LLVM_INSTALL_PREFIX}: "
      "install its development files (on Debian libclang-${LLVM_VERSION_MAJOR}-dev liblld-${LLVM_VERSION_MAJOR}-dev)")
  endif()
endforeach()
