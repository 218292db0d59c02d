"""Spans: phases of the program. Chunks carry the path of the innermost."""

import contextlib
import sys

from . import library
from .guard import Scope
from .interruption import is_interruption
from .passes import ANNOTATION, open_spans

_begin = library.functions["crema_span_begin"]
_annotations = []  # (span, what annotates Dask's tasks while it is open)
_measurements = 0  # of Dask clusters, by this process


def annotate_tasks(begin: bool) -> None:
    """Tasks that are submitted inside a span carry its path, while this process measures a Dask cluster."""
    global _measurements
    _measurements += 1 if begin else -1


class span(Scope):
    """A phase, for a `with` block. `preprocess`, `process`, `reduce`, `postprocess` are the phases of the summary.

    with span("postprocess"):
        ...

    On the client of a Dask cluster that is measured, tasks that are submitted inside it belong to this phase too.
    """

    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = name
        self._open = 0

    def __enter__(self):
        self._enter(_begin, library.encoded(self._name))
        open_spans.append(library.text_of(self._name))
        if _measurements > 0:
            self._annotate()
        return self

    def _annotate(self) -> None:
        try:
            annotation = sys.modules["dask"].annotate(**{ANNOTATION: "/".join(open_spans)})
            annotation.__enter__()
            _annotations.append((self, annotation))
        except Exception as error:
            if is_interruption(error):
                raise

    def __exit__(self, kind, error, trace):
        name = library.text_of(self._name)
        for place in range(len(open_spans) - 1, -1, -1):
            if open_spans[place] == name:
                del open_spans[place]
                break
        for place in range(len(_annotations) - 1, -1, -1):
            if _annotations[place][0] is self:
                with contextlib.suppress(ValueError, RuntimeError):  # it was entered in another context
                    _annotations.pop(place)[1].__exit__(None, None, None)
                break
        super().__exit__(kind, error, trace)
