#!/usr/bin/env bash
# Compiles a Fortran program against libnbcc_g6 or _g5 and runs it. Usage: from_fortran.sh PROGRAM.f LIBRARY LIBNBCC_JIT
set -euo pipefail
command -v gfortran >/dev/null || { echo "there is no gfortran: skipped"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
libraries=$(dirname "$2"):$(dirname "$3")
gfortran -std=legacy -O1 "$1" "$2" -Wl,-rpath,"$libraries" -Wl,-rpath-link,"$libraries" -o "$scratch/program"
"$scratch/program"
