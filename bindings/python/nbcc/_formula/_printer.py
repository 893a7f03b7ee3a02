"""Expression trees -> statements of the language. Entry point: `Scope`.

node                                      text
by element, read once                     an expression: (x[k] - y[k])
by element, read several times            a variable: real t1[64]; for (int k = 0; ...) t1[k] = ...;
over the elements of an array ("vsum")    a variable and a loop: real t2 = 0; for (...) t2 += ...;
elements in another order ("take")        an expression with another index: x[3 + k]
products of arrays, joined arrays         a variable and loops
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple

from ._nodes import Line, Node, declared, uses_of
from ._operations import ATOM, BINARY, CONDITIONAL, FUNCTIONS, OVER_ELEMENTS, PRODUCT, SIGN, SUM, UNARY, WORDS

_LONGEST_SQUARED = 40  # characters of an expression that is squared as a product
_MAX_DEPTH = 200  # operands within operands: the compiler's limit of nested brackets


class Text(NamedTuple):
    text: str
    strength: int = ATOM

    def within(self, strength: int) -> str:
        return self.text if self.strength >= strength else f"({self.text})"


class Statement(NamedTuple):
    text: str
    line: Optional[Line]


class Names:
    """Names of variables, such as t1, t2, that no field and no output has."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken: Set[str] = set(taken)
        self._counts: Dict[str, int] = {}

    def word(self, word: str) -> str:
        """The word itself if it is free."""
        if word in self._taken:
            return self.new(word)
        self._taken.add(word)
        return word

    def new(self, stem: str) -> str:
        count = self._counts.get(stem, 0) + 1
        while f"{stem}{count}" in self._taken:
            count += 1
        self._counts[stem] = count
        self._taken.add(f"{stem}{count}")
        return f"{stem}{count}"


class Scope:
    """Statements of one block: the pair's, or those of finish(). `statements` grows while nodes are printed.

    roots: all nodes that will be printed. names: for variables. outputs: names of results, for finish()."""

    def __init__(self, roots: Sequence[Node], names: Names, outputs: Optional[Dict[int, str]] = None) -> None:
        self.statements: List[Statement] = []
        self._uses, self._variables = uses_of(roots)
        self._names = names
        self._counters = [names.word(letter) for letter in "kmnpqrsabcdefgh"]
        self._outputs = outputs or {}
        self._named: Dict[int, str] = {}
        self._kept: List[Node] = list(roots)  # so that ids stay unique
        self._depth = 0

    def index(self, size: int) -> str:
        """The index of an element within `loop`."""
        return self._counters[0] if size > 1 else "0"

    def add(self, text: str, line: Optional[Line]) -> None:
        self.statements.append(Statement(text, line))

    def loop(self, size: int, text: str, line: Optional[Line], first: int = 0) -> None:
        """A statement for each element from the first one on, whose index in the text is `index(size)`."""
        k = self._counters[0]
        if size > first:
            self.add(f"for (int {k} = {first}; {k} < {size}; ++{k}) {text}" if size > 1 else text, line)

    def scalar(self, node: Node) -> str:
        return self._element(node, "0").text

    def element(self, node: Node, index: str) -> str:
        """The element at the index, a text; of a number the number."""
        return self._element(node, index).text

    def factor(self, node: Node, index: str) -> str:
        """The element as an operand of a product."""
        return self._element(node, index).within(PRODUCT)

    def _element(self, node: Node, index: str) -> Text:
        name = self._named.get(id(node))
        if name is None:
            self._depth += 1
            if self._depth > _MAX_DEPTH:
                raise RecursionError(f"a formula with more than {_MAX_DEPTH} operations within each other")
            try:
                name_or_text = self._printed(node, index)
            finally:
                self._depth -= 1
            if isinstance(name_or_text, Text):
                return name_or_text
            name = name_or_text
        if not node.is_array:
            return Text(name)
        return Text(f"{name}[{index if node.size > 1 else 0}]")

    def _printed(self, node: Node, index: str) -> Any:
        """The expression, or the name of the variable that holds the node."""
        op = node.op
        if op == "field":
            return self._keep(node, node.data.name)
        if op == "output":
            return self._keep(node, self._outputs[id(node.data)])
        if op == "const":
            return number_text(node.data, node.kind)
        if op in WORDS:
            return Text(op)
        is_variable = id(node) in self._variables
        if op in OVER_ELEMENTS:
            return self._over_elements(node)
        if op in _STORED:
            return _STORED[op](self, node)
        is_factor = not node.is_array and index != "0" and op != "take"  # a number within a loop over elements
        if is_variable or is_factor or (self._uses.get(id(node), 0) > 1 and not _is_plain(node)):
            return self._variable(node)
        return self._expression(node, index)

    def _keep(self, node: Node, name: str) -> str:
        self._named[id(node)] = name
        return name

    def _new(self, node: Node) -> str:
        return self._keep(node, self._names.new("t"))

    def declare(self, node: Node, name: str) -> str:
        return declared("index" if node.kind == "int" else node.kind, name, (node.size,) if node.is_array else ())

    def _variable(self, node: Node) -> str:
        """A variable with the elements of a node by element."""
        if not node.is_array:
            text = self._expression(node, "0").text
            name = self._new(node)
            self.add(f"{self.declare(node, name)} = {text};", node.line)
            return name
        k = self.index(node.size)
        text = self._expression(node, k).text
        name = self._new(node)
        self.add(f"{self.declare(node, name)};", node.line)
        self.loop(node.size, f"{name}[{k}] = {text};", node.line)
        return name

    def _expression(self, node: Node, index: str) -> Text:
        """The element of a node by element, from its operands."""
        op, args = node.op, node.args
        if op == "take":
            return self._element(args[0], _moved(index if node.size > 1 else "0", *node.data))
        if op == "spread":
            return self._element(args[0], "0")
        if op == "iota":
            return Text(index, ATOM if index.isidentifier() or index.isdigit() else SUM)
        if op == "grad":
            return Text(f"grad({self._element(args[0], '0').text}, {self._element(args[1], index).text})")
        parts = [self._element(arg, index) for arg in args]
        if op in BINARY:
            sign, strength = BINARY[op]
            return Text(f"{parts[0].within(strength)} {sign} {parts[1].within(strength + 1)}", strength)
        if op in UNARY:
            return Text(f"{UNARY[op]}{parts[0].within(ATOM)}", SIGN)
        if op == "square":
            if len(parts[0].text) <= _LONGEST_SQUARED:
                return Text(f"{parts[0].within(PRODUCT)} * {parts[0].within(SIGN)}", PRODUCT)
            return Text(f"pow({parts[0].text}, 2)")
        if op == "where":
            return Text(
                f"{parts[0].within(CONDITIONAL + 1)} ? {parts[1].within(SUM)} : {parts[2].within(SUM)}", CONDITIONAL
            )
        if op == "lookup":
            own = [f"[{index if node.size > 1 else 0}]"] if node.is_array else []
            return Text(node.data.name + "".join([*(f"[{part.text}]" for part in parts[1:]), *own]))
        if op in ("table", "spline"):
            row = "".join(f"[{part.text}]" for part in parts[2:])
            return Text(f"{op}({node.data.name}{row}, {parts[1].text})")
        assert op in FUNCTIONS, op
        return Text(f"{op}({', '.join(part.text for part in parts)})")

    def _over_elements(self, node: Node) -> str:
        (array,), op, line = node.args, node.op, node.line
        k = self.index(array.size)
        if op in ("vsum", "vprod"):
            text = self.element(array, k)
            name = self._new(node)
            start, sign = ("0", "+=") if op == "vsum" else ("1", "*=")
            self.add(f"{self.declare(node, name)} = {start};", line)
            self.loop(array.size, f"{name} {sign} {text};", line)
            return name
        first, text = self.element(array, "0"), self._element(array, k).within(SUM)
        name = self._new(node)
        if op in ("vmax", "vmin"):
            self.add(f"{self.declare(node, name)} = {first};", line)
            self.loop(array.size, f"{name} = {op[1:]}({name}, {text});", line, 1)
            return name
        best = self._names.new("t")
        sign, function = (">", "max") if op == "vargmax" else ("<", "min")
        self.add(f"{self.declare(node, name)} = 0;", line)
        self.add(f"real {best} = {first};", line)
        compare = f"{{ if ({text} {sign} {best}) {name} = {k}; {best} = {function}({best}, {text}); }}"
        self.loop(array.size, compare, line, 1)
        return name

    def _stack(self, node: Node) -> str:
        """An array of numbers."""
        texts = [self.scalar(arg) for arg in node.args]
        name = self._new(node)
        self.add(f"{self.declare(node, name)};", node.line)
        for k, text in enumerate(texts):
            self.add(f"{name}[{k}] = {text};", node.line)
        return name

    def _concat(self, node: Node) -> str:
        texts = [self.element(arg, self.index(arg.size)) for arg in node.args]
        name = self._new(node)
        self.add(f"{self.declare(node, name)};", node.line)
        start = 0
        for arg, text in zip(node.args, texts):
            self.loop(arg.size, f"{name}[{_moved(self.index(arg.size), start, 1)}] = {text};", node.line)
            start += arg.size
        return name

    def _interleave(self, node: Node) -> str:
        """Elements of two arrays by turns: complex numbers as pairs."""
        size = node.size // 2
        k = self.index(size)
        texts = [self.element(arg, k) for arg in node.args]
        name = self._new(node)
        self.add(f"{self.declare(node, name)};", node.line)
        for part, text in enumerate(texts):
            self.loop(size, f"{name}[{_moved(k, part, 2)}] = {text};", node.line)
        return name

    def _contract(self, node: Node) -> str:
        """Sums of products of the elements of two arrays. data: (free, summed): for each index of a loop its size and the
        strides of the result (not if summed), of a and of b."""
        free, summed = node.data
        counters = iter(self._counters)
        free = [(next(counters), *axis) for axis in free if axis[0] > 1]
        summed = [(next(counters), axis[0], 0, *axis[1:]) for axis in summed if axis[0] > 1]
        places = [_flat([(axis[0], axis[2 + k]) for axis in free + summed]) for k in range(3)]
        a, b = (self.factor(arg, place) for arg, place in zip(node.args, places[1:]))
        name = self._new(node)
        self.add(f"{self.declare(node, name)};", node.line)
        head = "".join(f"for (int {k} = 0; {k} < {size}; ++{k}) " for k, size, *_ in free)
        target = f"{name}[{places[0]}]" if node.is_array else name
        if not summed:
            self.add(f"{head}{target} = {a} * {b};", node.line)
            return name
        inner = "".join(f"for (int {k} = 0; {k} < {size}; ++{k}) " for k, size, *_ in summed)
        total = self._names.new("t")
        self.add(f"{head}{{ real {total} = 0; {inner}{total} += {a} * {b}; {target} = {total}; }}", node.line)
        return name

    def _jacobian(self, node: Node) -> str:
        """The derivatives of each element of an array by each element of a variable, row by row."""
        function, variable = node.args
        row, column = self._counters[:2]
        count = variable.size
        of, by = self.element(function, row if function.size > 1 else "0"), self.element(
            variable, column if count > 1 else "0"
        )
        name = self._new(node)
        self.add(f"{self.declare(node, name)};", node.line)
        axes = [(row, function.size, count), (column, count, 1)]
        head = "".join(f"for (int {k} = 0; {k} < {size}; ++{k}) " for k, size, _ in axes if size > 1)
        place = _flat([(k, stride) for k, size, stride in axes if size > 1])
        target = f"{name}[{place}]" if node.is_array else name
        self.add(f"{head}{target} = grad({of}, {by});", node.line)
        return name

    def _of_vectors(self, node: Node) -> str:
        """A function of vectors, data: its name and the type of its result."""
        function, type = node.data
        texts = [self.vector(arg) for arg in node.args]
        name = self._new(node)
        self.add(f"{type} {name} = {function}({', '.join(texts)});", node.line)
        return name

    def vector(self, node: Node) -> str:
        """A number, or a vector of 2 to 4 elements, as a whole."""
        if not node.is_array:
            return self.scalar(node)
        if node.op == "field":
            return str(node.data.name)
        return f"vec{node.size}({', '.join(self.element(node, str(k)) for k in range(node.size))})"


_STORED: Dict[str, Callable[[Scope, Node], str]] = {
    "stack": Scope._stack,
    "concat": Scope._concat,
    "interleave": Scope._interleave,
    "contract": Scope._contract,
    "jacobian": Scope._jacobian,
    "of_vectors": Scope._of_vectors,
}


def _is_plain(node: Node) -> bool:
    """True for elements of a field, which need no variable of their own."""
    return node.op == "take" and node.args[0].op == "field"


def _moved(index: str, start: int, step: int) -> str:
    """start + step * index, for a name or a number."""
    if index.isdigit():
        return str(start + step * int(index))
    scaled = index if step == 1 else f"{step} * {index if index.isidentifier() else f'({index})'}"
    return f"{start} + {scaled}" if start else scaled


def _flat(axes: Sequence[Tuple[str, int]]) -> str:
    terms = [name if stride == 1 else f"{stride} * {name}" for name, stride in axes if stride]
    return " + ".join(terms) or "0"


def number_text(value: Any, kind: str) -> Text:
    if kind == "bool":
        return Text("true" if value else "false")
    if kind == "complex":
        return Text(f"complex({number_text(value.real, 'real').text}, {number_text(value.imag, 'real').text})")
    if kind == "int":
        return Text(str(int(value)), ATOM if value >= 0 else SIGN)
    value = float(value)
    if math.isnan(value):
        return Text("(0.0 / 0.0)")
    if math.isinf(value):
        return Text("(1.0 / 0.0)" if value > 0 else "(-1.0 / 0.0)")
    return Text(repr(value), ATOM if value >= 0 else SIGN)
