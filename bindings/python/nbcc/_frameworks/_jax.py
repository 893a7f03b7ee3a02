"""Calls inside of JAX's transformations: grad, jvp, jit, vmap. The entry point is `call`. Only imported where JAX is.

A traced call is a custom call of the XLA program (`_jax_call`), which reads and writes the arrays where they are. A call
whose arrays have their numbers already, as in jax.grad without jax.jit, runs at once, and no program is compiled."""

from __future__ import annotations

import functools
import weakref
from typing import Any, Dict, List, Mapping, Sequence, Tuple

import jax
import numpy
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from .._arrays import _jax_arrays  # noqa: F401: from now on JAX's arrays of the CPU are described by their attributes
from .._c._fields import CPU, PARAM
from .._c._lists import listing_of
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
    _check_known(pipeline, plan)
    names = [name for name, value in plan.values.items() if isinstance(value, jax.Array)]
    results = _sums.bind(*[plan.values[name] for name in names], of=_Sums(plan, names), axes=0)
    return plan.handed_out(results)


def _check_known(pipeline: Any, plan: Call) -> None:
    """Raises what the call would raise for arrays of these shapes and types: errors of the compiled program come without a
    line of the caller's. The arrays are stood in for by a zero that is repeated."""
    family, options = pipeline._family, plan.options
    family.options.changed(options.get("precision"), options.get("math"), options.get("root"))
    family.search.changed(options.get("pairs"), options.get("skin"), options.get("tolerance"))
    given = [options.get(name) for name in ("lists", "batches", "listed_pairs", "exclusions")]
    listing = None if all(one is None for one in given) else listing_of(family.name, *given)
    values = [
        numpy.broadcast_to(numpy.zeros((), value.dtype), value.shape) if isinstance(value, jax.Array) else value
        for value in (plan.values[name] for name in family.arguments)
    ]
    by_field = dict(zip(family.arguments.values(), values))
    values = [by_field.get(k) for k in range(len(family.fields))]
    inputs = pipeline._inputs(values, CPU, None, options.get("ni"), options.get("nj"), listing)
    pipeline._params(values, None if listing is None else listing.groups)
    if listing is not None and inputs.nj is not None:
        listing.check(family.name, CPU, inputs.nj)


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


# ---- the primitives --------------------------------------------------------------------------------------------------
#
# `_sums` is a call; its arguments are the arrays among the fields, its results `Call.outputs`. `_rates` is its derivative
# in forward mode, which is linear in the rates of arguments; JAX differentiates in reverse mode by transposing it. Both
# have as parameters the call (`of`) and the number of axes in front of all arrays and results, over which jax.vmap maps.


class _Sums:
    """A call whose arrays are the arguments of a primitive."""

    def __init__(self, plan: Call, names: List[str]) -> None:
        self.plan, self.names = plan, names
        self.reals = [field for field in plan.outputs if not field.integral]

    @functools.cached_property
    def handle(self) -> Tuple[str, List[Held]]:
        """The attribute of the custom call, and the objects that it names, which must outlive the programs with it."""
        return _handle_of(self.plan, self.names)

    def shapes(self, values: Sequence[Any], axes: int) -> List[Any]:
        make: Any = jax.ShapeDtypeStruct  # has no types
        of_one = [make(value.shape[axes:], value.dtype) for value in values]
        shapes = results_of(self.plan, {**self.plan.values, **dict(zip(self.names, of_one))})
        front = values[0].shape[:axes]
        return [make((*front, *shape), jax.dtypes.canonicalize_dtype(dtype)) for shape, dtype in shapes]

    def run(self, values: Sequence[Any], axes: int) -> List[Any]:
        results = tuple(self.shapes(values, axes))
        sums = ffi.ffi_call(custom_call(), results, vmap_method="broadcast_all")
        return list(sums(*values, call=self.handle[0]))

    def run_now(self, values: Sequence[Any]) -> List[Any]:
        """The results for arrays of which each lies on one device."""
        known = {
            name: value.tolist() if self.plan.field(name).role == PARAM else value
            for name, value in zip(self.names, values)
        }
        made = zip(self.plan.run(known), self.shapes(values, 0))
        return [jax.numpy.asarray(one, like.dtype) for one, like in made]

    def _known(self, values: Sequence[Any], results: Sequence[Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        arrays = map(jax.numpy.asarray, values)  # jax.grad leaves a Python number one
        return dict(zip(self.names, arrays)), {f.name: one for f, one in zip(self.plan.outputs, results)}

    def rates(self, moving: Sequence[int], values: Sequence[Any], results: Sequence[Any], rates: Sequence[Any]) -> List[Any]:
        """The rates of `reals`. moving: the indices of the values that have one."""
        known, found = self._known(values, results)
        made = self.plan.tangents(known, found, {self.names[k]: rate for k, rate in zip(moving, rates)})
        rates = [jax.numpy.asarray(made[field.name]) for field in self.reals]
        rates = [_as_complex(one) if field.is_complex else one for field, one in zip(self.reals, rates)]
        return [one.astype(found[field.name].dtype) for field, one in zip(self.reals, rates)]

    def gradients(
        self, by: Sequence[int], values: Sequence[Any], results: Sequence[Any], adjoints: Mapping[str, Any]
    ) -> List[Any]:
        """The derivatives by the values with these indices."""
        known, found = self._known(values, results)
        # JAX's derivative by a complex number is the conjugate of nbcc's and PyTorch's.
        adjoints = {name: jax.numpy.conj(adjoint) for name, adjoint in adjoints.items()}
        names = [self.names[k] for k in by]
        is_mapped = any(map(_is_mapped, (*values, *adjoints.values())))
        gradients = self.plan.gradients(known, found, adjoints, names, is_mapped)
        made = []
        for name in names:
            like = known[name]
            if name not in gradients:  # counted to its partner
                made.append(jax.numpy.zeros_like(like))
                continue
            one = gradient_of(self.plan, name, jax.numpy.asarray(gradients[name]), like, _by_group, _conjugate)
            made.append(one.astype(like.dtype))
        return made


def _mapped(function: Any, axes: int) -> Any:
    for _ in range(axes):
        function = jax.vmap(function)
    return function


def _in_front(values: Sequence[Any], axes: Sequence[Any]) -> List[Any]:
    """All values with the axis of a map in front."""
    size = next(value.shape[axis] for value, axis in zip(values, axes) if axis is not None)
    return [
        jax.numpy.broadcast_to(value, (size, *jax.numpy.shape(value))) if axis is None else jax.numpy.moveaxis(value, axis, 0)
        for value, axis in zip(values, axes)
    ]


def _run_sums(*values: Any, of: _Sums, axes: int) -> List[Any]:
    return of.run(values, axes)


def _run_sums_now(*values: Any, of: _Sums, axes: int) -> List[Any]:
    values = tuple(map(jax.numpy.asarray, values))
    if axes == 0 and all(len(value.devices()) == 1 for value in values):
        return of.run_now(values)
    # The program of one custom call does not keep the objects that the handle names.
    return [one.block_until_ready() for one in of.run(values, axes)]


def _lower_sums(ctx: Any, *values: Any, of: _Sums, axes: int) -> Any:
    for held in of.handle[1]:
        ctx.module_context.add_keepalive(held)
    return mlir.lower_fun(_run_sums, multiple_results=True)(ctx, *values, of=of, axes=axes)


def _run_rates(*arguments: Any, of: _Sums, moving: Tuple[int, ...], axes: int) -> List[Any]:
    def rates(*arguments: Any) -> List[Any]:
        return of.rates(moving, *_parts(of, arguments))

    return list(_mapped(rates, axes)(*arguments))


def _parts(of: _Sums, arguments: Sequence[Any]) -> Tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
    """values, results and rates."""
    first, last = len(of.names), len(of.names) + len(of.plan.outputs)
    return arguments[:first], arguments[first:last], arguments[last:]


def _differentiate_sums(values: Sequence[Any], rates: Sequence[Any], *, of: _Sums, axes: int) -> Tuple[Any, Any]:
    of.plan.check_derivatives()
    results = _sums.bind(*values, of=of, axes=axes)
    moving = tuple(k for k, rate in enumerate(rates) if not isinstance(rate, ad.Zero))
    found = iter(_rates.bind(*values, *results, *(rates[k] for k in moving), of=of, moving=moving, axes=axes))
    return results, [_no_rate(one) if f.integral else next(found) for f, one in zip(of.plan.outputs, results)]


def _no_rate(integers: Any) -> Any:
    return ad.Zero(jax.core.ShapedArray(integers.shape, jax.dtypes.float0))


def _differentiate_rates(arguments: Sequence[Any], rates: Sequence[Any], **params: Any) -> Tuple[Any, Any]:
    moving = [k for k, rate in enumerate(rates) if not isinstance(rate, ad.Zero)]

    def run(*some: Any) -> List[Any]:
        changed = dict(zip(moving, some))
        return _run_rates(*(changed.get(k, argument) for k, argument in enumerate(arguments)), **params)

    return jax.jvp(run, [arguments[k] for k in moving], [rates[k] for k in moving])


def _transpose_rates(
    adjoints: Sequence[Any], *arguments: Any, of: _Sums, moving: Tuple[int, ...], axes: int
) -> List[Any]:
    values, results, rates = _parts(of, arguments)
    unknown = [(k, rate.aval) for k, rate in zip(moving, rates) if isinstance(rate, ad.UndefinedPrimal)]
    given = {field.name: one for field, one in zip(of.reals, adjoints) if not isinstance(one, ad.Zero)}

    def gradients(values: Sequence[Any], results: Sequence[Any], given: Mapping[str, Any]) -> List[Any]:
        return of.gradients([k for k, _ in unknown], values, results, given)

    made = _mapped(gradients, axes)(values, results, given) if given else [ad.Zero(aval) for _, aval in unknown]
    found = iter(made)
    of_rates = [next(found) if isinstance(rate, ad.UndefinedPrimal) else None for rate in rates]
    return [*[None] * (len(values) + len(results)), *of_rates]


def _primitive(name: str, run: Any, shapes: Any, differentiate: Any) -> Any:
    made: Any = Primitive(name)
    made.multiple_results = True
    made.def_impl(lambda *values, **params: run(*map(jax.numpy.asarray, values), **params))
    made.def_abstract_eval(shapes)
    mlir.register_lowering(made, mlir.lower_fun(run, multiple_results=True))
    ad.primitive_jvps[made] = differentiate

    def map_over(values: Sequence[Any], dims: Sequence[Any], *, axes: int, **params: Any) -> Tuple[Any, Any]:
        results = made.bind(*_in_front(values, dims), axes=axes + 1, **params)
        return results, [0] * len(results)

    batching.primitive_batchers[made] = map_over
    return made


def _shapes_of_sums(*values: Any, of: _Sums, axes: int) -> List[Any]:
    return [jax.core.ShapedArray(one.shape, one.dtype) for one in of.shapes(values, axes)]


def _shapes_of_rates(*arguments: Any, of: _Sums, moving: Tuple[int, ...], axes: int) -> List[Any]:
    results = zip(of.plan.outputs, _parts(of, arguments)[1])
    return [jax.core.ShapedArray(one.shape, one.dtype) for field, one in results if not field.integral]


_sums = _primitive("nbcc_sums", _run_sums, _shapes_of_sums, _differentiate_sums)
_rates = _primitive("nbcc_rates", _run_rates, _shapes_of_rates, _differentiate_rates)
_sums.def_impl(_run_sums_now)
mlir.register_lowering(_sums, _lower_sums)
ad.primitive_transposes[_rates] = _transpose_rates


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
    return jax.lax.complex(pairs[..., 0], pairs[..., 1])


def _conjugate(pairs: Any) -> Any:
    return jax.numpy.conj(_as_complex(pairs))


def _handle_of(plan: Call, names: List[str]) -> Tuple[str, List[Held]]:
    kept: List[Held] = []
    words = [word(name, None, False, ARRAY, k) for k, name in enumerate(names)]
    others = [(name, False, value) for name, value in plan.values.items() if name not in names]
    others += [(name, True, value) for name, value in plan.options.items()]
    others.append(("outputs", True, [field.name for field in plan.wanted]))
    for name, is_option, value in others:
        if is_constant(value):
            words.append(word(name, None, is_option, VALUE, value))
        elif value is not None:
            key = _identity(value)
            kept.append(_kept.get(key) or _kept.setdefault(key, Held(value)))
            words.append(word(name, None, is_option, HELD, kept[-1].number))
    return handle_of(plan.pipeline._key, words), kept


# The same value is held once, and makes the same string.
_kept: "weakref.WeakValueDictionary[Any, Held]" = weakref.WeakValueDictionary()


def _identity(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(map(_identity, value))
    if isinstance(value, numpy.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return value if isinstance(value, (bool, int, float, complex, str, bytes, type(None))) else (type(value), id(value))
