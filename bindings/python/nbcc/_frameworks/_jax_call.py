"""Executes the calls of pipelines in XLA programs. The entry point is `custom_call`, the name of their custom call. Only
imported where JAX is."""

from __future__ import annotations

import functools
import math
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy

from .._arrays._arrays import ELEMENT_SIZES, Array, in_pairs
from .._arrays._dlpack import contiguous
from .._c._fields import INPUT_I, INPUT_J, PARAM, Field
from .._arrays._gpu_memory import clear, copied_to_host
from ._traced_call import OF_INDICES, TracedCall
from ._xla import Execution, register


@functools.lru_cache(None)
def custom_call() -> str:
    register("nbcc_sums", _execute)
    return "nbcc_sums"


class _Systems(NamedTuple):
    """An array with one entry for each system that jax.vmap maps over, on axes in front of its own."""

    array: Array
    rank: int  # of one system's array

    @property
    def axes(self) -> Tuple[int, ...]:
        return self.array.shape[: len(self.array.shape) - self.rank]

    @property
    def of_one(self) -> Tuple[int, ...]:
        return self.array.shape[len(self.array.shape) - self.rank :]

    @property
    def size(self) -> int:
        """Bytes of a number."""
        return _bytes_of(self.array)

    def one(self, k: int) -> Array:
        shape = self.of_one
        return self.array._replace(
            pointer=self.array.pointer + k * math.prod(shape) * self.size,
            shape=shape,
            strides=contiguous(shape, self.size),
        )

    def joined(self) -> Array:
        """The particles of all systems, one system after the other."""
        shape = (math.prod(self.axes) * self.of_one[0], *self.of_one[1:])
        return self.array._replace(shape=shape, strides=contiguous(shape, self.size))

    def numbers(self, stream: Optional[int]) -> Any:
        """[system, ...], on the host."""
        count = math.prod(self.array.shape)
        memory = copied_to_host(self.array.pointer, count * self.size, stream)
        return numpy.frombuffer(memory, self.array.dtype, count).reshape(math.prod(self.axes), *self.of_one)


def _bytes_of(array: Array) -> int:
    return ELEMENT_SIZES[array.element] if array.element >= 0 else numpy.dtype(array.dtype).itemsize


def _execute(execution: Execution) -> None:
    call = TracedCall(execution.text)
    fields = {field.name: field for field in call.pipeline._family.fields}
    of_array: Dict[int, Field] = {k: fields[name] for name, k in call.at.items()}
    # jax.vmap adds the same axes in front of all arrays and results.
    first = call.pipeline._wanted(call.option("outputs"))[0][1]
    axes = len(execution.results[0].shape) - len(first.shape) - (0 if first.total else 1)
    given: List[Any] = []  # of params numbers
    for k, array in enumerate(execution.arguments):
        if array.element < 0 and in_pairs(array) is array:
            raise TypeError(
                f"{call.pipeline.name}(): '{of_array[k].name}': expected float32, float64, int32 or int64, got {array.dtype}"
            )
        systems = _Systems(array, len(array.shape) - axes)
        given.append(systems.numbers(execution.stream) if of_array[k].role == PARAM else systems)
    results = [_Systems(array, len(array.shape) - axes) for array in execution.results]
    count = math.prod(results[0].axes)
    lengths = {of_array[k].role: one.of_one[0] for k, one in enumerate(given) if isinstance(one, _Systems)}
    # XLA gives a param that is the same in all systems once for each of them.
    given = [one if isinstance(one, _Systems) or not (one == one[0]).all() else one[0].tolist() for one in given]
    mapped = [of_array[k].name for k, one in enumerate(given) if isinstance(one, numpy.ndarray)]

    def of_system(k: int) -> List[Any]:
        return [
            one.one(k) if isinstance(one, _Systems) else one[k].tolist() if isinstance(one, numpy.ndarray) else one
            for one in given
        ]

    if axes > 0:
        plan = call.plan(of_system(0))
        chooses = any(field.reduction in OF_INDICES for field in plan.outputs)
        if not chooses and call.can_be_batches(plan, lengths, mapped):
            ids = {n: numpy.repeat(numpy.arange(count), n) for n in lengths.values()}
            joined = [one.joined() if isinstance(one, _Systems) else one for one in given]
            batches = (ids[lengths[INPUT_I]], ids[lengths[INPUT_J]], count)
            _sum(call, joined, [result.joined() for result in results], execution.stream, batches=batches)
            return
    for k in range(count):
        _sum(call, of_system(k), [result.one(k) for result in results], execution.stream)


def _sum(call: TracedCall, arrays: Sequence[Any], results: Sequence[Array], stream: Optional[int], **more: Any) -> None:
    arrays = [in_pairs(array) if isinstance(array, Array) else array for array in arrays]
    if stream is not None:
        more["stream"] = stream
    plan = call.plan(arrays, **more)
    if plan.options.get("i") is not None:  # other rows are 0, and XLA's new arrays are not
        for result in results:
            clear(result.pointer, math.prod(result.shape) * _bytes_of(result), stream)
    plan.run_into([in_pairs(result) for result in results])
