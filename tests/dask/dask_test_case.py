"""The base of tests that make real clusters work, and measure them with the program. See dask_test.py."""

import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
CREMA = CHECKOUT / "bazel-bin/collector/cli/crema"
LIBRARY = CHECKOUT / "bazel-bin/sdk/c_api/libcrema.so.1"
NANOAOD = CHECKOUT / "tests/data/nanoAOD_2015_CMS_Open_Data_ttbar.root"
PYTHON = os.environ.get("CREMA_TEST_DASK_PYTHON") or str(CHECKOUT / ".cache/coffea/bin/python")
OLD_PYTHON = str(CHECKOUT / ".cache/test/old_dask/bin/python")
SCENARIO_SECONDS = 900  # a busy machine takes minutes for some of them


@functools.cache
def why_not() -> str:
    """Why no cluster can be started; empty if one can."""
    if not os.access(PYTHON, os.X_OK):
        return "no distributed in .cache/coffea: tools/setup coffea installs it"
    probe = subprocess.run([PYTHON, "-c", "import distributed"], capture_output=True, text=True, check=False)
    return "" if probe.returncode == 0 else f"{PYTHON} has no distributed"


@functools.cache
def build() -> None:
    targets = ["//collector/cli:crema", "//sdk/c_api:libcrema.so.1"]
    command = ["bazel", "build", "--ui_event_filters=-info", "--noshow_progress", *targets]
    subprocess.run(command, cwd=CHECKOUT, check=True)


def run_scenario(name, directory, python=PYTHON, packages=()):
    """Runs a scenario into `directory`, with these folders of packages. Returns the finished process."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
    environment.update(
        CREMA_TEST_PYTHON=str(CHECKOUT / "python"),
        CREMA_TEST_LIBRARY=str(LIBRARY),
        CREMA_TEST_PROGRAM=str(CREMA),
        CREMA_TEST_NANOAOD=str(NANOAOD),
        CREMA_LIBRARY=str(LIBRARY),
        CREMA_PROGRAM=str(CREMA),
        PYTHONPATH=":".join(map(str, (pathlib.Path(__file__).parent, CHECKOUT / "python", *packages))),
        TMPDIR=str(directory),
        # CPython 3.11 may lock up in sys._current_frames(), which Dask's profiler calls 100 times a second: collecting
        # garbage in it lets go of the interpreter's lock, but not of that of the list of threads.
        DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED="False",
    )
    if "CREMA_TEST_STACKS" in os.environ:  # everything again, while stacks are taken
        environment["CREMA_STACKS"] = os.environ["CREMA_TEST_STACKS"]
    script = pathlib.Path(__file__).with_name("scenarios.py")
    return subprocess.run(
        [python, script, name, directory, str(SCENARIO_SECONDS)],
        env=environment,
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=SCENARIO_SECONDS + 30,
        check=False,
    )


class DaskTestCase(unittest.TestCase):
    python = PYTHON
    packages = ()  # folders

    def setUp(self):
        if why_not():
            self.skipTest(why_not())
        build()
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)

    def run_scenario(self, name):
        """Runs a scenario. Returns its truth."""
        result = run_scenario(name, self.directory, self.python, self.packages)
        self.assertEqual(result.returncode, 0, result.stderr[-4000:])
        return json.loads((self.directory / "truth.json").read_text())

    def collect(self, *sources):
        directory = tempfile.mkdtemp(dir=self.directory)
        command = [CREMA, "collect", *sources, "-o", os.path.join(directory, "measurement"), "-q"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(pathlib.Path(directory, "measurement", "measurement.json").read_text())

    def measure(self, name):
        truth = self.run_scenario(name)
        return truth, self.collect(self.directory / "run.ndjson")

    def assert_budget_adds_up(self, document):
        metrics = document["metrics"]
        parts = sum(row["core_seconds"] for row in document["budget"])
        self.assertAlmostEqual(parts, metrics["core_seconds"], places=6)

    def assert_complete(self, truth, document):
        """Checks that nothing was lost: every chunk is there once, each belongs to a task, and no byte is missing."""
        metrics, quality = document["metrics"], document["quality"]
        self.assertEqual(metrics["num_chunks"], truth["chunks"])
        self.assertEqual(metrics["num_lost_attempts"], 0)
        self.assertEqual(quality["chunks_unjoined"], 0)
        self.assertEqual(quality["records_lost_bytes"], 0)
        self.assertEqual(quality["records_malformed"] + quality["records_torn"] + quality["records_unknown"], 0)
        if quality["fine_metrics_coverage"] is not None:  # a scheduler that is told to restart forgets its account
            self.assertGreaterEqual(quality["fine_metrics_coverage"], 0.999)
        self.assertEqual([text for text in quality["warnings"] if "more than its own compute time" in text], [])
        self.assert_budget_adds_up(document)
