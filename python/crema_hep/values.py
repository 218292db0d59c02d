"""The user's own numbers: metrics, cuts, activities, bytes. They belong to the chunk that the thread works for."""

import ctypes
import json
import time

from . import library
from .guard import AGAIN, Scope, end, is_open, pop, push, take_back
from .interruption import is_interruption
from .nanoevents import EventSource

_record_metric = library.functions["crema_record_metric"]
_record_cut = library.functions["crema_record_cut"]
_record_cut_weighted = library.functions["crema_record_cut_weighted"]
_record_cut_after = library.functions["crema_record_cut_after"]
_record_activity = library.functions["crema_record_activity"]
_add_bytes_read = library.functions["crema_add_bytes_read"]
_set_attribute = library.functions["crema_set_attribute"]
_activity_begin = library.functions["crema_activity_begin"]


def record_metric(name, value, unit=None) -> None:
    """Records a number of your own: keeps count, sum, least and greatest value per name and unit. Ignores a value that
    is not a number."""
    value = library.number(value)
    if value is not None:
        _record_metric(library.encoded(name), value, library.encoded_or_none(unit))


def record_cut(name, events, sum_of_weights=None, *, parent=None, seen=None, flow=None) -> None:
    """Records the events left after a cut, and the sum of their weights, in the order of the first calls.

    `parent`: the cut whose events these are, by its name (recorded before, on this thread) or its path ("jets/MET");
    `seen`: how many events the cut was asked about, if not all that passed the parent; `flow`: which of several cut
    flows. Cuts without any of them are a list. A negative number of events is dropped, and the measurement warns."""
    events, weights = library.number(events), library.number(sum_of_weights)
    if events is None or not abs(events) < 1 << 63:  # also false for NaN
        return
    if parent is not None or seen is not None or flow is not None:
        seen = library.number(seen)
        _record_cut_after(
            library.encoded(name),
            int(events),
            None if weights is None else ctypes.byref(ctypes.c_double(weights)),
            library.encoded_or_none(parent),
            -1 if seen is None or not 0 <= seen < 1 << 63 else int(seen),
            library.encoded_or_none(flow),
        )
    elif weights is None:
        _record_cut(library.encoded(name), int(events))
    else:
        _record_cut_weighted(library.encoded(name), int(events), weights)


def _text_of_label(label):
    """The label as text. Dask's labels may be any hashable; one that is not a text is written as JSON."""
    if isinstance(label, str):
        return label
    try:
        return json.dumps(label)
    except Exception as error:
        if is_interruption(error):
            raise
        return label


def record_activity(label, value, unit="seconds") -> None:
    """Adds to an activity (Dask calls them fine metrics), by label and unit."""
    value = library.number(value)
    if value is not None:
        _record_activity(library.encoded(_text_of_label(label)), value, library.encoded(unit))


digest_metric = record_activity


def add_bytes_read(stored, uncompressed=None) -> None:
    """Adds bytes that were read from files: as stored there, and decompressed."""
    stored = library.whole(stored)
    if stored != library.UNKNOWN:
        _add_bytes_read(stored, library.whole(uncompressed))


def set_attribute(name, value) -> None:
    """A note on the chunk; the last value of a name wins."""
    _set_attribute(library.encoded(name), library.encoded(value))


class meter(Scope):
    """Times a `with` block as an activity. The time of a nested activity is not part of the outer one.

        with meter("decompress"):
            ...

    As Dask's `context_meter.meter`: if you give a `func`, the value is the difference of two calls of it, in `unit`.
    Exceptions of `func` are passed on.
    """

    __slots__ = ("_label", "_unit", "_function", "_floor")

    def __init__(self, label, unit="seconds", func=None, floor=0.0):
        self._label = label
        self._unit = unit
        self._function = None if func is time.perf_counter and unit == "seconds" else func
        self._floor = floor
        self._open = 0

    def __enter__(self):
        if self._function is not None:
            push(self, self._function())
            return self
        label = self._label
        label = library.encoded(label if type(label) is str else _text_of_label(label))
        try:  # as Scope._enter, but inlined
            handle = _activity_begin(label)
        except BaseException:
            take_back()
            raise
        if not self._open:
            self._open = handle
        else:
            self._enter_again(handle)
        return self

    def __exit__(self, kind, error, trace):
        if self._function is None:
            handle = self._open
            if handle is not AGAIN:
                self._open = 0
            else:
                handle = self._leave_again(is_open)
            end(handle)
            return
        before = pop(self)
        if before is None:
            return
        value = self._function() - before
        if value >= self._floor:
            record_activity(self._label, value, self._unit)


class track_bytes:
    """Records how many bytes a `with` block requested from the file behind `events`, as the metric `<name>.bytes_read`.

        with track_bytes(self, events, "load"):  # or track_bytes(events, "load")
            pt = events.Jet.pt

    If nobody counts these bytes, records nothing. Never raises.
    """

    __slots__ = ("_events", "_name")

    def __init__(self, *arguments, name=None):
        if name is None and len(arguments) > 1:
            name, arguments = arguments[-1], arguments[:-1]
        self._events = arguments[-1] if arguments else None
        self._name = name

    def __enter__(self):
        push(self, EventSource(self._events))
        return self

    def __exit__(self, kind, error, trace):
        source = pop(self)
        count = None if source is None else source.bytes_read()
        if count is not None:
            record_metric(library.text_of(self._name) + ".bytes_read", count, "B")
