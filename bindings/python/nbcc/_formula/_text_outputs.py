"""Reductions: what an output keeps of the terms of all pairs. Entry point: `Output`."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

from ._nodes import Line, Node, declared
from ._printer import Scope

# Reductions whose statement is written for each element of an array.
_STATEMENTS = {
    "sum": "{name} += {0};",
    "product": "{name} *= {0};",
    "min": "{name} = min({name}, {0});",
    "max": "{name} = max({name}, {0});",
    "argmin": "{name} = argmin({name}, {0});",
    "argmax": "{name} = argmax({name}, {0});",
    "logsumexp": "{name} = logsumexp({name}, {0});",
    "softmax": "{name} = softmax({name}, {0}, {1});",
    "count": "{name} += {0};",
    "pair": "{name} = {0};",
}
REDUCTIONS = frozenset((*_STATEMENTS, "at", "histogram"))


class Output:
    """An output of the text. reduction: of REDUCTIONS. args: the nodes that its statement reads, the term last. slots: how
    many indices an argmin or argmax keeps; 0 for one without an array. total: one value for the run. condition: the pairs
    that act on this output only. of: the argmin or argmax of a payload. bins: of a histogram. column: a number is an array of
    one element, so that results have an axis for it."""

    def __init__(
        self,
        reduction: str,
        args: Sequence[Node],
        *,
        slots: int = 0,
        total: bool = False,
        condition: Optional[Node] = None,
        of: Optional[Output] = None,
        bins: int = 0,
        column: bool = False,
        line: Optional[Line] = None,
    ) -> None:
        self.reduction, self.args, self.slots, self.total = reduction, tuple(args), slots, total
        self.condition, self.of, self.bins, self.line = condition, of, bins, line
        self.column = column
        self.name = ""  # set by the program that prints it

    @property
    def term(self) -> Node:
        return self.args[-1]

    @property
    def kind(self) -> str:
        """Of the result's elements."""
        if self.reduction in ("argmin", "argmax", "count"):
            return "int"
        if self.reduction == "histogram":
            return "real" if len(self.args) > 1 else "int"
        return "int" if self.term.kind == "bool" else self.term.kind

    @property
    def shape(self) -> Tuple[int, ...]:
        if self.reduction == "histogram":
            return (self.bins,)
        slots = self.slots or (self.of.slots if self.of is not None else 0)
        if self.reduction in ("argmin", "argmax"):
            return (slots,) if slots else ()
        own = (self.term.size,) if self.term.is_array or self.column else ()
        return ((slots,) if slots else ()) + own

    def declaration(self) -> str:
        reduction = "sum" if self.reduction == "histogram" else self.reduction
        words = f"total, {reduction}" if self.total and reduction != "sum" else "total" if self.total else reduction
        type, shape = "index" if self.kind == "int" else self.kind, self.shape
        if len(shape) == 2:  # payloads of several slots
            type, shape = f"vec{shape[1]}", shape[:1]
        is_of_slots = self.slots or (self.of is not None and self.of.slots)
        name = f"{type} {self.name}[{shape[0]}]" if is_of_slots or self.bins else declared(type, self.name, shape)
        return f"output({words}) {name};"

    def print(self, scope: Scope) -> None:
        """Appends its statements."""
        head = "" if self.condition is None else f"if ({scope.scalar(self.condition)}) "
        if self.reduction == "histogram":
            texts = [scope.scalar(arg) for arg in self.args]
            scope.add(f"{head}{self.name}[{texts[0]}] += {texts[1] if len(texts) > 1 else '1'};", self.line)
            return
        if self.reduction == "at":
            assert self.of is not None
            scope.add(f"{head}{self.name} = at({self.of.name}, {scope.vector(self.term)});", self.line)
            return
        form, line = _STATEMENTS[self.reduction], self.line
        if not self.term.is_array:
            name = f"{self.name}[0]" if self.column else self.name
            scope.add(head + form.format(*map(scope.scalar, self.args), name=name), line)
            return
        k = scope.index(self.term.size)
        texts = [scope.element(arg, k) for arg in self.args]
        scope.loop(self.term.size, head + form.format(*texts, name=f"{self.name}[{k}]"), line)


def result_type(node: Node) -> Any:
    """An output that finish() computes: starts as a sum of nothing."""
    return declared("index" if node.kind == "int" else node.kind, "{name}", (node.size,) if node.is_array else ())
