#!/usr/bin/env bash
# What a wheel holds, laid out as pip does, and used: by itself, beside another LLVM, and its command.
# Usage: wheel.sh SOURCE_FOLDER BUILD_FOLDER
set -euo pipefail
here=$(dirname "$(realpath "$0")")
source "$here/find_python.sh"
contents=$2/bindings/python/wheel
for file in libnbcc_jit.so libnbcc_runtime.so.0 nbcc; do
  [ -f "$contents/$file" ] || { echo "no $contents/$file: skipped (./dev build wheel_contents makes it)"; exit 77; }
done
find_python ctypes
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export NBCC_CACHE_DIR=$scratch/cache
unset NBCC_LIBRARY

cmake --install "$2" --component wheel --prefix "$scratch/site-packages" >/dev/null
cp "$1"/bindings/python/nbcc/*.py "$scratch/site-packages/nbcc"
export PYTHONPATH=$scratch/site-packages PYTHONDONTWRITEBYTECODE=1
cc -DWHEEL_GLIBC='"2.28"' -shared -fPIC "$1/bindings/python/wheel/newer_glibc.c" -o "$scratch/newer_glibc.so"
"$python" "$here/newer_glibc.py" "$scratch/newer_glibc.so" "$(mktemp -d -p "$scratch")"
bash "$here/wheel_contents.sh" "$scratch/site-packages/nbcc"
"$python" "$here/wheel_use.py" "$scratch"
