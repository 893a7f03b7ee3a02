#!python
"""The command `nbcc`: runs the program in the installed package."""
import importlib.util
import os
import sys

package = importlib.util.find_spec("nbcc")  # finds the package without importing it, because an import is slow
if package is None:
    sys.exit("nbcc: the Python package nbcc is not installed for " + sys.executable)
program = os.path.join(package.submodule_search_locations[0], "bin", "nbcc")
os.execv(program, ["nbcc"] + sys.argv[1:])
