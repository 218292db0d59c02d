"""One line for the user: a warning if possible. Even with `-W error` it raises nothing."""

import contextlib
import functools
import os
import sys
import warnings

from .interruption import is_interruption

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_IN_BETWEEN = (_PACKAGE, contextlib.__file__, functools.__file__, "<frozen ")


def warn(text) -> None:
    """Warns. The warning points to the line outside this package that led to it."""
    try:
        level, frame = 2, sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename.startswith(_IN_BETWEEN):
            frame = frame.f_back
            level += not frame.f_code.co_filename.startswith("<frozen importlib.")  # the module warnings skips these
        warnings.warn(text, RuntimeWarning, stacklevel=level)
        return
    except Exception as error:
        if is_interruption(error):
            raise
    say(text)


def say(text) -> None:
    """Writes a line to stderr, if there is one."""
    try:
        if sys.stderr is not None:
            sys.stderr.write(text + "\n")
    except Exception as error:
        if is_interruption(error):
            raise
