"""Vectors and distances of pairs, computed by the caller's library, which differentiates them. Entry point:
`vectors_of`."""

from __future__ import annotations

import sys
from typing import Any

from ._arrays import _arrays


def vectors_of(
    library: str, pairs: Any, x: Any, y: Any, cell: Any, batch: Any, vectors: bool, distances: bool
) -> dict[str, Any]:
    """library: that of x and of the arrays of `pairs`, "numpy", "torch", "jax" or "cupy". y, cell, batch: of it or NumPy."""
    x = x if library == "torch" else _module(library).asarray(x)
    away = (x if y is None else _real(library, y, x))[pairs.j] - x[pairs.i]
    if cell is not None:
        away = away + shift_vectors(library, pairs, cell, batch, x)
    made: dict[str, Any] = {}
    if vectors:
        made["vectors"] = away
    if distances:
        made["distances"] = (away * away).sum(-1) ** 0.5
    return made


def shift_vectors(library: str, pairs: Any, cell: Any, batch: Any, like: Any) -> Any:
    """shifts @ cell of each pair, of the type of `like`, an array of the library."""
    cell, shifts = _real(library, cell, like), _real(library, pairs.shifts, like)
    if len(cell.shape) == 1:
        return shifts * cell
    if len(cell.shape) == 2:
        return shifts @ cell
    if library == "torch":  # uint8 as an index would be a mask
        batch = sys.modules["torch"].as_tensor(batch, device=like.device).long()
    else:
        batch = _module(library).asarray(batch)
    return (shifts[:, None, :] @ cell[batch[pairs.i]])[:, 0, :]


def _module(library: str) -> Any:
    return sys.modules["jax"].numpy if library == "jax" else sys.modules[library]


def _real(library: str, value: Any, like: Any) -> Any:
    if library == "torch":
        return sys.modules["torch"].as_tensor(value, dtype=like.dtype, device=like.device)
    return _module(library).asarray(value, like.dtype)


def require_library_of(library: str, **arrays: Any) -> None:
    """Raises TypeError for an array that only another library differentiates."""
    for name, value in arrays.items():
        found = _arrays.library_of(value).replace("jaxlib", "jax")
        if found in ("torch", "jax", "cupy") and found != library:
            raise TypeError(
                f"neighbours(): {name}: with vectors or distances expected an array of {library} as x, got one of {found}"
            )
