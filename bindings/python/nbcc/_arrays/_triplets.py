"""The triplets of a list of pairs, as arrays of the list's library and on its device. Entry points: `Triplets`,
`triplets`. Functions of arrays make them (`repeat`, `cumsum`), no kernel of nbcc.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Callable, NamedTuple, Tuple

from . import _arrays
from ._numbers import flag, named


class Triplets(NamedTuple):
    """Two pairs (i, j) and (i, k) of a list that have the same i, as `nbcc.triplets` returns them.

    The pairs that form a triplet with the pair p are ik[first[p]], ..., ik[first[p + 1] - 1], in ascending order.

    first: int64, shape (pairs + 1,). ij, ik: int64, shape (triplets,): the numbers of the two pairs in the list; ij
        ascends. The triplets of the particle i are first[list.first[i]] to first[list.first[i + 1]] - 1.
    """

    first: Any
    ij: Any
    ik: Any

    def __repr__(self) -> str:
        return f"<nbcc.Triplets of {len(self.first) - 1} pairs: {len(self.ij)} triplets>"


def triplets(pairs: Any, half: bool = False) -> Triplets:
    """The triplets i, j, k of a list of pairs: each pair (i, j) with each other pair (i, k) of the same i.

    pairs: nbcc.PairList, nbcc.Neighbours, nbcc.Rows, (first, j), or a sparse matrix in CSR form: the pairs of i are first[i]
        to first[i + 1] - 1. Only `first` is read, integers of shape (ni + 1,) that rise from 0 to the number of pairs; j
        may be None. List each pair of both its particles: a list that nbcc.neighbours made with half=True has (i, j) for
        i < j alone, so that most triplets are missing.
    half: False: a triplet for each order, (j, k) and (k, j). True: one of the two, that with ij < ik.

    Returns `Triplets(first, ij, ik)`, integers of shape (pairs + 1,), (triplets,) and (triplets,). An i with d pairs has
    d (d - 1) triplets, half of them with `half`. ij and ik are numbers of pairs, so they index whatever has a row for
    each pair: vectors[ij], shifts[ik], j[ik]. (first, ik) is a list of pairs itself, of which the particles are the pairs
    of `pairs`: `bend(vectors, vectors, listed_pairs=nbcc.Rows(t.first, t.ik))` sums over k for each pair (i, j).

    A j that is listed twice, as two periodic images of one particle are, is two different pairs. The pair of a particle
    with itself, if it is listed, is a pair like any other: leave it out of the list.

    The arrays are of the library of `first` (NumPy, PyTorch, JAX, CuPy) and on its device, and int64 (in JAX without
    `jax_enable_x64` int32). Lists, ranges and Python's own arrays give NumPy arrays. They have no gradients. Takes
    O(triplets) time and waits for the device once, for the number of triplets; a function that jax.jit or torch.compile
    traces cannot contain it.

    Raises TypeError where `pairs` is no list of pairs, ValueError where `first` does not rise from 0 to the number of
    pairs, and OverflowError where the number of triplets is beyond int32 in JAX without `jax_enable_x64`.
    """
    half = named("half", flag, half)
    given, count = _first_of(pairs)
    first, library, convert = _integers(given)
    degree = first[1:] - first[:-1]
    begin, end, lowest = (int(value) for value in (first[0], first[-1], degree.min() if len(degree) else 0))
    if begin != 0 or lowest < 0 or (count is not None and count != end):
        expected = "the number of pairs" if count is None else f"{count}, the number of pairs"
        got = f"one that falls by {-lowest}" if lowest < 0 else f"{begin} to {end}"
        raise ValueError(f"triplets(): first: expected numbers that rise from 0 to {expected}, got {got}")
    with first.device if library.__name__ == "cupy" else contextlib.nullcontext():  # where CuPy makes new arrays
        return Triplets(*map(convert, made(first, degree, end, half, library)))


def made(first: Any, degree: Any, pairs: int, half: bool, library: Any) -> Tuple[Any, Any, Any]:
    """The arrays of `Triplets`. degree: the number of pairs of each i. library: the module of the arrays' functions."""
    number = _range(library, pairs, first)
    row_begin, row_end = (_repeat(library, side, degree, first, pairs) for side in (first[:-1], first[1:]))
    # For each pair: how many triplets it is the first pair of, and the second pair of the first one. Without `half` the
    # second pairs are the entire row, which the pair itself is removed from at the end.
    counts, start = (row_end - number - 1, number + 1) if half else (row_end - row_begin - 1, row_begin)
    first_triplet = library.concatenate((_range(library, 1, first), library.cumsum(counts, 0)))
    total = int(first_triplet[-1])
    ij = _repeat(library, number, counts, first_triplet, total)
    ik = _repeat(library, start - first_triplet[:-1], counts, first_triplet, total)
    ik += _range(library, total, first)
    if not half:
        ik += ik >= ij
    return first_triplet, ij, ik


def _first_of(pairs: Any) -> Tuple[Any, Any]:
    """`first`, and the number of pairs; None if the list does not say it."""
    if hasattr(pairs, "indptr") and hasattr(pairs, "indices"):
        if getattr(pairs, "format", "csr") != "csr":
            raise TypeError(f"triplets(): expected a sparse matrix in the form 'csr', got one in '{pairs.format}'")
        return pairs.indptr, len(pairs.indices)
    if hasattr(pairs, "first") and hasattr(pairs, "j"):
        first, j = pairs.first, pairs.j
        count = getattr(pairs, "count", None)
        if getattr(count, "shape", None) == (1,):  # of a PairList with a capacity, the length of j
            return first, _number_of(count, len(j))
    elif isinstance(pairs, (tuple, list)) and len(pairs) == 2:
        first, j = pairs
    else:
        raise TypeError(
            f"triplets(): expected nbcc.PairList, nbcc.Neighbours, nbcc.Rows, (first, j) or a sparse matrix, got {type(pairs).__name__}"
        )
    return first, None if j is None else len(j)


def _number_of(count: Any, capacity: int) -> int:
    """The number of pairs of a PairList with a capacity."""
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(count, jax.core.Tracer):
        raise TypeError("triplets(): first: expected an array whose values are known, got one that JAX traces")
    number = int(count[0])
    if number < 0:
        raise ValueError("triplets(): count: expected a number of pairs, got -1, which tells of an error of the search")
    if number > capacity:
        raise ValueError(f"triplets(): count: expected at most {capacity}, the capacity of the list, got {number}")
    return number


def _integers(value: Any) -> Tuple[Any, Any, Callable[[Any], Any]]:
    """`first` as int64, the module of its functions, and the function that makes results of the caller's library. Arrays
    of a CPU become NumPy's, whose functions take a quarter of the time of those of PyTorch and JAX."""
    numpy, name = _arrays.numpy, type(value).__module__.partition(".")[0]
    library: Any
    if name in ("jax", "jaxlib"):
        import jax

        if isinstance(value, jax.core.Tracer):
            raise TypeError("triplets(): first: expected an array whose values are known, got one that JAX traces")
        on_cpu, library, from_numpy = next(iter(value.devices())).platform == "cpu", jax.numpy, _to_jax
    elif name == "torch":
        library = sys.modules[name]
        on_cpu, from_numpy = value.device.type == "cpu" and numpy is not None, library.from_numpy
    else:
        on_cpu, library, from_numpy = name != "cupy", sys.modules.get("cupy"), _same
    if on_cpu:
        if numpy is None:
            raise TypeError("triplets(): first: expected an array of PyTorch or CuPy, because there is no NumPy")
        value, library = numpy.asarray(value), numpy
    if len(value.shape) != 1 or value.shape[0] == 0 or "int" not in str(value.dtype):
        raise TypeError(
            f"triplets(): first: expected integers of shape (ni + 1,), got {value.dtype} of shape {tuple(value.shape)}"
        )
    if library.__name__ == "torch":
        return value.to(library.int64), library, _same
    if library.__name__ == "jax.numpy":
        wide = value.astype(jax.dtypes.canonicalize_dtype("int64"))
        degree = (wide[1:] - wide[:-1]).astype("float32")
        _check_fits(wide.dtype, float((degree * degree).sum()))
        return wide, library, _same
    return value.astype("int64"), library, from_numpy if on_cpu else _same


def _same(value: Any) -> Any:
    return value


def _to_jax(value: Any) -> Any:
    import jax

    if len(value):
        _check_fits(jax.dtypes.canonicalize_dtype("int64"), float(value[-1]))
    return jax.numpy.asarray(value)


def _check_fits(dtype: Any, largest: float) -> None:
    """Raises OverflowError where a number of triplets is beyond the integers of JAX, to its rounding in float32."""
    if str(dtype) == "int32" and largest > 2.0**31 - 2.0**10:
        raise OverflowError(f"triplets(): about {largest:.4g} triplets are beyond int32: set jax_enable_x64")


def _range(library: Any, count: int, like: Any) -> Any:
    """0 to count - 1, of the type and on the device of `like`."""
    if library.__name__ == "torch":
        return library.arange(count, device=like.device)
    return library.arange(count, dtype=like.dtype)


def _repeat(library: Any, values: Any, counts: Any, first: Any, total: int) -> Any:
    """values[k] counts[k] times, for each k. first: where those of k begin. total: the length of the result."""
    if library.__name__ == "torch":
        return library.repeat_interleave(values, counts, output_size=total)
    if library.__name__ == "jax.numpy":
        return library.repeat(values, counts, total_repeat_length=total)
    if library.__name__ == "cupy":  # its repeat takes counts of the host alone
        return values[library.searchsorted(first, library.arange(total), side="right") - 1]
    return library.repeat(values, counts)
