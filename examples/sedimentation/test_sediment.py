"""sediment.py: coefficients of Hasimoto, to all published digits."""

import pytest

import sediment


@pytest.mark.parametrize("name", sediment.LATTICES)
def test_the_drag_is_hasimotos(name):
    vectors, inside, published = sediment.LATTICES[name]
    found, across = sediment.coefficient(vectors, inside, 1e-8)
    assert found == pytest.approx(published, abs=1e-4 if published == 1.7601 else 1e-3)
    assert across < 1e-7


def test_both_face_centred_cells_are_one_lattice():
    ways = [sediment.coefficient(*sediment.LATTICES[name][:2], 1e-9)[0] for name in list(sediment.LATTICES)[2:]]
    assert ways[0] == pytest.approx(ways[1], abs=1e-8) and ways[0] == pytest.approx(1.79174723, abs=1e-7)
