"""Calls that a framework traces and runs later, perhaps in another process: what `_torch` and `_jax` share.

The handle of such a call, an argument of the frameworks' operators, is a Python literal, which each process reads once
(`read`): the identity of the pipeline (`_opened`), and a tuple for each argument, or for each element of one, which
`word` writes: (name, element, is it an option?, kind, value). The kinds are

    ARRAY   the number of one of the operator's arrays
    VALUE   a constant
    RATIO   a number as a ratio of two integers
    HELD    the number of a Python object that this process holds (`Held`)

Because the handle holds the call and not a number of it, equal handles mean equal calls in all processes: PyTorch and JAX
keep compiled programs on disk, and torch.export.save writes programs to be loaded elsewhere. Only calls with HELD objects
are bound to their process."""

from __future__ import annotations

import ast
import functools
import weakref
from typing import Any, Callable, Collection, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .._arrays._numbers import shape_of
from .._c._fields import EQUAL, INPUT_I, INPUT_J, PARAM, UNUSED
from .._c._lists import listed_count
from .._call._adjoint import Call
from ._opened import opened_again

ARRAY, VALUE, RATIO, HELD = "array", "value", "ratio", "held"
# Outputs that hold the j_index, which in a batch is that in the joined arrays.
OF_INDICES = ("argmin", "argmax")
# The systems of a map cannot be batches of one call that has one of these options.
_NOT_IN_BATCHES = ("lists", "batches", "listed_pairs", "exclusions", "i", "ni", "nj", "i_offset", "j_offset")


def is_constant(value: Any) -> bool:
    """Whether the repr() of a value is a literal with all of it. Infinity and NaN have none."""
    if type(value) in (list, tuple):
        return all(map(is_constant, value))
    return type(value) in (bool, int, str) or (type(value) is float and value - value == 0)


class Held:
    """An argument that is neither an array nor a constant; known as long as something refers to this object."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.number = next(_numbers)
        _held[self.number] = self


_held: "weakref.WeakValueDictionary[int, Held]" = weakref.WeakValueDictionary()
_numbers = iter(range(1, 2**62))


def word(name: str, element: Optional[int], is_option: bool, kind: str, value: Any) -> str:
    """The literal of an `Argument`; torch.compile traces this function."""
    return f"({name!r}, {element}, {is_option}, {kind!r}, {value!r})"


def handle_of(key: str, words: Sequence[str]) -> str:
    """key: Pipeline._key."""
    return f"({key}, ({''.join([one + ', ' for one in words])}))"


class Argument(NamedTuple):
    name: str
    element: Optional[int]  # of a tuple; None: the entire argument
    is_option: bool
    kind: str
    value: Any


@functools.lru_cache(512)
def read(handle: str) -> Tuple[Any, Tuple[Argument, ...]]:
    """The pipeline's identity, and the arguments."""
    identity, words = ast.literal_eval(handle)
    arguments = []
    for one in (Argument(*found) for found in words):
        if one.kind == RATIO:
            above, below = one.value
            one = one._replace(kind=VALUE, value=above if below == 1 else above / below)
        arguments.append(one)
    return identity, tuple(arguments)


class TracedCall:
    """What the handle of a call says."""

    def __init__(self, handle: str) -> None:
        identity, self.arguments = read(handle)
        self.pipeline = opened_again(identity)
        self.held: List[Held] = []
        if any(one.kind == HELD for one in self.arguments):
            self.arguments = tuple(map(self._resolved, self.arguments))
        # The numbers of the arrays that are fields. An array of options has none.
        self.at = {one.name: one.value for one in self.arguments if one.kind == ARRAY and not one.is_option}

    def _resolved(self, one: Argument) -> Argument:
        if one.kind != HELD:
            return one
        held = _held.get(one.value)
        if held is None:
            raise RuntimeError(f"{self.pipeline.name}(): '{one.name}' of this call is not known in this process")
        self.held.append(held)
        return one._replace(kind=VALUE, value=held.value)

    def option(self, name: str) -> Any:
        """The value of an option that is no array; None: not given."""
        return next((one.value for one in self.arguments if one.is_option and one.name == name), None)

    def plan(self, arrays: Sequence[Any], **more: Any) -> Call:
        """The call with these arrays, and with more options."""
        fields: Dict[str, Any] = {}
        options: Dict[str, Any] = {}
        for name, element, is_option, kind, value in self.arguments:
            values = options if is_option else fields
            one = arrays[value] if kind == ARRAY else value
            values[name] = one if element is None else (*values.get(name, ()), one)
        return Call(self.pipeline, (), fields, {**options, **more})

    def can_be_batches(self, plan: Call, lengths: Mapping[str, int], mapped: Collection[str]) -> bool:
        """Whether several systems can be batches of one call: where no result depends on the place of a particle in the
        arrays. plan: the call of one system. lengths: the numbers of particles of a system, by role. mapped: the params
        that differ from system to system."""
        family = self.pipeline._family
        if any(one.is_option and one.name in _NOT_IN_BATCHES for one in self.arguments):
            return False
        if any(field.total for field in plan.outputs) or lengths.keys() != {INPUT_I, INPUT_J}:
            return False
        if any(field.name not in self.at for _, field in family.inputs):
            return False
        # Of batches params may be numbers and vectors of real numbers, and no arrays.
        if any(field.components > field.width or field.is_complex for _, field in family.params if field.name in mapped):
            return False
        return family.index_use == UNUSED or (family.index_use == EQUAL and lengths[INPUT_I] == lengths[INPUT_J])


def results_of(plan: Call, values: Mapping[str, Any]) -> List[Tuple[Tuple[int, ...], str]]:
    """Shape and type of each of `plan.outputs`. values: those of fields, by name."""
    inputs = {name: value for name, value in values.items() if plan.field(name).role != PARAM}
    ni = plan.options.get("ni")
    for name, value in inputs.items():
        if plan.field(name).role == INPUT_I:
            ni = shape_of(value)[0]
    if ni is None:
        raise TypeError(f"{plan.pipeline.name}() has no input_i: ni= must tell the number of i-particles")
    is_single, pairs = plan.is_single(inputs.values()), listed_count(plan.options)
    found: List[Tuple[Tuple[int, ...], str]] = []
    for field in plan.outputs:
        real, paired = ("float32", "complex64") if is_single and not field.total else ("float64", "complex128")
        shape = field.shape if field.total else (field.rows(ni, pairs), *field.shape)
        found.append((shape, "int64" if field.integral else paired if field.is_complex else real))
    return found


def gradient_of(
    plan: Call,
    name: str,
    gradient: Any,
    like: Any,
    by_group: Callable[[Any, Any, int], Any],
    as_complex: Callable[[Any], Any],
) -> Any:
    """A derivative as `Call.gradients` gives it, in the shape of the field's value. By a param by group it has a row for
    each i. by_group: (rows, group of each row, number of groups) -> the rows' sums by group. as_complex: of an array with
    an axis of length 2."""
    field = plan.field(name)
    if plan.by_group(name):
        gradient = by_group(gradient, plan.group_of_i(), like.shape[0])
    if "complex" in str(like.dtype):
        return as_complex(gradient.reshape(*like.shape, 2))
    if field.is_complex and field.role == PARAM:  # given as real numbers
        gradient = gradient[..., 0]
    return gradient.reshape(like.shape)
