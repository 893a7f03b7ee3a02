"""Calls inside of JAX's transformations, against the same sums by JAX's own operations."""

import pathlib

import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import nbcc  # noqa: E402
from nbcc._call import _transposed  # noqa: E402

PIPELINES = pathlib.Path(__file__).resolve().parents[2] / "pipelines"
gravity = nbcc.compile(PIPELINES / "gravity_jerk.pipe", precision="double")


def by_jax(x, v, m, eps2):
    dx, dv = x[None] - x[:, None], v[None] - v[:, None]
    d2 = (dx**2).sum(-1)
    apart = d2 > 0
    ri = jnp.where(apart, d2 + eps2, 1.0) ** -0.5
    mri3 = jnp.where(apart, m[None] * ri**3, 0)
    alpha = 3 * (dx * dv).sum(-1) * ri**2
    acc = (mri3[..., None] * dx).sum(1)
    jerk = (mri3[..., None] * (dv - alpha[..., None] * dx)).sum(1)
    return acc, jerk, -jnp.where(apart, m[None] * ri, 0).sum(1)


def by_nbcc(x, v, m, eps2):
    return gravity(x, v, x, v, m, eps2=eps2)


def loss(sums, x, v, m, eps2):
    acc, jerk, pot = sums(x, v, m, eps2)
    return jnp.sin(acc).sum() + (jerk**2).sum() + (pot * m).sum()


def particles():
    keys = jax.random.split(jax.random.PRNGKey(3), 3)
    return (
        jax.random.normal(keys[0], (7, 3)),
        jax.random.normal(keys[1], (7, 3)),
        jax.random.uniform(keys[2], (7,)),
        jnp.array(0.3),
    )


def close(a, b, rounding=1e-13):
    return jnp.all(abs(a - b) <= rounding * abs(b).max())


@pytest.mark.parametrize("transformed", [lambda f: f, jax.jit], ids=["grad", "jit"])
def test_gradients_by_all_inputs_and_a_param(transformed):
    of = {f: transformed(jax.grad(lambda *a, f=f: loss(f, *a), argnums=(0, 1, 2, 3))) for f in (by_jax, by_nbcc)}
    for ours, own in zip(of[by_nbcc](*particles()), of[by_jax](*particles())):
        assert close(ours, own)


@pytest.mark.parametrize("transformed", [lambda f: f, jax.jit], ids=["grad", "jit"])
@pytest.mark.parametrize("kind", [float, np.float64, np.float32, jnp.asarray, lambda x: np.array([x]), lambda x: [x], lambda x: ((x,),)],
                         ids=["float", "float64", "float32", "jax", "numpy", "list", "nested"])
def test_a_param_may_be_any_number(transformed, kind):
    x, v, m, _ = particles()
    number = lambda value: value if not isinstance(value, (list, tuple)) else number(value[0])
    ours, own = (
        transformed(jax.grad(lambda x, m, e: loss(sums, x, v, m, e if sums is by_nbcc else number(e)), (0, 1, 2)))(x, m, kind(0.25))
        for sums in (by_nbcc, by_jax)
    )
    for a, b in zip(*map(jax.tree_util.tree_leaves, (ours, own))):
        assert a.shape == b.shape and close(a, b)


def test_params_and_inputs_may_be_lists_of_what_is_traced():
    pipe = nbcc.compile(source="""input_i real a; input_j real b; param vec3 v; output(sum) real s;
        s += a * b * v.x + v.y * a * a + v.z * b * b;""", precision="double")
    b = np.array([3.0, 4.0])
    ours = lambda p, q: pipe([1.0, p], b, v=(q, q, q)).sum()
    own = lambda p, q: q * (7 * (1 + p) + 2 * (1 + p * p) + 50)
    for transformed in (lambda f: f, jax.jit):
        for a, e in zip(transformed(jax.grad(ours, (0, 1)))(1.5, 0.5), jax.grad(own, (0, 1))(1.5, 0.5)):
            assert close(a, e)
    with pytest.raises(TypeError, match="'a': expected rows of numbers of one length"):
        jax.grad(lambda p: pipe([[1.0], [p, p]], b, v=(1, 1, 1)).sum())(1.0)


@pytest.mark.parametrize("options", [dict(i=[0, 1]), dict(batches=([0, 0], [0, 0])), dict(skin=0.0)])
def test_options_are_not_traced(options):
    pipe = nbcc.compile(source="input_i real a; input_j real b; output(sum) real s; s += a * b;", precision="double")
    (name,) = options
    with pytest.raises(TypeError, match=rf"pipeline\(\): {name}= is traced by JAX"):
        jax.jit(lambda given: pipe(jnp.ones(2), jnp.ones(2), **{name: given}))(
            jax.tree_util.tree_map(jnp.asarray, options[name]))


def test_the_second_derivative():
    x, v, m, eps2 = particles()
    second = {
        f: jax.grad(lambda x, f=f: (jax.grad(lambda x: loss(f, x, v, m, eps2))(x) ** 2).sum())(x)
        for f in (by_jax, by_nbcc)
    }
    assert close(second[by_nbcc], second[by_jax])


def test_vmap():
    x, v, m, eps2 = particles()
    several = jnp.stack([x, x + 1, 2 * x])
    for one in (lambda f: jax.vmap(lambda x: loss(f, x, v, m, eps2)),
                lambda f: jax.vmap(jax.grad(lambda x: loss(f, x, v, m, eps2)))):
        assert close(one(by_nbcc)(several), one(by_jax)(several))


# ---- which pairs act -------------------------------------------------------------------------------------

WEIGHTED = """
input_i vec3 xi; input_i real qi; input_j vec3 xj; input_j real qj; param real p = 1.3;
output(sum) real s; output(sum) vec3 f;
vec3 d = xj - xi;
real w = qi * qj * exp(-p * dot(d, d)) * (i_index == j_index ? 0.5 : 1.0);
s += w; f += w * d;
"""
weighted = nbcc.compile(source=WEIGHTED, precision="double")
NI, NJ = 5, 6
LISTED = [(0, 1), (0, 4), (1, 0), (3, 3), (3, 3), (3, 5), (4, 2)]
ROWS = nbcc.Rows([0, 2, 3, 3, 6, 7], [j for _, j in LISTED])
# Groups of i: {2, 0}, {}, {1, 3, 4}; j in the order 5 .. 0, of which ranges overlap and are empty.
LISTS = dict(i_first=[0, 2, 2, 5], range_first=[0, 2, 3, 6], j_begin=[0, 2, 1, 1, 2, 4], j_end=[3, 5, 4, 5, 2, 6],
             i_order=[2, 0, 1, 3, 4], j_order=[5, 4, 3, 2, 1, 0])
I_BATCH, J_BATCH = np.array([0, 0, 1, 1, 2]), np.array([0, 0, 0, 2, 2, 2])


def times(pairs):
    made = np.zeros((NI, NJ))
    for i, j in pairs:
        made[i, j] += 1
    return made


def of_lists():
    pairs = []
    for g in range(3):
        for r in range(LISTS["range_first"][g], LISTS["range_first"][g + 1]):
            pairs += [(LISTS["i_order"][i], LISTS["j_order"][j])
                      for i in range(LISTS["i_first"][g], LISTS["i_first"][g + 1])
                      for j in range(LISTS["j_begin"][r], LISTS["j_end"][r])]
    return times(pairs)


ALL = np.ones((NI, NJ))
of_slice, of_list = ALL * 0, ALL * 0
of_slice[1:4], of_list[[4, 1]] = 1, 1
PAIRS = {
    "i_range": (dict(i=slice(1, 4)), of_slice),
    "i_list": (dict(i=[4, 1]), of_list),
    "offsets": (dict(i_offset=2, j_offset=1), ALL),
    "batches": (dict(batches=(I_BATCH, J_BATCH)), 1.0 * (I_BATCH[:, None] == J_BATCH)),
    "listed_pairs": (dict(listed_pairs=ROWS), times(LISTED)),
    "listed_pairs_of_some": (dict(listed_pairs=ROWS, i=[0, 3]), times([p for p in LISTED if p[0] in (0, 3)])),
    "lists": (dict(lists=nbcc.Lists(**LISTS)), of_lists()),
    "exclusions": (dict(exclusions=nbcc.Rows([0, 1, 1, 2, 2, 4], [5, 0, 1, 2])), ALL - times([(0, 5), (2, 0), (4, 1), (4, 2)])),
}


def by_times(often, offset=0):
    def sums(xi, qi, xj, qj, p):
        d = xj[None] - xi[:, None]
        p = jnp.reshape(p, (-1, 1)) if jnp.ndim(p) else p
        w = often * qi[:, None] * qj * jnp.exp(-p * (d * d).sum(-1)) * (1 - 0.5 * jnp.eye(NI, NJ, offset))
        return w.sum(1), (w[..., None] * d).sum(1)

    return sums


def fields():
    keys = jax.random.split(jax.random.PRNGKey(4), 4)
    shapes = (NI, 3), (NI,), (NJ, 3), (NJ,)
    return tuple(jax.random.uniform(key, shape) for key, shape in zip(keys, shapes))


def all_gradients(sums, arguments):
    def loss(*arguments):
        s, f = sums(*arguments)
        return jnp.sin(s).sum() + (f**2 * jnp.arange(1.0, 4.0)).sum()

    by = tuple(range(len(arguments)))
    first = jax.grad(loss, by)(*arguments)
    second = jax.grad(lambda *a: sum((g**2).sum() for g in jax.grad(loss, by)(*a)), by)(*arguments)
    return first + second


@pytest.mark.parametrize("case", PAIRS)
def test_first_and_second_derivatives_of(case):
    options, often = PAIRS[case]
    given = (*fields(), jnp.array(1.3))
    ours = all_gradients(lambda xi, qi, xj, qj, p: weighted(xi, qi, xj, qj, p=p, **options), given)
    for a, b in zip(ours, all_gradients(by_times(often, 1 if case == "offsets" else 0), given)):
        assert close(a, b, 1e-12)


@pytest.mark.parametrize("case", ["batches", "lists"])
def test_a_param_of_each_group(case):
    options, often = PAIRS[case]
    group = jnp.asarray(I_BATCH if case == "batches" else [0, 2, 0, 2, 2])
    by_i, own = fields()[:2], by_times(often)
    xj, qj = fields()[2:]
    given = (*by_i, jnp.array([1.3, 0.4, 0.9]))
    ours = all_gradients(lambda xi, qi, p: weighted(xi, qi, xj, qj, p=p, **options), given)
    for a, b in zip(ours, all_gradients(lambda xi, qi, p: own(xi, qi, xj, qj, p[group]), given)):
        assert close(a, b, 1e-12)


def test_shifts_of_lists():
    shifts = np.arange(18.0).reshape(6, 3) / 9
    lists = nbcc.Lists(**LISTS, shifts=shifts)
    near = nbcc.compile(source="""
        input_i vec3 xi; input_j vec3 xj; input_j real q; output(sum) real s;
        vec3 d = xj - xi; skip_if(dot(d, d) > 400.0); s += q * exp(-0.3 * dot(d, d));""", precision="double")
    xi, _, xj, q = fields()

    def own(xi, xj, q):
        s = jnp.zeros(NI)
        for g in range(3):
            for r in range(LISTS["range_first"][g], LISTS["range_first"][g + 1]):
                for i in (LISTS["i_order"][k] for k in range(LISTS["i_first"][g], LISTS["i_first"][g + 1])):
                    j = np.array(LISTS["j_order"][LISTS["j_begin"][r] : LISTS["j_end"][r]], int)
                    d = xj[j] + shifts[r] - xi[i]
                    s = s.at[i].add((q[j] * jnp.exp(-0.3 * (d * d).sum(-1))).sum())
        return s

    for sums in (own, lambda xi, xj, q: near(xi, xj, q, lists=lists)):
        found = jax.grad(lambda *a: jnp.sin(sums(*a)).sum(), (0, 1, 2))(xi, xj, q)
        expected = found if sums is own else expected
    for a, b in zip(found, expected):
        assert close(a, b, 1e-12)


def test_inputs_of_pairs():
    springs = nbcc.compile(source="""
        input_i vec3 xi; input_j vec3 xj; input_pair real k; output(sum) real u;
        vec3 d = xj - xi; u += k * dot(d, d);""", precision="double")
    xi, _, xj, _ = fields()
    k = jnp.arange(1.0, 8.0)
    ours = jax.grad(lambda xi, xj: jnp.sin(springs(xi, xj, k, listed_pairs=ROWS)).sum(), (0, 1))(xi, xj)
    i, j = np.array(LISTED).T
    own = jax.grad(lambda xi, xj: jnp.sin(jnp.zeros(NI).at[i].add(k * ((xj[j] - xi[i]) ** 2).sum(-1))).sum(), (0, 1))(xi, xj)
    assert all(map(close, ours, own))
    found = jax.grad(lambda k: springs(xi, xj, k, listed_pairs=ROWS).sum())(k)
    assert close(found, ((xj[j] - xi[i]) ** 2).sum(-1))


def test_params_of_lists():
    xi, qi, xj, qj = fields()
    lists = nbcc.Lists(**LISTS)
    p = jnp.array([1.0, 2.0, 3.0])

    def by_pipe(xj, qj, p, one):
        found = weighted(xi, qi, xj, qj, p=p, lists=lists).s
        return (one * found).sum()

    def by_groups(xj, qj, p, one):  # each i with its own group's param
        group = _transposed.group_of_i(lists)
        every = jnp.stack([weighted(xi, qi, xj, qj, p=p[k], lists=lists).s for k in range(len(p))])
        return (one * every[jnp.asarray(group), jnp.arange(len(xi))]).sum()

    one = jnp.arange(1.0, 1 + len(xi))
    for ours, own in zip(*(jax.grad(f, (0, 1, 2))(xj, qj, p, one) for f in (by_pipe, by_groups))):
        assert close(ours, own)


def test_what_is_refused():
    x, v, m, eps2 = particles()
    with pytest.raises(TypeError, match="accumulate= cannot be given where derivatives are taken"):
        jax.grad(lambda x: gravity(x, v, x, v, m, accumulate=True).pot.sum())(x)


# ---- totals ----------------------------------------------------------------------------------------------

TOTALS = """
input_i vec3 xi; input_i real mi; input_j vec3 xj; input_j real mj; param real eps2 = 0.01; param vec3 k = vec3(1, 2, 3);
output(total) real energy; output(total) vec3 square; output(total, logsumexp) real z; output(sum) real s;
output(total, min) real least; output(total, max) real most; output(total, count) int n;
vec3 d = xj - xi;
real r2 = dot(d, d) + eps2;
energy -= mi * mj / sqrt(r2); square += d * d * k; z = logsumexp(z, -r2 * mj); s += mi * mj * r2;
least = min(least, r2); most = max(most, r2); n += r2 < 1;
"""
OF_TOTALS = ("energy", "square", "z", "s", "least", "most")


def totals_by_jax(xi, mi, xj, mj, eps2, k):
    d = xj[None] - xi[:, None]
    r2 = (d * d).sum(-1) + eps2
    return (
        -(mi[:, None] * mj[None] / jnp.sqrt(r2)).sum(),
        (d * d * k).sum((0, 1)),
        jax.scipy.special.logsumexp(-r2 * mj[None]),
        (mi[:, None] * mj[None] * r2).sum(1),
        r2.min(),
        r2.max(),
    )


@pytest.mark.parametrize("precision, rounding", [("double", 1e-12), ("single", 1e-5)])
@pytest.mark.parametrize("transformed", [lambda f: f, jax.jit], ids=["grad", "jit"])
@pytest.mark.parametrize("one_set", [True, False], ids=["one set", "two sets"])
def test_gradients_of_totals(precision, rounding, transformed, one_set):
    pipe = nbcc.compile(source=TOTALS, precision=precision)
    x, _, m, eps2 = particles()
    given = (x, m, eps2, jnp.array([1.0, 2.0, 3.0])) + (() if one_set else (x[:4] + 1, m[:4]))

    def loss_of(sums):
        def loss(x, m, eps2, k, y=None, q=None):
            energy, square, z, s, least, most = sums(x, m, *((x, m) if one_set else (y, q)), eps2, k)
            return 1.5 * energy + jnp.sin(square).sum() + 3 * z + (s * s).sum() + jnp.sin(least) - 2 * most

        return transformed(jax.grad(loss, tuple(range(len(given)))))

    ours = loss_of(lambda xi, mi, xj, mj, eps2, k: pipe(xi, mi, xj, mj, eps2=eps2, k=k, outputs=OF_TOTALS))(*given)
    for a, b in zip(ours, loss_of(totals_by_jax)(*given)):
        assert a.shape == b.shape and close(a, b, rounding)


def test_a_total_is_a_loss():
    pipe = nbcc.compile(source=TOTALS, precision="double")
    x, _, m, eps2 = particles()
    energy = lambda x: pipe(x, m, x, m, eps2=eps2, outputs="energy")
    own = lambda x: totals_by_jax(x, m, x, m, eps2, 1.0)[0]
    assert jax.jit(energy)(x).shape == energy(x).shape == ()
    assert close(jax.jit(energy)(x), energy(x))
    assert close(jax.value_and_grad(energy)(x)[0], own(x))
    several = jnp.stack([x, x + 1, 2 * x])
    assert close(jax.vmap(jax.grad(energy))(several), jax.vmap(jax.grad(own))(several))
    squared = lambda f: jax.grad(lambda x: (jax.grad(f)(x) ** 2).sum())
    assert close(squared(energy)(x), squared(own)(x), 1e-12)


def test_totals_of_float32_arrays_are_double():
    pipe = nbcc.compile(source=TOTALS)
    x, _, m, eps2 = (jnp.asarray(one, jnp.float32) for one in particles())
    energy = lambda x: pipe(x, m, x, m, eps2=eps2, outputs="energy")
    for call in (energy, jax.jit(energy)):
        assert call(x).dtype == jnp.float64
    assert jax.grad(energy)(x).dtype == jnp.float32


def test_gradients_of_totals_over_batches():
    pipe = nbcc.compile(source=TOTALS, precision="double")
    x, _, m, eps2 = particles()
    batch = np.array([0, 0, 0, 1, 1, 1, 1])

    def energy(x):
        return pipe(x, m, x, m, eps2=eps2, outputs="energy", batches=(batch, batch))

    own = lambda x: sum(totals_by_jax(x[p], m[p], x[p], m[p], eps2, 1.0)[0] for p in (slice(0, 3), slice(3, 7)))
    assert close(energy(x), own(x)) and close(jax.grad(energy)(x), jax.grad(own)(x))


def test_totals_with_finish():
    pipe = nbcc.compile(source="""input_i real a; input_j real b; output(sum) real s; output(total) real e;
        output(total, logsumexp) real z; s += a * b; e += a * b; z = logsumexp(z, a * b);
        void finish() { e += s * s; if (a > 1.5) e -= a; z = logsumexp(z, a); }""", precision="double")
    a, b = jnp.array([1.0, 2.0]), jnp.array([0.3, 0.4, 0.5])

    def own(a, b):
        s = a * b.sum()
        return (s + s * s - jnp.where(a > 1.5, a, 0)).sum()

    of_z = lambda a, b: jax.scipy.special.logsumexp(jnp.concatenate([a[:, None] * b, a[:, None]], 1))
    for name, same in (("e", own), ("z", of_z)):
        by_pipe = lambda *x, name=name: pipe(*x, outputs=name)
        for ours, expected in zip(jax.grad(by_pipe, (0, 1))(a, b), jax.grad(same, (0, 1))(a, b)):
            assert close(ours, expected)


HISTOGRAMS = """input_i vec3 xi; input_i real mi; input_j vec3 xj; input_j real mj;
    output(total) real g[500]; output(total) index n[500]; output(sum) real pot; output(total) real energy;
    vec3 d = xj - xi; real r2 = dot(d, d); real u = mj / (r2 + 1); pot += u; energy += mi * u;
    n[int(50 * r2)] += 1; g[int(50 * r2)] += mj;"""


@pytest.mark.parametrize("finish", ["", "void finish() { pot = sqrt(pot); }"])
def test_histograms_beside_what_is_differentiated(finish):
    pipe = nbcc.compile(source=HISTOGRAMS + finish, precision="double")
    x, _, m, _ = particles()

    def energy(x):
        r2 = ((x[None] - x[:, None]) ** 2).sum(-1)
        pot = (m[None] / (r2 + 1)).sum(1)
        return (m[:, None] * m[None] / (r2 + 1)).sum() + (jnp.sqrt(pot) if finish else pot).sum()

    def by_pipe(x, of):
        made = pipe(x, m, x, m, outputs=of)
        return made.energy + made.pot.sum()

    expected = jax.grad(energy)(x)
    for of in (None, ("pot", "energy", "n"), ("pot", "energy", "g")):
        assert close(jax.grad(by_pipe)(x, of), expected)
    assert jax.jit(lambda x: pipe(x, m, x, m, outputs="n"))(x).sum() > 0
    # The derivatives by the weights of a histogram.
    d = x[None] - x[:, None]
    element, weights = (50 * (d * d).sum(-1)).astype(int), jnp.arange(1.0, 1 + len(pipe(x, m, x, m).g))
    by_element = jnp.where(element < len(weights), weights[jnp.minimum(element, len(weights) - 1)], 0)
    assert close(jax.grad(lambda m: (weights * pipe(x, m, x, m).g).sum())(m), by_element.sum(0))
