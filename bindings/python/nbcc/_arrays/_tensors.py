"""Describes PyTorch's tensors by their attributes, which takes 3 us where DLPack takes 25. Only imported where PyTorch is;
`_arrays.describe` and `_repeatable.REPEATABLE` use it from then on."""

from __future__ import annotations

from typing import Any, Callable, Optional, Tuple

import torch
from torch.autograd import forward_ad

from . import _arrays, _repeatable
from ._arrays import COMPLEX_NAMES, CPU, ELEMENT_NAMES, ELEMENT_SIZES, Array
from ._streams import LEGACY, Order

# element, name and bytes of a number; complex numbers are no elements, see _arrays.in_pairs.
_TYPES = {
    **{getattr(torch, name): (k, name, ELEMENT_SIZES[k]) for k, name in enumerate(ELEMENT_NAMES)},
    **{getattr(torch, name): (-1, name, size) for name, size in zip(COMPLEX_NAMES, (8, 16))},
}


def current_stream(ordinal: int) -> int:
    """The handle of PyTorch's current stream on a GPU."""
    handle: int = torch._C._cuda_getCurrentRawStream(ordinal)
    return handle or LEGACY


def described(tensor: Any, order: Order) -> Optional[Array]:
    """None: a tensor that needs more than its attributes, or that cannot be read; DLPack reads it or gives the reason."""
    known = _TYPES.get(tensor.dtype)
    if known is None or tensor.is_nested or tensor.requires_grad or tensor.is_neg() or tensor.is_conj() or tensor._is_zerotensor():
        return None
    device, where = tensor.device, CPU
    if tensor.layout is not torch.strided or device.type not in ("cpu", "cuda"):
        return None
    try:
        pointer = tensor.data_ptr()
    except RuntimeError:  # of a tensor without a storage, as torch.func makes them
        return None
    if device.type == "cuda":
        stream = current_stream(device.index)
        if order.stream is None:
            order.stream = stream
        elif order.stream != stream:  # DLPack makes the run's stream wait for the tensor's
            return None
        where = f"cuda:{device.index}"
    element, name, size = known
    strides = tuple([size * stride for stride in tensor.stride()])
    return Array(pointer, element, name, tuple(tensor.shape), strides, False, where, "torch", tensor)


def are_operations_seen() -> bool:
    """Whether PyTorch sees all operations, whatever their tensors: torch.jit.trace, torch.func, and modes for dispatch."""
    state = torch._C
    seen: bool = state._are_functorch_transforms_active() or state._is_tracing() or state._len_torch_dispatch_stack() > 0
    return seen


def _of_tensor(tensor: Any) -> Optional[Tuple[int, _repeatable.Key]]:
    """None: also where PyTorch must see the call, see `_torch.route_of`."""
    dtype = tensor.dtype
    if dtype not in _TYPES or tensor.is_nested or tensor.layout is not torch.strided or tensor.is_neg() or tensor.is_conj():
        return None
    needs_gradient = tensor.requires_grad
    if tensor._is_zerotensor() or (needs_gradient and torch.is_grad_enabled()):
        return None
    if tensor.is_cpu:
        stream_of, ordinal = None, -1
    elif tensor.is_cuda:
        stream_of, ordinal = current_stream, tensor.get_device()
    else:
        return None
    if forward_ad._current_level >= 0:  # it may have a tangent
        return None
    if are_operations_seen() or torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return None
    try:
        pointer = tensor.data_ptr()
    except RuntimeError:  # of a tensor without a storage
        return None
    return pointer, (stream_of, ordinal, torch.Tensor, (dtype, needs_gradient), tensor.shape, tensor.stride())


def _another_tensor(tensor: Any) -> Callable[[], Tuple[Any, int]]:
    shape, dtype, device = tensor.shape, tensor.dtype, tensor.device

    def make() -> Tuple[Any, int]:
        made = torch.empty(shape, dtype=dtype, device=device)
        return made, made.data_ptr()

    return make


for _type in (torch.Tensor, torch.nn.Parameter):
    _arrays.READERS[_type] = described
    _repeatable.REPEATABLE[_type] = _repeatable.Attributes(_of_tensor, _another_tensor)
