#!/usr/bin/env python3
"""Gaussian process regression in three dimensions, or of points with many features: fits noisy values of a known
function and predicts others.

    fit.py --n 100000 --length 0.1 --tolerance 1e-6
    fit.py --n 20000 --features 64 --tolerance 1e-4 --noise 1

Solves (K + noise^2 I) alpha = y by conjugate gradients, where K is never stored: each product is a sum to a tolerance
by nbcc. The points stay in their places, so that trees and lists are made once; with many features the products are
those of matrix instructions. Input: options. Output: a report.
`main` is the entry point; `solve` is the part to use elsewhere. It chooses neither length nor noise, and predicts means,
no variances. Exit codes: 0; 1: the equations are not solved; 2: wrong options; 3: no such device.
"""
import argparse
import pathlib
import sys
import time
from typing import NamedTuple

import numpy as np

import nbcc

PIPELINES = pathlib.Path(__file__).resolve().parents[2] / "pipelines"
KERNELS = {
    "gaussian": ("gaussian_rbf.pipe", lambda length: {"sigma": length}),
    "matern": ("matern.pipe", lambda length: {"ell": length, "twice_nu": 3}),
}
WIDE_GAUSSIAN = """
input_i real xi[{features}];
input_j real xj[{features}];
input_j real wj;
param   real sigma;
output(sum) real s;

real r2 = 0;
for (int k = 0; k < {features}; ++k) r2 += (xj[k] - xi[k]) * (xj[k] - xi[k]);
s += wj * exp(r2 * (-0.5 / (sigma * sigma)));
"""
SAMPLED_ROWS = 256


class NotSolved(Exception):
    """The equations are not solved to what was asked for; the message has the numbers."""


def known_function(x):
    return np.sin(2 * np.pi * x[:, 0]) * np.cos(2 * np.pi * x[:, 1]) + np.sin(3 * np.pi * x[:, 2] + x[:, 0])


def draw(n, noise, seed, features=3):
    """n points in the unit cube with noisy values, and 1000 other points with the function's values.

    With more features than three the cube lies in their space, turned at random: distances are those of the cube.
    """
    random = np.random.default_rng(seed)
    x, held_out = random.uniform(size=(n, 3)), random.uniform(size=(1000, 3))
    y, values = known_function(x) + noise * random.standard_normal(n), known_function(held_out)
    if features > 3:
        edges = np.linalg.qr(random.standard_normal((features, 3)))[0].T
        x, held_out = x @ edges, held_out @ edges
    return x, y, held_out, values


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


class Kernel:
    """Sums over the points x. `products` and `seconds` are those of `times`, without its first call."""

    def __init__(self, x, name="gaussian", length=0.2, tolerance=1e-6, device="cpu"):
        file, params = KERNELS[name]
        features = x.shape[1]
        if features == 3:
            pipeline = {"path": PIPELINES / file}
        else:
            pipeline = {"source": WIDE_GAUSSIAN.format(features=features), "name": "wide_gaussian.pipe"}
        self.x, self.params, self.device, self.tolerance = x, params(length), device, tolerance
        # nbcc raises the precision of the sums if the tolerance requires it.
        self._sum = nbcc.compile(**pipeline, precision="single")
        self._exact_sum = nbcc.compile(**pipeline, precision="double")
        self.products, self.seconds, self.seconds_of_first = 0, 0.0, None

    def times(self, weights):
        """K weights, to the tolerance."""
        start = time.perf_counter()
        result = self._sum(self.x, self.x, weights, tolerance=self.tolerance, device=self.device, **self.params)
        passed = time.perf_counter() - start
        if self.seconds_of_first is None:
            self.seconds_of_first = passed
        else:
            self.products, self.seconds = self.products + 1, self.seconds + passed
        return result

    def exactly(self, places, weights):
        """The sum at other places, over all pairs in double precision."""
        return self._exact_sum(places, self.x, weights, device=self.device, **self.params)

    def statistics(self):
        return self._sum.statistics()


class Solution(NamedTuple):
    alpha: np.ndarray
    iterations: int
    goal: float  # rms of the residual at which the iteration ended, from the recurrence
    supported: float  # rms of the error of a product with alpha, if it is as large as the tolerance allows
    residual: float  # rms of y - (K + noise^2 I) alpha at sampled rows, over all pairs in double precision


def conjugate_gradients(times_a, y, goal_of, limit):
    """M. R. Hestenes & E. Stiefel (1952). Ends when the rms of the recurrence's residual is below goal_of(alpha)."""
    alpha, r = np.zeros_like(y), y.copy()
    p, rho = r.copy(), r @ r
    for iteration in range(limit + 1):
        goal = goal_of(alpha)
        if np.sqrt(rho / y.size) <= goal:
            return alpha, iteration, goal
        if iteration == limit:
            break
        ap = times_a(p)
        curvature = p @ ap
        if not curvature > 0:
            raise NotSolved(f"iteration {iteration}: p.Ap is {curvature:.1e}, expected a positive number")
        step = rho / curvature
        alpha += step * p
        r -= step * ap
        last, rho = rho, r @ r
        p = r + rho / last * p
    raise NotSolved(f"residual {np.sqrt(rho / y.size):.1e} after {limit} iterations, expected at most {goal:.1e}")


def solve(kernel, y, noise, wanted=0.03, limit=2000, seed=1):
    """alpha with (K + noise^2 I) alpha = y, up to a residual whose rms is `wanted` times the noise.

    alpha then is the exact solution for values that differ from y by the residual, so that a residual far below the
    noise is as good as none. The error of a product with alpha is part of the true residual. Its rms is at most the
    tolerance times that of the sum of the magnitudes of the terms, K |alpha|, which is far larger than y: alpha has both
    signs. So the iteration ends at that number if it is larger than what is wanted, and NotSolved is raised if it exceeds
    the noise. At the end the residual is computed over all pairs at sampled rows; NotSolved if it is more than three
    times the goal.
    """
    rows = np.sort(np.random.default_rng(seed).choice(y.size, min(SAMPLED_ROWS, y.size), replace=False))
    row_sum = rms(kernel.exactly(kernel.x[rows], np.ones_like(y)))

    def supported(alpha):  # the signs of alpha are those of noise: its magnitude is nearly the same everywhere
        return kernel.tolerance * row_sum * float(np.mean(np.abs(alpha)))

    try:
        alpha, iterations, goal = conjugate_gradients(lambda p: kernel.times(p) + noise**2 * p, y,
                                                      lambda alpha: max(wanted * noise, supported(alpha)), limit)
    except NotSolved as reason:
        raise NotSolved(f"{reason}; the tolerance is {kernel.tolerance:.1e}, noise^2 over the sum of a row of K is "
                        f"{noise**2 / row_sum:.1e}, and the tolerance should be far below that") from None
    if goal > noise:
        raise NotSolved(f"the tolerance {kernel.tolerance:.1e} supports a residual of {goal:.1e}, expected less than the "
                        f"noise, {noise:g}: {kernel.tolerance * wanted * noise / goal:.0e} would support {wanted:g} of it")
    residual = rms(y[rows] - kernel.exactly(kernel.x[rows], alpha) - noise**2 * alpha[rows])
    if not residual <= 3 * goal:
        raise NotSolved(f"the residual at {rows.size} rows, over all pairs, is {residual:.1e}, expected at most 3 times "
                        f"{goal:.1e}")
    return Solution(alpha, iterations, goal, supported(alpha), residual)


def report_method(kernel):
    numbers = kernel.statistics()
    precision = numbers["precision"] + ("" if numbers["precision"] == "products" else " precision")
    if numbers["order"] > 0:
        print(f"far field: error {numbers['error']:.1e}, largest {numbers['largest_error']:.1e}, relative to the sum "
              f"{numbers['error_of_sum']:.1e}, order {numbers['order']}, leaf {numbers['leaf']}, {precision}, "
              f"{numbers['pairs_per_i']:.0f} pairs for each point")
    elif numbers["sampled"] > 0:
        print(f"method: all pairs, error {numbers['error']:.1e}, largest {numbers['largest_error']:.1e}, "
              f"{precision} ({numbers['reason']})")
    else:
        print(f"method: {numbers['method']} ({numbers['reason']})")


def positive(word):
    number = float(word)
    if not 0 < number < np.inf:
        raise ValueError
    return number


def options(arguments):
    parser = argparse.ArgumentParser(prog="fit.py", description="Gaussian process regression of a known function.")
    parser.add_argument("--n", type=int, default=10000, help="points (10000)")
    parser.add_argument("--kernel", choices=sorted(KERNELS), default="gaussian",
                        help="gaussian (the default), or matern of smoothness 3/2")
    parser.add_argument("--length", type=positive, default=0.2,
                        help="length scale of the kernel; the cube has edges of 1 (0.2)")
    parser.add_argument("--features", type=int, default=3,
                        help="numbers of a point, 3 or more; more than 3 with the gaussian kernel only (3)")
    parser.add_argument("--noise", type=positive, default=0.3, help="standard deviation of the noise (0.3)")
    parser.add_argument("--tolerance", type=positive, default=1e-6, help="of the products, 1e-14 to 1 (1e-6)")
    parser.add_argument("--residual", type=positive, default=0.03,
                        help="rms of the residual that is wanted, in units of the noise (0.03)")
    parser.add_argument("--iterations", type=int, default=2000, help="at most (2000)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:N, cuda:0,2")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    for name in ("n", "iterations"):
        if getattr(chosen, name) < 1:
            parser.error(f"argument --{name}: expected at least 1, got {getattr(chosen, name)}")
    if chosen.features < 3:
        parser.error(f"argument --features: expected at least 3, got {chosen.features}")
    if chosen.features > 3 and chosen.kernel != "gaussian":
        parser.error(f"argument --features: {chosen.features} features need --kernel gaussian, got {chosen.kernel}")
    return chosen


def run(chosen):
    x, y, held_out, values = draw(chosen.n, chosen.noise, chosen.seed, chosen.features)
    kernel = Kernel(x, chosen.kernel, chosen.length, chosen.tolerance, chosen.device)
    solution = solve(kernel, y, chosen.noise, chosen.residual, chosen.iterations, chosen.seed)
    error = rms(kernel.exactly(held_out, solution.alpha) - values)
    of_features = f" of {chosen.features} features" if chosen.features > 3 else ""
    print(f"{chosen.n} points{of_features} on {chosen.device}, {chosen.kernel} kernel of length {chosen.length:g}, tolerance "
          f"{chosen.tolerance:g}")
    report_method(kernel)
    print(f"{solution.iterations} iterations; residual in units of the noise: {solution.goal / chosen.noise:.1e} wanted, "
          f"{solution.residual / chosen.noise:.1e} over all pairs at {min(SAMPLED_ROWS, chosen.n)} rows")
    print(f"the tolerance supports a residual of {solution.supported / chosen.noise:.1e} of the noise")
    print(f"RMS error at {len(values)} held-out points: {error:.4f}; noise: {chosen.noise:g}; the function: "
          f"{rms(values):.4f}")
    if kernel.products:
        print(f"seconds: {kernel.seconds_of_first:.2g} for the first product, then "
              f"{kernel.seconds / kernel.products:.2g} for each")
    if solution.supported > chosen.residual * chosen.noise:
        sys.stdout.flush()  # the warning comes last, in a file that has both, too
        sufficient = chosen.tolerance * chosen.residual * chosen.noise / solution.supported
        print(f"fit.py: warning: --tolerance {chosen.tolerance:g} does not support --residual {chosen.residual:g}; "
              f"{sufficient:.1g} would", file=sys.stderr)


def main(arguments):
    chosen = options(arguments)
    try:
        run(chosen)
        return 0
    except NotSolved as reason:
        print(f"fit.py: {reason}", file=sys.stderr)
        return 1
    except nbcc.UsageError as reason:
        print(f"fit.py: {reason}", file=sys.stderr)
        return 2
    except nbcc.DeviceError as reason:
        print(f"fit.py: {reason}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
