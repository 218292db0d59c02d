"""Programs with ROOT and the SDK, compiled once for all tests, and their records.

Run by tools/test, outside Bazel: tools/setup puts ROOT into .cache/root of the checkout. One folder alone:
`python3 -m unittest discover -s tests/root -p '*_test.py'`.
"""

import atexit
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
PYTHON = CHECKOUT / ".cache/root/bin/python"
LIBRARIES = [
    *("Core", "Imt", "RIO", "Net", "Hist", "Tree", "TreePlayer", "MathCore"),
    *("ROOTVecOps", "ROOTDataFrame", "ROOTNTuple"),
]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]

_built = {}
_folder = None


def root_home():
    """The folder with ROOT's `include` and `lib`, or None."""
    found = list(CHECKOUT.glob(".cache/root/lib/python3.*/site-packages/ROOT/include/RVersion.h"))
    return found[0].parent.parent if found else None


def scratch() -> pathlib.Path:
    """A folder for files that all tests of the process use; removed at its end."""
    global _folder
    if _folder is None:
        _folder = pathlib.Path(tempfile.mkdtemp())
        atexit.register(shutil.rmtree, _folder, ignore_errors=True)
    return _folder


def compile_command(source: pathlib.Path, *options: str) -> list[str]:
    root = root_home()
    command = ["g++", "-O1", "-std=c++17", "-pthread", *WARNINGS, "-isystem", root / "include", "-I", HERE]
    command += ["-I", CHECKOUT / "sdk/include", "-I", CHECKOUT / "sdk/root/include", *options, source]
    return list(map(str, command))


def link_options() -> list[str]:
    root = root_home()
    # The wheel's libfreetype asks for symbols of the wheel's own libpng, which the linker does not see.
    options = [CHECKOUT / "bazel-bin/sdk/libcrema.a", "-ldl", "-L", root / "lib", *(f"-l{name}" for name in LIBRARIES)]
    return list(map(str, [*options, f"-Wl,-rpath,{root / 'lib'}", "-Wl,--allow-shlib-undefined"]))


def program(name: str) -> pathlib.Path:
    """The compiled `<name>.cc` of this folder."""
    if name not in _built:
        target = scratch() / name
        command = [*compile_command(HERE / f"{name}.cc"), *link_options(), "-o", str(target)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{name}.cc does not compile:\n{done.stdout}")
        _built[name] = target
    return _built[name]


def data() -> pathlib.Path:
    """The folder with the files that make_data.cc writes."""
    folder = scratch() / "data"
    if not folder.exists():
        folder.mkdir()
        subprocess.run([program("make_data"), folder], check=True)
        whole = (folder / "tree1.root").read_bytes()
        (folder / "truncated.root").write_bytes(whole[: len(whole) // 2])
        (folder / "stub.root").write_bytes(whole[:100])
        whole = (folder / "ntuple1.root").read_bytes()
        (folder / "truncated_ntuple.root").write_bytes(whole[: len(whole) // 2])
    return folder


@dataclasses.dataclass
class Outcome:
    """The output and the records of a program."""

    output: str
    errors: str
    status: int
    records: list

    def of_type(self, kind: str) -> list:
        return [record for record in self.records if record["type"] == kind]

    @property
    def chunks(self) -> list:
        return self.of_type("chunk")

    @property
    def probed(self) -> list:
        """The lines of probe.h, with the sample's file."""
        lines = [json.loads(line) for line in re.findall(r"\{.*\}", self.output)]
        return [{**line, "file": line["sample"].rsplit("/", 1)[0]} for line in lines]

    @property
    def said(self) -> str:
        """The program's output, without the probe's lines."""
        return re.sub(r"\{.*\}\n", "", self.output)


def prefix() -> pathlib.Path:
    """A folder with the SDK's headers and shared library, as an installation has them."""
    folder = scratch() / "prefix"
    if not folder.exists():
        for headers in ("sdk/include", "sdk/root/include"):
            shutil.copytree(CHECKOUT / headers, folder / "include", dirs_exist_ok=True)
        (folder / "lib").mkdir()
        shutil.copy(CHECKOUT / "bazel-bin/sdk/libcrema_cpp.so", folder / "lib")
    return folder


class RootCase(unittest.TestCase):
    targets = ("//sdk:crema",)

    @classmethod
    def setUpClass(cls):
        if root_home() is None:
            raise unittest.SkipTest("no ROOT in .cache/root: tools/setup root installs it")
        build = ["bazel", "build", "--ui_event_filters=-info", "--noshow_progress", "--show_result=0", *cls.targets]
        subprocess.run(build, cwd=CHECKOUT, check=True)

    def run_program(self, name, *arguments, **options):
        return run_recorded([program(name), *arguments], **options)


class PyrootCase(RootCase):
    """Variables for ROOT's Python, the package of the checkout, and the SDK in a prefix."""

    targets = ("//sdk:libcrema_cpp.so", "//sdk/c_api:libcrema.so.1")

    @classmethod
    def environment(cls):
        return {
            "PYTHONPATH": f"{CHECKOUT / 'python'}",
            "CREMA_PREFIX": f"{prefix()}",
            "CREMA_LIBRARY": f"{CHECKOUT / 'bazel-bin/sdk/c_api/libcrema.so.1'}",
            "CREMA_CACHE": f"{scratch() / 'cache'}",  # the guards are compiled once for all tests
        }

    @classmethod
    def run_python(cls, script, *arguments, **options):
        command = [PYTHON, "-W", "ignore", HERE / script, *arguments]
        return run_recorded(command, **{**cls.environment(), **options})


def run_recorded(command, recording=True, status=0, misused=0, **environment) -> Outcome:
    """Runs the command in a new folder. Raises AssertionError if its end or its log is not as it should be. `misused`:
    how many guards end out of order."""
    with tempfile.TemporaryDirectory() as folder:
        # a program that ROOT aborts would start a debugger first, which takes a quarter of a minute
        pathlib.Path(folder, ".rootrc").write_text("Root.Stacktrace: 0\n")
        directory = {"CREMA_DIR": folder} if recording else {}
        done = subprocess.run(
            list(map(str, command)),
            cwd=folder,
            env={**os.environ, **directory, **environment},
            capture_output=True,
            text=True,
            timeout=600,  # a worker of Dask that dies in ROOT's own handler of signals would hang
            check=False,
        )
        logs = sorted(pathlib.Path(folder).glob("*.jsonl"))
        records = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
    if done.returncode != status:
        raise AssertionError(f"status {done.returncode}, not {status}:\n{done.stdout}{done.stderr}")
    for end in (record for record in records if record["type"] == "end"):
        if (end["dropped"], end["misused"]) != (misused, misused):
            raise AssertionError(f"records were dropped, or guards misused: {end}")
    return Outcome(done.stdout, done.stderr, done.returncode, records)


def trees() -> list:
    return [data() / f"tree{i}.root" for i in range(3)]


def ntuples() -> list:
    return [data() / f"ntuple{i}.root" for i in range(3)]


ENTRIES = (50_000, 60_000, 70_000)  # as make_data.cc writes them


def ranges(chunks: list) -> list:
    """(file, first, last) of each, sorted."""
    return sorted((pathlib.Path(chunk["file"]).name, chunk["entry_start"], chunk["entry_stop"]) for chunk in chunks)


def metric(chunk: dict, name: str):
    return next((row["sum"] for row in chunk["metrics"] if row["name"] == name), None)


def in_clusters(cluster: int) -> list:
    """The ranges of the trees' clusters."""
    return sorted(
        (f"tree{i}.root", first, min(first + cluster, entries))
        for i, entries in enumerate(ENTRIES)
        for first in range(0, entries, cluster)
    )
