"""Sums behind a cutoff: which pairs are computed, what is kept from call to call, and what is told of it."""

import numpy as np
import pytest

import nbcc
from conftest import PIPELINES

BOX = 10.0
NEAR = """
input_i vec3 xi;
input_j vec3 xj;
param   real rc = 1.0;
param   vec3 box = vec3(10, 10, 10);
output(sum) real near;
output(min) real least;

vec3 dx = nearest_image(xj - xi, box);
real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc);
near += 1.0;
least = min(least, r2);
"""


def particles(n, seed=3):
    return np.random.default_rng(seed).uniform(-2 * BOX, 2 * BOX, (n, 3))


@pytest.fixture(scope="module")
def near():
    return nbcc.compile(source=NEAR, name="near.pipe", precision="double")


def same(a, b):
    return all(np.array_equal(one, other) for one, other in zip(a, b))


def test_the_pairs_are_those_of_all_pairs():
    near = nbcc.compile(source=NEAR, precision="double", pairs="cutoff")
    x = particles(2000)
    assert same(near(x, x), near(x, x, pairs="all"))
    found = near.statistics()
    assert found["runs"] == found["searches"] == 1
    assert found["method"] == "all pairs" and found["reason"] == "pairs = all"
    everybody = near(x, x, pairs="all").near.sum()
    near(x, x)
    found = near.statistics()
    assert found["method"] == "search"
    assert found["pairs_within"] == everybody
    assert everybody < found["pairs_tested"] / 2 < 2000**2 / 2
    assert all(found[f"seconds_{step}"] > 0 for step in ("locate", "sort", "lists", "sums"))


def test_auto_takes_all_pairs_of_a_few(near):
    few = nbcc.compile(source=NEAR)
    few(particles(100), particles(100))
    found = few.statistics()
    assert found["runs"] == 0 and found["method"] == "all pairs"
    assert found["reason"].startswith("costs as much as 1e+04 pairs; search: costs as much as 1.5e+05 pairs")
    # Sorting 2000 i and 2000 j is estimated to cost exactly as much as their pairs.
    few(particles(2000), particles(2000))
    assert few.statistics()["method"] == "all pairs"
    few(particles(20000), particles(20000))
    assert few.statistics()["method"] == "search"


def test_a_skin_keeps_what_was_found():
    kept = nbcc.compile(source=NEAR, precision="double", pairs="cutoff", skin=0.5)
    x = particles(1000)
    for _ in range(3):
        assert same(kept(x, x), kept(x, x, pairs="all"))
        x += 0.05
    assert kept.statistics()["searches"] == 1
    assert same(kept(x, x), kept(x, x, pairs="all"))
    assert kept.statistics()["searches"] == 2
    kept(x, x, skin=0)
    assert kept.statistics()["searches"] == 3


def test_a_bound_pipeline_searches_too(near):
    x, y = particles(1000, 1), particles(1500, 2)
    bound = near.bind(x)
    assert same(bound(y, pairs="cutoff"), near(y, x, pairs="all"))
    assert bound.statistics()["runs"] == 1


def test_what_is_refused(near, gravity):
    x = particles(5)
    with pytest.raises(ValueError, match="pairs: expected 'auto', 'all', 'cutoff', got 'some'"):
        near(x, x, pairs="some")
    with pytest.raises(TypeError, match="skin: expected numbers, got str"):
        near(x, x, skin="thick")
    with pytest.raises(nbcc.UsageError, match="skin: it must be 0 or more, got -1"):
        near(x, x, skin=-1)
    assert same(near(x, x, pairs="cutoff"), near(x, x))
    for option in (dict(pairs="cutoff"), dict(skin=0.1)):
        with pytest.raises(nbcc.UsageError, match="not proved for pipeline 'gravity' that distant pairs add nothing"):
            gravity(x, x, np.ones(5), **option)
    assert gravity(x, x, np.ones(5)).pot.shape == (5,)
    with pytest.raises(ValueError, match="pairs: expected"):
        nbcc.compile(PIPELINES / "gravity.pipe", pairs="none")
