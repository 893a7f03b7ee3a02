"""What a caller chooses of kernels, searches and devices, and what a pipeline's fields are: plain data, checked."""

from __future__ import annotations

import ctypes
import re
from typing import Any, NamedTuple, Optional, Tuple

from ._library import PipelineOptions
from ._numbers import named, real, shown

CPU = "cpu"
PRECISIONS = ("single", "mixed", "double")
MATHS = ("fast", "precise")
ROOTS = ("refined", "estimate", "exact")
PAIRS = ("auto", "all", "cutoff")
INPUT_I, INPUT_J, PARAM, OUTPUT, INPUT_PAIR = "input_i", "input_j", "param", "output", "input_pair"
ROLES = (INPUT_I, INPUT_J, PARAM, OUTPUT, INPUT_PAIR)
REDUCTIONS = ("sum", "min", "max", "argmin", "argmax", "logsumexp", "softmax", "product", "count", "at")


def _check_is_known(name: str, value: Any, known: Tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in known:  # what an array is equal to is an array
        raise ValueError(f"{name}: expected {', '.join(map(repr, known))}, got {shown(value)}")


class Options(NamedTuple):
    """What a kernel is compiled with; see docs/how_to/choose_precision.md."""

    precision: str = "single"
    math: str = "fast"
    root: str = "refined"

    def checked(self) -> Options:
        for name, value, known in (
            ("precision", self.precision, PRECISIONS),
            ("math", self.math, MATHS),
            ("root", self.root, ROOTS),
        ):
            _check_is_known(name, value, known)
        return self

    def as_struct(self) -> PipelineOptions:
        return PipelineOptions(
            ctypes.sizeof(PipelineOptions),
            PRECISIONS.index(self.precision),
            MATHS.index(self.math),
            ROOTS.index(self.root),
        )


class Search(NamedTuple):
    """Which pairs a sum computes, and for how long what a search finds is kept."""

    pairs: str = "auto"
    skin: float = 0.0

    def changed(self, pairs: Optional[str], skin: Optional[float]) -> Search:
        """The same with what is given. Raises ValueError, TypeError."""
        if pairs is not None:
            _check_is_known("pairs", pairs, PAIRS)
        width = self.skin if skin is None else named("skin", real, skin)
        return Search(self.pairs if pairs is None else pairs, width)


class DeviceChoice(NamedTuple):
    """threads, isa: of the CPU. cache_dir: of compiled kernels; "" for none, None for the usual one."""

    threads: int = 0
    isa: Optional[str] = None
    cache_dir: Optional[str] = None


class Field(NamedTuple):
    """A field of a pipeline, as its text declares it.

    role: "input_i", "input_j", "input_pair", "param" or "output". shape: of one particle's numbers, () for a scalar.
    integral: int, index, bool, and outputs that are indices. reduction: of an output. default: of a param, one number
    for each component; None where it has none.
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

    def __str__(self) -> str:
        return f"{self.role} {self.type} {self.name}"


def device_name(device: Any) -> str:
    """ "cpu", "cuda:N", "cuda:0,2" or "cuda:all", of a string, or of an object (PyTorch's, say) whose string is one.
    Raises ValueError."""
    try:
        text = str(device)
    except ValueError:  # an integer of thousands of digits
        text = type(device).__name__
    if text in ("cuda", "gpu"):
        return "cuda:0"
    if text == CPU or re.fullmatch(r"cuda:(all|\d{1,4}(,\d{1,4})*)", text):
        return text
    text = text if len(text) <= 80 else text[:80] + "..."
    raise ValueError(f"device: expected 'cpu', 'cuda', 'cuda:N', 'cuda:0,2' or 'cuda:all', got {text!r}")


def is_read_by(device: str, place: str) -> bool:
    """Whether sums on a device read arrays there: of the host, or of its GPU or one of its GPUs."""
    return place in (CPU, device) or device == "cuda:all" or place[5:] in device[5:].split(",")
