"""What pair_style nbcc refuses, and in which words."""

import re

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
        ("pair_style nbcc 2.4\npair_coeff * * {lj} rc=2.5", "2.4, is less than the reach of this pipeline, 2.5: |xj - xi| < rc"),
        ("pair_style nbcc 2.4999999\npair_coeff * * {lj} rc=2.5", "is less than the reach of this pipeline"),
        ("pair_style nbcc 2.5\npair_coeff * * {lj} rcut=2.5", "there is no param 'rcut'; there are sigma, eps, rc, shift, box"),
        ("pair_style nbcc 2.5\npair_coeff * * {lj} rc=far", "param 'rc' takes numbers, @FILE or v_VARIABLE, got 'far'"),
        ("pair_style nbcc 2.5\npair_coeff * * {lj} rc=1,2", "param 'rc' takes 1 numbers, got 2"),
        ("pair_style nbcc 2.5\npair_coeff * * {lj} box=9,9,9", "the box stays open: param 'box' cannot be set"),
        ("pair_style nbcc 2.5\npair_coeff * * {lj} energy=force", "which is an output(sum) of 3 numbers"),
        ("pair_style nbcc 2.5\npair_coeff * * {lj} rc=v_none", "there is no variable 'none' for the param 'rc'"),
        ("pair_style nbcc 2.5\npair_coeff * * nothing.pipe", "pipeline nothing.pipe: No such file or directory (LAMMPS runs in /"),
        ("pair_style nbcc 2.5\npair_coeff * * /tmp", "cannot read the pipeline /tmp: Is a directory"),
        ("pair_style nbcc 2.5\npair_coeff * * {lj} rc=@nothing", "cannot read the numbers in nothing: No such file"),
        ("pair_style nbcc 2.5\npair_coeff 1 1 1.0 1.0", "pair_coeff 1 1: expected a .pipe file or NAME=VALUE, got the number 1.0"),
        ("pair_style nbcc 2.5\npair_coeff * * {lj}\npair_coeff 1 1 1.0 1.0", "expected a .pipe file or NAME=VALUE, got the number 1.0"),
        ("pair_style nbcc 2.5\npair_coeff * * {lj} rc=nan", "param 'rc' takes finite numbers, got 'nan'"),
        ("pair_style nbcc 2.5\npair_coeff * * {lj} box=1,inf,1", "param 'box' takes finite numbers, got '1,inf,1'"),
        ("pair_style nbcc 2.5\npair_coeff * * {lj}\npair_coeff 1 1 eps=nan", "pair_coeff 1 1: 'eps' takes one finite number, got 'nan'"),
        ("pair_style nbcc 2.5\npair_coeff * * {lj}\npair_coeff 1 1 eps=1,2", "'eps' takes one finite number, got '1,2'"),
        ("pair_style nbcc 2.5 mixed\npair_coeff * * {lj}", "and then words in pairs, as precision mixed; got 'mixed' without"),
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
    (tmp_path / "formula.pipe").write_text(TABLE.replace("skip_if(", "skip_if(ti > 1 || tj > 1 || "))
    said = refused(f"pair_style nbcc 2.5\npair_coeff * * {tmp_path}/formula.pipe\npair_coeff 3 * k=1", melt(types=3))
    assert "param 'k' is a real[2][2], which has no element for types 3 and 3" in said


def test_types_without_params(tmp_path):
    """As LAMMPS says that not all coefficients are set; a style that leaves the type to another has no need of them."""
    (tmp_path / "formula.pipe").write_text(TABLE)
    words = f"{tmp_path}/formula.pipe\npair_coeff 1*2 1*2"
    said = refused(f"pair_style nbcc 2.5\npair_coeff * * {words} k=1", melt(types=3))
    assert "the atom types 1 to 3, which are 0 to 2 in a formula: ti is 2" in said and "table 'k'" in said and "has 2" in said
    assert "Last input line: pair_coeff * *" in said  # and not the run
    hybrid = f"pair_style hybrid nbcc 2.5 zero 2.5\npair_coeff * * zero\npair_coeff 1*2 1*2 nbcc {tmp_path}/formula.pipe\n"
    state_of(melt(types=3), f"{LOAD}\n{hybrid}pair_coeff 1*2 1*2 nbcc k=1")


def test_types_that_a_formula_excludes_need_no_elements(tmp_path):
    """Nor do formulas that read other quantities, whose conditions are not known before the run."""
    (tmp_path / "formula.pipe").write_text(TABLE.replace("skip_if(", "skip_if(ti > 1 || tj > 1 || "))
    state_of(melt(types=3), f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {tmp_path}/formula.pipe\npair_coeff 1*2 1*2 k=1")
    (tmp_path / "formula.pipe").write_text(TABLE.replace("skip_if(", "skip_if(idi > 0 || idj > 0 || ").replace("input_j int", "input_i int idi; input_j int idj; input_j int"))
    state_of(melt(types=3), f"{LOAD}\npair_style nbcc 2.5\npair_coeff * * {tmp_path}/formula.pipe\npair_coeff 1*2 1*2 k=1", stress=False)


def test_messages_have_no_folders_of_sources():
    """LAMMPS puts the name of the source file behind each error."""
    said = refused("pair_style nbcc 2.5\npair_coeff * * eps=1")
    assert re.search(r"names the file of the formula \(pair_nbcc\w*\.\w+:\d+\)", said)
    assert re.search(r"must be positive, got -1 \(pair_nbcc\w*\.\w+:\d+\)", refused("pair_style nbcc -1"))


def test_errors_of_lammps_are_said_once():
    commands = "variable v equal sqrt(0-1)\npair_style nbcc 2.5\npair_coeff * * {} rc=v_v".format(LENNARD_JONES)
    said = refused(commands)
    assert said.count("ERROR") == 1 and "Sqrt of negative value" in said


def test_reaches_of_the_atoms_themselves(tmp_path):
    """Half of the atoms reach 0.6 each; two of these together reach beyond 1.1."""
    (tmp_path / "formula.pipe").write_text(OF_RADII)
    start = melt(style="sphere").replace("mass * 1.0", "set atom * diameter 0.5\nset atom 1*100 diameter 1.2")
    words = f"pair_coeff * * {tmp_path}/formula.pipe hi=radius hj=radius"
    assert "is less than the reach of this pipeline" in refused(f"pair_style nbcc 1.1\n{words}", start)
    state_of(start, f"{LOAD}\npair_style nbcc 1.2\n{words}")
