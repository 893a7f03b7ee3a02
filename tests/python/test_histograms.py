"""Histograms, totals whose elements pairs name: shapes and types, `out`, what a call may choose, statistics."""

import os
import subprocess
import sys

import numpy as np
import pytest

import nbcc
from conftest import Cloud

TEXT = """
input_i vec3 xi; input_i real mi;
input_j vec3 xj; input_j real mj;
param real rc = 1e9;
output(sum) vec3 force;
output(total) index n[500];
output(total) real g[500];
output(total) int few[4];
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc);
force += mj * dx;
int bin = int(sqrt(r2) * 400.0) - 10;
n[bin] += 1;
g[bin] += mi * mj;
few[3] += 2;
if (mj > 0.5) few[int(sqrt(r2) * 4.0) - 1] += 1;
"""


@pytest.fixture(scope="module")
def pipe():
    return nbcc.compile(source=TEXT, precision="double")


class Particles:
    """Masses are multiples of 1/64, so that sums of their products are exact, even as float."""

    def __init__(self, n=60):
        self.x, self.m = Cloud(n).x, np.floor(64 * Cloud(n).m) / 64

    def __iter__(self):
        return iter((self.x, self.m) * 2)

    def expected(self, rows, columns):
        """n, g, few and the number of terms outside, of these pairs."""
        bins = (np.sqrt(((self.x[columns] - self.x[rows]) ** 2).sum(1)) * 400.0).astype(int) - 10
        inside = (bins >= 0) & (bins < 500)
        quarters = (np.sqrt(((self.x[columns] - self.x[rows]) ** 2).sum(1)) * 4.0).astype(int) - 1
        heavy = self.m[columns] > 0.5
        few = np.bincount(quarters[heavy & (quarters >= 0) & (quarters < 4)], minlength=4)
        few[3] += 2 * len(rows)
        outside = 2 * (~inside).sum() + (heavy & ((quarters < 0) | (quarters > 3))).sum()
        weights = (self.m[rows] * self.m[columns])[inside]
        return np.bincount(bins[inside], minlength=500), np.bincount(bins[inside], weights, 500), few, outside

    def check(self, pipe, of, **options):
        n, g, few, _ = self.expected(*of)
        got = pipe(*self, outputs=("n", "g", "few"), **options)
        assert (got.n == n).all() and (got.g == g).all() and (got.few == few).all()


def all_pairs(n):
    return tuple(part.ravel() for part in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))


def test_values_shapes_and_types(pipe):
    particles = Particles()
    n, g, few, outside = particles.expected(*all_pairs(60))
    results = pipe(*particles)
    assert (results.n.shape, results.n.dtype) == ((500,), np.int64) and (results.n == n).all()
    assert (results.g.shape, results.g.dtype) == ((500,), np.float64) and (results.g == g).all()
    assert (results.few.shape, results.few.dtype) == ((4,), np.int64) and (results.few == few).all()
    assert n.sum() > 0 and outside > 0
    single = [array.astype(np.float32) for array in particles]
    assert nbcc.compile(source=TEXT)(*single, outputs="g").dtype == np.float64
    assert "n: total sum index[500]" in repr(pipe)
    assert [field.shape for field in pipe.fields if field.total] == [(500,), (500,), (4,)]


def test_statistics_count_terms_outside():
    particles = Particles()
    pipe = nbcc.compile(source=TEXT, precision="double")
    pipe(*particles)
    assert pipe.statistics()["terms_outside"] == particles.expected(*all_pairs(60))[3]


@pytest.mark.parametrize("name, made", [
    ("n", np.zeros(500, np.int64)), ("n", np.zeros(500, np.int32)), ("n", np.zeros((1, 500), np.int64)),
    ("n", np.zeros((500, 3), np.int64)[:, 1]), ("n", np.zeros(500, np.int64)[::-1]),
    ("g", np.zeros(500)), ("g", np.zeros(500, np.float32)), ("g", np.zeros((500, 3))[::-1, 2]),
])  # fmt: skip
def test_out_and_accumulate(pipe, name, made):
    particles = Particles()
    n, g, _, _ = particles.expected(*all_pairs(60))
    expected = {"n": n, "g": g}[name]
    assert pipe(*particles, outputs=name, out=made) is made
    assert (made.ravel() == expected).all()
    made[...] = made + 1
    pipe(*particles, outputs=name, out=made, accumulate=True)
    assert (made.ravel() == 2 * expected + 1).all()


def test_numbers_between_those_of_out_stay():
    columns = np.full((500, 3), 7.0)
    particles = Particles()
    pipe = nbcc.compile(source=TEXT, precision="double")
    pipe(*particles, outputs="g", out=columns[:, 1])
    assert (columns[:, ::2] == 7).all() and (columns[:, 1] == particles.expected(*all_pairs(60))[1]).all()


@pytest.mark.parametrize("out, message", [
    (np.zeros(499, np.int64), r"expected shape \(500,\) of a total, got \(499,\)"),
    (np.zeros((60, 500), np.int64), r"expected shape \(500,\) of a total, got \(60, 500\)"),
])  # fmt: skip
def test_wrong_out(pipe, out, message):
    with pytest.raises((TypeError, ValueError), match=message):
        pipe(*Particles(), outputs="n", out=out)


def test_out_that_is_an_input():
    """Results are stored when all pairs have been counted."""
    pipe = nbcc.compile(source="input_i real a; input_j real b; output(total) double g[64]; g[int(b)] += double(a);")
    a, b = np.arange(64.0), np.arange(64.0)[::-1].copy()
    pipe(a, b, out=b)
    assert (b == a.sum()).all()


def test_integers_saturate_at_64_bits_and_are_refused_at_32():
    pipe = nbcc.compile(source="input_i int a; input_j int b; output(total) index n[2]; n[b] += a;")
    most = np.iinfo(np.int32).max
    out = np.zeros(2, np.int32)
    pipe(np.array([most - 2, 1]), np.array([1]), out=out)
    assert out.tolist() == [0, most - 1]
    with pytest.raises(nbcc.UsageError, match="output 'n' .* at the limit 2147483647.*; expected an int64 array"):
        pipe(np.array([most, most]), np.array([1]), out=out)
    out = np.array([np.iinfo(np.int64).max - 5, 0])
    pipe(np.array([most]), np.array([0]), out=out, accumulate=True)
    assert out.tolist() == [np.iinfo(np.int64).max, 0]


def test_a_tolerance_is_refused_by_name(pipe):
    with pytest.raises(Exception, match="'n' is a histogram, which needs every pair"):
        pipe(*Particles(), tolerance=1e-3)


def test_runs_of_many_threads():
    """Threads that call one after the other, and at a time."""
    from concurrent.futures import ThreadPoolExecutor

    particles = Particles()
    pipe = nbcc.compile(source=TEXT, precision="double")
    expected = particles.expected(*all_pairs(60))[1]
    columns = np.zeros((500, 24))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda k: pipe(*particles, outputs="g", out=columns[:, k]), range(24)))
    assert (columns == expected[:, None]).all()


# An interpreter that finds no NumPy.
PLAIN = """
import sys
sys.modules["numpy"] = None
import array, nbcc
pipe = nbcc.compile(source="input_i real a; input_j real b; output(total) index n[3]; output(total) double g[3]; "
                           "n[int(a + b)] += 1; g[int(a)] += double(b);")
made = pipe([0, 1], [0, 1, 5])
assert list(made.n) == [1, 2, 1] and list(made.g) == [6, 6, 0], made
out = array.array("q", [1, 1, 1])
pipe([0, 1], [0, 1, 5], outputs="n", out=out, accumulate=True)
assert list(out) == [2, 3, 2], out
"""


def test_without_numpy():
    run = subprocess.run([sys.executable, "-c", PLAIN], capture_output=True, text=True, env=os.environ, timeout=120)
    assert run.returncode == 0, run.stderr
