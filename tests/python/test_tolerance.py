"""tolerance=: sums with a far field against sums over all pairs."""

import warnings

import numpy as np
import pytest

import nbcc
from conftest import PIPELINES
from nbcc._call._adjoint import Call

N = 20000


def particles(n=N, seed=1):
    random = np.random.default_rng(seed)
    return random.standard_normal((n, 3)), random.uniform(0.5, 1.5, n) / n


@pytest.fixture
def gravity():
    return nbcc.compile(PIPELINES / "gravity.pipe", precision="double")


def error_of(found, exact):
    """Root mean square over i of the error, relative to the length of the exact result."""
    found, exact = (np.reshape(one, (len(one), -1)) for one in (found, exact))
    return np.sqrt(np.mean(np.sum((found - exact) ** 2, axis=1) / np.sum(exact**2, axis=1)))


def test_a_sum_to_a_tolerance(gravity):
    x, m = particles()
    exact = gravity(x, x, m).pot
    for tolerance in (1e-2, np.float32(1e-5)):
        found = gravity(x, x, m, tolerance=tolerance).pot
        assert 0 < error_of(found, exact) <= 1.5 * tolerance  # all terms of a potential have one sign
        numbers = gravity.statistics()
        assert numbers["method"] == "far field" and numbers["tolerance"] == tolerance
        assert 0 < numbers["error"] <= min(tolerance, numbers["largest_error"])
        assert numbers["sampled"] >= 256 and 0 < numbers["pairs_per_i"] < N
        assert numbers["order"] >= 2 and numbers["leaf"] >= 1 and 0 < numbers["separation"] < 1
        assert numbers["precision"] == "double"
        assert min(numbers["seconds_first"], numbers["seconds_tree"], numbers["seconds_particles"]) > 0
    # The same call finds what was chosen before.
    gravity(x, x, m, tolerance=tolerance)
    assert gravity.statistics()["seconds_first"] == 0
    # A call without the argument is exact again.
    assert np.array_equal(gravity(x, x, m).pot, exact)
    assert gravity.statistics()["tolerance"] == 0 and gravity.statistics()["precision"] == ""
    for none in (None, 0):
        assert np.array_equal(gravity(x, x, m, tolerance=none).pot, exact)


def test_all_pairs_where_they_are_faster(gravity):
    x, m = particles(100)
    assert np.array_equal(gravity(x, x, m, tolerance=1e-5).pot, gravity(x, x, m).pot)
    gravity(x, x, m, tolerance=1e-5)
    found = gravity.statistics()
    assert found["method"] == "all pairs" and "far field: costs as much as" in found["reason"]


def test_statistics_are_those_of_the_last_call():
    gravity = nbcc.compile(PIPELINES / "gravity.pipe")  # of each precision a kernel of its own
    x, m = particles()
    single = [one.astype("f4") for one in (x, x, m)]
    for _ in range(2):
        gravity(x, x, m, tolerance=1e-2)
        assert gravity.statistics()["tolerance"] == 1e-2 and gravity.statistics()["precision"] == "double"
        gravity(*single, tolerance=1e-3)
        assert gravity.statistics()["tolerance"] == 1e-3 and gravity.statistics()["precision"] == "single"
        assert gravity.statistics()["sampled"] >= 256
        gravity(x[:50], x[:50], m[:50])
        assert gravity.statistics()["method"] == "all pairs" and gravity.statistics()["tolerance"] == 0


def test_statistics_are_those_of_the_last_product_of_an_operator():
    pytest.importorskip("scipy")
    gravity = nbcc.compile(PIPELINES / "gravity.pipe", precision="double")
    x, m = particles()
    gravity(x, x, m, tolerance=1e-3)
    for tolerance in (1e-2, 1e-4):
        product = gravity.operator(x, x, outputs="pot", tolerance=tolerance)
        for multiply in (product.matvec, product.rmatvec):
            gravity(x[:50], x[:50], m[:50])
            assert gravity.statistics()["tolerance"] == 0
            multiply(m)
            assert gravity.statistics()["tolerance"] == tolerance and gravity.statistics()["method"] == "far field"


def test_other_choices_of_pairs_take_precedence(gravity):
    x, m = particles()
    exact = gravity(x, x, m).pot
    assert np.array_equal(gravity(x, x, m, tolerance=1e-2, pairs="all").pot, exact)
    first = np.zeros(N + 1, np.int64)
    assert not gravity(x, x, m, tolerance=1e-2, listed_pairs=(first, first[:0])).pot.any()
    assert gravity.statistics()["method"] == "listed pairs"


def test_batches_and_exclusions(gravity):
    x, m = particles()
    ids = np.repeat((0, 1), (1000, N - 1000))
    exact = gravity(x, x, m, batches=(ids, ids)).pot
    for _ in range(2):
        found = gravity(x, x, m, tolerance=1e-2, batches=(ids, ids)).pot
        assert gravity.statistics()["method"] == "far batches"
        assert np.allclose(found[:1000], exact[:1000], rtol=1e-12) and 0 < error_of(found, exact) <= 1.5e-2
    assert gravity.statistics()["seconds_first"] == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = gravity(x, x, m, tolerance=1e-2, batches=(ids, ids), i=slice(10, 900)).pot
    assert gravity.statistics()["method"] == "lists" and np.allclose(found[10:900], exact[10:900], rtol=1e-12)
    # Each particle and the next one at the same position.
    x[1::2] = x[::2]
    i = np.arange(N)
    excluded = nbcc.Rows(2 * np.arange(N + 1), np.stack((i, i ^ 1), axis=1).ravel())
    exact = gravity(x, x, m, eps2=0, exclusions=excluded).pot
    assert np.isfinite(exact).all()
    assert 0 < error_of(gravity(x, x, m, eps2=0, exclusions=excluded, tolerance=1e-3).pot, exact) <= 1.5e-3
    assert gravity.statistics()["method"] == "far field"


def test_totals():
    pairs = nbcc.compile(
        source="input_i vec3 xi; input_j vec3 xj; input_i real mi; input_j real mj; output(total) real energy;"
        " vec3 d = xj - xi; skip_if(i_index == j_index); energy -= 0.5 * mi * mj * rsqrt(dot(d, d) + 1e-4);",
        precision="double",
    )
    x, m = particles()
    exact, found = (pairs(x, x, m, m, tolerance=tolerance) for tolerance in (None, 1e-3))
    assert pairs.statistics()["method"] == "far field"
    assert 0 < abs(found - exact) <= 1e-3 * abs(exact)


def test_chosen_i_and_bound_j(gravity):
    x, m = particles()
    exact, bound = gravity(x, x, m).pot, gravity.bind(x, m)
    found = bound(x, tolerance=1e-3, i=slice(3, 15000)).pot
    assert bound.statistics()["method"] == "far field"
    assert 0 < error_of(found[3:15000], exact[3:15000]) <= 1.5e-3
    assert not found[:3].any() and not found[15000:].any()


def test_what_is_refused(gravity):
    x, m = particles(10)
    for wrong in (-1e-3, 1.5, float("nan"), 1e-15):
        with pytest.raises(nbcc.UsageError, match=r"^tolerance: it must be 0 \(none\) or from 1e-14 to 1, got "):
            gravity(x, x, m, tolerance=wrong)
    with pytest.raises(TypeError, match="^tolerance: expected numbers, got str"):
        gravity(x, x, m, tolerance="small")
    with pytest.raises(TypeError, match="^tolerance: .*only a bool is true or false"):
        gravity(x, x, m, tolerance=True)
    with pytest.raises(TypeError, match=r"^tolerance: expected a number, got list of shape \(1,\)"):
        gravity(x, x, m, tolerance=[1e-3])
    assert gravity(x, x, m).pot.shape == (10,)  # none of these is left behind
    near = nbcc.compile(PIPELINES / "lennard_jones.pipe")
    reason = "^tolerance: pipeline 'lennard_jones' has no far field: a cutoff: pairs are found by search$"
    with pytest.raises(nbcc.UsageError, match=reason):
        near(x, x, tolerance=1e-3, rc=1.0)


@pytest.mark.parametrize("options", ["exclusions", "batches", "exclusions batches"])
def test_derivatives_with_exclusions_and_batches(gravity, options):
    x, m = particles()
    ids, i = np.repeat((0, 1), (1000, N - 1000)), np.arange(N)
    given = {"exclusions": nbcc.Rows(2 * np.arange(N + 1), np.stack((i, i ^ 1), axis=1).ravel()), "batches": (ids, ids)}
    given = {name: given[name] for name in options.split()}
    gradients = []
    for tolerance in (None, 1e-3):
        call = Call(gravity, (x, x + 0, m), {}, {"outputs": "pot", "tolerance": tolerance, **given})
        results = {field.name: value for field, value in zip(call.outputs, call.run({}))}
        gradients.append(call.gradients({}, results, {"pot": np.ones(N)}, ["mj"])["mj"])
    assert error_of(gradients[1], gradients[0]) <= 1.5e-3
    without = Call(gravity, (x, x + 0, m), {}, {"outputs": "pot"}).gradients({}, {}, {"pot": np.ones(N)}, ["mj"])["mj"]
    assert error_of(without, gradients[0]) > 5e-3


@pytest.mark.parametrize("is_one_set", [True, False])
def test_derivatives_are_sums_to_the_same_tolerance(gravity, is_one_set):
    x, m = particles()
    y = x if is_one_set else particles(seed=2)[0]
    adjoints = {"pot": np.ones(N)}  # so that the terms of the derivative by m have one sign
    gradients = []
    for options in ({}, {"tolerance": 1e-3}):
        call = Call(gravity, (x, y, m), {}, {"outputs": "pot", **options})
        assert call.one_set == is_one_set
        results = {field.name: value for field, value in zip(call.outputs, call.run({}))}
        gradients.append((results["pot"], call.gradients({}, results, adjoints, ["mj"])["mj"]))
    for exact, found in zip(*gradients):
        assert 0 < error_of(found, exact) <= 1.5e-3
