"""Matches and checks the inputs and params of a call, with errors that name the argument. Entry point: `Arguments`, the
base class of `_call.Caller`.
"""

from __future__ import annotations

from typing import Any, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .._arrays._arrays import CPU, DOUBLE, ELEMENT_SIZES, INTEGERS, Array, cast_to_write, describe, in_pairs, ndarray, plain_numpy
from .._c._family import Family
from .._c._fields import INPUT_I, INPUT_J, INPUT_PAIR, OUTPUT, PARAM, Field, is_read_by
from .._c._handles import View
from .._c._lists import Listing, PairRows, Values, values_by_group
from .._arrays._numbers import (
    as_doubles,
    has_complex,
    is_shape_of,
    named,
    pairs_of,
    read,
    shape_of,
    what_is_wrong,
    whole,
)
from .._arrays._streams import Order, handle_of

_MISSING: Any = object()

Param = Tuple[int, Tuple[float, ...]]


class Inputs(NamedTuple):
    """The inputs of a call, described."""

    views: List[Tuple[int, Field, View]]
    like: Optional[Array]  # results get the library and device of this input; None: NumPy
    kept: List[Array]  # keeps memory alive until the run has begun
    order: Order
    device: str
    ni: Optional[int]
    nj: Optional[int]


class Arguments:
    """The arguments of a pipeline's calls, and their bound or default values."""

    def __init__(self, family: Family) -> None:
        self._family = family
        # The bound or default value of each field; _MISSING if the call must give one.
        self._held: List[Any] = [_MISSING if field.default is None else field.default for field in family.fields]
        self._resident = False

    def _match(self, positional: Sequence[Any], named: Mapping[str, Any]) -> List[Any]:
        """Values by field. Raises TypeError for arguments that are missing, unknown or given twice."""
        family = self._family
        values = list(self._held)
        if positional:
            free = [k for k in family.arguments.values() if self._held[k] is _MISSING or family.fields[k].role == PARAM]
            if len(positional) > len(free):
                names = ", ".join(family.fields[k].name for k in free)
                raise TypeError(
                    f"{family.name}() takes at most {len(free)} positional arguments ({names}), got {len(positional)}"
                )
            for k, value in zip(free, positional):
                values[k] = value
                if family.fields[k].name in named:
                    raise TypeError(f"{family.name}() got '{family.fields[k].name}' twice, by position and by name")
        for name, value in named.items():
            k = family.arguments.get(name, -1)
            if k < 0:
                raise TypeError(
                    f"{family.name}() has no input and no param '{name}'; it has {', '.join(family.arguments)}"
                )
            if self._resident and family.fields[k].role == INPUT_J:
                raise TypeError(f"{family.name}(): '{name}' is bound already; bind again for another")
            values[k] = value
        for k in family.arguments.values():
            if values[k] is _MISSING:
                raise TypeError(f"{family.name}() lacks its {family.fields[k]}")
        return values

    def _wrong(self, kind: type, field: Field, message: str) -> Exception:
        made: Exception = kind(f"{self._family.name}(): '{field.name}' ({field.role} {field.type}): {message}")
        return made

    def _described(self, field: Field, value: Any, order: Order) -> Array:
        if type(value) is Array:  # a bound array, which has been described already
            return value
        try:
            if field.has_pairs and isinstance(value, (list, tuple)) and has_complex(value):
                value = pairs_of(value)
            found = describe(value, order, convert=field.role != OUTPUT)
            if field.has_pairs:
                found = in_pairs(found)
        except TypeError as error:
            raise self._wrong(TypeError, field, str(error)) from error
        if found.element < 0:
            wanted = "complex64, complex128, " if field.has_pairs else ""
            wanted += "" if field.integral else "float16, bfloat16, "
            cast = "" if field.role == OUTPUT else cast_to_write(found, "i8" if field.integral else "f8")
            if in_pairs(found) is not found:
                cast = "; complex numbers are read for fields that are declared as complex or vec2"
            elif field.has_pairs and found.library in ("numpy", "cupy") and field.role != OUTPUT:
                cast = '; .astype("c16") of it is read'
            raise self._wrong(
                TypeError, field, f"expected {wanted}float32, float64, int32 or int64, got {found.dtype}{cast}"
            )
        if field.role == OUTPUT:
            if found.readonly:
                raise self._wrong(ValueError, field, "expected an array that can be written, got a read-only one")
            if not field.integral and found.element in INTEGERS:
                raise self._wrong(TypeError, field, f"expected float16, bfloat16, float32 or float64, got {found.dtype}")
        elif field.integral and found.element not in INTEGERS and found.shape != (0,):
            cast = cast_to_write(found, "i8")
            raise self._wrong(TypeError, field, f"expected int32 or int64, got {found.dtype}{cast}")
        return found

    def _view(self, field: Field, found: Array) -> View:
        shape, strides, element = found.shape, found.strides, found.element
        if field.total:
            # The only row of a total; an axis of length 1 may be in front.
            if shape == field.row:
                shape, strides = (1, *shape), (0, *strides)
            elif shape[:1] != (1,):
                raise self._wrong(ValueError, field, f"expected shape {field.row} of a total, got {shape}")
        rank = len(shape)
        if rank == 1 and field.components == 1:
            return (found.pointer, element, shape[0], strides[0], ELEMENT_SIZES[element], found.device)
        if rank == 2 and shape[1] == field.components:
            return (found.pointer, element, shape[0], strides[0], strides[1], found.device)
        if shape == (0,):  # an empty list has neither rows nor a type
            return (found.pointer, element, 0, 0, ELEMENT_SIZES[element], found.device)
        # (N, 2, 3) for two vectors: the numbers of a particle must be evenly spaced.
        if rank == 3 and shape[1:] == field.row and (strides[1] == shape[2] * strides[2] or shape[0] == 0):
            return (found.pointer, element, shape[0], strides[0], strides[2], found.device)
        expected = "(N, " + ", ".join(map(str, field.row)) + ")" if field.row else "(N,)"
        if field.total:
            expected, shape, strides = str(field.row), found.shape, found.strides
        hint = ""
        if rank == 2 and shape[0] == field.components and field.components > 1:
            hint = "; .T of it has that shape"
        elif rank == 3 and shape[-2:] == field.row:
            hint = f" with strides {strides}, where a particle's numbers are not evenly spaced"
        if field.is_complex:
            natural = "" if field.total else "N, "
            natural = "(" + natural + ", ".join(map(str, field.shape)) + ")"
            expected = f"{natural.replace(', )', ',)')} of complex numbers, or {expected} of real ones"
            kind = "complex" if found.is_paired else "real"
            shape = shape[:-1] if found.is_paired else shape
            hint = f" of {kind} numbers" + hint
            if not found.is_paired and field.role != OUTPUT and shape[0 if field.total else 1 :] == field.shape:
                hint += "; .astype(complex) of it is read"
        raise self._wrong(ValueError, field, f"expected shape {expected}, got {shape}{hint}")

    def _param(self, field: Field, value: Any, groups: Optional[int] = None) -> Tuple[float, ...]:
        if field.default is not None and value is field.default:
            return field.default
        if type(value) is float and field.components == 1 and not field.shape:  # the most common, at once
            return (value,)
        try:
            shape, given = read(self._in_pairs(field, value), field.scalar == "bool")
            values = as_doubles(given)
        except TypeError as error:
            raise self._wrong(TypeError, field, what_is_wrong(value, error)) from None
        if len(values) != field.components:
            wanted = "1 number" if field.components == 1 else f"{field.components} numbers"
            if field.is_complex:
                count = field.components // 2
                wanted = f"{count} complex number{'s' if count > 1 else ''}, or {wanted}"
            if groups is not None:
                wanted += f", or shape {(groups, *field.row)}"
            raise self._wrong(ValueError, field, f"expected {wanted}, got {len(values)}")
        if shape != field.row and not is_shape_of(shape, field.row):
            raise self._wrong(ValueError, field, f"expected shape {field.row}, got {shape}")
        return values

    @staticmethod
    def _in_pairs(field: Field, value: Any) -> Any:
        """The value of a param with complex numbers as pairs of real ones; real numbers are complex ones, too."""
        is_complex = field.has_pairs and has_complex(value)
        return pairs_of(value) if is_complex or (field.is_complex and shape_of(value) == field.shape) else value

    def _pairs_by_group(self, field: Field, value: Any, groups: int) -> Any:
        """The values of a complex param by group as pairs of real numbers; other values as they are. Raises ValueError."""
        if field.has_pairs and has_complex(value):
            return pairs_of(value)
        if not field.is_complex or shape_of(value) != (groups, *field.shape):
            return value
        if field.row == (groups, *field.shape):
            raise self._wrong(
                ValueError,
                field,
                f"shape {field.row} of real numbers is one complex value, and one for each of {groups} groups; "
                ".astype(complex) of it has the latter meaning",
            )
        return pairs_of(value)

    def _params(self, values: List[Any], groups: Optional[int]) -> Tuple[List[Param], List[Tuple[int, Values]]]:
        """Params with one value, and params with values by group. groups: number of groups or batches."""
        if groups is None:
            return [(k, self._param(field, values[k])) for k, field in self._family.params], []
        params: List[Param] = []
        by_group: List[Tuple[int, Values]] = []
        for k, field in self._family.params:
            found = None
            if values[k] is not self._held[k]:
                try:
                    values[k] = self._pairs_by_group(field, values[k], groups)
                    found = values_by_group(values[k], field, groups)
                except TypeError as error:
                    raise self._wrong(TypeError, field, str(error)) from None
            if found is None:
                params.append((k, self._param(field, values[k], groups)))
            else:
                by_group.append((k, found))
        return params, by_group

    def _seen(self, field: Field, value: Any, order: Order) -> Tuple[View, Optional[Array]]:
        """The view of an input or output. Unless the value is a plain NumPy array, also its description, which keeps
        objects that were made to read it, such as a DLPack capsule or the copy of a list."""
        if type(value) is ndarray and not field.total:
            pointer, element = plain_numpy(value)
            shape = value.shape
            if element >= 0 and (element in INTEGERS) == field.integral:
                strides = value.strides
                if len(shape) == 2:
                    if shape[1] == field.components:
                        return (pointer, element, shape[0], strides[0], strides[1], CPU), None
                elif len(shape) == 1 and field.components == 1:
                    return (pointer, element, shape[0], strides[0], ELEMENT_SIZES[element], CPU), None
        found = self._described(field, value, order)
        return self._view(field, found), found

    def _inputs(
        self,
        values: List[Any],
        device: Optional[str],
        stream: Any,
        ni: Optional[int],
        nj: Optional[int],
        listing: Optional[Listing] = None,
    ) -> Inputs:
        family = self._family
        if family.of_pairs:
            pairs = self._listed_pairs(listing)
        order = Order(None if stream is None else handle_of(stream))
        views: List[Tuple[int, Field, View]] = []
        like: Optional[Array] = None
        kept: List[Array] = []
        for k, field in family.inputs:
            view, found = self._seen(field, values[k], order)
            views.append((k, field, view))
            if found is not None:
                kept.append(found)
                if k == family.like and found.library != "numpy":
                    like = found
            count = view[2]
            if field.role == INPUT_I:
                if ni is None:
                    ni = count
                elif count != ni:
                    raise self._wrong_count(field, count, ni, views)
            elif field.role == INPUT_PAIR:
                if count != pairs:
                    raise self._wrong(ValueError, field, f"expected {pairs} pairs, as listed_pairs has, got {count}")
            elif nj is None:
                nj = count
            elif count != nj:
                raise self._wrong_count(field, count, nj, views)
        if device is None:
            device = self._common_device(views)
        else:
            for _, field, view in views:
                self._check_device(field, view, device)
        if stream is not None and device == CPU:
            raise ValueError(f"{family.name}(): stream= is for GPUs, but the sum runs on the CPU")
        return Inputs(views, like, kept, order, device, ni, nj)

    def _listed_pairs(self, listing: Optional[Listing]) -> int:
        """The number of listed pairs."""
        if listing is None or not isinstance(listing.listed, PairRows):
            raise TypeError(f"{self._family.name}() lacks listed_pairs=, for its {self._family.of_pairs[0]}")
        return listing.listed.j.shape[0]

    def _common_device(self, views: List[Tuple[int, Field, View]]) -> str:
        if not views:
            return CPU
        device = views[0][2][5]
        for _, field, view in views:
            if view[5] != device:
                raise self._wrong(
                    ValueError,
                    field,
                    f"expected an array on {device}, where '{views[0][1].name}' lies, got one on {view[5]}; "
                    "device= allows both",
                )
        return device

    def _wrong_count(self, field: Field, found: int, expected: int, views: List[Tuple[int, Field, View]]) -> Exception:
        """views: the inputs that were counted before."""
        if field.of_pair:
            return self._wrong(ValueError, field, f"expected {expected} pairs, as listed_pairs has, got {found}")
        side = "j" if field.role == INPUT_J else "i"
        roles = (INPUT_J,) if side == "j" else (INPUT_I, OUTPUT)
        others = [other.name for _, other, _ in views if other.role in roles and other is not field]
        who = f"'{others[0]}'" if others else f"n{side}"
        return self._wrong(ValueError, field, f"expected {expected} {side}-particles, as {who} has, got {found}")

    def _count(self, name: str, value: Any) -> Optional[int]:
        """Checks the option ni= or nj=."""
        return None if value is None else named(f"{self._family.name}(): {name}", whole, value, 0)

    def _check_device(self, field: Field, view: View, device: str) -> None:
        if not is_read_by(device, view[5]):
            alternative = "" if device == CPU else " or the CPU"
            remedy = f"; copy it there, or give device={view[5]!r}" if field.role != OUTPUT else ""
            raise self._wrong(
                ValueError, field, f"expected an array on {device}{alternative}, got one on {view[5]}{remedy}"
            )
