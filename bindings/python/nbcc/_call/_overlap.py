"""Tests whether output arrays overlap in memory. Entry point: `share_memory`. Compares addresses; reads no data."""

from __future__ import annotations

from typing import Tuple

from .._arrays._arrays import ELEMENT_SIZES
from .._c._fields import Field
from .._c._handles import View


def share_memory(field: Field, view: View, other_field: Field, other: View) -> bool:
    """True if writing one array could change the other. Fields of one array of structures interleave without
    overlap."""
    if view[2] == 0 or other[2] == 0:
        return False
    low, high = _extent(view, field.components, view[2])
    other_low, other_high = _extent(other, other_field.components, other[2])
    if high <= other_low or other_high <= low:
        return False
    stride = abs(view[3])
    if view[3] != other[3] or stride == 0:
        return True
    row_low, row_high = _extent(view, field.components, 1)
    other_row_low, other_row_high = _extent(other, other_field.components, 1)
    row, other_row = row_high - row_low, other_row_high - other_row_low
    distance = (other_row_low - row_low) % stride
    return distance < row or distance + other_row > stride


def _extent(view: View, components: int, count: int) -> Tuple[int, int]:
    low = pointer = view[0]
    high = pointer + ELEMENT_SIZES[view[1]]
    for step in ((count - 1) * view[3], (components - 1) * view[4]):
        if step < 0:
            low += step
        else:
            high += step
    return low, high
