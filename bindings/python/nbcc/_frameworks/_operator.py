"""A pipeline that is linear in one input of j, as an operator of SciPy or CuPy. Entry point: `operator_of`. Only imported
where an operator is made."""

from __future__ import annotations

import functools
import importlib
import numbers as abstract
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .._call._adjoint import Call, Differentiable
from .._c._adjoint_text import SAVED, VALUE
from .._c._errors import CompileError, UsageError
from .._arrays._arrays import SINGLE, library_of
from .._arrays._numbers import shape_of
from .._c._fields import INPUT_J, Field
from .._call._precision import RunInfo

# Of products that are compared: what is not linear differs by more.
MOST_ERROR = 0.1


# Of a block. With 8 a kernel on the CPU keeps the sums of all columns in registers.
_COLUMNS = 8


def operator_of(
    pipeline: Differentiable, arrays: Sequence[Any], fields: Mapping[str, Any], options: Mapping[str, Any]
) -> Any:
    options = dict(options)
    ridge = options.pop("ridge", None)
    values, vector = _given(pipeline, arrays, fields)
    library = "numpy"
    for name, value in values.items():
        found = library_of(value)
        if found == "torch":
            raise TypeError(
                f"{pipeline.name}.operator(): '{name}': expected an array of NumPy, JAX or CuPy, got a tensor of PyTorch; "
                ".numpy(force=True) of it is read"
            )
        library = "cupy" if found == "cupy" else library
    return _operator_of(_Matrix(pipeline, values, vector, options, library), 0 if ridge is None else ridge)


def _operator_of(matrix: _Matrix, shift: Any) -> Any:
    return _operator_class(matrix.library)(matrix, shift)


@functools.lru_cache(None)
def _operator_class(library: str) -> Any:
    """The class of operators of a library, which is imported when the first one is made."""
    linalg = importlib.import_module("cupyx.scipy.sparse.linalg" if library == "cupy" else "scipy.sparse.linalg")
    numpy = importlib.import_module(library)

    class KernelOperator(linalg.LinearOperator):  # type: ignore[misc, name-defined]
        """The sums of a pipeline as a matrix K, plus a multiple of the identity."""

        def __init__(self, matrix: _Matrix, shift: Any) -> None:
            self._sums, self._shift = matrix, matrix.checked_shift(shift)
            kind = numpy.complex64 if numpy.iscomplexobj(shift) else matrix.dtype
            super().__init__(numpy.result_type(matrix.dtype, kind), matrix.shape)

        def __reduce__(self) -> Any:
            return _operator_of, (self._sums, self._shift)

        @property
        def info(self) -> RunInfo:
            """In which precision, by which method and on which device the last product was computed."""
            made: RunInfo = self._sums.info
            return made

        def _shifted(self, sums: Any, vector: Any, shift: Any) -> Any:
            return sums if shift == 0 else sums + shift * vector.reshape(sums.shape)

        def _matvec(self, vector: Any) -> Any:
            return self._shifted(self._sums.product(vector), vector, self._shift)

        def _matmat(self, columns: Any) -> Any:
            return self._shifted(self._sums.products(columns), columns, self._shift)

        def _rmatvec(self, values: Any) -> Any:
            return self._shifted(self._sums.transposed_product(values), values, numpy.conj(self._shift))

        def __add__(self, other: Any) -> Any:
            """With a multiple of the identity an operator of this kind; with other matrices, which may be sparse or dense,
            one of the library's."""
            if isinstance(other, linalg.LinearOperator) or getattr(other, "ndim", 0) != 2:
                return super().__add__(other)
            factor = _multiple_of_identity(other)
            if factor is not None and tuple(other.shape) == self.shape:
                return _operator_of(self._sums, self._shift + factor)
            return super().__add__(linalg.aslinearoperator(other))

        __radd__ = __add__

    return KernelOperator


def _multiple_of_identity(matrix: Any) -> Any:
    """c, if a sparse matrix is c times the identity; else None."""
    if not hasattr(matrix, "diagonal") or not hasattr(matrix, "nnz") or matrix.shape[0] != matrix.shape[1]:
        return None
    diagonal = matrix.diagonal()
    if diagonal.size == 0 or matrix.count_nonzero() != int((diagonal != 0).sum()) or bool((diagonal != diagonal[0]).any()):
        return None
    return diagonal[0].item()


def _given(pipeline: Differentiable, arrays: Sequence[Any], named: Mapping[str, Any]) -> Tuple[Dict[str, Any], Field]:
    """The inputs by their names, and the input of j that is not given."""
    family = pipeline._family
    inputs = [field for _, field in family.inputs]
    for name in named:
        if name not in family.arguments:
            raise TypeError(f"{family.name}.operator() has no input and no param '{name}'")
    missing = [field for field in inputs if field.name not in named]
    if len(arrays) > len(missing):
        raise TypeError(f"{family.name}.operator() got {len(arrays)} arrays for {len(missing)} inputs that are not named")
    values = {**{field.name: value for field, value in zip(missing, arrays)}, **named}
    missing = missing[len(arrays) :]
    if len(missing) != 1 or missing[0].role != INPUT_J or missing[0].integral:
        found = ", ".join(str(field) for field in missing) or "every input was given"
        raise TypeError(
            f"{family.name}.operator(): expected all inputs but a real or complex one of j, which is the vector; "
            f"missing: {found}"
        )
    return values, missing[0]


class _Matrix:
    """The products of the matrix d(output)/d(vector), and of its conjugate transpose."""

    def __init__(
        self, pipeline: Differentiable, values: Mapping[str, Any], vector: Field, options: Dict[str, Any], library: str
    ) -> None:
        self.library, self._vector, self._name = library, vector, pipeline.name
        numbers = self._numbers
        outputs = pipeline._wanted(options.pop("outputs", None))
        if len(outputs) != 1 or outputs[0][1].integral:
            names = ", ".join(field.name for _, field in outputs)
            raise ValueError(f"{self._name}.operator(): outputs: expected one output of real or complex numbers, got {names}")
        self._output = outputs[0][1]
        if self._output.total:
            raise ValueError(f"{self._name}.operator(): output '{self._output.name}' is a total: there is no row for an i")
        self._check_slope(pipeline)
        nj = self._count(pipeline, values, options, INPUT_J, "nj")
        real = numbers.float32 if self._is_single(pipeline, values, options) else numbers.float64
        of_vector = numbers.zeros((nj, *vector.shape), real)
        if vector.is_complex:
            of_vector = of_vector.astype(numbers.result_type(real, numbers.complex64))
        self._of_vector = of_vector
        self.info: RunInfo  # of the last product
        self._columns: Optional[Tuple[Any]] = None
        self._plan = Call(
            pipeline,
            (),
            {**values, vector.name: of_vector},
            {**options, "outputs": self._output.name},
        )
        self._zero = self._plan.run({vector.name: of_vector})
        zero = self._zero[0]
        self.shape = (zero.size, of_vector.size)
        self.dtype = zero.dtype
        self._check_is_finite(zero)
        if bool((zero != 0).any()):
            raise self._not_linear(f"it is not 0 where '{vector.name}' is 0")
        self._check_products(options)

    def checked_shift(self, shift: Any) -> Any:
        if isinstance(shift, bool) or not isinstance(shift, abstract.Number):
            raise TypeError(f"{self._name}.operator(): ridge: expected a number, got {type(shift).__name__}")
        if shift != 0 and self.shape[0] != self.shape[1]:
            rows, columns = self.shape
            raise ValueError(f"{self._name}.operator(): ridge: expected as many rows as columns, got {rows} and {columns}")
        return shift.item() if hasattr(shift, "item") else shift  # a number of NumPy has a precision of its own

    def _is_single(self, pipeline: Differentiable, values: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
        precision = options.get("precision") or pipeline._family.options.precision
        reals = [field.name for _, field in pipeline._family.inputs if field.name in values and not field.integral]
        kinds = [str(getattr(values[name], "dtype", None)) for name in reals]
        return precision != "double" and bool(kinds) and all(kind in SINGLE for kind in kinds)

    @property
    def _numbers(self) -> Any:
        return importlib.import_module(self.library)

    def _count(
        self, pipeline: Differentiable, values: Mapping[str, Any], options: Mapping[str, Any], role: str, given: str
    ) -> int:
        for _, field in pipeline._family.inputs:
            if field.role == role and field.name in values:
                shape = shape_of(values[field.name])
                if not shape:
                    raise TypeError(f"{self._name}.operator(): '{field.name}' ({field}): expected an array, got a number")
                return shape[0]
        if options.get(given) is None:
            raise TypeError(f"{self._name}.operator(): {given}= must give the number of particles")
        return int(options[given])

    def _check_slope(self, pipeline: Differentiable) -> None:
        """Raises ValueError if the derivative by the vector depends on the vector: it then reads the vector, or an output
        that the forward pipeline has saved. The sum of the weights of a softmax does not depend on the vector, or else the
        derivative reads the vector, too."""
        adjoint: Any = pipeline._adjoints.get("j", [self._output.name], [self._vector.name])
        forward = {field.name: field for _, field in pipeline._adjoints.forward([self._output.name])._family.outputs}
        names = [
            field.name
            for field in adjoint.adjoint_fields
            if (field.meaning == VALUE and field.of == self._vector.name)
            or (field.meaning == SAVED and forward[field.of].reduction != "logsumexp")
        ]
        if any(field.is_read for field in adjoint.fields if field.name in names):
            raise self._not_linear(f"its derivative depends on '{self._vector.name}'")

    def _check_products(self, options: Mapping[str, Any]) -> None:
        """Raises ValueError if the sums of two vectors do not add up, or if those of a complex vector times i are not i
        times those of the vector."""
        if self._vector.is_complex and not self._output.is_complex:
            raise ValueError(
                f"{self._name}.operator(): '{self._output.name}' is real and '{self._vector.name}' complex, which is no "
                "matrix of complex numbers"
            )
        is_exact = self._zero[0].dtype.itemsize >= 8 * (1 + self._output.is_complex)
        precision = options.get("precision") or self._plan.pipeline._family.options.precision
        error = max(1e-8 if is_exact and precision in (None, "double") else 1e-3, 10 * float(options.get("tolerance") or 0))
        count = self._numbers.arange(self._of_vector.size).reshape(self._of_vector.shape)
        a, b = (self._of_vector + self._numbers.cos(k + count * k) for k in (1, 2))
        of_a = self._run(a)
        # To a tolerance errors are relative to the sums of |terms|, of which charges of both signs leave little.
        found = self._plan.pipeline.statistics()
        error = max(error, min(10 * float(found["error_of_sum"]), MOST_ERROR))
        of_b = self._run(b)
        self._check_is_finite(of_a)
        back = self._transposed(of_a).reshape(-1)
        straight, turned = abs(of_a.reshape(-1)) ** 2, a.reshape(-1).conj() * back
        # The real part alone is the product of real vectors.
        if bool(abs(straight.sum() - turned.real.sum()) > error * (straight.sum() + abs(turned).sum())):
            raise self._not_linear("the product with the transpose is another one")
        size = error * (abs(of_a).max() + abs(of_b).max()) if of_a.size else 0
        if bool((abs(self._run(a + b) - of_a - of_b) > size).any()):
            raise self._not_linear("the sums of two vectors do not add up")
        if self._vector.is_complex and bool((abs(self._run(1j * a) - 1j * of_a) > size).any()):
            raise self._not_linear("it depends on the conjugate")

    def _check_is_finite(self, sums: Any) -> None:
        if not bool(self._numbers.isfinite(sums).all()):
            raise ValueError(
                f"{self._name}.operator(): '{self._output.name}' is not finite: the matrix has elements that are infinite "
                "or NaN"
            )

    def _not_linear(self, reason: str) -> ValueError:
        return ValueError(
            f"{self._name}.operator(): '{self._output.name}' is not linear in '{self._vector.name}': {reason}"
        )

    def _run(self, vector: Any) -> Any:
        result = self._plan.run({self._vector.name: vector})[0]
        forward: Any = self._plan.forward
        self.info = forward._last_run
        return result

    def _shaped(self, values: Any, like: Any) -> Any:
        return self._numbers.ascontiguousarray(values, dtype=like.dtype).reshape(like.shape)

    def product(self, vector: Any) -> Any:
        if self._numbers.iscomplexobj(vector) and not self._vector.is_complex:
            return self._product(vector.real) + 1j * self._product(vector.imag)
        return self._product(vector)

    def products(self, columns: Any) -> Any:
        """The products with several vectors, the columns of a matrix: one sum for each block of them."""
        if self._numbers.iscomplexobj(columns) and not self._vector.is_complex:
            return self.products(columns.real) + 1j * self.products(columns.imag)
        count = columns.shape[1]
        pipeline = self._of_columns() if count > 1 else None
        blocks = [
            self._product(columns[:, at]).reshape(-1, 1) if pipeline is None else self._block(pipeline, columns[:, at : at + step])
            for step in (_COLUMNS if pipeline is not None else 1,)
            for at in range(0, count, step)
        ]
        empty = self._numbers.zeros((self.shape[0], 0), self.dtype)
        return self._numbers.concatenate([empty, *blocks], axis=1)

    def _of_columns(self) -> Any:
        """The pipeline of _COLUMNS vectors, made when it is first needed; None where there is none."""
        if self._columns is None:
            try:
                # A far field would measure the errors of all columns together.
                if self._plan.options.get("tolerance"):
                    raise UsageError("a sum to a tolerance")
                self._columns = (self._plan.pipeline._columns(self._vector.name, self._output.name, _COLUMNS),)
            except (UsageError, CompileError):
                self._columns = (None,)
        return self._columns[0]

    def _block(self, pipeline: Any, columns: Any) -> Any:
        count = columns.shape[1]
        of_vector = self._of_vector
        block = self._numbers.zeros((of_vector.shape[0], _COLUMNS), of_vector.dtype)
        block[:, :count] = columns
        values = {**self._plan.values, self._vector.name: block}
        arrays = [values[name] for name in pipeline._family.arguments]
        sums = pipeline._call(arrays, {}, {**self._plan.options, "outputs": self._output.name})
        self.info = pipeline._last_run
        sums = self._numbers.moveaxis(sums, 1, -1)  # (ni, columns, numbers of the output) -> the columns last
        return sums.reshape(-1, _COLUMNS)[:, :count]

    def _product(self, vector: Any) -> Any:
        return self._run(self._shaped(vector, self._of_vector)).reshape(-1)

    def transposed_product(self, values: Any) -> Any:
        if self._vector.is_complex or not (self._output.is_complex or self._numbers.iscomplexobj(values)):
            return self._transposed(values)
        if not self._output.is_complex:
            return self._transposed(values.real) + 1j * self._transposed(values.imag)
        # The derivative by a real vector is the real part of the product.
        return self._transposed(values) + 1j * self._transposed(-1j * values)

    def _transposed(self, values: Any) -> Any:
        vector, output = self._vector.name, self._output.name
        results = {field.name: value for field, value in zip(self._plan.outputs, self._zero)}
        given = {output: self._shaped(values, self._zero[0])}
        found = self._plan.gradients({vector: self._of_vector}, results, given, [vector])[vector]
        if self._vector.is_complex:
            found = found.view(self._of_vector.dtype)
        return found.reshape(-1)
