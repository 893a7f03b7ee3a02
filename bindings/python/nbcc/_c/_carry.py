"""The results of pairs for another list of pairs. Entry point: `carry_pairs`."""

from __future__ import annotations

from typing import Any, Tuple

from .._arrays._arrays import numpy
from ._lists import Rows


def carry_pairs(old: Any, new: Any, *values: Any) -> Any:
    """The values of the pairs of `old`, for the pairs of `new`; 0 for a pair that `old` does not list.

    For results of pairs (output(pair)) that the next run reads (input_pair), such as the history of contacts, when the
    lists change: `slip = nbcc.carry_pairs(old, new, slip)`.

    old, new: (first, j) or nbcc.Rows, of the same i. values: arrays of shape (pairs of old, ...) in the order of `old`.
    Returns an array for each, of shape (pairs of new, ...); one by itself, several as a tuple. Where a row lists a j
    several times, its k-th entry in `new` has the value of the k-th in `old`. Takes O(pairs log pairs) time. Needs NumPy.
    Raises ValueError.
    """
    if numpy is None:
        raise ValueError("carry_pairs() needs NumPy")
    of_old, of_new = _sides(old), _sides(new)
    if of_old[2] != of_new[2]:
        raise ValueError(f"carry_pairs(): old has {of_old[2]} i-particles, new has {of_new[2]}")
    width = int(max((j.max() for _, j, _ in (of_old, of_new) if len(j)), default=0)) + 1
    if width * max(of_old[2], 1) > 2**63 - 1:
        raise ValueError(
            f"carry_pairs(): j: expected indices below 2^63 / {of_old[2]}, the number of i-particles, got {width - 1}"
        )
    order, key, number = _numbered(of_old, width)
    order_new, key_new, number_new = _numbered(of_new, width)
    # The k-th entries of equal pairs are neighbours in the order of both.
    both = numpy.concatenate((key, key_new))
    rank = numpy.concatenate((number, number_new))
    is_new = numpy.repeat([False, True], [len(key), len(key_new)])
    sorted_ = numpy.lexsort((is_new, rank, both))
    first, second = sorted_[:-1], sorted_[1:]
    same = (both[first] == both[second]) & (rank[first] == rank[second]) & ~is_new[first] & is_new[second]
    source = numpy.full(len(key_new), -1, dtype="int64")
    source[order_new[second[same] - len(key)]] = order[first[same]]
    carried = []
    for value in values:
        array = numpy.asarray(value)
        if array.shape[:1] != (len(key),):
            raise ValueError(f"carry_pairs(): expected values of {len(key)} pairs, got shape {array.shape}")
        made = numpy.zeros((len(source), *array.shape[1:]), array.dtype)
        made[source >= 0] = array[source[source >= 0]]
        carried.append(made)
    return carried[0] if len(carried) == 1 else tuple(carried)


def _sides(rows: Any) -> Tuple[Any, Any, int]:
    """i and j of each pair, and the number of i-particles."""
    first, j = (rows.first, rows.j) if isinstance(rows, Rows) else rows
    first, j = numpy.asarray(first, "int64"), numpy.asarray(j, "int64")
    if first.ndim != 1 or len(first) == 0 or first[0] != 0 or first[-1] != len(j) or (numpy.diff(first) < 0).any():
        raise ValueError(f"carry_pairs(): first must rise from 0 to the number of pairs, {len(j)}")
    if len(j) and j.min() < 0:
        raise ValueError(f"carry_pairs(): j: expected indices from 0 on, got {j.min()} for pair {int((j < 0).argmax())}")
    return numpy.repeat(numpy.arange(len(first) - 1), numpy.diff(first)), j, len(first) - 1


def _numbered(sides: Tuple[Any, Any, int], width: int) -> Tuple[Any, Any, Any]:
    """The pairs in the order of i and j, with a key for each, and its number among equal pairs."""
    i, j, _ = sides
    order = numpy.lexsort((j, i))
    key = (i * width + j)[order]
    starts = numpy.concatenate(([True], key[1:] != key[:-1])) if len(key) else numpy.zeros(0, bool)
    number = numpy.arange(len(key)) - numpy.maximum.accumulate(numpy.where(starts, numpy.arange(len(key)), 0))
    return order, key, number
