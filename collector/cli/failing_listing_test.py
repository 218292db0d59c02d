"""A disk that fails while a directory is listed: every command says so in one line, and none blames itself."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from collector.cli import invented_run

HERE = pathlib.Path(__file__).absolute().parent
CREMA = HERE / "crema"


class FailingListing(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def crema(self, *arguments, failing=None):
        variables = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
        if failing:
            variables |= {"LD_PRELOAD": str(HERE / "libfailing_listing.so"), "FAILING_LISTING": str(failing)}
        command = [CREMA, *map(str, arguments)]
        return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60)

    def refuses(self, directory, *arguments):
        self.assertEqual(self.crema(*arguments).returncode, 0, "the same command on a disk that works")
        answer = self.crema(*arguments, failing=directory)
        self.assertEqual(answer.returncode, 1, answer.stderr)
        self.assertEqual(answer.stderr.count("\n"), 1, answer.stderr)
        self.assertIn(str(directory), answer.stderr)
        self.assertIn("Input/output error", answer.stderr)
        self.assertNotIn("bug", answer.stderr)

    # Fault [outputs]: a disk fails while a directory is listed
    # Shown: one line with the directory and the system's reason; nothing is measured from a part of the logs, and a
    # measurement that was there stays
    def test_logs_that_are_collected(self):
        logs = self.folder / "logs"
        invented_run.write_run(str(logs))
        self.refuses(logs, "collect", logs, "-o", self.folder / "out", "-q")
        self.refuses(logs, "show", logs)

    def test_a_measurement_that_is_replaced(self):
        logs, out = self.folder / "logs", self.folder / "out"
        invented_run.write_run(str(logs))
        self.refuses(out, "collect", logs, "-o", out, "-q")
        document = json.loads((out / "measurement.json").read_text())
        self.assertEqual(document["run"]["name"], "logs")

    def test_runs_that_are_compared_over_time(self):
        runs = self.folder / "runs"
        for name in "abcd":
            invented_run.write_run(str(self.folder / "logs"))
            self.crema("collect", self.folder / "logs", "-o", runs / name, "-q")
        self.refuses(runs, "history", runs)


if __name__ == "__main__":
    unittest.main()
