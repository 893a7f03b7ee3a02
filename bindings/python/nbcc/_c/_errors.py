"""The exceptions of nbcc, and the conversion of statuses of the C interface to exceptions. Entry point: `check`."""

from __future__ import annotations

import ctypes
from typing import List, NamedTuple, NoReturn, Optional, Sequence

from ._library import DiagnosticStruct, lib

INPUT, USAGE, DEVICE, INTERRUPTED = 1, 2, 3, 4  # nbcc_status
_SEVERITIES = ("note", "warning", "error")


class Diagnostic(NamedTuple):
    """A diagnostic of a pipeline's text; `str()` returns it as a terminal shows it.

    severity: "error", "warning" or "note". line, column: from 1, columns in bytes; 0 means the entire text.
    message: the message alone. text: `file:line:column: severity: message`, the source line and a caret below it.
    """

    severity: str
    line: int
    column: int
    message: str
    text: str

    def __str__(self) -> str:
        return self.text


class Error(Exception):
    """Base class of nbcc's exceptions. Plain mistakes of a caller raise TypeError and ValueError instead."""


class CompileError(Error):
    """A pipeline's text has errors. `str()` shows all of them with lines and carets.

    message, line, column: of the first error. filename: of the pipeline. text: the first error with its source line and
    caret. diagnostics: all diagnostics, including warnings, in the order of the text.
    """

    def __init__(self, filename: str, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("".join(diagnostic.text for diagnostic in diagnostics).rstrip("\n"))
        first = next(diagnostic for diagnostic in diagnostics if diagnostic.severity == "error")
        self.filename = filename
        self.message = first.message
        self.line = first.line
        self.column = first.column
        self.text = first.text
        self.diagnostics = list(diagnostics)

    def __reduce__(self) -> tuple[object, ...]:
        return CompileError, (self.filename, self.diagnostics)

    # IPython shows this instead of a stack trace, which would not help to find an error in a pipeline.
    def _render_traceback_(self) -> List[str]:
        return str(self).split("\n")


class UsageError(Error, ValueError):
    """An argument is invalid; the message names it, what was expected and what was given."""


class DeviceError(Error, RuntimeError):
    """There is no such device, it lacks memory, or its compiler failed; the message has the compiler's log."""


class InternalError(Error, RuntimeError):
    """A bug in nbcc."""


class PipelineWarning(UserWarning):
    """A pipeline compiles, but something in its text is doubtful."""


class ErrorOut:
    """The output argument nbcc_error** of a function of the C interface."""

    __slots__ = ("_pointer", "address")

    def __init__(self) -> None:
        self._pointer = ctypes.c_void_p()
        self.address = ctypes.addressof(self._pointer)

    def take(self) -> str:
        message = decode(lib.nbcc_error_message(self._pointer))
        lib.nbcc_error_free(self._pointer)
        self._pointer.value = None
        return message

    def throw(self, status: int) -> NoReturn:
        message = self.take()
        if status == USAGE:
            raise UsageError(message)
        if status == DEVICE:
            raise DeviceError(message)
        if status == INPUT:
            raise CompileError("", [Diagnostic("error", 0, 0, message, message)])
        raise InternalError(message)


def check(status: int, place: ErrorOut) -> None:
    if status:
        place.throw(status)


def decode(text: Optional[bytes]) -> str:
    return text.decode("utf-8", "replace") if text else ""


def diagnostics_of(report: ctypes.c_void_p) -> List[Diagnostic]:
    found = []
    one = DiagnosticStruct()
    for k in range(lib.nbcc_report_diagnostic_count(report)):
        lib.nbcc_report_diagnostic(report, k, ctypes.addressof(one))
        found.append(
            Diagnostic(_SEVERITIES[one.severity], one.line, one.column, decode(one.message), decode(one.rendered))
        )
    return found
