"""KeOps' reductions: the outputs of the text, and how results are made of them. Entry point: `reduction_of`."""

from __future__ import annotations

from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

from .._formula._nodes import Node, map_of
from .._formula._text_outputs import Output
from .._formula._program import Result
from ._basic_operations import take
from ._libraries import library_of

MAX_SLOTS = 64  # indices that an output(argmin) keeps


class Reduction(NamedTuple):
    """outputs: of the text. result: of the arrays of these outputs, the result of KeOps, an array or a tuple of arrays.
    indices: the positions among the outputs of those that are indices; values: of those that are values of the same pairs,
    or minima and maxima."""

    outputs: List[Result]
    result: Callable[[Sequence[Any]], Any]
    indices: Tuple[int, ...] = ()
    values: Tuple[int, ...] = ()


_ALIASES = {
    "SoftMax": "SumSoftMaxWeight",
    "MinArgMin": "Min_ArgMin",
    "MaxArgMax": "Max_ArgMax",
    "KMinArgKMin": "KMin_ArgKMin",
}
_SUMS = frozenset(
    ("Sum", "LogSumExp", "LogSumExpWeight", "SumSoftMaxWeight", "Max_SumShiftExp", "Max_SumShiftExpWeight")
)


def is_sum(name: str) -> bool:
    return _ALIASES.get(name, name) in _SUMS


def reduction_of(name: str, f: Node, g: Optional[Node], slots: Any) -> Reduction:
    """name: as KeOps calls the reduction. g: the weights. slots: K. Raises ValueError."""
    name = _ALIASES.get(name, name)
    if name in ("LogSumExp", "LogSumExpWeight", "SumSoftMaxWeight", "Max_SumShiftExp", "Max_SumShiftExpWeight"):
        return _exponential(name, f, g)
    if name == "Sum":
        return Reduction([_column("sum", f)], _first)
    if name in ("Min", "Max"):
        return Reduction([_column(name.lower(), f)], _first, (), (0,))
    if name in ("ArgMin", "ArgMax"):
        outputs = [Output(name.lower(), (take(f, k, 1),), slots=1) for k in range(f.size)]
        return Reduction(list(outputs), _joined, tuple(range(f.size)))
    if name in ("Min_ArgMin", "Max_ArgMax"):
        kind = name[:3].lower()
        outputs = [_column(kind, f), *(Output(f"arg{kind}", (take(f, k, 1),), slots=1) for k in range(f.size))]
        return Reduction(list(outputs), lambda made: (made[0], _joined(made[1:])), tuple(range(1, f.size + 1)), (0,))
    if name in ("KMin", "ArgKMin", "KMin_ArgKMin"):
        return _least(name, f, slots)
    raise ValueError(
        f"{name}: expected a reduction of KeOps, such as Sum, LogSumExp, SumSoftMaxWeight, Min, ArgMin or ArgKMin"
    )


def _column(reduction: str, *args: Node) -> Output:
    return Output(reduction, args, column=True)


def _exponential(name: str, f: Node, g: Optional[Node]) -> Reduction:
    if f.size != 1:
        raise ValueError(f"{name}: expected a formula of dimension 1, got {f.size}")
    if name in ("LogSumExpWeight", "SumSoftMaxWeight") and g is None:
        raise ValueError(f"{name} reduction requires a weight formula (given as formula2 kwarg)")
    if name == "SumSoftMaxWeight":
        assert g is not None
        return Reduction([_column("softmax", f, g)], _first)
    if name == "LogSumExp" and g is None:
        return Reduction([_column("logsumexp", f)], _first)
    log_sum, mean = Output("logsumexp", (f,)), None if g is None else Output("softmax", (f, g))
    z = Node("output", kind="real", data=log_sum)
    if name == "LogSumExp":
        assert mean is not None and g is not None
        weighted = Node("output", size=g.size, data=mean)
        result = map_of("add", (z, map_of("log", (weighted,))))
        return Reduction([_as_array(result)], _first)
    # The greatest exponent m, and the sum of exp(f - m) g.
    greatest = Node("output", data=Output("max", (f,)))
    parts = [greatest, map_of("exp", (map_of("sub", (z, greatest)),))]
    if mean is not None and g is not None:
        parts[1] = map_of("mul", (parts[1], Node("output", size=g.size, data=mean)))
    return Reduction([Node("concat", parts, 1 + parts[1].size)], _first)


def _as_array(node: Node) -> Node:
    return node if node.is_array else Node("stack", (node,), 1, is_array=True)


def _least(name: str, f: Node, slots: Any) -> Reduction:
    if not isinstance(slots, int) or slots < 1:
        raise ValueError(f"{name}: expected opt_arg, the number K of values, as an integer from 1, got {slots!r}")
    if slots > MAX_SLOTS:
        raise ValueError(f"{name}: K={slots}: nbcc keeps at most {MAX_SLOTS} values of a reduction")
    outputs: List[Result] = []
    for k in range(f.size):
        term = take(f, k, 1)
        near = Output("argmin", (term,), slots=slots)
        outputs += [near] if name == "ArgKMin" else [near, Output("at", (term,), of=near)]
    step = 1 if name == "ArgKMin" else 2

    def result(made: Sequence[Any]) -> Any:
        indices, values = _stacked(made[::step]), None if step == 1 else _stacked(made[1::2])
        return indices if name == "ArgKMin" else values if name == "KMin" else (values, indices)

    count = len(outputs)
    return Reduction(outputs, result, tuple(range(0, count, step)), () if step == 1 else tuple(range(1, count, 2)))


def _first(made: Sequence[Any]) -> Any:
    return made[0]


def _joined(made: Sequence[Any]) -> Any:
    """Arrays (..., 1) as one array (..., D)."""
    if len(made) == 1:
        return made[0]
    return library_of(made[0]).concatenate(tuple(made), -1)


def _stacked(made: Sequence[Any]) -> Any:
    """Arrays (..., K) as one array (..., K, D); of one dimension (..., K)."""
    return made[0] if len(made) == 1 else library_of(made[0]).stack(tuple(made), -1)
