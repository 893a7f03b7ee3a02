"""Sums over particles that are distributed over the ranks of an MPI communicator, with mpi4py and libnbcc_mpi.

    from mpi4py import MPI
    import nbcc, nbcc.mpi

    gravity = nbcc.mpi.spread(nbcc.compile("gravity.pipe"), MPI.COMM_WORLD)
    acc, pot = gravity(x, xj=x, mj=m)      # this rank's particles, pulled by those of all ranks

Entry point: `spread`. The MPI is mpi4py's, of the family of Open MPI or of MPICH. An error on one rank before a sum
begins is raised on all ranks by this module; later errors are distributed by libnbcc_mpi.
"""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Type

from ._c import _library
from ._call._call import Caller
from ._c._errors import DeviceError, ErrorOut, InternalError, UsageError, check
from ._c._fields import Field
from ._c._handles import Device, Kernel, Sum, View
from ._c._library import RunOptions
from ._pipeline import Pipeline

__all__ = ["Spread", "spread"]


class _Mpi(NamedTuple):
    """The MPI of mpi4py."""

    family: str  # "openmpi", whose communicators are pointers, or "mpich", whose are numbers
    name: str
    path: str  # of its library; "" if it is not known


def _mpi_of_process() -> _Mpi:
    from mpi4py import MPI

    vendor, version = MPI.get_vendor()
    has_numbers = MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_int)
    if vendor != "Open MPI" and not has_numbers:
        raise ImportError(f"mpi4py uses {vendor}, whose handles are neither those of Open MPI nor those of MPICH")
    family = "mpich" if has_numbers else "openmpi"
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        mapped = {line.split(maxsplit=5)[5].strip() for line in file if "/" in line}
    paths = sorted(path for path in mapped if re.fullmatch(r"libmpi(ch)?\.so\.\d[\d.]*", os.path.basename(path)))
    return _Mpi(family, f"{vendor} {'.'.join(map(str, version))}", paths[0] if paths else "")


def _candidates(family: str) -> List[str]:
    """Paths of libnbcc_mpi beside libnbcc_jit, then names for the system's loader. That of a family is linked to no MPI."""
    named = os.environ.get("NBCC_MPI_LIBRARY")
    if named:
        return [named]
    folder = Path(_library.path()).parent
    names = (f"libnbcc_mpi_{family}.so", "libnbcc_mpi.so.0", "libnbcc_mpi.so")
    return [str(folder / name) for name in names if (folder / name).exists()] + list(names)


def _check_mpi_of(path: str, mpi: _Mpi) -> None:
    """Raises OSError if the library is linked to another MPI than that of the process."""
    if not os.path.exists(path):
        return
    with open(path, "rb") as file:
        linked = set(re.findall(rb"libmpi(?:ch)?\.so\.\d+", file.read()))
    other = sorted(name.decode() for name in linked if not os.path.basename(mpi.path).startswith(name.decode()))
    if other and mpi.path:
        raise OSError(
            f"{path} is linked to {other[0]}, but mpi4py uses {mpi.name} ({mpi.path}): expected one library for both; "
            f"libnbcc_mpi_{mpi.family}.so, which is built where the headers of that family are, goes with mpi4py's"
        )


def _load() -> ctypes.CDLL:
    problems = []
    mpi = _mpi_of_process()
    if mpi.path:
        # RTLD_GLOBAL, because libnbcc_mpi and components of MPI need its symbols.
        ctypes.CDLL(mpi.path, mode=ctypes.RTLD_GLOBAL)
    for candidate in _candidates(mpi.family):
        try:
            _check_mpi_of(candidate, mpi)
            loaded = ctypes.CDLL(candidate, mode=ctypes.RTLD_GLOBAL)
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

# Exceptions that are raised on all ranks with their own type, sent by index; others become RuntimeError.
_KINDS: Tuple[Type[BaseException], ...] = (
    TypeError,
    ValueError,
    UsageError,
    DeviceError,
    InternalError,
    KeyboardInterrupt,
    RuntimeError,
)


# Subjects of an agreement of the ranks.
_PRECISION, _DEVICE = "precision", "device"


def _kind_of(error: BaseException) -> Tuple[int, str]:
    """An index into _KINDS, and a message, which names the type if that is not among them."""
    exact = [k for k, kind in enumerate(_KINDS) if type(error) is kind]
    text = str(error) or type(error).__name__
    return (exact[0], text) if exact else (len(_KINDS) - 1, f"{type(error).__name__}: {error}")


class _Ring:
    """An nbcc_mpi_ring, for sums with one device per rank."""

    def __init__(self, comm: Any, device: Device) -> None:
        from mpi4py import MPI

        self.pointer = ctypes.c_void_p()
        self._device = device  # must stay open
        handle = ctypes.c_void_p if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_void_p) else ctypes.c_int
        place = ErrorOut()
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
        ring = self._spread._ring(self._kernel.device, self._kernel.precision)
        self._end(
            _mpi.nbcc_mpi_run(
                ring.pointer, self.pointer, None if options is None else ctypes.addressof(options), self.place.address
            )
        )
        self._number_run()


class Spread(Caller):
    """A pipeline for particles distributed over ranks; a call sums over the j of all ranks for every i of this rank.

    Made by `spread`. Calls, and `close`, are collective: every rank must make them in the same order.
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
        """Sums over the j of all ranks, for every i of this rank.

        Arguments and results are those of nbcc.Pipeline.__call__: arrays are the particles of this rank, any number or
        none. i_index, j_index and result indices count the particles of all ranks, those of rank 0 first; therefore
        i_offset and j_offset cannot be set. lists, listed_pairs and exclusions have rows for the i of this rank, and the
        numbers of j among those of all ranks; batches are the ids of this rank's i and of the j of all ranks. With
        these, with every_image() and a cutoff, results of pairs or nearest neighbours, every rank receives the j of
        all. A tolerance is kept for the i of all ranks together; on CPUs a rank receives the particles and grids that it
        needs, except where all pairs cost less.

        Raises what calls of a pipeline raise; if one rank fails, on every rank, with the number of that rank.
        """
        self._agreed = False
        try:
            fields, options = self._split(keywords)
            for name in ("i_offset", "j_offset"):
                if options.get(name):
                    raise TypeError(f"{self._family.name}(): {name}: cannot be set, the ranks determine it")
            return self._call(arrays, fields, options)
        except BaseException as error:
            if not self._agreed:
                self._agree(error, "", "")
            raise

    def _precision_of(self, views: List[Tuple[int, Field, View]]) -> str:
        """The wider of those of all ranks."""
        return min(self._agree(None, _PRECISION, super()._precision_of(views)))  # "double" < "single"

    def owners(self) -> Tuple[Tuple[int, ...], Tuple[int, ...]]:
        """(i_first, j_first), ranks + 1 numbers each: in the last call the i of rank r had i_index i_first[r], ...,
        i_first[r + 1] - 1; j likewise. Not collective. Raises UsageError before the first call."""
        if self._last is None:
            raise UsageError(f"{self._family.name}: nothing has been summed yet")
        first, place = (ctypes.c_void_p * 2)(), ErrorOut()
        at = ctypes.addressof(first)
        check(
            _mpi.nbcc_mpi_ring_owners(self._last.pointer, at, at + ctypes.sizeof(ctypes.c_void_p), place.address), place
        )
        count = self._comm.Get_size() + 1
        i_first, j_first = (tuple((ctypes.c_int64 * count).from_address(pointer)) for pointer in first)
        return i_first, j_first

    def close(self) -> None:
        """Frees the duplicates of the communicator. Collective, so the garbage collector does not do it. Optional;
        call it before MPI_Finalize."""
        for ring in self._rings.values():
            _mpi.nbcc_mpi_ring_destroy(ring.pointer)
        self._rings.clear()
        self._last = None

    def _new_sum(self, kernel: Kernel) -> Sum:
        made = _RingSum(kernel, self)
        made.version = self._version
        return made

    def _ring(self, device: Device, precision: str) -> _Ring:
        """Agrees with all ranks that they are ready to sum, and returns the ring for the ranks' devices."""
        self._agreed = True
        words = self._agree(None, _DEVICE, f"{precision} {device.name}")
        precisions, devices = zip(*(one.split(" ", 1) for one in words))
        for rank, one in enumerate(precisions):
            if one != precisions[0]:
                raise UsageError(
                    f"rank {rank}: precision: it is {one} here and {precisions[0]} on rank 0: expected one precision on "
                    "all ranks"
                )
        ring = self._rings.get(devices)
        if ring is None:
            ring = self._rings.setdefault(devices, _Ring(self._comm, device))
        self._last = ring
        return ring

    def _agree(self, error: Optional[BaseException], subject: str, word: str) -> Tuple[str, ...]:
        """Returns the words of all ranks about the subject; if some ranks have an error, raises that of the lowest rank
        on all ranks. Ranks agree on _PRECISION only where it is not given, so that their subjects may differ."""
        own = (None if error is None else _kind_of(error), subject, word)
        by_rank = self._comm.allgather(own)
        for rank, (failure, _, _) in enumerate(by_rank):
            if failure is not None:
                self._agreed = True  # on every rank
                raise _KINDS[failure[0]](f"rank {rank}: {failure[1]}") from error
        subjects = [of for _, of, _ in by_rank]
        if len(set(subjects)) > 1:
            self._agreed = True
            given, lacks = subjects.index(_DEVICE), subjects.index(_PRECISION)
            raise UsageError(
                f"rank {given}: precision: it is given here and not on rank {lacks}: expected one precision on all ranks, "
                "or none"
            )
        return tuple(of for _, _, of in by_rank)


def spread(pipeline: Pipeline, comm: Any) -> Spread:
    """The pipeline for particles that are distributed over the ranks of `comm`, a communicator of mpi4py.

    Every rank must compile the pipeline from the same text with the same options. Raises TypeError.
    """
    return Spread(pipeline, comm)
