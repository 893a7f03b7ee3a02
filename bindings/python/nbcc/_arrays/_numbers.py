"""Converts params and options. `read` returns the numbers and the shape of a param's value: a number, a nested list or
an array of any library; `is_shape_of` compares shapes. `whole`, `real` and `flag` convert an option to int, float,
bool.
"""

from __future__ import annotations

import array
import numbers
import operator
import sys
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Set, Tuple, TypeVar, Union

T = TypeVar("T")


class Numbers(NamedTuple):
    shape: Tuple[int, ...]
    values: Sequence[Union[int, float]]  # row-major


def read(value: Any, is_bool: bool = False) -> Numbers:
    """Raises TypeError for values that are not real numbers. is_bool: accept truth values as numbers."""
    kind = type(value)
    if kind is float or kind is int:
        return Numbers((), (value,))
    if kind is tuple and value and all(type(one) is float for one in value):
        return Numbers((len(value),), value)
    values: List[Union[int, float]] = []
    try:
        return Numbers(_read(value, is_bool, values), values)
    except RuntimeError as error:  # PyTorch's, of a nested tensor, which has no shape
        raise TypeError(f"expected numbers, got a {kind.__name__} whose numbers cannot be read: {error}") from error


def has_complex(value: Any) -> bool:
    """True for a complex number, an array of such, and a list with one."""
    if isinstance(value, (list, tuple)):
        return any(map(has_complex, value))
    if isinstance(value, numbers.Complex):
        return not isinstance(value, numbers.Real)
    return "complex" in str(getattr(value, "dtype", ""))


def pairs_of(value: Any) -> Any:
    """Complex numbers as nested lists of real numbers, whose last axis has the real and the imaginary part."""
    if hasattr(value, "shape"):
        value = _plain(value)
    if isinstance(value, (list, tuple)):
        return [pairs_of(one) for one in value]
    is_complex = isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real)
    return [value.real, value.imag] if is_complex else [_number(value, False), 0.0]


def what_is_wrong(value: Any, error: TypeError) -> str:
    """The message of an error of `read`, with the type of the value unless the message has it."""
    message = str(error)
    return message if message.startswith("expected") else f"expected numbers, got {type(value).__name__}: {message}"


def as_doubles(values: Sequence[Union[int, float]]) -> Tuple[float, ...]:
    """Raises TypeError for an integer beyond the largest float64."""
    try:
        return tuple(map(float, values))
    except OverflowError:
        for value in values:
            try:
                float(value)
            except OverflowError:
                raise TypeError(f"expected numbers that a float64 holds, got {shown(value)}") from None
        raise


def shown(value: Any) -> str:
    """The value for a message. Python raises an error when it prints an integer of thousands of digits."""
    if isinstance(value, int) and value.bit_length() > 64:
        return f"an integer of {value.bit_length()} bits"
    return repr(value)


def whole(value: Any, least: int = -(2**63), most: int = 2**63 - 1) -> int:
    """An option's integer, a Python int or a NumPy integer. Raises TypeError, ValueError; the message does not name the
    option."""
    kind = type(value).__name__
    if isinstance(value, bool) or kind in ("bool_", "bool") or getattr(value, "shape", ()) != ():
        raise TypeError(f"expected an integer, got {kind}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"expected an integer, got {kind}") from None
    if not least <= number <= most:
        raise ValueError(f"expected an integer from {least} to {most}, got {shown(number)}")
    return number


def real(value: Any) -> float:
    """An option's real number. Raises TypeError as `read` does."""
    try:
        found = read(value)
        numbers_of = as_doubles(found.values)
    except TypeError as error:
        raise TypeError(what_is_wrong(value, error)) from None
    if found.shape != ():
        raise TypeError(f"expected a number, got {type(value).__name__} of shape {found.shape}")
    return numbers_of[0]


def flag(value: Any) -> bool:
    """An option that is true or false: a Python or NumPy bool, or 0 or 1. Raises TypeError."""
    if type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    try:
        if getattr(value, "dtype", None) == bool and value.shape == ():
            return bool(value)
        return bool(whole(value, 0, 1))
    except (TypeError, ValueError):
        raise TypeError(f"expected True or False, got {shown(value)}") from None


def named(name: str, convert: Callable[..., T], *arguments: Any) -> T:
    """Returns convert(*arguments); error messages get the option's name."""
    try:
        return convert(*arguments)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None


def shape_of(value: Any) -> Tuple[int, ...]:
    """The shape of an array; of a nested list, the shape that its first rows have."""
    shape: Optional[Sequence[int]] = getattr(value, "shape", None)
    if shape is not None and not isinstance(value, type):
        return tuple(shape)
    if isinstance(value, (list, tuple)):
        return (len(value), *(shape_of(value[0]) if value else ()))
    return (len(value),) if isinstance(value, array.array) else ()


def is_shape_of(found: Sequence[int], declared: Sequence[int]) -> bool:
    """True if a row-major array of shape `found` is acceptable for the declared shape: adjacent axes may be merged, or
    an axis split into several, but not both; axes of length 1 are ignored.

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
    """The products of the first 0, 1, 2, ... lengths."""
    ends, product = {1}, 1
    for length in shape:
        product *= length
        ends.add(product)
    return ends


def _read(value: Any, is_bool: bool, values: List[Union[int, float]]) -> Tuple[int, ...]:
    """Returns the shape, and appends the numbers to `values`."""
    if isinstance(value, (list, tuple)):
        shapes = {_read(one, is_bool, values) for one in value}
        if len(shapes) > 1:
            raise TypeError("expected rows of one length, got a list of rows that differ")
        return (len(value), *(shapes.pop() if shapes else ()))
    if isinstance(value, type) or not (hasattr(value, "shape") or type(value).__module__ == "array"):
        values.append(_number(value, is_bool))
        return ()
    _require_numbers(value)
    plain = _plain(value)
    if not isinstance(plain, list):
        values.append(_number(plain, is_bool))
        return ()
    shape = _read(plain, is_bool, values)
    return tuple(value.shape) if 0 in shape else shape


def _plain(value: Any) -> Any:
    """An array on any device as nested lists."""
    require_no_tangent(value)
    try:
        if hasattr(value, "copy_to_host"):  # Numba's
            value = value.copy_to_host()
        return value.tolist() if hasattr(value, "tolist") else [one for one in value] if value.shape else float(value)
    except (NotImplementedError, RuntimeError) as error:  # PyTorch's, of a tensor on "meta"
        device = getattr(value, "device", "an unknown device")
        raise TypeError(f"expected numbers, got an array on {device} whose numbers cannot be read: {error}") from error


def has_tangent(value: Any) -> bool:
    """Whether a value is a dual tensor of PyTorch's forward mode. A tensor given to the code of an operator, which PyTorch
    calls below its derivatives, is none."""
    forward_ad = sys.modules.get("torch.autograd.forward_ad")
    if forward_ad is None or forward_ad._current_level < 0 or not hasattr(value, "is_neg"):
        return False
    core = sys.modules["torch"]._C
    if core._dispatch_tls_is_dispatch_key_excluded(core.DispatchKey.AutogradFunctionality):
        return False
    return forward_ad.unpack_dual(value).tangent is not None


def require_no_tangent(value: Any) -> None:
    """Raises TypeError for a dual tensor of PyTorch's forward mode, where its tangent is not read."""
    if has_tangent(value):
        raise TypeError(
            "expected a tensor without a tangent, got one with a tangent, of forward-mode differentiation, which only inputs "
            "and params of a pipeline's call may have; torch.autograd.forward_ad.unpack_dual() of it has the primal"
        )


def require_no_unit(value: Any) -> None:
    """Raises TypeError for numbers with a unit: quantities of astropy (`unit`) and unyt (`units`), columns of tables."""
    unit = getattr(value, "unit", None)
    if unit is None:
        unit = getattr(value, "units", None)
    if unit is None or str(unit) in ("", "dimensionless"):
        return
    # A column of a table has its numbers and unit in `quantity`.
    reads = ".to_value(UNIT)" if hasattr(value, "to_value") else ".quantity.to_value(UNIT)"
    raise TypeError(f"expected numbers without a unit, got numbers in '{unit}', which nbcc would drop; {reads} of it is read")


def _require_numbers(value: Any) -> None:
    """Raises TypeError for masks and types that would be lost when the elements are converted to numbers."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ma.MaskedArray):
        raise TypeError("expected an array without a mask, got a masked array; nbcc would not see the mask")
    if numpy is not None and type(value) is not numpy.ndarray and isinstance(value, numpy.ndarray):
        require_no_unit(value)
    dtype: Any = getattr(value, "dtype", None)
    kind = getattr(dtype, "kind", "f")
    # Dates, strings and structures; NumPy gives bfloat16 the kind of structures, too.
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
        raise TypeError("a string is not a number")
    try:
        return float(value)
    except (ValueError, OverflowError) as error:
        raise TypeError(str(error)) from None
