"""The operations of KeOps' formulas on expression trees: OPERATIONS, by their names in formula strings; and derivatives."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Callable, Dict, Optional

from .._formula._nodes import Node
from ._basic_operations import (
    _compare,
    _over,
    add,
    b_spline,
    clamp,
    concat,
    divide,
    element,
    element_t,
    extract,
    extract_t,
    if_else,
    inverse_root,
    kronecker,
    magnitude,
    mapped,
    matrix_vector,
    minus,
    modulo,
    multiply,
    need,
    number,
    one_hot,
    power,
    relu,
    root,
    rounded,
    scalar_product,
    sign,
    sine_ratio,
    soft_dtw,
    spread,
    square,
    square_norm,
    step,
    subtract,
    symmetric_square_norm,
    take,
    tensor_dot,
    tensor_product,
    total,
    vector_matrix,
    weighted_square_norm,
    x_log_x,
    zeros,
)
from ._complex_operations import COMPLEX


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
    need(v.op in ("field", "spread"), "expected a variable to differentiate by")


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
    need(f.size in (1, v.size), f"Output dimension should be 1 or {v.size} (dim {f.size}).")
    if f.size == 1 or v.size == 1:
        return total(gradient(f, v))
    return total(take(jacobian(f, v), 0, v.size, v.size + 1))


def divergence(f: Node, v: Node) -> Node:
    need(f.size == v.size, "Divergence: the formula and the variable have different dimensions.")
    return trace_operator(f, v)


def laplacian(f: Node, v: Node) -> Node:
    need(f.size == 1, "Laplacian is only implemented for scalar formula.")
    return divergence(gradient(f, v), v)


def _ratio(p: int, q: int) -> Node:
    return number(float(Fraction(p, q)))


_FUNCTIONS = {"Exp": "exp", "Log": "log", "Sin": "sin", "Cos": "cos", "Asin": "asin", "Acos": "acos", "Atan": "atan"}
_FUNCTIONS["Floor"] = "floor"


def _function(name: str) -> Callable[[Node], Node]:
    return lambda a: mapped(name, a)


OPERATIONS: Dict[str, Callable[..., Any]] = {
    **{name: _function(op) for name, op in _FUNCTIONS.items()},
    "Add": add,
    "Subtract": subtract,
    "Mult": multiply,
    "Divide": divide,
    "Minus": minus,
    "Square": square,
    "Pow": power,
    "Powf": lambda a, b: mapped("pow", a, b if isinstance(b, Node) else number(b)),
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
    "Atan2": lambda a, b: mapped("atan2", a, b),
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
    **COMPLEX,
}
