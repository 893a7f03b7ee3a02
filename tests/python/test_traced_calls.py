"""Calls that PyTorch records or traces: the handles of traced calls, programs that other processes load, and that both
ways of a call have the same derivatives."""

import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
import numpy as np  # noqa: E402

import nbcc  # noqa: E402
from nbcc._frameworks import _traced_call  # noqa: E402
from nbcc._frameworks._traced_call import ARRAY, HELD, RATIO, VALUE, TracedCall, handle_of, read, word  # noqa: E402

PARAMS = """input_i vec3 xi; input_j vec3 xj; input_j real m; param real s = 1; param complex c = complex(1, 0);
output(sum) complex z; output(min) real least; output(total) real all; output(count) int n;
vec3 d = xj - xi; real w = dot(d, d) + s; z += c * m / w; least = min(least, w); all += m * w; n += w > 1;"""


def points(count, *more, seed=0):
    return torch.rand((count, *more), dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_a_handle_is_the_literal_of_a_call():
    gravity = nbcc.compile("gravity")
    words = [
        word("xi", None, False, ARRAY, 0),
        word("eps2", None, False, RATIO, (0.3).as_integer_ratio()),
        word("batches", 1, True, ARRAY, 2),
        word("outputs", None, True, VALUE, ["pot"]),
    ]
    handle = handle_of(gravity._key, words)
    identity, arguments = read(handle)
    assert identity == nbcc._frameworks._opened.identity(gravity._family)
    assert [tuple(one) for one in arguments] == [
        ("xi", None, False, ARRAY, 0),
        ("eps2", None, False, VALUE, 0.3),
        ("batches", 1, True, ARRAY, 2),
        ("outputs", None, True, VALUE, ["pot"]),
    ]
    call = TracedCall(handle)
    assert call.pipeline is gravity and call.at == {"xi": 0} and call.option("outputs") == ["pot"] and call.option("i") is None
    assert read(handle) is read(str(handle.encode(), "ascii"))  # it is read once
    unknown = handle_of(gravity._key, [word("lists", None, True, HELD, 2**60)])
    with pytest.raises(RuntimeError, match="'lists' of this call is not known in this process"):
        TracedCall(unknown)


OTHER = """
import sys, torch, nbcc.torch
program = torch.export.load(sys.argv[1]).module()
x = torch.rand((9, 3), dtype=torch.float64, generator=torch.Generator().manual_seed(5))
m = torch.ones(9, dtype=torch.float64)
assert torch.allclose(program(x, m), nbcc.compile("gravity")(x, x, m, eps2=0.1).pot.sum(), rtol=1e-12)
"""


def test_an_exported_program_runs_in_another_process(tmp_path):
    gravity = nbcc.compile("gravity")

    class Potential(torch.nn.Module):
        def forward(self, x, m):
            return gravity(x, x, m, eps2=0.1).pot.sum()

    torch.export.save(torch.export.export(Potential(), (points(9, 3), points(9))), tmp_path / "potential.pt2")
    done = subprocess.run(
        [sys.executable, "-c", OTHER, str(tmp_path / "potential.pt2")], capture_output=True, text=True, env=os.environ
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("x_is_y", [False, True])
def test_recorded_and_traced_calls_have_the_same_derivatives(x_is_y, monkeypatch):
    from torch.utils.flop_counter import FlopCounterMode

    sums = nbcc.compile(source=PARAMS, precision="double")
    operators = []
    monkeypatch.setattr(_traced_call, "opened_again", lambda known: operators.append(known) or sums)

    def gradients(mode):
        x, y, m = (points(*shape, seed=k).requires_grad_() for k, shape in enumerate([(6, 3), (6, 3), (6,)]))
        s, c = (torch.tensor(one, dtype=torch.float64, requires_grad=True) for one in (0.5, [2.0, 3.0]))
        y = x if x_is_y else y
        with mode:
            z, least, all, n = sums(x, y, m, s=s, c=torch.view_as_complex(c))
        loss = (z.real * z.imag).sum() + least.sum() + all + n.sum()
        return [loss, *torch.autograd.grad(loss, [x, m, s, c])]

    recorded = gradients(torch.enable_grad())
    assert not operators
    traced = gradients(FlopCounterMode(display=False))
    assert operators
    for one, other in zip(recorded, traced):
        assert torch.equal(one, other)


def test_a_real_number_for_a_complex_param_has_a_derivative():
    sums = nbcc.compile(source=PARAMS, precision="double")
    x, m = points(6, 3), points(6)
    c = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    found = torch.autograd.grad(sums(x, x, m, c=c).z.real.sum(), c)[0]
    assert found.shape == () and torch.allclose(found * c, sums(x, x, m, c=2.0).z.real.sum(), rtol=1e-12)


def test_derivatives_are_of_the_numbers_as_they_were():
    gravity = nbcc.compile("gravity")
    x, held = points(6, 3).requires_grad_(), np.random.default_rng(1).random((5, 3))
    m = points(5)
    wanted = torch.autograd.grad(gravity(x, held, m, eps2=0.1).pot.sum(), x)[0]
    pot = gravity(x, held, m, eps2=0.1).pot
    held += 1
    assert torch.equal(torch.autograd.grad(pot.sum(), x, retain_graph=True)[0], wanted)
    assert torch.equal(torch.autograd.grad(pot.sum(), x, retain_graph=True)[0], wanted)  # again
    m += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(pot.sum(), x)


def test_outputs_that_a_loss_does_not_depend_on_are_not_differentiated():
    gravity = nbcc.compile("gravity")
    x = points(6, 3).requires_grad_()
    gravity(x, x, points(6), eps2=0.1).pot.sum().backward()
    names = {field.name for made in gravity._adjoints.made() for field in made.fields}
    assert "d_pot" in names and "d_acc" not in names


def test_arguments_of_recorded_calls_are_checked():
    gravity = nbcc.compile("gravity")
    x, m = points(6, 3).requires_grad_(), points(6)
    with pytest.raises(TypeError, match="takes at most 4 positional arguments"):
        gravity(x, x, m, 0.1, 0.2)
    with pytest.raises(TypeError, match="got 'xi' twice"):
        gravity(x, x, m, xi=x)
    with pytest.raises(TypeError, match="no input and no param 'mass'"):
        gravity(x, x, mass=m)
    with pytest.raises(TypeError, match="out= cannot be given where derivatives are taken"):
        gravity(x, x, m, out=(torch.zeros(6, 3), torch.zeros(6)))
    for call in (lambda x: gravity(x, x, m, 0.1, 0.2).pot, lambda x: gravity(x, x, m, xi=x).pot):
        torch._dynamo.reset()
        with pytest.raises(Exception, match="expected each of xi, xj, mj, eps2 once at most"):
            torch.compile(call, fullgraph=True)(x)
