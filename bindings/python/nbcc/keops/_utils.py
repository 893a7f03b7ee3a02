"""References for tests, which have all pairs in memory."""

from __future__ import annotations

from typing import Any


def squared_distances(x: Any, y: Any) -> Any:
    """(M, N): the squared distances of the rows of x and y."""
    return (x**2).sum(1).reshape(-1, 1) + (y**2).sum(1).reshape(1, -1) - 2.0 * (x @ y.T)


def differences(x: Any, y: Any) -> Any:
    """(D, M, N): the differences of the rows of x and y."""
    return x.T[:, :, None] - y.T[:, None, :]


def log_sum_exp(matrix: Any, axis: int = 0) -> Any:
    """The logarithm of the sum of exponentials over an axis."""
    import numpy as np

    greatest = matrix.max(axis=axis)
    return greatest + np.log(np.exp(matrix - np.expand_dims(greatest, axis)).sum(axis=axis))


def _kernels(square: Any, s: float, library: Any) -> Any:
    """By the name of a kernel: the kernel, its logarithm, and its derivative by the squared distance."""
    ratio = square / (s * s)
    root = library.sqrt(library.abs(ratio))
    exp = library.exp
    return {
        "gaussian": lambda: (exp(-ratio), -ratio, -exp(-ratio) / (s * s)),
        "laplacian": lambda: (exp(-root), -root, -exp(-root) / (2 * s * s * root)),
        "cauchy": lambda: (1 / (1 + ratio), -library.log(1 + ratio), -1 / (s * (ratio + 1)) ** 2),
        "inverse_multiquadric": lambda: (
            (1 + ratio) ** -0.5,
            -0.5 * library.log(1 + ratio),
            -0.5 / (s * s * (ratio + 1) ** 1.5),
        ),
    }


def np_kernel(x: Any, y: Any, s: float, kernel: str) -> Any:
    """(M, N): a kernel of the distances of the rows of x and y, with the scale s."""
    import numpy

    return _kernels(squared_distances(x, y), s, numpy)[kernel]()[0]


def log_np_kernel(x: Any, y: Any, s: float, kernel: str) -> Any:
    """(M, N): the logarithm of np_kernel."""
    import numpy

    return _kernels(squared_distances(x, y), s, numpy)[kernel]()[1]


def grad_np_kernel(x: Any, y: Any, s: float, kernel: str) -> Any:
    """(M, N): the derivative of np_kernel by the squared distance."""
    import numpy

    return _kernels(squared_distances(x, y), s, numpy)[kernel]()[2]


def torch_kernel(x: Any, y: Any, s: float, kernel: str) -> Any:
    """(M, N): a kernel of the distances of the rows of x and y, with the scale s."""
    import torch

    return _kernels(squared_distances(x, y), s, torch)[kernel]()[0]


def np_kernel_sphere(nalpha: Any, nbeta: Any, s: float, kernel: str) -> Any:
    """(M, N): a kernel of the scalar products of the rows of two arrays of unit vectors."""
    import numpy as np

    product = nalpha @ nbeta.T
    return {
        "binet": lambda: product**2,
        "linear": lambda: product,
        "gaussian_unoriented": lambda: np.exp((-2.0 + 2.0 * product**2) / (s * s)),
        "gaussian_oriented": lambda: np.exp((-2.0 + 2.0 * product) / (s * s)),
    }[kernel]()
