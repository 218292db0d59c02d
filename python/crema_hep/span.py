"""Spans: phases of the program. Chunks carry the path of the innermost."""

from . import library
from .guard import Scope

_begin = library.functions["crema_span_begin"]


class span(Scope):
    """A phase, for a `with` block. `preprocess`, `process`, `reduce`, `postprocess` are the phases of the summary.

    with span("postprocess"):
        ...
    """

    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = name
        self._open = 0

    def __enter__(self):
        self._enter(_begin, library.encoded(self._name))
        return self
