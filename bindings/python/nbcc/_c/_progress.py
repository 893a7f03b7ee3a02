"""The callback that a run calls every 50 ms: it checks for Ctrl-C, and calls the caller's progress function. Entry
points: `Watch`, the callback of one nbcc_sum, and `function_of`, which reads a call's `progress=`.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
import threading
import time
from types import GeneratorType
from typing import Any, Callable, Generator, Optional, Tuple

Progress = Callable[[float], Any]

# The callback is not a Python function, because the interpreter checks for signals when it enters a function, before
# any `try`, and ctypes drops the KeyboardInterrupt. Instead the library calls send() of a generator that waits inside
# a `try`.
_send = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_double)(GeneratorType.send)
CALLBACK = ctypes.cast(_send, ctypes.c_void_p).value


class Watch:
    """The progress function of one nbcc_sum, and the exception that it has raised, which interrupted the run."""

    __slots__ = ("progress", "error")

    def __init__(self) -> None:
        self.progress: Optional[Progress] = None
        self.error: Optional[BaseException] = None

    def answers(self) -> GeneratorType[int, float, None]:
        """A generator that receives the fraction that is done, and yields 1 to interrupt the run, else 0. Its `id` is
        the callback's `data`."""
        made = _answers(self)
        assert isinstance(made, GeneratorType)
        next(made)
        return made


def _answers(watch: Watch) -> Generator[int, float, None]:
    answer, waits = 0, False
    while True:
        try:
            while True:
                try:
                    waits = True
                    done = yield answer
                    waits = False
                    ctypes.pythonapi.PyErr_CheckSignals()
                    if watch.progress is not None:
                        watch.progress(done)
                    answer = 0
                except BaseException as error:  # the call that runs the sum raises this error again
                    if waits and isinstance(error, GeneratorExit):  # raised by close()
                        return
                    watch.error, answer = error, 1
        except BaseException as error:  # from a signal that arrived in the branch above
            watch.error, answer = error, 1


def may_be_interrupted() -> bool:
    """True in the main thread: Python handles signals only there."""
    return threading.get_ident() == threading.main_thread().ident


def function_of(name: str, progress: Any) -> Optional[Progress]:
    """The progress function for a call's `progress=`: a Bar, the caller's function, or None. Raises TypeError."""
    if progress is False:
        return None
    if progress is True:
        return Bar()
    if callable(progress):
        function: Progress = progress
        return function
    raise TypeError(
        f"{name}(): progress: expected True, or a function of the fraction that is done, got {type(progress).__name__}"
    )


class Bar:
    """A progress bar, on a terminal as that of the command `nbcc`, in a notebook as one output that changes; from one second
    on, four times a second. The time that is left follows from the rate since the first call: what comes before it, such as
    packing and compiling, is no part of the sum."""

    _EVERY = 0.25  # seconds

    def __init__(self) -> None:
        self._in_notebook = "ipykernel" in sys.modules
        self._wanted = self._in_notebook or _is_terminal(sys.stderr)
        self._start = time.monotonic()
        self._first: Optional[Tuple[float, float]] = None  # (time, done) of the first call
        self._next = self._start + 1
        self._is_shown = False
        self._output: Any = None  # of a notebook

    def __call__(self, done: float) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first = now, done
        if not self._wanted or now < self._next:
            return
        self._next = now + self._EVERY
        width = 40
        full = int(done * width)
        start, from_done = self._first
        left = f", {(1 - done) * (now - start) / (done - from_done):.0f} s left" if done > from_done else ""
        self._show(f"[{'#' * full}{'.' * (width - full)}] {100 * done:3.0f}%{left}")

    def clear(self) -> None:
        if self._is_shown:
            self._show("")

    def _show(self, text: str) -> None:
        """After a failure the bar is disabled, so that it never ends a sum."""
        try:
            self._is_shown = True
            if self._in_notebook:
                self._show_in_notebook(text)
            else:
                sys.stderr.write(f"\r{text} \x1b[K" if text else "\r\x1b[K")
                sys.stderr.flush()
        except Exception:
            self._wanted = self._is_shown = False

    def _show_in_notebook(self, text: str) -> None:
        display = importlib.import_module("IPython.display").display
        if self._output is None:
            self._output = display({"text/plain": text}, raw=True, display_id=True)
        else:
            self._output.update({"text/plain": text}, raw=True)


def _is_terminal(stream: Any) -> bool:
    """True for a terminal. Programs may replace sys.stderr by any object."""
    try:
        return bool(stream.isatty())
    except Exception:
        return False
