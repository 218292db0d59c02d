"""The base of all guards: each may be entered again while it is open, on any thread, and left twice.

A guard keeps the handle of what it opened. If it is entered again while it has one, each thread keeps the further
handles. CPython switches threads and runs signal handlers only at calls and backward jumps (3.10: at any taken jump).
There is no such point between reading and writing `_open`.
"""

import threading

from . import library

take_back = library.functions["crema_take_back"]
end = library.functions["crema_scope_end"]
is_open = library.functions["crema_scope_is_open"]

AGAIN = object()  # value of a guard's `_open`: it was entered while it was open, and its handles are below


class _Entries(threading.local):
    """What this thread has entered: (guard, its handle), the innermost last."""

    def __init__(self):
        self.stack = []


_entries = _Entries()


def push(guard, state) -> None:
    _entries.stack.append((guard, state))


def pop(guard):
    """Removes and returns what the guard opened last on this thread; None if nothing is open."""
    stack = _entries.stack
    for place in range(len(stack) - 1, -1, -1):
        if stack[place][0] is guard:
            return stack.pop(place)[1]
    return None


def top(guard):
    """As `pop`, but does not remove it."""
    for owner, state in reversed(_entries.stack):
        if owner is guard:
            return state
    return None


class Guard:
    """`_open`: 0 if nothing is open, a handle, or AGAIN. A pickle or copy of a guard is closed."""

    __slots__ = ("_open", "_first")

    def _enter_again(self, handle) -> None:
        """Keeps a further handle: the guard itself has room for one."""
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
        """The handle that this thread should end; 0: none. `is_ours` says whether this thread opened a handle."""
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
    """A guard for one of the scopes of the C API."""

    __slots__ = ()

    def _enter(self, begin, argument) -> None:
        try:
            handle = begin(argument)
        except BaseException:  # a signal handler raised it after the call, and the result is lost
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
