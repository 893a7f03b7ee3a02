"""Reads an argument as an array of an expected kind of numbers, before any conversion that would round them. Entry point:
`array_of`."""

from __future__ import annotations

from typing import Any

from . import _arrays
from ._numbers import named, require_no_unit

_NAMES = {"bool": "bools", "int": "integers", "float": "real numbers"}
_OTHERS = {"U": "strings", "S": "bytes", "O": "objects"}  # by the kind of NumPy's types


def array_of(name: str, value: Any, *kinds: str) -> Any:
    """An array of any library unchanged, another value as a NumPy array. kinds: "bool", "int", "float". Raises TypeError,
    with the argument's name, for numbers of another kind."""
    made = value
    if not hasattr(value, "shape"):
        try:
            made = _arrays.numpy.asarray(value)
        except (TypeError, ValueError, RuntimeError) as error:
            raise TypeError(f"{name}: expected an array, or rows of numbers of one length: {error}") from error
        if made.size == 0:  # an empty list has no type
            return made.astype("int64" if "int" in kinds else "float64")
    if isinstance(made, _arrays.numpy.ndarray) and type(made) is not _arrays.numpy.ndarray:
        named(name, require_no_unit, made)
        if isinstance(made, _arrays.numpy.ma.MaskedArray):
            raise TypeError(f"{name}: expected an array without a mask, got a masked array, whose mask nbcc would not see")
    dtype: Any = getattr(made, "dtype", None)
    found = getattr(dtype, "name", str(dtype).rpartition(".")[2])
    kind = next((kind for kind in ("bool", "int", "float") if kind in found), None)
    if kind == "int" and "bool" not in kinds and isinstance(value, (list, tuple)) and any(isinstance(one, bool) for one in value):
        kind, found = "bool", "a list with a bool"
    if kind not in kinds:
        expected = _NAMES["float"] if "float" in kinds and "bool" not in kinds else " or ".join(_NAMES[one] for one in kinds)
        raise TypeError(f"{name}: expected {expected}, got {_OTHERS.get(getattr(dtype, 'kind', ''), found)}")
    return made
