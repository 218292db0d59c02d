"""One line for the user. A warning where it can be one; with `-W error` it still is no exception."""

import sys
import warnings

from .interruption import is_interruption


def warn(text, stacklevel=1) -> None:
    """`stacklevel`: as of warnings.warn, from the caller."""
    try:
        warnings.warn(text, RuntimeWarning, stacklevel=stacklevel + 1)
        return
    except Exception as error:
        if is_interruption(error):
            raise
    say(text)


def say(text) -> None:
    """A line on stderr, where there is one."""
    try:
        if sys.stderr is not None:
            sys.stderr.write(text + "\n")
    except Exception as error:
        if is_interruption(error):
            raise
