#!/usr/bin/env bash
# Builds the bench programs in a build folder and runs one: bench/run.sh BUILD [sections and options of the program].
# After BUILD, `cuda` names cuda_side_by_side and `hamada_iitaka` itself; without either cpu_side_by_side runs.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:?usage: bench/run.sh BUILD_FOLDER [cuda|hamada_iitaka] [SECTION...] [OPTION...]}
shift
program=cpu_side_by_side
case "${1:-}" in
  cuda) program=cuda_side_by_side; shift ;;
  hamada_iitaka) program=hamada_iitaka; shift ;;
  *) set -- --pipelines "$root/pipelines" "$@" ;;
esac
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake --build "$build" --target "$program" -j "$(nproc)" >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
"$build/bin/$program" "$@"
