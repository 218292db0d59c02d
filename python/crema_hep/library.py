"""libcrema.so.1, the SDK, through its C API (sdk/c_api/crema_c.h).

If it cannot be loaded, every function does nothing, and one warning says so: an analysis runs with or without it.
Functions are called with the GIL held (PyDLL), because they take nanoseconds to microseconds, and releasing the GIL may
cost a whole switch interval. Only `crema_flush` and `crema_end`, which wait for a disk, release it.

Functions that are called for each section have no `argtypes`. ctypes then passes bytes as `const char*` and int as C
int without a check, in half the time.
"""

import ctypes
import numbers
import os
import pathlib
import sys

from .interruption import is_interruption
from .notice import warn
from .requirements import glibc_complaint, glibc_version

UNKNOWN = -1  # CREMA_UNKNOWN
_NAME = "libcrema.so.1"
_GPU_NAME = "libcrema_gpu.so"


class Options(ctypes.Structure):
    """crema_options."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("directory", ctypes.c_char_p),
        ("run_id", ctypes.c_char_p),
        ("pass_", ctypes.c_char_p),
        ("threads", ctypes.c_int32),
        ("trace", ctypes.c_int32),
        ("interval_seconds", ctypes.c_double),
        ("total_events", ctypes.c_int64),
        ("no_arguments", ctypes.c_int32),
    )


class ChunkInfo(ctypes.Structure):
    """crema_chunk_info."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("dataset", ctypes.c_char_p),
        ("file", ctypes.c_char_p),
        ("tree", ctypes.c_char_p),
        ("pass_", ctypes.c_char_p),
        ("entry_start", ctypes.c_int64),
        ("entry_stop", ctypes.c_int64),
    )


class Handle(ctypes.Structure):
    """crema_chunk_handle."""

    _fields_ = (("state", ctypes.c_void_p), ("generation", ctypes.c_uint64), ("section", ctypes.c_void_p))


class SectionTotal(ctypes.Structure):
    """crema_section_total."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("path", ctypes.c_char_p),
        ("is_helper", ctypes.c_int32),
        ("count", ctypes.c_uint64),
        ("total_ns", ctypes.c_int64),
        ("self_ns", ctypes.c_int64),
    )


SectionVisitor = ctypes.PYFUNCTYPE(None, ctypes.py_object, ctypes.POINTER(SectionTotal))
SectionTextVisitor = ctypes.PYFUNCTYPE(None, ctypes.py_object, ctypes.c_char_p)

_TEXT, _POINTER, _LONG, _DOUBLE = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_double

# Result type, argument types (None: not checked), and the function's value if there is no library.
SIGNATURES = {
    "crema_version": (_TEXT, (), None),
    "crema_enable": (ctypes.c_int, (ctypes.POINTER(Options),), 0),
    "crema_disable": (None, (), None),
    "crema_enabled": (ctypes.c_int, (), 0),
    "crema_flush": (None, (), None),
    "crema_end": (None, (), None),
    "crema_chunk_begin": (_POINTER, (ctypes.POINTER(ChunkInfo),), None),
    "crema_chunk_end": (None, (_POINTER,), None),
    "crema_chunk_fail": (None, (_POINTER, _TEXT), None),
    "crema_chunk_set_events": (None, (_POINTER, _LONG), None),
    "crema_chunk_add_bytes_read": (None, (_POINTER, _LONG, _LONG), None),
    "crema_chunk_add_columns": (None, (_POINTER, _TEXT, ctypes.c_size_t), None),
    "crema_chunk_set_file_info": (None, (_POINTER, _LONG, _LONG, _LONG), None),
    "crema_chunk_set_attribute": (None, (_POINTER, _TEXT, _TEXT), None),
    "crema_chunk_get_handle": (Handle, (_POINTER,), None),
    "crema_chunk_is_open": (ctypes.c_int, (_POINTER,), 0),
    "crema_section_open": (ctypes.c_int32, None, 0),
    "crema_cpu_section_open": (ctypes.c_int32, None, 0),
    "crema_section_close": (None, None, None),
    "crema_section_close_failed": (None, None, None),
    "crema_section_is_open": (ctypes.c_int, None, 0),
    "crema_visit_sections": (ctypes.c_size_t, (SectionVisitor, ctypes.py_object), 0),
    "crema_visit_section_texts": (ctypes.c_size_t, (SectionTextVisitor, ctypes.py_object), 0),
    "crema_memory_begin": (_POINTER, None, None),
    "crema_activity_begin": (_POINTER, None, None),
    "crema_span_begin": (_POINTER, None, None),
    "crema_helper_begin": (_POINTER, (Handle,), None),
    "crema_scope_end": (None, (_POINTER,), None),
    "crema_scope_is_open": (ctypes.c_int, (_POINTER,), 0),
    "crema_take_back": (None, (), None),
    "crema_record_metric": (None, (_TEXT, _DOUBLE, _TEXT), None),
    "crema_record_cut": (None, (_TEXT, _LONG), None),
    "crema_record_cut_weighted": (None, (_TEXT, _LONG, _DOUBLE), None),
    "crema_record_cut_after": (None, (_TEXT, _LONG, _POINTER, _TEXT, _LONG, _TEXT), None),
    "crema_record_activity": (None, (_TEXT, _DOUBLE, _TEXT), None),
    "crema_record_request": (None, (_TEXT, _TEXT, _LONG, _LONG, ctypes.c_int), None),
    "crema_write_stacks": (ctypes.c_int, (_TEXT, ctypes.c_size_t, _LONG), 0),
    "crema_add_cost": (None, (_LONG,), None),
    "crema_add_bytes_read": (None, (_LONG, _LONG), None),
    "crema_set_attribute": (None, (_TEXT, _TEXT), None),
}
_CHECKS_RAISE = sys.version_info < (3, 12)
_WAITS_FOR_THE_DISK = ("crema_flush", "crema_end")


def packaged_path() -> pathlib.Path:
    """Where the wheel has the library."""
    return pathlib.Path(__file__).parent / "lib" / _NAME


def _loaded_already() -> str:
    """The library's name if native code of this process has loaded it: one copy is enough."""
    try:
        ctypes.PyDLL(_NAME, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return ""
    return _NAME


def _without_argument_errors(function):
    """Up to Python 3.11, a call at the recursion limit fails while ctypes checks its arguments, with ctypes' own error.
    Code that expects a RecursionError would not see it."""

    def call(*arguments):
        try:
            return function(*arguments)
        except ctypes.ArgumentError as error:
            if RecursionError.__name__ not in str(error):
                raise
        raise RecursionError("maximum recursion depth exceeded")

    return call


def _bind(path: str) -> dict:
    holding_the_gil, releasing_it = ctypes.PyDLL(path), ctypes.CDLL(path)
    functions = {}
    for name, (result, arguments, _) in SIGNATURES.items():
        function = getattr(releasing_it if name in _WAITS_FOR_THE_DISK else holding_the_gil, name)
        function.restype = result
        if arguments is not None:
            function.argtypes = arguments
        functions[name] = _without_argument_errors(function) if arguments and _CHECKS_RAISE else function
    return functions


def _nothing(result):
    return lambda *_: result


def _load() -> dict:
    """The functions by name, of the first library that is found: CREMA_LIBRARY, one that is already loaded, the
    wheel's, the system's."""
    named = os.environ.get("CREMA_LIBRARY")
    packaged = packaged_path()
    candidates = [named] if named else [_loaded_already(), str(packaged) if packaged.exists() else "", _NAME]
    reasons = []
    for path in filter(None, candidates):
        try:
            return _bind(path)
        except (OSError, AttributeError) as error:
            reasons.append(str(error))
    remedy = glibc_complaint(glibc_version()) if packaged.exists() and not named else ""
    warn(
        f"crema: Python code records nothing, because {_NAME} cannot be loaded ({'; '.join(reasons)}); "
        + (remedy or "install the wheel crema-hep, or name the library in CREMA_LIBRARY"),
    )
    return {}


def name_gpu_library() -> None:
    """With CREMA_GPU=1, makes CUDA load the library that counts GPU work when CUDA begins. If another profiler's
    library is set, leaves it."""
    named = os.environ.get("CREMA_LIBRARY")
    path = (pathlib.Path(named) if named else packaged_path()).parent / _GPU_NAME
    if os.environ.get("CREMA_GPU") == "1" and path.exists():
        os.environ.setdefault("CUDA_INJECTION64_PATH", str(path.absolute()))


name_gpu_library()
functions = _load()
IS_LOADED = bool(functions)
if not IS_LOADED:
    functions = {name: _nothing(without) for name, (_, _, without) in SIGNATURES.items()}


def text_of(value) -> str:
    """Converts anything to a plain str; `?` if its own code fails. Raises only exceptions from outside."""
    if type(value) is str:
        return value
    try:
        return "".join((str(value),))
    except BaseException as error:  # somebody's __str__, which may raise KeyboardInterrupt itself
        if is_interruption(error):
            raise
        return "?"


def encoded(text) -> bytes:
    """Converts anything to text for the C API. The text ends at a NUL, as it would in C."""
    if type(text) is not str:
        text = text_of(text)
    return text.encode("utf-8", "replace").split(b"\0", 1)[0]


def encoded_or_none(text):
    """As `encoded`, but None stays None, which means "not known"."""
    return None if text is None else encoded(text)


def _real(value):
    """Returns the value. Raises TypeError for a complex number, which NumPy would convert to a real one with a
    warning."""
    if isinstance(value, numbers.Complex) and not isinstance(value, numbers.Real):
        raise TypeError
    return value


def whole(value) -> int:
    """Converts a value to an integer for the C API. Other values, and negative ones, mean "not known"."""
    if value is None:
        return UNKNOWN
    if type(value) is not int:
        try:
            value = int(_real(value))
        except Exception as error:
            if is_interruption(error):
                raise
            return UNKNOWN
    return value if 0 <= value < 1 << 63 else UNKNOWN


def number(value):
    """Converts a value to a float; None if it is not a number."""
    if value is None or type(value) is float:
        return value
    try:
        return float(_real(value))
    except Exception as error:
        if is_interruption(error):
            raise
        return None
