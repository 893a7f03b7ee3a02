"""Periodic sums to a tolerance: every_image() without a cutoff, against Ewald sums, sums over many images, closed forms."""

import math

import numpy as np
import pytest

import nbcc

erfc = np.vectorize(math.erfc, otypes=[float])

CHARGES = """
input_i vec3 xi; input_j vec3 xj; input_j real qj; param vec3 a; param vec3 b; param vec3 c;
output(sum) real pot; output(sum) vec3 field;
vec3 d = every_image(xj - xi, a, b, c);
skip_if(self_pair);
real rinv = rsqrt(dot(d, d));
pot += qj * rinv;
field += qj * rinv * rinv * rinv * d;
"""
BOX = CHARGES.replace("param vec3 a; param vec3 b; param vec3 c;", "param vec3 box;").replace("a, b, c)", "box)")
CUBE = np.eye(3)
SLANTED = np.array([[1.1, 0.1, -0.2], [0.3, 0.9, 0.1], [-0.4, 0.2, 1.2]])


def multiples(cell, reach):
    """Sums of whole multiples of the vectors, with at least all that are shorter than `reach`."""
    most = np.ceil(reach * np.linalg.norm(np.linalg.inv(cell), axis=0)).astype(int)
    return np.stack(np.meshgrid(*[np.arange(-k, k + 1) for k in most], indexing="ij"), -1).reshape(-1, len(cell)) @ cell


def ewald(cell, y, x, q):
    """Potential and field of charges q at x and all their images in the points y; tinfoil, uniform background."""
    volume, root_pi = abs(np.linalg.det(cell)), math.sqrt(math.pi)
    alpha = 3.2 / volume ** (1 / 3)
    reach, highest = 6 / alpha, 12 * alpha
    d = x - y[:, None]
    d -= np.round(d @ np.linalg.inv(cell)) @ cell
    d = d[:, :, None] + multiples(cell, reach + np.linalg.norm(cell, axis=1).sum() / 2)
    r = np.linalg.norm(d, axis=3)
    own = r < 1e-12
    near = (r < reach) & ~own
    screened, slope = np.zeros_like(r), np.zeros_like(r)
    screened[near] = erfc(alpha * r[near]) / r[near]
    slope[near] = (screened[near] + 2 * alpha / root_pi * np.exp(-((alpha * r[near]) ** 2))) / r[near] ** 2
    pot, field = np.einsum("ijn,j->i", screened, q), np.einsum("ijn,ijnc,j->ic", slope, d, q)
    k = multiples(2 * np.pi * np.linalg.inv(cell).T, highest)
    k2 = (k**2).sum(1)
    k, k2 = k[(k2 > 1e-9) & (k2 < highest**2)], k2[(k2 > 1e-9) & (k2 < highest**2)]
    wave = np.exp(-1j * y @ k.T) * (np.exp(1j * k @ x.T) @ q) * 4 * np.pi / volume * np.exp(-k2 / (4 * alpha**2)) / k2
    pot += wave.real.sum(1) - np.pi / (alpha**2 * volume) * q.sum() - 2 * alpha / root_pi * (own.any(2) @ q)
    return pot, field + wave.imag @ k


def near_displacements(cell, y, x):
    """From y to the nearest image of x, and to 124 images around it: [i][j][image][axis]."""
    d = x - y[:, None]
    d = d - np.round(d @ np.linalg.pinv(cell)) @ cell
    return d[:, :, None] + (np.stack(np.meshgrid(*[np.arange(-2, 3)] * 3, indexing="ij"), -1).reshape(-1, 3) @ cell)


def error_of(found, exact, terms):
    """Root mean square over i of |error| / terms."""
    error = np.reshape(found - exact, (len(terms), -1))
    return np.sqrt(np.mean((np.linalg.norm(error, axis=1) / terms) ** 2))


def check_charges(out, cell, y, x, q, tolerance, exact=None):
    pot, field = ewald(cell, y, x, q) if exact is None else exact
    r = np.linalg.norm(near_displacements(cell, y, x), axis=3)
    inverse = np.divide(1, r, out=np.zeros_like(r), where=r > 1e-9)
    assert error_of(out.pot, pot, np.einsum("ijn,j->i", inverse, abs(q))) <= tolerance
    assert error_of(out.field, field, np.einsum("ijn,j->i", inverse**2, abs(q))) <= tolerance


def vectors(cell):
    return {"a": cell[0], "b": cell[1], "c": cell[2]}


def charges(n, cell=CUBE, seed=1, neutral=True):
    random = np.random.default_rng(seed)
    q = random.uniform(0.5, 1.5, n)
    return random.random((n, 3)) @ cell, q - q.mean() if neutral else q


@pytest.fixture(scope="module")
def coulomb():
    return nbcc.compile(source=CHARGES, precision="double")


@pytest.fixture(scope="module")
def in_box():
    return nbcc.compile(source=BOX, precision="double")


@pytest.mark.parametrize("neutral", [True, False])
@pytest.mark.parametrize("cell", [CUBE, SLANTED, np.diag([1, 2, 0.5])], ids=["cube", "slanted", "1:2:0.5"])
def test_charges_are_ewalds(coulomb, cell, neutral):
    x, q = charges(30, cell, neutral=neutral)
    exact = ewald(cell, x, x, q)
    for tolerance in (1e-3, 1e-6, 1e-10):
        out = coulomb(xi=x, xj=x, qj=q, **vectors(cell), tolerance=tolerance)
        check_charges(out, cell, x, x, q, tolerance, exact)
        found = coulomb.statistics()
        assert found["method"] == "far field" and found["tolerance"] == tolerance >= found["error"]


def test_sums_by_the_tree(coulomb):
    x, q = charges(4000, SLANTED)
    some = slice(0, 4)
    for tolerance in (1e-3, 1e-5):
        out = coulomb(xi=x, xj=x, qj=q, **vectors(SLANTED), tolerance=tolerance)
        assert coulomb.statistics()["order"] > 0 and 0 < coulomb.statistics()["error"] <= tolerance
        part = type(out)(*(one[some] for one in out))
        check_charges(part, SLANTED, x[some], x, q, 4 * tolerance)  # 4 of 4000


def test_particles_anywhere_and_two_sets():
    # Of two sets no pair is a particle with itself.
    two_sets = (one.replace("skip_if(self_pair);", "") for one in (BOX, CHARGES))
    in_box, in_cell = (nbcc.compile(source=one, precision="double") for one in two_sets)
    x, q = charges(25, seed=2)
    y = charges(17, seed=3)[0]
    exact = ewald(CUBE, y, x, q)
    shifts = np.random.default_rng(4).integers(-1000, 1000, (42, 3))
    for by in (0 * shifts, shifts % 2, shifts):
        out = in_box(xi=y + by[:17], xj=x + by[17:], qj=q, box=[1, 1, 1], tolerance=1e-9)
        check_charges(out, CUBE, y, x, q, 1e-9, exact)
    # The same lattice of other vectors, which leave the cell.
    sheared = CUBE + np.array([[0, 0, 0], [3, 0, 0], [-2, 5, 0]])
    check_charges(in_cell(xi=y, xj=x, qj=q, **vectors(sheared), tolerance=1e-9), CUBE, y, x, q, 1e-9, exact)


def test_a_slab(in_box):
    x, q = charges(20, np.diag([1, 1, 0.6]), seed=5)
    high = np.diag([1, 1, 6.0])  # its copies along z add a field of the dipole alone, but for exp(-2 pi 5)
    pot, field = ewald(high, x, x, q)
    way = x[None, :, 2] - x[:, None, 2]
    pot -= 2 * np.pi / 6 * (way**2 @ q)
    field[:, 2] += 4 * np.pi / 6 * (way @ q)
    for open_axis in (0, np.inf):
        out = in_box(xi=x, xj=x, qj=q, box=[1, 1, open_axis], tolerance=1e-9)
        check_charges(out, np.diag([1, 1, 0.0]), x, x, q, 1e-9, (pot, field))


def test_a_wire(in_box):
    x, q = charges(12, np.diag([0.5, 1, 0.4]), seed=6)

    def summed(most):
        d = (x - x[:, None])[:, :, None] + np.arange(-most, most + 1)[:, None] * [0, 1, 0]
        r = np.linalg.norm(d, axis=3)
        inverse = np.divide(1, r, out=np.zeros_like(r), where=r > 0)
        return np.einsum("ijn,j->i", inverse, q), np.einsum("ijn,ijnc,j->ic", inverse**3, d, q)

    # Neutral sums up to n lack terms like (n + 1/2)^-2.
    fine, coarse, ratio = summed(400), summed(200), (400.5 / 200.5) ** 2
    exact = tuple((ratio * one - other) / (ratio - 1) for one, other in zip(fine, coarse))
    out = in_box(xi=x, xj=x, qj=q, box=[0, 1, np.inf], tolerance=1e-8)
    check_charges(out, np.diag([0, 1.0, 0]), x, x, q, 1e-8, exact)


# Formula, the same in NumPy, and its integral over the space beyond a radius: sums over all images within 9 periods.
OTHERS = {
    "Yukawa": ("exp(-5.0 * sqrt(r2)) * rsqrt(r2)", lambda r: np.exp(-5 * r) / r, 0),
    "r^-6": ("1.0 / (r2 * r2 * r2)", lambda r: r**-6.0, 4 * np.pi / (3 * 9**3)),
    "Gaussian": ("exp(-2.0 * r2)", lambda r: np.exp(-2 * r * r), 0),
    "softened r^-6": ("1.0 / ((r2 + 0.1) * (r2 + 0.1) * (r2 + 0.1))", lambda r: (r * r + 0.1) ** -3.0, 0.00574),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_formulas(name):
    text, formula, beyond = OTHERS[name]
    sums = nbcc.compile(
        source="input_i vec3 xi; input_j vec3 xj; input_j real mj; param vec3 box; output(sum) real s;\n"
        f"vec3 d = every_image(xj - xi, box);\nskip_if(self_pair);\nreal r2 = dot(d, d);\ns += mj * {text};",
        precision="double",
    )
    x, m = charges(6, seed=7, neutral=False)
    r = np.linalg.norm((x - x[:, None])[:, :, None] + multiples(CUBE, 10), axis=3)
    terms = np.where((r > 0) & (r < 9), formula(np.where(r > 0, r, 1)), 0)
    exact, near = np.einsum("ijn,j->i", terms, m) + beyond * m.sum(), np.einsum("ijn,j->i", terms * (r < 2), m)
    for tolerance in (1e-3, 1e-6):
        assert error_of(sums(xi=x, xj=x, mj=m, box=[1, 1, 1], tolerance=tolerance), exact, near) <= tolerance


def test_the_logarithm_in_a_plane():
    sums = nbcc.compile(
        source="input_i vec2 xi; input_j vec2 xj; input_j real qj; param real side; output(sum) real s;\n"
        "vec2 d = every_image(xj - xi, side); skip_if(self_pair); s -= qj * 0.5 * log(dot(d, d));",
        precision="double",
    )
    one = sums(xi=[[0.3, 0.2]], xj=[[0.3, 0.2]], qj=[1], side=1, tolerance=1e-10)
    assert one[0] == pytest.approx(-1.3105329259115, abs=1e-8)  # -log(2 pi eta(i)^2)
    x, q = charges(15, seed=8)
    x = x[:, :2]
    d = x - x[:, None]
    d -= np.round(d)
    y = d[:, :, 1, None] + np.arange(-7, 8)
    rows = 2 * np.cosh(2 * np.pi * y) - 2 * np.cos(2 * np.pi * d[:, :, :1])
    rows[np.eye(15, dtype=bool)] *= np.arange(-7, 8) != 0
    of_rows = np.where(rows > 0, -0.5 * np.log(np.where(rows > 0, rows, 1)) + np.pi * abs(y), -np.log(2 * np.pi)).sum(2)
    flat = abs(d[:, :, 1])
    exact = (of_rows - np.pi * (flat - flat**2 - 1 / 6)) @ q
    near = abs(np.log(np.linalg.norm(d, axis=2) + np.eye(15))) @ abs(q)
    assert error_of(sums(xi=x, xj=x, qj=q, side=1, tolerance=1e-8), exact, near) <= 1e-8


STOKESLET = """
input_i vec3 xi; input_j vec3 xj; input_j vec3 fj; param vec3 a; param vec3 b; param vec3 c; output(sum) vec3 u;
vec3 d = every_image(xj - xi, a, b, c);
skip_if(self_pair);
real rinv = rsqrt(dot(d, d));
u += rinv * fj + rinv * rinv * rinv * dot(d, fj) * d;
"""


def test_stokeslets():
    flow = nbcc.compile(source=STOKESLET, precision="double")
    one = flow(xi=[[0, 0, 0]], xj=[[0, 0, 0]], fj=[[1, 0, 0]], **vectors(CUBE), tolerance=1e-9)
    np.testing.assert_allclose(one, [[-4 / 3 * 2.8372974794806, 0, 0]], atol=1e-8)  # Hasimoto: 1.7601 c^(1/3)
    # Hasimoto's Ewald sum.
    x, _ = charges(10, SLANTED, seed=9)
    f = np.random.default_rng(9).normal(size=(10, 3))
    alpha, volume = 3.2, abs(np.linalg.det(SLANTED))
    d = (x - x[:, None])[:, :, None] + multiples(SLANTED, 5)
    r2 = (d**2).sum(3)
    near = (r2 > 0) & (r2 < (7 / alpha) ** 2)
    r, gauss = np.sqrt(np.where(near, r2, 1)), np.exp(-(alpha**2) * r2)
    along = near * (2 * alpha * gauss / np.sqrt(np.pi) / r**2 + erfc(alpha * r) / r**3)
    across = along * r**2 - near * 4 * alpha / np.sqrt(np.pi) * gauss
    exact = np.einsum("ijn,jc->ic", across, f) + np.einsum("ijn,ijna,ijnb,jb->ia", along, d, d, f)
    k = multiples(2 * np.pi * np.linalg.inv(SLANTED).T, 14 * alpha)
    k = k[(k**2).sum(1) > 1e-9]
    k2 = (k**2).sum(1)
    wave = np.exp(1j * k @ x.T) @ f
    wave -= k * ((k * wave).sum(1) / k2)[:, None]
    wave *= (8 * np.pi / volume * (1 / k2 + 1 / (4 * alpha**2)) * np.exp(-k2 / (4 * alpha**2)))[:, None]
    exact += (np.exp(-1j * x @ k.T) @ wave).real - 4 * alpha / np.sqrt(np.pi) * f
    terms = np.einsum("ijn,j->i", near / r, np.linalg.norm(f, axis=1))
    out = flow(xi=x, xj=x, fj=f, **vectors(SLANTED), tolerance=1e-9)
    assert error_of(out, exact, terms) <= 1e-9


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_single_precision(kind):
    sums = nbcc.compile(source=CHARGES, precision="single")
    x, q = charges(40, SLANTED, seed=10)
    out = sums(xi=x.astype(kind), xj=x.astype(kind), qj=q.astype(kind), **vectors(SLANTED), tolerance=1e-5)
    assert sums.statistics()["precision"] == "single"
    check_charges(out, SLANTED, x, x, q, 1e-5)
    assert np.abs(q @ out.field).max() < 1e-4 * (abs(q) @ abs(out.field)).max()


ENERGY = CHARGES.replace("output(sum) vec3 field;", "").replace("field += qj * rinv * rinv * rinv * d;\n", "")
BOX_ENERGY = ENERGY.replace("param vec3 a; param vec3 b; param vec3 c;", "param vec3 box;").replace("a, b, c)", "box)")
PRECISE = {"tolerance": 1e-10}


def slopes_by_the_cell(x, q, cell):
    """Of the energy q pot, by all components of the vectors at given positions."""
    slopes = np.zeros((3, 3))
    for at in np.ndindex(3, 3):
        step = np.zeros((3, 3))
        step[at] = 1e-4
        slopes[at] = q @ (ewald(cell + step, x, x, q)[0] - ewald(cell - step, x, x, q)[0]) / 2e-4
    return slopes


def test_derivatives_in_torch():
    torch = pytest.importorskip("torch")
    sums = nbcc.compile(source=ENERGY, precision="double")
    x, q = charges(8, SLANTED, seed=11)
    given = [torch.tensor(one, requires_grad=True) for one in (x, q, SLANTED)]

    def energy(x, q, cell):
        return (q * sums(x, x, q, a=cell[0], b=cell[1], c=cell[2], **PRECISE)).sum()

    by_x, by_q, by_cell = (one.numpy() for one in torch.autograd.grad(energy(*given), given))
    pot, field = ewald(SLANTED, x, x, q)
    np.testing.assert_allclose(by_x, 2 * q[:, None] * field, atol=1e-8)
    np.testing.assert_allclose(by_q, 2 * pot, atol=1e-8)
    np.testing.assert_allclose(by_cell, slopes_by_the_cell(x, q, SLANTED), atol=1e-5)


def test_second_derivatives_in_torch():
    torch = pytest.importorskip("torch")
    screened = BOX_ENERGY.replace("qj * rinv", "qj * rinv * exp(-6.0 / rinv)")
    sums = nbcc.compile(source=screened, precision="double")
    x, q = charges(5, seed=12, neutral=False)
    images = torch.tensor(np.stack(np.meshgrid(*[np.arange(-5, 6)] * 3, indexing="ij"), -1).reshape(-1, 3) * 1.0)

    def by_torch(x, q, box):
        d = (x - x[:, None])[:, :, None] + images * box
        r2 = (d * d).sum(3)
        r = torch.sqrt(torch.where(r2 > 0, r2, 1))
        return torch.einsum("i,ijn,j->", q, torch.where(r2 > 0, torch.exp(-6 * r) / r, 0), q)

    def by_nbcc(x, q, box):
        return (q * sums(x, x, q, box=box, **PRECISE)).sum()

    # By positions, and by the box: a mixed derivative uses image_index() as an integer.
    for by in (0, 2):
        found = []
        for energy in (by_nbcc, by_torch):
            given = [torch.tensor(one, dtype=torch.float64) for one in (x, q, [1.1, 0.9, 1.2])]
            given[by].requires_grad_()
            (slope,) = torch.autograd.grad(energy(*given), given[by], create_graph=True)
            weights = torch.linspace(0.5, 1, slope.numel(), dtype=slope.dtype).reshape(slope.shape)
            (twice,) = torch.autograd.grad((slope * weights).sum(), given[by])
            found.append((slope.detach().numpy(), twice.numpy()))
        for one, exact in zip(*found):
            np.testing.assert_allclose(one, exact, atol=1e-7 * abs(exact).max())


def test_derivatives_in_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    sums = nbcc.compile(source=ENERGY, precision="double")
    x, q = charges(8, SLANTED, seed=12)

    def energy(x, q, cell):
        return (q * sums(x, x, q, a=cell[0], b=cell[1], c=cell[2], **PRECISE)).sum()

    given = (jax.numpy.asarray(x), jax.numpy.asarray(q), jax.numpy.asarray(SLANTED))
    pot, field = ewald(SLANTED, x, x, q)
    by_x, by_q, by_cell = jax.grad(energy, (0, 1, 2))(*given)
    np.testing.assert_allclose(by_x, 2 * q[:, None] * field, atol=1e-8)
    np.testing.assert_allclose(by_q, 2 * pot, atol=1e-8)
    np.testing.assert_allclose(by_cell, slopes_by_the_cell(x, q, SLANTED), atol=1e-5)
    np.testing.assert_allclose(jax.jit(energy)(*given), q @ pot, rtol=1e-8)


def test_stress_is_the_derivative_by_the_cell(coulomb):
    sums = nbcc.compile(
        source=ENERGY.replace("output(sum) real pot;", "input_i real qi; output(total) real energy; output(total) vec3 by_a;")
        .replace("pot += qj * rinv;", "real e = 0.5 * qi * qj * rinv; energy += e; by_a += grad(e, a);"),
        precision="double",
    )
    x, q = charges(10, SLANTED, seed=13)
    inside = np.linalg.solve(SLANTED.T, x.T).T

    def energy(cell):
        return 0.5 * q @ ewald(cell, inside @ cell, inside @ cell, q)[0]

    out = sums(xi=x, qi=q, xj=x, qj=q, **vectors(SLANTED), tolerance=1e-9)
    assert out.energy == pytest.approx(energy(SLANTED), rel=1e-7)
    forces = q[:, None] * ewald(SLANTED, x, x, q)[1]  # along the energy's slope, of positions that move with the cell
    for axis in range(3):
        step = np.zeros((3, 3))
        step[0, axis] = 1e-4
        slope = (energy(SLANTED + step) - energy(SLANTED - step)) / 2e-4
        assert out.by_a[axis] + inside[:, 0] @ forces[:, axis] == pytest.approx(slope, abs=1e-6 * abs(out.energy))


HEAD = """input_i vec3 xi; input_i real hi; input_j vec3 xj; input_j real qj; param vec3 box; output(sum) real s;
vec3 d = every_image(xj - xi, box);
skip_if(self_pair);
real r2 = dot(d, d);
"""


@pytest.mark.parametrize(
    "formula, message",
    [
        ("s += qj * rsqrt(r2 + hi);", "a value of i enters a term other than as a factor"),
        ("s += rsqrt(r2 + qj);", "5:6: error: .*'qj' enters nonlinearly"),
        ("if (image_index(0) < 1) s += qj * rsqrt(r2) * hi;", r"image_index\(\) is used as an integer"),
        ("s += hi * qj * r2 * r2;", r"it grows with distance; expected terms that grow at most like r, got r\^4"),
        ("s += hi * qj * (1.0 + rsqrt(r2));", "output 's' has no periodic sum: its terms do not fall off, but become the constant 1"),
        ("s += hi * qj * cos(20.0 * sqrt(r2)) * rsqrt(r2);", "it oscillates or is not smooth"),
        ("skip_if(d.x >= 1.0); s += hi * qj * rsqrt(r2);", r"near and far images join to [0-9.e-]+, expected 3e-05"),
    ],
)
def test_formulas_without_a_periodic_sum(formula, message):
    x, q = charges(8)
    with pytest.raises(nbcc.Error, match=message):
        nbcc.compile(source=HEAD + formula)(xi=x, hi=q, xj=x, qj=q, box=[1, 1, 1], tolerance=1e-4)


def test_what_a_call_must_say(in_box):
    x, q = charges(8)
    with pytest.raises(nbcc.UsageError, match=r"every_image\(\) has no cutoff: a periodic sum needs a tolerance"):
        in_box(xi=x, xj=x, qj=q, box=[1, 1, 1])
    cubes = nbcc.compile(source=HEAD + "s += hi * qj * rsqrt(r2) / r2;", precision="double")
    ones = np.ones(8)
    cubes(xi=x, hi=ones, xj=x, qj=q, box=[1, 1, 1], tolerance=1e-5)
    with pytest.raises(nbcc.UsageError, match=r"the sum of qj is 8, of magnitudes 8: terms that fall like r\^-3 have a"):
        cubes(xi=x, hi=ones, xj=x, qj=ones, box=[1, 1, 1], tolerance=1e-5)
    given = dict(xi=x, xj=x, qj=q, box=[1, 1, 1], tolerance=1e-5)
    with pytest.raises(nbcc.UsageError, match="exclusions: .* excludes the nearest image of each pair"):
        in_box(**given, exclusions=(np.arange(9), np.arange(8), np.zeros((8, 3), int)))
    with pytest.raises(nbcc.UsageError, match="pairs = all: .* chooses its pairs itself"):
        in_box(**given, pairs="all")
    assert not in_box(**{**given, "xj": x[:0], "qj": q[:0]}).pot.any()
    cut = nbcc.compile(source=HEAD + "skip_if(r2 >= 0.1); s += hi * qj * rsqrt(r2);")
    with pytest.raises(nbcc.UsageError, match=r"has no far field: every_image\(\) sums over all images within its cutoff"):
        cut(xi=x, hi=ones, xj=x, qj=q, box=[1, 1, 1], tolerance=1e-5)


def test_exclusions_take_out_the_nearest_image(coulomb):
    x, q = charges(60, seed=31, neutral=False)
    x = x @ SLANTED + 3 * SLANTED[1] - SLANTED[0]
    first, j = np.arange(0, 121, 2), np.stack([np.arange(60) ^ 1, (np.arange(60) + 17) % 60], 1).ravel()
    out = coulomb(x, x, q, **vectors(SLANTED), tolerance=1e-7, exclusions=(first, j))
    pot, field = ewald(SLANTED, x, x, q)
    i = np.repeat(np.arange(60), 2)
    d = x[j] - x[i]
    d = d[:, None] + np.stack(np.meshgrid(*[np.arange(-3, 4)] * 3, indexing="ij"), -1).reshape(-1, 3) @ SLANTED
    d = d[np.arange(120), np.linalg.norm(d, axis=2).argmin(axis=1)]
    r = np.linalg.norm(d, axis=1)
    np.subtract.at(pot, i, q[j] / r)
    np.subtract.at(field, i, (q[j] / r**3)[:, None] * d)
    check_charges(out, SLANTED, x, x, q, 2e-7, (pot, field))


def test_derivatives_with_exclusions_in_torch(coulomb):
    torch = pytest.importorskip("torch")
    values, charge = charges(30, seed=35)
    q = torch.tensor(charge)
    given = dict(vectors(CUBE), tolerance=1e-9, exclusions=nbcc.Rows(np.arange(31), np.arange(30) ^ 1))

    def energy(x):
        return 0.5 * (q * coulomb(x, x, q, **given).pot).sum()

    x = torch.tensor(values, requires_grad=True)
    (slope,) = torch.autograd.grad(energy(x), x)
    moved = [torch.tensor(values) for _ in range(2)]
    moved[0][7, 1] += 1e-5
    moved[1][7, 1] -= 1e-5
    assert float((energy(moved[0]) - energy(moved[1])) / 2e-5) == pytest.approx(float(slope[7, 1]), rel=1e-4, abs=1e-3)
    # The charges of i and j are one set, so that forces are the field times the charge.
    field = coulomb(torch.tensor(values), torch.tensor(values), q, **given).field
    np.testing.assert_allclose(slope, q[:, None] * field, atol=1e-5 * float(abs(field).max()))


def test_batches_have_cells_of_their_own(coulomb):
    x, q = charges(50, seed=32)
    places = np.concatenate([x[:30], x[30:] @ SLANTED])
    batch = (np.arange(50) >= 30).astype(int)
    cells = np.stack([CUBE, SLANTED])
    out = coulomb(
        places, places, q, a=cells[:, 0], b=cells[:, 1], c=cells[:, 2], tolerance=1e-6, batches=(batch, batch)
    )
    for k, cell in enumerate(cells):
        own = batch == k
        alone = coulomb(places[own], places[own], q[own], **vectors(cell), tolerance=1e-6)
        np.testing.assert_allclose(out.pot[own], alone.pot, rtol=1e-12)
        check_charges(type(out)(out.pot[own], out.field[own]), cell, places[own], places[own], q[own], 1e-6)


def test_self_pairs_of_two_sets_are_no_reason_to_warn(coulomb, recwarn):
    x, q = charges(40, seed=33)
    y = charges(40, seed=34)[0]
    out = coulomb(y, x, q, **vectors(CUBE), tolerance=1e-6)
    assert not recwarn.list
    check_charges(out, CUBE, y, x, q, 1e-6)


def test_other_params_take_other_points():
    x, q = charges(40, seed=21)
    text = HEAD + "s += hi * qj * exp(-p * sqrt(r2 + 0.01));"
    sums = nbcc.compile(source=text.replace("param vec3 box;", "param vec3 box; param real p;"), precision="double")
    given = dict(xi=x, hi=np.ones(40), xj=x, qj=q, box=[1, 1, 1], tolerance=1e-6)
    again = nbcc.compile(source=sums.text + "\n", precision="double")
    short, long = sums(**given, p=40.0), sums(**given, p=2.0)
    np.testing.assert_allclose(long, again(**given, p=2.0), atol=1e-6 * abs(long).max() * 40)
    assert not np.allclose(short, long)


def test_a_slab_without_params_that_grows():
    text = CHARGES.replace("param vec3 a; param vec3 b; param vec3 c;", "").replace(
        "a, b, c)", "vec3(1.0, 1.0, 0.0))"
    )
    sums, fresh = (nbcc.compile(source=text + end, precision="double") for end in ("", "\n"))
    x, q = charges(40, seed=22)
    sums(x, x, q, tolerance=1e-7)
    wide = x * [1, 1, 3]
    np.testing.assert_allclose(
        sums(wide, wide, q, tolerance=1e-7).pot, fresh(wide, wide, q, tolerance=1e-7).pot, atol=1e-4
    )


def test_sums_are_added_to_results(coulomb):
    for n in (30, 3000):
        x, q = charges(n, seed=23)
        given = dict(xi=x, xj=x, qj=q, **vectors(CUBE), tolerance=1e-4)
        once = coulomb(**given)
        out = {"pot": np.ones(n), "field": np.ones((n, 3))}
        coulomb(**given, out=out, accumulate=True)
        np.testing.assert_allclose(out["pot"], 1 + once.pot, atol=1e-2 * abs(once.pot).max())
        np.testing.assert_allclose(out["field"], 1 + once.field, atol=1e-2 * abs(once.field).max())


def test_a_formula_of_so_short_a_range_that_it_vanishes(in_box):
    x, q = charges(8)
    gone = nbcc.compile(source=HEAD + "s += hi * qj * exp(-1e6 * r2);", precision="double")
    with pytest.raises(nbcc.UsageError, match="are 0 at all of 64 displacements"):
        gone(xi=x, hi=q, xj=x, qj=q, box=[1, 1, 1], tolerance=1e-5)


def test_derivatives_that_depend_on_the_shape_are_errors():
    torch = pytest.importorskip("torch")
    sums = nbcc.compile(source=BOX_ENERGY, precision="double")
    x, q = charges(5, seed=24)
    at = torch.tensor(x, requires_grad=True)
    (slope,) = torch.autograd.grad((torch.tensor(q) * sums(at, at, q, box=[1, 1, 1], tolerance=1e-4)).sum(), at,
                                   create_graph=True)
    with pytest.raises(nbcc.UsageError, match="depends on the order of the images"):
        torch.autograd.grad((slope * slope).sum(), at)
