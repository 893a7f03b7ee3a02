"""Memory of arrays on the host and on GPUs, by CUDA's driver. Entry points: `ordinal_of`, `copied_to_host` and
`clear`."""

from __future__ import annotations

import contextlib
import ctypes
import functools
from ctypes import c_size_t, c_uint8, c_uint64, c_void_p
from typing import Iterator, Optional

_ORDINAL = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL


def _require(what: str, status: int) -> None:
    if status:
        raise RuntimeError(f"CUDA's driver: {what} failed with error {status}")


@functools.lru_cache(None)
def _driver() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")


def ordinal_of(pointer: int) -> int:
    """The number of the GPU that has the memory."""
    found = ctypes.c_int()
    _require(
        "asking for the GPU of an array", _driver().cuPointerGetAttribute(ctypes.byref(found), _ORDINAL, ctypes.c_uint64(pointer))
    )
    return found.value


@contextlib.contextmanager
def _gpu_of(pointer: int) -> Iterator[ctypes.CDLL]:
    """CUDA's driver, in the primary context of the GPU that has the memory, in which the libraries of arrays work."""
    driver, context, device = _driver(), c_void_p(), ctypes.c_int()
    _require("finding a GPU", driver.cuDeviceGet(ctypes.byref(device), ordinal_of(pointer)))
    _require("using a GPU", driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    try:
        _require("using a GPU", driver.cuCtxPushCurrent_v2(context))
        try:
            yield driver
        finally:
            driver.cuCtxPopCurrent_v2(ctypes.byref(c_void_p()))
    finally:
        driver.cuDevicePrimaryCtxRelease_v2(device)


def copied_to_host(pointer: int, count: int, stream: Optional[int]) -> bytes:
    """The bytes at the pointer, in memory of the host if `stream` is None, else of a GPU, when the work in the stream is
    done."""
    if stream is None or count == 0:
        return ctypes.string_at(pointer, count) if count else b""
    place = ctypes.create_string_buffer(count)
    with _gpu_of(pointer) as driver:
        copy = driver.cuMemcpyDtoHAsync_v2(place, c_uint64(pointer), c_size_t(count), c_void_p(stream))
        _require("copying params to the host", copy)
        _require("copying params to the host", driver.cuStreamSynchronize(c_void_p(stream)))
    return place.raw


def clear(pointer: int, count: int, stream: Optional[int]) -> None:
    """Sets the bytes at the pointer to 0, in memory of the host if `stream` is None, else of a GPU, in the stream."""
    if count == 0:
        return
    if stream is None:
        ctypes.memset(pointer, 0, count)
        return
    with _gpu_of(pointer) as driver:
        _require("clearing an array", driver.cuMemsetD8Async(c_uint64(pointer), c_uint8(0), c_size_t(count), c_void_p(stream)))
