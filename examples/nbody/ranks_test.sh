#!/usr/bin/env bash
# test.sh NBODY NBCC MPIEXEC: bodies on one and on three ranks have the energy that they have in one process.
set -euo pipefail
nbody=$(realpath "$1") nbcc=$(realpath "$2")
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

"$nbcc" make-ic plummer --n 100 --seed 2 -o plummer.txt
run=("$nbody" plummer.txt --precision double --end 0.125 --every 0.0625 --quiet)
"${run[@]}" | awk '/^ / {print $1, $2}' >alone
for ranks in 1 3; do
  "$3" --oversubscribe --allow-run-as-root --bind-to none -np $ranks "${run[@]}" --mpi | awk '/^ / {print $1, $2}' >spread
  paste alone spread | awk '{d = $2 - $4; n += $1 == $3; if (d < -1e-11 || d > 1e-11) exit 1} END {if (n != 3) exit 1}' || {
    echo "FAILED: on $ranks ranks"; paste alone spread; exit 1; }
done
