"""Calls with PyTorch's tensors inside of what PyTorch makes of functions: torch.compile, torch.export, torch.func, autocast,
fake and meta tensors, modules. Against the same calls by themselves, and against PyTorch's own sums."""

import copy
import subprocess
import sys
import warnings

import pytest

torch = pytest.importorskip("torch")
import numpy as np  # noqa: E402

import nbcc  # noqa: E402
import nbcc.torch  # noqa: E402

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
on_devices = pytest.mark.parametrize("device", DEVICES)


def points(count, *more, device="cpu", dtype=torch.float32, seed=0):
    return torch.rand((count, *more), dtype=dtype, generator=torch.Generator().manual_seed(seed)).to(device)


def by_torch(x, y, m, eps2):
    d = y[None, :, :] - x[:, None, :]
    s = (d * d).sum(-1) + eps2
    return (m[None, :, None] * d * s[..., None] ** -1.5).sum(1), -(m[None, :] * s**-0.5).sum(1)


@pytest.fixture(scope="module")
def gravity():
    return nbcc.compile("gravity")


@pytest.fixture(autouse=True)
def fresh_dynamo():
    torch._dynamo.reset()


def close(a, b, tolerance=2e-5):
    assert a.dtype == b.dtype and a.device.type == b.device.type
    assert torch.allclose(a, b, rtol=tolerance, atol=tolerance * float(b.abs().max()))


@on_devices
def test_compiled_as_one_graph(gravity, device):
    x, m = points(40, 3, device=device), points(40, device=device, seed=1)

    @torch.compile(fullgraph=True)
    def energy(x, m, eps2):
        acc, pot = gravity(x, x * 1.5, m, eps2=eps2)
        return (m * pot).sum() + (acc * acc).sum()

    def plain(x, m, eps2):
        acc, pot = by_torch(x, x * 1.5, m, eps2)
        return (m * pot).sum() + (acc * acc).sum()

    for eps2 in (0.1, 0.2, 0.3, 0.7):  # numbers that change from call to call
        close(energy(x, m, eps2), plain(x, m, eps2))
    for count in (40, 41, 53):  # as do shapes
        x = points(count, 3, device=device).requires_grad_()
        m = points(count, device=device, seed=1)
        energy(x, m, 0.1).backward()
        found, x.grad = x.grad, None
        plain(x, m, 0.1).backward()
        close(found, x.grad, 2e-4)


@on_devices
def test_compiled_outputs_and_options(gravity, device):
    x, m = points(30, 3, device=device), points(30, device=device, seed=1)
    ids = torch.arange(3).repeat_interleave(10).to(device)
    one = torch.compile(lambda x, m: gravity(x, x, m, eps2=0.1, outputs="pot", precision="double"), fullgraph=True)
    close(one(x, m), gravity(x, x, m, eps2=0.1, outputs="pot", precision="double"))
    some = torch.compile(lambda x, m, ids: gravity(x, x, m, eps2=0.1, batches=(ids, ids)).acc, fullgraph=True)
    close(some(x, m, ids), gravity(x, x, m, eps2=0.1, batches=(ids, ids)).acc)
    some_lists = nbcc.Lists(i_first=[0, 30], range_first=[0, 1], j_begin=[0], j_end=[30])
    with pytest.raises(Exception, match="expected tensors or constants"):
        torch.compile(lambda x: gravity(x, x, m, eps2=0.1, lists=some_lists), fullgraph=True)(x)


@on_devices
def test_exported_and_saved(gravity, device, tmp_path):
    class Potential(torch.nn.Module):
        def forward(self, x, m):
            return gravity(x, x, m, eps2=0.1).pot.sum()

    x, m = points(20, 3, device=device), points(20, device=device, seed=1)
    count = torch.export.Dim("count")
    program = torch.export.export(Potential(), (x, m), dynamic_shapes=({0: count}, {0: count}))
    torch.export.save(program, tmp_path / "potential.pt2")
    again = torch.export.load(tmp_path / "potential.pt2").module()
    for size in (20, 33):
        x, m = points(size, 3, device=device), points(size, device=device, seed=1)
        close(again(x, m), gravity(x, x, m, eps2=0.1).pot.sum())


@on_devices
def test_func_grad_and_jacobians(gravity, device):
    x, m = points(6, 3, device=device, dtype=torch.float64), points(6, device=device, dtype=torch.float64, seed=1)

    def of(sums):
        return lambda x: sums(x, x * 1.5, m, 0.1)[1]

    def ours(x, y, m, eps2):
        return gravity(x, y, m, eps2=eps2)

    for transform in (
        lambda f: torch.func.grad(lambda x: f(x).sum()),
        torch.func.jacrev,
        lambda f: torch.func.jacrev(torch.func.grad(lambda x: f(x).sum())),
        lambda f: lambda x: torch.func.vjp(f, x)[1](torch.ones(6, dtype=x.dtype, device=device))[0],
    ):
        close(transform(of(ours))(x), transform(of(by_torch))(x), 1e-10)


@on_devices
@pytest.mark.parametrize("dims", [(0, None, None, None), (0, 0, 0, None), (1, 0, None, 0), (None, None, None, 0)])
def test_vmap(gravity, device, dims):
    shapes = [(7, 3), (5, 3), (5,), ()]
    values = [
        points(*[4, *shape][:1], *shape, device=device, dtype=torch.float64, seed=k) + 0.3
        if dim is not None
        else points(*shape or (1,), device=device, dtype=torch.float64, seed=k).reshape(shape) + 0.3
        for k, (shape, dim) in enumerate(zip(shapes, dims))
    ]
    values = [value.movedim(0, dim) if dim else value for value, dim in zip(values, dims)]
    found = torch.vmap(lambda *v: tuple(gravity(*v)), in_dims=dims)(*values)
    wanted = torch.vmap(by_torch, in_dims=dims)(*values)
    for one, other in zip(found, wanted):
        close(one, other, 1e-12)
    # And the gradients of each system.
    if dims[0] is not None:
        ours = torch.vmap(torch.func.grad(lambda *v: gravity(*v).pot.sum()), in_dims=dims)(*values)
        theirs = torch.vmap(torch.func.grad(lambda *v: by_torch(*v)[1].sum()), in_dims=dims)(*values)
        close(ours, theirs, 1e-10)


MIXED = """
input_i real x; input_j real y; param real s = 1;
output(argmin) index near; output(min) real least; output(count) int n; output(total) real energy;
near = argmin(near, (y - x) * (y - x)); least = min(least, s * abs(y - x)); n += y > x; energy += s * x * y;
"""
INDICES = "input_i real x; input_j real y; output(sum) real s; if (j_index < i_index + 2) s += x * y;"


@on_devices
@pytest.mark.parametrize("text", [MIXED, INDICES, MIXED.replace("output(total) real energy;", "").replace("energy += s * x * y;", "")])
def test_vmap_where_places_matter(device, text):
    sums = nbcc.compile(source=text)
    x, y = points(5, 6, device=device, dtype=torch.float64), points(5, 4, device=device, dtype=torch.float64, seed=3)

    def tuples(x, y):
        made = sums(x, y)
        return made if isinstance(made, tuple) else (made,)

    found = torch.vmap(lambda a, b: tuple(tuples(a, b)))(x, y)
    for k in range(5):
        for one, other in zip(found, tuples(x[k], y[k])):
            close(one[k], torch.as_tensor(other).to(device), 1e-12)


def test_vmap_is_one_call_of_batches(gravity, monkeypatch):
    import nbcc._call._call

    calls = []
    run = nbcc._call._call.Caller._run
    monkeypatch.setattr(nbcc._call._call.Caller, "_run", lambda self, *rest: calls.append(run(self, *rest)) or calls[-1])
    torch.vmap(lambda x: gravity(x, x, torch.ones(9), eps2=0.1).acc)(points(50, 9, 3))
    assert calls in (["lists"], ["batches"])
    calls.clear()

    def energy(x, eps2):
        return gravity(x, x, torch.ones(9), eps2=eps2).pot.sum()

    x, eps2 = points(50, 9, 3), points(50, seed=1) + 0.1
    derivatives = torch.vmap(torch.func.grad(energy, 1))(x, eps2)
    assert len(calls) == 2
    common = torch.tensor(0.1, requires_grad=True)
    (sum_of_all,) = torch.autograd.grad(torch.vmap(lambda x: energy(x, common))(x).sum(), common)
    assert len(calls) == 4
    close(derivatives, torch.stack([torch.func.grad(energy, 1)(*one) for one in zip(x, eps2)]))
    close(sum_of_all, sum(torch.func.grad(energy, 1)(one, common.detach()) for one in x), 1e-4)


@pytest.mark.parametrize("needs_gradient", [False, True])
def test_jit_trace_records_the_call(gravity, needs_gradient, tmp_path):
    x, m = points(7, 3).requires_grad_(needs_gradient), points(7, seed=1)
    call = lambda x, m: gravity(x, x, m, eps2=0.1).pot  # noqa: E731
    for _ in range(2):
        call(x, m)
    traced = torch.jit.trace(call, (x, m), check_trace=False)
    torch.jit.save(traced, str(tmp_path / "call.pt"))
    for one in (traced, torch.jit.load(str(tmp_path / "call.pt"))):
        close(one(x.detach() * 2, m), call(x.detach() * 2, m))


def test_plain_tensors_inside_of_transformations(gravity):
    x, m, one = points(7, 3), points(7, seed=1), torch.tensor(2.0)
    pot = gravity(x, x, m, eps2=0.1).pot
    for _ in range(2):  # the second call is of a kind that was seen before

        def scaled(a):
            return (gravity(x, x, m, eps2=0.1).pot * a).sum()

        close(torch.func.grad(scaled)(one), pot.sum())
        close(torch.vmap(scaled)(torch.ones(3)), pot.sum().expand(3))
        close(torch.vmap(torch.func.grad(scaled))(torch.ones(3)), pot.sum().expand(3))
        out = torch.empty(7, 3), torch.empty(7)
        close(torch.vmap(lambda a: gravity(x, x, m, eps2=0.1, out=out).pot * a)(torch.ones(3)), pot.expand(3, 7))


@on_devices
def test_fake_and_meta_tensors(gravity, device):
    meta = gravity(torch.empty(7, 3, device="meta"), torch.empty(9, 3, device="meta"), torch.empty(9, device="meta"), eps2=1)
    assert meta.acc.shape == (7, 3) and meta.acc.is_meta and meta.pot.dtype == torch.float32
    with torch._subclasses.FakeTensorMode():
        x = torch.empty(7, 3, device=device, dtype=torch.float64)
        fake = gravity(x, x, torch.empty(7, device=device), eps2=1)
    assert fake.acc.dtype == torch.float64 and fake.acc.device.type == device
    # What fake tensors promise is what calls return.
    both = nbcc.compile(source="input_i complex z; input_j vec2 w; output(sum) complex s; output(argmin) index k[3];"
                        "s += z * complex(w.x, w.y); k = argmin(k, w.x);")
    for kinds in ((torch.complex64, torch.float32), (torch.complex128, torch.float32), (torch.complex64, torch.float64)):
        given = [torch.zeros(4, dtype=kinds[0], device=device), torch.zeros(5, 2, dtype=kinds[1], device=device)]
        real = both(*given)
        with torch._subclasses.FakeTensorMode() as mode:
            faked = both(*[mode.from_tensor(one) for one in given])
        for one, other in zip(real, faked):
            assert (one.dtype, one.shape, one.device) == (other.dtype, other.shape, other.device)


@on_devices
def test_autocast_and_halves(gravity, device):
    import nbcc._frameworks._torch

    nbcc._frameworks._torch._warned_of_halves = False
    x, m = points(10, 3, device=device), points(10, device=device, seed=1)
    layer = torch.nn.Linear(3, 3).to(device)
    with torch.autocast(device, dtype=torch.bfloat16):
        y = layer(x)
        assert y.dtype == torch.bfloat16
        with pytest.warns(nbcc.PipelineWarning, match="bfloat16 are converted to float32"):
            found = gravity(x, y, m, eps2=0.1).pot
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            again = gravity(x, y.detach(), m, eps2=0.1).pot
    assert found.dtype == torch.float32 and torch.equal(found, again)
    close(found, gravity(x, y.float(), m, eps2=0.1).pot)
    found.sum().backward()
    assert layer.weight.grad.dtype == torch.float32 and layer.weight.grad.abs().sum() > 0


@on_devices
def test_module(device, tmp_path):
    module = nbcc.torch.Module("gravity", eps2=0.25).to(device)
    x, m = points(12, 3, device=device), points(12, device=device, seed=1)
    assert [name for name, _ in module.named_parameters()] == ["eps2"]
    close(module(x, x, m).pot, by_torch(x, x, m, 0.25)[1])
    module(x, x, m).pot.sum().backward()
    eps2 = torch.tensor(0.25, requires_grad=True)
    by_torch(x.cpu(), x.cpu(), m.cpu(), eps2)[1].sum().backward()
    assert abs(float(module.eps2.grad) - float(eps2.grad)) < 1e-4 * abs(float(eps2.grad))
    torch.save(module, tmp_path / "module.pt")
    for other in (torch.load(tmp_path / "module.pt", weights_only=False), copy.deepcopy(module)):
        assert torch.equal(other(x, x, m).pot, module(x, x, m).pot)
    changed = torch.func.functional_call(module, {"eps2": torch.tensor(0.5, device=device)}, (x, x, m))
    close(changed.pot, by_torch(x, x, m, 0.5)[1])
    close(torch.compile(module, fullgraph=True)(x, x, m).pot, module(x, x, m).pot)
    with pytest.raises(TypeError, match="'eps3'"):
        nbcc.torch.Module("gravity", eps3=1)
    sgd = torch.optim.SGD(module.parameters(), lr=1e-3)
    sgd.step()
    assert float(module.eps2.detach()) != 0.25
    assert "gravity" in repr(module)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_cuda_graphs(gravity):
    x, m = points(200, 3, device="cuda"), points(200, device="cuda", seed=1)
    step = torch.compile(lambda x, m: gravity(x, x, m, eps2=0.1).acc * 2, mode="reduce-overhead", fullgraph=True)
    for _ in range(4):
        close(step(x, m).clone(), gravity(x, x, m, eps2=0.1).acc * 2)
    graph, still = torch.cuda.CUDAGraph(), x.clone()
    gravity(still, still, m, eps2=0.1)
    with torch.cuda.graph(graph):
        made = gravity(still, still, m, eps2=0.1).acc
    still.copy_(x * 0.5)
    graph.replay()
    close(made, gravity(x * 0.5, x * 0.5, m, eps2=0.1).acc)


def test_precision_follows_tensors(gravity):
    x, m = points(10, 3), points(10, seed=1)
    assert gravity(x, x, m, eps2=0.1).info.precision == "single"
    assert gravity(x.double(), x, m, eps2=0.1).info.precision == "double"
    assert gravity(x.double().requires_grad_(), x, m, eps2=0.1).acc.dtype == torch.float64
    assert np.allclose(gravity(x.double(), x.double(), m.double(), eps2=0.1).pot, by_torch(x.double(), x.double(), m.double(), 0.1)[1], rtol=1e-13)


def test_calls_import_no_compiler_of_torch():
    """It takes a second, and on machines with a GPU three."""
    program = (
        "import sys, torch, nbcc\n"
        "gravity = nbcc.compile('gravity', device='cpu')\n"
        "x = torch.rand(10, 3, requires_grad=True)\n"
        "acc, pot = gravity(x, x, torch.ones(10), eps2=1e-4)\n"
        "pot.sum().backward()\n"
        "assert 'torch._dynamo' not in sys.modules and x.grad is not None\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_importing_nbcc_imports_no_torch():
    code = "import sys, nbcc; assert not {'torch', 'jax', 'scipy', 'cupy'} & set(sys.modules); import nbcc.torch; assert 'torch' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)




PARAMS = """input_i real x; input_j real y; param real s = 1; param complex c = complex(1, 0); param vec3 box = vec3(1, 2, 3);
param real tab[5] = {1, 2, 3, 4, 5}; param int n = 2; output(sum) complex z; output(min) real least;
z += s * c * x * y + tab[int(4 * x)] * y + dot(box, box) + n; least = min(least, (y - x) * (y - x));"""
TWICE = "input_i real x; input_j real y; output(sum) real s; if (2 * i_index == j_index) s += x * y;"
COUNTED = "input_i real x; input_j real y; output(sum) int n[4]; output(total) index all[4]; n[int(4 * y)] += 1; all[int(4 * x)] += 1;"


def each(function, *stacked):
    """What torch.vmap should give, one system after the other."""
    made = [function(*[one[k] for one in stacked]) for k in range(len(stacked[0]))]
    return torch.stack(made) if isinstance(made[0], torch.Tensor) else tuple(map(torch.stack, zip(*made)))


@on_devices
@pytest.mark.parametrize("systems", [2, 3, 4])
def test_vmap_of_every_kind_of_argument(device, systems):
    p = nbcc.compile(source=PARAMS)
    x, y = (points(systems, count, device=device, dtype=torch.float64, seed=count) for count in (6, 5))
    number = points(systems, dtype=torch.float64, seed=9).to(device)
    y_numpy = points(5, dtype=torch.float64).numpy()
    for function in (
        lambda a, k: p(a, a, s=k).z,
        lambda a, k: p(a, a, c=k).z,  # a complex param, given as real numbers
        lambda a, k: p(a, a, c=torch.complex(k, 2 * k)).z,
        lambda a, k: p(a, a, box=[k, 2 * k, 5 * k]).z,
        lambda a, k: p(a, a, box=torch.stack([k, k * k, k])).z,
        lambda a, k: p(a, a, tab=k * torch.arange(5.0, device=device, dtype=torch.float64)).z,
    ):
        close(torch.view_as_real(torch.vmap(function)(x, number)), torch.view_as_real(each(function, x, number)), 1e-12)
    if device == "cpu":  # an input that is no tensor
        close(torch.vmap(lambda a: p(a, y_numpy).least)(x), each(lambda a: p(a, y_numpy).least, x), 1e-12)
    # Minima of each system, and their gradients.
    least = torch.func.grad(lambda a, b: p(a, b, outputs="least").sum(), argnums=(0, 1))
    for one, other in zip(torch.vmap(least)(x, y), each(least, x, y)):
        close(one, other, 1e-12)
    twice = nbcc.compile(source=TWICE)
    close(torch.vmap(lambda a: twice(a, a))(x), each(lambda a: twice(a, a), x), 1e-12)


@on_devices
def test_what_has_no_derivative_can_be_mapped(device):
    p = nbcc.compile(source=COUNTED)
    x = points(3, 6, device=device, dtype=torch.float64)
    found = torch.vmap(lambda a: tuple(p(a, a)))(x)
    wanted = each(lambda a: tuple(torch.as_tensor(one).to(device) for one in p(a, a)), x)
    for one, other in zip(found, wanted):
        assert torch.equal(one.to(device), other)
    assert p(torch.empty(4, device="meta"), torch.empty(5, device="meta")).n.shape == (4, 4)


@on_devices
def test_lists_of_tensors_have_gradients(device):
    p = nbcc.compile(source=PARAMS)
    x = points(6, device=device, dtype=torch.float64)
    sides = [torch.tensor(k + 1.0, dtype=torch.float64, device=device, requires_grad=True) for k in range(3)]
    for function in (lambda *s: p(x, x, box=list(s)).z.real.sum(), torch.compile(lambda *s: p(x, x, box=list(s)).z.real.sum())):
        grads = torch.autograd.grad(function(*sides), sides)
        assert [round(float(one)) for one in grads] == [72, 144, 216]


def test_numbers_of_every_kind_are_compiled():
    p = nbcc.compile(source=PARAMS)
    x = points(6, dtype=torch.float64)
    for options in ({"c": 1 + 2j}, {"n": 7}, {"box": [1.0, 2.0, 4.0]}, {"s": 2}):
        compiled = torch.compile(lambda x, o=options: torch.view_as_real(p(x, x, **o).z), fullgraph=True)
        close(compiled(x), torch.view_as_real(p(x, x, **options).z), 1e-12)


def test_outputs_are_written_where_they_can_be(gravity):
    x, m, out = points(5, 3), points(5), torch.zeros(5)
    half = torch.zeros(5, dtype=torch.float16)
    gravity(x, x, m, eps2=0.1, outputs="pot", out=half)
    assert torch.equal(half, gravity(x, x, m, eps2=0.1).pot.to(torch.float16))
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False):
        gravity(x, x, m, eps2=0.1, outputs="pot", out=out)
    assert torch.equal(out, gravity(x, x, m, eps2=0.1, outputs="pot"))
    out.zero_()
    torch.compile(lambda x: gravity(x, x, m, eps2=0.1, outputs="pot", out=out))(x)  # which ends the graph in front of it
    assert torch.equal(out, gravity(x, x, m, eps2=0.1, outputs="pot"))


@on_devices
def test_linearize(gravity, device):
    x, m = points(6, 3, device=device, dtype=torch.float64), points(6, device=device, dtype=torch.float64, seed=1)
    rate = points(6, 3, device=device, dtype=torch.float64, seed=2)
    result, linear = torch.func.linearize(lambda x: gravity(x, x, m, eps2=0.1).pot, x)
    close(result, by_torch(x, x, m, 0.1)[1], 1e-12)
    close(linear(rate), torch.func.jvp(lambda x: by_torch(x, x, m, 0.1)[1], (x,), (rate,))[1], 1e-12)


@on_devices
def test_derivatives_in_batches_of_autograd(gravity, device):
    x, m = points(5, 3, device=device, dtype=torch.float64), points(5, device=device, dtype=torch.float64, seed=1)

    def both(x, m):
        return gravity(x, x, m, eps2=0.1).acc[:, 0], by_torch(x, x, m, 0.1)[0][:, 0]

    x.requires_grad_()
    rows = torch.eye(5, dtype=torch.float64, device=device)
    ours, theirs = (torch.autograd.grad(one, x, rows, is_grads_batched=True)[0] for one in both(x, m))
    close(ours, theirs, 1e-12)
    for way in ("reverse-mode", "forward-mode"):
        found = [
            torch.autograd.functional.jacobian(lambda x, m, k=k: both(x, m)[k], (x, m), vectorize=True, strategy=way)
            for k in (0, 1)
        ]
        for ours, theirs in zip(*found):
            close(ours, theirs, 1e-12)


def test_forward_mode_inside_of_compile(gravity):
    x, m = points(6, 3, dtype=torch.float64), points(6, dtype=torch.float64, seed=1)
    of = lambda x: gravity(x, x, m, eps2=0.1).pot

    def by_jvp(x, rate):
        return torch.func.jvp(of, (x,), (rate,))[1]

    def by_dual(x, rate):
        with torch.autograd.forward_ad.dual_level():
            return torch.autograd.forward_ad.unpack_dual(of(torch.autograd.forward_ad.make_dual(x, rate))).tangent

    for function in (by_jvp, by_dual):
        with pytest.raises(Exception, match="forward mode"):
            torch.compile(function, fullgraph=True)(x, x)
    compiled = torch.compile(of)
    for _ in range(2):  # traced with a dual tensor; and before
        with pytest.raises(Exception, match="forward mode"), torch.autograd.forward_ad.dual_level():
            compiled(torch.autograd.forward_ad.make_dual(x, x))
        torch._dynamo.reset()
        close(compiled(x), by_torch(x, x, m, 0.1)[1], 1e-12)
