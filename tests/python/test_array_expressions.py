"""Arithmetic of whole arrays in a text, against NumPy, in every precision and for short and long arrays."""

import numpy as np
import pytest

import nbcc

TEXT = """
const int D = {D};
input_i real x[D];
input_j real y[D];
input_j real b[D];
input_j real w;
param   real s = 1.5;
output(sum) real k;
output(sum) real g[D];
output(sum) real z;
output(min) real m[D];

real d[D] = x - y;
real q = w * exp(-dot(d, d) / (2 * D * s * s));
k += q * sum(b);
g += q * (b - 2.0 * d / (1.0 + abs(x)));
z += length(select(d > 0.0, d, -d) + max(x, y)) + sum(clamp(d, -0.5, 0.5)) + sum(d > 1.0);
real u[D];
u = 2 * x;
u += y;
u /= abs(y) + 3.0;
m = min(m, u);
"""


@pytest.mark.parametrize("precision, digits", [("single", 3e-5), ("mixed", 3e-5), ("double", 1e-12)])
@pytest.mark.parametrize("D", [1, 3, 10, 64, 200])
def test_arrays_of_any_length(D, precision, digits):
    f = nbcc.compile(source=TEXT.format(D=D), precision=precision)
    random = np.random.default_rng(D)
    # Of few bits, so that comparisons have no roundings.
    x, y, b = (np.round(random.normal(size=(n, D)) * 64) / 64 for n in (20, 30, 30))
    w = random.normal(size=30)
    found = f(x, y, b, w)
    d = x[:, None] - y
    q = w * np.exp(-(d * d).sum(-1) / (2 * D * 1.5**2))

    def same(a, b, scale):
        assert np.allclose(a, b, rtol=0, atol=digits * np.abs(scale).max())

    same(found.k, (q * b.sum(-1)).sum(1), np.abs(q * np.abs(b).sum(-1)).sum(1))
    same(found.g, (q[..., None] * (b - 2 * d / (1 + abs(x))[:, None])).sum(1), 30)
    length = np.sqrt(((abs(d) + np.maximum(x[:, None], y)) ** 2).sum(-1))
    z = length + np.clip(d, -0.5, 0.5).sum(-1) + (d > 1).sum(-1)
    same(found.z, z.sum(1), np.abs(z).sum(1) + D)
    same(found.m, ((2 * x[:, None] + y) / (abs(y) + 3)).min(1), 1)
