"""What a call says of its arrays: index guards between two sets, results that are NaN, integers that do not fit, rows that
overlap."""

import warnings

import numpy as np
import pytest

import nbcc
from conftest import PIPELINES


def said_by(call):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = call()
    return result, [str(one.message) for one in said if "are summed in double" not in str(one.message)]


def test_index_guards_between_two_sets():
    pipeline = nbcc.compile(PIPELINES / "radial_distribution.pipe", precision="double")
    random = np.random.default_rng(1)
    oxygen, hydrogen = random.random((50, 3)), random.random((100, 3))
    names = [field.name for field in pipeline.fields if field.role in ("input_i", "input_j")]
    assert names == ["xi", "xj"]
    assert said_by(lambda: pipeline(xi=oxygen, xj=oxygen))[1] == []
    assert said_by(lambda: pipeline(xi=oxygen[:20], xj=oxygen))[1] == []
    _, said = said_by(lambda: pipeline(xi=oxygen, xj=hydrogen))
    assert len(said) == 1
    assert "i (50 particles) and j (100 particles) are two sets of particles" in said[0]
    assert "the pairs (k, k), k = 0 to 49" in said[0]
    assert said_by(lambda: pipeline(xi=oxygen, xj=hydrogen, j_offset=100))[1] == []


def test_rows_that_are_not_finite():
    gravity = nbcc.compile(PIPELINES / "gravity.pipe", precision="double", math="precise")
    x, m = np.random.default_rng(1).random((40, 3)), np.ones(40)
    assert said_by(lambda: gravity(x, x, m))[1] == []
    _, said = said_by(lambda: [gravity(x, x, m, eps2=0.0, outputs="pot") for _ in range(3)])
    assert len(said) == 1, said
    assert "output 'pot' is NaN or infinite in 40 of 40 rows, first for i = 0; the cause is the pair of the particle" in said[0]
    assert "potential.pipe" in said[0]
    assert said_by(lambda: gravity(x, x, m, outputs="pot"))[1] == []  # a warning that still applies is not said again
    x[7, 1] = np.nan
    _, said = said_by(lambda: gravity(x, x, m, i=slice(5, 9), outputs="pot"))
    assert "in 4 of 4 rows, first for i = 5" in said[0] and "cause" not in said[0]


def test_a_softmax_without_pairs_is_no_fault():
    text = """input_i real x; input_j real y; output(softmax) real mean; output(min) real least; output(argmin) index near;
    output(at) real value; skip_if(y > x); mean = softmax(mean, y, y); least = min(least, y); near = argmin(near, y);
    value = at(near, y);"""
    pipeline = nbcc.compile(source=text, precision="double")
    result, said = said_by(lambda: pipeline([1.0, 5.0], [2.0, 3.0]))
    assert np.isnan(result.mean[0]) and np.isinf(result.least[0]) and said == []


def test_whole_numbers_that_do_not_fit():
    pipeline = nbcc.compile(source="input_i int a; input_j int b; output(sum) int s; s += 1000000 * b + 0 * a;")
    out = np.zeros(2, "int32")
    assert pipeline([0, 0], [1000, 1000], out=out).tolist() == [2000000000] * 2
    with pytest.raises(nbcc.UsageError, match="output 's' .* row 0 of the int32 array is at the limit 2147483647"):
        pipeline([0, 0], [1000, 1000, 148], out=out)
    assert pipeline([0, 0], [1000, 1000, 148]).tolist() == [2148000000] * 2


def test_rows_that_overlap():
    pipeline = nbcc.compile(source="input_i real a; input_j vec3 b; output(sum) vec3 s; s += a * b;")
    memory = np.zeros(20)
    rows = np.lib.stride_tricks.as_strided(memory, (4, 3), (8, 8))
    with pytest.raises(nbcc.UsageError, match="output 's' .*: rows of 3 numbers that are 8 bytes apart .* overlap"):
        pipeline(np.ones(4), np.ones((2, 3)), out=rows)
    interleaved = np.lib.stride_tricks.as_strided(memory, (4, 3), (8, 32))  # a transposed array
    assert pipeline(np.ones(4), np.ones((2, 3)), out=interleaved).tolist() == [[2.0] * 3] * 4


def test_carried_pairs_have_indices_of_particles():
    good = ([0, 1, 2], [0, 1])
    for bad, message in ((([0, 1, 2], [0, -1]), "got -1 for pair 1"), (([0, 1, 2], [0, 2**62]), "below 2.63 / 2")):
        with pytest.raises(ValueError, match=message):
            nbcc.carry_pairs(good, bad, np.ones(2))
        with pytest.raises(ValueError, match=message):
            nbcc.carry_pairs(bad, good, np.ones(2))


def test_floats_that_lose_digits_are_warned_of():
    fields = "input_i real x; input_j real y; input_j float w; output(sum) real s; output(sum) float f;\n"
    with pytest.warns(nbcc.PipelineWarning, match="2:7: warning: 'q' is a float, which has 7 digits in every precision"):
        nbcc.compile(source=fields + "float q = x * y; s += q; f += w;")
    with pytest.warns(nbcc.PipelineWarning, match="2:12: warning: 'q' is a float"):
        nbcc.compile(source=fields + "float q; q = x * y; s += q; f += w;")
    for text in ("float q = w; s += q * x * y; f += w;", "float q = float(x * y); s += q; f += w;", "float q = 0.5; s += q * x * y; f += w;"):
        assert nbcc.check(source=fields + text) == []
    # An output is not rounded.
    pipeline = nbcc.compile(source=fields + "s += x * y; f += x * y + 0.0 * w;", precision="double")
    result = pipeline([0.1], [0.1234567890123], np.zeros(1, "float32"))
    assert result.f[0] == result.s[0] != np.float32(result.s[0])
