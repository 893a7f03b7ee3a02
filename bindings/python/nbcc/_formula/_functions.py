"""The functions of traced formulas, which `nbcc` exports under the same names: nbcc.sum, nbcc.exp, nbcc.where ..."""

from __future__ import annotations

import threading
from typing import Any, Callable, Dict, List, Optional, Tuple

from ._nodes import Line, Node
from ._operations import FUNCTIONS
from ._text_outputs import Output
from ._symbols import Reduction, Symbol, apply, line_of_caller, symbol_of

_traces = threading.local()  # guards of the function that this thread traces


def _guards() -> List[Tuple[Node, Optional[Line]]]:
    found: Optional[List[Tuple[Node, Optional[Line]]]] = getattr(_traces, "guards", None)
    if found is None:
        raise RuntimeError("expected a call within a function that @nbcc.pipeline traces")
    return found


def traced(function: Callable[..., Any], values: Dict[str, Symbol]) -> Tuple[Any, List[Tuple[Node, Optional[Line]]]]:
    """What the function returns for the values, and its guards."""
    before = getattr(_traces, "guards", None)
    _traces.guards = []
    try:
        return function(**values), _traces.guards
    finally:
        _traces.guards = before


def _node(value: Any) -> Node:
    return symbol_of(value).node


def _scalar(what: str, value: Any) -> Node:
    node = symbol_of(value)
    if node.shape != ():
        raise TypeError(f"nbcc.{what}: expected a number, got an array of shape {node.shape}; .sum() adds its elements")
    return node.node


def _reduction(reduction: str, *args: Node, where: Any = None, **options: Any) -> Reduction:
    for arg in args:
        if _has(arg, lambda one: one.op == "output"):
            raise TypeError(
                f"nbcc.{reduction}: the term depends on the result of a reduction, which is known after all pairs only; "
                "expected two pipelines, the second one with that result as an input of i"
            )
    condition = None if where is None else _scalar(f"{reduction}(where=)", where)
    return Reduction(Output(reduction, args, condition=condition, line=line_of_caller(), **options))


def _has(node: Node, is_meant: Callable[[Node], bool]) -> bool:
    """Whether the node, or one that it was computed from, is meant."""
    stack, seen = [node], set()
    while stack:
        one = stack.pop()
        if id(one) not in seen:
            seen.add(id(one))
            if is_meant(one):
                return True
            stack.extend(one.args)
    return False


def sum(value: Any, *, where: Any = None, total: bool = False) -> Reduction:
    """The sum over all pairs of an i. where: a condition of the pairs that count. total: over the pairs of all i."""
    return _reduction("sum", _node(value), where=where, total=total)


def product(value: Any, *, where: Any = None, total: bool = False) -> Reduction:
    """The product over all pairs of an i. where, total: as of sum."""
    return _reduction("product", _node(value), where=where, total=total)


def min(*values: Any, where: Any = None, total: bool = False) -> Symbol:
    """Of one value: the least over all pairs of an i; where, total: as of sum. Of two: the lesser one, by element."""
    return _extreme("min", values, where, total)


def max(*values: Any, where: Any = None, total: bool = False) -> Symbol:
    """Of one value: the greatest over all pairs of an i; where, total: as of sum. Of two: the greater one, by element."""
    return _extreme("max", values, where, total)


def _extreme(name: str, values: Tuple[Any, ...], where: Any, total: bool) -> Symbol:
    if len(values) == 1:
        return _reduction(name, _node(values[0]), where=where, total=total)
    if len(values) != 2 or where is not None or total:
        raise TypeError(f"nbcc.{name}: expected one value to reduce over pairs, or two values, got {len(values)}")
    return apply(name, *values)


def argmin(value: Any, k: Optional[int] = None, *, where: Any = None) -> Reduction:
    """The j_index of the least value; with k those of the k least, in ascending order. `.at(e)`: e of these pairs."""
    return _reduction("argmin", _scalar("argmin", value), where=where, slots=k or 0)


def argmax(value: Any, k: Optional[int] = None, *, where: Any = None) -> Reduction:
    """The j_index of the greatest value; with k those of the k greatest, in descending order. `.at(e)`: as of argmin."""
    return _reduction("argmax", _scalar("argmax", value), where=where, slots=k or 0)


def logsumexp(value: Any, *, where: Any = None, total: bool = False) -> Reduction:
    """The logarithm of the sum of the exponentials over all pairs of an i. where, total: as of sum."""
    return _reduction("logsumexp", _scalar("logsumexp", value), where=where, total=total)


def softmax(logit: Any, value: Any, *, where: Any = None) -> Reduction:
    """The mean of the values over all pairs of an i, with the weights exp(logit). where: as of sum."""
    return _reduction("softmax", _scalar("softmax", logit), _node(value), where=where)


def count(condition: Any, *, where: Any = None, total: bool = False) -> Reduction:
    """The number of pairs of an i for which the condition holds. where, total: as of sum."""
    return _reduction("count", _scalar("count", condition), where=where, total=total)


def histogram(bin: Any, bins: int, weight: Any = None, *, where: Any = None, total: bool = False) -> Reduction:
    """How many pairs of an i are in each of the bins, or the sum of their weights. bin: an integer; pairs with another one
    than 0 to bins - 1 are not counted. where, total: as of sum."""
    index = _scalar("histogram", bin)
    if index.kind != "int":
        raise TypeError(
            "nbcc.histogram: bin: expected an integer, such as nbcc.to_int(nbcc.floor(x)), got a real number"
        )
    weights = () if weight is None else (_scalar("histogram", weight),)
    return _reduction("histogram", index, *weights, where=where, total=total, bins=bins)


def each_pair(value: Any, *, where: Any = None) -> Reduction:
    """The value of each pair of a call with listed_pairs=, which is not reduced; 0 where the condition does not hold."""
    return _reduction("pair", _node(value), where=where)


def skip_if(condition: Any) -> None:
    """Excludes the pairs for which the condition holds from all reductions. A comparison of a distance with a cutoff lets
    nbcc search for the pairs."""
    _guards().append((_scalar("skip_if", condition), line_of_caller()))


def where(condition: Any, yes: Any, no: Any) -> Symbol:
    """One of two values, by element."""
    return apply("where", condition, yes, no)


def grad(value: Any, variable: Any) -> Symbol:
    """The derivative of a number by an input, a param, or a value that it was computed from, of the variable's shape."""
    u, x = _scalar("grad", value), symbol_of(variable)
    if x.node.op == "const":
        raise TypeError("nbcc.grad: expected a variable of the function, got a constant")
    if x.node.op != "field" and not _has(u, lambda one: one is x.node):
        raise TypeError(
            "nbcc.grad: the value was not computed from this variable, which is a new one, such as an x[0] that is written twice: "
            "expected one name for it, x0 = x[0], in both"
        )
    return Symbol(Node("grad", (u, x.node), x.node.size, x.node.kind, None, x.node.is_array, line_of_caller()))


def ddt(value: Any, *rates: Any) -> Symbol:
    """The rate of change of a number: ddt(e, x, rate_of_x, y, rate_of_y, ...)."""
    if len(rates) < 2 or len(rates) % 2:
        raise TypeError("nbcc.ddt: expected a value, and for each variable the variable and its rate")
    terms = [grad(value, x) * rate for x, rate in zip(rates[::2], rates[1::2])]
    scalars = [term.sum() if term.shape else term for term in terms]
    result: Symbol = scalars[0]
    for term in scalars[1:]:
        result = result + term
    return result


def dot(a: Any, b: Any) -> Symbol:
    """The sum of the products of the elements."""
    return symbol_of(a).dot(b)


def norm(a: Any) -> Symbol:
    """The square root of the sum of squares of the elements."""
    return symbol_of(a).norm()


def cross(a: Any, b: Any) -> Symbol:
    """Of two arrays of 3 elements an array, of two arrays of 2 a number."""
    a, b = symbol_of(a), symbol_of(b)
    if a.shape == b.shape == (2,):
        return apply("sub", a[0] * b[1], a[1] * b[0])
    if not a.shape == b.shape == (3,):
        raise ValueError(f"nbcc.cross: expected two arrays of 3 (or of 2) elements, got {a.shape} and {b.shape}")
    return stack(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def stack(*values: Any) -> Symbol:
    """An array of numbers."""
    return symbol_of([Symbol(_scalar("stack", value)) for value in values])


def concatenate(*values: Any) -> Symbol:
    """The elements of several arrays and numbers, one after the other."""
    nodes = [_node(value) for value in values]
    kind = "complex" if any(node.kind == "complex" for node in nodes) else "real"
    size = 0
    for node in nodes:
        size += node.size
    return Symbol(Node("concat", nodes, size, kind, None, True, line_of_caller()))


def nearest_image(d: Any, *periods: Any) -> Symbol:
    """The periodic image of d that is nearest to 0, for the lengths of a box, or for three lattice vectors."""
    return apply("nearest_image", d, *periods) if len(periods) == 1 else _of_vectors("nearest_image", d, *periods)


def every_image(d: Any, *periods: Any) -> Symbol:
    """d plus all multiples of the periods: the pair acts once for each image within a cutoff, see the language."""
    return _of_vectors("every_image", d, *periods)


def image_index(k: int) -> Symbol:
    """With every_image: how many of the period k are added to the position of j."""
    return Symbol(Node("of_vectors", [_node(int(k))], 1, "int", ("image_index", "int"), None, line_of_caller()))


def _of_vectors(name: str, *values: Any) -> Symbol:
    nodes = [_node(value) for value in values]
    for node in nodes:
        if node.size > 4 or (node.is_array and node.size < 2):
            raise ValueError(f"nbcc.{name}: expected arrays of 2 to 4 elements, got {node.size}")
    size, is_array = nodes[0].size, nodes[0].is_array
    type = f"vec{size}" if is_array else "real"
    return Symbol(Node("of_vectors", nodes, size, "real", (name, type), is_array, line_of_caller()))


def table(values: Any, s: Any) -> Symbol:
    """Linear interpolation between the elements of a param, or of a row of one; s is measured in elements."""
    return _interpolated("table", values, s)


def spline(values: Any, s: Any) -> Symbol:
    """The cubic spline through the elements of a param, or of a row of one; s is measured in elements."""
    return _interpolated("spline", values, s)


def _interpolated(name: str, values: Any, s: Any) -> Symbol:
    row = symbol_of(values)
    node = row.node
    if len(row.shape) != 1 or node.op not in ("field", "lookup") or node.data.role != "param":
        raise TypeError(
            f"nbcc.{name}: expected a param with one axis, or a row of a param, got a value of shape {row.shape}"
        )
    origin, indices = (node.args[0], node.args[1:]) if node.op == "lookup" else (node, ())
    return Symbol(Node(name, (origin, _scalar(name, s), *indices), 1, "real", node.data, False, line_of_caller()))


def to_int(value: Any) -> Symbol:
    """The integer without the fraction, as int(x) of the language."""
    return apply("int", value)


def _word(name: str, kind: str) -> Symbol:
    return Symbol(Node(name, kind=kind))


def _function(name: str, count: int) -> Callable[..., Symbol]:
    def function(*values: Any) -> Symbol:
        if len(values) != count:
            raise TypeError(f"nbcc.{name}: expected {count} values, got {len(values)}")
        return apply(name, *values)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name} of the language of pipelines, by element."
    return function


_OTHERS = "sum product min max argmin argmax logsumexp softmax count histogram each_pair skip_if where grad ddt dot norm cross"
_OTHERS += " stack concatenate nearest_image every_image image_index table spline to_int"
PUBLIC: Dict[str, Any] = {
    **{
        name: _function(name, count)
        for name, count in FUNCTIONS.items()
        if name not in ("int", "index", "nearest_image")
    },
    **{name: globals()[name] for name in _OTHERS.split()},
    "i_index": _word("i_index", "int"),
    "j_index": _word("j_index", "int"),
    "self_pair": _word("self_pair", "bool"),
}
