#!/usr/bin/env python3
"""Times a Lennard-Jones liquid behind its cutoff: each pair from both ends, each pair once, and LAMMPS's half lists.

    half_lists.py [--side 30] [--threads 1,0] [--precision single,double] [--runs 9] [--lmp lmp]

The liquid has 4 * side^3 atoms at density 0.8442, displaced from an fcc lattice and given in random order; reach 2.5, skin 0.3.
Prints the best nanoseconds an atom and run: with kept lists, with a search, and of ten runs one with a search. LAMMPS
(`lj/cut/opt`, one thread) runs 100 steps of the same liquid with lists for ten steps. threads 0: all of the machine.
"""

import argparse
import pathlib
import re
import subprocess
import tempfile
import time

import numpy as np

import nbcc

LIQUID = pathlib.Path(__file__).with_name("liquid.pipe")
LAMMPS = """
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 {side} 0 {side} 0 {side}
create_box 1 box
create_atoms 1 box
mass 1 1.0
displace_atoms all random 0.06 0.06 0.06 87287
velocity all create 1.44 87287 loop geom
pair_style lj/cut/opt 2.5
pair_coeff 1 1 1.0 1.0
neighbor 0.3 bin
neigh_modify every 10 delay 0 check no
fix 1 all nve
thermo 100
run 100
"""


def liquid(side):
    length = (4 / 0.8442) ** (1 / 3)
    corners = np.array([[0, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])
    cells = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 1, 3)
    random = np.random.default_rng(1)
    x = (cells + corners).reshape(-1, 3) * length
    x += random.uniform(-0.06, 0.06, x.shape)
    return random.permutation(x), np.full(3, side * length)


def best(run, times):
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def measure(x, box, precision, threads, symmetric, times):
    """Nanoseconds an atom: kept lists, searched; and the forces."""
    dtype = np.float32 if precision == "single" else np.float64
    x = x.astype(dtype)
    took = []
    for skin in (0.3, 0.0):
        sums = nbcc.compile(
            LIQUID, threads=threads, precision=precision, skin=skin, symmetric=symmetric
        )
        found = sums(xi=x, xj=x, box=box)
        took.append(best(lambda: sums(xi=x, xj=x, box=box), times) / len(x) * 1e9)
    return took, np.asarray(found.force, dtype=float)


def lammps(lmp, side):
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "in.liquid")
        script.write_text(LAMMPS.format(side=side))
        log = subprocess.run([lmp, "-in", script, "-log", "none"], capture_output=True, text=True, check=True).stdout
    part = {name: float(re.search(rf"^{name} +\| [^|]*\| +([0-9.e+-]+)", log, re.M)[1]) for name in ("Pair", "Neigh")}
    return [part[name] / 100 / (4 * side**3) * 1e9 for name in ("Pair", "Neigh")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=30)
    parser.add_argument("--threads", default="1,0")
    parser.add_argument("--precision", default="single,double")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--lmp", default="")
    options = parser.parse_args()
    x, box = liquid(options.side)
    print(f"{'':26}{'kept':>8}{'searched':>10}{'ten runs':>10}{'against both ends':>19}")
    for precision in options.precision.split(","):
        for threads in (int(one) for one in options.threads.split(",")):
            reference = None
            for symmetric in ("off", "auto"):
                (kept, searched), force = measure(x, box, precision, threads, symmetric, options.runs)
                ten = kept + (searched - kept) / 10
                reference = reference or (ten, force)
                error = np.abs(force - reference[1]).max() / np.abs(reference[1]).max()
                how = f"{precision}, {threads}, " + ("both ends" if symmetric == "off" else "once")
                print(f"{how:26}{kept:8.0f}{searched:10.0f}{ten:10.0f}{reference[0] / ten:10.2f}{error:12.1e}", flush=True)
    if options.lmp:
        pair, lists = lammps(options.lmp, options.side)
        print(f"{'LAMMPS, pair and lists':26}{pair:8.0f}{'':10}{pair + lists:10.0f}")


if __name__ == "__main__":
    main()
