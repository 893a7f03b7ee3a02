#!/usr/bin/env bash
# The tests of the Python package, on a libnbcc_jit.so that is there already.
# Usage: run.sh SOURCE_FOLDER LIBRARY [PYTEST...]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
source "$here/find_python.sh"
find_python_of_build "$2" numpy pytest
export PYTHONPATH=$1/bindings/python NBCC_LIBRARY=$2 PYTHONDONTWRITEBYTECODE=1
exec "$python" -m pytest -q -p no:cacheprovider "$here" "${@:3}"
