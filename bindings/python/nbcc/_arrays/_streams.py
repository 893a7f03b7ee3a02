"""CUDA streams of callers' libraries. Entry points: `handle_of`, `Order`, `current` and `synchronize`."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from typing import Any, Optional

LEGACY = 1  # handle of the legacy default stream in DLPack and CUDA


def handle_of(stream: Any) -> int:
    """Converts an integer or a stream object of CuPy, PyTorch, Numba or cuda.core to a CUstream. 0 becomes LEGACY.

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
    """The current stream of a caller's library; None if the library has no current stream."""
    if library == "torch":
        return handle_of(sys.modules["torch"].cuda.current_stream(ordinal))
    if library == "cupy":
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(ordinal):
            return handle_of(cupy.cuda.get_current_stream())
    return None


def on_gpu_of(library: str, device: str) -> Any:
    """A context in which `device` is the library's current GPU: PyTorch exports only tensors on its current GPU."""
    if library == "torch" and device != "cpu":
        return sys.modules["torch"].cuda.device(int(device[5:]))
    return contextlib.nullcontext()


class Order:
    """The stream of a run: the caller's choice, else the stream of the first GPU array that has one.

    For arrays in other streams, the run waits for these streams.
    """

    __slots__ = ("stream",)

    def __init__(self, chosen: Optional[int]) -> None:
        self.stream = chosen

    def follow(self, stream: int, ordinal: int) -> None:
        if self.stream is None:
            self.stream = stream
        elif stream != self.stream:
            synchronize(stream, ordinal)

    def settle(self, library: str, ordinal: int) -> int:
        """The stream of the run; if it is not chosen yet, the current stream of `library`."""
        if self.stream is None:
            self.stream = current(library, ordinal) or LEGACY
        return self.stream


def synchronize(stream: int, ordinal: int) -> None:
    """Waits for a stream in the GPU's primary context, which need not be the thread's current context."""
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
