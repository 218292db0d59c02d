"""crema inside a Dask cluster: a plug-in for the workers, one for the scheduler, and a preload file, in one module.

One module, and a long one, as it travels alone: pickled by value to workers and schedulers that have no crema_hep, or
loaded there as a single file. What it imported of the package would be missing there.

It needs nothing but what a cluster has: `distributed` and the standard library. `crema_hep.attach(client)` ships it by
value, so neither workers nor scheduler need this package; an administrator may load the file instead:

    dask scheduler --preload dask_plugin.py
    dask worker tcp://... --preload dask_plugin.py

A worker's plug-in switches recording on in its process, writes tasks, fine metrics and samples into a record log of its
own (docs/record_log.md), and sends all logs of its process to the scheduler. The scheduler's plug-in keeps what comes,
unread and capped, beside what it knows itself, and serves both as NDJSON (docs/dask_log.md). Nothing here may harm the
analysis: whatever fails costs records, and is noted.
"""

from __future__ import annotations

import asyncio
import bisect
import collections.abc
import contextlib
import ctypes
import fcntl
import inspect
import json
import os
import re
import socket
import sys
import tempfile
import time
import uuid

from distributed import Scheduler
from distributed.diagnostics.plugin import SchedulerPlugin, WorkerPlugin

SCHEMA = "crema.dask/1"
SCHEMA_MINOR = 0
RECORD_SCHEMA = "crema.records/1"
RECORD_SCHEMA_MINOR = 1
VERSION = "0.1.0"  # as sdk/include/crema/version.h says: a test compares them
NAME = "crema"
ROUTE = "/crema/v1"

# A drain looks for new records this often; beyond 50 workers more seldom: all together push 100 times a second.
DRAIN_SECONDS = 0.5
SECONDS_PER_WORKER = 0.01
SAMPLE_SECONDS = 1.0
# What a push may carry of one log: the costs of a call no longer show from 100 kB on.
BLOB_BYTES = 1 << 20
PUSH_SECONDS = 5.0
HELLO_SECONDS = 5.0
# `Worker.close` waits for the last drain: never long.
TEARDOWN_SECONDS = 2.0
# After a worker has left, its host's others look this often for what it could not send: it may still be on its way out.
ADOPT_AFTER_SECONDS = (0, 1, 4, 16)
# What the scheduler keeps of records and samples. Joins, leaves and accounts are kept beside, as long as it lives.
KEEP_BYTES = 256 << 20
PAGE_BYTES = 4 << 20
MOST_SPANS = 1000
MOST_KEPT_LINES = 200_000
# How many keys' failures a worker remembers, to count their attempts: nobody tells it which are never tried again.
MOST_FAILED_KEYS = 1000

LOG_NAME = re.compile(r"(?P<host>.+)-(?P<pid>\d+)-(?P<start>\d+)-(?P<recorder>\d+)\.jsonl$")


def _line(**fields) -> bytes:
    return json.dumps(fields, separators=(",", ":"), default=str).encode("utf-8", "replace") + b"\n"


def _text(value) -> str:
    return "null" if value is None else json.dumps(str(value))


def _number(value) -> str:
    return "null" if value is None else str(value)


def _boot_id() -> str | None:
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return None


class _Clock:
    """Unix time that no step of the wall clock moves, as the SDK's: one anchor, and CLOCK_MONOTONIC since."""

    def __init__(self) -> None:
        self.anchor_ns = self._ahead_ns()

    @staticmethod
    def _ahead_ns() -> int:
        """REALTIME less MONOTONIC, of several readings that with the least between."""
        readings = []
        for _ in range(5):
            before_ns, wall_ns, after_ns = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
            readings.append((after_ns - before_ns, wall_ns - (before_ns + after_ns) // 2))
        return min(readings)[1]

    def now_ns(self) -> int:
        return self.anchor_ns + time.monotonic_ns()

    def offset_ns(self) -> int:
        """How far the wall clock was stepped since the anchor; what two readings differ by anyway counts as 0."""
        step = self._ahead_ns() - self.anchor_ns
        return 0 if abs(step) < 100_000 else step

    def process_start_ns(self) -> int:
        """When this process began, as the SDK comes to it: both name the same process by it."""
        with open("/proc/self/stat") as file:
            ticks = int(file.read().rpartition(")")[2].split()[19])
        ahead_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()
        boot_ns = (self.anchor_ns - ahead_ns) // 1_000_000 * 1_000_000
        return boot_ns + ticks * (1_000_000_000 // os.sysconf("SC_CLK_TCK"))


def _is_held(path: str) -> bool:
    """Whether the process that writes this log still lives: it holds a lock on it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


class _Log:
    """The plug-in's own record log. Failing costs records, which are counted."""

    def __init__(self, directory: str, host: str, pid: int, start_ns: int) -> None:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        for recorder in range(1000):
            self.name = f"{host.replace('/', '_')}-{pid}-{start_ns}-{recorder}.jsonl"
            self.path = os.path.join(directory, self.name)
            try:
                self.fd = os.open(self.path, flags, 0o600)
            except FileExistsError:
                continue
            break
        else:
            raise FileExistsError(f"{directory}: no free name for a record log")
        self.recorder = recorder
        self.dropped = 0
        self._torn = False
        with contextlib.suppress(OSError):  # a file system without locks only costs the "still running" mark
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def write(self, line: bytes) -> None:
        if self.fd < 0:
            self.dropped += 1
            return
        if self._torn:
            line = b"\n" + line
        try:
            written = os.write(self.fd, line)
        except OSError:
            self.dropped += 1
            return
        self._torn = written < len(line)
        self.dropped += self._torn

    def close(self) -> None:
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)


def _read_blob(path: str, offset: int) -> bytes:
    """Whole lines from `offset` on, at most BLOB_BYTES."""
    try:
        with open(path, "rb", buffering=0) as file:
            file.seek(offset)
            blob = file.read(BLOB_BYTES)
    except OSError:
        return b""
    return blob[: blob.rfind(b"\n") + 1]


def _run_id_of(path: str) -> str | None:
    """The run that a log says in its first line; None where it says none."""
    try:
        with open(path, "rb") as file:
            return json.loads(file.readline(BLOB_BYTES))["run_id"]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _activity_row(key, value):
    """One entry of `Worker.digests_total` as [context, span, function, activity, unit, value]; None: no activity."""
    if not isinstance(key, tuple) or len(key) < 3:
        return None
    context, unit = key[0], key[-1]
    if context in ("execute", "p2p") and len(key) >= 5:
        span, function, activity = key[1], key[2], key[3:-1]
    else:
        span, function, activity = None, None, key[1:-1]
    texts = [name if isinstance(name, str) else json.dumps(name, default=str) for name in activity]
    activity = texts[0] if len(texts) == 1 else json.dumps(list(activity), default=str)
    span = None if span is None else str(span)
    function = None if function is None else str(function)
    return [str(context), span, function, activity, str(unit), value]


def _why_not_alone(worker) -> str | None:
    """Why this worker's process cannot be measured as this worker's; None where it can."""
    others = [other for other in type(worker)._instances if other is not worker and other.status.name != "closed"]
    if worker.address.startswith("inproc://") or others:
        return "workers that share a process (processes=False) cannot be told apart"
    return None


def _without_workers() -> dict:
    """What keeps the list of all workers out of a scheduler's identity; Dask 2025.3 has no such thing."""
    return {"n_workers": 0} if "n_workers" in inspect.signature(Scheduler.identity).parameters else {}


class _ActiveThreads(collections.abc.MutableMapping):
    """A worker's `active_threads`, thread to key, in which each task's own thread enters it as it begins, and strikes
    it out as it ends: the one place that tells the thread of every task, whatever becomes of the task meanwhile.

    Kept up as ever in `inner`, the worker's own; `runs` has of each key [thread, CLOCK_MONOTONIC ns at which it began,
    at which it ended].
    """

    def __init__(self, inner) -> None:
        self.inner = inner
        self.runs = {}

    def __setitem__(self, thread, key) -> None:
        self.inner[thread] = key
        self.runs[key] = [thread, time.monotonic_ns(), None]

    def __delitem__(self, thread) -> None:
        run = self.runs.get(self.inner.pop(thread))
        if run is not None and run[0] == thread:
            run[2] = time.monotonic_ns()

    def __getitem__(self, thread):
        return self.inner[thread]

    def __iter__(self):
        return iter(self.inner)

    def __len__(self) -> int:
        return len(self.inner)

    def copy(self) -> dict:
        return self.inner.copy()


_RUNNING = ("executing", "long-running", "cancelled", "resumed")


class CremaWorkerPlugin(WorkerPlugin):
    """Records what a worker does, and sends it to the scheduler.

    `directory`: where record logs go, on each worker; None: CREMA_DIR, else one below the temporary directory.
    `run_id`: written into logs that begin from now on; None: CREMA_RUN_ID, else the cluster's. `drain_seconds`: how
    often new records are looked for. `sample_seconds`: how often the process is sampled; 0: never. `sections_in_dask`:
    whether guards tell Dask the sections of their chunks too (docs/dask.md).
    """

    name = NAME
    idempotent = True

    def __init__(
        self,
        directory=None,
        run_id=None,
        drain_seconds=DRAIN_SECONDS,
        sample_seconds=SAMPLE_SECONDS,
        sections_in_dask=True,
    ):
        self.directory = directory
        self.run_id = run_id
        self.drain_seconds = drain_seconds
        self.sample_seconds = sample_seconds
        self.sections_in_dask = sections_in_dask

    # -- Life ---------------------------------------------------------------------------------------------------------

    async def setup(self, worker) -> None:
        self.worker = worker
        self.log = None
        self.failure = None
        self._stamps = {}  # key: (scheduler_delay, time) as it was handed to a thread
        self._arrived = {}  # key: monotonic ns at which the scheduler's order came
        self._attempts = {}  # key: how often it failed here; the latest last
        self._environment = {}  # what this plug-in set
        self._switched_on = False
        self._sent = {}  # log's name: bytes that the scheduler has
        # What Dask's activities came to when they were told last, also by a plug-in that this one takes the place of.
        self._fine = worker.__dict__.setdefault("crema_told", {})
        self._sampled_ns = 0
        self._step_ns = 0  # how far the wall clock was stepped, as of the last sample
        self._clock_width_ns = None
        self._said = False
        self._known_leaves = 0
        self._period = self.drain_seconds
        self._closed = False
        self._look_for_logs_left()
        self._busy = asyncio.Lock()
        self._threads = _ActiveThreads(worker.active_threads)
        worker.active_threads = self._threads
        try:
            self.failure = _why_not_alone(worker)
            if self.failure is None:
                await self._begin()
        except Exception as error:  # the job runs on without records of this worker
            self.failure = f"{type(error).__name__}: {error}"
        await self._say_hello()
        worker.handlers["crema_drain"] = self._answer_drain
        self._task = asyncio.ensure_future(self._drain_for_ever())

    async def _begin(self) -> None:
        self.clock = _Clock()
        self.host = socket.gethostname()
        self.pid = os.getpid()
        identity = await asyncio.wait_for(self.worker.scheduler.identity(**_without_workers()), PUSH_SECONDS)
        scheduler_id = str(identity.get("id", "")).replace("/", "_")
        self.reference = identity.get("address")
        run_id = self.run_id or os.environ.get("CREMA_RUN_ID") or "dask-" + scheduler_id
        directory = self.directory or os.environ.get("CREMA_DIR")
        if not directory:
            directory = os.path.join(tempfile.gettempdir(), f"crema-{os.getuid()}", scheduler_id)
        self.record_directory = os.path.abspath(directory)
        # Where the run's name does not tell clusters apart: what began before the scheduler was another cluster's.
        named_after_cluster = run_id == "dask-" + scheduler_id
        self._adopted_from_ns = 0 if named_after_cluster else int(float(identity.get("started", 0)) * 1e9)
        self.start_ns = self._start_as_logged(self.clock.process_start_ns())
        self.log = _Log(self.record_directory, self.host, self.pid, self.start_ns)
        self.run_id_in_force = run_id
        self.log.write(self._process_line(run_id))
        self._enable_recording(run_id)

    def _start_as_logged(self, start_ns: int) -> int:
        """As a recorder of this process before this one has it: what two come to may be a millisecond apart."""
        for other_ns in (start_ns - 1_000_000, start_ns + 1_000_000):
            name = f"{self.host.replace('/', '_')}-{self.pid}-{other_ns}-0.jsonl"
            if os.path.exists(os.path.join(self.record_directory, name)):
                return other_ns
        return start_ns

    def _process_line(self, run_id) -> bytes:
        allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        return _line(
            type="process",
            schema=RECORD_SCHEMA,
            schema_minor=RECORD_SCHEMA_MINOR,
            run_id=run_id,
            host=self.host,
            pid=self.pid,
            parent_pid=os.getppid(),
            start_ns=self.start_ns,
            boot_id=_boot_id(),
            recorder=self.log.recorder,
            executable=sys.executable,
            arguments=[],
            cores=allowed,
            threads=self.worker.state.nthreads,
            memory_limit_bytes=self.worker.memory_manager.memory_limit,
            clock="monotonic",
            sdk=f"crema-dask {VERSION}",
            attributes={"engine": "dask", "worker": self.worker.address},
        )

    def _enable_recording(self, run_id) -> None:
        """Guards of this process that begin from now on record into the directory."""
        was_on = bool(os.environ.get("CREMA_DIR")) or self._native("crema_enabled")
        for name, value in (
            ("CREMA_DIR", self.record_directory),
            ("CREMA_RUN_ID", run_id),
            ("CREMA_THREADS", str(self.worker.state.nthreads)),
            ("CREMA_INTERVAL", "0"),  # the plug-in samples
        ):
            if name not in os.environ:
                os.environ[name] = self._environment[name] = value
        self._switched_on = not was_on
        # Guards that ran before found recording off, and do not look again.
        recorder = sys.modules.get("crema_hep.recorder")
        if recorder is not None:
            recorder.enable()
        else:
            self._native("crema_enable", None)

    @staticmethod
    def _native(name, *arguments):
        """Calls a function of the library, if this process has it; 0 where it has not."""
        recorder = sys.modules.get("crema_hep.recorder")
        if recorder is not None:
            return recorder.library.functions[name](*arguments)
        with contextlib.suppress(OSError, AttributeError):
            return getattr(ctypes.CDLL("libcrema.so.1", mode=os.RTLD_NOLOAD | os.RTLD_LAZY), name)(*arguments)
        return 0

    def _leave_no_trace(self) -> None:
        """Guards of this process find it as it was before the plug-in came."""
        for name, value in self._environment.items():
            if os.environ.get(name) == value:
                del os.environ[name]
        if self._switched_on:
            self._native("crema_disable")

    async def _say_hello(self) -> None:
        """Tells the scheduler's plug-in which process this is. Without that plug-in the logs stay files."""
        worker = self.worker
        fields = {"worker": worker.address, "hostname": socket.gethostname(), "pid": os.getpid()}
        fields["failure"] = self.failure
        if self.log is not None:
            fields.update(start_ns=self.start_ns, boot_id=_boot_id(), directory=self.record_directory)
            fields.update(run_id=self.run_id_in_force)
        before_ns = time.monotonic_ns()
        try:
            reply = await asyncio.wait_for(worker.scheduler.crema_hello(fields=fields), PUSH_SECONDS)
        except Exception:
            return
        if not isinstance(reply, dict) or "time_ns" not in reply:
            return
        self._said = True
        self._take_reply(reply, before_ns, time.monotonic_ns())
        if self.log is not None and reply.get("boot_id") is not None and reply["boot_id"] == _boot_id():
            self._write_clock(0, 0)

    async def teardown(self, worker) -> None:
        self._closed = True
        worker.handlers.pop("crema_drain", None)
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self._last_drain(), TEARDOWN_SECONDS)
        self._task.cancel()
        if worker.active_threads is self._threads:
            worker.active_threads = self._threads.inner
        if self.log is not None:
            self.log.close()
        if worker.status.name == "running":  # else its process ends, and what its tasks do to the end is recorded
            self._leave_no_trace()

    async def _last_drain(self) -> None:
        async with self._busy:
            if self.log is not None:
                self._write_fine()
                self._write_sample()
                self.log.write(
                    _line(
                        type="end",
                        time_ns=self.clock.now_ns(),
                        realtime_offset_ns=self.clock.offset_ns(),
                        chunks=0,
                        failed=0,
                        open=0,
                        dropped=self.log.dropped,
                        overhead_ns=0,
                    )
                )
                self._adopt_at_ns = []
                if self._said:
                    await self._push_all()

    # -- Tasks --------------------------------------------------------------------------------------------------------

    def transition(self, key, start, finish, **kwargs) -> None:
        try:
            if finish == "executing":
                if start not in _RUNNING:
                    self._stamps[key] = (self.worker.scheduler_delay, time.time())
            elif start in _RUNNING:
                if finish not in _RUNNING and not self._still_runs(key):
                    self._write_task(key, "cancelled" if start == "cancelled" else finish)
            elif start == "released" and finish == "waiting":
                self._arrived[key] = time.monotonic_ns()
            elif finish in ("released", "forgotten"):
                self._arrived.pop(key, None)
        except Exception:  # a task that is not noted is none that fails
            if self.log is not None:
                self.log.dropped += 1

    def _still_runs(self, key) -> bool:
        """A task that is no longer wanted is released in name, and runs on to its end as `cancelled`."""
        task = self.worker.state.tasks.get(key)
        return getattr(task, "state", None) in ("cancelled", "resumed") and not getattr(task, "done", True)

    def _write_task(self, key, finish) -> None:
        stamp = self._stamps.pop(key, None)
        run = self._threads.runs.pop(key, None)
        arrived_ns = self._arrived.pop(key, None)
        if stamp is None or self.log is None:
            return
        delay, began = stamp
        worker = self.worker
        task = worker.state.tasks.get(key)
        shift_ns = -self._step_ns  # from the wall clock to the log's
        if run is not None:
            thread, start_ns, stop_ns = run
            start_ns += self.clock.anchor_ns
            stop_ns = self.clock.now_ns() if stop_ns is None else stop_ns + self.clock.anchor_ns
        else:  # a coroutine, or a task of another executor
            start, stop = self._compute_times(task, delay, began, time.time())
            thread = worker.threads.get(key)
            start_ns = int(start * 1e9) + shift_ns
            stop_ns = max(start_ns, int(stop * 1e9) + shift_ns)
        attempt = self._attempts.get(key, 0)
        if finish in ("error", "rescheduled"):
            self._attempts.pop(key, None)
            self._attempts[key] = attempt + 1
            if len(self._attempts) > MOST_FAILED_KEYS:
                del self._attempts[next(iter(self._attempts))]
        elif attempt:
            del self._attempts[key]
        began_ns = int(began * 1e9) + shift_ns
        queue_ns = None if arrived_ns is None else max(0, began_ns - self.clock.anchor_ns - arrived_ns)
        text = str(key)
        prefix = getattr(task, "prefix", None)
        span = getattr(task, "span_id", None)
        self.log.write(
            (
                f'{{"type":"task","key":{_text(text)},"prefix":{_text(prefix)},"group":null,"span":{_text(span)},'
                f'"thread":{_number(thread)},"start_ns":{start_ns},"stop_ns":{stop_ns},'
                f'"outcome":{_text(finish)},"attempt":{attempt},"worker":{_text(worker.address)},"engine":"dask",'
                f'"queue_ns":{_number(queue_ns)}}}\n'
            ).encode()
        )

    @staticmethod
    def _compute_times(task, delay, began, now):
        """When the task ran, on this worker's wall clock. Dask adds `delay` to both times: how far it took the
        scheduler's clock to be ahead as it handed the task to a thread."""
        for entry in reversed(getattr(task, "startstops", None) or ()):
            if entry.get("action") != "compute":
                continue
            start, stop = entry["start"] - delay, entry["stop"] - delay
            if stop < began:
                break  # of an earlier attempt
            return max(start, began), min(stop, now)
        return began, now

    # -- Activities, samples, clock -----------------------------------------------------------------------------------

    def _write_fine(self) -> None:
        """What Dask's activities came to since the last line."""
        totals = getattr(self.worker, "digests_total", None)
        if not totals:
            return
        rows = []
        for key, value in list(totals.items()):
            before = self._fine.get(key, 0)
            if value == before:
                continue
            self._fine[key] = value
            row = _activity_row(key, value - before)
            if row is not None:
                rows.append(row)
        for at in range(0, len(rows), 1000):
            self.log.write(
                _line(
                    type="fine",
                    time_ns=self.clock.now_ns(),
                    worker=self.worker.address,
                    engine="dask",
                    rows=rows[at : at + 1000],
                )
            )

    def _write_sample(self) -> None:
        now_ns = self.clock.now_ns()
        self._step_ns = self.clock.offset_ns()
        with open("/proc/self/statm") as file:
            rss_bytes = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        with open("/proc/self/status") as file:
            threads = next((int(text.split()[1]) for text in file if text.startswith("Threads:")), None)
        self._sampled_ns = now_ns
        self.log.write(
            _line(
                type="sample",
                time_ns=now_ns,
                realtime_offset_ns=self._step_ns,
                rss_bytes=rss_bytes,
                cpu_ns=time.process_time_ns(),
                threads=threads,
                memory_limit_bytes=self.worker.memory_manager.memory_limit,
            )
        )

    def _write_clock(self, offset_ns: int, width_ns: int) -> None:
        """The scheduler's clock less this log's, where it is known better than before."""
        if self._clock_width_ns is not None and width_ns > 0.8 * self._clock_width_ns:
            return
        self._clock_width_ns = width_ns
        self.log.write(
            _line(
                type="clock",
                time_ns=self.clock.now_ns(),
                reference=self.reference,
                offset_ns=offset_ns,
                uncertainty_ns=width_ns,
            )
        )

    def _take_reply(self, reply, before_ns: int, after_ns: int) -> None:
        """`before_ns` and `after_ns`: CLOCK_MONOTONIC around the call. The scheduler answered somewhere between."""
        self._period = max(self.drain_seconds, float(reply.get("period", 0)))
        leaves = reply.get("leaves", self._known_leaves)
        if leaves != self._known_leaves:
            self._look_for_logs_left()
        self._known_leaves = leaves
        if self.log is not None:
            here_ns = self.clock.anchor_ns + (before_ns + after_ns) // 2
            self._write_clock(int(reply["time_ns"]) - here_ns, (after_ns - before_ns) // 2 + 1)

    # -- Sending ------------------------------------------------------------------------------------------------------

    async def _drain_for_ever(self) -> None:
        patience = again = HELLO_SECONDS
        while not self._closed:
            await asyncio.sleep(self._period)
            patience -= self._period
            if not self._said and patience <= 0:
                await self._say_hello()  # the scheduler's plug-in may come later; each call without it is logged there
                again = min(2 * again, 600)
                patience = again
            if self._busy.locked():
                continue
            with contextlib.suppress(Exception):
                await self._drain()

    async def _drain(self) -> None:
        async with self._busy:
            if self.log is None or self._closed:
                return
            self._write_fine()
            if self.sample_seconds and self.clock.now_ns() - self._sampled_ns >= self.sample_seconds * 1e9:
                self._write_sample()
            if self._said:
                await self._push_all()

    async def _answer_drain(self, **kwargs):
        await self._drain()
        return {"failure": self.failure, "dropped": 0 if self.log is None else self.log.dropped}

    async def _push_all(self) -> None:
        names = await asyncio.to_thread(self._logs_to_send)
        unknown = [(name, 0, b"") for name in names if name not in self._sent]
        if unknown:
            await self._push(unknown)
        while names:
            parts = await asyncio.to_thread(self._read_parts, names)
            if not parts:
                return
            await self._push(parts)
            if sum(len(blob) for _, _, blob in parts) <= BLOB_BYTES // 2:
                return  # that was all
            stuck = {name for name, offset, _ in parts if self._sent[name] == offset}
            names = [name for name in names if name not in stuck]

    def _read_parts(self, names) -> list[tuple]:
        """(name, offset, bytes) of what is new in logs, up to about as much as one push should carry."""
        parts, size = [], 0
        for name in names:
            offset = self._sent[name]
            blob = _read_blob(os.path.join(self.record_directory, name), offset)
            if blob:
                parts.append((name, offset, blob))
                size += len(blob)
            if size > BLOB_BYTES // 2:
                break
        return parts

    def _logs_to_send(self) -> list[str]:
        """This process's logs; and those that dead workers of this host left, where somebody died."""
        now_ns = time.monotonic_ns()
        adopting = any(at_ns <= now_ns for at_ns in self._adopt_at_ns)
        self._adopt_at_ns = [at_ns for at_ns in self._adopt_at_ns if at_ns > now_ns]
        own, left = [], []
        try:
            names = os.listdir(self.record_directory)
        except OSError:
            return []
        for name in names:
            match = LOG_NAME.match(name)
            if match is None or match["host"] != self.host.replace("/", "_"):
                continue
            if int(match["pid"]) == self.pid and abs(int(match["start"]) - self.start_ns) < 1_000_000_000:
                own.append(name)
            elif adopting and int(match["start"]) >= self._adopted_from_ns:
                left.append(name)
        return own + [name for name in left if self._is_left_over(os.path.join(self.record_directory, name))]

    def _look_for_logs_left(self) -> None:
        now_ns = time.monotonic_ns()
        self._adopt_at_ns = [now_ns + int(seconds * 1e9) for seconds in ADOPT_AFTER_SECONDS]

    def _is_left_over(self, path: str) -> bool:
        return _run_id_of(path) == self.run_id_in_force and not _is_held(path)

    async def _push(self, parts) -> None:
        """Hands over bytes of logs, all in one call, and notes how many the scheduler has. Repeating it is harmless."""
        before_ns = time.monotonic_ns()
        call = self.worker.scheduler.crema_push(
            worker=self.worker.address,
            parts=[
                {"source": name, "offset": offset, "blob": blob, "adopted": f"-{self.pid}-" not in name}
                for name, offset, blob in parts
            ],
        )
        reply = await asyncio.wait_for(call, PUSH_SECONDS)
        self._take_reply(reply, before_ns, time.monotonic_ns())
        self._sent.update(zip((name for name, _, _ in parts), reply["have"]))


class _Ring:
    """Lines and blobs in the order in which they came, by a cursor that counts bytes; the oldest go when it is full.

    `kept` lines are never dropped: who reads from the beginning gets them first.
    """

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.base = 0
        self.next = 0
        self.dropped_records_bytes = 0
        self._starts = []
        self._items = []
        self._first = 0  # of those that are still there
        self._kept = []

    def append(self, line: bytes, records: bytes = b"", keep: bool = False) -> None:
        """A line, and the records that follow it: they are never parted, and not copied either."""
        if keep and len(self._kept) < MOST_KEPT_LINES:
            self._kept.append((self.next, line))
        self._starts.append(self.next)
        self._items.append((line, records))
        self.next += len(line) + len(records)
        while self.next - self.base > self.limit_bytes and self._first < len(self._items) - 1:
            line, records = self._items[self._first]
            self._items[self._first] = None
            self.base += len(line) + len(records)
            self.dropped_records_bytes += len(records)
            self._first += 1
        if self._first > 10_000 and self._first > len(self._items) // 2:
            del self._starts[: self._first], self._items[: self._first]
            self._first = 0

    def page(self, since: int, limit: int) -> tuple[bytes, int]:
        """What came from `since` on, up to about `limit` bytes, and the cursor for the next page."""
        pieces = []
        if since < self.base:
            pieces = [line for at, line in self._kept if since <= at < self.base]
            since = self.base
        at = bisect.bisect_left(self._starts, since, lo=self._first)
        size = 0
        while at < len(self._items) and size < limit:
            item = self._items[at]
            pieces += item
            length = sum(map(len, item))
            size += length
            since = self._starts[at] + length
            at += 1
        return b"".join(pieces), since


def _worker_sample(ws, now_ns: int) -> dict:
    metrics = ws.metrics or {}
    net, disk = metrics.get("host_net_io") or {}, metrics.get("host_disk_io") or {}
    spilled = metrics.get("spilled_bytes") or {}
    return {
        "type": "sample",
        "time_ns": now_ns,
        "worker": ws.address,
        "last_seen_ns": int(ws.last_seen * 1e9),
        "memory_bytes": metrics.get("memory"),
        "memory_limit_bytes": ws.memory_limit or None,
        "cpu_percent": metrics.get("cpu"),
        "threads": ws.nthreads,
        "active": len(ws.processing),
        "executing": len(ws.executing),
        "nbytes": ws.nbytes,
        "occupancy": ws.occupancy,
        "managed_bytes": metrics.get("managed_bytes"),
        "spilled_bytes": spilled.get("disk") if isinstance(spilled, dict) else spilled,
        "network_read_bps": net.get("read_bps"),
        "network_write_bps": net.get("write_bps"),
        "disk_read_bps": disk.get("read_bps"),
        "disk_write_bps": disk.get("write_bps"),
        "event_loop_interval": metrics.get("event_loop_interval"),
        "fds": metrics.get("num_fds"),
    }


# What workers and clients may ask of the scheduler's plug-in, as `crema_hello` and so on.
OPERATIONS = ("hello", "push", "pull", "flush", "session", "detach")


class CremaSchedulerPlugin(SchedulerPlugin):
    """Keeps what workers send and what the scheduler knows, and serves it as NDJSON (docs/dask_log.md).

    `sample_seconds`: how often workers are looked at. `keep_bytes`: how much of records and samples is kept.
    `path`: also written there, on the scheduler's machine.
    """

    name = NAME
    idempotent = True
    preloaded = False

    def __init__(self, sample_seconds=SAMPLE_SECONDS, keep_bytes=KEEP_BYTES, path=None):
        self.sample_seconds = sample_seconds
        self.keep_bytes = keep_bytes
        self.path = path

    # -- Life ---------------------------------------------------------------------------------------------------------

    async def start(self, scheduler) -> None:
        self.scheduler = scheduler
        self.epoch = uuid.uuid4().hex
        self.ring = _Ring(self.keep_bytes)
        self.have = {}  # source: bytes that came
        self.leaves = 0
        self._plugged = set()  # workers whose plug-in said hello
        self._seen = {}  # worker: the `last_seen` of its last sample
        self._accounts = {}
        self._spans_done = set()
        self._busy_ns = 0  # CPU time: of a scheduler on a busy machine, wall time would be others' too
        self._sessions = {}  # of collectors that measure: when they began
        self._file = None
        if self.path:
            with contextlib.suppress(OSError):
                self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115  (open as long as the scheduler)
        import distributed

        self._append(
            type="cluster",
            schema=SCHEMA,
            schema_minor=SCHEMA_MINOR,
            epoch=self.epoch,
            time_ns=time.time_ns(),
            id=str(scheduler.id),
            address=scheduler.address,
            started_ns=int(scheduler.time_started * 1e9) if hasattr(scheduler, "time_started") else None,
            host=socket.gethostname(),
            boot_id=_boot_id(),
            dask=distributed.__version__,
            python=sys.version.split()[0],
        )
        for ws in list(scheduler.workers.values()):
            self._append_join(ws, late=True)
        for name in OPERATIONS:
            scheduler.handlers["crema_" + name] = getattr(self, name)
        self._add_routes(scheduler)
        self._task = asyncio.ensure_future(self._look_for_ever())

    @staticmethod
    def _add_routes(scheduler) -> None:
        """Routes cannot be taken away again, so they look the plug-in up: one that is registered later is found too."""
        from distributed.http.utils import RequestHandler

        def plugin_of(handler):
            plugin = handler.server.plugins.get(NAME)
            if plugin is None or not hasattr(plugin, "ring"):
                handler.set_status(404)
                handler.finish("crema is not attached to this scheduler\n")
                return None
            return plugin

        class Records(RequestHandler):
            def get(self):
                plugin = plugin_of(self)
                if plugin is None:
                    return
                begin_ns = time.thread_time_ns()
                try:
                    since = int(self.get_argument("since", "0"))
                    limit = int(self.get_argument("limit", str(PAGE_BYTES)))
                except ValueError:
                    self.set_status(400)
                    self.finish("since and limit are numbers of bytes\n")
                    return
                body, following = plugin.ring.page(since, min(max(limit, 1), 4 * PAGE_BYTES))
                self.set_header("Content-Type", "application/x-ndjson")
                self.set_header("X-Crema-Epoch", plugin.epoch)
                self.set_header("X-Crema-Base", str(plugin.ring.base))
                self.set_header("X-Crema-Next", str(following))
                self.set_header("X-Crema-Time", str(time.time_ns()))
                self.finish(body)
                plugin._busy_ns += time.thread_time_ns() - begin_ns

        class Flush(RequestHandler):
            async def get(self):
                plugin = plugin_of(self)
                if plugin is None:
                    return
                self.set_header("Content-Type", "application/json")
                self.finish(json.dumps(await plugin.flush()))

        routes = [(ROUTE + "/records", Records), (ROUTE + "/flush", Flush)]
        application = getattr(scheduler, "http_application", None)
        if application is None or getattr(application, "crema_routes", False):
            return
        application.add_handlers(r".*", [(path, handler, {"dask_server": scheduler}) for path, handler in routes])
        application.crema_routes = True

    async def before_close(self) -> None:
        with contextlib.suppress(Exception):
            self._look()
            self._append(type="closed", time_ns=time.time_ns())
        self._task.cancel()
        self._close_file()

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _leave_no_trace(self) -> None:
        """The plug-in was taken away: what it put on the scheduler goes with it, and what it kept."""
        for name in OPERATIONS:
            # By its object: attaching again gives the class new functions, as it is sent by value.
            if getattr(self.scheduler.handlers.get("crema_" + name), "__self__", None) is self:
                del self.scheduler.handlers["crema_" + name]
        self._close_file()
        self.ring = _Ring(0)

    async def detach(self, id=None, timeout=PUSH_SECONDS) -> dict:
        """Takes the plug-ins away, unless others measure; `left` says why not, or which workers did not answer."""
        self._sessions.pop(id, None)
        if self._sessions:
            return {"detached": False, "left": f"{len(self._sessions)} other measurements are open"}
        if self.preloaded:
            return {"detached": False, "left": "the scheduler was started with it"}
        left = ""
        try:
            await asyncio.wait_for(self.scheduler.unregister_worker_plugin(comm=None, name=NAME), float(timeout))
        except ValueError:
            pass  # the workers have it from a preload file, or never had it
        except Exception as error:
            left = f"not all workers answered ({type(error).__name__})"
        self.scheduler.plugins.pop(NAME, None)
        self._task.cancel()
        self._leave_no_trace()
        return {"detached": True, "left": left}

    def _append(self, keep=True, **fields) -> None:
        self._store(_line(**fields), keep=keep)

    def _store(self, line: bytes, records: bytes = b"", keep: bool = False) -> None:
        self.ring.append(line, records, keep)
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.write(line + records)

    # -- What workers say ---------------------------------------------------------------------------------------------

    def _reply(self, **fields) -> dict:
        period = SECONDS_PER_WORKER * len(self.scheduler.workers)
        return {"time_ns": time.time_ns(), "period": period, "leaves": self.leaves, **fields}

    def hello(self, fields=None) -> dict:
        begin_ns = time.thread_time_ns()
        self._append(type="plugin", time_ns=time.time_ns(), **(fields or {}))
        self._plugged.add((fields or {}).get("worker"))
        self._busy_ns += time.thread_time_ns() - begin_ns
        return self._reply(boot_id=_boot_id())

    def push(self, worker=None, parts=()) -> dict:
        """Takes of each log the part that is new; says how much of it is here. The bytes are not looked at."""
        begin_ns = time.thread_time_ns()
        have = [self._take(worker, **part) for part in parts]
        self._busy_ns += time.thread_time_ns() - begin_ns
        return self._reply(have=have)

    def _take(self, worker, source, offset, blob, adopted=False) -> int:
        blob = bytes(blob)
        have = self.have.get(source, 0)
        if blob and offset <= have < offset + len(blob):
            new = blob[have - offset :]
            told = ',"adopted":true' if adopted else ""
            head = (
                f'{{"type":"records","time_ns":{time.time_ns()},"source":{_text(source)},"worker":{_text(worker)},'
                f'"offset":{have},"bytes":{len(new)}{told}}}\n'
            ).encode()
            self._store(head, new)
            have += len(new)
            self.have[source] = have
        return have

    # -- What clients ask ---------------------------------------------------------------------------------------------

    def pull(self, since=0, limit=PAGE_BYTES) -> dict:
        body, following = self.ring.page(since, limit)
        return {"epoch": self.epoch, "base": self.ring.base, "next": following, "time_ns": time.time_ns(), "body": body}

    async def flush(self, timeout=PUSH_SECONDS) -> dict:
        """Has every worker send what it has, and adds what the scheduler knows now. Waits at most `timeout` seconds."""
        workers = list(self.scheduler.workers)
        answers = await asyncio.gather(*(self._ask_to_drain(address, float(timeout)) for address in workers))
        silent = {address: why for address, why in zip(workers, answers) if why is not None}
        self._look(everything=True)
        reply = {"epoch": self.epoch, "time_ns": time.time_ns(), "workers": len(workers), "silent": silent}
        reply["cursor"] = self.ring.next
        self._append(type="flush", **reply)
        return reply

    async def _ask_to_drain(self, address: str, timeout: float) -> str | None:
        """Why the worker did not; None where it did."""
        if address not in self._plugged and NAME in self.scheduler.worker_plugins:
            return "did not take the plug-in yet"  # it does not answer: asking would only wait
        call = self.scheduler.broadcast(msg={"op": "crema_drain"}, workers=[address], on_error="return")
        try:
            reply = (await asyncio.wait_for(call, timeout)).get(address)
        except Exception:
            return "did not answer in time"
        if isinstance(reply, dict) and "dropped" in reply:
            return None
        return "has no crema plug-in" if reply is None or "crema_drain" in str(reply) else str(reply)[:200]

    async def session(self, id=None, event=None, timeout=PUSH_SECONDS, **fields) -> dict:
        """Marks the begin or the end of what one collector measures. What was done before the begin is drained before
        it; what was done before the end, until `flushed_ns`. The event "plan" only tells what is to come."""
        now_ns = time.time_ns()
        if event == "plan":
            self._append(type="plan", id=id, time_ns=now_ns, **fields)
            return {"time_ns": now_ns, "cursor": self.ring.next}
        if event == "begin":
            self._sessions[id] = now_ns
        else:
            self._sessions.pop(id, None)
        reply = await self.flush(timeout)
        flushed_ns = time.time_ns()
        if event == "begin":
            now_ns = flushed_ns
        self._append(type="session", id=id, event=event, time_ns=now_ns, flushed_ns=flushed_ns, **fields)
        return {**reply, "time_ns": now_ns, "cursor": self.ring.next}

    # -- What the scheduler knows -------------------------------------------------------------------------------------

    def _append_join(self, ws, late=False) -> None:
        self._append(
            type="worker",
            event="present" if late else "join",
            time_ns=time.time_ns(),
            worker=ws.address,
            name=str(ws.name),
            host=ws.host,
            pid=getattr(ws, "pid", None),
            threads=ws.nthreads,
            memory_limit_bytes=ws.memory_limit or None,
            nanny=ws.nanny,
        )

    def add_worker(self, scheduler, worker) -> None:
        ws = scheduler.workers.get(worker)
        if ws is not None:
            self._append_join(ws)

    def remove_worker(self, scheduler, worker, **kwargs) -> None:
        self.leaves += 1
        self._seen.pop(worker, None)
        self._plugged.discard(worker)
        reason = kwargs.get("stimulus_id")
        self._append(type="worker", event="leave", time_ns=time.time_ns(), worker=worker, reason=reason)

    def transition(self, key, start, finish, *args, **kwargs) -> None:
        if finish == "erred":
            error = kwargs.get("exception_text")
            text = None if error is None else str(error)[:1024]
            self._append(
                keep=False,
                type="erred",
                time_ns=time.time_ns(),
                key=str(key),
                worker=kwargs.get("worker"),
                error=text,
            )

    async def _look_for_ever(self) -> None:
        while True:
            await asyncio.sleep(self.sample_seconds or SAMPLE_SECONDS)
            if self.scheduler.plugins.get(NAME) is not self:
                self._leave_no_trace()
                return
            if self.sample_seconds:
                with contextlib.suppress(Exception):
                    self._look()

    def _look(self, everything: bool = False) -> None:
        begin_ns = time.thread_time_ns()
        now_ns = time.time_ns()
        for ws in list(self.scheduler.workers.values()):
            if self._seen.get(ws.address) == ws.last_seen and not everything:
                continue
            self._seen[ws.address] = ws.last_seen
            self._append(keep=False, **_worker_sample(ws, now_ns))
        self._account(now_ns)
        if everything:
            with contextlib.suppress(Exception):
                self._tell_spans(now_ns)
        self._busy_ns += time.thread_time_ns() - begin_ns
        if everything:
            self._append(
                keep=False,
                type="overhead",
                time_ns=now_ns,
                busy_ns=self._busy_ns,
                dropped_bytes=self.ring.dropped_records_bytes,
            )

    def _account(self, now_ns: int) -> None:
        """Dask's own account of seconds, by prefix, since the scheduler began; what has changed."""
        rows = []
        for prefix, state in list(self.scheduler.task_prefixes.items()):
            seconds = {str(action): value for action, value in dict(state.all_durations).items()}
            if self._accounts.get(prefix) == seconds:
                continue
            self._accounts[prefix] = seconds
            rows.append({"prefix": str(prefix), "seconds": seconds})
        if rows:
            self._append(type="account", time_ns=now_ns, rows=rows)

    def _tell_spans(self, now_ns: int) -> None:
        extension = self.scheduler.extensions.get("spans")
        if extension is None:
            return
        for span in list(extension.spans.values())[-MOST_SPANS:]:
            if span.id in self._spans_done:
                continue
            done = bool(span.done)
            if done:
                self._spans_done.add(span.id)
            self._append(
                type="span",
                time_ns=now_ns,
                id=span.id,
                name=[str(tag) for tag in span.name],
                parent=None if span.parent is None else span.parent.id,
                enqueued_ns=int(span.enqueued * 1e9),
                start_ns=int(span.start * 1e9),
                stop_ns=int(span.stop * 1e9),
                done=done,
                active_core_seconds=span.active_cpu_seconds,
                seconds={str(action): value for action, value in dict(span.all_durations).items()},
            )


# -- As a preload file -----------------------------------------------------------------------------------------------


async def dask_setup(server) -> None:
    """Called by `dask scheduler --preload` and `dask worker --preload`."""
    try:
        if hasattr(server, "workers"):
            plugin = CremaSchedulerPlugin()
            plugin.preloaded = True
            await plugin.start(server)
            server.add_plugin(plugin, name=NAME)
        else:
            await server.plugin_add(CremaWorkerPlugin(), name=NAME)
    except Exception as error:
        print(f"crema: not attached ({type(error).__name__}: {error})", file=sys.stderr)
