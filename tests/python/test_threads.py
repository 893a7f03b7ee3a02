"""Calls from several threads at once, while the GIL is released, within each other, and after a fork."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import nbcc
from conftest import PIPELINES, Cloud


def all_at_once(count, work):
    barrier, failures = threading.Barrier(count), []

    def run(number):
        barrier.wait()
        try:
            work(number)
        except BaseException as error:  # a failed assertion too must reach the test
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_threads_share_a_pipeline(gravity):
    clouds = [Cloud(300 + number, number) for number in range(4)]
    expected = [gravity(c.x, c.x, c.m) for c in clouds]

    def work(number):
        c = clouds[number]
        for _ in range(30):
            result = gravity(c.x, c.x, c.m)
            assert np.array_equal(result.acc, expected[number].acc)
            assert np.array_equal(result.pot, expected[number].pot)

    all_at_once(4, work)


def test_threads_share_bound_particles(gravity):
    cloud = Cloud(500)
    bound = gravity.bind(cloud.x, cloud.m)
    expected = gravity(cloud.x, cloud.x, cloud.m).acc

    def work(number):
        for k in range(30):
            first = (number * 30 + k) % 490
            assert np.array_equal(bound(cloud.x[first : first + 10]).acc, expected[first : first + 10])

    all_at_once(4, work)


def test_threads_compile_at_once():
    def work(number):
        pipeline = nbcc.compile(PIPELINES / "gravity_acc.pipe", precision=["single", "double"][number % 2])
        assert pipeline([[0.0, 0, 0]], [[1.0, 0, 0]], [1.0], eps2=0)[0, 0] == pytest.approx(1.0)

    all_at_once(4, work)


def test_other_threads_run_meanwhile():
    """If a sum held the GIL, the other thread's longest pause would be at least as long as the sum."""
    gravity = nbcc.compile(PIPELINES / "gravity.pipe", threads=1, precision="double", math="precise")
    cloud = Cloud(8000)
    gravity(cloud.x, cloud.x, cloud.m)
    state = {"longest": 0.0, "stop": False}

    def count():
        last = time.perf_counter()
        while not state["stop"]:
            now = time.perf_counter()
            state["longest"] = max(state["longest"], now - last)
            last = now

    counter = threading.Thread(target=count)
    counter.start()
    try:
        ratios = []
        for _ in range(5):
            state["longest"] = 0.0
            begin = time.perf_counter()
            gravity(cloud.x, cloud.x, cloud.m)
            ratios.append(state["longest"] / (time.perf_counter() - begin))
    finally:
        state["stop"] = True
        counter.join()
    # On a busy machine the other thread may be kept waiting for other reasons, but hardly every time.
    assert min(ratios) < 0.5, ratios


def test_a_call_within_a_call(gravity):
    cloud = Cloud(50)
    expected = gravity(cloud.x, cloud.x, cloud.m)
    inner = []

    class Asks:
        """Its conversion makes a call of its own."""

        def __dlpack_device__(self):
            inner.append(gravity(cloud.x[:3], cloud.x, cloud.m))
            return cloud.m.__dlpack_device__()

        def __dlpack__(self, **options):
            return cloud.m.__dlpack__()

    outer = gravity(cloud.x, cloud.x, Asks())
    assert np.array_equal(outer.acc, expected.acc)
    assert np.array_equal(inner[0].acc, expected.acc[:3])


def test_a_failed_call_leaves_the_next_alone(gravity):
    cloud = Cloud(20)
    expected = gravity(cloud.x, cloud.x, cloud.m)
    with pytest.raises(nbcc.UsageError):
        gravity(cloud.x, cloud.x[:3], cloud.m[:3], 9.0, i=[77], out=(np.zeros((20, 3)), np.zeros(20)))
    assert np.array_equal(gravity(cloud.x, cloud.x, cloud.m).acc, expected.acc)


def ended(child, seconds):
    """The exit code of a child process; it is killed if it takes longer."""
    for _ in range(int(seconds * 100)):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "still running"


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_after_a_fork():
    """The child has none of the device's threads: it must not wait for them, and get its own."""
    cloud = Cloud(3000)
    gravity = nbcc.compile(PIPELINES / "gravity.pipe", threads=2)
    bound = gravity.bind(cloud.x, cloud.m)
    expected = gravity(cloud.x, cloud.x, cloud.m)
    bound(cloud.x)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            again = gravity(cloud.x, cloud.x, cloud.m)
            same = np.array_equal(again.acc, expected.acc) and np.array_equal(bound(cloud.x).pot, expected.pot)
            same = same and len(os.listdir("/proc/self/task")) > 1  # threads of its own
            nbcc._c._handles._devices.clear()
            gravity.__dict__.clear()
            bound.__dict__.clear()
            code = 0 if same else 2
        finally:
            os._exit(code)
    assert ended(child, 30) == 0
    assert np.array_equal(gravity(cloud.x, cloud.x, cloud.m).acc, expected.acc)
