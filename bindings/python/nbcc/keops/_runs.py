"""Which pairs act in a call of KeOps: batch dimensions and ranges as `nbcc.Lists`. Entry points: `Batches`, `lists_of_ranges`.

Arrays of i, (A, .., B, M, D), and of j, (A, .., B, N, D), of the batch dimensions (A, .., B) become arrays of i and j of one
run, (A*..*B*M, D) and (A*..*B*N, D); batch b is a group of M of the i, whose j are a range of N. Arrays that have the length
1 in a batch dimension are broadcast: those of j without a copy, if all of j are the same in it.
"""

from __future__ import annotations

import functools
import math
from typing import Any, List, NamedTuple, Sequence, Tuple

from .._c._lists import Lists
from ._libraries import library_of

Shape = Tuple[int, ...]


class Batches(NamedTuple):
    """shape: the batch dimensions of the result. arrays: those of the run, of params with an axis for batches. first_j: for
    each batch the row of the j's arrays at which its j begin."""

    shape: Shape
    arrays: List[Any]
    lists: Lists
    first_j: Any


def batches_of(arrays: Sequence[Any], categories: Sequence[int], source: int, ni: int, nj: int) -> Batches:
    """categories: 0, 1 or 2 of each array. source: the category of j, over which the reduction is. Raises ValueError."""
    leading = [tuple(array.shape[: -1 if category == 2 else -2]) for array, category in zip(arrays, categories)]
    shape = broadcast(leading)
    axes = len(shape)
    padded = [(1,) * (axes - len(one)) + one for one in leading]
    of_j = broadcast([one for one, category in zip(padded, categories) if category == source] or [(1,) * axes])
    made = []
    for array, category, own in zip(arrays, categories, padded):
        wanted = of_j if category == source else shape
        tail = tuple(array.shape[-1 if category == 2 else -2 :])
        if own != wanted or len(array.shape) != len(own) + len(tail):
            array = _expanded(array, own + tail, wanted + tail)
        flat = (math.prod(wanted), *tail) if category == 2 else (math.prod(wanted) * tail[0], tail[1])
        made.append(array.reshape(flat))
    lists, first_j = _lists(shape, of_j, ni, nj)
    return Batches(shape, made, lists, first_j)


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """The common batch dimensions. Raises ValueError."""
    axes = max(map(len, shapes))
    made = [1] * axes
    for shape in shapes:
        for k, length in enumerate(shape, axes - len(shape)):
            if length != 1:
                if made[k] not in (1, length):
                    raise ValueError(f"Incompatible batch dimensions: {shape} and {tuple(made)}.")
                made[k] = length
    return tuple(made)


def _expanded(array: Any, own: Shape, wanted: Shape) -> Any:
    array = array.reshape(own)
    library = library_of(array)
    return array.expand(wanted) if library.__name__ == "torch" else library.broadcast_to(array, wanted)


@functools.lru_cache(64)
def _lists(shape: Shape, of_j: Shape, ni: int, nj: int) -> Tuple[Lists, Any]:
    import numpy as np

    count = math.prod(shape)
    blocks = np.broadcast_to(np.arange(math.prod(of_j)).reshape(of_j), shape).reshape(-1)
    first_j = blocks * nj
    return Lists(np.arange(count + 1) * ni, np.arange(count + 1), first_j, first_j + nj), first_j


def lists_of_ranges(ranges: Sequence[Any], axis: int, ni: int) -> Lists:
    """Of KeOps' ranges (ranges_i, slices_i, redranges_j, ranges_j, slices_j, redranges_i): those of a reduction over j
    (axis 1) or i (axis 0). ni: the number of particles that receive. Raises ValueError."""
    import numpy as np

    if len(ranges) != 6:
        raise ValueError(
            f"ranges: expected six arrays (ranges_i, slices_i, redranges_j, ranges_j, ...), got {len(ranges)}"
        )
    of_i, ends, of_j = (_host(one) for one in (ranges[:3] if axis == 1 else ranges[3:]))
    of_i, of_j = of_i.reshape(-1, 2), of_j.reshape(-1, 2)
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int64) if len(ends) else ends
    order = np.argsort(of_i[:, 0], kind="stable")
    begin, end = of_i[order, 0], of_i[order, 1]
    if len(begin) and (np.any(begin[1:] < end[:-1]) or begin[0] < 0 or end[-1] > ni):
        raise ValueError(f"ranges: two clusters overlap, or one is not within 0 and {ni}")
    # A group for each cluster, and one without j for the particles before each of them and after the last one.
    i_first = np.concatenate([[0], np.stack([begin, end], 1).reshape(-1), [ni]])
    counts = (ends - starts)[order]
    per_group = np.zeros(len(i_first) - 1, np.int64)
    per_group[1::2] = counts
    range_first = np.concatenate([[0], np.cumsum(per_group)])
    chosen = np.concatenate([np.arange(starts[k], ends[k]) for k in order]) if len(order) else np.zeros(0, np.int64)
    return Lists(i_first, range_first, of_j[chosen, 0], of_j[chosen, 1])


def _host(array: Any) -> Any:
    import numpy as np

    if hasattr(array, "detach"):
        array = array.detach().cpu().numpy()
    return np.asarray(array.get() if hasattr(array, "get") else array, np.int64)
