#!/usr/bin/env bash
# toolchain.sh SOURCE_FOLDER: which LLVM cmake/find_llvm.cmake takes, and which C++ compilers cmake/check_compiler.cmake
# refuses. The installations of LLVM are folders with what CMake reads of them.
set -euo pipefail
source=$1
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT
fail() { echo "FAILED: $*"; cat said; exit 1; }

installation() { # version, parts
  local major=${1%%.*} part
  local folder=$PWD/llvm-$major
  for part in "${@:2}"; do
    mkdir -p "$folder/lib/cmake/${part,,}"
    echo "set(${part}_INSTALL_PREFIX $folder)" >"$folder/lib/cmake/${part,,}/${part}Config.cmake"
  done
  cat >>"$folder/lib/cmake/llvm/LLVMConfig.cmake" <<END
set(LLVM_VERSION $1)
set(LLVM_VERSION_MAJOR $major)
END
  cat >"$folder/lib/cmake/llvm/LLVMConfigVersion.cmake" <<END
set(PACKAGE_VERSION $1)
string(FIND $1. "\${PACKAGE_FIND_VERSION}." at)
if(at EQUAL 0)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
END
}
installation 14.0.6 LLVM Clang LLD
installation 18.1.8 LLVM Clang LLD
installation 20.1.8 LLVM Clang LLD
installation 19.1.7 LLVM Clang
installation 22.1.8 LLVM Clang LLD
mkdir empty
script() { # file, arguments
  printf 'cmake_minimum_required(VERSION 3.22)\ninclude(%s)\n' "$source/cmake/$1" >script.cmake
  cmake "${@:2}" -P script.cmake >said 2>&1
}
find_llvm() { script find_llvm.cmake "$@"; }
one_line() { tr -s ' \n' ' ' <said; }

find_llvm -DLLVM_DIR="$PWD/llvm-22/lib/cmake/llvm" || fail "LLVM 22 is refused"
grep -q "LLVM 22.1.8 in $PWD/llvm-22" said || fail "not the version that was named"
! grep -q untested said || fail "a tested version is called untested"
find_llvm -DLLVM_DIR="$PWD/llvm-22" || fail "the folder of the installation is refused"
find_llvm -DLLVM_DIR="$PWD/llvm-20/lib/cmake/llvm" || fail "an untested version is refused"
one_line | grep -q 'LLVM 20.1.8 in .*/llvm-20 is untested: .* 19, 22' || fail "it does not say that version 20 is untested"
! find_llvm -DLLVM_DIR="$PWD/llvm-18/lib/cmake/llvm" || fail "LLVM 18 is taken"
one_line | grep -q 'LLVM 18.1.8 in .*/llvm-18 is too old: .* 19 or later' || fail "it does not say that version 18 is too old"
! find_llvm -DLLVM_DIR="$PWD/llvm-19/lib/cmake/llvm" || fail "the LLD of another LLVM is taken"
one_line | grep -q 'LLD is missing beside LLVM 19.1.7 .*liblld-19-dev' || fail "it does not say that LLD is missing"
! find_llvm -DLLVM_DIR="$PWD/empty" || fail "another LLVM than the one that was named is taken"
one_line | grep -q "LLVM_DIR is $PWD/empty" || fail "it does not say what is wrong with LLVM_DIR"
# Tested versions are preferred to those that CMake would find first.
printf 'cmake_minimum_required(VERSION 3.22)\nproject(prefers C)\ninclude(%s)\n' "$source/cmake/find_llvm.cmake" >CMakeLists.txt
cmake -S . -B build -DCMAKE_PREFIX_PATH="$PWD/llvm-14;$PWD/llvm-20;$PWD/llvm-22" >said 2>&1 || fail "no LLVM is found"
grep -Eq '^-- LLVM (19|22)\.' said || fail "no tested version is preferred"

check_compiler() { script check_compiler.cmake -DCMAKE_CXX_COMPILER_ID="$1" -DCMAKE_CXX_COMPILER_VERSION="$2"; }
for tried in 'GNU 11.3.0' 'GNU 14.2.0' 'Clang 16.0.6' 'Clang 22.1.8'; do
  check_compiler $tried || fail "$tried is refused"
  [ ! -s said ] || fail "$tried is not accepted without a word"
done
for old in 'GNU 10.2.1' 'Clang 15.0.7'; do
  ! check_compiler $old || fail "$old is accepted"
  one_line | grep -q "$old is too old: .*GCC (GNU) 11 or Clang 16 or later" || fail "it does not say what is needed in place of $old"
done
check_compiler NVHPC 24.1 || fail "an unknown compiler is refused"
one_line | grep -q 'NVHPC 24.1 is untested' || fail "it does not say that the compiler is untested"
echo "all is well"
