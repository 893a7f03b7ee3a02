#!/usr/bin/env python3
"""Times sums over points with many coordinates beside KeOps, on the CPU beside NumPy too.

    keops_side_by_side.py [--dimensions 3,10,64,200] [--kinds sum,gradient] [--threads 1,2] [--isa avx2] [--same] [--no-keops]
    keops_side_by_side.py --device cuda

    sum        s_i = sum over j of w_j exp(-|x_i - y_j|^2 / 2)
    gradient   its derivative by x_i
    logsumexp  log of the sum over j of exp(-|x_i - y_j|^2 / 2)
    argkmin    the indices of the 8 least |x_i - y_j|^2

Candidates on the CPU, where the numbers of threads are those of --threads:

    nbcc            the texts below, one kernel for each
    KeOps           Genred of PyPI's pykeops, its C++ compiled as installed (-O3)
    KeOps, native   the same with -march=native -ffast-math in CXXFLAGS (--isa avx2: -march=haswell)
    NumPy           |x|^2 + |y|^2 - 2 x.y by a matrix product of OpenBLAS, exp, sum: a matrix of all pairs

On a GPU the arrays are in its memory, of PyTorch. Candidates: nbcc; KeOps, whose kernels pykeops compiles with NVRTC; without
pykeops, or if it has not found CUDA, KeOps's scheme by hand (keops_scheme.py, which needs CuPy).

Each candidate is a process of its own. The candidates run in turns; a time is the least of the rounds. Each row has
the time of nbcc, its ratios to the times of the others (less than 1: nbcc is faster), and the largest |difference| of
the results of nbcc and of each other, relative to the largest |result|; of indices that of the squared distances which they
choose. "-": the candidate has no such sum. The program exits with 1 if a difference exceeds 1e-4 in single or 1e-11 in
double precision.
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

NEAREST = 8
TEXT = """
input_i real xi[{D}];
input_j real xj[{D}];
{weight}
{output};
real r2 = 0;
for (int k = 0; k < {D}; ++k) r2 += (xj[k] - xi[k]) * (xj[k] - xi[k]);
{term}
"""
WEIGHT = "input_j real wj;"
TEXTS = {  # output, term, weight
    "sum": ("output(sum) real s", "s += wj * exp(-r2 / 2);", WEIGHT),
    "gradient": (
        "output(sum) real g[{D}]",
        "real e = wj * exp(-r2 / 2);\nfor (int k = 0; k < {D}; ++k) g[k] += grad(e, xi[k]);",
        WEIGHT,
    ),
    "logsumexp": ("output(logsumexp) real s", "s = logsumexp(s, -r2 / 2);", ""),
    "argkmin": (f"output(argmin) index near[{NEAREST}]", "near = argmin(near, r2);", ""),
}
GAUSSIAN = "Exp(-SqDist(x, y) / IntCst(2)) * w"
FORMULAS = {  # formula, reduction, variables
    "sum": (GAUSSIAN, "Sum", "xyw"),
    "gradient": (f"Grad({GAUSSIAN}, x, IntCst(1))", "Sum", "xyw"),
    "logsumexp": ("-SqDist(x, y) / IntCst(2)", "LogSumExp", "xy"),
    "argkmin": ("SqDist(x, y)", "ArgKMin", "xy"),
}
DIFFERENCES = {"single": 1e-4, "double": 1e-11}
call = None  # of a candidate's process: the sum that it times


class Case(typing.NamedTuple):
    kind: str  # of TEXTS
    dimension: int
    precision: str
    points: int
    same: bool  # i and j are one set
    threads: int
    isa: typing.Optional[str]
    device: str  # "cpu" or "cuda"


def points(case):
    """Positions of i and of j at distances of about sqrt(2), and weights between 0 and 1."""
    random = np.random.default_rng(1)
    real = np.float32 if case.precision == "single" else np.float64
    x, y = (random.normal(size=(2, case.points, case.dimension)) / np.sqrt(case.dimension)).astype(real)
    return x, x if case.same else y, random.random((case.points, 1)).astype(real)


def arrays(case):
    """x, y, w where the case has them: NumPy's, or tensors in a GPU's memory."""
    if case.device == "cpu":
        return points(case)
    import torch

    x, y, w = (torch.as_tensor(one, device="cuda") for one in points(case))
    return x, x if case.same else y, w


def by_nbcc(case):
    import nbcc

    x, y, w = arrays(case)
    output, term, weight = (text.format(D=case.dimension) for text in TEXTS[case.kind])
    source = TEXT.format(D=case.dimension, weight=weight, output=output, term=term)
    # On a GPU the kernel is made at the first call, for where the arrays are.
    options = {"threads": case.threads, "isa": case.isa} if case.device == "cpu" else {}
    sums = nbcc.compile(source=source, precision=case.precision, **options)
    given = (x, y, w[:, 0]) if weight else (x, y)
    return lambda: sums(*given)


def by_keops(case):
    import pykeops

    pykeops.set_verbose(False)
    Genred = importlib.import_module("pykeops.numpy" if case.device == "cpu" else "pykeops.torch").Genred
    formula, reduction, names = FORMULAS[case.kind]
    sides = {"x": f"x = Vi({case.dimension})", "y": f"y = Vj({case.dimension})", "w": "w = Vj(1)"}
    slots = {"opt_arg": NEAREST} if case.kind == "argkmin" else {}
    sums = Genred(formula, [sides[name] for name in names], reduction_op=reduction, axis=1, **slots)
    given = arrays(case)[: len(names)]
    backend = "CPU" if case.device == "cpu" else "GPU"
    return lambda: sums(*given, backend=backend)


def by_numpy(case):
    x, y, w = points(case)
    matrix = np.empty((len(x), len(y)), dtype=x.dtype)  # pages of a new matrix would be part of the time

    def exponents():  # -|x - y|^2 / 2
        np.matmul(x, y.T, out=matrix)
        np.multiply(matrix, 2, out=matrix)
        np.subtract(matrix, np.einsum("ik,ik->i", x, x)[:, None], out=matrix)
        np.subtract(matrix, np.einsum("ik,ik->i", y, y), out=matrix)
        np.multiply(matrix, 0.5, out=matrix)

    def run():
        exponents()
        if case.kind == "argkmin":
            near = np.argpartition(matrix, -NEAREST, axis=1)[:, -NEAREST:]
            order = np.argsort(-np.take_along_axis(matrix, near, 1), axis=1)
            return np.take_along_axis(near, order, 1)
        if case.kind == "logsumexp":
            most = matrix.max(axis=1, keepdims=True)
            np.subtract(matrix, most, out=matrix)
            np.exp(matrix, out=matrix)
            return np.log(matrix.sum(axis=1, keepdims=True)) + most
        np.exp(matrix, out=matrix)
        s = matrix @ w
        return s if case.kind == "sum" else matrix @ (w * y) - s * x

    return run


def by_hand(case):
    import cupy
    from keops_scheme import fastest

    x, y, w = (cupy.asarray(one) for one in points(case))
    found = fastest(case.kind, x, x if case.same else y, w[:, 0], milliseconds)
    if found is None:
        return None
    best, s, g = found
    result = s if case.kind in ("sum", "logsumexp") else g
    return Timed(best / 1e3, result.get())


class Timed(typing.NamedTuple):
    """A candidate that has measured its time, in seconds, itself."""

    seconds: float
    result: np.ndarray

    def __call__(self):
        return self.result


def milliseconds(run):
    """The least of five, by events of CuPy's current stream."""
    import cupy

    run()
    times = []
    for _ in range(5):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end))
    return min(times)


CANDIDATES = {"nbcc": by_nbcc, "KeOps": by_keops, "KeOps, native": by_keops, "NumPy": by_numpy, "by hand": by_hand}


def prepare(name, case):
    """Makes the sum and returns its results, of indices the squared distances that they choose; None: there is no such sum.
    Runs in the candidate's process, as does `seconds`."""
    global call
    call = CANDIDATES[name](case)
    if call is None:
        return None
    result = call()
    result = np.asarray(result.cpu() if hasattr(result, "cpu") else result)
    if case.kind != "argkmin":
        return result.astype(np.float64).reshape(case.points, -1)
    x, y, _ = (one.astype(np.float64) for one in points(case))
    near = result.astype(np.int64).reshape(case.points, NEAREST)
    return np.stack([((y[near[:, k]] - x) ** 2).sum(-1) for k in range(NEAREST)], 1)


def seconds(device):
    if isinstance(call, Timed):
        return call.seconds
    if device != "cpu":
        import torch

        torch.cuda.synchronize()
    begin = time.perf_counter()
    call()
    if device != "cpu":
        torch.cuda.synchronize()
    return time.perf_counter() - begin


def keops_on_gpu():
    """Why pykeops does not run on a GPU; "" if it does."""
    try:
        config = importlib.import_module("pykeops.config")
    except Exception as error:  # of its own checks, too
        return f"pykeops cannot be imported ({error})"
    return "" if config.gpu_available else "pykeops has not found CUDA"


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
            pathlib.Path(os.environ["KEOPS_CACHE_FOLDER"]).mkdir(parents=True, exist_ok=True)
            spawn = multiprocessing.get_context("spawn")
            pools[name] = stack.enter_context(concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn))
            pools[name].submit(os.getpid).result()  # starts the process
        yield pools


def measure(pools, rounds, limit, case):
    """({name: least seconds}, {name: results}) of the candidates that have this sum. At least two rounds; no further one
    after `limit` seconds."""
    results = {name: pool.submit(prepare, name, case).result() for name, pool in pools.items()}
    results = {name: result for name, result in results.items() if result is not None}
    times = {name: [] for name in results}
    begin = time.perf_counter()
    for done in range(rounds):
        if done >= 2 and time.perf_counter() - begin > limit:
            break
        for name in list(results) if done % 2 == 0 else reversed(results):
            times[name].append(pools[name].submit(seconds, case.device).result())
    return {name: min(found) for name, found in times.items()}, results


def candidates(given):
    if given.device != "cpu":
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            obstacle = pool.submit(keops_on_gpu).result()
        if obstacle:
            print(f"{obstacle}: beside KeOps's scheme by hand")
        return ["nbcc", "by hand" if obstacle else "KeOps"]
    if given.no_keops or not importlib.util.find_spec("pykeops"):
        print("without KeOps" if given.no_keops else "pykeops is not installed: without KeOps")
        return ["nbcc", "NumPy"]
    return ["nbcc", "KeOps", "KeOps, native", "NumPy"]


def numbers(text):
    return [int(one) for one in text.split(",")]


def words(text):
    return text.split(",")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dimensions", type=numbers, default=[3, 10, 64, 200])
    parser.add_argument("--kinds", type=words, default=list(TEXTS), help=f"default: {','.join(TEXTS)}")
    parser.add_argument("--precisions", type=words, default=["single", "double"])
    parser.add_argument("--threads", type=numbers, default=[1], help="of the CPU")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--points", type=int, help="default: 4096, on a GPU 65536")
    parser.add_argument("--same", action="store_true", help="i and j are one set; NumPy computes half of its product")
    parser.add_argument("--isa", help="of nbcc; avx2 restricts OpenBLAS, too (OPENBLAS_CORETYPE=Haswell)")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--limit", type=float, default=20, help="seconds after which two rounds are enough")
    parser.add_argument("--no-keops", action="store_true")
    parser.add_argument("--keops-cache", help="a folder for what KeOps compiles; default: a temporary one")
    given = parser.parse_args()
    count = given.points or (4096 if given.device == "cpu" else 65536)
    names = candidates(given)
    others = names[1:]
    print(f"{'D':>4} {'precision':<10}{'threads':>7}  {'':<10}{'nbcc, ms':>10}", end="")
    print("".join(f"{'/ ' + name:>16}" for name in others), " largest differences", sep="")
    wrong = False
    with contextlib.ExitStack() as stack:
        caches = given.keops_cache or stack.enter_context(tempfile.TemporaryDirectory())
        for threads in given.threads if given.device == "cpu" else [1]:
            with processes(names, threads, given.isa, caches) as pools:
                for D, precision, kind in itertools.product(given.dimensions, given.precisions, given.kinds):
                    case = Case(kind, D, precision, count, given.same, threads, given.isa, given.device)
                    times, results = measure(pools, given.rounds, given.limit, case)
                    largest = abs(results["nbcc"]).max()
                    off = [abs(results[name] - results["nbcc"]).max() / largest for name in others if name in results]
                    wrong |= max(off, default=0) > DIFFERENCES[precision]
                    print(f"{D:4} {precision:<10}{threads:7}  {kind:<10}{1e3 * times['nbcc']:10.1f}", end="")
                    ratios = [f"{times['nbcc'] / times[name]:.3f}" if name in times else "-" for name in others]
                    print("".join(f"{one:>16}" for one in ratios), end="  ")
                    print(*(f"{one:.1e}" for one in off), flush=True)
    if wrong:
        sys.exit("results differ by more than rounding")


if __name__ == "__main__":
    main()
