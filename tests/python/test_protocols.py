"""Arrays that are not NumPy's: buffers, lists, DLPack, the CUDA array interface; and GPU calls as far as they can be
followed without a GPU: objects that say they lie on one, summed by the CPU's kernel."""

import array
import contextlib
import ctypes
import gc
import sys
import types as python_types
import warnings

import numpy as np
import pytest

import nbcc
from conftest import EPS2, Cloud, Gravity
from nbcc._arrays import _arrays, _streams
from nbcc._c._family import Family

N = 40
CLOUD = Cloud(N)


class Dlpack:
    """A NumPy array that shows nothing but DLPack."""

    def __init__(self, inner, device=(1, 0), versioned=True):
        self.inner, self.device, self.versioned, self.streams = inner, device, versioned, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if not self.versioned and "max_version" in options:
            raise TypeError("unexpected keyword argument 'max_version'")
        self.streams.append(options.pop("stream", None))
        if "max_version" in options and not versioned_numpy():
            options.pop("max_version")
        return self.inner.__dlpack__(**options)


def versioned_numpy():
    return int(np.__version__.split(".")[0]) >= 2 and np.lib.NumpyVersion(np.__version__) >= "2.1.0"


class Cuda:
    """A NumPy array that says it lies on a GPU, as CuPy's and Numba's do."""

    def __init__(self, inner, stream=None, version=3, readonly=False, mask=None):
        self.inner = inner
        interface = dict(inner.__array_interface__)
        self.__cuda_array_interface__ = {
            "shape": interface["shape"],
            "typestr": interface["typestr"],
            "data": (interface["data"][0] if inner.size else 0, readonly),
            "strides": interface["strides"],
            "version": version,
            "mask": mask,
        }
        if version >= 3:
            self.__cuda_array_interface__["stream"] = stream


@pytest.fixture
def summed_by_the_cpu(monkeypatch):
    """Kernels "for a GPU" are the CPU's: the memory is the host's after all. Gives the devices asked for."""
    asked = []
    real = Family.kernel

    def kernel(self, device, options):
        asked.append(device)
        return real(self, "cpu", options)

    monkeypatch.setattr(Family, "kernel", kernel)
    return asked


@pytest.fixture
def waited_for(monkeypatch):
    streams = []
    monkeypatch.setattr(_streams, "synchronize", lambda stream, ordinal: streams.append(stream))
    return streams


def outputs(wrap):
    inner = (np.zeros((N, 3)), np.zeros(N))
    return inner, tuple(wrap(one) for one in inner)


# ---- on the CPU -------------------------------------------------------------------------------------------


def test_array_array_and_memoryview(gravity):
    x = memoryview(array.array("d", CLOUD.x.ravel())).cast("B").cast("d", (N, 3))
    m = array.array("f", CLOUD.m)
    result = gravity(x, x, m, EPS2)
    assert isinstance(result.acc, np.ndarray)
    Gravity(CLOUD.x, CLOUD.x, CLOUD.m).check(*result)
    pot = array.array("d", bytes(8 * N))
    assert gravity(x, x, m, EPS2, out={"pot": pot}).pot is pot
    assert list(pot) == list(result.pot)


def test_other_buffers(gravity):
    m = (ctypes.c_double * N)(*CLOUD.m)
    shuffled = memoryview(np.repeat(CLOUD.m, 3))[::-3][::-1]
    expected = gravity(CLOUD.x, CLOUD.x, CLOUD.m)
    assert np.array_equal(gravity(CLOUD.x, CLOUD.x, m).acc, expected.acc)
    assert np.array_equal(gravity(CLOUD.x, CLOUD.x, shuffled).acc, expected.acc)
    read_only = memoryview(array.array("d", CLOUD.m).tobytes()).cast("d")
    assert np.array_equal(gravity(CLOUD.x, CLOUD.x, read_only).acc, expected.acc)
    with pytest.raises(ValueError, match="read-only"):
        gravity(CLOUD.x, CLOUD.x, m, out={"pot": read_only})


def test_lists_and_tuples(gravity, nearest):
    x, m = CLOUD.x.tolist(), tuple(CLOUD.m)
    Gravity(CLOUD.x, CLOUD.x, CLOUD.m).check(*gravity(x, x, m, EPS2))
    assert nearest([(0, 0, 0)], [(3, 0, 0), (1, 0, 0)], self=0).near == [1]
    assert gravity([], x, m).acc.shape == (0, 3)
    assert (gravity(x, [], []).pot == 0).all()


def test_what_numpy_knows_how_to_read(gravity):
    class Table:
        def __array__(self, dtype=None, copy=None):
            return CLOUD.m.copy()

    gc.collect()
    Gravity(CLOUD.x, CLOUD.x, CLOUD.m).check(*gravity(CLOUD.x, CLOUD.x, Table(), EPS2))


@pytest.mark.parametrize("versioned", [True, False])
def test_dlpack(gravity, versioned):
    x = Dlpack(np.asfortranarray(CLOUD.x), versioned=versioned)
    m = Dlpack(np.repeat(CLOUD.m, 2)[::2], versioned=versioned)
    result = gravity(x, x, m, EPS2)
    Gravity(CLOUD.x, CLOUD.x, CLOUD.m).check(*result)
    assert x.streams == [None, None]
    inner, wrapped = outputs(Dlpack)
    assert gravity(x, x, m, EPS2, out=wrapped).acc is wrapped[0]
    assert np.array_equal(inner[0], result.acc) and np.array_equal(inner[1], result.pot)
    with pytest.raises(TypeError, match="got uint16"):
        gravity(Dlpack(CLOUD.x.astype("u2")), x, m)


def test_dlpack_that_is_refused(gravity):
    class Refuses(Dlpack):
        @property
        def __cuda_array_interface__(self):
            raise RuntimeError("as PyTorch does")

        def __dlpack__(self, **options):
            raise BufferError("it requires a gradient")

    with pytest.raises(TypeError, match="'mj' .*: its library does not export it: it requires a gradient"):
        gravity(CLOUD.x, CLOUD.x, Refuses(CLOUD.m))
    with pytest.raises(
        TypeError, match="'mj' .*: expected an array of the CPU or a CUDA GPU, got one on ROCm; copy it to the CPU"
    ):
        gravity(CLOUD.x, CLOUD.x, Dlpack(CLOUD.m, device=(10, 0)))


class Negated(Dlpack):
    """A tensor of PyTorch's with the negative bit: its memory holds minus its numbers, and DLPack does not say so."""

    def is_neg(self):
        return True

    def clone(self):
        return Dlpack(-self.inner)


def test_tensors_whose_memory_does_not_hold_their_numbers(gravity):
    x = Negated(-CLOUD.x)
    Gravity(CLOUD.x, CLOUD.x, CLOUD.m).check(*gravity(x, x, Negated(-CLOUD.m), EPS2))
    with pytest.raises(TypeError, match="'pot' .*negative bit"):
        gravity(CLOUD.x, CLOUD.x, CLOUD.m, out={"pot": Negated(np.zeros(N))})


def test_capsules_are_released(gravity):
    before = sys.getrefcount(CLOUD.m)
    for _ in range(5):
        gravity(CLOUD.x, CLOUD.x, Dlpack(CLOUD.m))
    gc.collect()
    after = sys.getrefcount(CLOUD.m)  # not within the assertion, which keeps references of its own
    assert after == before


# ---- as if on a GPU ---------------------------------------------------------------------------------------


def test_cuda_array_interface(gravity, summed_by_the_cpu):
    x, m = Cuda(np.asfortranarray(CLOUD.x)), Cuda(np.repeat(CLOUD.m, 2)[::2])
    inner, wrapped = outputs(Cuda)
    result = gravity(x, x, m, EPS2, out=wrapped)
    assert result.acc is wrapped[0] and summed_by_the_cpu == ["cuda:0"]
    Gravity(CLOUD.x, CLOUD.x, CLOUD.m).check(*inner)
    half = CLOUD.x.astype("f2")
    gravity(Cuda(half), Cuda(half), m, EPS2, out=wrapped)
    Gravity(half.astype("f8"), half.astype("f8"), CLOUD.m).check(*inner)
    with pytest.raises(TypeError, match="'xi' .*expected an array without a mask"):
        gravity(Cuda(CLOUD.x, mask=x), x, m, out=wrapped)
    with pytest.raises(ValueError, match="'acc' .*read-only"):
        gravity(x, x, m, out=(Cuda(inner[0], readonly=True), wrapped[1]))
    with pytest.raises(TypeError, match="results of arrays of 'test_protocols' on a GPU need out="):
        gravity(x, x, m)


def test_the_gpu_is_that_of_the_arrays(gravity, summed_by_the_cpu):
    arrays = [Dlpack(one, device=(2, 3)) for one in (CLOUD.x, CLOUD.x, CLOUD.m)]
    gravity(*arrays, EPS2, out=outputs(lambda one: Dlpack(one, device=(2, 3)))[1])
    gravity(*arrays, EPS2, out=outputs(lambda one: one)[1])
    assert summed_by_the_cpu == ["cuda:3", "cuda:3"]


def test_arrays_on_different_devices(gravity, summed_by_the_cpu):
    x, m = Cuda(CLOUD.x), CLOUD.m
    out = outputs(lambda one: one)[1]
    with pytest.raises(
        ValueError, match="'mj' .*: expected an array on cuda:0, where 'xi' lies, got one on cpu; device= "
    ):
        gravity(x, x, m, out=out)
    gravity(x, x, m, out=out, device="cuda")
    assert summed_by_the_cpu == ["cuda:0"]
    with pytest.raises(ValueError, match="'xi' .*: expected an array on cpu, got one on cuda:0"):
        gravity(x, x, m, out=out, device="cpu")
    with pytest.raises(ValueError, match="'xi' .*: expected an array on cuda:1 or the CPU, got one on cuda:0"):
        gravity(x, x, m, out=out, device="cuda:1")
    with pytest.raises(ValueError, match="'acc' .*: expected an array on cpu, got one on cuda:0"):
        gravity(CLOUD.x, CLOUD.x, m, out=outputs(Cuda)[1])


def test_lists_of_arrays_on_a_gpu(gravity, summed_by_the_cpu):
    x, m, out = Cuda(CLOUD.x), Cuda(CLOUD.m), outputs(lambda one: one)[1]
    half = np.arange(N) * 2 // N
    expected = gravity(CLOUD.x, CLOUD.x, CLOUD.m, batches=(half, half))
    order = np.arange(N)
    ends = [np.array(one) for one in ([0, N // 2, N], [0, 1, 2], [0, N // 2], [N // 2, N])]
    assert np.array_equal(half, np.repeat([0, 1], [N // 2, N - N // 2]))

    class Known(Cuda):
        def max(self):
            return self.inner.max()

        def __getitem__(self, at):
            return self.inner[at]

    for listed in (
        dict(batches=(Known(half), half)),
        dict(batches=(Cuda(half), Dlpack(half, device=(2, 0)), 2)),
        dict(lists=nbcc.Lists(ends[0], *map(Cuda, ends[1:]), Cuda(order), Cuda(order))),
        dict(lists=nbcc.Lists(Known(ends[0]), *map(Cuda, ends[1:]), Cuda(order))),
    ):
        out[0][:] = 7
        gravity(x, x, m, out=out, **listed)
        assert np.array_equal(out[0], expected.acc) and np.array_equal(out[1], expected.pot)
    # The library reads them in the legacy stream, so whoever writes them in another one is waited for.
    ids = Dlpack(half, device=(2, 0))
    gravity(x, x, m, out=out, batches=(ids, ids, 2), stream=77)
    assert ids.streams == [1, 1]
    for wrong, kind, message in (
        (dict(batches=(Cuda(half.astype("i4")), half)), TypeError, "i_batch: expected contiguous int64, got int32"),
        (dict(batches=(half, Cuda(np.repeat(half, 2)[::2]))), TypeError, "int64 with strides \\(16,\\)"),
        (
            dict(batches=(Cuda(half), half)),
            TypeError,
            "i_batch: the largest entry of an array of 'test_protocols' is not",
        ),
        (
            dict(exclusions=(np.zeros(N + 1, int), Dlpack(half, device=(2, 1)))),
            ValueError,
            "exclusions: j: expected an array on cuda:0 or the CPU, got one on cuda:1",
        ),
        (
            dict(exclusions=nbcc.Rows(Dlpack(np.zeros(N + 1, int), device=(2, 1)), half)),
            ValueError,
            "exclusions: first: expected an array on cuda:0 or the CPU, got one on cuda:1",
        ),
    ):
        with pytest.raises(kind, match=message):
            gravity(x, x, m, out=out, **wrong)
    with pytest.raises(TypeError, match="i_first: the last entry of an array of 'test_protocols' cannot be read; give"):
        nbcc.Lists(*map(Cuda, ends), Cuda(order))
    kept = Cuda(order)
    assert nbcc.Lists(ends[0], *map(Cuda, ends[1:]), j_order=kept).j_order is kept
    with pytest.raises(ValueError, match="batches: j_batch: expected an array on cpu, got one on cuda:0"):
        gravity(CLOUD.x, CLOUD.x, CLOUD.m, batches=(half, Known(half)))


class OnMeta:
    """As a tensor of PyTorch's on "meta": a shape without numbers, which no protocol hands out."""

    device, shape, dtype = "meta", (N,), "torch.float64"

    def __dlpack_device__(self):
        raise ValueError("Unknown device type meta for Dlpack")

    def __dlpack__(self, **_):
        raise BufferError("Can't export tensors on a device without memory")

    def tolist(self):
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")


class OnMetal:
    def __dlpack_device__(self):
        return 8, 0

    def __dlpack__(self, **_):
        raise BufferError


def test_an_array_that_lies_where_nothing_is_read_is_named_with_its_place(gravity):
    x, m = CLOUD.x, CLOUD.m
    ids = np.zeros(N, int)
    for given, options, message in (
        (OnMeta(), {}, "'mj' .*: expected an array of the CPU or a CUDA GPU, got one on meta"),
        (OnMetal(), {}, "'mj' .*: expected an array of the CPU or a CUDA GPU, got one on Metal; copy it to the CPU"),
        (m, dict(eps2=OnMeta()), "'eps2' .*: expected numbers, got an array on meta whose numbers cannot be read: Cannot copy"),
        (m, dict(out=(x.copy(), OnMeta())), "'pot' .*: expected an array of the CPU or a CUDA GPU, got one on meta"),
        (m, dict(i=OnMeta(), out=(x.copy(), m.copy())), "i: expected an array of the CPU or a CUDA GPU, got one on meta"),
        (m, dict(batches=(ids, OnMeta())), "j_batch: expected an array of the CPU or a CUDA GPU, got one on meta"),
        (m, dict(exclusions=(OnMeta(), ids)), "exclusions: first: expected an array of the CPU or a CUDA GPU, got one on meta"),
    ):
        with pytest.raises(TypeError, match=message):
            gravity(x, x, given, **options)
    with pytest.raises(TypeError, match="'mj' .*: expected an array of the CPU or a CUDA GPU, got one on meta"):
        gravity.bind(xj=x, mj=OnMeta())


def test_an_array_of_another_device_is_named_with_what_to_do(gravity):
    with pytest.raises(ValueError, match="'mj' .* on cpu, got one on cuda:0; copy it there, or give device='cuda:0'"):
        gravity(CLOUD.x, CLOUD.x, Cuda(CLOUD.m), device="cpu")


@pytest.mark.skipif("cuda:0" in nbcc.info()["devices"], reason="there is a GPU")
def test_without_a_driver_the_error_says_so(gravity):
    with pytest.raises(nbcc.DeviceError, match="driver|GPU"):
        gravity(CLOUD.x, CLOUD.x, CLOUD.m, device="cuda")


def streams_of_runs(monkeypatch):
    runs = []
    real = nbcc._c._handles.Sum.run

    def run(self, options):
        runs.append(None if options is None else options.stream)
        real(self, options)

    monkeypatch.setattr(nbcc._c._handles.Sum, "run", run)
    return runs


def test_the_stream_of_the_arrays(gravity, summed_by_the_cpu, waited_for, monkeypatch):
    runs = streams_of_runs(monkeypatch)
    out = outputs(Cuda)[1]

    def call(streams, **options):
        x, y, m = (Cuda(one, stream=s) for one, s in zip((CLOUD.x, CLOUD.x, CLOUD.m), streams))
        gravity(x, y, m, out=out, **options)
        waits = list(waited_for)
        waited_for.clear()
        return runs.pop(), waits

    assert call([None, None, None]) == (None, [])  # nothing to wait for: the legacy default stream
    assert call([1, 1, 1]) == (None, [])
    assert call([2, 2, 2]) == (2, [])
    assert call([None, 77, 77]) == (77, [])
    assert call([77, 88, None]) == (77, [88])
    assert call([77, 77, 77], stream=99) == (99, [77, 77, 77])
    assert call([1, 1, 1], stream=0) == (None, [])


def test_dlpack_is_told_the_stream(gravity, summed_by_the_cpu, monkeypatch):
    runs = streams_of_runs(monkeypatch)
    arrays = [Dlpack(one, device=(2, 0)) for one in (CLOUD.x, CLOUD.x, CLOUD.m)]
    out = outputs(lambda one: Dlpack(one, device=(2, 0)))[1]
    gravity(*arrays, out=out)
    gravity(*arrays, out=out, stream=99)
    assert [one.streams for one in arrays] == [[1, 99]] * 3
    assert runs == [None, 99]


def test_torch_is_asked_on_the_tensors_own_gpu(monkeypatch):
    """It hands out what lies on its current GPU, and refuses all else."""
    current = [0]

    @contextlib.contextmanager
    def on(ordinal):
        before, current[0] = current[0], ordinal
        yield
        current[0] = before

    class Tensor(Dlpack):
        def __dlpack__(self, **options):
            if current[0] != self.device[1]:
                raise BufferError("Can't export tensors on a different CUDA device index")
            return super().__dlpack__(**options)

    Tensor.__module__ = "torch"
    cuda = python_types.SimpleNamespace(device=on, current_stream=lambda ordinal: 5 + ordinal)
    monkeypatch.setitem(sys.modules, "torch", python_types.SimpleNamespace(cuda=cuda))
    for ordinal in (1, 0):
        tensor = Tensor(CLOUD.m, device=(2, ordinal))
        found = _arrays.describe(tensor, _streams.Order(None))
        assert (found.device, found.library, tensor.streams) == (f"cuda:{ordinal}", "torch", [5 + ordinal])
    assert current == [0]


def test_stream_objects():
    Named = python_types.SimpleNamespace
    assert _streams.handle_of(5) == 5
    assert _streams.handle_of(0) == _streams.LEGACY
    assert _streams.handle_of(Named(cuda_stream=6)) == 6
    assert _streams.handle_of(Named(ptr=7)) == 7
    assert _streams.handle_of(Named(handle=ctypes.c_void_p(8))) == 8
    assert _streams.handle_of(Named(handle=ctypes.c_void_p())) == _streams.LEGACY
    assert _streams.handle_of(Named(__cuda_stream__=lambda: (0, 9))) == 9
    for wrong in (None, True, 1.5, "a", Named()):
        with pytest.raises(TypeError, match="stream: expected an integer or a stream object"):
            _streams.handle_of(wrong)


def test_version_2_of_the_interface_gives_way_to_dlpack():
    """It does not tell the stream; DLPack does."""

    class Both(Cuda, Dlpack):
        def __init__(self, inner, version):
            Dlpack.__init__(self, inner, device=(2, 0))
            Cuda.__init__(self, inner, version=version)

    for version, asked in ((2, [1]), (3, [])):
        both = Both(CLOUD.m, version)
        found = _arrays.describe(both, _streams.Order(None))
        assert (found.device, both.streams) == ("cuda:0", asked)
        assert found.pointer == CLOUD.m.ctypes.data


@pytest.fixture
def cupy(monkeypatch):
    """As much of CuPy as is asked for results."""
    module = python_types.ModuleType("cupy")
    used = []

    class ndarray(Cuda):
        def __init__(self, inner, **more):
            super().__init__(inner, **more)
            self.data = python_types.SimpleNamespace(ptr=inner.ctypes.data)
            self.dtype, self.shape, self.strides, self.device = inner.dtype, inner.shape, inner.strides, Device(0)

    class Device:
        def __init__(self, ordinal):
            self.id = ordinal

        def __enter__(self):
            used.append(self.id)
            return self

        def __exit__(self, *_):
            pass

    ndarray.__module__ = "cupy"
    module.ndarray, module.used = ndarray, used
    module.empty = lambda shape, dtype: ndarray(np.empty(shape, dtype))
    module.stream = python_types.SimpleNamespace(ptr=0)
    module.cuda = python_types.SimpleNamespace(
        Device=Device,
        get_current_stream=lambda: module.stream,
        runtime=python_types.SimpleNamespace(getDevice=lambda: 0),
    )
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


def test_results_are_of_the_callers_library(gravity, nearest, summed_by_the_cpu, cupy):
    x, m = cupy.ndarray(CLOUD.x), cupy.ndarray(CLOUD.m)
    result = gravity(x, x, m, EPS2)
    assert type(result.acc) is cupy.ndarray and cupy.used == [0, 0]
    Gravity(CLOUD.x, CLOUD.x, CLOUD.m).check(result.acc.inner, result.pot.inner)
    assert nearest(x, x).near.inner.dtype == np.int64
    x.inner[:] = x.inner[::-1].copy()
    again = gravity(x, x, m, EPS2)  # of a kind that was seen before
    assert type(again.acc) is cupy.ndarray and again.info.device == "cuda:0"
    Gravity(x.inner, x.inner, CLOUD.m).check(again.acc.inner, again.pot.inner)


def test_repeated_calls_follow_the_current_stream(gravity, summed_by_the_cpu, cupy, monkeypatch):
    """Work for a GPU goes into the stream in which CuPy works now, and nothing is waited for."""
    from nbcc._c._handles import Sum

    streams, waits = [], []
    run = Sum.run
    monkeypatch.setattr(Sum, "run", lambda self, options: (streams.append(options and options.stream), run(self, None))[1])
    monkeypatch.setattr(Sum, "wait", lambda self: waits.append(self))
    x, m = cupy.ndarray(CLOUD.x.copy()), cupy.ndarray(CLOUD.m.copy())
    for stream in (0, 0, 64, 80, 0):
        cupy.stream.ptr = stream
        gravity(x, x, m, EPS2)
    assert streams == [None, None, 64, 80, None] and not waits


# ---- the libraries themselves, where they are --------------------------------------------------------------


def test_torch(gravity):
    torch = pytest.importorskip("torch")
    x, m = torch.from_numpy(CLOUD.x), torch.from_numpy(CLOUD.m)
    result = gravity(x, x, m, EPS2)
    assert isinstance(result.acc, torch.Tensor) and result.acc.dtype == torch.float64
    Gravity(CLOUD.x, CLOUD.x, CLOUD.m).check(result.acc.numpy(), result.pot.numpy())
    assert gravity(x.float(), x.float(), m.float()).pot.dtype == torch.float32
    transposed = x.T.contiguous().T
    assert torch.equal(gravity(transposed, x, m, torch.tensor(EPS2, dtype=torch.float64)).acc, result.acc)
    acc = torch.zeros(N, 3, dtype=torch.float64)
    assert gravity(x, x, m, EPS2, out={"acc": acc}).acc is acc and torch.equal(acc, result.acc)
    with pytest.raises(TypeError, match="'xi' .*uint8"):
        gravity(x.to(torch.uint8), x, m)
    with pytest.raises(TypeError, match="'mj' .*requires? grad"):
        gravity.bind(x, m.clone().requires_grad_())


@pytest.mark.parametrize("kind", ["uint16", "uint8"])
def test_jax_without_64_bits_is_told_of_a_cast_that_it_has(gravity, kind):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(False), warnings.catch_warnings():
        warnings.simplefilter("error")  # as JAX warns where it has no such type
        x, m = jax.numpy.asarray(CLOUD.x, "float32"), jax.numpy.asarray(CLOUD.m, "float32")
        with pytest.raises(TypeError, match=rf'got {kind}; .astype\("f4"\) of it is read'):
            gravity(x.astype(kind), x, m)
        gravity(x.astype(kind).astype("f4"), x, m)


def test_jax(gravity):
    jax = pytest.importorskip("jax")
    x, m = jax.numpy.asarray(CLOUD.x), jax.numpy.asarray(CLOUD.m)
    result = gravity(x, x, m, EPS2)
    assert isinstance(result.acc, jax.Array)
    Gravity(CLOUD.x, CLOUD.x, CLOUD.m).check(np.asarray(result.acc), np.asarray(result.pot))
    with pytest.raises(ValueError, match="'acc' .*read-only"):
        gravity(x, x, m, out={"acc": x})
