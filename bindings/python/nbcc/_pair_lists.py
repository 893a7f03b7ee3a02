"""Lists of all pairs within a cutoff, as arrays of the caller's library. Entry points: `neighbours`, `PairList`."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple, Optional, Tuple

from ._arrays import _arrays
from ._arrays._arrays import CPU, DOUBLE, ELEMENT_SIZES, FLOAT, INT32, INT64, Array, describe
from ._arrays._numbers import flag, named, real, whole
from ._arrays._results import new_result
from ._arrays._streams import LEGACY, Order, handle_of, synchronize
from ._c._fields import DeviceChoice
from ._c._handles import open_device
from ._c._lists import Rows
from ._c._pair_search import PairArrays, PairSearch, Query, View, give_back, taken


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
    exclusions: pairs that are left out in all images, `(first, j)` or `nbcc.Rows`.
    capacity: arrays of this fixed size, for CUDA graphs and jax.jit: entries without a pair have i = n, j = n (of y) and
        shift 0. If there are more pairs, this is a ValueError; in a captured graph or jax.jit `count` > capacity tells. A
        count of -1 tells of arguments that would be errors.
    vectors, distances: return them, too, as functions of x, y and cell that the library differentiates. Not with a
        capacity.
    stream: of the GPU; None: the library's current stream.

    Raises TypeError and ValueError for arguments, UsageError for positions and cells that cannot be searched.
    """
    if capacity is not None:
        capacity = named("capacity", whole, capacity, 0, 2**62)
        if vectors or distances:
            raise TypeError("neighbours(): vectors and distances are not returned with a capacity, whose entries may be no pairs")
    given = x, y, cell, batch
    x, y, cell, batch, y_batch = map(_plain, (x, y, cell, batch, y_batch))
    if _is_traced(x, y, cell, batch, y_batch):
        return _traced(
            x, cutoff, cell, pbc, batch, y, y_batch, capacity,
            dict(batches=batches, self=self, half=half, types=types, y_types=y_types, exclusions=exclusions),
        )
    if y is None and (y_batch is not None or y_types is not None):
        raise TypeError("neighbours(): y_batch and y_types are of the particles of y, which is not given")
    order = Order(None if stream is None else handle_of(stream))
    here = _Place(x, order)
    xs = here.positions("x", x)
    ys = None if y is None else here.positions("y", y)
    if ys is not None and ys.element != xs.element:
        raise TypeError(f"neighbours(): y: expected {xs.dtype} as x has, got {ys.dtype}")
    n, m = xs.shape[0], (xs if ys is None else ys).shape[0]
    query = Query(x=_view(xs), half=named("half", flag, half), self=named("self", flag, self))
    if ys is not None:
        query.y = _view(ys)
        if query.half or query.self:
            raise TypeError("neighbours(): half and self are for i and j of one set, which y= replaces")
    if order.stream is not None:
        query.stream = order.stream
    is_captured = capacity is not None and here.is_captured()
    here.set_batches(query, n, m, cell, pbc, batch, y_batch, batches, y is None)
    here.set_cutoff(query, n, m, cutoff, types, y_types, y is None, is_captured)
    here.set_exclusions(query, n, m, exclusions, is_captured)
    search = taken(open_device(xs.device, DeviceChoice()))
    try:
        found = search.run(query, not is_captured)
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
        search.store(arrays)
        if xs.device != CPU and not is_captured and (here.waits or stream is not None):
            # The library does not know the stream, which still reads and writes its arrays.
            synchronize(order.stream or LEGACY, int(xs.device[5:]))
    finally:
        if is_captured:
            _captured.append(search)
        else:
            give_back(search)
    edges, shifts, first, count = (one() if callable(one) else one for one in (edges, shifts, first, count))
    made = PairList(edges[0], edges[1], edges, shifts, first, count)
    if vectors or distances:
        return made._replace(**here.geometry(made, *given, vectors, distances))
    return made


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
        if not hasattr(x, "shape"):
            x = _arrays.numpy.asarray(x, "float64")
        self.x = x
        self.like = self._described("x", self.x)
        self.library = self.like.library if self.like.library in ("torch", "cupy", "jax") else "numpy"

    def _described(self, name: str, value: Any) -> Array:
        try:
            return describe(value, self.order)
        except TypeError as error:
            raise TypeError(f"neighbours(): {name}: {error}") from error

    def positions(self, name: str, value: Any) -> Array:
        value = self.x if name == "x" else value if hasattr(value, "shape") else _arrays.numpy.asarray(value)
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

    def whole_numbers(self, name: str, value: Any, count: int) -> Any:
        kind = str(getattr(value, "dtype", ""))
        if "float" in kind or "complex" in kind or "bool" in kind:
            raise _wrong(TypeError, name, "integers", kind)
        made = self.moved(name, value, "int64")
        if tuple(made.shape) != (count,):
            raise _wrong(ValueError, name, f"shape ({count},)", tuple(made.shape))
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
        """The result, or a function that makes it after the run; and the array to write to."""
        result, at = new_result(None if self.library == "numpy" else self.like, shape, element, self.order)
        self.waits = self.waits or result.wait
        if at.element != element:
            raise TypeError("neighbours(): JAX arrays of a GPU need int64, which JAX has with jax_enable_x64")
        return result.convert or result.value, at

    def set_batches(
        self, query: Query, n: int, m: int, cell: Any, pbc: Any, batch: Any, y_batch: Any, batches: Any, one_set: bool
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
        query.batches = number
        if cell is None:
            if pbc is not None and _any(pbc):
                raise TypeError("neighbours(): pbc: expected a cell, whose vectors are the periods, got none")
            return
        if not hasattr(cell, "shape"):
            cell = _arrays.numpy.asarray(cell, "float64")
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
        if not hasattr(pbc, "shape"):
            pbc = _arrays.numpy.asarray(pbc)
        axes = self.moved("pbc", pbc != 0, "int32")
        if tuple(axes.shape) not in ((), (3,)) and (batch is None or tuple(axes.shape) != (number, 3)):
            raise _wrong(ValueError, "pbc", f"a bool, (3,) or ({number}, 3)", tuple(axes.shape))
        if len(axes.shape) == 0:
            axes = self._repeated(axes, 3)
        if number > 1 and len(axes.shape) == 1:
            axes = self._repeated(axes, number)
        if number:
            query.periodic = self.pointer("pbc", axes)

    def _host(self, value: Any) -> Any:
        """A NumPy array."""
        for way in ("cpu", "get"):
            if hasattr(value, way):
                value = getattr(value, way)()
        return _arrays.numpy.asarray(value)

    def _repeated(self, value: Any, number: int) -> Any:
        if self.library == "torch":
            made = value.expand((number, *value.shape)).contiguous()
        else:
            library = sys.modules["cupy"] if self.library == "cupy" else _arrays.numpy
            if self.library == "jax" and self.like.device != CPU:
                library = sys.modules["jax"].numpy
            made = library.stack([value] * number) if self.library == "jax" else library.ascontiguousarray(
                library.broadcast_to(value, (number, *value.shape))
            )
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
            radii = self.moved("cutoff", cutoff, "float64")
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
        table = _arrays.numpy.asarray(self._host(cutoff), "float64")
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
            exclusions = exclusions.first, exclusions.j
        if not isinstance(exclusions, (tuple, list)) or len(exclusions) != 2:
            raise _wrong(TypeError, "exclusions", "(first, j) or nbcc.Rows", type(exclusions).__name__)
        first = self.whole_numbers("exclusions: first", exclusions[0], n + 1)
        j = self.moved("exclusions: j", exclusions[1], "int64")
        if not is_captured and not (
            int(first[0]) == 0 and bool((first[1:] >= first[:-1]).all()) and int(first[-1]) == j.shape[0]
        ):
            raise _wrong(ValueError, "exclusions: first", f"integers that rise from 0 to {j.shape[0]}", "others")
        if not is_captured and j.shape[0] and not (int(j.min()) >= 0 and int(j.max()) < m):
            raise _wrong(ValueError, "exclusions: j", f"0 to {m - 1}", f"{int(j.min())} to {int(j.max())}")
        query.excluded_first = self.pointer("exclusions: first", first)
        query.excluded_j = self.pointer("exclusions: j", j)

    def geometry(
        self, pairs: PairList, x: Any, y: Any, cell: Any, batch: Any, vectors: bool, distances: bool
    ) -> dict[str, Any]:
        """Vectors and distances, computed by the caller's library, which differentiates them."""
        if self.library == "numpy":
            x, y, cell = (None if one is None else _arrays.numpy.asarray(one) for one in (x, y, cell))
            batch = None if batch is None else _arrays.numpy.asarray(batch)
        away = (x if y is None else y)[pairs.j] - x[pairs.i]
        if cell is not None:
            if self.library == "torch":
                torch = sys.modules["torch"]
                cell = torch.as_tensor(cell, dtype=x.dtype, device=x.device)
                shifts = pairs.shifts.to(x.dtype)
                batch = None if batch is None else torch.as_tensor(batch, device=x.device)
            else:
                library = sys.modules["jax"].numpy if self.library == "jax" else sys.modules[self.library]
                cell = library.asarray(cell, dtype=x.dtype)
                shifts = pairs.shifts.astype(x.dtype)
            if len(cell.shape) == 1:
                away = away + shifts * cell
            elif len(cell.shape) == 2:
                away = away + shifts @ cell
            else:
                away = away + (shifts[:, None, :] @ cell[batch[pairs.i]])[:, 0, :]
        made: dict[str, Any] = {}
        if vectors:
            made["vectors"] = away
        if distances:
            made["distances"] = (away * away).sum(-1) ** 0.5
        return made


def _any(value: Any) -> bool:
    return bool(value.any()) if hasattr(value, "any") else any(map(_any, value)) if isinstance(value, (list, tuple)) else bool(value)


def _plain(value: Any) -> Any:
    """Without what records operations for a gradient."""
    if getattr(value, "requires_grad", False):
        return value.detach()
    return sys.modules["jax"].lax.stop_gradient(value) if _is_traced(value) else value


def _is_traced(*values: Any) -> bool:
    """Whether JAX traces one of the values."""
    jax = sys.modules.get("jax")
    return jax is not None and any(isinstance(value, jax.core.Tracer) for value in values)


def _traced(
    x: Any, cutoff: Any, cell: Any, pbc: Any, batch: Any, y: Any, y_batch: Any, capacity: Optional[int], options: dict[str, Any]
) -> PairList:
    """Inside of jax.jit: the host searches when the program runs."""
    jax = sys.modules["jax"]
    if capacity is None:
        raise TypeError("neighbours(): capacity: expected a number inside of jax.jit, whose arrays have fixed sizes, got None")
    room: int = capacity
    numpy = _arrays.numpy
    whole_type = jax.dtypes.canonicalize_dtype("int64")

    def search(*arrays: Any) -> Tuple[Any, ...]:
        read: list[Any] = [one if one is None else numpy.asarray(one) for one in arrays]
        x, cell, batch, y, y_batch = read
        given = dict(options, y=y, y_batch=y_batch, capacity=None)
        try:
            found = neighbours(x, cutoff, cell, pbc, batch, **given)
        except ValueError:
            found = None
        n, m = x.shape[0], (x if y is None else y).shape[0]
        edges = numpy.repeat(numpy.array([[n], [m]], whole_type), room, axis=1)
        shifts = numpy.zeros((room, 3), "int32")
        first, count = numpy.zeros(n + 1, whole_type), -1
        if found is not None:
            count, first = found.count, found.first.astype(whole_type)
            fitting = int(found.first[numpy.searchsorted(found.first, room, "right") - 1])
            edges[:, :fitting], shifts[:fitting] = found.edge_index[:, :fitting], found.shifts[:fitting]
        return edges, shifts, first, numpy.array([count], whole_type)

    shaped = jax.ShapeDtypeStruct
    shapes = (
        shaped((2, capacity), whole_type),
        shaped((capacity, 3), "int32"),
        shaped((x.shape[0] + 1,), whole_type),
        shaped((1,), whole_type),
    )
    edges, shifts, first, count = jax.pure_callback(
        search, shapes, x, cell, batch, y, y_batch, vmap_method="sequential"
    )
    return PairList(edges[0], edges[1], edges, shifts, first, count)
