"""Runs by pair_style nbcc beside those by lj/cut: over many steps, on several ranks, at constant pressure."""

import numpy as np
import pytest

from engine import LOAD, PIPELINES, melt, on_ranks

OURS = f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {PIPELINES}/lennard_jones.pipe rc=2.5\n"
THEIRS = "pair_style lj/cut 2.5\npair_coeff * * 1.0 1.0\n"
THERMO = "thermo_style custom step temp pe etotal press pxy vol\nthermo_modify norm no format float %.15g\n"


def test_energies_of_a_thousand_steps(tmp_path):
    """Errors of rounding grow in this fluid by e about every quarter of a unit of time, of which the run takes 5."""
    run = f"fix 1 all nve\n{THERMO}thermo 100\nrun 1000\n"
    theirs = on_ranks(1, tmp_path, melt() + THEIRS + run)
    ours = on_ranks(1, tmp_path, melt() + OURS + run)
    assert len(ours) == 11 and ours[-1, 0] == 1000
    np.testing.assert_allclose(ours[:6, 1:4], theirs[:6, 1:4], rtol=1e-9)
    np.testing.assert_allclose(ours[:, 1:4], theirs[:, 1:4], rtol=1e-5)
    drift = np.abs(ours[:, 3] - ours[0, 3]).max()
    np.testing.assert_allclose(drift, np.abs(theirs[:, 3] - theirs[0, 3]).max(), rtol=1e-3)


@pytest.mark.parametrize("newton", ["on", "off"])
def test_one_rank_and_four(tmp_path, newton):
    """With newton off a pair of two ranks is in the half lists of both."""
    run = f"fix 1 all nve\n{THERMO}thermo 10\nrun 50\n"
    one, four = (on_ranks(ranks, tmp_path, melt(newton=newton) + OURS + run) for ranks in (1, 4))
    assert len(one) == 6
    np.testing.assert_allclose(four[0, 1:], one[0, 1:], rtol=1e-12, atol=1e-12 * np.abs(one[0, 4]))
    np.testing.assert_allclose(four[:, 1:5], one[:, 1:5], rtol=1e-9)


def test_constant_pressure(tmp_path):
    """The box follows the virial: a wrong one would lead to another volume."""
    run = f"fix 1 all npt temp 1.0 1.0 0.5 iso 1.0 1.0 2.0\n{THERMO}thermo 100\nrun 400\n"
    theirs = on_ranks(1, tmp_path, melt() + THEIRS + run)
    ours = on_ranks(2, tmp_path, melt() + OURS + run)
    assert len(ours) == 5 and abs(ours[-1, 6] / ours[0, 6] - 1) > 1e-3  # the volume changes
    np.testing.assert_allclose(ours[:, [1, 2, 4, 6]], theirs[:, [1, 2, 4, 6]], rtol=1e-7)
