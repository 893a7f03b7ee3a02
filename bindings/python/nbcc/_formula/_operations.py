"""How operations are written in the language of pipelines."""

from __future__ import annotations

from typing import Dict, FrozenSet, Tuple

# Binding strengths of C++ operators, from the loosest.
CONDITIONAL, OR, AND, EQUALITY, ORDER, SUM, PRODUCT, SIGN, ATOM = range(9)

BINARY: Dict[str, Tuple[str, int]] = {
    "add": ("+", SUM),
    "sub": ("-", SUM),
    "mul": ("*", PRODUCT),
    "div": ("/", PRODUCT),
    "mod": ("%", PRODUCT),
    "lt": ("<", ORDER),
    "le": ("<=", ORDER),
    "gt": (">", ORDER),
    "ge": (">=", ORDER),
    "eq": ("==", EQUALITY),
    "ne": ("!=", EQUALITY),
    "and": ("&&", AND),
    "or": ("||", OR),
}
UNARY: Dict[str, str] = {"neg": "-", "not": "!"}
COMPARISONS: FrozenSet[str] = frozenset(("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"))

# Functions by element, with the number of their arguments.
FUNCTIONS: Dict[str, int] = {
    **dict.fromkeys("sqrt rsqrt cbrt exp exp2 expm1 log log2 log10 log1p sinh cosh tanh asinh acosh atanh".split(), 1),
    **dict.fromkeys("erf erfc lgamma tgamma bessel_j0 bessel_j1 bessel_k0 bessel_k1 bessel_i0 bessel_i1".split(), 1),
    **dict.fromkeys("sin cos tan asin acos atan sinpi cospi floor ceil round trunc abs sign".split(), 1),
    **dict.fromkeys("real imag conj arg index int".split(), 1),
    **dict.fromkeys("pow hypot atan2 fmod copysign min max nearest_image complex".split(), 2),
    **dict.fromkeys("clamp fma random philox".split(), 3),
}
# Words without arguments.
WORDS: Dict[str, str] = {"i_index": "int", "j_index": "int", "self_pair": "bool"}

# Reductions over the elements of an array.
OVER_ELEMENTS: FrozenSet[str] = frozenset(("vsum", "vprod", "vmax", "vmin", "vargmax", "vargmin"))
