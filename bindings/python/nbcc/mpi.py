"""Sums over particles that are spread over the ranks of an MPI communicator, through mpi4py and libnbcc_mpi.

    from mpi4py import MPI
    import nbcc, nbcc.mpi

    gravity = nbcc.mpi.spread(nbcc.compile("gravity.pipe"), MPI.COMM_WORLD)
    acc, pot = gravity(x, xj=x, mj=m)      # this rank's particles, pulled by those of all ranks

The door is `spread`. mpi4py and libnbcc_mpi must have been built with the same MPI. What a rank's Python finds wrong
before a sum begins is told to the others here; from there on libnbcc_mpi does that.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple, Type

from . import _library
from ._call import Caller
from ._errors import DeviceError, ErrorPlace, InternalError, UsageError, check
from ._handles import Device, Kernel, Sum
from ._library import RunOptions
from ._pipeline import Pipeline

__all__ = ["Spread", "spread"]


def _candidates() -> List[str]:
    """Beside libnbcc_jit, or where the system's loader looks."""
    named = os.environ.get("NBCC_MPI_LIBRARY")
    if named:
        return [named]
    folder = Path(_library.path).parent
    beside = [str(folder / name) for name in ("libnbcc_mpi.so.0", "libnbcc_mpi.so") if (folder / name).exists()]
    return beside + ["libnbcc_mpi.so.0", "libnbcc_mpi.so"]


def _load() -> ctypes.CDLL:
    problems = []
    for place in _candidates():
        try:
            # MPI loads components of its own, which look for its symbols among those of all.
            loaded = ctypes.CDLL(place, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            problems.append(str(error))
            continue
        loaded.nbcc_mpi_run.restype = ctypes.c_int
        loaded.nbcc_mpi_run.argtypes = [ctypes.c_void_p] * 4
        loaded.nbcc_mpi_ring_create.restype = ctypes.c_int
        loaded.nbcc_mpi_ring_destroy.restype = None
        loaded.nbcc_mpi_ring_destroy.argtypes = [ctypes.c_void_p]
        loaded.nbcc_mpi_ring_owners.restype = ctypes.c_int
        loaded.nbcc_mpi_ring_owners.argtypes = [ctypes.c_void_p] * 4
        return loaded
    raise ImportError(
        "libnbcc_mpi could not be loaded (NBCC_MPI_LIBRARY may name it; it is built where there is an MPI):\n  "
        + "\n  ".join(problems)
    )


_mpi = _load()

# What may be raised on all ranks because one of them did, by its number here; others become RuntimeError.
_KINDS: Tuple[Type[Exception], ...] = (TypeError, ValueError, UsageError, DeviceError, InternalError, RuntimeError)


def _kind_of(error: BaseException) -> int:
    exact = [k for k, kind in enumerate(_KINDS) if type(error) is kind]
    return exact[0] if exact else len(_KINDS) - 1


class _Ring:
    """An nbcc_mpi_ring, for sums on one device of each rank."""

    def __init__(self, comm: Any, device: Device) -> None:
        from mpi4py import MPI

        self.pointer = ctypes.c_void_p()
        self._device = device  # which must stay open
        handle = ctypes.c_void_p if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_void_p) else ctypes.c_int
        place = ErrorPlace()
        check(
            _mpi.nbcc_mpi_ring_create(
                handle.from_address(MPI._addressof(comm)),
                device.pointer,
                ctypes.byref(self.pointer),
                ctypes.c_void_p(place.address),
            ),
            place,
        )


class _RingSum(Sum):
    """A sum that runs on all ranks."""

    __slots__ = ("_spread",)

    def __init__(self, kernel: Kernel, spread: Spread) -> None:
        super().__init__(kernel)
        self._spread = spread

    def run(self, options: Optional[RunOptions]) -> None:
        ring = self._spread._ring(self._kernel.device)
        self._end(
            _mpi.nbcc_mpi_run(
                ring.pointer, self.pointer, None if options is None else ctypes.addressof(options), self.place.address
            )
        )


class Spread(Caller):
    """A pipeline whose particles are spread over ranks; calling it sums over the j of all ranks for every i of this one.

    Made by `spread`. Calls, and `close`, are collective: every rank makes them, in the same order.
    """

    def __init__(self, pipeline: Pipeline, comm: Any) -> None:
        if not isinstance(pipeline, Pipeline):
            raise TypeError(f"spread(): expected a pipeline of nbcc.compile, got {type(pipeline).__name__}")
        super().__init__(pipeline._family)
        self._comm = comm
        self._rings: Dict[Tuple[str, ...], _Ring] = {}
        self._last: Optional[_Ring] = None
        self._agreed = False

    def __call__(self, /, *arrays: Any, **keywords: Any) -> Any:
        """Sums over the j of all ranks, for every i of this one.

        Arguments and results are those of nbcc.Pipeline.__call__: arrays are the particles of this rank, any number or
        none. i_index, j_index and indices that are results count through all ranks, those of rank 0 first, so that
        i_offset and j_offset are not for the caller to set; lists, batches, listed_pairs and exclusions are refused.

        Raises what such calls do, on every rank where one of them fails; its number is in the message.
        """
        self._agreed = False
        try:
            for name in ("i_offset", "j_offset"):
                if keywords.get(name):
                    raise TypeError(f"{self._family.name}(): {name}: which numbers particles have, their ranks say")
            return super().__call__(*arrays, **keywords)
        except Exception as error:
            if not self._agreed:
                self._agree(error, "")
            raise

    def owners(self) -> Tuple[Tuple[int, ...], Tuple[int, ...]]:
        """(i_first, j_first), of ranks + 1 numbers each: in the last call rank r had the i_index from i_first[r] to
        before i_first[r + 1], and likewise j. Not collective. Raises UsageError before the first call."""
        if self._last is None:
            raise UsageError(f"{self._family.name}: nothing has been summed yet")
        first, place = (ctypes.c_void_p * 2)(), ErrorPlace()
        at = ctypes.addressof(first)
        check(
            _mpi.nbcc_mpi_ring_owners(self._last.pointer, at, at + ctypes.sizeof(ctypes.c_void_p), place.address), place
        )
        count = self._comm.Get_size() + 1
        i_first, j_first = (tuple((ctypes.c_int64 * count).from_address(pointer)) for pointer in first)
        return i_first, j_first

    def close(self) -> None:
        """Gives back the duplicates of the communicator; the garbage collector, which has no order among ranks, does
        not. Before MPI's end, if at all."""
        for ring in self._rings.values():
            _mpi.nbcc_mpi_ring_destroy(ring.pointer)
        self._rings.clear()
        self._last = None

    def _new_sum(self, kernel: Kernel) -> Sum:
        made = _RingSum(kernel, self)
        made.version = self._version
        return made

    def _ring(self, device: Device) -> _Ring:
        """When this rank is ready to sum. A ring for each combination of the ranks' devices."""
        self._agreed = True
        devices = self._agree(None, device.name)
        ring = self._rings.get(devices)
        if ring is None:
            ring = self._rings.setdefault(devices, _Ring(self._comm, device))
        self._last = ring
        return ring

    def _agree(self, error: Optional[Exception], device: str) -> Tuple[str, ...]:
        """The devices of all ranks, or on all of them the error of the lowest that has one."""
        mine = (None if error is None else (_kind_of(error), str(error)), device)
        everybody = self._comm.allgather(mine)
        for rank, (failure, _) in enumerate(everybody):
            if failure is not None:
                raise _KINDS[failure[0]](f"rank {rank}: {failure[1]}") from error
        return tuple(of for _, of in everybody)


def spread(pipeline: Pipeline, comm: Any) -> Spread:
    """The pipeline for particles that are spread over the ranks of `comm`, a communicator of mpi4py.

    Every rank compiles the pipeline for itself, from the same text with the same options. Raises TypeError.
    """
    return Spread(pipeline, comm)
