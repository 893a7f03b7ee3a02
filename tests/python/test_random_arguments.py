"""Random calls: every argument is taken for exactly the numbers that it holds, or refused by its name."""

import numpy as np
import pytest

import nbcc
from random_arguments import as_tensor, random_array, random_output, random_param
from sampling import sampled

# Each number of each input and param has a weight of its own in the outputs, so that none can be taken for another.
TEXT = """
input_i real a; input_i vec3 b; input_i vec2 c[3]; input_i int k;
input_j real x; input_j vec2 y; input_j int n;
param real s; param vec3 v; param real t[2][3]; param vec3 e[2]; param vec2 g[2][3]; param real h[9][4]; param int w[4];
param mat3 m; param real one[1];
output(sum) real of_i; output(sum) vec2 of_j; output(sum) real of_params[8];
of_i += a + 3.0 * b.x + 5.0 * b.y + 7.0 * b.z + 11.0 * c[0].x + 13.0 * c[0].y + 17.0 * c[1].x + 19.0 * c[1].y
  + 23.0 * c[2].x + 29.0 * c[2].y + 31.0 * k;
of_j += vec2(x + 3.0 * y.x + 5.0 * n, 7.0 * y.y);
real p = 0.0;
of_params[0] += s + v.x * 3.0 + v.y * 5.0 + v.z * 7.0;
for (int q = 0; q < 2; ++q) for (int r = 0; r < 3; ++r) of_params[1] += real((q * 3 + r + 1) * (q * 3 + r + 1)) * t[q][r];
for (int q = 0; q < 2; ++q) of_params[2] += real(q * 41 + 1) * (e[q].x + 3.0 * e[q].y + 11.0 * e[q].z);
for (int q = 0; q < 2; ++q) for (int r = 0; r < 3; ++r)
  of_params[3] += real((q * 3 + r + 1) * (q * 3 + r + 1)) * (g[q][r].x + 37.0 * g[q][r].y);
for (int q = 0; q < 9; ++q) for (int r = 0; r < 4; ++r) of_params[4] += real((q * 4 + r + 1) * (q * 4 + r + 1)) * h[q][r];
for (int q = 0; q < 4; ++q) of_params[5] += real((q + 1) * (q + 1)) * real(w[q]);
for (int q = 0; q < 3; ++q) of_params[6] += real(q * 31 + 1) * (m[q].x + 3.0 * m[q].y + 11.0 * m[q].z);
of_params[7] += one[0];
"""
INPUTS = {"a": (), "b": (3,), "c": (3, 2), "k": (), "x": (), "y": (2,), "n": ()}
PARAMS = {"s": (), "v": (3,), "t": (2, 3), "e": (2, 3), "g": (2, 3, 2), "h": (9, 4), "w": (4,), "m": (3, 3), "one": (1,)}
NI, NJ = 4, 3


@pytest.fixture(scope="module")
def sums():
    return nbcc.compile(source=TEXT, precision="double", math="precise")


def expected(n):
    squares = lambda count: np.arange(1, count + 1) ** 2.0
    i = n["a"] + n["b"] @ [3.0, 5, 7] + n["c"].reshape(-1, 6) @ [11.0, 13, 17, 19, 23, 29] + 31 * n["k"]
    j = np.array([(n["x"] + 3 * n["y"][:, 0] + 5 * n["n"]).sum(), (7 * n["y"][:, 1]).sum()])
    rows = lambda name, step: (n[name] @ [1.0, 3, 11]) @ (np.arange(len(n[name])) * step + 1.0)
    params = [n["s"] + n["v"] @ [3.0, 5, 7], n["t"].ravel() @ squares(6), rows("e", 41),
              (n["g"].reshape(6, 2) @ [1.0, 37]) @ squares(6), n["h"].ravel() @ squares(36), n["w"] @ squares(4),
              rows("m", 31), n["one"][0]]
    return NJ * i, np.tile(j, (NI, 1)), NJ * np.tile(np.array(params, "float64"), (NI, 1))


def plain(random):
    made = {name: random.integers(1, 9, (NI if name in "abck" else NJ, *shape)) for name, shape in INPUTS.items()}
    made.update({name: random.integers(1, 9, shape) for name, shape in PARAMS.items()})
    return {name: value.astype("int64" if name in ("k", "n", "w") else "float64") for name, value in made.items()}


def check(sums, given, numbers, what):
    for got, wanted in zip(sums(**given), expected(numbers)):
        assert np.array_equal(got, wanted), what


@pytest.mark.parametrize("seed", sampled(range(30), 4))
def test_random_arguments(sums, seed):
    random = np.random.default_rng(seed)
    for _ in range(40):
        numbers = plain(random)
        given = dict(numbers)
        name = list(given)[random.integers(len(given))]
        if name in INPUTS:
            one = random_array(random, len(given[name]), INPUTS[name], name in ("k", "n"))
        else:
            one = random_param(random, PARAMS[name], name == "w")
        given[name] = one.value
        if one.numbers is None:
            with pytest.raises((TypeError, ValueError), match=f"'{name}'"):
                pytest.fail(f"{name}: {one.what} was taken: {sums(**given)}")
        else:
            numbers[name] = one.numbers
            check(sums, given, numbers, f"{name}: {one.what}")


OUTPUTS = {"of_i": (), "of_j": (2,), "of_params": (8,)}


@pytest.mark.parametrize("seed", sampled(range(10), 4))
def test_random_outputs(sums, seed):
    random = np.random.default_rng(seed)
    for _ in range(40):
        numbers = plain(random)
        wanted = dict(zip(OUTPUTS, expected(numbers)))
        out = {name: random_output(random, NI, shape) for name, shape in OUTPUTS.items()}
        accumulate = bool(random.integers(2))
        before = {name: np.array(one.value) for name, one in out.items()}
        given = {name: one.value for name, one in out.items()}
        bad = [name for name, one in out.items() if not one.numbers]
        if bad:
            with pytest.raises((TypeError, ValueError), match="|".join(f"'{name}'" for name in bad)):
                pytest.fail(f"{out} were taken: {sums(**numbers, out=given, accumulate=accumulate)}")
            assert all(np.array_equal(before[name], given[name]) for name in out), "written by a call that raised"
            continue
        sums(**numbers, out=given, accumulate=accumulate)
        for name, one in out.items():
            assert np.array_equal(one.value, (wanted[name] + 7 * accumulate).astype(one.value.dtype)), one.what


@pytest.mark.parametrize("seed", sampled(range(10), 4))
def test_random_tensors_of_pytorch(sums, seed):
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(seed)
    for _ in range(20):
        numbers = plain(random)
        given = {name: as_tensor(random, torch, np.asarray(value)) for name, value in numbers.items()}
        for got, wanted in zip(sums(**given), expected(numbers)):
            assert np.array_equal(got.numpy(), wanted), given
