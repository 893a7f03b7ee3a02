"""The operators and methods of LazyTensors of complex numbers. Entry point: `ComplexMethods`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional


# Methods of real numbers that would act on the real and the imaginary parts as if both were numbers of their own.
_REAL_ONLY = "log xlogx cos sin sinxdivx sinc asin acos atan atan2 sqrt rsqrt sign step relu clamp ifelse mod round"
_REAL_ONLY += " __eq__ __ne__ __lt__ __gt__ __le__ __ge__ min max argmin argmax min_argmin max_argmax Kmin argKmin Kmin_argKmin"
_REAL_ONLY += " sqdist weightedsqnorm weightedsqdist softdtw_sqdist one_hot bspline tensorprod matvecmult vecmatmult keops_kron"
_REAL_ONLY += " logsumexp min_reduction max_reduction argmin_reduction argmax_reduction"


class ComplexMethods:
    """What complex LazyTensors do otherwise."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    @property
    def real(self) -> Any:
        return self.unary("ComplexReal", dimres=self.ndim // 2, is_complex=False)

    @property
    def imag(self) -> Any:
        return self.unary("ComplexImag", dimres=self.ndim // 2, is_complex=False)

    def angle(self) -> Any:
        return self.unary("ComplexAngle", dimres=self.ndim // 2, is_complex=False)

    def conj(self) -> Any:
        return self.unary("Conj", is_complex=True)

    def sum(self, axis: Optional[int] = -1, dim: Optional[int] = None, **options: Any) -> Any:
        axis = axis if dim is None else dim
        if axis in (-1, len(self._shape) - 1):
            return self.unary("ComplexSum", dimres=2, is_complex=True)
        return self.reduction("Sum", axis=axis, **options)

    def __abs__(self) -> Any:
        return self.unary("ComplexAbs", dimres=self.ndim // 2, is_complex=False)

    def exp(self) -> Any:
        return self.unary("ComplexExp", is_complex=True)

    def _of_both(self, other: Any, operation: str, **options: Any) -> Any:
        other = self._value(complex(other) if isinstance(other, (int, float)) else other)
        other = other if other.is_complex else other.real2complex()
        return self.binary(other, operation, is_complex=True, dimcheck=None, **options)

    def mulop(self, other: Any, **options: Any) -> Any:
        other = self._value(other)
        if other.ndim == 1:
            return other.binary(self, "ComplexRealScal", is_complex=True, **options)
        return self._of_both(other, "ComplexMult", **options)

    def addop(self, other: Any, **options: Any) -> Any:
        return self._of_both(other, "ComplexAdd", **options)

    def subop(self, other: Any, **options: Any) -> Any:
        return self._of_both(other, "ComplexSubtract", **options)

    def divop(self, other: Any, **options: Any) -> Any:
        return self._of_both(other, "ComplexDivide", **options)

    def __pow__(self, other: Any) -> Any:
        if not isinstance(other, (int, float)) or other != other // 1:
            raise ValueError(f"** of a complex LazyTensor: expected a whole number as the exponent, got {other!r}")
        exponent = int(other)
        if exponent < 0:
            return 1 / self**-exponent
        if exponent == 0:
            return (self.real**0).real2complex()
        half = self if exponent == 1 else self ** (exponent // 2)
        product = half if exponent == 1 else half.mulop(half)
        return product.mulop(self) if exponent % 2 and exponent > 1 else product

    def square(self) -> Any:
        return self**2

    # KeOps counts elements of complex numbers in parts, two for each: x[0:2] is the first number. With other parts than
    # those of whole numbers, and with results of one part, it fails or gives numbers that mean nothing.

    def elem(self, i: int) -> Any:
        raise ValueError(
            "elem is not implemented for complex LazyTensors, which KeOps indexes by parts, two for each number; expected a "
            "slice of whole numbers, such as x[2 * i : 2 * i + 2], or an index of .real or .imag"
        )

    def extract(self, i: int, d: int) -> Any:
        if type(i) is int and type(d) is int and (i % 2 or d % 2):
            raise ValueError(
                f"extract({i}, {d}) of a complex LazyTensor: KeOps counts parts, two for each number; expected even numbers"
            )
        return super().extract(i, d)  # type: ignore[misc]

    def __or__(self, other: Any) -> Any:
        raise ValueError("| is not implemented for complex LazyTensors; expected (x * y).sum(-1), or (x.conj() * y).sum(-1)")

    __ror__ = __or__

    def sqnorm2(self) -> Any:
        raise ValueError("sqnorm2 is not implemented for complex LazyTensors; expected (abs(x) ** 2).sum(-1)")

    def norm2(self) -> Any:
        raise ValueError("norm2 is not implemented for complex LazyTensors; expected (abs(x) ** 2).sum(-1).sqrt()")

    def concat(self, other: Any) -> Any:
        other = other if other.is_complex else other.real2complex()
        return super().concat(other)  # type: ignore[misc]

    def real2complex(self) -> Any:
        raise ValueError("real2complex cannot be applied to a complex LazyTensor.")

    def imag2complex(self) -> Any:
        raise ValueError("imag2complex cannot be applied to a complex LazyTensor.")

    def exp1j(self) -> Any:
        raise ValueError("exp1j cannot be applied to a complex LazyTensor.")

    def keops_tensordot(self, *args: Any) -> Any:
        raise ValueError("keops_tensordot is not implemented for complex LazyTensors")


def _refused(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **options: Any) -> Any:
        raise ValueError(f"{name} is not implemented for complex LazyTensors; expected real ones, such as .real, .imag or abs()")

    method.__name__ = method.__qualname__ = name
    return method


for _name in _REAL_ONLY.split():
    setattr(ComplexMethods, _name, _refused(_name))
