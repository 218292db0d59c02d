"""Spans: phases of the program. Chunks carry the path of the innermost."""

from . import library

_begin = library.functions["crema_span_begin"]
_end = library.functions["crema_scope_end"]


class span:
    """A phase, for a `with` block. `preprocess`, `process`, `reduce`, `postprocess` are the phases of the summary.

    with span("postprocess"):
        ...
    """

    __slots__ = ("_name", "_scope")

    def __init__(self, name):
        self._name = name

    def __enter__(self):
        self._scope = _begin(library.encoded(self._name))
        return self

    def __exit__(self, kind, error, trace):
        _end(self._scope)
