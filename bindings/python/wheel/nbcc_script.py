#!python
"""The command `nbcc`: runs the program in the installed package."""
import os
import sys

# The package is searched for, not imported, and without importlib.util: both imports take longer than the program.
for folder in sys.path:
    program = os.path.join(folder, "nbcc", "bin", "nbcc")
    if os.path.exists(program):
        os.execv(program, ["nbcc"] + sys.argv[1:])
sys.exit("nbcc: the Python package nbcc is not installed for " + sys.executable)
