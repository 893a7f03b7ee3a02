"""grains.py: a collision as LAMMPS computes it, histories when lists change, a heap that begins to settle."""

import os

import numpy as np
import pytest

import grains
import nbcc

HERE = os.path.dirname(os.path.abspath(__file__))


def test_a_collision_is_that_of_lammps():
    rows = np.loadtxt(os.path.join(HERE, "collision_lammps.txt")).reshape(-1, 2, 11)
    start = rows[0]
    two = grains.Grains(
        start[:, 2:5], start[:, 5:8], [0.6, 0.5], np.array([1.5, 2.0]),
        grains.Material(kn=20000.0, kt=8000.0, gn=30.0, gt=15.0, mu=0.4), dt=0.0002, skin=0.3,
    )  # fmt: skip
    two.w[:] = start[:, 8:11]
    slips = []
    for frame, now in enumerate(rows):
        np.testing.assert_allclose(np.c_[two.x, two.v, two.w], now[:, 2:], atol=2e-10, err_msg=f"frame {frame}")
        for _ in range(200):
            two.step()
            slips.append(np.abs(two.slip).max() if len(two.slip) else 0.0)
    assert max(slips) > 1e-3 and slips[-1] == 0  # they touched and parted
    assert two.searches > 1


def test_histories_follow_their_pairs():
    random = np.random.default_rng(5)

    def lists(n, most):
        rows = [random.integers(0, n, random.integers(0, most)) for _ in range(n)]
        return np.cumsum([0, *map(len, rows)]), np.concatenate([*rows, np.zeros(0, int)]).astype(int)

    for trial in range(50):
        n = int(random.integers(1, 8))
        old, new = lists(n, 6), lists(n, 6)
        value = random.normal(size=(len(old[1]), 2))
        weight = random.normal(size=len(old[1]))
        got, got_weight = nbcc.carry_pairs(old, nbcc.Rows(*new), value, weight)
        for i in range(n):
            seen = {}
            for p in range(new[0][i], new[0][i + 1]):
                j = new[1][p]
                of_j = [q for q in range(old[0][i], old[0][i + 1]) if old[1][q] == j]
                k = seen[j] = seen.get(j, -1) + 1
                expected = value[of_j[k]] if k < len(of_j) else np.zeros(2)
                assert (got[p] == expected).all(), (trial, i, p)
                assert got_weight[p] == (weight[of_j[k]] if k < len(of_j) else 0)
    with pytest.raises(ValueError, match="old has 1 i-particles, new has 2"):
        nbcc.carry_pairs(([0, 0], []), ([0, 0, 0], []))
    with pytest.raises(ValueError, match=r"expected values of 1 pairs, got shape \(2,\)"):
        nbcc.carry_pairs(([0, 1], [0]), ([0, 1], [0]), [1, 2])


def test_spheres_settle_on_the_floor():
    heap = grains.falling(7, n=60, side=3.0)
    for _ in range(6000):
        heap.step()
    assert heap.searches > 3
    assert (heap.x[:, 2] > 0.4).all()
    # Some move a little; the floor carries nearly all of their weight.
    weight = heap.gravity * heap.mass.sum()
    assert abs(heap.force[:, 2].sum()) < 0.3 * weight
    assert 2.5 < heap.contacts.mean() < 6
    # Forces of pairs are opposite, but for rounding.
    pairs = heap.force.copy()
    pairs[:, 2] += heap.gravity * heap.mass
    assert np.abs(heap.slip).max() > 0
