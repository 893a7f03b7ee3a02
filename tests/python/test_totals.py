"""Totals, outputs with one value for the run: shapes of results and of `out`, what a call may choose, options."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

import nbcc
from conftest import Cloud, within

TEXT = """
input_i vec3 xi; input_i real mi; input_i int ki;
input_j vec3 xj; input_j real mj; input_j int kj;
param real rc = 1e9; param real eps2 = 0.01;
output(sum) vec3 force;
output(total) real energy;
output(total) vec3 square;
output(total) vec2 table[2];
output(total, min) real least;
output(total, max) int most;
output(total, count) index pairs;
output(total, logsumexp) real z;
output(total, product) real q;
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc);
real u = -mi * mj / sqrt(r2 + eps2);
force += mj * dx;
energy += 0.5 * u;
square += dx * dx;
table[0] += vec2(1.0, mi);
table[1] += vec2(mj, r2);
least = min(least, u);
most = max(most, kj - ki);
pairs += r2 < 0.25;
z = logsumexp(z, -r2);
q *= 1.0 + 0.001 * r2;
"""
SCALARS = ("energy", "least", "most", "pairs", "z", "q")


@pytest.fixture(scope="module")
def pipe():
    return nbcc.compile(source=TEXT, precision="double")


class Particles:
    def __init__(self, n=30):
        cloud = Cloud(n)
        self.x, self.m, self.k = cloud.x, cloud.m, np.arange(n) % 7

    def __iter__(self):
        return iter((self.x, self.m, self.k) * 2)

    def expected(self, i=slice(None), of=None):
        """Each total of the pairs of these i; of: pairs that count, as a mask (i, j)."""
        dx = self.x[None] - self.x[i, None]
        of = np.ones(dx.shape[:2], bool) if of is None else of
        r2 = (dx**2).sum(-1)
        u = -self.m[i, None] * self.m[None] / np.sqrt(r2 + 0.01)
        k = np.broadcast_to(self.k[None], of.shape) - self.k[i, None]
        mi, mj = (np.broadcast_to(m, of.shape) for m in (self.m[i, None], self.m[None]))
        return {
            "energy": 0.5 * u[of].sum(),
            "square": np.array([math.fsum(column) for column in (dx**2)[of].T]),
            "table": np.array([[of.sum(), mi[of].sum()], [mj[of].sum(), r2[of].sum()]]),
            "least": u[of].min(initial=np.inf),
            "most": k[of].max(initial=np.iinfo(np.int64).min),
            "pairs": (r2[of] < 0.25).sum(),
            "z": np.log(np.exp(-r2[of]).sum()) if of.any() else -np.inf,
            "q": (1 + 0.001 * r2[of]).prod(),
        }


def check(results, expected):
    for name, value in expected.items():
        # Each factor of a product is rounded.
        terms = np.abs(value) * (max(expected["table"][0, 0], 1) if name == "q" else 1)
        within(getattr(results, name), value, terms, "double")


def test_values_and_shapes(pipe):
    particles = Particles()
    results = pipe(*particles)
    check(results, particles.expected())
    assert results.force.shape == (30, 3)
    assert results.square.shape == (3,) and results.table.shape == (2, 2)
    for name in SCALARS:
        value = getattr(results, name)
        assert np.isscalar(value) and value.dtype == (np.int64 if name in ("most", "pairs") else np.float64)


def test_totals_are_double_whatever_the_arrays_are():
    particles = Particles(3000)
    x, m, k = particles.x.astype(np.float32), particles.m.astype(np.float32), particles.k
    pipe = nbcc.compile(source=TEXT)
    single = pipe(x, m, k, x, m, k, outputs=("force", "energy", "square", "z"))
    assert single.force.dtype == np.float32
    assert single.energy.dtype == single.square.dtype == single.z.dtype == np.float64
    # The same values of i, added up: float32 would round them to seven digits.
    x, m = x.astype(np.float64), m.astype(np.float64)
    double = pipe(x, m, k, x, m, k, precision="single", outputs=("energy", "square"))
    assert double.energy == single.energy and (double.square == single.square).all()
    assert single.energy != np.float32(single.energy)


def test_fields_and_the_text_of_a_pipeline_say_total(pipe):
    assert [field.name for field in pipe.fields if field.total] == [
        "energy", "square", "table", "least", "most", "pairs", "z", "q"]  # fmt: skip
    assert "force: sum vec3, energy: total sum real" in repr(pipe) and "least: total min real" in repr(pipe)


@pytest.mark.parametrize("name, shape", [("energy", ()), ("energy", (1,)), ("energy", (1, 1)), ("square", (3,)),
                                         ("square", (1, 3)), ("table", (2, 2)), ("table", (1, 2, 2)),
                                         ("table", (1, 4)), ("pairs", ()), ("most", (1,))])  # fmt: skip
def test_out(pipe, name, shape):
    particles = Particles()
    out = np.zeros(shape, np.int64 if name in ("pairs", "most") else np.float64)
    assert pipe(*particles, outputs=name, out=out) is out
    value = particles.expected()[name]
    within(out, np.reshape(value, shape), np.abs(np.reshape(value, shape)), "double")


def test_out_with_strides(pipe):
    particles = Particles()
    value = particles.expected()["square"]
    for out in (np.zeros((3, 2))[:, 1], np.zeros(3)[::-1]):
        pipe(*particles, outputs="square", out=out)
        within(out, value, value, "double")


@pytest.mark.parametrize("name, out, message", [
    ("energy", np.zeros(30), r"'energy' \(output real\): expected shape \(\) of a total, got \(30,\)"),
    ("energy", np.zeros(0), r"expected shape \(\) of a total, got \(0,\)"),
    ("square", np.zeros((30, 3)), r"expected shape \(3,\) of a total, got \(30, 3\)"),
    ("square", np.zeros((3, 1)), r"expected shape \(3,\) of a total, got \(3, 1\)"),
    ("square", np.zeros(1), r"expected shape \(3,\), got \(1,\)"),
    ("table", np.zeros(4), r"expected shape \(2, 2\) of a total, got \(4,\)"),
    ("table", np.zeros((2, 2)).T, r"expected shape \(2, 2\), got \(2, 2\) with strides \(8, 16\)"),
    ("energy", np.float64(3), "an array that can be written"),
    ("energy", 3.0, "expected an array, got float"),
    ("energy", np.zeros((), np.int64), "expected float16, bfloat16, float32 or float64, got int64"),
])  # fmt: skip
def test_wrong_out(pipe, name, out, message):
    with pytest.raises((TypeError, ValueError), match=message):
        pipe(*Particles(), outputs=name, out=out)


def test_out_that_shares_memory(pipe):
    block = np.zeros(4)
    with pytest.raises(ValueError, match="'square' .*shares memory with output 'energy'"):
        pipe(*Particles(), outputs=("energy", "square"), out=(block[:1], block[:3]))


def test_accumulate(pipe):
    particles = Particles()
    names = ("energy", "square", "least", "most", "pairs", "z", "q")
    value = particles.expected()
    out = (np.array(5.0), np.array([1.0, 2, 3]), np.array(-1e9), np.array(-50), np.array(7), np.array(2.0), np.array(3.0))
    pipe(*particles, outputs=names, out=out, accumulate=True)
    combined = (value["energy"] + 5, value["square"] + [1, 2, 3], -1e9, value["most"], value["pairs"] + 7,
                np.logaddexp(2, value["z"]), 3 * value["q"])  # fmt: skip
    for got, expected in zip(out, combined):
        within(got, expected, np.abs(expected), "double")
    with pytest.raises(TypeError, match="accumulate= needs out=, for 'energy' too"):
        pipe(*particles, outputs="energy", accumulate=True)


def test_finish_adds_values_of_i():
    pipe = nbcc.compile(source="""input_i real a; input_j real b; output(sum) real s; output(total) real e;
        output(total, max) real m; s += a * b; m = max(m, b);
        void finish() { e += sqrt(s); if (a > 2) m = max(m, 10 * a); }""", precision="double")  # fmt: skip
    a, b = np.array([1.0, 2, 3]), np.array([0.5, 0.25])
    results = pipe(a, b)
    within(results.e, np.sqrt(0.75 * a).sum(), 4, "double")
    assert results.m == 30


def test_a_tolerance():
    text = """input_i vec3 xi; input_i real mi; input_j vec3 xj; input_j real mj; param real eps2 = 1e-4;
        output(sum) real pot; output(total) real energy; vec3 dx = xj - xi; real r = sqrt(dot(dx, dx) + eps2);
        pot -= mj / r; energy -= mi * mj / r;"""
    pipe = nbcc.compile(source=text, precision="double")
    cloud = Cloud(20000)
    exact, near = (pipe(cloud.x, cloud.m, cloud.x, cloud.m, tolerance=t) for t in (None, 1e-5))
    assert abs(near.energy - (cloud.m * near.pot).sum()) < 1e-10 * abs(exact.energy)
    assert abs(near.energy - exact.energy) < 1e-5 * abs(exact.energy)


# An interpreter that finds no NumPy.
PLAIN = f"""
import sys
sys.modules["numpy"] = None
import array, nbcc
pipe = nbcc.compile(source={TEXT!r}, precision="double")
x, m, k = [[0, 0, 0], [3, 4, 0]], [1, 2], array.array("q", [1, 5])
made = pipe(x, m, k, x, m, k, eps2=0)
assert type(made.pairs) is int and made.pairs == 2, made.pairs
assert type(made.most) is int and made.most == 4
made = pipe(x, m, k, x, m, k, outputs=("square", "table", "q"))
assert list(made.square) == [18, 32, 0], list(made.square)
assert made.table.tolist() == [[4, 6], [6, 50]], made.table.tolist()
assert type(made.q) is float and abs(made.q - 1.025**2) < 1e-12
out = array.array("d", [1])
pipe(x, m, k, x, m, k, eps2=1, outputs="energy", out=out, accumulate=True)
assert abs(out[0] - (1 - 0.5 * (1 + 4) - 2 / 26**0.5)) < 1e-12, out
"""


def test_without_numpy():
    run = subprocess.run([sys.executable, "-c", PLAIN], capture_output=True, text=True, env=os.environ, timeout=120)
    assert run.returncode == 0, run.stderr
