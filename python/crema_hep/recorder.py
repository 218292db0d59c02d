"""Recording on and off, and the process's log at fork and exit.

Recording is on if CREMA_DIR names a directory, or after `enable`. The SDK's sampler is a native thread, and CPython
warns at os.fork() if there are such threads. So in Python it runs only if CREMA_INTERVAL or `interval` asks for it.
"""

import ctypes
import os
import sys

from . import library
from .interruption import is_interruption
from .notice import say

_enable = library.functions["crema_enable"]
_disable = library.functions["crema_disable"]
_enabled = library.functions["crema_enabled"]
_flush = library.functions["crema_flush"]
_end = library.functions["crema_end"]

# A relative CREMA_DIR is below the directory in which the library was loaded.
_named_at_start = os.environ.get("CREMA_DIR", "")
_absolute_at_start = os.path.abspath(_named_at_start) if _named_at_start else ""

before_writing = []  # functions that write data that Python keeps outside the SDK
_directory = None  # the arguments with which recording was first switched on: a process keeps its log


def enable(
    directory=None,
    run_id=None,
    pass_=None,
    threads=None,
    interval=None,
    trace=None,
    total_events=None,
    record_arguments=None,
) -> bool:
    """Starts or resumes recording into `directory` (default: CREMA_DIR); returns whether it is on afterwards.

    `interval` is that of the sampler, in seconds; 0 or None: no sampler, unless CREMA_INTERVAL asks for one. Any other
    argument that is None takes the value of the environment variable. While recording is on, this changes nothing. A
    process keeps the directory of its first log: `directory()` returns it. Never raises; if it fails, a line on stderr
    says why.
    """
    global _directory
    try:
        library.name_gpu_library()  # a program may set it after the import
        options = library.Options(size=ctypes.sizeof(library.Options))
        options.directory = library.encoded_or_none(os.fspath(directory) if directory is not None else None)
        options.run_id = library.encoded_or_none(run_id)
        options.pass_ = library.encoded_or_none(pass_)
        options.threads = _number("threads", threads, int)
        options.trace = 1 if trace else 0
        options.total_events = _number("total_events", total_events, int)
        options.no_arguments = 1 if record_arguments is False else 0
        if interval:
            options.interval_seconds = _number("interval", interval, float)
        elif interval is not None or os.environ.get("CREMA_INTERVAL", "0") == "0":
            options.interval_seconds = -1
        is_on = bool(_enable(ctypes.byref(options)))
        if not (is_on or directory or named_directory() or os.environ.get("CREMA_OFF") == "1") and library.IS_LOADED:
            raise ValueError("give it a directory, or set CREMA_DIR")
        stacks = sys.modules.get("crema_hep.stacks")  # otherwise the package already begins with it when it is imported
        if stacks is not None:
            stacks.begin_if_asked()
        if is_on and _directory is None:
            _directory = os.path.abspath(os.fspath(directory)) if directory else named_directory()
        return is_on
    except Exception as error:
        if is_interruption(error):
            raise
        say(f"crema: cannot enable recording: {library.text_of(error)}")
        return False


def _number(name, value, kind):
    try:
        return kind(value or 0)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is a number, not {value!r}") from None


def disable() -> None:
    """Stops recording; open guards end without a record. `enable` continues the same log."""
    _write_what_python_keeps()
    _disable()


def enabled() -> bool:
    """Whether recording is on."""
    return bool(_enabled())


def flush() -> None:
    """Writes what the process still holds in memory, and makes the disk keep the log (fdatasync(2)). Chunks need no
    flush."""
    _write_what_python_keeps()
    _flush()


def end() -> None:
    """Ends this process's log, as its exit does. Later records are lost."""
    _write_what_python_keeps()
    _end()


def _write_what_python_keeps() -> None:
    for write in before_writing:
        write()


def directory():
    """The directory of this process's log; None if it has none."""
    return _directory


def named_directory() -> str:
    """CREMA_DIR as an absolute path, as in the SDK; empty if it is not set."""
    named = os.environ.get("CREMA_DIR", "")
    if named == _named_at_start:
        return _absolute_at_start
    return os.path.abspath(named) if named else ""


def version():
    """The SDK's version; None if the SDK is not loaded."""
    text = library.functions["crema_version"]()
    return None if text is None else text.decode()


_VARIABLE = "CREMA_DIR"
_waits_for_children = False
_values_before = []  # earlier values of the variable, and of multiprocessing's configuration


def record_children(directory) -> None:
    """Makes children that begin from now on record into the directory. None: as before the last call with a directory.

    Programs get the directory by CREMA_DIR. A fork server that runs already has an environment of its own, so its
    children get it by the configuration that `multiprocessing` passes from each process to its children.
    """
    process = sys.modules.get("multiprocessing.process")
    handed = getattr(process.current_process(), "_config", {}) if process is not None else {}
    if directory is not None:
        _values_before.append((os.environ.get(_VARIABLE), handed.get("crema")))
        handed["crema"] = os.environ[_VARIABLE] = os.path.abspath(directory)
        return
    variable, configured = _values_before.pop()
    for place, name, before in ((os.environ, _VARIABLE, variable), (handed, "crema", configured)):
        if before is None:
            place.pop(name, None)
        else:
            place[name] = before


def _begin_as_configured() -> None:
    process = sys.modules.get("multiprocessing.process")
    directory = getattr(process.current_process(), "_config", {}).get("crema") if process is not None else None
    if directory and not enabled() and os.environ.get("CREMA_OFF") != "1":
        enable(directory)


def _begin_as_child() -> None:
    _end_with_multiprocessing()
    if _waits_for_children:
        _begin_as_named()
    _begin_as_configured()


def _begin_as_named() -> None:
    if os.environ.get("CREMA_DIR") and os.environ.get("CREMA_OFF") != "1":
        enable()


def _is_fork_server() -> bool:
    """Whether this is a fork server. It imports modules for its children (from Python 3.14 on, the main module), and
    does no work itself. So it gets no log, and no thread of crema's."""
    functions = set()
    frame = sys._getframe()
    while frame is not None:
        if frame.f_globals.get("__name__") == "multiprocessing.forkserver":
            functions.add(frame.f_code.co_name)
        frame = frame.f_back
    return "main" in functions and "_serve_one" not in functions


def _end_with_multiprocessing() -> None:
    """Registers the end of the log as a finalizer: children of multiprocessing leave by os._exit, which runs no exit
    handler."""
    from multiprocessing import util

    util.Finalize(None, end, exitpriority=-100)


class _ForkedChild:
    """Makes multiprocessing call a function in each child, after the child has forgotten the parent's finalizers."""


_forked_child = _ForkedChild()


def _register_with_multiprocessing() -> None:
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(_forked_child, lambda _: _begin_as_child())


def _start() -> None:
    os.register_at_fork(after_in_child=_register_with_multiprocessing)
    _register_with_multiprocessing()  # a fork server's child imports its main module before it is set up as a child
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:
        _end_with_multiprocessing()
    global _waits_for_children
    _waits_for_children = _is_fork_server()
    if _waits_for_children:
        _disable()  # otherwise the next check whether recording is on begins a log
    else:
        _begin_as_named()
        _begin_as_configured()


if library.IS_LOADED:
    _start()
