"""The input for tools/same_output: record logs, logs of engines, and measurements.

A case is an input in a folder of its own. The cases are all that the repository has or makes: directories of record
logs, the logs of engines, the corpora of the fuzz targets, the simulated runs, logs from seeds, and the examples of the
pages in docs/. Every run of this tool makes the same bytes.
"""

import contextlib
import dataclasses
import fcntl
import importlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator

# Puts an input into a folder. Returns logs that stay open and locked, as if their process still ran.
Write = Callable[[pathlib.Path], list | None]

LOG_ENDINGS = (".jsonl", ".ndjson", ".jsonl.gz", ".jsonl.zst", ".ndjson.gz", ".ndjson.zst")
NOT_OURS = re.compile(r"\.|bazel-|node_modules$|runs$|dist$")  # folders of builds and of measurements
# The engines of tests/fuzz/corpus/engines, by the first byte of a file (collector/engines/engines.cc).
ENGINE_ENDINGS = (".dask.ndjson", ".taskvine.log", ".work-queue.log", ".sacct.txt", ".htcondor.log")
RECORD_LOG = "host-1-1-0.jsonl"
SEEDS = 40
QUICK_SEEDS = 2
QUICK_SHARE = 6  # with --quick, one of this many files of a corpus is read
MADE_FILES = 20
WRITTEN_AT = 1_790_000_000  # Unix seconds; crema may look at the age of a log


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    write: Write
    sources: tuple[str, ...]  # the paths in the folder that the commands read
    options: tuple[str, ...] = ()  # of `collect`
    is_measurement: bool = False  # the source is a measurement, which is shown as it is
    is_quick: bool = False
    is_large: bool = False


def set_times(folder: pathlib.Path) -> None:
    for parent, _, files in os.walk(folder):
        for file in files:
            os.utime(pathlib.Path(parent, file), (WRITTEN_AT, WRITTEN_AT), follow_symlinks=False)


def locked(path: pathlib.Path) -> io.BufferedReader:
    log = open(path, "rb")  # noqa: SIM115  held until the comparison ends
    fcntl.flock(log, fcntl.LOCK_EX)
    return log


def is_log(name: str) -> bool:
    return name.endswith(LOG_ENDINGS)


def copy_of(path: pathlib.Path, name: str) -> Write:
    def write(folder: pathlib.Path) -> None:
        if path.is_dir():
            shutil.copytree(path, folder / name)
        else:
            shutil.copy(path, folder / name)

    return write


def bytes_as(data: bytes, name: str, *more: Write) -> Write:
    def write(folder: pathlib.Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        for other in more:
            other(folder)

    return write


class Repository:
    """Finds the cases of a checkout. `missing` lists those that it lacks."""

    def __init__(self, root: pathlib.Path):
        self._root = root
        self.missing: list[str] = []

    def cases(self) -> list[Case]:
        found = [
            *self._record_directories(),
            *self._engine_logs(),
            *self._other_tools(),
            *self._documents_of_tests(),
            *self._corpora(),
            *self._generated(),
            *self._examples_of_pages(),
        ]
        return sorted(found, key=lambda case: case.name)

    def _record_directories(self) -> Iterator[Case]:
        for parent, folders, files in os.walk(self._root):
            folders[:] = sorted(name for name in folders if not NOT_OURS.match(name))
            path = pathlib.Path(parent)
            if any(map(is_log, files)):
                yield self._case_of(path, is_quick=True)
        if not any(self._root.glob("collector/engines/testdata/*/records")):
            self.missing.append("record directories of collector/engines/testdata")

    def _case_of(self, path: pathlib.Path, **facts) -> Case:
        return Case(str(path.relative_to(self._root)), copy_of(path, path.name), (path.name,), **facts)

    def _engine_logs(self) -> Iterator[Case]:
        """Cases for an engine's run: the whole run, and each log of the engine alone."""
        for path in sorted(self._root.glob("collector/engines/testdata/*")):
            if path.is_dir():
                yield self._case_of(path, is_quick=True)
                for log in sorted(path.iterdir()):
                    if log.suffix in (".log", ".txt"):
                        yield self._case_of(log)

    def _other_tools(self) -> Iterator[Case]:
        for path in ("collector/sources/prmon/testdata", "collector/sources/roastcoffea/testdata/measurement"):
            if (self._root / path).is_dir():
                yield self._case_of(self._root / path, is_quick=True)
            else:
                self.missing.append(path)

    def _documents_of_tests(self) -> Iterator[Case]:
        for path in sorted(self._root.glob("collector/terminal/testdata/*.json")):
            name = str(path.relative_to(self._root))
            yield self._measurement(name, path.read_bytes(), is_quick=path.stem == "waiting")

    @staticmethod
    def _measurement(name: str, document: bytes, **facts) -> Case:
        write = bytes_as(document, "measured/measurement.json")
        return Case(name, write, ("measured",), is_measurement=True, **facts)

    def _corpora(self) -> Iterator[Case]:
        readers = {
            "record_log": self._record_log,
            "compression": self._compressed,
            "engines": self._engine_log,
            "documents": self._document,
        }
        for corpus, case_of in readers.items():
            files = sorted(self._root.glob(f"tests/fuzz/corpus/{corpus}/*"))
            if not files:
                self.missing.append(f"tests/fuzz/corpus/{corpus}")
            for number, path in enumerate(files):
                case = case_of(f"tests/fuzz/corpus/{corpus}/{path.name}", path.read_bytes())
                yield dataclasses.replace(case, is_quick=number % QUICK_SHARE == 0)

    @staticmethod
    def _record_log(name: str, data: bytes) -> Case:
        return Case(name, bytes_as(data, f"logs/{RECORD_LOG}"), ("logs",))

    @staticmethod
    def _compressed(name: str, data: bytes) -> Case:
        content = data[1:]
        ending = {b"\x1f\x8b": ".gz", b"\x28\xb5": ".zst"}.get(content[:2], "")
        return Case(name, bytes_as(content, f"logs/{RECORD_LOG}{ending}"), ("logs",))

    @staticmethod
    def _engine_log(name: str, data: bytes) -> Case:
        file = "engine" + ENGINE_ENDINGS[(data[0] - ord("0")) % len(ENGINE_ENDINGS)]
        return Case(name, bytes_as(data[1:], file), (file,))

    def _document(self, name: str, data: bytes) -> Case:
        """The first byte selects the reader (tests/fuzz/documents_fuzz.cc)."""
        kind, content = data[:1], data[1:]
        if kind in b"cd":
            option = {b"c": "--coffea-report", b"d": "--metrics-by-dataset"}[kind]
            write = bytes_as(content, "report.json", self._invented)
            return Case(name, write, ("records",), (option, "../report.json"))
        if kind == b"r":
            times = bytes_as(b"1795289000.0,1795289060.0", "roastcoffea/start_end_time.txt")
            return Case(name, bytes_as(content, "roastcoffea/metrics.json", times), ("roastcoffea",))
        file = {b"p": "prmon/prmon.txt", b"j": "summary/prmon.json", b"t": "host-1.tree.ndjson"}.get(kind)
        if file:
            return Case(name, bytes_as(content, file), (file.split("/")[0],))
        return self._measurement(name, content)

    def _module(self, name: str):
        """A module of the checkout that makes logs; None if the checkout lacks it."""
        path = self._root / f"{name}.py"
        if not path.is_file():
            if f"{name}.py" not in self.missing:
                self.missing.append(f"{name}.py")
            return None
        with contextlib.ExitStack() as undo:
            sys.path.insert(0, str(path.parent))
            undo.callback(sys.path.remove, str(path.parent))
            return importlib.import_module(path.stem)

    def _invented(self, folder: pathlib.Path) -> None:
        made = self._module("collector/cli/invented_run")
        if made:
            made.write_run(str(folder / "records"))

    def _generated(self) -> Iterator[Case]:
        invented = self._module("collector/cli/invented_run")
        if invented:
            for name, changes in {"run": {}, "slower": {"slower": 1.5, "events": 90}}.items():

                def write_run(folder: pathlib.Path, name: str = name, changes: dict = changes) -> None:
                    invented.write_run(str(folder / name), run_id=name, **changes)

                yield Case(f"invented/{name}", write_run, (name,), is_quick=True)
        simulated = self._module("tests/simulated/simulated_run")
        if simulated:
            runs = {**simulated.RUNS, "in_proportion": lambda seed: simulated.SmallChunks(seed, in_proportion=True)}
            for name, make in runs.items():

                def write_simulated(folder: pathlib.Path, name: str = name, make: Callable = make) -> None:
                    make(seed=1).write(str(folder / name))

                yield Case(f"simulated/{name}", write_simulated, (name,), is_quick=name == "mock")
        seeds = self._module("tests/reference/random_logs")
        if seeds:
            for seed in range(1, SEEDS + 1):

                def write_seed(folder: pathlib.Path, seed: int = seed) -> list:
                    (folder / "logs").mkdir()
                    logs = seeds.write_logs(str(folder / "logs"), seed)
                    return [locked(folder / "logs" / name) for name in logs.running]

                options = ("--run", "all")  # some seeds make two runs
                yield Case(f"seeds/{seed:02}", write_seed, ("logs",), options, is_quick=seed <= QUICK_SEEDS)

    def _examples_of_pages(self) -> Iterator[Case]:
        """Makes a log from the example lines of a format's page, which has one of each type."""
        names = {"record_log": "records/node17-14402-1795288669160497243-0.jsonl", "tree_log": "node7-4712.tree.ndjson"}
        logs = {}
        for page, name in names.items():
            path = self._root / f"docs/{page}.md"
            lines = re.findall(r'^\{"type":.*$', path.read_text(), re.MULTILINE) if path.is_file() else []
            if not lines:
                self.missing.append(f"examples of docs/{page}.md")
                continue
            logs[page] = bytes_as("".join(line + "\n" for line in lines).encode(), name)
            yield Case(f"docs/{page}", logs[page], (name.split("/")[0],), is_quick=True)


def made_records(make_logs: pathlib.Path, records: int) -> Case:
    def write(folder: pathlib.Path) -> None:
        command = [make_logs, "--shape", "sdk", "--records", str(records), "--files", str(MADE_FILES), folder / "made"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    return Case("made_records", write, ("made",), is_large=True)
