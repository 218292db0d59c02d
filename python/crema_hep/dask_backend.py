"""Attaches crema to a running Dask cluster, from the client: `attachment = attach(client)`.

Workers and scheduler get the plug-ins of `dask_plugin`, by value. `attachment.refused` says what was refused, and
everything else works: without the scheduler's plug-in, a worker's records stay in files.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
import uuid
import zlib
from typing import Any

import cloudpickle

from crema_hep import dask_plugin
from crema_hep.dask_plugin import CremaSchedulerPlugin, CremaWorkerPlugin
from crema_hep.interruption import is_of_a_handler
from crema_hep.local_backend import scratch_directory
from crema_hep.notice import say, warn
from crema_hep.span import annotate_tasks

PAGE_BYTES = 4 << 20
# How long a call to the cluster may take, beside its own waiting. A worker that is stopped, or whose native code holds
# the interpreter's lock, delays others no longer than this.
CALL_SECONDS = 5.0
BEGIN_SECONDS = 1.0
# Workers report to the scheduler every `heartbeat_interval`, at most some seconds.
DEFAULT_RETRIES = 20
DEFAULT_DELAY_SECONDS = 0.5


def _call_cluster(client, function, *arguments, seconds=CALL_SECONDS, **named):
    """Calls the function in the client's loop. Raises TimeoutError after `seconds`."""

    async def call():
        return await function(*arguments, **named)

    return client.sync(call, callback_timeout=seconds)


def _why_refused(client) -> str | None:
    """Why this cluster cannot be measured; None if it can."""
    if not hasattr(client, "asynchronous"):
        return f"this {type(client).__name__} is not a Client of Dask: give it distributed.Client(...)"
    if client.asynchronous:
        return "a Client with asynchronous=True cannot be measured: use another one, or attach from another process"
    worker_module = sys.modules.get("distributed.worker")
    own = [] if worker_module is None else list(worker_module.Worker._instances)
    scheduler = client.scheduler.address
    if scheduler.startswith("inproc://") or any(
        getattr(worker.scheduler, "address", None) == scheduler for worker in own
    ):
        return (
            "workers inside this process (processes=False) cannot be distinguished: use processes=True, or "
            "backend='local', which measures this process"
        )
    return None


class NotAttached(RuntimeError):
    """Somebody removed crema from the cluster."""


class Attachment:
    """crema on one cluster, for one measurement. Made by `attach`."""

    def __init__(self, client, run_id: str) -> None:
        self.client = client
        self.run_id = run_id
        self.refused: dict[str, str] = {}
        self.silent: dict[str, str] = {}  # workers that did not answer the last flush, and why
        self.late = False  # whether some workers did not take the plug-in in time; crema measures them once they do
        self.missing: list[str] = []  # one sentence for each thing that this measurement cannot know
        self.start_ns: int | None = None
        self.stop_ns: int | None = None
        self._epoch: str | None = None  # of the scheduler's plug-in: which one was read last,
        self._began_in: str | None = None  # and in which one the measurement began

    @property
    def has_scheduler_plugin(self) -> bool:
        return "scheduler" not in self.refused

    def start(self, **fields) -> int:
        """Begins the measurement. Returns the scheduler's time in Unix nanoseconds."""
        self.start_ns = self._mark("begin", timeout=BEGIN_SECONDS if self.late else CALL_SECONDS, **fields)
        return self.start_ns

    def plan(self, events: dict[str, int]) -> None:
        """Announces how many events each dataset will have, for progress and time left on the live page."""
        if self.has_scheduler_plugin:
            self._call("crema_session", id=self.run_id, event="plan", events=dict(events))

    def stop(self, timeout: float = 10.0, **fields) -> int:
        """Ends the measurement. Waits until every worker has sent its records, at most `timeout` seconds."""
        self.stop_ns = self._mark("end", timeout=timeout, **fields)
        return self.stop_ns

    def flush(self, timeout: float = 10.0) -> dict[str, Any]:
        """Makes every worker send what it has. The reply's `silent` names those that did not, and why."""
        reply: dict[str, Any] = {"silent": {}, "workers": 0}
        if self.has_scheduler_plugin:
            reply = self._call("crema_flush", seconds=timeout + CALL_SECONDS, timeout=timeout)
        self.silent = dict(reply.get("silent") or {})
        return reply

    def records(self):
        """Yields all that the scheduler has, as blocks of NDJSON bytes (docs/dask_log.md)."""
        since = 0
        while self.has_scheduler_plugin:
            reply = self._call("crema_pull", since=since, limit=PAGE_BYTES)
            if self._epoch not in (None, reply["epoch"]):
                since = 0  # the scheduler was restarted
            self._epoch = reply["epoch"]
            if not reply["body"]:
                return
            yield bytes(reply["body"])
            since = reply["next"]

    def save(self, path) -> int:
        """Writes the log to a file that `crema collect` reads. Returns its size in bytes."""
        size = 0
        with open(path, "wb") as file:
            for block in self.records():
                size += file.write(block)
        return size

    def detach(self, timeout: float = CALL_SECONDS) -> bool:
        """Removes crema from the cluster: plug-ins, handlers, recording, CREMA_* variables. Does nothing while others
        measure. Returns whether crema is off now."""
        if not self.has_scheduler_plugin:
            return False
        try:
            reply = self._call("crema_detach", seconds=timeout + CALL_SECONDS, id=self.run_id, timeout=timeout)
        except NotAttached:
            return True
        if reply["left"]:
            warn(f"crema: {reply['left']}: crema stays there")
        return reply["detached"]

    def _answers(self) -> bool:
        try:
            return isinstance(self._call("crema_pull", since=0, limit=1), dict)
        except Exception as error:
            if is_of_a_handler(error):
                raise
            return False

    def _mark(self, event: str, **fields) -> int:
        if not self.has_scheduler_plugin:
            return time.time_ns()
        seconds = fields.get("timeout", CALL_SECONDS) + CALL_SECONDS
        reply = self._call("crema_session", seconds=seconds, id=self.run_id, event=event, **fields)
        self.silent = dict(reply["silent"])
        if event == "begin":
            self._began_in = reply["epoch"]
        elif self._began_in not in (None, reply["epoch"]):
            self.missing.append(
                "the scheduler was started again while this was measured: what workers had sent to the one before is "
                "only in their logs"
            )
        return reply["time_ns"]

    def _call(self, operation: str, seconds: float = 2 * CALL_SECONDS, **arguments):
        if self.client.scheduler is None:
            raise RuntimeError(
                "the client is closed, so what its cluster had cannot be fetched any more: close it after the block"
            )
        reply = _call_cluster(self.client, getattr(self.client.scheduler, operation), seconds=seconds, **arguments)
        if reply is None:  # Dask's answer for an unknown operation
            raise NotAttached("crema is not on this scheduler any more: attach again")
        return reply


def attach(client, *, run_id: str | None = None, directory: str | None = None, **options) -> Attachment:
    """Puts crema's plug-ins on a cluster, unless they are there. Returns the attachment.

    `directory`: where workers write record logs (default: CREMA_DIR there, else below their temporary directory).
    `options`: `sample_seconds`, `drain_seconds`, `keep_bytes`, `sections_in_dask` (True: guards also pass the sections
    of their chunks to Dask). It does not raise if a cluster refuses, and does not wait for one that does not answer.
    Raises RuntimeError if crema cannot measure such a cluster: an asynchronous client, or workers inside this process.
    """
    reason = _why_refused(client)
    if reason:
        raise RuntimeError(f"crema: {reason}")
    attachment = Attachment(client, run_id or uuid.uuid4().hex)
    cloudpickle.register_pickle_by_value(dask_plugin)
    scheduler_options = {name: options[name] for name in ("sample_seconds", "keep_bytes") if name in options}
    worker_options = {
        name: options[name] for name in ("sample_seconds", "drain_seconds", "sections_in_dask") if name in options
    }
    try:
        for where, plugin in (
            ("scheduler", CremaSchedulerPlugin(**scheduler_options)),
            ("workers", CremaWorkerPlugin(directory=directory, **worker_options)),
        ):
            if where not in attachment.refused:
                _register(attachment, where, plugin)
    finally:
        cloudpickle.unregister_pickle_by_value(dask_plugin)
    if attachment.has_scheduler_plugin and not attachment._answers():
        attachment.refused["scheduler"] = "it was registered, and does not answer"
    for where, why in attachment.refused.items():
        say(f"crema: the {where} refused the plug-in ({why.splitlines()[0][:200]})")
    return attachment


def _register(attachment, where: str, plugin) -> None:
    try:
        _call_cluster(attachment.client, attachment.client.register_plugin, plugin)
    except Exception as error:
        if is_of_a_handler(error):
            raise
        if where == "workers" and isinstance(error, TimeoutError):
            attachment.late = True
            say(f"crema: not all workers took the plug-in within {CALL_SECONDS:g} s: they are measured once they do")
            return
        if where == "scheduler" and not isinstance(error, TimeoutError) and attachment._answers():
            return  # it has one of its own, from a preload file
        attachment.refused[where] = f"{type(error).__name__}: {error}"
        if where == "scheduler" and isinstance(error, TimeoutError):
            attachment.refused["workers"] = "the scheduler, by which it goes, does not answer"
        _take_back(attachment.client, where)


def _take_back(client, where: str) -> None:
    """Takes the workers' plug-in back from the scheduler, which would hand it to each new worker and so stop that
    worker."""
    unregister = client.unregister_worker_plugin if where == "workers" else client.unregister_scheduler_plugin
    try:
        _call_cluster(client, unregister, dask_plugin.NAME, seconds=BEGIN_SECONDS)
    except Exception as error:
        if is_of_a_handler(error):
            raise


class DaskBackend:
    """Measures what a cluster does between `start` and `stop`: the backend of `MetricsCollector` with Dask.

    `client`: a `distributed.Client`, or an executor that has one. `processor`: prefix of the processor's tasks.
    """

    def __init__(self, client, track_workers=True, interval=1.0, processor=None):
        self.client = getattr(client, "client", None) or client
        self._sample_seconds = interval if track_workers else 0
        self._processor = processor
        self._records: str | None = None
        self._annotates = False
        self.attachment: Attachment | None = None

    def start(self) -> None:
        self._records = None
        self.attachment = attach(self.client, sample_seconds=self._sample_seconds)
        self.attachment.start(processor=self._processor)
        annotate_tasks(True)
        self._annotates = True

    def stop(self) -> None:
        attachment = self._require_attachment()
        if self._annotates:
            annotate_tasks(False)
            self._annotates = False
        attachment.stop()
        for text in attachment.missing:
            warn(f"crema: {text}")
        if attachment.has_scheduler_plugin:  # taken now: the cluster may be gone when the user asks for the measurement
            records = os.path.join(scratch_directory(), "dask.ndjson")
            attachment.save(records)
            self._records = records

    def plan(self, events: dict[str, int]) -> None:
        """As `Attachment.plan`."""
        self._require_attachment().plan(events)

    def detach(self) -> None:
        """As `Attachment.detach`; does nothing if nothing was attached."""
        if self.attachment is not None:
            self.attachment.detach()

    def measure(self, output, arguments) -> None:
        """Makes the measurement in the directory `output`, with further arguments of `crema collect`."""
        from . import program

        attachment = self._require_attachment()
        if attachment.has_scheduler_plugin and self._records is None:
            raise RuntimeError("the records were not taken from the cluster when the block ended")
        source = self._records or "dask://" + self.client.dashboard_link.split("://")[1].split("/")[0]
        stop_ns = attachment.stop_ns or time.time_ns()
        bounds = ["--start", f"{attachment.start_ns / 1e9:.6f}", "--stop", f"{stop_ns / 1e9:.6f}"]
        program.run("collect", source, "-o", output, "--run", "all", "-q", *bounds, *arguments)

    def _require_attachment(self) -> Attachment:
        if self.attachment is None:
            raise RuntimeError("the cluster was not attached: call start() first")
        return self.attachment


def backend_of(collector) -> DaskBackend:
    """The collector's, for `backends`."""
    interval = collector.worker_tracking_interval
    return DaskBackend(collector.client, collector.track_workers, interval, collector.processor_name)


def _span_on_scheduler(dask_scheduler, span_id):
    """Runs on the scheduler. Returns a span's activities, and whether every worker was seen since the span ended."""
    span = dask_scheduler.extensions["spans"].spans.get(span_id)
    if span is None:
        return None
    stop = span.stop
    seconds = dict(span.all_durations)
    metrics = dict(span.cumulative_worker_metrics)
    in_task = sum(
        value
        for key, value in metrics.items()
        if key[0] == "execute" and key[-1] == "seconds" and key[2] in ("thread-cpu", "thread-noncpu")
    )
    return {
        "metrics": metrics,
        "done": bool(span.done),
        "seen": all(ws.last_seen > stop for ws in dask_scheduler.workers.values()),
        "coverage": in_task / seconds["compute"] if seconds.get("compute") else None,
    }


def get_span_metrics(
    client,
    span_info: dict[str, Any],
    max_retries: int = DEFAULT_RETRIES,
    retry_delay: float = DEFAULT_DELAY_SECONDS,
) -> dict[tuple, Any]:
    """The activities of a Dask span, by tuples (context, function, activity, unit). Waits until every worker was seen
    after the end of the span, or the activities cover 0.999 of Dask's own compute time. After `max_retries` x
    `retry_delay` seconds, returns what there is. Empty if the span never existed. Raises TimeoutError if the scheduler
    does not answer. Raises RuntimeError if the scheduler has another version of Python, which the pickled function may
    crash, or if `client` is not a client. `span_info`: `{"id": ...}`, as `create_span` gives it."""
    if not isinstance(span_info, dict):
        raise TypeError(
            f"crema: span_info is {{'id': ...}}, as create_span gives it, not this {type(span_info).__name__}"
        )
    span_id = span_info.get("id")
    if span_id is None:
        return {}
    if not hasattr(client, "asynchronous"):
        raise RuntimeError(f"crema: {_why_refused(client)}")
    there = _call_cluster(client, client.scheduler.versions)["host"]["python"]
    if there.split(".")[:2] != [str(part) for part in sys.version_info[:2]]:
        raise RuntimeError(f"crema: the scheduler has Python {there}: use a client with the same version")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        metrics: dict[tuple, Any] = {}
        for attempt in range(max(1, max_retries)):
            if attempt:
                time.sleep(retry_delay)
            found = _call_cluster(client, client.run_on_scheduler, _span_on_scheduler, span_id=span_id)
            if not found:
                continue
            metrics = found["metrics"]
            if found["done"] and (found["seen"] or (found["coverage"] or 0) >= 0.999):
                break
        return metrics
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


@contextlib.contextmanager
def dataset_span(name: str):
    """A Dask span for one dataset. Yields keyword arguments that `client.map` and `submit` need as well.

    Dask puts all tasks of one prefix into the span in which it first saw the prefix. So two datasets that are mapped
    with one function end up in one span. A prefix for each dataset prevents this:

        with dataset_span("ttbar") as options:
            futures = client.map(process, files, **options)
    """
    from distributed import span

    with span(name):
        yield {"key": f"{_prefix_of(name)}-{uuid.uuid4().hex}"}


def _prefix_of(dataset: str) -> str:
    """A prefix of keys that is unique to the dataset, and that Dask (`dask.utils.key_split`) takes for one word."""
    word = re.sub(r"\W", "_", dataset, flags=re.ASCII)
    if word == dataset and word[:1].isalpha() and not re.fullmatch("[0-9a-f]{32}", word):
        return word
    return f"dataset_{word}_{zlib.crc32(dataset.encode('utf-8', 'replace')):08x}"
