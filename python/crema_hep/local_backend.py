"""Measures this process and its children: the backend of `MetricsCollector` without Dask."""

import atexit
import fcntl
import json
import os
import pathlib
import shutil
import socket
import sys
import tempfile
import time

from . import nanoevents, program, recorder
from .notice import warn


def _is_held(log) -> bool:
    """Whether the process that writes the log still lives: it then holds a lock (flock(2)) on the log."""
    descriptor = os.open(log, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _size_of(log) -> int:
    """0 if somebody has removed it."""
    try:
        return log.stat().st_size
    except FileNotFoundError:
        return 0


def _process_of(log):
    """The process id in a log's name, which is host-pid-start-recorder.jsonl; None for other files."""
    parts = log.stem.rsplit("-", 3)
    return int(parts[1]) if len(parts) == 4 and parts[1].isdecimal() else None


def _parent_of_living(pid):
    """The parent of a process of this machine; None where it has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


def _parents_in(logs) -> dict:
    """{log: (pid, parent's pid)} of the logs that processes of this host wrote, from their first lines."""
    parents = {}
    for log in logs:
        try:
            with open(log, "rb") as file:
                first = json.loads(file.readline(1 << 20))
            if first["host"] == socket.gethostname():
                parents[log] = (int(first["pid"]), int(first.get("parent_pid") or 0))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return parents


def _own_logs(logs) -> tuple:
    """The logs of this process and of processes that began below it, and how many other logs there are. If the parent
    of a process has ended (a shell in between, for example), its log belongs to this process if all other logs do."""
    parents = _parents_in(logs)
    parent_of = dict(parents.values())

    def root(pid):
        """This process, or the oldest known living process above it; None if the process directly above has ended."""
        for _ in range(100):
            if pid == os.getpid():
                return pid
            above = parent_of.get(pid) or _parent_of_living(pid)
            if above is None:
                return None
            if above <= 1:
                return above
            pid = above
        return None

    roots = {log: root(pid) for log, (pid, _) in parents.items()}
    own = {log for log, found in roots.items() if found == os.getpid()}
    unknown = {log for log, found in roots.items() if found is None}
    others = len(logs) - len(own) - len(unknown)
    return (own | unknown, 0) if others == 0 else (own, others + len(unknown))


def _copy_from(log, offset, target) -> None:
    """The log's first line, and its lines from `offset` on."""
    with open(log, "rb") as source, open(target, "xb") as copy:
        if offset > 0:
            copy.write(source.readline())
            source.seek(offset - 1)
            source.readline()  # the rest of a line that was being written then
        shutil.copyfileobj(source, copy)


def scratch_directory(before_removal=None) -> pathlib.Path:
    """A directory that is removed when this process ends."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="crema-"))
    owner = os.getpid()

    def remove():
        if os.getpid() != owner:
            return
        if before_removal is not None:
            before_removal()
        shutil.rmtree(path, ignore_errors=True)

    atexit.register(remove)
    return path


class LocalBackend:
    """Records this process, and children that begin, from `start` to `stop`: by fork, spawn or the fork server of
    `multiprocessing`, or as programs of their own.

    A process has one log for its life. So the copies that are measured leave out what was recorded before `start`. Logs
    of other programs that record into the same directory are left out, too.
    """

    takes_all = False  # whether to measure other processes as well, perhaps on other hosts

    def __init__(self, track_workers=True, worker_tracking_interval=1.0):
        self._interval = worker_tracking_interval if track_workers else 0
        self._directory = None
        self._sizes = {}
        self._was_on = self._records_children = False
        self._older_children = []
        self._start_ns = self._stop_ns = None
        self._records = None

    def start(self) -> None:
        self._was_on = recorder.enabled()
        try:
            self._begin()
        except BaseException:  # no block follows whose end would do so
            self._end()
            raise

    def _begin(self) -> None:
        self._directory = recorder.directory() or recorder.named_directory()
        if not self._directory:  # end the log first: the sampler would report that it vanished
            self._directory = scratch_directory(recorder.end)
        nanoevents.forget_files()
        if not recorder.enable(self._directory, interval=self._interval):
            raise RuntimeError(f"recording into {self._directory} could not be switched on")
        multiprocessing = sys.modules.get("multiprocessing")
        self._older_children = [] if multiprocessing is None else multiprocessing.active_children()
        self._sizes = {log: _size_of(log) for log in pathlib.Path(self._directory).glob("*.jsonl")}
        self._start_ns = time.time_ns()
        recorder.flush()  # a first sample
        recorder.record_children(self._directory)
        self._records_children = True

    def _end(self) -> None:
        """Restores what `_begin` changed, if it changed it."""
        if self._records_children:
            self._records_children = False
            recorder.record_children(None)
        try:
            recorder.flush()
        finally:
            if not self._was_on and recorder.enabled():
                recorder.disable()

    def stop(self) -> None:
        self._stop_ns = time.time_ns()
        self._end()
        self._records = scratch_directory()
        try:
            self._copy_records()
        except OSError as error:
            reason = f"its records cannot be copied into {self._records} ({error.strerror or error})"
            raise RuntimeError(f"{reason}: set TMPDIR to a directory with room") from error

    def _copy_records(self) -> None:
        logs = list(pathlib.Path(self._directory).glob("*.jsonl"))
        grown = [log for log in logs if _size_of(log) > self._sizes.get(log, 0)]
        own, left_out = (grown, 0) if self.takes_all else _own_logs(grown)
        if left_out > 0:
            one = left_out == 1
            what = "one log" if one else f"{left_out} logs"
            warn(
                f"crema: {what} in {self._directory} {'is' if one else 'are'} not measured: "
                f"{'its process' if one else 'their processes'} did not begin below this one",
            )
        for log in own:
            offset = self._sizes.get(log, 0)
            name = f"{log.stem}.live.jsonl" if offset > 0 or _is_held(log) else log.name
            _copy_from(log, offset, self._records / name)
        logged = {pid for log in logs if (pid := _process_of(log)) is not None}
        silent = [child.pid for child in self._older_children if child.pid not in logged]
        if silent:
            one = len(silent) == 1
            warn(
                f"crema: {'one child process' if one else f'{len(silent)} child processes'} that began before the "
                f"measurement (pid {silent[0]}{')' if one else ' and others)'} {'is' if one else 'are'} not measured: "
                "begin pools inside the block, or set CREMA_DIR before they begin",
            )

    def sources(self) -> list:
        """The sources for `crema collect`."""
        return [self._records] if self._records is not None and any(self._records.iterdir()) else []

    def measure(self, output, arguments) -> None:
        """Makes the measurement in the directory `output`, with further arguments of `crema collect`."""
        if self._stop_ns is None:
            raise RuntimeError("crema: nothing was measured: the records were not taken when the block ended")
        bounds = ["--start", f"{self._start_ns / 1e9:.6f}", "--stop", f"{self._stop_ns / 1e9:.6f}"]
        program.run("collect", *self.sources(), "-o", output, "--run", "all", "-q", *bounds, *arguments)


def backend_of(collector) -> LocalBackend:
    """The collector's, for `backends`."""
    return LocalBackend(collector.track_workers, collector.worker_tracking_interval)
