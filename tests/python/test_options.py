"""Every option of a call, of `compile` and of what lists pairs, with values of every kind: what says the number that the
option takes is that number, whichever type it has; all else is refused by the option's name."""

import numpy as np
import pytest

import nbcc
from random_arguments import SCALARS, index_array

X, Y = np.array([1.0, 2.0, 4.0]), np.array([10.0, 20.0, 40.0])
TEXT = "input_i real a; input_j real b; output(sum) real s; skip_if((a - b) * (a - b) > 1e9); s += b * (1 + i_index + 10 * j_index);"
FAR = "input_i real a; input_j real b; output(sum) real s; s += exp(-(a - b) * (a - b));"
NUMBERS = "output(sum) real s; s += 1 + i_index + 10 * j_index;"


@pytest.fixture(scope="module")
def sums():
    return nbcc.compile(source=TEXT, precision="double", math="precise")


@pytest.fixture(scope="module")
def numbers():
    return nbcc.compile(source=NUMBERS, precision="double", math="precise")


@pytest.fixture(scope="module")
def far():
    return nbcc.compile(source=FAR, precision="double", math="precise")


def is_whole(said, least=-(2**63), most=2**63 - 1):
    return isinstance(said, int) and not isinstance(said, bool) and least <= said <= most


def is_count(said):
    return said in (0, 1, 2, 3) and is_whole(said)


def is_real(said):
    return isinstance(said, (int, float)) and not isinstance(said, bool) and 0 <= said < 1e300


def is_flag(said):
    return isinstance(said, bool) or said in (0, 1) and isinstance(said, int)


# By the option: what may be given, and a call with it.
OPTIONS = {
    "ni": (is_count, lambda p, v: p["numbers"](ni=v, nj=2)),
    "nj": (is_count, lambda p, v: p["numbers"](ni=2, nj=v)),
    "i_offset": (is_whole, lambda p, v: p["sums"](X, Y, i_offset=v)),
    "j_offset": (is_whole, lambda p, v: p["sums"](X, Y, j_offset=v)),
    "skin": (is_real, lambda p, v: p["sums"](X, Y, skin=v)),
    "tolerance": (lambda said: is_real(said) and (said == 0 or 1e-14 <= said <= 1), lambda p, v: p["far"](X, Y, tolerance=v)),
    "accumulate": (is_flag, lambda p, v: p["sums"](X, Y, accumulate=v, out=np.ones(3))),
    "clamp": (is_flag, lambda p, v: p["sums"](X, Y, clamp=v)),
    "i": (lambda said: is_whole(said, 0, 3), lambda p, v: p["sums"](X, Y, i=slice(0, v, 1))),
    "batches|count": (lambda said: is_whole(said, 2), lambda p, v: p["sums"](X, Y, batches=([0, 0, 1], [0, 1, 1], v))),
    "threads": (lambda said: is_whole(said, 0, 3), lambda p, v: nbcc.compile(source=TEXT, threads=v)(X, Y)),
}
WORDS = {
    "precision": ("single", "mixed", "double"),
    "math": ("fast", "precise"),
    "root": ("refined", "estimate", "exact"),
    "pairs": ("auto", "all", "cutoff"),
}


@pytest.mark.parametrize("name", WORDS)
def test_options_that_are_words(sums, name):
    others = [value for value, _ in SCALARS if value is not None] + ["", np.array(WORDS[name]), np.array(WORDS[name][:1])]
    calls = (lambda value: sums(X, Y, **{name: value}), lambda value: nbcc.compile(source=TEXT, **{name: value}))
    for call in calls:
        for word in (*WORDS[name], np.str_(WORDS[name][0]), None):
            if word is not None or call is calls[0]:
                call(word)
        for value in others:
            with pytest.raises(ValueError, match=f"^{name}: expected '.*', got "):
                pytest.fail(f"{type(value).__name__} was taken: {call(value)}")


# None says "not given".
MAY_BE_NONE = ("ni", "nj", "skin", "tolerance", "i")
# Of these a number may be one that no machine has memory, or time, for.
TOO_LARGE = ("ni", "nj")


@pytest.mark.parametrize("name", OPTIONS)
def test_what_options_may_be(sums, numbers, far, name):
    is_legal, call = OPTIONS[name]
    pipelines = {"sums": sums, "numbers": numbers, "far": far}
    legal = 0
    for value, said in SCALARS:
        if value is None and name in MAY_BE_NONE or name in TOO_LARGE and is_whole(said, 4):
            continue
        what = f"{name} = {type(value).__name__} {repr(value)[:60] if not is_whole(said, -(10**6000), 10**6000) else ''}"
        if is_legal(said):
            legal += 1
            assert np.array_equal(call(pipelines, value), call(pipelines, said)), what
        else:
            with pytest.raises((TypeError, ValueError, nbcc.UsageError), match=rf"\b({name})\b"):
                pytest.fail(f"{what} was taken: {call(pipelines, value)}")
    assert legal > 2


def test_numbers_of_thousands_of_digits_are_not_written_out(sums):
    with pytest.raises(ValueError, match="i_offset: expected an integer from .* got an integer of 16610 bits"):
        sums(X, Y, i_offset=10**5000)
    with pytest.raises(ValueError, match="device: expected 'cpu'"):
        sums(X, Y, device=10**5000)


# By the option: indices that may be given, and a call with them.
LISTED = {
    "i": ([2, 0], lambda p, v: p(X, Y, i=v)),
    "i_batch": ([0, 0, 1], lambda p, v: p(X, Y, batches=(v, [0, 1, 1]))),
    "j_batch": ([0, 0, 1], lambda p, v: p(X, Y, batches=([0, 1, 1], v))),
    "listed_pairs: first": ([0, 1, 1, 3], lambda p, v: p(X, Y, listed_pairs=(v, [2, 0, 1]))),
    "listed_pairs: j": ([2, 0, 1], lambda p, v: p(X, Y, listed_pairs=([0, 1, 1, 3], v))),
    "exclusions: j": ([2, 0, 1], lambda p, v: p(X, Y, exclusions=([0, 1, 1, 3], v))),
    "nbcc.Rows: j": ([2, 0, 1], lambda p, v: p(X, Y, listed_pairs=nbcc.Rows([0, 1, 1, 3], v))),
    "j_order": ([2, 0, 1], lambda p, v: p(X, Y, lists=nbcc.Lists([0, 3], [0, 1], [0], [2], j_order=v))),
}


@pytest.mark.parametrize("name", LISTED)
def test_random_indices(sums, name):
    indices, call = LISTED[name]
    random = np.random.default_rng(len(name))
    for _ in range(300):
        one = index_array(random, indices)
        if one.numbers is not None and not np.array_equal(one.numbers, indices):
            continue  # laid out so that all are the first
        if one.numbers is not None:
            assert np.array_equal(call(sums, one.value), call(sums, indices)), one.what
            continue
        with pytest.raises((TypeError, ValueError), match=name):
            pytest.fail(f"{name}: {one.what} was taken: {call(sums, one.value)}")


@pytest.mark.parametrize("value, cast", [
    (np.array([1, 2, 3], "u1"), '.astype("f8")'),
    (np.array([1, 2, 3], ">f8"), '.astype("f8")'), (np.array([True, False, True]), '.astype("f8")'),
    (np.array([1, 2, 3], object), '.astype("f8")'), (np.array([1, 2, 3], "i2"), '.astype("f8")')])
def test_the_cast_to_write_is_told_and_is_right(sums, value, cast):
    with pytest.raises(TypeError, match="'a' .*expected float16, bfloat16, float32, float64, int32 or int64, got ") as error:
        sums(value, Y)
    assert str(error.value).endswith(f"; {cast} of it is read")
    assert np.array_equal(sums(eval(f"value{cast}"), Y), sums([float(one) for one in value], Y))


@pytest.mark.parametrize("kind", ["f4", "f8", "f2", ">f8", "longdouble", "u8", ">u8", "object"])
def test_no_cast_is_told_that_loses_something(kind):
    whole = nbcc.compile(source="input_i int a; input_j real b; output(sum) real s; s += a * b;")
    with pytest.raises(TypeError, match=r"'a' .*expected (float32, float64, )?int32 or int64, got [\w<>=]+$"):
        whole(np.array([1, 2, 3]).astype(kind), Y)


@pytest.mark.parametrize("numbers", [range(2**63, 2**63 + 3), range(-(2**63), -(2**63) - 3, -1), range(0, 2**80, 2**79 - 1)])
def test_ranges_beyond_int64(sums, numbers):
    for call in (lambda: nbcc.Rows([0, 1, 1, 3], numbers), lambda: sums(X, Y, i=numbers)):
        with pytest.raises(ValueError, match="(j|i): expected integers that int64 holds, got "):
            call()
    assert np.array_equal(nbcc.Rows([0, 0, 3], range(2**63 - 3, 2**63)).j, np.arange(3) + (2**63 - 3))


def test_a_mask_is_no_list_of_indices(sums):
    mask = np.array([True, False, True])
    with pytest.raises(TypeError, match="i: expected a slice or indices, got a mask; numpy.flatnonzero"):
        sums(X, Y, i=mask)
    assert np.array_equal(sums(X, Y, i=np.flatnonzero(mask)), sums(X, Y) * mask)


@pytest.mark.parametrize("i", [[2, 2], [0, 1, 0], np.array([1, 1], "i4"), np.array([2, 0, 2])])
def test_an_i_is_chosen_once(sums, i):
    for options in ({}, dict(out=np.ones(3), accumulate=True), dict(listed_pairs=([0, 1, 1, 3], [2, 0, 1]))):
        with pytest.raises(nbcc.UsageError, match=r"i_list\[\d\] is \d, as i_list\[\d\] is: an i-particle may be chosen once"):
            sums(X, Y, i=i, **options)


def test_ids_of_batches_may_be_anything(sums):
    near, far = np.array([0, 0, 1]), np.array([3, 3, 2**63 - 2])
    assert np.array_equal(sums(X, Y, batches=(far, far)), sums(X, Y, batches=(near, near)))
    assert np.array_equal(sums(X, Y, batches=(far, far, 2**63 - 1)), sums(X, Y, batches=(near, near)))
    with pytest.raises(ValueError, match=f"batches: expected ids less than {2**63 - 1}"):
        sums(X, Y, batches=(near, np.array([0, 0, 2**63 - 1])))
    with pytest.raises(nbcc.UsageError, match="batches: j_batch has 2 entries, but there are 3 j-particles"):
        sums(X, Y, batches=(near, near[:2]))
