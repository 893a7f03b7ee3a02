"""Forces and energies of a dense fluid of two types on a GPU, by tables that two types index: the natural text beside
the one whose indices are ordered, and a Mie potential whose exponents are constants, params, or elements of tables.
Needs CuPy. Prints milliseconds of one sum with the atoms in GPU memory.

    python3 bench/two_types_on_gpu.py [--atoms 256000] [--all-pairs 16384]
"""

import argparse
import pathlib
import sys

import cupy
import numpy

import nbcc

sys.path.insert(0, str(pathlib.Path(__file__).parent / "lammps"))
from two_types import FORMULAS, TABLES  # noqa: E402


def params_of(words):
    """Words such as n=14 or n=14,12,12,14, as pair_coeff takes them, as params; four numbers are a table."""
    params = {}
    for word in words.split():
        name, values = word.split("=")
        numbers = [float(value) for value in values.split(",")]
        params[name] = numpy.reshape(numbers, (2, 2)) if len(numbers) == 4 else numbers[0]
    return params


def milliseconds(call, repeat=7):
    call()
    found = []
    for _ in range(repeat):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        call()
        end.record()
        end.synchronize()
        found.append(cupy.cuda.get_elapsed_time(begin, end))
    return min(found)


def fluid(atoms, kind):
    """A cubic lattice of density 0.8442 whose atoms are moved by up to 0.1; 40% have type 1."""
    random = numpy.random.default_rng(1)
    side = round(atoms ** (1 / 3))
    step = 0.8442 ** (-1 / 3)
    grid = numpy.stack(numpy.meshgrid(*[numpy.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3) * step
    x = grid + random.uniform(-0.1, 0.1, grid.shape)
    types = (random.random(len(x)) < 0.4).astype("i4")
    order = random.permutation(len(x))
    return cupy.asarray(x[order].astype(kind)), cupy.asarray(types[order])


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--atoms", type=int, default=262144)
    arguments.add_argument("--all-pairs", type=int, default=16384)
    given = arguments.parse_args()
    print(f"{cupy.cuda.runtime.getDeviceProperties(0)['name'].decode()}; ms")
    print(f"{'text':<28}{'precision':<10}{'pairs':<8}{'ms':>9}  method")
    for precision, kind in (("single", "f4"), ("double", "f8")):
        for pairs, atoms in (("cutoff", given.atoms), ("all", given.all_pairs)):
            x, types = fluid(atoms, kind)
            force, energy = cupy.empty_like(x), cupy.empty(len(x), kind)
            for name, (text, words) in FORMULAS.items():
                params = params_of(f"{TABLES} {words}")
                skin = 0.3 if pairs == "cutoff" else 0.0
                pipeline = nbcc.compile(source=text, precision=precision, device="cuda", pairs=pairs, skin=skin)

                def call():
                    pipeline(xi=x, xj=x, ti=types, tj=types, **params, out={"force": force, "energy": energy})

                time = milliseconds(call)
                print(f"{name:<28}{precision:<10}{pairs:<8}{time:>9.3f}  {pipeline.statistics()['method']}", flush=True)


if __name__ == "__main__":
    main()
