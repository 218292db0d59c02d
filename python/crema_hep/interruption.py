"""Whose exception it is: of what a guard called, or one that struck from outside while it ran.

Guards turn into text and numbers what they are given, which may run code of others, whose failure must not reach the
analysis. What a signal's handler raises there (a timeout by SIGALRM, Ctrl-C), and what another thread has raised there
(PyThreadState_SetAsyncExc), is meant for the analysis, and must.
"""

from opcode import opmap

_RAISE = opmap["RAISE_VARARGS"]
# Built-in classes that no conversion raises by itself.
_NEVER_OF_CONVERSIONS = frozenset(
    (BaseException, Exception, GeneratorExit, InterruptedError, KeyboardInterrupt, SystemExit, TimeoutError)
)


def _is_handler(frame) -> bool:
    """Whether Python called it for a signal: it was given the frame that was interrupted, and returns there."""
    interrupted = frame.f_back
    if interrupted is None:
        return False
    for value in frame.f_locals.values():
        if value is interrupted or (type(value) is tuple and any(part is interrupted for part in value)):
            return True
    return False


def is_of_a_handler(error) -> bool:
    """Whether a signal's handler raised it: for calls that may fail in any way, also with errors of other processes."""
    trace = error.__traceback__
    while trace is not None:
        if _is_handler(trace.tb_frame):
            return True
        trace = trace.tb_next
    return False


def is_interruption(error) -> bool:
    """Whether an exception that was just caught came from outside of the code that was called.

    What a `raise` statement of that code raised is its own, as is what built-in operations raise. What neither explains
    came from outside.
    """
    if is_of_a_handler(error):
        return True
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is not None and last.tb_frame.f_code.co_code[last.tb_lasti] == _RAISE:
        return False
    kind = type(error)
    return kind in _NEVER_OF_CONVERSIONS or kind.__module__ != "builtins"
