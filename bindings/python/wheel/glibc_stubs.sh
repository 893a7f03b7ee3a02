#!/usr/bin/env bash
# Writes libraries to link with instead of glibc's, so that the linked files run with an older glibc. A stub has the
# name and the symbols of the installed library, but of the versions of a symbol only the newest that the older glibc has.
#
#   this system's libc.so.6     memcpy@GLIBC_2.2.5, memcpy@@GLIBC_2.14, stat@@GLIBC_2.33
#   its stub for glibc 2.28     memcpy@@GLIBC_2.14
#
# This works because glibc never removes a version of a symbol. Functions that glibc 2.34 moved from libpthread, libdl and
# librt to libc keep their old versions there. An older loader finds these versions in libpthread.so.0, libdl.so.2 and
# librt.so.1, because it compares symbols by name and version and not by file. So the linked files must name these three
# libraries too. A symbol that is not in the stubs is an error of the linker: newer_glibc.c replaces what nbcc needs.
# Usage: glibc_stubs.sh OLDEST_GLIBC FOLDER OBJDUMP C_COMPILER [OPTION...]
set -euo pipefail
oldest=$1 folder=$2 objdump=$3 compiler=("${@:4}")
rm -rf "$folder"
mkdir -p "$folder"

# stub NAME [LIBRARY]: a stub of LIBRARY; without it a library that has a name and no symbols.
stub() {
  local name=$1 base=$folder/$1
  : >"$base.symbols"
  if [ $# -gt 1 ]; then
    # Lines "SYMBOL VERSION function|object".
    "$objdump" -T "$2" | awk -v oldest="$oldest" '
      function number(version, parts) { split(version, parts, "."); return parts[1] * 1e6 + parts[2] * 1e3 + parts[3] }
      /\*(UND|ABS)\*/ || !match($0, /GLIBC_[0-9.]+/) { next }
      { version = substr($0, RSTART + 6, RLENGTH - 6) }
      number(version) <= number(oldest) && number(version) >= newest[$NF] {
        newest[$NF] = number(version); version_of[$NF] = version; kind[$NF] = / DO / ? "object" : "function"
      }
      END { for (symbol in kind) print symbol, version_of[symbol], kind[symbol] }' | LC_ALL=C sort -k2,2V -k1,1 >"$base.symbols"
    [ -s "$base.symbols" ] || { echo "$2 has no symbols of glibc $oldest or older" >&2; exit 1; }
  fi
  awk '{ printf ".globl %s\n.type %s, %%%s\n%s:\n", $1, $1, $3, $1 }
       END { print ".byte 0\n.section .note.GNU-stack, \"\", %progbits" }' "$base.symbols" >"$base.s"
  awk '{ nodes[$2] = nodes[$2] " " $1 ";" } END { for (version in nodes) print "GLIBC_" version " {" nodes[version] " };" }' \
    "$base.symbols" >"$base.map"
  "${compiler[@]}" -shared -nostdlib -Wl,-soname,"$name" ${2:+-Wl,--version-script="$base.map"} -o "$base" "$base.s"
}

find_library() { "${compiler[@]}" -print-file-name="$1"; }
loader=$(basename "$("$objdump" -p "$(find_library libm.so.6)" "$(find_library libc.so.6)" | awk '$1 == "NEEDED" && /ld-linux/ { print $2; exit }')")
stub libc.so.6 "$(find_library libc.so.6)"
stub libm.so.6 "$(find_library libm.so.6)"
stub "$loader" "$(find_library "$loader")"
stub libpthread.so.0
stub libdl.so.2
stub librt.so.1
# What the options -lc, -lm, -lpthread and -ldl find. libc_nonshared.a holds functions that are copied into every linked file.
echo "GROUP ( \"$folder/libc.so.6\" \"$(find_library libc_nonshared.a)\" AS_NEEDED ( \"$folder/$loader\" ) )" >"$folder/libc.so"
for library in libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1; do
  echo "INPUT ( \"$folder/$library\" )" >"$folder/${library%.*}"
done
