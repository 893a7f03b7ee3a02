"""A pipeline's text -> its diagnostics and fields, and the texts of the pipelines of its derivatives, of its virial and
of its columns. The interface is `checked_text`, `adjoint_text`, `virial_text` and `columns_text`; derivatives are the library's (`nbcc_adjoint_text`)."""

from __future__ import annotations

import ctypes
import os
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

from ._errors import INPUT, Diagnostic, ErrorOut, decode, diagnostics_of
from ._fields import Field
from ._handles import fields_of
from ._library import AdjointFieldStruct, lib

SIDES = ("i", "j", "set", "forward", "each_i", "tangent", "each_j")

# Meanings of the fields of adjoint pipelines, in the order of nbcc_adjoint_meaning.
VALUE, GIVEN, SAVED, DERIVATIVE = "value", "given", "saved", "derivative"
_MEANINGS = (VALUE, GIVEN, SAVED, DERIVATIVE)


class AdjointField(NamedTuple):
    """What a field of an adjoint pipeline holds.

    meaning: "value", the field `of` of the first pipeline itself; "given", the derivative of L by the output `of`;
    "saved", the output `of` of the forward pipeline; "derivative", of L by the input or param `of`. Of a tangent "given"
    is the rate of the input or param `of`, "derivative" that of the output `of`. partner: the input of the first
    pipeline's other side that is the same array where i and j are one set; of a saved result with the values of i that a
    total reduces, the total; "" where there is none.
    """

    name: str
    meaning: str
    of: str
    partner: str


def adjoint_text(
    text: bytes, filename: str, side: str, of: Optional[Sequence[str]], by: Optional[Sequence[str]]
) -> Tuple[bytes, Tuple[AdjointField, ...], List[Diagnostic]]:
    """The text, its fields, and the warnings of the first text and of its derivatives."""
    if side not in SIDES:
        raise ValueError(f"side: expected one of {', '.join(map(repr, SIDES))}, got {side!r}")
    names = [None if given is None else ",".join(given).encode() for given in (of, by)]
    with _Report(lib.nbcc_adjoint_text, text, os.fsencode(filename), SIDES.index(side), *names) as report:
        return report.text(), report.adjoint_fields(), diagnostics_of(report.pointer)


def virial_text(text: bytes, filename: str, force: str, places: Tuple[str, str]) -> bytes:
    names = (name.encode() for name in (force, *places))
    with _Report(lib.nbcc_virial_text, text, os.fsencode(filename), *names) as report:
        return report.text()


def columns_text(text: bytes, filename: str, vector: str, output: str, count: int) -> bytes:
    """The pipeline that sums for `count` columns of an input of j. Raises UsageError where there is none."""
    names = (vector.encode(), output.encode())
    with _Report(lib.nbcc_columns_text, text, os.fsencode(filename), *names, count) as report:
        return report.text()


class _Report:
    """An nbcc_report, made by one of the library's functions."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.pointer = ctypes.c_void_p()
        place = ErrorOut()
        status = function(*arguments, ctypes.addressof(self.pointer), place.address)
        if status:
            place.throw(status)

    def __enter__(self) -> _Report:
        return self

    def __exit__(self, *_: Any) -> None:
        lib.nbcc_report_free(self.pointer)

    def text(self) -> bytes:
        return decode(lib.nbcc_report_text(self.pointer)).encode()

    def adjoint_fields(self) -> Tuple[AdjointField, ...]:
        found = []
        one = AdjointFieldStruct()
        for k in range(lib.nbcc_report_adjoint_field_count(self.pointer)):
            lib.nbcc_report_adjoint_field(self.pointer, k, ctypes.addressof(one))
            found.append(AdjointField(decode(one.name), _MEANINGS[one.meaning], decode(one.of), decode(one.partner)))
        return tuple(found)


def checked_text(text: bytes, filename: str) -> Tuple[List[Diagnostic], Tuple[Field, ...]]:
    """The diagnostics of a text, and its fields, of which there are none if there are errors."""
    report, place = ctypes.c_void_p(), ErrorOut()
    status = lib.nbcc_check_text(text, os.fsencode(filename), ctypes.addressof(report), place.address)
    try:
        if status == INPUT:
            place.take()  # the report says the same in parts
        elif status:
            place.throw(status)
        return diagnostics_of(report), fields_of(lib.nbcc_report_field, report)
    finally:
        lib.nbcc_report_free(report)
