"""Chunks: one piece of the data, one record."""

import ctypes
import threading
import weakref

from . import library
from .dask_activities import sections_to_dask
from .guard import take_back
from .interruption import is_interruption
from .passes import pass_of

_begin = library.functions["crema_chunk_begin"]
_end = library.functions["crema_chunk_end"]
_fail = library.functions["crema_chunk_fail"]
_set_events = library.functions["crema_chunk_set_events"]
_add_bytes_read = library.functions["crema_chunk_add_bytes_read"]
_add_columns = library.functions["crema_chunk_add_columns"]
_set_file_info = library.functions["crema_chunk_set_file_info"]
_set_attribute = library.functions["crema_chunk_set_attribute"]
_get_handle = library.functions["crema_chunk_get_handle"]
_is_open = library.functions["crema_chunk_is_open"]
_enabled = library.functions["crema_enabled"]


class _OpenChunks(threading.local):
    """This thread's open chunks: (reference to the guard, handle), the innermost last."""

    def __init__(self):
        self.stack = []

    def innermost(self):
        """The guard; None if no chunk is open. Also ends chunks whose guard is gone: a signal handler may raise just as
        Python calls `__exit__`, which then does not run. (`__del__` would lose an exception that a handler raises in
        it.)"""
        while self.stack:
            guard, handle = self.stack[-1][0](), self.stack[-1][1]
            if guard is not None and (handle is None or _is_open(handle)):
                return guard
            self.stack.pop()
            if guard is None and handle is not None and _is_open(handle):
                _fail(handle, b"its guard went without an end")
                _end(handle)
        return None


_open_chunks = _OpenChunks()


class ChunkHandle:
    """Refers to an open chunk from another thread: see `track_helper`. After the end of the chunk it does nothing. A
    pickled handle refers to no chunk, because no other process has the chunk."""

    __slots__ = ("state", "generation", "section")

    def __init__(self, state=None, generation=0, section=None):
        self.state = state
        self.generation = generation
        self.section = section

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return ChunkHandle, ()


class Chunk:
    """The guard of a chunk, for a `with` block. Users write `TrackMetrics` (decoration.py), also a decorator."""

    def __init__(
        self, dataset=None, file=None, entry_start=None, entry_stop=None, *, tree=None, pass_=None, events=None
    ):
        self._facts = (dataset, file, tree, pass_, entry_start, entry_stop)
        self._events = events

    def __enter__(self):
        events, handle = library.UNKNOWN, None
        stack = _open_chunks.stack
        if stack:
            _open_chunks.innermost()
        if _enabled():
            info = ctypes.byref(_info(*self._facts))
            events = library.whole(self._events)
            try:
                handle = _begin(info)
            except BaseException:  # a signal handler raised it after the call, and the result is lost
                take_back()
                raise
        try:
            stack.append((weakref.ref(self), handle))
            if events != library.UNKNOWN:
                _set_events(handle, events)
        except BaseException:  # the block does not run
            self._pop()
            _fail(handle, b"interrupted as it began")
            _end(handle)
            raise
        return self

    def __exit__(self, kind, error, trace):
        try:
            stack = _open_chunks.stack
            if stack and stack[-1][0]() is self:
                handle = stack[-1][1]
                if handle is None:  # recording is off
                    del stack[-1]
                    return
            else:
                handle = self._handle()
            if handle is not None:
                if error is not None:
                    _fail(handle, library.encoded(reason_of(error)))
                _end(handle)
            if stack and stack[-1][0]() is self:
                stack.pop()
            else:
                self._pop()
        except BaseException:  # a signal handler raised it in this function
            handle = self._pop()
            if _is_open(handle):
                _end(handle)
            raise
        if handle is not None:
            sections_to_dask()

    def _pop(self):
        """Removes this guard's innermost chunk of this thread from the open ones. Returns its handle, or None."""
        stack = _open_chunks.stack
        for place in range(len(stack) - 1, -1, -1):
            if stack[place][0]() is self:
                return stack.pop(place)[1]
        return None

    def _handle(self):
        """The handle of this guard's innermost chunk that this thread has open; None if there is none."""
        stack = _open_chunks.stack
        if stack and stack[-1][0]() is self:
            return stack[-1][1]
        return next((handle for reference, handle in reversed(stack) if reference() is self), None)

    def set_events(self, events) -> None:
        """How many events the chunk processed. If it is not set, the number is unknown, not zero."""
        _set_events(self._handle(), library.whole(events))

    def add_bytes_read(self, stored, uncompressed=None) -> None:
        """Adds bytes that were read from files: as stored there, and decompressed."""
        stored = library.whole(stored)
        if stored != library.UNKNOWN:
            _add_bytes_read(self._handle(), stored, library.whole(uncompressed))

    def add_columns(self, names) -> None:
        """Adds names of columns (branches, fields) that were read; each counts once."""
        try:
            names = list(names)
        except Exception as error:
            if is_interruption(error):
                raise
            return
        try:
            text = "\0".join([*names, ""])
        except TypeError as error:  # a name that is not a text
            if is_interruption(error):
                raise
            text = "\0".join([*map(library.text_of, names), ""])
        text = text.encode("utf-8", "replace")
        _add_columns(self._handle(), text, len(text))

    def set_file_info(self, branches=None, bytes=None, compressed_bytes=None) -> None:
        """The contents of the chunk's whole file: number of columns, bytes decompressed, bytes as stored. Written once
        per file."""
        _set_file_info(self._handle(), library.whole(branches), library.whole(bytes), library.whole(compressed_bytes))

    def set_attribute(self, name, value) -> None:
        """A note on the chunk; the last value of a name wins."""
        _set_attribute(self._handle(), library.encoded(name), library.encoded(value))

    def fail(self, reason) -> None:
        """Makes this a failed attempt, for this reason."""
        _fail(self._handle(), library.encoded(reason))

    def handle(self) -> ChunkHandle:
        """The handle for helper threads. Call this on the chunk's own thread."""
        given = _get_handle(self._handle())
        return ChunkHandle() if given is None else ChunkHandle(given.state, given.generation, given.section)

    def __reduce_ex__(self, protocol):
        if self._handle() is not None:
            raise TypeError("an open chunk belongs to its thread: give other threads its handle()")
        return super().__reduce_ex__(protocol)


def current_chunk():
    """The innermost chunk that Python code has open on this thread, or None."""
    return _open_chunks.innermost()


def _info(dataset, file, tree, pass_, entry_start, entry_stop):
    if pass_ is None:
        pass_ = pass_of()
    return library.ChunkInfo(
        ctypes.sizeof(library.ChunkInfo),
        library.encoded_or_none(dataset),
        library.encoded_or_none(file),
        library.encoded_or_none(tree),
        library.encoded_or_none(pass_),
        library.whole(entry_start),
        library.whole(entry_stop),
    )


def reason_of(error) -> str:
    """`KeyError: 'Muon_pt'`."""
    name = library.text_of(type.__dict__["__name__"].__get__(type(error)))
    text = library.text_of(error)
    return f"{name}: {text}" if text and text != "?" else name
