"""pykeops.torch: the same functions as nbcc.keops, for the arrays of every library."""

from .._genred import Genred, generic_argkmin, generic_argmin, generic_logsumexp, generic_sum
from .._lazy import ComplexLazyTensor, LazyTensor, Pm, Var, Vi, Vj
from .._solve import KernelSolve
from . import cluster, generic, operations, utils

__all__ = [
    "ComplexLazyTensor",
    "Genred",
    "KernelSolve",
    "LazyTensor",
    "Pm",
    "Var",
    "Vi",
    "Vj",
    "cluster",
    "generic",
    "generic_argkmin",
    "generic_argmin",
    "generic_logsumexp",
    "generic_sum",
    "operations",
    "utils",
]
