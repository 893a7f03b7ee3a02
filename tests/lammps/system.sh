#!/usr/bin/env bash
# The tests of the way by fix external, on the LAMMPS of the system's own packages where there is one (Debian: apt install
# lammps python3-lammps python3-mpi4py). Usage: system.sh SOURCE_FOLDER BUILD_FOLDER [PYTEST...]
set -euo pipefail
python=/usr/bin/python3
"$python" -c 'import lammps, mpi4py, numpy, pytest; lammps.lammps(cmdargs=["-screen", "none", "-log", "none"]).close()' 2>/dev/null ||
  { echo "$python has no LAMMPS with mpi4py and pytest: skipped"; exit 77; }
source_folder=$(realpath "$1") build=$(realpath "$2")
export NBCC_PIPELINES=$source_folder/pipelines PYTHONPATH=$source_folder/bindings/python NBCC_LIBRARY=$build/lib/libnbcc_jit.so PYTHONDONTWRITEBYTECODE=1
export NBCC_MPIEXEC="mpirun --oversubscribe --allow-run-as-root"
exec "$python" -m pytest -q -p no:cacheprovider "$source_folder/tests/lammps/test_fix_external.py" "${@:3}"
