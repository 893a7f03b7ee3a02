"""Describes PyTorch's tensors by their attributes, which takes 3 us where DLPack takes 25. Entry point: `described`. Only
imported where PyTorch is; `_arrays.describe` uses it from then on."""

from __future__ import annotations

from typing import Any, Optional

import torch

from . import _arrays
from ._arrays import COMPLEX_NAMES, CPU, ELEMENT_NAMES, ELEMENT_SIZES, Array
from ._streams import LEGACY, Order

# element, name and bytes of a number; complex numbers are no elements, see _arrays.in_pairs.
_TYPES = {
    **{getattr(torch, name): (k, name, ELEMENT_SIZES[k]) for k, name in enumerate(ELEMENT_NAMES)},
    **{getattr(torch, name): (-1, name, size) for name, size in zip(COMPLEX_NAMES, (8, 16))},
}


def current_stream(ordinal: int) -> int:
    """The handle of PyTorch's current stream on a GPU; 0: the legacy default stream."""
    handle: int = torch._C._cuda_getCurrentRawStream(ordinal)
    return handle


def described(tensor: Any, order: Order) -> Optional[Array]:
    """None: a tensor that needs more than its attributes, or that cannot be read; DLPack reads it or gives the reason."""
    known = _TYPES.get(tensor.dtype)
    if known is None or tensor.requires_grad or tensor.is_neg() or tensor.is_conj() or tensor._is_zerotensor():
        return None
    device, where = tensor.device, CPU
    if tensor.layout is not torch.strided or device.type not in ("cpu", "cuda"):
        return None
    try:
        pointer = tensor.data_ptr()
    except RuntimeError:  # of a tensor that torch.func has wrapped
        return None
    if device.type == "cuda":
        stream = current_stream(device.index) or LEGACY
        if order.stream is None:
            order.stream = stream
        elif order.stream != stream:  # DLPack makes the run's stream wait for the tensor's
            return None
        where = f"cuda:{device.index}"
    element, name, size = known
    strides = tuple([size * stride for stride in tensor.stride()])
    return Array(pointer, element, name, tuple(tensor.shape), strides, False, where, "torch", tensor)


_arrays.READERS.update({torch.Tensor: described, torch.nn.Parameter: described})
