"""Records which functions a section spends its CPU time in, with CREMA_STACKS=HZ (docs/inside.md).

HZ times a second, at random moments, a thread looks at the threads that have a chunk open. If one of them is on a CPU,
it counts that thread's Python stack, by dataset and section: once for each 1/HZ seconds of CPU time since it last
counted. It writes the counts each ten seconds, and when the process ends. If nobody asks for stacks, no method is
changed and no thread runs.
"""

import atexit
import functools
import gc
import json
import math
import os
import random
import sys
import threading
import time

from . import library, recorder
from .decoration import TrackMetrics, run_as_chunk
from .interruption import is_interruption
from .section import track_cpu_section, track_section

_write = library.functions["crema_write_stacks"]
_enabled = library.functions["crema_enabled"]

LEAST_HERTZ, MOST_HERTZ = 1, 1000
MOST_STACKS = 10_000  # seconds between two lines
MOST_FRAMES = 128  # the innermost functions of a stack that are kept
MOST_NAME = 256  # characters of a function's name
MOST_PATH = 4096  # characters of its file, and of a dataset
MOST_LINE_BYTES = 500_000  # bytes: half of a line that readers accept
WRITE_SECONDS = 10
LOOK_TWICE_SECONDS = 20e-6
PAUSE_SECONDS = 1
OTHER = "(other)"
CUT_FRAMES, OTHER_STACKS = 1, 2  # in place of functions, which are known by their code's id
_NAMES = {CUT_FRAMES: "(outer frames)", OTHER_STACKS: OTHER}


def asked_hertz() -> float:
    """The rate in CREMA_STACKS. 0: it is not set, or it is not a rate."""
    try:
        hertz = float(os.environ.get("CREMA_STACKS") or 0)
    except ValueError:
        return 0
    return min(max(hertz, LEAST_HERTZ), MOST_HERTZ) if math.isfinite(hertz) and hertz > 0 else 0


class _Thread:
    """The guards that a Python thread has open."""

    __slots__ = ("clock", "cpu_ns", "due_ns", "chunks", "names")

    def __init__(self):
        self.clock = time.pthread_getcpuclockid(threading.get_ident())  # valid after the thread's end, too
        self.cpu_ns = time.clock_gettime_ns(self.clock)
        self.due_ns = 0  # CPU time that no sample stands for yet
        self.chunks = []  # (guard, dataset, sections open around it, frames below it), the innermost last
        self.names = []  # (guard, name) of open sections


def _frames_of_threads() -> dict:
    """The innermost frame of each thread. No garbage is collected meanwhile: before 3.12, CPython holds the lock of its
    list of threads then, and a finalizer that lets go of the interpreter's lock would lock up the process. If another
    thread switches the collector meanwhile, it may stay as this one left it; Python offers nothing better."""
    if sys.version_info >= (3, 12) or not gc.isenabled():
        return sys._current_frames()
    gc.disable()
    try:
        return sys._current_frames()
    finally:
        gc.enable()


class _Counts:
    """Samples since the line before."""

    def __init__(self):
        self.stacks = {}  # [samples, their squares] by (dataset, section, ids of codes, the innermost first)
        self.codes = {}  # code objects by id, unique while they are kept here. Their hash takes microseconds

    def add(self, dataset, section, codes, samples) -> None:
        ids = tuple(code if type(code) is int else id(code) for code in codes)
        row = self.stacks.get((dataset, section, ids))
        if row is None:
            if len(self.stacks) >= 2 * MOST_STACKS:  # names of sections may contain counters
                dataset, section = None, (OTHER,)
            if len(self.stacks) >= MOST_STACKS:
                ids = (OTHER_STACKS,)
            else:
                self.codes.update(zip(ids, codes))
            row = self.stacks.setdefault((dataset, section, ids), [0, 0])
        row[0] += samples
        row[1] += samples * samples


class _Sampler:
    """The sampling thread, and its counts."""

    def __init__(self):
        self.threads = {}  # threads by ident, if they have a chunk open
        self.hertz = 0
        self.lock = threading.RLock()  # of `counts`, which a signal handler may write, too
        self.counts = _Counts()
        self.stop = threading.Event()
        self.runner = None
        self.cost_ns = 0  # seconds of CPU time since the line before

    def enter(self, guard, depth) -> None:
        ident = threading.get_ident()
        thread = self.threads.get(ident)
        if thread is None:
            thread = self.threads[ident] = _Thread()
        dataset = guard._facts[0]
        dataset = None if dataset is None else _clean(dataset, MOST_PATH)
        thread.chunks.append((guard, dataset, len(thread.names), depth))
        if self.runner is None:
            self.begin()

    def leave(self, guard) -> None:
        ident = threading.get_ident()
        thread = self.threads.get(ident)
        if thread is None:
            return
        for place in range(len(thread.chunks) - 1, -1, -1):
            if thread.chunks[place][0] is guard:
                del thread.names[thread.chunks[place][2] :], thread.chunks[place:]
                break
        if not thread.chunks:
            del self.threads[ident]

    def leave_section(self, guard) -> None:
        thread = self.threads.get(threading.get_ident())
        if thread is None:
            return
        names = thread.names
        for place in range(len(names) - 1, -1, -1):
            if names[place][0] is guard:
                del names[place:]
                return

    def begin(self) -> None:
        runner = threading.Thread(target=self.run, args=(self.stop,), name="crema stacks", daemon=True)
        self.runner = runner
        try:
            runner.start()
        except RuntimeError:  # no thread can start, or the interpreter ends: no stacks
            self.hertz = 0

    def run(self, stop) -> None:
        period, due = 1 / self.hertz, time.monotonic() + WRITE_SECONDS
        looked_ns = time.thread_time_ns()
        chance = random.Random()  # code that repeats in step with this thread would be seen at one place only
        while not stop.wait(period * chance.uniform(0.5, 1.5)):
            if self.threads:
                self.look(1e9 * period)
            now_ns = time.thread_time_ns()
            self.cost_ns += now_ns - looked_ns
            looked_ns = now_ns
            if time.monotonic() >= due:
                due = time.monotonic() + WRITE_SECONDS
                self.write()

    def look(self, period_ns) -> None:
        """Counts the stacks of the threads that are on a CPU now: their clocks move while this thread sleeps for a
        moment."""
        seen = []
        for ident, thread in list(self.threads.items()):
            try:
                seen.append((ident, thread, time.clock_gettime_ns(thread.clock)))
            except OSError:  # it ended, and left its chunk open
                self.threads.pop(ident, None)
        time.sleep(LOOK_TWICE_SECONDS)
        frames = None
        for ident, thread, before_ns in seen:
            try:
                now_ns = time.clock_gettime_ns(thread.clock)
            except OSError:
                continue
            used_ns, thread.cpu_ns = now_ns - thread.cpu_ns, now_ns
            if now_ns == before_ns or not thread.chunks:
                continue
            # On a busy machine it may have run for only microseconds, when this thread released the interpreter's lock.
            samples, thread.due_ns = divmod(thread.due_ns + used_ns, period_ns)
            if samples < 1:
                continue
            if frames is None:
                frames = _frames_of_threads()
            frame = frames.get(ident)
            if frame is not None:
                self.count(thread, frame, int(samples))
        del frames

    def count(self, thread, frame, samples) -> None:
        _, dataset, around, depth = thread.chunks[-1]
        section = tuple(name for _, name in thread.names[around:])
        codes = []
        while frame is not None:
            codes.append(frame.f_code)
            frame = frame.f_back
        inside = max(1, len(codes) - depth)
        codes = codes[: min(inside, MOST_FRAMES)]
        if inside > MOST_FRAMES:
            codes.append(CUT_FRAMES)
        with self.lock:
            self.counts.add(dataset, section, codes, samples)

    def write(self) -> None:
        """Writes what was counted since the last time, a line for each dataset and section."""
        with self.lock:
            counts, self.counts = self.counts, _Counts()
        cost_ns, self.cost_ns = self.cost_ns, 0
        by_place = {}
        for (dataset, section, ids), row in counts.stacks.items():
            by_place.setdefault((dataset, section), []).append((ids, row))
        for (dataset, section), rows in by_place.items():
            for fields in _lines(dataset, section, rows, counts.codes, self.hertz):
                _write(fields, len(fields), cost_ns)
                cost_ns = 0
        if cost_ns:
            _write(b"", 0, cost_ns)

    def pause(self) -> None:
        """Ends the thread until the next chunk or section begins, because CPython warns of a fork while there are
        threads, even of one that began right after the fork."""
        runner, self.runner = self.runner, None
        if runner is None or runner is threading.current_thread():
            return
        self.stop.set()
        self.stop = threading.Event()
        runner.join(PAUSE_SECONDS)
        task = f"/proc/self/task/{runner.native_id}"
        patience = time.monotonic() + PAUSE_SECONDS
        while os.path.exists(task) and time.monotonic() < patience:  # the kernel may still have it
            time.sleep(1e-4)


def _clean(text, most) -> str:
    return library.text_of(text)[:most].encode("utf-8", "replace").decode()


def _function(code) -> list:
    if type(code) is int:
        return [_NAMES[code], None, None]
    name = getattr(code, "co_qualname", code.co_name)  # Python 3.10 has only the short name
    return [_clean(name, MOST_NAME), _clean(code.co_filename, MOST_PATH), code.co_firstlineno]


def _path(section) -> str:
    return "/".join(_clean(name, MOST_NAME).replace("/", "%2F") for name in section)


def _lines(dataset, section, rows, codes, hertz):
    """Yields the fields of as many lines as are needed."""
    place = {"dataset": dataset, "section": _path(section), "hertz": hertz}
    functions, numbers, stacks, size = [], {}, [], 0
    for ids, (samples, squares) in rows:
        row = [samples, squares]
        for one in reversed(ids):  # the outermost first
            number = numbers.get(one)
            if number is None:
                number = numbers[one] = len(functions)
                functions.append(_function(codes.get(one, one)))
                size += len(json.dumps(functions[-1]))
            row.append(number)
        stacks.append(row)
        size += 8 * len(row)
        if size > MOST_LINE_BYTES:
            yield _fields({**place, "functions": functions, "stacks": stacks})
            functions, numbers, stacks, size = [], {}, [], 0
    if stacks:
        yield _fields({**place, "functions": functions, "stacks": stacks})


def _fields(line) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode("ascii")[1:-1]


_sampler = _Sampler()
_changed = False


def begin_if_asked() -> None:
    """If CREMA_STACKS is set, makes chunks and sections report to the sampler from now on."""
    global _changed
    _sampler.hertz = asked_hertz() if _enabled() else 0
    if _sampler.hertz:
        _write(b"", 0, 0)  # the SDK leaves stacks to this package
    if _sampler.hertz and not _changed:
        _changed = True
        _watch_chunks()
        _watch_sections()
        recorder.before_writing.append(write)
        atexit.register(write)
        # CPython prints what a function before a fork raises, and goes on: the limit is in docs/python_reference.md.
        os.register_at_fork(before=lambda: _sampler.pause(), after_in_child=_forget_parent)


def write() -> None:
    """Writes what was counted until now into the log."""
    _sampler.write()


def _forget_parent() -> None:
    """Resets the sampler in a forked child, which has no sampling thread. The counts and the open chunks are the
    parent's."""
    global _sampler
    hertz = _sampler.hertz
    _sampler = _Sampler()
    _sampler.hertz = hertz


def _depth(frame) -> int:
    depth = 0
    while frame is not None:
        depth += 1
        frame = frame.f_back
    return depth


def _safely(call, *arguments) -> None:
    """Calls the function for a guard. The guard works without it, so its own errors are ignored, and those from outside
    are passed on."""
    try:
        call(*arguments)
    except Exception as error:
        if is_interruption(error):
            raise


# The entry is made before the guard begins, and removed before it ends. So an exception that a signal handler raises in
# between leaves no guard open.


def _watch_chunks() -> None:
    enter, leave = TrackMetrics.__enter__, TrackMetrics.__exit__

    @functools.wraps(enter)
    def __enter__(self):
        if _sampler.hertz and _enabled():
            _safely(_enter_chunk, self, sys._getframe(1))
        try:
            return enter(self)
        except BaseException:
            _sampler.leave(self)
            raise

    @functools.wraps(leave)
    def __exit__(self, kind, error, trace):
        try:
            _safely(_sampler.leave, self)
        finally:
            leave(self, kind, error, trace)

    TrackMetrics.__enter__, TrackMetrics.__exit__ = __enter__, __exit__


def _enter_chunk(guard, frame) -> None:
    depth = _depth(frame)  # number of frames outside the one that has the block
    _sampler.enter(guard, depth if frame.f_code is run_as_chunk.__code__ else depth - 1)


def _watch_sections() -> None:
    for kind in (track_section, track_cpu_section):
        kind.__enter__ = _watching(kind.__enter__)
    leave = track_section.__exit__

    @functools.wraps(leave)
    def __exit__(self, kind, error, trace):
        try:
            _safely(_sampler.leave_section, self)
        finally:
            leave(self, kind, error, trace)

    track_section.__exit__ = __exit__


def _watching(enter):
    @functools.wraps(enter)
    def __enter__(self):
        thread = _sampler.threads.get(threading.get_ident())
        if thread is not None:
            thread.names.append((self, self._name))
            if _sampler.runner is None:
                _safely(_sampler.begin)
        return enter(self)

    return __enter__
