"""Genred: a formula and a reduction of KeOps as a function of arrays."""

from __future__ import annotations

import functools
import operator
import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .._c._errors import PipelineWarning
from .._c._handles import level_of_caller
from .._formula._program import Program
from .._pipeline import Pipeline, compile
from ._libraries import library_of
from ._parse import Variable, field_node, parsed, variable_of, variables_of
from ._reductions import Reduction, is_sum, reduction_of
from ._runs import batches_of, lists_of_ranges

_BACKENDS = ("auto", "CPU", "GPU", "GPU_1D", "GPU_1D_device", "GPU_1D_host", "GPU_2D", "GPU_2D_device", "GPU_2D_host")
_SCHEMES = ("auto", "direct_sum", "block_sum", "kahan_scheme")
_MAX_ELEMENTS = 1024


class Compiled(NamedTuple):
    """A formula with its reduction: the pipeline, and the variables that its text has."""

    pipeline: Pipeline
    reduction: Reduction
    wanted: List[str]
    read: List[Tuple[str, Variable]]  # names of fields
    chosen: bool  # outputs that are no results exist


@functools.lru_cache(1024)
def _compiled(
    formula: str, variables: Tuple[Variable, ...], name: str, axis: int, opt_arg: Any, formula2: Optional[str]
) -> Compiled:
    roles = {axis: "input_j", 1 - axis: "input_i", 2: "param"}
    for variable in variables:
        if variable.size > _MAX_ELEMENTS:
            raise ValueError(
                f"{formula}: variable {variable.position} has {variable.size} elements; nbcc's arrays have at most "
                f"{_MAX_ELEMENTS}: divide the formula into sums over parts of the elements"
            )
    fields = [field_node(variable, roles[variable.category]) for variable in variables]
    f = parsed(formula, variables, fields)
    g = parsed(formula2, variables, fields) if formula2 else None
    reduction = reduction_of(name, f, g, opt_arg)
    used = _fields_of(reduction)
    read = [(node.data.name, variable) for node, variable in zip(fields, variables) if id(node) in used]
    results = [
        (f"result_{k}" if len(reduction.outputs) > 1 else "result", one) for k, one in enumerate(reduction.outputs)
    ]
    program = Program([node.data for node in fields if id(node) in used], results)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PipelineWarning)  # of derivatives that are 0, which formulas may have
        pipeline = compile(source=program.text, name="formula.pipe")
    chosen = sum(field.role == "output" for field in pipeline.fields) != len(results)
    return Compiled(pipeline, reduction, program.wanted, read, chosen)


@functools.lru_cache(1024)
def _variables(formula: str, aliases: Tuple[str, ...]) -> Tuple[Variable, ...]:
    return tuple(variables_of(formula, aliases))


def _fields_of(reduction: Reduction) -> set[int]:
    """The ids of the fields that the text reads."""
    stack: List[Any] = list(reduction.outputs)
    seen = set()
    while stack:
        one = stack.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        stack.extend(one.args)
        if getattr(one, "op", "") == "output":
            stack.append(one.data)
        if getattr(one, "of", None) is not None:
            stack.append(one.of)
    return seen


@functools.lru_cache(None)
def _say_once(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=level_of_caller())


class Genred:
    """A reduction of a formula over i (axis 0) or j (axis 1), as KeOps defines both.

    formula, aliases, reduction_op, axis, opt_arg, formula2: as KeOps'. dtype_acc, use_double_acc, sum_scheme: checked and not
    used, see the notice that they give. enable_chunks, rec_multVar_highdim, use_fast_math, dtype,
    cuda_type, optional_flags: accepted and ignored. Raises ValueError.
    """

    def __init__(
        self,
        formula: str,
        aliases: Sequence[str],
        reduction_op: str = "Sum",
        axis: int = 0,
        dtype: Any = None,
        opt_arg: Any = None,
        formula2: Optional[str] = None,
        cuda_type: Any = None,
        dtype_acc: str = "auto",
        use_double_acc: bool = False,
        sum_scheme: str = "auto",
        enable_chunks: bool = True,
        rec_multVar_highdim: Any = False,
        use_fast_math: bool = True,
        optional_flags: Any = (),
    ) -> None:
        if axis not in (0, 1):
            raise ValueError("Axis should be 0 or 1.")
        _check_accuracy(reduction_op, dtype_acc, use_double_acc, sum_scheme)
        self.formula, self.formula2 = formula, formula2
        self.reduction_op, self.axis = reduction_op, axis
        self.opt_arg = operator.index(opt_arg) if hasattr(opt_arg, "__index__") else opt_arg
        self.variables = _variables(f"{formula} {formula2 or ''}", tuple(aliases))
        self.nargs = len(self.variables)

    @property
    def text(self) -> str:
        """The text of the pipeline."""
        return self._made().pipeline.text

    def _made(self) -> Compiled:
        return _compiled(self.formula, self.variables, self.reduction_op, self.axis, self.opt_arg, self.formula2)

    def __call__(
        self, *args: Any, backend: str = "auto", device_id: Any = -1, ranges: Any = None, out: Any = None
    ) -> Any:
        """The reduction of the arrays, in the order of the variables: (.., M, D) of i, (.., N, D) of j, (.., D) of params.

        backend, device_id: accepted; the run is where the arrays are. ranges: six arrays of clusters of pairs. out: an array
        for the result. Raises ValueError and TypeError.
        """
        if len(args) != self.nargs:
            raise ValueError(
                f"Invalid number of arguments in call to Genred (should be {self.nargs} and got {len(args)})."
            )
        if backend not in _BACKENDS:
            raise ValueError(f"Invalid backend. Should be one of {', '.join(_BACKENDS)}, got {backend!r}")
        made = self._made()
        options: Dict[str, Any] = {}
        n, is_batched = self._sizes(args)
        ni, nj = (n[0], n[1]) if self.axis == 1 else (n[1], n[0])
        arrays = [args[variable.position] for _, variable in made.read]
        shape: Tuple[int, ...] = ()
        first_j = None
        if is_batched:
            if ranges is not None:
                raise ValueError("ranges: expected arrays without batch dimensions")
            # Batch dimensions are those of all arguments, also of those that the formula does not read.
            categories = [variable.category for variable in self.variables]
            batches = batches_of(args, categories, self.axis, ni, nj)
            arrays = [batches.arrays[variable.position] for _, variable in made.read]
            shape, first_j = batches.shape, batches.first_j
            options["lists"] = batches.lists
        elif ranges is not None:
            options["lists"] = lists_of_ranges(ranges, self.axis, ni)
        categories = [variable.category for _, variable in made.read]
        batch_count = 1 if first_j is None else len(first_j)
        if self.axis not in categories:
            options["nj"] = nj if first_j is None or not len(first_j) else int(first_j[-1]) + nj
        if 1 - self.axis not in categories:
            options["ni"] = ni * batch_count
        if made.chosen:
            options["outputs"] = made.wanted
        if out is not None and len(made.wanted) == 1 and not made.reduction.indices:
            options["out"] = out.reshape((-1, *out.shape[len(shape) + 1 :])) if shape else out
        fields = {name: array for (name, _), array in zip(made.read, arrays)}
        if not arrays:  # a constant
            return self._constant(made, args, shape, ni, nj, options)
        results = made.pipeline(**fields, **options)
        return self._result(made, results, shape, ni, first_j)

    def _result(
        self,
        made: Compiled,
        results: Any,
        shape: Tuple[int, ...],
        ni: int,
        first_j: Any,
    ) -> Any:
        reduction = made.reduction
        parts = [results] if len(made.wanted) == 1 else [getattr(results, name) for name in made.wanted]
        if first_j is not None:
            parts = [part.reshape((*shape, ni, *part.shape[1:])) for part in parts]
        if not reduction.indices and not reduction.values:
            return reduction.result(parts)
        library = library_of(parts[0])
        # A slot without a pair, also one whose pairs are all infinite, has the index -1; KeOps has 0, and the value inf.
        if "K" in self.reduction_op:
            for k in reduction.values:
                parts[k] = library.where(parts[k - 1] < 0, float("inf"), parts[k])
        for k in reduction.indices:
            if first_j is not None and len(first_j) and first_j[-1]:
                offsets = first_j.reshape(*shape, *(1,) * (len(parts[k].shape) - len(shape)))
                parts[k] = parts[k] - _like(library, offsets, parts[k])
            parts[k] = parts[k].clip(min=0)
        return reduction.result(parts)

    def _constant(
        self, made: Compiled, args: Sequence[Any], shape: Tuple[int, ...], ni: int, nj: int, options: Dict[str, Any]
    ) -> Any:
        """The result of a formula without variables, in the library and type of the arguments."""
        results = made.pipeline(**options)
        first = next((one for one in args if hasattr(one, "dtype")), None)
        parts = [results] if len(made.wanted) == 1 else [getattr(results, name) for name in made.wanted]
        if first is not None:
            library = library_of(first)
            parts = [_like(library, part, first) for part in parts]
        return made.reduction.result([part.reshape((*shape, ni, *part.shape[1:])) for part in parts])

    def _sizes(self, args: Sequence[Any]) -> Tuple[List[int], bool]:
        """The numbers of i and of j, 1 if no array has them, and whether an array has batch dimensions."""
        found: List[Optional[int]] = [None, None]
        is_batched = False
        for variable in self.variables:
            shape = args[variable.position].shape
            category, least = variable.category, 1 if variable.category == 2 else 2
            if len(shape) < least:
                raise ValueError(
                    f"argument {variable.position} of Genred: expected {least} axes or more, got the shape {tuple(shape)}"
                )
            if shape[-1] != variable.size:
                raise ValueError(
                    f"argument {variable.position} of Genred: expected the dimension {variable.size}, got the shape {tuple(shape)}"
                )
            is_batched = is_batched or len(shape) > least
            if category < 2:
                if found[category] not in (None, shape[-2]):
                    which = "ij"[category]
                    raise ValueError(
                        f"argument {variable.position} of Genred: expected {found[category]} rows of {which}, as other arguments "
                        f"have, got {shape[-2]}"
                    )
                found[category] = shape[-2]
        return [1 if one is None else int(one) for one in found], is_batched


def _like(library: Any, values: Any, array: Any) -> Any:
    if library.__name__ == "torch":
        return library.as_tensor(values, device=array.device).to(array.dtype)
    return library.asarray(values).astype(array.dtype)


def _check_accuracy(reduction: str, dtype_acc: str, use_double_acc: bool, sum_scheme: str) -> None:
    if dtype_acc != "auto" and use_double_acc:
        raise ValueError("you cannot set both options use_double_acc and dtype_acc.")
    if dtype_acc not in ("auto", "float16", "float32", "float64"):
        raise ValueError(f"dtype_acc: expected 'auto', 'float16', 'float32' or 'float64', got {dtype_acc!r}")
    if sum_scheme not in _SCHEMES:
        raise ValueError(f"sum_scheme: expected one of {', '.join(map(repr, _SCHEMES))}, got {sum_scheme!r}")
    if not is_sum(reduction) and (dtype_acc != "auto" or use_double_acc):
        raise ValueError(
            "parameter dtype_acc should be set to 'auto' for no-sum type reductions (Min, Max, ArgMin, etc.)"
        )
    if not is_sum(reduction) and sum_scheme in ("block_sum", "kahan_scheme"):
        raise ValueError(f'sum_scheme="{sum_scheme}" is only valid for sum type reductions.')
    if dtype_acc != "auto" or use_double_acc or sum_scheme != "auto":
        _say_once(
            "nbcc.keops: dtype_acc, use_double_acc and sum_scheme have no effect: sums are accumulated in double precision, "
            "on a GPU in two floats"
        )


def generic_sum(formula: str, output: str, *aliases: str, **options: Any) -> Genred:
    """The sum of a formula. output: its alias, `a = Vi(3)` for a result of each i."""
    return _generic("Sum", formula, output, aliases, options)


def generic_logsumexp(formula: str, output: str, *aliases: str, **options: Any) -> Genred:
    """The logarithm of the sum of exponentials of a formula. output: its alias."""
    return _generic("LogSumExp", formula, output, aliases, options)


def generic_argmin(formula: str, output: str, *aliases: str, **options: Any) -> Genred:
    """The index of the least value of a formula. output: its alias."""
    return _generic("ArgMin", formula, output, aliases, options)


def generic_argkmin(formula: str, output: str, *aliases: str, **options: Any) -> Genred:
    """The indices of the K least values of a formula. output: its alias, whose dimension is K."""
    return _generic("ArgKMin", formula, output, aliases, options)


def _generic(name: str, formula: str, output: str, aliases: Sequence[str], options: Dict[str, Any]) -> Genred:
    result = variable_of(output)
    if result.category == 2:
        raise ValueError("Category should be Vi or Vj.")
    slots: Dict[str, Any] = {"opt_arg": result.size} if name == "ArgKMin" else {}
    return Genred(formula, aliases, reduction_op=name, axis=1 - result.category, **slots, **options)
