"""Calls with PyTorch's tensors that require gradients, against PyTorch's own derivatives and against differences."""

import gc
import pathlib
import warnings
import weakref

import pytest

torch = pytest.importorskip("torch")
import numpy as np  # noqa: E402
from torch.autograd import forward_ad  # noqa: E402

import nbcc  # noqa: E402

PIPELINES = pathlib.Path(__file__).parents[2] / "pipelines"
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


def random(*shape, device, seed=0):
    made = torch.rand(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) + 0.3
    return made.to(device).requires_grad_()


def compiled(text, **options):
    return nbcc.compile(source=text, precision="double", **options)


GRAVITY = (PIPELINES / "gravity.pipe").read_text()
LOGSUMEXP = """
input_i vec3 q; input_j vec3 k; input_j vec3 v; param real scale = 0.7;
output(logsumexp) real z; output(softmax) vec3 y; output(min) real least;
real logit = scale * dot(q, k);
z = logsumexp(z, 0.5 * logit * logit);
y = softmax(y, logit, v * q.x);
least = min(least, logit);
"""
FINISHED = """
input_i real xi; input_i real bi; input_j real xj; param real p = 1.3;
output(sum) real s; output(sum) real t; output(count) int n;
real d = xj - xi; s += d * d * p; t += exp(-d * d); n += d > 0.0;
void finish() { real a = s; s = a * t * bi + p * xi * xi; t = t / (1.0 + a * a) + n; }
"""


@pytest.mark.parametrize("device", DEVICES)
def test_gradcheck_of_sums(device):
    gravity = compiled(GRAVITY)
    x, y, m = random(4, 3, device=device), random(5, 3, device=device, seed=1), random(5, device=device, seed=2)
    eps2 = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *a: tuple(gravity(a[0], a[1], a[2], eps2=a[3])), (x, y, m, eps2))


@pytest.mark.parametrize("device", DEVICES)
def test_gradgradcheck(device):
    gravity = compiled(GRAVITY)
    x, y, m = random(3, 3, device=device), random(4, 3, device=device, seed=1), random(4, device=device, seed=2)
    assert torch.autograd.gradgradcheck(lambda *a: gravity(*a, eps2=0.3, outputs="pot"), (x, y, m))


@pytest.mark.parametrize("device", DEVICES)
def test_one_set(device):
    gravity = compiled(GRAVITY)
    x, m = random(5, 3, device=device), random(5, device=device, seed=2)
    f = lambda x, m: tuple(gravity(x, x, m, eps2=0.3))
    assert torch.autograd.gradcheck(f, (x, m))
    assert torch.autograd.gradgradcheck(lambda x, m: gravity(x, x, m, eps2=0.3, outputs="pot"), (x, m))


@pytest.mark.parametrize("device", DEVICES)
def test_other_reductions_and_finish(device):
    weights, finished = compiled(LOGSUMEXP), compiled(FINISHED)
    q, k, v = random(3, 3, device=device), random(4, 3, device=device, seed=1), random(4, 3, device=device, seed=2)
    assert torch.autograd.gradcheck(lambda *a: tuple(weights(*a)), (q, k, v))
    assert torch.autograd.gradgradcheck(lambda *a: weights(*a, outputs="z"), (q, k, v))
    x, b, y = random(3, device=device), random(3, device=device, seed=1), random(4, device=device, seed=2)
    assert torch.autograd.gradcheck(lambda *a: tuple(finished(*a))[:2], (x, b, y))


# test_autograd_jax.py has each way to say which pairs act, against JAX's own sums; these are those of GPUs, too.
PAIRS = {
    "i_range": lambda device: dict(i=slice(1, 3)),
    "i_list": lambda device: dict(i=torch.tensor([3, 1], device=device)),
    "batches": lambda device: dict(batches=tuple(torch.tensor(n, device=device) for n in ([0, 0, 1, 2], [0, 0, 0, 1, 2]))),
    "listed_pairs": lambda device: dict(
        listed_pairs=tuple(torch.tensor(n, device=device) for n in ([0, 2, 2, 5, 6], [4, 1, 0, 0, 3, 2]))
    ),
    "exclusions": lambda device: dict(exclusions=nbcc.Rows([0, 1, 1, 2, 4], [4, 0, 1, 3])),
    "lists": lambda device: dict(lists=nbcc.Lists([0, 1, 4], [0, 2, 3], [0, 2, 1], [3, 5, 4], i_order=[2, 0, 1, 3])),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", PAIRS)
def test_gradcheck_where_not_all_pairs_act(case, device):
    gravity, options = compiled(GRAVITY), PAIRS[case](device)
    x, y, m = random(4, 3, device=device), random(5, 3, device=device, seed=1), random(5, device=device, seed=2)
    eps2 = torch.tensor([0.3, 0.5, 0.4] if case == "batches" else 0.3, dtype=torch.float64, requires_grad=True)
    f = lambda *a: tuple(gravity(a[0], a[1], a[2], eps2=a[3], **options))
    assert torch.autograd.gradcheck(f, (x, y, m, eps2))
    assert torch.autograd.gradgradcheck(lambda *a: f(*a)[1], (x, y, m, eps2))


@pytest.mark.parametrize("device", DEVICES)
def test_one_set_in_batches(device):
    gravity, ids = compiled(GRAVITY), torch.tensor([0, 0, 1, 1, 1], device=device)
    x, m = random(5, 3, device=device), random(5, device=device, seed=2)
    f = lambda x, m: tuple(gravity(x, x, m, eps2=0.3, batches=(ids, ids)))
    assert torch.autograd.gradcheck(f, (x, m))


DISTANCES = """
input_i vec3 xi; input_j vec3 xj; input_pair real k; output(pair) real r; output(pair) vec3 e; output(sum) real u;
vec3 d = xj - xi; real s = k * sqrt(dot(d, d) + 0.1); r = s; e = k * d; u += s;
void finish() { u = u * u; }"""


@pytest.mark.parametrize("device", DEVICES)
def test_inputs_of_pairs(device):
    springs = compiled("input_i vec3 xi; input_j vec3 xj; input_pair real k; output(sum) real u; vec3 d = xj - xi; u += k * dot(d, d);")
    x, y, k = random(3, 3, device=device), random(4, 3, device=device, seed=1), random(4, device=device, seed=2)
    rows = nbcc.Rows([0, 2, 2, 4], [3, 0, 0, 1])
    assert torch.autograd.gradcheck(lambda *a: springs(*a, listed_pairs=rows, i=[0, 2]), (x, y, k))
    distances = compiled(DISTANCES)
    run = lambda *a: distances(*a, listed_pairs=rows)
    assert torch.autograd.gradcheck(run, (x, y, k), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(run, (x, y, k))


def test_backward_equals_pytorchs_own():
    gravity = compiled(GRAVITY)
    x, m = random(40, 3, device="cpu"), random(40, device="cpu", seed=1)
    d = x[None] - x[:, None]
    own = torch.autograd.grad((-(m * ((d * d).sum(-1) + 0.01).rsqrt()).sum(1) * m).sum(), (x, m))
    ours = torch.autograd.grad((gravity(x, x, m, eps2=0.01, outputs="pot") * m).sum(), (x, m))
    for a, b in zip(own, ours):
        assert torch.allclose(a, b, rtol=1e-12, atol=1e-12)


# What changes between a call and its derivative: each gives the arguments, and what is to be changed of them.
CHANGED = {
    "input": lambda y, m: ((y.numpy(), m), {}, y.numpy()),
    "list": lambda y, m: ((y, made := m.tolist()), {}, made),
    "param": lambda y, m: ((y, m), dict(eps2=(made := np.array([0.3]))), made),
    "batches": lambda y, m: ((y, m), dict(batches=((made := np.array([0, 0, 1, 1])), np.array([0, 0, 0, 1, 1]))), made),
    "tensor": lambda y, m: ((y, m), dict(batches=((made := torch.tensor([0, 0, 1, 1])), np.array([0, 0, 0, 1, 1]))), made),
    "rows": lambda y, m: ((y, m), dict(listed_pairs=(np.array([0, 2, 3, 4, 5]), made := np.array([4, 0, 1, 3, 2]))), made),
    "exclusions": lambda y, m: ((y, m), dict(exclusions=(np.array([0, 1, 1, 2, 2]), made := np.array([4, 2]))), made),
    "i": lambda y, m: ((y, m), dict(i=(made := np.array([2, 1]))), made),
}


@pytest.mark.parametrize("case", CHANGED)
def test_derivatives_are_of_the_numbers_that_were_summed(case):
    gravity = compiled(GRAVITY)
    x = random(4, 3, device="cpu")
    y, m = (random(*shape, device="cpu", seed=k).detach() for k, shape in ((1, (5, 3)), (2, (5,))))
    gradients = []
    for changes in (False, True):
        arrays, options, changed = CHANGED[case](y.clone(), m.clone())
        loss = gravity(x, *arrays, **options, outputs="pot").sum()
        if changes and isinstance(changed, list):
            changed[0] = 5.0
        elif changes:
            changed[...] = changed[::-1].copy() + (case != "i") if isinstance(changed, np.ndarray) else 0
        gradients += torch.autograd.grad(loss, x)
    assert torch.equal(*gradients)


def test_tensors_that_are_negated_or_conjugated_when_they_are_read():
    z = torch.complex(torch.rand(4, dtype=torch.float64), torch.rand(4, dtype=torch.float64))
    weight = z.conj().imag  # the memory of z, which says minus these
    assert weight.is_neg()
    product = compiled("input_i real x; input_j real m; param real k = 1; output(sum) real s; s += k * x * m;")
    x = random(3, device="cpu")
    plain = product(x.detach(), weight.clone(), k=weight[1].clone())
    assert torch.equal(product(x.detach(), weight, k=weight[1]), plain)
    assert torch.equal(product(weight, weight), product(weight.clone(), weight.clone()))
    (found,) = torch.autograd.grad(product(x, weight, k=weight[1]), x, torch.conj(z)[:3].imag)
    assert torch.equal(found, weight[:3] * weight[1] * weight.sum()) or torch.allclose(found, weight[:3] * weight[1] * weight.sum())
    with pytest.raises(TypeError, match="'s' .*negative bit"):
        product(x.detach(), weight, out=weight[:3])
    with pytest.raises(TypeError, match="'m' .*got complex128"):
        product(x.detach(), z.conj())
    assert torch.equal(product(x.detach(), torch._efficientzerotensor((4,), dtype=torch.float64)), torch.zeros(3, dtype=torch.float64))


def test_without_gradients_nothing_is_saved():
    gravity = nbcc.compile(source=GRAVITY)
    x, m = torch.rand(5, 3, requires_grad=True), torch.rand(5)
    with torch.no_grad():
        assert not gravity(x, x, m).acc.requires_grad
    assert gravity(x, x, m).acc.requires_grad
    assert not gravity(x.detach(), x.detach(), m).acc.requires_grad


def test_totals_are_double_and_gradients_as_the_inputs_are():
    pipe = nbcc.compile(
        source="""input_i vec3 xi; input_i real mi; input_j vec3 xj; input_j real mj; output(total) real energy;
        output(total, logsumexp) real z; vec3 d = xj - xi; real r2 = dot(d, d);
        energy += mi * mj * exp(-r2); z = logsumexp(z, -r2);"""
    )
    x, m = torch.rand(50, 3, requires_grad=True), torch.rand(50)
    found = pipe(x, m, x, m)
    assert found.energy.dtype == found.z.dtype == torch.float64
    (found.energy + found.z).backward()
    y = x.detach().double().requires_grad_()
    (sum(pipe(y, m.double(), y, m.double()))).backward()
    assert x.grad.dtype == torch.float32 and torch.allclose(x.grad.double(), y.grad, rtol=1e-4, atol=1e-4)
    compiled = torch.compile(lambda x: pipe(x, m, x, m).energy)(x)
    assert compiled.dtype == torch.float64 and compiled == found.energy


def test_what_is_refused():
    gravity = nbcc.compile(source=GRAVITY)
    x, m = torch.rand(5, 3, requires_grad=True), torch.rand(5)
    with pytest.raises(TypeError, match="out= cannot be given where derivatives are taken"):
        gravity(x, x, m, out=(torch.empty(5, 3), torch.empty(5)))
    product = nbcc.compile(source="input_i real x; input_j real y; output(total, product) real p; p *= x + y;")
    with pytest.raises(nbcc.UsageError, match="does not differentiate"):
        product(torch.rand(3, requires_grad=True), torch.rand(4))


@pytest.mark.parametrize("text", [
    "input_i real x; input_j real y; output(total) real q; q += x * y;",
    "input_i real x; input_j real y; output(total) real q; output(sum) real u; q += x * x * y; u += x;",
    "input_i real x; input_j real y; output(total) complex q; q += x * complex(y, 1);",
    "input_i real x; input_j real y; output(sum) complex q; q += x * complex(y, 1);",
])  # fmt: skip
def test_results_are_changed_in_place(text):
    p = nbcc.compile(source=text)
    x, y = torch.rand(4, dtype=torch.float64, requires_grad=True), torch.rand(3, dtype=torch.float64)
    expected = torch.autograd.grad((3 * (p(x, y, outputs="q") + 1)).sum().abs(), x)[0]
    for names in ("q", None):
        loss = p(x, y, outputs=names)
        loss = loss.q if isinstance(loss, tuple) else loss
        assert not loss._is_view()
        loss += 1
        loss *= 3
        assert torch.allclose(torch.autograd.grad(loss.sum().abs(), x)[0], expected)


def test_results_do_not_depend_on_calls_before():
    p = nbcc.compile(source="input_i real x; input_j real y; output(sum) real u; u += x * y;")
    x, plain, weight = torch.rand(4), torch.empty(4), torch.empty(4, requires_grad=True)
    with torch.no_grad():
        first = p(x, x, out=weight)
        assert p(x, x, out=plain) is plain
        second = p(x, x, out=weight)
    for found in (first, second):
        assert found.data_ptr() == weight.data_ptr() and found is not weight and not found.requires_grad
    with torch.no_grad(), pytest.raises(TypeError, match="'u'.*requires? grad"):
        p(x, x, out=(weight,))
    with torch.no_grad():
        p(x, x, out=(plain,))
    with torch.no_grad(), pytest.raises(TypeError, match="'u'.*requires? grad"):
        p(x, x, out=(weight,))


def test_tensors_that_cannot_be_read_are_named():
    p = nbcc.compile(source="input_i real x; input_j real y; param real k[3] = {1, 2, 3}; output(sum) real u; u += x * y * k[1];")
    x, weight = torch.rand(4), torch.rand(4, requires_grad=True)
    unread = [torch.ones(4).to_sparse()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        unread.append(torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]))
    if torch.backends.mkldnn.is_available():
        unread.append(torch.ones(4).to_mkldnn())
    for one in unread:
        for name, call in (
            ("x", lambda: p(one, x)),
            ("y", lambda: p(weight, one)),
            ("k", lambda: p(x, x, k=one)),
            ("u", lambda: p(x, x, out=one)),
            ("u", lambda: p(x, x, out=(one,))),
            ("y", lambda: p.bind(one)),
        ):
            with pytest.raises(TypeError, match=f"'{name}' "):
                call()


def test_tangents():
    p = nbcc.compile(source="input_i real x; input_j real y; param real k[3] = {1, 2, 3}; output(sum) real u; u += x * y * k[1];")
    x = torch.rand(4)
    known = p(x, x), p(x, x, out=torch.empty(4)), p(x, x, k=[x[0], 2, 3])
    with forward_ad.dual_level():
        assert torch.equal(p(x, x), known[0])
        dual = forward_ad.make_dual(x, torch.ones(4))
        weight = forward_ad.make_dual(torch.rand(4, requires_grad=True), torch.ones(4))
        one, sum_of_x = torch.ones(4), x.sum()
        for found, expected in (
            (p(dual, x), 2 * one * sum_of_x),
            (p(x, y=dual), 2 * x * 4),
            (p(x, weight), 2 * x * 4),
            (p(dual, dual), 2 * (one * sum_of_x + 4 * x)),
            (p(x, x, k=dual[:3]), x * sum_of_x),
            (p(x, x, k=[2, dual[0], 3]), x * sum_of_x),
        ):
            assert torch.allclose(forward_ad.unpack_dual(found).tangent, expected)
        for name, call in (
            ("y", lambda: p.bind(dual)),
            ("k", lambda: p.bind(x, k=dual[:3])),
            ("x", lambda: p.bind(x)(dual)),
            ("k", lambda: p.bind(x)(x, k=[dual[0], 2, 3])),
            ("u", lambda: p.bind(x)(x, out=dual)),
            ("out", lambda: p(x, x, out=dual)),
            ("out", lambda: p(x, x, out=(dual,))),
        ):
            for is_enabled in (True, False):
                with torch.set_grad_enabled(is_enabled), pytest.raises(TypeError, match=f"'{name}'.*tangent"):
                    call()
        plain = forward_ad.unpack_dual(dual).primal
        assert torch.equal(p(plain, x), known[0])
    assert torch.allclose(torch.func.jvp(lambda x: p(x, x), (x,), (x,))[1], 4 * x * sum_of_x)


def test_bound_tensors_keep_their_numbers():
    p = nbcc.compile(source="input_i real x; input_j real y; output(sum) real u; u += x * y;")
    x, y = torch.ones(2), torch.ones(1000)
    bound, memory = p.bind(y), weakref.ref(y.untyped_storage())
    y.data = torch.full((1000,), 2.0)
    gc.collect()
    assert memory() is not None
    assert torch.equal(bound(x), torch.full((2,), 1000.0))
    bound.j_changed()
    assert torch.equal(bound(x), torch.full((2,), 2000.0))
