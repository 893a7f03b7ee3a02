#!/usr/bin/env bash
# Everything that needs a GPU, from binaries that were built elsewhere; a line for each part, and the exit code 1 if one
# of them failed (77: there is no GPU).
#
#   tests/gpu/run_all.sh BINARIES [LOGS]
#
# BINARIES   the folder with nbcc and numeric_tests (build/bin of the machine that built them); g6_tests, g5_tests,
#            nbody_tests and cunbody_table are run where they are there as well, with their libraries where the linker left
#            them or in BINARIES, ../lib
# LOGS       where the full output of each part goes; default: a new folder in $TMPDIR
#
# Needs the NVIDIA driver and NVRTC (a CUDA toolkit or its pip wheel). The shared libraries that the binaries are linked
# to (LLVM, Clang, HDF5, fmt) must be there or be named by $LD_LIBRARY_PATH. Pipelines are those of the checkout
# that this script lies in. compute-sanitizer is used where $PATH, $CUDA_HOME or /usr/local/cuda has it; else its parts
# are skipped. The Python package is tested on libnbcc_jit.so of BINARIES or ../lib, where python3 has NumPy and pytest.
set -u
if [ $# -lt 1 ] || [ ! -x "$1/nbcc" ] || [ ! -x "$1/numeric_tests" ]; then
  sed -n '2,/^set -u/{/^set -u/d;s/^# \{0,1\}//;p}' "$0" >&2
  exit 2
fi
binaries=$(cd "$1" && pwd)
NBCC_SOURCE_DIR=$(cd "$(dirname "$0")/../.." && pwd)
logs=${2:-$(mktemp -d "${TMPDIR:-/tmp}/nbcc-gpu.XXXXXX")}
mkdir -p "$logs/cache" && rm -f "$logs/failed" || exit 2
NBCC_CACHE_DIR=$logs/cache
export NBCC_SOURCE_DIR NBCC_CACHE_DIR NBCC_TEST_ALL=${NBCC_TEST_ALL:-1}  # every case of the long families

line() { printf '%-44s %-8s %6s  %s\n' "$1" "$2" "$3" "$4"; }

# part NAME COMMAND...: runs the command in the background and prints a line when it ends, with the last line that the
# command wrote as the remark. Most parts wait for the compiler of kernels and not for the GPU, so that as many parts run
# at a time as there are cores.
at_once=$(nproc)
part() {
  while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n; done
  run_part "$@" &
}
run_part() {
  local name=$1 log=$logs/${1//[^a-z0-9]/_}.txt begin=$SECONDS result=passed
  shift
  "$@" >"$log" 2>&1 || {
    result=FAILED
    echo "$name" >>"$logs/failed"
  }
  # What failed first, else the last line.
  local remark
  [ $result = FAILED ] && remark=$(grep -m 1 '^\[  FAILED  \]\|^FAILED' "$log")
  line "$name" "$result" $((SECONDS - begin)) "$(echo "${remark:-$(grep -v '^[[:space:]]*$' "$log" | tail -n 1)}" | cut -c 1-100)"
}

find_sanitizer() {
  local place
  for place in "$(command -v compute-sanitizer)" "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer" \
    /usr/local/cuda/bin/compute-sanitizer; do
    [ -x "$place" ] && echo "$place" && return
  done
}

find_library() {
  local place
  for place in "$binaries" "$binaries/../lib"; do
    [ -e "$place/libnbcc_jit.so" ] && echo "$place/libnbcc_jit.so" && return
  done
}

find_python() {
  local candidate
  for candidate in "${PYTHON:-python3}" python3 /usr/bin/python3; do
    "$candidate" -c 'import numpy, pytest' 2>/dev/null && echo "$candidate" && return
  done
}

if "$binaries/nbcc" info | grep '^GPUs *none' >&2; then exit 77; fi
"$binaries/nbcc" info | grep '^GPU\|^NVRTC'
line part result seconds remark
# Callers: the Python package of the checkout, and GRAPE's interfaces.
jit=$(find_library)
python=$(find_python)
if [ -z "$jit" ]; then
  line 'Python, test_gpu.py' skipped 0 "there is no libnbcc_jit.so in BINARIES or ../lib"
elif [ -z "$python" ]; then
  line 'Python, test_gpu.py' skipped 0 'no python3 here has NumPy and pytest'
else
  part 'Python, test_gpu.py' env PYTHONPATH="$NBCC_SOURCE_DIR/bindings/python" NBCC_LIBRARY="$jit" \
    PYTHONDONTWRITEBYTECODE=1 "$python" -m pytest -q -p no:cacheprovider "$NBCC_SOURCE_DIR/tests/python/test_gpu.py"
fi
for program in g6_tests g5_tests; do
  if [ -x "$binaries/$program" ]; then
    # Some set the environment themselves and ask for the CPU.
    part "$program on the GPU" env NBCC_DEVICE=cuda LD_LIBRARY_PATH="$binaries:$binaries/../lib:${LD_LIBRARY_PATH:-}" \
      "$binaries/$program" --gtest_filter='-*environment*'
  else
    line "$program on the GPU" skipped 0 "there is no $program in BINARIES"
  fi
done
# CUNBODY-1's calls, and the sharing of buffers with OpenGL, which needs the driver's EGL.
table=$binaries/examples/cunbody_table
[ -x "$table" ] || table=$binaries/cunbody_table
if [ -x "$table" ]; then
  part 'cunbody_table on the GPU' env NBCC_DEVICE=cuda bash -c '"$1" 4096 | grep "4096 .*e-0[78] .*e-0[78]"' _ "$table"
else
  line 'cunbody_table on the GPU' skipped 0 'there is no cunbody_table in BINARIES'
fi
if [ -x "$binaries/nbody_tests" ]; then
  part 'nbody_tests, drawing by EGL' "$binaries/nbody_tests" --gtest_filter='Interop*:*EGL'
else
  line 'nbody_tests, drawing by EGL' skipped 0 'there is no nbody_tests in BINARIES'
fi
sanitizer=$(find_sanitizer)
for tool in memcheck racecheck initcheck synccheck; do
  for pipeline in gravity lennard_jones nearest_neighbour sph_force; do
    if [ -z "$sanitizer" ]; then
      line "$tool, $pipeline" skipped 0 'there is no compute-sanitizer'
      continue
    fi
    # Arrays of the host; of 1000 i, 256 are chosen by a list.
    part "$tool, $pipeline" "$sanitizer" --tool "$tool" --error-exitcode 9 "$binaries/nbcc" verify \
      "$NBCC_SOURCE_DIR/pipelines/$pipeline.pipe" --device cuda --precision mixed --random 1000,3
  done
done
# Arrays of the device, lists, and both kinds in one run.
for tool in memcheck initcheck; do
  [ -z "$sanitizer" ] ||
    part "$tool, arrays on either side" "$sanitizer" --tool "$tool" --error-exitcode 9 "$binaries/numeric_tests" \
      --gtest_filter='SumsOnGpu.*'
done
# The tests that take longest begin first, each in its own process, so that none of them is left when all others
# have ended; then the pipelines of the library, all tests of one in one process, because they share kernels; then the
# others in GoogleTest's shards, the long ones first.
longest='WhatGoesTogetherOnGpu*:ElementLoopsOnGpu*:*FarParticlesOnGpu*:*SearchOnGpu*'
of_library='Library/EveryPipelineOnGpu.*'
long='*RandomPipelinesOnGpu*:*Symmetric*OnGpu*'
numeric_part() { # name, number of shards, filter
  local shard
  for ((shard = 0; shard < $2; ++shard)); do
    part "$1, $((shard + 1)) of $2" env GTEST_TOTAL_SHARDS="$2" GTEST_SHARD_INDEX="$shard" \
      "$binaries/numeric_tests" --gtest_filter="$3"
  done
}
tests_of() { "$binaries/numeric_tests" --gtest_list_tests --gtest_filter="$1" | sed -n 's/^  \([^ ]*\).*/\1/p'; }
numeric_part 'longest tests on the GPU' "$(tests_of "$longest" | wc -l)" "$longest"
for test in $(tests_of 'Library/EveryPipelineOnGpu.AgreesWithTheOracleInSingle/*'); do
  part "${test##*/} on the GPU" "$binaries/numeric_tests" --gtest_filter="$of_library/${test##*/}"
done
numeric_part 'long tests on the GPU' $((4 * at_once)) "$long-$longest"
numeric_part 'other tests on the GPU' $((2 * at_once)) "*OnGpu*-$longest:$long:$of_library"
wait
echo "logs: $logs"
[ ! -e "$logs/failed" ]
