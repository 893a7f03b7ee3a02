"""Sums as custom calls of XLA programs, through XLA's foreign function interface: arrays are read and written where they
are. Entry point: `register`. The structs are those of xla/ffi/api/c_api.h (they come with jaxlib), of which every version
keeps the order of members. Only imported where JAX is.

The handler is Python, called by a thread of XLA with the GIL."""

from __future__ import annotations

import ctypes
import importlib
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p
from typing import Any, Callable, List, NamedTuple, Optional

import jax

from .._arrays._arrays import BFLOAT16, CPU, DOUBLE, ELEMENT_NAMES, ELEMENT_SIZES, FLOAT, HALF, INT32, INT64, Array
from .._arrays._dlpack import contiguous
from .._arrays._gpu_memory import ordinal_of

ffi: Any = jax.ffi if hasattr(jax, "ffi") else importlib.import_module("jax.extend.ffi")

# XLA_FFI_DataType -> element, or the name of a type that is no element.
_ELEMENTS = {11: FLOAT, 12: DOUBLE, 4: INT32, 5: INT64, 10: HALF, 16: BFLOAT16}
_OTHERS = {15: "complex64", 18: "complex128", 1: "bool"}
_INTERNAL = 13  # XLA_FFI_Error_Code
_METADATA = 1  # XLA_FFI_Extension_Type
_EXECUTE = 3  # XLA_FFI_ExecutionStage
_STRING = 4  # XLA_FFI_AttrType


class _Version(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extension", c_void_p), ("major", c_int), ("minor", c_int)]


class _Api(ctypes.Structure):
    """The functions that are used here, with those before them."""

    _fields_ = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("version", _Version),
        ("internal", c_void_p),
        ("error_create", c_void_p),
        ("error_message", c_void_p),
        ("error_destroy", c_void_p),
        ("handler_register", c_void_p),
        ("stream_get", c_void_p),
    ]


class _ErrorCreate(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extension", c_void_p), ("message", c_char_p), ("code", c_int)]


class _StreamGet(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extension", c_void_p), ("context", c_void_p), ("stream", c_void_p)]


class _Buffer(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("dtype", c_int),
        ("data", c_void_p),
        ("rank", c_int64),
        ("dims", POINTER(c_int64)),
    ]


class _Buffers(ctypes.Structure):
    """XLA_FFI_Args and XLA_FFI_Rets."""

    _fields_ = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("count", c_int64),
        ("types", POINTER(c_int)),
        ("buffers", POINTER(POINTER(_Buffer))),
    ]


class _Span(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("length", c_size_t)]


class _Attributes(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("count", c_int64),
        ("types", POINTER(c_int)),
        ("names", POINTER(POINTER(_Span))),
        ("values", POINTER(c_void_p)),
    ]


class _CallFrame(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("api", POINTER(_Api)),
        ("context", c_void_p),
        ("stage", c_int),
        ("arguments", _Buffers),
        ("results", _Buffers),
        ("attributes", _Attributes),
    ]


class _Metadata(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("version", _Version), ("traits", c_uint32)]


class _Extension(ctypes.Structure):
    """XLA_FFI_Metadata_Extension."""

    _fields_ = [("size", c_size_t), ("type", c_int), ("next", c_void_p), ("metadata", POINTER(_Metadata))]


class Execution(NamedTuple):
    """A custom call that is to be executed."""

    text: str  # its attribute `call`
    arguments: List[Array]
    results: List[Array]
    stream: Optional[int]  # None: on the CPU


Handler = Callable[[Execution], None]
_Function = ctypes.CFUNCTYPE(c_void_p, POINTER(_CallFrame))
_registered: List[Any] = []  # keeps the functions


def _arrays_of(buffers: _Buffers, device: str) -> List[Array]:
    arrays = []
    for k in range(buffers.count):
        buffer = buffers.buffers[k].contents
        shape = tuple(buffer.dims[axis] for axis in range(buffer.rank))
        element = _ELEMENTS.get(buffer.dtype, -1)
        name = ELEMENT_NAMES[element] if element >= 0 else _OTHERS.get(buffer.dtype, f"type {buffer.dtype} of XLA")
        size = ELEMENT_SIZES[element] if element >= 0 else {"complex64": 8, "complex128": 16}.get(name, 1)
        arrays.append(
            Array(buffer.data or 0, element, name, shape, contiguous(shape, size), False, device, "jax", None)
        )
    return arrays


def _gpu_of(frame: _CallFrame) -> str:
    for buffers in (frame.arguments, frame.results):
        for k in range(buffers.count):
            if buffers.buffers[k].contents.data:
                return f"cuda:{ordinal_of(buffers.buffers[k].contents.data)}"
    return "cuda:0"  # all arrays are empty


def _text_of(attributes: _Attributes) -> str:
    for k in range(attributes.count):
        name = attributes.names[k].contents
        if ctypes.string_at(name.data, name.length) == b"call" and attributes.types[k] == _STRING:
            value = ctypes.cast(attributes.values[k], POINTER(_Span)).contents
            return ctypes.string_at(value.data, value.length).decode("utf-8", "surrogateescape")
    raise RuntimeError("a custom call of nbcc without its attribute `call`")


def _stream_of(frame: _CallFrame) -> int:
    get = ctypes.CFUNCTYPE(c_void_p, POINTER(_StreamGet))(frame.api.contents.stream_get)
    asked = _StreamGet(ctypes.sizeof(_StreamGet), None, frame.context, None)
    if get(ctypes.byref(asked)):
        raise RuntimeError("XLA gave no CUDA stream for a custom call of nbcc")
    return asked.stream or 0


def _failed(frame: _CallFrame, error: BaseException) -> Any:
    create = ctypes.CFUNCTYPE(c_void_p, POINTER(_ErrorCreate))(frame.api.contents.error_create)
    text = f"{type(error).__name__}: {error}".encode("utf-8", "replace").replace(b"\0", b"?")
    made = _ErrorCreate(ctypes.sizeof(_ErrorCreate), None, text, _INTERNAL)
    return create(ctypes.byref(made))


def _described(frame: _CallFrame) -> bool:
    """Fills in what XLA asks for when a handler is registered."""
    if not frame.extension:
        return False
    extension = ctypes.cast(frame.extension, POINTER(_Extension)).contents
    if extension.type != _METADATA:
        return False
    metadata = extension.metadata.contents
    version = frame.api.contents.version
    metadata.version.major, metadata.version.minor, metadata.traits = version.major, version.minor, 0
    return True


def register(target: str, execute: Handler) -> None:
    """Registers the custom call `target` for CPUs and CUDA GPUs. Errors of `execute` become errors of the program."""

    def handler_on(on_gpu: bool) -> Any:
        def handle(pointer: Any) -> Any:
            frame = pointer.contents
            try:
                if _described(frame) or frame.stage != _EXECUTE:
                    return None
                device = _gpu_of(frame) if on_gpu else CPU
                arguments, results = _arrays_of(frame.arguments, device), _arrays_of(frame.results, device)
                execute(Execution(_text_of(frame.attributes), arguments, results, _stream_of(frame) if on_gpu else None))
            except BaseException as error:  # noqa: B036: nothing may pass through XLA's frames
                return _failed(frame, error)
            return None

        return _Function(handle)

    for platform, on_gpu in (("cpu", False), ("CUDA", True)):
        function = handler_on(on_gpu)
        _registered.append(function)
        ffi.register_ffi_target(target, ffi.pycapsule(function), platform=platform, api_version=1)
