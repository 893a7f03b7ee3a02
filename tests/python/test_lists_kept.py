"""nbcc.Lists and nbcc.Rows never change: they are copies, and are given to the library once."""

import copy
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

import nbcc
from nbcc._c import _library
from test_lists import PULL, Sets, every, pairs_of, random_lists, random_rows

NAMES = ("i_first", "range_first", "j_begin", "j_end", "i_order", "j_order", "shifts")


@pytest.fixture
def pull():
    return nbcc.compile(source=PULL, name="pull.pipe", precision="double")


@pytest.fixture
def given(monkeypatch):
    """How often the library was given lists, listed pairs, exclusions; with what ends them."""
    counts = {}

    def counted(name):
        function, counts[name] = getattr(_library.lib, f"nbcc_sum_set_{name}"), 0

        def call(*arguments):
            counts[name] += 1
            return function(*arguments)

        monkeypatch.setattr(_library.lib, f"nbcc_sum_set_{name}", call)

    for name in ("lists", "listed_pairs", "exclusions"):
        counted(name)
    return counts


def test_arrays_are_copies_that_cannot_be_written(pull):
    sets, ends = Sets(4, 4), np.array([4])
    arrays = [np.array([0, 4]), np.array([0, 1]), np.array([0]), ends, np.arange(4), np.arange(4), np.zeros((1, 3))]
    lists = nbcc.Lists(*arrays)
    for name, array in zip(NAMES, arrays):
        kept = getattr(lists, name)
        assert np.array_equal(kept, array) and kept.shape == array.shape and not np.shares_memory(kept, array)
        with pytest.raises(ValueError, match="read-only"):
            kept[0] = 1
        with pytest.raises(AttributeError):
            setattr(lists, name, array)
    lists = nbcc.Lists(*arrays[:4])
    assert lists.i_order is lists.j_order is lists.shifts is None
    ends[0] = 3
    assert (pull(*sets.all, lists=lists).pairs == 4).all()
    first, j = np.arange(5), np.arange(4)
    rows = nbcc.Rows(first, j)
    first[:], j[:] = 0, 0
    assert rows.first.tolist() == [0, 1, 2, 3, 4] and rows.j.tolist() == [0, 1, 2, 3]
    assert str(rows) == "<nbcc.Rows of 4 i: 4 pairs>"
    with pytest.raises(ValueError, match="read-only"):
        rows.j[0] = 1
    assert (pull(*sets.all, listed_pairs=rows).most == sets.mj).all()


def test_copies_and_pickles_have_arrays_of_their_own(pull):
    sets = Sets(9, 8)
    lists, pairs = random_lists(9, 8, 3, 5, True, seed=1)
    first, j = random_rows(9, 8, 4, seed=2)
    for again in (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        other = again(lists)
        assert all(np.array_equal(getattr(other, name), getattr(lists, name)) for name in NAMES[:6])
        sets.reference(pairs).check(pull(*sets.all, lists=other))
        # It is the copy's own numbers that are read.
        other.j_end.flags.writeable = True
        other.j_end[:] = other.j_begin
        assert (nbcc.compile(source=PULL, precision="double")(*sets.all, lists=other).pairs == 0).all()
        sets.reference(pairs_of(first, j)).check(pull(*sets.all, listed_pairs=again(nbcc.Rows(first, j))))


def test_rows_that_cannot_be_made():
    for arguments, kind, message in (
        (([], []), ValueError, "nbcc.Rows: first: expected ni \\+ 1 integers, got 0"),
        (([0, 1], [0.5]), TypeError, "nbcc.Rows: j: expected integers, got float64"),
        (([[0, 1]], [0]), ValueError, "nbcc.Rows: first: expected shape \\(N,\\), got \\(1, 2\\)"),
    ):
        with pytest.raises(kind, match=message):
            nbcc.Rows(*arguments)


def test_the_same_is_given_once(pull, given):
    sets = Sets(30, 20)
    (lists, pairs), (others, other_pairs) = (random_lists(30, 20, 4, 6, True, seed) for seed in (1, 2))
    rows, more = (nbcc.Rows(*random_rows(30, 20, 9, seed)) for seed in (3, 4))
    of_lists, of_others = sets.reference(pairs), sets.reference(other_pairs)
    of_rows = sets.reference(pairs_of(rows.first, rows.j))
    for _ in range(3):
        of_lists.check(pull(*sets.all, lists=lists))
    assert given == dict(lists=1, listed_pairs=0, exclusions=0)
    of_others.check(pull(*sets.all, lists=others))
    of_lists.check(pull(*sets.all, lists=lists))
    assert given["lists"] == 3
    for _ in range(3):
        of_rows.check(pull(*sets.all, listed_pairs=rows))
    assert given == dict(lists=3, listed_pairs=1, exclusions=0)
    out = set(pairs_of(rows.first, rows.j))
    left = sets.reference([pair for pair in every(30, 20) if pair not in out])
    for _ in range(3):
        left.check(pull(*sets.all, exclusions=rows))
    assert given == dict(lists=4, listed_pairs=1, exclusions=1)  # the fourth ends the listed pairs
    for _ in range(2):
        pull(*sets.all, lists=lists, exclusions=rows)
    pull(*sets.all, lists=lists, exclusions=more)
    assert given == dict(lists=5, listed_pairs=1, exclusions=2)
    of_lists.check(pull(*sets.all, lists=lists))
    assert given == dict(lists=5, listed_pairs=1, exclusions=3)
    for _ in range(2):
        sets.reference(every(30, 20)).check(pull(*sets.all))
    of_lists.check(pull(*sets.all, lists=lists))
    assert given == dict(lists=7, listed_pairs=1, exclusions=3)


def test_other_arrays_are_given_each_time(pull, given):
    sets = Sets(5, 4)
    first, j = np.arange(6), np.zeros(5, int)
    for k in range(3):
        j[:] = k
        assert (pull(*sets.all, listed_pairs=(first, j)).most == sets.mj[k]).all()
    # Rows between them do not pass for these, nor these for rows.
    rows = nbcc.Rows(first, j)
    for _ in range(2):
        j[:] = 3
        assert (pull(*sets.all, listed_pairs=(first, j)).most == sets.mj[3]).all()
        assert (pull(*sets.all, listed_pairs=rows).most == sets.mj[2]).all()
    batches = [np.zeros(n, int) for n in (5, 4)]
    pull(*sets.all, batches=batches)
    assert (pull(*sets.all, listed_pairs=rows).most == sets.mj[2]).all()
    assert given["listed_pairs"] == 8


def test_params_by_group_are_those_of_each_call(pull, given):
    sets = Sets(6, 5)
    lists = nbcc.Lists([0, 2, 6], [0, 1, 2], [0, 0], [5, 5])
    of_i = np.array([0.25] * 2 + [4.0] * 4)[[i for i, _ in every(6, 5)]]
    by_group, alone = sets.reference(every(6, 5), eps2=of_i), sets.reference(every(6, 5), eps2=0.5)
    for _ in range(2):
        by_group.check(pull(*sets.all, eps2=[0.25, 4.0], lists=lists))
        sets.reference(every(6, 5)).check(pull(*sets.all, lists=lists))
        alone.check(pull(*sets.all, eps2=0.5, lists=lists))
        alone.check(pull(*sets.all, eps2=0.5, lists=lists))
        by_group.check(pull(*sets.all, eps2=[0.25, 4.0], lists=lists))
        alone.check(pull(*sets.all, eps2=0.5, lists=lists))
    assert given["lists"] == 1
    by_group.check(pull(*sets.all, eps2=[0.25, 4.0], lists=lists))
    alone.check(pull(*sets.all, eps2=0.5))


def test_what_was_refused_is_not_there(pull, given):
    sets, few = Sets(6, 5), Sets(4, 5)
    wrong = nbcc.Lists([0, 6], [0, 1], [3], [2])
    lists, pairs = random_lists(6, 5, 2, 3, True, seed=1)
    beyond = nbcc.Rows([0] * 6 + [1], [9])
    for _ in range(2):
        with pytest.raises(nbcc.UsageError):
            pull(*sets.all, lists=wrong)
        sets.reference(pairs).check(pull(*sets.all, lists=lists))
        with pytest.raises(nbcc.UsageError):
            pull(*sets.all, lists=wrong)
        # What a refusal has left is not relied upon.
        sets.reference(pairs).check(pull(*sets.all, lists=lists))
        # Of another number of particles: said by each run.
        with pytest.raises(nbcc.UsageError, match="the groups have 6 i-particles, but there are 4"):
            pull(*few.all, lists=lists)
        with pytest.raises(nbcc.UsageError, match="6, less|j\\[0\\] is 9|there are 5 j-particles"):
            pull(*sets.all, lists=lists, exclusions=beyond)
        sets.reference(every(6, 5)).check(pull(*sets.all))
    assert given == dict(lists=10, listed_pairs=0, exclusions=4)


def test_find_neighbours_ends_them_and_shares_exclusions(given):
    near = nbcc.compile(
        source="input_i real x; input_j real y; output(sum) real n; real d = y - x; skip_if(d * d >= 1.0); n += 1;",
        precision="double",
    )
    x = np.arange(20) * 0.4
    rows = nbcc.Rows(range(21), range(20))
    assert near(x, x, lists=nbcc.Lists([0, 20], [0, 1], [0], [20])).sum() == len(near.find_neighbours(x, x).j)
    for _ in range(2):
        without = near(x, x, exclusions=rows)
        assert np.array_equal(np.diff(near.find_neighbours(x, x, exclusions=rows).first), without)
    assert given == dict(lists=2, listed_pairs=0, exclusions=1)
    assert len(near.find_neighbours(x, x).j) == without.sum() + 20


def test_a_pipeline_does_not_keep_them(pull, given):
    sets = Sets(6, 5)
    rows = nbcc.Rows(*random_rows(6, 5, 3, seed=1))
    pull(*sets.all, listed_pairs=rows)
    alive = weakref.ref(rows)
    del rows
    gc.collect()
    assert alive() is None
    first, j = random_rows(6, 5, 3, seed=2)
    sets.reference(pairs_of(first, j)).check(pull(*sets.all, listed_pairs=nbcc.Rows(first, j)))
    sets.reference(every(6, 5)).check(pull(*sets.all))
    assert given["listed_pairs"] == 2


def test_threads_and_kernels_share_them(pull):
    sets, wrong = Sets(40, 30), []
    lists, pairs = random_lists(40, 30, 5, 11, True, seed=6)
    expected, all_pairs = sets.reference(pairs), sets.reference(every(40, 30))

    def work():
        for _ in range(20):
            try:
                expected.check(pull(*sets.all, lists=lists))
                all_pairs.check(pull(*sets.all))
                assert np.array_equal(pull(*sets.all, lists=lists, precision="single").pairs, expected.pairs)
            except AssertionError as error:
                wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
