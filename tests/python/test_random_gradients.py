"""Derivatives of random pipelines, by what PyTorch and JAX stand on: gradients against differences of the pipelines'
outputs, forward mode against gradients, second derivatives of one order of modes against those of another. Needs neither
library; where there is one its own way is compared, too."""

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
        self.arguments, self.options = self.made.arguments(), self.made.options()
        results = self.outputs(self.arguments)
        random = np.random.default_rng(seed + 1000)
        self.weights = [random.random(np.shape(value)) + 0.5 for value in results]
        self.rates = {name: random.random(value.shape) - 0.5 for name, value in self.arguments.items() if value.dtype.kind == "f"}
        if self.made.one_set:
            self.rates[self.made.y] = self.rates[self.made.x]
        self.same = {self.made.x: self.made.y, self.made.y: self.made.x} if self.made.one_set else {}

    def outputs(self, arguments):
        results = self.pipeline(*arguments.values(), **self.options)
        return list(results) if isinstance(results, tuple) else [results]

    def rate(self, found):
        """The rate of the loss when the arguments have `rates`, from its derivatives; and its size without cancellation."""
        parts = [found[name] * rate for name, rate in self.rates.items() if name in found]
        return sum(float(part.sum()) for part in parts), sum(float(abs(part).sum()) for part in parts)

    def by_differences(self):
        return differences(self.outputs, self.arguments, self.weights, self.same)

    def by_call(self):
        """dL/d of each argument; of one set that by y is a part of that by x."""
        copies = {id(value): value.copy() for value in self.arguments.values()}
        given = [copies[id(value)] for value in self.arguments.values()]
        call = Call(self.pipeline, given, {}, self.options)
        assert call.one_set == (self.made.one_set and self.made.pairs in ("all", "batches"))
        values = dict(zip([field.name for field in call.outputs], call.run({})))
        for value in given:  # derivatives are those of the numbers that were summed
            value[...] = 0 if value.dtype.kind == "i" else 0.7 * value + 0.1
        outputs = [field for field in self.pipeline.fields if field.role == "output"]
        given = {field.name: weight for field, weight in zip(outputs, self.weights) if not field.integral}
        found = call.gradients({}, values, given, list(self.rates))
        for name in filter(call.by_group, found):
            rows, found[name] = found[name], np.zeros(self.arguments[name].shape)
            np.add.at(found[name], call.group_of_i(), rows)
        rates = call.tangents({}, values, self.rates)
        forward = sum(float((weight * rates[name]).sum()) for name, weight in given.items())
        reverse, size = self.rate(found)
        assert abs(forward - reverse) <= 1e-11 * (size + 1), self.made.text
        return found

    def check(self, found):
        found = dict(found)
        if self.made.one_set and self.made.y in found:
            found[self.made.x] = found[self.made.x] + found.pop(self.made.y)
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
    results = case.outputs(tensors)
    loss = sum((torch.tensor(weight) * value).sum() for weight, value in zip(case.weights, results))
    loss.backward()
    tensors.pop(case.made.y if case.made.one_set else "")
    case.check({name: tensor.grad.numpy() for name, tensor in tensors.items() if tensor.grad is not None})


def by_torch(case):
    """A loss of the real arguments, these arguments, and rates of them."""
    torch = pytest.importorskip("torch")
    names = [name for name in case.rates if not (case.made.one_set and name == case.made.y)]

    def loss(*values):
        given = {name: torch.tensor(value) for name, value in case.arguments.items()}
        given.update(zip(names, values))
        if case.made.one_set:
            given[case.made.y] = given[case.made.x]
        results = case.outputs(given)
        return sum((torch.tensor(weight) * value).sum() for weight, value in zip(case.weights, results))

    return loss, *([torch.tensor(one[name]) for name in names] for one in (case.arguments, case.rates))


def check_modes(case, loss, values, rates, jvp, grad):
    """The rate of the loss, and second derivatives times the rates: forward over reverse is reverse over forward."""
    every = tuple(range(len(values)))
    rate, gradients = jvp(loss, tuple(values), tuple(rates))[1], grad(loss, every)(*values)
    size = sum(float(abs(a * b).sum()) for a, b in zip(gradients, rates)) + 1
    assert abs(float(rate) - sum(float((a * b).sum()) for a, b in zip(gradients, rates))) <= 1e-10 * size, case.made.text
    forward = jvp(grad(loss, every), tuple(values), tuple(rates))[1]
    reverse = grad(lambda *some: jvp(loss, some, tuple(rates))[1], every)(*values)
    for a, b in zip(forward, reverse):
        assert np.allclose(np.asarray(a), np.asarray(b.detach() if hasattr(b, "detach") else b), rtol=1e-8, atol=1e-8), case.made.text


@pytest.mark.parametrize("seed", sampled(range(2, 40, 4), 4))
def test_modes_of_pytorch_of(seed):
    torch = pytest.importorskip("torch")
    case = Case(seed)
    check_modes(case, *by_torch(case), torch.func.jvp, torch.func.grad)


@pytest.mark.parametrize("seed", sampled(range(0, 40, 8), 3))
def test_second_derivatives_by_pytorch_of(seed):
    torch = pytest.importorskip("torch")
    case = Case(seed)
    kept = [torch.tensor(value) for value in case.arguments.values()]
    names = list(case.arguments)

    def run(x, q):
        given = [x if name == case.made.x or (case.made.one_set and name == case.made.y) else
                 q if name == case.made.q else tensor for name, tensor in zip(names, kept)]
        return case.pipeline(*given, outputs=case.made.outputs, **case.options)

    x, q = (torch.tensor(case.arguments[name], requires_grad=True) for name in (case.made.x, case.made.q))
    assert torch.autograd.gradgradcheck(run, (x, q))


def by_jax(case):
    """As `by_torch`."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    names = [name for name in case.rates if not (case.made.one_set and name == case.made.y)]

    def loss(*values):
        given = {name: jax.numpy.asarray(value) for name, value in case.arguments.items()}
        given.update(zip(names, values))
        if case.made.one_set:
            given[case.made.y] = given[case.made.x]
        return sum((weight * value).sum() for weight, value in zip(case.weights, case.outputs(given)))

    return loss, *([jax.numpy.asarray(one[name]) for name in names] for one in (case.arguments, case.rates))


@pytest.mark.parametrize("seed", sampled(range(0, 40, 8), 3))
def test_gradients_by_jax_of(seed):
    jax = pytest.importorskip("jax")
    case = Case(seed)
    loss, values, _ = by_jax(case)
    names = [name for name in case.rates if not (case.made.one_set and name == case.made.y)]
    found = jax.grad(loss, tuple(range(len(names))))(*values)
    case.check({name: np.asarray(value) for name, value in zip(names, found)})


@pytest.mark.parametrize("seed", sampled(range(2, 40, 4), 4))
def test_modes_of_jax_of(seed):
    jax = pytest.importorskip("jax")
    case = Case(seed)
    check_modes(case, *by_jax(case), jax.jvp, lambda *some: jax.jit(jax.grad(*some)))
