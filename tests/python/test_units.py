"""Quantities and columns with a unit are refused, because nbcc would drop the unit; their numbers are read."""

import numpy as np
import pytest

import nbcc
from conftest import PIPELINES, Cloud

units = pytest.importorskip("astropy.units")
table = pytest.importorskip("astropy.table")

CLOUD = Cloud(20)


@pytest.fixture(scope="module")
def gravity():
    return nbcc.compile(PIPELINES / "gravity.pipe", precision="double")


def test_quantities_name_their_unit(gravity):
    x = CLOUD.x * units.kpc
    with pytest.raises(TypeError, match=r"'xi' .*numbers in 'kpc', which nbcc would drop; \.to_value\(UNIT\) of it is"):
        gravity(x, xj=CLOUD.x, mj=CLOUD.m)
    with pytest.raises(TypeError, match="'eps2' .*numbers in 'kpc2'"):
        gravity(CLOUD.x, xj=CLOUD.x, mj=CLOUD.m, eps2=1e-4 * units.kpc**2)
    expected = gravity(1e3 * CLOUD.x, xj=1e3 * CLOUD.x, mj=CLOUD.m)
    parsecs = x.to_value(units.pc)
    assert np.array_equal(gravity(parsecs, xj=parsecs, mj=CLOUD.m).acc, expected.acc)


def test_columns_name_their_unit(gravity):
    stars = table.Table({"x": CLOUD.x * units.pc, "m": CLOUD.m})
    with pytest.raises(TypeError, match=r"'xi' .*numbers in 'pc', .* \.quantity\.to_value\(UNIT\) of it is read"):
        gravity(stars["x"], xj=CLOUD.x, mj=stars["m"])
    x = stars["x"].quantity.to_value(units.pc)
    assert np.array_equal(gravity(x, xj=x, mj=stars["m"]).acc, gravity(CLOUD.x, xj=CLOUD.x, mj=CLOUD.m).acc)


def test_numbers_without_a_dimension_are_read(gravity):
    x, m = CLOUD.x, CLOUD.m * units.dimensionless_unscaled
    assert np.array_equal(gravity(x, xj=x, mj=m).acc, gravity(x, xj=x, mj=CLOUD.m).acc)
