#!/usr/bin/env bash
# Builds the bench program in a build folder and runs it: bench/run.sh BUILD [sections and options of the program].
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:?usage: bench/run.sh BUILD_FOLDER [SECTION...] [OPTION...]}
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake --build "$build" --target benchmarks -j "$(nproc)" >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
"$build/bin/cpu_side_by_side" --pipelines "$root/pipelines" "$@"
