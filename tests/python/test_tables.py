"""Params that are read at run-time indices: what leads out of a table is an error, or clamped."""

import numpy as np
import pytest

import nbcc

TEXT = """
input_i real xi; input_i int ti; input_j real xj; input_j int tj;
param real e[2][3];
output(sum) real s;
if (ti >= 0) s += e[ti][tj] * (xj - xi);
"""


@pytest.fixture(scope="module")
def pipeline():
    return nbcc.compile(source=TEXT, name="types", precision="double")


def arguments(ti, tj):
    return dict(xi=np.arange(len(ti), dtype=float), ti=ti, xj=np.ones(len(tj)), tj=tj, e=[[1, 2, 3], [4, 5, 6]])


def test_types_without_params_are_refused(pipeline):
    with pytest.raises(nbcc.UsageError) as caught:
        pipeline(**arguments([0, 1, 2], [0, 1]))
    assert "ti is 2 for i-particle 2, but table 'e' of pipeline 'types' (line 5) has 2 rows, 0 to 1" in str(caught.value)
    with pytest.raises(nbcc.UsageError, match="tj is -1 for j-particle 1, but table 'e'"):
        pipeline(**arguments([0, 1], [0, -1]))


def test_padding_under_a_guard_is_none(pipeline):
    assert np.array_equal(pipeline(**arguments([0, -1], [2])), [3, 0])


def test_clamped_types_find_the_nearest_end(pipeline):
    found = pipeline(**arguments([0, 1, 2], [0, 7]), clamp=True)
    assert np.array_equal(found, pipeline(**arguments([0, 1, 1], [0, 2])))


def test_only_listed_particles_need_params(pipeline):
    listed = ([0, 2, 2], [0, 1])
    given = arguments([1, 9], [0, 2, 5])
    assert pipeline(**given, listed_pairs=listed)[0] == 4 * 1 + 6 * 1
    with pytest.raises(nbcc.UsageError, match="tj is 5 for j-particle 2"):
        pipeline(**given, listed_pairs=([0, 3, 3], [0, 1, 2]))


def test_gradients_check_them_as_well(pipeline):
    adjoint = pipeline.adjoint("j", by="xj")
    assert "clamp" not in adjoint.text
    with pytest.raises(nbcc.UsageError, match="has 2 rows"):
        adjoint(*[np.ones(2) if f.type == "real" else [0, 5] for f in adjoint.fields if f.role.startswith("input")],
                e=[[1, 2, 3], [4, 5, 6]])


def test_the_smaller_and_the_larger_type_are_checked():
    """Of [min(ti, tj)][max(ti, tj)] both types are, under the conditions of each particle."""
    text = TEXT.replace("[2][3]", "[3][3]").replace("[ti][tj]", "[min(ti, tj)][max(ti, tj)]")
    pipeline = nbcc.compile(source=text, name="types", precision="double")
    e = np.arange(9.0).reshape(3, 3)
    given = dict(xi=np.zeros(3), ti=[2, 0, -1], xj=np.ones(2), tj=[1, 2], e=e)
    assert np.array_equal(pipeline(**given), [e[1, 2] + e[2, 2], e[0, 1] + e[0, 2], 0])
    with pytest.raises(nbcc.UsageError, match="ti is 3 for i-particle 1, but table 'e' .* has 3 rows"):
        pipeline(**{**given, "ti": [2, 3, -1]})
    with pytest.raises(nbcc.UsageError, match="tj is 3 for j-particle 0"):
        pipeline(**{**given, "tj": [3, 1]})
    with pytest.raises(nbcc.UsageError, match="tj is -1 for j-particle 1"):
        pipeline(**{**given, "tj": [0, -1]})
