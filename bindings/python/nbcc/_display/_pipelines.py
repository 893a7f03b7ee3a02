"""A pipeline as a signature, a docstring and HTML. Entry points: `signature_of`, `docstring_of`, `pipeline_html`."""

from __future__ import annotations

import html
import inspect
import json
from typing import Any, List, Mapping, Sequence

from .._c._fields import INPUT_I, INPUT_J, INPUT_PAIR, OUTPUT, PARAM, Field
from ._tables import field_table

_ROWS = {INPUT_I: "ni", INPUT_J: "nj", INPUT_PAIR: "pairs", OUTPUT: "ni"}
_TITLES = {
    INPUT_I: "Inputs of i",
    INPUT_J: "Inputs of j",
    INPUT_PAIR: "Inputs of listed pairs",
    PARAM: "Params",
    OUTPUT: "Outputs",
}


def signature_of(fields: Sequence[Field], options: Mapping[str, Any]) -> inspect.Signature:
    """The fields in their order; from one without a default behind one that has it on by name, as Python wants it; then the
    options with their defaults."""
    parameters: List[inspect.Parameter] = []
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    given = [field for field in fields if field.role != OUTPUT]
    for field in given:
        default = inspect.Parameter.empty if field.default is None else field.shown_default
        if default is inspect.Parameter.empty and parameters and parameters[-1].default is not inspect.Parameter.empty:
            kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(field.name, kind, default=default))
    names = {field.name for field in given}
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in options.items()
        if name not in names
    ]
    return inspect.Signature(parameters)


def _shape_of(field: Field) -> str:
    if field.role == PARAM or field.total:
        return f", shape {field.shape}" if field.shape else ""
    rows = "pairs" if field.of_pair else _ROWS[field.role]
    return f", shape ({', '.join([rows, *map(str, field.shape)])}{'' if field.shape else ','})"


def _line_of(field: Field) -> str:
    reduction = f", {'total ' if field.total else ''}{field.reduction}" if field.role == OUTPUT else ""
    default = "" if field.default is None else f", default {field.shown_default}"
    comment = f": {field.comment}" if field.comment else ""
    return f"    {field.name} ({field.type}{_shape_of(field)}{reduction}{default}){comment}"


def head_of(text: str) -> str:
    """The comment at the head of a text, without its slashes: what it computes, units, literature."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    return "\n".join(lines).strip()


def docstring_of(name: str, text: str, fields: Sequence[Field]) -> str:
    parts = [f"{name}{signature_of(fields, {})}", head_of(text) or f"Sums of the pipeline {name} over all j for every i."]
    for role, title in _TITLES.items():
        lines = [_line_of(field) for field in fields if field.role == role]
        if lines:
            parts.append(f"{title}:\n" + "\n".join(lines))
    parts.append("Options by name, as of every pipeline: see help(nbcc.Pipeline.__call__).")
    return "\n\n".join(parts)


def _coloured(text: str) -> str:
    """The text as HTML, in colours where Pygments is installed."""
    try:
        from pygments import highlight
        from pygments.formatters import HtmlFormatter

        from ..pygments_lexer import PipeLexer

        made: str = highlight(text, PipeLexer(), HtmlFormatter(noclasses=True))
        return made
    except ImportError:
        return f"<pre>{html.escape(text)}</pre>"


def pipeline_html(name: str, text: str, fields: Sequence[Field], info: Mapping[str, Any]) -> str:
    shown = json.dumps({key: value for key, value in info.items() if key != "fields"}, indent=2, default=str)
    return (
        f"<div><b>{html.escape(name)}</b>{field_table(field.cells for field in fields)}"
        f"<details><summary>text</summary>{_coloured(text)}</details>"
        f"<details><summary>info()</summary><pre>{html.escape(shown)}</pre></details></div>"
    )
