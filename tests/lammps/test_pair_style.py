"""pair_style nbcc beside the pair styles of LAMMPS that compute the same formulas."""

import numpy as np
import pytest

from engine import LOAD, PIPELINES, assert_equal, melt, on_ranks, state_of

LENNARD_JONES = f"{PIPELINES}/lennard_jones.pipe"

MIXTURE = """
input_i vec3 xi;
input_j vec3 xj;
input_i int ti;
input_j int tj;
param real epsilon[2][2];
param real sigma[2][2];
param real rc = 2.5;
output(sum) vec3 force;
output(sum) real energy;
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc);
real s2 = sigma[ti][tj] * sigma[ti][tj] / r2;
real s6 = s2 * s2 * s2;
force -= 24 * epsilon[ti][tj] * s6 * (2 * s6 - 1) / r2 * dx;
energy += 2 * epsilon[ti][tj] * s6 * (s6 - 1);
"""

# The force is the derivative of the energy; the fields have names of their own.
MORSE = """
input_i vec3 here;
input_j vec3 there;
param real d0;
param real alpha;
param real r0;
param real rc;
output(sum) vec3 pull;
output(sum) real pot;
vec3 dx = there - here;
real r = length(dx);
skip_if(r >= rc);
real e = exp(-alpha * (r - r0));
real u = d0 * (e * e - 2 * e);
pull += grad(u, dx);
pot += 0.5 * u;
"""

BUCKINGHAM_COULOMB = """
input_i vec3 xi;
input_i real qi;
input_j vec3 xj;
input_j real qj;
param real a;
param real rho;
param real c;
param real ke;
param real rc;
output(sum) vec3 force;
output(sum) real energy;
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc);
real r = sqrt(r2);
real r6 = c / (r2 * r2 * r2);
real repulsion = a * exp(-r / rho);
real coulomb = ke * qi * qj / r;
force -= (repulsion / (rho * r) - 6 * r6 / r2 + coulomb / r2) * dx;
energy += 0.5 * (repulsion - r6 + coulomb);
"""

WOLF = """
input_i vec3 xi;
input_i real qi;
input_j vec3 xj;
input_j real qj;
param real a;
param real rho;
param real sigma;
param real c;
param real d;
param real alpha;
param real ke;
param real rc;
output(sum) vec3 force;
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc);
real r = sqrt(r2);
real born = a * exp((sigma - r) / rho) - c / (r2 * r2 * r2) + d / (r2 * r2 * r2 * r2);
real edge = erfc(alpha * rc) / rc;
real slope = -edge / rc - 2 * alpha / sqrt_pi * exp(-alpha * alpha * rc * rc) / rc;
real wolf = ke * qi * qj * (erfc(alpha * r) / r - slope * r);
force += grad(born + wolf, dx);
"""


# A spring where two spheres overlap, and a dashpot: what atoms are is known by the names of the inputs.
GRAINS = """
input_i vec3 xi;
input_i vec3 v_i;
input_i real ri;
input_i real mass_i;
input_j vec3 xj;
input_j vec3 v_j;
input_j real radius_j;
input_j real mj;
param real kn;
param real gamma;
output(sum) vec3 force;
vec3 dx = xj - xi;
real r = length(dx);
skip_if(r >= ri + radius_j);
real damping = gamma * mass_i * mj / (mass_i + mj) * dot(v_j - v_i, dx) / (r * r);
force -= (kn * (ri + radius_j - r) / r - damping) * dx;
"""


@pytest.fixture
def pipe(tmp_path):
    def write(text, name="formula.pipe"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


SALT = """
units metal
atom_style charge
lattice diamond 5.6
region box block 0 3 0 3 0 3
create_box 2 box
create_atoms 2 box basis 1 1 basis 2 1 basis 3 1 basis 4 1
mass * 30
displace_atoms all random 0.2 0.2 0.2 11
set type 1 charge 1.3
set type 2 charge -1.3
"""


@pytest.mark.parametrize("newton", ["on", "off"])
def test_lennard_jones_of_two_types(pipe, newton):
    start = melt(4, 2, newton)
    theirs = state_of(start, "pair_style lj/cut 2.5\npair_coeff 1 1 1.0 1.0\npair_coeff 1 2 1.2 0.9\npair_coeff 2 2 0.7 0.8")
    ours = state_of(
        start,
        f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {pipe(MIXTURE)}\npair_coeff 1 1 epsilon=1.0 sigma=1.0\n"
        "pair_coeff 1 2 epsilon=1.2 sigma=0.9\npair_coeff 2 2 epsilon=0.7 sigma=0.8",
    )
    assert_equal(ours, theirs)


def test_a_pipeline_of_the_library_whose_box_stays_open():
    theirs = state_of(melt(), "pair_style lj/cut 2.5\npair_coeff * * 1.0 1.0")
    ours = state_of(melt(), f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {LENNARD_JONES} rc=2.5")
    assert_equal(ours, theirs)


def test_morse_whose_force_is_a_derivative(pipe):
    theirs = state_of(melt(), "pair_style morse 2.4\npair_coeff * * 2.0 3.1 1.1")
    fields = "here=x there=x pull=force pot=energy"
    ours = state_of(
        melt(), f"{LOAD}\npair_style nbcc 2.4\npair_coeff * * {pipe(MORSE)} d0=2 alpha=3.1 r0=1.1 rc=2.4 {fields}"
    )
    assert_equal(ours, theirs)


def test_buckingham_and_charges(pipe):
    theirs = state_of(SALT, "pair_style buck/coul/cut 7\npair_coeff * * 1300 0.31 25")
    ours = state_of(
        SALT,
        f"{LOAD}\nvariable ke equal 14.399645\npair_style nbcc 7\n"
        f"pair_coeff * * {pipe(BUCKINGHAM_COULOMB)} a=1300 rho=0.31 c=25 ke=v_ke rc=7",
    )
    assert_equal(ours, theirs)


def test_born_and_charges_after_wolf(pipe):
    theirs = state_of(SALT, "pair_style born/coul/wolf 0.25 7\npair_coeff * * 0.25 0.32 2.3 20 5")
    ours = state_of(
        SALT,
        f"{LOAD}\npair_style nbcc 7\npair_coeff * * {pipe(WOLF)} a=0.25 rho=0.32 sigma=2.3 c=20 d=5 alpha=0.25 rc=7 "
        "ke=14.399645",
    )
    assert_equal(ours._replace(energy=theirs.energy), theirs)


@pytest.mark.parametrize("newton", ["on", "off"])
def test_velocities_radii_and_masses_by_their_names(pipe, newton):
    spheres = "set type 1 diameter 1.2\nset type 2 diameter 0.9\nset type 1 mass 1.5\nset type 2 mass 0.7\ncomm_modify vel yes\n"
    start = melt(4, 2, newton, "sphere").replace("mass * 1.0", "") + spheres
    theirs = state_of(start, "pair_style gran/hooke 200 NULL 5 NULL 0 0\npair_coeff * *")
    ours = state_of(start, f"{LOAD}\npair_style nbcc 1.2\npair_coeff * * {pipe(GRAINS)} kn=200 gamma=5")
    assert_equal(ours, theirs)


@pytest.mark.parametrize("name", ["mi", "massi", "mass_i"])
def test_masses_of_types(pipe, name):
    """Where atoms have no masses of their own: each pulls as strongly as its own type weighs."""
    text = "input_i vec3 xi;\ninput_j vec3 xj;\ninput_i real @;\noutput(sum) vec3 force;\nvec3 d = xj - xi;\n"
    text += "skip_if(dot(d, d) >= 4.0);\nforce += @ * d;\n"
    start = melt(4, 2) + "mass 2 3.0\n"
    formula = pipe(text.replace("@", name))
    ours = state_of(start, f"{LOAD}\npair_style nbcc 2\npair_coeff * * {formula}")
    alike = state_of(melt(4, 2), f"{LOAD}\npair_style nbcc 2\npair_coeff * * {formula}")
    weights = np.linalg.norm(ours.forces, axis=1) / np.linalg.norm(alike.forces, axis=1)
    np.testing.assert_allclose(np.sort(np.unique(weights.round(9))), [1, 3])


@pytest.mark.parametrize("precision, tolerance", [("mixed", 2e-5), ("single", 2e-4)])
def test_lower_precisions(precision, tolerance):
    theirs = state_of(melt(), "pair_style lj/cut 2.5\npair_coeff * * 1.0 1.0")
    style = f"{LOAD}\npair_style nbcc 2.5 precision {precision} threads 2"
    ours = state_of(melt(), f"{style}\npair_coeff * * {LENNARD_JONES} rc=2.5")
    assert np.abs(ours.forces - theirs.forces).max() > 1e-9  # it is not double
    assert_equal(ours, theirs, tolerance)


def test_a_rank_without_atoms_and_an_open_box(tmp_path):
    text = (
        "units lj\natom_style atomic\nboundary f f f\nregion box block 0 20 0 20 0 20\ncreate_box 1 box\nmass 1 1\n"
        "create_atoms 1 single 1 1 1\ncreate_atoms 1 single 2.1 1 1\n{style}\nthermo_modify norm no\n"
        "thermo_style custom step pe pxx pyy\nthermo_modify format float %.15g\nfix 1 all nve\nrun 1\n"
    )
    theirs = on_ranks(2, tmp_path, text.format(style="pair_style lj/cut 2.5\npair_coeff * * 1 1"))
    ours = on_ranks(
        2, tmp_path, text.format(style=f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {LENNARD_JONES} rc=2.5")
    )
    assert len(ours) == 2
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_types_of_which_hybrid_leaves_some_to_others(pipe):
    start = melt(4, 2)
    others = "pair_coeff 1 2 {} 1.2 0.9\npair_coeff 2 2 {} 0.7 0.8"
    theirs = state_of(start, "pair_style lj/cut 2.5\npair_coeff 1 1 1.0 1.0\n" + others.format("", ""))
    ours = state_of(
        start,
        f"{LOAD}\npair_style hybrid nbcc 2.5 lj/cut 2.5\npair_coeff 1 1 nbcc {LENNARD_JONES} rc=2.5\n"
        + others.format("lj/cut", "lj/cut"),
    )
    assert_equal(ours, theirs)
