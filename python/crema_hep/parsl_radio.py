"""Records tasks of Parsl's executors in the processes that run them, for `parsl_backend`.

If Parsl's monitoring is on, a task's process makes a radio at the begin and one at the end of the task, in the task's
thread, and sends a message with each. `TaskRadio` wraps the executor's own radio. It notes both times, and writes a
line `task` (docs/record_log.md) into a log beside the SDK's. Chunks of the same thread then belong to the task. A
failure costs records, never a task.
"""

import contextlib
import errno
import fcntl
import glob
import json
import os
import pathlib
import resource
import socket
import sys
import threading
import time

from parsl.monitoring.message_type import MessageType
from parsl.monitoring.radios.base import MonitoringRadioSender, RadioConfig

from . import recorder

_HIGHEST_DESCRIPTOR = 1024  # as in dask_plugin: docs/design.md, "Descriptors in a process that is not ours"
# Unix time that does not follow steps of the wall clock, as in the SDK.
_AHEAD_NS = time.time_ns() - time.monotonic_ns()

_begun = {}  # (run, task, try): when it began. Neither radio of a task lives long enough to keep it
_log = None


class _Log:
    """A record log of this process beside the SDK's log, which identifies this process by its name and first line."""

    def __init__(self, directory, worker):
        self.pid = os.getpid()
        places = [pathlib.Path(place) for place in (os.environ.get("CREMA_DIR"), directory) if place]
        host = glob.escape(socket.gethostname().replace("/", "_"))
        logs = [log for place in places for log in place.glob(f"{host}-{self.pid}-*-0.jsonl")]
        log_of_sdk = max(logs, key=lambda log: int(log.stem.split("-")[-2]))  # older processes may have had this pid
        stem = log_of_sdk.name.removesuffix("0.jsonl")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        number = 1
        while True:
            try:
                self._descriptor = os.open(log_of_sdk.with_name(f"{stem}{number}.jsonl"), flags, 0o600)
                break
            except FileExistsError:
                number += 1
        self._identity = self._identify()
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        highest = _HIGHEST_DESCRIPTOR if soft == resource.RLIM_INFINITY else min(soft, _HIGHEST_DESCRIPTOR)
        with contextlib.suppress(OSError):  # no high number is free: keep the low one
            low = self._descriptor
            self._descriptor = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, highest - highest // 4)
            os.close(low)
        self._torn = False
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the lock shows that the process lives
        with open(log_of_sdk, "rb") as log:
            process = json.loads(log.readline())
        self.write({**process, "recorder": number, "attributes": {"engine": "parsl", "worker": worker}})

    def _identify(self) -> tuple:
        status = os.fstat(self._descriptor)
        return status.st_dev, status.st_ino

    def write(self, line) -> None:
        if self._identify() != self._identity:  # a task closed it, and its number is that of a file of the task
            raise OSError(errno.EBADF, "somebody closed it")
        text = b"\n" * self._torn + json.dumps(line, separators=(",", ":")).encode() + b"\n"
        self._torn = os.write(self._descriptor, text) < len(text)


def _worker() -> str:
    """The worker's name as in the names of HTEX's logs. Each process is a worker."""
    names = [os.environ.get(f"PARSL_WORKER_{name}") for name in ("BLOCK_ID", "POOL_ID", "RANK")]
    if None in names:
        return f"parsl:{os.getpid()}"
    return "block-{}/{}/worker_{}".format(*names) + f":{os.getpid()}"


def _note(message, directory) -> None:
    global _log
    kind, task = message
    if kind is not MessageType.WORKER_TASK_INFO:
        return
    key = (task["run_id"], task["task_id"], task["try_id"])
    if task.get("first_msg"):
        recorder.enable(directory)
        _begun[key] = time.monotonic_ns()
        return
    now_ns, failed = time.monotonic_ns(), sys.exc_info()[0] is not None
    start_ns = _begun.pop(key, None)
    if start_ns is None:
        return
    worker = _worker()
    if _log is None or _log.pid != os.getpid():
        _log = _Log(directory, worker)
    _log.write(
        {
            "type": "task",
            "key": f"{task['run_id']}/{task['task_id']}",
            "prefix": None,
            "group": None,
            "span": None,
            "thread": threading.get_ident(),
            "start_ns": start_ns + _AHEAD_NS,
            "stop_ns": now_ns + _AHEAD_NS,
            "outcome": "failed" if failed else "exec_done",
            "attempt": task["try_id"],
            "worker": worker,
            "engine": "parsl",
            "queue_ns": None,
        }
    )


class _Sender(MonitoringRadioSender):
    def __init__(self, sender, directory):
        self._sender = sender
        self._directory = directory

    def send(self, message) -> None:
        with contextlib.suppress(Exception):
            _note(message, self._directory)
        self._sender.send(message)


class TaskRadio(RadioConfig):
    """Sends what `radio` sends, and records tasks into `directory`. It is pickled with tasks, so workers need
    crema_hep."""

    def __init__(self, radio, directory):
        self.radio = radio
        self.directory = directory

    def create_receiver(self, **options):
        return self.radio.create_receiver(**options)

    def create_sender(self):
        return _Sender(self.radio.create_sender(), self.directory)
