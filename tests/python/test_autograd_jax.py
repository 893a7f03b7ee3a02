"""Calls inside of JAX's transformations, against the same sums by JAX's own operations."""

import pathlib

import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402

import nbcc  # noqa: E402

PIPELINES = pathlib.Path(__file__).resolve().parents[2] / "pipelines"
gravity = nbcc.compile(PIPELINES / "gravity_jerk.pipe", precision="double")


def by_jax(x, v, m, eps2):
    dx, dv = x[None] - x[:, None], v[None] - v[:, None]
    d2 = (dx**2).sum(-1)
    apart = d2 > 0
    ri = jnp.where(apart, d2 + eps2, 1.0) ** -0.5
    mri3 = jnp.where(apart, m[None] * ri**3, 0)
    alpha = 3 * (dx * dv).sum(-1) * ri**2
    acc = (mri3[..., None] * dx).sum(1)
    jerk = (mri3[..., None] * (dv - alpha[..., None] * dx)).sum(1)
    return acc, jerk, -jnp.where(apart, m[None] * ri, 0).sum(1)


def by_nbcc(x, v, m, eps2):
    return gravity(x, v, x, v, m, eps2=eps2)


def loss(sums, x, v, m, eps2):
    acc, jerk, pot = sums(x, v, m, eps2)
    return jnp.sin(acc).sum() + (jerk**2).sum() + (pot * m).sum()


def particles():
    keys = jax.random.split(jax.random.PRNGKey(3), 3)
    return (
        jax.random.normal(keys[0], (7, 3)),
        jax.random.normal(keys[1], (7, 3)),
        jax.random.uniform(keys[2], (7,)),
        jnp.array(0.3),
    )


def close(a, b, rounding=1e-13):
    return jnp.all(abs(a - b) <= rounding * abs(b).max())


@pytest.mark.parametrize("transformed", [lambda f: f, jax.jit], ids=["grad", "jit"])
def test_gradients_by_all_inputs_and_a_param(transformed):
    of = {f: transformed(jax.grad(lambda *a, f=f: loss(f, *a), argnums=(0, 1, 2, 3))) for f in (by_jax, by_nbcc)}
    for ours, own in zip(of[by_nbcc](*particles()), of[by_jax](*particles())):
        assert close(ours, own)


def test_the_second_derivative():
    x, v, m, eps2 = particles()
    second = {
        f: jax.grad(lambda x, f=f: (jax.grad(lambda x: loss(f, x, v, m, eps2))(x) ** 2).sum())(x)
        for f in (by_jax, by_nbcc)
    }
    assert close(second[by_nbcc], second[by_jax])


def test_vmap():
    x, v, m, eps2 = particles()
    several = jnp.stack([x, x + 1, 2 * x])
    for one in (lambda f: jax.vmap(lambda x: loss(f, x, v, m, eps2)),
                lambda f: jax.vmap(jax.grad(lambda x: loss(f, x, v, m, eps2)))):
        assert close(one(by_nbcc)(several), one(by_jax)(several))


def test_what_is_refused():
    x, v, m, eps2 = particles()
    with pytest.raises(TypeError, match="accumulate= cannot be given where derivatives are taken"):
        jax.grad(lambda x: gravity(x, v, x, v, m, accumulate=True).pot.sum())(x)
