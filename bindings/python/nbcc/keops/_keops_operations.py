"""The operations of KeOps' formulas on expression trees: OPERATIONS, by their names in formula strings.

Values and derivatives are KeOps' also where a function has none: Sqrt, Rsqrt and Abs have the derivative 0 at 0.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from .._formula._nodes import Node, const, map_of

Integers = Sequence[int]


class FormulaError(ValueError):
    """A formula that KeOps' language does not have."""


def number(value: float) -> Node:
    return const(float(value), "real")


def _map(op: str, *args: Node) -> Node:
    try:
        return map_of(op, args, "bool" if op in ("lt", "le", "gt", "ge", "eq", "ne", "and") else "real")
    except ValueError as error:
        raise FormulaError(str(error)) from None


def _where(condition: Node, yes: Node, no: Node) -> Node:
    return _map("where", condition, yes, no)


def _need(condition: bool, message: str) -> None:
    if not condition:
        raise FormulaError(message)


def add(a: Node, b: Node) -> Node:
    return _map("add", a, b)


def subtract(a: Node, b: Node) -> Node:
    return _map("sub", a, b)


def multiply(a: Node, b: Node) -> Node:
    return _map("mul", a, b)


def divide(a: Node, b: Node) -> Node:
    return _map("div", a, b)


def minus(a: Node) -> Node:
    return number(-a.data) if a.op == "const" else _map("neg", a)


def square(a: Node) -> Node:
    return _map("square", a)


def power(a: Node, exponent: int) -> Node:
    return a if exponent == 1 else square(a) if exponent == 2 else _map("pow", a, number(exponent))


def root(a: Node) -> Node:
    return _where(_map("eq", a, number(0)), number(0), _map("sqrt", a))


def inverse_root(a: Node) -> Node:
    return _where(_map("eq", a, number(0)), number(0), _map("rsqrt", a))


def magnitude(a: Node) -> Node:
    return _where(_map("lt", a, number(0)), _map("neg", a), _where(_map("gt", a, number(0)), a, number(0)))


def sign(a: Node) -> Node:
    return _where(_map("gt", a, number(0)), number(1), _where(_map("lt", a, number(0)), number(-1), number(0)))


def step(a: Node) -> Node:
    return _where(_map("lt", a, number(0)), number(0), number(1))


def relu(a: Node) -> Node:
    return _where(_map("lt", a, number(0)), number(0), a)


def clamp(a: Node, low: Node, high: Node) -> Node:
    return _where(_map("lt", a, low), low, _where(_map("gt", a, high), high, a))


def if_else(a: Node, yes: Node, no: Node) -> Node:
    return _where(_map("ge", a, number(0)), yes, no)


def modulo(a: Node, modulus: Node, offset: Node) -> Node:
    return subtract(a, multiply(modulus, _map("floor", divide(subtract(a, offset), modulus))))


def rounded(a: Node, digits: int) -> Node:
    scale = number(10.0**digits)
    return _map("round", a) if digits == 0 else divide(_map("round", multiply(a, scale)), scale)


def x_log_x(a: Node) -> Node:
    return _where(_map("eq", a, number(0)), number(0), multiply(a, _map("log", a)))


def sine_ratio(a: Node) -> Node:
    return _where(_map("eq", a, number(0)), number(1), divide(_map("sin", a), a))


def _compare(op: str) -> Callable[[Node, Node], Node]:
    return lambda a, b: _where(_map(op, a, b), number(1), number(0))


# Elements of arrays.


def take(a: Node, start: int, count: int, stride: int = 1) -> Node:
    if count == a.size == 1:
        return a
    return Node("take", (a,), count, a.kind, (start, stride), count > 1)


def extract(a: Node, start: int, count: int) -> Node:
    _need(0 <= start and start + count <= a.size, "Index out of bound in Extract")
    return take(a, start, count)


def element(a: Node, k: int) -> Node:
    _need(0 <= k < a.size, "Index out of bound in Elem")
    return take(a, k, 1)


def spread(a: Node, size: int) -> Node:
    _need(a.size == 1 or a.size == size, "dimensions are not compatible for Broadcast operation")
    return a if size == a.size else Node("spread", (a,), size)


def zeros(size: int) -> Node:
    return spread(number(0), size)


def _iota(size: int) -> Node:
    return Node("iota", (), size, is_array=True) if size > 1 else number(0)


def one_hot(a: Node, size: int) -> Node:
    _need(a.size == 1, "One-hot representation is only supported for scalar formulas.")
    _need(size >= 1, "A one-hot vector should have length >= 1.")
    index = _map("floor", add(a, number(0.5)))
    return _where(_map("eq", _iota(size), index), number(1), number(0))


def element_t(a: Node, size: int, k: int) -> Node:
    _need(a.size == 1, "Input of ElemT should be a scalar")
    return _where(_map("eq", _iota(size), number(k)), a, number(0))


def extract_t(a: Node, start: int, size: int) -> Node:
    _need(0 <= start and start + a.size <= size, "Index out of bound in ExtractT")
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
    _need(a.size == b.size or 1 in (a.size, b.size), "Dimensions must be the same for Scalprod")
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
    _need(a.size % b.size == 0, "Dimensions of A and B are not compatible for matrix-vector product")
    return _contract(a, b, [(a.size // b.size, 1, b.size, 0)], [(b.size, 1, 1)])


def vector_matrix(b: Node, a: Node) -> Node:
    _need(a.size % b.size == 0, "Dimensions of A and B are not compatible for vector-matrix product")
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
    _need(a.size == math.prod(a_lengths) and b.size == math.prod(b_lengths), "TensorDot: shapes and dimensions differ")
    same = [a_lengths[k] for k in a_summed] == [b_lengths[k] for k in b_summed]
    _need(same, "TensorDot: contracted axes have different lengths")
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
    _need(len(a_lengths) == len(b_lengths), "Kron: the tensors have different numbers of axes")
    count = 2 * len(a_lengths)
    return tensor_dot(a, b, a_lengths, b_lengths, [], [], [*range(0, count, 2), *range(1, count, 2)])


def b_spline(knots: Node, x: Node, order: int) -> Node:
    """The values of the B-splines of the order at x, by de Boor's recursion."""
    _need(order >= 0, f"The order of a BSpline must be >= 0, but received {order}.")
    _need(x.size == 1, f"BSplines must be sampled at scalar values, but received a vector of size {x.size}.")
    enough = f"BSplines of order {order} require at least {order + 2} knots, but only received a vector of size {knots.size}."
    _need(knots.size >= order + 2, enough)
    t = [take(knots, k, 1) for k in range(knots.size)]

    def ratio(first: int, last: int) -> Node:
        share = divide(subtract(x, t[first]), subtract(t[last], t[first]))
        return _where(_map("lt", t[first], t[last]), share, number(0))

    values = [
        _where(_map("and", _map("le", t[k], x), _map("lt", x, t[k + 1])), number(1), number(0)) for k in range(len(t) - 1)
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
    _need(gamma.size == 1, "input gamma should be scalar")
    rows = [[square(subtract(element(x, i), element(y, j))) for j in range(y.size)] for i in range(x.size)]
    best: Dict[Tuple[int, int], Node] = {}
    for j in range(y.size):
        for i in range(x.size):
            before = [best[at] for at in ((i - 1, j), (i, j - 1), (i - 1, j - 1)) if at in best]
            if len(before) == 3:
                least = _map("min", _map("min", before[0], before[1]), before[2])
                terms = [_map("exp", divide(subtract(least, value), gamma)) for value in before]
                soft = multiply(gamma, _map("log", add(add(terms[0], terms[1]), terms[2])))
                best[i, j] = add(rows[i][j], subtract(least, soft))
            else:
                best[i, j] = add(rows[i][j], before[0]) if before else rows[i][j]
    return best[x.size - 1, y.size - 1]


# Derivatives.


def _depends(node: Node, variable: Node) -> bool:
    stack, seen = [node], set()
    while stack:
        one = stack.pop()
        if one is variable:
            return True
        if id(one) not in seen:
            seen.add(id(one))
            stack.extend(one.args)
    return False


def _variable(v: Node) -> None:
    _need(v.op in ("field", "spread"), "expected a variable to differentiate by")


def jacobian(f: Node, v: Node) -> Node:
    """Of f by v, row by row: an array of f.size * v.size derivatives."""
    _variable(v)
    return Node("jacobian", (f, v), f.size * v.size)


def gradient(f: Node, v: Node, given: Optional[Node] = None) -> Node:
    """The derivative of the scalar product of f and `given`, which is constant, by v."""
    _variable(v)
    given = number(1) if given is None else given
    if not _depends(given, v):
        product = total(f) if given.op == "const" and given.data == 1 else scalar_product(f, given)
        return Node("grad", (product, v), v.size, is_array=v.is_array)
    if f.size == 1:
        return multiply(total(given), Node("grad", (f, v), v.size, is_array=v.is_array))
    return vector_matrix(spread(given, f.size), jacobian(f, v))


def differential(f: Node, v: Node, rate: Node) -> Node:
    return matrix_vector(jacobian(f, v), spread(rate, v.size))


def trace_operator(f: Node, v: Node) -> Node:
    """The trace of the linear function f of v; of a number the sum of its coefficients."""
    _need(f.size in (1, v.size), f"Output dimension should be 1 or {v.size} (dim {f.size}).")
    if f.size == 1 or v.size == 1:
        return total(gradient(f, v))
    return total(take(jacobian(f, v), 0, v.size, v.size + 1))


def divergence(f: Node, v: Node) -> Node:
    _need(f.size == v.size, "Divergence: the formula and the variable have different dimensions.")
    return trace_operator(f, v)


def laplacian(f: Node, v: Node) -> Node:
    _need(f.size == 1, "Laplacian is only implemented for scalar formula.")
    return divergence(gradient(f, v), v)


# Complex numbers as pairs of elements.


def parts(a: Node) -> Tuple[Node, Node]:
    _need(a.size % 2 == 0, "Dimension of F must be even")
    return take(a, 0, a.size // 2, 2), take(a, 1, a.size // 2, 2)


def of_parts(real: Node, imag: Node) -> Node:
    size = max(real.size, imag.size)
    return Node("interleave", (spread(real, size), spread(imag, size)), 2 * size)


def complex_multiply(a: Node, b: Node) -> Node:
    (ar, ai), (br, bi) = parts(a), parts(b)
    real = subtract(multiply(ar, br), multiply(ai, bi))
    return of_parts(real, add(multiply(ar, bi), multiply(ai, br)))


def complex_square_abs(a: Node) -> Node:
    real, imag = parts(a)
    return add(square(real), square(imag))


def complex_divide(a: Node, b: Node) -> Node:
    inverse = divide(number(1), complex_square_abs(b))
    return complex_multiply(of_parts(inverse, zeros(inverse.size)), complex_multiply(a, conjugate(b)))


def conjugate(a: Node) -> Node:
    real, imag = parts(a)
    return of_parts(real, _map("neg", imag))


def complex_exp(a: Node) -> Node:
    real, imag = parts(a)
    size = _map("exp", real)
    return of_parts(multiply(size, _map("cos", imag)), multiply(size, _map("sin", imag)))


def _complex_by_part(function: Callable[[Node, Node], Node]) -> Callable[[Node, Node], Node]:
    def of_complex(a: Node, b: Node) -> Node:
        (ar, ai), (br, bi) = parts(a), parts(b)
        return of_parts(function(ar, br), function(ai, bi))

    return of_complex


def complex_scale(a: Node, b: Node) -> Node:
    a, b = (a, b) if a.size == 1 else (b, a)
    _need(a.size == 1, "Dimension of F must be 1")
    return multiply(a, b)


def complex_sum(a: Node) -> Node:
    real, imag = parts(a)
    return of_parts(total(real), total(imag))


def complex_sum_t(a: Node, size: int) -> Node:
    _need(a.size == 2, "Dimension of F must be 2")
    real, imag = parts(a)
    return of_parts(spread(real, size // 2), spread(imag, size // 2))


def _ratio(p: int, q: int) -> Node:
    return number(float(Fraction(p, q)))


_FUNCTIONS = {"Exp": "exp", "Log": "log", "Sin": "sin", "Cos": "cos", "Asin": "asin", "Acos": "acos", "Atan": "atan"}
_FUNCTIONS["Floor"] = "floor"


def _function(name: str) -> Callable[[Node], Node]:
    return lambda a: _map(name, a)


OPERATIONS: Dict[str, Callable[..., Any]] = {
    **{name: _function(op) for name, op in _FUNCTIONS.items()},
    "Add": add,
    "Subtract": subtract,
    "Mult": multiply,
    "Divide": divide,
    "Minus": minus,
    "Square": square,
    "Pow": power,
    "Powf": lambda a, b: _map("pow", a, b),
    "Inv": lambda a: divide(number(1), a),
    "IntInv": lambda n: _ratio(1, n),
    "IntCst": number,
    "RatCst": _ratio,
    "Zero": zeros,
    "Sqrt": root,
    "Rsqrt": inverse_root,
    "Abs": magnitude,
    "Sign": sign,
    "Step": step,
    "ReLU": relu,
    "Clamp": clamp,
    "ClampInt": lambda a, low, high: clamp(a, number(low), number(high)),
    "DiffClampInt": lambda a, low, high: multiply(step(subtract(a, number(low))), step(subtract(number(high), a))),
    "IfElse": if_else,
    "Mod": modulo,
    "Round": rounded,
    "XLogX": x_log_x,
    "SinXDivX": sine_ratio,
    "Atan2": lambda a, b: _map("atan2", a, b),
    "Equal": _compare("eq"),
    "NotEqual": _compare("ne"),
    "LessThan": _compare("lt"),
    "LessOrEqual": _compare("le"),
    "Max": _over("vmax"),
    "Min": _over("vmin"),
    "ArgMax": _over("vargmax"),
    "ArgMin": _over("vargmin"),
    "Sum": total,
    "SumT": spread,
    "Elem": element,
    "ElemT": element_t,
    "Extract": extract,
    "ExtractT": extract_t,
    "Concat": lambda a, b: concat(a, b),
    "OneHot": one_hot,
    "Scalprod": scalar_product,
    "SqNorm2": square_norm,
    "Norm2": lambda a: root(square_norm(a)),
    "Normalize": lambda a: multiply(inverse_root(square_norm(a)), a),
    "SqDist": lambda a, b: square_norm(subtract(a, b)),
    "SqNormIso": lambda s, a: multiply(s, square_norm(a)),
    "SqNormDiag": lambda s, a: total(multiply(s, square(a))),
    "SymSqNorm": symmetric_square_norm,
    "WeightedSqNorm": weighted_square_norm,
    "WeightedSqDist": lambda s, a, b: weighted_square_norm(s, subtract(a, b)),
    "MatVecMult": matrix_vector,
    "VecMatMult": vector_matrix,
    "TensorProd": tensor_product,
    "TensorDot": tensor_dot,
    "Kron": kronecker,
    "BSpline": b_spline,
    "SoftDTW_SqDist": soft_dtw,
    "Grad": gradient,
    "GradMatrix": jacobian,
    "Diff": differential,
    "Divergence": divergence,
    "Laplacian": laplacian,
    "TraceOperator": trace_operator,
    "Factorize": lambda f, g: f,
    "AutoFactorize": lambda f: f,
    "ComplexReal": lambda a: parts(a)[0],
    "ComplexImag": lambda a: parts(a)[1],
    "Real2Complex": lambda a: of_parts(a, zeros(a.size)),
    "Imag2Complex": lambda a: of_parts(zeros(a.size), a),
    "ComplexExp1j": lambda a: of_parts(_map("cos", a), _map("sin", a)),
    "ComplexAbs": lambda a: root(complex_square_abs(a)),
    "ComplexSquareAbs": complex_square_abs,
    "ComplexAngle": lambda a: _map("atan2", parts(a)[1], parts(a)[0]),
    "ComplexExp": complex_exp,
    "ComplexAdd": _complex_by_part(add),
    "ComplexSubtract": _complex_by_part(subtract),
    "ComplexMult": complex_multiply,
    "ComplexDivide": complex_divide,
    "ComplexRealScal": complex_scale,
    "ComplexSum": complex_sum,
    "ComplexSumT": complex_sum_t,
    "Conj": conjugate,
}
