"""Helper threads: threads that work for a chunk that another thread has open."""

from . import library

_begin = library.functions["crema_helper_begin"]
_end = library.functions["crema_scope_end"]


class track_helper:
    """From here to the end of the `with` block, this thread works for the chunk of the handle.

        handle = chunk.handle()  # on the chunk's thread; in a processor: current_chunk().handle()
        def work():
            with track_helper(handle), track_section("anti-kt"):
                ...

    Its CPU time, sections and metrics are the chunk's; its sections stand below the one in which the handle was taken.
    End it before the chunk ends. On the chunk's own thread it does nothing. About 4 us; never raises.
    """

    __slots__ = ("_handle", "_scope")

    def __init__(self, handle):
        self._handle = handle

    def __enter__(self):
        handle = self._handle
        state = getattr(handle, "state", None)
        self._scope = None
        if state is not None:
            self._scope = _begin(library.Handle(state, handle.generation, handle.section))
        return self

    def __exit__(self, kind, error, trace):
        _end(self._scope)
