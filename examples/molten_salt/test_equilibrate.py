"""equilibrate.py: charges of few ions are those of a dense matrix by Ewald sums, and many ions have equal levels."""

import math

import numpy as np
import pytest

pytest.importorskip("scipy")

import equilibrate

WIDTH = 1.2


def dense_potential(x, side):
    """[i][j]: the potential at ion i of a Gaussian charge of 1 on ion j and all its images, but not of i's own."""
    d = x - x[:, None]
    d -= side * np.round(d / side)
    alpha = 3.2 / side
    d = d[:, :, None] + side * np.stack(np.meshgrid(*[np.arange(-2, 3)] * 3, indexing="ij"), -1).reshape(-1, 3)
    r = np.linalg.norm(d, axis=3)
    own = r < 1e-9
    r[own] = 1
    erfc = np.vectorize(math.erfc, otypes=[float])
    # The sum of 1/r by Ewald, less the part by which a Gaussian differs from a point charge.
    near = np.where(own, 0, (erfc(alpha * r) - erfc(r / WIDTH)) / r).sum(axis=2)
    k = 2 * np.pi / side * np.stack(np.meshgrid(*[np.arange(-12, 13)] * 3, indexing="ij"), -1).reshape(-1, 3)
    k2 = (k**2).sum(axis=1)
    k, k2 = k[k2 > 0], k2[k2 > 0]
    wave = np.exp(1j * x @ k.T)
    far = (wave * (4 * np.pi / side**3 * np.exp(-k2 / (4 * alpha**2)) / k2)) @ wave.conj().T
    matrix = near + far.real - np.pi / (alpha**2 * side**3)
    return 14.3996455 * (matrix - 2 * alpha / math.sqrt(math.pi) * np.eye(len(x)))


def test_few_ions_have_the_charges_of_a_dense_matrix():
    x, kind, side = equilibrate.draw(64)
    found = equilibrate.solve(x, kind, side, 1e-9, 1e-10)
    n = len(x)
    matrix = np.zeros((n + 1, n + 1))
    matrix[:n, :n] = dense_potential(x, side) + np.diag(equilibrate.HARDNESS[kind])
    matrix[:n, n] = matrix[n, :n] = 1
    exact = np.linalg.solve(matrix, np.append(-equilibrate.ATTRACTION[kind], 0))[:n]
    assert np.abs(found.q - exact).max() < 1e-7
    assert 0.2 < exact[kind == 0].mean() < 0.9


def test_levels_are_equal_to_the_residual():
    x, kind, side = equilibrate.draw(512)
    found = equilibrate.solve(x, kind, side, 1e-8, 1e-4)
    rest = found.levels - found.levels.mean()
    wanted = 1e-4 * np.sqrt(np.mean((equilibrate.ATTRACTION[kind] - equilibrate.ATTRACTION.mean()) ** 2))
    assert np.sqrt(np.mean(rest**2)) < 2 * wanted  # products have errors of their own
    assert abs(found.q.sum()) < 1e-9
    assert found.statistics["error"] <= 1e-8


def test_a_residual_that_no_rounding_allows_is_an_error():
    x, kind, side = equilibrate.draw(64)
    with pytest.raises(RuntimeError, match="GMRES: the residual is not 1e-18 after"):
        equilibrate.solve(x, kind, side, 1e-4, 1e-18)
