"""Clusters of points, whose pairs a reduction has: KeOps' helpers for `ranges`."""

from __future__ import annotations

from typing import Any, Dict, Tuple

from ._libraries import library_of


def grid_cluster(x: Any, size: Any) -> Any:
    """The label of each point of x, (N, D): the number of the cubic cell of this size in which it is. The first cell begins at
    the least coordinates."""
    library = library_of(x)
    is_torch = library.__name__ == "torch"
    x = x.detach() if is_torch else x
    cells = library.floor((x - (x.amin(0) if is_torch else x.min(0))) / size)
    cells = cells.long() if is_torch else cells.astype("int64")
    counts = (cells.amax(0) if is_torch else cells.max(0)) + 1
    number = cells[:, 0]
    for k in range(1, cells.shape[1]):
        number = number * counts[k] + cells[:, k]
    if is_torch:
        return library.unique(number, return_inverse=True)[1].int()
    return library.unique(number, return_inverse=True)[1].reshape(-1).astype("int32")


def sort_clusters(x: Any, lab: Any) -> Tuple[Any, Any]:
    """Points, or a tuple or list of arrays of points, in the order of their labels; and the sorted labels."""
    labels = lab.reshape(-1)
    library = library_of(lab)
    options: Dict[str, Any] = {"kind": "stable"} if library.__name__ == "numpy" else {"stable": True}
    order = library.argsort(labels, **options)
    if isinstance(x, (tuple, list)):
        return type(x)(one[order] for one in x), labels[order]
    return x[order], labels[order]


def _counts(lab: Any) -> Any:
    return library_of(lab).bincount(lab.reshape(-1))


def cluster_ranges(lab: Any, Nlab: Any = None) -> Any:
    """(C, 2): the first row of each cluster of sorted points, and the row after its last one."""
    library = library_of(lab)
    counts = _counts(lab) if Nlab is None else Nlab
    ends = counts.cumsum(0)
    made = library.stack((ends - counts, ends), 1)
    return made.long() if library.__name__ == "torch" else made.astype("int64")


def cluster_centroids(x: Any, lab: Any, Nlab: Any = None, weights: Any = None, weights_c: Any = None) -> Any:
    """(C, D): the mean of each cluster's points, with weights if given."""
    library, labels = library_of(x), lab.reshape(-1)
    if weights is None:
        sizes = _counts(lab) if Nlab is None else Nlab
    else:
        sizes = library.bincount(labels, weights.reshape(-1)) if weights_c is None else weights_c.reshape(-1)
    columns = []
    for k in range(x.shape[1]):
        column = x[:, k] if weights is None else x[:, k] * weights.reshape(-1)
        columns.append(library.bincount(labels, column) / sizes)
    made = library.stack(columns, 1)
    return made.to(x.dtype) if library.__name__ == "torch" else made.astype(x.dtype)


def cluster_ranges_centroids(x: Any, lab: Any, weights: Any = None, min_weight: float = 1e-9) -> Tuple[Any, Any, Any]:
    """The ranges, the centroids and the total weights of clusters; weights below min_weight count as it."""
    library = library_of(x)
    counts = _counts(lab)
    if weights is None:
        sizes = counts.to(x.dtype) if library.__name__ == "torch" else counts.astype(x.dtype)
        return cluster_ranges(lab, counts), cluster_centroids(x, lab, counts), sizes
    weights = weights.clip(min_weight)
    sizes = library.bincount(lab.reshape(-1), weights.reshape(-1))
    return cluster_ranges(lab, counts), cluster_centroids(x, lab, counts, weights, sizes), sizes


def from_matrix(ranges_i: Any, ranges_j: Any, keep: Any) -> Tuple[Any, ...]:
    """`ranges` of the pairs of clusters for which the matrix `keep`, (clusters of i, clusters of j), is true."""
    library = library_of(keep)
    is_torch = library.__name__ == "torch"
    keep = keep.bool() if is_torch else keep.astype(bool)
    of_j = library.where(keep)[1]
    of_i = library.where(keep.T)[1]
    ends = []
    for axis in (1, 0):
        end = keep.sum(axis).cumsum(0)
        ends.append(end.long() if is_torch else end.astype("int64"))
    return ranges_i, ends[0], ranges_j[of_j], ranges_j, ends[1], ranges_i[of_i]


def swap_axes(ranges: Any) -> Any:
    """`ranges` with i and j exchanged."""
    return None if ranges is None else (*ranges[3:6], *ranges[0:3])
