"""nbcc.ase.Calculator: equal to ASE's own potentials, and to differences; tables by chemical symbol; what is refused."""

import re
import time

import numpy as np
import pytest

import nbcc

pytest.importorskip("ase", reason="no ASE here: ./dev setup installs it where there is a network")

from ase import Atoms, units  # noqa: E402
from ase.build import bulk  # noqa: E402
from ase.calculators.calculator import PropertyNotImplementedError  # noqa: E402
from ase.calculators.fd import calculate_numerical_forces, calculate_numerical_stress  # noqa: E402
from ase.calculators.lj import LennardJones  # noqa: E402
from ase.calculators.morse import MorsePotential  # noqa: E402
from ase.md.verlet import VelocityVerlet  # noqa: E402

from nbcc.ase import Calculator  # noqa: E402

HEAD = """
input_i vec3 xi; input_j vec3 xj; param vec3 a; param vec3 b; param vec3 c; param real rc;
output(sum) real energy;
vec3 d = every_image(xj - xi, a, b, c);
real r2 = dot(d, d);
skip_if(self_pair || r2 >= rc * rc);
"""
LENNARD_JONES = (
    "param real epsilon; param real sigma;\n" + HEAD + """
real s2 = sigma * sigma / r2, s6 = s2 * s2 * s2;
real t2 = sigma * sigma / (rc * rc), t6 = t2 * t2 * t2;
energy += 2.0 * epsilon * (s6 * (s6 - 1.0) - t6 * (t6 - 1.0));
"""
)
MORSE = (
    "param real epsilon; param real rho0; param real r0; param real r1;\n" + HEAD + """
real r = sqrt(r2);
real e = exp(-rho0 * (r / r0 - 1.0));
real s = clamp((rc - r) / (rc - r1), 0.0, 1.0);
energy += 0.5 * epsilon * e * (e - 2.0) * s * s * s * (10.0 + s * (6.0 * s - 15.0));
"""
)
MIXTURE = """
input_i vec3 xi; input_j vec3 xj; input_i int ti; input_j int tj;
param vec3 a; param vec3 b; param vec3 c; param real rc[3][3]; param real epsilon[3][3]; param real sigma[3][3];
output(sum) real energy;
vec3 d = every_image(xj - xi, a, b, c);
real r2 = dot(d, d);
skip_if(self_pair || r2 >= rc[ti][tj] * rc[ti][tj]);
real s2 = sigma[ti][tj] * sigma[ti][tj] / r2, s6 = s2 * s2 * s2;
energy += 2.0 * epsilon[ti][tj] * s6 * (s6 - 1.0);
"""


@pytest.fixture(scope="module")
def lennard_jones():
    return nbcc.compile(source=LENNARD_JONES, precision="double")


@pytest.fixture(scope="module")
def mixture():
    return nbcc.compile(source=MIXTURE, precision="double")


def crystals():
    small = bulk("Ar", "fcc", 5.2)
    slab = bulk("Ar", "fcc", 5.2, cubic=True) * (2, 2, 1)
    slab.pbc = (True, True, False)
    cluster = Atoms("Ar13", positions=np.random.default_rng(2).normal(size=(13, 3)) * 5)
    slanted = bulk("Ar", "hcp", 3.7, c=6.1) * (1, 2, 1)
    for atoms in (small, small * (2, 1, 2), slab, cluster, slanted):
        atoms = atoms.copy()
        atoms.rattle(0.1, seed=3)
        yield atoms


def check_equal(ours, theirs, names):
    for name in names:
        got, expected = (atoms.calc.get_property(name, atoms) for atoms in (ours, theirs))
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10 * max(np.abs(expected).max(), 1e-3), err_msg=name)


def test_equals_the_lennard_jones_of_ase(lennard_jones):
    values = {"epsilon": 0.0104, "sigma": 3.4, "rc": 8.5}
    for atoms in crystals():
        theirs = atoms.copy()
        theirs.calc = LennardJones(**values)
        atoms.calc = Calculator(lennard_jones, **values)
        names = ["forces", "energy", "free_energy", "energies"]
        check_equal(atoms, theirs, names + (["stress", "stresses"] if atoms.cell.rank == 3 else []))


def test_equals_the_morse_potential_of_ase():
    morse = nbcc.compile(source=MORSE, precision="double")
    for atoms in crystals():
        theirs = atoms.copy()
        theirs.calc = MorsePotential(epsilon=0.3, rho0=5.0, r0=3.7, rcut1=1.5, rcut2=2.4)
        atoms.calc = Calculator(morse, epsilon=0.3, rho0=5.0, r0=3.7, r1=1.5 * 3.7, rc=2.4 * 3.7)
        check_equal(atoms, theirs, ["forces", "energy", "energies"] + (["stress"] if atoms.cell.rank == 3 else []))


def salt():
    atoms = bulk("NaCl", "rocksalt", 5.0) * (1, 2, 1)
    atoms.rattle(0.1, seed=4)
    return atoms


def test_tables_by_symbol_are_mixed(mixture):
    atoms = salt()
    atoms.calc = Calculator(
        mixture,
        epsilon={"Na": 0.01, "Cl": 0.04},
        sigma={"Na": 2.0, "Cl": 3.0},
        rc={"Na": 6.0, "Cl": 8.0, ("Cl", "Na"): 7.5},
        mix={"sigma": "arithmetic", "epsilon": "geometric"},
    )
    table = {"epsilon": np.zeros((3, 3)), "sigma": np.zeros((3, 3)), "rc": np.zeros((3, 3))}
    table["epsilon"][:2, :2] = [[0.01, 0.02], [0.02, 0.04]]
    table["sigma"][:2, :2] = [[2.0, 2.5], [2.5, 3.0]]
    table["rc"][:2, :2] = [[6.0, 7.5], [7.5, 8.0]]
    types = (atoms.numbers == 17).astype(int)
    cell = dict(zip("abc", atoms.cell.array))
    expected = mixture(atoms.positions, atoms.positions, types, types, **cell, **table)
    np.testing.assert_allclose(atoms.get_potential_energies(), expected, rtol=1e-12)
    assert Calculator(mixture, symbols=["Na"], rc=table["rc"], epsilon=table["epsilon"], sigma=table["sigma"])


def test_forces_and_stress_are_derivatives(mixture):
    atoms = salt()
    values = {"Na": 0.01, "Cl": 0.04}
    atoms.calc = Calculator(mixture, epsilon=values, sigma={"Na": 2.2, "Cl": 3.0}, rc={"Na": 7.0, "Cl": 7.0},
                            mix={"epsilon": "geometric", "sigma": "sixthpower", "rc": max})  # fmt: skip
    forces, stress = atoms.get_forces(), atoms.get_stress()
    expected = calculate_numerical_forces(atoms, eps=1e-4)
    np.testing.assert_allclose(forces, expected, atol=1e-6 * np.abs(forces).max())
    expected = calculate_numerical_stress(atoms, eps=1e-5)
    np.testing.assert_allclose(stress, expected, atol=1e-4 * np.abs(stress).max())


def test_many_body_energies():
    text = HEAD.replace("output(sum) real energy;", "output(sum) real density; output(sum) real energy;") + """
real r = sqrt(r2);
density += (1.0 - r / rc) * (1.0 - r / rc);
energy += 0.5 * (1.0 - r / rc) * (1.0 - r / rc) / r;
void finish() { energy -= sqrt(density); }
"""
    atoms = bulk("Cu", "fcc", 3.6, cubic=True)
    atoms.rattle(0.1, seed=5)
    atoms.calc = Calculator(nbcc.compile(source=text, precision="double"), rc=4.5)
    forces = atoms.get_forces()
    assert np.abs(forces).max() > 0.01
    np.testing.assert_allclose(forces, calculate_numerical_forces(atoms, eps=1e-5), atol=1e-6)


def test_stresses_are_derivatives_of_the_energies_of_atoms(mixture):
    """Of a mixture and of a many-body energy; their sum is the stress."""
    atoms = salt()
    atoms.calc = Calculator(mixture, epsilon={"Na": 0.01, "Cl": 0.04}, sigma={"Na": 2.2, "Cl": 3.0}, rc={"Na": 7.0, "Cl": 6.5},
                            mix={"epsilon": "geometric", "sigma": "arithmetic", "rc": max})  # fmt: skip
    many_body = HEAD.replace("output(sum) real energy;", "output(sum) real density; output(sum) real energy;") + """
real s = 1.0 - sqrt(r2) / rc;
density += s * s;
energy += 0.5 * s * s / r2;
void finish() { energy -= sqrt(density); }
"""
    copper = bulk("Cu", "fcc", 3.6, cubic=True)
    copper.rattle(0.1, seed=5)
    copper.calc = Calculator(nbcc.compile(source=many_body, precision="double"), rc=4.5)
    for one in (atoms, copper):
        stresses = one.get_stresses()
        assert stresses.shape == (len(one), 6)
        np.testing.assert_allclose(stresses.sum(axis=0), one.get_stress(), atol=1e-10 * np.abs(stresses).max())
        for k, (a, b) in enumerate([(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]):
            energies = []
            for step in (1e-5, -1e-5):
                strain = np.eye(3)
                strain[a, b] += 0.5 * step
                strain[b, a] += 0.5 * step
                moved = one.copy()
                moved.set_cell(one.cell.array @ strain, scale_atoms=True)
                moved.calc = one.calc
                energies.append(moved.get_potential_energies())
            expected = (energies[0] - energies[1]) / 2e-5 / one.get_volume()
            np.testing.assert_allclose(stresses[:, k], expected, atol=1e-5 * np.abs(stresses).max())


def test_stresses_of_forces_beside_the_line_of_two_atoms_are_refused():
    text = HEAD.replace("input_j vec3 xj;", "input_j vec3 xj; input_j vec3 uj;") + "energy += dot(d, uj) * dot(d, uj);"
    atoms = bulk("Ar", "fcc", 5.2) * (2, 1, 1)
    atoms.rattle(0.1, seed=5)
    atoms.arrays["u"] = np.array([[1.0, 0.3, 0.2], [0.1, 0.5, -1.0]])
    atoms.calc = Calculator(nbcc.compile(source=text, precision="double"), rc=6.0)
    assert np.abs(atoms.get_stress()).max() > 0
    with pytest.raises(nbcc.UsageError, match="has no stresses: their sum is not the stress"):
        atoms.get_stresses()


def test_a_second_calculator_of_one_text_compiles_nothing(tmp_path):
    """Up to its first energy it takes 1 to 2 ms; compiling takes 35 ms. The options are part of the text."""
    path = tmp_path / "lj.pipe"
    path.write_text(LENNARD_JONES)
    values = {"epsilon": 0.0104, "sigma": 3.4, "rc": 8.5}
    atoms = bulk("Ar", "fcc", 5.2)

    def first_energy():
        begin = time.perf_counter()
        atoms.calc = Calculator(path, **values)
        energy = atoms.get_potential_energy()
        return 1e3 * (time.perf_counter() - begin), energy

    _, energy = first_energy()
    first = atoms.calc
    assert min(first_energy()[0] for _ in range(5)) < 5.0
    assert atoms.calc.pipeline is first.pipeline and atoms.get_potential_energy() == energy
    assert Calculator(path, precision="single", **values).pipeline is not first.pipeline
    skinned = [Calculator(path, skin=0.5, **values).pipeline for _ in range(2)]
    assert skinned[0] is not skinned[1]
    path.write_text(LENNARD_JONES.replace("2.0 * epsilon", "4.0 * epsilon"))
    assert first_energy()[1] == pytest.approx(2 * energy)
    assert first.get_potential_energy(atoms) == energy


def test_options_are_documented():
    """help(Calculator.__init__) names each option; they are accepted."""
    said = Calculator.__init__.__doc__
    for option in ("precision", "device", "threads", "skin", "math", "root", "isa", "cache_dir", "pairs", "symmetric"):
        assert re.search(rf"\b{option}[:,]", said), option
    pipeline = Calculator("gravity", energy="pot", precision="single", device="cpu", threads=1, root="exact", eps2=0.1).pipeline
    options = pipeline.info()["options"]
    assert (options["precision"], options["root"]) == ("single", "exact")
    assert pipeline.info()["kernels"][0]["device"] == "cpu"
    with pytest.raises(TypeError, match="threads: the pipeline is compiled already"):
        Calculator(pipeline, energy="pot", threads=1, eps2=0.1)


def test_other_arrays_are_read_anew():
    text = HEAD.replace("input_j vec3 xj;", "input_j vec3 xj; input_i real si; input_j real sj; input_i real m_i;")
    atoms = bulk("Ar", "fcc", 5.2) * (2, 1, 1)
    pipeline = nbcc.compile(source=text + "energy += m_i * si * sj / r2;", precision="double")
    atoms.calc = Calculator(pipeline, rc=8.0, fields={"si": "size", "sj": "size"})
    with pytest.raises(nbcc.UsageError, match="reads 'size', which these atoms do not have; they have numbers, positions"):
        atoms.get_potential_energy()
    atoms.arrays["size"] = np.array([1.0, 2.0])
    energy = atoms.get_potential_energy()
    atoms.arrays["size"] *= 2.0
    assert atoms.get_potential_energy() == pytest.approx(4 * energy)
    atoms.set_masses([80.0, 80.0])
    assert atoms.get_potential_energy() == pytest.approx(4 * energy * 80.0 / 39.95, rel=1e-3)
    text = HEAD.replace("input_j vec3 xj;", "input_j vec3 xj; input_i vec3 vi;") + "energy += dot(vi, vi);"
    atoms.calc = Calculator(nbcc.compile(source=text, precision="double"), rc=8.0)
    assert atoms.get_potential_energy() == 0.0
    atoms.set_velocities(np.full((2, 3), 0.5))
    assert atoms.get_potential_energy() > 1.0


def test_totals_are_energies(lennard_jones):
    values = {"epsilon": 0.0104, "sigma": 3.4, "rc": 8.5}
    total = nbcc.compile(source=LENNARD_JONES.replace("output(sum)", "output(total)"), precision="double")
    atoms = bulk("Ar", "fcc", 5.2) * (2, 1, 1)
    atoms.rattle(0.1, seed=7)
    same = atoms.copy()
    atoms.calc, same.calc = Calculator(total, **values), Calculator(lennard_jones, **values)
    check_equal(atoms, same, ["forces", "energy", "stress"])
    with pytest.raises(PropertyNotImplementedError):
        atoms.get_potential_energies()


def test_energies_are_kept_in_motion(lennard_jones):
    atoms = bulk("Ar", "fcc", 5.26) * (2, 2, 2)
    atoms.rattle(0.15, seed=6)
    atoms.calc = Calculator(lennard_jones, epsilon=0.0104, sigma=3.4, rc=8.5)
    before = atoms.get_total_energy()
    VelocityVerlet(atoms, 2 * units.fs).run(200)
    assert abs(atoms.get_total_energy() - before) < 1e-3 * atoms.get_kinetic_energy()


def test_a_wrong_force_is_refused():
    text = LENNARD_JONES.replace("real energy;", "real energy; output(sum) vec3 force;")
    text += "force += grad(24.0 * epsilon * s6, xj);"
    atoms = bulk("Ar", "fcc", 5.2) * (2, 1, 1)
    atoms.calc = Calculator(nbcc.compile(source=text, precision="double"), epsilon=0.01, sigma=3.4, rc=8.0)
    with pytest.raises(nbcc.UsageError, match="'force' .* is not minus the derivative of the summed 'energy'"):
        atoms.get_forces()
    with pytest.raises(nbcc.UsageError, match="is not minus the derivative"):
        atoms.get_forces()
    right = text.replace("grad(24.0 * epsilon * s6, xj)", "grad(4.0 * epsilon * s6 * (s6 - 1.0), xj)")
    atoms.calc = Calculator(nbcc.compile(source=right, precision="double"), epsilon=0.01, sigma=3.4, rc=8.0)
    assert np.abs(atoms.get_forces()).max() < 1e-12


def test_mistakes_are_named(lennard_jones, mixture):
    values = {"epsilon": 0.01, "sigma": 3.4, "rc": 8.0}
    with pytest.raises(TypeError, match="has no param 'sgima'; it has epsilon, sigma, rc"):
        Calculator(lennard_jones, epsilon=1, sgima=1, rc=1)
    with pytest.raises(TypeError, match="lacks its param sigma"):
        Calculator(lennard_jones, epsilon=1, rc=1)
    with pytest.raises(ValueError, match=r"sigma: no element for \('Ar', 'Kr'\); mix="):
        Calculator(mixture, sigma={"Ar": 1, "Kr": 2}, epsilon=np.ones((3, 3)), rc=np.ones((3, 3)))
    with pytest.raises(ValueError, match="has 3 types, but there are 4 symbols: Ar, Kr, Ne, Xe"):
        Calculator(mixture, sigma=dict.fromkeys(("Ar", "Kr", "Ne", "Xe"), 1.0), epsilon=1, rc=1)
    calculator = Calculator(mixture, mix=dict.fromkeys(("sigma", "epsilon", "rc"), "geometric"),
                            sigma={"Ar": 3.4}, epsilon={"Ar": 1.0}, rc={"Ar": 8.0})  # fmt: skip
    atoms = bulk("Cu")
    atoms.calc = calculator
    with pytest.raises(nbcc.UsageError, match="no type for 'Cu'; its symbols are Ar"):
        atoms.get_potential_energy()
    boxed = nbcc.compile("lennard_jones", precision="double")
    atoms = bulk("Ar", "fcc", 5.2) * 5
    atoms.calc = Calculator(boxed, sigma=3.4, eps=0.01, rc=8.0)
    with pytest.raises(nbcc.UsageError, match="the cell is not rectangular"):
        atoms.get_potential_energy()
    calculator = Calculator(lennard_jones, **values)
    with pytest.raises(TypeError, match="has no param 'cutoff'"):
        calculator.set(cutoff=3.0)
    with pytest.raises(ValueError, match="a dict by chemical symbols is for tables"):
        calculator.set(rc={"Ar": 1.0})
    assert calculator.parameters["rc"] == 8.0
    assert calculator.set(rc=9.0) == {"rc": 9.0} and calculator.parameters["rc"] == 9.0
