"""LazyTensor: arrays of i, of j and of parameters in formulas that are computed when they are reduced."""

from __future__ import annotations

import copy
import re
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._libraries import array_of, complex_view, dtype_name, is_array, is_complex, real_view, reshaped
from ._complex_methods import ComplexMethods
from ._genred import Genred
from ._methods import Methods
from ._runs import broadcast

_INIT_OPTIONS = ("dtype_acc", "use_double_acc", "sum_scheme", "enable_chunks", "use_fast_math", "optional_flags")
# Attributes of a tensor that those made of it have.
_SHARED = ("variables", "symbolic_variables", "batchdims", "ni", "nj", "ranges", "backend", "_dtype")
_REDUCED = "One of the inputs is a 'reduced' LazyTensor, no operation can be applied to it. "


class LazyTensor(Methods):
    """A symbolic array of shape (.., M, N, D), as KeOps defines it.

    x: an array (M, D) or (N, D) with axis 0 or 1; (.., M, 1, D) or (.., 1, N, D), with batch dimensions; (D,), a number or
    a list of numbers as a parameter; or (position, dimension, category) for a symbolic variable. Arrays may be of NumPy,
    PyTorch, JAX and CuPy.
    """

    __array_ufunc__ = None  # so that operators of NumPy's arrays call those of this class
    __GenericLazyTensor__ = True
    is_complex = False
    # (identity, array): an array of i and one of j are different variables, also if they are the same array.
    variables: Tuple[Any, ...] = ()
    symbolic_variables: Tuple[Tuple[int, int, int], ...] = ()
    formula: str = ""
    formula2: Optional[str] = None
    ndim = 1
    batchdims: Optional[Tuple[int, ...]] = None
    ni: Optional[int] = None
    nj: Optional[int] = None
    axis: Optional[int] = None
    ranges: Any = None
    backend: Optional[str] = None
    _dtype: Any = None
    reduction_op: Optional[str] = None

    def __new__(cls, x: Any = None, axis: Optional[int] = None, is_complex: bool = False) -> Any:
        if is_complex or _has_complex(x):
            return object.__new__(ComplexLazyTensor)
        return object.__new__(cls)

    def __init__(self, x: Any = None, axis: Optional[int] = None, is_complex: bool = False) -> None:
        if x is not None:
            self._of_value(x, axis)

    def _of_value(self, x: Any, axis: Optional[int]) -> None:
        if isinstance(x, tuple):
            if len(x) != 3 or not all(isinstance(one, int) for one in x):
                raise ValueError("LazyTensors(tuple) is only valid if tuple = (ind,dim,cat) is a triplet of integers.")
            if axis is not None:
                raise ValueError("'axis' parameter should not be given when 'x' is of the form (ind,dim,cat).")
            self.symbolic_variables, self.ind, self.ndim, self.axis = (x,), *x
            self.formula = f"VarSymb({x[0]},{x[1]},{x[2]})"
            return
        if type(x) is int:
            self.formula, self.axis = f"IntCst({x})", 2
            return
        if isinstance(x, (float, np.floating)):
            x = [float(x)]
        if isinstance(x, list):
            if axis not in (None, 2):
                raise ValueError(
                    "Lists of numbers are handled as Parameter variables, with an optional 'axis' argument that is equal to 2."
                )
            self._as_variable(x, len(x), 2)
            return
        if not is_array(x):
            raise TypeError(
                "LazyTensors should be built from arrays, float/integer numbers, lists of floats or 3-uples of integers. "
                f"Received: {type(x)}"
            )
        self._dtype = dtype_name(x)
        self._of_array(reshaped(x, (1,)) if len(x.shape) == 0 else x, axis)

    def _of_array(self, x: Any, axis: Optional[int]) -> None:
        if len(x.shape) >= 3:
            if axis is not None:
                raise ValueError("'axis' parameter should not be given when 'x' is a 3D tensor.")
            shape = tuple(x.shape)
            self.batchdims = shape[:-3] or None
            if shape[-3] == 1:
                axis = 2 if shape[-2] == 1 else 1
            elif shape[-2] == 1:
                axis = 0
            else:
                raise ValueError(
                    "If 'x' is a 3D+ tensor, its shape should be one of (..,M,1,D), (..,1,N,D) or (..,1,1,D)."
                )
            x = reshaped(x, (*shape[:-3], *{0: shape[-3:-2], 1: shape[-2:-1], 2: ()}[axis], shape[-1]))
        if len(x.shape) == 2 and axis not in (0, 1, 2):
            raise ValueError("When 'x' is encoded as a 2D array, LazyTensor expects an explicit 'axis' value in {0,1}.")
        if len(x.shape) == 1 and axis not in (None, 2):
            raise ValueError(
                "When 'x' is encoded as a 1D or 0D array, 'axis' must be None or 2 (= Parameter variable)."
            )
        axis = 2 if axis is None else axis
        self._as_variable(x, int(x.shape[-1]), axis)
        if axis == 0:
            self.ni = int(x.shape[-2])
        elif axis == 1:
            self.nj = int(x.shape[-2])

    def _as_variable(self, x: Any, size: int, axis: int) -> None:
        # The letter tells uses of one array as i, as j and as a parameter apart.
        self.variables, self.ndim, self.axis = ((f"{id(x)}{'ijp'[axis]}", x),), size, axis
        self.formula = f"Var({id(x)}{'ijp'[axis]},{size},{axis})"

    def lt_constructor(self, x: Any = None, axis: Optional[int] = None, is_complex: bool = False) -> Any:
        return LazyTensor(x, axis, is_complex)

    # Shapes.

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def nbatchdims(self) -> int:
        return 0 if self.batchdims is None else len(self.batchdims)

    @property
    def _shape(self) -> Tuple[int, ...]:
        return (*(self.batchdims or ()), self.ni or 1, self.nj or 1, self.ndim)

    @property
    def shape(self) -> Tuple[int, ...]:
        shape = self._shape
        return shape[:-1] if shape[-1] == 1 else shape

    def dim(self) -> int:
        return len(self._shape)

    # Expressions.

    def init(self, is_complex: bool = False) -> Any:
        """A copy without a formula."""
        made = self.lt_constructor(is_complex=is_complex)
        mine = vars(self)
        vars(made).update({name: mine[name] for name in _SHARED if name in mine})
        return made

    def join(self, other: Any, is_complex: bool = False) -> Any:
        """A copy without a formula, with the variables of both. Raises ValueError if their sizes differ."""
        made = self.init(is_complex)
        for name in ("_dtype", "ni", "nj", "backend"):
            mine, its = getattr(self, name), getattr(other, name)
            if mine is not None and its is not None and mine != its:
                raise ValueError(f"Incompatible values for attribute {name}: {mine} and {its}.")
            setattr(made, name, its if mine is None else mine)
        if self.ranges is not None and other.ranges is not None and self.ranges is not other.ranges:
            if not all(bool((a == b).all()) for a, b in zip(self.ranges, other.ranges)):
                raise ValueError("Incompatible values for attribute ranges.")
        made.ranges = other.ranges if self.ranges is None else self.ranges
        made.symbolic_variables = self.symbolic_variables + other.symbolic_variables
        batches = [one for one in (self.batchdims, other.batchdims) if one is not None]
        made.batchdims = broadcast(batches) if batches else None
        made.variables = self.variables + other.variables
        return made

    def _value(self, other: Any) -> Any:
        return other if hasattr(other, "__GenericLazyTensor__") else self.lt_constructor(other)

    def unary(
        self,
        operation: str,
        dimres: Optional[int] = None,
        opt_arg: Any = None,
        opt_arg2: Any = None,
        is_complex: Optional[bool] = None,
    ) -> Any:
        if self.reduction_op is not None:
            raise ValueError("Input is a 'reduced' LazyTensor, no operation can be applied to it. ")
        made = self.init(self.is_complex if is_complex is None else is_complex)
        options = "".join(f",{_text(one)}" for one in (opt_arg, opt_arg2) if one is not None)
        made.formula = f"{operation}({self.formula}{options})"
        made.ndim = dimres or self.ndim
        if hasattr(opt_arg, "__GenericLazyTensor__"):
            made.variables += opt_arg.variables
        return made

    def binary(
        self,
        other: Any,
        operation: str,
        is_operator: bool = False,
        dimres: Optional[int] = None,
        dimcheck: Optional[str] = "sameor1",
        opt_arg: Any = None,
        opt_pos: str = "last",
        rversion: bool = False,
        is_complex: Optional[bool] = None,
    ) -> Any:
        other = self._value(other)
        if self.reduction_op is not None or other.reduction_op is not None:
            raise ValueError(_REDUCED)
        _check(operation, dimcheck, self.ndim, other.ndim)
        made = self.join(other, self.is_complex or other.is_complex if is_complex is None else is_complex)
        made.ndim = dimres or max(self.ndim, other.ndim)
        left, right = (other.formula, self.formula) if rversion else (self.formula, other.formula)
        if is_operator:
            made.formula = f"({left} {operation} {right})"
        else:
            parts = [left, right]
            if opt_arg is not None:
                parts.insert(1 if opt_pos == "middle" else 2, _text(opt_arg))
                if hasattr(opt_arg, "__GenericLazyTensor__"):
                    made.variables += opt_arg.variables
            made.formula = f"{operation}({','.join(parts)})"
        return made

    def ternary(
        self,
        other1: Any,
        other2: Any,
        operation: str,
        dimres: Optional[int] = None,
        dimcheck: Optional[str] = "sameor1",
    ) -> Any:
        other1, other2 = self._value(other1), self._value(other2)
        if any(one.reduction_op is not None for one in (self, other1, other2)):
            raise ValueError(_REDUCED)
        _check(operation, dimcheck, self.ndim, other1.ndim, other2.ndim)
        made = self.join(other1.join(other2))
        made.ndim = dimres or max(self.ndim, other1.ndim, other2.ndim)
        made.formula = f"{operation}({self.formula},{other1.formula},{other2.formula})"
        return made

    # Reductions.

    def reduction(
        self,
        reduction_op: str,
        other: Any = None,
        opt_arg: Any = None,
        axis: Optional[int] = None,
        dim: Optional[int] = None,
        call: bool = True,
        is_complex: Optional[bool] = None,
        **kwargs: Any,
    ) -> Any:
        """The reduction over an axis: an array, or with symbolic variables, or call=False, a function of their arrays."""
        axis = dim if axis is None else axis
        if axis is None or axis - self.nbatchdims not in (0, 1):
            raise ValueError(
                "Reductions must be called with 'axis' (or 'dim') equal to the number of batch dimensions + 0 or 1."
            )
        if is_complex is None:
            is_complex = self.is_complex or (other is not None and other.is_complex)
        made = self.init(is_complex) if other is None else self.join(other, is_complex)
        made.formula, made.formula2 = self.formula, None if other is None else other.formula
        made.reduction_op, made.axis, made.opt_arg, made.ndim = reduction_op, axis - self.nbatchdims, opt_arg, self.ndim
        made.kwargs = kwargs
        return made() if call and made._is_complete() else made

    def _is_complete(self) -> bool:
        return not self.symbolic_variables and self._dtype is not None

    def _arguments(self, formulas: Sequence[str], first: int) -> Tuple[List[str], List[Any]]:
        """The formulas with positions of variables from `first` on, and the arrays of these."""
        arrays: List[Any] = []
        made = list(formulas)
        seen: Dict[str, int] = {}
        axes = 1 + self.nbatchdims
        example = next((one for _, one in self.variables if is_array(one)), None)
        for name, array in self.variables:
            tag = f"Var({name},"
            if name in seen or not any(tag in one for one in made):
                continue
            seen[name] = first + len(arrays)
            made = [one.replace(tag, f"Var({seen[name]},") for one in made]
            if isinstance(array, list):
                array = array_of(array, example, self._dtype)
            least = axes + (name[-1] != "p")
            if len(array.shape) < least:
                array = reshaped(array, (1,) * (least - len(array.shape)) + tuple(array.shape))
            arrays.append(array)
        return [one.replace("VarSymb(", "Var(") for one in made], arrays

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.reduction_op is None:
            raise ValueError(
                "A LazyTensor object may be called only if it corresponds to the output of a reduction operation or solve "
                "operation."
            )
        options = {**self.kwargs, **kwargs}
        for name in ("ranges", "backend"):
            if getattr(self, name) is not None:
                options.setdefault(name, getattr(self, name))
        init = {name: options.pop(name) for name in _INIT_OPTIONS if name in options}
        if self._dtype is None and args:
            self._dtype = dtype_name(args[0])
        first = 1 + max((one[0] for one in self.symbolic_variables), default=-1)
        formulas, arrays = self._arguments([self.formula, self.formula2 or ""], first)
        result = self._run(formulas, args, arrays, init, options)
        return complex_view(result) if self.is_complex else result

    def _run(self, formulas: List[str], args: Sequence[Any], arrays: List[Any], init: Any, options: Any) -> Any:
        formula, formula2 = formulas
        assert self.reduction_op is not None and self.axis is not None
        made = Genred(
            formula, [], self.reduction_op, self.axis, opt_arg=self.opt_arg, formula2=formula2 or None, **init
        )
        return made(*args, *arrays, **options)

    def solve(self, other: Any, var: Any = None, call: bool = True, **kwargs: Any) -> Any:
        """The solution a of sum(self * a) = other, by conjugate gradients; self must be symmetric and positive definite."""
        from ._solve import solver_of

        return solver_of(self, other, var, call, kwargs)

    def __matmul__(self, v: Any, **kwargs: Any) -> Any:
        if self._shape[-1] != 1:
            raise ValueError(
                "The 'K @ v' syntax is only supported for LazyTensors 'K' whose trailing dimension is equal to 1. Here, "
                f"K.shape = {self.shape}."
            )
        shape = tuple(v.shape)
        made = self * self.lt_constructor(
            reshaped(v, (1, shape[0], 1) if len(shape) == 1 else (*shape[:-2], 1, *shape[-2:]))
        )
        result = made.sum(made.dim() - 2, **kwargs)
        return reshaped(result, (-1,)) if len(shape) == 1 else result

    def matvec(self, v: Any) -> Any:
        return self @ v

    def rmatvec(self, v: Any) -> Any:
        return self.T @ v

    def t(self) -> Any:
        """The transposed: i and j are exchanged."""
        made = copy.copy(self)
        made.ni, made.nj = self.nj, self.ni
        if self.ranges is not None:
            made.ranges = (*self.ranges[3:6], *self.ranges[0:3])
        made.axis = {0: 1, 1: 0}.get(self.axis, self.axis) if self.axis is not None else None
        letters = {"i": "j", "j": "i", "p": "p"}
        swap = (
            lambda found: f"{found[1]}({found[2]}{letters.get(found[3], '')},{found[4]},{'102'[int(found[5])]})"
        )  # noqa: E731
        pattern = re.compile(r"(Var|VarSymb)\((\d+)([ijp]?),(\d+),([012])\)")
        made.formula = pattern.sub(swap, self.formula)
        made.formula2 = None if self.formula2 is None else pattern.sub(swap, self.formula2)
        made.variables = tuple((name[:-1] + letters[name[-1]], array) for name, array in self.variables)
        made.symbolic_variables = tuple((a, b, (1, 0, 2)[c]) for a, b, c in self.symbolic_variables)
        return made

    @property
    def T(self) -> Any:
        return self.t()

    def __str__(self) -> str:
        formula = self._arguments([self.formula], 1 + max((one[0] for one in self.symbolic_variables), default=-1))[0][
            0
        ]
        text = f"KeOps LazyTensor\n    formula: {formula}"
        if self.symbolic_variables:
            text += "\n    symbolic variables: " + ", ".join(f"Var{one}" for one in self.symbolic_variables)
        text += f"\n    shape: {self.shape}"
        if self.reduction_op is not None:
            text += f"\n    reduction: {self.reduction_op} (axis={self.axis})"
        return text


def _has_complex(x: Any) -> bool:
    if isinstance(x, list):
        return any(type(one) is complex for one in x)
    return type(x) is complex or (is_array(x) and is_complex(x))


def _text(option: Any) -> str:
    return option.formula if hasattr(option, "__GenericLazyTensor__") else str(option)


def _check(operation: str, check: Optional[str], *sizes: int) -> None:
    if check == "same" and len(set(sizes)) != 1:
        raise ValueError(f"Operation {operation} expects inputs of the same dimension. Received {_listed(sizes)}.")
    if check == "sameor1" and len({*sizes, 1}) > 2:
        raise ValueError(
            f"Operation {operation} expects inputs of the same dimension or dimension 1. Received {_listed(sizes)}."
        )
    if check == "vecand1" and sizes[1] != 1:
        raise ValueError(
            f"Operation {operation} expects a vector and a scalar input (of dimension 1). Received {_listed(sizes)}."
        )


def _listed(sizes: Sequence[int]) -> str:
    return f"{', '.join(map(str, sizes[:-1]))} and {sizes[-1]}"


class ComplexLazyTensor(ComplexMethods, LazyTensor):
    """A LazyTensor of complex numbers, whose formula has pairs of real numbers."""

    is_complex = True

    def _of_value(self, x: Any, axis: Optional[int]) -> None:
        if type(x) is complex:
            x = [x]
        if isinstance(x, list):
            x = [part for one in x for part in (complex(one).real, complex(one).imag)]
        elif is_array(x):
            x = real_view(x)
        super()._of_value(x, axis)

    def lt_constructor(self, x: Any = None, axis: Optional[int] = None, is_complex: bool = True) -> Any:
        return LazyTensor(x, axis, is_complex)

    @property
    def dtype(self) -> Any:
        return {"float32": "complex64", "float64": "complex128"}.get(self._dtype)

    @property
    def shape(self) -> Tuple[int, ...]:
        shape = self._shape
        shape = (*shape[:-1], shape[-1] // 2)
        return shape[:-1] if shape[-1] == 1 else shape


def Var(x_or_ind: Any, dim: Optional[int] = None, cat: Optional[int] = None) -> Any:
    return LazyTensor(x_or_ind, axis=cat) if dim is None else LazyTensor((x_or_ind, dim, cat))


def Vi(x_or_ind: Any, dim: Optional[int] = None) -> Any:
    """A variable of i: of an array, or symbolic, of a position and a dimension."""
    return Var(x_or_ind, dim, 0)


def Vj(x_or_ind: Any, dim: Optional[int] = None) -> Any:
    """A variable of j: of an array, or symbolic, of a position and a dimension."""
    return Var(x_or_ind, dim, 1)


def Pm(x_or_ind: Any, dim: Optional[int] = None) -> Any:
    """A parameter: of an array, or symbolic, of a position and a dimension."""
    return Var(x_or_ind, dim, 2)
