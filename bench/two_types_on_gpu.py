"""Forces and energies of a dense fluid of two types on a GPU, by tables that two types index: the natural text beside
the one whose indices are ordered, and a Mie potential whose exponents are constants, params, or elements of tables.
Needs CuPy. Prints milliseconds of one sum with the atoms in GPU memory.

    python3 bench/two_types_on_gpu.py [--atoms 256000] [--all-pairs 16384]
"""

import argparse

import cupy
import numpy

import nbcc

HEAD = """
input_i vec3 xi; input_j vec3 xj; input_i int ti; input_j int tj;
param real epsilon[2][2]; param real sigma[2][2]; param real rc = 2.5;
output(sum) vec3 force; output(sum) real energy;
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
skip_if(i_index == j_index || r2 >= rc * rc);
real e = epsilon[ti][tj], s = sigma[ti][tj];
"""
LENNARD_JONES = (
    HEAD
    + """
real s2 = s * s / r2, s6 = s2 * s2 * s2;
force -= 24.0 * e * s6 * (2.0 * s6 - 1.0) / r2 * dx;
energy += 2.0 * e * s6 * (s6 - 1.0);
"""
)
MIE = (
    HEAD
    + """
real r = sqrt(r2);
real c = {n} / ({n} - {m}) * pow({n} / {m}, {m} / ({n} - {m}));
real u = c * e * (pow(s / r, {n}) - pow(s / r, {m}) - (pow(s / rc, {n}) - pow(s / rc, {m})));
force += grad(u, dx);
energy += 0.5 * u;
"""
)
TEXTS = {
    "Lennard-Jones": (LENNARD_JONES, {}),
    "Lennard-Jones, [min][max]": (LENNARD_JONES.replace("[ti][tj]", "[min(ti, tj)][max(ti, tj)]"), {}),
    "Mie 14-7, constants": (MIE.format(n="14.0", m="7.0"), {}),
    "Mie 14-7, params": ("param real n; param real m;" + MIE.format(n="n", m="m"), {"n": 14.0, "m": 7.0}),
    "Mie, tables": (
        "param real n[2][2]; param real m[2][2];" + MIE.format(n="n[ti][tj]", m="m[ti][tj]"),
        {"n": [[14.0, 12.0], [12.0, 14.0]], "m": [[7.0, 6.0], [6.0, 7.0]]},
    ),
}


def milliseconds(call, repeat=7):
    call()
    found = []
    for _ in range(repeat):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        call()
        end.record()
        end.synchronize()
        found.append(cupy.cuda.get_elapsed_time(begin, end))
    return min(found)


def fluid(atoms, kind):
    """A cubic lattice of density 0.8442 whose atoms are moved by up to 0.1; 40% have type 1."""
    random = numpy.random.default_rng(1)
    side = round(atoms ** (1 / 3))
    step = 0.8442 ** (-1 / 3)
    grid = numpy.stack(numpy.meshgrid(*[numpy.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3) * step
    x = grid + random.uniform(-0.1, 0.1, grid.shape)
    types = (random.random(len(x)) < 0.4).astype("i4")
    order = random.permutation(len(x))
    return cupy.asarray(x[order].astype(kind)), cupy.asarray(types[order])


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--atoms", type=int, default=262144)
    arguments.add_argument("--all-pairs", type=int, default=16384)
    given = arguments.parse_args()
    tables = {"epsilon": [[1.0, 1.3], [1.3, 0.7]], "sigma": [[1.0, 0.9], [0.9, 0.8]]}
    print(f"{cupy.cuda.runtime.getDeviceProperties(0)['name'].decode()}; ms")
    print(f"{'text':<28}{'precision':<10}{'pairs':<8}{'ms':>9}  method")
    for precision, kind in (("single", "f4"), ("double", "f8")):
        for pairs, atoms in (("cutoff", given.atoms), ("all", given.all_pairs)):
            x, types = fluid(atoms, kind)
            force, energy = cupy.empty_like(x), cupy.empty(len(x), kind)
            for name, (text, params) in TEXTS.items():
                skin = 0.3 if pairs == "cutoff" else 0.0
                pipeline = nbcc.compile(source=text, precision=precision, device="cuda", pairs=pairs, skin=skin)

                def call():
                    pipeline(xi=x, xj=x, ti=types, tj=types, **tables, **params, out={"force": force, "energy": energy})

                time = milliseconds(call)
                print(f"{name:<28}{precision:<10}{pairs:<8}{time:>9.3f}  {pipeline.statistics()['method']}", flush=True)


if __name__ == "__main__":
    main()
