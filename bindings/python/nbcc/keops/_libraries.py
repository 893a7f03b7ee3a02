"""The few functions of arrays for which NumPy, PyTorch, JAX and CuPy differ."""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable, Tuple


def is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype") and hasattr(value, "reshape")


@functools.lru_cache(256)
def _name_of(dtype: Any) -> str:
    """Without the name of the library, in a fiftieth of the time of str() of a type of NumPy."""
    return str(dtype).rpartition(".")[2]


def dtype_name(array: Any) -> str:
    """ "float32", "float64" ... of an array, of a complex one that of its parts. Raises ValueError for others."""
    name = _name_of(array.dtype)
    name = {"complex64": "float32", "complex128": "float64"}.get(name, name)
    if name not in ("float16", "bfloat16", "float32", "float64"):
        raise ValueError(f"[KeOps] {array.dtype} data type incompatible with KeOps.")
    return name


def is_complex(array: Any) -> bool:
    return _name_of(array.dtype).startswith("complex")


def reshaped(array: Any, shape: Tuple[int, ...]) -> Any:
    """array.reshape(shape), of JAX's arrays of numbers in 5 us, where the method takes 40."""
    kind = type(array)
    if kind.__name__ == "ArrayImpl" and kind.__module__.startswith("jaxlib"):
        return _jax_reshape()(array, shape)
    return array.reshape(shape)


@functools.lru_cache(None)
def _jax_reshape() -> Callable[[Any, Tuple[int, ...]], Any]:
    import jax

    return jax.jit(lambda array, shape: array.reshape(shape), static_argnums=1)


def real_view(array: Any) -> Any:
    """(.., D) complex numbers as (.., 2 D) real ones."""
    library = library_of(array)
    if library.__name__ == "torch":
        pairs = library.view_as_real(array.resolve_conj())
    elif library.__name__ == "jax.numpy":
        pairs = library.stack((array.real, array.imag), -1)
    else:
        return library.ascontiguousarray(array).view(str(array.real.dtype))
    return pairs.reshape((*array.shape[:-1], 2 * array.shape[-1]))


def complex_view(array: Any) -> Any:
    """(.., 2 D) real numbers as (.., D) complex ones; a tuple element by element, integers as they are."""
    if isinstance(array, tuple):
        return tuple(complex_view(one) for one in array)
    if "float" not in str(array.dtype):
        return array
    library = library_of(array)
    if library.__name__ == "torch":
        return library.view_as_complex(array.reshape((*array.shape[:-1], array.shape[-1] // 2, 2)))
    if library.__name__ == "jax.numpy":
        return array[..., ::2] + 1j * array[..., 1::2]
    return library.ascontiguousarray(array).view("complex64" if array.dtype == "float32" else "complex128")


def array_of(values: Any, like: Any, dtype: Any) -> Any:
    """A list of numbers as an array of the library, type and device of another array."""
    import numpy as np

    if like is None:
        return np.asarray(values, dtype or "float64")
    library = library_of(like)
    if library.__name__ == "torch":
        return library.tensor(values, dtype=getattr(library, dtype), device=like.device)
    return library.asarray(values, dtype=dtype)


def library_of(array: Any) -> Any:
    """NumPy, torch, jax.numpy or cupy, whose array this is."""
    name = type(array).__module__.partition(".")[0]
    if name in ("torch", "cupy"):
        return sys.modules[name]
    if name in ("jax", "jaxlib"):
        return sys.modules["jax.numpy"]
    import numpy

    if isinstance(array, numpy.ndarray):
        return numpy
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return torch
    raise TypeError(f"expected an array of NumPy, PyTorch, JAX or CuPy, got {type(array).__name__}")
