"""Streams of a GPU, however a caller's library names them. The doors are `handle_of`, `Order` and `current`."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from typing import Any, Optional

LEGACY = 1  # the legacy default stream, as DLPack and CUDA name it


def handle_of(stream: Any) -> int:
    """An integer, or the stream object of CuPy, PyTorch, Numba or cuda.core, as a CUstream. 0 becomes LEGACY.

    Raises TypeError.
    """
    found = stream
    if hasattr(stream, "__cuda_stream__"):
        found = stream.__cuda_stream__()[1]
    else:
        for name in ("cuda_stream", "ptr", "handle"):
            if hasattr(stream, name):
                found = getattr(stream, name)
                break
    found = getattr(found, "value", found)  # Numba's is a ctypes pointer
    if found is None and found is not stream:
        found = 0
    if isinstance(found, bool) or not isinstance(found, int):
        raise TypeError(
            f"stream: expected an integer or a stream object of CuPy, PyTorch or Numba, got {type(stream).__name__}"
        )
    return found or LEGACY


def current(library: str, ordinal: int) -> Optional[int]:
    """The stream in which a caller's library works now; None where it has no such notion."""
    if library == "torch":
        return handle_of(sys.modules["torch"].cuda.current_stream(ordinal))
    if library == "cupy":
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(ordinal):
            return handle_of(cupy.cuda.get_current_stream())
    return None


def on_gpu_of(library: str, device: str) -> Any:
    """PyTorch hands tensors of its current GPU out only."""
    if library == "torch" and device != "cpu":
        return sys.modules["torch"].cuda.device(int(device[5:]))
    return contextlib.nullcontext()


class Order:
    """The stream of a run: the caller's choice, else that of the first array of a GPU that names one.

    Arrays that are being written in another stream are waited for.
    """

    __slots__ = ("stream",)

    def __init__(self, chosen: Optional[int]) -> None:
        self.stream = chosen

    def follow(self, stream: int, ordinal: int) -> None:
        if self.stream is None:
            self.stream = stream
        elif stream != self.stream:
            _synchronize(stream, ordinal)

    def settle(self, library: str, ordinal: int) -> int:
        """The stream, chosen now at the latest."""
        if self.stream is None:
            self.stream = current(library, ordinal) or LEGACY
        return self.stream


def _synchronize(stream: int, ordinal: int) -> None:
    """In the GPU's primary context, which need not be this thread's current one."""
    driver = ctypes.CDLL("libcuda.so.1")
    device, context = ctypes.c_int(), ctypes.c_void_p()

    def must(name: str, *arguments: Any) -> None:
        status = getattr(driver, name)(*arguments)
        if status:
            raise RuntimeError(f"waiting for the stream of an array failed: {name} gave {status}")

    must("cuDeviceGet", ctypes.byref(device), ordinal)
    must("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    try:
        must("cuCtxPushCurrent_v2", context)
        try:
            must("cuStreamSynchronize", ctypes.c_void_p(stream))
        finally:
            driver.cuCtxPopCurrent_v2(ctypes.byref(context))
    finally:
        driver.cuDevicePrimaryCtxRelease_v2(device)
