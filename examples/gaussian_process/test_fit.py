"""fit.py: against dense solutions by NumPy, with a far field, and when the equations cannot be solved."""
import re

import numpy as np
import pytest

import fit
import nbcc

NOISE = 0.3


def dense_kernel(name, length, x, centres):
    r = np.sqrt(np.sum((x[:, None] - centres[None]) ** 2, axis=2)) / length
    return np.exp(-r * r / 2) if name == "gaussian" else (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r)


@pytest.mark.parametrize("name", ["gaussian", "matern"])
def test_a_dense_solution(name):
    x, y, held_out, _ = fit.draw(400, NOISE, seed=2)
    kernel = fit.Kernel(x, name, length=0.3, tolerance=1e-10)
    found = fit.solve(kernel, y, NOISE, wanted=1e-6)
    matrix = dense_kernel(name, 0.3, x, x) + NOISE**2 * np.eye(len(x))
    alpha = np.linalg.solve(matrix, y)
    # The least eigenvalue is at least noise^2. A prediction is k . alpha with k . A^-1 k <= k(0) = 1.
    residual = np.linalg.norm(y - matrix @ found.alpha)
    assert residual <= np.sqrt(len(x)) * (found.goal + found.supported)
    assert found.goal == 1e-6 * NOISE and found.supported < found.goal
    assert np.linalg.norm(found.alpha - alpha) <= residual / NOISE**2
    difference = kernel.exactly(held_out, found.alpha) - dense_kernel(name, 0.3, held_out, x) @ alpha
    assert np.max(np.abs(difference)) <= residual / NOISE + 1e-12


# The cube of three features, turned into a space of 64, has the distances of the cube.
def test_many_features_are_computed_as_products():
    found = {}
    for features in (3, 64):
        x, y, held_out, _ = fit.draw(600, NOISE, seed=2, features=features)
        assert x.shape == (600, features)
        kernel = fit.Kernel(x, length=0.3, tolerance=1e-6)
        solution = fit.solve(kernel, y, NOISE, wanted=1e-3)
        found[features] = kernel.exactly(held_out, solution.alpha)
        assert fit.rms(dense_kernel("gaussian", 0.3, x, x) @ solution.alpha + NOISE**2 * solution.alpha - y) < 1e-2 * NOISE
        if features == 64:
            assert kernel.statistics()["precision"] == "products"
    assert np.max(np.abs(found[64] - found[3])) < 1e-2 * NOISE


def test_a_far_field_keeps_its_lists_and_ends_at_what_it_supports():
    n, noise = 20000, 1.0
    x, y, held_out, values = fit.draw(n, noise, seed=3)
    kernel = fit.Kernel(x, length=0.3, tolerance=1e-4)
    found = fit.solve(kernel, y, noise, wanted=0.1)
    numbers = kernel.statistics()
    assert numbers["method"] == "far field" and numbers["order"] > 0, numbers["reason"]
    assert numbers["seconds_walk"] == 0 and numbers["seconds_near"] > 0
    assert 0.1 * noise < found.goal == found.supported
    # Other rows than those of solve().
    rows = np.arange(0, n, 97)
    residual = y[rows] - kernel.exactly(x[rows], found.alpha) - noise**2 * found.alpha[rows]
    assert 0.1 * found.goal < fit.rms(residual) <= 2 * found.goal
    # The estimate of the sum of the magnitudes of the terms.
    terms = fit.rms(kernel.exactly(x[rows], np.abs(found.alpha)))
    assert 0.8 < kernel.tolerance * terms / found.supported < 1.25
    assert fit.rms(kernel.exactly(held_out, found.alpha) - values) < found.goal


def test_conjugate_gradients_are_exact_after_as_many_steps_as_there_are_unknowns():
    random = np.random.default_rng(4)
    root = random.standard_normal((12, 12))
    matrix, y = root @ root.T + np.eye(12), random.standard_normal(12)
    alpha, iterations, _ = fit.conjugate_gradients(lambda p: matrix @ p, y, lambda alpha: 1e-9, 20)
    assert 1 < iterations <= 13
    assert np.linalg.norm(matrix @ alpha - y) <= 2e-9 * np.sqrt(12)  # rms 1e-9, and roundings


def test_a_matrix_that_is_not_positive_definite():
    for matrix in (np.diag([1.0, -2.0]), np.full((2, 2), np.nan)):
        with pytest.raises(fit.NotSolved, match="p.Ap is .*, expected a positive number"):
            fit.conjugate_gradients(lambda p: matrix @ p, np.array([1.0, 3.0]), lambda alpha: 1e-9, 20)


def test_products_that_are_wrong_are_found_by_the_sampled_rows(monkeypatch):
    x, y, _, _ = fit.draw(500, NOISE, seed=5)
    kernel = fit.Kernel(x, tolerance=1e-8)
    times = kernel.times
    monkeypatch.setattr(kernel, "times", lambda weights: 1.1 * times(weights))
    with pytest.raises(fit.NotSolved, match="the residual at 256 rows, over all pairs, is .*, expected at most 3 times"):
        fit.solve(kernel, y, NOISE)


def test_the_report_and_its_exit_code(capsys):
    assert fit.main(["--n", "2000", "--residual", "0.1"]) == 0
    out, err = capsys.readouterr()
    assert "2000 points on cpu, gaussian kernel of length 0.2, tolerance 1e-06\nmethod: " in out
    error = float(out.split("held-out points: ")[1].split(";")[0])
    assert 0 < error < NOISE and err == ""


@pytest.mark.parametrize("options, code, message", [
    (["--tolerance", "1e-3", "--residual", "0.1"], 0, "does not support --residual 0.1; 0.000"),
    (["--tolerance", "0.1"], 1, "supports a residual of .* expected less than the noise, 0.3"),
    (["--iterations", "3"], 1, "residual .* after 3 iterations, expected at most .*; the tolerance is 1.0e-06"),
    (["--tolerance", "3"], 2, "from 1e-14 to 1, got 3"),
])
def test_what_the_tolerance_does_not_support(options, code, message, capsys):
    assert fit.main(["--n", "1500", *options]) == code
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.parametrize("options", [["--n", "0"], ["--noise", "-1"], ["--noise", "nan"], ["--kernel", "sinc"],
                                     ["--features", "2"], ["--features", "8", "--kernel", "matern"]])
def test_wrong_options(options, capsys):
    with pytest.raises(SystemExit) as ended:
        fit.main(options)
    assert ended.value.code == 2 and options[0] in capsys.readouterr().err


def test_on_a_gpu():
    try:
        nbcc.compile(fit.PIPELINES / "gaussian_rbf.pipe", device="cuda")
    except nbcc.DeviceError as reason:
        pytest.skip(str(reason))
    x, y, held_out, values = fit.draw(100000, NOISE, seed=6)
    kernel = fit.Kernel(x, tolerance=1e-6, device="cuda")
    found = fit.solve(kernel, y, NOISE, wanted=0.1)
    assert fit.rms(kernel.exactly(held_out, found.alpha) - values) < 0.2 * NOISE
