"""Sums on the CPU: sizes, layouts, precisions, options of a call."""

import numpy as np
import pytest

import nbcc
from conftest import EPS2, PIPELINES, Cloud, Gravity, within


def layouts(x):
    """The same numbers, lying otherwise."""
    n, width = x.shape
    record = np.zeros(n, dtype=[("tag", "i4"), ("x", "f8", (width,)), ("m", "f4")])
    record["x"] = x
    wide = np.full((2 * n, 5), np.nan)
    wide[::2, 1 : 1 + width] = x
    read_only = x.copy()
    read_only.flags.writeable = False
    return {
        "contiguous": x,
        "fortran": np.asfortranarray(x),
        "transposed": np.ascontiguousarray(x.T).T,
        "strided": wide[::2, 1 : 1 + width],
        "backwards": x[::-1].copy()[::-1],
        "mirrored": x[:, ::-1].copy()[:, ::-1],
        "member": record["x"],
        "read_only": read_only,
        "subclass": x.view(np.matrix) if width > 1 else x,
        "memmap": x.view(np.memmap),
    }


@pytest.mark.parametrize("layout", layouts(np.zeros((2, 3))))
def test_layouts_give_the_same_bits(gravity, layout):
    cloud = Cloud(130)
    x, m = layouts(cloud.x)[layout], layouts(np.repeat(cloud.m[:, None], 1, axis=1))[layout][:, 0]
    m = np.asarray(m).reshape(-1) if m.ndim == 2 else m
    expected = gravity(cloud.x, cloud.x, cloud.m)
    result = gravity(x, x, m)
    assert np.array_equal(result.acc, expected.acc) and np.array_equal(result.pot, expected.pot)
    out = (layouts(np.zeros((130, 3)))[layout], np.zeros((130, 2))[:, 1])
    if layout != "read_only":
        gravity(x, x, m, out=out)
        assert np.array_equal(out[0], expected.acc) and np.array_equal(out[1], expected.pot)


def test_a_column_is_a_scalar_field(gravity):
    cloud = Cloud(9)
    expected = gravity(cloud.x, cloud.x, cloud.m)
    assert np.array_equal(gravity(cloud.x, cloud.x, cloud.m[:, None]).acc, expected.acc)
    pot = np.zeros((9, 1))
    gravity(cloud.x, cloud.x, cloud.m, out={"pot": pot})
    assert np.array_equal(pot[:, 0], expected.pot)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
def test_element_types(gravity, dtype):
    x = np.random.default_rng(4).integers(0, 50, (64, 3)).astype(dtype)
    m = np.arange(1, 65).astype(dtype)
    result = gravity(x, x, m, EPS2)
    assert result.acc.dtype == (np.float32 if dtype == "f4" else np.float64)
    Gravity(x, x, m).check(*result)


def test_results_are_float32_when_all_inputs_are(gravity):
    cloud = Cloud(3)
    x, m = cloud.x.astype("f4"), cloud.m.astype("f4")
    assert gravity(x, x, m).pot.dtype == np.float32
    assert gravity(x, x, cloud.m).pot.dtype == np.float64
    assert gravity(x, x, m.astype("i4")).pot.dtype == np.float32
    assert gravity(x, x, m, precision="double").pot.dtype == np.float64


def test_nan_disturbs_its_own_particle_alone(gravity):
    cloud = Cloud(200)
    expected = gravity(cloud.x, cloud.x, cloud.m)
    xi = cloud.x.copy()
    xi[17, 1] = np.nan
    xi[80, 0] = np.inf
    acc, pot = gravity(xi, cloud.x, cloud.m)
    clean = np.delete(np.arange(200), [17, 80])
    assert np.isnan(acc[17]).all() and np.isnan(pot[17])
    assert np.array_equal(acc[clean], expected.acc[clean]) and np.array_equal(pot[clean], expected.pot[clean])
    m = cloud.m.copy()
    m[3] = np.nan
    assert np.isnan(gravity(cloud.x, cloud.x, m).pot).all()


def test_argmin(nearest):
    x = Cloud(100).x
    near, dist = nearest(x, x)
    r = np.sqrt(((x[None] - x[:, None]) ** 2).sum(axis=2))
    np.fill_diagonal(r, np.inf)
    assert near.dtype == np.int64 and np.array_equal(near, r.argmin(axis=1))
    within(dist, r.min(axis=1), r.min(axis=1))
    near, dist = nearest(x[:5], np.zeros((0, 3)))
    assert (near == -1).all() and np.isinf(dist).all()
    as_float = np.zeros(100)
    nearest(x, x, outputs="near", out=as_float)
    assert np.array_equal(as_float, r.argmin(axis=1))


def test_a_param_may_be_called_self(nearest):
    x = Cloud(4).x
    assert np.array_equal(nearest(x, x, self=0).near, np.arange(4))


def test_offsets(nearest):
    x = Cloud(60).x
    expected = nearest(x, x).near
    assert np.array_equal(nearest(x[20:30], x, i_offset=20).near, expected[20:30])
    shifted = nearest(x, x, i_offset=1000, j_offset=1000).near
    assert np.array_equal(shifted, expected + 1000)


def test_vectors_of_two_whole_numbers_params_and_finish(types):
    random = np.random.default_rng(5)
    ends, pj = random.random((40, 2, 2)), random.random((33, 2))
    kind_i, kind_j = random.integers(0, 3, 40), random.integers(0, 3, 33).astype("i4")
    d, same, far = types(ends, kind_i, pj, kind_j, shift=(1, 2), scale=3)
    there = pj + np.array([1.0, 2.0])
    terms = there[None, :, None, :] - ends[:, None]
    assert d.shape == (40, 2, 2) and same.dtype == np.int64
    # The components themselves are rounded to single precision before they are subtracted.
    within(d, terms.sum(axis=1), (np.abs(there)[None, :, None, :] + np.abs(ends[:, None])).sum(axis=1))
    assert np.array_equal(same, (kind_i[:, None] == kind_j).sum(axis=1))
    reach = 3 * np.sqrt((terms[:, :, 0] ** 2).sum(axis=2)).max(axis=1)
    within(far, reach, reach + 1)
    flat = types(ends.reshape(40, 4), kind_i, pj, kind_j, shift=np.array([1, 2]), scale=3)
    assert np.array_equal(flat.d, d)


def test_params(gravity):
    cloud = Cloud(20)
    first = gravity(cloud.x, cloud.x, cloud.m, eps2=0.25)
    Gravity(cloud.x, cloud.x, cloud.m, 0.25).check(*first)
    for value in (np.float32(0.25), np.array(0.25), [0.25], np.array([0.25])):
        assert np.array_equal(gravity(cloud.x, cloud.x, cloud.m, eps2=value).acc, first.acc)
    # A param that is not given is the default again, whatever the call before said.
    Gravity(cloud.x, cloud.x, cloud.m, 1e-4).check(*gravity(cloud.x, cloud.x, cloud.m))


def test_out(gravity):
    cloud = Cloud(50)
    expected = gravity(cloud.x, cloud.x, cloud.m)
    acc, pot = np.zeros((50, 3)), np.zeros(50, "f4")
    result = gravity(cloud.x, cloud.x, cloud.m, out=(acc, pot))
    assert result.acc is acc and result.pot is pot
    assert np.array_equal(acc, expected.acc) and np.array_equal(pot, expected.pot.astype("f4"))
    acc[:] = 0
    result = gravity(cloud.x, cloud.x, cloud.m, out={"acc": acc})
    assert result.acc is acc and np.array_equal(result.pot, expected.pot)
    result = gravity(cloud.x, cloud.x, cloud.m, out=(None, pot))
    assert result.pot is pot and np.array_equal(result.acc, expected.acc)


def test_outputs(gravity):
    cloud = Cloud(50)
    expected = gravity(cloud.x, cloud.x, cloud.m)
    assert np.array_equal(gravity(cloud.x, cloud.x, cloud.m, outputs="pot"), expected.pot)
    assert np.array_equal(gravity(cloud.x, cloud.x, cloud.m, outputs=["acc"]), expected.acc)
    both = gravity(cloud.x, cloud.x, cloud.m, outputs=("pot", "acc"))
    assert both._fields == ("acc", "pot") and np.array_equal(both.acc, expected.acc)


def test_accumulate(gravity):
    cloud = Cloud(300)
    acc, pot = np.zeros((300, 3)), np.zeros(300)
    gravity(cloud.x, cloud.x[:128], cloud.m[:128], EPS2, out=(acc, pot))
    gravity(cloud.x, cloud.x[128:], cloud.m[128:], EPS2, out=(acc, pot), accumulate=True)
    Gravity(cloud.x, cloud.x, cloud.m).check(acc, pot)


@pytest.mark.parametrize(
    "chosen, indices",
    [
        (slice(3, 7), range(3, 7)),
        (slice(None, 4), range(4)),
        (slice(8, None), range(8, 10)),
        ([9, 2, 5], [9, 2, 5]),
        (np.array([0, 9]), [0, 9]),
        ([], []),
        (range(4, 6), [4, 5]),
    ],
    ids=str,
)
def test_some_i(gravity, chosen, indices):
    cloud = Cloud(10)
    expected = gravity(cloud.x, cloud.x, cloud.m)
    out = (np.full((10, 3), 7.0), np.full(10, 7.0))
    gravity(cloud.x, cloud.x, cloud.m, out=out, i=chosen)
    others = np.delete(np.arange(10), list(indices))
    assert np.array_equal(out[0][list(indices)], expected.acc[list(indices)])
    assert (out[0][others] == 7).all() and (out[1][others] == 7).all()


def test_some_i_of_new_results(gravity):
    cloud = Cloud(50)
    acc, pot = gravity(cloud.x, cloud.x, cloud.m, i=[3, 7])
    whole = gravity(cloud.x, cloud.x, cloud.m)
    assert np.array_equal(acc[[3, 7]], whole.acc[[3, 7]]) and np.array_equal(pot[[3, 7]], whole.pot[[3, 7]])
    assert not np.delete(acc, [3, 7], 0).any() and not np.delete(pot, [3, 7]).any()


def test_out_may_be_an_input(gravity):
    cloud = Cloud(200)
    expected = gravity(cloud.x, cloud.x, cloud.m)
    x = cloud.x.copy()
    gravity(x, x, cloud.m, out={"acc": x})
    assert np.array_equal(x, expected.acc)
    # An array that lies across its input: particle k's result on the place of particle k + 1.
    padded = np.zeros((201, 3))
    padded[:200] = cloud.x
    gravity(padded[:200], cloud.x, cloud.m, out={"acc": padded[1:]})
    assert np.array_equal(padded[1:], expected.acc)


def test_outputs_may_lie_between_each_other(gravity):
    cloud = Cloud(20)
    expected = gravity(cloud.x, cloud.x, cloud.m)
    rows = np.zeros((20, 4))
    gravity(cloud.x, cloud.x, cloud.m, out=(rows[:, :3], rows[:, 3]))
    assert np.array_equal(rows, np.column_stack([expected.acc, expected.pot]))


def test_a_pipeline_without_inputs():
    count = nbcc.compile(source="output(sum) real a; output(sum) real b; a += 1.0; b += j_index;")
    assert np.array_equal(count(ni=3, nj=4).b, [6, 6, 6])
    out = np.zeros(2)
    assert count(nj=5, out={"a": out}).a is out and (out == 5).all()
    assert np.array_equal(count(ni=2, nj=3, j_offset=10).b, [33, 33])


def test_bound_j(gravity):
    cloud, other = Cloud(100), Cloud(40, 7)
    bound = gravity.bind(xj=cloud.x, mj=cloud.m, eps2=EPS2)
    Gravity(other.x, cloud.x, cloud.m).check(*bound(other.x))
    before = bound(other.x)
    Gravity(other.x, cloud.x, cloud.m, 0.5).check(*bound(other.x, eps2=0.5))
    cloud.x += 1
    assert np.array_equal(bound(other.x).acc, before.acc)
    bound.j_changed()
    Gravity(other.x, cloud.x, cloud.m).check(*bound(other.x))
    assert np.array_equal(gravity.bind(cloud.x, cloud.m, eps2=EPS2)(other.x).acc, bound(other.x).acc)


def test_bound_j_of_temporary_arrays(gravity):
    other = Cloud(4).x
    bound = gravity.bind([[0.0, 0, 0], [1, 0, 0]], [1, 2], eps2=EPS2)
    for _ in range(3):
        garbage = [np.full(6, 1e30) for _ in range(100)]
        Gravity(other, [[0.0, 0, 0], [1, 0, 0]], [1, 2]).check(*bound(other))
        del garbage


def test_the_virial_of_a_pair_across_the_face_of_a_box():
    lj = nbcc.compile(
        source="""
input_i vec3 xi; input_j vec3 xj; param vec3 box = vec3(10, 10, 10); output(sum) vec3 force;
vec3 dx = nearest_image(xj - xi, box); real r2 = dot(dx, dx);
skip_if(i_index == j_index || r2 >= 6.25);
real s6 = 1.0 / (r2 * r2 * r2);
force -= 24.0 * s6 * (2.0 * s6 - 1.0) / r2 * dx;
""",
        precision="double",
    )
    x = np.array([[0.4, 5, 5], [9.2, 5, 5]])
    across = lj.virial()(x, x).force_virial.sum(0)
    inside = lj.virial()(x + [3.0, 0, 0], x + [3.0, 0, 0] - [[0, 0, 0], [10, 0, 0]]).force_virial.sum(0)
    s6 = 1.2**-6
    assert np.allclose(across, [24 * s6 * (2 * s6 - 1), 0, 0, 0, 0, 0], rtol=1e-12, atol=1e-12)
    assert np.allclose(across, inside, rtol=1e-12, atol=1e-12)
