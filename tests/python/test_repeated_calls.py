"""Calls of a kind that was seen before are not checked again: sequences of calls of one pipeline, each against the same call
of a pipeline that has seen none; and which functions of the library a repeated call uses."""

import sys
import types
import warnings

import numpy as np
import pytest

import nbcc
from nbcc._c import _library
from sampling import sampled

TEXT = """input_i vec3 xi; input_i real hi; input_j vec3 xj; input_j real mj; param real eps2 = 0.1; param vec3 box = vec3(9, 9, 9);
param int n = 1; output(sum) vec3 acc; output(sum) real pot; output(max) real most; output(argmin) index near; output(total) real all; output(count) int c;
vec3 d = (xj - xi) * box; real r2 = dot(d, d) + eps2 + hi * hi; acc += mj * d / r2; pot -= mj * rsqrt(r2); most = max(most, mj * r2);
near = argmin(near, r2); all += n * mj * r2; c += r2 < 1;"""


class Sequence:
    """Random calls, of which most are the call before with one change."""

    def __init__(self, seed, torch=None, jax=None):
        self.random = np.random.default_rng(seed)
        self.torch, self.jax = torch, jax
        self.options = {}

    def coin(self, chance):
        return bool(self.random.random() < chance)

    def choice(self, *values):
        return values[int(self.random.integers(len(values)))]

    def layout(self, array):
        if self.coin(0.85):
            return array
        kind = self.choice("strided", "reversed", "readonly", "other order", "list", "record", "view")
        if kind == "strided":
            array = np.repeat(array, 2, axis=0)[::2]
        elif kind == "reversed":
            array = array[::-1]
        elif kind == "readonly":
            array.flags.writeable = False
        elif kind == "other order":
            array = np.asfortranarray(array)
        elif kind == "list":
            return array.tolist()
        elif kind == "record":
            record = np.zeros(len(array), [("v", array.dtype, array.shape[1:]), ("w", "f4")])
            record["v"] = array
            array = record["v"]
        elif kind == "view":
            array = array.view(type("Other", (np.ndarray,), {}))
        return array

    def tensor(self, array):
        tensor = self.torch.tensor(np.array(array))
        kind = "plain" if self.coin(0.8) else self.choice("transposed", "negative", "parameter")
        if kind == "transposed" and tensor.dim() == 2:
            return tensor.T.contiguous().T
        if kind == "negative":
            return self.torch._neg_view(tensor)
        if kind == "parameter":
            return self.torch.nn.Parameter(tensor, requires_grad=False)
        return tensor

    def array_of_jax(self, array):
        made = self.jax.numpy.asarray(array)
        kind = "plain" if self.coin(0.8) else self.choice("deleted", "other order", "result")
        if kind == "deleted":
            made.delete()
        elif kind == "other order" and array.ndim == 2:
            from jax.experimental.layout import Format, Layout

            return self.jax.device_put(made, Format(Layout((1, 0)), made.sharding))
        elif kind == "result":  # its numbers may not be there yet
            return self.jax.numpy.sort(made, 0)
        return made

    def array(self, count, *row):
        array = self.random.random((count, *row)).astype(self.choice(*["f8"] * 6, "f4", "i8"))
        if self.coin(0.02):
            array = (array * 9).astype(self.choice("i4", "u1", "f2", ">f8"))
        if self.jax and array.dtype in ("f4", "f8", "i8", "f2") and self.coin(0.7):
            return self.array_of_jax(array)
        of_torch = self.torch and array.dtype in ("f4", "f8", "i8") and self.coin(0.6)
        return self.tensor(array) if of_torch else self.layout(array)

    def change(self, array):
        """Something of the array itself is another than before."""
        how = self.choice("numbers", "numbers", "shape", "flag")
        if isinstance(array, list):
            array[0] = array[-1]
        elif isinstance(array, np.ndarray):
            if how == "numbers" and array.flags.writeable and array.dtype.kind == "f":
                array *= 0.5
            elif how == "flag" and array.base is None:
                array.flags.writeable = not array.flags.writeable
            elif how == "shape" and type(array) is np.ndarray and array.base is None and array.flags.writeable and array.ndim == 1:
                array.resize(len(array) + 1, refcheck=False)
        elif self.torch is None:  # JAX's arrays never change
            return
        elif how == "numbers":
            with self.torch.no_grad():
                array += 1
        elif how == "flag" and array.is_leaf and array.is_floating_point() and not array.is_neg():
            array.requires_grad_(not array.requires_grad)
        elif how == "shape" and array.dim() == 1 and not array.requires_grad and not array.is_neg():
            array.resize_(len(array) + 1).fill_(0.25)

    def field(self, name):
        return {"xi": (self.ni, 3), "hi": (self.ni,), "xj": (self.nj, 3), "mj": (self.nj,)}[name]

    def rows(self):
        """Rows, rarely of another number of i, or with a j that does not exist."""
        count = self.random.integers(0, 3, self.ni + self.coin(0.05))
        j = self.random.integers(0, self.nj + self.coin(0.05), count.sum())
        return nbcc.Rows(np.cumsum([0, *count]), j)

    def begin(self):
        self.ni, self.nj = (int(self.random.integers(1, 4)) for _ in range(2))
        self.fields = {name: self.array(*self.field(name)) for name in ("xi", "hi", "xj", "mj")}
        self.options, self.out, self.leading = {}, None, int(self.random.integers(0, 5))

    def step(self):
        """One thing of the call before is another."""
        what = self.choice("nothing", "nothing", "array", "change", "set", "param", "option", "out", "order")
        name = self.choice("xi", "hi", "xj", "mj")
        if what == "array":
            self.fields[name] = self.array(*self.field(name))
        elif what == "change":
            self.change(self.fields[name])
        elif what == "set" and self.ni == self.nj:
            self.fields["xj"] = self.fields["xi"]
        elif what == "param":
            name = self.choice("eps2", "box", "n")
            value = {
                "eps2": (0.5, 1, np.float64(0.25), np.array(0.3), [0.7], 0.5, 2.5, "x", 10**400),
                "box": ((8.0, 9.0, 7.0), [5, 6.5, 9], np.full(3, 4.0), (1, 2, 3), 3.0),
                "n": (2, 3.0, 5, True),
            }[name]
            self.fields[name] = self.choice(*value)
        elif what == "option":
            name, values = self.choice(
                ("outputs", (None, "pot", ["acc", "all"], ("near",), {"pot", "c"}, "nothing")),
                ("precision", ("single", "double", "mixed", None)),
                ("i_offset", (0, 3, np.int64(2), True)),
                ("exclusions", (None, (np.zeros(self.ni + 1, "i8"), np.zeros(0, "i8")), self.rows(), self.rows())),
                ("listed_pairs", (None, self.rows(), self.rows(), self.rows())),
                ("i", (None, None, slice(0, 1))),
                ("progress", (None, lambda done: None)),
                ("pairs", ("all", "auto", "auto", "cutoff")),
                ("device", (None, "cpu")),
            )
            self.options[name] = self.choice(*values)
        elif what == "out":
            made = {"pot": self.array(self.ni), "most": self.array(self.ni)}
            backwards = dict(reversed(list(made.items())))
            kinds = (made, backwards, made, backwards, tuple(made.values()), {**made, "pot": None}, {**made, "most": made["pot"]})
            self.out = None if self.coin(0.2) else self.choice(*kinds)
            self.options["outputs"] = None if self.out is None else ["pot", "most"]
            if self.coin(0.2):
                self.out, self.options["outputs"] = made["pot"], "pot"
            self.options["accumulate"] = self.out is not None and self.choice(True, False, 0)
        elif what == "order":
            self.leading = int(self.random.integers(0, 5))

    def call(self):
        if not self.options or self.coin(0.12):
            self.begin()
            self.options = {"pairs": "auto"}
        self.step()
        fields = dict(self.fields)
        arrays = [fields.pop(name) for name in ("xi", "hi", "xj", "mj")[: self.leading]]
        names = [str(name) for name in self.random.permutation(list(fields))] if self.coin(0.3) else list(fields)
        return arrays, {**{name: fields[name] for name in names}, **self.options}, self.out


def outcome(pipeline, arrays, keywords, out):
    """What a call returns or raises, and what it has written."""
    made_of = {}
    written = copies(out, made_of)
    given = {} if written is None else {"out": written}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = pipeline(*arrays, **keywords, **given)
        except Exception as error:
            return type(error), str(error)
    info = getattr(made, "info", None)
    made = list(made) if isinstance(made, tuple) else [made]
    kinds = [(type(one), getattr(one, "dtype", None), getattr(one, "requires_grad", None)) for one in made]
    in_order = list(written.values()) if isinstance(written, dict) else written
    in_order = in_order if isinstance(in_order, (list, tuple)) else [in_order]
    are_written = [any(one is other for other in in_order) for one in made]
    return kinds, are_written, contents(made), info, contents([one for one in in_order if one is not None])


def copies(out, made):
    """Of the arrays in `out`, which two pipelines are to write; of an array that is there twice one. made: by id."""
    if isinstance(out, dict):
        return {name: copies(one, made) for name, one in out.items()}
    if isinstance(out, (tuple, list)):
        return type(out)(copies(one, made) for one in out)
    if hasattr(out, "is_deleted"):  # of JAX, which is not written
        return out
    copy = out.detach().clone() if hasattr(out, "detach") else out.copy() if hasattr(out, "copy") else out
    return made.setdefault(id(out), copy)


def contents(values):
    numbers = [np.asarray(one.detach().resolve_neg().numpy() if hasattr(one, "detach") else one) for one in values]
    return [(one.shape, one.tobytes()) for one in numbers]


@pytest.mark.parametrize("library", [None, "torch", "jax"])
@pytest.mark.parametrize("seed", sampled(range(24), 4))
def test_sequences(seed, library):
    others = {library: pytest.importorskip(library)} if library else {}
    pipeline = nbcc.compile(source=TEXT)
    sequence = Sequence(seed, **others)
    found = 0
    find = pipeline._kinds_seen.find
    for _ in range(200):
        call = sequence.call()
        found += _is_known(find, *call)
        fresh = type(pipeline)(pipeline._family)
        assert outcome(pipeline, *call) == outcome(fresh, *call), call
    assert found > 1  # the sequence tests something


def test_a_deleted_array_of_jax_is_named():
    jax = pytest.importorskip("jax")
    pipeline = nbcc.compile(source="input_i real xi; input_j real xj; output(sum) real s; s += xi * xj;")
    x = jax.numpy.ones(5, "f4")
    for _ in range(2):
        pipeline(x, x)
    x.delete()
    with pytest.raises(TypeError, match="'xi'.*the array is deleted"):
        pipeline(x, x)


def _is_known(find, arrays, keywords, out):
    from nbcc._call._call import OPTIONS
    from nbcc._call._repeated import kind_of

    options = {name: value for name, value in keywords.items() if name in OPTIONS}
    fields = {name: value for name, value in keywords.items() if name not in OPTIONS}
    seen = kind_of(arrays, fields, options if out is None else {**options, "out": out})
    return seen is not None and find(seen) is not None


@pytest.fixture
def counted(monkeypatch):
    """The names of the library's functions that are called."""
    names = []

    def counting(name, function):
        return lambda *arguments: (names.append(name), function(*arguments))[1]

    nbcc.compile("gravity")  # loads the library
    for name in _library._FUNCTIONS:
        if name.endswith(("_destroy", "_close")):  # called when objects of other tests are collected
            continue
        monkeypatch.setitem(_library.lib.__dict__, name, counting(name, getattr(_library.lib, name)))
    return names


ALWAYS = ["nbcc_sum_run", "nbcc_sum_warning", "nbcc_sum_method"]


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_a_repeated_call_binds_what_is_new_and_waits_for_nothing(library, counted):
    made = np if library == "numpy" else pytest.importorskip("jax.numpy" if library == "jax" else library)
    x, y, m = made.ones((5, 3)), made.zeros((5, 3)), made.ones(5)
    out = (made.zeros((5, 3)), made.zeros(5))
    gravity = nbcc.compile("gravity")
    if library == "jax":  # its arrays are not written
        out = (np.zeros((5, 3), "f4"), np.zeros(5, "f4"))
        gravity(x, x, m)  # the first call with JAX's arrays loads what describes them
    for _ in range(2):
        gravity(x, x, m, eps2=0.5, out=out)
    counted.clear()
    gravity(x, x, m, eps2=0.5, out=out)
    assert counted == ALWAYS
    counted.clear()
    gravity(x, x, m, eps2=0.25, out=out)
    assert counted == ["nbcc_sum_set_param", *ALWAYS]
    gravity(y, x, m, eps2=0.25)
    counted.clear()
    kept = gravity(x, x, m, eps2=0.25)
    # An address that has been bound already is not bound again.
    assert counted[-3:] == ALWAYS and set(counted[:-3]) == {"nbcc_sum_bind"} and len(counted) <= 6
    assert kept.info.precision in ("single", "double")


def test_a_repeated_call_over_rows_lists_new_rows_only(counted):
    text = "input_i real xi; input_j real xj; input_pair real a; output(sum) real s; output(pair) real p; p = a * xj; s += xi * a * xj;"
    sums = nbcc.compile(source=text, precision="double")
    x, a = np.arange(1.0, 4), np.arange(4.0)
    of = {key: nbcc.Rows([0, 2, 3, 4], j) for key, j in (("one", [1, 2, 0, 1]), ("other", [0, 0, 2, 2]))}
    of["longer"] = nbcc.Rows([0, 2, 3, 5], [1, 2, 0, 1, 2])

    def call(key, a):
        counted.clear()
        made = sums(x, x, a, listed_pairs=of[key])
        j, first = of[key].j, of[key].first
        assert np.array_equal(made.p, a * x[j])
        assert np.array_equal(made.s, x * np.add.reduceat(a * x[j], first[:-1]))
        return set(counted) - {"nbcc_sum_bind"}

    call("one", a)
    assert call("one", a) == set(ALWAYS)
    assert call("other", a) == {"nbcc_sum_set_listed_pairs", *ALWAYS}
    assert call("longer", np.arange(5.0)) >= {"nbcc_sum_set_listed_pairs", *ALWAYS}
    assert call("one", a) == {"nbcc_sum_set_listed_pairs", *ALWAYS}
    with pytest.raises(ValueError, match="expected 5 pairs, as listed_pairs has, got 4"):
        sums(x, x, a, listed_pairs=of["longer"])
    assert len(sums._kinds_seen._known) == 2


def test_the_kind_that_was_learned_first_is_forgotten():
    sums = nbcc.compile(source="input_j real xj; output(sum) real s; s += xj;", precision="double")
    arrays = [np.ones(n) for n in range(1, 67)]

    def call(x):
        assert np.array_equal(sums(x, ni=1), [len(x)])

    def known():
        return [_is_known(sums._kinds_seen.find, (x,), {"ni": 1}, None) for x in arrays]

    for x in arrays[:64]:
        call(x)
    assert known() == [True] * 64 + [False] * 2
    call(arrays[64])
    assert known() == [False] + [True] * 64 + [False]
    call(arrays[0])
    assert known() == [True, False] + [True] * 63 + [False]


def test_jaxs_arrays_in_another_order_are_read_as_such():
    jax = pytest.importorskip("jax")
    from jax.experimental.layout import Format, Layout

    sums = nbcc.compile(source="input_i vec3 x; input_j real m; output(sum) vec3 s; s += m * x;")
    x, m = jax.numpy.arange(12.0).reshape(4, 3), jax.numpy.ones(2)
    by_columns = jax.device_put(x, Format(Layout((1, 0)), x.sharding))
    for _ in range(4):
        for one in (x, by_columns):
            assert np.array_equal(sums(one, m), 2 * np.arange(12.0).reshape(4, 3))


def test_cupys_arrays_have_a_kind(monkeypatch):
    """Without a GPU: an array and a stream with the attributes of CuPy's."""
    from nbcc._arrays import _repeatable
    from nbcc._call._repeated import kind_of

    current = types.SimpleNamespace(ptr=0)

    class Device(int):
        id = property(int)
        __enter__ = __exit__ = lambda *_: None

    class Array:
        def __init__(self, pointer, shape=(4,), device=0):
            self.data, self.dtype, self.shape = types.SimpleNamespace(ptr=pointer), np.dtype("f4"), shape
            self.strides, self.device = (4,), Device(device)

    cuda = types.SimpleNamespace(
        get_current_stream=lambda: current, runtime=types.SimpleNamespace(getDevice=lambda: 0), Device=Device
    )
    cupy = types.SimpleNamespace(ndarray=Array, cuda=cuda, empty=lambda shape, dtype: Array(77, shape))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(_repeatable, "REPEATABLE", dict(_repeatable.REPEATABLE))
    monkeypatch.setattr("nbcc._call._repeated.REPEATABLE", _repeatable.REPEATABLE)
    one, other = kind_of([Array(16)], {}, {}), kind_of([Array(32)], {}, {})
    assert one.key == other.key and (one.values, other.values) == ([16], [32])
    for different in (Array(16, (5,)), Array(16, device=1)):
        assert kind_of([different], {}, {}).key != one.key
    assert kind_of([Array(16)], {}, {"tolerance": 1e-3}).key != one.key
    stream_of, ordinal = one.of_arrays[0][:2]
    assert (stream_of(ordinal), ordinal) == (1, 0)
    current.ptr = 5
    assert stream_of(ordinal) == 5
    made, address = _repeatable.REPEATABLE[Array].another(Array(16))()
    assert made.shape == (4,) and address == 77


def test_streams_of_a_kind():
    """A call in another stream than the arrays' library works in is checked again, because one must wait for the other."""
    from nbcc._call._repeated import Kind

    names = Kind._fields
    kind = Kind(**dict.fromkeys(names))._replace(stream_of=lambda ordinal: 7 + ordinal, ordinal=1)
    assert kind.order().stream == 8
    assert kind._replace(stream=8).order().stream == 8
    assert kind._replace(stream=9).order() is None
    assert kind._replace(stream=9, stream_of=None).order().stream == 9


def test_arrays_for_results_are_told_apart_by_name():
    sums = nbcc.compile(source="input_i real x; input_j real y; output(sum) real s; output(max) real t; s += x * y; t = max(t, y);")
    x, y = np.ones(3), np.array([1.0, 2.0])
    for out in ((np.zeros(3), np.zeros(3)) for _ in range(3)):
        for given in ({"s": out[0], "t": out[1]}, {"t": out[1], "s": out[0]}, out, list(out)):
            out[0][:] = out[1][:] = 0
            sums(x, y, out=given)
            assert out[0].tolist() == [3, 3, 3] and out[1].tolist() == [2, 2, 2]
        with pytest.raises(ValueError, match="shares memory with output 's'"):
            sums(x, y, out=(out[0], out[0]))
