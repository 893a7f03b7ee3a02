#!/usr/bin/env bash
# The tests of the Python package, on a libnbcc_jit.so that is there already.
# Usage: run.sh SOURCE_FOLDER LIBRARY [PYTEST...], where paths are relative to this folder; 77 if all tests were skipped
set -euo pipefail
here=$(dirname "$(realpath "$0")")
source "$here/find_python.sh"
source_folder=$(realpath "$1") library=$(realpath "$2")
find_python_of_build "$library" numpy pytest
export PYTHONPATH=$source_folder/bindings/python NBCC_LIBRARY=$library PYTHONDONTWRITEBYTECODE=1
cd "$here"
code=0
"$python" -m pytest -q -p no:cacheprovider "${@:3}" || code=$?
exit $((code == 5 ? 77 : code))
