#!/usr/bin/env bash
# The command of an arm64 build under QEMU: sums of pipelines beside the oracle, and compiled libraries in programs in C.
#
#   bash tests/arm64/run.sh SOURCE BUILD ROOT     ROOT: the folder that cmake/arm64_root.sh made
set -euo pipefail
source=$(realpath "$1") build=$(realpath "$2") root=$(realpath "$3")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export NBCC_CACHE_DIR=$build/test-cache
nbcc() { "$build/emulated_nbcc" "$@"; }
pipeline() { echo "$source/pipelines/$1.pipe"; }

verified=0
verify() { # pipeline, options
  local name=$1; shift
  nbcc verify "$(pipeline "$name")" --random 61,131 "$@" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
  grep -q 'on cpu, neon,' "$scratch/log" || { echo "expected a sum for neon, got:"; cat "$scratch/log"; exit 1; }
  verified=$((verified + 1))
}
for name in gravity gravity_jerk lennard_jones nearest_neighbour ewald_real sph_force attention; do verify "$name" --precision single; done
for precision in mixed double; do verify gravity_jerk --precision $precision; done
for root_mode in estimate exact; do verify gravity --root $root_mode --precision double; done
verify lennard_jones --math precise --precision single

# A library that is loaded and one that is linked in, by the program of tests/library.
pair=("$(pipeline gravity)" "$(pipeline lennard_jones)")
nbcc compile "${pair[@]}" -o "$scratch/libforces.so" >/dev/null
nbcc compile "${pair[@]}" -o "$scratch/libfine_forces.a" --static --precision double >/dev/null
nbcc inspect "$scratch/libforces.so" >"$scratch/log"
grep -q 'CPU: neon' "$scratch/log" || { echo "expected a library for neon, got:"; cat "$scratch/log"; exit 1; }
program() { # name, options
  local name=$1; shift
  clang-19 --target=aarch64-linux-gnu --sysroot="$root" -fuse-ld=lld -Wall "$source/tests/library/outside/from_c.c" \
    -I"$scratch" -I"$build/include" -L"$scratch" -L"$build/lib" "$@" -lnbcc_runtime -lm \
    -Wl,-rpath,"$build/lib:$scratch" -o "$scratch/$name"
  qemu-aarch64-static -L "$root" "$scratch/$name"
}
program loaded -lforces
program linked -DSTATIC_LIBRARY -lfine_forces
echo "arm64: $verified sums agree with the oracle, and programs in C with compiled libraries run"
