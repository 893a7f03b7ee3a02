"""Path and options -> a compiled pipeline, which calls with an equal text and equal options share. Entry point:
`compile_once`."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Tuple

from ._pipeline import Path, Pipeline, _text_of, compile

# The pipelines that calculators have compiled, the last one used at the end: a calculator of an equal text, options
# included, takes the same pipeline and its derivatives. Compiling takes 35 ms, and 65 ms more for forces.
_compiled: "OrderedDict[Tuple[Any, ...], Pipeline]" = OrderedDict()
_MAX_COMPILED = 16


def compile_once(path: Path, **options: Any) -> Pipeline:
    """nbcc.compile, or the pipeline that it returned before. With a skin each calculator has its own pipeline, because a
    pipeline keeps the neighbours of the last positions."""
    if options.get("skin"):
        return compile(path, **options)
    text, filename = _text_of(path, None, None)
    key = (text, filename, *sorted((name, repr(value)) for name, value in options.items()))
    found = _compiled.pop(key, None) or compile(path, **options)
    _compiled[key] = found
    while len(_compiled) > _MAX_COMPILED:
        _compiled.popitem(last=False)
    return found
