"""`nbcc.neighbours` inside of transformations: jax.jit and jax.vmap, where the host searches when the program runs; and
those that refuse it. Entry points: `is_traced`, `refuse`, `searched`."""

from __future__ import annotations

import sys
from typing import Any, Callable, Tuple

from ._arrays import _arrays


def is_traced(*values: Any) -> bool:
    """True if JAX traces one of the values, which may be lists of them."""
    jax = sys.modules.get("jax")
    if jax is None:
        return False
    return any(
        is_traced(*value) if isinstance(value, (list, tuple)) else isinstance(value, jax.core.Tracer) for value in values
    )


def plain(value: Any) -> Any:
    """The value without the record of its operations, by which a library differentiates it."""
    if getattr(value, "requires_grad", False):
        return value.detach()
    is_tracer = not isinstance(value, (list, tuple)) and is_traced(value)
    return sys.modules["jax"].lax.stop_gradient(value) if is_tracer else value


def transformation_of(*values: Any) -> str:
    """The transformation of JAX that traces the values."""
    return "jax.vmap" if any(type(value).__name__ == "BatchTracer" for value in values) else "jax.jit"


def refuse(are_constant: bool, **values: Any) -> None:
    """Raises TypeError for tensors that torch.func transforms; are_constant: also for arrays that JAX traces."""
    for name, value in values.items():
        if are_constant and is_traced(value):
            where = transformation_of(*value) if isinstance(value, (list, tuple)) else transformation_of(value)
            raise TypeError(
                f"neighbours(): {name}: expected values that are known outside of {where}, got an array that it traces; "
                "make it a constant of the function"
            )
        torch = sys.modules.get("torch")
        for one in value if isinstance(value, (list, tuple)) else (value,):
            if torch is None or not isinstance(one, torch.Tensor):
                continue
            functions = torch._C._functorch
            if functions.is_functorch_wrapped_tensor(one):
                where = "vmap" if functions.is_batchedtensor(one) else "grad, vjp or jvp"
                if not (functions.is_batchedtensor(one) or functions.is_gradtrackingtensor(one)):
                    where = "functionalize"
                raise TypeError(
                    f"neighbours(): {name}: a tensor inside of torch.func.{where} cannot be searched; list the pairs outside "
                    "of the transformed function"
                )


def stand_in(value: Any, fill: int = 0) -> Any:
    """A NumPy array of the shape and type of a traced array; another value unchanged."""
    return _arrays.numpy.full(value.shape, fill, value.dtype) if is_traced(value) else value


def of_host(value: Any) -> Any:
    """JAX's arrays, also those in a list, as NumPy's: a callback that runs operations of JAX may wait for itself."""
    if isinstance(value, (list, tuple)):
        return [of_host(one) for one in value]
    return _arrays.numpy.asarray(value) if _arrays.library_of(value) in ("jax", "jaxlib") else value


def searched(search: Callable[..., Any], capacity: int, x: Any, y: Any, *others: Any) -> Tuple[Any, ...]:
    """edge_index, shifts, first and count, of `capacity` pairs. search: makes a PairList of NumPy's arrays; an error of
    it, which a running program cannot raise, gives a count of -1."""
    jax, numpy = sys.modules["jax"], _arrays.numpy
    whole_type = jax.dtypes.canonicalize_dtype("int64")

    def run(*arrays: Any) -> Tuple[Any, ...]:
        read: list[Any] = [one if one is None else numpy.asarray(one) for one in arrays]
        x, y, *others = read
        try:
            found = search(x, y, *others)
        except ValueError:
            found = None
        n, m = x.shape[0], (x if y is None else y).shape[0]
        edges = numpy.repeat(numpy.array([[n], [m]], whole_type), capacity, axis=1)
        shifts = numpy.zeros((capacity, 3), "int32")
        first, count = numpy.zeros(n + 1, whole_type), -1
        if found is not None:
            count, first = found.count, found.first.astype(whole_type)
            fitting = int(found.first[numpy.searchsorted(found.first, capacity, "right") - 1])
            edges[:, :fitting], shifts[:fitting] = found.edge_index[:, :fitting], found.shifts[:fitting]
        return edges, shifts, first, numpy.array([count], whole_type)

    shaped = jax.ShapeDtypeStruct
    shapes = (
        shaped((2, capacity), whole_type),
        shaped((capacity, 3), "int32"),
        shaped((x.shape[0] + 1,), whole_type),
        shaped((1,), whole_type),
    )
    made: Tuple[Any, ...] = jax.pure_callback(run, shapes, x, y, *others, vmap_method="sequential")
    return made
