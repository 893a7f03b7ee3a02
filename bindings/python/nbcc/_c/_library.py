"""Loads libnbcc_jit and declares the functions that this package calls (runtime/api/nbcc.h).

Entry point: `lib`, the library, which is loaded at its first use. Its functions are called with the GIL released, as ctypes.CDLL does. Statuses
are checked by `_errors.check`.
"""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from typing import Any, List

# The version of the interface for which this package was written.
MAJOR, MINOR = 0, 1


class DeviceOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("threads", c_int),
        ("isa", c_char_p),
        ("cache_dir", c_char_p),
        ("dump_dir", c_char_p),
    ]


class PipelineOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("precision", c_int), ("math", c_int), ("root", c_int)]


class FieldStruct(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("role", c_int),
        ("type", c_char_p),
        ("comment", c_char_p),
        ("components", c_int),
        ("integral", c_int),
        ("reduction", c_int),
        ("default_count", c_int),
        ("defaults", POINTER(c_double)),
        ("total", c_int),
        ("of_pair", c_int),
        ("scalar", c_int),
        ("width", c_int),
        ("is_complex", c_int),
        ("rows", c_int),
        ("columns", c_int),
        ("histogram", c_int),
        ("table", c_int),
        ("is_read", c_int),
    ]


class AdjointFieldStruct(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("meaning", c_int), ("of", c_char_p), ("partner", c_char_p)]


class DiagnosticStruct(ctypes.Structure):
    _fields_ = [
        ("severity", c_int),
        ("line", c_int),
        ("column", c_int),
        ("message", c_char_p),
        ("rendered", c_char_p),
    ]


class RunOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("i_begin", c_int64),
        ("i_count", c_int64),
        ("i_list", c_void_p),
        ("accumulate", c_int),
        ("stream", c_void_p),
        ("part", c_int),
        ("clamp", c_int),
    ]


class ListsStruct(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("groups", c_int64),
        ("ranges", c_int64),
        ("i_first", c_void_p),
        ("i_order", c_void_p),
        ("range_first", c_void_p),
        ("j_begin", c_void_p),
        ("j_end", c_void_p),
        ("j_order", c_void_p),
        ("j_count", c_int64),
        ("shifts", c_void_p),
        ("axes", c_int),
    ]


class NeighbourListStruct(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("ni", c_int64),
        ("count", c_int64),
        ("axes", c_int),
        ("first", c_void_p),
        ("j", c_void_p),
        ("shifts", c_void_p),
        ("owner", c_void_p),
    ]


class StatisticsStruct(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("pairs_tested", c_int64),
        ("searches", c_int64),
        ("runs", c_int64),
        ("pairs_within", c_int64),
        ("seconds_locate", c_double),
        ("seconds_sort", c_double),
        ("seconds_lists", c_double),
        ("seconds_sums", c_double),
        ("method", ctypes.c_char_p),
        ("reason", ctypes.c_char_p),
        ("tolerance", c_double),
        ("error", c_double),
        ("largest_error", c_double),
        ("error_of_sum", c_double),
        ("sampled", c_int64),
        ("pairs_per_i", c_double),
        ("order", c_int),
        ("leaf", c_int),
        ("separation", c_double),
        ("precision", ctypes.c_char_p),
        ("seconds_particles", c_double),
        ("seconds_tree", c_double),
        ("seconds_walk", c_double),
        ("seconds_up", c_double),
        ("seconds_near", c_double),
        ("seconds_distant", c_double),
        ("seconds_down", c_double),
        ("seconds_first", c_double),
        ("terms_outside", c_int64),
        ("runs_since_error", c_int64),
        ("images", c_int),
        ("image_points", c_int),
        ("mismatch", c_double),
        ("convention", c_char_p),
    ]


# Handles and pointers to them are declared c_void_p: plain integers in Python, which are the cheapest to pass.
_P = c_void_p
_FUNCTIONS = {
    "nbcc_version": (c_char_p, []),
    "nbcc_error_message": (c_char_p, [_P]),
    "nbcc_error_free": (None, [_P]),
    "nbcc_device_open": (c_int, [c_char_p, _P, _P, _P]),
    "nbcc_device_close": (None, [_P]),
    "nbcc_device_name": (c_char_p, [_P]),
    "nbcc_cuda_count": (c_int, [_P, _P]),
    "nbcc_pipeline_from_text": (c_int, [_P, c_char_p, c_char_p, _P, _P, _P]),
    "nbcc_pipeline_close": (None, [_P]),
    "nbcc_pipeline_name": (c_char_p, [_P]),
    "nbcc_pipeline_operations": (c_double, [_P]),
    "nbcc_pipeline_neighbours": (c_char_p, [_P]),
    "nbcc_pipeline_no_neighbours": (c_char_p, [_P]),
    "nbcc_pipeline_field_count": (c_int, [_P]),
    "nbcc_pipeline_field": (c_int, [_P, c_int, _P]),
    "nbcc_pipeline_index_use": (c_int, [_P]),
    "nbcc_check_text": (c_int, [c_char_p, c_char_p, _P, _P]),
    "nbcc_emit_text": (c_int, [c_char_p, c_char_p, c_char_p, _P, c_char_p, _P, _P]),
    "nbcc_adjoint_text": (c_int, [c_char_p, c_char_p, c_int, c_char_p, c_char_p, _P, _P]),
    "nbcc_columns_text": (c_int, [c_char_p, c_char_p, c_char_p, c_char_p, c_int, _P, _P]),
    "nbcc_virial_text": (c_int, [c_char_p, c_char_p, c_char_p, c_char_p, c_char_p, _P, _P]),
    "nbcc_report_text": (c_char_p, [_P]),
    "nbcc_report_diagnostic_count": (c_int, [_P]),
    "nbcc_report_diagnostic": (c_int, [_P, c_int, _P]),
    "nbcc_report_field": (c_int, [_P, c_int, _P]),
    "nbcc_report_adjoint_field_count": (c_int, [_P]),
    "nbcc_report_adjoint_field": (c_int, [_P, c_int, _P]),
    "nbcc_report_free": (None, [_P]),
    "nbcc_sum_create": (c_int, [_P, _P, _P]),
    "nbcc_sum_destroy": (None, [_P]),
    "nbcc_sum_set_param": (c_int, [_P, c_char_p, _P, c_int, _P]),
    "nbcc_sum_bind": (c_int, [_P, c_char_p, _P, _P]),
    "nbcc_sum_ignore": (c_int, [_P, c_char_p, _P]),
    "nbcc_sum_set_offsets": (c_int, [_P, c_int64, c_int64, _P]),
    "nbcc_sum_set_counts": (c_int, [_P, c_int64, c_int64, _P]),
    "nbcc_sum_keep_j": (c_int, [_P, c_int, _P]),
    "nbcc_sum_j_changed": (c_int, [_P, _P]),
    "nbcc_sum_set_pairs": (c_int, [_P, c_int, _P]),
    "nbcc_sum_set_skin": (c_int, [_P, c_double, _P]),
    "nbcc_sum_set_symmetric": (c_int, [_P, c_int, _P]),
    "nbcc_sum_set_tolerance": (c_int, [_P, c_double, _P, _P]),
    "nbcc_sum_set_lists": (c_int, [_P, _P, _P]),
    "nbcc_sum_set_batches": (c_int, [_P, c_int64, c_int64, _P, c_int64, _P, _P]),
    "nbcc_sum_set_batch_param": (c_int, [_P, c_char_p, _P, c_int64, _P]),
    "nbcc_sum_set_listed_pairs": (c_int, [_P, c_int64, _P, c_int64, _P, _P]),
    "nbcc_sum_set_exclusions": (c_int, [_P, c_int64, _P, c_int64, _P, _P]),
    "nbcc_sum_set_excluded_images": (c_int, [_P, c_int64, _P, c_int64, _P, _P, _P]),
    "nbcc_sum_get_statistics": (c_int, [_P, _P, _P]),
    "nbcc_sum_method": (c_char_p, [_P]),
    "nbcc_library_names": (c_char_p, []),
    "nbcc_library_text": (c_char_p, [c_char_p]),
    "nbcc_sum_find_neighbours": (c_int, [_P, _P, _P]),
    "nbcc_sum_get_pair_space": (c_int, [_P, _P, _P]),
    "nbcc_neighbour_list_free": (None, [_P]),
    "nbcc_pair_search_create": (c_int, [_P, _P, _P]),
    "nbcc_pair_search_destroy": (None, [_P]),
    "nbcc_pair_search_run": (c_int, [_P, _P, _P, _P]),
    "nbcc_pair_search_store": (c_int, [_P, _P, _P]),
    "nbcc_sum_set_progress": (c_int, [_P, _P, _P, _P]),
    "nbcc_sum_run": (c_int, [_P, _P, _P]),
    "nbcc_sum_wait": (c_int, [_P, _P]),
    "nbcc_sum_warning": (c_char_p, [_P, c_int]),
}


def candidates() -> List[str]:
    """Names of the library, in the order in which they are tried."""
    named = os.environ.get("NBCC_LIBRARY")
    if named:
        return [named]
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    prefix_lib = os.path.normpath(os.path.join(package, "..", "..", ".."))  # of PREFIX/lib/python3/dist-packages/nbcc
    files = [os.path.join(package, "libnbcc_jit.so"), os.path.join(prefix_lib, "libnbcc_jit.so.0")]
    return [file for file in files if os.path.exists(file)] + ["libnbcc_jit.so.0", "libnbcc_jit.so"]


def _declare(loaded: ctypes.CDLL, origin: str) -> ctypes.CDLL:
    for name, (result, arguments) in _FUNCTIONS.items():
        try:
            function = getattr(loaded, name)
        except AttributeError:
            raise ImportError(f"{origin} is not the libnbcc_jit of this package: it has no function {name}") from None
        function.restype = result
        function.argtypes = arguments
    version = loaded.nbcc_version().decode()
    if version.split(".")[:2] != [str(MAJOR), str(MINOR)]:
        raise ImportError(f"{origin} is nbcc {version}, but this package needs {MAJOR}.{MINOR}")
    return loaded


def _load() -> ctypes.CDLL:
    problems = []
    for candidate in candidates():
        try:
            loaded = ctypes.CDLL(candidate)
        except OSError as error:
            problems.append(str(error))
            continue
        return _declare(loaded, candidate)
    raise ImportError(
        "nbcc's library could not be loaded:\n  "
        + "\n  ".join(problems)
        + "\nNBCC_LIBRARY may name it; it needs the LLVM that it was built with (Debian: libllvm19 libclang-cpp19 of version 19)"
    )


class _Library:
    """Loads the library when a function of it is first asked for: with LLVM that takes as long as the rest of the import of
    this package."""

    def __getattr__(self, name: str) -> Any:
        if name not in _FUNCTIONS and name != "_name":
            raise AttributeError(name)
        with _loading:
            if "_name" not in self.__dict__:
                loaded = _load()
                self.__dict__.update({one: getattr(loaded, one) for one in _FUNCTIONS}, _name=loaded._name)
        return self.__dict__[name]


_loading = threading.Lock()
lib: Any = _Library()


def path() -> str:
    """Of the loaded library."""
    return str(lib._name)


# Neither threads nor CUDA survive a fork: a child process neither uses nor closes handles that were made before the
# fork, but makes new ones. `generation` counts the forks between the first process and this one.
generation = 0


def _after_fork() -> None:
    global generation, _loading
    generation += 1
    _loading = threading.Lock()  # another thread may have held it


os.register_at_fork(after_in_child=_after_fork)
