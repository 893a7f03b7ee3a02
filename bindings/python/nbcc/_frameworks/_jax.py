"""Calls inside of JAX's transformations: grad, jit, vmap. The entry point is `call`. Only imported where JAX is.

A traced call is a custom call of the XLA program (`_jax_call`), which reads and writes the arrays where they are. So does
a call outside of transformations."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence, Tuple

import jax
import numpy

from .._c._fields import PARAM
from .._call._adjoint import Call
from ._jax_call import custom_call
from ._traced_call import ARRAY, HELD, VALUE, Held, gradient_of, handle_of, is_constant, results_of, word
from ._xla import ffi


def is_traced(arrays: Sequence[Any], fields: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    return any(map(_has_tracer, (*arrays, *fields.values(), *options.values())))


def _has_tracer(value: Any) -> bool:
    """Whether a value is traced, or a list that one is in."""
    return any(map(_has_tracer, value)) if isinstance(value, (list, tuple)) else isinstance(value, jax.core.Tracer)


def call(pipeline: Any, arrays: Sequence[Any], fields: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    for name, value in options.items():
        if _has_tracer(value):
            raise TypeError(f"{pipeline.name}(): {name}= is traced by JAX; expected what is known before the transformation")
    plan = Call(pipeline, arrays, fields, options)
    for name, value in plan.values.items():
        if isinstance(value, (list, tuple)) and _has_tracer(value):
            plan.values[name] = _stacked(plan, name, value)
        elif plan.field(name).role != PARAM and not isinstance(value, jax.Array):
            plan.values[name] = _placed(value)
    if plan.options.get("stream") is not None:
        raise TypeError(f"{pipeline.name}(): stream= cannot be given inside of a transformation of JAX")
    names = [name for name, value in plan.values.items() if isinstance(value, jax.Array)]
    try:
        results = _differentiable(plan, names)(*[plan.values[name] for name in names])
    except NotImplementedError as error:
        if "shard_map" not in str(error):
            raise
        raise TypeError(f"{pipeline.name}(): JAX takes a call inside of shard_map inside of jax.jit only: {error}") from None
    return plan.handed_out(results)


def _stacked(plan: Call, name: str, value: Any) -> Any:
    try:
        return jax.numpy.asarray(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{plan.pipeline.name}(): '{name}': expected rows of numbers of one length: {error}") from None


def _placed(value: Any) -> Any:
    """An array of the host as one of JAX, which lies where the others do, unless JAX would change its type, as it does with
    float64 by default."""
    array = numpy.asarray(value)
    return jax.numpy.asarray(array) if jax.dtypes.canonicalize_dtype(array.dtype) == array.dtype else value


def _differentiable(plan: Call, names: List[str]) -> Any:
    @jax.custom_vjp
    def sums(*values: Any) -> Tuple[Any, ...]:
        return _run(plan, names, values)

    def forward(*primals: Any) -> Tuple[Any, Any]:
        plan.check_derivatives()
        for name, primal in zip(names, primals):
            if primal.perturbed:
                plan.refuse_derivative_by_pairs(name)
        values = tuple(primal.value for primal in primals)
        results = sums(*values)
        # A dict's keys, here the names, are not traced.
        wanted = {name: None for name, primal in zip(names, primals) if primal.perturbed}
        return results, (values, results, wanted)

    def backward(saved: Any, adjoints_of_results: Any) -> Tuple[Any, ...]:
        values, results, wanted = saved
        adjoints = {
            field.name: jax.numpy.conj(adjoint)
            for field, adjoint in zip(plan.outputs, adjoints_of_results)
            if not field.integral and not isinstance(adjoint, jax.custom_derivatives.SymbolicZero)
        }
        # JAX's derivative by a complex number is the conjugate of nbcc's and PyTorch's.
        if not adjoints:
            return (None,) * len(names)
        # A Python number stays one where jax.grad runs outside of jax.jit.
        known = dict(zip(names, map(jax.numpy.asarray, values)))
        by = [name for name in names if name in wanted and not plan.field(name).integral]
        by = [name for name in by if jax.numpy.issubdtype(known[name].dtype, jax.numpy.inexact)]
        is_mapped = any(map(_is_mapped, (*values, *adjoints_of_results)))
        found = plan.gradients(known, {f.name: r for f, r in zip(plan.outputs, results)}, adjoints, by, is_mapped)
        gradients: List[Any] = []
        for name in names:
            gradient = found.get(name)
            if gradient is not None:
                gradient = gradient_of(plan, name, jax.numpy.asarray(gradient), known[name], _by_group, _as_complex)
                gradient = gradient.astype(known[name].dtype)
            gradients.append(gradient)  # None: 0
        return tuple(gradients)

    # Zeros by name: what a loss does not depend on needs no derivative.
    sums.defvjp(forward, backward, symbolic_zeros=True)
    return sums


def _is_mapped(value: Any) -> bool:
    """Whether jax.vmap maps over the value, or over one that another transformation has made it from."""
    trace = getattr(value, "_trace", None)
    while trace is not None and type(trace).__name__ != "BatchTrace":
        trace = getattr(trace, "parent_trace", None)
    return trace is not None


def _by_group(rows: Any, group_of_row: Any, count: int) -> Any:
    zeros = jax.numpy.zeros((count, *rows.shape[1:]), rows.dtype)
    return zeros.at[jax.numpy.asarray(group_of_row)].add(rows)


def _as_complex(pairs: Any) -> Any:
    return jax.lax.complex(pairs[..., 0], -pairs[..., 1])


def _run(plan: Call, names: List[str], values: Sequence[Any]) -> Tuple[Any, ...]:
    make: Any = jax.ShapeDtypeStruct  # has no types
    shapes = results_of(plan, {**plan.values, **dict(zip(names, values))})
    results = [make(shape, jax.dtypes.canonicalize_dtype(dtype)) for shape, dtype in shapes]
    sums = ffi.ffi_call(custom_call(), tuple(results), vmap_method="broadcast_all")
    return tuple(sums(*values, call=_handle_of(plan, names)))


def _handle_of(plan: Call, names: List[str]) -> str:
    words = [word(name, None, False, ARRAY, k) for k, name in enumerate(names)]
    others = [(name, False, value) for name, value in plan.values.items() if name not in names]
    others += [(name, True, value) for name, value in plan.options.items()]
    others.append(("outputs", True, [field.name for field in plan.wanted]))
    for name, is_option, value in others:
        if is_constant(value):
            words.append(word(name, None, is_option, VALUE, value))
        elif value is not None:
            words.append(word(name, None, is_option, HELD, _kept.setdefault(_identity(value), Held(value)).number))
    return handle_of(plan.pipeline._key, words)


# A program that has been compiled may run at any time. The same value is kept once, and makes the same string.
_kept: Dict[Any, Held] = {}


def _identity(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(map(_identity, value))
    if isinstance(value, numpy.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return value if isinstance(value, (bool, int, float, complex, str, bytes, type(None))) else (type(value), id(value))
