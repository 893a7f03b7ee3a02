#!/usr/bin/env python3
"""Spheres with friction, which settle on a floor: contact forces with a history of each pair.

    grains.py [--steps 60000] [--every 5000] [--seed 42]

1000 spheres fall into a box that is periodic in x and y. Prints the mean number of contacts and the stress between the
spheres, beside those that LAMMPS (gran/hertz/history) has for the same start.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
from typing import Any, Tuple

import numpy as np

import nbcc

HERE = os.path.dirname(os.path.abspath(__file__))
OPEN = 1e30  # the length of an axis that is not periodic

NEAR = """
input_i vec3 xi; input_i real ri; input_j vec3 xj; input_j real rj;
param vec3 box; param real skin;
output(count) int n;
vec3 d = nearest_image(xi - xj, box);
real reach = ri + rj + skin;
skip_if(dot(d, d) >= reach * reach);
n += true;
"""


@dataclasses.dataclass
class Material:
    """Stiffness and damping, normal and tangential, and the coefficient of friction."""

    kn: float = 20000.0
    kt: float = 8000.0
    gn: float = 50.0
    gt: float = 25.0
    mu: float = 0.5


class Grains:
    """Spheres with positions `x`, velocities `v`, angular velocities `w`, of shape (n, 3), and radii and masses (n,).

    box: lengths of the periodic box. floor: whether there is one, at z = 0. gravity: downwards. skin: contacts are
    searched for when a sphere has moved by half of it.
    """

    def __init__(
        self,
        x: Any,
        v: Any,
        radius: Any,
        density: Any,
        material: Material,
        dt: float,
        box: Tuple[float, float, float] = (OPEN, OPEN, OPEN),
        floor: bool = False,
        gravity: float = 0.0,
        skin: float = 0.2,
    ) -> None:
        self.x, self.v = np.array(x, float), np.array(v, float)
        self.w = np.zeros_like(self.x)
        self.radius = np.array(radius, float)
        self.mass = density * 4 / 3 * np.pi * self.radius**3
        self._per_mass = 1 / self.mass[:, None]
        self._per_inertia = self._per_mass / (0.4 * self.radius[:, None] ** 2)
        self.material, self.dt, self.box, self.floor, self.gravity, self.skin = material, dt, box, floor, gravity, skin
        self._near = nbcc.compile(source=NEAR, precision="double")
        self._contact = nbcc.compile(os.path.join(HERE, "contact.pipe"), precision="double")
        self._floor = nbcc.compile(os.path.join(HERE, "floor.pipe"), precision="double")
        n = len(self.x)
        self.floor_slip = np.zeros((n, 3))
        self._itself = nbcc.Rows(np.arange(n + 1), np.arange(n))
        self.searches = 0
        self._list()
        self.slip = np.zeros((len(self.pairs.j), 3))
        self.forces()

    def _list(self) -> None:
        found = self._near.find_neighbours(
            self.x, self.radius, self.x, self.radius, box=self.box, skin=self.skin, exclusions=self._itself
        )
        self.pairs = nbcc.Rows(found.first, found.j)
        self._listed_at = self.x.copy()
        self.searches += 1

    def _update_list(self) -> None:
        moved = self.x - self._listed_at
        if np.einsum("ij,ij->i", moved, moved).max() <= (self.skin / 2) ** 2:
            return
        before = self.pairs
        self._list()
        self.slip = nbcc.carry_pairs(before, self.pairs, self.slip)

    def forces(self) -> None:
        """Forces and torques; the histories advance by a step."""
        numbers = vars(self.material)
        out = self._contact(
            xi=self.x, vi=self.v, wi=self.w, ri=self.radius, mi=self.mass,
            xj=self.x, vj=self.v, wj=self.w, rj=self.radius, mj=self.mass,
            slipped=self.slip, listed_pairs=self.pairs, box=self.box, dt=self.dt, **numbers,
        )  # fmt: skip
        self.slip = out.slip
        self.force, self.torque, self.contacts, self.virial = out.force, out.torque, out.contacts, out.virial
        self.force[:, 2] -= self.gravity * self.mass
        if self.floor:
            below = self._floor(
                xi=self.x, vi=self.v, wi=self.w, ri=self.radius, mi=self.mass, slipped=self.floor_slip, nj=1,
                dt=self.dt, **numbers,
            )  # fmt: skip
            self.floor_slip = below.slip
            self.force += below.force
            self.torque += below.torque

    def step(self) -> None:
        """Velocity Verlet, of rotations too."""
        self._kick()
        self.x += self.dt * self.v
        self._update_list()
        self.forces()
        self._kick()

    def _kick(self) -> None:
        half = 0.5 * self.dt
        self.v += half * self._per_mass * self.force
        self.w += half * self._per_inertia * self.torque


def falling(seed: int, n: int = 1000, side: float = 8.0) -> Grains:
    """Spheres above a floor, at the places of a lattice that is a little disturbed."""
    random = np.random.default_rng(seed)
    diameter = random.uniform(0.9, 1.1, n)
    across = int(side / 1.14)
    axes = np.arange(across), np.arange(across), np.arange(-(-n // across**2))
    places = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)[:n]
    places = places[np.argsort(places[:, 2], kind="stable")]
    x = (places + 0.5) * [side / across, side / across, 1.14] + random.uniform(-0.01, 0.01, (n, 3)) + [0, 0, 0.3]
    v = random.normal(size=(n, 3)) * 0.3
    return Grains(
        x, v, diameter / 2, 1.0, Material(), 0.001, box=(side, side, OPEN), floor=True, gravity=1.0, skin=0.2
    )


# LAMMPS (29 September 2021, update 2), steps 30,000 to 60,000 of the start with seed 42: the mean number of contacts of a
# sphere, and the virial of their forces by the volume 8 x 8 x 60.5.
LAMMPS_CONTACTS = 5.235
LAMMPS_STRESS = (0.708, 0.697, 0.888)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=60000)
    parser.add_argument("--every", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=42)
    options = parser.parse_args()
    grains = falling(options.seed)
    contacts, stress = [], []
    print(f"{'step':>8}{'contacts':>10}{'stress':>24}{'kinetic energy':>16}")
    for step in range(1, options.steps + 1):
        grains.step()
        if step % 100 == 0 and step > options.steps // 2:
            contacts.append(grains.contacts.mean())
            stress.append(grains.virial.sum(axis=0) / (8 * 8 * 60.5))
        if step % options.every == 0:
            now = grains.virial.sum(axis=0) / (8 * 8 * 60.5)
            energy = 0.5 * (grains.mass * (grains.v**2).sum(axis=1)).sum()
            print(f"{step:8}{grains.contacts.mean():10.3f}" + "".join(f"{s:8.3f}" for s in now) + f"{energy:16.3g}", flush=True)
    print(f"{'mean':>8}{np.mean(contacts):10.3f}" + "".join(f"{s:8.3f}" for s in np.mean(stress, axis=0)))
    print(f"{'LAMMPS':>8}{LAMMPS_CONTACTS:10.3f}" + "".join(f"{s:8.3f}" for s in LAMMPS_STRESS))


if __name__ == "__main__":
    main()
