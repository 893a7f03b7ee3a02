"""nbcc.keops with PyTorch: derivatives, and beside KeOps itself, its own tests, and libraries that use it. `./dev test --torch`
installs pykeops, GeomLoss, GPyTorch and TorchDR; what is missing is skipped."""

import importlib.util
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from nbcc.keops import Genred, KernelSolve, LazyTensor, Vi, Vj  # noqa: E402

GENERATOR = torch.Generator().manual_seed(3)


def tensor(*shape):
    return torch.randn(*shape, generator=GENERATOR, dtype=torch.float64).requires_grad_()


ALIASES = {
    "x": ("Vi", 3),
    "y": ("Vj", 3),
    "b": ("Vj", 2),
    "p": ("Pm", 1),
    "s": ("Pm", 3),
    "u": ("Vi", 6),
    "v": ("Vj", 6),
}
ROWS = {"Vi": (4,), "Vj": (5,), "Pm": ()}
FORMULAS = [
    ("Exp(-SqDist(x,y)*p*p)*b", "Sum", None),
    ("Norm2(x-y)*s", "Sum", None),
    ("Abs(x-y)+Max(x*y)+Clamp(x,y,s*s)", "Sum", None),
    ("MatVecMult(u,x)|b", "Sum", None),
    ("TensorDot(u,v,[2,3],[3,2],[1],[0])", "Sum", None),
    ("ComplexMult(u,ComplexExp(v))", "Sum", None),
    ("SoftDTW_SqDist(x,y,p*p+IntCst(1))", "Sum", None),
    ("Grad(Exp(-SqDist(x,y)),x,p)", "Sum", None),
    ("-SqDist(x,y)", "LogSumExp", None),
    ("-SqDist(x,y)", "LogSumExp", "Exp(b)"),
    ("-SqDist(x,y)*p", "SumSoftMaxWeight", "b*b"),
]


def case(formula, formula2):
    import re

    names = [name for name in ALIASES if re.search(rf"\b{name}\b", f"{formula} {formula2}")]
    aliases = [f"{name} = {ALIASES[name][0]}({ALIASES[name][1]})" for name in names]
    return aliases, [tensor(*ROWS[ALIASES[name][0]], ALIASES[name][1]) for name in names]


@pytest.mark.parametrize("formula, reduction, formula2", FORMULAS)
def test_derivatives(formula, reduction, formula2):
    aliases, tensors = case(formula, formula2)
    for axis in (0, 1):
        reduced = Genred(formula, aliases, reduction, axis, formula2=formula2)
        assert torch.autograd.gradcheck(reduced, tensors)
    if "Max" not in formula and "Mat" not in formula:
        assert torch.autograd.gradgradcheck(reduced, tensors, atol=1e-4)


def test_batches_are_differentiated():
    x, y = tensor(2, 1, 4, 1, 3), tensor(3, 1, 5, 3)

    def lazy(x, y, of=LazyTensor):
        return (-((of(x) - of(y)) ** 2).sum(-1)).exp()

    got, expected = lazy(x, y).sum(3).squeeze(-1), lazy(x, y, lambda a: a).sum(3)
    torch.testing.assert_close(got, expected)
    for a, b in zip(*(torch.autograd.grad((one**2).sum(), [x, y]) for one in (got, expected))):
        torch.testing.assert_close(a, b)


def test_forward_mode_and_vmap():
    x, y, b = tensor(4, 3).detach(), tensor(5, 3).detach(), tensor(5, 2).detach()

    def lazy(x):
        return (-((Vi(x) - Vj(y)) ** 2).sum(-1)).exp() @ b

    def dense(x):
        return torch.exp(-((x[:, None] - y) ** 2).sum(2)) @ b

    tangents = [torch.func.jvp(f, (x,), (torch.ones_like(x),))[1] for f in (lazy, dense)]
    torch.testing.assert_close(*tangents)
    torch.testing.assert_close(*(torch.func.jacrev(f)(x) for f in (lazy, dense)))
    torch.testing.assert_close(*(torch.func.vmap(f)(torch.stack([x, 2 * x])) for f in (lazy, dense)))


def test_solutions_are_differentiated():
    x, b = tensor(4, 3), tensor(4, 2)
    solve = KernelSolve("Exp(-SqDist(x,y))*b", ["x=Vi(3)", "y=Vj(3)", "b=Vj(2)"], "b", axis=1)

    def solution(x, b):
        return solve(x, x, b, alpha=0.5, eps=1e-12)

    assert torch.autograd.gradcheck(solution, (x, b)) and torch.autograd.gradgradcheck(solution, (x, b))


def test_gradients_of_distance_0_are_0():
    x = tensor(4, 3)
    norms = (Vi(x) - Vj(x.detach())).norm2().sum(1)
    expected = torch.cdist(x, x.detach()).sum()
    torch.testing.assert_close(torch.autograd.grad(norms.sum(), x)[0], torch.autograd.grad(expected, x)[0])


def run(code, tmp_path, **environment):
    import os

    file = tmp_path / "program.py"
    file.write_text(code)
    done = subprocess.run(
        [sys.executable, str(file)], cwd=tmp_path, capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def needs(name):
    return pytest.mark.skipif(importlib.util.find_spec(name) is None, reason=f"{name} is not installed")


PROGRAM = """
import sys
if {is_nbcc}:
    import nbcc.keops
    nbcc.keops.install()
import numpy as np, torch
from pykeops.torch import Genred, LazyTensor
torch.manual_seed(1)
x, y, b = (torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((6, 3), (7, 3), (7, 2)))
results = []
for formula, name, formula2, k in [
    ("Exp(-SqDist(x,y))*b", "Sum", None, None), ("-SqDist(x,y)", "SumSoftMaxWeight", "b", None),
    ("SqDist(x,y)+Elem(b,0)", "KMin_ArgKMin", None, 9), ("Norm2(x-x)*Concat(x,y)*Kron(x,b,[3],[2])", "Sum", None, None),
]:
    made = Genred(formula, ["x=Vi(3)", "y=Vj(3)", "b=Vj(2)"], name, axis=1, formula2=formula2, opt_arg=k)(x, y, b)
    made = made if isinstance(made, tuple) else (made,)
    results += made
    if name != "KMin_ArgKMin":
        results += torch.autograd.grad((made[0] ** 2).sum(), [x, y, b], allow_unused=True)
np.savez({file!r}, *(np.zeros(0) if one is None else one.detach().numpy() for one in results))
"""


@needs("pykeops")
def test_results_are_those_of_keops(tmp_path):
    files = [tmp_path / "keops.npz", tmp_path / "nbcc.npz"]
    for file, is_nbcc in zip(files, (False, True)):
        run(PROGRAM.format(file=str(file), is_nbcc=is_nbcc), tmp_path, PYKEOPS_VERBOSE="0")
    ours, theirs = np.load(files[1]), np.load(files[0])
    assert ours.files == theirs.files
    for name in ours.files:
        assert ours[name].dtype == theirs[name].dtype
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-9, atol=1e-12)


@needs("pykeops")
def test_tests_of_keops_pass(tmp_path):
    folder = pathlib.Path(importlib.util.find_spec("pykeops").origin).parent / "test"
    for file in folder.glob("*.py"):
        if file.name != "__init__.py":
            shutil.copy(file, tmp_path)
    (tmp_path / "conftest.py").write_text("import nbcc.keops\n\nnbcc.keops.install()\n")
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    done = subprocess.run([sys.executable, "-m", "pytest", *options], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout[-5000:] + done.stderr


@needs("geomloss")
def test_geomloss(tmp_path):
    run(
        """
import nbcc.keops
nbcc.keops.install()
import torch
from geomloss import SamplesLoss
torch.manual_seed(0)
x, y = torch.rand(60, 3, requires_grad=True), torch.rand(50, 3)
for name, p in [("sinkhorn", 2), ("sinkhorn", 1), ("gaussian", 2), ("laplacian", 2), ("energy", 2)]:
    made = {}
    for backend in ("tensorized", "online", "multiscale"):
        loss = SamplesLoss(name, p=p, blur=0.1, backend=backend)(x, y)
        made[backend] = loss.detach(), torch.autograd.grad(loss, x)[0]
    for backend, rtol in (("online", 1e-2), ("multiscale", 0.1)):  # multiscale is an approximation
        assert torch.allclose(made[backend][0], made["tensorized"][0], rtol=rtol), (name, backend, made)
    assert torch.allclose(made["online"][1], made["tensorized"][1], atol=1e-4), name
""",
        tmp_path,
    )


@needs("gpytorch")
def test_gpytorch(tmp_path):
    run(
        """
import nbcc.keops
nbcc.keops.install()
import gpytorch, torch
from gpytorch.kernels import keops
torch.manual_seed(0)
x, v = torch.rand(40, 3, dtype=torch.float64, requires_grad=True), torch.rand(40, 2, dtype=torch.float64)
for name in ("RBFKernel", "MaternKernel", "PeriodicKernel"):
    with gpytorch.settings.max_cholesky_size(0):
        made = []
        for kernel in (getattr(gpytorch.kernels, name)().double(), getattr(keops, name)().double()):
            product = kernel(x, x).matmul(v)
            made.append([product, *torch.autograd.grad((product**2).sum(), [x, *kernel.parameters()])])
        for one, other in zip(*made):
            assert torch.allclose(one, other, rtol=1e-9), name
""",
        tmp_path,
    )


@needs("torchdr")
def test_torchdr(tmp_path):
    run(
        """
import nbcc.keops
nbcc.keops.install()
import torch, torchdr
torch.manual_seed(0)
x = torch.rand(80, 5)
for name, options in [("SinkhornAffinity", {}), ("SelfTuningAffinity", {}), ("NormalizedGaussianAffinity", {})]:
    dense, lazy = (getattr(torchdr, name)(backend=backend, **options)(x) for backend in (None, "keops"))
    rows = lazy.sum(1)
    assert torch.allclose(dense.sum(1), rows.reshape(-1), rtol=1e-4), name
z = torchdr.TSNE(n_components=2, perplexity=10, max_iter=30, backend="keops").fit_transform(x)
assert z.shape == (80, 2) and bool(torch.isfinite(torch.as_tensor(z)).all())
""",
        tmp_path,
    )


def test_solution_is_differentiable_by_alpha():
    x, b, alpha = tensor(5, 3), tensor(5, 1), torch.tensor(0.4, dtype=torch.float64, requires_grad=True)
    solve = KernelSolve("Exp(-SqDist(x,y))*b", ["x=Vi(3)", "y=Vj(3)", "b=Vj(1)"], "b", axis=1)

    def of(x, b, alpha):
        return solve(x, x, b, alpha=alpha, eps=1e-12)

    assert torch.autograd.gradcheck(of, (x, b, alpha)) and torch.autograd.gradgradcheck(of, (x, b, alpha))
