"""BaseInstrumentationContext: the base class for guards of the user's own."""

import functools
import time

from . import guard
from .recorder import enabled
from .section import track_section
from .values import record_metric


class _OfEntry:
    """A value of the thread's innermost block of a context; False if there is none."""

    def __init__(self, name):
        self._name = name

    def __get__(self, context, kind=None):
        entry = guard.top(context)
        return entry is not None and getattr(entry, self._name)


class BaseInstrumentationContext:
    """A section with hooks: `__enter__` and `__exit__` may be overridden, and may record metrics of the chunk.

        class TrackCache(BaseInstrumentationContext):
            def __exit__(self, kind, error, trace):
                self.record_metric("cache_hits", cache.hits(), "count")

    An override need not call the method that it overrides: the section begins before the first hook, and ends after the
    last. crema does not catch an exception that a hook raises. A hook runs as often as it is called; `recording` is
    False if no block of this thread is open.
    """

    # On the class: a derived __init__ need not call this one.
    processor = None
    name = None
    recording = _OfEntry("recording")  # whether crema will keep what is measured
    failed = _OfEntry("failed")  # in __exit__: whether the block is left by an exception

    def __init__(self, processor=None, name=None):
        self.processor = processor if name is not None else None
        self.name = name if name is not None else processor

    def __init_subclass__(cls, **named):
        super().__init_subclass__(**named)
        for name, around in (("__enter__", _begun_before), ("__exit__", _ended_after)):
            owner = next(kind for kind in cls.__mro__ if name in kind.__dict__)
            if owner is cls or not issubclass(owner, BaseInstrumentationContext):  # inherited from elsewhere
                setattr(cls, name, around(owner.__dict__[name]))

    def __enter__(self):
        _begin(self)
        return self

    def __exit__(self, kind, error, trace):
        """For derived classes to override."""

    def elapsed(self) -> float:
        """Seconds since the context began."""
        entry = guard.top(self)
        return 0.0 if entry is None else time.perf_counter() - entry.start

    def record_metric(self, name, value, unit=None) -> None:
        """As `crema_hep.record_metric`."""
        record_metric(name, value, unit)


class _Entry:
    """One `with` block of a context, on the thread that entered it. The context itself keeps no state of the block, so
    it may be frozen, shared and pickled."""

    __slots__ = ("recording", "failed", "section", "start", "entering", "leaving")

    def __init__(self, context):
        self.recording = enabled()
        self.failed = False
        self.entering = self.leaving = 0  # the overrides of __enter__, and of __exit__, that are running
        self.section = track_section(context.name if context.name is not None else type(context).__name__)
        self.section.__enter__()
        self.start = time.perf_counter()


def _begin(context):
    """The entry whose `__enter__` is running. It exists already if an override calls the method that it overrides."""
    entry = guard.top(context)
    if entry is None or entry.entering == 0:
        entry = _Entry(context)
        guard.push(context, entry)
    return entry


def _end(context, entry, kind, error, trace):
    guard.pop(context)
    entry.section.__exit__(kind, error, trace)


def _begun_before(enter):
    @functools.wraps(enter)
    def begin_and_enter(self):
        entry = _begin(self)
        entry.entering += 1
        try:
            return enter(self)
        except BaseException as error:  # then __exit__ is not called
            if entry.entering == 1:
                _end(self, entry, type(error), error, error.__traceback__)
            raise
        finally:
            entry.entering -= 1

    return begin_and_enter


def _ended_after(leave):
    @functools.wraps(leave)
    def leave_and_end(self, kind=None, error=None, trace=None):
        entry = guard.top(self)
        if entry is None:  # left twice, or on another thread: the override is the user's, who may release something
            return leave(self, kind, error, trace)
        entry.failed = kind is not None
        entry.leaving += 1
        try:
            return leave(self, kind, error, trace)
        finally:
            entry.leaving -= 1
            if entry.leaving == 0:
                _end(self, entry, kind, error, trace)

    return leave_and_end


BaseInstrumentationContext.__exit__ = _ended_after(BaseInstrumentationContext.__exit__)
