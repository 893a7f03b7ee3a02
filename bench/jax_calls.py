"""Times calls inside of jax.jit: what a call costs besides its sum, and that arrays of a GPU are not copied through the
host. Each i has 16 j only, so that the arrays are the work.

    python3 bench/jax_calls.py [N ...]
"""

import argparse
import time

import jax
import numpy

import nbcc


def seconds(call, repeat=20):
    call()
    found = []
    for _ in range(repeat):
        begin = time.perf_counter()
        jax.block_until_ready(call())
        found.append(time.perf_counter() - begin)
    return min(found)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("n", nargs="*", type=int, default=[1000, 10**6, 10**7])
    given = arguments.parse_args()
    gravity = nbcc.compile("gravity", precision="single")
    print(f"{jax.devices()[0]}, jax {jax.__version__}")
    print(f"{'i':>9} {'jax.jit':>12} {'outside':>12} {'pure_callback':>14} {'MB of arrays':>13}   microseconds")
    for n in given.n:
        random = numpy.random.default_rng(1)
        x, y = (jax.numpy.asarray(random.random((count, 3)), dtype="float32") for count in (n, 16))
        m = jax.numpy.ones(16, dtype="float32")

        def of(x):
            return gravity(x, y, m, eps2=0.1, outputs="acc")

        def on_host(x):
            return numpy.asarray(gravity(numpy.asarray(x), numpy.asarray(y), numpy.asarray(m), eps2=0.1, outputs="acc"))

        traced = jax.jit(of)
        by_callback = jax.jit(lambda x: jax.pure_callback(on_host, jax.ShapeDtypeStruct((n, 3), "float32"), x))
        times = [1e6 * seconds(lambda f=f: f(x)) for f in (traced, of, by_callback)]
        print(f"{n:>9} {times[0]:>12.0f} {times[1]:>12.0f} {times[2]:>14.0f} {24e-6 * n:>13.1f}")


if __name__ == "__main__":
    main()
