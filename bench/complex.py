"""Times helmholtz.pipe beside the same sums written with real numbers. Prints the time per pair and the ratio.

    python3 bench/complex.py [N ...] [--device cuda:0] [--threads 1]
"""

import argparse
import pathlib

import numpy
from histograms import on_device, seconds

import nbcc

PIPELINES = pathlib.Path(__file__).resolve().parent.parent / "pipelines"
WITH_REALS = """
input_i vec3 xi; input_j vec3 xj; input_j real qj; input_j real pj;
param real k = 1; param real absorption = 0;
output(sum) real re; output(sum) real im;
output(sum) vec3 slope_re; output(sum) vec3 slope_im;
vec3 d = xi - xj;
real r2 = dot(d, d);
skip_if(r2 == 0.0);
real r = sqrt(r2);
real size = exp(-absorption * r) / r;
real c = size * cos(k * r), s = size * sin(k * r);
real wave_re = qj * c - pj * s, wave_im = qj * s + pj * c;
real a = (-absorption * r - 1.0) / r2, b = k * r / r2;
re += wave_re;
im += wave_im;
slope_re += (a * wave_re - b * wave_im) * d;
slope_im += (a * wave_im + b * wave_re) * d;
"""


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("n", nargs="*", type=int, default=[8192, 65536])
    arguments.add_argument("--device", default="cpu")
    arguments.add_argument("--threads", type=int, default=0)
    given = arguments.parse_args()
    print(f"{'N':>8} {'precision':<10} {'complex, ns/pair':>17} {'reals':>9} {'ratio':>6} {'difference':>11}")
    for n in given.n:
        random = numpy.random.default_rng(1)
        for precision in ("single", "double"):
            options = {"device": given.device, "precision": precision}
            if given.device == "cpu":
                options["threads"] = given.threads
            complex_numbers = nbcc.compile(PIPELINES / "helmholtz.pipe", **options)
            reals = nbcc.compile(source=WITH_REALS, name="with_reals", **options)
            real = numpy.float32 if precision == "single" else numpy.float64
            x, q = random.random((n, 3)).astype(real), random.normal(size=(n, 2)).astype(real)
            x, wait = on_device(x, given.device)
            q, _ = on_device(q, given.device)
            calls = (lambda: complex_numbers(x, x, q, k=9 + 0.5j), lambda: reals(x, x, q[:, 0], q[:, 1], k=9, absorption=0.5))
            times, results = [], []
            for call in calls:

                def run(call=call):
                    result = call()
                    wait()
                    return result

                results.append(run())
                times.append(seconds(run))
            phi = results[0].phi
            difference = float(abs(phi.real - results[1].re).max() / abs(phi).max())
            print(
                f"{n:8} {precision:<10} {1e9 * times[0] / n**2:17.5f} {1e9 * times[1] / n**2:9.5f} "
                f"{times[0] / times[1]:6.3f} {difference:11.1e}"
            )


if __name__ == "__main__":
    main()
