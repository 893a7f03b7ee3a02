"""KeOps' interface, computed by nbcc.

    import nbcc.keops as pykeops

    x, y = pykeops.torch.Vi(x), pykeops.torch.Vj(y)
    (-((x - y) ** 2).sum(-1)).exp() @ b

Formulas, reductions, shapes and derivatives are those of KeOps 2.3 (https://www.kernel-operations.io); arrays may be of
NumPy, PyTorch, JAX and CuPy. `install()` makes `import pykeops` import this module, for libraries that use KeOps.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ._cluster import (
    cluster_centroids,
    cluster_ranges,
    cluster_ranges_centroids,
    from_matrix,
    grid_cluster,
    sort_clusters,
    swap_axes,
)
from ._genred import Genred, generic_argkmin, generic_argmin, generic_logsumexp, generic_sum
from ._lazy import ComplexLazyTensor, LazyTensor, Pm, Var, Vi, Vj
from ._solve import KernelSolve

__all__ = [
    "ComplexLazyTensor",
    "Genred",
    "KernelSolve",
    "LazyTensor",
    "Pm",
    "Var",
    "Vi",
    "Vj",
    "cluster_centroids",
    "cluster_ranges",
    "cluster_ranges_centroids",
    "from_matrix",
    "generic_argkmin",
    "generic_argmin",
    "generic_logsumexp",
    "generic_sum",
    "grid_cluster",
    "install",
    "sort_clusters",
    "swap_axes",
]
__version__ = "2.3"  # of KeOps, whose interface this is
default_device_id = 0
verbose = False
_MODULES = ("torch", "numpy")


def install() -> None:
    """`import pykeops`, `pykeops.torch` and `pykeops.numpy` then import this module, in place of KeOps."""
    sys.modules["pykeops"] = sys.modules[__name__]
    for name in _MODULES:
        for inner in ("", ".cluster", ".operations", ".utils", ".generic"):
            sys.modules[f"pykeops.{name}{inner}"] = importlib.import_module(f".{name}{inner}", __name__)
    sys.modules["pykeops.config"] = importlib.import_module(".config", __name__)


def set_verbose(value: bool) -> None:
    """Of KeOps; without effect."""


def clean_pykeops(*_: Any, **__: Any) -> None:
    """Of KeOps, which empties its cache; without effect."""


def __getattr__(name: str) -> Any:
    if name in ("torch", "numpy", "config"):
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'nbcc.keops' has no attribute {name!r}")
