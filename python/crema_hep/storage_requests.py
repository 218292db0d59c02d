"""What was asked of storage, by server and operation. It belongs to the chunk that the thread works for."""

import time

from . import library

_record_request = library.functions["crema_record_request"]


def record_request(server, operation, seconds, stored=None, failed=False) -> None:
    """One request that took so many seconds, and moved `stored` bytes (None: not known). A chunk tells 64 pairs of
    server and operation apart; the others are in one row, `(other)`. What is no time is left out."""
    seconds = library.number(seconds)
    if seconds is not None and 0 <= seconds < 1 << 33:  # its nanoseconds have 64 bits; NaN has none
        tell_request(server, operation, round(seconds * 1e9), stored, failed)


def tell_request(server, operation, nanoseconds, stored, failed) -> None:
    """The same, of a time that was measured in nanoseconds."""
    _record_request(
        library.encoded(server), library.encoded(operation), library.whole(stored), nanoseconds, 1 if failed else 0
    )


class track_request:
    """Times a `with` block as one request to storage. It belongs to the chunk that is open where the block ends. Left
    by an exception, the request failed, and the exception goes on.

        with track_request("root://eos.example.org", "readv") as request:
            request.add_bytes(len(file.readv(ranges)))
    """

    __slots__ = ("_server", "_operation", "_bytes", "_starts", "_failed")

    def __init__(self, server, operation):
        self._server = server
        self._operation = operation
        self._starts = []
        self._bytes = None
        self._failed = False

    def add_bytes(self, stored) -> None:
        """Bytes that it moved; what is no count is left out."""
        stored = library.whole(stored)
        if stored != library.UNKNOWN:
            self._bytes = (self._bytes or 0) + stored

    def fail(self) -> None:
        """It failed."""
        self._failed = True

    def __enter__(self):
        self._bytes, self._failed = None, False
        self._starts.append(time.perf_counter_ns())
        return self

    def __exit__(self, kind, error, trace):
        if self._starts:
            elapsed = time.perf_counter_ns() - self._starts.pop()
            tell_request(self._server, self._operation, elapsed, self._bytes, self._failed or error is not None)
