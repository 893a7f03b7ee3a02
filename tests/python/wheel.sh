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
cp -r "$1"/bindings/python/nbcc/. "$scratch/site-packages/nbcc"
export PYTHONPATH=$scratch/site-packages PYTHONDONTWRITEBYTECODE=1
# Stubs in a folder whose name has a blank. What they lack is an error.
stubs="$scratch/stubs of glibc"
bash "$1/bindings/python/wheel/glibc_stubs.sh" 2.28 "$stubs" objdump cc
link() { cc -x c - -o "$scratch/stubbed" -L"$stubs" -Wl,--allow-shlib-undefined -lm 2>"$scratch/said"; }
link <<<'double cos(double); int main(int n) { return (int)(cos(n) * 100) != 54; }' || { cat "$scratch/said"; exit 1; }
"$scratch/stubbed" || { echo "expected cos(1) of glibc, got another number"; exit 1; }
if link <<<'unsigned arc4random(void); int main(void) { return arc4random(); }'; then
  echo "the stubs of glibc 2.28 contain arc4random, which is of glibc 2.36"
  exit 1
fi
grep -q arc4random "$scratch/said" || { cat "$scratch/said"; exit 1; }
cc -DWHEEL_GLIBC='"2.28"' -shared -fPIC -Wl,-Bsymbolic "$1/bindings/python/wheel/newer_glibc.c" -o "$scratch/newer_glibc.so"
"$python" "$here/newer_glibc.py" "$scratch/newer_glibc.so" "$(mktemp -d -p "$scratch")"
bash "$here/wheel_contents.sh" "$scratch/site-packages/nbcc"
"$python" "$here/wheel_use.py" "$scratch"
