"""Formula strings of KeOps, `Exp(-SqDist(x,y))*b`, and their aliases, `x = Vi(3)` -> expression trees. Entry points:
`parsed`, `variables_of`."""

from __future__ import annotations

import ast
import operator
import re
import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .._formula._nodes import Field, Node
from ._basic_operations import FormulaError, number
from ._keops_operations import OPERATIONS

CATEGORIES = {"Vi": 0, "Vj": 1, "Pm": 2}
_BINARY: Dict[type, str] = {
    ast.Add: "Add",
    ast.Sub: "Subtract",
    ast.Mult: "Mult",
    ast.Div: "Divide",
    ast.BitOr: "Scalprod",
}
_ARITHMETIC: Dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_COMPARISONS: Dict[type, Tuple[str, bool]] = {  # the operation, and whether its operands are exchanged
    ast.Lt: ("LessThan", False),
    ast.LtE: ("LessOrEqual", False),
    ast.Gt: ("LessThan", True),
    ast.GtE: ("LessOrEqual", True),
    ast.Eq: ("Equal", False),
    ast.NotEq: ("NotEqual", False),
}
_VARIABLE = re.compile(r"Var\((\d+),(\d+),([012])\)")


class Variable(NamedTuple):
    """An input: category 0 of i, 1 of j, 2 a parameter; position: among the arguments of a call."""

    name: Optional[str]
    category: int
    size: int
    position: int


def variable_of(alias: str, position: Optional[int] = None) -> Variable:
    """Of `x = Vi(3)`, `x = Vi(0,3)`, `Vi(3)` or `Var(0,3,0)`. Raises ValueError."""
    text = alias.replace(" ", "")
    if "Vx" in text or "Vy" in text:
        text = text.replace("Vx", "Vi").replace("Vy", "Vj")
        warnings.warn("'Vx' and 'Vy' variables types are now renamed 'Vi' and 'Vj'", stacklevel=3)
    found = re.fullmatch(r"(?:([A-Za-z_]\w*)=)?(Vi|Vj|Pm)\((?:(\d+),)?(\d+)\)", text)
    if found:
        place = position if found[3] is None else int(found[3])
        return Variable(found[1], CATEGORIES[found[2]], int(found[4]), 0 if place is None else place)
    found = re.fullmatch(r"(?:([A-Za-z_]\w*)=)?Var\((\d+),(\d+),([012])\)", text)
    if not found:
        raise ValueError(
            f"{alias}: expected an alias 'var = [Vi|Vj|Pm](dim)', 'var = [Vi|Vj|Pm](pos,dim)', or the same without 'var =', "
            "or 'Var(pos,dim,cat)'"
        )
    return Variable(found[1], int(found[4]), int(found[3]), int(found[2]))


def variables_of(formula: str, aliases: Sequence[str]) -> List[Variable]:
    """The variables of a formula in the order of the arguments: those of the aliases, and Var(pos,dim,cat) in the formula."""
    found = {v.position: v for v in (variable_of(alias, k) for k, alias in enumerate(aliases))}
    for position, size, category in _VARIABLE.findall(formula.replace(" ", "")):
        found.setdefault(int(position), Variable(None, int(category), int(size), int(position)))
    missing = [k for k in range(len(found)) if k not in found]
    if missing:
        raise ValueError(
            f"{formula}: no variable has the position {missing[0]}, but {len(found)} variables are declared"
        )
    return [found[k] for k in range(len(found))]


def parsed(formula: str, variables: Sequence[Variable], fields: Sequence[Node]) -> Node:
    """The tree of a formula. fields: of the variables, by position. Raises FormulaError, a ValueError, that shows the
    formula."""
    names: Dict[Optional[str], Node] = {v.name: fields[v.position] for v in variables if v.name is not None}
    try:
        tree = ast.parse(formula.strip(), mode="eval").body
        return _as_node(_Reader(names, fields).value(tree))
    except SyntaxError as error:
        raise FormulaError(f"{formula}: {error.msg} at character {error.offset}") from None
    except RecursionError:
        raise FormulaError(
            f"a formula of {len(formula)} characters has too many operations within each other"
        ) from None
    except FormulaError as error:
        shown = formula if len(formula) < 500 else f"{formula[:500]}..."
        raise FormulaError(f"{error} (in the formula {shown})") from None


def field_node(variable: Variable, role: str) -> Node:
    name = f"{'xyp'[variable.category]}{variable.position}"
    shape = (variable.size,) if variable.size > 1 else ()
    return Node("field", (), variable.size, "real", Field(name, role, "real", shape))


def _as_node(value: Any) -> Node:
    if isinstance(value, Node):
        return value
    if isinstance(value, (int, float)):
        return number(value)
    raise FormulaError(f"expected a formula, got {value!r}")


class _Reader:
    def __init__(self, names: Dict[Optional[str], Node], fields: Sequence[Node]) -> None:
        self._names, self._fields = names, fields
        self._made: Dict[Any, Node] = {}  # equal operations on the same operands are one node
        self._free: Dict[Tuple[int, int], Node] = {}  # variables of trace_operator, which no argument has

    def value(self, tree: ast.expr) -> Any:
        """A node, or an integer or a list of integers as a parameter of an operation."""
        if isinstance(tree, ast.Constant) and isinstance(tree.value, (int, float)):
            return tree.value
        if isinstance(tree, (ast.List, ast.Tuple)):
            return [self.value(one) for one in tree.elts]
        if isinstance(tree, ast.Name):
            if tree.id not in self._names:
                raise FormulaError(f"there is no variable '{tree.id}'")
            return self._names[tree.id]
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, (ast.USub, ast.UAdd)):
            inner = self.value(tree.operand)
            if isinstance(tree.op, ast.UAdd):
                return inner
            return -inner if isinstance(inner, (int, float)) else self._make("Minus", [inner])
        if isinstance(tree, ast.BinOp):
            return self._binary(tree)
        if isinstance(tree, ast.Compare) and len(tree.ops) == 1:
            name, is_exchanged = _COMPARISONS.get(type(tree.ops[0]), ("", False))
            if name:
                args = [_as_node(self.value(one)) for one in (tree.left, tree.comparators[0])]
                return self._make(name, args[::-1] if is_exchanged else args)
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.keywords:
            return self._call(tree.func.id, [self.value(arg) for arg in tree.args])
        raise FormulaError(f"'{ast.unparse(tree)}' is not part of KeOps' formulas")

    def _binary(self, tree: ast.BinOp) -> Any:
        left, right = self.value(tree.left), self.value(tree.right)
        if isinstance(left, (int, float)) and isinstance(right, (int, float)) and type(tree.op) in _ARITHMETIC:
            return _ARITHMETIC[type(tree.op)](left, right)
        if isinstance(tree.op, ast.Pow):
            is_whole = isinstance(right, int)
            return self._make("Pow" if is_whole else "Powf", [_as_node(left), right if is_whole else _as_node(right)])
        name = _BINARY.get(type(tree.op))
        if name is None:
            raise FormulaError(f"'{ast.unparse(tree)}' is not part of KeOps' formulas")
        return self._make(name, [_as_node(left), _as_node(right)])

    def _call(self, name: str, args: List[Any]) -> Node:
        if name in CATEGORIES and len(args) == 2:
            name, args = "Var", [args[0], args[1], CATEGORIES[name]]
        if name == "Var" and len(args) == 3:
            position, size, category = args
            if position < 0:
                free = Node("spread", (number(0),), size, is_array=size > 1)
                return self._free.setdefault((position, size), free)
            field: Node = self._fields[position]
            if field.size != size:
                raise FormulaError(f"Var({position},{size},{category}): the variable has dimension {field.size}")
            return field
        if name not in OPERATIONS:
            raise FormulaError(f"there is no operation '{name}'")
        return self._make(name, args)

    def _make(self, name: str, args: List[Any]) -> Node:
        key = (name, *(id(arg) if isinstance(arg, Node) else repr(arg) for arg in args))
        if key not in self._made:
            if name not in ("IntCst", "IntInv", "RatCst", "Zero"):  # numbers among the first operands are formulas
                args = [_as_node(args[0]), *args[1:]] if args else args
            try:
                made = OPERATIONS[name](*args)
            except (TypeError, AttributeError) as error:
                raise FormulaError(f"{name}: wrong arguments: {error}") from None
            self._made[key] = _as_node(made)
        return self._made[key]
