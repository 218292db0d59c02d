"""Reports of real runs: of the example, and of Coffea on a Dask cluster."""

import json
import pathlib
import sys
import unittest

import page_case
from page_case import CHECKOUT, PageTestCase, crema

sys.path.insert(0, str(CHECKOUT / "tests/dask"))

import dask_test_case  # noqa: E402

ZJETS = CHECKOUT / "bazel-bin/examples/zjets/zjets"


def setUpModule():
    page_case.require_browser()
    page_case.build("//examples/zjets", "//sdk/c_api:libcrema.so.1")


class RealRuns(PageTestCase):
    def assert_good_report(self, directory, name):
        """Makes all checks of a report for the measurement in `directory`. Returns that measurement."""
        crema("report", directory, "-q")
        measurement = json.loads(pathlib.Path(directory, "measurement.json").read_text())
        page = pathlib.Path(directory, "report.html")
        self.assert_quiet(page)
        self.assert_figures_are_of(measurement)
        self.assert_shares_add_up(measurement)
        self.keep_pictures(page, name)
        return measurement

    def text_of(self, block):
        script = "return document.getElementById(arguments[0]).closest('section').textContent"
        return self.browser.run(script, block)

    def test_the_example(self):
        # the example of tools/demo, with fewer events and less of a pile-up
        directory = pathlib.Path(self.folder, "zjets")
        options = [
            "--events",
            "1500",
            "--pileup",
            "20",
            "--ghost-area",
            "0.1",
            "--output",
            directory.with_suffix(".json"),
        ]
        crema("run", "-q", "-o", directory, "--", ZJETS, "--processes", "2", *options)
        measurement = self.assert_good_report(directory, "zjets")
        self.assertEqual(measurement["metrics"]["total_events"], 4500)
        for dataset in ("ckkwl", "fxfx", "mlm"):
            self.assertIn(dataset, self.text_of("inputs"))
        self.assertIn("cluster", self.text_of("time"))
        self.assertIn("Z mass window", self.text_of("custom"))

    @unittest.skipIf(dask_test_case.why_not(), dask_test_case.why_not())
    def test_coffea_on_dask(self):
        directory = pathlib.Path(self.folder, "dask")
        directory.mkdir()
        result = dask_test_case.run_scenario("coffea_twice", directory)
        self.assertEqual(result.returncode, 0, result.stderr[-4000:])
        truth = json.loads((directory / "truth.json").read_text())
        saved = next((directory / "saved").iterdir())  # its name is the time
        measurement = self.assert_good_report(saved, "dask")
        self.assertEqual(measurement["metrics"]["num_chunks"], len(truth["chunks"]))
        for dataset in ("ttbar", "wjets"):
            self.assertIn(dataset, self.text_of("inputs"))
        for name in ("Jets", "thread-cpu"):
            self.assertIn(name, self.text_of("fine"))


if __name__ == "__main__":
    unittest.main()
