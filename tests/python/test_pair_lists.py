"""nbcc.neighbours: against all pairs and images of NumPy's, and against vesin, an independent program."""

import itertools

import numpy as np
import pytest

import nbcc


def brute(x, cutoff, cell=None, pbc=(True, True, True), y=None, reach=6):
    """(i, j, shift) rows of all pairs, in order, with pairs of a particle and itself."""
    other = x if y is None else y
    cell = np.zeros((3, 3)) if cell is None else np.asarray(cell, float)
    ranges = [range(-reach, reach + 1) if periodic and cell.any() else (0,) for periodic in pbc]
    # Positions may be outside, so images are counted from the first cell.
    rows = []
    for shift in itertools.product(*ranges):
        away = other[None].astype(float) + np.array(shift) @ cell - x[:, None].astype(float)
        i, j = np.nonzero((away * away).sum(axis=2) < np.asarray(cutoff) ** 2)
        rows.append(np.column_stack([i, j, np.tile(shift, (len(i), 1))]))
    rows = np.concatenate(rows)
    return rows[np.lexsort(rows.T[::-1])]


def rows_of(found):
    return np.column_stack([found.i, found.j, found.shifts])


def sound(found, n):
    assert isinstance(found, nbcc.PairList)
    assert (found.i.dtype, found.j.dtype, found.shifts.dtype, found.first.dtype) == (np.int64, np.int64, np.int32, np.int64)
    assert found.count == len(found.i) and np.array_equal(found.edge_index, [found.i, found.j])
    assert np.array_equal(found.first, np.concatenate([[0], np.cumsum(np.bincount(found.i, minlength=n))]))


CELLS = {
    "cube": np.diag([5.0, 5.0, 5.0]),
    "left-handed": np.array([[0, 5.0, 0], [4.5, 0, 0], [0, 0, 6.0]]),
    "tiny": np.diag([0.9, 1.1, 1.3]),
    "flat": np.diag([0.7, 9.0, 8.0]),
    "slanted": np.array([[4.0, 0, 0], [7.5, 3.0, 0], [-3.0, 8.0, 4.0]]),
    "turned": np.array([[1.0, 2.0, 3.0], [-3.0, 1.5, 0.5], [0.5, -2.5, 3.0]]),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("pbc", list(itertools.product([False, True], repeat=3)))
@pytest.mark.parametrize("name", CELLS)
def test_awkward_cells(name, pbc, dtype):
    cell, random = CELLS[name], np.random.default_rng(3)
    x = ((random.random((9, 3)) * 3 - 1) @ cell).astype(dtype)
    expected = brute(x, 2.5, cell, pbc, reach=9)
    found = nbcc.neighbours(x, 2.5, cell, pbc, self=True)
    sound(found, 9)
    assert np.array_equal(rows_of(found), expected)
    without = expected[~((expected[:, 0] == expected[:, 1]) & ~expected[:, 2:].any(axis=1))]
    found = nbcc.neighbours(x, 2.5, cell, pbc, vectors=True, distances=True)
    assert np.array_equal(rows_of(found), without)
    assert found.vectors.dtype == dtype and (found.distances < 2.5 * (1 + 1e-5)).all()
    i, j, shifts = without[:, 0], without[:, 1], without[:, 2:]
    assert np.allclose(found.vectors, x[j] + shifts @ cell - x[i], rtol=0, atol=2e-5)
    half = nbcc.neighbours(x, 2.5, cell, pbc, half=True)
    assert 2 * half.count == len(without)
    back = rows_of(half) * [1, 1, -1, -1, -1]
    both = np.concatenate([rows_of(half), back[:, [1, 0, 2, 3, 4]]])
    assert np.array_equal(both[np.lexsort(both.T[::-1])], without)


@pytest.mark.parametrize("n, cutoff", [(0, 1.0), (1, 1.0), (2, 3.0), (300, 0.8), (3000, 0.5), (500, 30.0)])
def test_open_space(n, cutoff):
    x = np.random.default_rng(n).random((n, 3)) * [5, 4, 9]
    found = nbcc.neighbours(x, cutoff, self=True)
    sound(found, n)
    assert np.array_equal(rows_of(found), brute(x, cutoff)) and not found.shifts.any()


def test_particles_far_from_the_others():
    x = np.concatenate([np.random.default_rng(1).random((200, 3)), [[1e6, -1e6, 3e5], [1e6, -1e6, 3e5 + 0.1]]])
    assert np.array_equal(rows_of(nbcc.neighbours(x, 0.3, self=True)), brute(x, 0.3))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_cutoff_is_exclusive(dtype):
    x = np.array(list(itertools.product(range(4), repeat=3)), dtype)
    for cutoff, count in ((1.0, 0), (np.nextafter(1, 2, dtype=dtype), 6), (2.0, 26), (np.sqrt(2) + 1e-6, 18)):
        found = nbcc.neighbours(x, float(cutoff), [4, 4, 4])
        assert np.array_equal(np.diff(found.first), np.full(64, count))


def test_eight_atoms_whose_cutoff_spans_three_cells():
    cell = np.diag([5.43, 5.43, 5.43])
    x = np.array([[0, 0, 0], [0, 2, 2], [2, 0, 2], [2, 2, 0], [1, 1, 1], [1, 3, 3], [3, 1, 3], [3, 3, 1]]) * 5.43 / 4
    for dtype in ("float32", "float64"):
        found = nbcc.neighbours(x.astype(dtype), 16.0, cell)
        assert np.abs(found.shifts).max() == 3
        expected = brute(x, 16.0, cell, reach=4)
        assert found.count == len(expected) - 8


def test_far_outside_of_the_cell():
    random = np.random.default_rng(8)
    cell, x = CELLS["turned"], random.random((40, 3)) @ CELLS["turned"]
    steps = random.integers(-1000, 1000, (40, 3))
    inside, outside = nbcc.neighbours(x, 1.7, cell), nbcc.neighbours(x + steps @ cell, 1.7, cell)
    assert np.array_equal(inside.edge_index, outside.edge_index)
    assert np.array_equal(outside.shifts, inside.shifts + steps[inside.i] - steps[inside.j])


def test_two_sets():
    random = np.random.default_rng(4)
    cell = CELLS["turned"]
    x, y = random.random((30, 3)) * 9 - 4, random.random((50, 3)) * 20 - 9  # y is several cells away
    for box, pbc in ((None, None), (cell, None), (cell, [True, False, True])):
        found = nbcc.neighbours(x, 2.0, box, pbc, y=y)
        sound(found, 30)
        assert np.array_equal(rows_of(found), brute(x, 2.0, box, (True,) * 3 if pbc is None else pbc, y, reach=11))


# ---- batches -----------------------------------------------------------------------------------------------


def test_batches():
    random = np.random.default_rng(5)
    sizes = [3, 0, 200, 1, 40, 7]
    cells = np.array([CELLS[name] for name in ("cube", "tiny", "slanted", "tiny", "turned", "left-handed")])
    pbcs = np.array([[1, 1, 1], [0, 0, 0], [1, 0, 1], [1, 1, 1], [0, 0, 0], [0, 1, 1]], bool)
    batch = random.permutation(np.repeat(np.arange(6), sizes))
    x = random.random((len(batch), 3)) * 6 - 2
    found = nbcc.neighbours(x, 1.5, cells, pbcs, batch)
    sound(found, len(x))
    expected = []
    for k in range(6):
        mine = np.flatnonzero(batch == k)
        one = rows_of(nbcc.neighbours(x[mine], 1.5, cells[k], pbcs[k]))
        expected.append(np.column_stack([mine[one[:, :2]], one[:, 2:]]))
    expected = np.concatenate(expected)
    assert np.array_equal(rows_of(found), expected[np.lexsort(expected.T[::-1])])
    y, y_batch = x[::-1].copy(), batch[::-1]
    both = nbcc.neighbours(x, 1.5, cells, pbcs, batch, y=y, y_batch=y_batch)
    assert both.count == nbcc.neighbours(x, 1.5, cells, pbcs, batch, self=True).count
    vectors = nbcc.neighbours(x, 1.5, cells, pbcs, batch, vectors=True).vectors
    periods = np.einsum("pa,pac->pc", found.shifts, cells[batch[found.i]])
    assert np.allclose(vectors, x[found.j] + periods - x[found.i], rtol=0, atol=1e-12)


def test_batches_without_cells():
    x = np.random.default_rng(6).random((60, 3))
    batch = np.arange(60) % 3
    found = nbcc.neighbours(x, 0.5, batch=batch)
    assert (batch[found.i] == batch[found.j]).all()
    assert found.count == sum(nbcc.neighbours(x[batch == k], 0.5).count for k in range(3))
    assert np.array_equal(nbcc.neighbours(x, 0.5, batch=batch, batches=9).edge_index, found.edge_index)


# ---- which pairs -------------------------------------------------------------------------------------------


def test_cutoffs_of_particles_and_types():
    random = np.random.default_rng(7)
    x, cell = random.random((80, 3)) * 5, CELLS["cube"]
    radii, types = random.uniform(0.0, 2.0, 80), random.integers(0, 3, 80)
    table = np.array([[1.0, 2.0, 0.0], [2.0, 0.5, 1.5], [0.0, 1.5, 1.2]])
    every = nbcc.neighbours(x, 2.0, cell, vectors=True)
    square = (every.vectors**2).sum(axis=1)
    within = square < radii[every.i] ** 2
    found = nbcc.neighbours(x, radii, cell)
    assert 0 < found.count < every.count and np.array_equal(rows_of(found), rows_of(every)[within])
    found = nbcc.neighbours(x, table, cell, types=types)
    within = square < table[types[every.i], types[every.j]] ** 2
    assert 0 < found.count < every.count and np.array_equal(rows_of(found), rows_of(every)[within])


def test_exclusions():
    x = np.random.default_rng(9).random((50, 3)) * 5
    every = nbcc.neighbours(x, 2.0, CELLS["cube"])
    first, j = np.arange(51), (np.arange(50) + 1) % 50
    for exclusions in ((first, j), nbcc.Rows(first, j)):
        found = nbcc.neighbours(x, 2.0, CELLS["cube"], exclusions=exclusions)
        left = every.j != (every.i + 1) % 50
        assert found.count < every.count and np.array_equal(rows_of(found), rows_of(every)[left])


def test_exclusions_of_half_lists_are_read_in_both_directions():
    x = np.random.default_rng(9).random((50, 3)) * 5
    every = nbcc.neighbours(x, 2.0, CELLS["cube"], half=True)
    random = np.random.default_rng(1)
    bonds = random.integers(0, 50, (120, 2))
    bonds = bonds[np.argsort(bonds[:, 0], kind="stable")]
    first = np.searchsorted(bonds[:, 0], np.arange(51))
    found = nbcc.neighbours(x, 2.0, CELLS["cube"], half=True, exclusions=(first, bonds[:, 1]))
    excluded = {(i, j) for i, j in np.sort(bonds).tolist()}
    left = [pair not in excluded for pair in zip(every.i.tolist(), every.j.tolist())]
    assert found.count < every.count and np.array_equal(rows_of(found), rows_of(every)[left])
    none = nbcc.neighbours(x, 2.0, CELLS["cube"], half=True, exclusions=([0] * 51, []))
    assert np.array_equal(rows_of(none), rows_of(every))


def test_lists_of_integers_and_of_arrays():
    x = [[0, 0, 0], [1, 0, 0], [3, 0, 0]]
    found = nbcc.neighbours(x, 1.5, [3.75, 9, 9], vectors=True, distances=True)
    assert np.array_equal(found.distances, [1, 0.75, 1, 0.75][: found.count]) and found.vectors.dtype == np.float64
    assert nbcc.neighbours(x, 1.5, y=[[1, 1, 0]], vectors=True).vectors.tolist() == [[1, 1, 0], [0, 1, 0]]
    cell = np.diag([3.75, 9, 9])
    both = nbcc.neighbours(x, 1.5, [cell] * 2, batch=[0, 1, 0], vectors=True)
    assert both.vectors.tolist() == [[-0.75, 0, 0], [0.75, 0, 0]]


@pytest.mark.parametrize("pbc", [True, False, np.bool_(True), np.array(False)])
def test_one_pbc_for_all_axes(pbc):
    x, cell = np.random.default_rng(3).random((20, 3)) * 5, CELLS["cube"]
    expected = rows_of(nbcc.neighbours(x, 2.0, cell, [bool(pbc)] * 3))
    assert np.array_equal(rows_of(nbcc.neighbours(x, 2.0, cell, pbc)), expected)
    batch = np.zeros(20, int)
    assert np.array_equal(rows_of(nbcc.neighbours(x, 2.0, [cell] * 2, pbc, batch)), expected)


def test_large_searches_are_not_kept(monkeypatch):
    from nbcc._c import _pair_search

    x = np.random.default_rng(3).random((50, 3))
    count = nbcc.neighbours(x, 0.5).count
    kept = sum(map(len, _pair_search._idle.values()))
    monkeypatch.setattr(_pair_search, "MAX_KEPT_PAIRS", count)
    nbcc.neighbours(x, 0.5)
    assert sum(map(len, _pair_search._idle.values())) == kept > 0
    monkeypatch.setattr(_pair_search, "MAX_KEPT_PAIRS", count - 1)
    nbcc.neighbours(x, 0.5)
    assert sum(map(len, _pair_search._idle.values())) == kept - 1


def test_capacity():
    x = np.random.default_rng(10).random((50, 3)) * 5
    every = nbcc.neighbours(x, 2.0, CELLS["cube"])
    found = nbcc.neighbours(x, 2.0, CELLS["cube"], capacity=every.count + 7)
    assert found.count[0] == every.count and found.i.shape == (every.count + 7,)
    assert np.array_equal(rows_of(found)[: every.count], rows_of(every))
    assert (rows_of(found)[every.count :] == [50, 50, 0, 0, 0]).all()
    assert np.array_equal(found.first, every.first)
    with pytest.raises(ValueError, match=f"capacity: expected at least {every.count}, the number of pairs, got 3"):
        nbcc.neighbours(x, 2.0, CELLS["cube"], capacity=3)


def test_periodic_axes_are_those_that_are_true():
    x, cell = np.zeros((1, 3)), np.eye(3)
    every = nbcc.neighbours(x, 1.1, cell).count
    for pbc in (True, np.bool_(True), 1, [1, True, 1], [[1, 1, 1]]):
        batch = [0] if np.ndim(pbc) == 2 else None
        assert nbcc.neighbours(x, 1.1, cell, pbc, batch).count == every == 6
    assert nbcc.neighbours(x, 1.1, cell, False).count == 0


def test_no_systems():
    cells, pbc = np.zeros((0, 3, 3)), np.zeros((0, 3), bool)
    found = nbcc.neighbours(np.zeros((0, 3)), 1.0, cells, pbc, np.zeros(0, int))
    assert found.count == 0
    with pytest.raises(ValueError, match=r"cell: expected a cell for each batch, got \(0, 3, 3\)"):
        nbcc.neighbours(np.zeros((1, 3)), 1.0, cells, batch=[0])


@pytest.mark.parametrize(
    "error, message, arguments",
    [
        (ValueError, r"x: expected shape \(N, 3\), got \(4, 2\)", dict(x=np.zeros((4, 2)))),
        (TypeError, "x: expected float32 or float64, got int64", dict(x=np.zeros((4, 3), int))),
        (nbcc.UsageError, "expected a finite cutoff > 0, got -1", dict(cutoff=-1.0)),
        (nbcc.UsageError, "particle 2 of x: expected a finite position", dict(x=np.array([[0, 0, 0], [1, 1, 1], [np.nan, 0, 0.0]]))),
        (nbcc.UsageError, "cell 0: expected finite vectors that are independent", dict(cell=np.ones((3, 3)))),
        (nbcc.UsageError, "cell 0: expected a cutoff of less than 999 cells along an axis, got 10000 cells", dict(cell=[1e-4, 1, 1])),
        (nbcc.UsageError, "particle 3 of x: expected a batch from 0 to 1, got 2", dict(batch=[0, 1, 0, 2], batches=2)),
        (ValueError, r"batch: expected shape \(4,\)", dict(batch=[0, 1])),
        (TypeError, "batch: expected integers, got float64", dict(batch=np.zeros(4))),
        (TypeError, "pbc: expected a cell", dict(pbc=True)),
        (ValueError, r"cell: expected \(3,\) or \(3, 3\), got \(2, 3\)", dict(cell=np.ones((2, 3)))),
        (ValueError, r"cutoff: expected a number or shape \(4,\)", dict(cutoff=[1.0, 2.0])),
        (ValueError, "types: expected 0 to 1, got 0 to 2", dict(cutoff=np.ones((2, 2)), types=[0, 1, 2, 0])),
        (TypeError, "y_batch and y_types are of the particles of y", dict(batch=[0] * 4, y_batch=[0] * 4)),
        (TypeError, "half and self are for i and j of one set", dict(y=np.zeros((2, 3)), half=True)),
        (TypeError, "y: expected float64 as x has, got float32", dict(y=np.zeros((2, 3), "f4"))),
        (ValueError, "exclusions: first: expected integers that rise", dict(exclusions=([0, 1, 0, 1, 1], [1]))),
        (ValueError, r"pbc: expected a bool or \(3,\), got \(2,\)", dict(cell=np.eye(3), pbc=[True, False])),
        (TypeError, "pbc: expected bools or .*, got strings", dict(cell=np.eye(3), pbc="yes")),
        (TypeError, "pbc: expected bools or integers, got float", dict(cell=np.eye(3), pbc=[1.0, 1.0, 1.0])),
        (ValueError, r"pbc: expected True or False, 1 or 0, got \[1, 2, 0\]", dict(cell=np.eye(3), pbc=[1, 2, 0])),
        (ValueError, "pbc: expected True or False, 1 or 0, got 4294967296", dict(cell=np.eye(3), pbc=2**32)),
        (TypeError, "batch: expected integers, got float64", dict(batch=[0.5, 1, 1, 0])),
        (ValueError, "batch: expected numbers of batches below 2147483647, got 1099511627776", dict(batch=[0, 0, 0, 2**40])),
        (TypeError, "types: expected integers, got a list with a bool", dict(cutoff=np.ones((2, 2)), types=[0, 1, True, 0])),
        (TypeError, "types: expected integers, got bool", dict(cutoff=np.ones((2, 2)), types=[True] * 4)),
        (TypeError, "exclusions: first: expected integers, got float64", dict(exclusions=([0, 1, 1, 1, 1.5], [1]))),
        (TypeError, "exclusions: j: expected integers, got float64", dict(exclusions=([0, 1, 1, 1, 1], [1.5]))),
        (TypeError, "exclusions: expected rows without images", dict(exclusions=nbcc.Rows([0, 1, 1, 1, 1], [1], [[0, 0, 0]]))),
        (nbcc.DeviceError, "batch: a search in 2000000000 batches: out of", dict(batch=[0, 0, 0, 1999999999])),
        (TypeError, "cell: expected an array without a mask", dict(cell=np.ma.masked_array(np.eye(3)))),
        (TypeError, "cell: expected real numbers, got strings", dict(cell="abc")),
        (TypeError, "cell: expected real numbers, got complex128", dict(cell=np.eye(3) * 1j)),
        (TypeError, "cutoff: expected real numbers, got strings", dict(cutoff=["1"] * 4)),
        (TypeError, "x: expected an array, or rows of numbers of one length", dict(x=[[0, 1, 2], [0, 1]])),
        (TypeError, "half: expected True or False, got 'no'", dict(half="no")),
        (TypeError, "vectors: expected True or False, got 2", dict(vectors=2)),
        (ValueError, "exclusions: j: expected 0 to 3, got 4 to 4", dict(exclusions=([0, 1, 1, 1, 1], [4]))),
    ],
)
def test_errors(error, message, arguments):
    with pytest.raises(error, match=message):
        nbcc.neighbours(**{"x": np.zeros((4, 3)), "cutoff": 1.0, **arguments})


# ---- libraries ---------------------------------------------------------------------------------------------


def test_against_vesin():
    vesin = pytest.importorskip("vesin", reason="no vesin here: ./dev setup installs it where there is a network")
    for name, n, cutoff in (("cube", 200, 1.9), ("slanted", 100, 3.1), ("tiny", 8, 2.2), ("turned", 60, 1.4)):
        cell = CELLS[name]
        x = (np.random.default_rng(n).random((n, 3)) * 2 - 0.5) @ cell
        for half in (False, True):
            search = vesin.NeighborList(cutoff=cutoff, full_list=not half)
            i, j, shifts = search.compute(points=x, box=cell, periodic=True, quantities="ijS")
            found = nbcc.neighbours(x, cutoff, cell, half=half)
            if half:  # it may have the other of two mirrored pairs
                assert found.count == len(i)
                continue
            rows = np.column_stack([i, j, shifts]).astype(np.int64)
            assert np.array_equal(rows_of(found), rows[np.lexsort(rows.T[::-1])])


def test_torch():
    torch = pytest.importorskip("torch")
    x = torch.rand(40, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1)) * 5
    cell = torch.tensor(CELLS["slanted"])
    expected = nbcc.neighbours(x.numpy(), 2.0, cell.numpy())
    found = nbcc.neighbours(x, 2.0, cell)
    assert all(isinstance(array, torch.Tensor) for array in found[:5])
    assert np.array_equal(rows_of(found), rows_of(expected)) and found.edge_index.shape == (2, found.count)
    x.requires_grad_(), cell.requires_grad_()

    def energy(x, cell):
        return (nbcc.neighbours(x, 2.0, cell, vectors=True, distances=True).distances - 2.0).pow(3).sum()

    assert torch.autograd.gradcheck(energy, (x, cell)) and torch.autograd.gradgradcheck(energy, (x, cell))
    same = nbcc.neighbours(x, torch.tensor(2.0, requires_grad=True), cell, True)
    assert same.count == expected.count
    batch = torch.arange(40, dtype=torch.uint8) % 2
    found = nbcc.neighbours(x, 2.0, [CELLS["slanted"]] * 2, batch=batch, vectors=True)
    assert 0 < found.count < expected.count and (found.vectors.norm(dim=1) < 2.0).all()
    half = nbcc.neighbours(x, 2.0, cell, half=True, exclusions=(torch.arange(41), torch.arange(40).flip(0)))
    of_numpy = nbcc.neighbours(x.detach().numpy(), 2.0, CELLS["slanted"], half=True, exclusions=(range(41), range(39, -1, -1)))
    assert np.array_equal(rows_of(half), rows_of(of_numpy)) and half.count < expected.count / 2
    for name, transform in (("vmap", torch.func.vmap), ("grad, vjp or jvp", torch.func.grad)):
        with pytest.raises(TypeError, match=f"x: a tensor inside of torch.func.{name} cannot be searched"):
            transform(lambda x: nbcc.neighbours(x, 2.0, distances=True).distances.sum())(x[None] if name == "vmap" else x)
    with pytest.raises(TypeError, match="y: with vectors or distances expected an array of numpy as x, got one of torch"):
        nbcc.neighbours(x.detach().numpy(), 2.0, y=x, vectors=True)


def test_jax():
    jax = pytest.importorskip("jax")
    x = jax.numpy.asarray(np.random.default_rng(2).random((40, 3)) * 5, "float32")
    cell = jax.numpy.asarray(CELLS["cube"], "float32")
    expected = nbcc.neighbours(np.asarray(x), 2.0, CELLS["cube"])
    found = nbcc.neighbours(x, 2.0, cell)
    assert isinstance(found.i, jax.Array) and np.array_equal(rows_of(found), rows_of(expected))

    @jax.jit
    def in_jit(x, cell):
        return nbcc.neighbours(x, 2.0, cell, capacity=expected.count + 5)

    found = in_jit(x, cell)
    assert found.count[0] == expected.count
    assert np.array_equal(rows_of(found)[: expected.count], rows_of(expected))
    small = jax.jit(lambda x: nbcc.neighbours(x, 2.0, cell, capacity=60))(x)
    assert small.count[0] == expected.count > 60
    whole = small.i < 40
    assert 0 < whole.sum() <= 60 and np.array_equal(rows_of(small)[whole], rows_of(expected)[: int(whole.sum())])
    with pytest.raises(TypeError, match="capacity: expected a number inside of jax.jit"):
        jax.jit(lambda x: nbcc.neighbours(x, 2.0, cell))(x)

    def energy(x):
        return (((nbcc.neighbours(x, 2.0, cell, vectors=True).vectors ** 2).sum(-1) - 4.0) ** 3).sum()

    step = 1e-2 * np.eye(120)[7].reshape(40, 3).astype("float32")
    assert np.isclose((jax.grad(energy)(x) * step).sum(), (energy(x + step) - energy(x - step)) / 2, rtol=0.02)


def test_jax_with_lists_and_batches():
    jax = pytest.importorskip("jax")
    x = jax.numpy.asarray(np.random.default_rng(2).random((40, 3)) * 5, "float32")
    batch = [k % 2 for k in range(40)]
    cells = jax.numpy.asarray([CELLS["cube"], CELLS["slanted"]], "float32")
    expected = nbcc.neighbours(np.asarray(x), 2.0, np.asarray(cells), True, batch, vectors=True)
    for given in (cells, list(cells)):
        found = nbcc.neighbours(x, 2.0, given, True, batch, vectors=True)
        assert isinstance(found.vectors, jax.Array) and np.array_equal(rows_of(found), rows_of(expected))
        assert np.allclose(found.vectors, expected.vectors, atol=1e-5)


def test_errors_of_traced_calls():
    jax = pytest.importorskip("jax")
    numpy = jax.numpy
    x, cell = numpy.zeros((4, 3)), numpy.eye(3)
    for error, message, function, argument in (
        (TypeError, "cutoff: expected values that are known outside of jax.jit", lambda c: dict(cutoff=c), 1.0),
        (TypeError, "pbc: expected values that are known outside of jax.jit", lambda c: dict(cell=cell, pbc=c), numpy.array([True] * 3)),
        (TypeError, "types: expected values that are known", lambda c: dict(cutoff=np.ones((2, 2)), types=c), numpy.zeros(4, int)),
        (TypeError, "exclusions: expected values that are known", lambda c: dict(exclusions=(c, [1])), numpy.zeros(5, int)),
        (ValueError, r"cell: expected \(3,\) or \(3, 3\), got \(2, 3\)", lambda c: dict(cell=c), numpy.ones((2, 3))),
        (TypeError, "batch: expected integers, got float32", lambda c: dict(batch=c), numpy.ones(4, "float32")),
        (TypeError, "y: expected float32 or float64, got float16", lambda c: dict(x=numpy.zeros((4, 3), "float32"), y=c), numpy.zeros((2, 3), "float16")),
        (TypeError, "half: expected True or False", lambda c: dict(x=c, half=3), x),
        (TypeError, "stream: expected None inside of jax.jit", lambda c: dict(x=c, stream=1), x),
        (TypeError, "types: expected integers, got float64", lambda c: dict(x=c, cutoff=np.ones((2, 2)), types=np.zeros(4)), x),
    ):
        with pytest.raises(error, match=message):
            jax.jit(lambda c: nbcc.neighbours(**{"x": x, "cutoff": 1.0, "capacity": 5, **function(c)}))(argument)
    with pytest.raises(TypeError, match="capacity: expected a number inside of jax.vmap"):
        jax.vmap(lambda x: nbcc.neighbours(x, 1.0).i)(x[None])


def test_jax_vmap_and_batches_of_traced_calls():
    jax = pytest.importorskip("jax")
    x = jax.numpy.asarray(np.random.default_rng(2).random((3, 20, 3)) * 5, "float32")
    found = jax.vmap(lambda x: nbcc.neighbours(x, 2.0, np.eye(3) * 5, capacity=400))(x)
    assert found.count[:, 0].tolist() == [nbcc.neighbours(one, 2.0, np.eye(3) * 5).count for one in x]
    batch, pbc = jax.numpy.arange(20) % 2, np.array([[True] * 3, [False] * 3])
    one = jax.jit(lambda x, b: nbcc.neighbours(x, 2.0, np.eye(3) * 5, pbc, b, capacity=400))(x[0], batch)
    assert one.count[0] == nbcc.neighbours(x[0], 2.0, np.eye(3) * 5, pbc, batch).count > 0
    of_jax = jax.jit(lambda x: nbcc.neighbours(x, 2.0, np.eye(3) * 5, jax.numpy.asarray([True] * 3), capacity=400))
    with pytest.raises(TypeError, match="pbc: expected values that are known outside of jax.jit"):
        of_jax(x[0])  # inside of jax.jit, JAX traces even constants
    axes, first, j = jax.numpy.asarray([True, False, True]), jax.numpy.arange(21), jax.numpy.arange(20)[::-1]
    options = dict(pbc=axes, exclusions=(first, j), types=jax.numpy.arange(20) % 2)
    table = jax.numpy.asarray([[2.0, 1.5], [1.5, 1.0]])
    one = jax.jit(lambda x: nbcc.neighbours(x, table, np.eye(3) * 5, **options, capacity=400))(x[0])
    assert one.count[0] == nbcc.neighbours(x[0], table, np.eye(3) * 5, **options).count > 0
