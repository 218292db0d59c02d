"""Shared by the tests of the Python package: interpreters, the built native parts, and recorded programs."""

import atexit
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGE = CHECKOUT / "python"
LIBRARY = CHECKOUT / "bazel-bin/sdk/c_api/libcrema.so.1"
PROGRAM = CHECKOUT / "bazel-bin/collector/cli/crema"
COFFEA_PYTHON = CHECKOUT / ".cache/coffea/bin/python"
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14", "3.13t", "3.14t")  # "t": without the interpreter's lock
VERSION_OF_PYTHON = """
import ctypes, sys
print("%d.%d" % sys.version_info[:2] + "t" * (not getattr(sys, "_is_gil_enabled", lambda: True)()))
"""


@functools.cache
def build() -> None:
    targets = ["//sdk/c_api:libcrema.so.1", "//sdk/c_api:recording_plugin.so", "//collector/cli:crema"]
    command = ["bazel", "build", "--ui_event_filters=-info", "--noshow_progress", *targets]
    subprocess.run(command, cwd=CHECKOUT, check=True)


@functools.cache
def wheel() -> pathlib.Path:
    """The wheel that tools/wheel builds, in a folder that is removed after the tests."""
    folder = pathlib.Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    built = subprocess.run([CHECKOUT / "tools/wheel", "-o", folder], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (found,) = folder.glob("*.whl")
    return found


def install_wheel(case, python) -> tuple:
    """Makes a clean environment of this Python with the wheel, which is removed after the class `case` of tests.
    Returns its folder and the variables of its programs. Skips the test if this Python cannot make an environment."""
    place = pathlib.Path(tempfile.mkdtemp()).resolve()
    case.addClassCleanup(shutil.rmtree, place)
    foreign = ("CREMA_", "PYTHON", "PIP_", "PKG_CONFIG_", "CMAKE_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    environment = {**clean, "HOME": str(place), "PATH": f"{place}/venv/bin:/usr/bin:/bin"}
    named = {"env": environment, "capture_output": True, "text": True, "check": False}
    made = subprocess.run([python, "-m", "venv", place / "venv"], **named)
    if made.returncode != 0:
        raise unittest.SkipTest(f"{python} cannot make an environment: {(made.stdout + made.stderr).strip()[-200:]}")
    pip = [place / "venv/bin/python", "-m", "pip", "install", "--no-index", "--disable-pip-version-check", "-q"]
    done = subprocess.run([*pip, wheel()], **named)
    assert done.returncode == 0, done.stdout + done.stderr
    return place, environment


@functools.cache
def interpreters() -> dict:
    """{version: path} for those of VERSIONS that this machine has."""
    found = {}
    for version in VERSIONS:
        candidates = [shutil.which(f"python{version}"), shutil.which("python3")]
        candidates += sorted(map(str, pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python")))
        for path in filter(None, candidates):
            command = [path, "-c", VERSION_OF_PYTHON]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.stdout.strip() == version:
                found[version] = path
                break
    return found


class RecordedTest(unittest.TestCase):
    maxDiff = None
    """Runs pieces of Python with the package in processes of their own, and reads what they recorded."""

    @classmethod
    def setUpClass(cls):
        build()

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.records = self.folder / "records"

    def environment(self, **more) -> dict:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("CREMA_", "PYTHON"))}
        package = {"PYTHONPATH": str(PACKAGE), "CREMA_LIBRARY": str(LIBRARY), "CREMA_PROGRAM": str(PROGRAM)}
        return {**clean, **package, "HOME": str(self.folder), "MPLCONFIGDIR": str(self.folder), **more}

    def run_program(self, text, *arguments, python="python3", **environment):
        script = self.folder / "analysis.py"
        script.write_text(text)
        return subprocess.run(
            [python, script, *map(str, arguments)],
            cwd=self.folder,
            env=self.environment(**environment),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def record(self, text, *arguments, python="python3", errors="", **environment) -> list:
        """Returns the lines of the logs of a program. Checks that it succeeds and prints `errors` on stderr."""
        done = self.run_program(text, *arguments, python=python, CREMA_DIR=str(self.records), **environment)
        self.assertEqual((done.returncode, done.stderr), (0, errors))
        return self.lines()

    def lines(self) -> list:
        found = []
        for log in sorted(self.records.glob("*.jsonl")):
            found += [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        return found

    def record_chunk(self, text, *arguments, **named) -> dict:
        """Returns the only chunk of such a program. Checks that its log is complete."""
        lines = self.record(text, *arguments, **named)
        (end,) = of_type(lines, "end")
        self.assertEqual((end["open"], end["dropped"]), (0, 0))
        (chunk,) = of_type(lines, "chunk")
        return chunk


def of_type(lines, kind) -> list:
    return [line for line in lines if line["type"] == kind]


def paths(chunk) -> list:
    return [row["path"] for row in chunk["sections"]]


def add_versions(namespace, name, case) -> None:
    """Makes a copy of the tests for each other Python, and one skipped test for each missing Python."""
    own = ".".join(map(str, sys.version_info[:2]))
    for version in VERSIONS:
        kind = f"{name}OfPython{version.replace('.', '')}Test"
        path = interpreters().get(version)
        if path is None:

            def test(self, version=version):
                self.skipTest(f"no Python {version} with ctypes on the PATH or in ~/.pyenv/versions")

            namespace[kind] = type(kind, (unittest.TestCase,), {"test_guards": test})
        elif version != own:
            namespace[kind] = type(kind, (case,), {"python": path})
