"""Which pairs act, as a caller lists them -> what the C interface takes. The doors are `Lists`, `listing_of` and
`values_by_group`. How long arrays are is checked here; what their numbers say, by the library.
"""

from __future__ import annotations

import array
import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _arrays
from ._arrays import CPU, DOUBLE, INT64, Array, describe, ndarray
from ._dlpack import contiguous
from ._errors import ErrorPlace, check
from ._library import ListsStruct, lib
from ._streams import LEGACY, Order

if TYPE_CHECKING:
    from ._handles import Field


@dataclass(frozen=True, eq=False, repr=False)
class Lists:
    """Groups of i, each with ranges of j that act on it: `gravity(x, x, m, lists=nbcc.Lists(...))`.

    All numbers are positions; the orders tell which particle stands at one. Every i is in one group. Groups and ranges
    may be empty; of ranges of one group that overlap j act as often as they are named.

    i_first: integers of shape (groups + 1,), rising from 0: group g has the positions i_first[g] to before
        i_first[g + 1].
    range_first: integers of shape (groups + 1,), rising from 0 to the number of ranges: those of a group.
    j_begin, j_end: integers of shape (ranges,): the first position of a range, and that behind its last.
    i_order, j_order: integers of shape (ni,) and (nj,): the particle at a position, each once. None: the one of this
        number.
    shifts: real numbers of shape (ranges, axes), or (ranges,) of one axis: what is added to the places of a range's j.
        For pipelines whose `info()["neighbours"]` tells which inputs of j are places. None: nothing.

    Arrays may be any that inputs may be. Integers of the CPU of other types than int64, or with gaps, are copied; those
    of a GPU must be contiguous int64 (float64 for shifts). They are read anew by each call.
    """

    i_first: Any
    range_first: Any
    j_begin: Any
    j_end: Any
    i_order: Any = None
    j_order: Any = None
    shifts: Any = None

    def __repr__(self) -> str:
        groups, ranges = (_length(one) for one in (self.i_first, self.j_begin))
        return f"<nbcc.Lists of {max(groups - 1, 0)} groups, {ranges} ranges>"


def _length(value: Any) -> int:
    return len(value) if hasattr(value, "__len__") else 0


# ---- what a sum is told ------------------------------------------------------------------------------------


class Rows(NamedTuple):
    """Some j for each i: pairs that act, or that do not."""

    first: Array
    j: Array

    def arrays(self) -> List[Tuple[str, Array]]:
        return [("first", self.first), ("j", self.j)]

    def give(self, pointer: ctypes.c_void_p, place: ErrorPlace) -> None:
        self._give(lib.nbcc_sum_set_listed_pairs, pointer, place)

    def give_as_exclusions(self, pointer: ctypes.c_void_p, place: ErrorPlace) -> None:
        self._give(lib.nbcc_sum_set_exclusions, pointer, place)

    def _give(self, function: Any, pointer: ctypes.c_void_p, place: ErrorPlace) -> None:
        first, j = self
        check(function(pointer, first.shape[0] - 1, first.pointer, j.shape[0], j.pointer, place.address), place)


class Batches(NamedTuple):
    """Ids of particles; an i and a j of one id are a pair."""

    groups: int
    i: Array
    j: Array

    def arrays(self) -> List[Tuple[str, Array]]:
        return [("i_batch", self.i), ("j_batch", self.j)]

    def give(self, pointer: ctypes.c_void_p, place: ErrorPlace) -> None:
        groups, i, j = self
        check(
            lib.nbcc_sum_set_batches(pointer, groups, i.shape[0], i.pointer, j.shape[0], j.pointer, place.address),
            place,
        )


class Ranges(NamedTuple):
    """What `Lists` are, read."""

    groups: int
    ranges: int
    read: List[Tuple[str, Array]]  # by the names of nbcc_lists

    def arrays(self) -> List[Tuple[str, Array]]:
        return self.read

    def give(self, pointer: ctypes.c_void_p, place: ErrorPlace) -> None:
        told = ListsStruct(size=ctypes.sizeof(ListsStruct), groups=self.groups, ranges=self.ranges)
        for name, found in self.read:
            setattr(told, name, found.pointer)
            if name == "j_order":
                told.j_count = found.shape[0]
        check(lib.nbcc_sum_set_lists(pointer, ctypes.addressof(told), place.address), place)


class Listing(NamedTuple):
    """What a call says of its pairs."""

    listed: Union[Ranges, Batches, Rows, None]
    exclusions: Optional[Rows]

    @property
    def groups(self) -> Optional[int]:
        """Of lists or batches, which may have params of their own; None: there are none."""
        return None if self.listed is None or isinstance(self.listed, Rows) else self.listed.groups

    @property
    def what(self) -> str:
        return {Ranges: "lists", Batches: "batches", Rows: "listed_pairs"}.get(type(self.listed), "")

    def check(self, who: str, device: str, nj: int) -> None:
        """Raises ValueError for arrays that a sum on this device cannot read, and for an empty order of j, which to the
        library is none at all."""
        for what, given in ((self.what, self.listed), ("exclusions", self.exclusions)):
            for name, found in given.arrays() if given is not None else ():
                if found.device not in (CPU, device):
                    alternative = "" if device == CPU else " or the CPU"
                    raise ValueError(
                        f"{who}(): {what}: {name}: expected an array on {device}{alternative}, "
                        f"got one on {found.device}"
                    )
                if name == "j_order" and found.shape[0] == 0 and nj > 0:
                    raise ValueError(f"{who}(): lists: j_order: expected {nj} integers, one for each j, got 0")


def listing_of(who: str, lists: Any, batches: Any, listed_pairs: Any, exclusions: Any, axes: Optional[int]) -> Listing:
    """axes: of a pipeline's places; 0: these are no inputs; None: it has none. Raises TypeError, ValueError."""
    given = [
        f"{name}="
        for name, value in (("lists", lists), ("batches", batches), ("listed_pairs", listed_pairs))
        if value is not None
    ]
    if len(given) > 1:
        raise TypeError(f"{who}() takes one of lists=, batches= and listed_pairs=, got {' and '.join(given)}")
    listed: Union[Ranges, Batches, Rows, None] = None
    if lists is not None:
        listed = _ranges_of(f"{who}(): lists", lists, axes)
    elif batches is not None:
        listed = _batches_of(f"{who}(): batches", batches)
    elif listed_pairs is not None:
        listed = _rows_of(f"{who}(): listed_pairs", listed_pairs)
    return Listing(listed, None if exclusions is None else _rows_of(f"{who}(): exclusions", exclusions))


# ---- arrays ------------------------------------------------------------------------------------------------


def _described(what: str, value: Any) -> Array:
    try:
        # The library reads lists in the legacy stream, whichever that of the run is.
        return describe(value, Order(LEGACY))
    except TypeError as error:
        raise TypeError(f"{what}: {error}") from error


def _whole_numbers(what: str, value: Any) -> Array:
    """Contiguous int64, copied if need be."""
    if isinstance(value, range):
        value = array.array("q", value)
    found = _described(what, value)
    if len(found.shape) != 1:
        raise ValueError(f"{what}: expected shape (N,), got {found.shape}")
    if found.shape == (0,):  # an empty list has no type; and null pointers mean that there is none
        return describe(array.array("q"), Order(LEGACY))
    if found.element == INT64 and (found.strides == (8,) or found.shape == (1,)):
        return found
    if found.device != CPU:
        raise TypeError(f"{what}: expected contiguous int64, got {found.dtype} with strides {found.strides}")
    copied: Any = None
    if _arrays.numpy is not None:
        made = _arrays.numpy.asarray(value)
        if made.dtype.kind in "iu":
            copied = _arrays.numpy.ascontiguousarray(made, "int64")
    else:
        try:
            copied = array.array("q", memoryview(value))
        except (TypeError, NotImplementedError):
            pass
    if copied is None:
        raise TypeError(f"{what}: expected integers, got {found.dtype}")
    return describe(copied, Order(LEGACY))


def _real_numbers(what: str, value: Any) -> Array:
    """Contiguous float64, copied if need be."""
    found = _described(what, value)
    if found.element == DOUBLE and (found.strides == contiguous(found.shape, 8) or 0 in found.shape):
        return found
    if found.device != CPU:
        raise TypeError(f"{what}: expected contiguous float64, got {found.dtype} with strides {found.strides}")
    try:
        return describe(_as_doubles(value), Order(LEGACY))._replace(shape=found.shape)
    except TypeError as error:
        raise TypeError(f"{what}: {error}") from None


def _as_doubles(value: Any) -> Any:
    """A new array of all numbers in their order. Raises TypeError."""
    if isinstance(value, ndarray):
        if value.dtype.kind not in "biuf":
            raise TypeError(f"expected numbers, got {value.dtype}")
        return _arrays.numpy.array(value, "float64").ravel()
    try:
        return array.array("d", _flat(value.tolist() if hasattr(value, "tolist") else value))
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"expected numbers, got {type(value).__name__}: {error}") from None


def _flat(value: Any) -> Iterator[float]:
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _flat(one)
    elif isinstance(value, (str, bytes)):
        raise TypeError("a text is no number")
    else:
        yield float(value)


def _integers(found: Array) -> Any:
    """Of the CPU, without a copy."""
    return (ctypes.c_int64 * found.shape[0]).from_address(found.pointer)


# ---- what is listed ----------------------------------------------------------------------------------------


def _firsts(what: str, value: Any, of: str) -> Array:
    found = _whole_numbers(what, value)
    if found.shape == (0,):
        raise ValueError(f"{what}: expected {of} + 1 integers, got 0")
    return found


def _expect(what: str, found: Array, count: int, why: str) -> None:
    if found.shape[0] != count:
        raise ValueError(f"{what}: expected {count} integers, {why}, got {found.shape[0]}")


def _rows_of(what: str, value: Any) -> Rows:
    if hasattr(value, "indptr") and hasattr(value, "indices"):
        if getattr(value, "format", "csr") != "csr":
            raise TypeError(f"{what}: expected a sparse matrix in the form 'csr', got one in '{value.format}'")
        value = (value.indptr, value.indices)
    try:
        first, j = value
    except (TypeError, ValueError):
        raise TypeError(f"{what}: expected (first, j) or a sparse matrix, got {type(value).__name__}") from None
    return Rows(_firsts(f"{what}: first", first, "ni"), _whole_numbers(f"{what}: j", j))


def _batches_of(what: str, value: Any) -> Batches:
    if not isinstance(value, (tuple, list)) or len(value) not in (2, 3):
        raise TypeError(f"{what}: expected (i_batch, j_batch) or (i_batch, j_batch, count), got {type(value).__name__}")
    ids = [_whole_numbers(f"{what}: {side}_batch", one) for side, one in zip("ij", value)]
    if len(value) == 3:
        count = value[2]
        if not hasattr(count, "__index__"):
            raise TypeError(f"{what}: count: expected an integer, got {type(count).__name__}")
        count = count.__index__()
        if not 0 <= count < 2**31:
            raise ValueError(f"{what}: count: expected a number of batches, got {count}")
        return Batches(count, *ids)
    # What is negative the library refuses; one batch at least, so that it can tell the bounds.
    largest = [
        max(_largest(f"{what}: {side}_batch", found, one), 0)
        for side, found, one in zip("ij", ids, value)
        if found.shape[0] > 0
    ]
    return Batches(max(largest) + 1 if largest else 0, *ids)


def _largest(what: str, found: Array, value: Any) -> int:
    if found.device == CPU:
        numpy, integers = _arrays.numpy, _integers(found)
        return int(max(integers) if numpy is None else numpy.frombuffer(integers, "int64").max())
    if not hasattr(value, "max"):
        raise TypeError(
            f"{what}: the largest entry of an array of '{found.library}' is not known; give (i_batch, j_batch, count)"
        )
    return int(value.max())


def _last(what: str, found: Array, value: Any) -> int:
    if found.device == CPU:
        return int(_integers(found)[-1])
    try:
        return int(value[-1])
    except TypeError:
        raise TypeError(
            f"{what}: the last entry of an array of '{found.library}' cannot be read; give one of the CPU"
        ) from None


def _ranges_of(what: str, lists: Any, axes: Optional[int]) -> Ranges:
    if not isinstance(lists, Lists):
        raise TypeError(f"{what}: expected nbcc.Lists, got {type(lists).__name__}")
    i_first = _firsts(f"{what}: i_first", lists.i_first, "groups")
    range_first = _whole_numbers(f"{what}: range_first", lists.range_first)
    _expect(f"{what}: range_first", range_first, i_first.shape[0], "as i_first has")
    j_begin, j_end = (_whole_numbers(f"{what}: {name}", getattr(lists, name)) for name in ("j_begin", "j_end"))
    _expect(f"{what}: j_end", j_end, j_begin.shape[0], "as j_begin has")
    ranges = j_begin.shape[0]
    read = [("i_first", i_first), ("range_first", range_first), ("j_begin", j_begin), ("j_end", j_end)]
    if lists.i_order is not None:
        i_order = _whole_numbers(f"{what}: i_order", lists.i_order)
        _expect(f"{what}: i_order", i_order, _last(f"{what}: i_first", i_first, lists.i_first), "as i_first ends")
        read.append(("i_order", i_order))
    if lists.j_order is not None:
        read.append(("j_order", _whole_numbers(f"{what}: j_order", lists.j_order)))
    if lists.shifts is not None:
        if axes == 0:
            raise ValueError(
                f"{what}: shifts: expected a pipeline whose places are inputs of j themselves, see info()['neighbours']"
            )
        shifts = _real_numbers(f"{what}: shifts", lists.shifts)
        fits = shifts.shape == (ranges, axes) or (axes == 1 or ranges == 0) and shifts.shape == (ranges,)
        if axes is not None and not fits:
            raise ValueError(f"{what}: shifts: expected shape {(ranges, axes)}, got {shifts.shape}")
        read.append(("shifts", shifts))
    return Ranges(i_first.shape[0] - 1, ranges, read)


# ---- params ------------------------------------------------------------------------------------------------


class Values(NamedTuple):
    """Of a param, for each group or batch."""

    length: int
    numbers: Any  # contiguous float64

    @property
    def pointer(self) -> Optional[int]:
        return describe(self.numbers, Order(LEGACY)).pointer or None


def values_by_group(value: Any, field: Field, groups: int) -> Optional[Values]:
    """None: this has not one axis more than the param, of so many groups. Raises TypeError."""
    found = _shape_of(value)
    if found not in ((groups, *field.shape), (groups, field.components)) and not found == (groups,) == (0,):
        return None
    if isinstance(value, (list, tuple)) and any(_shape_of(row) != found[1:] for row in value):
        raise TypeError("expected rows of one length, got a list of rows that differ")
    return Values(groups * field.components, _as_doubles(value))


def _shape_of(value: Any) -> Tuple[int, ...]:
    """Of a list, as its first rows tell it."""
    shape: Optional[Sequence[int]] = getattr(value, "shape", None)
    if shape is not None:
        return tuple(shape)
    if isinstance(value, (list, tuple)):
        return (len(value), *(_shape_of(value[0]) if value else ()))
    return (len(value),) if isinstance(value, array.array) else ()
