"""Memory sections: how the resident set of the process changes over a part of the work."""

from . import library
from .guard import Scope

_begin = library.functions["crema_memory_begin"]


class track_memory(Scope):
    """Records the change of the process's resident set over a `with` block, as a memory section of the chunk.

        with track_memory(self, "jets"):  # or track_memory("jets")
            jets = cluster(events)

    The resident set is that of the process, so it includes other threads. Memory that Python takes again from its own
    pool does not show. About 4 us; never raises.
    """

    __slots__ = ("_name",)

    def __init__(self, processor, name=None):
        self._name = processor if name is None else name
        self._open = 0

    def __enter__(self):
        self._enter(_begin, library.encoded(self._name))
        return self
