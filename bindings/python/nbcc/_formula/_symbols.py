"""The values that a traced function computes with. Entry points: `Symbol`, `symbol_of`."""

from __future__ import annotations

import sys
from typing import Any, Iterator, NoReturn, Optional, Sequence, Tuple

from ._nodes import Line, Node, const, map_of
from ._text_outputs import Output

_FOLDER = __file__.rpartition("/")[0]
# Functions of NumPy that a value accepts, under the names of the language.
_UFUNCS = {
    **dict(add="add", subtract="sub", multiply="mul", divide="div", true_divide="div", negative="neg", power="pow"),
    **dict(less="lt", less_equal="le", greater="gt", greater_equal="ge", equal="eq", not_equal="ne", logical_and="and"),
    **dict(logical_or="or", logical_not="not", minimum="min", maximum="max", absolute="abs", fabs="abs"),
    **dict(arcsin="asin", arccos="acos", arctan="atan", arctan2="atan2", arcsinh="asinh", arccosh="acosh"),
    **dict(arctanh="atanh", conjugate="conj", square="square"),
    **{name: name for name in "sqrt cbrt exp exp2 expm1 log log2 log10 log1p sinh cosh tanh sin cos tan".split()},
    **{name: name for name in "floor ceil trunc sign hypot fmod copysign".split()},
}


def line_of_caller() -> Optional[Line]:
    """The innermost line of Python outside of this folder."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_FOLDER):
        frame = frame.f_back  # type: ignore[assignment]
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


class Symbol:
    """A value of a pair of particles, or the result of a reduction: a number, shape (), or an array, shape (D,).

    Python's operators, nbcc's functions and NumPy's act by element, on arrays of equal length, of length 1, and on numbers.
    """

    __slots__ = ("node", "shape")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, node: Node, shape: Optional[Tuple[int, ...]] = None) -> None:
        self.node = node
        self.shape = ((node.size,) if node.is_array else ()) if shape is None else shape

    def __repr__(self) -> str:
        return f"<value of shape {self.shape}: {self.node!r}>"

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "the condition depends on a pair's values, which Python does not have: expected nbcc.where(condition, a, b) or "
            "nbcc.skip_if(condition) in place of 'if', and '&', '|', '~' in place of 'and', 'or', 'not'"
        )

    def __float__(self) -> NoReturn:
        raise TypeError("a pair's value is not a number of Python; expected a function of nbcc or NumPy for it")

    __int__ = __index__ = __complex__ = __float__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        name = _UFUNCS.get(ufunc.__name__)
        if method != "__call__" or options or name is None:
            raise TypeError(f"numpy.{ufunc.__name__} of a pair's value: nbcc has no such function")
        return apply(name, *inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> NoReturn:
        raise TypeError(
            f"{function.__module__}.{function.__name__} of a pair's value: expected a function of nbcc, a method such as .sum(), "
            "or a function of NumPy that acts by element"
        )

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a number has no elements")
        return self.shape[0]

    def __iter__(self) -> Iterator[Symbol]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, key: Any) -> Symbol:
        keys = key if isinstance(key, tuple) else (key,)
        if not self.shape or len(keys) > len(self.shape):
            raise IndexError(f"a value of shape {self.shape} has no element [{', '.join(map(str, keys))}]")
        is_constant = all(isinstance(one, (int, slice)) or hasattr(one, "__index__") for one in keys)
        if len(self.shape) == 1 and is_constant and not isinstance(key, Symbol):
            return self._element(keys[0])
        return _row(self, keys)

    def _element(self, key: Any) -> Symbol:
        if isinstance(key, slice):
            start, stop, step = key.indices(self.shape[0])
            count = len(range(start, stop, step))
            if count == 0 or step < 0:
                raise IndexError(f"expected a slice with elements and a positive step, got {key}")
            return Symbol(Node("take", (self.node,), count, self.node.kind, (start, step), True, line_of_caller()))
        k = int(key)
        if not -self.shape[0] <= k < self.shape[0]:
            raise IndexError(f"index {k} is out of range: the array has {self.shape[0]} elements")
        data = (k % self.shape[0], 1)
        return Symbol(Node("take", (self.node,), 1, self.node.kind, data, False, line_of_caller()))

    @property
    def real(self) -> Symbol:
        return apply("real", self) if self.node.kind == "complex" else self

    @property
    def imag(self) -> Symbol:
        return apply("imag", self)

    def conj(self) -> Symbol:
        return apply("conj", self)

    def sum(self) -> Symbol:
        """The sum of the elements."""
        return self._over("vsum")

    def prod(self) -> Symbol:
        """The product of the elements."""
        return self._over("vprod")

    def max(self) -> Symbol:
        """The greatest element."""
        return self._over("vmax")

    def min(self) -> Symbol:
        """The least element."""
        return self._over("vmin")

    def argmax(self) -> Symbol:
        """The index of the greatest element, the lowest if several are equal."""
        return self._over("vargmax", "int")

    def argmin(self) -> Symbol:
        """The index of the least element, the lowest if several are equal."""
        return self._over("vargmin", "int")

    def mean(self) -> Symbol:
        """The mean of the elements."""
        return self.sum() / float(len(self))

    def dot(self, other: Any) -> Symbol:
        """The sum of the products of the elements of two arrays, without a conjugate."""
        return apply("mul", self, other).sum()

    def norm(self) -> Symbol:
        """The square root of the sum of squares."""
        if self.node.kind == "complex":
            return apply("sqrt", apply("add", apply("square", self.real), apply("square", self.imag)).sum())
        return apply("sqrt", apply("square", self).sum())

    def _over(self, op: str, kind: str = "") -> Symbol:
        if len(self.shape) != 1:
            raise TypeError(f".{op[1:]}() is over the elements of an array; this value has the shape {self.shape}")
        node = _without_bool(self.node)
        return Symbol(Node(op, (node,), 1, kind or node.kind, line=line_of_caller()))

    def __pow__(self, other: Any) -> Symbol:
        return apply("square", self) if type(other) is int and other == 2 else apply("pow", self, other)

    def __rpow__(self, other: Any) -> Symbol:
        return apply("pow", other, self)

    def __neg__(self) -> Symbol:
        return apply("neg", self)

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Symbol:
        return apply("abs", self)

    def __invert__(self) -> Symbol:
        return apply("not", self)

    def __floordiv__(self, other: Any) -> Symbol:
        if not _are_whole(self, other):
            return apply("floor", apply("div", self, other))
        multiple = apply("sub", self, self % other).node
        args = _without_bool(multiple), _without_bool(symbol_of(other).node)
        return Symbol(map_of("div", args, "int", line=line_of_caller()))

    def __rfloordiv__(self, other: Any) -> Symbol:
        return symbol_of(other) // self

    def __mod__(self, other: Any) -> Symbol:
        """As in Python: the result has the sign of `other`."""
        if not _are_whole(self, other):
            return apply("sub", self, apply("mul", other, self // other))
        args = _without_bool(self.node), _without_bool(symbol_of(other).node)
        rest, divisor = Symbol(map_of("mod", args, "int", line=line_of_caller())), Symbol(args[1])
        differ = ((rest < 0) & (divisor > 0)) | ((rest > 0) & (divisor < 0))
        return apply("where", differ, rest + divisor, rest)

    def __rmod__(self, other: Any) -> Symbol:
        return symbol_of(other) % self

    def __add__(self, other: Any) -> Symbol:
        return apply("add", self, other)

    def __radd__(self, other: Any) -> Symbol:
        return apply("add", other, self)

    def __sub__(self, other: Any) -> Symbol:
        return apply("sub", self, other)

    def __rsub__(self, other: Any) -> Symbol:
        return apply("sub", other, self)

    def __mul__(self, other: Any) -> Symbol:
        return apply("mul", self, other)

    def __rmul__(self, other: Any) -> Symbol:
        return apply("mul", other, self)

    def __truediv__(self, other: Any) -> Symbol:
        return apply("div", self, other)

    def __rtruediv__(self, other: Any) -> Symbol:
        return apply("div", other, self)

    def __lt__(self, other: Any) -> Symbol:
        return apply("lt", self, other)

    def __le__(self, other: Any) -> Symbol:
        return apply("le", self, other)

    def __gt__(self, other: Any) -> Symbol:
        return apply("gt", self, other)

    def __ge__(self, other: Any) -> Symbol:
        return apply("ge", self, other)

    def __eq__(self, other: Any) -> Symbol:  # type: ignore[override]
        return apply("eq", self, other)

    def __ne__(self, other: Any) -> Symbol:  # type: ignore[override]
        return apply("ne", self, other)

    def __and__(self, other: Any) -> Symbol:
        return apply("and", self, other)

    def __rand__(self, other: Any) -> Symbol:
        return apply("and", other, self)

    def __or__(self, other: Any) -> Symbol:
        return apply("or", self, other)

    def __ror__(self, other: Any) -> Symbol:
        return apply("or", other, self)


class Reduction(Symbol):
    """The result of a reduction: what a traced function returns, alone or computed with others. It is known after all
    pairs, so that a value of a pair cannot be computed from it."""

    __slots__ = ("output",)

    def __init__(self, output: Output) -> None:
        self.output = output
        shape = output.shape
        size = shape[0] if shape else 1
        super().__init__(Node("output", (), size, output.kind, output, bool(shape), output.line), shape)

    def at(self, value: Any) -> Reduction:
        """Of an argmin or argmax: the value for the chosen pair, or for each of the chosen pairs."""
        term = symbol_of(value).node
        if self.output.reduction not in ("argmin", "argmax"):
            raise TypeError(f".at() is of an argmin or argmax; this is a {self.output.reduction}")
        if term.size > 4 or (term.is_array and (term.size < 2 or term.kind != "real")):
            raise ValueError(f".at(): expected a number or an array of 2 to 4 real numbers, got {term.size} elements")
        line = line_of_caller()
        return Reduction(Output("at", (term,), of=self.output, condition=self.output.condition, line=line))


def _without_bool(node: Node) -> Node:
    """A condition as 1 or 0, because sums of conditions are numbers; other values as they are."""
    return map_of("where", (node, const(1), const(0)), "int", line=node.line) if node.kind == "bool" else node


def _are_whole(*values: Any) -> bool:
    return all(symbol_of(value).node.kind in ("bool", "int") for value in values)


def _row(value: Symbol, keys: Sequence[Any]) -> Symbol:
    """An element of a param, or a row of a table, at indices that may be values."""
    node = value.node
    given: Tuple[Any, ...] = ()
    if node.op == "lookup":
        given, field = node.args[1:], node.data
    elif node.op == "field" and node.data.role == "param":
        field = node.data
    else:
        raise TypeError("only a param can be read at an index that is a value of a pair")
    indices = [symbol_of(key).node for key in keys]
    for index in indices:
        if index.kind != "int":
            raise TypeError("an index of a table is an integer: expected nbcc.to_int(...) of a real number")
    shape = value.shape[len(keys) :]
    size = shape[0] if shape else 1
    origin = node.args[0] if node.op == "lookup" else node
    made = Node("lookup", (origin, *given, *indices), size, node.kind, field, bool(shape), line_of_caller())
    return Symbol(made, shape)


def symbol_of(value: Any) -> Symbol:
    """A value as it is, a number of Python or NumPy, or a nested list or array of numbers as a constant array."""
    if isinstance(value, Symbol):
        return value
    if getattr(value, "requires_grad", False):
        raise TypeError(
            "a tensor that requires a gradient is a constant of the formula, which would have none: expected an argument of "
            "the function, annotated with nbcc.Param"
        )
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    if isinstance(value, (bool, int, float, complex)):
        is_long = isinstance(value, int) and not -(2**63) <= value < 2**63  # for integers of the language
        return Symbol(const(value, "real" if is_long else ""))
    if isinstance(value, (list, tuple)) or len(getattr(value, "shape", ())) == 1:
        parts = [symbol_of(part) for part in value]
        if parts and all(part.shape == () for part in parts):
            kinds = [part.node for part in parts]
            kind = "complex" if any(node.kind == "complex" for node in kinds) else "real"
            return Symbol(Node("stack", kinds, len(kinds), kind, None, True, line_of_caller()))
    raise TypeError(f"expected a value of the traced function, a number or a list of these, got {type(value).__name__}")


def apply(op: str, *values: Any) -> Symbol:
    """An operation by element."""
    from ._operations import COMPARISONS

    nodes = [symbol_of(value) for value in values]
    for symbol in nodes:
        if len(symbol.shape) > 1:
            raise TypeError(f"a value of shape {symbol.shape} can only be read at indices")
    args = [symbol.node for symbol in nodes]
    line = line_of_caller()
    if op in ("div", "pow") and all(arg.kind in ("bool", "int") for arg in args):
        args[0] = map_of("mul", (args[0], const(1.0)), "real", line=line)
    kind = ""
    if op in COMPARISONS:
        kind = "bool"
    elif op in ("real", "imag", "arg") or (op == "abs" and args[0].kind == "complex"):
        kind = "real"
    elif op not in (
        "add",
        "sub",
        "mul",
        "mod",
        "div",
        "neg",
        "abs",
        "min",
        "max",
        "clamp",
        "where",
        "int",
        "square",
        "conj",
    ):
        kind = "complex" if any(arg.kind == "complex" for arg in args) else "real"
    elif op == "where":
        kind = map_of(op, args[1:]).kind
    elif op == "int":
        op, kind = "index", "int"
    elif all(arg.kind == "bool" for arg in args):
        kind = "int"
    return Symbol(map_of(op, args, kind, line=line))
