"""Lists of all pairs within a cutoff, as arrays of the caller's library. Entry points: `neighbours`, `PairList`."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple, Optional, Tuple

from ._arrays import _arrays
from ._arrays._arrays import CPU, DOUBLE, ELEMENT_SIZES, FLOAT, INT32, INT64, Array, describe
from ._arrays._kinds import array_of
from ._arrays._numbers import flag, named, real, whole
from ._arrays._results import new_result
from ._arrays._streams import LEGACY, Order, handle_of, synchronize
from ._c._errors import DeviceError
from ._c._fields import DeviceChoice
from ._c._handles import open_device
from ._c._lists import Rows
from ._c._pair_search import PairArrays, PairSearch, Query, View, give_back, taken
from ._pair_tracing import is_traced, of_host, plain, refuse, searched, stand_in, transformation_of
from ._pair_vectors import require_library_of, vectors_of


class PairList(NamedTuple):
    """Pairs as `nbcc.neighbours` returns them, in the order of i, then j, then shift. Arrays are of the library of x, and
    on its device.

    i, j: int64, shape (pairs,). edge_index: (2, pairs): i and j, which are its rows. shifts: int32, shape (pairs, 3): the
        image of j that is near is at x[j] + shifts @ cell.
    first: int64, shape (n + 1,): the pairs of i are first[i], ..., first[i + 1] - 1.
    count: the number of pairs; with a capacity an array of one int64.
    vectors, distances: x[j] + shifts @ cell - x[i], and its length, or None; differentiable.
    """

    i: Any
    j: Any
    edge_index: Any
    shifts: Any
    first: Any
    count: Any
    vectors: Any = None
    distances: Any = None


# Searches that were captured into graphs, which use their memory.
_captured: list[PairSearch] = []


def neighbours(
    x: Any,
    cutoff: Any,
    cell: Any = None,
    pbc: Any = None,
    batch: Any = None,
    *,
    y: Any = None,
    y_batch: Any = None,
    batches: Optional[int] = None,
    self: bool = False,
    half: bool = False,
    types: Any = None,
    y_types: Any = None,
    exclusions: Any = None,
    capacity: Optional[int] = None,
    vectors: bool = False,
    distances: bool = False,
    stream: Any = None,
) -> PairList:
    """All pairs closer than a cutoff, each periodic image a pair of its own; the cutoff may span several cells.

    x: positions, float32 or float64 of shape (n, 3), of NumPy, PyTorch, JAX or CuPy. Distances are compared, `<`, in the
        precision of x, between positions that were moved into the first cell. y: positions of the j, like x; None: i and
        j are one set.
    cutoff: a number; or one for each i, of shape (n,); or with `types` a table of shape (types, types).
    cell: the vectors of the cell as rows, (3, 3), or three lengths; with `batch` also (batches, 3, 3). pbc: whether an axis
        is periodic: a bool, (3,) or (batches, 3); None: all axes of a cell.
    batch, y_batch: integers of shape (n,): the batch of each particle; only pairs of one batch are found. Any order.
        batches: their number; None: that of the cells, else the largest batch + 1.
    self: with the pair of each particle and itself. half: each pair once, with i < j, or i = j and a positive shift.
    types, y_types: integers of shape (n,), for a table of cutoffs.
    exclusions: pairs that are excluded in all images, `(first, j)` or `nbcc.Rows` without images: the pair (i, j) excludes
        i, j alone, and not j, i. With `half` either excludes the pair.
    capacity: arrays of this fixed size, for CUDA graphs, jax.jit and jax.vmap: entries without a pair have i = n, j = n
        (of y) and shift 0. If there are more pairs, this is a ValueError; in a captured graph, jax.jit and jax.vmap `count` >
        capacity tells. A count of -1 tells of arguments that would be errors. JAX may trace x, y, cell, batch and y_batch
        alone.
    vectors, distances: return them, too, as functions of x, y and cell that the library differentiates. Not with a
        capacity.
    stream: of the GPU; None: the library's current stream.

    Raises TypeError and ValueError for arguments, UsageError for positions and cells that cannot be searched.
    """
    options = dict(batches=batches, self=self, half=half, types=types, y_types=y_types, exclusions=exclusions)
    return listed(x, cutoff, cell, pbc, batch, y, y_batch, capacity, vectors, distances, stream, options)


def listed(
    x: Any,
    cutoff: Any,
    cell: Any,
    pbc: Any,
    batch: Any,
    y: Any,
    y_batch: Any,
    capacity: Optional[int],
    vectors: bool,
    distances: bool,
    stream: Any,
    options: dict[str, Any],
) -> PairList:
    """`neighbours`, with its other options as a dict; inclusive: pairs at the cutoff are listed."""
    vectors, distances = named("vectors", flag, vectors), named("distances", flag, distances)
    if capacity is not None:
        capacity = named("capacity", whole, capacity, 0, 2**62)
        if vectors or distances:
            raise TypeError("neighbours(): vectors and distances are not returned with a capacity, whose entries may be no pairs")
    refuse(False, x=x, y=y, cell=cell, batch=batch, y_batch=y_batch)
    refuse(True, cutoff=cutoff, pbc=pbc, **{name: options[name] for name in ("types", "y_types", "exclusions")})
    x, y = _positions("x", x, x), _positions("y", y, x)
    cell = _read("cell", cell, "int", "float")
    batch, y_batch = _read("batch", batch, "int"), _read("y_batch", y_batch, "int")
    given = x, y, cell, batch
    x, y, cell, batch, y_batch, cutoff = map(plain, (x, y, cell, batch, y_batch, cutoff))
    if is_traced(x, y, cell, batch, y_batch):
        return _traced(x, y, cell, batch, y_batch, cutoff, pbc, capacity, stream, options)
    order = Order(None if stream is None else handle_of(stream))
    here, query, is_captured = _checked(order, x, y, cell, batch, y_batch, cutoff, pbc, capacity, **options)
    xs, n = here.like, here.like.shape[0]
    if vectors or distances:
        require_library_of(here.library, y=y, cell=cell)
    found: Optional[int] = None
    pair_search = taken(open_device(xs.device, DeviceChoice()))
    try:
        try:
            found = pair_search.run(query, not is_captured)
        except DeviceError as error:
            if query.batches < 1_000_000:
                raise
            raise DeviceError(f"neighbours(): batch: a search in {query.batches} batches: {error}") from error
        if capacity is not None and found is not None and found > capacity:
            raise ValueError(f"neighbours(): capacity: expected at least {found}, the number of pairs, got {capacity}")
        room = found if capacity is None else capacity
        assert room is not None
        edges, edges_at = here.new((2, room), INT64)
        shifts, shifts_at = here.new((room, 3), INT32)
        first, first_at = here.new((n + 1,), INT64)
        count: Any = found
        count_at: Optional[Array] = None
        if capacity is not None:
            count, count_at = here.new((1,), INT64)
        arrays = PairArrays(
            capacity=room,
            i=edges_at.pointer,
            j=edges_at.pointer + 8 * room,
            shifts=shifts_at.pointer,
            first=first_at.pointer,
            count=None if count_at is None else count_at.pointer,
        )
        if room == 0:
            arrays.i = arrays.j = arrays.shifts = None
        pair_search.store(arrays)
        if xs.device != CPU and not is_captured and (here.waits or stream is not None):
            # The library does not know the stream, which still reads and writes its arrays.
            synchronize(order.stream or LEGACY, int(xs.device[5:]))
    finally:
        if is_captured:
            _captured.append(pair_search)
        else:
            give_back(pair_search, found or 0)
    edges, shifts, first = edges(), shifts(), first()
    count = count() if callable(count) else count
    made = PairList(edges[0], edges[1], edges, shifts, first, count)
    if vectors or distances:
        return made._replace(**vectors_of(here.library, made, *given, vectors, distances))
    return made


def _read(name: str, value: Any, *kinds: str) -> Any:
    return None if value is None else array_of(f"neighbours(): {name}", value, *kinds)


def _positions(name: str, value: Any, x: Any) -> Any:
    """Arrays unchanged. A list becomes an array of the type of x, if x is a list, too, of float64."""
    if value is None or hasattr(value, "shape"):
        return value
    dtype = str(getattr(x, "dtype", "float64")).rpartition(".")[2]
    made = _read(name, value, "int", "float").astype(dtype)
    device = getattr(x, "device", None)
    if _arrays.library_of(x) == "torch":
        return sys.modules["torch"].as_tensor(made, device=device)
    return sys.modules["cupy"].asarray(made) if _arrays.library_of(x) == "cupy" else made


def _checked(
    order: Order,
    x: Any,
    y: Any,
    cell: Any,
    batch: Any,
    y_batch: Any,
    cutoff: Any,
    pbc: Any,
    capacity: Optional[int],
    *,
    batches: Any,
    self: Any,
    half: Any,
    types: Any,
    y_types: Any,
    exclusions: Any,
    inclusive: bool = False,
) -> Tuple[_Place, Query, bool]:
    """The query of a search, of arrays that the first result keeps; and whether the stream is captured into a graph."""
    if y is None and (y_batch is not None or y_types is not None):
        raise TypeError("neighbours(): y_batch and y_types are of the particles of y, which is not given")
    here = _Place(x, order)
    xs = here.positions("x", x)
    ys = None if y is None else here.positions("y", y)
    if ys is not None and ys.element != xs.element:
        raise TypeError(f"neighbours(): y: expected {xs.dtype} as x has, got {ys.dtype}")
    n, m = xs.shape[0], (xs if ys is None else ys).shape[0]
    query = Query(x=_view(xs), half=named("half", flag, half), self=named("self", flag, self), inclusive=inclusive)
    if ys is not None:
        query.y = _view(ys)
        if query.half or query.self:
            raise TypeError("neighbours(): half and self are for i and j of one set, which y= replaces")
    if order.stream is not None:
        query.stream = order.stream
    is_captured = capacity is not None and here.is_captured()
    here.set_batches(query, n, m, cell, pbc, batch, y_batch, batches, y is None, is_captured)
    here.set_cutoff(query, n, m, cutoff, types, y_types, y is None, is_captured)
    here.set_exclusions(query, n, m, exclusions, is_captured)
    return here, query, is_captured


def _traced(
    x: Any, y: Any, cell: Any, batch: Any, y_batch: Any, cutoff: Any, pbc: Any, capacity: Any, stream: Any, options: dict[str, Any]
) -> PairList:
    """Inside of jax.jit or jax.vmap: the host searches when the program runs."""
    traced = x, y, cell, batch, y_batch
    where = transformation_of(*traced)
    if capacity is None:
        raise TypeError(f"neighbours(): capacity: expected a number inside of {where}, whose arrays have fixed sizes, got None")
    if stream is not None:
        raise TypeError(f"neighbours(): stream: expected None inside of {where}, where the host searches")
    cutoff, pbc = of_host(cutoff), of_host(_read("pbc", pbc, "bool", "int"))
    options = {name: of_host(value) for name, value in options.items()}
    # Shapes and types are checked here; numbers are not known yet. pbc may tell the number of batches.
    batches = len(pbc) if len(getattr(pbc, "shape", ())) == 2 else 1
    i_batch, j_batch = (stand_in(one, max(batches - 1, 0)) for one in (batch, y_batch))
    _checked(
        Order(None), stand_in(x), stand_in(y), stand_in(cell), i_batch, j_batch, cutoff, pbc, capacity, **options
    )

    def search(x: Any, y: Any, cell: Any, batch: Any, y_batch: Any) -> PairList:
        return neighbours(x, cutoff, cell, pbc, batch, y=y, y_batch=y_batch, **options)

    edges, *others = searched(search, capacity, *traced)
    return PairList(edges[0], edges[1], edges, *others)


def _view(found: Array) -> View:
    # The library takes a null pointer for an array that is not given.
    return View(found.pointer or 8, found.element, found.shape[0], found.strides[0], found.strides[1])


def _wrong(kind: type, name: str, expected: str, got: Any) -> Exception:
    error: Exception = kind(f"neighbours(): {name}: expected {expected}, got {got}")
    return error


class _Place:
    """The library and the device of x: converts other arrays to them, and makes results. Keeps what it has made until the
    call ends."""

    def __init__(self, x: Any, order: Order) -> None:
        if _arrays.numpy is None:
            raise TypeError("neighbours() needs NumPy, which cannot be imported")
        self.order = order
        self.kept: list[Any] = []
        self.waits = False  # a result is of a library that does not use the stream of the run
        self.x = x
        self.like = self._described("x", self.x)
        self.library = self.like.library if self.like.library in ("torch", "cupy", "jax") else "numpy"

    def _described(self, name: str, value: Any) -> Array:
        try:
            return describe(value, self.order)
        except TypeError as error:
            raise TypeError(f"neighbours(): {name}: {error}") from error

    def positions(self, name: str, value: Any) -> Array:
        found = self._described(name, value)
        self.kept.append(value)
        if len(found.shape) != 2 or found.shape[1] != 3:
            raise _wrong(ValueError, name, "shape (N, 3)", found.shape)
        if found.element not in (FLOAT, DOUBLE):
            raise _wrong(TypeError, name, "float32 or float64", found.dtype)
        if found.device != self.like.device:
            raise _wrong(ValueError, name, f"an array on {self.like.device}, as x is", found.device)
        size = ELEMENT_SIZES[found.element]
        if (found.pointer | found.strides[0] | found.strides[1]) % size and found.shape[0]:
            raise _wrong(ValueError, name, f"an array aligned to {size} bytes", f"address {found.pointer}, strides {found.strides}")
        return found

    def moved(self, name: str, value: Any, dtype: str) -> Any:
        """A contiguous array of the library and the device of x."""
        try:
            if self.library == "torch":
                torch = sys.modules["torch"]
                made = torch.as_tensor(value, device=self.x.device).to(getattr(torch, dtype)).contiguous()
            elif self.library == "cupy":
                cupy = sys.modules["cupy"]
                made = cupy.ascontiguousarray(cupy.asarray(value), dtype).reshape(cupy.shape(value))
            elif self.library == "jax" and self.like.device != CPU:
                jax = sys.modules["jax"]
                made = jax.numpy.asarray(value, dtype)
                if str(made.dtype) != dtype:
                    raise TypeError(f"a GPU needs {dtype}, which JAX has with jax_enable_x64")
            else:
                made = _arrays.numpy.ascontiguousarray(value, dtype).reshape(_arrays.numpy.shape(value))
        except (TypeError, ValueError, RuntimeError) as error:
            raise TypeError(f"neighbours(): {name}: {error}") from error
        self.kept.append(made)
        return made

    def pointer(self, name: str, made: Any) -> int:
        found = self._described(name, made)
        if found.device != self.like.device and found.shape[0]:
            raise _wrong(ValueError, name, f"an array on {self.like.device}, as x is", found.device)
        return found.pointer or 8

    def whole_numbers(self, name: str, value: Any, count: Optional[int]) -> Any:
        made = self.moved(name, _read(name, value, "int"), "int64")
        if len(made.shape) != 1 or count not in (None, made.shape[0]):
            raise _wrong(ValueError, name, f"shape ({'N' if count is None else count},)", tuple(made.shape))
        return made

    def is_captured(self) -> bool:
        if self.like.device == CPU:
            return False
        if self.library == "torch":
            return bool(sys.modules["torch"].cuda.is_current_stream_capturing())
        if self.library == "cupy":
            return bool(sys.modules["cupy"].cuda.get_current_stream().is_capturing())
        return False

    def new(self, shape: Tuple[int, ...], element: int) -> Tuple[Any, Array]:
        """A function that gives the result after the run; and the array to write to."""
        result, at = new_result(None if self.library == "numpy" else self.like, shape, element, self.order)
        self.waits = self.waits or result.wait
        if at.element != element:
            raise TypeError("neighbours(): JAX arrays of a GPU need int64, which JAX has with jax_enable_x64")
        return result.converted, at

    def set_batches(
        self,
        query: Query,
        n: int,
        m: int,
        cell: Any,
        pbc: Any,
        batch: Any,
        y_batch: Any,
        batches: Any,
        one_set: bool,
        is_captured: bool,
    ) -> None:
        if batch is None:
            if y_batch is not None or batches is not None:
                raise TypeError("neighbours(): batches and y_batch need batch, the batch of each particle of x")
            number = 1
        else:
            ids = self.whole_numbers("batch", batch, n)
            query.i_batch = query.j_batch = self.pointer("batch", ids)
            if not one_set:
                if y_batch is None:
                    raise TypeError("neighbours(): y with batch needs y_batch")
                other = self.whole_numbers("y_batch", y_batch, m)
                query.j_batch = self.pointer("y_batch", other)
            if batches is not None:
                number = named("batches", whole, batches, 1, 2**31 - 1)
            elif cell is not None and len(getattr(cell, "shape", ())) == 3:
                number = cell.shape[0]
            else:
                number = 1 + max((int(one.max()) for one in (ids, *([] if one_set else [other])) if one.shape[0]), default=0)
                if number > 2**31 - 1:
                    raise _wrong(ValueError, "batch", f"numbers of batches below {2**31 - 1}", number - 1)
        query.batches = number
        pbc = _read("pbc", pbc, "bool", "int")
        if pbc is not None and "bool" not in str(pbc.dtype):
            if is_captured:
                raise TypeError("neighbours(): pbc: expected bools inside of a captured graph, got integers")
            if bool(((pbc != 0) & (pbc != 1)).any()):
                raise _wrong(ValueError, "pbc", "True or False, 1 or 0", pbc.tolist())
        if cell is None:
            if pbc is not None and bool(pbc.any()):
                raise TypeError("neighbours(): pbc: expected a cell, whose vectors are the periods, got none")
            return
        if tuple(cell.shape) == (3,):
            cell = _arrays.numpy.diag(_arrays.numpy.asarray(self._host(cell), "float64"))
        cells = self.moved("cell", cell, "float64")
        shapes = ((3, 3),) if batch is None else ((3, 3), (number, 3, 3))
        if tuple(cells.shape) not in shapes:
            raise _wrong(ValueError, "cell", " or ".join(map(str, ((3,), *shapes))), tuple(cells.shape))
        if number > 1 and len(cells.shape) == 2:
            cells = self._repeated(cells, number)
        if number:
            query.cells = self.pointer("cell", cells)
        elif n or m:
            raise _wrong(ValueError, "cell", "a cell for each batch", tuple(cells.shape))
        if pbc is None:
            return
        axes = self.moved("pbc", pbc != 0, "int32")
        if tuple(axes.shape) not in ((), (3,)) and (batch is None or tuple(axes.shape) != (number, 3)):
            raise _wrong(ValueError, "pbc", "a bool or (3,)" if batch is None else f"a bool, (3,) or ({number}, 3)", tuple(axes.shape))
        if len(axes.shape) == 0:
            axes = self._repeated(axes, 3)
        if number > 1 and len(axes.shape) == 1:
            axes = self._repeated(axes, number)
        if number:
            query.periodic = self.pointer("pbc", axes)

    @property
    def functions(self) -> Any:
        """The module of functions of the arrays that `moved` makes."""
        if self.library == "jax":
            return _arrays.numpy if self.like.device == CPU else sys.modules["jax"].numpy
        return sys.modules[self.library]

    def _host(self, value: Any) -> Any:
        """A NumPy array."""
        for way in ("cpu", "get"):
            if hasattr(value, way):
                value = getattr(value, way)()
        return _arrays.numpy.asarray(value)

    def _repeated(self, value: Any, number: int) -> Any:
        made = self.functions.broadcast_to(value, (number, *value.shape))
        made = made.contiguous() if self.library == "torch" else made.copy()
        self.kept.append(made)
        return made

    def set_cutoff(
        self, query: Query, n: int, m: int, cutoff: Any, types: Any, y_types: Any, one_set: bool, is_captured: bool
    ) -> None:
        if types is None:
            if y_types is not None:
                raise TypeError("neighbours(): y_types needs types, the type of each particle of x")
            if isinstance(cutoff, (int, float)) or getattr(cutoff, "ndim", 0) == 0 and not isinstance(cutoff, (list, tuple)):
                query.cutoff = named("cutoff", real, cutoff)
                return
            radii = self.moved("cutoff", _read("cutoff", cutoff, "int", "float"), "float64")
            if tuple(radii.shape) != (n,):
                raise _wrong(ValueError, "cutoff", f"a number or shape ({n},), or a table with types=", tuple(radii.shape))
            if query.half:
                raise TypeError("neighbours(): half: expected one cutoff, or cutoffs by types, got one for each i")
            query.cutoff_of_i = self.pointer("cutoff", radii)
            if is_captured:
                raise TypeError("neighbours(): cutoff: expected a number inside of a captured graph, got one for each i")
            query.cutoff = float(radii.max()) if n else 1.0
            if n and not float(radii.min()) >= 0:
                raise _wrong(ValueError, "cutoff", "numbers >= 0", float(radii.min()))
            return
        table = _arrays.numpy.asarray(self._host(_read("cutoff", cutoff, "int", "float")), "float64")
        if table.ndim != 2 or table.shape[0] != table.shape[1] or not table.size:
            raise _wrong(ValueError, "cutoff", "a table of shape (types, types) with types=", table.shape)
        if not (table >= 0).all():
            raise _wrong(ValueError, "cutoff", "numbers >= 0", table.min())
        if query.half and (table != table.T).any():
            raise TypeError("neighbours(): half: expected a symmetric table of cutoffs, got another")
        query.cutoff, query.types = float(table.max()), table.shape[0]
        query.cutoff_of_types = self.pointer("cutoff", self.moved("cutoff", table, "float64"))
        sides = [("types", types, n)] if one_set else [("types", types, n), ("y_types", y_types, m)]
        for name, value, count in sides:
            if value is None:
                raise TypeError("neighbours(): y with types needs y_types")
            made = self.whole_numbers(name, value, count)
            if not is_captured and count and not (int(made.min()) >= 0 and int(made.max()) < query.types):
                raise _wrong(ValueError, name, f"0 to {query.types - 1}", f"{int(made.min())} to {int(made.max())}")
            setattr(query, "i_type" if name == "types" else "j_type", self.pointer(name, made))
        if one_set:
            query.j_type = query.i_type

    def set_exclusions(self, query: Query, n: int, m: int, exclusions: Any, is_captured: bool) -> None:
        if exclusions is None:
            return
        if isinstance(exclusions, Rows):
            if exclusions.images is not None:
                raise TypeError("neighbours(): exclusions: expected rows without images, because a pair is excluded in all images")
            exclusions = exclusions.first, exclusions.j
        if not isinstance(exclusions, (tuple, list)) or len(exclusions) != 2:
            raise _wrong(TypeError, "exclusions", "(first, j) or nbcc.Rows", type(exclusions).__name__)
        first = self.whole_numbers("exclusions: first", exclusions[0], n + 1)
        j = self.whole_numbers("exclusions: j", exclusions[1], None)
        if not is_captured and not (
            int(first[0]) == 0 and bool((first[1:] >= first[:-1]).all()) and int(first[-1]) == j.shape[0]
        ):
            raise _wrong(ValueError, "exclusions: first", f"integers that rise from 0 to {j.shape[0]}", "others")
        if not is_captured and j.shape[0] and not (int(j.min()) >= 0 and int(j.max()) < m):
            raise _wrong(ValueError, "exclusions: j", f"0 to {m - 1}", f"{int(j.min())} to {int(j.max())}")
        if query.half:
            first, j = self._from_lower(first, j)
        query.excluded_first = self.pointer("exclusions: first", first)
        query.excluded_j = self.pointer("exclusions: j", j)

    def _from_lower(self, first: Any, j: Any) -> Tuple[Any, Any]:
        """The listed pairs (i, j) as (min(i, j), max(i, j)), which are the pairs that a half list may have."""
        functions = self.functions
        on = {"device": first.device} if self.library == "torch" else {}
        number = functions.arange(j.shape[0], dtype=j.dtype, **on)
        i = functions.searchsorted(first, number, side="right") - 1
        lower, upper = functions.minimum(i, j), functions.maximum(i, j)
        order = functions.argsort(lower)
        particles = functions.arange(first.shape[0], dtype=j.dtype, **on)
        firsts = functions.searchsorted(lower[order], particles)
        return self.moved("exclusions: first", firsts, "int64"), self.moved("exclusions: j", upper[order], "int64")
