"""Pairs that the caller lists: lists, batches, listed pairs with inputs of their own, exclusions; all against sums of
NumPy's over the same pairs, one after the other."""

import threading

import numpy as np
import pytest

import nbcc
from conftest import Cloud, within

# Of a pair: what is left out, named twice or mistaken for another changes each of the outputs.
PULL = """
input_i vec3 xi;
input_j vec3 xj;
input_j real mj;
param   real eps2 = 0.01;
param   vec3 push = vec3(0, 0, 0);
output(sum) vec3 acc;
output(sum) real pairs;
output(max) real most;

vec3 dx = xj - xi;
real r2 = dot(dx, dx) + eps2;
acc += mj / (r2 * sqrt(r2)) * dx + push;
pairs += 1.0;
most = max(most, mj);
"""

BONDS = """
input_i vec3 xi;
input_j vec3 xj;
input_pair real stiffness;
input_pair vec3 rest;
output(sum) vec3 force;

force += stiffness * (xj - xi - rest);
"""

NEAR = """
input_i vec3 xi;
input_j vec3 xj;
param   real rc = 0.3;
output(sum) real near;
output(sum) vec3 moment;

vec3 dx = xj - xi;
skip_if(dot(dx, dx) >= rc * rc);
near += 1.0;
moment += dx;
"""


@pytest.fixture(scope="module")
def pull():
    return nbcc.compile(source=PULL, name="pull.pipe", precision="double")


@pytest.fixture(scope="module")
def bonds():
    return nbcc.compile(source=BONDS, name="bonds.pipe", precision="double")


@pytest.fixture(scope="module")
def near():
    return nbcc.compile(source=NEAR, name="near.pipe", precision="double")


class Pulled:
    """The sums over some pairs (i, j). eps2, push: by pair, or the same for all."""

    def __init__(self, xi, xj, mj, pairs, eps2=0.01, push=(0, 0, 0)):
        i, j = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        push = np.broadcast_to(np.asarray(push, float), (len(i), 3))
        dx = xj[j] - xi[i]
        r2 = (dx * dx).sum(axis=1) + np.broadcast_to(eps2, len(i))
        terms = (mj[j] / r2**1.5)[:, None] * dx + push
        sizes = np.abs((mj[j] / r2**1.5)[:, None] * dx) + np.abs(push)
        self.acc, self.terms = np.zeros((len(xi), 3)), np.zeros((len(xi), 3))
        self.pairs, self.most = np.zeros(len(xi)), np.full(len(xi), -np.inf)
        np.add.at(self.acc, i, terms)
        np.add.at(self.terms, i, sizes)
        np.add.at(self.pairs, i, 1)
        np.maximum.at(self.most, i, mj[j])

    def check(self, result):
        assert np.array_equal(result.pairs, self.pairs)
        assert np.array_equal(result.most, self.most)
        within(result.acc, self.acc, self.terms, "double")


def every(ni, nj):
    return [(i, j) for i in range(ni) for j in range(nj)]


class Sets:
    """Particles of both sides."""

    def __init__(self, ni, nj, seed=1):
        self.xi, self.xj, self.mj = Cloud(ni, seed).x, Cloud(nj, seed + 1).x, Cloud(nj, seed + 1).m
        self.all = (self.xi, self.xj, self.mj)

    def reference(self, pairs, **params):
        return Pulled(*self.all, pairs, **params)


def cuts(random, parts, end):
    return np.sort(np.concatenate([[0], random.integers(0, end + 1, max(parts - 1, 0)), [end]]))


def random_lists(ni, nj, groups, ranges, ordered, seed):
    """Lists, and the pairs that they mean."""
    random = np.random.default_rng(seed)
    i_first, range_first = cuts(random, groups, ni), cuts(random, groups, ranges)
    ends = np.sort(random.integers(0, nj + 1, (ranges, 2)), axis=1)
    i_order, j_order = (random.permutation(n) if ordered else None for n in (ni, nj))
    who = i_order if ordered else np.arange(ni)
    whom = j_order if ordered else np.arange(nj)
    pairs = [
        (who[i], whom[j])
        for g in range(groups)
        for r in range(range_first[g], range_first[g + 1])
        for i in range(i_first[g], i_first[g + 1])
        for j in range(ends[r, 0], ends[r, 1])
    ]
    return nbcc.Lists(i_first, range_first, ends[:, 0], ends[:, 1], i_order, j_order), pairs


def random_rows(ni, nj, most, seed):
    """first, j; rows of 0 to `most` entries, some of them twice."""
    random = np.random.default_rng(seed)
    rows = [random.integers(0, nj, random.integers(0, most + 1) * (random.random() < 0.7)) for _ in range(ni)]
    first = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return first, np.concatenate([np.zeros(0, np.int64), *rows])


def pairs_of(first, j):
    return [(i, j[k]) for i in range(len(first) - 1) for k in range(first[i], first[i + 1])]


# ---- lists -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "clothes",
    [
        list,
        lambda one: memoryview(np.asarray(one)),
        lambda one: one.astype("i4"),
        lambda one: one.astype("u2"),
        lambda one: one.astype(">i8"),
        lambda one: np.repeat(one, 2)[::2],
        lambda one: one[::-1].copy()[::-1],
    ],
)
def test_integers_in_other_clothes(pull, clothes):
    sets = Sets(13, 11)
    lists, pairs = random_lists(13, 11, 4, 9, True, seed=5)
    fields = [lists.i_first, lists.range_first, lists.j_begin, lists.j_end, lists.i_order, lists.j_order, lists.shifts]
    given = nbcc.Lists(*(clothes(np.asarray(one)) for one in fields if one is not None))
    assert str(given) == "<nbcc.Lists of 4 groups, 9 ranges>"
    sets.reference(pairs).check(pull(*sets.all, lists=given))


def test_ranges_of_python_are_integers(pull):
    sets = Sets(5, 5)
    lists = nbcc.Lists(range(6), range(6), range(5), range(1, 6), range(5), range(4, -1, -1))
    sets.reference([(i, 4 - i) for i in range(5)]).check(pull(*sets.all, lists=lists))


def test_shifts_are_added_to_the_places_of_j(near):
    random = np.random.default_rng(8)
    xi, xj = random.random((40, 3)), random.random((30, 3))
    # Two groups; the first sees the j three times, at different places.
    shifts = np.array([[0, 0, 0], [1, 0, 0], [0, -0.5, 0.25], [0.125, 0, 0]])
    first, counts, moments = [0, 15, 40], np.zeros(40), np.zeros((40, 3))
    for i in range(40):
        for shift in shifts[:3] if i < 15 else shifts[3:]:
            dx = xj + shift - xi[i]
            inside = (dx * dx).sum(axis=1) < 0.3**2
            counts[i] += inside.sum()
            moments[i] += dx[inside].sum(axis=0)
    lists = (first, [0, 3, 4], [0] * 4, [30] * 4)
    for clothes in (np.asarray, np.asfortranarray, np.ndarray.tolist, np.float32):
        got = near(xi, xj, lists=nbcc.Lists(*lists, shifts=clothes(shifts)))
        assert np.array_equal(got.near, counts)
        within(got.moment, moments, np.full((40, 3), 2.0 * 90), "double")
    assert counts.min() < counts.max()
    unshifted = near(xi, xj, lists=nbcc.Lists(*lists))
    assert not np.array_equal(unshifted.near, counts)


# ---- batches -----------------------------------------------------------------------------------------------


def batched(i_batch, j_batch):
    return [(i, j) for i, of_i in enumerate(i_batch) for j, of_j in enumerate(j_batch) if of_i == of_j]


@pytest.mark.parametrize("clothes", [np.asarray, np.ndarray.tolist, np.float32, np.asfortranarray])
def test_params_by_batch(pull, clothes):
    i_batch, j_batch = np.array([0, 0, 1, 3, 3, 3]), np.array([0, 1, 1, 1, 2, 3, 3])
    sets = Sets(6, 7)
    pairs = batched(i_batch, j_batch)
    of = i_batch[[i for i, _ in pairs]]
    eps2 = np.array([0.25, 0.5, 1, 2])
    push = np.arange(12.0).reshape(4, 3) + 1
    both = pull(*sets.all, eps2=clothes(eps2), push=clothes(push), batches=(i_batch, j_batch))
    sets.reference(pairs, eps2=eps2[of], push=push[of]).check(both)
    one = pull(*sets.all, eps2=0.125, push=clothes(push), batches=(i_batch, j_batch))
    sets.reference(pairs, eps2=0.125, push=push[of]).check(one)
    # One axis as the param has it: the same for all.
    same = pull(*sets.all, push=clothes(push[1]), batches=(i_batch, j_batch))
    sets.reference(pairs, push=push[1]).check(same)
    # As many groups as a vector has numbers.
    three = nbcc.Lists([0, 1, 2, 6], [0, 1, 2, 3], [0, 0, 0], [7, 7, 7])
    rows = np.array([0, 1] + [2] * 4)
    got = pull(*sets.all, push=clothes(push[:3]), eps2=clothes(eps2[:3]), lists=three)
    of = rows[[i for i, _ in every(6, 7)]]
    sets.reference(every(6, 7), eps2=eps2[of], push=push[of]).check(got)
    sets.reference(every(6, 7), push=(1, 2, 3)).check(pull(*sets.all, push=clothes(push[0]), lists=three))


def test_params_of_no_batches_and_of_one(pull):
    none, one = Sets(0, 0), Sets(2, 3)
    assert pull(*none.all, eps2=[], push=np.zeros((0, 3)), batches=([], [])).pairs.shape == (0,)
    assert pull(*none.all, push=[], batches=([], [])).pairs.shape == (0,)
    got = pull(*one.all, eps2=[0.5], push=[[1, 2, 3]], batches=([0, 0], [0, 0, 0]))
    one.reference(every(2, 3), eps2=0.5, push=(1, 2, 3)).check(got)


# ---- listed pairs ------------------------------------------------------------------------------------------


class Csr:
    """As SciPy's csr_matrix looks."""

    format = "csr"

    def __init__(self, first, j):
        self.indptr, self.indices = np.asarray(first, "i4"), np.asarray(j, "i4")


def test_a_sparse_matrix_of_scipy(pull, bonds):
    sparse = pytest.importorskip("scipy.sparse")
    sets = Sets(4, 5)
    matrix = sparse.csr_matrix(np.array([[0, 2, 0, 0, 3], [0] * 5, [1, 0, 0, 0, 0], [0, 0, 4, 5, 0]], float))
    pairs = list(zip(*matrix.nonzero()))
    sets.reference(pairs).check(pull(*sets.all, listed_pairs=matrix))
    left = [pair for pair in every(4, 5) if pair not in pairs]
    sets.reference(left).check(pull(*sets.all, exclusions=sparse.csr_array(matrix)))
    with pytest.raises(TypeError, match="exclusions: expected a sparse matrix in the form 'csr', got one in 'csc'"):
        pull(*sets.all, exclusions=matrix.tocsc())


@pytest.mark.parametrize("ni, nj, most", [(0, 0, 0), (1, 1, 3), (6, 2, 5), (80, 33, 20)])
def test_inputs_of_pairs(bonds, ni, nj, most):
    random = np.random.default_rng(ni)
    sets = Sets(ni, nj)
    first, j = random_rows(ni, nj, most, seed=ni + 1)
    stiffness, rest = random.random(len(j)), random.random((len(j), 3))
    i = np.repeat(np.arange(ni), np.diff(first))
    terms = stiffness[:, None] * (sets.xj[j] - sets.xi[i] - rest)
    force, size = np.zeros((ni, 3)), np.zeros((ni, 3))
    np.add.at(force, i, terms)
    np.add.at(size, i, stiffness[:, None] * (np.abs(sets.xj[j]) + np.abs(sets.xi[i]) + np.abs(rest)))
    within(bonds(sets.xi, sets.xj, stiffness, rest, listed_pairs=(first, j)), force, size, "double")
    wide = np.asfortranarray(rest)
    bound = bonds.bind(sets.xj)
    within(bound(sets.xi, rest=wide, stiffness=stiffness, listed_pairs=Csr(first, j)), force, size, "double")
    single = bonds(sets.xi, sets.xj, stiffness.astype("f4"), rest.astype("f4"), listed_pairs=(first, j))
    within(single, force, size, "single")


def test_pairs_of_particles_without_inputs():
    pipe = nbcc.compile(source="input_pair real w;\noutput(sum) real s;\ns += w;")
    pairs = ([0, 2, 2, 3], [8, 8, 0])
    assert pipe([1.0, 2.0, 4.0], listed_pairs=pairs, ni=3, nj=9).tolist() == [3, 0, 4]
    with pytest.raises(nbcc.UsageError, match="there are rows for 3 i-particles, but there are 4"):
        pipe([1.0, 2.0, 4.0], listed_pairs=pairs, ni=4, nj=9)
    with pytest.raises(TypeError, match="nj= must give"):
        pipe([1.0, 2.0, 4.0], listed_pairs=pairs, ni=3)


def test_inputs_of_pairs_are_told(bonds):
    inputs = "xi: vec3[ni], xj: vec3[nj], stiffness: real[pairs], rest: vec3[pairs]"
    assert f"bonds({inputs}) -> force: sum vec3" in repr(bonds)
    assert "bonds(xi: vec3[ni], stiffness: real[pairs], rest: vec3[pairs]) with xj bound" in repr(
        bonds.bind(np.zeros((1, 3)))
    )
    assert [field.role for field in bonds.fields] == ["input_i", "input_j", "input_pair", "input_pair", "output"]
    assert bonds.info()["fields"][3]["shape"] == (3,)


# ---- exclusions --------------------------------------------------------------------------------------------


# ---- from call to call -------------------------------------------------------------------------------------

ASKED = {
    "lists": dict(lists=nbcc.Lists([0, 6], [0, 1], [2], [3]), eps2=[0.5], push=[[1, 2, 3]]),
    "batches": dict(batches=([0] * 6, [0, 1, 1, 1, 1]), eps2=[0.5, 7], push=[[1, 2, 3]] * 2),
    "listed_pairs": dict(listed_pairs=([0, 1, 1, 1, 1, 1, 1], [2])),
    "exclusions": dict(exclusions=([0, 1, 1, 1, 1, 1, 1], [2])),
    "two": dict(batches=([0] * 6, [0, 0, 1, 1, 1]), exclusions=([0, 1, 1, 1, 1, 1, 1], [1]), eps2=0.5),
}


@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize("before", ASKED)
def test_a_call_does_not_see_what_the_one_before_has_asked_for(before, bound):
    pull = nbcc.compile(source=PULL, precision="double")
    sets = Sets(6, 5)
    all_pairs = sets.reference(every(6, 5))
    call, arrays = (pull.bind(sets.xj, sets.mj), sets.all[:1]) if bound else (pull, sets.all)
    if not bound:
        all_pairs.check(call(*arrays))
    different = call(*arrays, **ASKED[before])
    assert not np.array_equal(different.acc, all_pairs.acc)
    all_pairs.check(call(*arrays))
    for after in ASKED:
        expected = nbcc.compile(source=PULL, precision="double")(*sets.all, **ASKED[after])
        call(*arrays, **ASKED[before])
        got = call(*arrays, **ASKED[after])
        assert all(np.array_equal(one, other) for one, other in zip(got, expected)), after


def test_a_refused_call_leaves_nothing_behind(pull):
    sets = Sets(6, 5)
    for arguments in (
        dict(lists=nbcc.Lists([0, 5], [0, 1], [2], [3])),
        dict(batches=([0] * 6, [0, 1, 1, 1, 1]), eps2=[0.5, 7], exclusions=([0] * 7, [1])),
        dict(batches=([0] * 6, [0, 1, 1, 1, 1]), exclusions=([0] * 6 + [1], [9])),
        dict(listed_pairs=([0, 1, 1, 1, 1, 1, 1], [2]), exclusions=([0, 1, 1, 1, 1, 1, 1], [2])),
        dict(listed_pairs=([0, 1, 1, 1, 1, 1, 1], [5])),
    ):
        with pytest.raises(nbcc.UsageError):
            pull(*sets.all, **arguments)
        sets.reference(every(6, 5)).check(pull(*sets.all))


def test_threads_have_lists_of_their_own(pull):
    sets, wrong = Sets(40, 30), []

    def work(seed):
        for k in range(20):
            lists, pairs = random_lists(40, 30, 5, 11, True, seed * 100 + k)
            try:
                sets.reference(pairs).check(pull(*sets.all, lists=lists))
                sets.reference(every(40, 30)).check(pull(*sets.all))
            except AssertionError as error:
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.filterwarnings("ignore:.*name of an option of calls")
def test_fields_that_are_called_like_the_arguments():
    text = "input_i real lists;\ninput_j real batches;\nparam real exclusions;\noutput(sum) real s;\n"
    pipe = nbcc.compile(source=text + "s += lists * batches + exclusions;", precision="double")
    assert pipe([1.0, 2.0], [3.0, 4.0], 10).tolist() == [27, 34]
    assert pipe([1.0, 2.0], [3.0, 4.0], [10, 20], options={"batches": ([0, 1], [0, 1])}).tolist() == [13, 28]
