"""Pipeline.find_neighbours with batches, and of arrays on a GPU: against the search on the CPU, batch by batch."""

import numpy as np
import pytest

import nbcc

TEXT = """
input_i vec3 xi;
input_j vec3 xj;
param   real rc = 1.0;
param   vec3 box = vec3(10, 10, 10);
output(sum) real near;

vec3 dx = nearest_image(xj - xi, box);
skip_if(dot(dx, dx) >= rc * rc);
near += 1.0;
"""
OPEN = TEXT.replace("nearest_image(xj - xi, box)", "xj - xi").replace("param   vec3 box = vec3(10, 10, 10);\n", "")
CELL = """
input_i real px, py, pz;
input_j real qx, qy, qz;
param   real rc = 1.0;
param   vec3 a;
param   vec3 b;
param   vec3 c;
output(sum) real near;

vec3 dx = nearest_image(vec3(qx, qy, qz) - vec3(px, py, pz), a, b, c);
skip_if(dot(dx, dx) >= rc * rc);
near += 1.0;
"""


def compiled(text):
    return pytest.fixture(scope="module")(lambda: nbcc.compile(source=text, name="near.pipe", precision="double"))


periodic, open_space, cell = map(compiled, (TEXT, OPEN, CELL))


def particles(n, seed, width=10.0):
    random = np.random.default_rng(seed)
    return random.uniform(-0.5, 1.5, (n, 3)) * width, random.integers(0, 7, n)


def rows_of(found):
    """(i, j, shift) of each pair."""
    first, j, shifts = (np.asarray(one) for one in found)
    assert (first.dtype, j.dtype, shifts.dtype) == (np.int64, np.int64, np.float64)
    return np.column_stack([np.repeat(np.arange(len(first) - 1), np.diff(first)), j, shifts.round(9)])


def batch_by_batch(find, i_batch, j_batch):
    """find(batch, its i, its j): a search on the CPU."""
    rows = []
    for batch in range(7):
        i, j = np.flatnonzero(i_batch == batch), np.flatnonzero(j_batch == batch)
        found = rows_of(find(batch, i, j))
        found[:, 0], found[:, 1] = i[found[:, 0].astype(int)], j[found[:, 1].astype(int)]
        rows.append(found)
    rows = np.concatenate(rows)
    return rows[np.lexsort(rows.T[1::-1])]


def same(found, expected):
    found = rows_of(found)
    assert len(expected) > 100
    assert np.array_equal(found[:, :2], expected[:, :2]) and np.allclose(found[:, 2:], expected[:, 2:], rtol=0, atol=1e-8)


@pytest.fixture(params=["numpy", "torch", "jax"])
def make(request):
    """A function that makes an array of a library."""
    library = pytest.importorskip(request.param)
    if request.param != "jax":
        yield library.asarray
        return
    before = library.config.jax_enable_x64
    library.config.update("jax_enable_x64", True)
    yield library.numpy.asarray
    library.config.update("jax_enable_x64", before)


def test_batches_of_one_box(periodic, make):
    x, ids = particles(600, 1)
    expected = batch_by_batch(lambda batch, i, j: periodic.find_neighbours(x[i], x[j], rc=2.0), ids, ids)
    there, batch = make(x), make(ids)
    found = periodic.find_neighbours(there, there, rc=2.0, batches=(batch, batch))
    assert {type(one) for one in found} == {type(there)}
    same(found, expected)
    # Two arrays of the same numbers are two sets, whose pairs are the same.
    same(periodic.find_neighbours(there, make(x.copy()), rc=2.0, batches=(batch, make(ids.copy()), 7)), expected)


def test_two_sets_in_open_space(open_space, make):
    (x, i_ids), (y, j_ids) = particles(300, 2), particles(400, 3)
    expected = batch_by_batch(lambda batch, i, j: open_space.find_neighbours(x[i], y[j], rc=4.0), i_ids, j_ids)
    same(open_space.find_neighbours(make(x), make(y), rc=4.0, batches=(make(i_ids), make(j_ids))), expected)


def test_a_box_and_a_cutoff_of_each_batch(periodic, make):
    x, ids = particles(600, 4)
    boxes, cutoffs = np.random.default_rng(5).uniform(5, 12, (7, 3)), np.linspace(1.5, 2.5, 7)
    boxes[3, 1] = 0  # open
    for rc in (2.0, cutoffs):
        expected = batch_by_batch(
            lambda batch, i, j: periodic.find_neighbours(x[i], x[j], rc=np.broadcast_to(rc, 7)[batch], box=boxes[batch]), ids, ids
        )
        there, batch = make(x), make(ids)
        same(periodic.find_neighbours(there, there, rc=rc, box=boxes, batches=(batch, batch)), expected)


def test_slanted_cells_and_positions_of_three_arrays(cell, make):
    vectors = np.array([[7.0, 0, 0], [2.0, 6.5, 0], [-1.5, 1.0, 8.0]])
    x, ids = particles(600, 6, 7.0)
    given = dict(rc=2.0, a=vectors[0], b=vectors[1], c=vectors[2])
    expected = batch_by_batch(lambda batch, i, j: cell.find_neighbours(*x[i].T, *x[j].T, **given), ids, ids)
    columns, batch = [make(column.copy()) for column in x.T], make(ids)
    same(cell.find_neighbours(*columns, *columns, **given, batches=(batch, batch)), expected)


def test_coordinates_in_another_order(make):
    away = "vec3(nearest_image(xj.z - xi.z, box.x), xj.x - xi.x, nearest_image(xj.y - xi.y, box.y))"
    near = nbcc.compile(source=TEXT.replace("nearest_image(xj - xi, box)", away), precision="double")
    x, ids = particles(600, 11)
    expected = batch_by_batch(lambda batch, i, j: near.find_neighbours(x[i], x[j], rc=2.0, box=[5, 6, 7]), ids, ids)
    there, batch = make(x), make(ids)
    same(near.find_neighbours(there, there, rc=2.0, box=[5, 6, 7], batches=(batch, batch)), expected)


@pytest.mark.parametrize("guard", ["i_index == j_index", "self_pair"])
def test_a_guard_that_excludes_the_pairs_of_a_particle_and_itself(guard):
    near = nbcc.compile(source=TEXT.replace("skip_if(", f"skip_if({guard}); skip_if("), precision="double")
    x, ids = particles(300, 7)
    expected = batch_by_batch(lambda batch, i, j: near.find_neighbours(x[i], x[i], rc=3.0), ids, ids)
    assert (expected[:, 0] != expected[:, 1]).all()
    same(near.find_neighbours(x, x, rc=3.0, batches=(ids, ids)), expected)
    same(near.find_neighbours(x, x.copy(), rc=3.0, batches=(ids, ids)), expected)
    with pytest.raises(TypeError, match="expected the same arrays for i and j, because a guard excludes j = i"):
        near.find_neighbours(x, x.copy(), batches=(ids, ids), exclusions=([0] * 301, []))


def test_exclusions(periodic):
    x, ids = particles(300, 8)
    every = periodic.find_neighbours(x, x, rc=3.0, batches=(ids, ids))
    some = rows_of(every)[::3, :2].astype(int)
    first = np.searchsorted(some[:, 0], np.arange(301))
    left = np.delete(rows_of(every), np.s_[::3], axis=0)
    for exclusions in ((first, some[:, 1]), nbcc.Rows(first, some[:, 1])):
        same(periodic.find_neighbours(x, x, rc=3.0, batches=(ids, ids), exclusions=exclusions), left)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("guard, count", [(">=", 1), (">", 7)])
def test_a_cutoff_is_inclusive_or_not(guard, count, dtype):
    near = nbcc.compile(source=TEXT.replace(">=", guard), precision="double")
    x = np.stack(np.meshgrid(*3 * [np.arange(4)], indexing="ij"), -1).reshape(-1, 3).astype(dtype)
    found = near.find_neighbours(x, x, rc=1.0, box=[4, 4, 4], batches=(np.zeros(64, int),) * 2)
    assert np.array_equal(np.diff(found.first), np.full(64, count))


def test_no_particle(periodic):
    none, ids = np.zeros((0, 3)), np.zeros(0, int)
    found = periodic.find_neighbours(none, none, batches=(ids, ids))
    assert found.first.tolist() == [0] and found.shifts.shape == (0, 3)


def test_what_is_refused(periodic):
    x, ids = particles(30, 9)
    both = dict(batches=(ids, ids))

    def refused(text, error, match, *arrays, **more):
        with pytest.raises(error, match=match):
            nbcc.compile(source=text, name="near.pipe", precision="double").find_neighbours(*arrays, **both, **more)

    of_each = TEXT.replace("input_j", "input_i real hi;\ninput_j").replace("rc * rc", "hi * hi")
    refused(of_each, nbcc.UsageError, r"expected one cutoff for all pairs, got \|xj - xi\| < hi", x, x[:, 0], x)
    refused(TEXT.replace("nearest_image", "every_image"), nbcc.UsageError, r"got every_image\(\): a search without", x, x)
    refused(TEXT.replace("xj - xi", "2 * xj - 2 * xi"), nbcc.UsageError, "expected positions that are inputs", x, x)
    refused(TEXT.replace("vec3", "vec2").replace(", 10)", ")"), nbcc.UsageError, "positions of 3 components, got 2", x[:, :2], x[:, :2])
    more = "expected a cutoff of at most half of the shortest period of the box, 4, got 2.1: a search without"
    refused(TEXT, nbcc.UsageError, more, x, x, rc=2.1, box=[5, 4, 6])
    refused(TEXT, TypeError, "progress is for searches on the CPU without batches", x, x, progress=print)
    both["batches"] = ids
    refused(TEXT, TypeError, r"batches: expected \(i_batch, j_batch\)", x, x)
    with pytest.raises(TypeError, match="expected a pipeline without bound inputs, got a bound one"):
        periodic.bind(x).find_neighbours(x, batches=(ids, ids))
    # Later searches of the same sum have its own params.
    assert len(periodic.find_neighbours(x, x, rc=3.0).j) > 30


def test_arrays_on_a_gpu(periodic, open_space):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    x, ids = particles(600, 10)
    there, batch = torch.as_tensor(x, device="cuda"), torch.as_tensor(ids, device="cuda")
    for near in (periodic, open_space):
        expected = near.find_neighbours(x, x, rc=2.0)
        found = near.find_neighbours(there, there, rc=2.0)
        assert all(one.device == there.device for one in found)
        same([one.cpu() for one in found], rows_of(expected))
        in_batches = near.find_neighbours(x, x, rc=2.0, batches=(ids, ids))
        found = near.find_neighbours(there, there, rc=2.0, batches=(batch, batch))
        same([one.cpu() for one in found], rows_of(in_batches))


def test_small_floats_in_batches(open_space):
    x, ids = particles(300, 4)
    small = x.astype("float16")
    found, expected = (open_space.find_neighbours(one, one, rc=2.0, batches=(ids, ids)) for one in (small, small.astype("f4")))
    same(found, rows_of(expected))


def test_tensors_with_a_gradient(periodic, open_space):
    torch = pytest.importorskip("torch")
    x, ids = particles(300, 4)
    given, batch = torch.tensor(x, requires_grad=True), torch.as_tensor(ids)
    for near in (periodic, open_space):
        same(near.find_neighbours(given, given, rc=2.0), rows_of(near.find_neighbours(x, x, rc=2.0)))
        found = near.find_neighbours(given, given, rc=torch.tensor(2.0, requires_grad=True), batches=(batch, batch))
        same(found, rows_of(near.find_neighbours(x, x, rc=2.0, batches=(ids, ids))))
