"""Makes new arrays for results, of the caller's library and on the caller's device. Entry points: `new_result`,
`of_host`.

If the caller's library has no arrays, results are NumPy arrays; without NumPy, array.array for numbers and memoryview
for rows of numbers.
"""

from __future__ import annotations

import array
import math
import sys
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

from . import _arrays
from ._arrays import COMPLEX_NAMES, CPU, DOUBLE, ELEMENT_NAMES, ELEMENT_SIZES, FLOAT, INT64, Array, describe, in_pairs
from ._dlpack import contiguous
from ._streams import Order

_CODES = {FLOAT: "f", DOUBLE: "d", INT64: "q"}


class Result(NamedTuple):
    value: Any  # returned to the caller
    # If not None, makes the returned array after the run, from `value`, which the run has written.
    convert: Optional[Callable[[Any], Any]] = None
    # The caller's library does not use the run's stream, so the call must wait for the work.
    wait: bool = False
    is_new: bool = True  # False: an array of the caller's

    def converted(self) -> Any:
        """The array for the caller, after the run."""
        return self.value if self.convert is None else self.convert(self.value)


def new_result(
    like: Optional[Array],
    shape: Tuple[int, ...],
    element: int,
    order: Order,
    zeros: bool = False,
    is_complex: bool = False,
) -> Tuple[Result, Array]:
    """The result, and the array of real numbers to which the run writes. like: the input whose library and device the
    result gets; None: NumPy. zeros: initialize to 0, because the run will not write all rows. is_complex: the result
    has complex numbers; what is written has an axis of length 2 behind the others.

    Raises TypeError for a GPU array of an unsupported library.
    """
    if like is None:
        return of_host(shape, element, zeros, is_complex)
    dtype = COMPLEX_NAMES[element] if is_complex else ELEMENT_NAMES[element]
    if like.library == "torch":
        torch = sys.modules["torch"]
        exemplar = like.owner[0] if isinstance(like.owner, tuple) else like.owner
        value = (torch.zeros if zeros else torch.empty)(shape, dtype=getattr(torch, dtype), device=exemplar.device)
        return Result(value), in_pairs(describe(value, order, convert=False))
    if like.library == "jax":
        return _of_jax(like, shape, element, order, zeros, is_complex)
    if like.device == CPU:
        return of_host(shape, element, zeros, is_complex)
    if like.library == "cupy":
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(int(like.device[5:])):
            value = (cupy.zeros if zeros else cupy.empty)(shape, dtype=dtype)
            return Result(value), in_pairs(describe(value, order, convert=False))
    raise TypeError(f"results of arrays of '{like.library}' on a GPU need out=: nbcc does not know how to make them")


def of_host(
    shape: Tuple[int, ...], element: int, zeros: bool = False, is_complex: bool = False
) -> Tuple[Result, Array]:
    numpy = _arrays.numpy
    if numpy is not None:
        value = new_numpy(shape, element, zeros, is_complex)
        return Result(value), in_pairs(describe(value, Order(None)))
    if is_complex:  # Python's own arrays have no complex numbers
        shape = (*shape, 2)
    count = math.prod(shape)
    flat = array.array(_CODES[element], bytes(count * ELEMENT_SIZES[element]))
    where = Array(
        flat.buffer_info()[0],
        element,
        ELEMENT_NAMES[element],
        shape,
        contiguous(shape, ELEMENT_SIZES[element]),
        False,
        CPU,
        "builtins",
        flat,
    )
    # A memoryview cannot have an axis of length 0.
    rows = len(shape) > 1 and count > 0
    code: Any = _CODES[element]
    return Result(memoryview(flat).cast("B").cast(code, shape) if rows else flat), where


def new_numpy(shape: Tuple[int, ...], element: int, zeros: bool = False, is_complex: bool = False) -> Any:
    types = _COMPLEX_NUMPY_TYPES if is_complex else _NUMPY_TYPES
    return (_arrays.numpy.zeros if zeros else _arrays.numpy.empty)(shape, types[element])


def _numpy_types(names: Sequence[str]) -> List[Any]:
    return [_arrays.numpy.dtype(name) for name in names] if _arrays.numpy is not None else []


_NUMPY_TYPES, _COMPLEX_NUMPY_TYPES = _numpy_types(ELEMENT_NAMES[:4]), _numpy_types(COMPLEX_NAMES)


def _of_jax(
    like: Array, shape: Tuple[int, ...], element: int, order: Order, zeros: bool, is_complex: bool
) -> Tuple[Result, Array]:
    """JAX arrays are immutable. On the CPU the run writes to a NumPy array, which is then converted to a JAX array.
    On a GPU the run writes to a new JAX array that no other code has a reference to."""
    jax = sys.modules["jax"]
    if like.device == CPU:
        result, where = of_host(shape, element, zeros, is_complex)
        return result._replace(convert=jax.numpy.asarray), where
    exemplar = like.owner[0] if isinstance(like.owner, tuple) else like.owner
    dtype = jax.dtypes.canonicalize_dtype((COMPLEX_NAMES if is_complex else ELEMENT_NAMES)[element])
    value = jax.device_put(jax.numpy.zeros(shape, dtype), next(iter(exemplar.devices()))).block_until_ready()
    return Result(value, wait=True), in_pairs(describe(value, order, convert=False))._replace(readonly=False)
