"""A call of a pipeline as one string besides its arrays, for frameworks that trace calls and run them later, perhaps in
another process. Entry point: `DescribedCall`, which reads the string; `_torch` and `_jax` write it.

The string is the pipeline's key (`_opened`) and words for the arguments, separated by tabs:

    xi:0          the array 0          -batches.1:3  the element 1 of a tuple, the array 3
    -clamp=True   a constant           -lists@7      a Python object, held by this process under the number 7
    eps2%1/4      a number, as a ratio of integers

A word that begins with "-" is an option, any other a field.
"""

from __future__ import annotations

import ast
import re
import weakref
from typing import Any, Collection, Dict, List, Mapping, NamedTuple, Optional, Sequence

from .._call._adjoint import Call
from .._c._fields import INPUT_I, INPUT_J
from ._opened import opened_again

# A word: mark of an option, name, element of a tuple, kind, rest.
_WORD = re.compile(r"(-?)(\w+)(?:\.(\d+))?([:=@%])(.*)", re.DOTALL)


def is_constant(value: Any) -> bool:
    """Whether a value can stand in the string: its repr() says all of it. Infinity and NaN have none that is read again."""
    if type(value) in (list, tuple):
        return all(map(is_constant, value))
    return type(value) in (bool, int, str) or (type(value) is float and value - value == 0)


class Held:
    """An argument that is neither an array nor a constant. It is known as long as somebody keeps this object."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.number = next(_numbers)
        _held[self.number] = self


_held: "weakref.WeakValueDictionary[int, Held]" = weakref.WeakValueDictionary()
_numbers = iter(range(1, 2**62))


class Given(NamedTuple):
    """An argument, or an element of one: the number of an array, or a value that is none."""

    name: str
    element: Optional[int]
    array: Optional[int]
    value: Any
    is_option: bool


class DescribedCall:
    """What the string of a call says."""

    def __init__(self, text: str) -> None:
        key, *words = text.split("\t")
        self.pipeline = opened_again(key)
        self.held: List[Held] = []
        self.given: List[Given] = []
        for word in words:
            found = _WORD.match(word)
            assert found is not None, word
            mark, name, element, kind, rest = found.groups()
            value: Any = None
            if kind == "@":
                held = _held.get(int(rest))
                if held is None:
                    raise RuntimeError(f"{self.pipeline.name}(): '{name}' of this call is not known in this process")
                self.held.append(held)
                value = held.value
            elif kind == "=":
                value = ast.literal_eval(rest)
            elif kind == "%":
                above, below = map(int, rest.split("/"))
                value = above if below == 1 else above / below
            self.given.append(
                Given(
                    name,
                    None if element is None else int(element),
                    int(rest) if kind == ":" else None,
                    value,
                    is_option=bool(mark),
                )
            )

    def plan(self, arrays: Sequence[Any], **more: Any) -> Call:
        """The call with these arrays, and with more options."""
        fields: Dict[str, Any] = {}
        options: Dict[str, Any] = {}
        for name, element, index, value, is_option in self.given:
            values = options if is_option else fields
            one = value if index is None else arrays[index]
            values[name] = one if element is None else (*values.get(name, ()), one)
        return Call(self.pipeline, (), fields, {**options, **more}, lambda a, b: a is b)

    def can_be_batches(self, plan: Call, lengths: Mapping[str, int], mapped: Collection[str]) -> bool:
        """Whether several systems can be batches of one call: where no result depends on the place of a particle in the
        arrays. plan: the call of one system. lengths: the numbers of particles of a system, by role. mapped: the params
        that differ from system to system."""
        family = self.pipeline._family
        arrays = {one.name for one in self.given if one.array is not None and not one.is_option}
        if any(one.is_option and one.name in _NOT_IN_BATCHES for one in self.given) or any(field.total for field in plan.outputs):
            return False
        if lengths.keys() != {INPUT_I, INPUT_J} or any(field.name not in arrays for _, field in family.inputs):
            return False
        # Of batches params may be numbers and vectors of real numbers, and no tables.
        if any("[" in field.type or field.is_complex for _, field in family.params if field.name in mapped):
            return False
        text = _COMMENT.sub(b"", family.text)
        bare = _EQUAL_INDICES.sub(b" ", text)
        return b"_index" not in bare and (text == bare or lengths[INPUT_I] == lengths[INPUT_J])


# Outputs that hold the j_index, which in a batch is that in the joined arrays.
OF_INDICES = ("argmin", "argmax")
# The systems of a map cannot be batches of one call that has one of these options.
_NOT_IN_BATCHES = ("lists", "batches", "listed_pairs", "exclusions", "i", "ni", "nj", "i_offset", "j_offset")
_COMMENT = re.compile(rb"//[^\n]*")
# The comparison is a whole condition, or && or || joins it to others.
_EQUAL_INDICES = re.compile(rb"(?<=[(&|])\s*(i_index\s*[=!]=\s*j_index|j_index\s*[=!]=\s*i_index)\s*(?=[)&|])")
