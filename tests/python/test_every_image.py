"""every_image() from Python: neighbour lists equal to vesin's in cells down to one atom, crystals whose energies do not
depend on the cell, published lattice sums, stresses against differences, derivatives, exclusions of single images."""

import numpy as np
import pytest

import nbcc
from nbcc._call._adjoint import Call
from random_pipelines import differences

LENNARD_JONES = """
input_i vec3 xi; input_j vec3 xj;
param vec3 a; param vec3 b; param vec3 c; param real rc;
output(sum) real energy; output(sum) vec3 force; output(sum) real by_6; output(sum) real by_12;
vec3 d = every_image(xj - xi, a, b, c);
real r2 = dot(d, d);
skip_if(self_pair || r2 >= rc * rc);
real s = 1.0 / (r2 * r2 * r2);
real e = 4.0 * (s * s - s);
energy += 0.5 * e;
force += grad(e, xj);
by_6 += s;
by_12 += s * s;
"""


@pytest.fixture(scope="module")
def crystal():
    return nbcc.compile(source=LENNARD_JONES, precision="double")


def params(cell, rc):
    return {"a": cell[0], "b": cell[1], "c": cell[2], "rc": rc}


def test_neighbours_are_those_of_another_program(crystal):
    vesin = pytest.importorskip("vesin", reason="no vesin here: ./dev setup installs it where there is a network")
    random = np.random.default_rng(3)
    for trial in range(60):
        n = int(random.integers(1, 9))
        cell = np.diag(random.uniform(1, 3, 3)) + random.normal(size=(3, 3)) * 0.4
        periodic = np.array([True] * 3) if trial % 3 else random.integers(0, 2, 3).astype(bool)
        x = random.uniform(-2, 5, (n, 3))
        rc = random.uniform(0.5, 5 * np.linalg.norm(cell, axis=1).min())
        i, j, shift = vesin.NeighborList(cutoff=rc, full_list=True).compute(
            points=x, box=cell, periodic=list(periodic), quantities="ijS"
        )
        given = cell * periodic[:, None]
        found = crystal.find_neighbours(x, x, **params(given, rc))
        of_i = np.repeat(np.arange(n), np.diff(found.first))
        others = (of_i != found.j) | (np.abs(found.shifts).max(axis=1) > 0)
        ours = np.c_[of_i, found.j, found.shifts][others]
        theirs = np.c_[i, j, shift @ cell]
        assert len(ours) == len(theirs), trial
        ours, theirs = (rows[np.lexsort(np.round(rows, 6).T)] for rows in (ours, theirs))
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


FCC = (np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]) / np.sqrt(2), np.zeros((1, 3)))
_C = np.sqrt(8 / 3)
HCP = (
    np.array([[1, 0, 0], [-0.5, np.sqrt(0.75), 0], [0, 0, _C]]),
    np.array([[0, 0, 0], [0.5, np.sqrt(1 / 12), _C / 2]]),
)


def repeated(cell, x, times):
    shifts = np.array(list(np.ndindex(*times))) @ cell
    return cell * np.array(times)[:, None], (x[None] + shifts[:, None]).reshape(-1, 3)


# Kihara and Koba, J. Phys. Soc. Japan 7 (1952) 348: the sums of r^-6 and r^-12 over all neighbours at distance 1.
@pytest.mark.parametrize("kind, of_6, of_12", [(FCC, 14.45392, 12.13188), (HCP, 14.45489, 12.13229)])
def test_energies_do_not_depend_on_the_number_of_cells(crystal, kind, of_6, of_12):
    energies = []
    for times in ((1, 1, 1), (2, 1, 1), (1, 3, 2)):
        cell, x = repeated(*kind, times)
        x = x + np.random.default_rng(1).integers(-2, 3, x.shape) @ cell
        out = crystal(x, x, **params(cell, 9.3))
        energies.append(out.energy.sum() / len(x))
        assert np.abs(out.force).max() < 1e-12 * abs(energies[0])
    assert np.ptp(energies) <= 1e-12 * abs(energies[0])
    rc = 14.0
    out = crystal(kind[1], kind[1], **params(kind[0], rc))
    beyond = 4 * np.pi * np.sqrt(2)  # density 2^(1/2)
    assert out.by_12[0] == pytest.approx(of_12, abs=1e-5)
    assert out.by_6[0] + beyond / 3 / rc**3 == pytest.approx(of_6, abs=2e-5)


def test_virials_are_derivatives_by_the_strain(crystal):
    cell, x = repeated(*FCC, (2, 1, 2))
    random = np.random.default_rng(5)
    cell, x = 1.1 * cell, 1.1 * x + 0.05 * random.normal(size=x.shape)
    virial = crystal.virial()(x, x, **params(cell, 2.7)).force_virial.sum(axis=0)
    step = 1e-5
    for k, (a, b) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):
        energies = []
        for sign in (1, -1):
            strain = np.eye(3)
            strain[a, b] += sign * step
            y = x @ strain.T
            energies.append(crystal(y, y, **params(cell @ strain.T, 2.7)).energy.sum())
        slope = (energies[0] - energies[1]) / (2 * step)
        assert abs(virial[k]) == pytest.approx(abs(slope), rel=1e-5)


@pytest.mark.parametrize("side", ["i", "j", "set"])
def test_adjoints_are_derivatives(side):
    text = LENNARD_JONES.replace("output(sum) vec3 force; output(sum) real by_6; output(sum) real by_12;", "")
    text = text.replace("force += grad(e, xj);\nby_6 += s;\nby_12 += s * s;\n", "energy += d.x * d.y * image_index(1);\n")
    sums = nbcc.compile(source=text, precision="double")
    random = np.random.default_rng(7)
    cell, x = repeated(*FCC, (1, 2, 1))
    x = x + 0.03 * random.normal(size=x.shape)
    y = x if side == "set" else x + 0.4 + random.integers(-2, 3, x.shape) @ cell
    weights = random.normal(size=len(x))
    forces = sums.adjoint(side)

    def loss(xi, xj, cell):
        return weights @ sums(xi, xj, **params(cell, 2.3))

    def slope_of(function, value):
        slope = np.zeros_like(value)
        for k in np.ndindex(value.shape):
            step = np.zeros_like(value)
            step[k] = 1e-6
            slope[k] = (function(value + step) - function(value - step)) / 2e-6
        return slope

    if side == "i":
        out = forces(xi=x, xj=y, d_energy=weights, **params(cell, 2.3))
        expected = slope_of(lambda xi: loss(xi, y, cell), x)
        by_cell = slope_of(lambda cell: loss(x, y, cell), cell)
        got = np.array([out.d_a, out.d_b, out.d_c])
        np.testing.assert_allclose(got, by_cell, rtol=1e-6, atol=1e-6 * np.abs(by_cell).max())
        got = out.d_xi
    elif side == "j":
        out = forces(xi=x, xj=y, d_energy=weights, **params(cell, 2.3))
        expected, got = slope_of(lambda xj: loss(x, xj, cell), y), out
    else:
        out = forces(xi=x, xj=x, d_energy=weights, d_energy_j=weights, **params(cell, 2.3))
        expected, got = slope_of(lambda xi: loss(xi, xi, cell), x), out
    np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_exclusions_of_single_images():
    sums = nbcc.compile(
        source="input_i real xi; input_j real xj; param real side; output(count) int n;\n"
        "real d = every_image(xj - xi, side); skip_if(self_pair || d * d > 9.0); n += d * d >= 0.0;",
        precision="double",
    )
    x = np.array([0.25, 5.5])
    assert list(sums(x, x, side=2)) == [5, 5]
    for one in (([0, 2, 2], [1, 0], [[-2, 0, 0], [1, 0, 0]]), nbcc.Rows([0, 2, 2], [1, 0], [[-2, 0, 0], [1, 0, 0]])):
        assert list(sums(x, x, side=2, exclusions=one)) == [3, 5]
    assert list(sums(x, x, side=2, exclusions=([0, 1, 1], [1]))) == [2, 5]
    with pytest.raises(ValueError, match=r"images: expected shape \(1, 3\), got \(1, 2\)"):
        sums(x, x, side=2, exclusions=([0, 1, 1], [1], np.zeros((1, 2), int)))
    with pytest.raises(TypeError, match="images are given for exclusions"):
        sums(x, x, side=2, listed_pairs=nbcc.Rows([0, 1, 1], [1], [[0, 0, 0]]))
    with pytest.raises(nbcc.UsageError, match="listed pairs: they do not say which images act"):
        sums(x, x, side=2, listed_pairs=([0, 1, 1], [1]))
    plain = nbcc.compile(source="input_i real xi; input_j real xj; output(sum) real s; s += xj - xi;")
    with pytest.raises(nbcc.UsageError, match="has no every_image"):
        plain(x, x, exclusions=([0, 1, 1], [1], [[0, 0, 0]]))


def test_results_in_other_arrays_and_for_some_i(crystal):
    cell, x = repeated(*FCC, (2, 2, 1))
    whole = crystal(x, x, **params(cell, 2.5))
    chosen = crystal(x, x, i=[3, 1], **params(cell, 2.5))
    np.testing.assert_allclose(chosen.energy[[3, 1]], whole.energy[[3, 1]])
    strided = np.zeros((len(x), 5))
    strided[:, 1:4] = x
    np.testing.assert_array_equal(crystal(strided[:, 1:4], x, **params(cell, 2.5)).force, whole.force)
    single = nbcc.compile(source=LENNARD_JONES, precision="single")(x, x, **params(cell, 2.5))
    np.testing.assert_allclose(single.energy, whole.energy, rtol=1e-5)


NEAREST = """
input_i vec3 xi; input_j vec3 xj; param vec3 side; output(min) real m; output(max) vec3 most; output(argmin) index near[2];
output(at) vec3 there[2];
vec3 d = every_image(xj - xi, side); real r2 = dot(d, d);
skip_if(self_pair || r2 > 9.0);
m = min(m, r2 + 0.1 * d.x); most = max(most, d * (1.0 + 0.1 * r2)); near = argmin(near, r2); there = at(near, d * (1.0 + 0.1 * r2));
"""


@pytest.mark.parametrize("finish", ["", "void finish() { m = m * m; there[1].x = there[0].y * m; }"])
@pytest.mark.parametrize("one_set", [True, False])
def test_derivatives_of_what_chooses_an_image(one_set, finish):
    pipe = nbcc.compile(source=NEAREST + finish, precision="double")
    random = np.random.default_rng(5)
    x = random.random((4, 3)) * 6 - 3
    given = {"xi": x, "xj": x if one_set else random.random((5, 3)) * 6 - 3, "side": np.array([1.9, 2.3, 2.6])}
    outputs = ["m", "most", "there"]
    run = lambda arguments: list(pipe(**arguments, outputs=outputs))
    weights = [random.random(value.shape) + 0.5 for value in run(given)]
    call = Call(pipe, (), given, {"outputs": outputs})
    results = dict(zip([field.name for field in call.outputs], call.run({})))
    found = call.gradients({}, results, dict(zip(outputs, weights)), list(given))
    expected = differences(run, given, weights, {"xi": "xj", "xj": "xi"} if one_set else {})
    for name, gradient in found.items():
        value, error = expected[name]
        assert np.all(np.abs(gradient - value) <= 8 * error), name
    rates = {name: random.random(value.shape) for name, value in given.items()}
    rates["xj"] = rates["xi"] if one_set else rates["xj"]
    forward = call.tangents({}, results, rates)
    total = sum((weight * forward[name]).sum() for name, weight in zip(outputs, weights))
    np.testing.assert_allclose(total, sum((found[name] * rates[name]).sum() for name in found), rtol=1e-11)
