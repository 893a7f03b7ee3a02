"""Derivatives of calls with i=, which sum for some i: with batches, lists, exclusions and every_image(), against differences
and in PyTorch and JAX; second derivatives of totals whose other rows are far from the total."""

import numpy as np
import pytest

import nbcc
from nbcc._call._adjoint import Call
from nbcc._call._totals import adjoint_of_values
from random_pipelines import differences

TEXT = """
input_i real xi; input_i real qi; input_j real xj; input_j real w; param real side; param real k;
output(sum) real s; output(logsumexp) real z; output(total) real e;
real d = DISTANCE; skip_if(d * d > 9.0);
s += k * w * qi * cos(d) * (1.0 + d); z = logsumexp(z, w * d * qi); e += w * d * d * qi;
void finish() { s = sqrt(0.1 + s * s) * z; }
"""
DISTANCES = {"plain": "xj - xi - side", "images": "every_image(xj - xi, side)"}
SIZE = 5


def rows(lists):
    return np.cumsum([0, *map(len, lists)]), np.concatenate(lists).astype(int)


def options_of(name):
    """The keywords of a call by their short names, and whether k has a value for each group."""
    known = {
        "batches": {"batches": (np.array([0, 0, 2, 2, 2]), np.array([0, 0, 2, 2]), 3)},
        "lists": {"lists": nbcc.Lists([0, 2, 5, 5], [0, 1, 3, 3], [0, 1, 0], [3, 4, 1], i_order=[4, 0, 2, 1, 3])},
        "exclusions": {"exclusions": rows([[0], [1], [], [3], [0]])},
        "pairs": {"listed_pairs": rows([[0, 2], [1], [2], [3], [0]])},
    }
    return {key: value for one in name.split() for key, value in known[one].items()}


@pytest.fixture(scope="module")
def pipelines():
    return {kind: nbcc.compile(source=TEXT.replace("DISTANCE", d), precision="double") for kind, d in DISTANCES.items()}


CASES = [("plain", name) for name in ("exclusions", "pairs", "batches", "lists", "batches exclusions", "lists exclusions")]
CASES += [("images", name) for name in ("", "batches", "exclusions", "batches exclusions")]


@pytest.mark.parametrize("chosen", [[3, 1], slice(1, 3), []])
@pytest.mark.parametrize("kind, name", CASES)
def test_gradients(pipelines, kind, name, chosen):
    random = np.random.default_rng(1)
    options = {**options_of(name), "i": chosen}
    k = random.random(3) + 0.5 if "batches" in name or "lists" in name else np.array(0.7)
    given = dict(xi=random.random(SIZE) * 2, qi=random.random(SIZE) + 0.5, xj=random.random(4) * 2, w=random.random(4) + 0.5,
                 side=np.array(1.7), k=k)  # fmt: skip
    pipe = pipelines[kind]
    run = lambda arguments: list(pipe(**arguments, **options))
    weights = [random.random(np.shape(value)) + 0.5 for value in run(given)]
    for row in set(range(SIZE)) - set(range(SIZE)[chosen] if isinstance(chosen, slice) else chosen):
        assert run(given)[0][row] == 0
    call = Call(pipe, (), given, options)
    results = dict(zip([field.name for field in call.outputs], call.run({})))
    found = call.gradients({}, results, dict(zip("sze", weights)), list(given))
    if call.by_group("k"):
        of_row, found["k"] = found["k"], np.zeros(3)
        np.add.at(found["k"], call.group_of_i(), of_row)
    for field, (expected, error) in differences(run, given, weights, {}).items():
        assert np.all(np.abs(found[field] - expected) <= 8 * error), field


def by_framework(name):
    """The gradient of a function, its second derivatives by forward and by reverse mode, arrays of numbers."""
    if name == "torch":
        torch = pytest.importorskip("torch")
        seconds = torch.func.hessian, lambda of: torch.func.jacrev(torch.func.grad(of))
        return torch.func.grad, seconds, lambda value: torch.tensor(value, dtype=torch.float64)
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.grad, (jax.hessian, lambda of: jax.jacrev(jax.grad(of))), lambda value: jax.numpy.asarray(value, dtype="float64")


frameworks = pytest.mark.parametrize("framework", ["torch", "jax"])


@frameworks
@pytest.mark.parametrize("chosen", [[3, 1], slice(1, 3)])
def test_images_in_frameworks(pipelines, framework, chosen):
    grad, (hessian, _), array = by_framework(framework)
    random = np.random.default_rng(2)
    x, w = random.random(SIZE) * 2, random.random(SIZE) + 0.5

    def loss(x, number=array):
        made = pipelines["images"](x, number(w), x, number(w), side=1.7, k=0.7, i=chosen)
        return made.s.sum() + made.e

    moved = lambda step: np.array([float(loss(x + step * row, np.asarray)) for row in np.eye(SIZE)])
    assert np.allclose(np.asarray(grad(loss)(array(x))), (moved(1e-5) - moved(-1e-5)) / 2e-5, rtol=1e-7, atol=1e-7)
    slope = lambda step: np.array([np.asarray(grad(loss)(array(x + step * row))) for row in np.eye(SIZE)])
    assert np.allclose(np.asarray(hessian(loss)(array(x))), (slope(1e-5) - slope(-1e-5)) / 2e-5, rtol=1e-6, atol=1e-6)


@frameworks
@pytest.mark.parametrize("finish", [True, False])
def test_second_derivatives_of_a_total_far_below_the_other_rows(framework, finish):
    _, seconds, array = by_framework(framework)
    pipe = nbcc.compile(precision="double", source="""input_i real a; input_j real b; output(total, logsumexp) real z;
        z = logsumexp(z, -a * a * b - 900.0);""" + "void finish() { z = logsumexp(z, -a * a - 900.0); }" * finish)
    a, b = array([1.0, 2.0, 0.5]), array([0.4, 1.5])
    found = [np.asarray(second(lambda a: pipe(a, b, i=[0, 2]))(a)) for second in seconds]
    a, b = np.asarray(a)[[0, 2], None], np.array([0.4, 1.5] + [1.0] * finish)
    share = np.exp(-a * a * b) / np.exp(-a * a * b).sum()
    slope = (-2 * a * b * share).sum(1)
    expected = np.zeros((3, 3))
    expected[np.ix_([0, 2], [0, 2])] = np.diag((share * (4 * a * a * b * b - 2 * b)).sum(1)) - np.outer(slope, slope)
    for one in found:
        assert np.allclose(one, expected, rtol=1e-10, atol=1e-12)


def test_slopes_of_a_total_of_no_terms_are_0():
    found = adjoint_of_values("logsumexp", np.float64(-np.inf), np.full(3, -np.inf), 1.5, None)
    assert (found == 0).all()


@frameworks
def test_images_under_vmap(pipelines, framework):
    grad, _, array = by_framework(framework)
    vmap = pytest.importorskip("torch").func.vmap if framework == "torch" else pytest.importorskip("jax").vmap
    x, w = array(np.random.default_rng(3).random((3, SIZE)) * 2), array(np.random.default_rng(4).random(SIZE) + 0.5)
    loss = lambda x: pipelines["images"](x, w, 1.1 * x, w, side=1.7, k=0.7).s.sum()
    found = np.asarray(vmap(grad(loss))(x))
    assert np.allclose(found, [np.asarray(grad(loss)(row)) for row in x], rtol=1e-12, atol=1e-12)


# An array of more than 32 elements stays an array in the kernel, whose loop runs for the pairs that the search finds.
LONG = """
input_i real xi; input_j real xj; input_j real w[40]; param real rc = 1.0; param real k; param real shift; output(sum) real s;
real d = xj - xi - shift; skip_if(d * d >= rc * rc);
for (int a = 0; a < 40; ++a) s += k * w[a] * cos(0.1 * a * d) * (rc * rc - d * d);
"""


@pytest.mark.parametrize("pairs", ["all", "cutoff"])
@pytest.mark.parametrize("batched", [False, True])
def test_element_loops_and_several_params_of_each_batch(pairs, batched):
    random = np.random.default_rng(6)
    pipe = nbcc.compile(source=LONG, precision="double", pairs=pairs)
    options = {"batches": (np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 2]), 3)} if batched else {}
    of_batches = (3,) if batched else ()
    given = dict(xi=random.random(5) * 2, xj=random.random(4) * 2, w=random.random((4, 40)),
                 k=random.random(of_batches) + 0.5, shift=random.random(of_batches) * 0.1)  # fmt: skip
    given = {name: np.asarray(value) for name, value in given.items()}
    run = lambda arguments: [pipe(**arguments, **options)]
    weights = [random.random(5) + 0.5]
    call = Call(pipe, (), given, options)
    found = call.gradients({}, dict(zip([field.name for field in call.outputs], call.run({}))), {"s": weights[0]}, list(given))
    if batched:
        for name in ("k", "shift"):
            of_row, found[name] = found[name], np.zeros(3)
            np.add.at(found[name], call.group_of_i(), of_row)
    for field, (expected, error) in differences(run, given, weights, {}).items():
        assert np.all(np.abs(found[field] - expected) <= 8 * error), field


def test_messages_name_the_pipeline_that_is_called():
    pipe = nbcc.compile(source="input_i real xi; input_j real xj; output(sum) real s; s += xj - xi;", name="mine")
    call = Call(pipe, (), {"xi": np.ones(2), "xj": np.ones(3)}, {})
    call.gradients({}, {}, {"s": np.ones(2)}, ["xi", "xj"])
    assert {made.name for made in pipe._adjoints.made()} == {"mine"} and pipe.adjoint("j").name == "mine_j"
