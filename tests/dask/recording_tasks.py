"""Tasks that record chunks through libcrema.so.1, as a native kernel would. Imported by the workers."""

import ctypes
import functools
import os
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "sdk/c_api"))

import c_declarations  # noqa: E402

_ChunkInfo = c_declarations.TYPES["crema_chunk_info"]


@functools.cache
def crema() -> ctypes.CDLL:
    """Loads the library once per process, because an object of ctypes cannot be pickled."""
    return c_declarations.load(os.environ["CREMA_TEST_LIBRARY"])


def burn(seconds: float) -> None:
    """Uses this thread's CPU for so long."""
    stop = time.thread_time() + seconds
    while time.thread_time() < stop:
        pass


def chunk_of(number: int, work, seconds: float):
    """A task that is one chunk: `work(seconds)`."""
    library = crema()
    info = _ChunkInfo(ctypes.sizeof(_ChunkInfo), b"ttbar", b"events.root", b"Events", None, number, number + 1)
    chunk = library.crema_chunk_begin(ctypes.byref(info))
    work(seconds)
    library.crema_chunk_set_events(chunk, 1)
    library.crema_chunk_end(chunk)


def record_chunk(number: int, seconds: float = 0.002, around: float = 0.0, dataset: str = "ttbar", fail: bool = False):
    """A task: `around` seconds of sleep before the chunk, then the chunk, half of it on the CPU. The chunk notes its
    task, so that tests can check the join."""
    from distributed import get_worker

    library = crema()
    time.sleep(around)
    info = _ChunkInfo(
        ctypes.sizeof(_ChunkInfo), dataset.encode(), b"events.root", b"Events", None, number * 100, number * 100 + 100
    )
    chunk = library.crema_chunk_begin(ctypes.byref(info))
    try:
        library.crema_set_attribute(b"task", str(get_worker().get_current_task()).encode())
        section = library.crema_section_enter(b"select")
        burn(seconds / 2)
        library.crema_section_exit(section)
        time.sleep(seconds / 2)
        library.crema_chunk_set_events(chunk, 100)
        if fail:
            library.crema_chunk_fail(chunk, b"ValueError: on purpose")
    finally:
        library.crema_chunk_end(chunk)
    if fail:
        raise ValueError("on purpose")
    return number


def guarded_chunk(number: int, seconds: float = 0.01, fail: bool = False) -> float:
    """A task whose chunk uses Python's guards, with a helper thread. Returns the CPU seconds that it took here."""
    import crema_hep

    def help_chunk(handle):
        with crema_hep.track_helper(handle), crema_hep.track_section("clusters"):
            burn(seconds / 4)

    begin = time.thread_time()
    with crema_hep.TrackMetrics("ttbar", "events.root", number * 100, number * 100 + 100, events=100) as chunk:
        with crema_hep.track_section("select"):
            burn(seconds / 4)
            with crema_hep.track_section("jets/b"):
                burn(seconds / 4)
        helper = threading.Thread(target=help_chunk, args=(chunk.handle(),))
        helper.start()
        helper.join()
        if fail:
            raise ValueError("on purpose")
    return time.thread_time() - begin


def record_alone(number: int) -> int:
    """Records a chunk in a process that need not be a worker. Returns its process id."""
    import crema_hep

    with crema_hep.TrackMetrics("ttbar", "events.root", number * 10, number * 10 + 10, events=10):
        burn(0.05)
    return os.getpid()


class Events(list):
    """The part of Coffea's events that the decorator looks at."""

    def __init__(self, number):
        super().__init__(range(10))
        self.metadata = {
            "dataset": "ttbar",
            "filename": "events.root",
            "treename": "Events",
            "entrystart": number * 10,
            "entrystop": number * 10 + 10,
        }

    def __reduce__(self):
        return Events, (self.metadata["entrystart"] // 10,)


def weigh(events) -> int:
    return decorated(weigh_undecorated)(events)


def analyse(events) -> int:
    return decorated(analyse_undecorated)(events)


def weigh_undecorated(events) -> int:
    return len(events)


def analyse_undecorated(events) -> int:
    return len(events)


def decorated(function):
    import crema_hep

    return crema_hep.track_metrics(function)


def chunk_of_events(number: int) -> int:
    import crema_hep

    with crema_hep.TrackMetrics("ttbar", "events.root", number * 10, number * 10 + 10, events=10):
        burn(0.002)
    return number


def native_chunk(number: int) -> float:
    """A task whose chunk is recorded by native code; its sections are passed to Dask afterwards."""
    import crema_hep

    begin = time.thread_time()
    record_chunk(number)
    crema_hep.sections_to_dask()
    crema_hep.sections_to_dask()
    return time.thread_time() - begin


def plain(number: int, seconds: float = 0.005) -> int:
    """A task without a chunk."""
    burn(seconds)
    return number


class Keeping:
    """An object with its own guards, which a worker's threads share."""

    def __init__(self):
        import crema_hep

        self.guards = [crema_hep.meter("load"), crema_hep.track_memory("load"), crema_hep.track_section("load")]

    def process(self, number):
        import crema_hep

        with crema_hep.TrackMetrics("ttbar", "events.root", number * 100, number * 100 + 100, events=100):
            for guard in self.guards:
                with guard, guard:
                    time.sleep(0.0005)
        return number


def keeping(number: int, shared) -> int:
    return shared.process(number)
