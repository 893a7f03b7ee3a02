#!/usr/bin/env python3
"""Times Gaussian sums over points with many coordinates beside KeOps and NumPy, on the CPU.

    keops_side_by_side.py [--dimensions 3,64,200,784] [--threads 1,2] [--isa avx2] [--same] [--no-keops]

The sum is s_i = sum over j of w_j exp(-|x_i - y_j|^2 / 2), the gradient is its derivative by x_i. Candidates:

    nbcc            the text below; one kernel for the sum, one for the gradient
    KeOps           Genred of PyPI's pykeops, its C++ compiled as installed (-O3)
    KeOps, native   the same with -march=native -ffast-math in CXXFLAGS (--isa avx2: -march=haswell)
    NumPy           |x|^2 + |y|^2 - 2 x.y by a matrix product of OpenBLAS, exp, sum: a matrix of all pairs

Each candidate is a process of its own. The candidates run in turns; a time is the least of the rounds. Each row has
the time of nbcc, its ratios to the times of the others (less than 1: nbcc is faster), and the largest |difference| of
the results of nbcc and of each other, relative to the largest |result|. The program exits with 1 if such a difference
exceeds 1e-4 in single or 1e-11 in double precision.
"""

import argparse
import concurrent.futures
import contextlib
import importlib.util
import itertools
import multiprocessing
import os
import pathlib
import sys
import tempfile
import time
import typing

import numpy as np

TEXT = """
input_i real xi[{D}];
input_j real xj[{D}];
input_j real wj;
output(sum) real {output};
real r2 = 0;
for (int k = 0; k < {D}; ++k) r2 += (xj[k] - xi[k]) * (xj[k] - xi[k]);
real e = wj * exp(-r2 / 2);
{term}
"""
DIFFERENCES = {"single": 1e-4, "double": 1e-11}
call = None  # of a candidate's process: the sum that it times


class Case(typing.NamedTuple):
    kind: str  # "sum" or "gradient"
    dimension: int
    precision: str
    points: int
    same: bool  # i and j are one set
    threads: int
    isa: typing.Optional[str]


def points(case):
    """Positions of i and of j at distances of about sqrt(2), and weights between 0 and 1."""
    random = np.random.default_rng(1)
    real = np.float32 if case.precision == "single" else np.float64
    x, y = (random.normal(size=(2, case.points, case.dimension)) / np.sqrt(case.dimension)).astype(real)
    return x, x if case.same else y, random.random((case.points, 1)).astype(real)


def by_nbcc(case):
    import nbcc

    x, y, w = points(case)
    D = case.dimension
    output = "s" if case.kind == "sum" else f"g[{D}]"
    term = "s += e;" if case.kind == "sum" else f"for (int k = 0; k < {D}; ++k) g[k] += grad(e, xi[k]);"
    source = TEXT.format(D=D, output=output, term=term)
    sums = nbcc.compile(source=source, precision=case.precision, threads=case.threads, isa=case.isa)
    return lambda: sums(x, y, w[:, 0])


def by_keops(case):
    import pykeops
    from pykeops.numpy import Genred

    pykeops.set_verbose(False)
    x, y, w = points(case)
    gaussian = "Exp(-SqDist(x, y) / IntCst(2)) * w"
    formula = gaussian if case.kind == "sum" else f"Grad({gaussian}, x, IntCst(1))"
    arguments = [f"x = Vi({case.dimension})", f"y = Vj({case.dimension})", "w = Vj(1)"]
    sums = Genred(formula, arguments, reduction_op="Sum", axis=1)
    return lambda: sums(x, y, w, backend="CPU")


def by_numpy(case):
    x, y, w = points(case)
    matrix = np.empty((len(x), len(y)), dtype=x.dtype)  # pages of a new matrix would be part of the time

    def run():
        np.matmul(x, y.T, out=matrix)
        np.multiply(matrix, 2, out=matrix)
        np.subtract(matrix, np.einsum("ik,ik->i", x, x)[:, None], out=matrix)
        np.subtract(matrix, np.einsum("ik,ik->i", y, y), out=matrix)
        np.multiply(matrix, 0.5, out=matrix)
        np.exp(matrix, out=matrix)
        s = matrix @ w
        return s if case.kind == "sum" else matrix @ (w * y) - s * x

    return run


CANDIDATES = {"nbcc": by_nbcc, "KeOps": by_keops, "KeOps, native": by_keops, "NumPy": by_numpy}


def prepare(name, case):
    """Makes the sum and returns its results. Runs in the candidate's process, as does `seconds`."""
    global call
    call = CANDIDATES[name](case)
    return np.asarray(call(), dtype=np.float64).reshape(case.points, -1)


def seconds():
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def environment(name, threads, isa, caches):
    """Variables that libraries read when they are loaded; None: the variable is removed."""
    flags = f"-march={'haswell' if isa == 'avx2' else 'native'} -ffast-math" if name == "KeOps, native" else None
    return {
        "OMP_NUM_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": str(threads),
        "OPENBLAS_CORETYPE": "Haswell" if isa == "avx2" else None,
        "OPENBLAS_L2_SIZE": None,
        "CXXFLAGS": flags,
        "KEOPS_CACHE_FOLDER": os.path.join(caches, "native" if flags else "plain"),
        "KEOPS_VERBOSE": "0",
    }


@contextlib.contextmanager
def processes(names, threads, isa, caches):
    """{name: executor of one process}."""
    pools = {}
    with contextlib.ExitStack() as stack:
        for name in names:
            for variable, value in environment(name, threads, isa, caches).items():
                os.environ.pop(variable, None)
                if value is not None:
                    os.environ[variable] = value
            pathlib.Path(os.environ["KEOPS_CACHE_FOLDER"]).mkdir(exist_ok=True)
            spawn = multiprocessing.get_context("spawn")
            pools[name] = stack.enter_context(concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn))
            pools[name].submit(os.getpid).result()  # starts the process
        yield pools


def measure(pools, rounds, limit, case):
    """({name: least seconds}, {name: results}). At least two rounds; no further one after `limit` seconds."""
    results = {name: pool.submit(prepare, name, case).result() for name, pool in pools.items()}
    times = {name: [] for name in pools}
    begin = time.perf_counter()
    for done in range(rounds):
        if done >= 2 and time.perf_counter() - begin > limit:
            break
        for name in list(pools) if done % 2 == 0 else reversed(pools):
            times[name].append(pools[name].submit(seconds).result())
    return {name: min(found) for name, found in times.items()}, results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dimensions", default="3,64,200,784")
    parser.add_argument("--precisions", default="single,double")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--points", type=int, default=4096)
    parser.add_argument("--same", action="store_true", help="i and j are one set; NumPy computes half of its product")
    parser.add_argument("--isa", help="of nbcc; avx2 restricts OpenBLAS, too (OPENBLAS_CORETYPE=Haswell)")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--limit", type=float, default=20, help="seconds after which two rounds are enough")
    parser.add_argument("--no-keops", action="store_true")
    given = parser.parse_args()
    names = list(CANDIDATES)
    if given.no_keops or not importlib.util.find_spec("pykeops"):
        names = ["nbcc", "NumPy"]
        print("without KeOps" if given.no_keops else "pykeops is not installed: without KeOps")
    others = names[1:]
    print(f"{'D':>4} {'precision':<10}{'threads':>7}  {'':<9}{'nbcc, ms':>10}", end="")
    print("".join(f"{'/ ' + name:>16}" for name in others), " largest differences", sep="")
    dimensions, threads = ([int(one) for one in text.split(",")] for text in (given.dimensions, given.threads))
    wrong = False
    with tempfile.TemporaryDirectory() as caches:
        for count in threads:
            with processes(names, count, given.isa, caches) as pools:
                rows = itertools.product(dimensions, given.precisions.split(","), ("sum", "gradient"))
                for D, precision, kind in rows:
                    case = Case(kind, D, precision, given.points, given.same, count, given.isa)
                    times, results = measure(pools, given.rounds, given.limit, case)
                    largest = abs(results["nbcc"]).max()
                    off = [abs(results[name] - results["nbcc"]).max() / largest for name in others]
                    wrong |= max(off) > DIFFERENCES[precision]
                    print(f"{D:4} {precision:<10}{count:7}  {kind:<9}{1e3 * times['nbcc']:10.1f}", end="")
                    print("".join(f"{times['nbcc'] / times[name]:16.3f}" for name in others), end="  ")
                    print(*(f"{one:.1e}" for one in off), flush=True)
    if wrong:
        sys.exit("results differ by more than rounding")


if __name__ == "__main__":
    main()
