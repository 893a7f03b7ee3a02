"""The pairs that a search has found, as arrays of the caller's own. The doors are `Neighbours` and `copied`."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, Tuple

from ._arrays import DOUBLE, INT64
from ._library import NeighbourListStruct
from ._results import of_host


class Neighbours(NamedTuple):
    """The pairs within a pipeline's reach, as `Pipeline.find_neighbours` tells them.

    On i act j[first[i]] to before j[first[i + 1]], in rising order.

    first: int64, shape (ni + 1,). j: int64, shape (pairs,).
    shifts: float64, shape (pairs, axes): what is added to the place of j to be at that copy of it, in a periodic box,
        which is nearest to i. 0 without a box.
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
