"""MetricsCollector: measures what runs inside a `with` block, with roastcoffea's interface."""

import collections.abc
import json
import os
import pathlib
import re
import shlex
import sys
import time

from . import library
from .backends import backend_of
from .chunk import reason_of
from .interruption import is_of_a_handler
from .local_backend import scratch_directory
from .measurement import Measurement, load
from .notice import say, warn
from .reported_chunks import by_dataset, planned_events, report_of

_REFERENCE_KEY = "__roastcoffea_metrics__"
_OF_A_REPORT = {"bytesread", "columns", "entries", "processtime", "chunks"}
# The program's lines on figures that should be equal. Coffea's seconds and bytes include more than the chunks (opening
# files, the decorator), so those differences are only in `quality`.
_DISAGREEMENT = re.compile(r"(dataset .*, )?(chunks|events): .* apart\)")
_MOST_ERROR = 300  # how many characters of an exception's text are shown
_MOST_CAUSES = 100
_RAISED_FROM = "The above exception was the direct cause of the following exception:"
_INTERRUPTED = 130  # the exit status in a shell of a program that Ctrl-C ended
_TOLERANCE = 0.01  # two sources of one figure disagree beyond this, as in docs/metrics.md


def _name_of_program() -> str:
    """The name of the script, or of the notebook if Jupyter gives it."""
    if "IPython" in sys.modules and not hasattr(sys.modules["__main__"], "__file__"):
        return os.path.basename(os.environ.get("JPY_SESSION_NAME", "")) or "notebook"
    return os.path.basename(sys.argv[0]) or "python"


def _plain(value):
    """Converts sets and NumPy's numbers for json."""
    if isinstance(value, (set, frozenset, tuple)):
        return sorted(value, key=str)
    return value.item() if hasattr(value, "item") else str(value)


def _first_cause(error) -> str:
    """The first exception in the chain of causes: `KeyError: 'Jet_pt'`; empty where it was raised from nothing.

    An exception of another process has that one's traceback as its cause, as text.
    """
    reason = ""
    for _ in range(_MOST_CAUSES):
        error = error.__cause__
        if error is None:
            break
        if type(error).__name__.endswith("RemoteTraceback"):
            parts = library.text_of(error).split(_RAISED_FROM)
            if len(parts) > 1:
                reason = parts[0].strip().rsplit("\n", 1)[-1]
            break
        reason = reason_of(error)
    return reason


def _failure_arguments(error) -> list:
    """Options of `crema collect` for the exception that left the block; none if it is not a failure."""
    if error is None or isinstance(error, GeneratorExit):
        return []
    status = 1
    if isinstance(error, KeyboardInterrupt):
        status = _INTERRUPTED
    elif isinstance(error, SystemExit):
        status = 0 if error.code is None else error.code if isinstance(error.code, int) else 1
    if status == 0:
        return ["--exit-status=0"]
    reason = reason_of(error)
    first = _first_cause(error)
    if first and first != reason:  # it is first, because frameworks wrap it into long texts
        reason = f"{first} ({reason})"
    text = " ".join(reason.replace("\0", " ").encode("utf-8", "replace").decode().split())
    if len(text) > _MOST_ERROR:
        text = text[: _MOST_ERROR - 1] + "…"
    return [f"--failure={text}", f"--exit-status={status}"]


class MetricsCollector:
    """Measures what runs in the block.

        with MetricsCollector(client) as collector:
            output, report = runner(fileset, processor_instance=my_processor)
            collector.set_coffea_report(report)
        collector.print_summary()

    `client`: a Dask client, or one of Coffea's executors: `DaskExecutor`, `FuturesExecutor`, `IterativeExecutor`,
    `ParslExecutor` or `TaskVineExecutor`. `backend="local"` measures this process and its children, `backend="parsl"`
    the Parsl that is loaded. With `track_workers`, workers are sampled each `worker_tracking_interval` seconds. With
    `output_dir` the measurement is saved there as the block ends. `name` is the name of the run (default: that of the
    script or notebook); `crema history` follows the runs of one name. A failure here is only a warning: the block goes
    on, and raises only its own exceptions. If an exception leaves the block, the run failed with this exception. Of
    several blocks, the collector shows the last.
    """

    def __init__(
        self,
        client=None,
        backend="dask",
        track_workers=True,
        worker_tracking_interval=1.0,
        processor_instance=None,
        output_dir=None,
        name=None,
    ):
        self.client = client
        self.backend = backend
        self.track_workers = track_workers
        self.worker_tracking_interval = worker_tracking_interval
        self.processor_instance = processor_instance
        self.processor_name = None if processor_instance is None else type(processor_instance).__name__
        self.output_dir = output_dir
        self.name = name
        self.metrics_backend = backend_of(self)
        self.t_start = self.t_end = None
        self._failure = None  # why nothing is measured
        self._ended_by = []  # options of `crema collect` for an exception that left the block
        self.coffea_report = None
        self.custom_metrics = None
        self._reports = []
        self._reported_chunks = None
        self._measurement = None

    def __enter__(self):
        if self.t_end is not None:  # another block: what was said of the one before is none of it
            self.coffea_report = self.custom_metrics = self._reported_chunks = self._measurement = self.t_end = None
            self._reports = []
        self.t_start = time.perf_counter()
        self._failure = self._do("start", self.metrics_backend.start)
        return self

    def __exit__(self, kind, error, trace):
        self.t_end = time.perf_counter()
        if self._failure is not None:
            return
        self._failure = self._do("stop", self.metrics_backend.stop)
        self._ended_by = _failure_arguments(error)  # runs the exception's code, in which a signal handler may raise
        if self.output_dir is not None and self._failure is None:
            self._do("save", self._save)

    def _save(self) -> None:
        path = self.save_measurement(self.output_dir)
        if any(
            option.startswith("--failure") for option in self._ended_by
        ):  # nothing after the block runs, to print it
            say(f"crema: the block failed; crema show {shlex.quote(str(path))} shows what it did until then")

    def detach(self) -> None:
        """Removes crema from the cluster. Without this call it stays, for people who watch and for the next
        collector."""
        detach = getattr(self.metrics_backend, "detach", None)
        if detach is not None:
            self._do("end", detach)

    @staticmethod
    def _do(what, action):
        """Returns None, or why it failed; a warning says this, too."""
        try:
            action()
        except Exception as error:
            if is_of_a_handler(error):
                raise
            reason = str(error).removeprefix("crema: ") or type(error).__name__
            warn(f"crema: cannot {what} the measurement: {reason}")
            return reason
        return None

    # Figures of Coffea and roastcoffea.

    def set_coffea_report(self, report, custom_metrics=None) -> None:
        """The report of `Runner(savemetrics=True)`; several add up. `custom_metrics` is roastcoffea's, by dataset."""
        if report is not None and not (isinstance(report, collections.abc.Mapping) and _OF_A_REPORT & report.keys()):
            warn(
                f"crema: set_coffea_report takes Coffea's report, not this {type(report).__name__}: give it the second "
                "value of `output, report = runner(...)` with savemetrics=True"
            )
            report = None
        self.coffea_report = report
        if report is not None:
            self._reports.append(report)
        if custom_metrics is not None and not isinstance(custom_metrics, collections.abc.Mapping):
            warn(f"crema: custom_metrics are a dictionary by dataset, not this {type(custom_metrics).__name__}")
        elif custom_metrics is not None:
            self.custom_metrics = custom_metrics
        self._measurement = None

    def set_plan(self, plan) -> None:
        """Announces what the block will process, so that `crema serve` and `crema top` can show progress and time left.
        `plan` is the list of Coffea's chunks that `Runner.preprocess` returns, or a number of events by dataset. It
        covers the whole block; the last call counts. Nothing else needs it."""
        self._do("announce the plan of", lambda: self._announce(planned_events(plan)))

    def _announce(self, events) -> None:
        announce = getattr(self.metrics_backend, "plan", None)
        if announce is not None:
            announce(events)

    def set_chunk_metrics(self, chunk_metrics) -> None:
        """Takes chunks as another tool recorded them. crema's own records win, and a warning reports a difference. If
        crema has no records, it uses the sums of these chunks, with a warning."""
        chunks = list(chunk_metrics or ()) if hasattr(chunk_metrics or (), "__iter__") else [chunk_metrics]
        if chunks and not any(isinstance(chunk, dict) for chunk in chunks):
            kind = type(chunk_metrics).__name__
            warn(f"crema: set_chunk_metrics takes roastcoffea's list of dictionaries, not this {kind}")
            return
        self._reported_chunks = chunks
        self._measurement = None

    def extract_metrics_from_output(self, output) -> None:
        """Passes roastcoffea's records in a run's output, if there are any, to `set_chunk_metrics`."""
        if isinstance(output, dict) and _REFERENCE_KEY in output:
            records = output.pop(_REFERENCE_KEY)
            if isinstance(records, list):
                self.set_chunk_metrics(records)

    # What was measured.

    @property
    def measurement(self) -> Measurement:
        """The whole measurement, made at the first access. Raises RuntimeError before the block has ended."""
        if self.t_end is None:
            raise RuntimeError("Timing not available: the measurement is made once the context manager has ended")
        if self._failure is not None:
            raise RuntimeError(f"crema: nothing was measured: {self._failure}")
        if self._measurement is None:
            directory = scratch_directory()
            self._measurement = self._measure(directory / "measurement", self._collect_arguments(directory))
            if self._has_reported_chunks_only():
                arguments = self._collect_arguments(directory) + self._arguments_of_reported_chunks(directory)
                self._measurement = self._measure(directory / "reported", arguments)
            self._warn_of_differences()
        return self._measurement

    def _measure(self, path, arguments) -> Measurement:
        self.metrics_backend.measure(path, arguments)
        measurement = load(path)
        measurement._kept_in = ""  # its directory goes with this process
        return measurement

    def _has_reported_chunks_only(self) -> bool:
        return bool(self._reported_chunks) and not self._measurement.metrics.get("num_attempts")

    def get_metrics(self) -> dict:
        """Every metric by its key, with aliases. `tracking_data` is among them, None without worker tracking."""
        tracking_data = self.tracking_data if self.track_workers else None
        return {**self.measurement.metrics, "tracking_data": tracking_data}

    @property
    def metrics(self):
        """As `get_metrics`; None before the block has ended."""
        return None if self.t_end is None else self.get_metrics()

    @property
    def chunk_metrics(self) -> list:
        """Every attempt at a chunk, in roastcoffea's structure; without records, those that `set_chunk_metrics` got."""
        measurement = self.measurement
        return list(self._reported_chunks) if self._has_reported_chunks_only() else measurement.chunk_metrics

    @property
    def span_metrics(self) -> dict:
        """Fine metrics as {(context, function, activity, unit): value}."""
        return self.measurement.span_metrics

    @property
    def tracking_data(self) -> dict:
        """Worker series by time."""
        return self.measurement.tracking_data

    def __repr__(self):
        if self.t_end is None:
            return f"<crema collector {self.backend!r}, {'measuring' if self.t_start else 'not begun'}>"
        if self._failure is not None:
            return f"<crema collector {self.backend!r}: nothing was measured: {self._failure}>"
        if self._measurement is None:
            return f"<crema collector {self.backend!r}: measured>"
        return repr(self._measurement)

    def _repr_html_(self):
        """A collector as the last line of a notebook's cell shows its measurement; None: as `repr` does."""
        try:
            return self.measurement._repr_html_()
        except RuntimeError:
            return None

    def print_summary(self) -> None:
        """Prints what `crema show` prints."""
        summary = self.measurement.summary()
        print(summary, end="")
        if not self.measurement._kept_in and "--table" in summary:
            print("To use these commands, save the measurement: collector.save_measurement(DIR)")

    def save_measurement(self, output_dir=None, measurement_name=None) -> pathlib.Path:
        """Saves to `output_dir/measurement_name` (default: the constructor's directory, and the time). Returns the
        path."""
        if self.t_end is None:
            raise RuntimeError("Cannot save measurement before context manager completes")
        if output_dir is None:
            output_dir = self.output_dir
        if output_dir is None:
            raise ValueError("save_measurement needs an output_dir")
        return self.measurement.save(output_dir, measurement_name)

    def _collect_arguments(self, directory) -> list:
        name = str(self.name or "") or _name_of_program()
        arguments = [f"--name={name}", *self._ended_by]
        for number, report in enumerate(self._reports):
            arguments += ["--coffea-report", _write_json(directory / f"report{number}.json", report)]
        if self.custom_metrics is not None:
            arguments += ["--metrics-by-dataset", _write_json(directory / "by_dataset.json", self.custom_metrics)]
        return arguments

    def _arguments_of_reported_chunks(self, directory) -> list:
        """The options for what Coffea's report and `custom_metrics` do not already contain."""
        arguments = []
        if not self._reports:
            arguments += ["--coffea-report", _write_json(directory / "reported.json", report_of(self._reported_chunks))]
        sums = by_dataset(self._reported_chunks)
        if self.custom_metrics is None and sums:
            arguments += ["--metrics-by-dataset", _write_json(directory / "reported_by_dataset.json", sums)]
        return arguments

    def _warn_of_differences(self) -> None:
        for line in self._measurement.quality.get("warnings") or ():
            if _DISAGREEMENT.match(line):
                warn(f"crema: {line}")
        if self._reported_chunks is None:
            return
        if self._has_reported_chunks_only():
            text = "crema: no chunk was recorded: chunks, events and durations are those that set_chunk_metrics got"
            warn(text)
            return
        for what, ours, theirs in (
            ("num_chunks", self._measurement.metrics.get("num_chunks"), len(self._reported_chunks)),
            ("total_events", self._measurement.metrics.get("total_events"), _events_of(self._reported_chunks)),
        ):
            if theirs is not None and (ours is None or abs(ours - theirs) > _TOLERANCE * max(abs(ours), abs(theirs))):
                text = f"crema: {what}: {ours} by crema's records, which count; {theirs} by set_chunk_metrics"
                warn(text)


def _write_json(path, value) -> str:
    path.write_text(json.dumps(value, default=_plain), encoding="utf-8")
    return str(path)


def _events_of(chunks):
    counts = [chunk.get("num_events", chunk.get("events")) for chunk in chunks if isinstance(chunk, dict)]
    return sum(counts) if counts and all(isinstance(count, int) for count in counts) else None
