"""Wrong calls: the exception's type, and that it names the argument, what was expected and what came."""

import re

import numpy as np
import pytest

import nbcc
from conftest import Cloud

N = 5
X, M = Cloud(N).x, Cloud(N).m


def outputs(**changed):
    return {"acc": np.zeros((N, 3)), "pot": np.zeros(N), **changed}


class InKpc(np.ndarray):
    """What nbcc sees of astropy's and unyt's quantities."""

    unit = "kpc"


IN_KPC = X.view(InKpc)
MASKED = np.ma.masked_array(X, np.zeros_like(X, bool))

CASES = {
    "missing": (TypeError, dict(xi=X, xj=X), "gravity() lacks its input_j real mj"),
    "unknown": (TypeError, dict(xi=X, xj=X, mj=M, mass=M), "no input and no param 'mass'; it has xi, xj, mj, eps2"),
    "an_output": (TypeError, dict(xi=X, xj=X, mj=M, acc=X), "no input and no param 'acc'"),
    "length_j": (
        ValueError,
        dict(xi=X, xj=X, mj=M[:4]),
        "'mj' (input_j real): expected 5 j-particles, as 'xj' has, got 4",
    ),
    "transposed": (
        ValueError,
        dict(xi=X.T, xj=X, mj=M),
        "'xi' (input_i vec3): expected shape (N, 3), got (3, 5); .T of it",
    ),
    "rank_low": (ValueError, dict(xi=M, xj=X, mj=M), "'xi' (input_i vec3): expected shape (N, 3), got (5,)"),
    "rank_high": (ValueError, dict(xi=X[None], xj=X, mj=M), "expected shape (N, 3), got (1, 5, 3)"),
    "rank_zero": (ValueError, dict(xi=X, xj=X, mj=np.array(1.0)), "'mj' (input_j real): expected shape (N,), got ()"),
    "scalar_of_rows": (ValueError, dict(xi=X, xj=X, mj=X), "'mj' (input_j real): expected shape (N,), got (5, 3)"),
    "long_double": (
        TypeError,
        dict(xi=X.astype("longdouble"), xj=X, mj=M),
        "'xi' (input_i vec3): expected float16, bfloat16, float32, float64, int32 or int64, got float128",
    ),
    "complex": (TypeError, dict(xi=X.astype("c16"), xj=X, mj=M), "got complex128"),
    "swapped_bytes": (TypeError, dict(xi=X.astype(">f8"), xj=X, mj=M), "got >f8"),
    "objects": (TypeError, dict(xi=X.astype(object), xj=X, mj=M), "got object"),
    "unsigned": (
        TypeError,
        dict(xi=X, xj=X, mj=np.ones(N, "u8")),
        "'mj' (input_j real): expected float16, bfloat16, float32, float64, int32 or int64, got uint64",
    ),
    "bool": (TypeError, dict(xi=X, xj=X, mj=np.ones(N, bool)), "got bool"),
    "number": (TypeError, dict(xi=X, xj=X, mj=1.0), "'mj' (input_j real): expected an array, got float"),
    "none": (TypeError, dict(xi=None, xj=X, mj=M), "'xi' (input_i vec3): expected an array, got NoneType"),
    "text": (TypeError, dict(xi=X, xj=X, mj="12345"), "'mj' (input_j real): expected an array, got str"),
    "bytes": (
        TypeError,
        dict(xi=X, xj=X, mj=b"12345"),
        "expected float16, bfloat16, float32, float64, int32 or int64, got buffer format 'B'",
    ),
    "masked": (TypeError, dict(xi=MASKED, xj=X, mj=M), "'xi' (input_i vec3): expected an array without a mask"),
    "unit": (TypeError, dict(xi=IN_KPC, xj=X, mj=M), "'xi' (input_i vec3): expected numbers without a unit, got numbers in 'kpc'"),
    "unit_of_a_param": (TypeError, dict(xi=X, xj=X, mj=M, eps2=IN_KPC[0, 0:1]), "'eps2' (param real): expected numbers without"),
    "ragged": (TypeError, dict(xi=[[1, 2, 3], [1, 2]], xj=X, mj=M), "'xi' (input_i vec3): expected rows of one length"),
    "list_of_texts": (TypeError, dict(xi=X, xj=X, mj=list("abcde")), "'mj' (input_j real): expected numbers"),
    "param_text": (TypeError, dict(xi=X, xj=X, mj=M, eps2="1"), "'eps2' (param real): expected numbers, got str"),
    "param_none": (TypeError, dict(xi=X, xj=X, mj=M, eps2=None), "'eps2' (param real): expected numbers, got NoneType"),
    "param_count": (ValueError, dict(xi=X, xj=X, mj=M, eps2=[1, 2]), "'eps2' (param real): expected 1 number, got 2"),
    "device": (
        ValueError,
        dict(xi=X, xj=X, mj=M, device="tpu"),
        "device: expected 'cpu', 'cuda', 'cuda:N', 'cuda:0,2' or 'cuda:all', got 'tpu'",
    ),
    "stream": (ValueError, dict(xi=X, xj=X, mj=M, stream=0), "stream= is for GPUs"),
    "stream_type": (TypeError, dict(xi=X, xj=X, mj=M, stream="a"), "stream: expected an integer or a stream object"),
    "precision": (
        ValueError,
        dict(xi=X, xj=X, mj=M, precision="half"),
        "precision: expected 'single', 'mixed', 'double', got 'half'",
    ),
    "math": (ValueError, dict(xi=X, xj=X, mj=M, math="slow"), "math: expected 'fast', 'precise', got 'slow'"),
    "outputs": (ValueError, dict(xi=X, xj=X, mj=M, outputs="force"), "there is no output 'force', only acc, pot"),
    "no_outputs": (ValueError, dict(xi=X, xj=X, mj=M, outputs=[]), "outputs: expected at least one of acc, pot"),
    "out_single": (
        TypeError,
        dict(xi=X, xj=X, mj=M, out=np.zeros(N)),
        "out: expected a tuple or a dict of 2 arrays (acc, pot), got ndarray",
    ),
    "out_few": (TypeError, dict(xi=X, xj=X, mj=M, out=(np.zeros(N),)), "out: expected 2 arrays (acc, pot), got 1"),
    "out_unknown": (
        TypeError,
        dict(xi=X, xj=X, mj=M, out={"a": X}),
        "out: there is no output 'a' to write, only acc, pot",
    ),
    "out_unwanted": (
        TypeError,
        dict(xi=X, xj=X, mj=M, out=outputs(), outputs="pot"),
        "there is no output 'acc' to write",
    ),
    "out_length": (
        ValueError,
        dict(xi=X, xj=X, mj=M, out=outputs(pot=np.zeros(4))),
        "'pot' (output real): expected 5 i-particles, as 'xi' has, got 4",
    ),
    "out_shape": (
        ValueError,
        dict(xi=X, xj=X, mj=M, out=outputs(acc=np.zeros((3, N)))),
        "'acc' (output vec3): expected shape (N, 3), got (3, 5)",
    ),
    "out_whole": (
        TypeError,
        dict(xi=X, xj=X, mj=M, out=outputs(pot=np.zeros(N, int))),
        "'pot' (output real): expected float16, bfloat16, float32 or float64, got int64",
    ),
    "out_list": (
        TypeError,
        dict(xi=X, xj=X, mj=M, out=outputs(pot=[0.0] * N)),
        "'pot' (output real): expected an array, got list",
    ),
    "out_read_only": (
        ValueError,
        dict(xi=X, xj=X, mj=M, out=outputs(pot=np.broadcast_to(np.zeros(1), (N,)))),
        "'pot' (output real): expected an array that can be written, got a read-only one",
    ),
    "accumulate": (TypeError, dict(xi=X, xj=X, mj=M, accumulate=True), "accumulate= needs out=, for 'acc' too"),
    "i_step": (
        ValueError,
        dict(xi=X, xj=X, mj=M, i=slice(0, 4, 2), out=outputs()),
        "i: expected a slice of step 1 with 0 <= start <= stop",
    ),
    "i_beyond": (
        ValueError,
        dict(xi=X, xj=X, mj=M, i=[5], out=outputs()),
        "i_list[0] is 5, but there are 5 i-particles",
    ),
    "i_range_beyond": (
        ValueError,
        dict(xi=X, xj=X, mj=M, i=slice(3, 9), out=outputs()),
        "does not fit into 5 i-particles",
    ),
    "i_type": (
        TypeError,
        dict(xi=X, xj=X, mj=M, i=np.array([1.0]), out=outputs()),
        'i: expected integers, got float64',
    ),
    "i_mask": (TypeError, dict(xi=X, xj=X, mj=M, i=np.ones(N, bool), out=outputs()), "i: expected a slice or indices, got a mask"),
    "ni": (ValueError, dict(xi=X, xj=X, mj=M, ni=4), "'xi' (input_i vec3): expected 4 i-particles, as ni has, got 5"),
}


CASES["ni_negative"] = (ValueError, dict(xi=X, xj=X, mj=M, ni=-1), "ni: expected an integer from 0 to 9223372036854775807, got -1")
CASES["offset_type"] = (TypeError, dict(xi=X, xj=X, mj=M, i_offset="1"), "i_offset: expected an integer, got str")
CASES["offset_large"] = (ValueError, dict(xi=X, xj=X, mj=M, j_offset=2**70), "j_offset: expected an integer from -9223372036854775808 to")


@pytest.mark.parametrize("case", CASES)
def test_wrong_arguments(gravity, case):
    kind, arguments, message = CASES[case]
    with pytest.raises(kind, match=re.escape(message)):
        gravity(**arguments)


def test_nothing_is_written_when_an_argument_is_wrong(gravity):
    acc = np.full((N, 3), 7.0)
    with pytest.raises(ValueError):
        gravity(X, X, M, out={"acc": acc, "pot": np.zeros(4)})
    with pytest.raises(ValueError):
        gravity(X, X, M, out={"acc": acc, "pot": np.zeros(N)}, i=[0, 99])
    assert (acc == 7).all()


def test_positions(gravity):
    with pytest.raises(TypeError, match=re.escape("takes at most 4 positional arguments (xi, xj, mj, eps2), got 5")):
        gravity(X, X, M, 1.0, 2.0)
    with pytest.raises(TypeError, match="got 'xj' twice, by position and by name"):
        gravity(X, X, M, xj=X)


def test_outputs_that_share_memory(gravity):
    rows = np.zeros((N, 4))
    with pytest.raises(ValueError, match=re.escape("'pot' (output real): shares memory with output 'acc'")):
        gravity(X, X, M, out=(rows[:, :3], rows[:, 2]))
    with pytest.raises(ValueError, match="shares memory"):
        gravity(X, X, M, out=(rows[:, :3], rows.ravel()[:N]))
    with pytest.raises(ValueError, match="shares memory"):
        gravity(X, X, M, out=(rows[:, 1:], rows[::-1, 3]))


def test_whole_numbers_are_not_made_of_real_ones(types):
    with pytest.raises(TypeError, match=re.escape("'kind_i' (input_i int): expected int32 or int64, got float64")):
        types(np.zeros((1, 2, 2)), np.zeros(1), np.zeros((1, 2)), np.zeros(1, int), shift=(0, 0))


def test_vectors_that_are_not_evenly_spaced(types):
    ends = np.zeros((4, 2, 3))[:, :, :2]
    with pytest.raises(ValueError, match="not evenly spaced"):
        types(ends, np.zeros(4, int), np.zeros((1, 2)), np.zeros(1, int), shift=(0, 0))


def test_a_param_without_default(types):
    with pytest.raises(TypeError, match="types\\(\\) lacks its param vec2 shift"):
        types(np.zeros((1, 2, 2)), np.zeros(1, int), np.zeros((1, 2)), np.zeros(1, int))


def test_a_param_of_whole_numbers_is_whole(types):
    fields = (np.zeros((1, 2, 2)), np.zeros(1, int), np.zeros((1, 2)), np.zeros(1, int))
    for wrong, shown in ((2.5, "2.5"), (2**31, "2147483648"), (float("nan"), "nan")):
        with pytest.raises(nbcc.UsageError, match=f"'scale' of .* is an int: it must be a whole number .*, got {shown}"):
            types(*fields, shift=(0, 0), scale=wrong)


def test_an_index_cannot_be_accumulated(nearest):
    with pytest.raises(nbcc.UsageError, match="cannot be accumulated"):
        nearest(X, X, accumulate=True, out=(np.zeros(N, int), np.zeros(N)))


def test_counts_that_nothing_tells():
    count = nbcc.compile(source="output(sum) real a; a += 1.0;")
    with pytest.raises(TypeError, match="nj= must give"):
        count(ni=3)
    with pytest.raises(TypeError, match="ni= or out= must give"):
        count(nj=3)


def test_wrong_binds(gravity):
    for arguments, message in [
        (dict(xj=X), "lacks its input_j real mj"),
        (dict(xj=X, mj=M, xi=X), "has no input_j and no param 'xi'; it has xj, mj, eps2"),
        (dict(xj=X, mj=M[:3]), "expected 5 j-particles, as 'xj' has, got 3"),
        (dict(xj=X.T, mj=M), "expected shape"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            gravity.bind(**arguments)
    with pytest.raises(TypeError, match="'mj' is bound already"):
        gravity.bind(X, M)(X, mj=M)
    with pytest.raises(TypeError, match="takes at most 2"):
        gravity.bind(X, M)(X, 1.0, X)
