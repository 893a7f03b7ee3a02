#!/usr/bin/env python3
"""Charge equilibration of a disordered salt: charges flow between all ions until their levels are equal.

    equilibrate.py [--ions 10000] [--tolerance 1e-7] [--residual 2e-3]

Minimises the sum of attraction q + hardness q^2 / 2 + q potential / 2 over charges q that add up to 0 (A. K. Rappe & W. A.
Goddard, J. Phys. Chem. 95 (1991) 3358). The charges are Gaussians in a periodic cube; `gaussian_charges.pipe` sums their
potential with all images to a tolerance. The matrix is never stored: GMRES takes products by `operator`. Prints the
iterations, the spread of the levels, and the times. Exit codes: 0; 1: not solved; 2: wrong options.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, gmres

import nbcc

HERE = os.path.dirname(os.path.abspath(__file__))
DENSITY = 0.0309  # ions per cubic Angstrom, as in melt.py
ATTRACTION = np.array([2.84, 8.56])  # of electrons, by sodium and chlorine, in V
HARDNESS = np.array([16.0, 19.0])  # V per elementary charge, of an ion with its own Gaussian
DISPLACEMENT = 0.6  # Angstrom: rms of each coordinate from the lattice


class Solution(NamedTuple):
    q: Any
    levels: Any  # V, of each ion: equal where the charges are those of the least energy
    products: int
    seconds_of_first: float  # of the first product, which makes tables and trees
    seconds: float  # of all others
    statistics: Any  # of the last product


def draw(ions: int, seed: int = 1) -> Any:
    """Positions, kinds (0: sodium, 1: chlorine) and the side of the cube. `ions`: at least; a cube of an even number."""
    along = 2 * int(np.ceil((ions / 8) ** (1 / 3)))
    sites = np.stack(np.meshgrid(*[np.arange(along)] * 3, indexing="ij"), -1).reshape(-1, 3)
    side = (len(sites) / DENSITY) ** (1 / 3)
    x = sites * side / along + DISPLACEMENT * np.random.default_rng(seed).normal(size=sites.shape)
    return x, sites.sum(axis=1) % 2, side


def solve(x: Any, kind: Any, side: float, tolerance: float, residual: float) -> Solution:
    """`residual`: of GMRES, relative to the differences of attraction. `tolerance` is relative to the sums of |terms|, which
    for 10,000 ions are ten thousand times these differences."""
    sums = nbcc.compile(os.path.join(HERE, "gaussian_charges.pipe"), precision="double")
    potential = sums.operator(xi=x, xj=x, side=side, tolerance=tolerance)
    attraction, hardness = ATTRACTION[kind], HARDNESS[kind]
    times = []

    def level_of(q: Any) -> Any:
        start = time.perf_counter()
        products = potential @ q
        times.append(time.perf_counter() - start)
        return hardness * q + products

    def without_mean(v: Any) -> Any:  # charges add up to 0, and only differences of levels count
        return v - v.mean()

    matrix = LinearOperator((len(x), len(x)), lambda v: without_mean(level_of(without_mean(v))), dtype=float)
    q, failed = gmres(matrix, without_mean(-attraction), rtol=residual, restart=60, maxiter=2)
    if failed:
        raise RuntimeError(f"GMRES: the residual is not {residual} after {len(times)} products")
    q = without_mean(q)
    levels = attraction + level_of(q)
    return Solution(q, levels, len(times), times[0], sum(times[1:]), sums.statistics())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ions", type=int, default=10000)
    parser.add_argument("--tolerance", type=float, default=1e-7)
    parser.add_argument("--residual", type=float, default=2e-3)
    options = parser.parse_args()
    x, kind, side = draw(options.ions)
    try:
        found = solve(x, kind, side, options.tolerance, options.residual)
    except RuntimeError as unsolved:
        print(unsolved, file=sys.stderr)
        return 1
    rest = found.levels - found.levels.mean()
    spread = np.sqrt(np.mean(rest**2)) / np.sqrt(np.mean((ATTRACTION[kind] - ATTRACTION.mean()) ** 2))
    print(f"{len(x)} ions in a cube of {side:.2f} Angstrom")
    print(f"{found.products} products; rms of the levels' differences {spread:.1e} of those of the attractions")
    print(f"charges of sodium {found.q[kind == 0].mean():.3f} +- {found.q[kind == 0].std():.3f}, sum {found.q.sum():.0e}")
    method, error = found.statistics["method"], found.statistics["error"]
    print(f"{method}, error {error:.0e} of the sum of |terms|, order {found.statistics['order']}")
    each = found.seconds / (found.products - 1)
    print(f"seconds: {found.seconds_of_first:.2f} for the first product, then {each:.3f} for each")
    return 0


if __name__ == "__main__":
    sys.exit(main())
