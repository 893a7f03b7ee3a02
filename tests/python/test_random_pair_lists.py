"""nbcc.neighbours in 931 random and awkward cells, against all pairs and images of NumPy's, and against ASE's lists."""

import itertools

import numpy as np
import pytest
from sampling import sampled

import nbcc

KINDS = ("turned", "left-handed", "tiny", "slanted", "flat", "at the cutoff", "far outside")


def random_cell(kind, random):
    """Three vectors, as rows. "at the cutoff": multiples of 1/4, with which distances are exact also in float32."""
    if kind == "at the cutoff":
        return np.diag(random.integers(4, 20, 3)) / 4 + np.tril(random.integers(-8, 9, (3, 3)), -1) / 4
    lengths = random.uniform(0.4, 1.2, 3) if kind == "tiny" else random.uniform(2, 7, 3)
    if kind == "flat":
        lengths[random.integers(3)] = 0.3
    shear = np.eye(3) + np.tril(random.uniform(-1, 1, (3, 3)) * (2.5 if kind == "slanted" else 0.4), -1)
    rotation = np.linalg.qr(random.normal(size=(3, 3)))[0]
    rotation *= np.sign(np.linalg.det(rotation))
    cell = (lengths[:, None] * shear) @ rotation
    return cell[[1, 0, 2]] if kind == "left-handed" else cell


def random_case(seed):
    """x, cutoff, cell, pbc; the number of pairs of particles times images is about a million at most."""
    random, kind = np.random.default_rng(seed), KINDS[seed % len(KINDS)]
    cell = random_cell(kind, random)
    pbc = random.random(3) < 0.7
    cutoff = random.choice([0.75, 1.0, 1.25, 1.5, 2.5]) if kind == "at the cutoff" else random.uniform(0.3, 3)
    images = np.prod(2 * reach_of(cell, pbc, cutoff) + 1)
    n = min(random.integers(1, 60), int(np.sqrt(1e6 / images)) + 1)
    width = {"far outside": 200, "slanted": 6}.get(kind, 2)
    x = (random.random((n, 3)) - 0.5) * width @ cell
    if kind == "at the cutoff":
        x = np.round(4 * x) / 4
    return x.astype(random.choice(["float32", "float64"])), cutoff, cell, pbc, kind


def reach_of(cell, pbc, cutoff):
    """How many cells away the images of particles in the first cell can be, for each axis."""
    heights = 1 / np.linalg.norm(np.linalg.inv(cell), axis=0)
    return np.where(pbc, np.ceil(cutoff / heights) + 1, 0).astype(int)


def brute(x, cutoff, cell, pbc):
    """{(i, j, shift): distance} of all pairs with distances up to 1.01 cutoffs."""
    x = x.astype(float)
    outside = np.where(pbc, np.floor(x @ np.linalg.inv(cell)), 0).astype(int)
    wrapped = x - outside @ cell
    found = {}
    for shift in itertools.product(*(range(-r, r + 1) for r in reach_of(cell, pbc, cutoff))):
        away = wrapped[None] + np.array(shift) @ cell - wrapped[:, None]
        distances = np.sqrt((away * away).sum(axis=2))
        for i, j in zip(*np.nonzero(distances < 1.01 * cutoff)):
            found[(i, j, *(np.array(shift) + outside[i] - outside[j]))] = distances[i, j]
    return found


def assert_within(pairs, all_pairs, cutoff, rounding):
    """The pairs are those closer than the cutoff; those within `rounding` of the cutoff may be missing or not."""
    assert len(set(pairs)) == len(pairs)
    expected = {pair for pair, distance in all_pairs.items() if distance < cutoff}
    for pair in expected ^ set(pairs):
        assert pair in all_pairs, f"{pair} is farther away than the cutoff {cutoff}"
        assert abs(all_pairs[pair] - cutoff) < rounding, f"{pair} at {all_pairs[pair]}, cutoff {cutoff}"


def rows_of(found):
    return list(map(tuple, np.column_stack([found.i, found.j, found.shifts]).tolist()))


@pytest.mark.parametrize("seed", sampled(range(931), 31))
def test_awkward_cells(seed):
    x, cutoff, cell, pbc, kind = random_case(seed)
    all_pairs = brute(x, cutoff, cell, pbc)
    scale = np.abs(x).max() + np.abs(cell).sum() + cutoff
    rounding = 0 if kind == "at the cutoff" else 16 * np.finfo(x.dtype).eps * scale
    found = rows_of(nbcc.neighbours(x, cutoff, cell, pbc, self=True))
    assert found == sorted(found)
    assert_within(found, all_pairs, cutoff, rounding)
    others = [pair for pair in found if pair[0] != pair[1] or any(pair[2:])]
    pairs = nbcc.neighbours(x, cutoff, cell, pbc, distances=True)
    assert rows_of(pairs) == others
    assert np.allclose(pairs.distances, [all_pairs[pair] for pair in others], rtol=0, atol=16 * np.finfo(x.dtype).eps * scale)
    first_of_both = [(i, j, *shift) for i, j, *shift in others if i < j or (i == j and shift > [0, 0, 0])]
    assert rows_of(nbcc.neighbours(x, cutoff, cell, pbc, half=True)) == first_of_both


@pytest.mark.parametrize("seed", sampled(range(931), 31, turn=1))
def test_against_ase(seed):
    lists = pytest.importorskip("ase.neighborlist", reason="no ASE here: ./dev setup installs it where there is a network")
    ase = pytest.importorskip("ase")
    x, cutoff, cell, pbc, _ = random_case(seed)
    x = x.astype(float)
    atoms = ase.Atoms(numbers=np.ones(len(x)), positions=x, cell=cell, pbc=pbc)
    # ASE moves particles by products with an inverse, so that pairs at the cutoff may be found or not.
    i, j, shifts, distances = lists.neighbor_list("ijSd", atoms, 1.01 * cutoff)
    all_pairs = dict(zip(map(tuple, np.column_stack([i, j, shifts]).tolist()), distances))
    found = nbcc.neighbours(x, cutoff, cell, pbc)
    assert_within(rows_of(found), all_pairs, cutoff, 1e-14 * (np.abs(x).max() + np.abs(cell).sum() + cutoff) * 16)
