"""Operations of KeOps' formulas on real numbers: by element, over elements, and products of arrays.

Values and derivatives are KeOps' also where a function has none: Sqrt, Rsqrt and Abs have the derivative 0 at 0.
"""

from __future__ import annotations

import math
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from .._formula._nodes import Node, const, map_of

Integers = Sequence[int]


class FormulaError(ValueError):
    """A formula that KeOps' language does not have."""


def number(value: float) -> Node:
    return const(float(value), "real")


def mapped(op: str, *args: Node) -> Node:
    try:
        return map_of(op, args, "bool" if op in ("lt", "le", "gt", "ge", "eq", "ne", "and") else "real")
    except ValueError as error:
        raise FormulaError(str(error)) from None


def _where(condition: Node, yes: Node, no: Node) -> Node:
    return mapped("where", condition, yes, no)


def need(condition: bool, message: str) -> None:
    if not condition:
        raise FormulaError(message)


def add(a: Node, b: Node) -> Node:
    return mapped("add", a, b)


def subtract(a: Node, b: Node) -> Node:
    return mapped("sub", a, b)


def multiply(a: Node, b: Node) -> Node:
    return mapped("mul", a, b)


def divide(a: Node, b: Node) -> Node:
    return mapped("div", a, b)


def minus(a: Node) -> Node:
    return number(-a.data) if a.op == "const" else mapped("neg", a)


def square(a: Node) -> Node:
    return mapped("square", a)


def power(a: Node, exponent: int) -> Node:
    return a if exponent == 1 else square(a) if exponent == 2 else mapped("pow", a, number(exponent))


def root(a: Node) -> Node:
    return _where(mapped("eq", a, number(0)), number(0), mapped("sqrt", a))


def inverse_root(a: Node) -> Node:
    return _where(mapped("eq", a, number(0)), number(0), mapped("rsqrt", a))


def magnitude(a: Node) -> Node:
    return _where(mapped("lt", a, number(0)), mapped("neg", a), _where(mapped("gt", a, number(0)), a, number(0)))


def sign(a: Node) -> Node:
    return _where(mapped("gt", a, number(0)), number(1), _where(mapped("lt", a, number(0)), number(-1), number(0)))


def step(a: Node) -> Node:
    return _where(mapped("lt", a, number(0)), number(0), number(1))


def relu(a: Node) -> Node:
    return _where(mapped("lt", a, number(0)), number(0), a)


def clamp(a: Node, low: Node, high: Node) -> Node:
    return _where(mapped("lt", a, low), low, _where(mapped("gt", a, high), high, a))


def if_else(a: Node, yes: Node, no: Node) -> Node:
    return _where(mapped("ge", a, number(0)), yes, no)


def modulo(a: Node, modulus: Node, offset: Node) -> Node:
    return subtract(a, multiply(modulus, mapped("floor", divide(subtract(a, offset), modulus))))


def rounded(a: Node, digits: int) -> Node:
    scale = number(10.0**digits)
    return mapped("round", a) if digits == 0 else divide(mapped("round", multiply(a, scale)), scale)


def x_log_x(a: Node) -> Node:
    return _where(mapped("eq", a, number(0)), number(0), multiply(a, mapped("log", a)))


def sine_ratio(a: Node) -> Node:
    return _where(mapped("eq", a, number(0)), number(1), divide(mapped("sin", a), a))


def _compare(op: str) -> Callable[[Node, Node], Node]:
    return lambda a, b: _where(mapped(op, a, b), number(1), number(0))


# Elements of arrays.


def take(a: Node, start: int, count: int, stride: int = 1) -> Node:
    if count == a.size == 1:
        return a
    return Node("take", (a,), count, a.kind, (start, stride), count > 1)


def extract(a: Node, start: int, count: int) -> Node:
    need(0 <= start and start + count <= a.size, "Index out of bound in Extract")
    return take(a, start, count)


def element(a: Node, k: int) -> Node:
    need(0 <= k < a.size, "Index out of bound in Elem")
    return take(a, k, 1)


def spread(a: Node, size: int) -> Node:
    need(a.size == 1 or a.size == size, "dimensions are not compatible for Broadcast operation")
    return a if size == a.size else Node("spread", (a,), size)


def zeros(size: int) -> Node:
    return spread(number(0), size)


def _iota(size: int) -> Node:
    return Node("iota", (), size, is_array=True) if size > 1 else number(0)


def one_hot(a: Node, size: int) -> Node:
    need(a.size == 1, "One-hot representation is only supported for scalar formulas.")
    need(size >= 1, "A one-hot vector should have length >= 1.")
    index = mapped("floor", add(a, number(0.5)))
    return _where(mapped("eq", _iota(size), index), number(1), number(0))


def element_t(a: Node, size: int, k: int) -> Node:
    need(a.size == 1, "Input of ElemT should be a scalar")
    return _where(mapped("eq", _iota(size), number(k)), a, number(0))


def extract_t(a: Node, start: int, size: int) -> Node:
    need(0 <= start and start + a.size <= size, "Index out of bound in ExtractT")
    parts = [zeros(start)] if start else []
    parts += [a] + ([zeros(size - start - a.size)] if size > start + a.size else [])
    return concat(*parts)


def concat(*parts: Node) -> Node:
    if len(parts) == 1:
        return parts[0]
    return Node("concat", parts, sum(part.size for part in parts))


def total(a: Node) -> Node:
    return a if a.size == 1 else Node("vsum", (a,))


def _over(op: str) -> Callable[[Node], Node]:
    return lambda a: (number(0) if "arg" in op else a) if a.size == 1 else Node(op, (a,))


def scalar_product(a: Node, b: Node) -> Node:
    need(a.size == b.size or 1 in (a.size, b.size), "Dimensions must be the same for Scalprod")
    return total(square(a) if a is b else multiply(a, b))


def square_norm(a: Node) -> Node:
    return total(square(a))


def weighted_square_norm(weights: Node, a: Node) -> Node:
    if weights.size == 1:
        return multiply(weights, square_norm(a))
    if weights.size == a.size:
        return total(multiply(weights, square(a)))
    return symmetric_square_norm(weights, a)


def symmetric_square_norm(weights: Node, a: Node) -> Node:
    return total(multiply(weights, tensor_product(a, a)))


# Products of arrays as matrices and tensors, row by row.


def _contract(a: Node, b: Node, free: Sequence[Tuple[int, ...]], summed: Sequence[Tuple[int, ...]]) -> Node:
    size = math.prod(axis[0] for axis in free)
    return Node("contract", (a, b), size, data=(free, summed))


def matrix_vector(a: Node, b: Node) -> Node:
    need(a.size % b.size == 0, "Dimensions of A and B are not compatible for matrix-vector product")
    return _contract(a, b, [(a.size // b.size, 1, b.size, 0)], [(b.size, 1, 1)])


def vector_matrix(b: Node, a: Node) -> Node:
    need(a.size % b.size == 0, "Dimensions of A and B are not compatible for vector-matrix product")
    columns = a.size // b.size
    return _contract(b, a, [(columns, 1, 0, 1)], [(b.size, 1, columns)])


def tensor_product(a: Node, b: Node) -> Node:
    if 1 in (a.size, b.size):
        return multiply(a, b)
    return _contract(a, b, [(a.size, b.size, 1, 0), (b.size, 1, 0, 1)], [])


def _strides(lengths: Integers) -> List[int]:
    return [math.prod(lengths[k + 1 :]) for k in range(len(lengths))]


def tensor_dot(
    a: Node,
    b: Node,
    a_lengths: Integers,
    b_lengths: Integers,
    a_summed: Integers,
    b_summed: Integers,
    permute: Optional[Integers] = None,
) -> Node:
    need(a.size == math.prod(a_lengths) and b.size == math.prod(b_lengths), "TensorDot: shapes and dimensions differ")
    same = [a_lengths[k] for k in a_summed] == [b_lengths[k] for k in b_summed]
    need(same, "TensorDot: contracted axes have different lengths")
    of_a, of_b = _strides(a_lengths), _strides(b_lengths)
    kept = [(a_lengths[k], of_a[k], 0) for k in range(len(a_lengths)) if k not in a_summed]
    kept += [(b_lengths[k], 0, of_b[k]) for k in range(len(b_lengths)) if k not in b_summed]
    order = range(len(kept)) if permute is None else sorted(range(len(kept)), key=permute.__getitem__)
    axes = [kept[k] for k in order]
    strides = _strides([axis[0] for axis in axes])
    free = [(axis[0], stride, *axis[1:]) for axis, stride in zip(axes, strides)]
    summed = [(a_lengths[k], of_a[k], of_b[m]) for k, m in zip(a_summed, b_summed)]
    return _contract(a, b, free, summed)


def kronecker(a: Node, b: Node, a_lengths: Integers, b_lengths: Integers) -> Node:
    need(len(a_lengths) == len(b_lengths), "Kron: the tensors have different numbers of axes")
    count = 2 * len(a_lengths)
    return tensor_dot(a, b, a_lengths, b_lengths, [], [], [*range(0, count, 2), *range(1, count, 2)])


def b_spline(knots: Node, x: Node, order: int) -> Node:
    """The values of the B-splines of the order at x, by de Boor's recursion."""
    need(order >= 0, f"The order of a BSpline must be >= 0, but received {order}.")
    need(x.size == 1, f"BSplines must be sampled at scalar values, but received a vector of size {x.size}.")
    enough = f"BSplines of order {order} require at least {order + 2} knots, but only received a vector of size {knots.size}."
    need(knots.size >= order + 2, enough)
    t = [take(knots, k, 1) for k in range(knots.size)]

    def ratio(first: int, last: int) -> Node:
        share = divide(subtract(x, t[first]), subtract(t[last], t[first]))
        return _where(mapped("lt", t[first], t[last]), share, number(0))

    values = [
        _where(mapped("and", mapped("le", t[k], x), mapped("lt", x, t[k + 1])), number(1), number(0))
        for k in range(len(t) - 1)
    ]
    for degree in range(1, order + 1):
        ratios = [ratio(k, k + degree) for k in range(len(values))]
        values = [
            add(multiply(ratios[k], values[k]), multiply(subtract(number(1), ratios[k + 1]), values[k + 1]))
            for k in range(len(values) - 1)
        ]
    return Node("stack", values, len(values)) if len(values) > 1 else values[0]


def soft_dtw(x: Node, y: Node, gamma: Node) -> Node:
    """Soft dynamic time warping (Cuturi and Blondel 2017) of two series, with squared differences."""
    need(gamma.size == 1, "input gamma should be scalar")
    rows = [[square(subtract(element(x, i), element(y, j))) for j in range(y.size)] for i in range(x.size)]
    best: Dict[Tuple[int, int], Node] = {}
    for j in range(y.size):
        for i in range(x.size):
            before = [best[at] for at in ((i - 1, j), (i, j - 1), (i - 1, j - 1)) if at in best]
            if len(before) == 3:
                least = mapped("min", mapped("min", before[0], before[1]), before[2])
                terms = [mapped("exp", divide(subtract(least, value), gamma)) for value in before]
                soft = multiply(gamma, mapped("log", add(add(terms[0], terms[1]), terms[2])))
                best[i, j] = add(rows[i][j], subtract(least, soft))
            else:
                best[i, j] = add(rows[i][j], before[0]) if before else rows[i][j]
    return best[x.size - 1, y.size - 1]
