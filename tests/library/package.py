"""The package for the system's Python, unpacked into the folder that is named: it is the one that is imported, with the
library of the package libnbcc-jit0, and it sums. NumPy is not needed."""

import importlib.metadata
import pathlib
import sys

import nbcc

root = pathlib.Path(sys.argv[1]).resolve()
package = pathlib.Path(nbcc.__file__).resolve().parent
assert package == root / "usr/lib/python3/dist-packages/nbcc", package
assert (package / "py.typed").exists()
assert not list(package.glob("*.so*")), "the package has a library of its own"
assert importlib.metadata.version("nbcc") == nbcc.__version__ == nbcc.info()["version"]  # which loads the library
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "libnbcc_jit" in line}
assert loaded and all(pathlib.Path(file).is_relative_to(root) for file in loaded), loaded

gravity = nbcc.compile(root / "usr/share/nbcc/pipelines/gravity.pipe")
acc, pot = gravity([[0, 0, 0]], xj=[[2, 0, 0]], mj=[8], eps2=0)
assert abs(acc[0, 0] - 2) < 1e-6 and abs(pot[0] + 4) < 1e-6, (acc, pot)
