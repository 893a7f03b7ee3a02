#!/usr/bin/env bash
# benchmark_test.sh NBODY: every row has a rate, and 20 operations an interaction; both numbers of bodies are there.
set -euo pipefail
"$1" --benchmark --n 64,200 | tee /dev/stderr | awk '
  /^ / {++rows[$1]; ratio = $4 / $3; if ($3 <= 0 || ratio < 19.9 || ratio > 20.1) exit 2}
  END {exit !(rows[64] >= 1 && rows[64] == rows[200])}'
