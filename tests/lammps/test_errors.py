"""What pair_style nbcc refuses, and in which words."""

import pytest

from engine import LOAD, PIPELINES, melt, state_of

LENNARD_JONES = f"{PIPELINES}/lennard_jones.pipe"
READS_VELOCITIES = (
    "input_i vec3 xi;\ninput_j vec3 xj;\ninput_j vec3 vj;\noutput(sum) vec3 force;\n"
    "skip_if(dot(xj - xi, xj - xi) >= 1.0);\nforce += vj;\n"
)
OF_RADII = (
    "input_i vec3 xi;\ninput_j vec3 xj;\ninput_i real hi;\ninput_j real hj;\noutput(sum) vec3 force;\n"
    "vec3 d = xj - xi;\nskip_if(length(d) >= hi + hj);\nforce += d;\n"
)
WITHOUT_CUTOFF = "input_i vec3 xi;\ninput_j vec3 xj;\noutput(sum) vec3 force;\nforce += xj - xi;\n"
OF_A_TOTAL = (
    "input_i vec3 xi;\ninput_j vec3 xj;\noutput(sum) vec3 force;\noutput(total) real energy;\nvec3 d = xj - xi;\n"
    "skip_if(dot(d, d) >= 1.0);\nforce += d;\nenergy += dot(d, d);\n"
)
OF_A_MAXIMUM = OF_A_TOTAL.replace("(total)", "(max)").replace("energy += dot(d, d)", "energy = max(energy, dot(d, d))")
TABLE = (
    "input_i vec3 xi;\ninput_j vec3 xj;\ninput_i int ti;\ninput_j int tj;\nparam real k[2][2];\noutput(sum) vec3 force;\n"
    "skip_if(dot(xj - xi, xj - xi) >= 1.0);\nforce += k[ti][tj] * (xj - xi);\n"
)


def refused(commands, start=None):
    with pytest.raises(Exception) as caught:
        state_of(start or melt(), f"{LOAD}\n{commands}")
    return str(caught.value)


@pytest.mark.parametrize(
    "words, said",
    [
        ("pair_style nbcc 2.4\npair_coeff * * {lj} rc=2.5", "2.400000, is less than the reach of this pipeline: |xj - xi| < rc"),
        ("pair_style nbcc 2.4999999\npair_coeff * * {lj} rc=2.5", "is less than the reach of this pipeline"),
        ("pair_style nbcc 2.5\npair_coeff * * {lj} rcut=2.5", "there is no param 'rcut'; there are sigma, eps, rc, shift, box"),
        ("pair_style nbcc 2.5\npair_coeff * * {lj} rc=far", "param 'rc' takes numbers, @FILE or v_VARIABLE, got 'far'"),
        ("pair_style nbcc 2.5\npair_coeff * * {lj} rc=1,2", "param 'rc' takes 1 numbers, got 2"),
        ("pair_style nbcc 2.5\npair_coeff * * {lj} box=9,9,9", "the box stays open: param 'box' cannot be set"),
        ("pair_style nbcc 2.5\npair_coeff * * {lj} energy=force", "which is an output(sum) of 3 numbers"),
        ("pair_style nbcc 2.5\npair_coeff * * {lj} rc=v_none", "there is no variable 'none' for the param 'rc'"),
        ("pair_style nbcc 2.5\npair_coeff * * nothing.pipe", "cannot read the pipeline nothing.pipe"),
        ("pair_style nbcc 2.5\npair_coeff * * eps=1", "the first pair_coeff names the file of the formula"),
        ("pair_style nbcc -1\npair_coeff * * {lj}", "the cutoff must be positive, got -1"),
        ("pair_style nbcc 2.5 precision half\npair_coeff * * {lj}", "got precision half"),
    ],
)
def test_words(words, said):
    assert said in refused(words.format(lj=LENNARD_JONES))


@pytest.mark.parametrize(
    "text, words, said",
    [
        ("output(sum) vec3 force;\nforce += 1;", "", "formula.pipe:2:"),
        (READS_VELOCITIES, "", "say comm_modify vel yes"),
        (WITHOUT_CUTOFF, "", "no cutoff is proved of this pipeline"),
        (OF_RADII, "", "input 'hi' is none of LAMMPS's quantities by its name"),
        (OF_RADII, "hi=radius hj=radius", "atoms of style atomic have no radius"),
        (TABLE, "", "param 'k' has no value for types 1 and 1"),
        (OF_A_TOTAL, "", "cannot be the energy, which is an output(sum) of 1 numbers for each atom, not a total"),
        (OF_A_TOTAL.replace("energy", "u"), "u=energy", "output 'u' cannot be the energy, which is an output(sum) of 1 numbers for"),
        (OF_A_MAXIMUM, "", "output 'energy' cannot be the energy, which is an output(sum) of 1 numbers"),
    ],
)
def test_formulas(tmp_path, text, words, said):
    (tmp_path / "formula.pipe").write_text(text)
    assert said in refused(f"pair_style nbcc 2.5\npair_coeff * * {tmp_path}/formula.pipe {words}")


def test_tables_that_are_too_small(tmp_path):
    (tmp_path / "formula.pipe").write_text(TABLE)
    said = refused(f"pair_style nbcc 2.5\npair_coeff * * {tmp_path}/formula.pipe\npair_coeff 3 * k=1", melt(types=3))
    assert "param 'k' is a real[2][2], which has no element for types 3 and 3" in said


def test_types_without_params(tmp_path):
    """As LAMMPS says that not all coefficients are set; a style that leaves the type to another has no need of them."""
    (tmp_path / "formula.pipe").write_text(TABLE)
    words = f"{tmp_path}/formula.pipe\npair_coeff 1*2 1*2"
    said = refused(f"pair_style nbcc 2.5\npair_coeff * * {words} k=1", melt(types=3))
    assert "table 'k'" in said and "has 2" in said
    hybrid = f"pair_style hybrid nbcc 2.5 zero 2.5\npair_coeff * * zero\npair_coeff 1*2 1*2 nbcc {tmp_path}/formula.pipe\n"
    state_of(melt(types=3), f"{LOAD}\n{hybrid}pair_coeff 1*2 1*2 nbcc k=1")


def test_reaches_of_the_atoms_themselves(tmp_path):
    """Half of the atoms reach 0.6 each; two of these together reach beyond 1.1."""
    (tmp_path / "formula.pipe").write_text(OF_RADII)
    start = melt(style="sphere").replace("mass * 1.0", "set atom * diameter 0.5\nset atom 1*100 diameter 1.2")
    words = f"pair_coeff * * {tmp_path}/formula.pipe hi=radius hj=radius"
    assert "is less than the reach of this pipeline" in refused(f"pair_style nbcc 1.1\n{words}", start)
    state_of(start, f"{LOAD}\npair_style nbcc 1.2\n{words}")
