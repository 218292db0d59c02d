"""Chunks: one piece of the data, one record."""

import ctypes
import functools
import threading

from . import library, nanoevents
from .dask_activities import sections_to_dask

_begin = library.functions["crema_chunk_begin"]
_end = library.functions["crema_chunk_end"]
_fail = library.functions["crema_chunk_fail"]
_set_events = library.functions["crema_chunk_set_events"]
_add_bytes_read = library.functions["crema_chunk_add_bytes_read"]
_add_columns = library.functions["crema_chunk_add_columns"]
_set_file_info = library.functions["crema_chunk_set_file_info"]
_set_attribute = library.functions["crema_chunk_set_attribute"]
_get_handle = library.functions["crema_chunk_get_handle"]
_enabled = library.functions["crema_enabled"]

_open_chunks = threading.local()  # .chunk: the innermost of this thread


class ChunkHandle:
    """Refers to an open chunk from another thread: see `track_helper`. Harmless when the chunk is over."""

    __slots__ = ("state", "generation", "section")

    def __init__(self, state=None, generation=0, section=None):
        self.state = state
        self.generation = generation
        self.section = section


class TrackMetrics:
    """The chunk, for a `with` block or for each call of a function.

        with TrackMetrics("ttbar", "events.root", 0, 1000) as chunk:
            chunk.set_events(1000)

        class Processor(processor.ProcessorABC):
            @track_metrics
            def process(self, events): ...

    As a decorator it takes data set, file, tree, entry range, events, bytes read, columns and the file's facts from
    NanoEvents' metadata; what is missing there is not known, and never an error. Left by an exception, the attempt is
    failed, with the exception's text, and the exception goes on unchanged. A guard itself never raises.
    """

    def __new__(cls, dataset=None, *arguments, **named):
        if callable(dataset) and not arguments and not named:
            return _decorated(dataset)
        return super().__new__(cls)

    def __init__(
        self, dataset=None, file=None, entry_start=None, entry_stop=None, *, tree=None, pass_=None, events=None
    ):
        self._facts = (dataset, file, tree, pass_, entry_start, entry_stop)
        self._events = events
        self._chunk = None
        self._outer = None

    def __enter__(self):
        dataset, file, tree, pass_, start, stop = self._facts
        try:
            self._chunk = begin(dataset, file, tree, pass_, start, stop)
            self._outer = getattr(_open_chunks, "chunk", None)
            _open_chunks.chunk = self
            if self._events is not None:
                self.set_events(self._events)
        except Exception:
            pass  # a record less, and no harm to the analysis
        return self

    def __exit__(self, kind, error, trace):
        if error is not None:
            self.fail(reason_of(error))
        chunk, self._chunk = self._chunk, None
        _end(chunk)
        _open_chunks.chunk, self._outer = self._outer, None
        if chunk is not None:
            sections_to_dask()

    def set_events(self, events) -> None:
        """How many events the chunk processed. Unset means not known, not none."""
        _set_events(self._chunk, library.whole(events))

    def add_bytes_read(self, stored, uncompressed=None) -> None:
        """Adds bytes that were read from files: as stored there, and decompressed."""
        stored = library.whole(stored)
        if stored != library.UNKNOWN:
            _add_bytes_read(self._chunk, stored, library.whole(uncompressed))

    def add_columns(self, names) -> None:
        """Adds names of columns (branches, fields) that were read; each counts once."""
        try:
            names = list(names)
        except Exception:
            return
        try:
            text = "\0".join([*names, ""]).encode()
        except (TypeError, UnicodeEncodeError):  # a name that is no text, or half a character
            text = b"".join(library.encoded(name) + b"\0" for name in names)
        _add_columns(self._chunk, text, len(text))

    def set_file_info(self, branches=None, bytes=None, compressed_bytes=None) -> None:
        """What the chunk's file holds in all: columns, bytes decompressed, bytes as stored. Written once per file."""
        _set_file_info(self._chunk, library.whole(branches), library.whole(bytes), library.whole(compressed_bytes))

    def set_attribute(self, name, value) -> None:
        """A note; the last value of a name wins."""
        _set_attribute(self._chunk, library.encoded(name), library.encoded(value))

    def fail(self, reason) -> None:
        """Makes this a failed attempt, for this reason."""
        _fail(self._chunk, library.encoded(reason))

    def handle(self) -> ChunkHandle:
        """For helper threads. Ask for it on the chunk's own thread."""
        given = _get_handle(self._chunk)
        return ChunkHandle() if given is None else ChunkHandle(given.state, given.generation, given.section)

    def __reduce__(self):
        raise TypeError("an open chunk belongs to its thread: give other threads its handle()")


track_metrics = TrackMetrics


def current_chunk():
    """The innermost chunk that Python code has open on this thread, or None."""
    return getattr(_open_chunks, "chunk", None)


def begin(dataset, file, tree, pass_, entry_start, entry_stop):
    """crema_chunk_begin; None when recording is off."""
    if not _enabled():
        return None
    start, stop = library.whole(entry_start), library.whole(entry_stop)
    info = library.ChunkInfo(
        ctypes.sizeof(library.ChunkInfo),
        library.encoded_or_none(dataset),
        library.encoded_or_none(file),
        library.encoded_or_none(tree),
        library.encoded_or_none(pass_),
        start,
        stop,
    )
    return _begin(ctypes.byref(info))


def reason_of(error) -> str:
    """`KeyError: 'Muon_pt'`. Never raises."""
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:
        text = ""
    return f"{name}: {text}" if text else name


def _decorated(function):
    # Cloudpickle sends the wrapper by value with a processor that is defined in __main__: so it holds no object of this
    # module, and on a worker without the package it is the function itself.
    @functools.wraps(function)
    def process(*arguments, **named):
        try:
            from crema_hep.chunk import run_as_chunk
        except ImportError:
            return function(*arguments, **named)
        return run_as_chunk(function, arguments, named)

    return process


def run_as_chunk(function, arguments, named):
    """Calls the function as a chunk of the events among its arguments (by the name `events`, else the last one)."""
    if not _enabled():
        return function(*arguments, **named)
    source = nanoevents.EventSource(named["events"] if "events" in named else arguments[-1] if arguments else None)
    guard = TrackMetrics(
        source.dataset, source.file, source.entry_start, source.entry_stop, tree=source.tree, events=source.events
    )
    with guard:
        if source.file_facts is not None:
            guard.set_file_info(*source.file_facts)
        try:
            return function(*arguments, **named)
        finally:
            guard.add_bytes_read(source.bytes_read())
            guard.add_columns(source.columns())
