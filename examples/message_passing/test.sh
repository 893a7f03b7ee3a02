#!/usr/bin/env bash
# The tests of train.py, with a libnbcc_jit.so that was built. Usage: test.sh SOURCE_FOLDER LIBRARY [PYTEST...]
set -euo pipefail
source "$1/tests/python/find_python.sh"
made=$(dirname "$2")/../torch-python/bin/python
[ -n "${PYTHON:-}" ] || [ ! -x "$made" ] || PYTHON=$made
find_python numpy pytest torch
export PYTHONPATH=$1/bindings/python NBCC_LIBRARY=$2 PYTHONDONTWRITEBYTECODE=1
exec "$python" -m pytest -q -p no:cacheprovider "$1/examples/message_passing" "${@:3}"
