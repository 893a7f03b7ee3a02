"""Gradients of random pipelines, by what PyTorch and JAX stand on, against differences of the pipelines' outputs. Needs
neither library; where there is one its own way is compared, too."""

import numpy as np
import pytest

import nbcc
from nbcc._call._adjoint import Call
from random_pipelines import RandomPipeline, differences
from sampling import sampled

SEEDS = sampled(range(40), 4)
pytestmark = pytest.mark.filterwarnings("ignore::nbcc.PipelineWarning")  # of fields that no term happens to use


def compiled(text):
    return nbcc.compile(source=text, precision="double", math="precise")


class Case:
    def __init__(self, seed):
        self.made = RandomPipeline(seed)
        self.pipeline = compiled(self.made.text)
        self.arguments = self.made.arguments()
        results = self.outputs(self.arguments)
        random = np.random.default_rng(seed + 1000)
        self.weights = [random.random(value.shape) + 0.5 for value in results]
        self.same = {self.made.x: self.made.y, self.made.y: self.made.x} if self.made.one_set else {}

    def outputs(self, arguments):
        results = self.pipeline(*arguments.values())
        return list(results) if isinstance(results, tuple) else [results]

    def by_differences(self):
        return differences(self.outputs, self.arguments, self.weights, self.same)

    def by_call(self):
        """dL/d of each argument; of one set that by y is a part of that by x."""
        copies = {id(value): value.copy() for value in self.arguments.values()}
        given = [copies[id(value)] for value in self.arguments.values()]
        call = Call(self.pipeline, given, {}, {})
        assert call.one_set == self.made.one_set
        values = dict(zip([field.name for field in call.outputs], call.run({})))
        for value in given:  # derivatives are those of the numbers that were summed
            value[...] = 0 if value.dtype.kind == "i" else 0.7 * value + 0.1
        given = dict(zip(self.made.outputs, self.weights))
        by = [name for name, value in self.arguments.items() if value.dtype.kind == "f"]
        found = call.gradients({}, values, given, by)
        return found

    def check(self, found):
        for name, (expected, error) in self.by_differences().items():
            if self.made.one_set and name == self.made.y:
                continue
            assert found[name].shape == expected.shape, name
            assert np.all(np.abs(found[name] - expected) <= 8 * error), f"{name} of\n{self.made.text}"


@pytest.mark.parametrize("seed", SEEDS)
def test_gradients_of(seed):
    case = Case(seed)
    case.check(case.by_call())


@pytest.mark.parametrize("seed", sampled(range(0, 40, 4), 4))
def test_gradients_by_pytorch_of(seed):
    torch = pytest.importorskip("torch")
    case = Case(seed)
    tensors = {name: torch.tensor(value, requires_grad=value.dtype.kind == "f") for name, value in case.arguments.items()}
    if case.made.one_set:
        tensors[case.made.y] = tensors[case.made.x]
    results = case.pipeline(*tensors.values())
    results = results if isinstance(results, tuple) else (results,)
    loss = sum((torch.tensor(weight) * value).sum() for weight, value in zip(case.weights, results))
    loss.backward()
    case.check({name: tensor.grad.numpy() for name, tensor in tensors.items() if tensor.grad is not None})


@pytest.mark.parametrize("seed", sampled(range(0, 40, 8), 3))
def test_second_derivatives_by_pytorch_of(seed):
    torch = pytest.importorskip("torch")
    case = Case(seed)
    kept = [torch.tensor(value) for value in case.arguments.values()]
    names = list(case.arguments)

    def run(x, q):
        given = [x if name == case.made.x or (case.made.one_set and name == case.made.y) else
                 q if name == case.made.q else tensor for name, tensor in zip(names, kept)]
        return case.pipeline(*given, outputs=case.made.outputs)

    x, q = (torch.tensor(case.arguments[name], requires_grad=True) for name in (case.made.x, case.made.q))
    assert torch.autograd.gradgradcheck(run, (x, q))


@pytest.mark.parametrize("seed", sampled(range(0, 40, 8), 3))
def test_gradients_by_jax_of(seed):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    case = Case(seed)
    names = [name for name, value in case.arguments.items() if value.dtype.kind == "f"]
    if case.made.one_set:
        names.remove(case.made.y)

    def loss(*values):
        given = {name: jax.numpy.asarray(value) for name, value in case.arguments.items()}
        given.update(zip(names, values))
        if case.made.one_set:
            given[case.made.y] = given[case.made.x]
        results = case.pipeline(*given.values())
        results = results if isinstance(results, tuple) else (results,)
        return sum((weight * value).sum() for weight, value in zip(case.weights, results))

    found = jax.grad(loss, tuple(range(len(names))))(*[jax.numpy.asarray(case.arguments[name]) for name in names])
    case.check({name: np.asarray(value) for name, value in zip(names, found)})
