"""A pipeline that is linear in one input of j, as an operator of SciPy or CuPy. Entry point: `operator_of`. Only imported
where an operator is made."""

from __future__ import annotations

import importlib
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from .._call._adjoint import Call, Differentiable
from .._c._adjoint_text import SAVED, VALUE
from .._arrays._arrays import SINGLE, library_of
from .._c._fields import INPUT_J, Field
from .._arrays._numbers import shape_of

# Of products that are compared: what is not linear differs by more.
MOST_ERROR = 0.1



def operator_of(
    pipeline: Differentiable, arrays: Sequence[Any], fields: Mapping[str, Any], options: Mapping[str, Any]
) -> Any:
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
    made = _Matrix(pipeline, values, vector, dict(options), library)
    if library == "cupy":
        from cupyx.scipy.sparse.linalg import LinearOperator
    else:
        from scipy.sparse.linalg import LinearOperator
    return LinearOperator(made.shape, matvec=made.product, rmatvec=made.transposed_product, dtype=made.dtype)


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
        self._library, self._vector, self._name = library, vector, pipeline.name
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

    def _is_single(self, pipeline: Differentiable, values: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
        precision = options.get("precision") or pipeline._family.options.precision
        reals = [field.name for _, field in pipeline._family.inputs if field.name in values and not field.integral]
        kinds = [str(getattr(values[name], "dtype", None)) for name in reals]
        return precision != "double" and bool(kinds) and all(kind in SINGLE for kind in kinds)

    @property
    def _numbers(self) -> Any:
        return importlib.import_module(self._library)

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
        return self._plan.run({self._vector.name: vector})[0]

    def _shaped(self, values: Any, like: Any) -> Any:
        return self._numbers.ascontiguousarray(values, dtype=like.dtype).reshape(like.shape)

    def product(self, vector: Any) -> Any:
        if self._numbers.iscomplexobj(vector) and not self._vector.is_complex:
            return self._product(vector.real) + 1j * self._product(vector.imag)
        return self._product(vector)

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
