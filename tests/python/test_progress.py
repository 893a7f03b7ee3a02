"""Ctrl-C during a sum, and functions that are told how far it is. The sums would take minutes, of two threads."""

import contextlib
import gc
import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
import types
import weakref

import numpy as np
import pytest

import nbcc
from nbcc._arrays._results import Result
from nbcc._c import _handles, _progress
from nbcc._call import _outputs

PLAIN = """
input_i vec3 xi; input_j vec3 xj; input_j real mj; output(sum) vec3 acc;
vec3 d = xj - xi; real r2 = dot(d, d) + 1e-4; acc += mj * rsqrt(r2) / r2 * d;
"""
CUTOFF = """
input_i vec3 xi; input_j vec3 xj; input_j real mj; param real rc = 9; output(sum) real s;
vec3 d = xj - xi; real r2 = dot(d, d); if (r2 < rc * rc) s += mj * sqrt(r2);
"""
N = 600_000
LONGEST = 5  # seconds; without an interrupt it would be more than a minute


@pytest.fixture(scope="module")
def particles():
    return np.random.default_rng(1).random((N, 3)), np.ones(N)


def compiled(text=PLAIN, **options):
    """Two threads: on a machine of many cores too the sum is not done before it is interrupted."""
    return nbcc.compile(source=text, threads=2, **options)


@contextlib.contextmanager
def interrupted_after(seconds):
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        try:
            timer.start()
            yield
        finally:
            timer.cancel()
            timer.join()


def one_list():
    return nbcc.Lists(i_first=[0, N], range_first=[0, 1], j_begin=[0], j_end=[N])


KINDS = {
    "all": (PLAIN, lambda: {}),
    "search": (CUTOFF, lambda: {"pairs": "cutoff"}),
    "lists": (PLAIN, lambda: {"lists": one_list()}),
    "batches": (PLAIN, lambda: {"batches": (np.zeros(N, int), np.zeros(N, int))}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_ends_a_sum_and_the_next_is_right(kind, particles):
    x, m = particles
    text, options = KINDS[kind]
    pipeline = compiled(text)
    few = slice(0, 100)
    expected = compiled(text, pairs="all")(x[few], x, m)
    start = time.monotonic()
    with interrupted_after(0.5):
        pipeline(x, x, m, **options())
    assert time.monotonic() - start < LONGEST
    assert np.array_equal(pipeline(x[few], x, m, pairs="all"), expected)


def test_ctrl_c_ends_a_search_for_pairs_and_the_next_is_right(particles):
    x, _ = particles
    expected = nbcc.neighbours(x[:1000], 0.1)
    cutoffs = np.zeros(N)  # all distances are computed, and few pairs are listed
    cutoffs[0] = 2.0
    start = time.monotonic()
    with interrupted_after(0.5):
        nbcc.neighbours(x, cutoffs)
    assert time.monotonic() - start < LONGEST
    assert np.array_equal(nbcc.neighbours(x[:1000], 0.1).edge_index, expected.edge_index)


def test_no_interrupt_is_lost(particles):
    """Whenever it comes, in the callback or beside it."""
    x, m = particles
    program = f"""
import os, signal, sys, threading, time
import numpy as np, nbcc
pipeline = nbcc.compile(source={PLAIN!r}, threads=2, precision='single')
x, m = np.random.default_rng(1).random(({N}, 3)), np.ones({N})
def busy(done):
    end = time.monotonic() + 0.03
    while time.monotonic() < end: pass
for k in range(12):
    try:
        threading.Timer(0.06 + 0.007 * k, os.kill, (os.getpid(), signal.SIGINT)).start()
        pipeline(x, x, m, progress=busy if k % 2 else None)
        sys.exit("not interrupted")
    except KeyboardInterrupt:
        pass
print("all")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("all\n", "")


def test_a_program_ends_as_python_programs_do():
    program = f"""
import numpy as np, nbcc
x = np.zeros(({N}, 3))
print("begins", flush=True)
nbcc.compile(source={PLAIN!r}, threads=2, precision='single')(x, x, x[:, 0])
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "begins\n"
    time.sleep(1)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert time.monotonic() - start < LONGEST
    assert process.returncode == -signal.SIGINT
    assert errors.endswith("KeyboardInterrupt\n")


def test_a_handler_of_the_programs_own_is_called(particles):
    x, m = particles
    calls = []

    def handler(number, frame):
        calls.append(number)
        if len(calls) == 3:
            raise TimeoutError("three")

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2, 0.1)
        with pytest.raises(TimeoutError, match="three"):
            compiled()(x, x, m)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(calls) == 3


def test_other_threads_go_on(particles):
    x, m = particles
    pipeline = compiled()
    expected = pipeline(x[:200], x[:4000], m[:4000])
    results, stop = [], threading.Event()

    def work():
        while not stop.is_set():
            results.append(np.array_equal(pipeline(x[:200], x[:4000], m[:4000]), expected))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    start = time.monotonic()
    try:
        with interrupted_after(0.5):
            pipeline(x, x, m)
        assert time.monotonic() - start < LONGEST
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert results and all(results)


class Enough(Exception):
    pass


class Told:
    """Ends the sum when it is called for the k-th time."""

    def __init__(self, k):
        self.k, self.fractions, self.threads = k, [], set()

    def __call__(self, done):
        self.fractions.append(done)
        self.threads.add(threading.get_ident())
        if len(self.fractions) == self.k:
            raise Enough


def test_a_function_is_told_how_far_a_sum_is(particles):
    x, m = particles
    told = Told(4)
    with pytest.raises(Enough):
        compiled()(x, x, m, progress=told)
    assert told.fractions == sorted(told.fractions)
    assert 0 <= told.fractions[0] < told.fractions[-1] < 1
    assert told.threads == {threading.get_ident()}


def test_in_another_thread_too(particles):
    x, m = particles
    told, found = Told(2), []

    def work():
        try:
            compiled()(x, x, m, progress=told)
        except Enough:
            found.append(threading.get_ident())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert told.threads == set(found)


def test_while_neighbours_are_found(particles):
    x, m = particles
    told = Told(1)
    with pytest.raises(Enough):
        compiled(CUTOFF).find_neighbours(x, x, m, rc=0.05, progress=told)


def test_what_it_may_do(particles):
    """It may sum; what it returns is nobody's affair; it is not called again by later calls."""
    x, m = particles
    pipeline = compiled()
    inner = []

    def function(done):
        inner.append(pipeline(x[:10], x[:1000], m[:1000]))
        if len(inner) == 3:
            raise Enough
        return True

    with pytest.raises(Enough):
        pipeline(x, x, m, progress=function)
    assert np.array_equal(inner[0], pipeline(x[:10], x[:1000], m[:1000]))
    with interrupted_after(0.3):
        pipeline(x, x, m)
    assert len(inner) == 3


@pytest.mark.parametrize("kind", [GeneratorExit, SystemExit, StopIteration, KeyboardInterrupt])
def test_what_it_raises_is_raised_whatever_it_is(kind, particles):
    x, m = particles
    pipeline = compiled()
    few = slice(0, 10)
    expected = pipeline(x[few], x[:1000], m[:1000])
    for _ in range(2):
        with pytest.raises(kind, match="its own"):
            pipeline(x, x, m, progress=Raising(kind))
        assert np.array_equal(pipeline(x[few], x[:1000], m[:1000]), expected)


class Raising:
    def __init__(self, kind):
        self.kind = kind

    def __call__(self, done):
        raise self.kind("its own")


def test_nothing_of_the_caller_is_kept(particles):
    x, m = particles
    pipeline = compiled()
    gc.collect()
    gc.disable()
    try:
        for call in (lambda function: pipeline(x, x, m, progress=function),
                     lambda function: pipeline(x[:10], x[:10], m[:10], progress=function)):
            function = Raising(Enough)
            there = weakref.ref(function)
            with contextlib.suppress(Enough):
                call(function)
            del function
            assert there() is None
    finally:
        gc.enable()


def sums_of(pipeline):
    return [used for idle in pipeline._idle.values() for used in idle]


@pytest.mark.parametrize("progress", [None, lambda done: None])
def test_a_generator_that_has_ended_is_made_anew(progress, particles):
    x, m = particles
    pipeline = compiled()
    pipeline(x[:10], x[:10], m[:10])
    (used,) = sums_of(pipeline)
    used._answers.close()

    def handler(number, frame):
        raise Enough

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Enough):
            pipeline(x, x, m, progress=progress)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert sums_of(pipeline) == [used]


def test_a_signal_while_an_error_is_kept_ends_nothing():
    """The branch that keeps an error is left by one: what is raised then is kept."""

    class Interrupted(_progress.Watch):
        __slots__ = ("kept",)

        def __setattr__(self, name, value):
            if name == "error" and isinstance(value, Enough):
                raise KeyboardInterrupt
            super().__setattr__(name, value)

    watch = Interrupted()
    watch.progress = Raising(Enough)
    made = watch.answers()
    assert made.send(0.5) == 1
    assert isinstance(watch.error, KeyboardInterrupt)
    watch.progress = None
    assert made.send(0.6) == 0
    made.close()
    assert made.gi_frame is None


def test_results_that_nobody_gets_are_waited_for(monkeypatch):
    """Those of libraries that do not know of the stream, as JAX's on a GPU: their memory may be gone after the call."""
    x = np.random.default_rng(1).random((10, 3))
    pipeline = compiled()
    expected = pipeline(x, x, x[:, 0])
    calls = []
    wait, set_progress = _handles.lib.nbcc_sum_wait, _handles.lib.nbcc_sum_set_progress

    def interrupted_wait(*arguments):
        calls.append("wait")
        return 4 if calls == ["wait"] else wait(*arguments)

    def watched(pointer, callback, *rest):
        calls.append("ask" if callback else "ask nobody")
        return set_progress(pointer, callback, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(_outputs, "Result", lambda value: Result(value, wait=True))
        patch.setattr(_handles.lib, "nbcc_sum_wait", interrupted_wait)
        patch.setattr(_handles.lib, "nbcc_sum_set_progress", watched)
        with pytest.raises(KeyboardInterrupt):
            pipeline(x, x, x[:, 0])
        assert calls == ["wait", "ask nobody", "wait"]
        assert np.array_equal(pipeline(x, x, x[:, 0]), expected)
        assert calls[3:] == ["ask", "wait"]


def test_progress_must_be_a_function():
    x = np.zeros((2, 3))
    pipeline = compiled()
    with pytest.raises(TypeError, match=r"progress: expected True, or a function of the fraction .*, got int"):
        pipeline(x, x, x[:, 0], progress=3)
    for progress in (None, False, True, print):
        pipeline(x, x, x[:, 0], progress=progress)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_the_bar(stream, monkeypatch):
    clock = iter([0.0, 0.5, 2.0, 4.0])
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(sys, "stderr", stream())
    bar = _progress.Bar()
    for done in (0.1, 0.25, 0.5):
        bar(done)
    bar.clear()
    shown = sys.stderr.getvalue()
    if stream is not Terminal:
        assert shown == ""
        return
    assert shown == (
        "\r[" + 10 * "#" + 30 * "." + "]  25%, 8 s left \x1b[K" + "\r[" + 20 * "#" + 20 * "." + "]  50%, 4 s left \x1b[K"
        "\r\x1b[K"
    )


def test_the_bar_changes_four_times_a_second(monkeypatch):
    """A sum of 90 s that calls every 50 ms, of which the first comes after 3 s of packing."""
    times = [3 + 0.05 * k for k in range(1741)]
    clock = iter([0.0, *times])
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(sys, "stderr", Terminal())
    bar = _progress.Bar()
    for time_ in times:
        bar((time_ - 3) / 87)
    shown = sys.stderr.getvalue().split("\r")[1:]
    assert 340 < len(shown) < 350
    left = [int(match[1]) for match in (re.search(r"(\d+) s left", line) for line in shown) if match]
    assert left[0] == 87 and left[-1] == 0 and left == sorted(left, reverse=True)


def test_the_bar_of_a_notebook_is_one_output(monkeypatch):
    calls = []

    class Output:
        def update(self, data, raw):
            calls.append(("update", data["text/plain"]))

    def display(data, raw, display_id):
        calls.append(("display", data["text/plain"]))
        return Output()

    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    module = types.ModuleType("IPython.display")
    module.display = display
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    clock = iter([0.0, 0.5, 2.0, 4.0])
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    bar = _progress.Bar()
    for done in (0.1, 0.25, 0.5):
        bar(done)
    bar.clear()
    assert [kind for kind, _ in calls] == ["display", "update", "update"]
    assert "25%, 8 s left" in calls[0][1] and "50%, 4 s left" in calls[1][1] and calls[2][1] == ""
    assert sys.stderr.getvalue() == ""


class Broken(Terminal):
    def write(self, text):
        raise OSError("no space left")


class Unasked:
    """As programs put it in the place of sys.stderr, to write a log."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text


class Closed(io.StringIO):
    def __init__(self):
        super().__init__()
        self.close()


@pytest.mark.parametrize("stream", [Broken, Unasked, Closed, lambda: None])
def test_no_sum_ends_for_its_bar(stream, particles, monkeypatch):
    x, m = particles
    monkeypatch.setattr(sys, "stderr", stream())
    with interrupted_after(1.3):
        compiled()(x, x, m, progress=True)
    assert getattr(sys.stderr, "text", "") == ""


def test_the_bar_of_a_sum(particles, monkeypatch):
    x, m = particles
    monkeypatch.setattr(sys, "stderr", Terminal())
    with interrupted_after(1.6):
        compiled()(x, x, m, progress=True)
    assert re.fullmatch(r"(\r\[#*\.*\] +\d+%, \d+ s left \x1b\[K)+\r\x1b\[K", sys.stderr.getvalue())
