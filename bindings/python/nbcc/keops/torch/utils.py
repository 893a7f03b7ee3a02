"""pykeops.torch.utils: references for tests, computed with all pairs in memory."""

from .._utils import (
    differences,
    grad_np_kernel,
    log_np_kernel,
    log_sum_exp,
    np_kernel,
    np_kernel_sphere,
    squared_distances,
    torch_kernel,
)

__all__ = [
    "differences",
    "grad_np_kernel",
    "log_np_kernel",
    "log_sum_exp",
    "np_kernel",
    "np_kernel_sphere",
    "squared_distances",
    "torch_kernel",
]
