#!python
"""The command `nbcc`: the program in the package, wherever pip has put that."""
import importlib.util
import os
import sys

package = importlib.util.find_spec("nbcc")  # which is not imported: that would take longer than what is left to do
if package is None:
    sys.exit("nbcc: the Python package nbcc is not installed for " + sys.executable)
program = os.path.join(package.submodule_search_locations[0], "bin", "nbcc")
os.execv(program, ["nbcc"] + sys.argv[1:])
