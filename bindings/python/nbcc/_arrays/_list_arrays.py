"""Converts the arrays of lists of pairs to contiguous int64 or float64, with errors that name the argument."""

from __future__ import annotations

import array
import ctypes
import math
from typing import Any, Optional, Tuple

from . import _arrays
from ._arrays import CPU, DOUBLE, INT64, Array, cast_to_write, describe, ndarray
from ._dlpack import contiguous
from ._numbers import as_doubles, read, shown, what_is_wrong
from ._results import of_host
from ._streams import LEGACY, Order


def _described(what: str, value: Any, order: Order) -> Array:
    try:
        return describe(value, order)
    except TypeError as error:
        raise TypeError(f"{what}: {error}") from error


def _check_is_int64(what: str, one: int) -> None:
    if not -(2**63) <= one < 2**63:
        raise ValueError(f"{what}: expected integers that int64 holds, got {shown(one)}")


def whole_numbers(what: str, value: Any, order: Optional[Order] = None) -> Array:
    """Contiguous int64, from integers of any type whose values int64 can hold; host arrays are copied if necessary.
    order: of the run; None: the array is read in the legacy stream, as all lists are."""
    order = order or Order(LEGACY)
    if isinstance(value, range):
        for one in (*value[:1], *value[-1:]):
            _check_is_int64(what, one)
        value = array.array("q", value)
    if isinstance(value, (list, tuple)):
        for one in value:
            if isinstance(one, bool) or type(one).__name__ in ("bool_", "bool"):
                raise TypeError(f"{what}: expected integers, got a list with a bool in it")
            if isinstance(one, int):
                _check_is_int64(what, one)
    found = _described(what, value, order)
    if len(found.shape) != 1:
        raise ValueError(f"{what}: expected shape (N,), got {found.shape}")
    if found.shape == (0,):  # an empty list has no type, and a null pointer would mean that there is no array
        return describe(array.array("q"), order)
    if found.element == INT64 and (found.strides == (8,) or found.shape == (1,)):
        return found
    cast = cast_to_write(found, "i8")
    if found.device != CPU:
        raise TypeError(f"{what}: expected contiguous int64, got {found.dtype} with strides {found.strides}{cast}")
    copied: Any = None
    if _arrays.numpy is not None and found.library != "builtins":
        made = _arrays.numpy.asarray(value)
        if made.dtype.kind == "u" and made.dtype.itemsize == 8 and int(made.max()) >= 2**63:
            raise ValueError(f"{what}: expected integers that int64 holds, got {int(made.max())}")
        if made.dtype.kind in "iu":
            copied = _arrays.numpy.ascontiguousarray(made, "int64")
    elif found.library != "builtins" or isinstance(value, (array.array, memoryview, bytes, bytearray)):
        try:
            buffer: Any = value
            copied = array.array("q", memoryview(buffer))
        except (TypeError, NotImplementedError):
            pass
        except OverflowError:
            raise ValueError(f"{what}: expected integers that int64 holds, got {max(value)}") from None
    if copied is None:
        raise TypeError(f"{what}: expected integers, got {found.dtype}{cast}")
    return describe(copied, order)


def real_numbers(what: str, value: Any) -> Array:
    """Contiguous float64; copied if necessary."""
    found = _described(what, value, Order(LEGACY))
    if found.element == DOUBLE and (found.strides == contiguous(found.shape, 8) or 0 in found.shape):
        return found
    if found.device != CPU:
        cast = cast_to_write(found, "f8")
        raise TypeError(f"{what}: expected contiguous float64, got {found.dtype} with strides {found.strides}{cast}")
    try:
        return describe(doubles_of(value), Order(LEGACY))._replace(shape=found.shape)
    except TypeError as error:
        raise TypeError(f"{what}: {error}") from None


def read_only_copy(found: Array) -> Tuple[Any, Array]:
    """A read-only copy of a contiguous host array with elements of 8 bytes."""
    result, where = of_host(found.shape, found.element)
    ctypes.memmove(where.pointer, found.pointer, 8 * math.prod(found.shape))
    if isinstance(result.value, ndarray):
        result.value.setflags(write=False)
        return result.value, where
    return memoryview(result.value).toreadonly(), where


def doubles_of(value: Any, is_bool: bool = False) -> Any:
    """A new flat array of all numbers, in row-major order. Raises TypeError."""
    if type(value) is ndarray and not is_bool:
        if value.dtype.kind not in "iuf":
            raise TypeError(f"expected numbers, got {value.dtype}{cast_to_write(describe(value, Order(LEGACY)), 'f8')}")
        return _arrays.numpy.array(value, "float64").ravel()
    try:
        return array.array("d", as_doubles(read(value, is_bool).values))
    except TypeError as error:
        raise TypeError(what_is_wrong(value, error)) from None


def int64_view(found: Array) -> Any:
    """A ctypes array over a CPU array of int64, without a copy."""
    return (ctypes.c_int64 * found.shape[0]).from_address(found.pointer)
