"""Spans: phases of the program. Chunks carry the path of the innermost."""

import contextlib
import sys
import threading

from . import library
from .chunk import current_chunk
from .guard import Guard, end, is_open, take_back
from .interruption import is_interruption
from .passes import ANNOTATION, open_path, open_spans

_begin = library.functions["crema_span_begin"]
_blocks = []  # those of this process that are open, the innermost last
_measurements = 0  # measurements of Dask clusters by this process


def annotate_tasks(begin: bool) -> None:
    """While this process measures a Dask cluster, tasks that are submitted inside a span carry its path."""
    global _measurements
    _measurements += 1 if begin else -1


class _Block:
    """One `with` block of a span."""

    __slots__ = ("span", "thread", "handle", "annotation")

    def __init__(self, owner):
        self.span = owner
        self.thread = threading.get_ident()
        self.handle = False  # not begun
        self.annotation = None  # what annotates Dask's tasks

    def annotate(self) -> None:
        try:
            self.annotation = sys.modules["dask"].annotate(**{ANNOTATION: open_path()})
            self.annotation.__enter__()
        except Exception as error:
            if is_interruption(error):
                raise

    def forget(self) -> None:
        """Removes what Python keeps of the block. Each step may have been done already."""
        _remove(_blocks, lambda block: block is self)
        _remove(open_spans, lambda entry: entry[0] is self)
        if self.annotation is not None:
            with contextlib.suppress(ValueError, RuntimeError):  # it was entered in another context, or not at all
                self.annotation.__exit__(None, None, None)
            self.annotation = None


class span(Guard):
    """A phase, for a `with` block. `preprocess`, `process`, `reduce`, `postprocess` are the phases of the summary.

    with span("postprocess"):
        ...

    While crema measures a Dask cluster, tasks that its client submits inside the block belong to this phase, too.
    """

    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = name
        self._open = 0

    # Nothing else would end a span that is left open, and later chunks would carry its path. So an exception that a
    # signal handler raises in one of these two methods ends the block's span.

    def __enter__(self):
        name = library.text_of(self._name)
        encoded = library.encoded(name)
        block = _Block(self)
        try:
            block.handle = _begin(encoded)
            _blocks.append(block)
            if current_chunk() is None:
                open_spans.append((block, name))
            if _measurements > 0:
                block.annotate()
            return self
        except BaseException:
            if block.handle is False:  # perhaps after the call, and the result is lost
                take_back()
            elif is_open(block.handle):
                end(block.handle)
            block.forget()
            raise

    def __exit__(self, kind, error, trace):
        block = None
        try:
            block = _innermost(self)
            if block is not None:
                block.forget()
                end(block.handle)
        except BaseException:
            block = _innermost(self) if block is None else block
            if block is not None:
                block.forget()
                if is_open(block.handle):
                    end(block.handle)
            raise


def _innermost(owner):
    """The innermost open block of the span: this thread's, or else another's; None if there is none."""
    thread = threading.get_ident()
    found = None
    for block in reversed(_blocks.copy()):  # no generator: it loses an exception that strikes as it is closed
        if block.span is owner:
            if block.thread == thread:
                return block
            if found is None:
                found = block
    return found


def _remove(entries, is_meant) -> None:
    """Removes the entry if it is there. Other threads may remove theirs at the same time."""
    for entry in reversed(entries.copy()):
        if is_meant(entry):
            with contextlib.suppress(ValueError):
                entries.remove(entry)
