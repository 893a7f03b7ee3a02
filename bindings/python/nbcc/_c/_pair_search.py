"""A search for pairs, of the C interface (nbcc_pair_lists.h). Entry point: `PairSearch`."""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int, c_int32, c_int64, c_size_t, c_void_p
from typing import Dict, List, Optional, Tuple

from . import _library
from ._errors import ErrorOut, check
from ._handles import Device, Sum, _Handle, end_of_run
from ._library import lib
from ._progress import CALLBACK, Watch, may_be_interrupted

class View(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("element", c_int),
        ("count", c_int64),
        ("stride", c_int64),
        ("component_stride", c_int64),
    ]


class Query(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("x", View),
        ("y", View),
        ("batches", c_int64),
        ("i_batch", c_void_p),
        ("j_batch", c_void_p),
        ("cells", c_void_p),
        ("periodic", c_void_p),
        ("cutoff", c_double),
        ("cutoff_of_i", c_void_p),
        ("cutoff_of_types", c_void_p),
        ("types", c_int64),
        ("i_type", c_void_p),
        ("j_type", c_void_p),
        ("excluded_first", c_void_p),
        ("excluded_j", c_void_p),
        ("half", c_int),
        ("self", c_int),
        ("stream", c_void_p),
        ("inclusive", c_int),
        ("progress", c_void_p),
        ("progress_data", c_void_p),
    ]


class PairSpace(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("cutoff", c_double),
        ("inclusive", c_int),
        ("self", c_int),
        ("cell", c_double * 9),
        ("periodic", c_int32 * 3),
        ("i_field", c_int * 3),
        ("i_component", c_int * 3),
        ("j_field", c_int * 3),
        ("j_component", c_int * 3),
    ]


def space_of(used: Sum) -> PairSpace:
    """The pairs that a sum's pipeline sums over, with the params that the sum has."""
    space = PairSpace(ctypes.sizeof(PairSpace))
    check(lib.nbcc_sum_get_pair_space(used.pointer, ctypes.addressof(space), used.place.address), used.place)
    return space


class PairArrays(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("capacity", c_int64),
        ("i", c_void_p),
        ("j", c_void_p),
        ("shifts", c_void_p),
        ("first", c_void_p),
        ("count", c_void_p),
    ]


class PairSearch(_Handle):
    """An nbcc_pair_search with its working memory. Used by one call at a time."""

    __slots__ = ("place", "device")
    _close = "nbcc_pair_search_destroy"

    def __init__(self, device: Device) -> None:
        super().__init__()
        self.place, self.device = ErrorOut(), device
        check(
            lib.nbcc_pair_search_create(device.pointer, ctypes.addressof(self.pointer), self.place.address), self.place
        )

    def run(self, query: Query, waits: bool) -> Optional[int]:
        """The number of pairs; None without waiting. In the main thread a search on the CPU checks for signals."""
        query.size = ctypes.sizeof(Query)
        count, watch = c_int64(), Watch()
        answers = watch.answers()
        if may_be_interrupted():
            query.progress, query.progress_data = CALLBACK, id(answers)
        at = ctypes.addressof(count) if waits else None
        end_of_run(
            lib.nbcc_pair_search_run(self.pointer, ctypes.addressof(query), at, self.place.address), self.place, watch
        )
        return count.value if waits else None

    def store(self, arrays: PairArrays) -> None:
        arrays.size = ctypes.sizeof(PairArrays)
        check(lib.nbcc_pair_search_store(self.pointer, ctypes.addressof(arrays), self.place.address), self.place)


_idle: Dict[Tuple[int, Device], List[PairSearch]] = {}


def taken(device: Device) -> PairSearch:
    """A search that no other call uses."""
    idle = _idle.setdefault((_library.generation, device), [])
    try:
        return idle.pop()
    except IndexError:
        return PairSearch(device)


# A search on the CPU keeps 8 to 12 bytes for each pair. Above 128 MB its memory is freed instead of used again.
MAX_KEPT_PAIRS = 10_000_000


def give_back(search: PairSearch, pairs: int) -> None:
    """pairs: the number that the search found."""
    if search.device.name == "cpu" and pairs > MAX_KEPT_PAIRS:
        return
    _idle[(search.generation, search.device)].append(search)
