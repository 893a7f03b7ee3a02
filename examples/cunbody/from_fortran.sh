#!/usr/bin/env bash
# from_fortran.sh LIBRARY LIBNBCC_RUNTIME: compiles pull.f90 against the library of a listing, and runs it.
set -euo pipefail
command -v gfortran >/dev/null || { echo "there is no gfortran: skipped"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
gfortran -O2 "$(dirname "$0")/pull.f90" "$1" "$2" -Wl,-rpath,"$(dirname "$1"):$(dirname "$2")" -o "$scratch/pull"
"$scratch/pull"
