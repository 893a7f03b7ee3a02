"""Totals that are no sums of values of i, such as a minimum: their derivatives by these values, which the forward pipeline
has among its outputs. Arrays are those of NumPy, PyTorch or JAX. Entry points: `adjoint_of_values`, `rate_of_total` and `where`."""

from __future__ import annotations

import math
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


def rate_of_total(reduction: str, total: Any, values: Any, rates: Any, chosen: Any) -> Any:
    """The rate of the total from those of the values of each i."""
    return adjoint_of_values(reduction, total, values, rates, chosen).sum(0)


def adjoint_of_values(reduction: str, total: Any, values: Any, adjoint: Any, chosen: Any) -> Any:
    """dL/d(value of each i) from dL/d(total): the slope d(total)/d(value), times the adjoint. values: [i, ...]. chosen: the
    option i=; None: all i. A minimum or maximum has the slope 1 at the first i that has it."""
    of = functions_for(values)
    mask = None
    if chosen is not None:
        from ._transposed import is_chosen  # needs NumPy

        mask = is_chosen(chosen, values.shape[0])
    if reduction == "logsumexp":
        # Masked before exp(), because an infinite exp() in a branch not taken makes second derivatives NaN.
        values = values if mask is None else where(mask, values, -math.inf)
        total = of.where(total == -math.inf, 0.0, total)  # of no terms: all values are -inf, and their slopes 0
        return of.exp(values - total) * adjoint
    has_it = values == total
    if mask is not None:
        has_it = where(mask, has_it, False)
    return of.where(has_it & (of.cumsum(has_it, 0) == 1), adjoint, 0.0)


def where(mask: Any, values: Any, other: Any = 0.0) -> Any:
    """The values [i, ...] of each i that the mask, NumPy's booleans [i], has; another value for the others."""
    of = functions_for(values)
    mask = mask.reshape(-1, *[1] * (len(values.shape) - 1))
    return of.where(of.as_tensor(mask, device=values.device) if of.__name__ == "torch" else mask, values, other)
