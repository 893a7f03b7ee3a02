"""Factors of special_bonds: of one formula, by what it is told to be, and of both, by the formula itself."""

import numpy as np
import pytest

from engine import LOAD, PIPELINES, assert_equal, melt, state_of

# Chains of four atoms, of which 1-2, 1-3 and 1-4 neighbours are at hand.
CHAINS = """
units lj
atom_style full
lattice sc 0.6
region box block 0 8 0 8 0 8
create_box 2 box bond/types 1 extra/bond/per/atom 2 extra/special/per/atom 6
create_atoms 1 box
mass * 1
set type 1 type/ratio 2 0.5 3
set type 1 charge 0.4
set type 2 charge -0.4
displace_atoms all random 0.1 0.1 0.1 5
bond_style zero nocoeff
bond_coeff *
comm_modify cutoff 6
pair_style zero 3
pair_coeff * *
"""

LJ_COULOMB = """
input_i vec3 xi;
input_i real qi;
input_j vec3 xj;
input_j real qj;
input_pair real special_lj;
input_pair real special_coul;
param real rc = 2.5;
output(sum) vec3 force;
output(sum) real energy;
vec3 dx = xj - xi;
real r2 = dot(dx, dx);
skip_if(r2 >= rc * rc);
real s6 = 1 / (r2 * r2 * r2);
real coulomb = special_coul * qi * qj / sqrt(r2);
force -= (special_lj * 24 * s6 * (2 * s6 - 1) + coulomb) / r2 * dx;
energy += special_lj * 2 * s6 * (s6 - 1) + 0.5 * coulomb;
"""


def chains(special):
    """The commands that make them; neighbours along the chains are found with the last bond."""
    bonds = [f"create_bonds single/bond 1 {k + m} {k + m + 1} special no" for k in range(1, 402, 4) for m in range(3)]
    bonds[-1] = bonds[-1].replace("special no", "special yes")
    return "\n".join([CHAINS, *bonds, f"special_bonds {special}"])


@pytest.mark.parametrize("newton", ["newton on", "newton off"])
@pytest.mark.parametrize("special", ["lj/coul 0 0.5 1", "lj/coul 0.25 0 0.75", "lj/coul 1 1 1"])
def test_one_factor(special, newton):
    start = newton + "\n" + chains(special)
    theirs = state_of(start, "pair_style lj/cut 2.5\npair_coeff * * 1 1")
    ours = state_of(start, f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {PIPELINES}/lennard_jones.pipe rc=2.5")
    assert_equal(ours, theirs)


def test_factors_of_charges(tmp_path):
    text = LJ_COULOMB.replace("special_lj", "0.0").replace("special_coul * ", "").replace("input_pair", "//")
    (tmp_path / "coulomb.pipe").write_text(text)
    start = chains("lj 1 1 0.1 coul 0.3 0.6 0.9")
    theirs = state_of(start, "pair_style coul/cut 2.5\npair_coeff * *")
    ours = state_of(start, f"{LOAD}\npair_style nbcc 2.5 special coul\npair_coeff * * {tmp_path}/coulomb.pipe")
    assert_equal(ours, theirs)


def test_both_factors_by_the_formula(tmp_path):
    (tmp_path / "both.pipe").write_text(LJ_COULOMB)
    start = chains("lj 0 0.5 0.1 coul 0.3 0 0.9")
    theirs = state_of(start, "pair_style lj/cut/coul/cut 2.5\npair_coeff * * 1 1")
    ours = state_of(start, f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {tmp_path}/both.pipe")
    assert_equal(ours, theirs)


@pytest.mark.parametrize("special, name", [("lj 0 0.5 0.1 coul 0 0.5 0.9", "1-2"), ("lj 0.1 0.5 0 coul 0 0.5 0", "1-4")])
def test_pairs_that_the_formula_would_not_see(tmp_path, special, name):
    """LAMMPS's lists lack pairs with two factors of 0, so a term that no factor multiplies would be lost."""
    (tmp_path / "both.pipe").write_text(LJ_COULOMB)
    style = f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {tmp_path}/both.pipe"
    with pytest.raises(Exception) as caught:
        state_of(chains(special), style)
    assert f"the factors of special_bonds for {name} pairs, lj and coul, are both 0" in str(caught.value)
    assert "say 1e-100 in place of 0" in str(caught.value)
    theirs = state_of(chains(special), "pair_style lj/cut/coul/cut 2.5\npair_coeff * * 1 1")
    tiny = special.replace(" 0 ", " 1e-100 ")
    assert_equal(state_of(chains(tiny), style), theirs)


def test_a_term_of_excluded_pairs(tmp_path):
    """The correction of an Ewald sum: it acts between bonded atoms alone, in proportion to 1 - factor."""
    text = LJ_COULOMB.replace("special_lj *", "(1 - special_coul) *").replace("param", "input_pair real special_lj;\nparam")
    text = text.replace("input_pair real special_lj;\ninput_pair", "input_pair").replace("special_coul * qi", "0 * special_lj * qi")
    (tmp_path / "ewald.pipe").write_text(text)
    style = f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {tmp_path}/ewald.pipe"
    start = chains("lj/coul 1e-100 1e-100 1e-100")
    theirs = state_of(start, "pair_style lj/cut 2.5\npair_coeff * * 1 1")
    all_pairs = state_of(chains("lj/coul 1 1 1"), "pair_style lj/cut 2.5\npair_coeff * * 1 1")
    ours = state_of(start, style)
    np.testing.assert_allclose(ours.energy + theirs.energy, all_pairs.energy, rtol=1e-10)
    assert abs(ours.energy) > 1


def test_pairs_that_kspace_styles_keep(tmp_path):
    """LAMMPS's lists have all pairs then, whatever their factors."""
    text = LJ_COULOMB.replace("special_coul * qi * qj", "0.0 * special_coul * qi * qj")
    (tmp_path / "lj.pipe").write_text(text)
    start = chains("lj/coul 0 0 0.5") + "\nkspace_style ewald 1e-4\n"
    styles = "pair_style hybrid/overlay {} 2.5 coul/long 2.5\npair_coeff * * {}\npair_coeff * * coul/long"
    theirs = state_of(start, styles.format("lj/cut", "lj/cut 1 1"), stress=False)
    ours = state_of(start, f"{LOAD}\n" + styles.format("nbcc", f"nbcc {tmp_path}/lj.pipe"), stress=False)
    assert_equal(ours, theirs)


def test_atoms_that_have_no_bonds(tmp_path):
    """special_bonds has factors of 0 by default; without molecules it concerns no pair."""
    (tmp_path / "both.pipe").write_text(LJ_COULOMB)
    start = melt(style="charge") + "set type 1 charge 0.3\n"
    theirs = state_of(start, "pair_style lj/cut/coul/cut 2.5\npair_coeff * * 1 1")
    assert_equal(state_of(start, f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {tmp_path}/both.pipe"), theirs)
