#!/usr/bin/env bash
# The package's binaries need only libgcc and the C library, of glibc 2.28 or older; libraries export only nbcc's functions;
# LLVM is in one of the files only.
# Usage: wheel_contents.sh PACKAGE_FOLDER
set -euo pipefail
package=$1
wrong() { echo "$*"; exit 1; }

own=libnbcc_jit.so  # the command is a function of the library, which the program loads
for file in libnbcc_jit.so lib/libnbcc_runtime.so.0 bin/nbcc; do
  wanted=$(objdump -p "$package/$file" | awk '$1 == "NEEDED" { print $2 }' | grep -Ev '^(libc|libm|libdl|libpthread|librt|libgcc_s|ld-linux-[a-z0-9_-]+)\.so\.[0-9]$' | grep -v "^$own$" || true)
  [ -z "$wanted" ] || wrong "$file needs more than the C library and libgcc:" $wanted
  newest=$(objdump -T "$package/$file" | grep -o 'GLIBC_2[.0-9]*' | sort -Vu | tail -1)
  [ "$(printf 'GLIBC_2.28\n%s\n' "$newest" | sort -V | tail -1)" = GLIBC_2.28 ] || wrong "$file needs $newest, expected at most GLIBC_2.28"
done
for library in libnbcc_jit.so lib/libnbcc_runtime.so.0; do
  names=$(nm -D --defined-only "$package/$library" | awk '{ print $3 }')
  foreign=$(grep -v '^nbcc_' <<<"$names" || true)
  [ -z "$foreign" ] || wrong "$library shows what is not nbcc's:" $(head -5 <<<"$foreign")
  grep -q '^nbcc_sum_run$' <<<"$names" || wrong "$library does not show nbcc_sum_run"
done
bytes=$(stat -c %s "$package/bin/nbcc")
[ "$bytes" -lt 100000 ] || wrong "bin/nbcc has $bytes bytes, expected a program without LLVM: less than 100000"
for name in LLVM Clang fmt HDF5 libaec zlib Zstandard xxHash CLI11 JSON libstdc++; do
  grep -q "^==== .*${name//+/\\+}" "$package/licences.txt" || wrong "licences.txt says nothing of $name"
done
echo "the wheel's binaries need the C library and libgcc alone and export nbcc's functions alone"
