"""pykeops.torch.operations."""

from .._solve import KernelSolve

__all__ = ["KernelSolve"]
