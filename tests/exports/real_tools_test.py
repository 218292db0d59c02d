"""Exports in the tools that they are for: Prometheus's promtool, and the roastcoffea package.

Run by tools/test, outside Bazel: tools/setup puts both tools into .cache/test of the checkout.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(CHECKOUT))

from collector.cli import invented_run  # noqa: E402  (found through the line before)

CREMA = CHECKOUT / "bazel-bin/collector/cli/crema"
TOOLS = CHECKOUT / ".cache/test"


class RealTools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command = ["bazel", "build", "--ui_event_filters=-info", "--noshow_progress", "//collector/cli:crema"]
        subprocess.run(command, cwd=CHECKOUT, check=True)

    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)

    def export(self, format_name):
        records = invented_run.write_run(os.path.join(self.directory, "records"))
        path = os.path.join(self.directory, format_name)
        command = [CREMA, "export", records, "--to", format_name, "-o", path]
        result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return path

    def test_promtool_has_nothing_to_say_of_the_prometheus_export(self):
        with open(self.export("prometheus"), encoding="utf-8") as file:
            command = [TOOLS / "promtool", "check", "metrics"]
            result = subprocess.run(command, stdin=file, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((result.returncode, result.stdout + result.stderr), (0, ""))

    def test_roastcoffea_opens_its_directory(self):
        python = TOOLS / "roastcoffea/bin/python"
        if not os.access(python, os.X_OK):
            self.skipTest("tools/setup found no Python >= 3.12 for roastcoffea; PYTHON=/path/to/python3.13 names one")
        directory = self.export("roastcoffea")
        script = pathlib.Path(__file__).parent / "opened_by_roastcoffea.py"
        result = subprocess.run(
            [python, script, directory],
            capture_output=True,
            text=True,
            env={**os.environ, "HOME": self.directory, "MPLCONFIGDIR": self.directory},
            timeout=300,
            check=False,
        )
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])
        self.assertEqual(result.stdout, "opened 21 1.85\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
