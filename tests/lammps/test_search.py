"""pair_style nbcc ... pairs search: nbcc finds the pairs, and LAMMPS makes no list of them."""

import re

import lammps
import numpy as np
import pytest

from engine import LOAD, PIPELINES, assert_equal, melt, on_device, on_ranks, state_of
from test_modifiers import embedded

LENNARD_JONES = f"{PIPELINES}/lennard_jones.pipe"

# Reaches are of atoms; the guard does not tell an atom from itself.
SPHERES = """
input_i vec3 xi;
input_i real ri;
input_j vec3 xj;
input_j real rj;
output(sum) vec3 force;
output(sum) real energy;
vec3 dx = xj - xi;
real r = length(dx);
skip_if(r >= ri + rj);
real overlap = ri + rj - r;
force -= overlap / r * dx;
energy += 0.25 * overlap * overlap;
"""


def pair_style(words, file, more="", cutoff=2.5):
    return f"{LOAD}\npair_style nbcc {cutoff} {words}\npair_coeff * * {file} {more}\n"


@pytest.mark.parametrize("newton", ["on", "off"])
@pytest.mark.parametrize("cells", [2, 4, 9])  # 2: an atom's own images are within reach
def test_the_pairs_of_lists(cells, newton):
    state = {}
    for pairs in ("search", "lists"):
        state[pairs] = state_of(
            melt(cells, newton=newton), pair_style(f"pairs {pairs}", LENNARD_JONES, "rc=2.5"), run="fix 1 all nve\nrun 45"
        )
    assert_equal(state["search"], state["lists"], 1e-9)


def test_own_pairs_that_the_guard_does_not_exclude(pipe):
    file = pipe(SPHERES)
    diameters = "set group all diameter 1.3\nset type 1 mass 1\nset atom 1*40 diameter 1.8"
    atoms = melt(4, style="sphere").replace("mass * 1.0", diameters)
    states = [
        state_of(atoms, pair_style(f"pairs {pairs} check no", file, cutoff=2), run="fix 1 all nve\nrun 25")
        for pairs in ("search", "lists")
    ]
    assert_equal(*states, 1e-9)


def test_results_of_all_pairs_of_an_atom(tmp_path):
    assert_equal(state_of(melt(4), embedded(tmp_path, "pairs search")), state_of(melt(4), embedded(tmp_path)), 1e-11)


def test_ranks(tmp_path):
    text = melt(6) + pair_style("pairs {}", LENNARD_JONES, "rc=2.5") + "fix 1 all nve\nthermo 10\nrun 60\n"
    lists = on_ranks(1, tmp_path, text.format("lists"))
    for ranks in (1, 2, 3):
        np.testing.assert_allclose(on_ranks(ranks, tmp_path, text.format("search")), lists, rtol=1e-7)


def test_atoms_that_leave():
    style = pair_style("pairs {}", LENNARD_JONES, "rc=2.5")
    run = "fix 1 all nve\nrun 10\nregion half block INF 2.5 INF INF INF INF\ndelete_atoms region half\nrun 10\n"
    states = [state_of(melt(5), style.format(pairs), run=run) for pairs in ("search", "lists")]
    assert_equal(*states, 1e-9)


def test_a_rank_without_atoms(tmp_path):
    text = melt(6) + "region left block INF 5 INF INF INF INF\ndelete_atoms region left\n"
    text += pair_style("pairs search", LENNARD_JONES, "rc=2.5") + "run 0\n"
    np.testing.assert_allclose(
        on_ranks(2, tmp_path, "processors 2 1 1\n" + text), on_ranks(1, tmp_path, text.replace("search", "lists")), rtol=1e-9
    )


@pytest.mark.parametrize("pairs, lists", [("search", "0 1 0"), ("lists", "1 0 0")])
def test_lammps_makes_no_list(tmp_path, pairs, lists):
    lmp = lammps.lammps(cmdargs=["-screen", "none", "-log", str(tmp_path / "log")])
    try:
        lmp.commands_string(on_device(melt(4) + pair_style(f"pairs {pairs}", LENNARD_JONES, "rc=2.5")) + "run 0")
    finally:
        lmp.close()
    assert f"perpetual/occasional/extra = {lists}" in (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    "commands, why",
    [
        ("special_bonds lj 0 0.5 0.5", "special_bonds gives pairs of bonded atoms factors other than 1"),
        ("special_bonds lj/coul 1 1 1\nneigh_modify exclude type 1 1", "neigh_modify exclude leaves out pairs"),
        (
            "special_bonds lj/coul 1 1 1\ngroup some id 1:50\natom_modify first some\nneigh_modify include some",
            "neigh_modify include leaves out pairs",
        ),
    ],
)
def test_lists_that_no_search_replaces(commands, why):
    text = melt(4, style="bond") + commands + "\n" + pair_style("pairs {}", LENNARD_JONES, "rc=2.5")
    with pytest.raises(Exception, match=re.escape(f"pairs search is not possible: {why}; say pairs lists")):
        state_of(text.format("search"))


def test_bonded_atoms_whose_factors_are_one():
    bonded = melt(4, style="bond") + "special_bonds lj/coul 1 1 1\n"
    states = [state_of(bonded, pair_style(f"pairs {p}", LENNARD_JONES, "rc=2.5")) for p in ("search", "lists")]
    assert_equal(*states, 1e-11)


def test_parts_of_hybrid():
    text = melt(4) + f"{LOAD}\npair_style hybrid/overlay nbcc 2.5 pairs search lj/cut 2.5\n"
    text += f"pair_coeff * * nbcc {LENNARD_JONES} rc=2.5\npair_coeff * * lj/cut 1 1\n"
    with pytest.raises(Exception, match="pair_style hybrid gives each style a part of the pairs; say pairs lists"):
        state_of(text)


def test_words_that_pairs_does_not_take():
    with pytest.raises(Exception, match="pairs auto|search|lists, got pairs all"):
        state_of(melt(4), pair_style("pairs all", LENNARD_JONES, "rc=2.5"))


def test_exclusions_of_a_fix():
    """fix gcmc excludes a group of its own when a run begins, after the pair style."""
    text = melt(4) + pair_style("pairs search", LENNARD_JONES, "rc=2.5")
    text += "fix 1 all gcmc 10 5 5 1 3 1.0 -5 0.1 full_energy\n"
    with pytest.raises(Exception, match="the pairs cannot be searched for: neigh_modify exclude .*; say pairs lists"):
        state_of(text, run="run 20")


def test_new_atoms_at_the_step_of_the_last_check(pipe):
    """They are in the list of the second check. Their force is not the derivative of their energy."""
    file = pipe(
        "input_i vec3 xi; input_j vec3 xj; input_i int ti; input_j int tj; output(sum) vec3 force; output(sum) real energy;\n"
        "vec3 d = xj - xi; real r2 = dot(d, d); skip_if(r2 >= 6.25); real w = ti + tj == 0 ? 1.0 : 2.0;\n"
        "force -= w * (6.25 - r2) * d; energy += 0.125 * (6.25 - r2) * (6.25 - r2);"
    )
    start = melt(4, 2).replace("set type 1 type/ratio 2 0.4 7", "")
    state_of(start, pair_style("pairs search", file), run="run 0")
    with pytest.raises(Exception, match="force"):
        state_of(start, pair_style("pairs search", file), run="reset_timestep 9\nrun 0\nreset_timestep 0\ncreate_atoms 2 single 2.3 2.4 2.5\nrun 0")


@pytest.mark.parametrize("tilt", ["", "change_box all triclinic\nchange_box all xy final 1.1 xz final -0.7 remap\n"])
def test_sloping_boxes_and_nearest_images(pipe, tilt):
    file = pipe(
        "input_i vec3 xi; input_j vec3 xj; param vec3 box = vec3(9, 9, 9); output(sum) vec3 force; output(sum) real energy;\n"
        "vec3 d = nearest_image(xj - xi, box); real r2 = dot(d, d); skip_if(i_index == j_index || r2 >= 6.25);\n"
        "force -= (6.25 - r2) * d; energy += 0.125 * (6.25 - r2) * (6.25 - r2);"
    )
    run = "fix 1 all nve\nrun 30"
    states = [state_of(melt(5) + tilt, pair_style(f"pairs {p}", file), run=run) for p in ("search", "lists")]
    assert_equal(*states, 1e-9)
