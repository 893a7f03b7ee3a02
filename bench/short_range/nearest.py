#!/usr/bin/env python3
"""Times the k nearest neighbours of each of N points by one thread or a GPU, beside SciPy's cKDTree by one thread.

    nearest.py [--points 1000000] [--kept 1,8,32] [--kinds uniform,clustered] [--gpu]

Points are uniform in a cube, or in 200 clusters of sizes from 1e-4 to 0.1. Prints microseconds a point, trees included;
the ratio; and the fraction of equal indices.
"""

import argparse
import time

import numpy as np
from scipy.spatial import cKDTree

import nbcc

TEXT = """
input_i vec3 xi;
input_j vec3 xj;
output(argmin) index near{kept};
vec3 dx = xj - xi;
skip_if(i_index == j_index);
near = argmin(near, dot(dx, dx));
"""


def points(kind, count):
    random = np.random.default_rng(1)
    if kind == "uniform":
        return random.uniform(0, 1, (count, 3))
    centres = random.uniform(0, 1, (200, 3))[random.integers(0, 200, count)]
    return centres + 10.0 ** random.uniform(-4, -1, (count, 1)) * random.normal(size=(count, 3))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--kept", default="1,8,32")
    parser.add_argument("--kinds", default="uniform,clustered")
    parser.add_argument("--gpu", action="store_true", help="the arrays are on the host; the second run is timed")
    options = parser.parse_args()
    print(f"{'':16}{'k':>4}{'nbcc':>8}{'SciPy':>8}{'ratio':>7}{'equal':>9}")
    for kind in options.kinds.split(","):
        x = points(kind, options.points)
        for kept in (int(one) for one in options.kept.split(",")):
            text = TEXT.format(kept="" if kept == 1 else f"[{kept}]")
            where = {"device": "cuda:0"} if options.gpu else {"threads": 1}
            sums = nbcc.compile(source=text, precision="double", **where)
            sums(x if options.gpu else x[:1000], x if options.gpu else x[:1000], pairs="cutoff")
            start = time.perf_counter()
            near = np.asarray(sums(x, x, pairs="cutoff")).reshape(len(x), -1)
            ours = time.perf_counter() - start
            start = time.perf_counter()
            expected = cKDTree(x).query(x, k=kept + 1)[1][:, 1:]
            theirs = time.perf_counter() - start
            per_point = 1e6 / len(x)
            print(
                f"{kind:16}{kept:4}{ours * per_point:8.2f}{theirs * per_point:8.2f}{theirs / ours:7.2f}"
                f"{(near == expected).mean():9.5f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
