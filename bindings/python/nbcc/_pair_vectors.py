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
    if library == "torch":
        torch = sys.modules["torch"]

        def real(value: Any) -> Any:
            return torch.as_tensor(value, dtype=x.dtype, device=x.device)

        def whole(value: Any) -> Any:  # uint8 as an index would be a mask
            return torch.as_tensor(value, device=x.device).long()

    else:
        module = sys.modules["jax"].numpy if library == "jax" else sys.modules[library]
        x = module.asarray(x)
        whole = module.asarray

        def real(value: Any) -> Any:
            return module.asarray(value, x.dtype)

    away = (x if y is None else real(y))[pairs.j] - x[pairs.i]
    if cell is not None:
        cell, shifts = real(cell), real(pairs.shifts)
        if len(cell.shape) == 1:
            away = away + shifts * cell
        elif len(cell.shape) == 2:
            away = away + shifts @ cell
        else:
            away = away + (shifts[:, None, :] @ cell[whole(batch)[pairs.i]])[:, 0, :]
    made: dict[str, Any] = {}
    if vectors:
        made["vectors"] = away
    if distances:
        made["distances"] = (away * away).sum(-1) ** 0.5
    return made


def require_library_of(library: str, **arrays: Any) -> None:
    """Raises TypeError for an array that only another library differentiates."""
    for name, value in arrays.items():
        found = _arrays.library_of(value).replace("jaxlib", "jax")
        if found in ("torch", "jax", "cupy") and found != library:
            raise TypeError(
                f"neighbours(): {name}: with vectors or distances expected an array of {library} as x, got one of {found}"
            )
