"""What guards have in common: each may be entered again while it is open, here or on other threads, and left twice.

A guard keeps the handle of what it opened. Once it is entered while it has one, further handles are kept by thread.
CPython switches threads, and runs signal handlers, at calls and at jumps backwards only, and 3.10 at taken jumps as
well: what stands between reading and writing `_open` is none of these.
"""

import threading

from . import library

take_back = library.functions["crema_take_back"]
end = library.functions["crema_scope_end"]
is_open = library.functions["crema_scope_is_open"]

AGAIN = object()  # as a guard's `_open`: it was entered while it was open, and has its handles below


class _Entries(threading.local):
    """What this thread has entered: (guard, what belongs to it), the innermost last."""

    def __init__(self):
        self.stack = []


_entries = _Entries()


def push(guard, state) -> None:
    _entries.stack.append((guard, state))


def pop(guard):
    """What the guard has open on this thread, the innermost first; None where that is nothing."""
    stack = _entries.stack
    for place in range(len(stack) - 1, -1, -1):
        if stack[place][0] is guard:
            return stack.pop(place)[1]
    return None


def top(guard):
    """As `pop`, and leaves it there."""
    for owner, state in reversed(_entries.stack):
        if owner is guard:
            return state
    return None


class Guard:
    """`_open`: 0 where nothing is open, a handle, or AGAIN. Pickled and copied, a guard is closed."""

    __slots__ = ("_open", "_first")

    def _enter_again(self, handle) -> None:
        """Keeps one more handle than the guard has place for."""
        try:
            first = self._open
            if first is not AGAIN:
                self._first = first
                self._open = AGAIN
            push(self, handle)
        except BaseException:
            take_back()
            raise

    def _leave_again(self, is_ours):
        """The handle that this thread is to end; 0: none. `is_ours` tells whether it has this one open."""
        handle = pop(self)
        if handle is not None:
            return handle
        handle = self._first
        if not handle or not is_ours(handle):
            return 0
        self._first = 0
        return handle

    def __getstate__(self):
        names = (name for kind in type(self).__mro__ for name in _slots_of(kind))
        slots = {name: getattr(self, name) for name in names if hasattr(self, name)}
        return getattr(self, "__dict__", None) or None, {**slots, "_open": 0, "_first": 0}


def _slots_of(kind):
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else slots


class Scope(Guard):
    """A guard of one of the C API's scopes."""

    __slots__ = ()

    def _enter(self, begin, argument) -> None:
        try:
            handle = begin(argument)
        except BaseException:  # a signal's handler raised it after the call, whose result is gone
            take_back()
            raise
        if not self._open:
            self._open = handle
        else:
            self._enter_again(handle)

    def __exit__(self, kind, error, trace):
        handle = self._open
        if handle is not AGAIN:
            self._open = 0
        else:
            handle = self._leave_again(is_open)
        end(handle)
