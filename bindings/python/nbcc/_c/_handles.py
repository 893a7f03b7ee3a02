"""Owners of the C interface's handles: devices, kernels (a pipeline compiled for a device) and sums.

Entry points: `open_device`, `Kernel` and `Sum`. Arrays are checked by `_call` before it binds them.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import struct
import sys
import warnings
from typing import Any, ClassVar, Dict, List, Optional, Sequence, Set, Tuple

from . import _library
from ._errors import INTERRUPTED, ErrorOut, check, decode
from ._fields import INDEX_USES, OUTPUT, PAIRS, REDUCTIONS, ROLES, SCALARS, SYMMETRIC, DeviceChoice, Field, Options, Search
from ._library import DeviceOptions, FieldStruct, NeighbourListStruct, RunOptions, StatisticsStruct
from ._library import lib
from ._lists import NOTHING_LISTED, LastGiven, Listing, Values
from ._neighbours import Neighbours, copied
from ._progress import CALLBACK, Progress, Watch, may_be_interrupted


class _Handle:
    """Closes its handle when it is garbage collected, but only in the process that opened it."""

    __slots__ = ("pointer", "generation")
    _close: ClassVar[str]  # the function that closes it

    def __init__(self) -> None:
        self.pointer = ctypes.c_void_p()
        self.generation = _library.generation

    # The module is a default argument, because its global name may be deleted when the interpreter exits.
    def __del__(self, library: Any = _library) -> None:
        pointer = getattr(self, "pointer", None)  # None: __init__ has not run
        if pointer and self.generation == library.generation:
            getattr(library.lib, type(self)._close)(pointer)

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__.lower()} of nbcc belongs to its process: it is neither copied nor pickled")


class Device(_Handle):
    __slots__ = ("name", "choice", "description")
    _close = "nbcc_device_close"

    def __init__(self, name: str, choice: DeviceChoice) -> None:
        super().__init__()
        self.name, self.choice = name, choice
        options = DeviceOptions(
            ctypes.sizeof(DeviceOptions),
            choice.threads,
            choice.isa.encode() if choice.isa is not None else None,
            os.fsencode(choice.cache_dir) if choice.cache_dir is not None else None,
            None,
        )
        place = ErrorOut()
        check(
            lib.nbcc_device_open(
                name.encode(), ctypes.addressof(options), ctypes.addressof(self.pointer), place.address
            ),
            place,
        )
        self.description = decode(lib.nbcc_device_name(self.pointer))

    def __reduce__(self) -> Any:
        return open_device, (self.name, self.choice)


_devices: Dict[Tuple[int, str, DeviceChoice], Device] = {}


def open_device(name: str, choice: DeviceChoice) -> Device:
    """Returns one device for all equal requests, so that these share its threads and kernels. Raises DeviceError."""
    key = (_library.generation, name, choice)
    # Two threads may open a device at once; setdefault then keeps one device for both.
    return _devices.get(key) or _devices.setdefault(key, Device(name, choice))


class Kernel(_Handle):
    """A pipeline, compiled for a device."""

    __slots__ = ("device", "precision", "name", "operations", "neighbours", "no_neighbours", "fields", "index_use")
    _close = "nbcc_pipeline_close"

    def __init__(self, device: Device, text: bytes, filename: str, options: Options) -> None:
        super().__init__()
        self.device, self.precision = device, options.precision or ""
        made_with = options.as_struct()
        place = ErrorOut()
        check(
            lib.nbcc_pipeline_from_text(
                device.pointer,
                text,
                os.fsencode(filename),
                ctypes.addressof(made_with),
                ctypes.addressof(self.pointer),
                place.address,
            ),
            place,
        )
        self.name = decode(lib.nbcc_pipeline_name(self.pointer))
        self.operations: float = lib.nbcc_pipeline_operations(self.pointer)
        self.neighbours = decode(lib.nbcc_pipeline_neighbours(self.pointer))
        self.no_neighbours = decode(lib.nbcc_pipeline_no_neighbours(self.pointer))
        self.fields = fields_of(lib.nbcc_pipeline_field, self.pointer)
        self.index_use = INDEX_USES[lib.nbcc_pipeline_index_use(self.pointer)]


def fields_of(function: Any, owner: Any) -> Tuple[Field, ...]:
    """function: nbcc_pipeline_field or nbcc_report_field. owner: its handle."""
    fields: List[Field] = []
    one = FieldStruct()
    while function(owner, len(fields), ctypes.addressof(one)) == 0:
        role = ROLES[one.role]
        rows = [length for length in (one.rows, one.columns) if length > 0]
        is_vector = one.width > 1 and not one.is_complex
        fields.append(
            Field(
                name=decode(one.name),
                role=role,
                type=decode(one.type),
                shape=(*rows, one.width) if is_vector else tuple(rows),
                components=one.components,
                integral=bool(one.integral),
                reduction=REDUCTIONS[one.reduction] if role == OUTPUT else None,
                default=tuple(one.defaults[: one.default_count]) if one.default_count else None,
                comment=decode(one.comment),
                total=bool(one.total),
                of_pair=bool(one.of_pair),
                scalar=SCALARS[one.scalar],
                width=one.width,
                is_complex=bool(one.is_complex),
                histogram=bool(one.histogram),
                table=bool(one.table),
                is_read=bool(one.is_read),
            )
        )
    return tuple(fields)


# data, element, count, stride, component_stride of nbcc_view, with its padding.
_VIEW = struct.Struct("@Pi4xqqq")
View = Tuple[int, int, int, int, int, str]  # these five and the device, so that equal views are the same memory


_runs = itertools.count(1)  # numbers of the runs of all sums
_IGNORED: View = (0, 0, 0, 0, 0, "")


def level_of_caller() -> int:
    """The stacklevel for warnings.warn() in the calling function that selects the first frame outside of the package, and
    of the libraries that call it for the user."""
    level, frame = 1, sys._getframe(1)
    inner = (__name__.partition(".")[0], "torch", "jax")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in inner:
        level, frame = level + 1, frame.f_back
    return level


def end_of_run(status: int, place: ErrorOut, watch: Watch) -> None:
    """Checks the status of a function that may be interrupted; then raises the callback's exception."""
    if status == INTERRUPTED:
        message, error = place.take(), watch.error
        watch.error = None
        try:
            raise KeyboardInterrupt(message) if error is None else error
        finally:
            del error  # its stack has this frame
    if status:
        place.throw(status)


class Sum(_Handle):
    """An nbcc_sum, with a record of what is bound to it, because binding the same array again costs time (on a GPU the
    library queries the kind of memory). Used by one call at a time."""

    __slots__ = (
        "place",
        "version",
        "last_run",
        "_kernel",
        "_names",
        "_bound",
        "_params",
        "_offsets",
        "_counts",
        "_search",
        "_listed",
        "_excluded",
        "_by_group",
        "_view",
        "_at",
        "_warned",
        "_watch",
        "_answers",
        "_asks",
    )
    _close = "nbcc_sum_destroy"

    def __init__(self, kernel: Kernel) -> None:
        super().__init__()
        self.place = ErrorOut()
        self.version = 0  # of the packed j-particles, see _call.Caller
        self.last_run = 0  # its number among the runs of all sums
        self._kernel = kernel
        self._names = [field.name.encode() for field in kernel.fields]
        self._bound: List[Optional[View]] = [None] * len(kernel.fields)
        self._params: List[Optional[Sequence[float]]] = [field.default for field in kernel.fields]
        self._offsets = (0, 0)
        self._counts: Optional[Tuple[int, int]] = None
        self._search = Search()
        self._listed, self._excluded = LastGiven(), LastGiven()
        self._by_group: Set[int] = set()  # params that have values by group
        self._view = ctypes.create_string_buffer(_VIEW.size)
        self._at = ctypes.addressof(self._view)
        self._warned: List[bytes] = []  # warnings of the last run
        self._watch = Watch()
        self._answers = self._watch.answers()
        self._asks: Optional[bool] = False  # the library has the callback; None: it has an earlier one
        check(lib.nbcc_sum_create(kernel.pointer, ctypes.addressof(self.pointer), self.place.address), self.place)

    def bind(self, k: int, view: View) -> None:
        if self._bound[k] == view:
            return
        self._bound[k] = None
        _VIEW.pack_into(self._view, 0, view[0], view[1], view[2], view[3], view[4])
        status = lib.nbcc_sum_bind(self.pointer, self._names[k], self._at, self.place.address)
        if status:
            self.place.throw(status)
        self._bound[k] = view

    def ignore(self, k: int) -> None:
        if self._bound[k] == _IGNORED:
            return
        check(lib.nbcc_sum_ignore(self.pointer, self._names[k], self.place.address), self.place)
        self._bound[k] = _IGNORED

    def set_param(self, k: int, values: Sequence[float]) -> None:
        if self._params[k] == values and k not in self._by_group:
            return
        self._params[k] = None
        numbers = (ctypes.c_double * len(values))(*values)
        check(
            lib.nbcc_sum_set_param(
                self.pointer, self._names[k], ctypes.addressof(numbers), len(values), self.place.address
            ),
            self.place,
        )
        self._params[k] = values
        self._by_group.discard(k)

    def set_offsets(self, i_offset: int, j_offset: int) -> None:
        if self._offsets == (i_offset, j_offset):
            return
        check(lib.nbcc_sum_set_offsets(self.pointer, i_offset, j_offset, self.place.address), self.place)
        self._offsets = (i_offset, j_offset)

    def set_counts(self, ni: int, nj: int) -> None:
        if self._counts == (ni, nj):
            return
        check(lib.nbcc_sum_set_counts(self.pointer, ni, nj, self.place.address), self.place)
        self._counts = (ni, nj)

    def set_search(self, search: Search) -> None:
        if self._search == search:
            return
        if self._search.tolerance != search.tolerance:  # this compiles kernels and discards what was chosen for others
            check(lib.nbcc_sum_set_tolerance(self.pointer, search.tolerance, None, self.place.address), self.place)
        self._search = Search("", -1, search.tolerance)  # unknown if one of these calls fails
        check(lib.nbcc_sum_set_pairs(self.pointer, PAIRS.index(search.pairs), self.place.address), self.place)
        check(lib.nbcc_sum_set_skin(self.pointer, search.skin, self.place.address), self.place)
        both = SYMMETRIC.index(search.symmetric)
        check(lib.nbcc_sum_set_symmetric(self.pointer, both, self.place.address), self.place)
        self._search = search

    def set_listing(self, listing: Optional[Listing]) -> None:
        """Sets or removes lists and exclusions. Lists and Rows that are already set are kept; other arguments are set
        again in each call, because the same arrays may have other contents."""
        if listing is None and not self._listed.may_be_set and not self._excluded.may_be_set:
            return
        listed, exclusions, lists, rows = NOTHING_LISTED if listing is None else listing
        if listed is None:
            if self._listed.may_be_set:
                check(lib.nbcc_sum_set_lists(self.pointer, None, self.place.address), self.place)
                self._listed.end()
                self._by_group.clear()
        elif not self._listed.is_still(lists):
            self._listed.begin()
            listed.give(self.pointer, self.place)
            self._listed.remember(lists)
            self._by_group.clear()
        if exclusions is None:
            if self._excluded.may_be_set:
                check(lib.nbcc_sum_set_exclusions(self.pointer, 0, None, 0, None, self.place.address), self.place)
                self._excluded.end()
        elif not self._excluded.is_still(rows):
            self._excluded.begin()
            exclusions.give_as_exclusions(self.pointer, self.place)
            self._excluded.remember(rows)

    def set_values(self, k: int, values: Values) -> None:
        """Sets a param's values by group. Call after set_listing; in effect until other lists or set_param."""
        self._by_group.add(k)
        check(
            lib.nbcc_sum_set_batch_param(
                self.pointer, self._names[k], values.pointer, values.length, self.place.address
            ),
            self.place,
        )

    def find_neighbours(self, like: Any) -> Neighbours:
        """The neighbour list of the bound inputs. like: see `copied`."""
        found = NeighbourListStruct(ctypes.sizeof(NeighbourListStruct))
        at = ctypes.addressof(found)
        self._end(lib.nbcc_sum_find_neighbours(self.pointer, at, self.place.address))
        try:
            return copied(found, like)
        finally:
            lib.nbcc_neighbour_list_free(at)

    def statistics(self) -> StatisticsStruct:
        found = StatisticsStruct(ctypes.sizeof(StatisticsStruct))
        check(lib.nbcc_sum_get_statistics(self.pointer, ctypes.addressof(found), self.place.address), self.place)
        return found

    def keep_j(self) -> None:
        check(lib.nbcc_sum_keep_j(self.pointer, 1, self.place.address), self.place)

    def j_changed(self) -> None:
        check(lib.nbcc_sum_j_changed(self.pointer, self.place.address), self.place)

    def ask(self, progress: Optional[Progress]) -> None:
        """Sets the progress function of later runs. In the main thread the callback also checks for signals."""
        self._watch.progress = progress
        if self._answers.gi_frame is None:  # the generator has ended by an exception outside of its `try`
            self._asks, self._answers = None, self._watch.answers()
        asks = progress is not None or may_be_interrupted()
        if asks == self._asks:
            return
        callback, data = (CALLBACK, id(self._answers)) if asks else (None, None)
        check(lib.nbcc_sum_set_progress(self.pointer, callback, data, self.place.address), self.place)
        self._asks = asks

    def forget(self) -> None:
        """Drops the caller's progress function and its exception."""
        self._watch.progress = self._watch.error = None

    def run(self, options: Optional[RunOptions]) -> None:
        self._end(
            lib.nbcc_sum_run(self.pointer, None if options is None else ctypes.addressof(options), self.place.address)
        )
        self._number_run()

    def _number_run(self) -> None:
        self.last_run = next(_runs)

    def _end(self, status: int) -> None:
        end_of_run(status, self.place, self._watch)

    def warn(self) -> None:
        """Issues the warnings of the last run that the run before did not have, with the line that called the
        package."""
        first = lib.nbcc_sum_warning(self.pointer, 0)
        if first is None and not self._warned:
            return
        before, self._warned = self._warned, []
        while first is not None:
            self._warned.append(first)
            first = lib.nbcc_sum_warning(self.pointer, len(self._warned))
        for text in self._warned:
            if text not in before:
                warnings.warn(text.decode(), stacklevel=level_of_caller())

    def method(self) -> str:
        """The method of the last run."""
        return decode(lib.nbcc_sum_method(self.pointer))

    def wait_alone(self) -> None:
        """Waits outside of a call, without a progress function."""
        self.ask(None)
        self.wait()

    def wait(self) -> None:
        self._end(lib.nbcc_sum_wait(self.pointer, self.place.address))

    def wait_after_error(self) -> None:
        """Waits until launched work no longer writes, without a callback, and ignores errors."""
        self._asks = None
        for status in (
            lib.nbcc_sum_set_progress(self.pointer, None, None, self.place.address),
            lib.nbcc_sum_wait(self.pointer, self.place.address),
        ):
            if status:
                self.place.take()
