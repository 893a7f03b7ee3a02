"""Pairs of a pipeline, of batches or in the memory of a GPU, found by the search of `nbcc.neighbours`. Entry point:
`neighbours_of`."""

from __future__ import annotations

import sys
from typing import Any, List, Optional, Sequence, Tuple

from .._arrays import _arrays
from .._arrays._arrays import Array
from .._c._handles import Sum, View
from .._c._lists import Rows, Values, _batches_of
from .._c._neighbours import Neighbours
from .._c._pair_search import PairSpace, space_of
from .._pair_lists import listed
from .._pair_tracing import plain
from .._pair_vectors import shift_vectors
from ._arguments import Inputs, Param


def groups_of(who: str, batches: Any) -> Optional[int]:
    """The number of batches."""
    return None if batches is None else max(_batches_of(f"{who}: batches", batches).groups, 1)


def detached(values: Sequence[Any]) -> List[Any]:
    """Arguments without derivatives, which lists of pairs do not have."""
    return [plain(value) for value in values]


def neighbours_of(
    who: str,
    used: Sum,
    values: Sequence[Any],
    inputs: Inputs,
    params: List[Param],
    by_group: List[Tuple[int, Values]],
    batches: Any,
    groups: Optional[int],
    exclusions: Any,
) -> Neighbours:
    """used: a sum, which gets the params. values: the caller's arguments by field."""
    spaces = _spaces(used, params, by_group, groups)
    space = spaces[0]
    views = {k: (field, view) for k, field, view in inputs.views}
    x, y = (
        _at_least_float32(_positions(who, values, views, getattr(space, f"{side}_field"), getattr(space, f"{side}_component")))
        for side in "ij"
    )
    i_batch, j_batch = (None, None) if batches is None else batches[:2]
    is_one_set = i_batch is j_batch and all(
        views[i][1] == views[j][1] and c == d
        for i, j, c, d in zip(space.i_field, space.j_field, space.i_component, space.j_component)
    )
    if not is_one_set and not space.self:
        exclusions = _without_self(who, exclusions, inputs.ni or 0, inputs.nj or 0)
    numpy = _arrays.numpy
    cells = numpy.array([one.cell[:] for one in spaces]).reshape(-1, 3, 3)
    periodic = numpy.array([one.periodic[:] for one in spaces]) != 0
    cutoffs = [one.cutoff for one in spaces]
    cell, pbc = (None, None) if not periodic.any() else (cells[0], periodic[0]) if groups is None else (cells, periodic)
    options = dict(
        batches=groups,
        self=is_one_set and space.self != 0,
        half=False,
        types=None,
        y_types=None,
        exclusions=exclusions,
        inclusive=space.inclusive != 0,
    )
    cutoff = cutoffs[0] if min(cutoffs) == max(cutoffs) else _of_batches(cutoffs, i_batch)
    if is_one_set:
        y = j_batch = None
    found = listed(x, cutoff, cell, pbc, i_batch, y, j_batch, None, False, False, None, options)
    library = _arrays.library_of(found.shifts).replace("jaxlib", "jax")
    zeros = found.shifts.double() if library == "torch" else found.shifts.astype(float)
    return Neighbours(found.first, found.j, zeros if cell is None else shift_vectors(library, found, cell, i_batch, zeros))


def _spaces(used: Sum, params: List[Param], by_group: List[Tuple[int, Values]], groups: Optional[int]) -> List[PairSpace]:
    """One, or one for each batch."""
    numpy = _arrays.numpy
    rows = [(k, numpy.asarray(of_groups.numbers, "float64").reshape(groups, -1).tolist()) for k, of_groups in by_group]
    spaces = []
    for group in range(groups or 1 if rows else 1):
        for k, numbers in params:
            used.set_param(k, numbers)
        for k, of_groups in rows:
            if group < len(of_groups):
                used.set_param(k, tuple(of_groups[group]))
        spaces.append(space_of(used))
    return spaces if rows or groups is None else spaces * groups


def _positions(who: str, values: Sequence[Any], views: dict[int, Tuple[Any, View]], fields: Any, components: Any) -> Any:
    """The caller's array, or an array of its library made of its columns."""
    if any(type(values[k]) is Array for k in fields):
        raise TypeError(f"{who}: batches and arrays on a GPU: expected a pipeline without bound inputs, got a bound one")
    if len(set(fields)) == 1 and tuple(components) == (0, 1, 2) and views[fields[0]][0].components == 3:
        return values[fields[0]]
    columns = []
    for k, component in zip(fields, components):
        value = values[k] if hasattr(values[k], "shape") else _arrays.numpy.asarray(values[k])
        rows = value.reshape(value.shape[0], -1)
        columns.append(rows[:, component])
    library = _arrays.library_of(columns[0])
    if library in ("jax", "jaxlib"):
        return sys.modules["jax"].numpy.stack(columns, -1)
    return (sys.modules[library] if library in ("torch", "cupy") else _arrays.numpy).stack(columns, -1)


def _at_least_float32(positions: Any) -> Any:
    """Small floats as float32, in which kernels compute with them."""
    if not str(getattr(positions, "dtype", "")).endswith("float16"):
        return positions
    return positions.float() if _arrays.library_of(positions) == "torch" else positions.astype("float32")


def _of_batches(cutoffs: List[float], batch: Any) -> Any:
    """The cutoff of each i."""
    numpy = _arrays.numpy
    return numpy.array(cutoffs)[batch.cpu().numpy() if hasattr(batch, "cpu") else numpy.asarray(batch)]


def _without_self(who: str, exclusions: Any, ni: int, nj: int) -> Any:
    """Rows that exclude j = i. The image of such a pair is the nearest one."""
    if exclusions is not None:
        raise TypeError(f"{who}: exclusions: expected the same arrays for i and j, because a guard excludes j = i, got others")
    numpy = _arrays.numpy
    return Rows(numpy.minimum(numpy.arange(ni + 1), nj), numpy.arange(min(ni, nj)))
