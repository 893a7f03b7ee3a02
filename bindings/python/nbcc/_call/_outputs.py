"""The outputs of a call: which are computed, and the arrays that they are written to, checked, with errors that name the
output. Entry point: `Outputs`, the base class of `_call.Caller`."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Tuple

from ._arguments import Arguments, Inputs
from .._arrays._arrays import CPU, DOUBLE, ELEMENT_SIZES, INT64, ndarray, plain_numpy
from .._c._fields import Field
from .._c._handles import View
from .._c._lists import Listing
from ._overlap import share_memory
from ._precision import real_element
from .._arrays._results import Result, new_numpy, new_result


class Outputs(Arguments):
    """The outputs of a pipeline's calls."""

    def _wanted(self, outputs: Any) -> List[Tuple[int, Field]]:
        every = self._family.outputs
        if outputs is None:
            return every
        if not isinstance(outputs, (str, list, tuple, set, frozenset)):
            raise TypeError(f"{self._family.name}(): outputs: expected names, got {type(outputs).__name__}")
        names = [outputs] if isinstance(outputs, str) else list(outputs)
        known = [field.name for _, field in every]
        for name in names:
            if name not in known:
                raise ValueError(
                    f"{self._family.name}(): outputs: there is no output {name!r}, only {', '.join(known)}"
                )
        if not names:
            raise ValueError(f"{self._family.name}(): outputs: expected at least one of {', '.join(known)}")
        return [(k, field) for k, field in every if field.name in names]

    def _given_outputs(self, out: Any, wanted: List[Tuple[int, Field]]) -> Dict[int, Any]:
        if out is None:
            return {}
        if isinstance(out, (tuple, list)):  # first: isinstance(out, Mapping) takes a microsecond
            if len(out) != len(wanted):
                listed = ", ".join(field.name for _, field in wanted)
                raise TypeError(f"{self._family.name}(): out: expected {len(wanted)} arrays ({listed}), got {len(out)}")
            return {k: value for (k, _), value in zip(wanted, out) if value is not None}
        names = [field.name for _, field in wanted]
        if isinstance(out, Mapping):
            for name in out:
                if name not in names:
                    raise TypeError(
                        f"{self._family.name}(): out: there is no output {name!r} to write, only {', '.join(names)}"
                    )
            return {k: out[field.name] for k, field in wanted if out.get(field.name) is not None}
        if len(wanted) != 1:
            raise TypeError(
                f"{self._family.name}(): out: expected a tuple or a dict of {len(wanted)} arrays "
                f"({', '.join(names)}), got {type(out).__name__}"
            )
        return {wanted[0][0]: out}

    def _results(
        self,
        inputs: Inputs,
        wanted: List[Tuple[int, Field]],
        given: Dict[int, Any],
        double: bool,
        zeros: bool,  # initialize new arrays to 0, because the run will not write all rows
        listing: Optional[Listing],
    ) -> List[Tuple[int, Result, View]]:
        results: List[Tuple[int, Result, View]] = []
        real = DOUBLE if double else real_element(inputs.views)
        for k, field in wanted:
            rows = field.rows(inputs.ni or 0, listing.pairs if listing else 0)
            if k in given:
                view, found = self._seen(field, given[k], inputs.order)
                if view[2] != rows and not field.total:
                    raise self._wrong_count(field, view[2], rows, inputs.views)
                self._check_device(field, view, inputs.device)
                if found is not None:
                    inputs.kept.append(found)
                results.append((k, Result(given[k], is_new=False), view))
                continue
            shape = (field.shape or (1,)) if field.total else (rows, *field.shape)
            element = INT64 if field.integral else DOUBLE if field.total else real  # totals keep their digits
            if inputs.like is None and rows > 0 and not field.total and ndarray.__module__ == "numpy":
                value = new_numpy(shape, element, zeros, field.is_complex)
                size = ELEMENT_SIZES[element]
                view = (plain_numpy(value)[0], element, rows, size * field.components, size, CPU)
                results.append((k, Result(value), view))
                continue
            try:
                made, where = new_result(inputs.like, shape, element, inputs.order, zeros, field.is_complex)
            except TypeError as error:
                raise TypeError(f"{self._family.name}(): {error}") from error
            inputs.kept.append(where)
            results.append((k, made, self._view(field, where)))
        if len(given) > 1:
            self._check_apart([(self._family.fields[k], view) for k, _, view in results if k in given])
        return results

    def _check_apart(self, written: List[Tuple[Field, View]]) -> None:
        for at, (field, view) in enumerate(written):
            for other_field, other in written[:at]:
                if share_memory(field, view, other_field, other):
                    raise self._wrong(ValueError, field, f"shares memory with output '{other_field.name}'")
