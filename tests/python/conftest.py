"""What the tests of the Python package share: pipelines of the library, particles, a reference and its tolerance."""

import os
import pathlib
import tempfile

# Kernels of the tests are not the user's.
_cache = tempfile.TemporaryDirectory(prefix="nbcc-python-test-")
os.environ["NBCC_CACHE_DIR"] = _cache.name

import numpy as np  # noqa: E402
import pytest  # noqa: E402

import nbcc  # noqa: E402
import sampling  # noqa: E402


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(sampling.SAYS)


PIPELINES = pathlib.Path(__file__).resolve().parents[2] / "pipelines"
ROUNDINGS = 64  # see tests/support/tolerance.h
EPSILON = {"single": np.finfo(np.float32).eps, "mixed": np.finfo(np.float32).eps, "double": np.finfo(np.float64).eps}
EPS2 = 1e-2


def within(got, expected, terms, precision="single"):
    """NaN must be met exactly; all else within a few roundings of the sum of |term|."""
    got, expected = np.asarray(got, np.float64), np.asarray(expected, np.float64)
    assert got.shape == expected.shape
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    bound = ROUNDINGS * EPSILON[precision] * np.asarray(terms, np.float64)
    assert np.all(same | (np.abs(got - expected) <= bound)), np.max(np.abs(got - expected) / bound)


class Gravity:
    """Softened gravity in double precision: acc, pot, and the sums of |term| of both."""

    def __init__(self, xi, xj, mj, eps2=EPS2):
        xi, xj, mj = (np.asarray(a, np.float64) for a in (xi, xj, mj))
        dx = xj[None, :, :] - xi[:, None, :]
        r2 = np.sum(dx * dx, axis=2) + eps2
        pull = (mj / r2**1.5)[:, :, None] * dx
        self.acc, self.acc_terms = pull.sum(axis=1), np.abs(pull).sum(axis=1)
        self.pot, self.pot_terms = -(mj / np.sqrt(r2)).sum(axis=1), (mj / np.sqrt(r2)).sum(axis=1)

    def check(self, acc, pot, precision="single"):
        within(acc, self.acc, self.acc_terms, precision)
        within(pot, self.pot, self.pot_terms, precision)


class Cloud:
    """n particles in a unit cube, positions that single precision represents."""

    def __init__(self, n, seed=1):
        random = np.random.default_rng(seed)
        self.x = random.random((n, 3)).astype(np.float32).astype(np.float64)
        self.m = (random.random(n) + 0.5).astype(np.float32).astype(np.float64)


@pytest.fixture(scope="session")
def gravity():
    return nbcc.compile(PIPELINES / "gravity.pipe")


@pytest.fixture(scope="session")
def nearest():
    return nbcc.compile(PIPELINES / "nearest_neighbour.pipe")


# Fields of whole numbers, vectors of two, arrays of vectors, params of several components, finish().
TYPES = """
input_i vec2 ends[2];
input_i int  kind_i;
input_j vec2 pj;
input_j int  kind_j;
param   vec2 shift;
param   int  scale = 2;
output(sum) vec2 d[2];
output(sum) int  same;
output(max) real far;
vec2 a = pj + shift - ends[0];
vec2 b = pj + shift - ends[1];
d[0] += a;
d[1] += b;
if (kind_i == kind_j) same += 1;
far = max(far, dot(a, a));
void finish() { far = sqrt(far) * scale; }
"""


@pytest.fixture(scope="session")
def types():
    return nbcc.compile(source=TYPES, name="types.pipe")
