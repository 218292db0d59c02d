"""Runs of batch systems: compares crema's figures with what the batch system itself reports."""

import json
import pathlib
import shutil
import subprocess
import unittest

import run_test_case

SAMPLES = pathlib.Path("collector/engines/testdata")
BEYOND = "FAILED, signal 9, beyond its memory limit"


class BatchTest(run_test_case.RunTestCase):
    def collect(self, *sources):
        command = [run_test_case.CREMA, "collect", *map(str, sources), "-o", self.directory, "-q", "--force"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.directory / "measurement.json").read_text())

    def sample(self):
        return self.collect(SAMPLES / "slurm/records", SAMPLES / "slurm/jobs.txt")

    def test_jobs_of_slurm_are_workers_and_each_chunk_is_in_its_step(self):
        document = self.sample()
        self.assertEqual(document["run"]["engine"], "Slurm")
        self.assertEqual(document["metrics"]["task_join_coverage"], 1)
        self.assertEqual(document["quality"]["tasks_read"], 5)
        rows = {worker["name"]: worker for worker in document["workers"]}
        self.assertEqual(
            {name: row["cores"] for name, row in rows.items()}, {"job 1_1": 1, "job 1_2": 1, "job 1_3": 1, "job 2": 2}
        )
        ranks = rows["job 2"]
        self.assertEqual((ranks["chunks"], ranks["memory_limit_bytes"], ranks["time_limit"]), (4, 300 << 20, 120))
        self.assertEqual((ranks["engine_cpu"], ranks["left_reason"]), (0.122, "COMPLETED"))
        self.assertEqual(ranks["engine_peak_memory_bytes"], (10688 + 45924) << 10, "the script and two ranks")
        self.assertAlmostEqual(ranks["start"], 7)
        self.assertAlmostEqual(ranks["stop"] - ranks["start"], 6, delta=1)

    def test_a_job_that_took_too_much_memory_is_lost_and_says_so(self):
        document = self.sample()
        (lost,) = [worker for worker in document["workers"] if worker["state"] == "lost"]
        self.assertEqual((lost["name"], lost["left_reason"], lost["lost"]), ("job 1_2", BEYOND, 1))
        self.assertEqual(lost["engine_peak_memory_bytes"], 179052 << 10)
        (verdict,) = [verdict for verdict in document["verdicts"] if verdict["id"] == "worker-loss"]
        self.assertIn(f"the engine says {BEYOND}", verdict["sentence"])
        metrics = document["metrics"]
        counted = ("num_tasks", "num_failed_tasks", "num_failed_tasks_without_chunk", "num_unfinished_chunks")
        self.assertEqual([metrics[name] for name in counted], [5, 1, 0, 1])
        self.assertNotIn("tasks failed", document["headline"])  # its chunk without a result is named

    def test_of_jobs_without_records_no_part_of_the_budget_is_shown_as_zero(self):
        document = self.collect(SAMPLES / "slurm/jobs.txt")
        parts = {row["part"]: row["core_seconds"] for row in document["budget"]}
        self.assertAlmostEqual(sum(parts.values()), document["metrics"]["core_seconds"])
        self.assertEqual({row["chunks"] for row in document["workers"]}, {None}, "nobody counted them")
        for options in ([], ["--table", "budget"]):
            command = [run_test_case.CREMA, "show", str(self.directory), "-q", *options]
            text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            self.assertRegex(text, r"CPU in your code +[–-] +[–-]")
            self.assertNotRegex(text, r" 0 s +0\.0 %")

    def test_what_a_script_records_beside_its_steps_is_its_jobs(self):
        records = self.directory.parent / "with_script"
        records.mkdir()
        self.addCleanup(shutil.rmtree, records)
        for log in (SAMPLES / "slurm/records").glob("*.jsonl"):
            (records / log.name).write_text(log.read_text())
        (rank,) = records.glob("vm-18984-*.jsonl")  # of job 2, step 0
        beside = rank.read_text().replace('"step":"0"', '"step":null').replace("18984", "19999").replace("f4_0", "sum")
        (records / rank.name.replace("18984", "19999")).write_text(beside)
        before = self.sample()
        document = self.collect(records, SAMPLES / "slurm/jobs.txt")
        self.assertEqual(document["metrics"]["num_chunks"], before["metrics"]["num_chunks"] + 1)
        self.assertEqual(document["metrics"]["task_join_coverage"], 1)
        self.assertEqual(document["metrics"]["core_seconds"], before["metrics"]["core_seconds"])
        self.assertEqual(document["quality"]["tasks_read"], before["quality"]["tasks_read"] + 1)
        self.assertEqual(len(document["workers"]), 4)
        (job,) = [worker for worker in document["workers"] if worker["name"] == "job 2"]
        self.assertEqual(job["chunks"], 5)

    def test_the_same_report_twice_and_an_older_one_count_once(self):
        older = self.directory.parent / "older.txt"
        lines = (SAMPLES / "slurm/jobs.txt").read_text().splitlines()
        older.write_text("\n".join(line.replace("1795580871", "Unknown") for line in lines) + "\n")
        self.addCleanup(older.unlink)
        report = SAMPLES / "slurm/jobs.txt"
        document = self.collect(SAMPLES / "slurm/records", report, older, report)
        self.assertEqual(document["quality"]["tasks_read"], 5)
        self.assertEqual(len(document["workers"]), 4)
        self.assertEqual({worker["state"] for worker in document["workers"]}, {"ended", "lost"})

    def test_records_alone_have_processes_for_workers(self):
        document = self.collect(SAMPLES / "slurm/records")
        self.assertEqual(len(document["workers"]), 7)
        self.assertEqual(document["resource_advice"], [])

    def test_executions_of_htcondor_are_workers_with_the_reason_why_they_ended(self):
        document = self.collect(SAMPLES / "htcondor/jobs.log")
        self.assertEqual(document["run"]["engine"], "HTCondor")
        reasons = {worker["name"]: worker["left_reason"] for worker in document["workers"]}
        self.assertEqual(reasons["job 41.1"], "evicted")
        self.assertIn("held, out of memory", reasons["job 41.1, run 2"])
        # jobs 41.0, 41.1 and 42.0: the second succeeded at the second try, and the last was removed by hand
        metrics = document["metrics"]
        counted = ("num_tasks", "num_failed_tasks", "num_failed_tasks_without_chunk")
        self.assertEqual([metrics[name] for name in counted], [2, 0, None])
        self.assertEqual(document["quality"]["not_measured"][counted[2]], "there are no records")
        self.assertEqual(metrics["peak_memory_bytes"], 2450 << 20, "what its end says, not what a sample said before")
        self.assertEqual(metrics["peak_total_memory_bytes"], 2450 << 20, "all hold at least as much as one")
        self.assertIsInstance(metrics["peak_memory_bytes"], int)
        self.assertIn("up to 2.39 GiB of memory each", document["headline"].replace("\u00a0", " "))
        (verdict,) = [verdict for verdict in document["verdicts"] if verdict["id"] == "worker-loss"]
        self.assertIn("evicted", verdict["sentence"])

    def test_of_jobs_that_share_a_row_no_resource_is_advised(self):
        ran = "Job executing on host: <10.0.0.2:9618>\n\tCpus = 1\n\tMemory = 2048"
        ended = (
            "Job terminated.\n\t(1) Normal termination (return value 0)\n"
            "\t\tUsr 0 00:09:00, Sys 0 00:00:00  -  Run Remote Usage\n"
            "\tPartitionable Resources :    Usage  Request Allocated\n"
            "\t   Memory (MB)          :      {}     2048      2048"
        )
        log = self.directory.parent / "many.log"
        self.addCleanup(log.unlink)
        events = [(0, "00:00", "Job submitted from host: <10.0.0.1:9618>"), (1, "01:00", ran), (5, "11:00", ended)]
        with log.open("w") as file:
            for code, clock, text in events:
                for job in range(10_100):
                    what = text.format(400 if job < 10_000 else 1900)
                    file.write(f"{code:03d} ({job}.000.000) 2026-11-20 08:{clock} {what}\n...\n")
        document = self.collect(log)
        self.assertEqual(document["metrics"]["peak_memory_bytes"], 1900 << 20)
        self.assertEqual([document["workers"][-1][key] for key in ("name", "cores", "state")], ["(other)", None, None])
        self.assertIn("at least", document["headline"])
        self.assertEqual([row["used"] for row in document["resource_advice"]], [None, None])
        self.assertIn("some jobs share one row", document["resource_advice"][0]["reason"])


if __name__ == "__main__":
    unittest.main()
