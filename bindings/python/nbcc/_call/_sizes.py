"""Lengths of arrays that are params of a text: `param int D = 64;` and `input_i real x[D];`. A kernel has one D; a call whose
arrays have another D runs the same text with that number. Entry point: `Sizes`."""

from __future__ import annotations

import re
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

from .._arrays._numbers import named, shape_of, whole
from .._c._fields import INPUT_I, INPUT_J, INPUT_PAIR
from .._c._family import Family

_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.S)
_PARAM = re.compile(rb"\bparam\s+int\s+(\w+)\s*=\s*(\d+)\s*;")
_ARRAY = re.compile(rb"\b(\w+)\s*\[([^\]]*)\]")
_WORD = re.compile(rb"[A-Za-z_]\w*")


class Sizes:
    """The sizes of a text: by name, and by the inputs and params whose length is a size alone."""

    def __init__(self, family: Family, text: bytes, values: Dict[str, int], places: Dict[str, Tuple[int, int]]) -> None:
        self._family, self._text, self.values, self._places = family, text, values, places
        arrays = _ARRAY.findall(text)
        lengths = {name.decode(): length.strip().decode() for name, length in reversed(arrays)}
        self._of_fields = {k: lengths[name] for name, k in family.arguments.items() if lengths.get(name) in values}

    @staticmethod
    def of(family: Family) -> Optional[Sizes]:
        """None if the text has no size."""
        if b"param" not in family.text:
            return None
        text = _COMMENT.sub(lambda found: b" " * len(found[0]), family.text)  # places are those of the text
        used = {word for _, length in _ARRAY.findall(text) for word in _WORD.findall(length)}
        found = [one for one in _PARAM.finditer(text) if one[1] in used and one[1].decode() not in family.arguments]
        if not found:
            return None
        values = {one[1].decode(): int(one[2]) for one in found}
        return Sizes(family, text, values, {one[1].decode(): one.span(2) for one in found})

    def wanted(self, arrays: Sequence[Any], fields: Mapping[str, Any]) -> Dict[str, int]:
        """The sizes that a call has: those that it gives, else those of its arrays, else those of the text."""
        family = self._family
        given = dict(zip(family.arguments.values(), arrays))
        given.update((family.arguments[name], value) for name, value in fields.items() if name in family.arguments)
        sizes: Dict[str, int] = {}
        for name in self.values:
            if name in fields:
                sizes[name] = named(f"{family.name}(): {name}", whole, fields[name], 1)
        for k, name in self._of_fields.items():
            if name not in sizes and k in given:
                length = _length_of(given[k], family.fields[k])
                if length is not None:
                    sizes[name] = length
        return {**self.values, **sizes}

    def text_of(self, sizes: Mapping[str, int]) -> bytes:
        text = self._family.text
        for name, (begin, end) in sorted(self._places.items(), key=lambda one: one[1], reverse=True):
            text = text[:begin] + str(sizes[name]).encode() + text[end:]
        return text


def _length_of(value: Any, field: Any) -> Optional[int]:
    """The length of the field's array that the value has; None if its shape is another one."""
    try:
        shape = shape_of(value)
    except TypeError:
        return None
    axis = len(shape) - len(field.row)
    if field.role in (INPUT_I, INPUT_J, INPUT_PAIR) and axis < 1:
        return 1 if len(shape) == 1 else None
    return None if axis < 0 or shape[axis] < 1 else int(shape[axis])
