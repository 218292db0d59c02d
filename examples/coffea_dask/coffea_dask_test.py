"""Runs the real program on a real cluster of processes. The result has to be right, and the same with and without
crema.

Run by tools/test, outside Bazel: tools/setup puts Coffea and Dask into .cache/coffea of the checkout.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = pathlib.Path(__file__).resolve().parent
PYTHON = CHECKOUT / ".cache/coffea/bin/python"
TARGETS = ("//collector/cli:crema", "//sdk/c_api:libcrema.so.1", "//examples/coffea_dask:jet_toys.so")
REPEATS = 20
TOYS = 40
SMALL = ("--repeats", REPEATS, "--toys", TOYS, "--chunk", 1000)


class CoffeaDaskTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if not os.access(PYTHON, os.X_OK):
            raise unittest.SkipTest("no Coffea in .cache/coffea: tools/setup coffea installs it")
        command = ["bazel", "build", "--ui_event_filters=-info", "--noshow_progress", *TARGETS]
        subprocess.run(command, cwd=CHECKOUT, check=True)
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.result = cls.run_example("measured", *SMALL, "--measurement", cls.folder / "measurement")
        cls.measurement = json.loads((cls.folder / "measurement/measurement.json").read_text())

    @classmethod
    def run_python(cls, program, *arguments):
        """The output of a program in this folder."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("CREMA_", "PYTHON"))}
        environment = {
            "PYTHONPATH": str(CHECKOUT / "python"),
            "CREMA_LIBRARY": str(CHECKOUT / "bazel-bin/sdk/c_api/libcrema.so.1"),
            "CREMA_PROGRAM": str(CHECKOUT / "bazel-bin/collector/cli/crema"),
            "TMPDIR": str(cls.folder),  # where the workers' logs go
        }
        done = subprocess.run(
            [PYTHON, EXAMPLE / program, *map(str, arguments)],
            env={**clean, **environment},
            cwd=cls.folder,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        if done.returncode != 0:
            raise AssertionError(f"{program} ended with status {done.returncode}: {done.stderr[-4000:]}")
        return done.stdout

    @classmethod
    def run_example(cls, name, *arguments):
        """The example's cut flow and histograms, and what it printed."""
        output = cls.folder / f"{name}.json"
        printed = cls.run_python("coffea_dask.py", "--data", cls.folder, "--output", output, *arguments)
        document = output.read_bytes()
        return {"bytes": document, "printed": printed, "datasets": json.loads(document)}

    def logs(self):
        return sorted(self.folder.glob("crema-*/*/*.jsonl"))

    def test_the_result_is_the_same_without_crema(self):
        logs = self.logs()
        self.assertTrue(logs)
        without = self.run_example("without", *SMALL, "--without-crema")
        self.assertEqual(self.logs(), logs)
        self.assertEqual(without["bytes"], self.result["bytes"])
        self.assertNotIn("core-seconds", without["printed"])

    def test_the_result_is_the_same_however_the_work_is_divided(self):
        divided = self.run_example(
            "divided", *SMALL[:4], "--chunk", 333, "--workers", 1, "--threads", 3, "--without-crema"
        )
        self.assertEqual(divided["bytes"], self.result["bytes"])

    def test_the_result_agrees_with_an_independent_count(self):
        recounted = json.loads(self.run_python("recount.py"))
        found = self.result["datasets"]["ttbar"]
        self.assertEqual(found["cuts"], recounted["cuts"])
        self.assertEqual(found["measured"], recounted["measured"])
        self.assertGreater(recounted["cuts"]["missing momentum"], 10)  # else the comparison says little

    def test_repeated_events_give_the_same_histograms_as_often(self):
        once, repeated = self.result["datasets"]["ttbar"], self.result["datasets"]["ttbar_repeated"]
        for name, events in once["cuts"].items():
            self.assertEqual(repeated["cuts"][name], REPEATS * events)
        for kind, entries_per_event in (("measured", 1), ("varied", TOYS)):
            for histogram, counts in once[kind].items():
                self.assertEqual(sum(counts), entries_per_event * once["cuts"]["a jet"])
                self.assertEqual(repeated[kind][histogram], [REPEATS * count for count in counts])

    def test_python_and_native_sections_nest_in_one_record(self):
        selected = sum(dataset["cuts"]["a jet"] for dataset in self.result["datasets"].values())
        chunks = self.measurement["metrics"]["num_chunks"]
        counts = {row["path"]: row["count"] for row in self.measurement["sections"] if row["path"] != "(other)"}
        expected = {"read": chunks, "select": chunks, "vary": chunks, "vary/draw": selected, "vary/measure": selected}
        self.assertEqual(counts, expected)

    def test_every_chunk_is_measured_and_joined_to_its_task(self):
        metrics, quality = self.measurement["metrics"], self.measurement["quality"]
        self.assertEqual(metrics["num_chunks"], 1 + REPEATS * 200 // 1000)
        self.assertEqual(metrics["total_events"], 200 + REPEATS * 200)
        self.assertEqual((metrics["peak_workers"], metrics["num_failed_attempts"]), (2, 0))
        self.assertEqual((quality["processes_lost"], quality["records_dropped"], quality["chunks_unjoined"]), (0, 0, 0))
        self.assertGreaterEqual(quality["fine_metrics_coverage"], 0.999)
        self.assertGreater(metrics["outside_chunk_time"], 0)

    def test_the_measured_cut_flow_is_the_results(self):
        totals = {
            name: sum(dataset["cuts"][name] for dataset in self.result["datasets"].values())
            for name in self.result["datasets"]["ttbar"]["cuts"]
        }
        self.assertEqual({row["name"]: row["events"] for row in self.measurement["cuts"]}, totals)

    def test_one_run_ends_with_its_summary(self):
        printed = self.result["printed"]
        self.assertIn("where the core-seconds went", printed)
        self.assertIn("vary/draw", printed)


if __name__ == "__main__":
    unittest.main(verbosity=2)
