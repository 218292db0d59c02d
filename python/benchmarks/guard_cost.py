"""Measures what a guard costs, and the least that its calls cost in the same run, so that a busy machine matters less.

    CREMA_LIBRARY=bazel-bin/sdk/c_api/libcrema.so.1 PYTHONPATH=python python3 python/benchmarks/guard_cost.py

The limit of a section is a `with` block of a class that does nothing, and the C API's two calls. The limit of a chunk
is its record written through the C API. The chunk is one of a file of 947 branches, 20 of which are read. The limit of
a chunk whose ten sections are passed on, as for Dask's own view, is the chunk alone. "Cold" is the median CPU time
after the caches were emptied, as an analysis does between its chunks; most of it is the kernel's.
"""

import ctypes
import platform
import statistics
import tempfile
import time
import timeit

import crema_hep as crema
from crema_hep import dask_activities, decoration, library

_BRANCHES = 947
_READ = 20
_CACHE_BYTES = 1 << 26


class _Empty:
    __slots__ = ("_name",)

    def __init__(self, processor, name=None):
        self._name = processor if name is None else name

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        pass


class _Branch:
    branches = ()


class _Tree:
    branches = [_Branch() for _ in range(_BRANCHES)]
    uncompressed_bytes = compressed_bytes = 1_000_000


class _Access:
    def __init__(self, branch):
        self.branch = branch


class _Source:
    num_requested_bytes = 0


class _File(dict):
    source = _Source()


class _Factory:
    file_handle = _File(Events=_Tree())
    access_log = []


class _Events:
    """The part of NanoEvents that the decorator sees."""

    metadata = {
        "dataset": "ttbar",
        "filename": "events.root",
        "treename": "Events",
        "entrystart": 0,
        "entrystop": 1000,
        "fileuuid": "d48060b2",
    }
    attrs = {"@events_factory": _Factory()}


def _best_ns(function, number, repeats=25) -> float:
    return min(timeit.repeat(function, number=number, repeat=repeats)) / number * 1e9


def _cold_ns(function, repeats=200) -> float:
    costs, memory = [], bytearray(_CACHE_BYTES)
    for _ in range(repeats):
        memory = bytearray(memory)
        begin = time.thread_time_ns()
        function()
        costs.append(time.thread_time_ns() - begin)
    return statistics.median(costs)


def _section():
    with crema.track_section("select"):
        pass


def _empty_block():
    with _Empty("select"):
        pass


def _section_calls():
    library.functions["crema_section_close"](library.functions["crema_section_open"](b"select"))


_read = [_Access(f"Jet_{number}") for number in range(_READ)]


def _process(events):
    events.attrs["@events_factory"].access_log.extend(_read)


_tracked = crema.track_metrics(_process)


def _chunk():
    del _Factory.access_log[:]
    _tracked(_Events)


_info = library.ChunkInfo(ctypes.sizeof(library.ChunkInfo), b"ttbar", b"events.root", b"Events", None, 0, 1000)
_columns = b"".join(b"Jet_%d\0" % number for number in range(_READ))


def _chunk_calls():
    begun = library.functions["crema_chunk_begin"](ctypes.byref(_info))
    library.functions["crema_chunk_add_columns"](begun, _columns, len(_columns))
    library.functions["crema_chunk_end"](begun)


def _chunk_of_sections():
    with crema.TrackMetrics("ttbar", "events.root", 0, 1000):
        for name in _sections:
            with crema.track_section(name):
                pass


def _chunk_handed_out():
    _chunk_of_sections()
    rows = dask_activities.sections_of_last_chunk()
    assert len(rows) == len(_sections) + 1


_sections = [f"section {number}" for number in range(10)]


def _row(what, cost_ns, limit_ns, target_us=None):
    print(
        f"{what:24} {cost_ns / 1000:9.3f} us   limit {limit_ns / 1000:9.3f} us   ratio {cost_ns / limit_ns:5.2f}",
        end="",
    )
    if target_us is not None:
        print(f"   target {target_us} us: {'ok' if cost_ns <= target_us * 1000 else 'ABOVE'}", end="")
    print()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        off_ns = _best_ns(_section, 20_000)
        off_limit_ns = _best_ns(_empty_block, 20_000)
        if not crema.enable(folder):
            raise SystemExit("guard_cost: recording cannot be switched on: CREMA_LIBRARY names the library")
        print(f"Python {platform.python_version()}, crema {crema.recorder.version()}")
        _row("section, recording off", off_ns, off_limit_ns, 0.5)
        with crema.TrackMetrics("outer"):
            limit_ns = _best_ns(_empty_block, 20_000) + _best_ns(_section_calls, 20_000)
            _row("section", _best_ns(_section, 20_000), limit_ns, 0.5)
        decoration.run_as_chunk(_process, (_Events,), {})  # the file's facts, once per file
        _row(f"chunk of {_BRANCHES} branches", _best_ns(_chunk, 500), _best_ns(_chunk_calls, 500), 50)
        _row("the same, cold", _cold_ns(_chunk), _cold_ns(_chunk_calls))
        _row("sections handed out", _best_ns(_chunk_handed_out, 500), _best_ns(_chunk_of_sections, 500), 50)
        crema.disable()


if __name__ == "__main__":
    main()
