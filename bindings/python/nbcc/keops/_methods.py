"""The operators and methods of LazyTensor, each of which adds an operation to its formula. Entry point: `Methods`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Optional, Sequence


def _equals(value: Any, number: int) -> bool:
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool) and value == number


def _is_lazy(value: Any) -> bool:
    return hasattr(value, "__GenericLazyTensor__")


def _is_complex(value: Any) -> bool:
    if _is_lazy(value):
        return bool(value.is_complex)
    return type(value) is complex or "complex" in str(getattr(value, "dtype", ""))


class Methods:
    if TYPE_CHECKING:  # LazyTensor has the rest

        def __getattr__(self, name: str) -> Any: ...

    def _beside(self, other: Any) -> Any:
        """Itself as an operand together with the other one: as complex numbers if that is complex."""
        return self.real2complex() if _is_complex(other) and not self.is_complex else self

    def addop(self, other: Any, **options: Any) -> Any:
        return self.binary(other, "+", is_operator=True, **options)

    def __add__(self, other: Any) -> Any:
        if _equals(other, 0):
            return self
        return self._beside(other).addop(other)

    def __radd__(self, other: Any) -> Any:
        return self if _equals(other, 0) else self._beside(other).addop(other, rversion=True)

    def subop(self, other: Any, **options: Any) -> Any:
        return self.binary(other, "-", is_operator=True, **options)

    def __sub__(self, other: Any) -> Any:
        if _equals(other, 0):
            return self
        return self._beside(other).subop(other)

    def __rsub__(self, other: Any) -> Any:
        if _equals(other, 0):
            return self.unary("Minus")
        return self._beside(other).subop(other, rversion=True)

    def mulop(self, other: Any, **options: Any) -> Any:
        return self.binary(other, "*", is_operator=True, **options)

    def _times_number(self, other: Any) -> Any:
        """The product with 0, 1 or -1; None for others."""
        if _equals(other, 0):
            return 0
        return self if _equals(other, 1) else self.unary("Minus") if _equals(other, -1) else None

    def __mul__(self, other: Any) -> Any:
        simple = self._times_number(other)
        if simple is not None:
            return simple
        other = self._value(other)
        return other.mulop(self) if other.is_complex and not self.is_complex else self.mulop(other)

    def __rmul__(self, other: Any) -> Any:
        simple = self._times_number(other)
        if simple is not None:
            return simple
        other = self._value(other)
        if other.is_complex and not self.is_complex:
            return self.real2complex().mulop(other)
        return self.mulop(other, rversion=True)

    def divop(self, other: Any, **options: Any) -> Any:
        return self.binary(other, "/", is_operator=True, **options)

    def __truediv__(self, other: Any) -> Any:
        if _equals(other, 1):
            return self
        return self._beside(other).divop(other)

    def __rtruediv__(self, other: Any) -> Any:
        if _equals(other, 0):
            return 0
        if _equals(other, 1) and not self.is_complex:
            return self.unary("Inv")
        return self._beside(other).divop(other, rversion=True)

    def __or__(self, other: Any) -> Any:
        if _is_complex(other):
            return self.real2complex() | other
        return self.binary(other, "|", is_operator=True, dimres=1, dimcheck="same")

    def __ror__(self, other: Any) -> Any:
        return self.binary(other, "|", is_operator=True, dimres=1, dimcheck="same", rversion=True)

    def __abs__(self) -> Any:
        return self.unary("Abs")

    def abs(self) -> Any:
        return abs(self)

    def __neg__(self) -> Any:
        return self.unary("Minus")

    def exp(self) -> Any:
        return self.unary("Exp")

    def log(self) -> Any:
        return self.unary("Log")

    def xlogx(self) -> Any:
        return self.unary("XLogX")

    def cos(self) -> Any:
        return self.unary("Cos")

    def sin(self) -> Any:
        return self.unary("Sin")

    def sinxdivx(self) -> Any:
        return self.unary("SinXDivX")

    def sinc(self) -> Any:
        return (math.pi * self).sinxdivx()

    def asin(self) -> Any:
        return self.unary("Asin")

    def acos(self) -> Any:
        return self.unary("Acos")

    def atan(self) -> Any:
        return self.unary("Atan")

    def atan2(self, other: Any) -> Any:
        return self.binary(other, "Atan2")

    def sqrt(self) -> Any:
        return self.unary("Sqrt")

    def rsqrt(self) -> Any:
        return self.unary("Rsqrt")

    def __pow__(self, other: Any) -> Any:
        if type(other) is int:
            return self.unary("Square") if other == 2 else self.unary("Pow", opt_arg=other)
        if type(other) is float:
            if other in (0.5, -0.5):
                return self.unary("Sqrt" if other > 0 else "Rsqrt")
            if other.is_integer():
                return self ** int(other)
            if math.isfinite(other):
                return self.unary("Powf", opt_arg=other)
            other = self._value(other)
        if not _is_lazy(other):
            raise ValueError("The exponent should be an integer, a float number or a LazyTensor.")
        if other.ndim not in (1, self.ndim):
            raise ValueError(
                f"Incompatible dimensions for the LazyTensor and its exponent: {self.ndim} and {other.ndim}."
            )
        return self.binary(other, "Powf", dimcheck=None)

    def power(self, other: Any) -> Any:
        return self**other

    def square(self) -> Any:
        return self.unary("Square")

    def __eq__(self, other: Any) -> Any:
        return self.binary(other, "Equal")

    def __ne__(self, other: Any) -> Any:
        return self.binary(other, "NotEqual")

    __hash__ = object.__hash__

    def __lt__(self, other: Any) -> Any:
        return self.binary(other, "<", is_operator=True)

    def __gt__(self, other: Any) -> Any:
        return self.binary(other, ">", is_operator=True)

    def __le__(self, other: Any) -> Any:
        return self.binary(other, "<=", is_operator=True)

    def __ge__(self, other: Any) -> Any:
        return self.binary(other, ">=", is_operator=True)

    def sign(self) -> Any:
        return self.unary("Sign")

    def step(self) -> Any:
        return self.unary("Step")

    def relu(self) -> Any:
        return self.unary("ReLU")

    def clamp(self, other1: Any, other2: Any) -> Any:
        if type(other1) is int and type(other2) is int:
            return self.unary("ClampInt", opt_arg=other1, opt_arg2=other2)
        return self.ternary(other1, other2, "Clamp")

    def ifelse(self, other1: Any, other2: Any) -> Any:
        return self.ternary(other1, other2, "IfElse")

    def mod(self, modulus: Any, offset: Any = 0) -> Any:
        return self.ternary(modulus, offset, "Mod")

    def round(self, other: int = 0) -> Any:
        return self.unary("Round", opt_arg=other)

    def sqnorm2(self) -> Any:
        return self.unary("SqNorm2", dimres=1)

    def norm2(self) -> Any:
        return self.unary("Norm2", dimres=1)

    def norm(self, dim: int) -> Any:
        if dim not in (-1, len(self._shape) - 1):
            raise ValueError("KeOps only supports norms over the last dimension.")
        return self.norm2()

    def normalize(self) -> Any:
        return self.unary("Normalize")

    def sqdist(self, other: Any) -> Any:
        if _is_complex(other):
            return self.real2complex().sqdist(other)
        return self.binary(other, "SqDist", dimres=1)

    def weightedsqnorm(self, other: Any) -> Any:
        other = self._value(other)
        if other.ndim not in (1, self.ndim, self.ndim**2):
            raise ValueError(
                "Squared norm weights should be of size 1 (scalar), D (diagonal) or D^2 (full symmetric tensor), but received "
                f"{other.ndim} with D={self.ndim}."
            )
        return self.binary(other, "WeightedSqNorm", dimres=1, dimcheck=None, rversion=True)

    def weightedsqdist(self, g: Any, s: Any) -> Any:
        return (self - g).weightedsqnorm(s)

    def softdtw_sqdist(self, other: Any, gamma: Any) -> Any:
        return self.ternary(other, gamma, "SoftDTW_SqDist", dimres=1, dimcheck=None)

    def elem(self, i: int) -> Any:
        if type(i) is not int:
            raise ValueError("Elem indexing is only supported for integer indices.")
        if not 0 <= i < self.ndim:
            raise ValueError(f"Index i={i} is out of bounds [0,D) = [0,{self.ndim}).")
        return self.unary("Elem", dimres=1, opt_arg=i)

    def extract(self, i: int, d: int) -> Any:
        if type(i) is not int or type(d) is not int:
            raise ValueError("Indexing is only supported for integer indices.")
        if not 0 <= i < self.ndim:
            raise ValueError("Starting index is out of bounds.")
        if d < 1 or i + d > self.ndim:
            raise ValueError("Slice dimension is out of bounds.")
        return self.unary("Extract", dimres=d, opt_arg=i, opt_arg2=d)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            axes = len(self._shape)
            if len(key) != axes or any(one != slice(None) for one in key[:-1]):
                raise ValueError("LazyTensors only support indexing with respect to their last dimension.")
            key = key[-1]
        if isinstance(key, slice):
            if key.step not in (None, 1):
                raise ValueError("LazyTensors do not support sliced indexing with stepsizes > 1.")
            start, stop = key.start or 0, self.ndim if key.stop is None else key.stop
            return self.extract(start, stop - start)
        if isinstance(key, int):
            return self.elem(key)
        raise ValueError("LazyTensors only support indexing with integers and vanilla python slices.")

    def one_hot(self, D: int) -> Any:
        if type(D) is not int:
            raise ValueError("One-hot encoding expects an integer dimension of the output vector.")
        if self.ndim != 1:
            raise ValueError("One-hot encoding is only supported for scalar formulas.")
        return self.unary("OneHot", dimres=D, opt_arg=D)

    def bspline(self, x: Any, k: int = 0) -> Any:
        return self.binary(x, "BSpline", dimres=self.ndim - k - 1, dimcheck="vecand1", opt_arg=k)

    def concat(self, other: Any) -> Any:
        if _is_complex(other) and not self.is_complex:
            return self.real2complex().concat(other)
        return self.binary(other, "Concat", dimres=self.ndim + other.ndim, dimcheck=None)

    @staticmethod
    def concatenate(tuple_of_lt: Sequence[Any], axis: int = -1) -> Any:
        if not isinstance(tuple_of_lt, tuple):
            raise ValueError("LazyTensor.concatenate is implemented on *tuples* of LazyTensors.")
        if not tuple_of_lt:
            raise ValueError("Received an empty tuple of LazyTensors.")
        made = tuple_of_lt[0]
        if axis not in (-1, len(made._shape) - 1):
            raise ValueError("LazyTensor only supports concatenation along the last axis.")
        for other in tuple_of_lt[1:]:
            made = made.concat(other)
        return made

    @staticmethod
    def cat(tuple_of_lt: Sequence[Any], dim: int) -> Any:
        return Methods.concatenate(tuple_of_lt, dim)

    def matvecmult(self, other: Any) -> Any:
        if _is_complex(other):
            return self.real2complex().matvecmult(other)
        return self.binary(other, "MatVecMult", dimres=self.ndim // other.ndim, dimcheck=None)

    def vecmatmult(self, other: Any) -> Any:
        if _is_complex(other):
            return self.real2complex().vecmatmult(other)
        return self.binary(other, "VecMatMult", dimres=other.ndim // self.ndim, dimcheck=None)

    def tensorprod(self, other: Any) -> Any:
        if _is_complex(other):
            return self.real2complex().tensorprod(other)
        return self.binary(other, "TensorProd", dimres=other.ndim * self.ndim, dimcheck=None)

    def keops_tensordot(self, other: Any, dimfa: Any, dimfb: Any, contfa: Any, contfb: Any, *args: Any) -> Any:
        if _is_complex(other):
            raise ValueError("keops_tensordot is not implemented for complex LazyTensors")
        lists = [
            [one] if isinstance(one, int) else [int(k) for k in one] for one in (dimfa, dimfb, contfa, contfb, *args)
        ]
        contracted = math.prod(lists[0][k] for k in lists[2])
        size = math.prod(lists[0]) * math.prod(lists[1]) // contracted**2
        return self.binary(other, "TensorDot", dimres=size, dimcheck=None, opt_arg=", ".join(map(str, lists)))

    def keops_kron(self, other: Any, dimfself: Any, dimfother: Any) -> Any:
        if _is_complex(other):
            raise ValueError("keops_kron is not implemented for complex LazyTensors")
        options = ", ".join(str([int(k) for k in one]) for one in (dimfself, dimfother))
        return self.binary(other, "Kron", dimres=other.ndim * self.ndim, dimcheck=None, opt_arg=options)

    def grad(self, other: Any, gradin: Any) -> Any:
        return self.binary(gradin, "Grad", dimres=other.ndim, dimcheck="same", opt_arg=other, opt_pos="middle")

    def diff(self, other: Any, diffin: Any) -> Any:
        return self.binary(diffin, "Diff", dimres=self.ndim, dimcheck=None, opt_arg=other, opt_pos="middle")

    def factorize(self, other: Any) -> Any:
        return self.binary(other, "Factorize", dimres=self.ndim, dimcheck=None)

    def auto_factorize(self) -> Any:
        return self.unary("AutoFactorize", dimres=self.ndim)

    def grad_matrix(self, other: Any) -> Any:
        return self.unary("GradMatrix", dimres=self.ndim * other.ndim, opt_arg=other)

    def trace_operator(self, var: Any) -> Any:
        made = self.binary(var, "TraceOperator", dimres=1, dimcheck="same")
        # The formula is linear in the variable, so that the trace does not depend on it: calls do not get its array.
        made.symbolic_variables = tuple(
            one for one in set(made.symbolic_variables) if one not in var.symbolic_variables
        )
        if var.symbolic_variables and var.ind >= 0:
            made.formula = made.formula.replace(var.formula, f"VarSymb(-{var.ind}-1,{var.ndim},{var.axis})")
        return made

    def divergence(self, var: Any) -> Any:
        return self.binary(var, "Divergence", dimres=1, dimcheck="same")

    def laplacian(self, var: Any) -> Any:
        return self.binary(var, "Laplacian", dimres=1, dimcheck=None)

    # Reductions: over the elements with the last axis, else over i or j.

    def _reduced(self, name: str, axis: Optional[int], dim: Optional[int], options: Any) -> Any:
        axis = axis if dim is None else dim
        if axis in (-1, len(self._shape) - 1):
            return self.unary(name, dimres=1)
        return self.reduction(name, axis=axis, **options)

    def sum(self, axis: Optional[int] = -1, dim: Optional[int] = None, **options: Any) -> Any:
        return self._reduced("Sum", axis, dim, options)

    def sum_reduction(self, axis: Optional[int] = None, dim: Optional[int] = None, **options: Any) -> Any:
        return self.reduction("Sum", axis=axis, dim=dim, **options)

    def logsumexp(self, axis: Any = None, dim: Any = None, weight: Any = None, **options: Any) -> Any:
        if weight is not None:
            options["other"] = weight
        return self.reduction("LogSumExp", axis=axis, dim=dim, **options)

    def logsumexp_reduction(self, **options: Any) -> Any:
        return self.logsumexp(**options)

    def sumsoftmaxweight(self, weight: Any, axis: Any = None, dim: Any = None, **options: Any) -> Any:
        return self.reduction("SumSoftMaxWeight", other=weight, axis=axis, dim=dim, **options)

    def sumsoftmaxweight_reduction(self, **options: Any) -> Any:
        return self.sumsoftmaxweight(**options)

    def min(self, axis: Optional[int] = -1, dim: Optional[int] = None, **options: Any) -> Any:
        return self._reduced("Min", axis, dim, options)

    def min_reduction(self, axis: Any = None, dim: Any = None, **options: Any) -> Any:
        return self.reduction("Min", axis=axis, dim=dim, **options)

    def argmin(self, axis: Optional[int] = -1, dim: Optional[int] = None, **options: Any) -> Any:
        return self._reduced("ArgMin", axis, dim, options)

    def argmin_reduction(self, axis: Any = None, dim: Any = None, **options: Any) -> Any:
        return self.reduction("ArgMin", axis=axis, dim=dim, **options)

    def min_argmin(self, axis: Any = None, dim: Any = None, **options: Any) -> Any:
        return self.reduction("Min_ArgMin", axis=axis, dim=dim, **options)

    def min_argmin_reduction(self, **options: Any) -> Any:
        return self.min_argmin(**options)

    def max(self, axis: Optional[int] = -1, dim: Optional[int] = None, **options: Any) -> Any:
        return self._reduced("Max", axis, dim, options)

    def max_reduction(self, axis: Any = None, dim: Any = None, **options: Any) -> Any:
        return self.reduction("Max", axis=axis, dim=dim, **options)

    def argmax(self, axis: Optional[int] = -1, dim: Optional[int] = None, **options: Any) -> Any:
        return self._reduced("ArgMax", axis, dim, options)

    def argmax_reduction(self, axis: Any = None, dim: Any = None, **options: Any) -> Any:
        return self.reduction("ArgMax", axis=axis, dim=dim, **options)

    def max_argmax(self, axis: Any = None, dim: Any = None, **options: Any) -> Any:
        return self.reduction("Max_ArgMax", axis=axis, dim=dim, **options)

    def max_argmax_reduction(self, **options: Any) -> Any:
        return self.max_argmax(**options)

    def Kmin(self, K: int, axis: Any = None, dim: Any = None, **options: Any) -> Any:
        return self.reduction("KMin", opt_arg=K, axis=axis, dim=dim, **options)

    def Kmin_reduction(self, **options: Any) -> Any:
        return self.Kmin(**options)

    def argKmin(self, K: int, axis: Any = None, dim: Any = None, **options: Any) -> Any:
        return self.reduction("ArgKMin", opt_arg=K, axis=axis, dim=dim, **options)

    def argKmin_reduction(self, **options: Any) -> Any:
        return self.argKmin(**options)

    def Kmin_argKmin(self, K: int, axis: Any = None, dim: Any = None, **options: Any) -> Any:
        return self.reduction("KMin_ArgKMin", opt_arg=K, axis=axis, dim=dim, **options)

    def Kmin_argKmin_reduction(self, **options: Any) -> Any:
        return self.Kmin_argKmin(**options)

    # Complex numbers.

    def real2complex(self) -> Any:
        return self.unary("Real2Complex", dimres=2 * self.ndim, is_complex=True)

    def imag2complex(self) -> Any:
        return self.unary("Imag2Complex", dimres=2 * self.ndim, is_complex=True)

    def exp1j(self) -> Any:
        return self.unary("ComplexExp1j", dimres=2 * self.ndim, is_complex=True)
