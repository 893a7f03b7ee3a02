"""A pipeline's text, and its kernels, which are compiled when they are needed. Entry point: `Family`."""

from __future__ import annotations

from collections import namedtuple
from functools import lru_cache
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import _library
from ._fields import CPU, INPUT_I, INPUT_J, INPUT_PAIR, OUTPUT, PARAM, DeviceChoice, Options, Search
from ._handles import Kernel, open_device


@lru_cache(maxsize=None)
def result_type(name: str, outputs: Tuple[str, ...]) -> Any:
    """The type of the results of a pipeline, a named tuple of its outputs. A name that Python reserves becomes _0, _1,
    ... A result pickles as the name of the pipeline, the names of the outputs and the values."""
    make: Any = namedtuple  # mypy knows it for names that are constants only
    made = make(f"{name}_result", outputs, rename=True)
    made.__reduce__ = lambda result: (_result_of, (name, outputs, tuple(result)))
    return made


def _result_of(name: str, outputs: Tuple[str, ...], values: Tuple[Any, ...]) -> Any:
    return result_type(name, outputs)(*values)


class Family:
    """A pipeline's text, and the kernels that have been compiled from it."""

    def __init__(
        self,
        text: bytes,
        filename: str,
        options: Options,
        device: Optional[str],
        choice: DeviceChoice,
        search: Search,
    ) -> None:
        self.text = text
        self.filename = filename
        self.options = options
        self.device = device
        self.search = search  # default of calls
        self._choice = choice
        self._kernels: Dict[Tuple[int, str, Options], Kernel] = {}
        first = self.kernel(device or CPU, options)
        self.name = first.name
        self.fields = first.fields
        self.operations = first.operations
        self.neighbours = first.neighbours
        self.no_neighbours = first.no_neighbours
        self.inputs = [(k, field) for k, field in enumerate(self.fields) if field.role not in (PARAM, OUTPUT)]
        self.params = [(k, field) for k, field in enumerate(self.fields) if field.role == PARAM]
        self.outputs = [(k, field) for k, field in enumerate(self.fields) if field.role == OUTPUT]
        # The input whose library and device results get: the first input of i, or else the first input.
        ranked = sorted(self.inputs, key=lambda one: one[1].role != INPUT_I)
        self.like = ranked[0][0] if ranked else -1
        # A side has no input, so its number of particles does not follow from the inputs.
        self.counts_are_given = not {INPUT_I, INPUT_J} <= {field.role for _, field in self.inputs}
        self.of_pairs = [field for _, field in self.inputs if field.role == INPUT_PAIR]
        self.arguments = {field.name: k for k, field in enumerate(self.fields) if field.role != OUTPUT}
        self.result = self.result_type(tuple(field.name for _, field in self.outputs))

    def kernel(self, device: str, options: Options) -> Kernel:
        """The kernel for a device; compiled at the first call. Raises DeviceError."""
        key = (_library.generation, device, options)
        found = self._kernels.get(key)
        if found is None:
            made = Kernel(open_device(device, self._choice), self.text, self.filename, options)
            # Two threads may compile at once; setdefault then keeps one kernel for both.
            found = self._kernels.setdefault(key, made)
        return found

    def kernels(self) -> List[Tuple[str, Options, Kernel]]:
        return [
            (device, options, kernel)
            for (generation, device, options), kernel in self._kernels.items()
            if generation == _library.generation
        ]

    def result_type(self, names: Tuple[str, ...]) -> Callable[..., Any]:
        made: Callable[..., Any] = result_type(self.name, names)
        return made

    def __reduce__(self) -> Any:
        return Family, (self.text, self.filename, self.options, self.device, self._choice, self.search)
