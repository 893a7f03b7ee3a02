"""nbcc.triplets: against loops over the lists, in every library; and sums over triplets by moments of the neighbours."""

import pathlib
import re
import types

import numpy as np
import pytest

import nbcc
from nbcc._arrays import _triplets


def list_of(degrees):
    first = np.concatenate(([0], np.cumsum(degrees))).astype(np.int64)
    return first, np.random.default_rng(1).integers(0, 99, first[-1])


def expected(first, half):
    """The second pairs of each pair, by loops."""
    rows = []
    for begin, end in zip(first[:-1], first[1:]):
        for p in range(begin, end):
            rows.append([q for q in range(begin, end) if (q > p if half else q != p)])
    return rows


def same(found, first, half):
    rows = expected(np.asarray(first), half)
    assert isinstance(found, nbcc.Triplets)
    assert np.array_equal(found.first, np.concatenate(([0], np.cumsum([len(row) for row in rows]))))
    assert np.array_equal(found.ij, np.repeat(np.arange(len(rows)), [len(row) for row in rows]))
    assert np.array_equal(found.ik, np.concatenate([*rows, []]))


DEGREES = [[3], [], [0], [1], [2, 0, 1, 0], [0, 0, 5, 1, 1, 7, 0, 4, 0], list(np.random.default_rng(2).integers(0, 40, 60))]


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("degrees", DEGREES, ids=lambda degrees: str(len(degrees)))
def test_every_list(degrees, half):
    first, j = list_of(degrees)
    unchanged = first.copy()
    for pairs in ((first, j), [first, j], (first, None), nbcc.Rows(first, j), (first.astype(np.int32), j), (first.tolist(), j)):
        found = nbcc.triplets(pairs, half)
        same(found, first, half)
        assert {array.dtype for array in found} == {np.dtype(np.int64)}
        assert all(array.flags.writeable for array in found)
    assert np.array_equal(first, unchanged)


def test_found_neighbours_and_sparse_matrices():
    near = nbcc.compile(
        source="input_i vec3 xi; input_j vec3 xj; output(sum) real n; vec3 d = xj - xi; skip_if(dot(d, d) > 1.0); n += 1.0;"
    )
    x = np.random.default_rng(3).random((40, 3)) * 2
    found = near.find_neighbours(x, x, exclusions=(range(41), range(40)))
    same(nbcc.triplets(found), found.first, False)
    sparse = types.SimpleNamespace(indptr=found.first, indices=found.j)
    same(nbcc.triplets(sparse, half=True), found.first, True)
    # The row of a particle's triplets is that of its pairs.
    of = nbcc.triplets(found)
    i = np.repeat(np.arange(40), np.diff(found.first))
    for k in range(40):
        assert (i[of.ij[of.first[found.first[k]] : of.first[found.first[k + 1]]]] == k).all()


def test_pairs_are_particles_of_a_sum():
    """Angles: (first, ik) is a list of pairs whose particles are the pairs of the list."""
    bend = nbcc.compile(
        source="input_i vec3 u; input_j vec3 v; output(sum) real c; c += dot(u, v);", name="bend.pipe", precision="double"
    )
    first, j = list_of([3, 0, 4, 1])
    u = np.random.default_rng(4).normal(size=(len(j), 3))
    t = nbcc.triplets((first, j))
    sums = bend(u, u, listed_pairs=nbcc.Rows(t.first, t.ik))
    assert np.allclose(sums, [sum(u[p] @ u[q] for q in row) for p, row in enumerate(expected(first, False))], rtol=1e-14, atol=1e-14)


def test_moments_of_neighbours_make_sums_over_triplets():
    """The Stillinger-Weber text of the documentation, which has no triplets."""
    page = pathlib.Path(__file__).parents[2] / "docs" / "how_to" / "three_body_terms.md"
    text = re.search(r"```pipe stillinger_weber.pipe\n(.*?)```", page.read_text(), re.DOTALL)[1]
    side, n = 8.0, 60
    x = np.random.default_rng(5).random((n, 3)) * side
    cell = side * np.eye(3)
    stillinger_weber = nbcc.compile(source=text, name="sw.pipe", precision="double")
    energy = stillinger_weber(x, x, *cell, outputs="energy")

    near = nbcc.compile(
        source="input_i vec3 xi; input_j vec3 xj; param real side; output(sum) real n; "
        "vec3 d = nearest_image(xj - xi, side); skip_if(dot(d, d) > 3.9 * 3.9); n += 1.0;",
        precision="double",
    )
    first, j, shifts = near.find_neighbours(x, x, side, exclusions=(range(n + 1), range(n)))
    i, t = np.repeat(np.arange(n), np.diff(first)), nbcc.triplets((first, j), half=True)
    d = x[j] + shifts - x[i]
    r = np.sqrt((d * d).sum(axis=1))
    inside = r / 2.0951 < 1.8
    q = np.where(inside, r / 2.0951, 1.0)
    g = np.where(inside, np.exp(1.2 / (q - 1.8)), 0)
    u = d / r[:, None]
    pair = np.where(inside, 0.5 * 2.1683 * 7.049556277 * (0.6022245584 * q**-4 - 1) * np.exp(1 / (q - 1.8)), 0)
    bend = 21 * 2.1683 * g[t.ij] * g[t.ik] * ((u[t.ij] * u[t.ik]).sum(axis=1) + 1 / 3) ** 2
    expected = np.bincount(i, pair, n) + np.bincount(i[t.ij], bend, n)
    terms = np.bincount(i, abs(pair) + 21 * 2.1683 * g * g, n) + np.bincount(i[t.ij], bend, n)
    assert (bend > 0).sum() > 100
    assert (abs(energy - expected) <= 64 * np.finfo(float).eps * terms).all()


@pytest.mark.parametrize("half", [False, True])
def test_torch(half):
    torch = pytest.importorskip("torch")
    for degrees in DEGREES:
        first, j = (torch.from_numpy(array) for array in list_of(degrees))
        for device in ["cpu", "cuda:0"] if torch.cuda.is_available() else ["cpu"]:
            found = nbcc.triplets((first.to(device), j.to(device)), half)
            assert all(type(array) is torch.Tensor and array.dtype == torch.int64 for array in found)
            assert all(str(array.device) == device for array in found)
            same(nbcc.Triplets(*(array.cpu().numpy() for array in found)), first.numpy(), half)
        # What runs on a GPU.
        made = _triplets.made(first, first[1:] - first[:-1], int(first[-1]), half, torch)
        same(nbcc.Triplets(*(array.numpy() for array in made)), first.numpy(), half)


@pytest.mark.parametrize("half", [False, True])
def test_jax(half):
    jax = pytest.importorskip("jax")
    for degrees in DEGREES:
        first, j = (jax.numpy.asarray(array) for array in list_of(degrees))
        found = nbcc.triplets((first, j), half)
        assert all(isinstance(array, jax.Array) and array.dtype == first.dtype for array in found)
        same(found, first, half)
        # What runs on a GPU.
        made = _triplets.made(first, first[1:] - first[:-1], int(first[-1]), half, jax.numpy)
        assert all(array.dtype == first.dtype for array in made)
        same(nbcc.Triplets(*made), first, half)
    with pytest.raises(TypeError, match="expected an array whose values are known, got one that JAX traces"):
        jax.jit(lambda first: nbcc.triplets((first, None)))(first)
    if not jax.config.jax_enable_x64:
        with pytest.raises(OverflowError, match="about 2.2e.09 triplets are beyond int32: set jax_enable_x64"):
            _triplets._to_jax(np.array([0, 2_200_000_000]))


def test_cupys_functions():
    """CuPy's repeat takes no array of counts; its other functions are those of NumPy."""
    names = ("arange", "cumsum", "concatenate", "searchsorted")
    cupy = types.SimpleNamespace(__name__="cupy", **{name: getattr(np, name) for name in names})
    for degrees in DEGREES:
        first, _ = list_of(degrees)
        for half in (False, True):
            same(nbcc.Triplets(*_triplets.made(first, np.diff(first), int(first[-1]), half, cupy)), first, half)


def test_what_is_refused():
    for first, got in (([0, 3, 2, 3], "one that falls by 1"), ([1, 2], "1 to 2"), ([0, 2, 4], "0 to 4")):
        with pytest.raises(ValueError, match=f"first: expected numbers that rise from 0 to 3, the number of pairs, got {got}"):
            nbcc.triplets((first, np.zeros(3, int)))
    with pytest.raises(ValueError, match="from 0 to the number of pairs, got 1 to 2"):
        nbcc.triplets(([1, 2], None))
    with pytest.raises(TypeError, match=r"expected integers of shape \(ni \+ 1,\), got float64 of shape \(2,\)"):
        nbcc.triplets((np.zeros(2), None))
    for wrong in (np.zeros((2, 2), int), np.zeros(0, int)):
        with pytest.raises(TypeError, match=r"expected integers of shape \(ni \+ 1,\), got int64 of shape \(\d"):
            nbcc.triplets((wrong, None))
    with pytest.raises(TypeError, match="expected nbcc.PairList, nbcc.Neighbours, nbcc.Rows, .* got int"):
        nbcc.triplets(3)


def test_other_forms_of_sparse_matrices_are_refused():
    for form in ("csc", "bsr"):
        sparse = types.SimpleNamespace(indptr=np.array([0, 2]), indices=np.array([0, 1]), format=form)
        with pytest.raises(TypeError, match=f"expected a sparse matrix in the form 'csr', got one in '{form}'"):
            nbcc.triplets(sparse)


def test_a_list_with_a_capacity():
    x = np.random.default_rng(6).random((30, 3))
    every = nbcc.neighbours(x, 0.4)
    padded = nbcc.neighbours(x, 0.4, capacity=every.count + 9)
    for one, other in zip(nbcc.triplets(padded), nbcc.triplets(every)):
        assert np.array_equal(one, other)
    with pytest.raises(ValueError, match="count: expected at most 5, the capacity of the list, got "):
        nbcc.triplets(padded._replace(j=padded.j[:5]))
    with pytest.raises(ValueError, match="count: expected a number of pairs, got -1"):
        nbcc.triplets(padded._replace(count=np.array([-1])))
    with pytest.raises(TypeError, match="half: expected True or False, got 'no'"):
        nbcc.triplets(every, half="no")


def test_they_are_shown_briefly():
    assert str(nbcc.triplets(list_of([3, 2]))) == "<nbcc.Triplets of 5 pairs: 8 triplets>"
