"""Pairs of wide vectors on one core, beside the matrix product of a BLAS and a kernel by hand.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 taskset -c 1 python3 bench/wide_pairs_on_cpu.py [--isa avx2] [--elements 64,200,784]
        [--n 4096] [--tolerance 1e-4] [--hand]

Prints, for each number of elements, milliseconds of NumPy's float32 product of an n x D and a D x n matrix (into memory
that exists), and for each text milliseconds and the rate: the product's time divided by that of the text in the same
round. Medians of rounds in which all take turns. --isa avx2: run with OPENBLAS_CORETYPE=Haswell. --tolerance: of a second column of each
text, with the precision that was chosen and the measured error. --hand: bench/hand_written/wide/wide_sums.cpp, compiled
by clang++.
"""

import argparse
import ctypes
import os
import subprocess
import tempfile
import time

import nbcc
import numpy as np

INPUTS = "input_i real xi[{d}];\ninput_j real xj[{d}];\n"
DISTANCE = "real r2 = 0;\nfor (int k = 0; k < {d}; ++k) r2 += (xj[k] - xi[k]) * (xj[k] - xi[k]);\n"
TEXTS = {
    "Gaussian sum": INPUTS + "output(sum) real s;\n" + DISTANCE + "s += exp(-r2 / {d});\n",
    "logsumexp": INPUTS + "output(logsumexp) real z;\n" + DISTANCE + "z = logsumexp(z, -r2 / {d});\n",
    "argmin": INPUTS + "output(argmin) index near;\n" + DISTANCE + "near = argmin(near, r2);\n",
    "dot-kernel sum": INPUTS + "output(sum) real s;\ns += exp(dot(xi, xj) / {d});\n",
    "gradient": INPUTS + "output(sum) real s;\noutput(sum) real g[{d}];\n" + DISTANCE
    + "real e = exp(-r2 / {d});\ns += e;\nfor (int k = 0; k < {d}; ++k) g[k] += grad(e, xi[k]);\n",
}
HAND = os.path.join(os.path.dirname(__file__), "hand_written", "wide", "wide_sums.cpp")


def by_hand(isa, folder):
    """{name: function of (x, y)}, each a Gaussian sum, for points in columns."""
    options = {"avx512": ["-march=x86-64-v4", "-mprefer-vector-width=512"],
               "avx2": ["-march=x86-64-v3"]}[isa or "avx512"]
    library = os.path.join(folder, "hand.so")
    subprocess.check_call([os.environ.get("CXX", "clang++"), "-O3", "-std=c++20", "-shared", "-fPIC", *options, HAND, "-o",
                           library])
    functions = ctypes.CDLL(library)

    def sums(name):
        def call(x, y):
            count, elements = len(x), x.shape[1]
            columns = [np.ascontiguousarray(a.T) for a in (x, y)]
            squares = [(a * a).sum(axis=1) for a in (x, y)]
            result = np.empty(count)
            pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (*columns, *squares, result)]

            def run():
                getattr(functions, name)(*pointers[:4], ctypes.c_longlong(count), ctypes.c_longlong(elements),
                                         ctypes.c_float(-1 / elements), pointers[4])
                return result
            return run
        return call
    return {"by hand, differences": sums("differences"), "by hand, product": sums("products")}


def medians(calls, seconds):
    """{name: (median seconds, median rate)}; a rate is the time of "sgemm" in the same round divided by that of the call."""
    rounds = []
    for call in calls.values():
        call()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(rounds) < 3:
        rounds.append({})
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            rounds[-1][name] = time.perf_counter() - begin
    middle = len(rounds) // 2
    return {name: (sorted(times[name] for times in rounds)[middle],
                   sorted(times["sgemm"] / times[name] for times in rounds)[middle]) for name in calls}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=4096)
    parser.add_argument("--elements", default="64,200,784")
    parser.add_argument("--texts", default=",".join(name for name in TEXTS if name != "gradient"))
    parser.add_argument("--isa")
    parser.add_argument("--tolerance", type=float)
    parser.add_argument("--hand", action="store_true")
    parser.add_argument("--seconds", type=float, default=15)
    chosen = parser.parse_args()
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        for d in map(int, chosen.elements.split(",")):
            x, y = (random.normal(size=(chosen.n, d)).astype(np.float32) for _ in range(2))
            product = np.empty((chosen.n, chosen.n), np.float32)
            calls = {"sgemm": lambda: np.matmul(x, y.T, out=product)}
            notes = {}
            for name in chosen.texts.split(","):
                for tolerance in (None,) if chosen.tolerance is None else (None, chosen.tolerance):
                    f = nbcc.compile(source=TEXTS[name].format(d=d), device="cpu", threads=1, isa=chosen.isa,
                                     precision="single")
                    options = {} if tolerance is None else {"tolerance": tolerance}
                    label = name if tolerance is None else f"{name}, tolerance {tolerance:g}"
                    calls[label] = lambda f=f, options=options: f(x, y, **options)
                    notes[label] = (f, tolerance)
            if chosen.hand:
                for name, prepare in by_hand(chosen.isa, folder).items():
                    calls[name] = prepare(x, y)
                gauss = notes["Gaussian sum"][0](x, y)
                for name in ("by hand, differences", "by hand, product"):
                    assert abs(calls[name]() / gauss - 1).max() < 1e-5, name
            found = medians(calls, chosen.seconds)
            of_product = found["sgemm"][0]
            print(f"D = {d}: sgemm {of_product * 1e3:.1f} ms, {2e-9 * chosen.n**2 * d / of_product:.0f} GFLOP/s")
            for name in list(calls)[1:]:
                note = ""
                if name in notes and notes[name][1] is not None:
                    statistics = notes[name][0].statistics()
                    note = f" ({statistics['precision']}, {statistics['error']:.1e})"
                print(f"  {name:30} {found[name][0] * 1e3:7.1f} ms {found[name][1]:5.2f}{note}", flush=True)


if __name__ == "__main__":
    main()
