"""A function of Python -> a pipeline for each length of its arrays. Entry point: `pipeline`."""

from __future__ import annotations

import functools
import inspect
import linecache
import math
import os
import re
import warnings
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, NoReturn, Optional, Sequence, Tuple, Union

from .._arrays._numbers import shape_of
from .._c._adjoint_text import checked_text
from .._c._errors import CompileError, Diagnostic, PipelineWarning
from .._c._fields import OUTPUT
from .._c._handles import level_of_caller
from .._call._call import OPTIONS
from .._pipeline import Pipeline, compile
from ._functions import traced
from ._nodes import Field, Line, Node
from ._printer import Names
from ._program import Program, Result
from ._symbols import Reduction, Symbol


class Kind:
    """An annotation: which particles have a value, and its shape. `nbcc.J`: a number for each j; `nbcc.J[...]`: an array,
    whose length is taken from each call; `nbcc.J[3]`: of length 3; `nbcc.Param[int]`, `nbcc.J[int]`: an integer."""

    def __init__(self, name: str, role: str, shape: Any = (), type: str = "") -> None:
        self._name, self.role, self.shape, self.type = name, role, shape, type

    def __getitem__(self, key: Any) -> Kind:
        keys = key if isinstance(key, tuple) else (key,)
        if keys == (int,) or keys == (float,):
            return Kind(self._name, self.role, self.shape, "index" if keys == (int,) else "real")
        if keys == (...,):
            return Kind(self._name, self.role, None, self.type)
        if not keys or not all(isinstance(one, int) and one > 0 for one in keys):
            raise TypeError(f"nbcc.{self._name}[...]: expected '...', lengths of axes, int or float, got {key!r}")
        return Kind(self._name, self.role, keys, self.type)

    def __repr__(self) -> str:
        inner = "" if self.shape == () else "[...]" if self.shape is None else str(list(self.shape))
        return f"nbcc.{self._name}{inner}"


I = Kind("I", "input_i")  # noqa: E741
"""Annotates a value of each i: a number, `nbcc.I[...]` an array."""
J = Kind("J", "input_j")
"""Annotates a value of each j: a number, `nbcc.J[...]` an array."""
Pair = Kind("Pair", "input_pair")
"""Annotates a value of each listed pair: a number, `nbcc.Pair[...]` an array."""
Param = Kind("Param", "param")
"""Annotates a value that all pairs share: a number, `nbcc.Param[...]` an array."""


class _Argument(NamedTuple):
    name: str
    kind: Kind
    default: Any  # inspect.Parameter.empty if there is none

    @property
    def is_required(self) -> bool:
        return self.default is inspect.Parameter.empty


class _Compiled(NamedTuple):
    pipeline: Pipeline
    program: Program
    names: Optional[Tuple[str, ...]]  # of a dict; else None
    is_tuple: bool
    chosen: bool  # outputs that are no results exist


class FunctionPipeline:
    """A function of values of a pair as a pipeline. Made by `pipeline`; called like a `Pipeline`, with the function's
    parameters as inputs and params."""

    def __init__(self, function: Callable[..., Any], name: Optional[str], options: Mapping[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self._function, self._options, self._name = function, dict(options), function.__name__
        self._filename = name or f"{function.__name__}.pipe"
        code = function.__code__
        self._line: Line = (code.co_filename, code.co_firstlineno)
        self._arguments = _arguments_of(function)
        self._names = tuple(argument.name for argument in self._arguments)
        # Default values that are no finite number; finite numbers are in the text.
        self._defaults = {a.name: a.default for a in self._arguments if not (a.is_required or _is_finite(a.default))}
        self._made: Dict[Tuple[Any, ...], _Compiled] = {}
        self._last: Optional[_Compiled] = None

    def __call__(self, /, *arrays: Any, **keywords: Any) -> Any:
        """Sums over all j for every i: the function's result, with an array for each reduction that it returns.

        arrays, keywords: the function's parameters, by position or name; and the options of `Pipeline.__call__` but
        `outputs`. Raises TypeError and ValueError for arguments; CompileError, with the lines of the function.
        """
        fields, options = self._matched(arrays, keywords, [name for name in OPTIONS if name != "outputs"])
        is_batched = options.get("batches") is not None or options.get("lists") is not None
        made = self._compiled(fields, is_batched=is_batched)
        wanted = made.program.wanted
        if len(wanted) > 1 and options.get("out") is not None:
            options["out"] = _out_by_name(self._name, options["out"], made)
        if made.chosen:
            options["outputs"] = wanted
        results = made.pipeline(**fields, options=options) if options else made.pipeline(**fields)
        results = (results,) if len(wanted) == 1 else tuple(getattr(results, name) for name in wanted)
        if made.names is not None:
            return dict(zip(made.names, results))
        return results if made.is_tuple else results[0]

    def _matched(
        self, arrays: Sequence[Any], keywords: Mapping[str, Any], options: Sequence[str]
    ) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """The arguments by name, with default values, and the options. Raises TypeError."""
        if len(arrays) > len(self._arguments):
            raise TypeError(f"{self._name}() takes {len(self._arguments)} arguments, got {len(arrays)}")
        fields = {**self._defaults, **dict(zip(self._names, arrays))}
        found: Dict[str, Any] = {}
        for name, value in keywords.items():
            if name in self._names[: len(arrays)]:
                raise TypeError(f"{self._name}() got '{name}' twice, by position and by name")
            if name in self._names:
                fields[name] = value
            elif name in options:
                found[name] = value
            else:
                raise TypeError(
                    f"{self._name}() has no parameter and no option '{name}'; it has {', '.join(self._names)}"
                )
        return fields, found

    def pipeline(self, /, *arrays: Any, **fields: Any) -> Pipeline:
        """The pipeline for the lengths and types of these arrays, for `bind`, `operator`, `adjoint`, `source` and more."""
        return self._compiled(self._matched(arrays, fields, ())[0]).pipeline

    @property
    def text(self) -> str:
        """The text of the pipeline of the last call; before a call that of a function without `...`."""
        made = self._last or self._compiled(self._defaults, is_of_call=False)
        return made.pipeline.text

    def _compiled(self, fields: Mapping[str, Any], is_of_call: bool = True, is_batched: bool = False) -> _Compiled:
        key: List[Any] = []
        for name, kind, default in self._arguments:
            if name in fields:
                value = fields[name]
                key.append((_tail(value, kind, is_batched), _kind_of(value, kind)))
            elif default is inspect.Parameter.empty and is_of_call:
                raise TypeError(f"{self._name}() lacks its argument '{name}' ({kind!r})")
            elif kind.shape is None:
                raise ValueError(f"{self._name}: the length of '{name}' ({kind!r}) is known after a call only")
            else:
                key.append((kind.shape, kind.type or "real"))
        found = self._made.get(tuple(key))
        if found is None:
            found = self._made.setdefault(tuple(key), self._make(key))
        self._last = found
        return found

    def _make(self, key: Sequence[Tuple[Tuple[int, ...], str]]) -> _Compiled:
        fields: List[Field] = []
        values: Dict[str, Symbol] = {}
        for argument, (shape, type) in zip(self._arguments, key):
            name, kind, default = argument
            _check_shape(self._name, argument, shape)
            text = None
            if kind.role == "param" and shape == () and isinstance(default, (int, float)) and name not in self._defaults:
                text = repr(int(default) if type == "index" else float(default))
            field = Field(name, kind.role, type, shape, text)
            fields.append(field)
            number = {"int": "int", "index": "int"}.get(type, type)
            values[name] = Symbol(
                Node("field", (), shape[0] if shape else 1, number, field, bool(shape), self._line), shape
            )
        result, guards = traced(self._function, values)
        names = tuple(result) if isinstance(result, dict) else None
        is_tuple = isinstance(result, (tuple, list))
        parts = list(result.values()) if isinstance(result, dict) else list(result) if is_tuple else [result]
        program = Program(fields, self._results(parts, names), guards, self._line)
        made = self._compile(program)
        is_chosen = sum(field.role == OUTPUT for field in made.fields) != len(program.wanted)
        return _Compiled(made, program, names, is_tuple, is_chosen)

    def _results(self, parts: Sequence[Any], names: Optional[Sequence[str]]) -> List[Tuple[str, Result]]:
        results: List[Tuple[str, Result]] = []
        free = Names(self._names)
        for k, part in enumerate(parts):
            # With a word in front, because a key may be a name of the language.
            word = (
                f"result_{re.sub(r'[^A-Za-z0-9_]', '_', str(names[k])) if names else k}" if len(parts) > 1 else "result"
            )
            name = free.word(word)
            if not isinstance(part, Symbol) or not _is_reduced(part.node):
                raise TypeError(
                    f"{self._name}: result {name!r}: expected a reduction over the pairs, such as nbcc.sum(...), "
                    f"got {'a value of each pair' if isinstance(part, Symbol) else type(part).__name__}"
                )
            results.append((name, part.output if isinstance(part, Reduction) else part.node))
        if not results:
            raise TypeError(f"{self._name}: expected a reduction over the pairs as the result, got none")
        return results

    def _compile(self, program: Program) -> Pipeline:
        diagnostics, _ = checked_text(program.text.encode(), self._filename)
        told = [of_python(diagnostic, program.lines) for diagnostic in diagnostics]
        if any(diagnostic.severity == "error" for diagnostic in told):
            raise CompileError(self._line[0], told)
        # The text has an integer division where the function has `//`, which means it.
        for diagnostic in (one for one in told if not one.message.startswith("this is an integer division")):
            warnings.warn(diagnostic.text.rstrip("\n"), PipelineWarning, stacklevel=level_of_caller())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PipelineWarning)  # given above, with lines of Python
            return compile(source=program.text, name=self._filename, **self._options)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self._name}: a pipeline of a function is not pickled; expected the function, and @nbcc.pipeline in the other process"
        )

    def __repr__(self) -> str:
        return (
            f"<nbcc pipeline of the function {self._name}({', '.join(f'{n}: {k!r}' for n, k, _ in self._arguments)})>"
        )


def of_python(diagnostic: Diagnostic, lines: Sequence[Optional[Line]]) -> Diagnostic:
    """A diagnostic of the text at the line of Python that the text's line comes from."""
    line = lines[diagnostic.line - 1] if 0 < diagnostic.line <= len(lines) else None
    if line is None:
        return diagnostic
    file, number = line
    source = linecache.getline(file, number).strip()
    text = f"{os.path.relpath(file) if os.path.exists(file) else file}:{number}: {diagnostic.severity}: {diagnostic.message}\n"
    text += f"{source}\nin the generated text: {diagnostic.text}"
    return Diagnostic(diagnostic.severity, number, 0, diagnostic.message, text)


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _out_by_name(what: str, out: Any, made: _Compiled) -> Dict[str, Any]:
    """Arrays for several results, by the names of the outputs."""
    wanted = made.program.wanted
    if isinstance(out, dict) and made.names is not None:
        unknown = [key for key in out if key not in made.names]
        if unknown:
            raise TypeError(
                f"{what}(): out: there is no result {unknown[0]!r}; the results are {', '.join(made.names)}"
            )
        return {wanted[made.names.index(key)]: array for key, array in out.items()}
    if isinstance(out, dict) or not isinstance(out, (tuple, list)) or len(out) != len(wanted):
        raise TypeError(f"{what}(): out: expected {len(wanted)} arrays, in the order of the results")
    return dict(zip(wanted, out))


def _is_reduced(node: Node) -> bool:
    """True for a result of a reduction, or a value that is computed of one."""
    return node.op == "output" or any(map(_is_reduced, node.args))


def _arguments_of(function: Callable[..., Any]) -> List[_Argument]:
    annotations = {
        name: eval(one, function.__globals__) if isinstance(one, str) else one  # of `from __future__ import annotations`
        for name, one in function.__annotations__.items()
    }
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        kind = annotations.get(name)
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or not isinstance(kind, Kind):
            raise TypeError(
                f"{function.__name__}: parameter '{name}': expected an annotation nbcc.I, nbcc.J, nbcc.Param or nbcc.Pair, "
                f"each also with [...], got {'none' if kind is None else kind!r}"
            )
        if parameter.default is not parameter.empty and kind.role != "param":
            raise TypeError(f"{function.__name__}: parameter '{name}' ({kind!r}): only params have default values")
        found.append(_Argument(name, kind, parameter.default))
    return found


def _tail(value: Any, kind: Kind, is_batched: bool) -> Tuple[int, ...]:
    """The shape of a particle's value, or of a param. With batches a param may have an axis more in front."""
    shape = getattr(value, "shape", None)
    if shape is None:
        shape = shape_of(value)
    if kind.role != "param":
        return tuple(shape[1:])
    is_one_more = is_batched and len(shape) > (1 if kind.shape is None else len(kind.shape))
    return tuple(shape[1:] if is_one_more else shape)


def _kind_of(value: Any, kind: Kind) -> str:
    if kind.type:
        return kind.type
    dtype = str(getattr(value, "dtype", ""))
    if "complex" in dtype:
        return "complex"
    if kind.role == "param" or "int" not in dtype:
        return "real"
    return "int" if "int32" in dtype else "index"


def _check_shape(what: str, argument: _Argument, shape: Tuple[int, ...]) -> None:
    expected = argument.kind.shape
    if 0 in shape:
        raise ValueError(f"{what}(): '{argument.name}' ({argument.kind!r}): expected elements, got arrays of length 0")
    if expected is None and argument.kind.role == "param" and len(shape) in (1, 2):
        return
    if expected is None and len(shape) == 1:
        if shape[0] > 1024:
            raise ValueError(f"{what}(): '{argument.name}': expected at most 1024 elements, got {shape[0]}")
        return
    if expected is None or shape != expected:
        axes = "one axis more than particles" if expected is None else f"the shape {expected} for each particle"
        axes = "one or two axes" if expected is None and argument.kind.role == "param" else axes
        raise ValueError(f"{what}(): '{argument.name}' ({argument.kind!r}): expected {axes}, got {shape}")


def pipeline(
    function: Optional[Callable[..., Any]] = None, /, *, name: Optional[str] = None, **options: Any
) -> Union[FunctionPipeline, Callable[[Callable[..., Any]], FunctionPipeline]]:
    """Makes a pipeline of a function that says what a pair adds to the results of i: `@nbcc.pipeline`.

    The function's parameters are annotated with nbcc.I, nbcc.J, nbcc.Pair or nbcc.Param, for a number, or nbcc.I[...] and so
    on, for an array of any length. It computes with them by operators, by the functions of nbcc (or NumPy), and returns
    reductions over the pairs, such as nbcc.sum(...): one, a tuple, or a dict. It is called once for each combination of
    lengths and types of arrays, and prints a text, `.text`, which is compiled then.

    name: what diagnostics call the text. options: of `compile`. Raises TypeError for annotations.
    """
    if function is None:
        return lambda given: FunctionPipeline(given, name, options)
    return FunctionPipeline(function, name, options)
