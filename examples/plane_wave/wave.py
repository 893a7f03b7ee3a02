#!/usr/bin/env python3
"""A plane wave of density grows in an expanding universe, beside Zeldovich's solution.

    wave.py [--particles 12] [--steps 36] [--final 5] [--tolerance 1e-4]

Particles start on a cubic lattice, displaced along x by a sine, in a universe with the critical density of matter
(Einstein and de Sitter's), H0 = 1, and a box of side 1. Zeldovich's displacement grows like the scale factor, and is exact in one
dimension until particles meet.
"""

from __future__ import annotations

import argparse
import os
from typing import Any, Iterator, Tuple

import numpy as np

import nbcc

HERE = os.path.dirname(os.path.abspath(__file__))
MEET = 1 / (2 * np.pi)  # the amplitude of the sine at which particles meet


def grow(n: int, steps: int, final: float, tolerance: float) -> Iterator[Tuple[float, float, float]]:
    """Yields the scale factor and the amplitude, of the particles and of Zeldovich's solution.

    Comoving positions x, momenta p = a^2 dx/dt, and the scale factor a as time: dx/da = p a^(-3/2), dp/da = g a^(-1/2),
    in which g is the gravity of the comoving masses and 4 pi G times their density is 3/2.
    """
    gravity = nbcc.compile(os.path.join(HERE, "gravity.pipe"), precision="double")
    line = (np.arange(n) + 0.5) / n
    start = np.stack(np.meshgrid(line, line, line, indexing="ij"), -1).reshape(-1, 3)
    mass = np.full(n**3, 1.5 / (4 * np.pi) / n**3)
    wave = np.sin(2 * np.pi * start[:, 0])
    a, step = 1.0, (final - 1) / steps
    per_factor = 0.5 * MEET / final
    x, p = start.copy(), np.zeros_like(start)
    x[:, 0] += per_factor * a * wave
    p[:, 0] = per_factor * a**1.5 * wave

    def pull(x: Any) -> Any:
        return gravity(xi=x, xj=x, mj=mass, eps2=(0.3 / n) ** 2, tolerance=tolerance)

    g = pull(x)
    for _ in range(steps):
        middle = a + step / 2
        p += g * 2 * (middle**0.5 - a**0.5)
        x += p * 2 * (a**-0.5 - (a + step) ** -0.5)
        a += step
        g = pull(x)
        p += g * 2 * (a**0.5 - middle**0.5)
        yield a, float(2 * ((x - start)[:, 0] * wave).mean()), per_factor * a


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--particles", type=int, default=12, help="along each axis")
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--final", type=float, default=5.0, help="the last scale factor; the first is 1")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    given = parser.parse_args()
    for k, (a, found, exact) in enumerate(grow(given.particles, given.steps, given.final, given.tolerance)):
        if (k + 1) % max(given.steps // 4, 1) == 0:
            print(f"scale factor {a:.3f}: amplitude {found:.6f}, Zeldovich {exact:.6f}, ratio {found / exact:.4f}")


if __name__ == "__main__":
    main()
