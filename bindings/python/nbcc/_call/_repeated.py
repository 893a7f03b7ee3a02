"""Calls of a kind that was seen before: the same arguments by name, with arrays of the same types, shapes, strides and
devices, and the same options. The checks of the first call of a kind hold for all later ones, which differ in addresses
and in the values of params only. Entry points: `kind_of` and `Kinds`, the kinds of a pipeline's calls.

Calls with other arguments than plain arrays, numbers and `Rows`, such as lists, progress functions and arrays that are not
described by a few attributes (`_arrays._repeatable`), have no kind, and are checked each time."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .._arrays._arrays import numpy
from .._arrays._repeatable import CONVERTERS, REPEATABLE, StreamOf, add_type
from .._arrays._results import Result
from .._arrays._streams import Order
from .._c import _library
from .._c._fields import Field, Search
from .._c._handles import Kernel, View
from .._c._lists import Rows

_NUMBERS = frozenset((float, int, *((numpy.float32, numpy.float64) if numpy else ())))
_CONSTANTS = frozenset((str, int, float, bool, type(None)))
_MAX_KINDS = 64  # then the kind that was learned first is forgotten
_NOT_AN_ARRAY: Any = (None, -1)


class CallArguments(NamedTuple):
    """The arguments of a call that has a kind."""

    key: Tuple[Any, ...]
    values: List[Any]  # for each argument, and then each array of `out`: the address of an array, or a number
    of_arrays: List[Any]  # their keys, see _repeatable; (None, -1): no array
    out: List[Any]
    rows: Dict[str, Rows]  # options that list pairs


def kind_of(arrays: Sequence[Any], fields: Mapping[str, Any], options: Mapping[str, Any]) -> Optional[CallArguments]:
    """None: a call that has no kind."""
    values: List[Any] = []
    of_arrays: List[Any] = []
    out: List[Any] = []
    names: Any = None  # of a dict `out`
    others: List[Any] = []
    rows: Dict[str, Rows] = {}
    for name, value in options.items():
        kind = type(value)
        if name == "out" and value is not None:
            names = tuple(value) if kind is dict else kind if kind in (tuple, list) else None
            out = list(value.values()) if kind is dict else list(value) if kind in (tuple, list) else [value]
        elif kind in _CONSTANTS and (name != "progress" or not value):
            others.append((name, kind, value))
        elif name == "outputs" and kind in (tuple, list) and all(type(one) is str for one in value):
            others.append((name, *value))
        elif kind is Rows:
            rows[name] = value
            others.append((name, kind, value._kind))
        else:
            return None
    for value in (*arrays, *fields.values(), *out):
        kind = type(value)
        known = REPEATABLE.get(kind)
        if known is None:
            if kind in _NUMBERS or (kind in (tuple, list) and all(type(one) in _NUMBERS for one in value)):
                values.append(value)
                of_arrays.append(_NOT_AN_ARRAY)
                continue
            known = add_type(kind)
            if known is None:
                return None
        found = known.read(value)
        if found is None:
            return None
        values.append(found[0])
        of_arrays.append(found[1])
    key = (len(arrays), names, len(out), *fields, *of_arrays, *others)
    return CallArguments(key, values, of_arrays, out, rows)


class ResultKind(NamedTuple):
    """make: a function that makes a new array and gives its address; None: an array of `out`. convert: of `Result`."""

    field: int
    argument: int  # its index; -1: none
    rest: Any
    make: Optional[Callable[[], Tuple[Any, int]]] = None
    convert: Optional[Callable[[Any], Any]] = None


class Kind(NamedTuple):
    """What holds for all calls of a kind. A rest is all of a view but the address; an index is that of an argument."""

    kernel: Kernel
    precision: str
    device: str
    ni: Optional[int]
    nj: Optional[int]
    search: Search
    offsets: Tuple[int, int]
    accumulate: bool
    clamp: bool
    inputs: List[Tuple[int, Field, int, Any]]  # field, index, rest
    params: List[Tuple[int, Field, int, Any]]  # field, index, value; index -1: the value is not given by calls
    results: List[ResultKind]
    stream: Optional[int]  # the option
    stream_of: Optional[StreamOf]
    ordinal: int

    def order(self) -> Optional[Order]:
        """None: the arrays' library works in another stream than the call is to use, which must wait."""
        made = Order(self.stream)
        if self.stream_of is not None:
            current = self.stream_of(self.ordinal)
            if self.stream is None:
                made.stream = current
            elif self.stream != current:
                return None
        return made

    def results_for(self, arguments: CallArguments) -> List[Tuple[int, Result, View]]:
        made: List[Tuple[int, Result, View]] = []
        first = len(arguments.values) - len(arguments.out)
        for k, index, rest, make, convert in self.results:
            if make is None:
                made.append((k, Result(arguments.out[index - first], is_new=False), (arguments.values[index], *rest)))
            else:
                value, address = make()
                made.append((k, Result(value, convert), (address, *rest)))
        return made


class Kinds:
    """The kinds of a pipeline's calls."""

    def __init__(self) -> None:
        # In the order in which they were learned: an order of use would cost each call a second hash of its key.
        self._known: Dict[Tuple[Any, ...], Kind] = {}

    def find(self, arguments: CallArguments) -> Optional[Kind]:
        found = self._known.get(arguments.key)
        return found if found is not None and found.kernel.generation == _library.generation else None

    def learn(
        self,
        arguments: CallArguments,
        indices: Sequence[int],
        views: Sequence[Tuple[int, Field, View]],
        params: Sequence[Tuple[Tuple[int, Any], Field]],
        results: Sequence[Tuple[int, Result, View]],
        **decided: Any,
    ) -> None:
        """After a first call. indices: of fields, the index of its argument or -1."""
        inputs, given = [], []
        made: List[ResultKind] = []
        for k, field, view in views:
            index = indices[k]
            if index < 0 or arguments.of_arrays[index] is _NOT_AN_ARRAY or arguments.values[index] != view[0]:
                return
            inputs.append((k, field, index, view[1:]))
        for (k, value), field in params:
            if indices[k] >= 0 and arguments.of_arrays[indices[k]] is not _NOT_AN_ARRAY:
                return  # the numbers of an array may change
            given.append((k, field, indices[k], value))
        first = len(arguments.values) - len(arguments.out)
        for k, result, view in results:
            if view[2] == 0:  # an array without elements may have no address
                return
            if result.is_new:
                known = REPEATABLE.get(type(result.value))
                convert = None if result.convert is None else CONVERTERS.get(result.convert)
                if known is None or known.another is None or (result.convert and not convert) or result.wait:
                    return
                made.append(ResultKind(k, -1, view[1:], known.another(result.value), convert))
            else:
                index = first + next((at for at, one in enumerate(arguments.out) if one is result.value), 0)
                if arguments.out[index - first] is not result.value or arguments.values[index] != view[0]:
                    return
                made.append(ResultKind(k, index, view[1:]))
        streams = {(one[0], one[1]) for one in arguments.of_arrays if one[0] is not None}
        if len(streams) > 1:
            return
        stream_of, ordinal = next(iter(streams)) if streams else (None, -1)
        self._known[arguments.key] = Kind(
            inputs=inputs, params=given, results=made, stream_of=stream_of, ordinal=ordinal, **decided
        )
        for key in list(self._known)[:-_MAX_KINDS]:
            self._known.pop(key, None)  # another thread may have done so
