"""Lengths of arrays that are params of a text, and are those of the arrays of a call."""

import pickle

import numpy as np
import pytest

import nbcc

TEXT = """
/* param int D = 5; */
param int D = 64;  // of the arrays; param int D = 7;
input_i real x[D];
input_j real y[D];
input_j real b;
param   real c[D];
param   real s = 2;
output(sum) real k;
output(sum) real g[D];
real d[D] = (x - y) * c / s;
real q = b * exp(-sum(d * d));
k += q;
for (int n = 0; n < D; ++n) g[n] += q * d[n];
"""


@pytest.fixture(scope="module")
def kernel():
    return nbcc.compile(source=TEXT, name="gauss.pipe", precision="double")


def arrays(D, n=7, m=9):
    random = np.random.default_rng(D)
    return random.normal(size=(n, D)), random.normal(size=(m, D)), random.normal(size=m), random.uniform(0.1, 1, D) / D


def expected(x, y, b, c, s=2.0):
    d = (x[:, None] - y) * c / s
    q = b * np.exp(-(d * d).sum(-1))
    return q.sum(1), (q[..., None] * d).sum(1)


@pytest.mark.parametrize("D", [64, 3, 1, 100])
def test_lengths_are_those_of_the_arrays(kernel, D):
    x, y, b, c = arrays(D)
    for found in (kernel(x, y, b, c), kernel(x, y=y, b=b, c=c.tolist(), D=D), kernel.bind(y, b)(x, c), kernel.bind(y=y, b=b)(x, c=c)):
        for one, other in zip(found, expected(x, y, b, c)):
            assert one.shape == other.shape and np.allclose(one, other, rtol=1e-12, atol=1e-14)


def test_each_length_is_compiled_once(kernel):
    before = dict(kernel._of_sizes)
    kernel(*arrays(11))
    made = {text: one for text, one in kernel._of_sizes.items() if text not in before}
    ((text, one),) = made.items()
    assert text == kernel.text.replace("D = 64", "D = 11").encode() and one.fields[0].type == "real[11]"
    kernel(*arrays(11), s=3.0)
    kernel(*arrays(64))
    assert kernel._of_sizes == {**before, **made}
    x, y, b, c = arrays(6)
    assert np.allclose(pickle.loads(pickle.dumps(kernel))(x, y, b, c).k, expected(x, y, b, c)[0], rtol=1e-12)


def test_errors_are_those_of_the_length(kernel):
    x, y, b, c = arrays(5)
    with pytest.raises(ValueError, match=r"'y' \(input_j real\[5\]\): expected shape \(N, 5\), got \(9, 6\)"):
        kernel(x, arrays(6)[1], b, c)
    with pytest.raises(ValueError, match=r"expected shape \(N, 8\), got \(7, 5\)"):
        kernel(x, y, b, c, D=8)
    with pytest.raises(ValueError, match=r"gauss\(\): D: expected an integer"):
        kernel(x, y, b, c, D=0)
    with pytest.raises(nbcc.CompileError, match="an array may have 1 to 1024 elements, not 2000"):
        kernel(np.zeros((2, 2000)), np.zeros((2, 2000)), np.zeros(2), np.zeros(2000))
    with pytest.raises(TypeError, match="gauss.* lacks its param real.64. c"):
        kernel(np.zeros((2, 64)), np.zeros((2, 64)), np.zeros(2))


def test_a_param_that_is_no_length_is_one_of_the_run():
    f = nbcc.compile(source="input_i real x;\ninput_j real y;\nparam int n = 3;\noutput(sum) real s;\ns += n * x * y;", precision="double")
    assert f([1.0], [2.0], n=5).tolist() == [10.0]


def test_derivatives_of_tensors(kernel):
    torch = pytest.importorskip("torch")
    x, y, b, c = (torch.tensor(one, requires_grad=True) for one in arrays(4))
    kernel(x, y, b, c).k.sum().backward()
    d = (x[:, None] - y) * c / 2.0
    by_torch = torch.autograd.grad((b * torch.exp(-(d * d).sum(-1))).sum(), (x, y, b, c))
    for one, other in zip((x, y, b, c), by_torch):
        assert torch.allclose(one.grad, other, rtol=1e-10, atol=1e-13)
