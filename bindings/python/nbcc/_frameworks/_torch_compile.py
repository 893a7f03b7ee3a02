"""What torch.compile calls in place of tracing it. PyTorch's marks of such functions import its compiler, which takes a second
or more, so that this module is imported where torch.compile is at work alone."""

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
