"""Arrays of which a few attributes tell all that a call checks, besides the address. Entry points: `REPEATABLE`, by exact
type, and `Attributes`.

A key has the function that gives the library's current stream on a GPU, or None; the number of the GPU, or -1; and the
attributes."""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from ._arrays import Array, address_of_numpy, ndarray
from ._streams import LEGACY

StreamOf = Callable[[int], int]
Key = Tuple[Optional[StreamOf], int, Any, Any, Any, Any]


class Attributes(NamedTuple):
    # (address, key) of an array; None: an array that needs more than its attributes.
    read: Callable[[Any], Optional[Tuple[int, Key]]]
    # From a new result: a function that makes another one, and gives its address. None: results are made otherwise.
    another: Optional[Callable[[Any], Callable[[], Tuple[Any, int]]]]


def _of_numpy(value: Any) -> Optional[Tuple[int, Key]]:
    address = address_of_numpy(value)
    return (address, (None, -1, ndarray, value.dtype, value.shape, value.strides)) if address else None


def _another_numpy(value: Any) -> Callable[[], Tuple[Any, int]]:
    shape, dtype, empty = value.shape, value.dtype, sys.modules["numpy"].empty

    def make() -> Tuple[Any, int]:
        made = empty(shape, dtype)
        return made, address_of_numpy(made)

    return make


def _of_array(value: Array) -> Tuple[int, Key]:
    """Of XLA's arrays. A call with them has the option `stream`."""
    ordinal = -1 if value.device == "cpu" else int(value.device[5:])
    kind = (value.element, value.dtype, value.readonly, value.library)
    return value.pointer, (None, ordinal, Array, kind, value.shape, value.strides)


def _cupy_stream(ordinal: int) -> int:
    cupy = sys.modules["cupy"]
    if cupy.cuda.runtime.getDevice() != ordinal:
        with cupy.cuda.Device(ordinal):
            return _cupy_stream(ordinal)
    return int(cupy.cuda.get_current_stream().ptr) or LEGACY


def _of_cupy(value: Any) -> Tuple[int, Key]:
    kind = type(value)
    return value.data.ptr, (_cupy_stream, value.device.id, kind, value.dtype, value.shape, value.strides)


def _another_cupy(value: Any) -> Callable[[], Tuple[Any, int]]:
    cupy, shape, dtype, device = sys.modules["cupy"], value.shape, value.dtype, value.device

    def make() -> Tuple[Any, int]:
        with device:
            made = cupy.empty(shape, dtype)
        return made, made.data.ptr

    return make


REPEATABLE: Dict[type, Attributes] = {ndarray: Attributes(_of_numpy, _another_numpy), Array: Attributes(_of_array, None)}


# Functions `Result.convert`, and faster ones that calls of a kind that was seen before use in their place.
CONVERTERS: Dict[Callable[[Any], Any], Callable[[Any], Any]] = {}


def _cupy_arrays(kind: type) -> Optional[Attributes]:
    cupy = sys.modules.get("cupy")
    return Attributes(_of_cupy, _another_cupy) if cupy is not None and kind is cupy.ndarray else None


# Functions that know the types of a library which may not be imported, or whose type of arrays is no public name.
LIBRARIES: List[Callable[[type], Optional[Attributes]]] = [_cupy_arrays]


def add_type(kind: type) -> Optional[Attributes]:
    """The row of a library's type of arrays, which is added to the table; None: another type."""
    found = next(filter(None, (library(kind) for library in LIBRARIES)), None)
    return None if found is None else REPEATABLE.setdefault(kind, found)
