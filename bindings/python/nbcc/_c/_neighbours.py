"""The pairs that a search has found, as arrays that the caller owns. Entry points: `Neighbours`, `copied`."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, Tuple

from .._arrays._arrays import DOUBLE, INT64
from ._library import NeighbourListStruct
from .._arrays._results import of_host


class Neighbours(NamedTuple):
    """The pairs within a pipeline's reach, as `Pipeline.find_neighbours` returns them.

    The neighbours of i are j[first[i]], ..., j[first[i + 1] - 1], in rising order.

    first: int64, shape (ni + 1,). j: int64, shape (pairs,).
    shifts: float64, shape (pairs, axes): added to the position of j, gives its periodic image nearest to i. 0 without a
        box.
    """

    first: Any
    j: Any
    shifts: Any

    def __repr__(self) -> str:
        return f"<nbcc.Neighbours of {len(self.first) - 1} i: {len(self.j)} pairs>"


def copied(found: NeighbourListStruct) -> Neighbours:
    return Neighbours(
        _copy_of(found.first, (found.ni + 1,), INT64),
        _copy_of(found.j, (found.count,), INT64),
        _copy_of(found.shifts, (found.count, found.axes), DOUBLE),
    )


def _copy_of(pointer: int, shape: Tuple[int, ...], element: int) -> Any:
    result, where = of_host(shape, element)
    size = 8
    for length in shape:
        size *= length
    if size > 0:
        ctypes.memmove(where.pointer, pointer, size)
    return result.value
