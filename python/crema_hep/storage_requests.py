"""Requests to storage, by server and operation. They belong to the chunk that the thread works for."""

import time

from . import library
from .guard import pop, push, top

_record_request = library.functions["crema_record_request"]


def record_request(server, operation, seconds, stored=None, failed=False) -> None:
    """Records one request that took so many seconds, and moved `stored` bytes (None: not known). A chunk has 64 pairs
    of server and operation; the others are in one row, `(other)`. A request without a valid time is left out."""
    seconds = library.number(seconds)
    if seconds is not None and 0 <= seconds < 1 << 33:  # nanoseconds have to fit into 64 bits; NaN fails, too
        record_request_ns(server, operation, round(seconds * 1e9), stored, failed)


def record_request_ns(server, operation, nanoseconds, stored, failed) -> None:
    """The same, with a time in nanoseconds."""
    _record_request(
        library.encoded(server), library.encoded(operation), library.whole(stored), nanoseconds, 1 if failed else 0
    )


class track_request:
    """Times a `with` block as one request to storage. It belongs to the chunk that is open when the block ends. If an
    exception leaves the block, the request failed, and the exception is passed on.

        with track_request("root://eos.example.org", "readv") as request:
            request.add_bytes(len(file.readv(ranges)))
    """

    __slots__ = ("_server", "_operation")

    def __init__(self, server, operation):
        self._server = server
        self._operation = operation

    def add_bytes(self, stored) -> None:
        """Adds bytes that the request moved; ignores a value that is not a count."""
        request, stored = top(self), library.whole(stored)
        if request is not None and stored != library.UNKNOWN:
            request.stored = stored + (request.stored or 0)

    def fail(self) -> None:
        """Marks the request as failed."""
        request = top(self)
        if request is not None:
            request.failed = True

    def __enter__(self):
        push(self, _Open())
        return self

    def __exit__(self, kind, error, trace):
        stop = time.perf_counter_ns()
        request = pop(self)
        if request is not None:
            failed = request.failed or error is not None
            record_request_ns(self._server, self._operation, stop - request.start, request.stored, failed)


class _Open:
    """The data of a request that has not ended."""

    __slots__ = ("start", "stored", "failed")

    def __init__(self):
        self.stored = None
        self.failed = False
        self.start = time.perf_counter_ns()
