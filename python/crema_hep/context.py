"""BaseInstrumentationContext: what users derive their own guards from."""

import functools
import time

from .recorder import enabled
from .section import track_section
from .values import record_metric


class BaseInstrumentationContext:
    """A section with hooks: `__enter__` and `__exit__` may be overridden, and may record metrics of the chunk.

        class TrackCache(BaseInstrumentationContext):
            def __exit__(self, kind, error, trace):
                self.record_metric("cache_hits", cache.hits(), "count")

    Whether an override calls the one that it overrides does not matter: the section begins before the first hook, and
    ends after the last. What a hook raises is its author's; crema neither causes nor catches it.
    """

    # On the class: a derived __init__ need not call this one.
    processor = None
    name = None
    recording = False  # whether what is measured will be kept
    failed = False  # in __exit__: whether the block is left by an exception
    _section = None
    _start = 0.0
    _depth = 0  # of the __exit__ that are running, the overriding one first

    def __init__(self, processor=None, name=None):
        self.processor = processor if name is not None else None
        self.name = name if name is not None else processor

    def __init_subclass__(cls, **named):
        super().__init_subclass__(**named)
        if "__enter__" in cls.__dict__:
            cls.__enter__ = _begun_before(cls.__dict__["__enter__"])
        if "__exit__" in cls.__dict__:
            cls.__exit__ = _ended_after(cls.__dict__["__exit__"])

    def __enter__(self):
        self._begin()
        return self

    def __exit__(self, kind, error, trace):
        """For derived classes to override."""

    def elapsed(self) -> float:
        """Seconds since the context began."""
        return time.perf_counter() - self._start

    def record_metric(self, name, value, unit=None) -> None:
        """As `crema_hep.record_metric`."""
        record_metric(name, value, unit)

    def _begin(self):
        if self._section is None:
            self.recording = enabled()
            self.failed = False
            self._section = track_section(self.name if self.name is not None else type(self).__name__)
            self._section.__enter__()
            self._start = time.perf_counter()

    def _end(self, kind, error, trace):
        section, self._section = self._section, None
        if section is not None:
            section.__exit__(kind, error, trace)


def _begun_before(enter):
    @functools.wraps(enter)
    def begin_and_enter(self):
        self._begin()
        try:
            return enter(self)
        except BaseException as error:  # then __exit__ is not called
            self._end(type(error), error, error.__traceback__)
            raise

    return begin_and_enter


def _ended_after(leave):
    @functools.wraps(leave)
    def leave_and_end(self, kind=None, error=None, trace=None):
        self.failed = kind is not None
        self._depth += 1
        try:
            return leave(self, kind, error, trace)
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._end(kind, error, trace)

    return leave_and_end


BaseInstrumentationContext.__exit__ = _ended_after(BaseInstrumentationContext.__exit__)
