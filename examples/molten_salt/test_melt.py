"""melt.py: the crystal's energy, forces, energy that is kept, and the neighbours of ions in the melt."""

import numpy as np
import pytest

import melt


def test_the_coulomb_energy_of_the_crystal_is_madelungs():
    salt = melt.Melt(2, 300.0, 1e-8)
    energy = salt.coulomb(salt.x, salt.q, salt.x, salt.q, side=salt.side, tolerance=1e-8).energy.sum()
    nearest = salt.side / 4
    assert energy / (salt.n / 2) == pytest.approx(-1.747564594633 * 14.3996455 / nearest, rel=1e-6)


def test_forces_are_derivatives_and_energy_is_kept():
    salt = melt.Melt(2, 1500.0, 1e-6)
    for _ in range(50):
        salt.step(1.0)
    force, x = salt.force[5, 1], salt.x.copy()
    energies = []
    for way in (1e-3, -1e-3):
        salt.x = x.copy()
        salt.x[5, 1] += way
        energies.append(salt.sums()[0])
    assert (energies[1] - energies[0]) / 2e-3 == pytest.approx(force, abs=1e-3)
    salt.x = x
    totals, counts = [], 0
    for k in range(100):
        salt.step(1.0)
        totals.append(salt.potential + salt.kinetic())
        counts = counts + salt.pair_counts()
    assert np.ptp(totals) < 2e-4 * abs(np.mean(totals))
    r, g = salt.radial_distribution(counts, 100)
    assert 2.4 < r[g[1].argmax()] < 2.9 and r[g[2].argmax()] > 3.4
