"""Derivatives of every pipeline of the library where i and j are one set of particles, so that each particle meets
itself, against differences of the outputs. Needs neither PyTorch nor JAX."""

import warnings

import numpy as np
import pytest

import nbcc
from conftest import PIPELINES
from nbcc._call._adjoint import Call
from random_pipelines import differences

COUNT = 10  # k_nearest keeps eight neighbours
# Params beside the defaults; several choices are several tests.
PARAMS = {"matern": [{"twice_nu": 1}, {"twice_nu": 3}, {"twice_nu": 5}], "dpd": [{}, {"kt": 0.7}],
          "hologram": [{"lambda": 2.0}]}
SOFTENED = [{}, {"eps2": 0.01}]
INFINITE = {("dpd", "kt")}  # a root at 0
WITHOUT = {"radial_distribution": "has no output to differentiate"}
PATHS = [path for path in sorted(PIPELINES.glob("*.pipe")) if not path.stem.startswith("cunbody")]
CASES = [(path.stem, params) for path in PATHS
         for params in PARAMS.get(path.stem, SOFTENED if "real eps2 = 0.0;" in path.read_text() else [{}])]


def arguments_of(pipeline, params):
    """The arguments by the names of fields, in order of declaration, of which xi and xj and so on are one array; and
    the names of these."""
    random = np.random.default_rng(3)
    partners = {field.of: field.partner for field in pipeline.adjoint("forward").adjoint_fields if field.partner}
    made = {}
    for field in pipeline.fields:
        shape = (() if field.role == "param" else (COUNT,)) + tuple(field.shape or ())
        if field.role == "output":
            continue
        if field.name in params:
            made[field.name] = np.array(params[field.name])
        elif partners.get(field.name) in made:
            made[field.name] = made[partners[field.name]]
        elif field.role == "param" and field.default is not None:
            values = np.array(field.default).reshape(*shape, 2) if field.is_complex else np.reshape(field.default, shape)
            made[field.name] = real_parts_joined(values) if field.is_complex else values
        elif field.integral:
            made[field.name] = random.integers(0, 2, shape)
        else:
            made[field.name] = random.random(shape) + (0.5 + 0.25j if field.is_complex else 0.5)
        if field.role == "param" and field.integral:
            made[field.name] = made[field.name].astype(int)
    return made, partners


def real_parts_joined(values):
    return values[..., 0] + 1j * values[..., 1]


def real_parts(values):
    return np.ascontiguousarray(values).view(float) if values.dtype.kind == "c" else values


@pytest.mark.parametrize("name, params", CASES, ids=["-".join([name, *map(str, params)]) for name, params in CASES])
def test_derivatives_of_one_set_are_differences(name, params):
    pipeline = nbcc.compile(PIPELINES / f"{name}.pipe", precision="double", math="precise")
    if name in WITHOUT:
        with pytest.raises(nbcc.UsageError, match=WITHOUT[name]):
            pipeline.adjoint("forward")
        return
    arguments, partners = arguments_of(pipeline, params)
    call = Call(pipeline, list(arguments.values()), {}, {})
    assert call.one_set == bool(partners)
    real = [field for field in call.wanted if not field.integral]

    def outputs(given):
        results = pipeline(*given.values(), outputs=[field.name for field in real])
        return [real_parts(value) for value in (results if isinstance(results, tuple) else (results,))]

    values = dict(zip([field.name for field in call.outputs], call.run({})))
    random = np.random.default_rng(4)
    weights = {field.name: values[field.name] * 0 + random.random(values[field.name].shape) + 0.5 for field in real}
    by = [field for field, value in arguments.items() if value.dtype.kind == "f" and call.partner(field) is None]
    by = [field for field in by if (name, field) not in INFINITE or field in params]
    with warnings.catch_warnings():
        warnings.simplefilter("error", nbcc.PipelineWarning)
        found = call.gradients({}, values, weights, by)
    assert set(found) == set(by)
    of_outputs = [real_parts(weight) for weight in weights.values()]
    for field, (expected, error) in differences(outputs, arguments, of_outputs, partners).items():
        if field not in found:
            continue
        value = np.reshape(found[field], expected.shape)
        assert np.isfinite(value).all(), field
        if np.isfinite(expected).all():  # not at the end of what a param may be, as eps2 = 0
            assert np.all(np.abs(value - expected) <= 8 * error), f"{field}: {value}, not {expected}"


def test_a_singular_derivative_warns_of_itself_alone():
    text = """input_i vec3 xi; input_j vec3 xj; input_j real unused; output(sum) real s;
vec3 d = xj - xi; s += exp(-sqrt(dot(d, d)));"""
    with pytest.warns(nbcc.PipelineWarning, match="'unused'"):
        pipeline = nbcc.compile(source=text, name="cone", precision="double")
    with pytest.warns(nbcc.PipelineWarning) as caught:
        pipeline.adjoint("set")
    assert len(caught) == 1 and caught[0].filename == __file__
    assert "cone:1:14: warning: the derivative by 'xi' is singular at i == j" in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipeline.adjoint("forward")
        nbcc.compile(source=text.replace("s +=", "skip_if(i_index == j_index); s +=").replace("input_j real unused;", ""),
                     precision="double").adjoint("set")
