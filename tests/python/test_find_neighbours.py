"""Pipeline.find_neighbours: against vesin, an independent program, and against all pairs of NumPy's."""

import itertools
import warnings

import numpy as np
import pytest

import nbcc

PERIODIC = """
input_i vec3 xi;
input_j vec3 xj;
param   real rc = 1.0;
param   vec3 box = vec3(10, 10, 10);
output(sum) real near;
output(sum) vec3 moment;

vec3 dx = nearest_image(xj - xi, box);
skip_if(dot(dx, dx) >= rc * rc);
near += 1.0;
moment += dx;
"""
OPEN = PERIODIC.replace("nearest_image(xj - xi, box)", "xj - xi").replace("param   vec3 box = vec3(10, 10, 10);\n", "")
# In x and y; z is open.
SLAB = PERIODIC.replace(
    "nearest_image(xj - xi, box)",
    "vec3(nearest_image(xj.x - xi.x, box.x), nearest_image(xj.y - xi.y, box.y), xj.z - xi.z)",
)
CELL = """
input_i vec3 xi;
input_j vec3 xj;
param   real rc = 1.0;
param   vec3 a;
param   vec3 b;
param   vec3 c;
output(sum) real near;

vec3 dx = nearest_image(xj - xi, a, b, c);
skip_if(dot(dx, dx) >= rc * rc);
near += 1.0;
"""
REACHES = """
input_i vec3 xi;
input_i real hi;
input_j vec3 xj;
input_j real hj;
param   vec3 box = vec3(10, 10, 10);
output(sum) real near;

vec3 dx = nearest_image(xj - xi, box);
real h = max(hi, hj);
skip_if(dot(dx, dx) >= h * h);
near += 1.0;
"""


def compiled(text):
    return pytest.fixture(scope="module")(lambda: nbcc.compile(source=text, name="near.pipe", precision="double"))


periodic, open_space, slab, cell, reaches = map(compiled, (PERIODIC, OPEN, SLAB, CELL, REACHES))


def places(n, lengths, seed, beyond=0.0):
    """beyond: so many boxes out of the first on either side."""
    return np.random.default_rng(seed).uniform(-beyond, 1 + beyond, (n, 3)) * lengths


def by_row(found):
    """i of each pair."""
    return np.repeat(np.arange(len(found.first) - 1), np.diff(found.first))


def sound(found, ni):
    assert isinstance(found, nbcc.Neighbours)
    assert (found.first.dtype, found.j.dtype, found.shifts.dtype) == (np.int64, np.int64, np.float64)
    assert found.first.shape == (ni + 1,) and found.first[0] == 0 and found.first[-1] == len(found.j)
    assert found.shifts.shape == (len(found.j), 3)
    # In rising order within a row, each once.
    assert ((np.diff(by_row(found)) > 0) | (np.diff(found.j) > 0)).all()
    for array in found:
        assert array.flags.owndata and array.flags.writeable


def triples(i, j, steps):
    """(i, j, steps of the lattice), of one order."""
    rows = np.column_stack([i, j, steps])
    return rows[np.lexsort(rows.T[::-1])]


def steps_of(found, vectors):
    """How many lattice vectors each shift is; it must be whole ones, but for a rounding or two of the places."""
    steps = np.rint(found.shifts @ np.linalg.inv(vectors)).astype(np.int64)
    scale = np.abs(vectors).max() * (1 + np.abs(steps).max(initial=0))
    assert np.abs(found.shifts - steps @ vectors).max(initial=0) <= 8 * np.finfo(np.float64).eps * scale
    return steps


# ---- against vesin -----------------------------------------------------------------------------------------


def of_vesin(x, vectors, wraps, rc):
    """All pairs but those of a particle and itself."""
    vesin = pytest.importorskip("vesin", reason="no vesin here: ./dev setup installs it where there is a network")
    search = vesin.NeighborList(cutoff=rc, full_list=True, n_threads=1)
    i, j, steps = search.compute(points=x, box=vectors, periodic=wraps, quantities="ijS")
    return triples(i.astype(np.int64), j.astype(np.int64), steps.astype(np.int64))


def same_as_vesin(found, x, vectors, wraps, rc):
    sound(found, len(x))
    i, steps = by_row(found), steps_of(found, vectors)
    own = i == found.j
    assert own.sum() == len(x) and not found.shifts[own].any()
    expected = of_vesin(x, vectors, wraps, rc)
    assert len(expected) > len(x)
    assert np.array_equal(triples(i[~own], found.j[~own], steps[~own]), expected)


@pytest.mark.parametrize(
    "n, lengths, rc, beyond",
    [
        (1000, (10, 10, 10), 1.5, 0),
        (3000, (10, 10, 10), 1.5, 0),
        (1000, (1, 1, 1), 0.49, 0),
        (2000, (9.7, 13.1, 6.3), 1.5, 0),
        (2000, (9.7, 13.1, 6.3), 3.1, 2.5),
        (1500, (20, 3, 5), 1.25, 0.5),
    ],
)
def test_boxes(periodic, n, lengths, rc, beyond):
    x = places(n, lengths, n, beyond)
    same_as_vesin(periodic.find_neighbours(x, x, rc, lengths), x, np.diag(np.array(lengths, float)), True, rc)


def test_a_box_that_is_open_along_an_axis(slab):
    lengths = np.array([8.0, 5.0, 12.0])
    x = places(2000, lengths, 4)
    found = slab.find_neighbours(x, x, rc=1.25, box=lengths)
    same_as_vesin(found, x, np.diag(lengths), [True, True, False], 1.25)
    assert not found.shifts[:, 2].any() and found.shifts[:, 0].any()


@pytest.mark.parametrize("n, rc", [(1000, 0.8), (3000, 0.5), (1000, 3.0)])
def test_open_space(open_space, n, rc):
    x = places(n, (5, 4, 6), n)
    found = open_space.find_neighbours(x, x, rc=rc)
    same_as_vesin(found, x, np.eye(3), False, rc)
    assert not found.shifts.any()


def test_a_cell_of_any_shape(cell):
    vectors = np.array([[7.0, 0, 0], [2.0, 6.5, 0], [-1.5, 1.0, 8.0]])
    x = np.random.default_rng(6).random((2000, 3)) @ vectors
    same_as_vesin(cell.find_neighbours(x, x, 1.5, *vectors), x, vectors, True, 1.5)


# ---- against all pairs -------------------------------------------------------------------------------------


def nearest_of_all(xi, xj, vectors, most=2):
    """Distances, and steps of the lattice to the nearest copies, among those up to `most` cells away."""
    steps = np.array(list(itertools.product(range(-most, most + 1), repeat=3)))
    apart = (xj[None] - xi[:, None])[:, :, None, :] + steps @ vectors
    distances = np.sqrt((apart * apart).sum(axis=3))
    best = distances.argmin(axis=2)
    return np.take_along_axis(distances, best[:, :, None], 2)[:, :, 0], steps[best]


def same_as_all(found, acts, steps, vectors):
    sound(found, len(acts))
    i, j = np.nonzero(acts)
    assert len(i) > 0
    assert np.array_equal(triples(by_row(found), found.j, steps_of(found, vectors)), triples(i, j, steps[i, j]))


@pytest.mark.parametrize("ni, nj", [(1, 1), (60, 60), (130, 45)])
def test_a_reach_of_both_sides(reaches, ni, nj):
    random = np.random.default_rng(ni)
    xi, xj = places(ni, 10, 1), places(nj, 10, 1)
    hi, hj = random.uniform(0.1, 4, ni), random.uniform(0.1, 4, nj)
    found = reaches.find_neighbours(xi, hi, xj, hj)
    distances, steps = nearest_of_all(xi, xj, 10 * np.eye(3), 1)
    same_as_all(found, distances < np.maximum(hi[:, None], hj), steps, 10 * np.eye(3))


@pytest.mark.parametrize("rc", [1.5, 2.5])
def test_a_slanted_cell(cell, rc):
    vectors = np.array([[6.0, 0, 0], [2.5, 6.0, 0], [-2.0, 1.5, 7.0]])
    random = np.random.default_rng(9)
    xi, xj = random.random((70, 3)) @ vectors, random.random((90, 3)) @ vectors
    distances, steps = nearest_of_all(xi, xj, vectors)
    same_as_all(cell.find_neighbours(xi, xj, rc, *vectors), distances < rc, steps, vectors)


@pytest.mark.parametrize("length", [0, np.inf, 1e30])
def test_open_axes(periodic, cell, length):
    n = 120
    x = places(n, (6, 5, 7), 8, 0.5)
    for axis in range(3):
        box = np.array([6.0, 5.0, 7.0])
        vectors = np.array([[6.0, 0, 0], [2.5, 5.0, 0], [-2.0, 1.5, 7.0]])
        box[axis], vectors[axis] = length, np.where(np.arange(3) == axis, length, 0)
        for pipeline, given, repeated in (
            (periodic, [box], np.diag(np.where(np.arange(3) == axis, 0, box))),
            (cell, vectors, np.where(np.arange(3)[:, None] == axis, 0, vectors)),
        ):
            found = pipeline.find_neighbours(x, x, 2.2, *given)
            distances, shifts = np.full((n, n), np.inf), np.zeros((n, n, 3))
            for steps in itertools.product(range(-4, 5), repeat=3):
                shift = np.array(steps) @ repeated
                away = np.sqrt(((x[None] + shift - x[:, None]) ** 2).sum(axis=2))
                shifts[away < distances] = shift
                distances = np.minimum(distances, away)
            i, j = np.nonzero(distances < 2.2)
            assert np.array_equal(by_row(found), i) and np.array_equal(found.j, j)
            assert np.allclose(found.shifts, shifts[i, j], rtol=0, atol=1e-12)
            sums = pipeline(x, x, 2.2, *given)  # of one output alone: the array
            assert np.array_equal(getattr(sums, "near", sums), np.diff(found.first))


# ---- with the rest of the package --------------------------------------------------------------------------


@pytest.mark.parametrize("guard", ["i_index == j_index", "self_pair"])
def test_a_guard_that_excludes_the_pairs_of_a_particle_and_itself(periodic, guard):
    x = places(300, 10, 5)
    near = nbcc.compile(source=PERIODIC.replace("skip_if(", f"skip_if({guard}); skip_if("), precision="double")
    found, every = near.find_neighbours(x, x, rc=2.0), periodic.find_neighbours(x, x, rc=2.0)
    left = every.j != by_row(every)
    assert left.sum() == len(left) - 300
    assert np.array_equal(found.j, every.j[left]) and np.array_equal(by_row(found), by_row(every)[left])
    assert np.array_equal(found.shifts, every.shifts[left])
    sums = near(x, x, rc=2.0, listed_pairs=(found.first, found.j))
    assert np.array_equal(sums.near, near(x, x, rc=2.0).near)


def test_arrays_of_the_library_of_the_inputs(periodic):
    torch = pytest.importorskip("torch")
    x = places(100, 10, 5)
    found = periodic.find_neighbours(torch.tensor(x), torch.tensor(x), rc=2.0)
    assert all(isinstance(one, torch.Tensor) for one in found)
    assert all(np.array_equal(one, other) for one, other in zip(found, periodic.find_neighbours(x, x, rc=2.0)))


def rows(n, random):
    lists = [random.choice(n, random.integers(0, 30), replace=False) for _ in range(n)]
    return np.cumsum([0] + [len(one) for one in lists]), np.concatenate(lists)


def test_exclusions(periodic):
    x, random = places(400, 10, 5), np.random.default_rng(5)
    every = periodic.find_neighbours(x, x, rc=2.5)
    first, j = rows(400, random)
    for exclusions in ((first, j), nbcc.Rows(first, j)):
        found = periodic.find_neighbours(x, x, rc=2.5, exclusions=exclusions)
        sound(found, 400)
        out = set(zip(np.repeat(np.arange(400), np.diff(first)).tolist(), j.tolist()))
        left = [k for k, pair in enumerate(zip(by_row(every).tolist(), every.j.tolist())) if pair not in out]
        assert len(left) < len(every.j)
        assert np.array_equal(by_row(found), by_row(every)[left]) and np.array_equal(found.j, every.j[left])
        assert np.array_equal(found.shifts, every.shifts[left])
    others = periodic.find_neighbours(x, x, rc=2.5, exclusions=(range(401), range(400)))
    assert len(others.j) == len(every.j) - 400 and (by_row(others) != others.j).all()
    assert len(periodic.find_neighbours(x, x, rc=2.5).j) == len(every.j)


def test_they_are_what_a_call_sums_over(periodic):
    x, y = places(500, 10, 1), places(700, 10, 2)
    found = periodic.find_neighbours(x, y, rc=2.0)
    near, moment = periodic(x, y, rc=2.0, pairs="all")
    assert np.array_equal(np.diff(found.first), near)
    for given in ((found.first, found.j), nbcc.Rows(found.first, found.j)):
        assert np.array_equal(periodic(x, y, rc=2.0, listed_pairs=given).near, near)
    dx = y[found.j] + found.shifts - x[by_row(found)]
    assert (np.sqrt((dx * dx).sum(axis=1)) < 2.0).all()
    summed = np.zeros((500, 3))
    np.add.at(summed, by_row(found), dx)
    assert np.allclose(summed, moment, rtol=0, atol=1e-11)


def test_shifts_are_those_of_lists(periodic, open_space):
    x = places(300, 10, 3)
    found = periodic.find_neighbours(x, x, rc=2.0)
    # A group for each i, a range for each pair; and the pipeline knows of no box.
    lists = nbcc.Lists(range(301), found.first, found.j, found.j + 1, shifts=found.shifts)
    assert np.array_equal(open_space(x, x, rc=2.0, lists=lists).near, np.diff(found.first))
    assert open_space(x, x, rc=2.0).near.sum() < len(found.j)


def test_calls_before_and_after(periodic):
    x, y, small = places(500, 10, 1), places(700, 10, 2), places(40, 10, 3)
    expected = nbcc.compile(source=PERIODIC, precision="double").find_neighbours(x, y)
    near = nbcc.compile(source=PERIODIC, precision="double", skin=0.5, pairs="cutoff")
    ids = [np.zeros(len(one), int) for one in (x, y)]
    for before in (
        lambda: near(small, y),
        lambda: near(x, y, pairs="auto", skin=0, batches=ids),
        lambda: near(x, y, exclusions=(np.arange(501), np.arange(500))),
        lambda: near(x, y),
    ):
        before()
        assert all(np.array_equal(one, other) for one, other in zip(near.find_neighbours(x, y), expected))
        # With what a skin has kept, too.
        assert np.array_equal(near(x, y).near, periodic(x, y, pairs="all").near)
        assert np.array_equal(near(x + 0.01, y).near, periodic(x + 0.01, y, pairs="all").near)
    bound = near.bind(y)
    for _ in range(2):
        assert all(np.array_equal(one, other) for one, other in zip(bound.find_neighbours(x), expected))
        assert np.array_equal(bound(x).near, np.diff(expected.first))
    y[:] = y[::-1].copy()
    bound.j_changed()
    moved = periodic.find_neighbours(x, y)
    assert all(np.array_equal(one, other) for one, other in zip(bound.find_neighbours(x), moved))
    assert np.array_equal(bound(x).near, np.diff(moved.first))


@pytest.mark.parametrize("precision", ["single", "mixed"])
def test_of_every_precision(periodic, precision):
    x = places(1000, 10, 8)
    found = nbcc.compile(source=PERIODIC, precision=precision).find_neighbours(x, x, rc=2)
    assert all(np.array_equal(one, other) for one, other in zip(found, periodic.find_neighbours(x, x, rc=2)))


# A lattice whose spacing no binary number is: which pairs are at the cutoff, roundings decide, and the list has the
# decision of the kernel.
@pytest.mark.parametrize("precision", ["single", "mixed", "double"])
@pytest.mark.parametrize("guard", ["dot(dx, dx) > rc * rc", "!(dot(dx, dx) <= rc * rc)", "sqrt(dot(dx, dx)) > rc"])
def test_a_cutoff_that_is_inclusive(precision, guard):
    text = PERIODIC.replace("dot(dx, dx) >= rc * rc", guard)
    near = nbcc.compile(source=text, name="inclusive.pipe", precision=precision)
    x = 0.1 * np.array(list(itertools.product(range(6), repeat=3)), float)
    for rc in (0.1, 0.2, 0.1 * np.sqrt(2), 0.1 * np.sqrt(3), 0.3):
        for box in ((10, 10, 10), (0.6, 0.7, 0.8)):
            found = near.find_neighbours(x, x, rc=rc, box=box)
            assert np.array_equal(np.diff(found.first), near(x, x, rc=rc, box=box, pairs="all").near)
    x = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0]], float)
    assert near.find_neighbours(x, x, rc=1).j.tolist() == [0, 1, 0, 1, 2, 1, 2]


# ---- a cutoff beyond half of the box -----------------------------------------------------------------------


def warned(*calls):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for call in calls:
            call()
    assert all(one.filename == __file__ for one in seen)
    return [str(one.message) for one in seen]


def test_images_that_are_not_counted_are_warned_of_once():
    near = nbcc.compile(source=PERIODIC, name="near.pipe", precision="double")
    x = places(30, 4, 1)
    half = dict(rc=2.0, box=(4, 5, 6))
    more = dict(rc=2.1, box=(4, 5, 6))
    assert warned(lambda: near(x, x, **half), lambda: near.find_neighbours(x, x, **half)) == []
    text = (
        "pipeline 'near': the cutoff of 2.1 is more than half of the periodic box 4 x 5 x 6, whose shortest period is "
        "4: only the nearest image of each pair is counted, others within the cutoff are missing; every_image() counts them"
    )
    for pairs in ("auto", "all", "cutoff"):
        again = nbcc.compile(source=PERIODIC, name="near.pipe", precision="double", pairs=pairs)
        assert warned(lambda: again(x, x, **more), lambda: again(x, x, **more)) == [text]
    assert warned(lambda: near.find_neighbours(x, x, **more), lambda: near(x, x, **more)) == [text]
    # In between it did not hold.
    assert warned(lambda: near(x, x, **half), lambda: near(x, x, **more)) == [text]
    assert len(warned(lambda: near.bind(x)(x, rc=2.6, box=(9, 9, 5)))) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="more than half"):
            nbcc.compile(source=PERIODIC, name="near.pipe")(x, x, **more)


def test_no_particle_and_one(periodic, open_space):
    x = places(50, 10, 7)
    for near in (periodic, open_space):
        for ni, nj in ((0, 0), (0, 50), (50, 0)):
            found = near.find_neighbours(x[:ni], x[:nj])
            sound(found, ni)
            assert not found.first.any() and len(found.j) == 0
        one = near.find_neighbours(x[:1], x[:1])
        sound(one, 1)
        assert one.first.tolist() == [0, 1] and one.j.tolist() == [0] and one.shifts.tolist() == [[0, 0, 0]]
        assert str(one) == "<nbcc.Neighbours of 1 i: 1 pairs>"
        none = near.find_neighbours(x[:1], x[:1], exclusions=([0, 1], [0]))
        assert none.first.tolist() == [0, 0] and none.shifts.shape == (0, 3)


def test_one_that_is_nowhere_has_none(periodic):
    x = places(300, 10, 7)
    whole = periodic.find_neighbours(x, x, rc=2)
    x[11, 1] = np.nan
    found = periodic.find_neighbours(x, x, rc=2)
    left = (by_row(whole) != 11) & (whole.j != 11)
    assert np.array_equal(by_row(found), by_row(whole)[left]) and np.array_equal(found.j, whole.j[left])


def test_what_a_call_takes_and_a_search_does_not(periodic):
    for name in ("lists", "listed_pairs"):
        with pytest.raises(TypeError, match=rf"find_neighbours\(\) takes no {name}=: .*\(..., {name}=\) sums over such pairs"):
            periodic.find_neighbours(np.zeros((2, 3)), np.zeros((2, 3)), **{name: None})


def test_what_is_refused(periodic, reaches, gravity):
    x, m = places(20, 10, 1), np.ones(20)
    with pytest.raises(nbcc.UsageError, match="neighbours: it is not proved for pipeline 'gravity' that distant pairs"):
        gravity.find_neighbours(x, x, m)
    with pytest.raises(nbcc.UsageError, match="param 'box' of pipeline 'near' is NaN: expected a number"):
        periodic.find_neighbours(x, x, box=[10, np.nan, 10])
    assert len(periodic.find_neighbours(x, x).j) >= 20
    with pytest.raises(TypeError, match="near.* lacks its input_j vec3 xj"):
        periodic.find_neighbours(x)
    with pytest.raises(TypeError, match="has no input and no param 'out'"):
        periodic.find_neighbours(x, x, out=m)
    with pytest.raises(ValueError, match="'hj' .*expected 20 j-particles, as 'xj' has, got 3"):
        reaches.find_neighbours(x, m, x, [1.0, 2, 3])
    with pytest.raises(nbcc.UsageError, match=r"exclusions: j\[0\] is 20, but there are 20 j-particles"):
        periodic.find_neighbours(x, x, exclusions=([0, 1] + [1] * 19, [20]))
    with pytest.raises(nbcc.UsageError, match="exclusions: there are rows for 1 i-particles"):
        periodic.find_neighbours(x, x, exclusions=([0, 1], [0]))
    text = "input_i real x; input_j real y; input_pair real k; output(sum) real s; s += k * y - x;"
    bonds = nbcc.compile(source=text)
    with pytest.raises(TypeError, match="expected a pipeline whose pairs are searched for; .* its input_pair real k"):
        bonds.find_neighbours(m, m, m)
    counts = nbcc.compile(source="input_j real x; output(sum) real s; s += x;", name="counts.pipe")
    with pytest.raises(TypeError, match=r"counts\(\) has no input_i: ni= must give"):
        counts.find_neighbours(m)
    with pytest.raises(nbcc.UsageError, match="not proved"):
        counts.find_neighbours(m, ni=3)
