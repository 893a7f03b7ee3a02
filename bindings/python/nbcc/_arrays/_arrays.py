"""Describes a caller's array: address, type, shape, strides and device, by any protocol that it supports. Entry point:
`describe`. Arrays are not copied; lists and tuples are converted to arrays.
"""

from __future__ import annotations

import array
import ctypes
import sys
from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple

from . import _dlpack
from ._dlpack import contiguous
from ._numbers import as_doubles, read, require_no_tangent, require_no_unit
from ._streams import LEGACY, Order, on_gpu_of

try:
    import numpy as _numpy
except ImportError:
    _numpy = None  # type: ignore[assignment, unused-ignore]
numpy: Any = _numpy

FLOAT, DOUBLE, INT32, INT64, HALF, BFLOAT16 = 0, 1, 2, 3, 4, 5  # nbcc_element
ELEMENT_NAMES = ("float32", "float64", "int32", "int64", "float16", "bfloat16")
ELEMENT_SIZES = (4, 8, 4, 8, 2, 2)
SMALL = (HALF, BFLOAT16)  # read where they are, and summed as float32
INTEGERS = (INT32, INT64)
SINGLE = ("float32", "complex64", "float16", "bfloat16")  # types that are summed in single precision
_BY_NAME = {name: element for element, name in enumerate(ELEMENT_NAMES)}
COMPLEX_NAMES = ("complex64", "complex128")
# The elements of the real and imaginary parts, by the names that `describe` gives to types.
_BY_COMPLEX_NAME = {
    **dict(zip(COMPLEX_NAMES, (FLOAT, DOUBLE))),
    "<c8": FLOAT,
    "<c16": DOUBLE,
    "buffer format 'Zf'": FLOAT,
    "buffer format 'Zd'": DOUBLE,
}
_BY_TYPESTR = {"<f4": FLOAT, "<f8": DOUBLE, "<i4": INT32, "<i8": INT64, "<f2": HALF}
_BY_FORMAT = {
    "f": FLOAT,
    "d": DOUBLE,
    "i": INT32,
    "e": HALF,
    "q": INT64,
    "l": INT64 if ctypes.sizeof(ctypes.c_long) == 8 else INT32,
}

CPU = "cpu"


class Array(NamedTuple):
    """An array's memory. element is -1 for a type that nbcc does not read; dtype then names it."""

    pointer: int
    element: int
    dtype: str
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]  # bytes
    readonly: bool
    device: str  # "cpu" or "cuda:N"
    library: str  # the package of the array's type: "numpy", "torch", ...
    owner: Any  # keeps the memory alive
    is_paired: bool = False  # of complex numbers, shown as real ones by `in_pairs`


# By exact type: functions that describe an array faster than a protocol does, or return None.
READERS: Dict[type, Callable[[Any, Order], Optional[Array]]] = {}
# Without NumPy a type that no value has.
ndarray: Any = numpy.ndarray if numpy else type("ndarray", (), {})


def describe(value: Any, order: Order, convert: bool = True) -> Array:
    """Raises TypeError for values that are not arrays, or cannot be read in place; the message does not name the value.

    convert: lists, and values that only NumPy can convert to an array, are copied to an array; without it they raise
    TypeError.
    """
    if isinstance(value, ndarray):
        return _of_numpy(value)
    require_no_tangent(value)
    reader = READERS.get(type(value))
    found = None if reader is None else reader(value, order)
    if found is not None:
        return found
    if hasattr(value, "is_neg"):
        value = _materialized(value, convert)
    interface = _cuda_interface_of(value)
    if interface is not None and (interface.get("version", 0) >= 3 or not hasattr(value, "__dlpack__")):
        return _of_cuda_interface(value, interface, order)
    if hasattr(value, "__dlpack__"):
        if hasattr(value, "is_deleted") and value.is_deleted():  # an array of JAX
            raise TypeError("the array is deleted, as one that was donated to a compiled function is")
        return _of_dlpack(value, order)
    if convert and isinstance(value, (list, tuple)):
        return _of_numbers(value)
    try:
        return _of_buffer(value)
    except (TypeError, BufferError):
        if convert and numpy is not None and hasattr(value, "__array__"):
            return _of_numpy(numpy.asarray(value))
        raise TypeError(f"expected an array, got {type(value).__name__}") from None


def in_pairs(found: Array) -> Array:
    """An array of complex numbers as one of real numbers, with an axis for the real and the imaginary part behind the
    others; another array as it is."""
    element = _BY_COMPLEX_NAME.get(found.dtype)
    if element is None:
        return found
    size = ELEMENT_SIZES[element]
    return found._replace(
        element=element,
        dtype=ELEMENT_NAMES[element],
        shape=(*found.shape, 2),
        strides=(*found.strides, size),
        is_paired=True,
    )


def _materialized(value: Any, convert: bool) -> Any:
    """Clones a PyTorch tensor whose memory does not contain its values (negative bit, conjugate bit, a tensor of zeros
    without memory), because DLPack does not export these properties."""
    for bit, question in (("negative", "is_neg"), ("conjugate", "is_conj"), ("zero", "_is_zerotensor")):
        is_set = getattr(value, question, None)
        if is_set is None or not is_set():
            continue
        if not convert:
            raise TypeError(f"expected a tensor that can be written, got one with its {bit} bit set; .clone() of it has none")
        return value.clone()
    return value


# For a writable contiguous array ctypes returns the address in a third of the time of NumPy's own interface (0.4
# against 1.4 microseconds; a call needs five addresses).
_address = ctypes.addressof
_at_start = ctypes.c_char.from_buffer
BY_DTYPE = {numpy.dtype(name): _BY_NAME[name] for name in ELEMENT_NAMES[:5]} if numpy else {}  # bfloat16: of ml_dtypes


def plain_numpy(value: Any) -> Tuple[int, int]:
    """Address and element of a writable contiguous NumPy array; element -1: another kind of array, use `describe`."""
    address = address_of_numpy(value)
    return address, BY_DTYPE.get(value.dtype, -1) if address else -1


def address_of_numpy(value: Any) -> int:
    """Of a writable contiguous NumPy array with elements; 0: another kind of array."""
    try:
        return _address(_at_start(value))
    except (TypeError, ValueError, BufferError):
        return 0


def cast_to_write(found: Array, to: str) -> str:
    """The end of a message about an unsupported type: the expression that casts the array to `to`, "f8" or "i8". ""
    if a cast would lose information (complex numbers, dates, records; fractions and integers from 2^63 on as "i8"),
    or if the library has no cast."""
    kind = found.dtype.lstrip("<>=|")
    if kind in ("c8", "c16", "c32"):
        kind = "complex"
    if to == "i8" and kind.startswith(("f", "bfloat", "uint64", "u8", "object")):
        return ""
    if found.library == "jax" and not _jax_has_64_bits():
        if kind in ("uint32", "u4"):
            return ""
        to = to[0] + "4"
    if found.library == "torch":
        return "" if found.dtype.startswith("complex") else f"; .to(torch.{'float64' if to == 'f8' else 'int64'}) of it is read"
    if found.library not in ("numpy", "cupy", "jax") or kind.startswith(("complex", "datetime", "timedelta", "M8", "m8", "[", "{")):
        return ""
    return f'; .astype("{to}") of it is read'


def _jax_has_64_bits() -> bool:
    """True if JAX has float64 and int64, which `jax_enable_x64` switches on; else it makes 32-bit arrays of both."""
    return bool(sys.modules["jax"].config.jax_enable_x64)


def library_of(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def _of_numpy(value: Any) -> Array:
    if type(value) is not ndarray and isinstance(value, numpy.ma.MaskedArray):
        raise TypeError("expected an array without a mask, got a masked array, whose mask nbcc would not see; .filled(VALUE) of it is read")
    if type(value) is not ndarray:
        require_no_unit(value)
    interface = value.__array_interface__
    pointer, readonly = interface["data"]
    typestr = interface["typestr"]
    element = BFLOAT16 if typestr == "<V2" and value.dtype.name == "bfloat16" else _BY_TYPESTR.get(typestr, -1)
    dtype = ELEMENT_NAMES[element] if element >= 0 else str(value.dtype)
    return Array(pointer, element, dtype, value.shape, value.strides, readonly, CPU, "numpy", value)


def _of_cuda_interface(value: Any, interface: Dict[str, Any], order: Order) -> Array:
    if interface.get("mask") is not None:
        raise TypeError("expected an array without a mask, got one with a mask, which nbcc does not read")
    pointer, readonly = interface["data"]
    typestr, shape = interface["typestr"], tuple(interface["shape"])
    element = _BY_TYPESTR.get(typestr, -1)
    strides = interface.get("strides")
    size = ELEMENT_SIZES[element] if element >= 0 else int(typestr[2:])
    stream, ordinal = interface.get("stream"), _ordinal_of(value)
    if stream is not None:
        order.follow(stream or LEGACY, ordinal)
    return Array(
        pointer or 0,
        element,
        ELEMENT_NAMES[element] if element >= 0 else typestr,
        shape,
        tuple(strides) if strides is not None else contiguous(shape, size),
        bool(readonly),
        f"cuda:{ordinal}",
        library_of(value),
        value,
    )


def _cuda_interface_of(value: Any) -> Any:
    try:
        return getattr(value, "__cuda_array_interface__", None)
    except RuntimeError:  # raised by PyTorch for a tensor that requires a gradient; __dlpack__ then gives the reason
        return None


def _ordinal_of(value: Any) -> int:
    """The number of the array's GPU, which the CUDA array interface lacks: from other attributes, else 0."""
    if hasattr(value, "__dlpack_device__"):
        return _dlpack.device_of(value)[1]
    device = getattr(value, "device", None)
    return int(getattr(device, "id", getattr(device, "index", 0)) or 0)


def _of_dlpack(value: Any, order: Order) -> Array:
    kind, ordinal = _dlpack.device_of(value)
    if kind in (_dlpack.CPU, _dlpack.CUDA_HOST):
        device, stream = CPU, None
    elif kind in (_dlpack.CUDA, _dlpack.CUDA_MANAGED):
        device, stream = f"cuda:{ordinal}", order.settle(library_of(value), ordinal)
    else:
        raise TypeError(
            f"expected an array of the CPU or a CUDA GPU, got one on {_dlpack.place_of(value, kind)}; copy it to the CPU"
        )
    try:
        with on_gpu_of(library_of(value), device):
            tensor = _dlpack.read(value, stream)
    except (BufferError, RuntimeError) as error:
        raise TypeError(f"its library does not export it: {error}") from error
    library = library_of(value)
    return Array(
        tensor.pointer,
        _BY_NAME.get(tensor.dtype, -1),
        tensor.dtype,
        tensor.shape,
        tensor.strides,
        # JAX arrays are immutable, but unversioned capsules have no read-only flag.
        tensor.readonly or library in ("jax", "jaxlib"),
        device,
        "jax" if library == "jaxlib" else library,
        (value, tensor.capsule),
    )


class _Buffer(ctypes.Structure):
    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = [ctypes.c_void_p]
_release_buffer.restype = None


def _of_buffer(value: Any) -> Array:
    # The memoryview keeps the buffer and has all of its properties except the address.
    view = memoryview(value)
    code = view.format[1:] if view.format[:1] in ("@", "=", "<") else view.format
    element = _BY_FORMAT.get(code, -1)
    if element >= 0 and ELEMENT_SIZES[element] != view.itemsize:
        element = -1
    shape = view.shape or ()
    return Array(
        _address_of(view),
        element,
        ELEMENT_NAMES[element] if element >= 0 else f"buffer format '{view.format}'",
        shape,
        view.strides or contiguous(shape, view.itemsize),
        view.readonly,
        CPU,
        library_of(value),
        view,
    )


def _address_of(view: memoryview) -> int:
    """The address of element 0."""
    buffer = _Buffer()
    _get_buffer(view, ctypes.addressof(buffer), 0x18)  # PyBUF_STRIDES: no copy is made for any layout
    address: Optional[int] = buffer.buf
    _release_buffer(ctypes.addressof(buffer))
    return address or 0


def _of_numbers(value: Any) -> Array:
    """Converts nested lists of numbers: to int64 if all are integers, else float64."""
    try:
        shape, found = read(value, is_bool=True)
        integral = bool(found) and all(isinstance(number, int) and -(2**63) <= number < 2**63 for number in found)
        made = array.array("q", found) if integral else array.array("d", as_doubles(found))
    except TypeError as error:
        raise TypeError(str(error) if str(error).startswith("expected") else f"expected numbers: {error}") from None
    address, _ = made.buffer_info()
    element = INT64 if integral else DOUBLE
    return Array(address, element, ELEMENT_NAMES[element], shape, contiguous(shape, 8), False, CPU, "builtins", made)
