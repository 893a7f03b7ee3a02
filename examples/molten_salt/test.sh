#!/usr/bin/env bash
# The tests of melt.py and equilibrate.py, with a libnbcc_jit.so that was built. Usage: test.sh SOURCE_FOLDER LIBRARY [PYTEST...]
set -euo pipefail
source "$1/tests/python/find_python.sh"
find_python_of_build "$2" numpy pytest
export PYTHONPATH=$1/bindings/python NBCC_LIBRARY=$2 PYTHONDONTWRITEBYTECODE=1
exec "$python" -m pytest -q -p no:cacheprovider "$1/examples/molten_salt" "${@:3}"
