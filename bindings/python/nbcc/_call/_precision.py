"""The precision of calls that state none, which follows from their arrays. Entry points: `precision_of`, `real_element`,
`warn_of_double`."""

from __future__ import annotations

import re
import warnings
from typing import List, NamedTuple, Optional, Set, Tuple

from .._arrays._arrays import DOUBLE, FLOAT, SMALL
from .._c._errors import PipelineWarning
from .._c._fields import Field
from .._c._handles import Device, View, level_of_caller

# The architectures of GPUs that compute in double precision at half the rate of single; others at 1/32 or less.
_FAST_IN_DOUBLE = ("60", "70", "80", "90", "100")


class RunInfo(NamedTuple):
    """How the numbers of a call were computed: `precision`, "single", "mixed" or "double"; `method`, how its pairs were
    chosen, as in `Pipeline.statistics`; `device`."""

    precision: str
    method: str
    device: str


def real_element(views: List[Tuple[int, Field, View]]) -> int:
    """The type of real results: float32 if there are real inputs and all of them are float32 or smaller, else float64."""
    single = False
    for _, field, view in views:
        if view[1] == DOUBLE:
            return DOUBLE
        single = single or view[1] == FLOAT or view[1] in SMALL
    return FLOAT if single else DOUBLE


def precision_of(views: List[Tuple[int, Field, View]]) -> str:
    """The precision of a call that states none: that of its results' type."""
    return "single" if real_element(views) == FLOAT else "double"


_warned: Set[str] = set()


def warn_of_double(precision: Optional[str], device: Device) -> None:
    """Warns once for each GPU that is slow in double precision, which the arrays have chosen. precision: that of the
    call."""
    if precision != "double" or device.name in _warned:
        return
    _warned.add(device.name)
    kind = re.search(r"\bsm_(\d+)", device.description)
    if kind and kind.group(1) not in _FAST_IN_DOUBLE:
        warnings.warn(
            f"arrays of float64 are summed in double precision, in which {device.name} (sm_{kind.group(1)}) is "
            "slow: expected 1/8 of the rate of single precision or more; precision='single', precision='mixed' or arrays "
            "of float32 are faster",
            PipelineWarning,
            stacklevel=level_of_caller(),
        )
