#!/usr/bin/env python3
"""Small spheres that settle in a viscous fluid, on periodic lattices: their drag beside Hasimoto's.

    sediment.py [--tolerance 1e-9]

Prints, for each lattice, the coefficient of c^(1/3) by which the volume fraction c of the spheres slows them down.
"""

from __future__ import annotations

import argparse
import math
import os
from typing import Any, Dict, Tuple

import numpy as np

import nbcc

HERE = os.path.dirname(os.path.abspath(__file__))

# Vectors of the cell, positions in units of the vectors, and the coefficient: H. Hasimoto, J. Fluid Mech. 5 (1959) 317.
CORNERS = [[0, 0, 0]]
LATTICES: Dict[str, Tuple[Any, Any, float]] = {
    "simple cubic": (np.eye(3), CORNERS, 1.7601),
    "body-centred cubic": (np.array([[-1, 1, 1], [1, -1, 1], [1, 1, -1]]) / 2, CORNERS, 1.791),
    "face-centred cubic": (np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]) / 2, CORNERS, 1.791),
    "face-centred, a cube of 4": (np.eye(3), [[0, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]], 1.791),
}


def coefficient(vectors: Any, inside: Any, tolerance: float) -> Tuple[float, float]:
    """Of c^(1/3), and the largest velocity across the force.

    A force f on a small sphere of radius r moves it by f / (6 pi viscosity r), and the flow of all others and of the
    images, u / (8 pi viscosity), carries it along: its velocity is 1 + 3/4 r u, with c = 4/3 pi r^3 n / volume.
    """
    flow = nbcc.compile(os.path.join(HERE, "stokeslets.pipe"), precision="double")
    x = np.asarray(inside, float) @ vectors
    force = np.tile([1.0, 0.0, 0.0], (len(x), 1))
    u = flow(xi=x, xj=x, fj=force, a=vectors[0], b=vectors[1], c=vectors[2], tolerance=tolerance)
    radius = (3 * abs(np.linalg.det(vectors)) / (4 * math.pi * len(x))) ** (1 / 3)  # of c = 1
    return -0.75 * radius * u[:, 0].mean(), float(np.abs(u[:, 1:]).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tolerance", type=float, default=1e-9)
    tolerance = parser.parse_args().tolerance
    for name, (vectors, inside, published) in LATTICES.items():
        found, _ = coefficient(vectors, inside, tolerance)
        print(f"{name + ':':27}velocity 1 - {found:.6f} c^(1/3), Hasimoto {published}")


if __name__ == "__main__":
    main()
