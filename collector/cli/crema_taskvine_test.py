"""A run of Coffea on TaskVine: compares crema's figures with the manager's own log, which this test reads itself."""

import collections
import json
import pathlib
import re
import shutil
import subprocess
import unittest

import run_test_case

SAMPLE = pathlib.Path("collector/engines/testdata/taskvine")
WORKER = "worker-7e8d24613b97170a961749d43f0e9b43"


def managers_view():
    """Tasks by category, each with its interval on the worker, and the interval between order and output."""
    tasks = collections.defaultdict(dict)
    for line in (SAMPLE / "vine-run-info/vine-logs/transactions").read_text().splitlines():
        words = line.split()
        if line.startswith("#") or words[2] != "TASK":
            continue
        task = tasks[int(words[3])]
        if words[4] == "READY":
            task["category"] = words[5]
        if words[4] == "RETRIEVED":
            measured = json.loads(line[line.rindex(" {") + 1 :])
            for name in ("time_worker_start", "time_worker_end", "time_commit_start"):
                task[name] = measured[name][0]
            task["retrieved"] = int(words[0]) / 1e6
    return tasks


class TaskVineTest(run_test_case.RunTestCase):
    maxDiff = None

    def crema(self, *arguments):
        done = subprocess.run([run_test_case.CREMA, *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def collect(self, *sources):
        self.crema("collect", *sources, "-o", self.directory, "-q", "--force")
        return json.loads((self.directory / "measurement.json").read_text())

    def sample(self):
        return self.collect(SAMPLE / "records", SAMPLE / "vine-run-info")

    def test_it_is_one_worker_of_two_cores_for_as_long_as_the_manager_had_it(self):
        document = self.sample()
        (worker,) = document["workers"]
        self.assertEqual((worker["name"], worker["cores"], worker["process"]), (WORKER, 2, "vm:12197"))
        self.assertEqual((worker["chunks"], worker["state"]), (12, "ended"))
        self.assertEqual(document["run"]["engine"], "TaskVine")
        self.assertEqual(document["quality"]["workers_unseen"], 0)
        self.assertAlmostEqual(document["metrics"]["core_seconds"], 2 * (98.883431 - 37.584012), places=4)

    def test_each_chunk_is_in_its_task(self):
        document = self.sample()
        self.assertEqual(document["metrics"]["task_join_coverage"], 1)
        self.assertEqual(document["quality"]["chunks_joined_to_tasks"], 12)
        self.assertEqual(document["quality"]["tasks_without_chunk"], 13)

    def test_counts_and_times_are_the_managers(self):
        document, tasks = self.sample(), managers_view()
        self.assertEqual(len(tasks), 25)
        chunk_ns = 0
        for log in (SAMPLE / "records").glob("*.jsonl"):
            for line in map(json.loads, log.read_text().splitlines()):
                if line["type"] == "chunk":
                    chunk_ns += line["stop_ns"] - line["start_ns"]

        def seconds(first, last, *categories):
            return sum(task[last] - task[first] for task in tasks.values() if task["category"] in categories)

        start, end = "time_worker_start", "time_worker_end"
        metrics = document["metrics"]
        self.assertAlmostEqual(metrics["outside_chunk_time"], seconds(start, end, "processing") - chunk_ns / 1e9, 4)
        everything = ("preprocessing", "processing", "accumulating")
        self.assertAlmostEqual(metrics["task_dispatch_seconds"], seconds("time_commit_start", start, *everything), 4)
        self.assertAlmostEqual(metrics["task_retrieval_seconds"], seconds(end, "retrieved", *everything), 4)
        phases = {row["phase"]: row["task_seconds"] for row in document["phases"]}
        self.assertEqual(list(phases), ["preprocess", "process", "reduce"])
        for phase, category in zip(phases, everything):
            self.assertAlmostEqual(phases[phase], seconds(start, end, category), 4, msg=phase)

    def test_the_budget_adds_up_and_tells_the_start_of_tasks_from_the_managers_part(self):
        document = self.sample()
        parts = {row["part"]: row["core_seconds"] for row in document["budget"]}
        self.assertAlmostEqual(sum(parts.values()), document["metrics"]["core_seconds"], 4)
        self.assertAlmostEqual(parts["outside_chunk"], document["metrics"]["outside_chunk_time"], 4)
        self.assertGreater(parts["outside_chunk"], 4 * parts["idle"])

    def test_a_task_that_was_given_two_cores_of_four_holds_both(self):
        run_info, single = self.out / "vine-run-info", self.sample()
        shutil.copytree(SAMPLE / "vine-run-info", run_info)
        log = run_info / "vine-logs/transactions"
        log.chmod(0o600)
        text = log.read_text().replace('"cores":[2,"cores"]', '"cores":[4,"cores"]')  # of the worker
        log.write_text(re.sub(r'( RUNNING .*"cores":)\[1,', r"\1[2,", text))
        document = self.collect(SAMPLE / "records", run_info)
        before, metrics = single["metrics"], document["metrics"]
        self.assertEqual((before["task_cores_avg"], metrics["task_cores_avg"]), (1, 2))
        self.assertAlmostEqual(metrics["core_seconds"], 2 * before["core_seconds"], 4)
        self.assertAlmostEqual(metrics["task_slot_utilization_avg"], before["task_slot_utilization_avg"], 4)
        tasks = managers_view().values()
        held = sum(task["time_worker_end"] - task["time_worker_start"] for task in tasks)
        parts = {row["part"]: row["core_seconds"] for row in document["budget"]}
        self.assertAlmostEqual(parts["unused_by_tasks"], held, 4)  # a second core, as long as the task was there
        self.assertAlmostEqual(sum(parts.values()), metrics["core_seconds"], 4)
        self.assertNotIn("unused_by_tasks", [row["part"] for row in single["budget"]])
        self.assertIn("unused-cores", [verdict["id"] for verdict in document["verdicts"]])

    def test_of_a_folder_with_several_runs_it_says_which_was_taken(self):
        run_info = self.out / "vine-run-info"
        for day in ("2026-01-01", "2026-01-02"):
            shutil.copytree(SAMPLE / "vine-run-info", run_info / day)
        last = run_info / "2026-01-02"
        took = f"{run_info} has 2 runs, and crema took {last / 'vine-logs/transactions'}"
        self.assertTrue(any(took in text for text in self.collect(run_info)["quality"]["warnings"]))
        self.assertFalse(any("has 2 runs" in text for text in self.collect(last)["quality"]["warnings"]))

    def test_a_catalog_is_refused_with_what_to_collect_instead(self):
        command = [run_test_case.CREMA, "collect", "taskvine://127.0.0.1:9/run", "-o", self.directory]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))
        self.assertIn("taskvine://127.0.0.1:9/run: it shows this moment only", done.stderr)
        self.assertIn("collect TaskVine run directories (vine-run-info) instead", done.stderr)

    def test_what_was_collected_says_the_same_again(self):
        first = self.sample()
        again = json.loads(self.crema("show", self.directory / "records", "--json"))
        for key in ("core_seconds", "task_join_coverage", "outside_chunk_time", "num_chunks"):
            self.assertEqual(again["metrics"][key], first["metrics"][key], key)

    def test_single_chunks_name_the_worker(self):
        self.sample()
        self.crema("export", self.directory, "--to", "chunks", "-o", self.out / "chunks.jsonl")
        rows = [json.loads(line) for line in (self.out / "chunks.jsonl").read_text().splitlines()]
        self.assertEqual({row["worker"] for row in rows}, {WORKER})

    def test_without_the_managers_log_the_records_stand_alone(self):
        document = self.collect(SAMPLE / "records")
        self.assertIsNone(document["run"]["engine"])
        self.assertIsNone(document["metrics"]["task_join_coverage"])
        self.assertEqual(document["metrics"]["num_chunks"], 12)

    def test_without_records_the_managers_log_stands_alone(self):
        document = self.collect(SAMPLE / "vine-run-info")
        self.assertIsNone(document["quality"]["workers_unseen"])  # nothing lacks beside others
        self.assertEqual(document["metrics"]["peak_workers"], 1)
        self.assertAlmostEqual(document["metrics"]["core_seconds"], 122.598838, places=4)

    def test_a_log_that_was_cut_counts_nothing_twice_and_says_what_is_missing(self):
        run_info = self.out / "vine-run-info"
        shutil.copytree(SAMPLE / "vine-run-info", run_info)
        log = run_info / "vine-logs/transactions"
        log.chmod(0o600)
        lines = log.read_text().splitlines(keepends=True)
        cut = next(i for i, line in enumerate(lines) if " TASK 20 RETRIEVED" in line)
        log.write_text("".join(lines[:cut]) + lines[cut][:80])
        document = self.collect(SAMPLE / "records", run_info)
        self.assertEqual(
            document["metrics"]["num_chunks"],
            document["quality"]["chunks_joined_to_tasks"] + document["quality"]["chunks_unjoined"],
        )
        self.assertLess(document["metrics"]["task_join_coverage"], 1)
        warnings = "\n".join(document["quality"]["warnings"])
        self.assertIn("had not ended when its log stops", warnings)
        self.assertIn("some of them are missing", warnings)
        self.assertEqual(document["quality"]["records_torn"], 1)

    def shifted(self, seconds):
        """Makes the sample with another clock on the worker: shifts the times of its processes, and those that it
        reported to the manager."""
        records, run_info = self.out / "records", self.out / "vine-run-info"
        shutil.copytree(SAMPLE / "vine-run-info", run_info)
        records.mkdir()
        for log in (SAMPLE / "records").glob("*.jsonl"):
            text = log.read_text()
            if "15188" not in log.name:  # the manager's own process
                text = re.sub(r"\b1795\d{15}\b", lambda time: str(int(time[0]) + seconds * 10**9), text)
            (records / log.name).write_text(text)
        log = run_info / "vine-logs/transactions"
        log.chmod(0o600)
        moved = re.sub(
            r'("(?:time_worker_)?(?:start|end)":\[)([\d.]+)',
            lambda found: f"{found[1]}{float(found[2]) + seconds:.6f}",
            log.read_text(),
        )
        log.write_text(moved)
        return records, run_info

    def test_a_workers_clock_that_is_apart_changes_nothing_and_is_said(self):
        first = self.sample()
        for seconds in (-3600, 1800):
            with self.subTest(seconds):
                shutil.rmtree(self.out / "records", ignore_errors=True)
                shutil.rmtree(self.out / "vine-run-info", ignore_errors=True)
                document = self.collect(*self.shifted(seconds))
                self.assertIn("times were moved", "\n".join(document["quality"]["warnings"]))
                metrics = document["metrics"]
                self.assertEqual((metrics["num_chunks"], metrics["task_join_coverage"]), (12, 1))
                self.assertAlmostEqual(metrics["core_seconds"], first["metrics"]["core_seconds"], 4)
                self.assertAlmostEqual(metrics["outside_chunk_time"], first["metrics"]["outside_chunk_time"], 3)
                self.assertAlmostEqual(document["quality"]["clock_offset_max_s"], abs(seconds), 1)

    def test_a_worker_that_was_lost_is_named_with_the_managers_reason(self):
        logs = self.out / "source/vine-run-info/vine-logs"
        shutil.copytree(SAMPLE / "vine-run-info/vine-logs", logs)
        *lines, leaving, end = (logs / "transactions").read_text().splitlines()
        time, manager, *_ = leaving.split()
        other = f"{int(time) + 30_000_000} {manager} WORKER other CONNECTION 10.0.0.2:1"
        end = end.replace(end.split()[0], str(int(time) + 60_000_000))
        leaving = leaving.replace("EXPLICIT", "FAILURE")
        (logs / "transactions").write_text("\n".join([*lines, leaving, other, end]) + "\n")
        document = self.collect(SAMPLE / "records", self.out / "source/vine-run-info")
        (row,) = [row for row in document["workers"] if row["name"] == WORKER]
        self.assertEqual((row["state"], row["left_reason"]), ("lost", "FAILURE"))
        (verdict,) = [verdict for verdict in document["verdicts"] if verdict["id"] == "worker-loss"]
        self.assertIn("the engine says FAILURE", verdict["sentence"])

    def test_logs_of_two_managers_stand_side_by_side(self):
        other = self.out / "vine-run-info"
        shutil.copytree(SAMPLE / "vine-run-info", other)
        log = other / "vine-logs/transactions"
        log.chmod(0o600)
        log.write_text(log.read_text().replace(" 15188 ", " 15199 ").replace(WORKER, "worker-other"))
        document = self.collect(SAMPLE / "records", SAMPLE / "vine-run-info", other)
        self.assertAlmostEqual(document["metrics"]["core_seconds"], 2 * 122.598838, places=4)
        self.assertEqual(document["metrics"]["num_chunks"], 12)
        self.assertEqual(document["quality"]["chunks_joined_to_tasks"], 12)
        self.assertEqual(document["quality"]["workers_unseen"], 1)

    def test_the_same_log_given_twice_counts_once(self):
        copy = self.out / "vine-run-info"
        shutil.copytree(SAMPLE / "vine-run-info", copy)
        document = self.collect(SAMPLE / "records", SAMPLE / "vine-run-info", copy)
        self.assertAlmostEqual(document["metrics"]["core_seconds"], 122.598838, places=4)
        self.assertEqual(document["quality"]["tasks_without_chunk"], 13)


if __name__ == "__main__":
    unittest.main()
