"""Interpreters that begin at once on an empty cache, are killed while they compile, or cannot write a cache at all."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from conftest import PIPELINES

AT_ONCE = 8
# Prints the sums' bytes. NumPy is left out: these are about the start.
SUM = f"""
import hashlib, random
import nbcc
random.seed(1)
x = [[random.random() for _ in range(3)] for _ in range(100)]
acc, pot = nbcc.compile({str(PIPELINES / "gravity.pipe")!r}, threads=1, precision="single")(x, x, [0.01] * 100, eps2=0.01)
print(hashlib.sha256(bytes(acc) + bytes(pot)).hexdigest())
"""


def begin(**environment):
    inherited = {**os.environ, **environment}
    return subprocess.Popen(
        [sys.executable, "-c", SUM],
        env={name: value for name, value in inherited.items() if value is not None},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0 and err == "", (process.returncode, err)
    return out


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    said = result(begin(NBCC_CACHE_DIR=str(tmp_path_factory.mktemp("cache"))))
    assert len(said.strip()) == len(hashlib.sha256().hexdigest())
    return said


def entries(folder):
    """name -> file number of each kernel there: who replaces one makes a new file."""
    return {file.name: file.stat().st_ino for file in (folder / "kernels").glob("*.kernel")}


def test_all_begin_at_once(tmp_path, expected):
    processes = [begin(NBCC_CACHE_DIR=str(tmp_path / "cache")) for _ in range(AT_ONCE)]
    for process in processes:
        assert result(process) == expected
    # One kernel, and nothing that was left on the way.
    assert [file.suffix for file in (tmp_path / "cache" / "kernels").iterdir()] == [".kernel"]


def test_killed_at_any_moment(tmp_path, expected):
    moments = random.Random(2)
    start = time.perf_counter()
    result(begin(NBCC_CACHE_DIR=str(tmp_path / "measured")))
    whole = time.perf_counter() - start
    for turn in range(6):
        cache = tmp_path / str(turn)
        process = begin(NBCC_CACHE_DIR=str(cache))
        time.sleep(moments.uniform(0.3, 1) * whole)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        left = entries(cache)
        assert result(begin(NBCC_CACHE_DIR=str(cache))) == expected
        # A broken entry would have been replaced.
        assert len(entries(cache)) == 1 and (not left or entries(cache) == left)


@pytest.mark.parametrize("home", ["file", "file/below", "/proc/nbcc"])
def test_a_home_that_cannot_be_written(tmp_path, expected, home):
    (tmp_path / "file").write_text("in the way")
    process = begin(NBCC_CACHE_DIR=None, XDG_CACHE_HOME=None, HOME=str(tmp_path / home))
    assert result(process) == expected
    assert (tmp_path / "file").read_text() == "in the way"
