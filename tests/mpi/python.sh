#!/usr/bin/env bash
# nbcc.mpi, as so many ranks. Usage: python.sh SOURCE_FOLDER LIBRARY MPIEXEC RANKS
set -euo pipefail
source "$1/tests/python/find_python.sh"
find_python numpy mpi4py
export PYTHONPATH=$1/bindings/python NBCC_LIBRARY=$2 PYTHONDONTWRITEBYTECODE=1
"$3" --oversubscribe --allow-run-as-root --bind-to none -np "$4" "$python" "$1/tests/mpi/spread.py"
