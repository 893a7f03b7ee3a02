"""What a run asks every 50 ms: whether Ctrl-C was pressed, and the caller's function of how far the run is. The doors are
`Watch`, the callback of one nbcc_sum, and `function_of`, which reads a call's `progress=`.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from types import GeneratorType
from typing import Any, Callable, Generator, Optional

Progress = Callable[[float], Any]

# A Python function would be the wrong callback: the interpreter looks for signals when it enters one, before any `try`,
# and ctypes drops the KeyboardInterrupt. So the library calls send() of a generator that waits inside a `try`.
_send = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_double)(GeneratorType.send)
CALLBACK = ctypes.cast(_send, ctypes.c_void_p).value


class Watch:
    """What the callback of one nbcc_sum calls, and what it has raised: that is why the run was interrupted."""

    __slots__ = ("progress", "error")

    def __init__(self) -> None:
        self.progress: Optional[Progress] = None
        self.error: Optional[BaseException] = None

    def answers(self) -> GeneratorType[int, float, None]:
        """Takes the fractions that are done, and gives 1 to interrupt the run, else 0. `id` of it is the callback's
        `data`."""
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
                except BaseException as error:  # the call that runs the sum raises it
                    if waits and isinstance(error, GeneratorExit):  # of close()
                        return
                    watch.error, answer = error, 1
        except BaseException as error:  # of a signal that came in the branch above
            watch.error, answer = error, 1


def may_be_interrupted() -> bool:
    """Signals are handled by the main thread alone."""
    return threading.get_ident() == threading.main_thread().ident


def function_of(name: str, progress: Any) -> Optional[Progress]:
    """What a call's `progress=` asks for: a Bar, the caller's own function, or None. Raises TypeError."""
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
    """The bar of the command `nbcc`: on a terminal, or in a notebook, after one second."""

    def __init__(self) -> None:
        self._wanted = "ipykernel" in sys.modules or _is_terminal(sys.stderr)
        self._start = time.monotonic()
        self._is_shown = False

    def __call__(self, done: float) -> None:
        seconds = time.monotonic() - self._start
        if not self._wanted or seconds < 1:
            return
        width = 40
        full = int(done * width)
        left = seconds / done - seconds if done > 0 else 0
        bar = "#" * full + "." * (width - full)
        self._is_shown = True
        self._write(f"\r[{bar}] {100 * done:3.0f}%, {left:.0f} s left \x1b[K")

    def clear(self) -> None:
        if self._is_shown:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        """Once that has failed there is no bar any more: no sum ends for it."""
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except Exception:
            self._wanted = self._is_shown = False


def _is_terminal(stream: Any) -> bool:
    """Programs may put anything in the place of sys.stderr."""
    try:
        return bool(stream.isatty())
    except Exception:
        return False
