"""nbcc: sums of pairwise interactions, from a text of ten lines, on CPUs and CUDA GPUs.

    import nbcc

    gravity = nbcc.compile("gravity.pipe")
    acc, pot = gravity(x, xj=x, mj=m, eps2=1e-4)

Arrays may be of NumPy, CuPy, PyTorch, JAX, or any other library that supports DLPack, the CUDA array interface or the
buffer protocol. They are read without a copy, and results are arrays of the same library. See `help(nbcc.compile)` and
`help(nbcc.Pipeline.__call__)`.
"""

from __future__ import annotations

import ctypes
import importlib
from typing import Any, Dict, List

from ._arrays._triplets import Triplets, triplets
from ._c import _library
from ._c._errors import (
    CompileError,
    DeviceError,
    Diagnostic,
    Error,
    ErrorOut,
    InternalError,
    PipelineWarning,
    UsageError,
    decode,
)
from ._c._adjoint_text import AdjointField
from ._c._carry import carry_pairs
from ._c._fields import DeviceChoice, Field
from ._c._handles import open_device
from ._c._lists import Lists, Rows
from ._c._neighbours import Neighbours
from ._formula._functions import PUBLIC as _FUNCTIONS
from ._formula._traced import FunctionPipeline, I, J, Pair, Param, pipeline
from ._pair_lists import PairList, neighbours
from ._pipeline import BoundPipeline, Pipeline, check, compile

__version__ = "0.1.0"
__all__ = [
    "AdjointField",
    "BoundPipeline",
    "CompileError",
    "DeviceError",
    "Diagnostic",
    "Error",
    "Field",
    "FunctionPipeline",
    "I",
    "InternalError",
    "J",
    "Lists",
    "Neighbours",
    "Pair",
    "PairList",
    "Param",
    "Pipeline",
    "PipelineWarning",
    "Rows",
    "Triplets",
    "UsageError",
    "carry_pairs",
    "check",
    "compile",
    "info",
    "neighbours",
    "pipeline",
    "triplets",
]


def __getattr__(name: str) -> Any:
    """Imports `nbcc.ase`, which needs ASE, `nbcc.keops` and `nbcc.lammps`, which need NumPy, and `nbcc.torch` at their
    first use. Raises AttributeError, also where a package is missing: `help(nbcc)` and completion read all names."""
    if name in _FUNCTIONS:  # sum, exp ...: not in __all__, because some have the names of Python's own functions
        return _FUNCTIONS[name]
    if name not in ("ase", "keops", "lammps", "torch"):
        raise AttributeError(f"module 'nbcc' has no attribute {name!r}")
    try:
        return importlib.import_module(f".{name}", __name__)
    except ImportError as error:
        raise AttributeError(f"nbcc.{name} cannot be imported: {error}") from error


def __dir__() -> List[str]:
    return sorted([*__all__, *_FUNCTIONS, "__version__", "ase", "keops", "lammps", "mpi", "torch"])


def info() -> Dict[str, Any]:
    """The library and the devices of this machine, as plain data.

    version, library: version and path of libnbcc_jit. devices: names for `compile`. cpu: description of the CPU device.
    cuda_problem: why there is no GPU, "" if there is one.
    """
    count, place = ctypes.c_int(), ErrorOut()
    status = _library.lib.nbcc_cuda_count(ctypes.addressof(count), place.address)
    problem = place.take() if status else "" if count.value else "the CUDA driver shows no GPU"
    return {
        "version": decode(_library.lib.nbcc_version()),
        "library": _library.path(),
        "devices": ["cpu"] + [f"cuda:{k}" for k in range(count.value)],
        "cpu": open_device("cpu", DeviceChoice()).description,
        "cuda_problem": problem,
    }


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext nbcc` registers the cell magic %%pipe."""
    from ._magic import register

    register(shell)
