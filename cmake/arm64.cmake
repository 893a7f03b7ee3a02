# Toolchain file: cross-compiles for arm64 Linux with Clang 19 and LLD on a machine of another kind. NBCC_ARM64_ROOT is a
# folder with Debian's arm64 packages (cmake/arm64_root.sh makes it). Programs that the build or CTest starts run under
# QEMU.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
if(NOT NBCC_ARM64_ROOT)
  message(FATAL_ERROR "cmake/arm64.cmake: expected NBCC_ARM64_ROOT, the folder that cmake/arm64_root.sh made")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES NBCC_ARM64_ROOT)

set(CMAKE_SYSROOT ${NBCC_ARM64_ROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
foreach(language C CXX)
  set(CMAKE_${language}_COMPILER_TARGET aarch64-linux-gnu)
endforeach()
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT -fuse-ld=lld)
endforeach()

# Programs come from this machine, everything else from the root.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(ENV{PKG_CONFIG_LIBDIR} ${NBCC_ARM64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${NBCC_ARM64_ROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${NBCC_ARM64_ROOT})

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${NBCC_ARM64_ROOT})
