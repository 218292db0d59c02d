"""Helper threads: they work for a chunk that another thread has open."""

from . import library
from .chunk import ChunkHandle
from .guard import Scope

_begin = library.functions["crema_helper_begin"]
_NO_CHUNK = library.Handle()


class track_helper(Scope):
    """In this `with` block, the thread works for the chunk of the handle.

        handle = chunk.handle()  # on the chunk's thread; in a processor: current_chunk().handle()
        def work():
            with track_helper(handle), track_section("anti-kt"):
                ...

    Its CPU time, sections and metrics belong to the chunk. The paths of its sections begin with the section in which
    the handle was taken. End it before the chunk ends. On the chunk's own thread it does nothing. About 4 us; never
    raises.
    """

    __slots__ = ("_handle",)

    def __init__(self, handle):
        self._handle = handle
        self._open = 0

    def __enter__(self):
        handle = self._handle
        known = type(handle) is ChunkHandle and handle.state is not None
        self._enter(_begin, library.Handle(handle.state, handle.generation, handle.section) if known else _NO_CHUNK)
        return self
