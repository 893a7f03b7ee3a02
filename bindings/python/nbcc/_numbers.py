"""A param's value, a number or a few of them in whatever clothes -> floats. The door is `numbers`."""

from __future__ import annotations

from typing import Any, Iterable, Tuple


def numbers(value: Any) -> Tuple[float, ...]:
    """Raises TypeError for what is no number."""
    if type(value) is float or type(value) is int:
        return (float(value),)
    if isinstance(value, (str, bytes)):
        raise TypeError("a text is no number")
    try:
        return tuple(float(number) for row in _row(value) for number in _row(row))
    except (ValueError, OverflowError) as error:
        raise TypeError(str(error)) from None


def _row(value: Any) -> Iterable[Any]:
    return value if isinstance(value, (list, tuple)) or getattr(value, "shape", None) else (value,)
