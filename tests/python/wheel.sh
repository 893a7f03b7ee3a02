#!/usr/bin/env bash
# Builds the wheel around a libnbcc_jit.so, installs it into a new environment without a network, and sums with it.
# Usage: wheel.sh SOURCE_FOLDER LIBRARY
set -euo pipefail
here=$(dirname "$(realpath "$0")")
source "$here/find_python.sh"
find_python venv ensurepip
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset PYTHONPATH
export NBCC_CACHE_DIR=$scratch/cache

"$python" -m venv "$scratch/venv"
NBCC_LIBRARY=$2 "$scratch/venv/bin/pip" install -q --no-index --disable-pip-version-check "$1/bindings/python"
cd "$scratch"
env -u NBCC_LIBRARY "$scratch/venv/bin/python" - "$1/pipelines/gravity.pipe" "$scratch" <<'PYTHON'
import importlib.metadata, pathlib, sys
import nbcc

package = pathlib.Path(nbcc.__file__).parent
assert pathlib.Path(sys.argv[2]) in package.parents, package
assert nbcc.info()["library"] == str(package / "libnbcc_jit.so"), nbcc.info()
assert importlib.metadata.version("nbcc") == nbcc.__version__ == nbcc.info()["version"]
assert (package / "py.typed").exists()
acc, pot = nbcc.compile(sys.argv[1])([[0, 0, 0]], xj=[[2, 0, 0]], mj=[8], eps2=0)
assert abs(acc[0, 0] - 2) < 1e-6 and abs(pot[0] + 4) < 1e-6, (acc.tolist(), pot)
print("the wheel works:", package.name, nbcc.__version__)
PYTHON
"$scratch/venv/bin/pip" uninstall -q -y nbcc
test ! -e "$scratch"/venv/lib/python3*/site-packages/nbcc || { echo "uninstalling left files behind"; exit 1; }
