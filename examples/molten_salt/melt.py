#!/usr/bin/env python3
"""Molten sodium chloride: Tosi and Fumi's potential, with all images of the charges to a tolerance.

    melt.py [--cells 3] [--melt 2000] [--steps 2000] [--temperature 1148] [--tolerance 1e-5]

Ions start on the lattice of the crystal, at the density of the melt, and melt while their velocities are scaled; then
energy is kept. Prints its drift, the temperature, and the first maxima of the radial distribution functions. Units: Angstrom,
femtosecond, eV, atomic mass unit.
"""

from __future__ import annotations

import argparse
import os
from typing import Any, Tuple

import numpy as np

import nbcc

HERE = os.path.dirname(os.path.abspath(__file__))
DENSITY = 0.0309  # ions per cubic Angstrom: 1.50 g / cm^3, near 1148 K
MASSES = np.array([22.98977, 35.453])
ACCELERATION = 9.648533e-3  # eV / (Angstrom amu) in Angstrom / fs^2
BOLTZMANN = 8.617333e-5  # eV / K
SHELL = 0.05
PAIRS = ("Na-Na", "Na-Cl", "Cl-Cl")


def pipeline(name: str) -> Any:
    return nbcc.compile(os.path.join(HERE, name + ".pipe"), precision="double")


class Melt:
    """8 cells^3 ions in a cube, with positions `x` and velocities `v`."""

    def __init__(self, cells: int, temperature: float, tolerance: float, seed: int = 1) -> None:
        self.coulomb, self.short, self.counts = (pipeline(one) for one in ("coulomb", "tosi_fumi", "pair_counts"))
        sites = np.stack(np.meshgrid(*[np.arange(2 * cells)] * 3, indexing="ij"), -1).reshape(-1, 3)
        self.kind = (sites.sum(axis=1) % 2).astype(float)
        self.q, self.mass = 1 - 2 * self.kind, MASSES[sites.sum(axis=1) % 2][:, None]
        self.n = len(sites)
        self.side = (self.n / DENSITY) ** (1 / 3)
        self.cutoff, self.tolerance = min(9.0, self.side / 2), tolerance
        self.x = sites * self.side / (2 * cells)
        self.v = np.random.default_rng(seed).normal(size=(self.n, 3)) / np.sqrt(self.mass)
        self.v -= (self.mass * self.v).sum(axis=0) / self.mass.sum()
        self.scale_to(temperature)
        self.potential, self.force = self.sums()

    def sums(self) -> Tuple[float, Any]:
        far = self.coulomb(xi=self.x, qi=self.q, xj=self.x, qj=self.q, side=self.side, tolerance=self.tolerance)
        near = self.short(xi=self.x, ti=self.kind, xj=self.x, tj=self.kind, side=self.side, rc=self.cutoff)
        return float(far.energy.sum() + near.energy.sum()), far.force + near.force

    def step(self, dt: float) -> None:
        """Verlet's, by velocities."""
        self.v += 0.5 * dt * ACCELERATION * self.force / self.mass
        self.x += dt * self.v
        self.potential, self.force = self.sums()
        self.v += 0.5 * dt * ACCELERATION * self.force / self.mass

    def kinetic(self) -> float:
        return float(0.5 * (self.mass * self.v**2).sum() / ACCELERATION)

    def temperature(self) -> float:
        return 2 * self.kinetic() / (3 * (self.n - 1) * BOLTZMANN)

    def scale_to(self, temperature: float) -> None:
        self.v *= np.sqrt(temperature / self.temperature())

    def pair_counts(self) -> Any:
        reach = min(8.0, self.side / 2)
        return np.reshape(self.counts(self.x, self.kind, self.x, self.kind, side=self.side, rc=reach), (3, -1))

    def radial_distribution(self, counts: Any, frames: int) -> Tuple[Any, Any]:
        """Middles of the shells, and g(r) of PAIRS."""
        edges = SHELL * np.arange(counts.shape[1] + 1)
        shells = 4 / 3 * np.pi * np.diff(edges**3) / self.side**3
        ordered = np.array([1, 2, 1])[:, None] * (self.n / 2) ** 2  # a pair is counted from both of its ions
        return edges[:-1] + SHELL / 2, counts / (frames * ordered * shells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=3, help="of 8 ions, along each axis")
    parser.add_argument("--melt", type=int, default=2000, help="steps in which velocities are scaled")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--dt", type=float, default=1.0)
    parser.add_argument("--temperature", type=float, default=1148.0)
    parser.add_argument("--tolerance", type=float, default=1e-5)
    given = parser.parse_args()
    melt = Melt(given.cells, 2.5 * given.temperature, given.tolerance)
    print(f"{melt.n} ions in a cube of {melt.side:.2f} Angstrom")
    for k in range(given.melt):
        melt.step(given.dt)
        if k % 10 == 0:
            melt.scale_to(given.temperature * (2.5 if k < given.melt // 3 else 1))
    energies, temperatures, counts = [], [], 0
    for k in range(given.steps):
        melt.step(given.dt)
        energies.append(melt.potential + melt.kinetic())
        temperatures.append(melt.temperature())
        if k % 10 == 0:
            counts = counts + melt.pair_counts()
    drift = np.polyfit(np.linspace(0, 1, given.steps), energies, 1)[0]
    print(f"energy per pair of ions {2 * np.mean(energies) / melt.n:.4f} eV, drift {abs(drift / np.mean(energies)):.1e}, "
          f"scatter {np.std(energies) / abs(np.mean(energies)):.1e}")  # fmt: skip
    print(f"temperature {np.mean(temperatures):.0f} K")
    r, g = melt.radial_distribution(counts, (given.steps + 9) // 10)
    print("first maxima of g(r): " + ", ".join(
        f"{name} {r[one.argmax()]:.2f} Angstrom ({one.max():.2f})" for name, one in zip(PAIRS, g)))  # fmt: skip


if __name__ == "__main__":
    main()
