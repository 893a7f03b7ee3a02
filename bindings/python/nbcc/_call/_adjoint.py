"""A call that is differentiated -> calls of the pipelines of its derivatives. The interface is `Call`, which `_torch` and
`_jax` use; the texts of these pipelines are made by `_adjoint_text`."""

from __future__ import annotations

import array
import copy
import sys
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Protocol, Sequence, Tuple, Union

from .._arrays import _arrays
from .._c._adjoint_text import DERIVATIVE, GIVEN, SAVED, VALUE, AdjointField
from .._arrays._arrays import SINGLE, Array, library_of, ndarray
from .._c._errors import UsageError
from ._call import Caller
from ._totals import adjoint_of_values, functions_for, rate_of_total, where
from .._c._family import Family
from .._c._fields import INPUT_I, INPUT_J, INPUT_PAIR, PARAM, Field
from .._c._lists import is_by_group
from .._arrays._numbers import has_complex, shape_of

# Keywords of a call that have no meaning where a derivative is taken.
_REFUSED = ("out", "accumulate")
# What tells which pairs act; with these the pairs of i and j need not be those of j and i.
_OF_PAIRS = ("i", "lists", "listed_pairs", "exclusions")


class Differentiable(Protocol):
    """What derivatives need of a pipeline; `_pipeline.Pipeline` has it."""

    _family: Family
    _adjoints: Adjoints
    _key: str

    @property
    def name(self) -> str: ...
    @property
    def adjoint_fields(self) -> Tuple[AdjointField, ...]: ...
    def _match(self, positional: Sequence[Any], named: Mapping[str, Any]) -> Any: ...
    def _wanted(self, outputs: Any) -> List[Tuple[int, Field]]: ...
    def statistics(self) -> Dict[str, Union[float, str]]: ...
    def _callers(self) -> List[Caller]: ...
    def _columns(self, vector: str, output: str, count: int) -> Differentiable: ...
    def _call(self, arrays: Sequence[Any], fields: Mapping[str, Any], options: Mapping[str, Any]) -> Any: ...


class Adjoints:
    """The pipelines of derivatives of one pipeline, each made when it is first needed."""

    def __init__(self, make: Callable[[str, Any, Any], Differentiable]) -> None:
        self._make = make
        self._made: Dict[Tuple[str, Tuple[str, ...], Tuple[str, ...]], Differentiable] = {}

    def get(self, side: str, of: Sequence[str], by: Sequence[str] = ()) -> Differentiable:
        key = (side, tuple(of), tuple(by))
        made = self._made.get(key)
        if made is None:
            made = self._made.setdefault(key, self._make(side, of, by or None))
        return made

    def made(self) -> List[Differentiable]:
        return list(self._made.values())

    def forward(self, of: Sequence[str]) -> Differentiable:
        """The pipeline with the outputs besides that derivatives need."""
        return self.get("forward", of)


def copied(value: Any, copies: Dict[int, Any], tensors: bool = False) -> Any:
    """The value with copies of all arrays in it that may be written; an array that is given twice stays one. JAX's never
    change, nor do nbcc.Lists and nbcc.Rows. PyTorch's own graph minds its tensors, but not those among options."""
    if value is None or isinstance(value, (int, float, str, bytes, slice, range, Array)):
        return value
    if id(value) in copies:
        return copies[id(value)][1]
    made = value
    torch = sys.modules.get("torch")
    if isinstance(value, (list, tuple)):
        made = [copied(one, copies, tensors) for one in value]
        made = made if isinstance(value, list) else tuple(made)
    elif torch is not None and isinstance(value, torch.Tensor):
        made = value.detach().clone() if tensors else value
    elif isinstance(value, ndarray):
        made = value.copy()
    elif hasattr(value, "indptr") and hasattr(value, "indices"):
        if getattr(value, "format", "csr") == "csr":
            made = (copied(value.indptr, copies, tensors), copied(value.indices, copies, tensors))
    elif isinstance(value, array.array):
        made = value[:]
    elif library_of(value) not in ("jax", "jaxlib"):
        made = _copied_array(value)
    copies[id(value)] = (value, made)  # the value too, so that no other gets its id
    return made


def _copied_array(value: Any) -> Any:
    """Of a buffer, or an array of another library; else the value."""
    try:
        memoryview(value)
    except TypeError:
        is_array = hasattr(value, "__array__") or hasattr(value, "__cuda_array_interface__")
        return value.copy() if is_array and hasattr(value, "copy") else value
    return value if _arrays.numpy is None else _arrays.numpy.array(value)


def _complex_value(pipeline: str, field: Field, value: Any) -> Any:
    """The value of a complex param as complex numbers, if it is real numbers; any other value as it is. Raises ValueError
    for real numbers of a complex input."""
    if not field.is_complex or isinstance(value, Array) or has_complex(value):
        return value
    shape = shape_of(value)
    if field.role != PARAM and len(shape) == 1 + len(field.shape):
        raise ValueError(
            f"{pipeline}(): '{field.name}' ({field.role} {field.type}): expected complex numbers, or real ones with an axis "
            f"of length 2 more, got {shape} of real numbers; .astype(complex) of it is read"
        )
    if field.role != PARAM or shape != field.shape:
        return value
    if isinstance(value, (list, tuple)):
        return [complex(number) for number in value]
    return value * (1 + 0j)  # also a tensor, whose derivative goes on to it


def _in_single(value: Any) -> Any:
    """Real or complex numbers in single precision."""
    of = functions_for(value)
    kind = of.complex64 if "complex" in str(value.dtype) else of.float32
    return value.to(kind) if of.__name__ == "torch" else value.astype(kind)


def _as_complex(value: Any) -> Any:
    """An array whose last axis has the real and the imaginary part, as an array of complex numbers in the same memory; an
    array of complex numbers as it is."""
    of = functions_for(value)
    if of.__name__ == "torch":
        return value if value.is_complex() else of.view_as_complex(value)
    if value.dtype.kind == "c":
        return value
    return value.view("c8" if value.dtype.itemsize == 4 else "c16")[..., 0]


class Call:
    """A call that is to be differentiated: what was given, by the names of fields, and how it is to be run."""

    def __init__(
        self,
        pipeline: Differentiable,
        arrays: Sequence[Any],
        fields: Mapping[str, Any],
        options: Mapping[str, Any],
    ) -> None:
        family = pipeline._family
        self.pipeline = pipeline
        self.options = dict(options)
        for name in _REFUSED:
            if self.options.get(name) is not None and self.options[name] is not False:
                raise TypeError(
                    f"{family.name}(): {name}= cannot be given where derivatives are taken; detach the inputs"
                )
        # Derivatives come later, of the numbers as they are now.
        copies: Dict[int, Any] = {}
        values = [copied(value, copies) for value in pipeline._match(arrays, fields)]
        self.options = {name: copied(value, copies, tensors=True) for name, value in self.options.items()}
        # Texts of derivatives declare complex fields as vec2, to which a real number is none.
        self.values = {name: _complex_value(family.name, family.fields[k], values[k]) for name, k in family.arguments.items()}
        wanted = pipeline._wanted(self.options.pop("outputs", None))
        self.wanted = [field for _, field in wanted]
        self.of = [field.name for field in self.wanted if not field.integral]
        # Whole numbers have no derivatives: there is nothing that these would need.
        self.forward = pipeline
        self._refusal: Optional[UsageError] = None  # why there are no derivatives
        if self.of:
            try:
                self.forward = pipeline._adjoints.forward(self.of)
            except UsageError as error:
                self._refusal = error
        of_forward = self.forward.adjoint_fields if self.forward is not pipeline else ()
        # What the caller wants, then what derivatives need besides.
        asked = [field.name for field in self.wanted]
        self._saved = [field.name for field in of_forward if field.meaning == SAVED]
        # The derivative of an output(at) needs the index that was chosen.
        chosen = ("argmin", "argmax") if any(field.reduction == "at" for field in self.wanted) and self.of else ()
        self.outputs = self.wanted + [
            field
            for _, field in self.forward._family.outputs
            if (field.name in self._saved or field.reduction in chosen) and field.name not in asked
        ]
        self._partners = {one.name: one.partner for one in of_forward if one.partner and one.meaning == VALUE}
        # Of totals that are no sums: the saved result with the values of each i.
        self._values_of = {one.partner: one.name for one in of_forward if one.partner and one.meaning == SAVED}
        self.one_set = self._is_one_set()

    def with_values(self, values: Mapping[str, Any]) -> Call:
        """This call with other values of some fields, by name, of the same shapes and types."""
        made = copy.copy(self)
        made.values = {**self.values, **values}
        return made

    def field(self, name: str) -> Field:
        return self.pipeline._family.fields[self.pipeline._family.arguments[name]]

    def may_need(self, output: Field) -> bool:
        """Whether derivatives may need the value of one of `outputs`. Those of a sum do not, unless the forward pipeline has
        the sum for them."""
        return output.reduction != "sum" or output.name in self._saved

    def _is_one_set(self) -> bool:
        """Whether i and j are the same particles: all fields that have a partner on the other side, as xi and xj, are
        one array with it."""
        if self.options.get("i_offset", 0) != self.options.get("j_offset", 0):
            return False
        if self.options.get("ni") != self.options.get("nj"):
            return False
        if any(self.options.get(name) is not None for name in _OF_PAIRS):
            return False
        batches = self.options.get("batches")
        if batches is not None and batches[0] is not batches[1]:
            return False
        pairs = self._partners.items()
        return bool(pairs) and all(self.values[a] is self.values[b] for a, b in pairs)

    def partner(self, name: str) -> Optional[str]:
        """Where i and j are one set: the field of i that the derivative by a field of j is counted to."""
        return self._partners.get(name) if self.one_set and self.field(name).role == INPUT_J else None

    def by_group(self, name: str) -> bool:
        """Whether a param has a value for each group or batch."""
        field = self.field(name)
        if field.role != PARAM or (self.options.get("lists") is None and self.options.get("batches") is None):
            return False
        # The sum checks their number.
        value = self.values[name]
        groups = shape_of(value)[:1]
        return bool(groups) and is_by_group(value, field, groups[0])

    def group_of_i(self) -> Any:
        batches = self.options.get("batches")
        if batches is not None:
            return batches[0]
        from ._transposed import group_of_i

        return group_of_i(self.options["lists"])

    def handed_out(self, results: Sequence[Any]) -> Any:
        """What the caller gets, of what `run` gave."""
        found = {field.name: value for field, value in zip(self.outputs, results)}
        values = [found[field.name] for field in self.wanted]
        if len(values) == 1:
            return values[0]
        return self.pipeline._family.result_type(tuple(field.name for field in self.wanted))(*values)

    def check_derivatives(self) -> None:
        """Raises UsageError if there are none."""
        if self._refusal is not None:
            raise self._refusal

    def _count(self, role: str, given: str, values: Mapping[str, Any]) -> int:
        for name, value in values.items():
            if name in self.values and self.field(name).role == role:
                return len(value)
        return int(self.options.get(given) or 0)

    def run(self, values: Mapping[str, Any]) -> List[Any]:
        """The outputs, and behind them what derivatives need."""
        names = [field.name for field in self.outputs]
        made = self.forward._call(self._by_position(values), {}, {**self.options, "outputs": names})
        # Results come in the order of declaration.
        order = [field.name for _, field in self.forward._family.outputs if field.name in names]
        results = dict(zip(order, [made] if len(names) == 1 else made))
        return [_as_complex(results[field.name]) if field.is_complex else results[field.name] for field in self.outputs]

    def run_into(self, results: Sequence[Array]) -> None:
        """Writes what `run` returns to arrays."""
        out = {field.name: result for field, result in zip(self.outputs, results)}
        self.forward._call(self._by_position({}), {}, {**self.options, "outputs": list(out), "out": out})

    def _by_position(self, values: Mapping[str, Any]) -> List[Any]:
        """All inputs and params in their order, of which some have other values."""
        known = {**self.values, **values}
        return [known[name] for name in self.forward._family.arguments]

    def is_single(self, inputs: Iterable[Any]) -> bool:
        """Whether real results are float32, of the values of all inputs."""
        precision = self.options.get("precision") or self.pipeline._family.options.precision
        kinds = [str(getattr(value, "dtype", "float64")).rpartition(".")[2] for value in inputs]  # lists are double
        return (
            precision != "double"
            and not any(kind in ("float64", "complex128") for kind in kinds)
            and any(kind in SINGLE for kind in kinds)
        )

    def gradients(
        self,
        values: Mapping[str, Any],
        results: Mapping[str, Any],
        adjoints: Mapping[str, Any],
        by: Sequence[str],
        is_mapped: bool = False,
    ) -> Dict[str, Any]:
        """d_NAME of the fields in `by`, from those of outputs. That of a param by group has a row for each i. is_mapped: a
        framework's vmap maps over the values."""
        self.check_derivatives()
        adjoints = self._without_totals(adjoints, results)
        of = [field.name for field in self.outputs if field.name in adjoints]
        sides: Dict[str, List[str]] = {}
        for name in by:
            role = self.field(name).role
            if role in (PARAM, INPUT_PAIR) or (role == INPUT_I and not self.one_set):
                sides.setdefault("i", []).append(name)
            elif not self.one_set:
                sides.setdefault("j", []).append(name)
            elif self.partner(name) is None:
                sides.setdefault("set", []).append(name)
        # Derivatives by a param that differs from group to group are added up for each group. Those of mapped systems are
        # added up for each system: a call for totals cannot have several systems (`TracedCall.can_be_batches`).
        params = [name for name in sides.get("i", ()) if self.field(name).role == PARAM]
        if any(is_mapped or self.by_group(name) for name in params):
            sides["each_i"] = sides.pop("i")
        known = {**self.values, **values}
        ni = self._count(INPUT_I, "ni", known)
        is_single = self.is_single(value for name, value in known.items() if self.field(name).role != PARAM)
        found: Dict[str, Any] = {}
        for side, names in sides.items():
            # Seen from j, the lists' groups are others. Params that differ from group to group become inputs of i.
            grouped = list(filter(self.by_group, known)) if side == "j" and self._has_lists_from_j() else []
            adjoint = self.pipeline._adjoints.get("each_j" if grouped else side, of, names + grouped)
            sources = {GIVEN: adjoints, SAVED: results}
            meanings = [one for one in adjoint.adjoint_fields if one.meaning != DERIVATIVE]
            given = [
                known[one.of] if one.meaning == VALUE else self._of_each_i(one.of, sources[one.meaning][one.of], ni, is_single)
                for one in meanings
            ]
            for k, one in enumerate(meanings):
                if one.meaning == VALUE and one.of in grouped:
                    given[k] = _in_order(known[one.of], self.group_of_i())
            options = self._seen_from_j(meanings, given, known) if side == "j" else self.options
            found.update(_derivatives(adjoint, given, options))
        for name in sides.get("each_i", ()):
            if self.field(name).role == PARAM and not self.by_group(name):
                found[name] = found[name].sum(0)
        return found

    def tangents(self, values: Mapping[str, Any], results: Mapping[str, Any], rates: Mapping[str, Any]) -> Dict[str, Any]:
        """The rates of the real `outputs`, from those of fields: forward mode. Those of complex outputs have the real and the
        imaginary part on their last axis."""
        self.check_derivatives()
        known = {**self.values, **values}
        ni = self._count(INPUT_I, "ni", known)
        is_single = self.is_single(value for name, value in known.items() if self.field(name).role != PARAM)
        of = [field.name for field in self.outputs if not field.integral and field.name not in self._values_of]
        tangent = self.pipeline._adjoints.get("tangent", of, list(rates))
        given = []
        for one in tangent.adjoint_fields:
            if one.meaning == SAVED:
                given.append(self._of_each_i(one.of, results[one.of], ni, is_single))
            elif one.meaning != DERIVATIVE:
                given.append((known if one.meaning == VALUE else rates)[one.of])
        found = _derivatives(tangent, given, self.options)
        for total, name in self._values_of.items():
            reduction = self._output(total).reduction or ""
            found[total] = rate_of_total(reduction, results[total], results[name], found[name], self.options.get("i"))
        return found

    def _without_totals(self, adjoints: Mapping[str, Any], results: Mapping[str, Any]) -> Dict[str, Any]:
        """The adjoints, those of totals that are no sums as adjoints of the values of i."""
        made = dict(adjoints)
        for total, name in self._values_of.items():
            if total not in made:
                continue
            reduction, values = self._output(total).reduction or "", results[name]
            part = adjoint_of_values(reduction, results[total], values, made.pop(total), self.options.get("i"))
            part = _in_single(part) if "float32" in str(values.dtype) else part
            made[name] = part + made[name] if name in made else part
        return made

    def _output(self, name: str) -> Field:
        return next(field for field in self.outputs if field.name == name)

    def _of_each_i(self, name: str, value: Any, ni: int, is_single: bool) -> Any:
        """The value of an output, or its derivative, with a row for each i, also if the output is a total. Totals, which
        are double, get the precision of the other arrays. The derivative by a histogram is a param."""
        field = self._output(name)
        if not field.total or field.histogram:
            return value
        if is_single and not field.integral and hasattr(value, "dtype"):
            value = _in_single(value)
        if hasattr(value, "expand"):  # PyTorch's, without a copy
            return value.expand(ni, *field.shape)
        return functions_for(value).broadcast_to(value, (ni, *field.shape))

    def _is_without_lists(self) -> bool:
        """Whether the pipeline sums over images: lists do not say which images act."""
        return b"every_image" in self.pipeline._family.text

    def _has_lists_from_j(self) -> bool:
        """Whether the sum by inputs of j has lists with groups of j, see `transposed`."""
        if self.options.get("lists") is not None:
            return True
        has_batches_of_some = self.options.get("batches") is not None and self.options.get("i") is not None
        return has_batches_of_some and not self._is_without_lists()

    def _mask_by_i(self, fields: Sequence[AdjointField], given: List[Any], ni: int) -> None:
        """Sets the derivatives by outputs to 0 for each i that i= does not choose, so that a sum over all i is one over the
        chosen i. Saved results of the other i, which no run has made, become those of a chosen i, to be finite."""
        from ._transposed import is_chosen

        mask = is_chosen(self.options["i"], ni)
        rows = _arrays.numpy.where(mask, _arrays.numpy.arange(ni), mask.argmax() if ni else 0)
        for k, one in enumerate(fields):
            if one.meaning == SAVED:
                given[k] = _in_order(given[k], rows)
            elif one.meaning == GIVEN and self._output(one.of).total and self._output(one.of).histogram:
                raise UsageError(
                    f"{self.pipeline.name}(): i= of a pipeline with every_image() and the total histogram '{one.of}': expected "
                    "no gradient by inputs of j; give the chosen i in arrays of their own"
                )
            elif one.meaning == GIVEN:
                given[k] = where(mask, given[k])

    def _seen_from_j(
        self, fields: Sequence[AdjointField], given: List[Any], values: Mapping[str, Any]
    ) -> Dict[str, Any]:
        """The options of the sum by inputs of j. Inputs of pairs among those given come into their new order."""
        from ._transposed import transposed

        options = self.options
        counts = self._count(INPUT_I, "ni", values), self._count(INPUT_J, "nj", values)
        if self._is_without_lists() and options.get("i") is not None:
            self._mask_by_i(fields, given, counts[0])
            options = {**options, "i": None}
        options, order = transposed(options, *counts)
        if order is not None:
            for k, one in enumerate(fields):
                is_value = one.meaning == VALUE
                if self.field(one.of).role == INPUT_PAIR if is_value else self._output(one.of).of_pair:
                    given[k] = _in_order(given[k], order)
        return options


def _derivatives(of: Differentiable, given: Sequence[Any], options: Mapping[str, Any]) -> Dict[str, Any]:
    """The outputs of a pipeline of derivatives, by what they are derivatives of."""
    names = [one.of for one in of.adjoint_fields if one.meaning == DERIVATIVE]
    made = of._call(given, {}, options)
    return dict(zip(names, [made] if len(names) == 1 else made))


def _in_order(value: Any, order: Any) -> Any:
    of = functions_for(value)
    if of.__name__ == "torch":
        return value[of.as_tensor(order, device=value.device)]
    return value[order] if hasattr(value, "shape") else [value[k] for k in order]
