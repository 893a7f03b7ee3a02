"""Sums on a GPU: arrays of the host, memory of the GPU shown by the CUDA array interface, CuPy, PyTorch, JAX."""

import ctypes
import os
import signal
import threading
import time

import numpy as np
import pytest

import nbcc
from conftest import EPS2, Cloud, Gravity

pytestmark = pytest.mark.skipif("cuda:0" not in nbcc.info()["devices"], reason="no GPU")
CLOUD = Cloud(1000)
REFERENCE = Gravity(CLOUD.x, CLOUD.x, CLOUD.m)


class Driver:
    """As much of the CUDA driver as it takes to put an array on the first GPU."""

    def __init__(self):
        self._library = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self("cuInit", 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self("cuCtxSetCurrent", context)

    def __call__(self, name, *arguments):
        status = getattr(self._library, name)(*arguments)
        assert status == 0, f"{name} gave {status}"


@pytest.fixture(scope="module")
def driver():
    return Driver()


class OnGpu:
    """A copy of a NumPy array on the first GPU."""

    def __init__(self, driver, values, stream=None):
        self.driver, self.host = driver, np.ascontiguousarray(values)
        self.pointer = ctypes.c_uint64()
        driver("cuMemAlloc_v2", ctypes.byref(self.pointer), ctypes.c_size_t(self.host.nbytes))
        driver(
            "cuMemcpyHtoD_v2", self.pointer, ctypes.c_void_p(self.host.ctypes.data), ctypes.c_size_t(self.host.nbytes)
        )
        self.__cuda_array_interface__ = {
            "shape": self.host.shape,
            "typestr": self.host.dtype.str,
            "data": (self.pointer.value, False),
            "version": 3,
            "stream": stream,
        }

    def read(self):
        # In the legacy default stream, and so after what was summed there.
        self.driver(
            "cuMemcpyDtoH_v2", ctypes.c_void_p(self.host.ctypes.data), self.pointer, ctypes.c_size_t(self.host.nbytes)
        )
        return self.host

    def __del__(self):
        self.driver("cuMemFree_v2", self.pointer)


@pytest.mark.parametrize("precision", ["single", "mixed", "double"])
def test_arrays_of_the_host(gravity, precision):
    acc, pot = gravity(CLOUD.x, CLOUD.x, CLOUD.m, EPS2, device="cuda", precision=precision)
    assert isinstance(acc, np.ndarray)
    REFERENCE.check(acc, pot, precision)


def test_memory_of_the_gpu(gravity, driver):
    x, m = OnGpu(driver, CLOUD.x), OnGpu(driver, CLOUD.m, stream=1)
    out = OnGpu(driver, np.zeros((1000, 3))), OnGpu(driver, np.zeros(1000))
    result = gravity(x, x, m, EPS2, out=out)
    assert result.acc is out[0]
    REFERENCE.check(out[0].read(), out[1].read())
    gravity.wait()


def test_a_stream_of_the_caller(gravity, driver):
    stream = ctypes.c_void_p()
    driver("cuStreamCreate", ctypes.byref(stream), 1)
    x, m = OnGpu(driver, CLOUD.x), OnGpu(driver, CLOUD.m)
    out = OnGpu(driver, np.zeros((1000, 3))), OnGpu(driver, np.zeros(1000))
    gravity(x, x, m, EPS2, out=out, stream=stream.value)
    driver("cuStreamSynchronize", stream)
    REFERENCE.check(out[0].read(), out[1].read())
    other = OnGpu(driver, CLOUD.m, stream=stream.value)
    gravity(x, x, other, EPS2, out=out, stream=0)  # waits for the stream of the masses
    REFERENCE.check(out[0].read(), out[1].read())
    gravity.wait()
    driver("cuStreamDestroy_v2", stream)


def test_bound_j_stay_on_the_gpu(gravity):
    bound = gravity.bind(CLOUD.x, CLOUD.m, eps2=EPS2)
    acc, pot = bound(CLOUD.x, device="cuda")
    REFERENCE.check(acc, pot)
    part = bound(CLOUD.x[:10], device="cuda")
    assert part.acc.shape == (10, 3)
    Gravity(CLOUD.x[:10], CLOUD.x, CLOUD.m).check(*part)


def test_mixed_places(gravity, driver):
    x = OnGpu(driver, CLOUD.x)
    with pytest.raises(ValueError, match="device= allows both"):
        gravity(x, x, CLOUD.m, out=(np.zeros((1000, 3)), np.zeros(1000)))
    result = gravity(x, x, CLOUD.m, EPS2, device="cuda", out=(np.zeros((1000, 3)), np.zeros(1000)))
    REFERENCE.check(*result)


def test_cupy(gravity):
    cupy = pytest.importorskip("cupy")
    x, m = cupy.asarray(CLOUD.x), cupy.asarray(CLOUD.m)
    result = gravity(x, x, m, EPS2)
    assert isinstance(result.acc, cupy.ndarray)
    REFERENCE.check(result.acc.get(), result.pot.get())
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        doubled = m * 2
        result = gravity(x, x, doubled, EPS2)
        halved = result.pot / 2
    stream.synchronize()
    REFERENCE.check(result.acc.get() / 2, halved.get())


def test_torch(gravity):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    x, m = torch.from_numpy(CLOUD.x).cuda(), torch.from_numpy(CLOUD.m).cuda()
    result = gravity(x, x, m, EPS2)
    assert result.acc.is_cuda
    REFERENCE.check(result.acc.cpu().numpy(), result.pot.cpu().numpy())
    with torch.cuda.stream(torch.cuda.Stream()):
        result = gravity(x, x, m * 2, EPS2)
        halved = (result.pot / 2).cpu()
    REFERENCE.check(result.acc.cpu().numpy() / 2, halved.numpy())


def test_jax(gravity):
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("this JAX has no GPU")
    x, m = jax.numpy.asarray(CLOUD.x), jax.numpy.asarray(CLOUD.m)
    result = gravity(x, x, m, EPS2)
    assert isinstance(result.acc, jax.Array)
    REFERENCE.check(np.asarray(result.acc), np.asarray(result.pot))


def test_several_gpus(gravity):
    if "cuda:1" not in nbcc.info()["devices"]:
        pytest.skip("there is one GPU")
    torch = pytest.importorskip("torch")
    cloud = Cloud(30000)  # not left to one of them
    one = gravity(cloud.x, cloud.x, cloud.m, EPS2, device="cuda:0")
    for device in ("cuda:all", "cuda:1,0"):
        np.testing.assert_array_equal(gravity(cloud.x, cloud.x, cloud.m, EPS2, device=device).acc, one.acc)
        for home in ("cuda:0", "cuda:1"):
            x, m = torch.from_numpy(cloud.x).to(home), torch.from_numpy(cloud.m).to(home)
            result = gravity(x, x, m, EPS2, device=device)
            assert str(result.acc.device) == home
            np.testing.assert_array_equal(result.acc.cpu().numpy(), one.acc)


@pytest.mark.parametrize("place", ["host", "gpu"])
def test_ctrl_c_ends_a_sum_and_the_next_is_right(gravity, driver, place):
    """Of 6.4e13 pairs, which take a GPU the better part of a minute."""
    n = 8_000_000
    x, m = np.random.default_rng(1).random((n, 3), dtype=np.float32), np.ones(n, np.float32)
    few = slice(0, 1000)
    expected = gravity(x[few], x, m, device="cuda")
    acc, pot = np.zeros((n, 3), np.float32), np.zeros(n, np.float32)
    if place == "gpu":
        x_there, m_there, *out = (OnGpu(driver, values) for values in (x, m, acc, pot))
    else:
        x_there, m_there, out = x, m, [acc, pot]
    timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    start = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        gravity(x_there, x_there, m_there, out=tuple(out), device="cuda")
        gravity.wait()
    assert time.monotonic() - start < 5
    assert all(np.array_equal(a, b) for a, b in zip(gravity(x[few], x, m, device="cuda"), expected))
