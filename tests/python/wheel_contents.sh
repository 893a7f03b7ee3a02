#!/usr/bin/env bash
# The package's binaries want the C library alone, no newer one than glibc 2.28's, and show nbcc's functions alone.
# Usage: wheel_contents.sh PACKAGE_FOLDER
set -euo pipefail
package=$1
wrong() { echo "$*"; exit 1; }

own=libnbcc_jit.so  # the command is a function of the library, which the program loads
for file in libnbcc_jit.so lib/libnbcc_runtime.so.0 bin/nbcc; do
  wanted=$(objdump -p "$package/$file" | awk '$1 == "NEEDED" { print $2 }' | grep -Ev '^(libc|libm|libdl|libpthread|librt|libgcc_s|ld-linux-[a-z0-9_-]+)\.so\.[0-9]$' | grep -v "^$own$" || true)
  [ -z "$wanted" ] || wrong "$file wants more than the C library:" $wanted
  newest=$(objdump -T "$package/$file" | grep -o 'GLIBC_2[.0-9]*' | sort -Vu | tail -1)
  [ "$(printf 'GLIBC_2.28\n%s\n' "$newest" | sort -V | tail -1)" = GLIBC_2.28 ] || wrong "$file wants $newest"
done
for library in libnbcc_jit.so lib/libnbcc_runtime.so.0; do
  names=$(nm -D --defined-only "$package/$library" | awk '{ print $3 }')
  foreign=$(grep -v '^nbcc_' <<<"$names" || true)
  [ -z "$foreign" ] || wrong "$library shows what is not nbcc's:" $(head -5 <<<"$foreign")
  grep -q '^nbcc_sum_run$' <<<"$names" || wrong "$library does not show nbcc_sum_run"
done
for name in LLVM Clang fmt HDF5 libaec zlib Zstandard xxHash CLI11 JSON libstdc++; do
  grep -q "^==== .*${name//+/\\+}" "$package/licences.txt" || wrong "licences.txt says nothing of $name"
done
echo "the wheel's binaries want the C library alone and show nbcc's functions alone"
