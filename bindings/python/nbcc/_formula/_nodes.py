"""Nodes of expression trees: values of a pair, with the number of their elements. Entry points: `Node`, `map_of`."""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Tuple

# Number types, in the order in which operands are converted. "int" stands for both integers of the language.
KINDS = ("bool", "int", "real", "complex")

# A line of a Python file: file name and number.
Line = Tuple[str, int]


class Node:
    """A value of a pair, or of i, of j, or of the whole sum.

    op: "field", "const", an operation of `_operations`, or "output" (a result, in finish()). args: its operands. size: the
    number of its elements. is_array: elements are read as name[k], also of a single one. kind: of KINDS. data: what else
    the operation needs. line: of the Python program, for errors.
    """

    __slots__ = ("op", "args", "size", "is_array", "kind", "data", "line")

    def __init__(
        self,
        op: str,
        args: Sequence[Node] = (),
        size: int = 1,
        kind: str = "real",
        data: Any = None,
        is_array: Optional[bool] = None,
        line: Optional[Line] = None,
    ) -> None:
        self.op = op
        self.args = tuple(args)
        self.size = size
        self.kind = kind
        self.data = data
        self.is_array = size > 1 if is_array is None else is_array
        self.line = line

    def __repr__(self) -> str:
        inner = [repr(arg) for arg in self.args] + ([] if self.data is None else [repr(self.data)])
        return f"{self.op}({', '.join(inner)})"


class Field:
    """An input or a param of the text. role: "input_i", "input_j", "input_pair" or "param". type: of one element, as the
    text has it. shape: of a particle's value, () for a number. default: the text of a param's default value."""

    __slots__ = ("name", "role", "type", "shape", "default")

    def __init__(self, name: str, role: str, type: str, shape: Tuple[int, ...], default: Optional[str] = None) -> None:
        self.name, self.role, self.type, self.shape, self.default = name, role, type, shape, default

    def declaration(self) -> str:
        value = "" if self.default is None else f" = {self.default}"
        return f"{self.role} {declared(self.type, self.name, self.shape)}{value};"


def declared(type: str, name: str, shape: Tuple[int, ...]) -> str:
    """The declaration of a value: vec2 to vec4 where there is such a type, because searches need vectors."""
    if type == "real" and len(shape) == 1 and 2 <= shape[0] <= 4:
        return f"vec{shape[0]} {name}"
    return f"{type} {name}" + "".join(f"[{length}]" for length in shape)


def const(value: Any, kind: str = "") -> Node:
    """A number of Python. Without a kind it is that of the Python number."""
    if not kind:
        kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "real"
        kind = "complex" if isinstance(value, complex) else kind
    return Node("const", kind=kind, data=value)


def greatest_kind(args: Sequence[Node]) -> str:
    return KINDS[max(KINDS.index(arg.kind) for arg in args)]


def size_of(what: str, args: Sequence[Node]) -> int:
    """The number of elements of an operation by element. Raises ValueError if two arrays differ."""
    size = 1
    for arg in args:
        if arg.size != 1 and size not in (1, arg.size):
            raise ValueError(
                f"{what}: the operands have {size} and {arg.size} elements; expected the same number, or one"
            )
        size = max(size, arg.size)
    return size


def map_of(op: str, args: Sequence[Node], kind: str = "", data: Any = None, line: Optional[Line] = None) -> Node:
    """An operation by element. Without a kind it is the greatest of the operands' kinds."""
    is_array = any(arg.is_array for arg in args)
    return Node(op, args, size_of(op, args), kind or greatest_kind(args), data, is_array, line)


def uses_of(roots: Sequence[Node]) -> Tuple[Dict[int, int], Dict[int, Node]]:
    """How often each node is an operand (or a root), and the variables of derivatives, both by id."""
    uses: Dict[int, int] = {}
    variables: Dict[int, Node] = {}
    stack = list(roots)
    while stack:
        node = stack.pop()
        uses[id(node)] = uses.get(id(node), 0) + 1
        if uses[id(node)] > 1:
            continue
        if node.op in ("grad", "jacobian"):
            variables[id(node.args[1])] = node.args[1]
        stack.extend(node.args)
    return uses, variables
