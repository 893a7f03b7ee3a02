"""Describes JAX's arrays of the CPU by their attributes, which takes 3 us where DLPack takes 25. Only imported where JAX is;
`_arrays.describe` and `_repeatable.REPEATABLE` use it from then on. Arrays of a GPU need DLPack, by which JAX makes the run's
stream wait for its own."""

from __future__ import annotations

import functools
from typing import Any, Callable, Optional, Tuple

import jax

from . import _arrays, _repeatable
from ._arrays import COMPLEX_NAMES, CPU, ELEMENT_NAMES, ELEMENT_SIZES, Array
from ._dlpack import contiguous
from ._streams import Order

# element, name and bytes of a number; complex numbers are no elements, see _arrays.in_pairs.
_TYPES = {
    **{name: (k, name, ELEMENT_SIZES[k]) for k, name in enumerate(ELEMENT_NAMES)},
    **{name: (-1, name, size) for name, size in zip(COMPLEX_NAMES, (8, 16))},
}


@functools.lru_cache(None)
def _type_of(dtype: Any) -> Optional[Tuple[int, str, int]]:
    return _TYPES.get(str(dtype))


def _address_of(value: Any) -> int:
    """Of a row-major array with elements in the memory of one CPU device, which is ready; 0: another kind of array."""
    try:
        if getattr(value.device, "platform", "") != "cpu":  # of several devices: a sharding
            return 0
        order = value.format.layout.major_to_minor
        if order != _ROW_MAJOR[len(order)]:
            return 0
        return int(value.block_until_ready().unsafe_buffer_pointer())
    except (AttributeError, IndexError, RuntimeError, TypeError):  # JAX before 0.7; a deleted array
        return 0


_ROW_MAJOR = [tuple(range(rank)) for rank in range(9)]


def _described(value: Any, order: Order) -> Optional[Array]:
    """None: an array that DLPack reads, or of which it gives the reason why it cannot be read."""
    known, address = _type_of(value.dtype), _address_of(value)
    if known is None or address == 0:
        return None
    element, name, size = known
    return Array(address, element, name, value.shape, contiguous(value.shape, size), True, CPU, "jax", value)


def _of_array(value: Any) -> Optional[Tuple[int, _repeatable.Key]]:
    address = _address_of(value)
    return (address, (None, -1, jax.Array, value.dtype, value.shape, None)) if address else None


# An array of NumPy as one of JAX, in 7 us where jax.numpy.asarray takes 45. XLA compiles it for each shape, in 20 ms, as it
# does an operation on arrays of that shape.
_as_array: Callable[[Any], Any] = jax.jit(lambda value: value)


def _attributes(kind: type) -> Optional[_repeatable.Attributes]:
    """Of the type of arrays that have their numbers; None: another type, also that of a tracer."""
    if kind.__name__ != "ArrayImpl" or not issubclass(kind, jax.Array):
        return None
    _arrays.READERS[kind] = _described
    return _repeatable.Attributes(_of_array, None)


_repeatable.LIBRARIES.append(_attributes)
_repeatable.CONVERTERS[jax.numpy.asarray] = _as_array
