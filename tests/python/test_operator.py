"""Pipelines as linear operators of SciPy: products and transposed products against the matrix of all pairs."""

import copy
import pickle

import numpy as np
import pytest

import nbcc
from conftest import PIPELINES

sparse = pytest.importorskip("scipy.sparse.linalg")
pytestmark = pytest.mark.filterwarnings("ignore::nbcc.PipelineWarning")  # some texts use not every field
random = np.random.default_rng(8)
XI, XJ = random.random((9, 3)), random.random((14, 3))
D = XI[:, None] - XJ[None]
R = np.sqrt((D**2).sum(2))
HEAD = "input_i vec3 xi; input_j vec3 xj; input_i real a; input_j {} q; param real k = 2;\n"
PAIR = "vec3 d = xi - xj; real r = length(d);\n"
A = random.random(9)


def compiled(text, kind="real"):
    return nbcc.compile(source=HEAD.format(kind) + text, precision="double")


# Texts, kind of q, and the matrix.
CASES = {
    "numbers": ("real", "output(sum) real s;" + PAIR + "s += a * q * exp(-k * r);", lambda: A[:, None] * np.exp(-2 * R)),
    "vectors": ("real", "output(sum) vec3 s;" + PAIR + "s += q * d * a;", lambda: (A[:, None, None] * D).transpose(0, 2, 1).reshape(27, 14)),
    "of vectors": (
        "vec3",
        "output(sum) real s;" + PAIR + "s += dot(q, d);",
        lambda: D.reshape(9, 42),
    ),
    "complex": ("complex", "output(sum) complex s;" + PAIR + "s += q * exp(1i * k * r) * a;", lambda: A[:, None] * np.exp(2j * R)),
    "real to complex": ("real", "output(sum) complex s;" + PAIR + "s += q * exp(1i * k * r);", lambda: np.exp(2j * R)),
    "complex arrays": (
        "complex",
        "output(sum) complex s[2];" + PAIR + "s[0] += q * r; s[1] += 1i * q;",
        lambda: np.stack([R + 0j, np.full_like(R, 1, complex) * 1j], 1).reshape(18, 14),
    ),
    "finished": ("real", "output(sum) real s;" + PAIR + "s += q * r; void finish() { s = 2.0 * s * a; }", lambda: 2 * A[:, None] * R),
}


@pytest.mark.parametrize("case", CASES)
def test_products(case):
    kind, text, matrix = CASES[case]
    matrix = matrix()
    operator = compiled(text, kind).operator(XI, XJ, A)
    assert isinstance(operator, sparse.LinearOperator)
    assert operator.shape == matrix.shape and operator.dtype == matrix.dtype
    for is_complex in (False, True):
        v, u = (random.normal(size=(n, 2)) @ [1, 1j * is_complex] for n in matrix.shape[::-1])
        v, u = (v, u) if is_complex else (v.real, u.real)
        if kind == "complex" or is_complex is False or np.iscomplexobj(matrix) or case == "numbers":
            assert np.allclose(operator.matvec(v), matrix @ v, rtol=1e-12)
            assert np.allclose(operator.rmatvec(u), matrix.conj().T @ u, rtol=1e-12)
    block = random.normal(size=(matrix.shape[1], 3))
    assert np.allclose(operator @ block, matrix @ block, rtol=1e-12)
    assert np.allclose(operator.H @ (operator @ block), matrix.conj().T @ (matrix @ block), rtol=1e-12)


def test_options_of_calls():
    text = "output(sum) real s;" + PAIR + "s += q * exp(-k * r) + 0.0 * a * q;"
    pipe = compiled(text)
    matrix, v, u = np.exp(-3 * R), random.normal(size=14), random.normal(size=9)
    one = pipe.operator(XI, XJ, A, k=3.0)
    assert np.allclose(one @ v, matrix @ v) and np.allclose(one.rmatvec(u), matrix.T @ u)
    excluded = (np.arange(10), np.arange(9))
    without = matrix.copy()
    without[np.arange(9), np.arange(9)] = 0
    one = pipe.operator(XI, XJ, A, k=3.0, exclusions=excluded)
    assert np.allclose(one @ v, without @ v) and np.allclose(one.rmatvec(u), without.T @ u)
    batches = np.repeat([0, 1], [4, 5]), np.repeat([0, 1], [6, 8])
    of_batches = np.where(batches[0][:, None] == batches[1], matrix, 0)
    one = pipe.operator(XI, XJ, A, k=3.0, batches=batches)
    assert np.allclose(one @ v, of_batches @ v) and np.allclose(one.rmatvec(u), of_batches.T @ u)
    single = nbcc.compile(source=HEAD.format("real") + text).operator(XI.astype("f4"), XJ.astype("f4"), A.astype("f4"), k=3)
    assert single.dtype == np.float32 and np.allclose(single @ v, matrix @ v, rtol=1e-4, atol=1e-4)


def test_one_set_and_later_changes():
    pipe = nbcc.compile(PIPELINES / "coulomb.pipe", precision="double")
    x = random.random((30, 3))
    operator = pipe.operator(x, x, outputs="pot", eps2=0.01)
    d2 = ((x[:, None] - x[None]) ** 2).sum(2)
    matrix = np.where(d2 > 0, 1 / np.sqrt(d2 + 0.01), 0)
    x[:] = 0  # the operator has copies
    v = random.normal(size=30)
    assert np.allclose(operator @ v, matrix @ v) and np.allclose(operator.rmatvec(v), matrix.T @ v)


def test_a_far_field_is_within_its_tolerance():
    pipe = nbcc.compile(PIPELINES / "coulomb.pipe", precision="double")
    x = random.random((20000, 3))
    exact, far = (pipe.operator(x, x, outputs="pot", eps2=0.0, **options) for options in ({}, {"tolerance": 1e-3}))
    v = random.random(20000)
    for product, of_far in ((exact @ v, far @ v), (exact.rmatvec(v), far.rmatvec(v))):
        assert 0 < np.linalg.norm(of_far - product) < 1e-3 * np.linalg.norm(product)


def test_solvers():
    pipe = nbcc.compile(
        source="input_i vec3 x; input_j vec3 y; input_j real c; output(sum) real s;\n"
        "vec3 d = x - y; s += c * exp(-50.0 * dot(d, d));",
        precision="double",
    )
    x = random.random((300, 3))
    ridge = sparse.aslinearoperator(np.eye(300) * 1e-2)
    matrix = pipe.operator(x, x)
    wanted = random.normal(size=300)
    found, failed = sparse.cg(matrix + ridge, wanted, rtol=1e-10, maxiter=2000)
    assert failed == 0 and np.allclose(matrix @ found + 1e-2 * found, wanted, atol=1e-7)
    helmholtz = nbcc.compile(PIPELINES / "helmholtz.pipe", precision="double")
    waves = helmholtz.operator(XI * 4, XJ[:9] * 0.5 + 8, k=2.0, outputs="phi")
    q = random.normal(size=(9, 2)) @ [1, 1j]
    least = sparse.lsqr(waves, waves @ q, atol=1e-14, btol=1e-14, iter_lim=500)[0]
    assert np.linalg.norm(waves @ least - waves @ q) < 1e-6 * np.linalg.norm(waves @ q)


@pytest.mark.parametrize(
    "text, kind, says",
    [
        ("output(sum) real s; s += q * q + a;", "real", "'s' is not linear in 'q': its derivative depends on 'q'"),
        ("output(sum) real s; s += abs(q);", "real", "its derivative depends on 'q'"),
        ("output(sum) real s; s += q + a;", "real", "'s' is not linear in 'q': it is not 0 where 'q' is 0"),
        ("output(sum) complex s; s += conj(q);", "complex", "it depends on the conjugate"),
        ("output(sum) real s; s += imag(q);", "complex", "'s' is real and 'q' complex"),
        ("output(sum) real s; s += q; void finish() { s = s * s; }", "real", "its derivative depends on 'q'"),
        ("output(sum) real s; s += q; void finish() { s = s + 1e-6 * s * s; }", "real", "its derivative depends on 'q'"),
        ("output(sum) real s; s += a * q; void finish() { s = min(s, 1000.0); }", "real", "its derivative depends on 'q'"),
        ("output(sum) real s; s += a * q; void finish() { s = tanh(0.01 * s); }", "real", "its derivative depends on 'q'"),
        ("output(sum) real s; s += a * floor(q * 1e5) * 1e-5;", "real", "the transpose is another one|do not add up"),
        ("output(sum) real s; s += q / (a - a);", "real", "'s' is not finite: the matrix has elements"),
        ("output(total) real s; s += q;", "real", "output 's' is a total"),
        ("output(max) real s; s = max(s, q);", "real", "is not linear in 'q'"),
        ("output(sum) real s, t; s += q; t += q;", "real", "outputs: expected one output .*, got s, t"),
        ("output(sum) int s; s += int(q);", "real", "outputs: expected one output of real or complex numbers"),
    ],
)
def test_what_is_no_matrix(text, kind, says):
    with pytest.raises(ValueError, match=says):
        compiled(text, kind).operator(XI, XJ, A)


def test_steps_too_small_for_sums_are_seen_by_the_transpose():
    steps = nbcc.compile(source=HEAD.format("real") + "output(sum) real s; s += a * floor(q * 1e5) * 1e-5;")
    with pytest.raises(ValueError, match="the product with the transpose is another one"):
        steps.operator(XI, XJ, A)


def test_few_particles_hide_nothing():
    for kind in ("max", "min"):
        pipe = compiled(f"output({kind}) real s; s = {kind}(s, a * q);")
        for nj in (1, 2, 5):
            with pytest.raises(ValueError, match="is not linear in 'q'"):
                pipe.operator(XI, XJ[:nj], A)


def test_names_of_every_kind():
    # Components, options and comments are no uses of a name.
    x = nbcc.compile(
        source="input_i vec3 p; input_j vec3 r; input_j real x; // the charge; x of an ion\n"
        "output(sum) real s; s += x * exp(-length(p - r));",
        precision="double",
    )
    v = random.normal(size=14)
    assert np.allclose(x.operator(XI, XJ) @ v, np.exp(-R) @ v)
    odd = nbcc.compile(
        source="input_i vec3 device; input_j vec3 stream; input_j real skin; param real out = 2;\n"
        "output(sum) real s; s += skin * exp(-out * length(device - stream));",
        precision="double",
    )
    assert np.allclose(odd.operator(XI, XJ) @ v, np.exp(-2 * R) @ v)
    attention = compiled("output(softmax) real s; " + PAIR + "s = softmax(s, -r, q);").operator(XI, XJ, A)
    weights = np.exp(-R) / np.exp(-R).sum(1)[:, None]
    assert np.allclose(attention @ v, weights @ v) and np.allclose(attention.rmatvec(A), weights.T @ A)


def test_operators_travel():
    operator = compiled("output(sum) real s; " + PAIR + "s += q * exp(-k * r) * a;").operator(XI, XJ, A)
    v, u = random.normal(size=14), random.normal(size=9)
    for again in (pickle.loads(pickle.dumps(operator)), copy.deepcopy(operator)):
        assert np.array_equal(again @ v, operator @ v) and np.array_equal(again.rmatvec(u), operator.rmatvec(u))


def test_multiples_of_the_identity():
    from scipy.sparse import diags, identity

    pipe = compiled("output(sum) real s; " + PAIR + "s += q * exp(-k * r);")
    square = XJ[:9]
    matrix = np.exp(-2 * np.sqrt(((XI[:, None] - square[None]) ** 2).sum(2)))
    v = random.normal(size=9)
    plain = pipe.operator(XI, square, A)
    for operator in (
        pipe.operator(XI, square, A, ridge=0.5),
        plain + 0.5 * identity(9),
        0.5 * identity(9, format="csr") + plain,
        plain + 0.25 * identity(9) + 0.25 * identity(9),
        pickle.loads(pickle.dumps(plain + 0.5 * identity(9))),
    ):
        assert type(operator) is type(plain) and operator.dtype == np.float64
        assert np.allclose(operator @ v, matrix @ v + 0.5 * v) and np.allclose(operator.rmatvec(v), matrix.T @ v + 0.5 * v)
        assert np.allclose(operator @ np.stack([v, 2 * v], 1), (matrix + 0.5 * np.eye(9)) @ np.stack([v, 2 * v], 1))
    assert np.allclose(plain @ v, matrix @ v)  # unchanged
    other = plain + diags(np.arange(9.0))  # a sum of SciPy's
    assert np.allclose(other @ v, matrix @ v + np.arange(9) * v)
    dense = plain + np.ones((9, 9))
    assert np.allclose(dense @ v, matrix @ v + v.sum())
    turned = pipe.operator(XI, square, A, ridge=2j)
    assert turned.dtype == np.complex128 and np.allclose(turned @ v, matrix @ v + 2j * v)
    assert np.allclose(turned.rmatvec(v), matrix.T @ v - 2j * v)
    of_text = nbcc.compile(source=pipe.text)
    single = of_text.operator(XI.astype("f4"), square.astype("f4"), A.astype("f4"), ridge=np.float64(0.5))
    assert single.dtype == (single @ np.ones(single.shape[1], "f4")).dtype == np.float32
    with pytest.raises(ValueError, match="ridge: expected as many rows as columns, got 9 and 14"):
        pipe.operator(XI, XJ, A, ridge=1)
    with pytest.raises(TypeError, match="ridge: expected a number, got str"):
        pipe.operator(XI, square, A, ridge="much")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("count", [0, 1, 2, 8, 11])
def test_blocks_of_columns(case, count):
    kind, text, matrix = CASES[case]
    matrix = matrix()
    operator = compiled(text, kind).operator(XI, XJ, A)
    block = random.normal(size=(matrix.shape[1], count))
    if np.iscomplexobj(matrix):
        block = block + 1j * random.normal(size=block.shape)
    assert np.allclose(operator.matmat(block) if count else operator @ block, matrix @ block, rtol=1e-11)
    assert (operator @ block).shape == (matrix.shape[0], count)


def test_a_block_of_columns_is_one_sum(monkeypatch):
    calls = []
    original = nbcc.Pipeline._sum
    monkeypatch.setattr(nbcc.Pipeline, "_sum", lambda *a, **k: calls.append(a[0].fields) or original(*a, **k))
    operator = compiled("output(sum) real s; " + PAIR + "s += q * exp(-k * r);").operator(XI, XJ, A)
    operator @ np.ones((14, 8))
    calls.clear()
    operator @ np.ones((14, 16))
    assert len(calls) <= 2  # repeated calls of one kind do not pass here
    assert all(field.shape == (8,) for fields in calls for field in fields if field.name in ("q", "s"))
    # Without such a pipeline the columns come one by one.
    attention = compiled("output(softmax) real s; " + PAIR + "s = softmax(s, -r, q);").operator(XI, XJ, A)
    weights = np.exp(-R) / np.exp(-R).sum(1)[:, None]
    block = random.normal(size=(14, 3))
    assert np.allclose(attention @ block, weights @ block)


def test_info_of_the_last_product():
    pipe = compiled("output(sum) real s; " + PAIR + "s += q * exp(-k * r);")
    operator = pipe.operator(XI, XJ, A)
    operator @ np.ones(14)
    assert operator.info == ("double", "all pairs", "cpu")
    single = nbcc.compile(source=HEAD.format("real") + "output(sum) real s; s += q * a;")
    of_single = single.operator(*(x.astype("f4") for x in (XI, XJ, A)))
    of_single @ np.ones(14, "f4")
    assert of_single.info.precision == "single"


def test_types():
    text = "output(sum) complex s; " + PAIR + "s += q * 1i * exp(-k * r) * a;"
    for real, wanted in (("f4", np.complex64), ("f8", np.complex128)):
        pipe = nbcc.compile(source=HEAD.format("real") + text)
        assert pipe.operator(XI.astype(real), XJ.astype(real), A.astype(real)).dtype == wanted
    whole = nbcc.compile(source="input_i int a; input_j real b; input_j real q; output(sum) real s; s += a * b * q;")
    assert whole.operator(np.arange(3), np.ones(4, "f4")).dtype == np.float32


def test_what_is_given():
    pipe = compiled("output(sum) real s; s += q * a;")
    for arrays, names, says in (
        ((XI,), {}, "missing: .*xj, .*a, .*q"),
        ((XI, XJ, A, A), {}, "every input was given"),
        ((XI, XJ), {"q": XJ[:, 0]}, "missing: input_i real a"),
        ((XI, XJ), {"b": 1}, "no input and no param 'b'"),
        ((XI, XJ, A, A, A), {}, "got 5 arrays for 4 inputs"),
    ):
        with pytest.raises(TypeError, match=says):
            pipe.operator(*arrays, **names)
    named = pipe.operator(xj=XJ, a=A, xi=XI)
    assert np.allclose(named @ np.ones(14), 14 * A)


@pytest.mark.skipif("cuda:0" not in nbcc.info()["devices"], reason="no GPU")
def test_arrays_of_a_gpu():
    cupy = pytest.importorskip("cupy")
    from cupyx.scipy.sparse.linalg import LinearOperator, cg

    for case in ("numbers", "complex", "real to complex"):
        kind, text, matrix = CASES[case]
        matrix = matrix()
        operator = compiled(text, kind).operator(cupy.asarray(XI), cupy.asarray(XJ), cupy.asarray(A))
        assert isinstance(operator, LinearOperator) and operator.dtype == matrix.dtype
        v, u = (random.normal(size=n) for n in matrix.shape[::-1])
        assert np.allclose((operator @ cupy.asarray(v)).get(), matrix @ v, rtol=1e-11)
        assert np.allclose(operator.rmatvec(cupy.asarray(u)).get(), matrix.conj().T @ u, rtol=1e-11)
    pipe = nbcc.compile(
        source="input_i vec3 x; input_j vec3 y; input_j real c; output(sum) real s;\n"
        "vec3 d = x - y; s += (i_index == j_index ? 1.0 : 0.0) * c + c * exp(-50.0 * dot(d, d));",
        precision="double",
    )
    x = cupy.asarray(random.random((300, 3)))
    matrix = pipe.operator(x, x)
    wanted = cupy.asarray(random.normal(size=300))
    found, failed = cg(matrix, wanted)  # to 1e-5
    assert failed == 0 and cupy.linalg.norm(matrix @ found - wanted) < 1e-4 * cupy.linalg.norm(wanted)


def test_tensors_are_refused():
    torch = pytest.importorskip("torch")
    pipe = compiled("output(sum) real s; s += q * a;")
    with pytest.raises(TypeError, match="'xi': expected an array of NumPy, JAX or CuPy, got a tensor of PyTorch"):
        pipe.operator(torch.as_tensor(XI), XJ, A)
