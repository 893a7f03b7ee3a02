"""Converts a caller's lists of pairs to arguments of the C interface. Entry points: `Lists`, `Rows`, `listing_of` and
`values_by_group`. Lengths of arrays are checked here; the library checks their contents.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Any, ClassVar, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from .._arrays import _arrays
from .._arrays._arrays import CPU, Array, describe
from ._errors import ErrorOut, check
from ._fields import Field, is_read_by
from ._library import ListsStruct, lib
from .._arrays._list_arrays import doubles_of, int64_view, read_only_copy, real_numbers, whole_numbers
from .._arrays._numbers import is_shape_of, named, shape_of, whole
from .._arrays._streams import LEGACY, Order


class _Fixed:
    """Base class of immutable lists, which need not be passed to a sum again. Fields are properties without setters;
    copy and pickle construct a new object from the same arrays."""

    _names: ClassVar[Tuple[str, ...]] = ()
    _values: Mapping[str, Any]  # by name; None: not given

    def __reduce__(self) -> Any:
        return type(self), tuple(self._values[name] for name in self._names)


def _field(name: str) -> Any:
    return property(lambda fixed: fixed._values[name])


def _fixed(read: Sequence[Tuple[str, Array]], values: Mapping[str, Any]) -> Tuple[List[Tuple[str, Array]], Dict[str, Any]]:
    """Returns the arrays that a sum reads, and the values of the fields. Host arrays are replaced by read-only copies;
    arrays on a GPU are not copied."""
    fixed, held = [], dict(values)
    for name, found in read:
        if found.device == CPU:
            held[name], found = read_only_copy(found)
        fixed.append((name, found))
    return fixed, held


class Lists(_Fixed):
    """Groups of i, each with ranges of j that act on it: `gravity(x, x, m, lists=nbcc.Lists(...))`.

    Groups and ranges consist of slots; i_order and j_order map a slot to a particle. Every i is in exactly one group.
    Groups and ranges may be empty; a j that is in several ranges of a group acts once for each.

    i_first: integers of shape (groups + 1,), rising from 0: group g has the i-slots i_first[g], ...,
        i_first[g + 1] - 1.
    range_first: integers of shape (groups + 1,), rising from 0 to the number of ranges: group g has the ranges
        range_first[g], ..., range_first[g + 1] - 1.
    j_begin, j_end: integers of shape (ranges,): the first j-slot of a range, and one past the last.
    i_order, j_order: integers of shape (ni,) and (nj,): the particle of a slot; each particle once. None: slot k is
        particle k.
    shifts: real numbers of shape (ranges, axes), or (ranges,) for one axis: added to the positions of a range's j. Only
        for pipelines for which `info()["neighbours"]` shows which inputs of j are positions. None: no shifts.

    Arrays may be of any kind that inputs may have. Host arrays are copied once, as read-only int64 (float64 for
    shifts); arrays on a GPU must be contiguous int64 (float64), are not copied, and must not be changed. So this
    object never changes, and later calls with it skip the copy and the check. Raises TypeError and ValueError; calls
    check the contents of the arrays.
    """

    _names = ("i_first", "range_first", "j_begin", "j_end", "i_order", "j_order", "shifts")
    i_first, range_first, j_begin, j_end, i_order, j_order, shifts = map(_field, _names)

    def __init__(
        self,
        i_first: Any,
        range_first: Any,
        j_begin: Any,
        j_end: Any,
        i_order: Any = None,
        j_order: Any = None,
        shifts: Any = None,
    ) -> None:
        given = dict(zip(self._names, (i_first, range_first, j_begin, j_end, i_order, j_order, shifts)))
        self._read, self._values = _ranges_of("nbcc.Lists", given)

    def __repr__(self) -> str:
        return f"<nbcc.Lists of {self._read.groups} groups, {self._read.ranges} ranges>"


class Rows(_Fixed):
    """Pairs in CSR form, for `listed_pairs=` and `exclusions=`: the j of i are j[first[i]], ..., j[first[i + 1] - 1].

    first, j: integers of shape (ni + 1,) and (pairs,); `indptr` and `indices` of a sparse matrix in CSR form.
    images: integers of shape (pairs, 3), of exclusions of a pipeline with every_image(): the image of j that is
        excluded, as image_index() numbers it. None: all images.

    This object never changes, so later calls with it skip the copy and the check, as for `Lists`. Raises TypeError and
    ValueError.
    """

    _names = ("first", "j", "images")
    first, j, images = map(_field, _names)

    def __init__(self, first: Any, j: Any, images: Any = None) -> None:
        read = _rows_of("nbcc.Rows", (first, j) if images is None else (first, j, images), may_have_images=True)
        fixed, self._values = _fixed(read.arrays(), {"first": first, "j": j, "images": images})
        self._read = PairRows(*(found for _, found in fixed))
        # What a call checks of the rows besides their numbers, which the library checks.
        self._kind = tuple((found.shape, found.device) for _, found in fixed)

    def __repr__(self) -> str:
        return f"<nbcc.Rows of {self._read.first.shape[0] - 1} i: {self._read.j.shape[0]} pairs>"


# ---- arguments of the C interface --------------------------------------------------------------------------


class PairRows(NamedTuple):
    """Listed or excluded pairs in CSR form."""

    first: Array
    j: Array
    images: Optional[Array] = None  # three numbers for each j

    def arrays(self) -> List[Tuple[str, Array]]:
        images = [] if self.images is None else [("images", self.images)]
        return [("first", self.first), ("j", self.j), *images]

    def give(self, pointer: ctypes.c_void_p, place: ErrorOut) -> None:
        if self.images is not None:
            raise TypeError("listed_pairs: expected (first, j); images are given for exclusions")
        self._give(lib.nbcc_sum_set_listed_pairs, pointer, place)

    def give_as_exclusions(self, pointer: ctypes.c_void_p, place: ErrorOut) -> None:
        if self.images is None:
            self._give(lib.nbcc_sum_set_exclusions, pointer, place)
        else:
            self._give(lib.nbcc_sum_set_excluded_images, pointer, place, self.images.pointer)

    def _give(self, function: Any, pointer: ctypes.c_void_p, place: ErrorOut, *images: Any) -> None:
        first, j = self.first, self.j
        rows = (first.shape[0] - 1, first.pointer, j.shape[0], j.pointer)
        check(function(pointer, *rows, *images, place.address), place)


class Batches(NamedTuple):
    """Batch ids of particles; an i and a j with equal ids are a pair."""

    groups: int
    i: Array
    j: Array

    def arrays(self) -> List[Tuple[str, Array]]:
        return [("i_batch", self.i), ("j_batch", self.j)]

    def give(self, pointer: ctypes.c_void_p, place: ErrorOut) -> None:
        groups, i, j = self
        check(
            lib.nbcc_sum_set_batches(pointer, groups, i.shape[0], i.pointer, j.shape[0], j.pointer, place.address),
            place,
        )


class Ranges(NamedTuple):
    """The arrays of `Lists`, converted and checked."""

    groups: int
    ranges: int
    axes: int  # components of a shift
    read: List[Tuple[str, Array]]  # (member of nbcc_lists, array)

    def arrays(self) -> List[Tuple[str, Array]]:
        return self.read

    def give(self, pointer: ctypes.c_void_p, place: ErrorOut) -> None:
        lists = ListsStruct(ctypes.sizeof(ListsStruct), self.groups, self.ranges, axes=self.axes)
        for name, found in self.read:
            setattr(lists, name, found.pointer)
            if name == "j_order":
                lists.j_count = found.shape[0]
        check(lib.nbcc_sum_set_lists(pointer, ctypes.addressof(lists), place.address), place)


class Listing(NamedTuple):
    """The lists and exclusions of a call."""

    listed: Union[Ranges, Batches, PairRows, None]
    exclusions: Optional[PairRows]
    # The caller's Lists or Rows from which these were read; None for arguments that may change.
    listed_by: Optional[_Fixed] = None
    exclusions_by: Optional[_Fixed] = None

    @property
    def pairs(self) -> int:
        """The number of listed pairs."""
        return self.listed.j.shape[0] if isinstance(self.listed, PairRows) else 0

    @property
    def groups(self) -> Optional[int]:
        """The number of groups or batches, for which params may have values; None without lists and batches."""
        return None if self.listed is None or isinstance(self.listed, PairRows) else self.listed.groups

    @property
    def what(self) -> str:
        return {Ranges: "lists", Batches: "batches", PairRows: "listed_pairs"}.get(type(self.listed), "")

    def check(self, who: str, device: str, nj: int) -> None:
        """Raises ValueError for arrays that a sum on this device cannot read, and for an empty j_order, which the
        library would take for a missing one."""
        for what, given in ((self.what, self.listed), ("exclusions", self.exclusions)):
            for name, found in given.arrays() if given is not None else ():
                if not is_read_by(device, found.device):
                    alternative = "" if device == CPU else " or the CPU"
                    raise ValueError(
                        f"{who}(): {what}: {name}: expected an array on {device}{alternative}, "
                        f"got one on {found.device}"
                    )
                if name == "j_order" and found.shape[0] == 0 and nj > 0:
                    raise ValueError(f"{who}(): lists: j_order: expected {nj} integers, one for each j, got 0")


NOTHING_LISTED = Listing(None, None)


class LastGiven:
    """The lists or exclusions that a sum was last given. Holds only a weak reference: the library has its own
    copies."""

    __slots__ = ("may_be_set", "_of")

    def __init__(self) -> None:
        self.end()

    def end(self) -> None:
        self.may_be_set = False
        self._of: Optional[weakref.ref[_Fixed]] = None

    def begin(self) -> None:
        """Call before new lists are set. If the library rejects them, earlier lists may still be set."""
        self.may_be_set, self._of = True, None

    def remember(self, fixed: Optional[_Fixed]) -> None:
        self._of = None if fixed is None else weakref.ref(fixed)

    def is_still(self, fixed: Optional[_Fixed]) -> bool:
        return fixed is not None and self._of is not None and self._of() is fixed


def listing_of(who: str, lists: Any, batches: Any, listed_pairs: Any, exclusions: Any) -> Listing:
    """Raises TypeError, ValueError."""
    given = [
        f"{name}="
        for name, value in (("lists", lists), ("batches", batches), ("listed_pairs", listed_pairs))
        if value is not None
    ]
    if len(given) > 1:
        raise TypeError(f"{who}() takes one of lists=, batches= and listed_pairs=, got {' and '.join(given)}")
    listed: Union[Ranges, Batches, PairRows, None] = None
    by: Optional[_Fixed] = None
    if lists is not None:
        if not isinstance(lists, Lists):
            raise TypeError(f"{who}(): lists: expected nbcc.Lists, got {type(lists).__name__}")
        listed, by = lists._read, lists
    elif batches is not None:
        listed = _batches_of(f"{who}(): batches", batches)
    elif listed_pairs is not None:
        listed = _rows_of(f"{who}(): listed_pairs", listed_pairs)
        by = listed_pairs if isinstance(listed_pairs, Rows) else None
    excluded = None if exclusions is None else _rows_of(f"{who}(): exclusions", exclusions, may_have_images=True)
    return Listing(listed, excluded, by, exclusions if isinstance(exclusions, Rows) else None)


def listed_count(options: Mapping[str, Any]) -> int:
    """The number of pairs that the keywords of a call list."""
    rows = options.get("listed_pairs")
    return 0 if rows is None else int(_rows_of("listed_pairs", rows).j.shape[0])


# ---- reading the caller's arguments ------------------------------------------------------------------------


def _firsts(what: str, value: Any, of: str) -> Array:
    found = whole_numbers(what, value)
    if found.shape == (0,):
        raise ValueError(f"{what}: expected {of} + 1 integers, got 0")
    return found


def _expect(what: str, found: Array, count: int, why: str) -> None:
    if found.shape[0] != count:
        raise ValueError(f"{what}: expected {count} integers, {why}, got {found.shape[0]}")


def _rows_of(what: str, value: Any, may_have_images: bool = False) -> PairRows:
    if isinstance(value, Rows):
        return value._read
    if hasattr(value, "indptr") and hasattr(value, "indices"):
        if getattr(value, "format", "csr") != "csr":
            raise TypeError(f"{what}: expected a sparse matrix in the form 'csr', got one in '{value.format}'")
        value = (value.indptr, value.indices)
    try:
        first, j, images = value if may_have_images and len(value) == 3 else (*value, None)
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise TypeError(f"{what}: expected (first, j), nbcc.Rows or a sparse matrix, got {kind}") from None
    rows = PairRows(_firsts(f"{what}: first", first, "ni"), whole_numbers(f"{what}: j", j))
    return rows if images is None else rows._replace(images=_images_of(f"{what}: images", images, rows.j.shape[0]))


def _images_of(what: str, value: Any, pairs: int) -> Array:
    try:
        shape = tuple(value.shape) if hasattr(value, "shape") else (len(value), *{len(image) for image in value})
        flat = value.reshape(-1) if hasattr(value, "reshape") else [one for image in value for one in image]
    except TypeError:
        raise TypeError(f"{what}: expected integers of shape ({pairs}, 3), got {type(value).__name__}") from None
    if shape != (pairs, 3) and not (pairs == 0 and shape[0] == 0):
        raise ValueError(f"{what}: expected shape ({pairs}, 3), got {shape}")
    return whole_numbers(what, flat)


def _batches_of(what: str, value: Any) -> Batches:
    if not isinstance(value, (tuple, list)) or len(value) not in (2, 3):
        raise TypeError(f"{what}: expected (i_batch, j_batch) or (i_batch, j_batch, count), got {type(value).__name__}")
    ids = [whole_numbers(f"{what}: {side}_batch", one) for side, one in zip("ij", value)]
    if len(value) == 3:
        return Batches(named(f"{what}: count", whole, value[2], 0), *ids)
    # The library rejects negative ids; at least one batch, so that its message can name the bounds.
    largest = [
        max(_largest(f"{what}: {side}_batch", found, one), 0)
        for side, found, one in zip("ij", ids, value)
        if found.shape[0] > 0
    ]
    if largest and max(largest) == 2**63 - 1:
        raise ValueError(f"{what}: expected ids less than {2**63 - 1}, got {max(largest)}")
    return Batches(max(largest) + 1 if largest else 0, *ids)


def _largest(what: str, found: Array, value: Any) -> int:
    if found.device == CPU:
        numpy, integers = _arrays.numpy, int64_view(found)
        return int(max(integers) if numpy is None else numpy.frombuffer(integers, "int64").max())
    if not hasattr(value, "max"):
        raise TypeError(
            f"{what}: the largest entry of an array of '{found.library}' is not known; give (i_batch, j_batch, count)"
        )
    return int(value.max())


def _last(what: str, found: Array, value: Any) -> int:
    if found.device == CPU:
        return int(int64_view(found)[-1])
    try:
        return int(value[-1])
    except TypeError:
        raise TypeError(
            f"{what}: the last entry of an array of '{found.library}' cannot be read; give one of the CPU"
        ) from None


def _ranges_of(what: str, given: Mapping[str, Any]) -> Tuple[Ranges, Dict[str, Any]]:
    """Returns the ranges that a sum reads, and the values of the fields of `Lists`."""
    i_first = _firsts(f"{what}: i_first", given["i_first"], "groups")
    range_first = whole_numbers(f"{what}: range_first", given["range_first"])
    _expect(f"{what}: range_first", range_first, i_first.shape[0], "as i_first has")
    j_begin, j_end = (whole_numbers(f"{what}: {name}", given[name]) for name in ("j_begin", "j_end"))
    _expect(f"{what}: j_end", j_end, j_begin.shape[0], "as j_begin has")
    ranges, axes = j_begin.shape[0], 0
    read = [("i_first", i_first), ("range_first", range_first), ("j_begin", j_begin), ("j_end", j_end)]
    if given["i_order"] is not None:
        i_order = whole_numbers(f"{what}: i_order", given["i_order"])
        _expect(f"{what}: i_order", i_order, _last(f"{what}: i_first", i_first, given["i_first"]), "as i_first ends")
        read.append(("i_order", i_order))
    if given["j_order"] is not None:
        read.append(("j_order", whole_numbers(f"{what}: j_order", given["j_order"])))
    if given["shifts"] is not None:
        shifts = real_numbers(f"{what}: shifts", given["shifts"])
        if len(shifts.shape) not in (1, 2) or shifts.shape[0] != ranges:
            raise ValueError(f"{what}: shifts: expected shape ({ranges}, axes), got {shifts.shape}")
        axes = shifts.shape[1] if len(shifts.shape) == 2 else 1
        read.append(("shifts", shifts))
    fixed, values = _fixed(read, given)
    return Ranges(i_first.shape[0] - 1, ranges, axes, fixed), values


# ---- params ------------------------------------------------------------------------------------------------


class Values(NamedTuple):
    """The values of a param for each group or batch."""

    length: int
    numbers: Any  # contiguous float64

    @property
    def pointer(self) -> Optional[int]:
        return describe(self.numbers, Order(LEGACY)).pointer or None


def is_by_group(value: Any, field: Field, groups: int) -> bool:
    """True if the value's shape is that of the param with an additional first axis of length `groups`."""
    found = shape_of(value)
    return found == (groups,) == (0,) or (found[:1] == (groups,) and is_shape_of(found[1:], field.row))


def values_by_group(value: Any, field: Field, groups: int) -> Optional[Values]:
    """Values of a param for each group; None if the value has the shape of one param. Raises TypeError."""
    if not is_by_group(value, field, groups):
        return None
    return Values(groups * field.components, doubles_of(value, field.scalar == "bool"))
