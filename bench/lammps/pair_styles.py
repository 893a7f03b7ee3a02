#!/usr/bin/env python3
"""Times pair_style nbcc beside LAMMPS's own styles, for a Lennard-Jones fluid near its triple point, or for the
Gay-Berne fluid of rods, which LAMMPS's own styles here do not compute.

    pair_styles.py LMP [--plugin nbccplugin.so] [--pipelines FOLDER] [--devices cpu,cuda] [--fluid gay_berne] [--ranks 1] [--cells 20] [--steps 100] [--times 3] [STYLE ...]

prints for each style the milliseconds of a step, whole and of those the forces and the neighbour list, on so many ranks
with one core each, or with a GPU beside them: the best of so many runs. A style that this LMP does not have is left out.
"""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile

START = """
units lj
atom_style {atoms}
lattice fcc {density}
region box block 0 {cells} 0 {cells} 0 {cells}
create_box 1 box
create_atoms 1 box
{prepare}
velocity all create 1.44 87287 loop geom
{style}
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all {integrator}
thermo {steps}
run {steps}
"""

# The rods are 3 long and 1 wide; they begin parallel, and so far apart that they do not overlap. A pipeline's own names of LAMMPS's quantities are in `coefficients`.
FLUIDS = {
    "lennard_jones": {
        "atoms": "atomic",
        "density": 0.8442,
        "prepare": "mass 1 1.0",
        "integrator": "nve",
        "cutoff": 2.5,
        "coefficients": "rc=2.5",
    },
    "gay_berne": {
        "atoms": "hybrid sphere dipole",
        "density": 0.14,
        "prepare": "set type 1 mass 1.0\nset group all dipole 0 0 1\ntimestep 0.001",
        "integrator": "nve/sphere update dipole",
        "cutoff": 4.0,
        "coefficients": "rc=4 ui=mu uj=mu",
    },
}

# What pair_style python calls for each pair: the methods' names are LAMMPS's.
FORMULA = """
class Formula(object):
    def __init__(self):
        self.units = "lj"

    def check_units(self, units):
        pass

    def map_coeff(self, name, type):
        pass

    def compute_force(self, rsq, itype, jtype):
        s2 = 1.0 / rsq
        s6 = s2 * s2 * s2
        return 24.0 * s6 * (2.0 * s6 - 1.0) * s2

    def compute_energy(self, rsq, itype, jtype):
        s6 = 1.0 / (rsq * rsq * rsq)
        return 4.0 * s6 * (s6 - 1.0)
"""


def styles(options):
    fluid = FLUIDS[options.fluid]

    def nbcc(words):
        return (
            f"plugin load {options.plugin}\npair_style nbcc {fluid['cutoff']} {words}\n"
            f"pair_coeff * * {options.pipelines}/{options.fluid}.pipe {fluid['coefficients']}"
        )

    found = {}
    if options.fluid == "lennard_jones":
        found = {
            "lj/cut": "pair_style lj/cut 2.5\npair_coeff * * 1 1",
            "lj/cut/opt": "pair_style lj/cut/opt 2.5\npair_coeff * * 1 1",
            "lepton": 'pair_style lepton 2.5\npair_coeff * * "4*(r^-12-r^-6)"',
            "table": "pair_style table spline 2000\npair_coeff * * lj.table LJ 2.5",
            "python": "pair_style python 2.5\npair_coeff * * formula.Formula lj",
        }
    if options.plugin:
        for device in options.devices.split(","):
            for precision in ("double", "mixed", "single"):
                found[f"nbcc, {device}, {precision}"] = nbcc(f"device {device} precision {precision} threads 1")
    return found


def write_table(path, points=4000):
    rows = []
    for k in range(points):
        r = 0.7 + (2.5 - 0.7) * k / (points - 1)
        s6 = r**-6
        rows.append(f"{k + 1} {r:.15g} {4 * s6 * (s6 - 1):.15g} {24 * s6 * (2 * s6 - 1) / r:.15g}")
    path.write_text(f"LJ\nN {points} R 0.7 2.5\n\n" + "\n".join(rows) + "\n")


def run(folder, lmp, text, ranks=1):
    (folder / "in").write_text(text)
    words = [lmp, "-in", "in", "-log", "none"]
    if ranks > 1:
        words = [f"{os.path.dirname(lmp)}/mpiexec", "-n", str(ranks), *words]
    environment = dict(os.environ, PYTHONPATH=str(folder), OMP_NUM_THREADS="1")
    done = subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        return None, done.stdout.strip().splitlines()[-1]
    whole = float(re.search(r"Loop time of (\S+)", done.stdout)[1])
    parts = [float(re.search(rf"^{name} +\| +(\S+)", done.stdout, re.M)[1]) for name in ("Pair", "Neigh")]
    return [whole, *parts], done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lmp")
    parser.add_argument("--plugin")
    parser.add_argument("--pipelines", default="pipelines")
    parser.add_argument("--devices", default="cpu")
    parser.add_argument("--fluid", default="lennard_jones", choices=sorted(FLUIDS))
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--cells", type=int, default=20)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("style", nargs="*")
    options = parser.parse_intermixed_args()
    options.lmp, options.pipelines = os.path.abspath(options.lmp), os.path.abspath(options.pipelines)
    if options.plugin:
        options.plugin = os.path.abspath(options.plugin)
    print(f"{4 * options.cells**3} atoms, {options.ranks} ranks, ms of a step: whole, forces, neighbour list")
    known = styles(options)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "formula.py").write_text(FORMULA)
        write_table(folder / "lj.table")
        # Taken in turn, so that what else the machine does meets all of them.
        best, said = {}, {}
        for _ in range(options.times):
            for style in options.style or known:
                text = START.format(
                    cells=options.cells, steps=options.steps, style=known[style], **FLUIDS[options.fluid]
                )
                found, said[style] = run(folder, options.lmp, text, options.ranks)
                if found and (style not in best or found < best[style]):
                    best[style] = found
        for style in options.style or known:
            if style in best:
                print(f"{style:20}", *(f"{1e3 * seconds / options.steps:8.2f}" for seconds in best[style]))
            else:
                print(f"{style:20} {said[style]}")


if __name__ == "__main__":
    main()
