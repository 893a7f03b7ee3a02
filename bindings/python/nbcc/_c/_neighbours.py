"""The pairs that a search has found, as arrays that the caller owns. Entry points: `Neighbours`, `copied`."""

from __future__ import annotations

import ctypes
import math
from typing import Any, NamedTuple, Optional, Tuple

from .._arrays._arrays import DOUBLE, INT64, Array
from ._library import NeighbourListStruct
from .._arrays._results import new_result
from .._arrays._streams import Order


class Neighbours(NamedTuple):
    """The pairs within a pipeline's reach, as `Pipeline.find_neighbours` returns them.

    The neighbours of i are j[first[i]], ..., j[first[i + 1] - 1], in rising order.

    first: int64, shape (ni + 1,). j: int64, shape (pairs,).
    shifts: float64, shape (pairs, axes): added to the position of j, gives its periodic image nearest to i. 0 without a
        box.

    The arrays are of the library of the pipeline's first input of i.
    """

    first: Any
    j: Any
    shifts: Any

    def __repr__(self) -> str:
        return f"<nbcc.Neighbours of {len(self.first) - 1} i: {len(self.j)} pairs>"


def copied(found: NeighbourListStruct, like: Optional[Array] = None) -> Neighbours:
    """like: the input whose library the arrays get; None: NumPy."""
    return Neighbours(
        _copy_of(found.first, (found.ni + 1,), INT64, like),
        _copy_of(found.j, (found.count,), INT64, like),
        _copy_of(found.shifts, (found.count, found.axes), DOUBLE, like),
    )


def _copy_of(pointer: int, shape: Tuple[int, ...], element: int, like: Optional[Array]) -> Any:
    result, where = new_result(like, shape, element, Order(None))
    size = 8 * math.prod(shape)
    if size > 0:
        ctypes.memmove(where.pointer, pointer, size)
    return result.converted()
