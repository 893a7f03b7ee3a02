"""Options of kernels, searches and devices, and the fields of a pipeline: plain data, checked."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from typing import Any, NamedTuple, Optional, Tuple

from ._library import PipelineOptions
from .._arrays._numbers import named, real, shown
from .._display._tables import field_table

CPU = "cpu"
PRECISIONS = ("single", "mixed", "double")
MATHS = ("fast", "precise")
ROOTS = ("refined", "estimate", "exact")
PAIRS = ("auto", "all", "cutoff")
SYMMETRIC = ("auto", "off", "always")
INPUT_I, INPUT_J, PARAM, OUTPUT, INPUT_PAIR = "input_i", "input_j", "param", "output", "input_pair"
ROLES = (INPUT_I, INPUT_J, PARAM, OUTPUT, INPUT_PAIR)
REDUCTIONS = ("sum", "min", "max", "argmin", "argmax", "logsumexp", "softmax", "product", "count", "at")
SCALARS = ("real", "float", "double", "int", "index", "bool")
UNUSED, EQUAL, VALUE = "unused", "equal", "value"
INDEX_USES = (UNUSED, EQUAL, VALUE)


def _check_is_known(name: str, value: Any, known: Tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in known:  # == on an array would return an array
        raise ValueError(f"{name}: expected {', '.join(map(repr, known))}, got {shown(value)}")


class Options(NamedTuple):
    """Compile options of kernels; see docs/how_to/choose_precision.md. precision: None: that of the arrays of a call."""

    precision: Optional[str] = None
    math: str = "fast"
    root: str = "refined"

    def checked(self) -> Options:
        if self.precision is not None:
            _check_is_known("precision", self.precision, PRECISIONS)
        _check_is_known("math", self.math, MATHS)
        _check_is_known("root", self.root, ROOTS)
        return self

    def changed(self, precision: Optional[str], math: Optional[str], root: Optional[str]) -> Options:
        """A copy with the arguments that are not None. Raises ValueError."""
        return Options(
            self.precision if precision is None else precision,
            self.math if math is None else math,
            self.root if root is None else root,
        ).checked()

    def for_kernel(self) -> Options:
        """With a precision also if none is given: a kernel is compiled before the arrays of the first call are known. Of
        most programs NumPy's are double, PyTorch's and JAX's single."""
        if self.precision is not None:
            return self
        return self._replace(precision="single" if "torch" in sys.modules or "jax" in sys.modules else "double")

    def as_struct(self) -> PipelineOptions:
        return PipelineOptions(
            ctypes.sizeof(PipelineOptions),
            PRECISIONS.index(self.for_kernel().precision or ""),
            MATHS.index(self.math),
            ROOTS.index(self.root),
        )


def precision_of_environment() -> Optional[str]:
    """The environment's NBCC_PRECISION, the precision where a program says none. Raises ValueError."""
    value = os.environ.get("NBCC_PRECISION") or None
    if value is not None:
        _check_is_known("NBCC_PRECISION (of the environment)", value, PRECISIONS)
    return value


class Search(NamedTuple):
    """Which pairs a sum computes and from how many ends, the skin of neighbour lists, and the tolerance of far fields."""

    pairs: str = "auto"
    skin: float = 0.0
    tolerance: float = 0.0
    symmetric: str = "auto"

    def changed(
        self,
        pairs: Optional[str],
        skin: Optional[float],
        tolerance: Optional[float] = None,
        symmetric: Optional[str] = None,
    ) -> Search:
        """A copy with the arguments that are not None. Raises ValueError, TypeError."""
        if pairs is not None:
            _check_is_known("pairs", pairs, PAIRS)
        if symmetric is not None:
            _check_is_known("symmetric", symmetric, SYMMETRIC)
        width = self.skin if skin is None else named("skin", real, skin)
        error = self.tolerance if tolerance is None else named("tolerance", real, tolerance)
        both = self.symmetric if symmetric is None else symmetric
        return Search(self.pairs if pairs is None else pairs, width, error, both)


class DeviceChoice(NamedTuple):
    """threads, isa: of the CPU. cache_dir: folder of compiled kernels; "" for none, None for the default."""

    threads: int = 0
    isa: Optional[str] = None
    cache_dir: Optional[str] = None


class Field(NamedTuple):
    """A field of a pipeline, as declared in its text.

    role: "input_i", "input_j", "input_pair", "param" or "output". shape: shape per particle, () for a scalar and for a
    complex number. components: real numbers per particle.
    integral: True for int, index, bool, and outputs that are indices. reduction: outputs only. default: params only,
    one number for each component; None if there is no default. total: True for an output(total), which has one value
    for the run, of that shape. of_pair: True for an output(pair), which has one value for each listed pair. scalar: the
    type of each number, "real" for vectors and complex numbers; width: numbers of a vector or a complex number, else 1.
    histogram: True for an output to one element of which each pair adds. table: True for a param that is read at indices
    known only at run time. is_read: False for an input or param on which no result depends.
    """

    name: str
    role: str
    type: str
    shape: Tuple[int, ...]
    components: int
    integral: bool
    reduction: Optional[str]
    default: Optional[Tuple[float, ...]]
    comment: str
    total: bool = False
    of_pair: bool = False
    scalar: str = "real"
    width: int = 1
    is_complex: bool = False
    histogram: bool = False
    table: bool = False
    is_read: bool = True

    def rows(self, ni: int, pairs: int) -> int:
        """The number of rows of an output."""
        return 1 if self.total else pairs if self.of_pair else ni

    @property
    def has_pairs(self) -> bool:
        """Whether its numbers may be given as complex numbers: also those of a vec2."""
        return self.width == 2

    @property
    def row(self) -> Tuple[int, ...]:
        """The shape per particle in real numbers; of complex numbers the last axis is the real and imaginary part."""
        return (*self.shape, 2) if self.is_complex else self.shape

    def __str__(self) -> str:
        return f"{self.role} {self.type} {self.name}"

    @property
    def shown_default(self) -> Any:
        """The default of a param as Python shows it: a number, or a tuple of numbers; None without one."""
        if self.default is None:
            return None
        numbers = tuple(int(number) if self.integral else number for number in self.default)
        return numbers[0] if len(numbers) == 1 else numbers

    @property
    def cells(self) -> Tuple[str, ...]:
        """Name, role, type, default and comment, for tables."""
        role = f"output({'total, ' if self.total else ''}{self.reduction})" if self.role == OUTPUT else self.role
        return self.name, role, self.type, "" if self.default is None else str(self.shown_default), self.comment

    def _repr_html_(self) -> str:
        return field_table([self.cells])


def device_name(device: Any) -> str:
    """ "cpu", "cuda:N", "cuda:0,2" or "cuda:all", from a string, or from an object such as PyTorch's torch.device whose
    str() is such a name. Raises ValueError."""
    try:
        text = str(device)
    except ValueError:  # Python does not print an integer of thousands of digits
        text = type(device).__name__
    if text in ("cuda", "gpu"):
        return "cuda:0"
    if text == CPU or re.fullmatch(r"cuda:(all|\d{1,4}(,\d{1,4})*)", text):
        return text
    text = text if len(text) <= 80 else text[:80] + "..."
    raise ValueError(f"device: expected 'cpu', 'cuda', 'cuda:N', 'cuda:0,2' or 'cuda:all', got {text!r}")


def is_read_by(device: str, array_device: str) -> bool:
    """True if sums on `device` can read arrays on `array_device`: the host, or one of the device's GPUs."""
    return array_device in (CPU, device) or device == "cuda:all" or array_device[5:] in device[5:].split(",")
