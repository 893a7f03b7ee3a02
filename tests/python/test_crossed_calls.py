"""Calls that cross features against NumPy: each row of results and of given pairs with each feature, as the page says what
goes together (crossed_calls.py). A failure prints the text, the options and the seed."""

import functools

import numpy as np
import pytest

import nbcc
import sampling
from crossed_calls import ANSWERS, PAIRS, RESULTS, CrossedCall

ROWS = [row for row in dict.fromkeys(row for row, _ in ANSWERS) if row in {one.row for one in RESULTS} | set(PAIRS) | {"input_pair"}]
FEATURES = [one for one in dict.fromkeys(feature for _, feature in ANSWERS) if one != "j in parts"]
DEVICES = ["cpu", *[one for one in nbcc.info()["devices"] if one == "cuda:0"]]
TIMES = 20 if sampling.ALL else 1
pytestmark = pytest.mark.filterwarnings("ignore::nbcc.PipelineWarning")


def test_every_kind_of_result_has_a_text():
    first = [row for row, feature in ANSWERS if feature == "lists"]
    results = first[first.index("sum, min, max, product, count") :]
    assert set(results) == {one.row for one in RESULTS}


def array_as(random, value):
    if value.dtype.kind == "i":
        return value.astype(random.choice(["int32", "int64"]))
    made = value.astype(random.choice(["float32", "float64"]))
    return [made, np.asfortranarray(made), np.repeat(made, 2, 0)[::2], made[::-1].copy()[::-1]][random.integers(4)]


@functools.cache
def compiled(text, precision, math, device):
    return nbcc.compile(source=text, name="crossed.pipe", precision=precision, math=math, device=device)


def run(call, seed):
    random = np.random.default_rng(seed + 10**6)
    precision = ["single", "mixed", "double"][len(call.text) % 3]
    pipeline = compiled(call.text, precision, ["fast", "precise"][len(call.text) % 2], DEVICES[seed % len(DEVICES)])
    given = {name: array_as(random, value) for name, value in call.values.items()}
    if "two sets" not in call.features and random.random() < 0.5:
        call.values["xj"][...] = call.values["xi"]
        given["xj"] = given["xi"]
    options = dict(call.options, outputs=[one.name for one in call.asked])
    before = None
    if "accumulate" in call.features:
        shapes = {name: value.shape for name, value in call.expected(None).items()}
        total = {one.name: one.total for one in call.asked}
        of_i = {name: shape if total[name] else (call.ni, *shape[1:]) for name, shape in shapes.items()}
        whole = {one.name for one in call.asked if " int " in one.declaration}
        before = {name: np.ones(shape, "int64" if name in whole else "float64") for name, shape in of_i.items()}
        options.update(out={name: value.copy() for name, value in before.items()}, accumulate=True)
    if random.random() < 0.3:
        bound = pipeline.bind(**{name: given.pop(name) for name in ("xj", "uj", "kj")})
        got = bound(**given, **options)
    else:
        got = pipeline(**given, **options)
    got = dict(zip([one.name for one in call.asked], got if isinstance(got, tuple) else [got]))
    tolerance = 1e-11 if precision == "double" else 2e-4
    for name, value in call.expected(before).items():
        total = next(one.total for one in call.asked if one.name == name)
        found = np.asarray(got[name])
        found = found if total or "out" not in options else found[call.chosen]
        if found.shape != value.shape and not total:
            found = found[call.chosen]
        assert np.allclose(found, value, rtol=tolerance, atol=tolerance * (1 + np.abs(value[np.isfinite(value)]).max(initial=0)),
                           equal_nan=True), name  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("feature", FEATURES)
def test_as_the_table_says(row, feature):
    for time in range(TIMES):
        seed = (sampling.NUMBER * 1000 + ROWS.index(row) * 31 + FEATURES.index(feature)) * 100 + time
        call = CrossedCall(row, feature, seed)
        try:
            if messages := call.refused():
                with pytest.raises((nbcc.UsageError, TypeError)) as error:
                    run(call, seed)
                assert any(message in str(error.value) for message in messages), str(error.value)
            else:
                run(call, seed)
        except BaseException:
            print(f"seed {seed}, {row} with {sorted(call.features)}, {call.ni} x {call.nj}, {list(call.options)}\n{call.text}")
            raise
