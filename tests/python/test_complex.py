"""Complex numbers: arrays of every kind and layout, params, results, refusals; gradients in PyTorch's and JAX's convention."""

import array

import numpy as np
import pytest

import nbcc

TEXT = """
input_i vec3 xi;
input_j vec3 xj;
input_j complex q;
param complex k = 1.5 + 0.25i;
param complex t[2] = {1, 2i};
output(sum) complex phi;
output(sum) complex slope[3];
output(total) complex all;
vec3 d = xi - xj;
real r = length(d) + 0.125;
complex wave = q * exp(1i * k * r) / r;
phi += wave;
slope[0] += d.x * wave; slope[1] += d.y * wave; slope[2] += d.z * wave;
all += wave * t[1];
"""
random = np.random.default_rng(3)
XI, XJ = random.random((7, 3)), random.random((21, 3))
Q = random.normal(size=21) + 1j * random.normal(size=21)
K = 1.5 + 0.25j


def expected(q=Q, k=K):
    d = XI[:, None] - XJ[None]
    r = np.sqrt((d**2).sum(2)) + 0.125
    wave = q * np.exp(1j * k * r) / r
    return wave.sum(1), (d * wave[..., None]).sum(1), 2j * wave.sum()


@pytest.fixture(scope="module", params=["double", "single"])
def precision(request):
    return request.param


@pytest.fixture(scope="module")
def pipe(precision):
    return nbcc.compile(source=TEXT, precision=precision)


def check(results, wanted, error=1e-4):
    for got, value in zip(results, wanted):
        assert np.iscomplexobj(got) and np.shape(got) == np.shape(value)
        assert np.abs(np.asarray(got) - value).max() < error


def test_results_are_complex(pipe, precision):
    results = pipe(XI, XJ, Q)
    assert results.phi.dtype == np.complex128
    check(results, expected(), 1e-12 if precision == "double" else 1e-4)
    single = pipe(XI.astype("f4"), XJ.astype("f4"), Q.astype("c8"))
    assert single.phi.dtype == (np.complex128 if precision == "double" else np.complex64)
    assert [field.shape for field in pipe.fields if field.is_complex] == [(), (), (2,), (), (3,), ()]


class Columns:
    """One column of a table of records, backwards."""

    def __new__(cls, values):
        table = np.zeros((len(values), 3), values.dtype)
        table[::-1, 1] = values
        return table[::-1, 1]


@pytest.mark.parametrize(
    "form",
    [
        lambda q: q,
        lambda q: q.astype("c8"),
        lambda q: np.repeat(q, 2)[::2],
        lambda q: Columns(q),
        lambda q: np.stack([q.real, q.imag], 1),
        lambda q: np.asfortranarray(np.stack([q.real, q.imag], 1)),
        lambda q: list(q),
        lambda q: [complex(z) for z in q],
        lambda q: q.view("f8").reshape(-1, 2).tolist(),
        lambda q: memoryview(q),
    ],
)
def test_arrays_of_every_layout(pipe, form):
    check(pipe(XI, XJ, form(Q)), expected())


def test_outputs_are_written_in_place(pipe):
    phi, slope, all_ = np.zeros(14, "c16")[::2], np.zeros((7, 3), "c16"), np.zeros((), "c16")
    assert pipe(XI, XJ, Q, out=(phi, slope, all_))[0] is phi
    check((phi, slope, all_), expected())
    pairs = np.zeros((7, 2))
    pipe(XI, XJ, Q, outputs="phi", out=pairs)
    check([pairs.view("c16")[:, 0]], expected())
    pipe(XI, XJ, Q, out=(phi, slope, all_), accumulate=True)
    check((phi, slope, all_), [2 * value for value in expected()])


@pytest.mark.parametrize("k", [0.5, 2, 0.5 - 1j, np.complex64(0.5 - 1j), (0.5, -1.0), np.array(0.5 - 1j), [0.5 - 1j]])
def test_params(pipe, k):
    value = complex(*k) if isinstance(k, tuple) else complex(np.asarray(k).reshape(()))
    check(pipe(XI, XJ, Q, k=k), expected(k=value))
    phi, slope, all_ = expected()
    check(pipe(XI, XJ, Q, t=[1, 3 + 1j]), (phi, slope, all_ / 2j * (3 + 1j)))
    check(pipe(XI, XJ, Q, t=[[1, 0], [3, 1]]), (phi, slope, all_ / 2j * (3 + 1j)))


def test_params_of_batches(pipe):
    batches = np.repeat([0, 1], [3, 4]), np.repeat([0, 1], [10, 11])
    for k in (np.array([0.5 - 1j, 2.0]), [0.5 - 1j, 2.0], [[0.5, -1.0], [2.0, 0.0]], np.array([[0.5, -1.0], [2.0, 0.0]])):
        phi = pipe(XI, XJ, Q, k=k, batches=batches, outputs="phi")
        d = np.sqrt(((XI[:, None] - XJ[None]) ** 2).sum(2)) + 0.125
        of_i = np.where(batches[0] == 0, 0.5 - 1j, 2.0)[:, None]
        wave = np.where(batches[0][:, None] == batches[1], Q * np.exp(1j * of_i * d) / d, 0)
        check([phi], [wave.sum(1)])


def test_refusals(pipe):
    real = nbcc.compile(source="input_j real m; input_i int n; output(sum) real s; s += m * n;")
    with pytest.raises(TypeError, match=r"'m' \(input_j real\): expected float16, .*, got complex128; .*declared as complex or vec2"):
        real(Q, np.arange(3))
    with pytest.raises(ValueError, match=r"'q' .*expected shape \(N,\) of complex numbers, or \(N, 2\) of real ones, got \(21,\) of real numbers; .astype\(complex\)"):
        pipe(XI, XJ, Q.real)
    with pytest.raises(ValueError, match="'q'"):
        pipe(XI, XJ, np.zeros((21, 3)))
    with pytest.raises(TypeError, match="'k'"):
        pipe(XI, XJ, Q, k="1i")
    with pytest.raises((TypeError, ValueError), match="'t'"):
        pipe(XI, XJ, Q, t=[1j, 1j, 1j])
    with pytest.raises(TypeError, match=r"'q' .*expected complex64, complex128, .* got >c16; .astype..c16"):
        pipe(XI, XJ, Q.astype(">c16"))
    with pytest.raises(ValueError, match=r"got \(21, 1\) of complex numbers"):
        pipe(XI, XJ, Q[:, None])
    with pytest.raises(ValueError, match="'t' .*expected 2 complex numbers, or 4 numbers"):
        pipe(XI, XJ, Q, t=[1j])
    for k in (True, np.array(True)):
        with pytest.raises(TypeError, match="'k'.*bool"):
            pipe(XI, XJ, Q, k=k)
    with pytest.raises(ValueError, match=r"'k'.*one complex value, and one for each of 2 groups"):
        pipe(XI, XJ, Q, k=np.array([3.0, 4.0]), batches=(np.repeat([0, 1], [3, 4]), np.repeat([0, 1], [10, 11])))
    with pytest.raises(ValueError, match="out|phi"):
        pipe(XI, XJ, Q, outputs="phi", out=np.zeros(7))


def test_a_vec2_takes_complex_arrays():
    pipe = nbcc.compile(source="input_i real x; input_j vec2 v; param vec2 p; output(sum) vec2 s; s += x * v * p;", precision="double")
    got = pipe(np.array([1.0, 2.0]), Q, p=2 - 1j)
    assert got.dtype == np.float64
    assert np.allclose(got, np.outer([1, 2], [2 * Q.real.sum(), -Q.imag.sum()]))
    out = np.zeros(2, complex)
    pipe(np.array([1.0, 2.0]), Q, p=(2, -1), out=out)
    assert np.allclose(out.view(float).reshape(2, 2), got)


def test_far_fields_take_complex_weights():
    text = """
    input_i vec3 xi; input_j vec3 xj; input_j complex q; output(sum) complex phi;
    vec3 d = xi - xj; real r2 = dot(d, d); skip_if(r2 == 0.0); phi += q * rsqrt(r2);
    """
    pipe = nbcc.compile(source=text, precision="double")
    x = np.random.default_rng(5).random((20000, 3))
    q = np.random.default_rng(6).normal(size=(20000, 2)) @ [1, 1j]
    exact, near = pipe(x, x, q), pipe(x, x, q, tolerance=1e-3)
    size = nbcc.compile(source=text.replace("complex", "real"), precision="double")(x, x, abs(q))
    assert 0 < np.linalg.norm(near - exact) / np.linalg.norm(size) < 1e-3


def numbers_of(torch):
    return [torch.tensor(value, requires_grad=True) for value in (XI, XJ, Q)]


def test_gradients_follow_pytorch(pipe, precision):
    torch = pytest.importorskip("torch")
    if precision != "double":
        pytest.skip("compared in double precision")

    def of_torch(xi, xj, q, k):
        d = xi[:, None] - xj[None]
        r = d.norm(dim=2) + 0.125
        wave = q * torch.exp(1j * k * r) / r
        return wave.sum(1), (d * wave[..., None]).sum(1), 2j * wave.sum()

    def loss(results):
        phi, slope, all_ = results
        return phi.abs().pow(2).sum() + (slope * (0.5 - 2j)).real.sum() + all_.imag + (phi * all_).real.sum()

    found = []
    for function in (lambda *given: pipe(*given[:3], k=given[3]), of_torch):
        grads = []
        for k in (K, 1.5):  # a real number for a complex param, too
            given = [*numbers_of(torch), torch.tensor(k, requires_grad=True, dtype=torch.complex128 if k == K else torch.float64)]
            loss(function(*given)).backward()
            grads += [one.grad for one in given]
        found.append(grads)
    for got, wanted in zip(*found):
        assert got.dtype == wanted.dtype and torch.allclose(got, wanted, rtol=1e-10, atol=1e-12)
    few = [torch.tensor(value, requires_grad=True) for value in (XI[:2], XJ[:3], Q[:3])]
    assert torch.autograd.gradcheck(lambda *given: tuple(pipe(*given)), few)
    assert torch.autograd.gradgradcheck(lambda *given: pipe(*given, outputs="phi"), few)


def test_gradients_follow_jax(pipe, precision):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    if precision != "double":
        pytest.skip("compared in double precision")
    jnp = jax.numpy

    def of_jax(xi, xj, q, k):
        d = xi[:, None] - xj[None]
        r = jnp.sqrt((d**2).sum(2)) + 0.125
        wave = q * jnp.exp(1j * k * r) / r
        return wave.sum(1), (d * wave[..., None]).sum(1), 2j * wave.sum()

    def loss_of(function):
        def loss(xi, xj, q, k):
            phi, slope, all_ = function(xi, xj, q, k)
            return (abs(phi) ** 2).sum() + (slope * (0.5 - 2j)).real.sum() + all_.imag + (phi * all_).real.sum()

        return loss

    given = jnp.asarray(XI), jnp.asarray(XJ), jnp.asarray(Q), jnp.asarray(K)
    for k in (given[3], jnp.asarray(1.5), 1.5):  # a real number for a complex param, too
        given = (*given[:3], k)
        got = jax.grad(loss_of(lambda xi, xj, q, k: pipe(xi, xj, q, k=k)), argnums=(0, 1, 2, 3))(*given)
        wanted = jax.grad(loss_of(of_jax), argnums=(0, 1, 2, 3))(*given)
        for one, other in zip(got, wanted):
            assert one.dtype == other.dtype and np.allclose(one, other, rtol=1e-10, atol=1e-12)
    by_q = jax.grad(lambda q: (abs(pipe(*given[:2], q, k=2, t=[1.0, 2.0]).phi) ** 2).sum())(given[2])
    assert np.allclose(by_q, jax.grad(lambda q: (abs(of_jax(*given[:2], q, 2)[0]) ** 2).sum())(given[2]))
    with pytest.raises(ValueError, match="'q' .input_j complex.: expected complex numbers"):
        jax.grad(lambda q: abs(pipe(*given[:2], q).phi[0]))(given[2].real)
    check([jax.jit(lambda q: pipe(XI, XJ, q, outputs="phi"))(given[2])], expected())


@pytest.mark.skipif("cuda:0" not in nbcc.info()["devices"], reason="no GPU")
@pytest.mark.parametrize("library", ["torch", "cupy", "jax", "numpy"])
def test_arrays_of_the_gpu(precision, library):
    module = pytest.importorskip(library)
    pipe = nbcc.compile(source=TEXT, precision=precision, device="cuda")
    if library == "jax":
        module.config.update("jax_enable_x64", True)
    to_gpu = {
        "torch": lambda value: module.tensor(value, device="cuda"),
        "cupy": lambda value: module.asarray(value),
        "jax": lambda value: module.numpy.asarray(value),
        "numpy": lambda value: value,
    }[library]
    back = {"torch": lambda value: value.cpu().numpy(), "cupy": lambda value: value.get()}.get(library, np.asarray)
    for q in (Q, Q.astype("c8"), np.stack([Q.real, Q.imag], 1)):
        results = pipe(to_gpu(XI), to_gpu(XJ), to_gpu(q), k=1 - 0.5j)
        check(map(back, results), expected(k=1 - 0.5j))
    if library == "torch":
        conjugate = to_gpu(Q.conj()).conj()
        assert conjugate.is_conj()
        phi = module.zeros(14, dtype=module.complex128, device="cuda")[::2]
        pipe(to_gpu(XI), to_gpu(XJ), conjugate, outputs="phi", out=phi)
        check([back(phi)], expected())


def test_without_numpy_results_are_pairs():
    import subprocess
    import sys

    code = """
import sys
sys.modules["numpy"] = None
import nbcc
pipe = nbcc.compile(source="input_i real x; input_j complex q; output(sum) complex s; s += x * q;", precision="double")
print(pipe([1.0, 2.0], [1 + 2j, 3j]).tolist())
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[[1.0, 5.0], [2.0, 10.0]]", found


def test_arrays_without_complex_numbers_stay_refused(pipe):
    with pytest.raises(ValueError, match="'q'"):
        pipe(XI, XJ, array.array("d", Q.real))
