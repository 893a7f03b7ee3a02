"""Reads DLPack capsules without a copy. Entry points: `device_of` and `read`.

Layout of the structures: DLPack 1.0, dlpack.h. Capsules are read but not consumed: a capsule releases its tensor when
it is garbage collected, so users of the memory must keep the capsule.
"""

from __future__ import annotations

import ctypes
import re
from ctypes import POINTER, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any, NamedTuple, Optional, Tuple

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
_READ_ONLY = 1


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class _VersionedTensor(ctypes.Structure):
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("manager", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", _Tensor),
    ]


_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype = ctypes.c_int
_is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = c_void_p
_get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Tensor(NamedTuple):
    pointer: int
    dtype: str  # as NumPy names it: "float64", "int32", ...
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]  # bytes
    readonly: bool
    capsule: Any


def device_of(value: Any) -> Tuple[int, int]:
    """DLPack's device type and the number of the device. Raises TypeError if the array's library has none, for example
    for a PyTorch tensor on "meta"."""
    try:
        kind, ordinal = value.__dlpack_device__()
    except (BufferError, RuntimeError, ValueError) as error:
        raise TypeError(f"expected an array of the CPU or a CUDA GPU, got one on {place_of(value)}: {error}") from error
    return int(kind), int(ordinal)


_DEVICES = {4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm", 14: "oneAPI", 15: "WebGPU", 16: "Hexagon"}


def place_of(value: Any, kind: int = 0) -> str:
    """The name of an array's device, from its library or from DLPack's device type."""
    device = str(getattr(value, "device", ""))
    if re.fullmatch(r"[a-z]+(:\d+)?", device):
        return device
    return _DEVICES.get(kind, f"DLPack's device type {kind}")


def _capsule(value: Any, stream: Optional[int]) -> Any:
    options = {} if stream is None else {"stream": stream}
    try:
        return value.__dlpack__(max_version=(1, 0), **options)
    except TypeError:  # producers before DLPack 1.0 do not have this argument
        return value.__dlpack__(**options)


def read(value: Any, stream: Optional[int]) -> Tensor:
    """stream: the GPU stream in which the data must be ready (1: the legacy default stream); None on the CPU."""
    capsule = _capsule(value, stream)
    readonly = False
    if _is_valid(capsule, b"dltensor_versioned"):
        versioned = _VersionedTensor.from_address(_get_pointer(capsule, b"dltensor_versioned"))
        if versioned.major != 1:
            raise TypeError(f"DLPack {versioned.major}.{versioned.minor} is not understood, only 1.x and before")
        tensor, readonly = versioned.tensor, bool(versioned.flags & _READ_ONLY)
    elif _is_valid(capsule, b"dltensor"):
        tensor = _Tensor.from_address(_get_pointer(capsule, b"dltensor"))
    else:
        raise TypeError("__dlpack__ gave no DLPack capsule")
    size = tensor.bits // 8
    shape = tuple(tensor.shape[: tensor.ndim])
    if tensor.strides:
        strides = tuple(size * stride for stride in tensor.strides[: tensor.ndim])
    else:
        strides = contiguous(shape, size)
    dtype = f"{_KINDS.get(tensor.code, 'code ' + str(tensor.code) + ' ')}{tensor.bits}"
    if tensor.lanes != 1:
        dtype += f"x{tensor.lanes}"
    return Tensor((tensor.data or 0) + tensor.byte_offset, dtype, shape, strides, readonly, capsule)


def contiguous(shape: Tuple[int, ...], size: int) -> Tuple[int, ...]:
    """The strides in bytes of a row-major array."""
    strides = []
    for length in reversed(shape):
        strides.append(size)
        size *= max(length, 1)
    return tuple(reversed(strides))
