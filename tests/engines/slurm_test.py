"""A real Slurm of one node: an array of which one task takes too much memory, and steps of two ranks."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import slurm_cluster

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = CHECKOUT / "bazel-bin/collector/cli/crema"
LIBRARY = CHECKOUT / "bazel-bin/sdk/libcrema.a"


def build() -> None:
    targets = ["//sdk:crema", "//collector/cli:crema"]
    subprocess.run(["bazel", "build", "--noshow_progress", *targets], cwd=CHECKOUT, check=True)


def seconds(text: str) -> float:
    """`[days-][hours:]minutes:seconds`, as sacct has it."""
    days, _, clock = text.rpartition("-")
    total = 0.0
    for part in clock.split(":"):
        total = total * 60 + float(part)
    return total + 86400 * int(days or 0)


@unittest.skipUnless("CREMA_TEST_LONG" in os.environ, "starts a whole Slurm: tools/test --long")
@unittest.skipIf(slurm_cluster.missing(), f"no Slurm: {slurm_cluster.missing()}")
class SlurmTest(unittest.TestCase):
    def setUp(self):
        build()
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.records = self.folder / "records"
        self.records.mkdir()
        self.analysis = self.folder / "analysis"
        source = CHECKOUT / "tests/engines/analysis.cc"
        command = ["g++", "-std=c++17", "-O1", "-I", CHECKOUT / "sdk/include", source, LIBRARY, "-ldl", "-pthread"]
        subprocess.run([*command, "-o", self.analysis], check=True)
        (self.folder / "slurm").mkdir()
        self.folder.chmod(0o755)  # munge refuses a socket below a directory that others cannot enter
        self.slurm = slurm_cluster.Slurm(self.folder / "slurm")
        self.addCleanup(self.slurm.close)

    def script(self, command: str) -> str:
        return f"#!/bin/sh\nexport CREMA_DIR={self.records}\n{command}\n"

    def test_jobs_steps_and_their_ends_are_sacct_s(self):
        array = self.slurm.submit(
            self.script(f"[ $SLURM_ARRAY_TASK_ID = 2 ] && all=all\nexec {self.analysis} $SLURM_ARRAY_TASK_ID $all"),
            "--array=1-3",
            "--ntasks=1",
            "--mem=100",
            "--time=2",
            "--job-name=fill",
        )
        steps = self.slurm.submit(
            self.script(f"srun {self.analysis} 4\nsrun {self.analysis} 5\n{self.analysis} 6"),
            "--ntasks=2",
            "--mem=300",
            "--time=2",
            "--job-name=ranks",
        )
        self.slurm.wait_until_over([array, steps])
        report = self.folder / "jobs.txt"
        report.write_text(self.slurm.report([array, steps]))
        header, *lines = report.read_text().splitlines()
        rows = [dict(zip(header.split("|"), line.split("|"), strict=True)) for line in lines]
        jobs = {f"job {row['JobID']}": row for row in rows if "." not in row["JobID"]}
        self.assertEqual(len(jobs), 4)

        command = [PROGRAM, "collect", self.records, report, "-o", self.folder / "run", "-q"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads((self.folder / "run/measurement.json").read_text())
        metrics, workers = document["metrics"], {worker["name"]: worker for worker in document["workers"]}
        self.assertEqual(document["run"]["engine"], "Slurm")
        self.assertEqual((metrics["num_lost_attempts"], metrics["total_events"]), (1, 700))
        self.assertEqual(metrics["task_join_coverage"], 1.0)
        steps_of_sacct = [row for row in rows if row["JobID"].startswith("1_") and "." in row["JobID"]]
        numbered = [row for row in rows if row["JobID"].partition(".")[2].isdigit()]
        # and the script of the second job, which also ran a program outside its steps
        self.assertEqual(document["quality"]["tasks_read"], len(steps_of_sacct) + len(numbered) + 1)
        self.assertEqual(workers.keys(), jobs.keys())
        start = min(int(row["Start"]) for row in jobs.values())
        for name, row in jobs.items():
            worker = workers[name]
            self.assertEqual(worker["cores"], int(row["AllocCPUS"]), name)
            self.assertEqual(worker["process"].partition(":")[0], row["NodeList"], name)
            self.assertEqual(worker["memory_limit_bytes"], int(row["ReqMem"].rstrip("M")) << 20, name)
            self.assertAlmostEqual(worker["start"], int(row["Start"]) - start, delta=1e-6, msg=name)
            self.assertAlmostEqual(worker["engine_cpu"], seconds(row["TotalCPU"]), delta=1e-6, msg=name)
            self.assertEqual(worker["time_limit"], seconds(row["Timelimit"]), name)
            self.assertEqual(worker["chunks"], {"fill": 1, "ranks": 5}[row["JobName"]] - (name == "job 1_2"), name)
            batch = next(one for one in rows if one["JobID"] == f"{row['JobID']}.batch")
            if row["JobName"] == "fill":
                self.assertEqual(worker["engine_peak_memory_bytes"], int(batch["MaxRSS"].rstrip("K")) << 10, name)
                self.assertAlmostEqual(worker["stop"] - worker["start"], int(row["End"]) - int(row["Start"]), delta=1)
        lost = workers["job 1_2"]
        self.assertEqual((lost["state"], lost["lost"]), ("lost", 1))
        self.assertEqual(lost["left_reason"], "FAILED, signal 9, beyond its memory limit")
        (verdict,) = [verdict for verdict in document["verdicts"] if verdict["id"] == "worker-loss"]
        self.assertIn("the engine says FAILED, signal 9, beyond its memory limit", verdict["sentence"])
        advice = {row["resource"]: row for row in document["resource_advice"]}
        self.assertEqual((advice["memory"]["jobs"], advice["memory"]["used"]), (3, None))
        self.assertIn("fewer than 100 jobs", advice["memory"]["reason"])


if __name__ == "__main__":
    unittest.main()
