"""Decides where an exception comes from: from code that a guard called, or from outside while that code ran.

Guards convert their arguments to text and numbers. This may run the code of others, and its failures must not reach the
analysis. A signal handler (a timeout by SIGALRM, Ctrl-C) or another thread (PyThreadState_SetAsyncExc) may raise an
exception at the same place. This one is meant for the analysis, and must reach it.

It is not enough to pass on what is no `Exception`, since exceptions of time-outs are mostly `Exception`s. An exception
that another thread sends has the frames, the line and often the type of one that a `raise` there would make, so only
the instruction at which it struck tells them apart; tests/python/shared_guards_test.py tries it with each CPython.
"""

import inspect
import sys
from opcode import opmap

_RAISE = opmap["RAISE_VARARGS"]
# Built-in exceptions that no conversion raises by itself.
_NEVER_OF_CONVERSIONS = frozenset(
    (BaseException, Exception, GeneratorExit, InterruptedError, KeyboardInterrupt, SystemExit, TimeoutError)
)


def _is_handler(frame) -> bool:
    """Whether Python called the frame's function for a signal: the interrupted frame is its argument and its caller."""
    interrupted, code = frame.f_back, frame.f_code
    if interrupted is None or (code.co_argcount < 2 and not code.co_flags & inspect.CO_VARARGS):
        return False
    values = frame.f_locals
    try:
        for value in values.values():
            if value is interrupted or (type(value) is tuple and any(part is interrupted for part in value)):
                return True
        return False
    finally:
        # Before 3.13 the frame of a function keeps this copy. With an exception in it, the frame and what its callers
        # hold would live until the next garbage collection.
        if type(values) is dict and code.co_flags & inspect.CO_OPTIMIZED:
            values.clear()


def is_of_a_handler(error) -> bool:
    """Whether a signal handler raised the exception. For calls that may fail in any way, also with errors of other
    processes."""
    trace = error.__traceback__
    while trace is not None:
        if _is_handler(trace.tb_frame):
            return True
        trace = trace.tb_next
    return False


def is_interruption(error) -> bool:
    """Whether an exception that was just caught came from outside of the code that was called.

    If a `raise` statement, a built-in operation or compiled code of the standard library (zlib, struct) raised it, it
    is the code's own. Otherwise it came from outside.
    """
    if is_of_a_handler(error):
        return True
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    code = b"" if last is None else last.tb_frame.f_code.co_code
    if last is not None and (
        not code or code[last.tb_lasti] == _RAISE
    ):  # no instructions: compiled code made the frame
        return False
    kind = type(error)
    return kind in _NEVER_OF_CONVERSIONS or kind.__module__.partition(".")[0] not in sys.stdlib_module_names
