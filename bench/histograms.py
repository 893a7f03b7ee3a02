"""Times histograms of distances (g(r)) beside the Lennard-Jones force over the same pairs, and beside freud if it is
installed. Prints nanoseconds for each atom, and ratios.

    python3 bench/histograms.py [N ...] [--device cuda:0] [--threads 1] [--precision double]
"""

import argparse
import pathlib
import time

import numpy

import nbcc

PIPELINES = pathlib.Path(__file__).resolve().parent.parent / "pipelines"
DENSITY, CUTOFF = 0.85, 3.0


def liquid(n):
    """About n atoms on a simple cubic lattice, moved at random by a tenth of its spacing; and the length of the box."""
    side = max(round(n ** (1 / 3)), 8)
    spacing = DENSITY ** (-1 / 3)
    grid = numpy.stack(numpy.meshgrid(*[numpy.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3)
    noise = numpy.random.default_rng(1).normal(scale=0.1, size=grid.shape)
    return (grid + noise) * spacing, side * spacing


def seconds(call, repeat=5):
    call()
    found = []
    for _ in range(repeat):
        begin = time.perf_counter()
        call()
        found.append(time.perf_counter() - begin)
    return min(found)


def on_device(x, device):
    if device == "cpu":
        return x, lambda: None
    import torch

    return torch.as_tensor(x, device=device.replace("cuda:all", "cuda:0")), torch.cuda.synchronize


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("n", nargs="*", type=int, default=[20000, 1000000])
    arguments.add_argument("--device", default="cpu")
    arguments.add_argument("--threads", type=int, default=0)
    arguments.add_argument("--precision", default="single")
    given = arguments.parse_args()
    options = {"device": given.device, "precision": given.precision}
    if given.device == "cpu":
        options["threads"] = given.threads
    text = (PIPELINES / "radial_distribution.pipe").read_text()
    force = nbcc.compile(PIPELINES / "lennard_jones.pipe", **options)
    print(f"{'atoms':>9} {'what':<24} {'ns/atom':>9} {'ratio to the force':>19}")
    for n in given.n:
        x, length = liquid(n)
        x = x.astype(numpy.float32 if given.precision == "single" else numpy.float64)
        arrays, wait = on_device(x, given.device)
        common = {"box": (length,) * 3, "rc": CUTOFF, "pairs": "cutoff"}

        def run(pipeline, **params):
            pipeline(arrays, arrays, **params, **common)
            wait()

        of_force = seconds(lambda: run(force))
        print(f"{len(x):9} {'force':<24} {1e9 * of_force / len(x):9.1f}")
        for bins in (60, 500, 4096):
            for term in ("1", "xi.x * xj.x"):
                kind = "index" if term == "1" else "real"
                source = text.replace("[500]", f"[{bins}]").replace("index pairs", f"{kind} pairs").replace("+= 1;", f"+= {term};")
                pipeline = nbcc.compile(source=source, name="radial_distribution", **options)
                took = seconds(lambda: run(pipeline, dr=CUTOFF / bins))
                what = f"{bins} bins" + ("" if term == "1" else ", real weights")
                print(f"{len(x):9} {what:<24} {1e9 * took / len(x):9.1f} {took / of_force:19.2f}")
        try:
            import freud
        except ImportError:
            continue
        freud.parallel.set_num_threads(given.threads or None)
        box = freud.box.Box.cube(length)
        rdf = freud.density.RDF(bins=500, r_max=CUTOFF)
        wrapped = box.wrap(x.astype(numpy.float32))
        took = seconds(lambda: rdf.compute((box, wrapped), reset=True), 3)
        print(f"{len(x):9} {'freud, 500 bins':<24} {1e9 * took / len(x):9.1f} {took / of_force:19.2f}")


if __name__ == "__main__":
    main()
