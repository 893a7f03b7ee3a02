"""Peers of sums to a tolerance: fmm3dpy (a fast multipole method) and pytreegrav (a tree code), one thread.

far_field_peers.py FOLDER [NAME...]: bodies that `far_field --write FOLDER` left. Seconds are those of CPU time, the least of
some runs; errors those of 256 drawn bodies against all pairs in double precision: of |acceleration|, relative.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["NUMBA_NUM_THREADS"] = "1"

import pathlib
import sys
import time

import numpy


def exact(x, mass, chosen, eps2):
    """Acceleration and potential of the chosen bodies, and the sum of the lengths of the terms."""
    acc, pot, size = [], [], []
    for i in chosen:
        dx = x - x[i]
        r2 = numpy.einsum("ka,ka->k", dx, dx)
        ri = 1 / numpy.sqrt(numpy.where(r2 > 0, r2 + eps2, numpy.inf))
        acc.append(mass * (ri**3 @ dx))
        pot.append(-mass * ri.sum())
        size.append(mass * (ri**3 * numpy.sqrt(r2)).sum())
    return numpy.array(acc), numpy.array(pot), numpy.array(size)


def rms(values):
    return float(numpy.sqrt(numpy.mean(numpy.square(values))))


def measure(name, bodies, n, run, found, rounds):
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        acc, pot = run()
        best = min(best, time.process_time() - start)
    right_acc, right_pot, size = found
    error = numpy.linalg.norm(acc - right_acc, axis=1)
    print(
        f"{bodies:8} {n:8} {name:28} {best:8.3f} s | sum {rms(error / numpy.linalg.norm(right_acc, axis=1)):.1e} "
        f"terms {rms(error / size):.1e} pot {rms(pot / right_pot - 1):.1e}",
        flush=True,
    )


def fmm(x, mass, chosen, eps):
    import fmm3dpy

    sources = numpy.asfortranarray(x.T)
    charges = numpy.full(len(x), mass)

    def run():
        result = fmm3dpy.lfmm3d(eps=eps, sources=sources, charges=charges, pg=2)
        return 4 * numpy.pi * result.grad.T[chosen], -4 * numpy.pi * result.pot[chosen]  # of 1 / (4 pi r)

    return run


def tree(x, mass, chosen, theta, quadrupole):
    import pytreegrav

    masses = numpy.full(len(x), mass)

    def run():
        made = pytreegrav.ConstructTree(x, masses, None, quadrupole=quadrupole)
        options = {"theta": theta, "tree": made, "method": "tree", "quadrupole": quadrupole, "parallel": False}
        acc = pytreegrav.Accel(x, masses, **options)
        pot = pytreegrav.Potential(x, masses, **options)
        return acc[chosen], pot[chosen]

    return run


def main(folder, names):
    for path in sorted(pathlib.Path(folder).glob("*.bin"), key=lambda p: (p.stat().st_size, p.name)):
        if names and path.stem not in names:
            continue
        bodies = path.stem.split("_")[0]
        x = numpy.fromfile(path).reshape(-1, 3)
        n, mass = len(x), 1 / len(x)
        chosen = numpy.random.default_rng(7).choice(n, min(n, 256), replace=False)
        found = exact(x, mass, chosen, 0)
        rounds = 3 if n <= 200000 else 1
        for eps in (1e-3, 1e-4, 1e-5, 1e-6, 1e-8) if n <= 200000 else (1e-3, 1e-4, 1e-5, 1e-6):
            measure(f"fmm3dpy eps {eps:.0e}", bodies, n, fmm(x, mass, chosen, eps), found, rounds)
        for theta, quadrupole in ((0.7, False), (0.7, True)):
            run = tree(x, mass, chosen, theta, quadrupole)
            run()  # compiles
            measure(f"pytreegrav theta {theta}{' quadrupole' if quadrupole else ''}", bodies, n, run, found, rounds)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
