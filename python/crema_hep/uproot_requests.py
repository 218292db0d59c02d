"""Measures the requests of uproot and fsspec to storage while a decorated chunk is open, with CREMA_REQUESTS=1.

It replaces methods of uproot's sources and of fsspec's files, and restores them afterwards. If a source uses fsspec,
only the request of the source counts.

A call of a source's `chunk` is a request `read`: it lasts from the call until the waiting thread has the bytes. A call
of `chunks` is a request `readv`: it lasts from the call until the last range is there. Other threads fill the ranges,
so they only note the times, and the chunk's own thread records the requests. Requests that are still open when the
function ends are not recorded.
"""

import collections
import functools
import os
import sys
import threading
import time
import urllib.parse

from . import fsspec_requests
from .interruption import is_interruption
from .storage_requests import record_request_ns

_MODULES = ("chunk", "file", "fsspec", "http", "xrootd", "object", "s3")
_MEASURED_PACKAGES = {"uproot", "fsspec"}
_lock = threading.RLock()  # a signal handler may begin a chunk, too
_open = 0  # number of chunks of all threads
_measured = []  # (class, name, the original method)


class _Asked(threading.local):
    requests = None  # a deque, while a decorated chunk is open on this thread


_asked = _Asked()


def _after_fork():
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


@functools.lru_cache(maxsize=1000)
def server_of(path: str) -> str:
    """The server of an address (`root://eos.example.org`), or the mount of a file."""
    address = urllib.parse.urlsplit(path)
    if address.netloc:
        return f"{address.scheme}://{address.netloc}"  # the SDK removes a user's name and password
    place = os.path.abspath(address.path)
    while not os.path.ismount(place):
        place = os.path.dirname(place)
    return place


def _server(source):
    for name in ("_file_path_orig", "_file_path", "file_path", "full_name", "path"):
        path = getattr(source, name, None)
        if isinstance(path, str):
            return server_of(path)
    return None


def _unless_it_fails(function, *arguments):
    """Calls the function. If it raises an error of its own (for an invalid address, for example), returns None, and
    reading goes on."""
    try:
        return function(*arguments)
    except Exception as error:
        if is_interruption(error):
            raise
        return None


def _of(stand_in, what, name):
    """Looks up an attribute of the wrapped object, which a copy that is being made does not have yet."""
    if what not in vars(stand_in):
        raise AttributeError(name)
    return getattr(vars(stand_in)[what], name)


class _Notifications:
    """Wraps a queue of uproot's, and notes when the last range came."""

    def __init__(self, queue, ranges, note):
        self._queue = queue
        self._missing = ranges
        self._failed = False
        self._note = note
        self._lock = threading.Lock()

    def put(self, chunk, *arguments, **named):
        with self._lock:
            self._missing -= 1
            self._failed = self._failed or _has_failed(chunk)
            if self._missing == 0:
                self._note(self._failed)
        return self._queue.put(chunk, *arguments, **named)

    def __getattr__(self, name):
        return _of(self, "_queue", name)


def _has_failed(chunk):
    future = getattr(chunk, "_future", None)
    if getattr(future, "_excinfo", None) is not None:
        return True
    try:
        return future.done() and future.exception() is not None
    except Exception as error:  # a future of another kind
        if is_interruption(error):
            raise
        return False


class _Waited:
    """Wraps a future of uproot's, and notes when the waiting thread has its bytes or its error."""

    def __init__(self, future, note):
        self._future = future
        self._note = note

    def result(self, timeout=None):
        failed = True
        try:
            result = self._future.result(timeout)
            failed = False
            return result
        finally:
            note, self._note = self._note, None
            if note is not None:
                note(failed)

    def __getattr__(self, name):
        return _of(self, "_future", name)


def _measuring_chunk(original):
    @functools.wraps(original)
    def chunk(self, start, stop):
        requests = _asked.requests
        if requests is None:
            return original(self, start, stop)
        begin = time.perf_counter_ns()

        def note(failed):
            requests.append((self, "read", time.perf_counter_ns() - begin, stop - start, failed))

        _asked.requests = None  # a source may call another source
        try:
            result = original(self, start, stop)
        except Exception:
            note(True)
            raise
        finally:
            _asked.requests = requests
        future = getattr(result, "_future", None)
        if future is None or type(future).__name__ == "TrivialFuture":  # the bytes are there
            note(False)
        else:
            result._future = _Waited(future, note)
        return result

    return chunk


def _measuring_chunks(original):
    @functools.wraps(original)
    def chunks(self, ranges, notifications):
        requests = _asked.requests
        if requests is None or not ranges:
            return original(self, ranges, notifications)
        stored, begin = sum(stop - start for start, stop in ranges), time.perf_counter_ns()

        def note(failed):
            requests.append((self, "readv", time.perf_counter_ns() - begin, stored, failed))

        _asked.requests = None
        try:
            return original(self, ranges, _Notifications(notifications, len(ranges), note))
        except Exception:
            note(True)
            raise
        finally:
            _asked.requests = requests

    return chunks


def _measuring_fetch(original):
    """Measures a file of fsspec's: its thread waits for the bytes, so it records the request itself."""

    @functools.wraps(original)
    def fetch(self, *arguments, **named):
        requests = _asked.requests
        if requests is None:
            return original(self, *arguments, **named)
        failed, stored, begin = True, None, time.perf_counter_ns()
        _asked.requests = None  # a file may wrap another file
        try:
            result = original(self, *arguments, **named)
            failed, stored = False, _unless_it_fails(len, result)
            return result
        finally:
            stop = time.perf_counter_ns()
            _asked.requests = requests
            server = _unless_it_fails(_server, self) or type(self).__name__
            record_request_ns(server, "read", stop - begin, stored, failed)

    return fetch


_WRAPPERS = {"chunk": _measuring_chunk, "chunks": _measuring_chunks}


def _measure():
    for module in _MODULES:
        for kind in list(getattr(sys.modules.get(f"uproot.source.{module}"), "__dict__", {}).values()):
            if not isinstance(kind, type) or kind.__module__ != f"uproot.source.{module}":
                continue
            for name, wrapper in _WRAPPERS.items():
                original = vars(kind).get(name)
                if original is not None and not getattr(original, "__isabstractmethod__", False):
                    _replace(kind, name, wrapper)
    for kind, name in list(fsspec_requests.methods()):
        _replace(kind, name, _measuring_fetch)


def _replace(kind, name, wrapper):
    original = vars(kind)[name]
    _measured.append((kind, name, original))
    setattr(kind, name, wrapper(original))


def _restore():
    while _measured:
        kind, name, original = _measured.pop()
        if getattr(vars(kind).get(name), "__wrapped__", None) is original:  # only if nobody else replaced it
            setattr(kind, name, original)


class measured_uproot:
    """A `with` block around a chunk's work, inside the chunk. Records the requests when the block ends."""

    def __enter__(self):
        global _open
        self._outer = _asked.requests
        self._is_counted = os.environ.get("CREMA_REQUESTS") == "1" and not _MEASURED_PACKAGES.isdisjoint(sys.modules)
        if self._is_counted:
            with _lock:
                if not _measured:
                    _unless_it_fails(_measure)
                _open += 1
            _asked.requests = collections.deque()
        return self

    def __exit__(self, kind, error, trace):
        global _open
        if not self._is_counted:
            return
        requests, _asked.requests = _asked.requests, self._outer
        with _lock:
            _open -= 1
            if _open == 0:
                _restore()
        for source, *request in list(requests):
            server = _unless_it_fails(_server, source) or type(source).__name__
            record_request_ns(server, *request)
