"""Functions of Python as pipelines (@nbcc.pipeline): their results against NumPy, their texts, their errors."""

import inspect
import pickle
import warnings

import numpy as np
import pytest

import nbcc

random = np.random.default_rng(7)


@nbcc.pipeline
def gauss(x: nbcc.I[...], y: nbcc.J[...], b: nbcc.J, s: nbcc.Param = 1.0):
    """A Gaussian sum."""
    return nbcc.sum(b * nbcc.exp(-((x - y) ** 2).sum() / (2 * s * s)))


def points(d, ni=23, nj=19):
    return random.normal(size=(ni, d)), random.normal(size=(nj, d)), random.normal(size=nj)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 40, 200])
def test_gaussian_sum(d):
    x, y, b = points(d)
    expected = np.exp(-((x[:, None] - y) ** 2).sum(2) / (2 * 0.7**2)) @ b
    np.testing.assert_allclose(gauss(x, y, b, s=0.7), expected, rtol=1e-12, atol=1e-15)
    assert gauss(x.astype("f4"), y.astype("f4"), b.astype("f4"), 0.7).dtype == np.float32


def test_text_and_signature():
    x, y, b = points(3)
    gauss(x, y, b)
    assert gauss.text == (
        "input_i vec3 x;\n"
        "input_j vec3 y;\n"
        "input_j real b;\n"
        "param real s = 1.0;\n"
        "output(sum) real result;\n"
        "real t1 = 0;\n"
        "for (int k = 0; k < 3; ++k) t1 += (x[k] - y[k]) * (x[k] - y[k]);\n"
        "result += b * exp(-t1 / (2 * s * s));\n"
    )
    assert gauss.__doc__ == "A Gaussian sum." and list(inspect.signature(gauss).parameters) == ["x", "y", "b", "s"]
    assert gauss.pipeline(x, y, b) is gauss.pipeline(x + 1, y, b)  # the function is not traced again
    assert gauss.pipeline(*points(5)) is not gauss.pipeline(x, y, b)


def test_every_reduction():
    @nbcc.pipeline
    def many(x: nbcc.I[...], y: nbcc.J[...], b: nbcc.J):
        d = x - y
        r2 = d.dot(d)
        near, far = nbcc.argmin(r2, k=4), nbcc.argmax(r2)
        bin = nbcc.to_int(r2)
        return {
            "sum": nbcc.sum(d * b),
            "least": nbcc.min(r2),
            "greatest": nbcc.max(d),
            "near": near,
            "near_r2": near.at(r2),
            "near_d": near.at(d[1:4]),
            "far": far,
            "far_d": far.at(d[:2]),
            "log": nbcc.logsumexp(-r2),
            "mean": nbcc.softmax(-r2, d),
            "product": nbcc.product(1 + 0.01 * b),
            "count": nbcc.count(r2 < 9),
            "where": nbcc.sum(b, where=r2 < 9),
            "bins": nbcc.histogram(bin, 30),
            "weights": nbcc.histogram(bin, 30, weight=b),
            "all_bins": nbcc.histogram(bin, 30, total=True),
            "energy": nbcc.sum(b * r2, total=True),
            "closest": nbcc.min(r2, total=True),
        }

    x, y, b = points(5)
    got = many(x, y, b)
    d = x[:, None] - y
    r2 = (d**2).sum(2)
    order, w = np.argsort(r2, axis=1)[:, :4], np.exp(-r2)
    far = r2.argmax(1)
    bins = [[(r2[i].astype(int) == k).sum() for k in range(30)] for i in range(len(x))]
    expected = {
        "sum": (d * b[:, None]).sum(1),
        "least": r2.min(1),
        "greatest": d.max(1),
        "near": order,
        "near_r2": np.take_along_axis(r2, order, 1),
        "near_d": np.take_along_axis(d, order[..., None], 1)[..., 1:4],
        "far": far,
        "far_d": d[np.arange(len(x)), far, :2],
        "log": np.log(w.sum(1)),
        "mean": (w[..., None] * d).sum(1) / w.sum(1)[:, None],
        "product": np.full(len(x), (1 + 0.01 * b).prod()),
        "count": (r2 < 9).sum(1),
        "where": np.where(r2 < 9, b, 0).sum(1),
        "bins": bins,
        "weights": [[b[r2[i].astype(int) == k].sum() for k in range(30)] for i in range(len(x))],
        "all_bins": np.sum(bins, axis=0),
        "energy": (b * r2).sum(),
        "closest": r2.min(),
    }
    assert list(got) == list(expected)
    for name, value in expected.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-11, atol=1e-13, err_msg=name)


def test_results_computed_of_sums():
    @nbcc.pipeline
    def mean(x: nbcc.I[...], y: nbcc.J[...]):
        w = nbcc.exp(-((x - y) ** 2).sum())
        s = nbcc.sum(w)
        return nbcc.sum(w * (x - y)) / s, nbcc.sqrt(s) + x[0]

    for d in (1, 3, 6):
        x, y, _ = points(d)
        w = np.exp(-((x[:, None] - y) ** 2).sum(2))
        of_mean, root = mean(x, y)
        expected = (w[..., None] * (x[:, None] - y)).sum(1) / w.sum(1)[:, None]
        np.testing.assert_allclose(of_mean, expected, rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(root, np.sqrt(w.sum(1)) + x[:, 0], rtol=1e-12)


def test_derivatives():
    @nbcc.pipeline
    def slopes(x: nbcc.I[...], y: nbcc.J[...], b: nbcc.J, a: nbcc.Param):
        d = x - y
        u = b * nbcc.exp(-a * d.dot(d))
        by = [nbcc.sum(nbcc.grad(u, v)) for v in (x, d, a)]
        return *by, nbcc.sum(nbcc.ddt(u, x, y, b, 2.0))

    for d in (1, 3, 7):
        x, y, b = points(d)
        by_x, by_d, by_a, rate = slopes(x, y, b, a=0.3)
        dx = x[:, None] - y
        w = np.exp(-0.3 * (dx**2).sum(2))
        g = -0.6 * dx * (w * b)[..., None]
        np.testing.assert_allclose(by_x, g.sum(1), rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(by_d, g.sum(1), rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(by_a, -((dx**2).sum(2) * w) @ b, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(rate, (g * y).sum((1, 2)) + 2 * w.sum(1), rtol=1e-11, atol=1e-13)


def test_functions_by_element():
    @nbcc.pipeline
    def of_elements(x: nbcc.I[...], y: nbcc.J[...], z: nbcc.J):
        d = x - y
        parts = [
            nbcc.fmod(d, 2.0),
            d % 0.7,
            d // 0.3,
            nbcc.where(d > 0, d, -2 * d),
            nbcc.clamp(d, -1.0, 1.0),
            np.tanh(d) + np.exp(z),
            d.max() + d.min() + d.prod() + d.mean() + d.norm() + d.argmax() + 10 * d.argmin() + 0 * d,
            nbcc.max(d, z) - nbcc.min(1.5, d),
            abs(d) ** 1.5,
            nbcc.concatenate(d[1:], z),
            nbcc.concatenate(d[::2], d[1::2]) * [1, 2, 3, 4],
            d[0] * d + d[3] * nbcc.exp(z) * d,
            nbcc.stack(*d) + nbcc.where((d > 0) & ~(z > 0) | (d == 1), 1, 0),
        ]
        return tuple(nbcc.sum(part) for part in parts)

    x, y, z = points(4)
    d = x[:, None] - y
    w = np.broadcast_to(z[None, :, None], d.shape)
    number = d.max(2) + d.min(2) + d.prod(2) + d.mean(2) + np.sqrt((d**2).sum(2)) + d.argmax(2) + 10 * d.argmin(2)
    expected = [
        np.fmod(d, 2),
        d % 0.7,
        d // 0.3,
        np.where(d > 0, d, -2 * d),
        d.clip(-1, 1),
        np.tanh(d) + np.exp(w),
        np.repeat(number[..., None], 4, 2),
        np.maximum(d, w) - np.minimum(1.5, d),
        abs(d) ** 1.5,
        np.concatenate([d[..., 1:], w[..., :1]], 2),
        np.concatenate([d[..., ::2], d[..., 1::2]], 2) * [1, 2, 3, 4],
        d[..., :1] * d + d[..., 3:] * np.exp(w) * d,
        d + ((d > 0) & ~(w > 0)),
    ]
    for k, (got, value) in enumerate(zip(of_elements(x, y, z), expected)):
        np.testing.assert_allclose(got, value.sum(1), rtol=1e-10, atol=1e-12, err_msg=str(k))


def test_guards_tables_and_images():
    @nbcc.pipeline
    def mixture(
        x: nbcc.I[3], y: nbcc.J[3], ti: nbcc.I, tj: nbcc.J, e: nbcc.Param[3, 3], box: nbcc.Param[3] = (5, 6, 7)
    ):
        d = nbcc.nearest_image(y - x, box)
        r2 = d.dot(d)
        nbcc.skip_if(nbcc.i_index == nbcc.j_index)
        nbcc.skip_if(r2 > 4.0)
        return nbcc.sum(e[ti, tj] * r2**-3), nbcc.sum(nbcc.spline(e[ti], nbcc.sqrt(r2)))

    x, types, e = random.random((60, 3)) * [5, 6, 7], random.integers(0, 3, 60), random.random((3, 3))
    assert mixture.pipeline(x, x, types, types, e).info()["neighbours"] == "|y - x| <= 2 in the periodic box `box`"
    d = x - x[:, None]
    d -= np.round(d / [5, 6, 7]) * [5, 6, 7]
    r2 = (d**2).sum(2) + 1e9 * np.eye(60)
    expected = np.where(r2 <= 4, e[types[:, None], types] * r2**-3, 0).sum(1)
    np.testing.assert_allclose(mixture(x, x, types, types, e)[0], expected, rtol=1e-11)
    np.testing.assert_allclose(mixture(x, x, types, types, e, box=[5, 6, 7], pairs="cutoff")[0], expected, rtol=1e-11)

    @nbcc.pipeline
    def crystal(x: nbcc.I[3], y: nbcc.J[3], box: nbcc.Param[3]):
        d = nbcc.every_image(y - x, box)
        r2 = d.dot(d)
        nbcc.skip_if(nbcc.self_pair)
        nbcc.skip_if(r2 > 9)
        return nbcc.sum(r2**-3)

    shifts = np.array([[a, b, c] for a in range(-2, 3) for b in range(-2, 3) for c in range(-2, 3)])
    r2 = ((x[None, None] + (shifts * [5, 6, 7])[:, None, None] - x[:, None]) ** 2).sum(3)
    r2[r2 < 1e-12] = 1e9
    np.testing.assert_allclose(crystal(x, x, [5, 6, 7]), np.where(r2 <= 9, r2**-3, 0).sum((0, 2)), rtol=1e-11)


def test_complex_numbers_integers_and_pairs():
    @nbcc.pipeline
    def waves(k: nbcc.I[...], x: nbcc.J[...], f: nbcc.J):
        return nbcc.sum(f * nbcc.exp(1j * k.dot(x)))

    k, x, b = points(4)
    f = b + 1j * b[::-1]
    np.testing.assert_allclose(waves(k, x, f), np.exp(1j * k @ x.T) @ f, rtol=1e-11)

    @nbcc.pipeline
    def same(ti: nbcc.I, tj: nbcc.J, n: nbcc.Param[int] = 2):
        return nbcc.count(ti == tj + n), nbcc.sum(ti / 2)

    ti, tj = random.integers(0, 5, 23), random.integers(0, 5, 19)
    count, half = same(ti, tj)
    assert (count == (ti[:, None] == tj + 2).sum(1)).all() and count.dtype == np.int64
    np.testing.assert_allclose(half, 19 * ti / 2)

    @nbcc.pipeline
    def springs(x: nbcc.I[...], y: nbcc.J[...], k: nbcc.Pair):
        d = (x - y)[:3]
        return {"force": nbcc.sum(k * d), "stretched": nbcc.each_pair(k * d)}

    first, j, stiffness = np.arange(24), np.arange(23) % 19, random.random(23)
    made = springs(k, x, stiffness, listed_pairs=(first, j))
    np.testing.assert_allclose(made["stretched"], stiffness[:, None] * (k - x[j])[:, :3])
    np.testing.assert_allclose(made["force"], made["stretched"])


def two_results(x: nbcc.I[...], y: nbcc.J[...]):
    e = nbcc.exp(x.dot(y))
    return {"sqrt": nbcc.sqrt(nbcc.sum(e)), "log": nbcc.logsumexp(x.dot(y))}


def test_options_of_calls():
    x, y, b = points(3)
    full = gauss(x, y, b)
    out = np.zeros(23)
    assert gauss(x, y, b, out=out) is out
    np.testing.assert_array_equal(out, full)
    np.testing.assert_array_equal(gauss(x, y, b, i=[3])[3], full[3])
    twice = nbcc.pipeline(two_results)
    outs = np.zeros(23), np.zeros(23)
    assert twice(x, y, out=outs)["sqrt"] is outs[0] and twice(x, y, out={"log": outs[1]})["log"] is outs[1]
    np.testing.assert_allclose(outs[0] ** 2, np.exp(outs[1]))
    with pytest.raises(TypeError, match="there is no result 'exp'; the results are sqrt, log"):
        twice(x, y, out={"exp": outs[1]})
    batches = (np.repeat([0, 1], [10, 13]), np.repeat([0, 1], [9, 10]))
    got = gauss(x, y, b, s=[0.5, 2.0], batches=batches)
    np.testing.assert_allclose(got[:10], gauss(x[:10], y[:9], b[:9], s=0.5))
    np.testing.assert_allclose(got[10:], gauss(x[10:], y[9:], b[9:], s=2.0))

    @nbcc.pipeline(precision="single")
    def difference(x: nbcc.I, y: nbcc.J):
        return nbcc.sum(x - y)

    assert difference.text.startswith("input_i real x;") and difference(x[:, 0], y[:, 0]).dtype == np.float64


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(k for k, line in enumerate(lines) if text in line)


def test_errors_name_lines_of_python():
    def hidden(x: nbcc.I[...], real: nbcc.J[...]):
        return nbcc.sum(x - real)

    with pytest.raises(nbcc.CompileError) as caught:
        nbcc.pipeline(hidden)(*points(3)[:2])
    assert caught.value.line == line_of(hidden, "def hidden") and "is built in" in str(caught.value)
    assert f"test_formula_pipeline.py:{line_of(hidden, 'return')}: error" in str(caught.value)

    def unused(x: nbcc.I, y: nbcc.J, b: nbcc.J):
        return nbcc.sum(x - y)

    with pytest.warns(
        nbcc.PipelineWarning, match=f"{line_of(unused, 'def')}: warning: input_j 'b' is declared and never"
    ):
        nbcc.pipeline(unused)(*(np.ones(3) for _ in range(3)))


def test_refusals():
    x, y, b = points(3)

    def refused(error, match, function, *arrays, **keywords):
        with pytest.raises(error, match=match):
            nbcc.pipeline(function)(*arrays, **keywords)

    def branch(x: nbcc.I, y: nbcc.J):
        return nbcc.sum(x) if x > y else nbcc.sum(y)

    def plain(x: nbcc.I, y: nbcc.J):
        return x - y

    def nested(x: nbcc.I, y: nbcc.J):
        return nbcc.sum(y * nbcc.sum(x))

    def lengths(x: nbcc.I[...], y: nbcc.J[...]):
        return nbcc.sum(x - y[:2])

    def bare(x, y: nbcc.J):
        return nbcc.sum(x)

    def number(x: nbcc.I[...], y: nbcc.J[...]):
        return nbcc.argmin(x - y)

    def rows(x: nbcc.I[...], y: nbcc.J[...]):
        return nbcc.sum(x[nbcc.j_index])

    refused(TypeError, "expected nbcc.where", branch, b, b)
    refused(TypeError, "expected a reduction over the pairs", plain, b, b)
    refused(TypeError, "known after all pairs only", nested, b, b)
    refused(ValueError, "3 and 2 elements", lengths, x, y)
    refused(TypeError, "parameter 'x': expected an annotation nbcc.I", bare, b, b)
    refused(TypeError, "nbcc.argmin: expected a number", number, x, y)
    refused(TypeError, "only a param can be read at an index", rows, x, y)
    refused(ValueError, r"'x' \(nbcc.I\[\.\.\.\]\): expected one axis more", number, b, y)
    refused(ValueError, "at most 1024 elements, got 2000", number, np.ones((2, 2000)), np.ones((2, 2000)))
    refused(TypeError, "no parameter and no option 'sigma'", plain, b, b, sigma=1)
    refused(TypeError, "lacks its argument 'y'", plain, b)
    with pytest.raises(RuntimeError, match="within a function that @nbcc.pipeline traces"):
        nbcc.skip_if(True)
    with pytest.raises(ValueError, match="known after a call only"):
        nbcc.pipeline(number).text


def test_is_quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gauss(*points(6))


def test_torch():
    torch = pytest.importorskip("torch")
    given = [torch.tensor(a, requires_grad=True) for a in (*points(5, 6, 7), np.float64(0.8))]
    assert torch.autograd.gradcheck(gauss, given) and torch.autograd.gradgradcheck(gauss, given)
    tangent = torch.func.jvp(lambda x: gauss(x, *given[1:]), (given[0],), (torch.ones_like(given[0]),))[1]
    jacobian = torch.autograd.functional.jacobian(lambda x: gauss(x, *given[1:]), given[0])
    torch.testing.assert_close(tangent, jacobian.sum((1, 2)))


def test_jax():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        x, y, b = (jax.numpy.asarray(a) for a in points(5, 6, 7))
        dense = lambda x: jax.numpy.exp(-((x[:, None] - y) ** 2).sum(2) / 2) @ b  # noqa: E731
        np.testing.assert_allclose(jax.jit(gauss)(x, y, b), dense(x), rtol=1e-11)
        got, expected = (jax.grad(lambda x, f=f: (f(x) ** 2).sum())(x) for f in (lambda x: gauss(x, y, b), dense))
        np.testing.assert_allclose(got, expected, rtol=1e-9)



def test_conditions_are_counted_as_numbers():
    x, y, _ = points(8)

    @nbcc.pipeline
    def counts(x: nbcc.I[...], y: nbcc.J[...]):
        above = x > y
        over = above.sum(), above.max(), above.min(), above.prod(), above.argmax(), above.mean()
        return tuple(nbcc.sum(one) for one in over)

    above = x[:, None] > y
    expected = [above.sum(2), above.max(2), above.min(2), above.prod(2), above.argmax(2), above.mean(2)]
    for got, one in zip(counts(x, y), expected):
        np.testing.assert_allclose(got, one.sum(1))


def test_whole_division_is_exact():
    @nbcc.pipeline
    def divided(a: nbcc.I[int], b: nbcc.J[int]):
        return nbcc.max(a // b), nbcc.max(a % b), nbcc.max((a + 1) // -3), nbcc.max(-7 % b)

    a = np.array([2**60 + 1, -(2**60) - 1, 7, -7, 6, 0])
    for b in (3, -3, 1, -1, 2, 2**40):
        expected = a // b, a % b, (a + 1) // -3, np.full(6, -7 % b)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made = divided(a, np.array([b]))
        for got, one in zip(made, expected):
            assert np.array_equal(got, one), b


def test_norm_of_complex_numbers():
    @nbcc.pipeline
    def norms(x: nbcc.I[...], y: nbcc.J[...]):
        return nbcc.sum((x - y).norm())

    x, y = (random.normal(size=(n, 3)) + 1j * random.normal(size=(n, 3)) for n in (4, 5))
    np.testing.assert_allclose(norms(x, y), np.linalg.norm(x[:, None] - y, axis=2).sum(1))


def test_rounding_to_even_is_refused():
    with pytest.raises(TypeError, match="numpy.rint"):
        nbcc.pipeline(rounded)(np.ones(3), np.ones(3))


def rounded(x: nbcc.I, y: nbcc.J):
    return nbcc.sum(np.rint(x - y))


def test_captured_tensor_with_a_gradient_is_refused():
    torch = pytest.importorskip("torch")
    scale = torch.tensor(2.0, requires_grad=True)

    @nbcc.pipeline
    def scaled(x: nbcc.I, y: nbcc.J):
        return nbcc.sum(scale * (x - y))

    with pytest.raises(TypeError, match="annotated with nbcc.Param"):
        scaled(torch.ones(3), torch.ones(3))


def test_rows_of_tables():
    @nbcc.pipeline
    def rows(x: nbcc.I[...], k: nbcc.J[int], t: nbcc.Param[...]):
        return nbcc.sum(x * t[k]), nbcc.sum(nbcc.dot(t[k], x))

    k, t = np.array([2, 0, 1, 1]), random.normal(size=(3, 5))
    x = points(5)[0]
    for got, expected in zip(rows(x, k, t), (x * t[k].sum(0), x @ t[k].sum(0))):
        np.testing.assert_allclose(got, expected)


def test_names_and_default_values():
    @nbcc.pipeline
    def named(result: nbcc.I, y: nbcc.J, self: nbcc.Param = np.inf, below: nbcc.Param = -np.inf):
        return nbcc.sum(nbcc.where((y < self) & (y > below), result * y, 0.0))

    x, y = np.arange(3.0), np.arange(4.0)
    np.testing.assert_allclose(named(x, y), x * y.sum())
    np.testing.assert_allclose(named(result=x, y=y, self=3.0), x * 3)

    @nbcc.pipeline
    def keys(x: nbcc.I, y: nbcc.J):
        return {"a b": nbcc.sum(x + y), "a_b": nbcc.sum(x * y), "large": nbcc.sum(y * 10**30)}

    made = keys(x, y)
    np.testing.assert_allclose(made["a b"], 4 * x + 6)
    np.testing.assert_allclose(made["a_b"], 6 * x)
    np.testing.assert_allclose(made["large"], 6e30)


def test_wrong_uses_are_refused():
    x = np.ones(3)
    with pytest.raises(TypeError, match="no parameter and no option 'nonsense'"):
        gauss.pipeline(*points(3), nonsense=3)
    with pytest.raises(TypeError, match="takes 4 arguments, got 5"):
        gauss.pipeline(*points(3), 1.0, 2.0)
    with pytest.raises(TypeError, match="numpy.linalg.norm of a pair's value: expected a function of nbcc"):
        nbcc.pipeline(normed)(points(3)[0], points(3)[1])
    with pytest.raises(TypeError, match="gauss: a pipeline of a function is not pickled"):
        pickle.dumps(gauss)
    with pytest.raises(TypeError, match="nbcc.grad: the value was not computed from this variable"):
        nbcc.pipeline(by_element)(points(3)[0], points(3)[1])
    with pytest.raises(ValueError, match="'x' .*: expected elements, got arrays of length 0"):
        gauss(np.ones((3, 0)), np.ones((3, 0)), x)


def normed(x: nbcc.I[...], y: nbcc.J[...]):
    return nbcc.sum(np.linalg.norm(x - y))


def by_element(x: nbcc.I[...], y: nbcc.J[...]):
    return nbcc.sum(nbcc.grad(((x - y) ** 2).sum(), x[0]))
