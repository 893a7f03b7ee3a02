"""What a call from Python costs the host, and which part of the command's rate a program in Python reaches.

    python3 bench/python_calls.py [--nbcc build/bin/nbcc] [--device cuda] [N ...]

For each library (NumPy, PyTorch, CuPy) that is there: microseconds of host time of one call for N bodies of gravity in single
precision; interactions per second over 100 calls in a row with one synchronisation at the end; and the ratio of that rate
to the one of `nbcc bench`. The last column is a forward and backward call of PyTorch, in microseconds of wall-clock time.
"""

import argparse
import importlib
import json
import subprocess
import time

import numpy

import nbcc

CALLS = 100


def imported(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class Library:
    """Arrays of one library on the device, and how the device is waited for."""

    def __init__(self, name, device):
        self.name, self.module = name, imported(name)
        self.is_there = self.module is not None and (name != "cupy" or device != "cpu") and (name != "numpy" or device == "cpu")
        self._device = device
        if self.is_there and name == "torch" and device != "cpu":
            self.is_there = self.module.cuda.is_available()

    def array(self, values):
        if self.name == "torch":
            return self.module.tensor(values, device=self._device)
        return self.module.asarray(values)

    def wait(self):
        if self._device == "cpu":
            return
        if self.name == "torch":
            self.module.cuda.synchronize()
        else:
            self.module.cuda.runtime.deviceSynchronize()


def in_a_row(call, wait):
    """Seconds of the host until all calls have returned, and until their work is done, for each call."""
    found = []
    for _ in range(7):
        wait()
        begin = time.perf_counter()
        for _ in range(CALLS):
            call()
        returned = time.perf_counter()
        wait()
        found.append(((returned - begin) / CALLS, (time.perf_counter() - begin) / CALLS))
    return min(host for host, _ in found), min(total for _, total in found)


def rate_of_command(nbcc_command, device, n):
    """Interactions per second."""
    done = subprocess.run(
        [nbcc_command, "bench", "gravity", "-n", str(n), "--device", device, "--json"], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)[0]["interactions_per_s"]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("n", nargs="*", type=int, default=[10, 1024, 16384])
    arguments.add_argument("--nbcc", default="build/bin/nbcc", help="the command")
    arguments.add_argument("--device", default="cpu")
    given = arguments.parse_args()
    gravity = nbcc.compile("gravity", precision="single")
    print(f"gravity on {given.device}, single precision, {CALLS} calls in a row")
    print(f"{'library':>8} {'N':>7} {'host us':>9} {'us':>9} {'G/s':>8} {'command G/s':>12} {'ratio':>6} {'backward us':>12}")
    libraries = [Library(name, given.device) for name in ("numpy", "torch", "cupy")]
    for n in given.n:
        of_command = rate_of_command(given.nbcc, given.device, n)
        random = numpy.random.default_rng(1)
        x, m = random.random((n, 3), dtype="float32"), random.random(n, dtype="float32")
        for library in (one for one in libraries if one.is_there):
            xs, ms = library.array(x), library.array(m)
            host, total = in_a_row(lambda: gravity(xs, xs, ms, eps2=0.01), library.wait)
            backward = ""
            if library.name == "torch":
                moving = xs.clone().requires_grad_()

                def step():
                    moving.grad = None
                    gravity(moving, moving, ms, eps2=0.01).pot.sum().backward()

                backward = f"{1e6 * in_a_row(step, library.wait)[1]:.0f}"
            rate = n * n / total
            print(
                f"{library.name:>8} {n:>7} {1e6 * host:>9.1f} {1e6 * total:>9.1f} {rate / 1e9:>8.3g} {of_command / 1e9:>12.3g} "
                f"{rate / of_command:>6.3f} {backward:>12}",
                flush=True,
            )


if __name__ == "__main__":
    main()
