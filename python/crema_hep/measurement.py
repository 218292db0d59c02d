"""A measurement: the document that the program `crema` made from records, and its tables."""

import errno
import html
import itertools
import json
import os
import pathlib
import shutil
import time

from . import dataframe, program, reference_shapes
from .fine_metrics import span_metrics
from .requirements import missing_package

_DOCUMENT = "measurement.json"
_SCHEMA = "crema.measurement/1"  # docs/measurements.md
_BATCH = 1000  # how many rows are read at once
_TIMES_NS = range(2**63)  # since 1970
_MOST_SECONDS = 1e10  # in a timeline
# docs/generated_pages_test.cc writes this list from the program's own tables.
_TABLES = (
    "attributes",
    "budget",
    "chunk_fits",
    "chunk_size_advice",
    "contention",
    "custom_metrics",
    "cuts",
    "datasets",
    "events",
    "expected_time",
    "files",
    "fine",
    "functions",
    "gpu_kernels",
    "hosts",
    "memory_sections",
    "modules",
    "phases",
    "process_sections",
    "processes",
    "requests",
    "resource_advice",
    "sections",
    "slow_spells",
    "stragglers",
    "task_threads",
    "threads",
    "verdicts",
    "waits",
    "workers",
)


def _plots():
    """Imports the module at its first use, because guards in a worker do not need it."""
    from . import plot

    return plot


class Measurement:
    """What a run did. The program computed all numbers; their keys are those of docs/metrics.md. Figures that were not
    measured are None.

    `metrics` (aliases too), `definitions`, `run`, `quality`, `timelines` are dictionaries; `datasets`, `files`,
    `workers`, `sections`, `budget`, `verdicts` and the other tables are lists of rows. `table(name)` is the same as a
    pandas DataFrame, if pandas is installed. A notebook shows a measurement as a summary, and `plot(name)` as a figure.
    """

    def __init__(self, source, document):
        self.source = pathlib.Path(source)
        self._named_source = str(source)  # a path would make dask:/HOST of dask://HOST
        self._kept_in = self._named_source  # for commands in texts; empty: nowhere that lasts
        self.document = document
        self._chunks = None

    def __getattr__(self, name):
        if name in _TABLES:
            return self.document.get(name) or []
        known = getattr(type(self), name, None)
        if isinstance(known, property):  # it raised an AttributeError, which Python hides: raise it again
            return known.fget(self)
        raise AttributeError(f"a measurement has no {name!r}; its tables are {', '.join(_TABLES)}, chunks")

    def __dir__(self):
        return [*super().__dir__(), *_TABLES]

    @property
    def metrics(self) -> dict:
        """Every metric by its key, with aliases."""
        return self.document["metrics"]

    @property
    def definitions(self) -> dict:
        """Unit, label and text of every metric."""
        return self.document.get("definitions") or {}

    @property
    def run(self) -> dict:
        """The run: id, name, start, stop, and the sources of figures."""
        return self.document["run"]

    @property
    def quality(self) -> dict:
        """What was read, what is missing, and why."""
        return self.document.get("quality") or {}

    @property
    def timelines(self) -> dict:
        """Series as [seconds since the run's start, value]."""
        return self.document.get("timelines") or {}

    @property
    def headline(self):
        """The run in one sentence."""
        return self.document.get("headline")

    @property
    def chunks(self) -> list:
        """Every attempt at a chunk, as `crema export --to chunks` gives it. Raises ProgramError without records."""
        if self._chunks is None:
            self._chunks = list(self._rows_of_chunks())
        return self._chunks

    def _rows_of_chunks(self):
        """Yields the same, one after another."""
        lines = program.lines("export", self._named_source, "--to", "chunks", "-o", "-", "-q")
        while batch := list(itertools.islice(lines, _BATCH)):
            yield from json.loads(b"[" + b",".join(batch) + b"]")  # each batch keeps the names of its fields once

    @property
    def chunk_metrics(self) -> list:
        """The same in roastcoffea's structure: `processing_time`, `sections`, `memory_sections`, `custom_metrics`."""
        return [reference_shapes.chunk_metrics(row) for row in self.chunks]

    @property
    def span_metrics(self) -> dict:
        """Fine metrics as {(context, function, activity, unit): value}."""
        return span_metrics(self.fine)

    @property
    def tracking_data(self) -> dict:
        """Worker series by time, as roastcoffea has them."""
        return reference_shapes.tracking_data(self.timelines, self.run.get("start_ns") or 0)

    def rows(self, name) -> list:
        """A table as a list of dictionaries. Raises ValueError for an unknown name."""
        self._check(name)
        return getattr(self, name)

    @staticmethod
    def _check(table) -> None:
        if table not in (*_TABLES, "chunks"):
            raise ValueError(f"crema: a measurement has no table {table!r}: there are {', '.join(_TABLES)}, chunks")

    def table(self, name):
        """A table's rows: a pandas DataFrame if pandas is installed, else a list of dictionaries."""
        try:
            return self.dataframe(name)
        except ImportError:
            return self.rows(name)

    def dataframe(self, name):
        """A table as a pandas DataFrame, with None as a missing value. Raises ImportError if pandas is not
        installed."""
        is_large = name == "chunks" and self._chunks is None
        return dataframe.dataframe(self._rows_of_chunks() if is_large else self.rows(name))

    def arrow(self, name):
        """A table as a pyarrow.Table. Raises ImportError if pandas or pyarrow is not installed, and ValueError for an
        unknown name."""
        self._check(name)
        try:
            import pyarrow
        except ModuleNotFoundError as error:
            raise missing_package(error, "an Arrow table") from error
        return pyarrow.Table.from_pandas(self.dataframe(name), preserve_index=False)

    def to_parquet(self, path, name="chunks") -> None:
        """Writes a table to a Parquet file. Raises as `arrow`."""
        table = self.arrow(name)
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, path)

    @property
    def plots(self) -> list:
        """The names that `plot` knows. With a baseline there is also `compare_<metric>` for each metric."""
        return _plots().names(self.document)

    def plot(self, name, theme="light", baseline=None):
        """A `Plot`, as `crema plot` draws it: `theme` is light or dark, `baseline` another measurement, or its path.

        Raises ValueError for an unknown name. If the run has no figures for the plot, the plot says why, and its `spec`
        is None.
        """
        if isinstance(baseline, Measurement):
            baseline = baseline._named_source
        return _plots().draw(self._named_source, self.document, name, theme, baseline)

    def summary(self, width=100) -> str:
        """What `crema show` prints."""
        source, text = self._kept_in, ""
        if not source or (source != self._named_source and not pathlib.Path(source, _DOCUMENT).is_file()):
            source, text = "-", json.dumps(self.document, ensure_ascii=False)  # its commands then name no folder
        return program.run("show", source, "--width", width, "--color", "never", "-q", text=text)

    def save(self, output_dir, measurement_name=None) -> pathlib.Path:
        """Copies the measurement to `output_dir/measurement_name` and returns that path.

        Without a name it is the time, and never replaces another measurement: a second one of that time gets a number.
        A measurement of the name that is given is replaced. Raises FileExistsError if anything else is there, or if
        `output_dir` is a file, and OSError if it cannot be written.
        """
        target = pathlib.Path(output_dir, measurement_name or time.strftime("%Y-%m-%d_%H-%M-%S"))
        if target.exists() and not (target / _DOCUMENT).is_file():
            raise FileExistsError(f"crema: {target} exists, and is not a measurement: choose another name")
        copy = target.with_name(f".{target.name}.{os.getpid()}.{time.time_ns()}")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if (self.source / _DOCUMENT).is_file():
                shutil.copytree(self.source, copy)
            else:
                program.run("collect", self._named_source, "-o", copy, "-q")
            target = _moved(copy, target, replace=measurement_name is not None)
            self._kept_in = self._kept_in or str(target)
            return target
        except (FileExistsError, NotADirectoryError) as error:
            raise FileExistsError(f"crema: {target.parent} is not a directory: choose another output_dir") from error
        except OSError as error:
            remedy = "save it elsewhere before this program ends: save_measurement(DIRECTORY)"
            raise OSError(f"crema: {target} cannot be written: {_reason_of(error)}; {remedy}") from error
        finally:
            shutil.rmtree(copy, ignore_errors=True)

    def _repr_html_(self) -> str:
        """The program's summary of the document as it is now, or a plain form and the reason why there is no other."""
        try:
            return program.run("show", "-", "--html", text=json.dumps(self.document, ensure_ascii=False))
        except (program.ProgramError, TypeError, ValueError) as error:
            return f"<pre>{html.escape(f'{self!r}{chr(10)}{error}')}</pre>"

    def __repr__(self):
        return f"<crema measurement {self.run.get('name')!r}: {self.headline}>"


def _moved(copy, target, replace) -> pathlib.Path:
    """Gives the copy its name, or the name with the first number that is free. Returns the path."""
    name, number = target.name, 1
    while True:
        try:
            if replace and target.exists():
                shutil.rmtree(target)
            copy.rename(target)  # replaces nothing but an empty directory
            return target
        except OSError as error:
            if replace or error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
            number += 1
            target = target.with_name(f"{name}_{number}")


def _reason_of(error) -> str:
    """Why something could not be written; `shutil` has a list of (from, to, reason)."""
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list) and error.args[0]:
        return str(error.args[0][0][-1])
    return error.strerror or str(error)


def load(path) -> Measurement:
    """The measurement in `path`. For record logs, or another source of `crema show`, the measurement of what they hold
    now.

    Raises ProgramError, a RuntimeError, with one line that says what is wrong, and TypeError if `path` is not a path.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"crema: load takes a path, not this {type(path).__name__}")
    file = pathlib.Path(path, _DOCUMENT)
    if not file.is_file():
        return Measurement(path, json.loads(program.run("show", path, "--json", "-q")))
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise program.ProgramError(f"crema: {file}: not JSON ({error}): make the measurement again") from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if isinstance(schema, str) and schema != _SCHEMA:  # in the program's words
        reason = f"its schema is {schema}, but this crema reads {_SCHEMA}; read it with the crema that wrote it"
        raise program.ProgramError(f"crema: {file}: {reason}")
    problem = _what_is_wrong(document)
    if problem:
        raise program.ProgramError(f"crema: {file}: not a measurement: {problem}; make it again")
    return Measurement(path, document)


def _what_is_wrong(document) -> str:
    """Why a document is not a measurement; empty if it is one. Parts that it lacks count as empty."""
    if not isinstance(document, dict) or not all(isinstance(document.get(part), dict) for part in ("run", "metrics")):
        return "it has no run and metrics"
    if not isinstance(document.get("schema"), str):
        return "it has no schema"
    for part in ("definitions", "quality", "timelines"):
        if not isinstance(document.get(part) or {}, dict):
            return f"its {part} is not an object"
    for table in _TABLES:
        rows = document.get(table) or []
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            return f"its {table} is not a list of rows"
    return _what_is_wrong_inside(document)


def _what_is_wrong_inside(document) -> str:
    """The same for the fields that Python computes with; the program checks the rest."""
    for key in ("start_ns", "stop_ns"):
        value = document["run"].get(key)
        if value is not None and (type(value) is not int or value not in _TIMES_NS):
            return f"its run.{key} is not a time"
    for name, values in (document.get("timelines") or {}).items():
        for points in values.values() if isinstance(values, dict) else (values,):
            if not isinstance(points or [], list) or not all(map(_is_point, points or ())):
                return f"its timeline {name} is not a list of [seconds, value]"
    for row in document.get("fine") or ():
        texts = (row.get(key) for key in ("context", "function", "activity", "unit"))
        if not _is_number(row.get("value")) or not all(isinstance(text or "", str) for text in texts):
            return "a row of its fine has a value that is not a number, or a name that is not a text"
    return ""


def _is_number(value) -> bool:
    return value is None or type(value) in (int, float)


def _is_point(point) -> bool:
    return (
        isinstance(point, list)
        and len(point) == 2
        and type(point[0]) in (int, float)
        and abs(point[0]) < _MOST_SECONDS  # also false for NaN
        and _is_number(point[1])
    )


def load_measurement(path):
    """(metrics, start, stop) as roastcoffea's: times in Unix seconds, and `tracking_data` among the metrics."""
    measurement = load(path)
    metrics = {**measurement.metrics, "tracking_data": measurement.tracking_data}
    start_ns, stop_ns = measurement.run.get("start_ns"), measurement.run.get("stop_ns")
    return metrics, None if start_ns is None else start_ns / 1e9, None if stop_ns is None else stop_ns / 1e9
