"""Arrays of float16 and bfloat16: read in place, summed as float32, and written to if a call asks for it."""

import warnings

import numpy as np
import pytest

import nbcc

TEXT = """
input_i vec3 xi;
input_j vec3 xj;
input_j real mj;
input_j index k;
param   real s[2] = {1, 2};
output(sum) real phi;
output(min) real near;
output(total) real all;
vec3 d = xj - xi;
real r2 = dot(d, d) + 0.25;
phi += mj * s[0] / sqrt(r2) + 0.0 * real(k);
near = min(near, r2);
all += mj;
"""
try:
    from ml_dtypes import bfloat16

    TYPES = [np.float16, bfloat16]
except ImportError:
    TYPES = [np.float16]


@pytest.fixture(scope="module")
def f():
    return nbcc.compile(source=TEXT, name="small.pipe")


def arrays(dtype, n=50):
    random = np.random.default_rng(1)
    x = random.normal(size=(n, 3)).astype(dtype)
    return x, x, random.uniform(0.5, 1, n).astype(dtype), np.arange(n)


@pytest.mark.parametrize("dtype", TYPES)
def test_results_are_those_of_the_same_numbers_in_float32(f, dtype):
    given = arrays(dtype)
    found = f(*given)
    expected = f(*(one.astype("float32") if one.dtype == dtype else one for one in given))
    assert f.info()["last"]["precision"] == "single"
    for one, other in zip(found, expected):
        assert one.dtype == other.dtype and np.array_equal(one, other)
    # Strided, read-only and mixed with other types.
    x, _, m, k = given
    wide = np.zeros((len(x), 7), dtype)
    wide[:, 1:7:2] = x
    wide.flags.writeable = False
    assert np.array_equal(f(wide[:, 1:7:2], x.astype("float32"), m, k).phi, expected.phi)
    assert f(x, x, m.astype("float64"), k).phi.dtype == np.float64


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("precision", ["single", "mixed", "double"])
def test_results_in_the_callers_type_are_rounded_once(dtype, precision):
    f = nbcc.compile(source=TEXT, name="small.pipe", precision=precision)
    given = arrays(dtype)
    exact = f(*given, out=[np.zeros(50), np.zeros(50), np.zeros(1)])
    out = f(*given, out=[np.zeros(50, dtype), np.zeros(50, dtype), np.zeros(1, dtype)])
    for one, other in zip(out, exact):
        assert one.dtype == dtype and np.array_equal(one, other.astype(dtype))
    twice = f(*given, out=out, accumulate=True)
    assert np.array_equal(twice.phi, (exact.phi.astype(dtype).astype(float) + exact.phi).astype(dtype))


def every(dtype):
    """All numbers of a type."""
    return np.arange(2**16, dtype=np.uint16).view(dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_every_number_is_read_and_written(dtype):
    f = nbcc.compile(source="input_i real x; input_j real y; output(max) real z; z = max(z, x * y);", precision="double")
    numbers = every(dtype)
    number = numbers[np.isfinite(numbers.astype("float32"))]
    if dtype is not np.float16:  # JAX makes threads that flush such floats to 0
        number = number[(np.abs(number.astype("float32")) >= 2.0**-126) | (number == 0)]
    assert np.array_equal(f(number, np.ones(1), out=np.zeros(len(number))), number.astype(float))
    out = f(number, np.ones(1), out=np.zeros(len(number), dtype))
    assert np.array_equal(out.view(np.uint16)[number != 0], number.view(np.uint16)[number != 0])
    # Halfway between two numbers, a little off, and beyond the largest; NumPy rounds from double once.
    random = np.random.default_rng(2)
    x = np.concatenate([number.astype(float) * (1 + 2.0**-k) for k in (4, 8, 9, 11, 12, 20)] + [random.normal(size=9999)])
    x = x[np.abs(x) < 1e38]
    if dtype is np.float16:
        x = x[np.abs(x) < 65520]
        expected = x.astype(dtype)
    else:  # ml_dtypes rounds by way of float32
        bits = x.astype(np.float32).view(np.uint32)
        inexact = x.astype(np.float32) != x
        expected = x.astype(dtype)
        x, expected = x[~inexact], expected[~inexact]
        assert len(bits) > len(x) > 1000
    assert np.array_equal(f(x, np.ones(1), out=np.zeros(len(x), dtype)), expected)


def test_special_numbers():
    f = nbcc.compile(source="input_i real x; input_j real y; output(sum) real z; z += x * y;", precision="single")
    for dtype in TYPES:
        special = np.array([np.nan, np.inf, -np.inf, 0.0], dtype)
        for out in (np.zeros(4, "float32"), np.zeros(4, dtype)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # nbcc warns of such results
                found = f(special, np.ones(1, dtype), out=out).astype("float32")
            assert np.array_equal(found, special.astype("float32"), equal_nan=True)
    huge = f(np.array([1e30], "float32"), np.ones(1, "float32"), out=np.zeros(1, np.float16))
    assert huge[0] == np.inf


def test_tensors(f):
    torch = pytest.importorskip("torch")
    x, _, m, k = arrays(np.float16)
    for dtype in (torch.float16, torch.bfloat16):
        given = [torch.tensor(one.astype("float32")).to(dtype) for one in (x, m)]
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # nothing is converted
            found = f(given[0], given[0], given[1], torch.tensor(k)).phi
        expected = f(given[0].float(), given[0].float(), given[1].float(), torch.tensor(k)).phi
        assert found.dtype == torch.float32 and torch.equal(found, expected)
        out = torch.zeros(len(x), dtype=dtype)
        f(given[0], given[0], given[1], torch.tensor(k), outputs="phi", out=out)
        assert torch.equal(out, expected.to(dtype))


def test_arrays_of_jax(f):
    jax = pytest.importorskip("jax")
    for dtype in TYPES:
        x, _, m, k = arrays(dtype)
        expected = f(x, x, m, k).phi
        found = f(jax.numpy.asarray(x), jax.numpy.asarray(x), jax.numpy.asarray(m), jax.numpy.asarray(k.astype("int32"))).phi
        assert isinstance(found, jax.Array) and np.array_equal(found, expected)
        jitted = jax.jit(lambda x, m, k: f(x, x, m, k).phi)
        assert np.array_equal(jitted(jax.numpy.asarray(x), jax.numpy.asarray(m), jax.numpy.asarray(k.astype("int32"))), expected)


def test_derivatives_by_jax(f):
    jax = pytest.importorskip("jax")
    for dtype in TYPES:
        x, m, k = (jax.numpy.asarray(one) for one in (arrays(dtype)[0], arrays(dtype)[2], arrays(dtype)[3].astype("int32")))
        found = jax.grad(lambda x: f(x, x, m, k).phi.sum())(x)
        wide = [one.astype("float32") for one in (x, m)]
        expected = jax.grad(lambda x: f(x, x, wide[1], k).phi.sum())(wide[0])
        assert found.dtype == x.dtype and np.allclose(found.astype("float32"), expected, rtol=0.01, atol=0.05)


def test_whole_numbers_are_no_small_floats(f):
    x, _, m, _ = arrays(np.float16)
    with pytest.raises(TypeError, match=r"'k' \(input_j index\): expected int32 or int64, got float16"):
        f(x, x, m, m)
