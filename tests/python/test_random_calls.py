"""Random calls: every value arrives at the field or the option that is meant, whatever their names."""

import warnings

import numpy as np
import pytest

import nbcc
from random_calls import RandomCall
from sampling import sampled

SEEDS = [*sampled(range(60), 4), 215]  # 215: an option took the value of a param, and the result was wrong without an error


def compiled(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nbcc.PipelineWarning)
        return nbcc.compile(source=call.text, cache_dir="")


def check(call, got):
    wanted = call.expected()
    got = [got] if len(wanted) == 1 else list(got)
    for name, found in zip(wanted, got):
        assert np.array_equal(np.asarray(found), wanted[name]), (name, call.text, call.values, call.options)


@pytest.mark.parametrize("seed", SEEDS)
def test_calls(seed):
    call = RandomCall(seed)
    arrays, keywords = call.arguments()
    check(call, compiled(call)(*arrays, **keywords))


@pytest.mark.parametrize("seed", sampled(range(20), 4))
def test_bound_calls(seed):
    call = RandomCall(seed)
    pipeline = compiled(call)
    _, keywords = call.arguments(leading=False)
    given = {name: keywords.pop(name) for name in [*call.j, *call.params] if name in keywords}
    check(call, pipeline.bind(**given)(**keywords))


@pytest.mark.parametrize("seed", sampled(range(20), 4))
def test_calls_into_arrays(seed):
    call = RandomCall(seed, options=False)
    pipeline = compiled(call)
    out = {name: np.zeros(call.ni) for name in call.outputs}
    wanted = call.expected()
    if "options" in call.fields:
        return
    pipeline(**call.values, options={"out": out})
    pipeline(**call.values, options={"out": out, "accumulate": True})
    for name in call.outputs:
        assert np.array_equal(out[name], 2 * wanted[name]), (name, call.text)


@pytest.mark.parametrize("seed", sampled(range(16), 4))
def test_calls_with_tensors(seed):
    torch = pytest.importorskip("torch")
    call = RandomCall(seed)
    pipeline = compiled(call)
    call.values = {name: torch.tensor(value, dtype=torch.float64, requires_grad=True) for name, value in call.values.items()}
    tensors = dict(call.values)
    arrays, keywords = call.arguments()
    got = pipeline(*arrays, **keywords)
    given = {name for name in call.fields[: len(arrays)]} | {name for name in keywords if name in tensors}
    call.values = {name: value.detach().numpy() if name in given else value for name, value in call.values.items()}
    call.values = {name: np.asarray(value) for name, value in call.values.items()}
    check(call, got.detach() if isinstance(got, torch.Tensor) else [one.detach() for one in got])
    loss = got.sum() if isinstance(got, torch.Tensor) else sum(one.sum() for one in got)
    loss.backward()
    for name in given:
        assert np.allclose(tensors[name].grad.numpy(), call.gradient(name), rtol=1e-13, atol=0), (name, call.text, call.options)


@pytest.mark.parametrize("seed", sampled(range(12), 4))
def test_calls_of_jax(seed):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    call = RandomCall(seed)
    pipeline = compiled(call)
    _, keywords = call.arguments(leading=False)
    given = {name: jax.numpy.asarray(value, "float64") for name, value in keywords.items() if name in call.fields}
    options = {name: value for name, value in keywords.items() if name not in call.fields}

    def total(numbers):
        got = pipeline(**numbers, **options)
        got = got if isinstance(got, tuple) else (got,)
        return sum(one.sum() for one in got), got

    (_, got), gradients = jax.jit(jax.value_and_grad(total, has_aux=True))(given)
    check(call, got[0] if len(got) == 1 else got)
    for name in given:
        assert np.allclose(np.asarray(gradients[name]), call.gradient(name), rtol=1e-13, atol=0), (name, call.text, call.options)


@pytest.mark.parametrize("seed", sampled(range(20), 4))
def test_modules(seed, tmp_path):
    torch = pytest.importorskip("torch")
    from nbcc.torch import Module

    call = RandomCall(seed)
    if "self" in call.fields:  # PyTorch's own functions take no such keyword
        return
    _, keywords = call.arguments(leading=False)
    params = {name: keywords.pop(name) for name in call.params if name in keywords}
    (tmp_path / "random.pipe").write_text(call.text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", nbcc.PipelineWarning)
            made = Module(tmp_path / "random.pipe", **params)
    except KeyError:  # a parameter of a torch.nn.Module cannot be called like one of its members
        assert any(hasattr(torch.nn.Module(), name) for name in params)
        return
    assert set(made.state_dict()) == set(params)
    with torch.no_grad():
        check(call, made(**keywords))


def test_compile_says_once_which_names_clash():
    text = """input_i real i; input_j real y; param real tolerance = 1; param real s = 2; output(sum) real e;
    e += i * y * tolerance * s;"""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        pipeline = nbcc.compile(source=text)
        assert pipeline(i=[1.0], y=[1.0], tolerance=0.5).tolist() == [1.0]
        assert pipeline.adjoint("i", by="tolerance") is not None
    assert [str(one.message) for one in said] == [
        "pipeline.pipe: fields 'i', 'tolerance' have the name of an option of calls: i=... sets the field; to set the option, "
        'write options={"i": ...}'
    ]
    assert pipeline(i=[1.0, 3.0], y=[1.0], options={"i": [1]}).tolist() == [0.0, 6.0]
    with pytest.raises(nbcc.UsageError, match="tolerance: .* has no far field"):
        pipeline(i=[1.0], y=[1.0], options={"tolerance": 1e-3})


@pytest.mark.parametrize(
    "given, message",
    [
        (dict(options=3), r"pipeline\(\): options: expected a dict of options by name, got int"),
        (dict(options={"tolerence": 1}), r"pipeline\(\): options: there is no option 'tolerence'; options are accumulate, "),
        (dict(options={"skin": 1}, skin=1.0), r"pipeline\(\): got option 'skin' twice, by itself and in options="),
        (dict(options={"s": 1}), r"pipeline\(\): options: there is no option 's'"),
    ],
)
def test_wrong_options_are_refused(given, message):
    pipeline = nbcc.compile(source="input_i real x; input_j real y; param real s = 2; output(sum) real e; e += x * y * s;")
    with pytest.raises(TypeError, match=message):
        pipeline([1.0], [1.0], **given)


def test_neighbours_and_operators_with_the_names_of_options():
    text = """input_i real ni; input_j real nj; input_j real i; param real progress; output(sum) real e;
    skip_if(abs(nj - ni) > progress); e += i;"""
    with pytest.warns(nbcc.PipelineWarning, match="'ni', 'nj', 'i', 'progress'"):
        pipeline = nbcc.compile(source=text)
    x = np.array([0.0, 1.0, 3.0])
    found = pipeline.find_neighbours(ni=x, nj=x, i=x, progress=1.5, options={"exclusions": ([0, 1, 2, 3], [0, 1, 2])})
    assert list(found.j) == [1, 0]
    pytest.importorskip("scipy")
    matrix = pipeline.operator(ni=x, nj=x, progress=1.5)
    assert matrix.matvec(np.array([1.0, 2.0, 4.0])).tolist() == [3.0, 3.0, 4.0]
    assert matrix.rmatvec(np.array([1.0, 2.0, 4.0])).tolist() == [3.0, 3.0, 4.0]
