"""Totals that are no sums of values of i, such as a minimum: their derivatives by these values, which the forward pipeline
has among its outputs. Arrays are those of NumPy, PyTorch or JAX. Entry points: `adjoint_of_values` and `rate_of_total`."""

from __future__ import annotations

import sys
from typing import Any

from .._arrays import _arrays
from .._arrays._arrays import library_of


def functions_for(value: Any) -> Any:
    """The module with the functions of arrays like this one: torch, jax.numpy or numpy."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return torch
    return sys.modules["jax"].numpy if library_of(value) in ("jax", "jaxlib") else _arrays.numpy


def adjoint_of_values(reduction: str, total: Any, values: Any, adjoint: Any, chosen: Any) -> Any:
    """dL/d(value of each i) from dL/d(total). values: [i, ...]. chosen: the option i=; None: all i."""
    return _times_slope(reduction, total, values, adjoint, chosen)


def rate_of_total(reduction: str, total: Any, values: Any, rates: Any, chosen: Any) -> Any:
    """The rate of the total from those of the values of each i."""
    return _times_slope(reduction, total, values, rates, chosen).sum(0)


def _times_slope(reduction: str, total: Any, values: Any, factor: Any, chosen: Any) -> Any:
    """d(total)/d(value of each i), times a factor. A minimum or maximum has the slope 1 at the first i that has it."""
    of = functions_for(values)
    is_chosen = _is_chosen(chosen, values, of)
    if reduction == "logsumexp":
        part = of.exp(values - total) * factor
        return part if is_chosen is None else of.where(is_chosen, part, 0.0)
    has_it = values == total
    if is_chosen is not None:
        has_it = has_it & is_chosen
    return of.where(has_it & (of.cumsum(has_it, 0) == 1), factor, 0.0)


def _is_chosen(chosen: Any, values: Any, of: Any) -> Any:
    """[i, 1, ...]: whether a run sums for this i; its other rows are 0. None: all."""
    if chosen is None:
        return None
    shape = (values.shape[0], *[1] * (len(values.shape) - 1))
    if of.__name__ == "torch":
        made = of.zeros(shape, dtype=of.bool, device=values.device)
    else:
        made = _arrays.numpy.zeros(shape, bool)
    made[chosen if isinstance(chosen, slice) or hasattr(chosen, "dtype") else list(chosen)] = True
    return made
