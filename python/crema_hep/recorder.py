"""Recording on and off, and the process's log at fork and exit.

Recording is on where CREMA_DIR names a directory, or after `enable`. The SDK's sampler is a native thread, and CPython
warns at os.fork() when there are such: so in Python it runs only if CREMA_INTERVAL or `interval` asks for it.
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

before_writing = []  # functions that write what Python keeps beside the SDK
_directory = None  # what recording was first switched on with: a process keeps its log


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

    `interval` is the sampler's, in seconds; 0 or None: no sampler, unless CREMA_INTERVAL asks for one. What else is
    None takes the environment variable's value. While recording is on this changes nothing, and a process keeps the
    directory of its first log: `directory()` tells it. Never raises; where it cannot be, a line on stderr says why.
    """
    global _directory
    try:
        library.name_gpu_library()  # a program may ask for it after the import
        options = library.Options(size=ctypes.sizeof(library.Options))
        options.directory = library.encoded_or_none(os.fspath(directory) if directory is not None else None)
        options.run_id = library.encoded_or_none(run_id)
        options.pass_ = library.encoded_or_none(pass_)
        options.threads = int(threads or 0)
        options.trace = 1 if trace else 0
        options.total_events = int(total_events or 0)
        options.no_arguments = 1 if record_arguments is False else 0
        if interval:
            options.interval_seconds = float(interval)
        elif interval is not None or os.environ.get("CREMA_INTERVAL", "0") == "0":
            options.interval_seconds = -1
        is_on = bool(_enable(ctypes.byref(options)))
        stacks = sys.modules.get("crema_hep.stacks")  # else the package begins with it, as soon as it is imported
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


def disable() -> None:
    """Stops recording; open guards end quietly. `enable` goes on with the same log."""
    _write_what_python_keeps()
    _disable()


def enabled() -> bool:
    """Whether recording is on."""
    return bool(_enabled())


def flush() -> None:
    """Writes what is kept per process, and asks the disk to keep the log (fdatasync(2)). Chunks need no flush."""
    _write_what_python_keeps()
    _flush()


def end() -> None:
    """Ends this process's log, as its exit does. What is recorded afterwards is lost."""
    _write_what_python_keeps()
    _end()


def _write_what_python_keeps() -> None:
    for write in before_writing:
        write()


def directory():
    """The directory of this process's log; None if it has none."""
    return _directory


def named_directory() -> str:
    """CREMA_DIR, absolute as the SDK makes it; empty where it is not set."""
    named = os.environ.get("CREMA_DIR", "")
    if named == _named_at_start:
        return _absolute_at_start
    return os.path.abspath(named) if named else ""


def version():
    """The SDK's version; None where it is not loaded."""
    text = library.functions["crema_version"]()
    return None if text is None else text.decode()


_VARIABLE = "CREMA_DIR"
_waits_for_children = False
_told_before = []  # what stood in the variable, and in what is handed on, before children were told


def tell_children(directory) -> None:
    """Children that begin from now on record into the directory; None: as before the last call with one.

    Programs are told by CREMA_DIR. A fork server that runs already has an environment of its own, so its children are
    told by what `multiprocessing` hands each child of the process that it is a child of.
    """
    process = sys.modules.get("multiprocessing.process")
    handed = getattr(process.current_process(), "_config", {}) if process is not None else {}
    if directory is not None:
        _told_before.append((os.environ.get(_VARIABLE), handed.get("crema")))
        handed["crema"] = os.environ[_VARIABLE] = os.path.abspath(directory)
        return
    variable, told = _told_before.pop()
    for place, name, before in ((os.environ, _VARIABLE, variable), (handed, "crema", told)):
        if before is None:
            place.pop(name, None)
        else:
            place[name] = before


def _begin_as_told() -> None:
    process = sys.modules.get("multiprocessing.process")
    told = getattr(process.current_process(), "_config", {}).get("crema") if process is not None else None
    if told and not enabled() and os.environ.get("CREMA_OFF") != "1":
        enable(told)


def _begin_as_child() -> None:
    _end_with_multiprocessing()
    if _waits_for_children:
        _begin_as_named()
    _begin_as_told()


def _begin_as_named() -> None:
    if os.environ.get("CREMA_DIR") and os.environ.get("CREMA_OFF") != "1":
        enable()


def _is_fork_server() -> bool:
    """A fork server imports modules for its children (the main one, from Python 3.14 on), and works on nothing itself:
    it has no log, and no thread of ours."""
    functions = set()
    frame = sys._getframe()
    while frame is not None:
        if frame.f_globals.get("__name__") == "multiprocessing.forkserver":
            functions.add(frame.f_code.co_name)
        frame = frame.f_back
    return "main" in functions and "_serve_one" not in functions


def _end_with_multiprocessing() -> None:
    """Children of multiprocessing leave by os._exit, which runs its finalizers and no exit handler."""
    from multiprocessing import util

    util.Finalize(None, end, exitpriority=-100)


class _ForkedChild:
    """What multiprocessing asks for to call a function in a child, once it has forgotten the parent's finalizers."""


_forked_child = _ForkedChild()


def _tell_multiprocessing() -> None:
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(_forked_child, lambda _: _begin_as_child())


def _start() -> None:
    os.register_at_fork(after_in_child=_tell_multiprocessing)
    _tell_multiprocessing()  # a child of the fork server imports its main module before it is made a child
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:
        _end_with_multiprocessing()
    global _waits_for_children
    _waits_for_children = _is_fork_server()
    if _waits_for_children:
        _disable()  # else the next question whether it is on begins a log
    else:
        _begin_as_named()
        _begin_as_told()


if library.IS_LOADED:
    _start()
