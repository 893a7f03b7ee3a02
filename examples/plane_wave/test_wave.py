"""wave.py: a plane wave of gravity grows as in Zeldovich's solution, the nearer the more particles there are."""

import pytest

import wave


def test_growth_is_zeldovichs():
    ratios = {}
    for n in (6, 10):
        a, found, exact = list(wave.grow(n, 12, 3.0, 1e-4))[-1]
        assert a == pytest.approx(3)
        ratios[n] = abs(found / exact - 1)
    assert ratios[10] < 0.03 and ratios[10] < ratios[6]
