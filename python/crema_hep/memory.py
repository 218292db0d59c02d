"""Memory sections: how the resident set of the process changes over a part of the work."""

from . import library

_begin = library.functions["crema_memory_begin"]
_end = library.functions["crema_scope_end"]


class track_memory:
    """Records the change of the process's resident set over a `with` block, as a memory section of the chunk.

        with track_memory(self, "jets"):  # or track_memory("jets")
            jets = cluster(events)

    It is the process's: other threads are in it, and memory that is taken again from Python's own pool does not show.
    About 4 us; never raises.
    """

    __slots__ = ("_name", "_scope")

    def __init__(self, processor, name=None):
        self._name = processor if name is None else name

    def __enter__(self):
        self._scope = _begin(library.encoded(self._name))
        return self

    def __exit__(self, kind, error, trace):
        _end(self._scope)
