"""A pipeline's text, and its kernels, which are compiled when they are needed. Entry point: `Family`."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple, Union

from . import _library
from ._fields import CPU, INPUT_I, INPUT_J, INPUT_PAIR, OUTPUT, PARAM, DeviceChoice, Field, Options, Search
from ._handles import Kernel, open_device
from .._display._results import html_of, text_of


_result_types: Dict[Tuple[str, Tuple[str, ...]], Any] = {}


def result_type(name: str, outputs: Tuple[str, ...]) -> Any:
    """The type of the results of a pipeline, a named tuple of its outputs. A name that Python reserves becomes _0, _1,
    ... A result pickles as the name of the pipeline, the names of the outputs and the values."""
    known = _result_types.get((name, outputs))
    if known is not None:
        return known
    make: Any = namedtuple  # mypy knows it for names that are constants only
    bare = make(f"{name}_result", outputs, rename=True)
    # Without __slots__, so that a result has a dict, and room for `info`. A class derived from the bare one would be no
    # named tuple to PyTorch.
    members = {key: value for key, value in vars(bare).items() if key != "__slots__"}
    members["__reduce__"] = lambda result: (_result_of, (name, outputs, tuple(result), result.__dict__))
    if "info" not in outputs:
        members["info"] = None
    # Only the first rows: a namedtuple would show every number.
    members["__repr__"] = members["__str__"] = text_of
    members["_repr_html_"] = html_of
    made = type(bare.__name__, (tuple,), members)
    # Two threads may make a type at once; setdefault then keeps one for both.
    return _result_types.setdefault((name, outputs), made)


def _result_of(name: str, outputs: Tuple[str, ...], values: Tuple[Any, ...], more: Dict[str, Any]) -> Any:
    made = result_type(name, outputs)(*values)
    made.__dict__.update(more)
    return made


class Known(NamedTuple):
    """What a kernel tells about its pipeline. It travels with the text, so that a pipeline can be unpickled where its
    device is missing; the first call then raises DeviceError. (An error while a pool of processes unpickles is fatal.)"""

    name: str
    fields: Tuple[Field, ...]
    operations: float
    neighbours: str
    no_neighbours: str
    index_use: str


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
        known: Optional[Known] = None,
    ) -> None:
        self.text = text
        self.filename = filename
        self.options = options
        self.device = device
        self.search = search  # default of calls
        self.choice = choice
        self._kernels: Dict[Tuple[int, str, Options], Kernel] = {}
        first: Union[Known, Kernel] = known or self.kernel(device or CPU, options.for_kernel())
        self.name = first.name
        self.fields = first.fields
        self.operations = first.operations
        self.neighbours = first.neighbours
        self.no_neighbours = first.no_neighbours
        self.index_use = first.index_use  # how results depend on i_index and j_index, see _fields.INDEX_USES
        self.inputs = [(k, field) for k, field in enumerate(self.fields) if field.role not in (PARAM, OUTPUT)]
        self.params = [(k, field) for k, field in enumerate(self.fields) if field.role == PARAM]
        self.outputs = [(k, field) for k, field in enumerate(self.fields) if field.role == OUTPUT]
        # The input whose library and device results get: the first input of i, or else the first input.
        ranked = sorted(self.inputs, key=lambda one: one[1].role != INPUT_I)
        self.like = ranked[0][0] if ranked else -1
        # A side has no input, so its number of particles does not follow from the inputs.
        self.counts_are_given = not {INPUT_I, INPUT_J} <= {field.role for _, field in self.inputs}
        self.of_pairs = [field for field in self.fields if field.role == INPUT_PAIR or field.of_pair]
        self.arguments = {field.name: k for k, field in enumerate(self.fields) if field.role != OUTPUT}
        self.result = self.result_type(tuple(field.name for _, field in self.outputs))

    def kernel(self, device: str, options: Options) -> Kernel:
        """The kernel for a device; compiled at the first call. Raises DeviceError."""
        key = (_library.generation, device, options)
        found = self._kernels.get(key)
        if found is None:
            made = Kernel(open_device(device, self.choice), self.text, self.filename, options)
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
        known = Known(self.name, self.fields, self.operations, self.neighbours, self.no_neighbours, self.index_use)
        return Family, (self.text, self.filename, self.options, self.device, self.choice, self.search, known)

    def __deepcopy__(self, memo: Any) -> Family:
        return self
