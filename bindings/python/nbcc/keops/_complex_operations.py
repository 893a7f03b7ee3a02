"""Operations of KeOps' formulas on complex numbers, which are pairs of elements: COMPLEX, by their names in formula strings."""

from __future__ import annotations

from typing import Any, Callable, Dict, Tuple

from .._formula._nodes import Node
from ._basic_operations import (
    add,
    divide,
    mapped,
    multiply,
    need,
    number,
    root,
    spread,
    square,
    subtract,
    take,
    total,
    zeros,
)


def parts(a: Node) -> Tuple[Node, Node]:
    need(a.size % 2 == 0, "Dimension of F must be even")
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
    return of_parts(real, mapped("neg", imag))


def complex_exp(a: Node) -> Node:
    real, imag = parts(a)
    size = mapped("exp", real)
    return of_parts(multiply(size, mapped("cos", imag)), multiply(size, mapped("sin", imag)))


def _complex_by_part(function: Callable[[Node, Node], Node]) -> Callable[[Node, Node], Node]:
    def of_complex(a: Node, b: Node) -> Node:
        (ar, ai), (br, bi) = parts(a), parts(b)
        return of_parts(function(ar, br), function(ai, bi))

    return of_complex


def complex_scale(a: Node, b: Node) -> Node:
    a, b = (a, b) if a.size == 1 else (b, a)
    need(a.size == 1, "Dimension of F must be 1")
    return multiply(a, b)


def complex_sum(a: Node) -> Node:
    real, imag = parts(a)
    return of_parts(total(real), total(imag))


def complex_sum_t(a: Node, size: int) -> Node:
    need(a.size == 2, "Dimension of F must be 2")
    real, imag = parts(a)
    return of_parts(spread(real, size // 2), spread(imag, size // 2))


COMPLEX: Dict[str, Callable[..., Any]] = {
    "ComplexReal": lambda a: parts(a)[0],
    "ComplexImag": lambda a: parts(a)[1],
    "Real2Complex": lambda a: of_parts(a, zeros(a.size)),
    "Imag2Complex": lambda a: of_parts(zeros(a.size), a),
    "ComplexExp1j": lambda a: of_parts(mapped("cos", a), mapped("sin", a)),
    "ComplexAbs": lambda a: root(complex_square_abs(a)),
    "ComplexSquareAbs": complex_square_abs,
    "ComplexAngle": lambda a: mapped("atan2", parts(a)[1], parts(a)[0]),
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
