"""`crema history` of real runs of two commits, and of many copies of a real measurement."""

import json
import random
import shutil
import subprocess
import unittest

from measured_runs import CREMA, QUEUE, MeasuredRunsCase, crema

RUNS = 1000
STEP_AT, FACTOR = 600, 1.05


class HistoryTest(MeasuredRunsCase):
    def test_runs_of_two_commits(self):
        for i in range(10):
            bad = i >= 5  # the change is in a count, because this machine may be busy
            commit = "bad" if bad else f"good{i}"
            self.measure(f"runs/{i}", QUEUE, 2, 12 if bad else 8, 1, 0, 1, 1, CREMA_COMMIT=commit)
        answer = self.json_of("history", self.scratch / "runs", "--metric", "num_chunks")
        self.assertEqual(answer["schema"], "crema.history/1")
        (change,) = answer["changes"]
        self.assertEqual((change["run"], change["earliest"], change["latest"]), (5, 5, 5))
        self.assertEqual((change["commit"], change["commit_before"], change["commits"]), ("bad", "good4", ["bad"]))
        for key, value in (("from", 8), ("to", 12), ("change", 0.5), ("low", 0.5), ("high", 0.5)):
            self.assertAlmostEqual(change[key], value)  # equal counts have no noise
        self.assertIsNone(change["worse"])
        for run, row in enumerate(answer["runs"]):
            document = json.loads((self.scratch / f"runs/{run}/measurement.json").read_text())
            self.assertEqual(row["value"], document["metrics"]["num_chunks"])
            self.assertEqual(row["commit"], document["run"]["commit"])
            self.assertEqual(row["start_ns"], document["run"]["start_ns"])
        chart = self.scratch / "chart.json"
        printed = crema(
            "history", self.scratch / "runs", "--metric", "num_chunks", "--rows", 2, "--chart", chart
        ).stdout
        self.assertIn("First with the commit bad (before: good4).", " ".join(printed.split()))
        self.assertIn("num_chunks of the latest 2 of 10 runs", printed)
        self.assertEqual(json.loads(chart.read_text())["usermeta"], {"crema": "history"})
        # values of the default figure are measured times
        self.assertEqual(self.json_of("history", self.scratch / "runs")["metric"], "event_rate_wall_khz")

    def copies(self, step_at):
        """Makes `RUNS` measurements, a minute apart, with 2 % of noise, from one real measurement."""
        document = json.loads((self.measure("made", QUEUE, 2, 8, 1, 0, 1, 1) / "measurement.json").read_text())
        shutil.rmtree(self.scratch / "many", ignore_errors=True)
        noise = random.Random(17)
        for i in range(RUNS):
            document["run"].update(
                id=f"run{i}", start_ns=1_700_000_000_000_000_000 + 60_000_000_000 * i, commit=f"{i:040x}"
            )
            document["metrics"]["busy_time"] = 3 + noise.gauss(10, 0.2) * (FACTOR if i >= step_at else 1)
            document["metrics"]["chunk_cpu_wait"] = 3
            directory = self.scratch / "many" / f"{noise.random()}"
            directory.mkdir(parents=True)
            (directory / "measurement.json").write_text(json.dumps(document))
        return self.scratch / "many"

    def test_a_thousand_measurements(self):
        many = self.copies(STEP_AT)
        answer = self.json_of("history", many)
        self.assertEqual(len(answer["runs"]), RUNS)
        (change,) = answer["changes"]
        self.assertLessEqual(change["earliest"], STEP_AT)
        self.assertGreaterEqual(change["latest"], STEP_AT)
        self.assertIn(f"{STEP_AT:040x}", change["commits"])
        self.assertLess(change["low"], FACTOR - 1)
        self.assertGreater(change["high"], FACTOR - 1)
        self.assertTrue(change["worse"])
        for percent, status in ((4, 3), (6, 0)):
            gated = crema("history", many, "-q", "--fail-on-worse", percent)
            self.assertEqual((gated.returncode, gated.stdout), (status, ""))
            self.assertEqual("gate --fail-on-worse failed: work of the latest" in gated.stderr, status == 3)
        self.assertEqual(self.json_of("history", self.copies(RUNS))["changes"], [])

    def test_what_cannot_be_used_is_told(self):
        runs = self.scratch / "runs"
        for i in range(3):
            self.measure(f"runs/{i}", QUEUE, 2, 4, 1, 0, 1, 1)
        whole = (runs / "0/measurement.json").read_text()
        (runs / "0/measurement.json").write_text(whole[: len(whole) // 2])
        (runs / "1/measurement.json").write_text("{}")
        (runs / "notes").mkdir()
        (runs / "notes.txt").write_text("")
        failed = subprocess.run([CREMA, "run", "-q", "-o", runs / "3", "--", "false"], check=False)
        self.assertEqual(failed.returncode, 1)
        answer = self.json_of("history", runs, runs / "2", runs / "2/")
        self.assertEqual(len(answer["runs"]), 1)
        self.assertEqual(answer["changes"], [])
        self.assertIn("too few", answer["notes"][0])
        reasons = {row["directory"].rsplit("/", 1)[1]: row["reason"] for row in answer["left_out"]}
        self.assertIn("cannot be read", reasons["0"])
        self.assertIn("is not of the schema", reasons["1"])
        self.assertEqual(reasons["3"], "its command ended with status 1")
        self.assertIn("left out", crema("history", runs).stdout)

    def test_wrong_use_is_told(self):
        run = self.measure("run", QUEUE, 2, 4, 1, 0, 1, 1)
        (self.scratch / "empty").mkdir()
        for options, status, words in (
            ([], 2, "DIR"),
            ([""], 2, "is empty"),
            ([run, "--chart", "chart"], 2, "must end in .png"),
            ([run, "--metric", "num_chunks", "--fail-on-worse", 5], 2, "whether more num_chunks is worse"),
            ([run, "--metric", "cpu_eficiency"], 1, "there is no metric `cpu_eficiency`; did you mean cpu_efficiency"),
            ([run, "--metric", "gpu_seconds"], 1, "gpu_seconds was not measured"),
            ([run, "--name", "other"], 1, "its name is"),
            ([self.scratch / "nothing"], 1, "cannot be listed"),
            ([self.scratch / "empty"], 1, "no measurement in it"),
        ):
            done = crema("history", *options)
            self.assertEqual(done.returncode, status, options)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
