"""crema inside a Dask cluster: a plug-in for the workers, one for the scheduler, and a preload file, in one module.

This is one long module because it travels alone: it is pickled by value to workers and schedulers that have no
crema_hep, or loaded there as a single file. So it imports nothing of the package.

It needs nothing but what a cluster has: `distributed` and the standard library. `crema_hep.attach(client)` ships it by
value, so neither workers nor scheduler need this package; an administrator may load the file instead:

    dask scheduler --preload dask_plugin.py
    dask worker tcp://... --preload dask_plugin.py

A worker's plug-in switches recording on in its process, writes tasks, fine metrics and samples into a record log of its
own (docs/record_log.md), and sends all logs of its process to the scheduler. The scheduler's plug-in keeps the records
that arrive, unread and up to a limit. It adds what it knows itself, and serves both as NDJSON (docs/dask_log.md).
Nothing here may harm the analysis: a failure costs records, and is noted.
"""

from __future__ import annotations

import asyncio
import bisect
import collections.abc
import contextlib
import ctypes
import errno
import fcntl
import inspect
import json
import os
import re
import resource
import socket
import sys
import tempfile
import time
import uuid

from distributed import Scheduler
from distributed.diagnostics.plugin import SchedulerPlugin, WorkerPlugin

SCHEMA = "crema.dask/1"
SCHEMA_MINOR = 2
RECORD_SCHEMA = "crema.records/1"
RECORD_SCHEMA_MINOR = 21
ASKED_FOR = ("CREMA_REQUESTS", "CREMA_STACKS", "CREMA_GPU")  # switches that hold on workers
VERSION = "0.1.0"  # as sdk/include/crema/version.h says: a test compares them
NAME = "crema"
ROUTE = "/crema/v1"

# How often a drain looks for new records. Beyond 50 workers it does so less often: all workers together push 100 times
# a second.
DRAIN_SECONDS = 0.5
SECONDS_PER_WORKER = 0.01
SAMPLE_SECONDS = 1.0
# How much of one log a push may carry. From 100 kB on, the fixed cost of a call hardly matters.
BLOB_BYTES = 1 << 20
PUSH_SECONDS = 5.0
HELLO_SECONDS = 5.0
# `Worker.close` waits for the last drain, so this must be short.
TEARDOWN_SECONDS = 2.0
# After a worker has left, the other workers of its host look this often for records that it could not send. It may
# still be closing.
ADOPT_AFTER_SECONDS = (0, 1, 4, 16)
# The time of a change of a directory is as coarse as the kernel's clock ticks, and coarser on network file systems.
LISTING_SETTLES_NS = 2_000_000_000
# How many bytes of records and samples the scheduler keeps. It also keeps joins, leaves and accounts, as long as it
# lives.
KEEP_BYTES = 256 << 20
PAGE_BYTES = 4 << 20
MOST_SPANS = 1000
MOST_KEPT_LINES = 200_000
# For how many keys a worker remembers failures, to count their attempts. It does not learn which keys are never tried
# again.
MOST_FAILED_KEYS = 1000

# As the SDK has them (sdk/src: process/own_descriptor.cc, log/log_limits.cc,
# chunk/chunk_sums.cc): docs/record_log.md, "When chunks are summed".
HIGHEST_DESCRIPTOR = 1024
LOG_SHARES_OF_FREE = 10
RESERVE_SHARES_OF_DISK = 20
MOST_RESERVE_BYTES = 200_000_000
MOST_BETWEEN_QUESTIONS = 1_000_000
LEAST_BETWEEN_QUESTIONS = 65536
LEAST_ROOM = 65536
MOST_ROOM_BELOW_LIMIT = 262144
KEPT_BYTES = 65536
KEPT_SHARES_OF_FREE = 200
BLOCK_BYTES = 4096
SUMS_SECONDS = 10
DISK_IS_FULL = (errno.ENOSPC, errno.EDQUOT)

MOST_ERROR = 1024
# In errors and keys of tasks: an address with its user and what follows its path, and values of headers and passwords.
ADDRESS = re.compile(r"""://(?:[^\s/?#;'"<>\\]*@)?([^\s?#;'"<>\\]*)[^\s'"<>\\]*""")
NAMED_SECRET = re.compile(  # after some names an error says behind a colon what is wrong with them
    r"""(?ix)(
    \b(?:authorization|cookie|[\w-]*(?:password|passwd|api-?key)|[\w-]+(?:secret|token))["']?\s*[=:]\s*["']?
    (?:(?:bearer|basic)\s)?
    |\b(?:authz|secret|token)["']?\s*=\s*["']?(?:(?:bearer|basic)\s)?
    |\b(?:bearer|basic)\s(?=[^\s'",;)]*(?-i:[^a-z\s'",;)]))
    )[^\s'",;)]+"""
)

LOG_NAME = re.compile(r"(?P<host>.+)-(?P<pid>\d+)-(?P<start>\d+)-(?P<recorder>\d+)\.jsonl$")


def _line(**fields) -> bytes:
    return json.dumps(fields, separators=(",", ":"), default=str).encode("utf-8", "replace") + b"\n"


def _text(value) -> str:
    return "null" if value is None else json.dumps(str(value))


def _without_secrets(text: str) -> str:
    """Addresses keep server and path: what else is in them may give others the user's rights."""
    return ADDRESS.sub(r"://\1", NAMED_SECRET.sub(r"\1***", text))


def _name(key) -> str:
    """The key or prefix of a task, which may be an address."""
    text = str(key)
    return _without_secrets(text) if "://" in text else text


def _number(value) -> str:
    return "null" if value is None else str(value)


def _boot_id() -> str | None:
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return None


class _Clock:
    """Unix time that does not follow steps of the wall clock, as in the SDK: one anchor, plus CLOCK_MONOTONIC since
    then."""

    def __init__(self) -> None:
        self.anchor_ns = self._ahead_ns()

    @staticmethod
    def _ahead_ns() -> int:
        """REALTIME minus MONOTONIC: of several readings, the one that took the least time."""
        readings = []
        for _ in range(5):
            before_ns, wall_ns, after_ns = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
            readings.append((after_ns - before_ns, wall_ns - (before_ns + after_ns) // 2))
        return min(readings)[1]

    def now_ns(self) -> int:
        return self.anchor_ns + time.monotonic_ns()

    def offset_ns(self) -> int:
        """How far the wall clock was stepped since the anchor. A difference within the noise of two readings counts as
        0."""
        step = self._ahead_ns() - self.anchor_ns
        return 0 if abs(step) < 100_000 else step

    def process_start_ns(self) -> int:
        """When this process began, computed as in the SDK, so that both name the same process."""
        with open("/proc/self/stat") as file:
            ticks = int(file.read().rpartition(")")[2].split()[19])
        ahead_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()
        boot_ns = (self.anchor_ns - ahead_ns) // 1_000_000 * 1_000_000
        return boot_ns + ticks * (1_000_000_000 // os.sysconf("SC_CLK_TCK"))


def _for_one_python(plugin, otherwise: str) -> tuple:
    """For `__reduce__`: bytecode of one version of Python may crash another one. So the reader first compares versions,
    and evaluates `otherwise` if they differ."""
    import cloudpickle

    load = "__import__('cloudpickle').loads(content)"
    read = f"(lambda kind, state: [made := kind.__new__(kind), made.__dict__.update(state)][0])(*{load})"
    expression = f"{read} if __import__('sys').version_info[:2] == version else {otherwise}"
    content = cloudpickle.dumps((type(plugin), plugin.__dict__))
    return eval, (expression, {"content": content, "version": tuple(sys.version_info[:2])})


def _is_held(path: str) -> bool:
    """Whether the process that writes this log still lives: it then holds a lock on the log."""
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


class _OwnFile:
    """A file of crema's in somebody else's process. Its descriptor has a high number, and before each use crema checks
    that it is still its own (docs/design.md, "Descriptors in a process that is not ours")."""

    def __init__(self, path: str, flags: int) -> None:
        self.fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | flags, 0o600)
        status = os.fstat(self.fd)
        self._identity = (status.st_dev, status.st_ino)
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        highest = HIGHEST_DESCRIPTOR if soft == resource.RLIM_INFINITY else min(soft, HIGHEST_DESCRIPTOR)
        with contextlib.suppress(OSError):  # no high number is free: keep the low one
            low, self.fd = self.fd, fcntl.fcntl(self.fd, fcntl.F_DUPFD_CLOEXEC, highest - highest // 4)
            os.close(low)

    def is_ours(self) -> bool:
        try:
            status, opened_as = os.fstat(self.fd), fcntl.fcntl(self.fd, fcntl.F_GETFL)
        except OSError:
            return False
        as_ours = opened_as & os.O_APPEND and opened_as & os.O_ACCMODE == os.O_WRONLY
        return bool(as_ours) and (status.st_dev, status.st_ino) == self._identity

    def append(self, text: bytes) -> int:
        """Returns how many bytes were written."""
        if not self.is_ours():
            raise OSError(errno.EBADF, "somebody closed it")
        return os.write(self.fd, text)

    def shrink(self, size: int) -> None:
        if self.is_ours():
            os.ftruncate(self.fd, size)

    def close(self) -> None:
        if self.is_ours():
            with contextlib.suppress(OSError):  # it is closed all the same; a network's file system writes only now
                os.close(self.fd)
        self.fd = -1


class _ReservedDiskSpace:
    """Reserves some room on the disk from the start, for the last lines of a log if others fill the disk. It is a file
    without a name, so nothing stays when the process is killed."""

    def __init__(self, directory: str) -> None:
        self._size = 0
        try:
            self._file = _OwnFile(directory, os.O_TMPFILE)
        except OSError:
            return
        disk = os.fstatvfs(self._file.fd)
        size = min(disk.f_bavail * disk.f_frsize // KEPT_SHARES_OF_FREE // BLOCK_BYTES * BLOCK_BYTES, KEPT_BYTES)
        with contextlib.suppress(OSError):  # fails if zeros would have to be written: the C library refuses O_APPEND
            os.posix_fallocate(self._file.fd, 0, size)
            self._size = size

    def give(self, size: int) -> bool:
        """Gives at least `size` bytes back to the disk, for a line that is written at once. False if nothing is
        left."""
        if self._size == 0:
            return False
        self._size = max(0, self._size - (size // BLOCK_BYTES + 2) * BLOCK_BYTES)
        with contextlib.suppress(OSError):
            self._file.shrink(self._size)
        return True

    def close(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


class _Limits:
    """Decides when a log stops having a line for each task (docs/record_log.md, "When chunks are summed"). It asks for
    the free space of the disk once per MB, earlier if little is left, and otherwise at most once per second."""

    def __init__(self) -> None:
        text = os.environ.get("CREMA_MAX_LOG_BYTES", "")
        self._most_bytes = int(text) or None if text.isdecimal() else None
        self._ask_at_bytes = 0
        self._ask_at_ns = 0
        self.reason = None
        self._room = self._room_left = 0

    def stop(self, reason: str, room: int) -> None:
        """From now on tasks have no lines; `room` bytes are left for other lines."""
        if self.reason is None:
            self.reason = reason
            self._room = self._room_left = room

    def allow(self, fd: int, size: int) -> bool:
        """Whether a log of `size` bytes may get a task's line."""
        if self.reason is None and (size >= self._ask_at_bytes or time.monotonic_ns() >= self._ask_at_ns):
            self._ask(fd, size)
        return self.reason is None

    def take_room(self, size: int) -> bool:
        """Takes room for a line of another type, after tasks have stopped having lines. False if none is left."""
        if self.reason is None:
            return True
        if self._room_left < size:
            return False
        self._room_left -= size
        return True

    def seconds_between(self) -> float:
        """How long to wait between two writings of sums: the less room is left, the longer."""
        return 0 if self.reason is None else SUMS_SECONDS * self._room / max(self._room_left, 1)

    def _ask(self, fd: int, size: int) -> None:
        self._ask_at_ns = time.monotonic_ns() + 1_000_000_000
        left = MOST_BETWEEN_QUESTIONS * 4
        file_limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        for reason, limit in (("log_size", self._most_bytes), ("file_size", file_limit)):
            if limit is None or limit == resource.RLIM_INFINITY:
                continue
            room = min(limit // 4, MOST_ROOM_BELOW_LIMIT)
            if size >= limit - room:
                return self.stop(reason, room)
            left = min(left, limit - room - size)
        with contextlib.suppress(OSError):
            disk = os.fstatvfs(fd)
            free = disk.f_bavail * disk.f_frsize
            reserve = min(disk.f_blocks * disk.f_frsize // RESERVE_SHARES_OF_DISK, MOST_RESERVE_BYTES)
            share = (free + size) // LOG_SHARES_OF_FREE
            if free < reserve:
                return self.stop("free_space", max(reserve // 16, LEAST_ROOM))
            if size > share:
                return self.stop("log_share", max(size // 4, LEAST_ROOM))
            left = min(left, share - size, free - reserve)
        self._ask_at_bytes = size + min(left, max(left // 4, LEAST_BETWEEN_QUESTIONS))
        return None


class _Log:
    """The plug-in's own record log. A failure costs records; the caller counts them."""

    def __init__(self, directory: str, host: str, pid: int, start_ns: int) -> None:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        for recorder in range(1000):
            self.name = f"{host.replace('/', '_')}-{pid}-{start_ns}-{recorder}.jsonl"
            self.path = os.path.join(directory, self.name)
            try:
                self._file = _OwnFile(self.path, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW)
            except FileExistsError:
                continue
            break
        else:
            raise FileExistsError(f"{directory}: no free name for a record log")
        self.recorder = recorder
        self.unwritten = 0  # lines that got lost
        self.tasks_left_out = 0  # because the disk had no room
        self.limits = _Limits()
        self._room = _ReservedDiskSpace(directory)
        self._size = 0
        self._torn = False
        self._first_line = None
        with contextlib.suppress(OSError):  # on a file system without locks, only the "still running" mark is missing
            fcntl.flock(self._file.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def begin(self, first_line: bytes) -> None:
        """Writes the first line, without which the log is useless. On a full disk it does so as soon as there is
        room."""
        self._first_line = None
        if not self.write_kept(first_line):
            self._first_line = first_line

    def write_task(self, line: bytes) -> None:
        """Writes the line of a task; if the disk is short, counts the task as left out."""
        if self.limits.allow(self._file.fd, self._size) and self._write(line):
            return
        if self.limits.reason is None:
            self.unwritten += 1
        else:
            self.tasks_left_out += 1

    def write_kept(self, line: bytes, is_last: bool = False) -> bool:
        """Writes a line for which room is kept: sums, and the last line. False if the caller has to try again; a
        partial line does not count."""
        return (self.limits.take_room(len(line)) or is_last) and self._write(line, is_kept=True)

    def _write(self, line: bytes, is_kept: bool = False) -> bool:
        if self._first_line is not None:
            self.begin(self._first_line)
            if self._first_line is not None:
                return False
        error = self._append(line)
        if is_kept and error in DISK_IS_FULL and self._room.give(len(line)):
            error = self._append(line)
        if error in DISK_IS_FULL:
            self.limits.stop("disk_full", KEPT_BYTES)
        elif error == errno.EFBIG:
            self.limits.stop("file_size", LEAST_ROOM)
        return error == 0

    def _append(self, line: bytes) -> int:
        """Returns 0, or errno; a partial line counts as a full disk."""
        text = b"\n" + line if self._torn else line
        try:
            written = self._file.append(text)
        except OSError as error:
            return error.errno
        self._size += written
        self._torn = written < len(text)
        return 0 if written >= len(text) - 1 else errno.ENOSPC  # the newline alone is missing: the next line brings it

    def close(self) -> None:
        self._file.close()
        self._room.close()


def _size_of(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _read_blob(path: str, offset: int) -> bytes:
    """Returns whole lines from `offset` on, at most BLOB_BYTES."""
    try:
        with open(path, "rb", buffering=0) as file:
            file.seek(offset)
            blob = file.read(BLOB_BYTES)
    except OSError:
        return b""
    return blob[: blob.rfind(b"\n") + 1]


class _Neighbour:
    """A log beside this worker's own. It belongs to another worker, or to a process that a task of some worker
    started."""

    def __init__(self, path: str, pid: int) -> None:
        """Raises the reader's error if the first line is missing or incomplete."""
        self.path = path
        self.pid = pid
        with open(path, "rb") as file:
            first = json.loads(file.readline(BLOB_BYTES))
        self.run_id = first["run_id"]
        self.is_worker = (first.get("attributes") or {}).get("engine") == "dask"
        self.is_below = _descends_from_this(first.get("parent_pid"))


def _descends_from_this(pid) -> bool:
    """Whether the process is this one, or below it. False if a process in between has ended."""
    own, generations = os.getpid(), 0
    while isinstance(pid, int) and pid > 1 and generations < 100:
        if pid == own:
            return True
        try:
            with open(f"/proc/{pid}/stat") as file:
                pid = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return False
        generations += 1
    return False


def _activity_row(key, value):
    """Converts an entry of `Worker.digests_total` to [context, span, function, activity, unit, value]. None if it is no
    activity."""
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
    function = None if function is None else _name(function)
    return [str(context), span, function, activity, str(unit), value]


def _why_not_alone(worker) -> str | None:
    """Why crema cannot measure this process as this worker; None if it can."""
    others = [other for other in type(worker)._instances if other is not worker and other.status.name != "closed"]
    if worker.address.startswith("inproc://") or others:
        return "workers that share a process (processes=False) cannot be distinguished"
    return None


def _without_workers() -> dict:
    """Arguments that keep the list of all workers out of a scheduler's identity. Dask 2025.3 has no such argument."""
    return {"n_workers": 0} if "n_workers" in inspect.signature(Scheduler.identity).parameters else {}


class _ActiveThreads(collections.abc.MutableMapping):
    """Replaces a worker's `active_threads` (thread to key). Each task's own thread enters the task there when it
    begins, and removes it when it ends. Only this place shows the thread of every task, whatever happens to the task
    meanwhile.

    `inner` is the worker's own dictionary, which is kept up to date. `runs` has for each key [thread, CLOCK_MONOTONIC
    ns when it began, when it ended].
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
    often the plug-in looks for new records. `sample_seconds`: how often it samples the process; 0: never.
    `sections_in_dask`: whether guards also pass the sections of their chunks to Dask (docs/dask_reference.md).
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
        # The client makes this, so that the user's settings apply on the workers, too.
        self.asked = {name: os.environ[name] for name in ASKED_FOR if name in os.environ}

    # -- Life ---------------------------------------------------------------------------------------------------------

    def __reduce__(self):
        return _for_one_python(self, "__import__('distributed').WorkerPlugin()")  # which does nothing

    async def setup(self, worker) -> None:
        self.worker = worker
        self.log = None
        self.failure = None
        self._stamps = {}  # key: (scheduler_delay, time) when a thread got it
        self._seceded = {}  # key: monotonic ns when it gave its thread back to the pool
        self._arrived = {}  # key: monotonic ns when the scheduler's order came
        self._unnoted = 0  # tasks that this plug-in could not record
        self._attempts = {}  # key: how often it failed here; the latest key is last
        self._environment = {}  # variables that this plug-in set
        self._switched_on = False
        self._sent = {}  # log's name: bytes that the scheduler has
        self._own_logs = []  # names
        self._neighbours = {}  # log's name: its first line
        self._finished = set()  # names of logs that ended and are sent
        self._just_finished = []  # those of them whose processes the scheduler may still consider alive
        self._held = set()  # names of neighbours whose processes lived at the last look at the directory
        self._listed_ns = None  # time of the directory's latest change for which all its logs are known
        # Totals of Dask's activities as last written, perhaps by a plug-in that this one replaces.
        self._fine = worker.__dict__.setdefault("crema_told", {})
        self._summed_ns = 0  # when they were last written
        self._sampled_ns = 0
        self._step_ns = 0  # how far the wall clock was stepped until the last sample
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
        except Exception as error:  # the job goes on without records of this worker
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
        # The run's name may not distinguish clusters: a log that began before the scheduler belongs to another cluster.
        named_after_cluster = run_id == "dask-" + scheduler_id
        self._adopted_from_ns = 0 if named_after_cluster else int(float(identity.get("started", 0)) * 1e9)
        self.start_ns = self._start_as_logged(self.clock.process_start_ns())
        self.log = _Log(self.record_directory, self.host, self.pid, self.start_ns)
        self.run_id_in_force = run_id
        self.log.begin(self._process_line(run_id))
        self._enable_recording(run_id)

    def _start_as_logged(self, start_ns: int) -> int:
        """The start of this process, as an earlier recorder of the process wrote it: two computations may differ by a
        millisecond."""
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
        """Makes guards of this process that begin from now on record into the directory."""
        was_on = bool(os.environ.get("CREMA_DIR")) or self._native("crema_enabled")
        for name, value in (
            ("CREMA_DIR", self.record_directory),
            ("CREMA_RUN_ID", run_id),
            ("CREMA_THREADS", str(self.worker.state.nthreads)),
            ("CREMA_INTERVAL", "0"),  # the plug-in takes the samples
            *self.asked.items(),
        ):
            if name not in os.environ:
                os.environ[name] = self._environment[name] = value
        self._switched_on = not was_on
        # Guards that ran before found recording off, and do not check again.
        recorder = sys.modules.get("crema_hep.recorder")
        if recorder is not None:
            recorder.enable()
        else:
            self._native("crema_enable", None)

    @staticmethod
    def _native(name, *arguments):
        """Calls a function of the library if this process has loaded it; otherwise returns 0."""
        recorder = sys.modules.get("crema_hep.recorder")
        if recorder is not None:
            return recorder.library.functions[name](*arguments)
        with contextlib.suppress(OSError, AttributeError):
            return getattr(ctypes.CDLL("libcrema.so.1", mode=os.RTLD_NOLOAD | os.RTLD_LAZY), name)(*arguments)
        return 0

    def _leave_no_trace(self) -> None:
        """Restores what guards of this process found before the plug-in came."""
        for name, value in self._environment.items():
            if os.environ.get(name) == value:
                del os.environ[name]
        if self._switched_on:
            self._native("crema_disable")

    async def _say_hello(self) -> None:
        """Reports to the scheduler's plug-in which process this is. Without that plug-in the logs stay in files."""
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
        if worker.status.name == "running":  # otherwise its process ends, and its tasks are recorded to the end
            self._leave_no_trace()

    async def _last_drain(self) -> None:
        async with self._busy:
            if self.log is not None:
                self._write_what_the_package_keeps()
                self._write_open_tasks()
                self.log.unwritten += self._write_fine()
                self._write_sample()
                self.log.write_kept(
                    _line(
                        type="end",
                        time_ns=self.clock.now_ns(),
                        realtime_offset_ns=self.clock.offset_ns(),
                        chunks=0,
                        failed=0,
                        open=0,
                        dropped=self.log.unwritten + self._unnoted,
                        summed_chunks=0,
                        misused=0,
                        unwritten=self.log.unwritten,
                        outside_chunks=0,
                        tasks_left_out=self.log.tasks_left_out,
                        overhead_ns=0,
                    ),
                    is_last=True,
                )
                self._adopt_at_ns = []
                if self._said:
                    await self._push_all(is_asked=True)

    # -- Tasks --------------------------------------------------------------------------------------------------------

    def transition(self, key, start, finish, **kwargs) -> None:
        try:
            if finish == "long-running":
                self._seceded[key] = time.monotonic_ns()
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
        except Exception:  # an error here must not become a failed task
            self._unnoted += 1

    def _still_runs(self, key) -> bool:
        """Whether the task is cancelled and still runs: Dask then releases it only in name."""
        task = self.worker.state.tasks.get(key)
        return getattr(task, "state", None) in ("cancelled", "resumed") and not getattr(task, "done", True)

    def _write_open_tasks(self) -> None:
        """Writes lines of tasks that still run, because chunks that ended in them belong to them. The rest of such a
        task is written at its end."""
        for key in list(self._threads.runs):
            with contextlib.suppress(Exception):
                self._write_task(key, "executing")

    def _write_task(self, key, finish) -> None:
        take = dict.get if finish == "executing" else dict.pop
        stamp = take(self._stamps, key, None)
        run = take(self._threads.runs, key, None)
        arrived_ns = take(self._arrived, key, None)
        seceded_ns = take(self._seceded, key, None)
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
        elif attempt and finish != "executing":
            del self._attempts[key]
        began_ns = int(began * 1e9) + shift_ns
        queue_ns = None if arrived_ns is None else max(0, began_ns - self.clock.anchor_ns - arrived_ns)
        text = _name(key)
        lane_stop_ns = None if seceded_ns is None else seceded_ns + self.clock.anchor_ns
        prefix = getattr(task, "prefix", None)
        prefix = None if prefix is None else _name(prefix)
        span = getattr(task, "span_id", None)
        self.log.write_task(
            (
                f'{{"type":"task","key":{_text(text)},"prefix":{_text(prefix)},"group":null,"span":{_text(span)},'
                f'"thread":{_number(thread)},"start_ns":{start_ns},"stop_ns":{stop_ns},'
                f'"outcome":{_text(finish)},"attempt":{attempt},"worker":{_text(worker.address)},"engine":"dask",'
                f'"queue_ns":{_number(queue_ns)},"lane_stop_ns":{_number(lane_stop_ns)}}}\n'
            ).encode()
        )

    @staticmethod
    def _compute_times(task, delay, began, now):
        """When the task ran, on this worker's wall clock. Dask adds `delay` to both times: its estimate of how far the
        scheduler's clock was ahead when the thread got the task."""
        for entry in reversed(getattr(task, "startstops", None) or ()):
            if entry.get("action") != "compute":
                continue
            start, stop = entry["start"] - delay, entry["stop"] - delay
            if stop < began:
                break  # of an earlier attempt
            return max(start, began), min(stop, now)
        return began, now

    # -- Activities, samples, clock -----------------------------------------------------------------------------------

    def _write_fine(self) -> int:
        """Writes the growth of Dask's activities since the last such line. Returns how many lines were not written; the
        next lines will contain their values."""
        changed = []
        for key, value in list((getattr(self.worker, "digests_total", None) or {}).items()):
            before = self._fine.get(key, 0)
            if value == before:
                continue
            row = _activity_row(key, value - before)
            if row is not None:
                changed.append((key, value, row))
        not_written = 0
        for at in range(0, len(changed), 1000):
            part = changed[at : at + 1000]
            line = _line(
                type="fine",
                time_ns=self.clock.now_ns(),
                worker=self.worker.address,
                engine="dask",
                rows=[row for _, _, row in part],
            )
            if self.log.write_kept(line):
                self._fine.update((key, value) for key, value, _ in part)
            else:
                not_written += 1
        return not_written

    def _write_sample(self) -> None:
        now_ns = self.clock.now_ns()
        self._step_ns = self.clock.offset_ns()
        with open("/proc/self/statm") as file:
            rss_bytes = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        with open("/proc/self/status") as file:
            threads = next((int(text.split()[1]) for text in file if text.startswith("Threads:")), None)
        self._sampled_ns = now_ns
        self.log.unwritten += not self.log.write_kept(
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
        """Writes the scheduler's clock minus this log's, if it is known more precisely than before."""
        if self._clock_width_ns is not None and width_ns > 0.8 * self._clock_width_ns:
            return
        line = _line(
            type="clock",
            time_ns=self.clock.now_ns(),
            reference=self.reference,
            offset_ns=offset_ns,
            uncertainty_ns=width_ns,
        )
        if self.log.write_kept(line):
            self._clock_width_ns = width_ns

    def _take_reply(self, reply, before_ns: int, after_ns: int) -> None:
        """`before_ns` and `after_ns`: CLOCK_MONOTONIC around the call. The scheduler answered between the two."""
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
                await self._say_hello()  # its plug-in may come later; the scheduler logs each failed call
                again = min(2 * again, 600)
                patience = again
            if self._busy.locked():
                continue
            with contextlib.suppress(Exception):
                await self._drain()

    async def _drain(self, is_asked: bool = False) -> None:
        async with self._busy:
            if self.log is None or self._closed:
                return
            seconds = self.log.limits.seconds_between()
            now_ns = self.clock.now_ns()
            if is_asked:
                self._write_open_tasks()
            if is_asked or now_ns - self._summed_ns >= seconds * 1e9:
                self._summed_ns = now_ns
                self._write_fine()
            if self.sample_seconds and now_ns - self._sampled_ns >= max(self.sample_seconds, seconds) * 1e9:
                self._write_sample()
            if self._said:
                await self._push_all(is_asked)

    async def _answer_drain(self, **kwargs):
        self._write_what_the_package_keeps()
        # Sections outside chunks, sampled functions and sums: without a sampler the SDK writes them at its end only.
        await asyncio.to_thread(self._native, "crema_flush")
        await self._drain(is_asked=True)
        return {"failure": self.failure, "dropped": 0 if self.log is None else self.log.unwritten + self._unnoted}

    @staticmethod
    def _write_what_the_package_keeps() -> None:
        for write in getattr(sys.modules.get("crema_hep.recorder"), "before_writing", ()):
            write()

    async def _push_all(self, is_asked: bool = False) -> None:
        names = await asyncio.to_thread(self._logs_to_send, is_asked)
        ended = [(name, 0, b"") for name in names if name not in self._sent]
        ended += [(name, self._sent[name], b"") for name in self._just_finished]
        if ended:
            await self._push(ended)
            self._just_finished = []
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
        """Returns the new parts of logs as (name, offset, bytes), up to about the size of one push."""
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

    def _logs_to_send(self, is_asked: bool) -> list[str]:
        """The logs of this process and of processes that tasks started. If a worker of this host died, its logs, too.
        Several workers may send one log: the scheduler keeps it once."""
        now_ns = time.monotonic_ns()
        adopting = is_asked or any(at_ns <= now_ns for at_ns in self._adopt_at_ns)
        self._adopt_at_ns = [at_ns for at_ns in self._adopt_at_ns if at_ns > now_ns]
        self._look_for_logs()
        workers = {log.pid for log in self._neighbours.values() if log.is_worker}
        names = list(self._own_logs)
        self._held = set()
        for name, log in list(self._neighbours.items()):
            if log.run_id != self.run_id_in_force or (log.pid in workers and not adopting):
                continue
            if _is_held(log.path):
                self._held.add(name)
                # A worker that left may still be closing. Workers that are there send their logs themselves.
                if not (is_asked and self._known_leaves if log.pid in workers else is_asked or log.is_below):
                    continue
            elif name in self._sent and self._sent[name] >= _size_of(log.path):
                if log.pid not in workers:
                    self._finished.add(name)
                    self._just_finished.append(name)
                    del self._neighbours[name]
                continue
            names.append(name)
        return names

    def _look_for_logs(self) -> None:
        """Finds logs that are new in the directory."""
        try:
            changed_ns = os.stat(self.record_directory).st_mtime_ns
            names = [] if changed_ns == self._listed_ns else os.listdir(self.record_directory)
        except OSError:
            return
        unreadable = False
        for name in names:
            if name in self._own_logs or name in self._neighbours or name in self._finished:
                continue
            match = LOG_NAME.match(name)
            if match is None or match["host"] != self.host.replace("/", "_"):
                continue
            if int(match["pid"]) == self.pid and abs(int(match["start"]) - self.start_ns) < 1_000_000_000:
                self._own_logs.append(name)
            elif int(match["start"]) >= self._adopted_from_ns:
                try:
                    self._neighbours[name] = _Neighbour(os.path.join(self.record_directory, name), int(match["pid"]))
                except (OSError, ValueError, KeyError, TypeError, AttributeError):
                    unreadable = True  # perhaps its first line is still being written
        # A file's time is only as fine as the clock tick, so look again for logs that came within one tick.
        is_settled = not unreadable and time.time_ns() - changed_ns > LISTING_SETTLES_NS
        self._listed_ns = changed_ns if is_settled else None

    def _look_for_logs_left(self) -> None:
        now_ns = time.monotonic_ns()
        self._adopt_at_ns = [now_ns + int(seconds * 1e9) for seconds in ADOPT_AFTER_SECONDS]

    def _is_gone(self, name: str) -> bool:
        """Whether the process of this log has ended."""
        return name not in self._own_logs and name not in self._held

    async def _push(self, parts) -> None:
        """Sends bytes of logs, all in one call, and notes how many the scheduler has. It may be repeated."""
        before_ns = time.monotonic_ns()
        call = self.worker.scheduler.crema_push(
            worker=self.worker.address,
            closing=self._closed and self.worker.status.name != "running",
            parts=[
                {"source": name, "offset": offset, "blob": blob, "adopted": self._is_gone(name)}
                for name, offset, blob in parts
            ],
        )
        reply = await asyncio.wait_for(call, PUSH_SECONDS)
        self._take_reply(reply, before_ns, time.monotonic_ns())
        self._sent.update(zip((name for name, _, _ in parts), reply["have"]))


class _Ring:
    """Lines and blobs in the order in which they came. A cursor counts bytes. When the ring is full, the oldest are
    dropped.

    `kept` lines are never dropped: a reader that starts at the beginning gets them first.
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
        """Adds a line and the records that follow it. The two are never separated, and the records are not copied."""
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
        """Returns what came from `since` on, up to about `limit` bytes, and the cursor for the next page."""
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
        "gil_contention": metrics.get("gil_contention"),  # where gilknocker is installed
    }


def _last_status(scheduler, worker: str) -> str | None:
    """The last status that a worker reported before it left: `closing` if it left in order."""
    with contextlib.suppress(Exception):
        events = (event for _, event in reversed(scheduler.get_events(worker)) if isinstance(event, dict))
        changes = (event["status"] for event in events if event.get("action") == "worker-status-change")
        return next(changes, "running")
    return None


# Operations of the scheduler's plug-in for workers and clients: `crema_hello` and so on.
OPERATIONS = ("hello", "push", "pull", "flush", "session", "detach")


class CremaSchedulerPlugin(SchedulerPlugin):
    """Keeps what workers send and what the scheduler knows, and serves it as NDJSON (docs/dask_log.md).

    `sample_seconds`: how often it samples workers. `keep_bytes`: how many bytes of records and samples it keeps.
    `path`: a file on the scheduler's machine into which it also writes everything, as long as the disk has room (as for
    record logs).
    """

    name = NAME
    idempotent = True
    preloaded = False

    def __init__(self, sample_seconds=SAMPLE_SECONDS, keep_bytes=KEEP_BYTES, path=None):
        self.sample_seconds = sample_seconds
        self.keep_bytes = keep_bytes
        self.path = path

    # -- Life ---------------------------------------------------------------------------------------------------------

    def __reduce__(self):
        return _for_one_python(self, "(_ for _ in ()).throw(RuntimeError(f'it comes from Python {version}'))")

    async def start(self, scheduler) -> None:
        self.scheduler = scheduler
        self.epoch = uuid.uuid4().hex
        self.ring = _Ring(self.keep_bytes)
        self.have = {}  # source: bytes that came
        self._gone = set()  # sources whose processes have ended according to the stream
        self.leaves = 0
        self._restarting = set()  # workers that `client.restart` ends
        self._unheard = set()  # workers that sent no heartbeat for too long
        self._closing = set()  # workers that said so; the change of status may arrive after they are gone
        self._broken = set()  # workers that left without a word
        self._plugged = set()  # workers whose plug-in said hello
        self._seen = {}  # worker: the `last_seen` of its last sample
        self._accounts = {}
        self._spans_done = set()
        self._busy_ns = 0  # CPU time: on a busy machine, wall time would include other processes
        self._sessions = {}  # collector: when it began to measure
        self._file = None
        if self.path:
            with contextlib.suppress(OSError):
                self._file = _OwnFile(self.path, os.O_CREAT)
                self._file_bytes = os.fstat(self._file.fd).st_size
                self._limits = _Limits()
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
        """Adds the routes. They cannot be removed, so they look up the plug-in, and also find one that is registered
        later."""
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
        """Called when the plug-in was unregistered: removes what it put on the scheduler, and what it kept."""
        for name in OPERATIONS:
            # Compares the object: the class is sent by value, so attaching again gives it new functions.
            if getattr(self.scheduler.handlers.get("crema_" + name), "__self__", None) is self:
                del self.scheduler.handlers["crema_" + name]
        self._close_file()
        self.ring = _Ring(0)

    async def detach(self, id=None, timeout=PUSH_SECONDS) -> dict:
        """Removes the plug-ins, unless others measure. `left` says why not, or which workers did not answer."""
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
        if self._file is None:
            return
        written = 0
        if self._limits.allow(self._file.fd, self._file_bytes):
            with contextlib.suppress(OSError):
                written = self._file.append(line + records)
        self._file_bytes += written
        if written < len(line) + len(records):  # a reader finds the end of the last complete record
            self._close_file()

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

    def push(self, worker=None, parts=(), closing=False) -> dict:
        """Takes the new part of each log, and returns how much of the log is here. Does not look at the bytes.
        `closing`: the worker leaves in order."""
        begin_ns = time.thread_time_ns()
        if closing and worker in self.scheduler.workers:
            self._closing.add(worker)
        elif closing and worker in self._broken:  # its connection broke before it could say so
            self._broken.discard(worker)
            self._append_leave(worker, reason=None, status="closing")
        have = [self._take(worker, **part) for part in parts]
        self._busy_ns += time.thread_time_ns() - begin_ns
        return self._reply(have=have)

    def _take(self, worker, source, offset, blob, adopted=False) -> int:
        blob = bytes(blob)
        have = self.have.get(source, 0)
        new = blob[have - offset :] if offset <= have else b""
        if new or (adopted and have and source not in self._gone):
            if adopted:
                self._gone.add(source)
            mark = ',"adopted":true' if adopted else ""
            head = (
                f'{{"type":"records","time_ns":{time.time_ns()},"source":{_text(source)},"worker":{_text(worker)},'
                f'"offset":{have},"bytes":{len(new)}{mark}}}\n'
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
        """Makes every worker send what it has, and adds what the scheduler knows now. Waits at most `timeout`
        seconds."""
        workers = list(self.scheduler.workers)
        answers = await asyncio.gather(*(self._ask_to_drain(address, float(timeout)) for address in workers))
        silent = {address: why for address, why in zip(workers, answers) if why is not None}
        self._look(everything=True)
        reply = {"epoch": self.epoch, "time_ns": time.time_ns(), "workers": len(workers), "silent": silent}
        reply["cursor"] = self.ring.next
        self._append(type="flush", **reply)
        return reply

    async def _ask_to_drain(self, address: str, timeout: float) -> str | None:
        """Why the worker did not do it; None if it did."""
        if address not in self._plugged and NAME in self.scheduler.worker_plugins:
            return "did not take the plug-in yet"  # it does not answer: a call would only wait
        call = self.scheduler.broadcast(msg={"op": "crema_drain"}, workers=[address], on_error="return")
        try:
            reply = (await asyncio.wait_for(call, timeout)).get(address)
        except Exception:
            return "did not answer in time"
        if isinstance(reply, dict) and "dropped" in reply:
            return None
        return "has no crema plug-in" if reply is None or "crema_drain" in str(reply) else str(reply)[:200]

    async def session(self, id=None, event=None, timeout=PUSH_SECONDS, **fields) -> dict:
        """Marks the begin or the end of one collector's measurement. Records from before the begin are drained before
        it; those from before the end are there by `flushed_ns`. The event "plan" only announces how many events will
        come."""
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
        # a nanny ends a worker that sends no heartbeat; the broken connection is only a consequence
        reason = "check-worker-ttl" if worker in self._unheard else kwargs.get("stimulus_id")
        status = "closing" if worker in self._closing else _last_status(scheduler, worker)
        if status in ("running", "paused"):
            self._broken.add(worker)
        self._append_leave(worker, reason, "restarting" if worker in self._restarting else status)
        for left in (self._restarting, self._unheard, self._closing):
            left.discard(worker)

    def _append_leave(self, worker, reason, status) -> None:
        fields = {"time_ns": time.time_ns(), "worker": worker, "reason": reason, "status": status}
        self._append(type="worker", event="leave", **fields)

    def log_event(self, topic, msg) -> None:
        if isinstance(msg, dict) and msg.get("action") == "worker-ttl-timed-out":
            self._unheard.update(msg.get("workers") or ())

    def restart(self, scheduler) -> None:
        self._restarting = set(scheduler.workers)

    def transition(self, key, start, finish, *args, **kwargs) -> None:
        if finish == "erred":
            error = kwargs.get("exception_text")
            text = None if error is None else _without_secrets(str(error)[:MOST_ERROR])
            self._append(
                keep=False,
                type="erred",
                time_ns=time.time_ns(),
                key=_name(key),
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
                self._write_spans(now_ns)
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
        """Writes the changes of Dask's own account of seconds, by prefix, since the scheduler began."""
        rows = []
        for prefix, state in list(self.scheduler.task_prefixes.items()):
            seconds = {str(action): value for action, value in dict(state.all_durations).items()}
            if self._accounts.get(prefix) == seconds:
                continue
            self._accounts[prefix] = seconds
            rows.append({"prefix": _name(prefix), "seconds": seconds})
        if rows:
            self._append(type="account", time_ns=now_ns, rows=rows)

    def _write_spans(self, now_ns: int) -> None:
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
