"""A param's value, a number or an array of numbers of whatever library, nested lists among them -> floats, and their
shape. The doors are `read` and `is_shape_of`.
"""

from __future__ import annotations

import numbers
import sys
from typing import Any, List, NamedTuple, Optional, Sequence, Set, Tuple, Union


class Numbers(NamedTuple):
    shape: Tuple[int, ...]
    values: Sequence[Union[int, float]]  # row-major


def read(value: Any, is_bool: bool = False) -> Numbers:
    """Raises TypeError for what is no real number. is_bool: truth values are numbers."""
    kind = type(value)
    if kind is float or kind is int:
        return Numbers((), (value,))
    values: List[Union[int, float]] = []
    return Numbers(_read(value, is_bool, values), values)


def what_is_wrong(value: Any, error: TypeError) -> str:
    """The message of an error of `read`, with what the value is if it does not say that."""
    message = str(error)
    return message if message.startswith("expected") else f"expected numbers, got {type(value).__name__}: {message}"


def as_doubles(values: Sequence[Union[int, float]]) -> Tuple[float, ...]:
    """Raises TypeError for a number that no double is near."""
    try:
        return tuple(map(float, values))
    except OverflowError as error:
        raise TypeError(str(error)) from None


def shape_of(value: Any) -> Tuple[int, ...]:
    """Of a list, as its first rows tell it."""
    shape: Optional[Sequence[int]] = getattr(value, "shape", None)
    if shape is not None and not isinstance(value, type):
        return tuple(shape)
    if isinstance(value, (list, tuple)):
        return (len(value), *(shape_of(value[0]) if value else ()))
    return (len(value),) if type(value).__module__ == "array" else ()


def is_shape_of(found: Sequence[int], declared: Sequence[int]) -> bool:
    """Whether an array of this shape is one of the declared shape, its axes in their order: neighbouring axes may be
    merged into one, or an axis be split into several, but not both; axes of length 1 count for nothing.

    >>> is_shape_of((6,), (2, 3)), is_shape_of((3, 3, 27), (9, 27)), is_shape_of((3, 2), (2, 3))
    (True, True, False)
    """
    ends, of_declared = _ends(found), _ends(declared)
    if _product(found) != _product(declared):
        return False
    return ends <= of_declared or ends >= of_declared


def _product(shape: Sequence[int]) -> int:
    product = 1
    for length in shape:
        product *= length
    return product


def _ends(shape: Sequence[int]) -> Set[int]:
    """Products of the first lengths: after how many elements of the row-major array an axis from the front ends."""
    ends, product = {1}, 1
    for length in shape:
        product *= length
        ends.add(product)
    return ends


def _read(value: Any, is_bool: bool, values: List[Union[int, float]]) -> Tuple[int, ...]:
    """The shape; the numbers are appended to `values`."""
    if isinstance(value, (list, tuple)):
        shapes = {_read(one, is_bool, values) for one in value}
        if len(shapes) > 1:
            raise TypeError("expected rows of one length, got a list of rows that differ")
        return (len(value), *(shapes.pop() if shapes else ()))
    if isinstance(value, type) or not (hasattr(value, "shape") or type(value).__module__ == "array"):
        values.append(_number(value, is_bool))
        return ()
    _require_numbers(value)
    if hasattr(value, "copy_to_host"):  # Numba's
        value = value.copy_to_host()
    plain = value.tolist() if hasattr(value, "tolist") else [one for one in value] if value.shape else float(value)
    if not isinstance(plain, list):
        values.append(_number(plain, is_bool))
        return ()
    shape = _read(plain, is_bool, values)
    return tuple(value.shape) if 0 in shape else shape


def _require_numbers(value: Any) -> None:
    """Of an array, what its elements do not tell any more when they are taken out."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ma.MaskedArray):
        raise TypeError("expected an array without a mask, got a masked array; nbcc would not see the mask")
    dtype = getattr(value, "dtype", None)
    kind = getattr(dtype, "kind", "f")
    # Dates, texts and structures; NumPy counts bfloat16 among the last.
    if kind in "mMSUT" or (kind == "V" and dtype.type.__name__ == "void"):
        raise TypeError(f"expected real numbers, got {dtype}")


def _number(value: Any, is_bool: bool) -> Union[int, float]:
    name = type(value).__name__
    if isinstance(value, bool) or name in ("bool_", "bool"):
        if not is_bool:
            raise TypeError("only a bool is true or false")
        return int(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real):
        raise TypeError(f"expected real numbers, got {name}")
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError("a text is no number")
    try:
        return float(value)
    except (ValueError, OverflowError) as error:
        raise TypeError(str(error)) from None
