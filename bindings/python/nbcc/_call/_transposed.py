"""The pairs of a call with i and j exchanged. Derivatives with respect to inputs of j are sums over these pairs. Entry
point: `transposed`. Lists are transposed on the host; those of nbcc.Lists and nbcc.Rows only once.
"""

from __future__ import annotations

import weakref
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple

import numpy

from .._c._lists import Lists, Rows

# nbcc.Rows or nbcc.Lists -> (nj, its transpose for this number of j-particles).
_turned: "weakref.WeakKeyDictionary[Any, Tuple[int, Any]]" = weakref.WeakKeyDictionary()


class _TurnedRows(NamedTuple):
    rows: Rows
    order: Any  # by pair of `rows`: index of the pair in the caller's list


def transposed(options: Mapping[str, Any], ni: int, nj: int) -> Tuple[Dict[str, Any], Any]:
    """The keywords of a call with the same pairs, with i and j exchanged; and for listed pairs the new order (index of
    each pair in the caller's list), else None. ni, nj: of the original call."""
    turned = dict(options)
    for a, b in (("ni", "nj"), ("i_offset", "j_offset")):
        for name, other in ((a, b), (b, a)):
            turned.pop(name, None)
            if options.get(other) is not None:
                turned[name] = options[other]
    order = None
    chosen = turned.pop("i", None)
    if options.get("listed_pairs") is not None:
        turned["listed_pairs"], order = _rows("listed_pairs", options["listed_pairs"], nj, chosen)
    elif options.get("batches") is not None:
        i, j, *count = options["batches"]
        turned["batches"] = (j, i, *count)
        if chosen is not None:
            turned["lists"] = _lists(_of_batches(*turned.pop("batches")), nj, chosen)
    elif options.get("lists") is not None or chosen is not None:
        turned["lists"] = _lists(options.get("lists") or Lists([0, ni], [0, 1], [0], [nj]), nj, chosen)
    if options.get("exclusions") is not None:
        turned["exclusions"] = _rows("exclusions", options["exclusions"], nj, None).rows
    return turned, order


def group_of_i(lists: Lists) -> Any:
    """The group of each i-particle."""
    first = on_host(lists.i_first)
    by_position = numpy.repeat(numpy.arange(len(first) - 1), numpy.diff(first))
    if lists.i_order is None:
        return by_position
    groups = numpy.empty_like(by_position)
    groups[on_host(lists.i_order)] = by_position
    return groups


def on_host(value: Any) -> Any:
    """Converts an array of any library to NumPy."""
    library = type(value).__module__.partition(".")[0]
    if library == "torch":
        value = value.detach().cpu().resolve_neg()
    elif library == "cupy":
        value = value.get()
    elif hasattr(value, "copy_to_host"):  # Numba's
        value = value.copy_to_host()
    return numpy.asarray(value)


def _rows(what: str, value: Any, nj: int, chosen: Any) -> _TurnedRows:
    kept = _turned.get(value) if isinstance(value, Rows) and chosen is None else None
    if kept is not None and kept[0] == nj:
        return kept[1]  # type: ignore[no-any-return]
    images = None
    if isinstance(value, Rows):
        first, j, images = value.first, value.j, value.images
    else:
        first, j, *more = (value.indptr, value.indices) if hasattr(value, "indptr") else value
        images = more[0] if more else None
    first, j = on_host(first).astype("int64"), on_host(j).astype("int64")
    i = numpy.repeat(numpy.arange(len(first) - 1), numpy.diff(first))
    order = numpy.argsort(j, kind="stable")
    if chosen is not None:
        order = order[is_chosen(chosen, len(first) - 1)[i[order]]]
    # Seen from j, i is moved by the opposite multiples.
    opposite = None if images is None else -on_host(images).astype("int64").reshape(-1, 3)[order]
    made = _TurnedRows(Rows(_firsts(numpy.bincount(j[order], minlength=nj)), i[order], opposite), order)
    if isinstance(value, Rows) and chosen is None:
        _turned[value] = (nj, made)
    return made


def _lists(lists: Lists, nj: int, chosen: Any) -> Lists:
    """The transpose of lists. The j-slots are cut wherever a range begins or ends. Each piece becomes a group; each
    range that covers the piece becomes a range over the chosen i of its group, with the opposite shift."""
    kept = _turned.get(lists) if chosen is None else None
    if kept is not None and kept[0] == nj:
        return kept[1]  # type: ignore[no-any-return]
    i_first, range_first, begin, end = map(on_host, (lists.i_first, lists.range_first, lists.j_begin, lists.j_end))
    cuts = numpy.unique(numpy.concatenate(([0, nj], begin, end)))
    first_piece, last_piece = numpy.searchsorted(cuts, begin), numpy.searchsorted(cuts, end)
    covered = numpy.maximum(last_piece - first_piece, 0)
    of = numpy.repeat(numpy.arange(len(begin)), covered)  # index of a range, once for each of its pieces
    piece = first_piece[of] + numpy.arange(len(of)) - _firsts(covered)[of]
    of = of[numpy.argsort(piece, kind="stable")]
    group = numpy.repeat(numpy.arange(len(i_first) - 1), numpy.diff(range_first))[of]
    i_end, i_order = i_first[1:], lists.i_order
    if chosen is not None:
        i_end, i_order = _chosen_first(i_first, i_order, chosen)
    made = Lists(
        cuts,
        _firsts(numpy.bincount(piece, minlength=len(cuts) - 1)),
        i_first[group],
        i_end[group],
        i_order=lists.j_order,
        j_order=i_order,
        shifts=None if lists.shifts is None else -on_host(lists.shifts)[of],
    )
    if chosen is None:
        _turned[lists] = (nj, made)
    return made


def _chosen_first(i_first: Any, i_order: Any, chosen: Any) -> Tuple[Any, Any]:
    """The end of the chosen i-slots of each group, and the i of each slot, with the chosen i first in each group."""
    ni = int(i_first[-1])
    order = numpy.arange(ni) if i_order is None else on_host(i_order)
    is_other = ~is_chosen(chosen, ni)[order]
    group = numpy.repeat(numpy.arange(len(i_first) - 1), numpy.diff(i_first))
    counts = numpy.bincount(group[~is_other], minlength=len(i_first) - 1)
    return i_first[:-1] + counts, order[numpy.lexsort((is_other, group))]


def _of_batches(j_batch: Any, i_batch: Any, count: Optional[int] = None) -> Lists:
    """Lists with the pairs of batches: a group and a range for each batch."""
    i, j = (on_host(ids).astype("int64") for ids in (i_batch, j_batch))
    groups = count if count is not None else 1 + int(max(i.max(initial=-1), j.max(initial=-1)))
    j_first = _firsts(numpy.bincount(j, minlength=groups))
    i_first = _firsts(numpy.bincount(i, minlength=groups))
    return Lists(i_first, numpy.arange(groups + 1), j_first[:-1], j_first[1:])


def is_chosen(chosen: Any, ni: int) -> Any:
    """Booleans [i]: whether the option i= chooses this i."""
    found = numpy.zeros(ni, bool)
    found[chosen if isinstance(chosen, slice) else on_host(chosen).astype("int64")] = True
    return found


def _firsts(counts: Any) -> Any:
    return numpy.concatenate(([0], numpy.cumsum(counts, dtype="int64")))
