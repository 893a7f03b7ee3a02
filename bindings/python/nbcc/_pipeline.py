"""Texts -> callable pipelines. The entry points are `compile` and `check`."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import sys
import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._frameworks import _opened
from ._call._adjoint import Adjoints
from ._c._adjoint_text import DERIVATIVE, AdjointField, adjoint_text, checked_text, columns_text, virial_text
from ._call._call import OPTIONS, Caller
from ._c._errors import CompileError, Diagnostic, ErrorOut, PipelineWarning, decode
from ._c._family import Family
from ._c._fields import (
    INPUT_J,
    OUTPUT,
    PARAM,
    DeviceChoice,
    Field,
    Options,
    Search,
    device_name,
    precision_of_environment,
)
from ._c._handles import View, level_of_caller
from ._call._repeated import CallArguments, kind_of
from ._call._keywords import COMPILE_OPTIONS, split, warning_of_names
from ._call._sizes import Sizes
from ._c._library import lib
from ._arrays._numbers import named, shown, whole
from ._display._pipelines import docstring_of, pipeline_html, signature_of
from ._arrays._streams import Order, handle_of

Path = Union[str, "os.PathLike[str]"]
Names = Union[str, Sequence[str]]


class _OwnDocstring:
    """The docstring of an object instead of that of its class, made when it is asked for."""

    def __init__(self, of_class: str) -> None:
        self._of_class = of_class

    def __get__(self, pipeline: Optional[Pipeline], owner: Any = None) -> str:
        return self._of_class if pipeline is None else pipeline._docstring()


class Pipeline(Caller):
    __doc__ = _OwnDocstring(
        """A compiled pipeline; calling it sums over all j for every i, see `__call__`. Made by `compile`.

    One object may be called from several threads at once: each call has a sum of its own, and the GIL is released
    while it runs. A pipeline pickles as its text, its name and its options, and is compiled again where it arrives,
    unless the kernel is in the cache there. A copy of a pipeline is the pipeline itself, which never changes.
    Its signature and docstring are those of its text: `help(pipeline)`.
    """
    )

    def __init__(self, family: Family, adjoint_fields: Tuple[AdjointField, ...] = ()) -> None:
        super().__init__(family)
        self._adjoints = Adjoints(self._adjoint)
        self._adjoint_fields = adjoint_fields
        self._is_derivative = any(one.meaning == DERIVATIVE for one in adjoint_fields)
        self._sizes = Sizes.of(family)
        self._of_sizes: Dict[bytes, Pipeline] = {}
        self._name = family.name
        self._argument_names = tuple(family.arguments)
        self._kinds = {
            name: "whole" if family.fields[k].integral else "complex" if family.fields[k].is_complex else "real"
            for name, k in family.arguments.items()
        }
        self._output_names = tuple(field.name for _, field in family.outputs)
        # The literal of what tells another process everything, see `_opened`.
        self._key = repr(_opened.identity(family))
        _opened.register(self)

    def __reduce__(self) -> Any:
        return type(self), (self._family, self._adjoint_fields)

    def __getattr__(self, name: str) -> Any:
        """The signature, which `inspect` asks for; made then, because few pipelines are looked at."""
        if name == "__signature__":
            return signature_of(self.fields, Caller._sum.__kwdefaults__ or {})
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _docstring(self) -> str:
        return docstring_of(self.name, self.text, self.fields)

    def __copy__(self) -> Pipeline:
        return self

    def __deepcopy__(self, memo: Any) -> Pipeline:
        return self

    def _sized(self, arrays: Sequence[Any], fields: Mapping[str, Any]) -> Tuple[Pipeline, Mapping[str, Any]]:
        """The pipeline with the lengths of a call's arrays, which is compiled when it is first needed; and the fields."""
        if self._sizes is None:
            return self, fields
        sizes = self._sizes.wanted(arrays, fields)
        fields = {name: value for name, value in fields.items() if name not in sizes}
        if sizes == self._sizes.values:
            return self, fields
        family, text = self._family, self._sizes.text_of(sizes)
        found = self._of_sizes.get(text)
        if found is None:
            made = Pipeline(Family(text, family.filename, family.options, family.device, family.choice, family.search))
            made._sizes = None  # they are decided
            found = self._of_sizes.setdefault(text, made)
        return found, fields

    def _found_neighbours(self, arrays: Sequence[Any], fields: Mapping[str, Any], **options: Any) -> Any:
        sized, fields = self._sized(arrays, fields)
        return Caller._found_neighbours(sized, arrays, fields, **options)

    def _call(self, arrays: Sequence[Any], fields: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
        if self._sizes is not None:
            sized, fields = self._sized(arrays, fields)
            if sized is not self:
                return sized._call(arrays, fields, options)
        torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
        seen: Optional[CallArguments] = None
        if torch is None or not torch.compiler.is_compiling():
            seen = kind_of(arrays, fields, options)
            made = None if seen is None else self._repeat(seen)
            if made is not None:
                return made
        if torch is not None:
            from ._frameworks import _torch

            tensors = _torch.tensors_of(arrays, fields, options)
            if tensors:
                _torch.refuse_tangents(self, options)
                route = _torch.route_of(tensors, options)
                if route != _torch.READ:
                    return _torch.call(self, arrays, fields, options, route)
                arrays = tuple(map(_torch.as_array, arrays))
                fields = {name: _torch.as_array(value) for name, value in fields.items()}
                options = {name: _torch.as_option(value) for name, value in options.items()}
        if jax is not None:
            from ._frameworks import _jax

            if _jax.is_traced(arrays, fields, options):
                return _jax.call(self, arrays, fields, options)
        return self._sum(arrays, fields, seen, **options)

    def adjoint(self, side: str = "i", of: Optional[Names] = None, by: Optional[Names] = None) -> Pipeline:
        """The pipeline of this one's derivatives, with its options. Let L be any number made of the outputs, and d_X
        stand for dL/dX.

        side: "i": by inputs of i and of pairs, and by params, as totals; "each_i": the same, of a param a row for each i;
            "j": by inputs of j, where what was j becomes i and the other way round; "each_j": the same, and the params
            in `by` are inputs of this pipeline's i; "set": by inputs of both where these are the same particles in the
            same order, in one sum; "forward": no derivative, but this pipeline with the outputs besides that its
            adjoints take as inputs; "tangent": t_NAME, the rates of outputs when inputs and params have rates t_NAME.
        of: the outputs that L depends on, by names, those that the forward pipeline has besides too. by: what it is
            differentiated by. All real numbers, if not given.

        The new pipeline has the outputs d_X, and takes the inputs of this one; d_NAME of the outputs, with a row for
        each i of this pipeline (of an output(pair) of each pair, of a histogram of the run a param); and saved results,
        where derivatives need them:
        - raw_NAME: an output before finish(), without finish() the output itself;
        - at_NAME: the j_index of a minimum or maximum; with every_image() also image_NAME_0, _1, _2;
        - z_NAME: of a softmax the logarithm of the weights' sum;
        - i_NAME: of a total that is a minimum or maximum the values of each i; adjoints take d_i_NAME.
        Names differ where this pipeline has a field of that name: `.adjoint_fields` says what each field holds. `.text`
        is its text. Raises UsageError for what has no derivative. A derivative that is infinite or NaN for the pair of a
        particle with itself is a PipelineWarning. With PyTorch's tensors that require gradients, and under jax.grad,
        calls do all of this by themselves.
        """
        return self._adjoint(side, of, by, f"{self._name}_{side}.pipe")

    def _adjoint(self, side: str, of: Optional[Names], by: Optional[Names], filename: Optional[str] = None) -> Pipeline:
        """Without a filename the name is this pipeline's, which messages of differentiated calls state."""
        family = self._family
        chosen = [None if names is None else ([names] if isinstance(names, str) else list(names)) for names in (of, by)]
        text, fields, found = adjoint_text(family.text, self.filename, side, chosen[0], chosen[1])
        known = checked_text(family.text, self.filename)[0] if found else []  # compile() has warned of these
        for diagnostic in found:
            if diagnostic not in known:
                warnings.warn(str(diagnostic).rstrip("\n"), PipelineWarning, stacklevel=level_of_caller())
        filename = filename or f"{family.name}_{side}/{family.name}.pipe"
        return Pipeline(Family(text, filename, family.options, family.device, family.choice, family.search), fields)

    def virial(self, force: str = "force", places: Tuple[str, str] = ("xi", "xj")) -> Pipeline:
        """This pipeline, with its options, and an output FORCE_virial of shape (N, 6) besides: half of (x_i - x_j)_a f_b
        summed over the j of each i, for ab = xx, yy, zz, xy, xz, yz, where f is what a pair adds to the force on i. The
        sum over all i is that over pairs where each is seen from both ends.

        force: an output(sum) of type vec3 that finish() leaves alone. places: an input of i and one of j, of type vec3,
            of which the difference is taken as the force is made of it: in a periodic box its nearest image. `.text` is
            the new text. Raises UsageError for what has no virial, and where the text takes images in a way that is not
            known as a nearest image.
        """
        family = self._family
        text = virial_text(family.text, self.filename, force, places)
        filename = f"{family.name}_virial.pipe"
        return Pipeline(Family(text, filename, family.options, family.device, family.choice, family.search))

    def _columns(self, vector: str, output: str, count: int) -> Pipeline:
        """The pipeline that sums for `count` values of an input of each j at once. Raises UsageError where there is none."""
        family = self._family
        text = columns_text(family.text, self.filename, vector, output, count)
        filename = f"{family.name}_columns/{family.name}.pipe"
        return Pipeline(Family(text, filename, family.options, family.device, family.choice, family.search))

    def _callers(self) -> List[Caller]:
        return [self, *(caller for made in self._adjoints.made() for caller in made._callers())]

    @property
    def name(self) -> str:
        """The file's name without folder and ending."""
        return self._family.name

    @property
    def filename(self) -> str:
        """As it stands in diagnostics."""
        return self._family.filename

    @property
    def text(self) -> str:
        """The pipeline's text."""
        return decode(self._family.text)

    @property
    def fields(self) -> Tuple[Field, ...]:
        """All fields in order of declaration."""
        return self._family.fields

    @property
    def adjoint_fields(self) -> Tuple[AdjointField, ...]:
        """Of a pipeline that `adjoint` has made: what each of its fields holds, in their order. Else empty."""
        return self._adjoint_fields

    @property
    def operations(self) -> float:
        """Floating point operations per interaction: those that the text states by #pragma flops, else as written."""
        return self._family.operations

    def info(self) -> Dict[str, Any]:
        """What there is to know of the pipeline, as plain data: name, filename, operations, neighbours (which pairs can
        contribute, in words; None where the guards prove nothing), no_neighbours (why not, where a guard looks like a
        cutoff, else None), options, fields (a list of dicts), kernels (those compiled by now: device, description,
        options) and last (precision, method and device of the last call of any thread, "" before the first)."""
        return {
            "name": self.name,
            "filename": self.filename,
            "operations": self.operations,
            "neighbours": self._family.neighbours or None,
            "no_neighbours": self._family.no_neighbours or None,
            "options": self._family.options._asdict(),
            "fields": [field._asdict() for field in self.fields],
            "kernels": [
                {"device": device, "description": kernel.device.description, "options": options._asdict()}
                for device, options, kernel in self._family.kernels()
            ],
            "last": self._last_run._asdict(),
        }

    def source(self, stage: str = "cpu", isa: Optional[str] = None) -> str:
        """A stage of the text's way to a kernel, with this pipeline's options. Without a precision it is double, or single if
        PyTorch or JAX has been imported.

        stage: "ir" (as parsed), "optimized" (after the passes for the CPU), "cpu" (the kernel's C++ text; "cpu-symmetric" and
        "cuda-symmetric": of the kernel that computes each pair once; "cuda-half" and "cuda-two-halves": with products by
        matrix instructions), "asm" (its
        machine code as assembly), "cuda" (the kernel's text for NVIDIA's GPUs; "cuda-search", "cuda-lists" and
        "cuda-pairs": those of a search, and of sums over lists and listed pairs). isa: "sse2", "avx2", "avx512"; the best
        of this machine if not given. Raises UsageError.
        """
        options = self._family.options.as_struct()
        report, place = ctypes.c_void_p(), ErrorOut()
        status = lib.nbcc_emit_text(
            self._family.text,
            os.fsencode(self.filename),
            str(stage).encode(),
            ctypes.addressof(options),
            isa.encode() if isa is not None else None,
            ctypes.addressof(report),
            place.address,
        )
        if status:
            place.throw(status)
        try:
            return decode(lib.nbcc_report_text(report))
        finally:
            lib.nbcc_report_free(report)

    def bind(self, /, *arrays: Any, **keywords: Any) -> BoundPipeline:
        """The pipeline with its j-particles given once and for all: `bound = p.bind(xj=..., mj=...)`, `bound(xi)`.

        The arrays are read when they are first needed, and then stay packed, on a GPU in its memory, until
        `bound.j_changed()` is called. (Arrays on the GPU are read where they are by each call, and not copied.)
        Positional arguments are the inputs of j in order of declaration. Params may be given too; they are then
        defaults. The option `stream` is as for `j_changed`. Raises TypeError and ValueError as calls do.
        """
        fields, options = split(f"{self.name}.bind", keywords, _BIND_OPTIONS, self._family.arguments)
        names = [field.name for _, field in self._family.inputs if field.role == INPUT_J]
        sized, given = self._sized((), {**dict(zip(names, arrays)), **fields})
        fields = {name: value for name, value in given.items() if name in fields}
        return BoundPipeline(sized._family, arrays, fields, options.get("stream"))

    def operator(self, /, *arrays: Any, **keywords: Any) -> Any:
        """The sums as a product of a matrix and a vector: a scipy.sparse.linalg.LinearOperator, for arrays of CuPy a
        cupyx.scipy.sparse.linalg.LinearOperator. No matrix is stored.

        The vector is the input of j that is not given: `coulomb.operator(xi, xj, outputs="pot")` takes charges to
        potentials. The output must be linear in it; a sum that is not raises ValueError. The shape is (numbers of the
        output, numbers of the input), (ni, nj) for numbers of each particle; vectors have one axis, with the numbers of a
        particle next to each other.

        matvec and matmat are sums of this pipeline, rmatvec and rmatmat sums of its adjoint: products with the conjugate
        transpose. matmat sums for eight columns at once, where vector and output are real, the output is a sum that
        finish() leaves alone, and no tolerance is given. arrays: inputs that are not named, in order of declaration. keywords: as of calls, params, `outputs`
        (one name), `tolerance`, `pairs`, `lists` and `exclusions` too; and `ridge`, a number that is added to the diagonal of
        a square matrix, as `operator + c * scipy.sparse.identity(n)` does. `operator.info` says in which precision, by
        which method and on which device the last product was computed. Arrays are copied. Making an operator takes five or
        six sums, which check that it is one. Needs SciPy, or CuPy.
        """
        from ._frameworks._operator import operator_of

        ridge = {"ridge": keywords.pop("ridge")} if "ridge" in keywords and "ridge" not in self._family.arguments else {}
        fields, options = self._split(keywords)
        return operator_of(self, arrays, fields, {**options, **ridge})

    def _repr_html_(self) -> str:
        """For notebooks: the fields as a table; text and `info()` below it."""
        return pipeline_html(self.name, self.text, self.fields, self.info())

    def __repr__(self) -> str:
        options = self._family.options
        inputs = [_signature(field) for field in self.fields if field.role != OUTPUT]
        outputs = [
            f"{field.name}: {'total ' if field.total else ''}{field.reduction} {field.type}"
            for field in self.fields
            if field.role == OUTPUT
        ]
        where = ", ".join(sorted({device for device, _, _ in self._family.kernels()})) or "not compiled in this process"
        return (
            f"<nbcc pipeline {self.name}({', '.join(inputs)}) -> {', '.join(outputs)}; "
            f"{options.precision or 'precision of the arrays'}, {options.math}; {where}>"
        )


_BIND_OPTIONS = frozenset(("stream",))


def pipeline_of(identity: _opened.Identity) -> Pipeline:
    text, filename, options, device, choice, search = identity
    return Pipeline(Family(text, filename, Options(*options), device, DeviceChoice(*choice), Search(*search)))


_opened.set_maker(pipeline_of)


class BoundPipeline(Caller):
    """A pipeline that holds its j-particles. Made by `Pipeline.bind`; called with what is left, see `Pipeline`. Pickles
    with its arrays as they are then, also if they have changed since they were packed."""

    def __init__(self, family: Family, arrays: Tuple[Any, ...], fields: Dict[str, Any], stream: Any) -> None:
        super().__init__(family)
        sources = [k for k, field in enumerate(family.fields) if field.role == INPUT_J]
        if not sources:
            raise TypeError(f"{family.name}() has no input_j: there is nothing to bind")
        if len(arrays) > len(sources):
            raise TypeError(f"{family.name}.bind() takes at most {len(sources)} arrays, got {len(arrays)}")
        given = dict(zip((family.fields[k].name for k in sources), arrays))
        for name, value in fields.items():
            k = family.arguments.get(name, -1)
            if k < 0 or family.fields[k].role not in (INPUT_J, PARAM):
                known = [field.name for field in family.fields if field.role in (INPUT_J, PARAM)]
                raise TypeError(f"{family.name}.bind() has no input_j and no param '{name}'; it has {', '.join(known)}")
            if name in given:
                raise TypeError(f"{family.name}.bind() got '{name}' twice, by position and by name")
            given[name] = value
        for k in sources:
            if family.fields[k].name not in given:
                raise TypeError(f"{family.name}.bind() lacks its {family.fields[k]}")
        self._given = {family.arguments[name]: value for name, value in given.items()}
        self._describe(stream)
        self._resident = True

    def __reduce__(self) -> Any:
        fields = self._family.fields
        given = {
            fields[k].name: self._held[k] if fields[k].role == PARAM else value for k, value in self._given.items()
        }
        return type(self), (self._family, (), given, None)

    def _describe(self, stream: Any) -> None:
        order = Order(None if stream is None else handle_of(stream))
        counted: List[Tuple[int, Field, View]] = []
        self._storages: List[Any] = []  # of tensors of PyTorch, which may get another: tensor.data = other
        for k, value in self._given.items():
            field = self._family.fields[k]
            if field.role == PARAM:
                self._held[k] = self._param(field, value)
                continue
            self._held[k] = self._described(field, value, order)
            if hasattr(value, "untyped_storage"):
                self._storages.append(value.untyped_storage())
            view = self._view(field, self._held[k])
            counted.append((k, field, view))
            if view[2] != counted[0][2][2]:
                raise self._wrong_count(field, view[2], counted[0][2][2], counted)

    def j_changed(self, stream: Any = None) -> None:
        """What the bound arrays hold has changed: the next call reads them again. stream: of a GPU, in which they were
        written, if it is not the one in which their library works."""
        self._describe(stream)
        self._version += 1

    def __repr__(self) -> str:
        bound = ", ".join(self._family.fields[k].name for k in self._given)
        free = [_signature(f) for f in self._family.fields if f.role not in (OUTPUT, INPUT_J)]
        return f"<nbcc pipeline {self._family.name}({', '.join(free)}) with {bound} bound>"


def _signature(field: Field) -> str:
    side = {"input_i": "[ni]", "input_j": "[nj]", "input_pair": "[pairs]"}.get(field.role, "")
    text = f"{field.name}: {field.type}{side}"
    if field.role == PARAM and field.default is not None:
        numbers = [f"{number:g}" for number in field.default]
        text += " = " + (numbers[0] if len(numbers) == 1 else f"({', '.join(numbers)})")
    return text


def _is_library_name(path: str) -> bool:
    return bool(path) and not any(mark in path for mark in "./\\\0")


def _library_text(name: str) -> bytes:
    """The text of a pipeline that nbcc brings along. Raises FileNotFoundError."""
    text: Optional[bytes] = lib.nbcc_library_text(name.encode())
    if text is None:
        import difflib

        names = decode(lib.nbcc_library_names()).split()
        near = difflib.get_close_matches(name, names, 1)
        meant = f"; did you mean {near[0]!r}?" if near else f", which has {', '.join(names)}"
        raise FileNotFoundError(errno.ENOENT, f"no such file, and no pipeline of this name in the library{meant}", name)
    return text


def _text_of(path: Optional[Path], source: Optional[Union[str, bytes]], name: Optional[str]) -> Tuple[bytes, str]:
    if (path is None) == (source is None):
        raise TypeError("expected either a path or source=, not " + ("both" if path is not None else "neither"))
    for what, value, kinds in (("path", path, (str, os.PathLike)), ("source", source, (str, bytes)), ("name", name, str)):
        if value is not None and not isinstance(value, kinds):
            raise TypeError(f"{what}: expected a str{' or bytes' if what == 'source' else ''}, got {type(value).__name__}")
    if isinstance(path, str) and _is_library_name(path) and not os.path.isfile(path):
        text, filename = _library_text(path), name or f"{path}.pipe"
    elif path is not None:
        with open(path, "rb") as file:
            text = file.read()
        filename = name or os.fspath(path)
    else:
        text = source.encode() if isinstance(source, str) else bytes(source or b"")
        filename = name or "pipeline.pipe"
    if b"\0" in text:
        line = text[: text.index(b"\0")].count(b"\n") + 1
        message = "a NUL byte: this is no text"
        raise CompileError(filename, [Diagnostic("error", line, 0, message, f"{filename}:{line}: error: {message}\n")])
    return text, filename


def check(
    path: Optional[Path] = None, *, source: Optional[Union[str, bytes]] = None, name: Optional[str] = None
) -> List[Diagnostic]:
    """Everything that is wrong or doubtful in a pipeline's text; an empty list if nothing is. Compiles nothing.

    path: of a .pipe file. source: the text itself, instead. name: what diagnostics call it. Raises OSError for a file
    that cannot be read.
    """
    try:
        text, filename = _text_of(path, source, name)
    except CompileError as error:
        return error.diagnostics
    return checked_text(text, filename)[0]


def compile(
    path: Optional[Path] = None,
    *,
    source: Optional[Union[str, bytes]] = None,
    name: Optional[str] = None,
    device: Any = None,
    precision: Optional[str] = None,
    math: str = "fast",
    root: str = "refined",
    threads: int = 0,
    isa: Optional[str] = None,
    cache_dir: Optional[Path] = None,
    pairs: str = "auto",
    skin: float = 0.0,
    symmetric: str = "auto",
) -> Pipeline:
    """Compiles a pipeline, and returns it as something to be called.

    path: of a .pipe file; or the name of a pipeline that nbcc brings along, as `nbcc list` shows it: "gravity". source:
        the text itself, instead.
    name: what diagnostics call the text, and of which the pipeline's name is made; the path, or "pipeline.pipe".
    device: "cpu", "cuda", "cuda:N", "cuda:0,2" or "cuda:all" for all calls. Without it a call runs where its arrays lie: the kernel for the CPU
        is made now, those for GPUs when they are first needed.
    precision: "single", "mixed" or "double". Without it that of the arrays of each call: single if all arrays for real
        numbers are of float32, else double (params and whole numbers do not count); NBCC_PRECISION in the environment is
        another default. math: "fast" or "precise"; root: "refined", "estimate" or "exact".
        What they mean for results: docs/how_to/choose_precision.md.
    threads: of the CPU; 0: all cores that this process may run on. isa: "sse2", "avx2", "avx512"; None: the best.
    cache_dir: of compiled kernels; "" for none; None: as the environment says.
    pairs: "all", or "cutoff": those that a search finds within the reach that is proved of the text's guards
        (`info()["neighbours"]`), which is refused where nothing is; "auto": whichever is faster. Results are the same but
        for the order in which terms are added.
    skin: what a search finds is kept from call to call until a particle has moved by half of this.
    symmetric: where i and j are one set, because partners such as xi and xj are the same array, a sum over all pairs, and
        on the CPU a search, may compute each pair once, for both of its particles. "auto": if the two terms of a pair have enough operations in
        common, from 4096 particles on; "always": wherever it is possible; "off": each pair is computed from both ends.

    Raises CompileError with every diagnostic of the text; OSError for a file that cannot be read; DeviceError;
    ValueError for an option. Doubtful places in the text, and fields with the names of options of calls, are
    PipelineWarnings.
    """
    text, filename = _text_of(path, source, name)
    if isa is not None and not isinstance(isa, str):
        raise TypeError(f"isa: expected 'sse2', 'avx2' or 'avx512', got {shown(isa)}")
    threads = named("threads", whole, threads, -(2**31), 2**31 - 1)  # the library refuses those below 0
    options = Options(precision, math, root).checked()
    if precision is None:
        options = options._replace(precision=precision_of_environment())
    where = None if device is None else device_name(device)
    diagnostics, _ = checked_text(text, filename)
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        raise CompileError(filename, diagnostics)
    for diagnostic in diagnostics:
        warnings.warn(str(diagnostic).rstrip("\n"), PipelineWarning, stacklevel=2)
    choice = DeviceChoice(threads, isa, None if cache_dir is None else os.fspath(cache_dir))
    search = Search().changed(pairs, skin, symmetric=symmetric)
    family = Family(text, filename, options, where, choice, search)
    said = warning_of_names(filename, OPTIONS, family.arguments)
    if said is not None:
        warnings.warn(said, PipelineWarning, stacklevel=2)
    return Pipeline(family)


@functools.lru_cache(64)
def _params_of(text: bytes, filename: str) -> Tuple[str, ...]:
    return tuple(field.name for field in checked_text(text, filename)[1] if field.role == PARAM)


def compiled_with_params(
    what: str,
    pipeline: Union[Pipeline, Path],
    keywords: Mapping[str, Any],
    compiler: Callable[..., Pipeline] = compile,
    **defaults: Any,
) -> Tuple[Pipeline, Dict[str, Any]]:
    """The pipeline, and which of the keywords are not options of `compile`: the values of its params. what: for whom, in
    errors. compiler: `compile`, or a function that keeps what it has compiled. defaults: of options. Raises what `compile`
    raises, and TypeError for options of what is compiled already."""
    if isinstance(pipeline, Pipeline):
        params, options = split(what, keywords, COMPILE_OPTIONS, pipeline._family.arguments)
        if options:
            raise TypeError(f"{what}: {', '.join(options)}: the pipeline is compiled already")
        return pipeline, params
    params, options = split(what, keywords, COMPILE_OPTIONS, _params_of(*_text_of(pipeline, None, None)))
    return compiler(pipeline, **{**defaults, **options}), params
