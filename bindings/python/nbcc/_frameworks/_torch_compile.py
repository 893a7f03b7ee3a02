"""Functions that torch.compile calls and does not trace. PyTorch's decorators of such functions import its compiler, which
takes a second or more, so that this module is imported only where torch.compile traces."""

from typing import Any, Mapping, Sequence

import torch
from torch.autograd import forward_ad


@torch.compiler.assume_constant_result  # type: ignore[misc, unused-ignore]
def is_forward_mode() -> bool:
    """Whether torch.compile, which calls this function while it traces, is within a level of forward mode."""
    return bool(forward_ad._current_level >= 0)


@torch.compiler.disable  # type: ignore[misc, unused-ignore]
def untraced(pipeline: Any, arrays: Sequence[Any], fields: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    return pipeline._call(arrays, fields, options)
