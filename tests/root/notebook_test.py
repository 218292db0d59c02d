"""PyROOT in a real Jupyter kernel: a frame is tracked, and the notebook shows what was measured."""

import json
import os
import subprocess
import tempfile
import unittest

import root_case

KERNEL = root_case.CHECKOUT / ".cache/test/jupyter/bin/python"
OUTPUTS = root_case.CHECKOUT / "tests/python/kernel_outputs.py"
LOOP = """
import crema_hep, crema_hep.root
with crema_hep.MetricsCollector(backend="local") as collector:
    events = ROOT.RDataFrame("Events", {files})
    tracked = crema_hep.root.track(events, "ttbar")
    passed = events.Filter("x > 0", "positive").Count().GetValue()
"""


class NotebookTest(root_case.PyrootCase):
    targets = (*root_case.PyrootCase.targets, "//collector/cli:crema")

    def show(self, cells):
        """Returns the output of a kernel with ROOT for each cell."""
        environment = self.environment()
        environment["PYTHONPATH"] += f":{root_case.root_home().parent}"
        environment["CREMA_PROGRAM"] = str(root_case.CHECKOUT / "bazel-bin/collector/cli/crema")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [KERNEL, OUTPUTS],
                input=json.dumps(cells),
                cwd=folder,
                env={**os.environ, **environment, "HOME": folder},
                capture_output=True,
                text=True,
                check=False,
            )
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_kernel_shows_the_frame_that_it_has_just_run(self):
        if not KERNEL.exists():
            self.skipTest("no Jupyter kernel in .cache/test/jupyter: tools/setup test installs it")
        files = [str(tree) for tree in root_case.trees()]
        _, loop, summary, passed = self.show(
            [
                "import ROOT",  # ROOT warns that its wheel is an early one
                LOOP.format(files=files),
                "collector.measurement",
                "passed == collector.measurement.cuts[1]['events']",
            ]
        )
        self.assertEqual(loop, [])
        events = sum(root_case.ENTRIES)
        self.assertRegex(summary[0]["data"]["text/html"], f'value="{events}">180\xa0k</data> events')
        self.assertEqual(passed[0]["data"]["text/plain"], "True")


if __name__ == "__main__":
    unittest.main(verbosity=2)
