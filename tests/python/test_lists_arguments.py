"""Wrong lists, batches, listed pairs and exclusions: the exception's type, and that it names what is wrong. How many
numbers a shift has."""

import re

import numpy as np
import pytest

import nbcc
from test_lists import BONDS, PULL, Csr

N = 5
X, M = np.random.default_rng(1).random((N, 3)), np.ones(N)
LISTS = dict(i_first=[0, 2, N], range_first=[0, 1, 2], j_begin=[0, 1], j_end=[N, 3])
ROWS = ([0, 1, 1, 1, 1, 2], [3, 4])


def lists(**changed):
    return dict(lists=nbcc.Lists(**{**LISTS, **changed}))


# Refused when lists are made; all else that is wrong with them, by a call.
UNMADE = {
    "real": (TypeError, dict(j_end=[1.0, 2.0]), "j_end: expected integers, got float64"),
    "bool": (TypeError, dict(j_end=np.ones(2, bool)), "j_end: expected integers, got bool"),
    "number": (TypeError, dict(j_end=5), "j_end: expected an array, got int"),
    "text": (TypeError, dict(i_order="01234"), "i_order: expected an array, got str"),
    "axes_of_ids": (ValueError, dict(j_end=[[1], [2]]), "j_end: expected shape (N,), got (2, 1)"),
    "no_groups": (ValueError, dict(i_first=[]), "i_first: expected groups + 1 integers, got 0"),
    "range_first": (ValueError, dict(range_first=[0, 2]), "range_first: expected 3 integers, as i_first has, got 2"),
    "j_end": (ValueError, dict(j_end=[N]), "j_end: expected 2 integers, as j_begin has, got 1"),
    "i_order": (ValueError, dict(i_order=[0, 1]), "i_order: expected 5 integers, as i_first ends, got 2"),
    "shifts_type": (TypeError, dict(shifts=np.zeros((2, 3), complex)), "shifts: expected numbers, got complex"),
    "shifts_rows": (ValueError, dict(shifts=np.zeros((3, 3))), "shifts: expected shape (2, axes), got (3, 3)"),
    "shifts_rank": (ValueError, dict(shifts=np.zeros((2, 3, 1))), "shifts: expected shape (2, axes), got (2, 3, 1)"),
}


@pytest.mark.parametrize("case", UNMADE)
def test_lists_that_cannot_be_made(case):
    kind, changed, message = UNMADE[case]
    with pytest.raises(kind, match=re.escape(f"nbcc.Lists: {message}")):
        lists(**changed)


CASES = {
    "two": (
        TypeError,
        dict(batches=([0] * N, [0] * N), **lists()),
        "pull() takes one of lists=, batches= and listed_pairs=, got lists= and batches=",
    ),
    "no_lists": (TypeError, dict(lists=([0, N], [0])), "pull(): lists: expected nbcc.Lists, got tuple"),
    "i_order": (nbcc.UsageError, lists(i_order=[0, 1, 2, 3, 3]), "lists: i_order[4] is 3, which has occurred before"),
    "j_order_short": (nbcc.UsageError, lists(j_order=[0, 1]), "lists: j_order has 2 entries, but there are 5"),
    "j_order_empty": (ValueError, lists(j_order=[]), "lists: j_order: expected 5 integers, one for each j, got 0"),
    "j_beyond": (nbcc.UsageError, lists(j_end=[N, 6]), "lists: j_end[1] is 6, but there are 5 j-particles"),
    "i_beyond": (nbcc.UsageError, lists(i_first=[0, 2, 6]), "the groups have 6 i-particles, but there are 5"),
    "falling": (nbcc.UsageError, lists(i_first=[0, 6, N]), "lists: i_first[2] is 5, less than the 6 before it"),
    "shifts": (
        nbcc.UsageError,
        lists(shifts=np.zeros((2, 3))),
        "not proved which inputs of j are the positions of pipeline 'pull'",
    ),
    "one_batch": (
        TypeError,
        dict(batches=[0] * N),
        "batches: expected (i_batch, j_batch) or (i_batch, j_batch, count)",
    ),
    "batches_array": (TypeError, dict(batches=np.zeros((2, N), int)), "(i_batch, j_batch, count), got ndarray"),
    "batch_real": (TypeError, dict(batches=(M, [0] * N)), "batches: i_batch: expected integers, got float64"),
    "batch_count": (TypeError, dict(batches=([0] * N, [0] * N, 1.5)), "batches: count: expected an integer, got float"),
    "batch_negative_count": (ValueError, dict(batches=([], [], -1)), "count: expected an integer from 0 to 9223372036854775807, got -1"),
    "batch_few": (
        nbcc.UsageError,
        dict(batches=([0] * N, [0, 0, 0, 0, 2], 2)),
        "batches: j_batch[4] is 2, it must be from 0 to 1",
    ),
    "batch_negative": (nbcc.UsageError, dict(batches=([-1] * N, [0] * N)), "i_batch[0] is -1, it must be from 0 to 0"),
    "batch_falls": (nbcc.UsageError, dict(batches=([0, 1, 0, 1, 1], [0] * N)), "i_batch[2] is 0, less than the 1"),
    "batch_length": (nbcc.UsageError, dict(batches=([0] * 4, [0] * N)), "i_batch has 4 entries, but there are 5 i-particles"),
    "param_length": (
        ValueError,
        dict(batches=([0] * N, [0] * 4 + [2]), eps2=[1, 2]),
        "'eps2' (param real): expected 1 number, or shape (3,), got 2",
    ),
    "param_shape": (
        ValueError,
        dict(batches=([0] * N, [0] * 4 + [1]), push=np.zeros((3, 2))),
        "'push' (param vec3): expected 3 numbers, or shape (2, 3), got 6",
    ),
    "param_ragged": (
        TypeError,
        dict(batches=([0] * N, [0] * 4 + [1]), push=[[1, 2, 3], [1, 2]]),
        "'push' (param vec3): expected rows of one length",
    ),
    "param_text": (TypeError, dict(eps2=["1", "2"], batches=([0] * N, [0] * 4 + [1])), "'eps2' (param real): expected"),
    "param_alone": (ValueError, dict(eps2=[1, 2]), "'eps2' (param real): expected 1 number, got 2"),
    "param_of_pairs": (
        ValueError,
        dict(eps2=[1, 2], listed_pairs=ROWS),
        "'eps2' (param real): expected 1 number, got 2",
    ),
    "one_array": (
        TypeError,
        dict(listed_pairs=5),
        "listed_pairs: expected (first, j), nbcc.Rows or a sparse matrix, got int",
    ),
    "three": (
        TypeError,
        dict(listed_pairs=(1, 2, 3)),
        "listed_pairs: expected (first, j), nbcc.Rows or a sparse matrix, got tuple",
    ),
    "no_first": (ValueError, dict(exclusions=([], [])), "exclusions: first: expected ni + 1 integers, got 0"),
    "j_real": (TypeError, dict(exclusions=(ROWS[0], [1.5, 2])), "exclusions: j: expected integers, got float64"),
    "rows": (nbcc.UsageError, dict(listed_pairs=([0, 2], [1, 1])), "pairs: there are rows for 1 i-particles"),
    "rows_beyond": (nbcc.UsageError, dict(exclusions=(ROWS[0], [1, N])), "exclusions: j[1] is 5, but there are 5"),
    "rows_short": (nbcc.UsageError, dict(listed_pairs=(ROWS[0], [1])), "first[5], the last, is 2, but there are 1"),
    "cutoff": (nbcc.UsageError, dict(pairs="cutoff"), "that distant pairs add nothing"),
    "both": (nbcc.UsageError, dict(listed_pairs=ROWS, exclusions=ROWS), "exclusions: cannot be combined with listed pairs"),
}


@pytest.fixture(scope="module")
def pull():
    return nbcc.compile(source=PULL, name="pull.pipe")


@pytest.fixture(scope="module")
def bonds():
    return nbcc.compile(source=BONDS, name="bonds.pipe")


@pytest.mark.parametrize("case", CASES)
def test_wrong_arguments(pull, case):
    kind, arguments, message = CASES[case]
    with pytest.raises(kind, match=re.escape(message)):
        pull(X, X, M, **arguments)


def test_a_matrix_of_another_form(pull):
    matrix = Csr(*ROWS)
    matrix.format = "bsr"
    with pytest.raises(TypeError, match="listed_pairs: expected a sparse matrix in the form 'csr', got one in 'bsr'"):
        pull(X, X, M, listed_pairs=matrix)


def test_inputs_of_pairs(bonds):
    for arguments in (dict(), lists(), dict(batches=([0] * N, [0] * N))):
        with pytest.raises(
            TypeError, match=re.escape("bonds() lacks listed_pairs=, for its input_pair real stiffness")
        ):
            bonds(X, X, [1.0], [[1.0, 2, 3]], **arguments)
    with pytest.raises(ValueError, match=re.escape("'rest' (input_pair vec3): expected 2 pairs, as listed_pairs has")):
        bonds(X, X, [1.0, 2.0], [[1.0, 2, 3]], listed_pairs=ROWS)
    with pytest.raises(TypeError, match=re.escape("bonds() lacks its input_pair vec3 rest")):
        bonds(X, X, [1.0, 2.0], listed_pairs=ROWS)
    with pytest.raises(TypeError, match=re.escape("has no input_j and no param 'rest'")):
        bonds.bind(X, rest=[[1.0, 2, 3]])
    with pytest.raises(ValueError, match=re.escape("'xj' (input_j vec3): expected 3 j-particles, as nj has, got 5")):
        bonds(X, X, [1.0, 2.0], np.zeros((2, 3)), listed_pairs=ROWS, nj=3)


@pytest.mark.parametrize(
    "places, axes",
    [
        ("input_i real xi; input_j real xj; real dx = xj - xi; real r2 = dx * dx;", 1),
        ("input_i vec3 xi; input_j vec3 xj; real dx = xj.z - xi.z; real r2 = dx * dx;", 1),
        ("input_i vec2 xi; input_j vec2 xj; vec2 dx = xj - xi; real r2 = dot(dx, dx);", 2),
        ("input_i vec3 xi; input_j vec3 xj; real a = xj.x - xi.x; real b = xj.z - xi.z; real r2 = a * a + b * b;", 2),
        ("input_i vec2 xi; input_j real y; input_j real z[2];"
         " real a = y - xi.x; real b = z[1] - xi.y; real r2 = a * a + b * b;", 2),
        ("input_i vec3 xi; input_j vec3 xj[2]; vec3 dx = xj[1] - xi; real r2 = dot(dx, dx);", 3),
    ],
)  # fmt: skip
def test_a_shift_has_as_many_numbers_as_places_have_axes(places, axes):
    text = places.replace(";", ";\n") + "output(sum) real near;\nskip_if(r2 >= 1.0);\nnear += 1.0;"
    pipe = nbcc.compile(source=text)
    arrays = {field.name: np.zeros((2, *field.shape)) for field in pipe.fields if field.role in ("input_i", "input_j")}
    lists = ([0, 2], [0, 1], [0], [2])
    # All j at 0: a shift along any one axis by 2 takes them out of reach, which reads that very number.
    for axis in range(axes):
        shifts = np.zeros((1, axes))
        assert (pipe(**arrays, lists=nbcc.Lists(*lists, shifts=shifts)) == 2).all()
        shifts[0, axis] = 2
        assert (pipe(**arrays, lists=nbcc.Lists(*lists, shifts=shifts)) == 0).all()
    for wrong in (axes + 1, axes - 1):
        with pytest.raises(nbcc.UsageError, match=rf"a shift has {wrong} numbers?, but positions .* have {axes}$"):
            pipe(**arrays, lists=nbcc.Lists(*lists, shifts=np.zeros((1, wrong))))
    if axes == 1:
        assert (pipe(**arrays, lists=nbcc.Lists(*lists, shifts=[2])) == 0).all()


def test_shifts_of_places_that_are_formulas():
    text = "input_i real xi;\ninput_j real xj;\noutput(sum) real s;\nreal d = 2 * xj - xi;\n"
    pipe = nbcc.compile(source=text + "skip_if(d * d >= 1.0);\ns += 1.0;")
    assert pipe.info()["neighbours"]
    with pytest.raises(nbcc.UsageError, match="lists: shifts are added to positions, but .* not proved which inputs of j"):
        pipe(M, M, **lists(shifts=[0, 0]))


def test_the_search_is_not_asked_for():
    text = "input_i real xi;\ninput_j real xj;\noutput(sum) real s;\nreal d = xj - xi;\n"
    pipe = nbcc.compile(source=text + "skip_if(d * d >= 1.0);\ns += 1.0;", pairs="cutoff")
    with pytest.raises(nbcc.UsageError, match="pairs = cutoff: the lists determine which pairs act"):
        pipe(M, M, **lists())
    assert pipe(M, M, pairs="auto", **lists()).tolist() == [5, 5, 2, 2, 2]
