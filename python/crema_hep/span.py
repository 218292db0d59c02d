"""Spans: phases of the program. Chunks carry the path of the innermost."""

import contextlib
import sys

from . import library
from .chunk import current_chunk
from .guard import Scope
from .interruption import is_interruption
from .passes import ANNOTATION, open_path, open_spans

_begin = library.functions["crema_span_begin"]
_annotations = []  # (span, what annotates Dask's tasks while it is open)
_measurements = 0  # measurements of Dask clusters by this process


def annotate_tasks(begin: bool) -> None:
    """While this process measures a Dask cluster, tasks that are submitted inside a span carry its path."""
    global _measurements
    _measurements += 1 if begin else -1


class span(Scope):
    """A phase, for a `with` block. `preprocess`, `process`, `reduce`, `postprocess` are the phases of the summary.

    with span("postprocess"):
        ...

    While crema measures a Dask cluster, tasks that its client submits inside the block belong to this phase, too.
    """

    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = name
        self._open = 0

    def __enter__(self):
        self._enter(_begin, library.encoded(self._name))
        if current_chunk() is None:
            open_spans.append((self, library.text_of(self._name)))
        if _measurements > 0:
            self._annotate()
        return self

    def _annotate(self) -> None:
        try:
            annotation = sys.modules["dask"].annotate(**{ANNOTATION: open_path()})
            annotation.__enter__()
            _annotations.append((self, annotation))
        except Exception as error:
            if is_interruption(error):
                raise

    def __exit__(self, kind, error, trace):
        _take(open_spans, self)
        taken = _take(_annotations, self)
        if taken is not None:
            with contextlib.suppress(ValueError, RuntimeError):  # it was entered in another context
                taken[1].__exit__(None, None, None)
        super().__exit__(kind, error, trace)


def _take(entries, owner):
    """Removes and returns the owner's innermost entry; None if there is none. Other threads may do so at the same
    time."""
    for entry in reversed(entries.copy()):
        if entry[0] is owner:
            with contextlib.suppress(ValueError):
                entries.remove(entry)
                return entry
    return None
