"""Calls inside of jax.vmap, scan and compiled programs, against the same calls one by one."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402

import nbcc  # noqa: E402
from sampling import ALL  # noqa: E402

PARAMS = """input_i real x; input_j real y; param real s = 1; param complex c = complex(1, 0); param vec3 box = vec3(1, 2, 3);
param real tab[5] = {1, 2, 3, 4, 5}; output(sum) complex z; output(min) real least; output(argmin) index near;
z += s * c * x * y + tab[int(4 * x)] * y + dot(box, box); least = min(least, (y - x) * (y - x)); near = argmin(near, y - x);"""
LEAST = "input_i real x; input_j real y; output(min) real least; least = min(least, (y - x) * (y - x));"
TWICE = "input_i real x; input_j real y; output(sum) real s; if (2 * i_index == j_index) s += x * y;"
COUNTED = "input_i real x; input_j real y; output(sum) index n[4]; output(total) index all[4]; n[int(4 * y)] += 1; all[int(4 * x)] += 1;"


def numbers(*shape, seed=0):
    return jnp.asarray(np.random.default_rng(seed).random(shape))


def same(one, other):
    return jax.tree.all(jax.tree.map(lambda a, b: bool(jnp.allclose(a, b, rtol=1e-11, atol=1e-11)), one, other))


def each(function, *stacked):
    made = [function(*[one[k] for one in stacked]) for k in range(len(stacked[0]))]
    return jax.tree.map(lambda *parts: jnp.stack(parts), *made)


@pytest.mark.parametrize("systems", [2, 3, 4])
def test_vmap_of_every_kind_of_argument(systems):
    p = nbcc.compile(source=PARAMS)
    x, y, number = numbers(systems, 6), numbers(systems, 5, seed=1), numbers(systems, seed=2)
    for function in (
        lambda a, b, k: p(a, b, s=k, outputs="z"),
        lambda a, b, k: p(a, b, c=k + 2j * k, outputs="z"),
        lambda a, b, k: p(a, b, box=[k, 2 * k, 5 * k], outputs="z"),
        lambda a, b, k: p(a, b, tab=k * jnp.arange(5.0), outputs="z"),
        lambda a, b, k: tuple(p(a, b, s=k)),
        jax.grad(lambda a, b, k: p(a, b, s=k).least.sum() + p(a, b, s=k).z.real.sum(), argnums=(0, 1, 2)),
    ):
        assert same(jax.vmap(function)(x, y, number), each(function, x, y, number))
        assert same(jax.jit(jax.vmap(function))(x, y, number), each(function, x, y, number))
    # A minimum alone: what its derivative needs holds indices, which the pipeline itself does not.
    alone = nbcc.compile(source=LEAST)
    least = jax.grad(lambda a, b: alone(a, b).sum(), argnums=(0, 1))
    assert same(jax.vmap(least)(x, y), each(least, x, y))
    held = np.asarray(numbers(5, seed=3))
    assert same(jax.vmap(lambda a: p(a, held).least)(x), each(lambda a: p(a, jnp.asarray(held)).least, x))
    twice = nbcc.compile(source=TWICE)
    assert same(jax.vmap(lambda a: twice(a, a))(x), each(lambda a: twice(a, a), x))
    counted = nbcc.compile(source=COUNTED)
    assert same(jax.vmap(lambda a: tuple(counted(a, a)))(x), each(lambda a: tuple(counted(a, a)), x))


def test_nested_maps():
    gravity = nbcc.compile("gravity")
    x, eps2 = numbers(2, 3, 5, 3), numbers(2, seed=1) + 0.1

    def energy(x, eps2):
        return gravity(x, x, jnp.ones(5), eps2=eps2).pot.sum()

    nested = jax.vmap(jax.vmap(jax.grad(energy), (0, None)), (0, 0))(x, eps2)
    assert same(nested, each(lambda a, e: each(lambda b: jax.grad(energy)(b, e), a), x, eps2))


def test_mapped_derivatives_by_params_are_one_call(monkeypatch):
    import nbcc._frameworks._jax_call as of_jax

    calls = []
    run = of_jax._sum
    monkeypatch.setattr(of_jax, "_sum", lambda *given, **more: calls.append(1) or run(*given, **more))
    gravity = nbcc.compile("gravity")
    x, eps2 = numbers(20, 5, 3), numbers(20, seed=1) + 0.1
    slope = jax.grad(lambda x, eps2: gravity(x, x, jnp.ones(5), eps2=eps2).pot.sum(), 1)
    expected = each(slope, x, eps2)
    for mapped in (jax.vmap(slope), jax.jit(jax.vmap(slope)), jax.vmap(jax.jit(slope))):
        calls.clear()
        assert same(jax.block_until_ready(mapped(x, eps2)), expected)
        assert len(calls) <= 2


def test_numbers_that_are_not_traced():
    gravity = nbcc.compile("gravity")
    x, m = numbers(5, 3), jnp.ones(5)
    for eps2 in (0.25, np.float32(0.25), np.float64(0.25), np.array(0.25)):
        assert same(jax.jit(lambda x, e=eps2: gravity(x, x, m, eps2=e).pot)(x), gravity(x, x, m, eps2=0.25).pot)
    assert same(jax.jit(lambda x, e: gravity(x, x, m, eps2=e).pot)(x, 0.25), gravity(x, x, m, eps2=0.25).pot)


def test_what_is_held_lives_as_long_as_its_program():
    import nbcc._frameworks._jax

    kept = nbcc._frameworks._jax._kept
    gravity = nbcc.compile("gravity")
    x, first, random = numbers(5, 3), np.arange(6), np.random.default_rng(0)

    def slope_of(j):
        return jax.grad(lambda x: gravity(x, x, jnp.ones(5), eps2=0.1, listed_pairs=(first, j)).pot.sum())

    def held():
        gc.collect()
        return len(kept)

    jax.clear_caches()
    before = held()
    for _ in range(200):
        slope_of(random.integers(0, 5, 5))(x)
    assert held() == before
    pairs = random.integers(0, 5, 5)
    program, compiled = jax.jit(slope_of(pairs)), jax.jit(slope_of(pairs + 0)).lower(x).compile()
    for _ in range(3):
        assert same(program(x), slope_of(pairs)(x)) and same(compiled(x), slope_of(pairs)(x))
        assert before < held() <= before + 3  # the pairs, and those of the derivative in each program
    del program, compiled
    jax.clear_caches()
    assert held() == before


def test_errors_have_their_text():
    gravity = nbcc.compile("gravity")
    with pytest.raises(Exception, match="expected 3 j-particles, as 'xj' has, got 5"):
        jax.block_until_ready(jax.jit(lambda x: gravity(x, x[:3], jnp.ones(5), eps2=0.1).pot)(numbers(5, 3)))


def test_derivatives_that_there_are_not():
    counted = nbcc.compile(source="input_i real x; input_j real y; output(total, product) real g; g *= x + y;")
    x = numbers(5)
    assert same(jax.jit(lambda x: counted(x, x))(x), counted(x, x))
    with pytest.raises(nbcc.UsageError, match=r"'g' is an output\(total, product\), which nbcc does not differentiate"):
        jax.grad(lambda x: counted(x, x))(x)


def test_hessian_of_many_points():
    count, column = 1000 if ALL else 60, 7
    pipe = nbcc.compile(precision="double", source="""input_i vec3 xi; input_j vec3 xj; output(total) real energy;
        vec3 d = xj - xi; real s = 1.0 / (dot(d, d) + 0.5); skip_if(i_index == j_index); energy += s * s * s * (s - 1.0);""")
    x = jnp.asarray(np.random.default_rng(1).random((count, 3)) * 5)
    energy = lambda x: pipe(x, x)
    found = jax.jit(jax.hessian(energy))(x).reshape(3 * count, 3 * count)
    assert jnp.allclose(found, found.T, rtol=0, atol=1e-12 * abs(found).max())
    moved = lambda step: jax.grad(energy)(x.at[divmod(column, 3)].add(step)).reshape(-1)
    by_differences = (8 * (moved(1e-4) - moved(-1e-4)) - (moved(2e-4) - moved(-2e-4))) / 12e-4
    assert jnp.allclose(found[column], by_differences, rtol=0, atol=1e-10 * abs(found).max())


SHARDED = """
import jax, jax.numpy as jnp, nbcc
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
gravity, m = nbcc.compile("gravity", precision="single"), jnp.ones(8)
x = jax.random.uniform(jax.random.key(1), (8, 3))
mesh = Mesh(jax.devices("cpu"), ("d",))
assert len(mesh.devices) == 2
whole = gravity(x, x, m, eps2=0.1).pot
sharded = jax.device_put(x, NamedSharding(mesh, P("d")))
assert jnp.allclose(jax.jit(lambda x: gravity(x, x, m, eps2=0.1).pot)(sharded), whole)

def local(x):
    return gravity(x, x, m[:4], eps2=0.1).pot

def gathered(x):
    return gravity(x, jax.lax.all_gather(x, "d", tiled=True), m, eps2=0.1).pot

for function, wanted in ((local, jnp.concatenate([local(x[:4]), local(x[4:])])), (gathered, whole)):
    mapped = jax.shard_map(function, mesh=mesh, in_specs=P("d"), out_specs=P("d"))
    assert jnp.allclose(jax.jit(mapped)(x), wanted)
    assert jnp.allclose(mapped(x), wanted)
"""


@pytest.mark.skipif(not hasattr(jax, "shard_map"), reason="an old JAX")
def test_shards():
    two = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", SHARDED], capture_output=True, text=True, env=two)
    assert done.returncode == 0, done.stderr


def test_errors_of_shapes_come_when_the_call_is_traced():
    """Not from the compiled program, which never runs here: eval_shape traces alone."""
    p = nbcc.compile(source="input_i vec3 x; input_j vec3 y; input_j real b; param vec3 box = vec3(1, 2, 3);\n"
                            "output(sum) real s; s += b * dot(x - y, box);")  # fmt: skip
    x, y, b = numbers(4, 3), numbers(5, 3), numbers(5)
    for arguments, options, says in (
        ((x, y, b[:4]), {}, r"'b' \(input_j real\): expected 5 j-particles, as 'y' has, got 4"),
        ((x, y[:, :2], b), {}, r"'y' \(input_j vec3\): expected shape \(N, 3\), got \(5, 2\)"),
        ((x, y, b, x[0, :2]), {}, "'box'"),
        ((x, y, b), {"precision": "half"}, "precision: expected 'single'"),
        ((x, y, b), {"pairs": "some"}, "pairs: expected 'auto'"),
    ):
        with pytest.raises(ValueError, match=says):
            jax.eval_shape(lambda *arrays: p(*arrays, **options), *arguments)
    assert jax.eval_shape(p, x, y, b, x[0]).shape == (4,)
    # Under vmap the shapes are those of one call.
    with pytest.raises(ValueError, match="expected 5 j-particles"):
        jax.eval_shape(jax.vmap(lambda a: p(x, y, a)), numbers(2, 4))
    assert jax.eval_shape(jax.vmap(lambda a: p(x, y, a)), numbers(2, 5)).shape == (2, 4)
