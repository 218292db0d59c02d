"""Real Dask clusters measured by crema, held against what Dask itself and the tasks say of the same run.

Run by tools/test, outside Bazel: needs a Python with distributed, which tools/setup puts into .cache/test/roastcoffea
(CREMA_TEST_DASK_PYTHON names another). scenarios.py has the clusters do what is measured here.
"""

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
PYTHON = os.environ.get("CREMA_TEST_DASK_PYTHON") or str(CHECKOUT / ".cache/test/roastcoffea/bin/python")
SCENARIO_SECONDS = 300


@functools.cache
def why_not() -> str:
    """Why no cluster can be had; empty where one can."""
    if not os.access(PYTHON, os.X_OK):
        return "tools/setup found no Python >= 3.12 to put distributed into; PYTHON=/path/to/python3.13 names one"
    probe = subprocess.run([PYTHON, "-c", "import distributed"], capture_output=True, text=True, check=False)
    return "" if probe.returncode == 0 else f"{PYTHON} has no distributed"


@functools.cache
def build() -> None:
    targets = ["//collector/cli:crema", "//sdk/c_api:libcrema.so.1"]
    command = ["bazel", "build", "--ui_event_filters=-info", "--noshow_progress", *targets]
    subprocess.run(command, cwd=CHECKOUT, check=True)


class DaskTestCase(unittest.TestCase):
    def setUp(self):
        if why_not():
            self.skipTest(why_not())
        build()
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)

    def run_scenario(self, name):
        """Has a cluster do it; what is true of it."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
        environment.update(
            CREMA_TEST_PYTHON=str(CHECKOUT / "python"),
            CREMA_TEST_LIBRARY=str(LIBRARY),
            CREMA_TEST_PROGRAM=str(CREMA),
            PYTHONPATH=str(pathlib.Path(__file__).parent),
            TMPDIR=str(self.directory),
        )
        script = pathlib.Path(__file__).with_name("scenarios.py")
        result = subprocess.run(
            [PYTHON, script, name, self.directory],
            env=environment,
            cwd=self.directory,
            capture_output=True,
            text=True,
            timeout=SCENARIO_SECONDS,
            check=False,
        )
        self.assertEqual(result.returncode, 0, result.stderr[-4000:])
        return json.loads((self.directory / "truth.json").read_text())

    def collect(self, *sources):
        directory = tempfile.mkdtemp(dir=self.directory)
        command = [CREMA, "collect", *sources, "-o", os.path.join(directory, "measurement"), "-q"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(pathlib.Path(directory, "measurement", "measurement.json").read_text())

    def measure(self, name):
        truth = self.run_scenario(name)
        return truth, self.collect(self.directory / "run.ndjson")

    def assert_budget_adds_up(self, document):
        metrics = document["metrics"]
        parts = sum(row["core_seconds"] for row in document["budget"])
        self.assertAlmostEqual(parts, metrics["core_seconds"] + metrics["oversubscribed_core_seconds"], places=6)

    def assert_complete(self, truth, document):
        """Nothing was lost: every chunk once, every one joined, no byte missing."""
        metrics, quality = document["metrics"], document["quality"]
        self.assertEqual(metrics["num_chunks"], truth["chunks"])
        self.assertEqual(metrics["num_lost_attempts"], 0)
        self.assertEqual(quality["chunks_unjoined"], 0)
        self.assertEqual(quality["records_lost_bytes"], 0)
        self.assertEqual(quality["records_malformed"] + quality["records_torn"] + quality["records_unknown"], 0)
        self.assertGreaterEqual(quality["fine_metrics_coverage"], 0.999)
        self.assert_budget_adds_up(document)


def fine_sums(document):
    sums = {}
    for row in document["fine"]:
        if row["context"] == "execute":
            key = "|".join(("execute", row["function"], row["activity"], row["unit"]))
            sums[key] = sums.get(key, 0) + row["value"]
    return sums


class HealthyRun(DaskTestCase):
    @classmethod
    def setUpClass(cls):
        if why_not():
            raise unittest.SkipTest(why_not())
        build()
        cls.case = cls()
        cls.case.directory = cls.directory = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        cls.truth, cls.document = cls.case.measure("healthy")

    def setUp(self):
        self.directory = type(self).directory

    def test_every_chunk_is_there_once_and_in_its_task(self):
        self.assert_complete(self.truth, self.document)
        self.assertEqual(self.document["quality"]["chunks_joined_to_tasks"], 2000)
        self.assertEqual(self.document["quality"]["tasks_without_chunk"], self.truth["others"])

    def test_the_join_is_what_tasks_say_of_themselves(self):
        tasks, chunks = [], []
        for path in (self.directory / "logs").glob("*.jsonl"):
            for line in path.read_text().splitlines():
                record = json.loads(line)
                if record["type"] == "process":
                    process = record["pid"]
                elif record["type"] == "task":
                    tasks.append({**record, "process": process})
                elif record["type"] == "chunk":
                    chunks.append({**record, "process": process})
        by_key = {task["key"]: task for task in tasks}
        for chunk in chunks:
            task = by_key[chunk["attributes"]["task"]]
            self.assertEqual((chunk["process"], chunk["thread"]), (task["process"], task["thread"]))
            # the right task is the one that overlaps most: none other does better
            overlap = min(chunk["stop_ns"], task["stop_ns"]) - max(chunk["start_ns"], task["start_ns"])
            self.assertGreater(2 * overlap, chunk["stop_ns"] - chunk["start_ns"], chunk)

    def test_activities_are_dasks_own(self):
        ours = fine_sums(self.document)
        theirs = {key: value for key, value in self.truth["fine"].items() if key.startswith("execute|")}
        self.assertEqual(sorted(ours), sorted(theirs))
        for key, value in theirs.items():
            self.assertAlmostEqual(ours[key], value, places=6, msg=key)

    def test_compute_is_dasks_own(self):
        in_task = sum(value for key, value in fine_sums(self.document).items() if "|thread-" in key)
        compute = sum(prefix["compute"] for prefix in self.truth["prefixes"].values())
        self.assertAlmostEqual(in_task / compute, 1, places=3)

    def test_the_span_has_the_same_activities(self):
        for key in ("execute|record_chunk|thread-cpu|seconds", "execute|plain|thread-cpu|seconds"):
            self.assertAlmostEqual(fine_sums(self.document)[key], self.truth["span_metrics"][key], places=6)

    def test_cores_are_those_of_the_schedulers_history(self):
        start_ns, stop_ns = self.truth["window"]
        history = [(max(time * 1e9, start_ns), threads) for time, threads in self.truth["threads"]]
        integral = 0
        for (begin, threads), (end, _) in zip(history, [*history[1:], (stop_ns, 0)]):
            integral += threads * max(0, min(end, stop_ns) - begin)
        self.assertAlmostEqual(self.document["metrics"]["core_seconds"], integral / 1e9, places=3)
        self.assertEqual(self.document["metrics"]["avg_workers"], 2)
        self.assertEqual(self.document["run"]["cores_source"], "scheduler")

    def test_outside_is_what_chunks_leave_of_their_tasks(self):
        tasks = self.document["metrics"]
        compute = self.truth["prefixes"]["record_chunk"]["compute"]
        self.assertAlmostEqual(tasks["outside_chunk_time"], compute - tasks["busy_time"], delta=0.01 * compute)

    def test_logs_found_by_path_too_change_nothing(self):
        both = self.case.collect(self.directory / "run.ndjson", self.directory / "logs")
        # the SDK says what it cost as its process ends, which is after the last drain
        both["metrics"]["instrumentation_overhead"] = None
        for name in ("metrics", "budget", "fine"):
            self.assertEqual(both[name], self.document[name])

    def test_the_measurement_can_be_made_again_from_its_records(self):
        directory = tempfile.mkdtemp(dir=self.directory)
        first = os.path.join(directory, "first")
        subprocess.run([CREMA, "collect", self.directory / "run.ndjson", "-o", first, "-q"], check=True)
        again = self.case.collect(os.path.join(first, "records"))
        for name in ("metrics", "budget", "fine", "workers", "timelines"):
            self.assertEqual(again[name], self.document[name])


class Losses(DaskTestCase):
    def test_nothing_is_lost_when_workers_retire_or_are_scaled_away(self):
        truth, document = self.measure("workers_come_and_go")
        self.assertEqual(truth["retired"], 2)
        self.assert_complete(truth, document)
        self.assertEqual(document["metrics"]["peak_workers"], 4)

    def test_nothing_is_lost_on_restart(self):
        self.assert_complete(*self.measure("restarted"))

    def test_nothing_is_lost_when_adaptive_workers_go(self):
        truth, document = self.measure("adaptive")
        self.assert_complete(truth, document)
        self.assertEqual(document["timelines"]["worker_counts"][-1][1], 0)

    def test_nothing_is_lost_on_sigterm_with_and_without_nanny(self):
        self.assert_complete(*self.measure("preloaded"))

    def assert_adopted(self, truth, document):
        metrics, quality = document["metrics"], document["quality"]
        self.assertEqual(metrics["num_chunks"], truth["chunks"])
        self.assertEqual((metrics["num_unfinished_chunks"], quality["records_lost_bytes"]), (0, 0))
        self.assertEqual(quality["processes_lost"], 1)
        # results that were computed again count once, and cost twice
        self.assertGreater(metrics["num_attempts"], truth["chunks"])
        whole = self.collect(self.directory / "logs")
        self.assertEqual(metrics["num_attempts"], whole["metrics"]["num_attempts"])
        self.assert_budget_adds_up(document)

    def test_who_comes_after_a_killed_worker_adopts_its_log(self):
        self.assert_adopted(*self.measure("killed"))

    def test_another_worker_of_the_host_adopts_the_log_of_a_killed_one(self):
        self.assert_adopted(*self.measure("killed_without_nanny"))

    def test_what_the_scheduler_could_not_keep_is_told(self):
        truth, document = self.measure("full_ring")
        self.assertGreater(document["quality"]["records_lost_bytes"], 0)
        self.assertLess(document["metrics"]["num_chunks"], truth["chunks"])
        self.assertTrue([text for text in document["quality"]["warnings"] if "did not fit" in text])
        # the files are the truth
        whole = self.collect(self.directory / "run.ndjson", self.directory / "logs")
        self.assertEqual(whole["metrics"]["num_chunks"], truth["chunks"])
        self.assertEqual(whole["quality"]["records_lost_bytes"], 0)


class Faults(DaskTestCase):
    def test_failing_and_repeated_tasks_are_all_seen(self):
        truth, document = self.measure("failing")
        metrics = document["metrics"]
        attempts = truth["failing"] * truth["attempts_of_each"]
        self.assertEqual(metrics["num_chunks"], truth["chunks"])
        self.assertEqual(metrics["num_failed_attempts"], attempts)
        self.assertEqual(metrics["num_unfinished_chunks"], truth["failing"])
        self.assertEqual(document["quality"]["chunks_joined_to_tasks"], truth["chunks"] + attempts)
        self.assertGreater(metrics["failed_time_seconds"], 0)

    def test_a_directory_that_cannot_be_written_costs_records_and_no_result(self):
        truth, document = self.measure("unwritable")
        self.assertTrue(truth["results"])
        self.assertEqual(document["quality"]["workers_unseen"], 2)
        self.assertTrue([text for text in document["quality"]["warnings"] if "/proc/crema" in text])
        self.assertIsNone(document["metrics"]["num_attempts"])

    def test_a_worker_without_the_package_is_measured_by_its_tasks(self):
        truth, document = self.measure("without_package")
        self.assertTrue(truth["alone"])
        self.assertEqual(document["quality"]["tasks_read"], 20)
        self.assertGreaterEqual(document["quality"]["fine_metrics_coverage"], 0.999)
        self.assertEqual(document["metrics"]["avg_workers"], 2)
        self.assertIsNone(document["metrics"]["outside_chunk_time"])

    def test_a_scheduler_that_refuses_plug_ins_stops_nobody(self):
        truth = self.run_scenario("refused")
        self.assertEqual(list(truth["refused"]), ["scheduler"])
        # the logs are complete
        document = self.collect(self.directory / "logs")
        self.assertEqual(document["metrics"]["num_chunks"], truth["chunks"])
        self.assertEqual(document["quality"]["chunks_joined_to_tasks"], truth["chunks"])
        # and what every scheduler tells is taken, with a word on what is missing
        self.assertEqual((truth["bare_status"], truth["bare_stderr"]), (0, ""))
        bare = json.loads((self.directory / "bare" / "measurement.json").read_text())
        self.assertIsNone(bare["metrics"]["num_attempts"])
        self.assertIsNone(bare["quality"]["workers_unseen"])
        self.assertRegex(" ".join(bare["quality"]["warnings"]), "no crema plug-in: of its 2 workers, 4 cores")


class Sessions(DaskTestCase):
    def test_one_collector_after_another_measures_its_own_chunks(self):
        truth, document = self.measure("two_collectors")
        # both sessions are in the log; --start is what the second one measured from
        self.assertEqual(document["metrics"]["num_chunks"], truth["all_chunks"])
        start, stop = (str(value / 1e9) for value in truth["window"])
        document = self.collect(self.directory / "run.ndjson", "--start", start, "--stop", stop)
        self.assertEqual(document["metrics"]["num_chunks"], truth["chunks"])

    def test_datasets_have_spans_of_their_own(self):
        truth, document = self.measure("spans_of_datasets")
        self.assert_complete(truth, document)
        spans = {}
        for row in document["fine"]:
            if row["context"] == "execute":
                spans.setdefault(row["span"], set()).add(row["function"])
        self.assertEqual(sorted(map(sorted, spans.values())), [["ttbar"], ["wjets"]])


class Live(DaskTestCase):
    def test_a_running_cluster_is_read_over_http(self):
        environment = {**os.environ, "CREMA_TEST_PYTHON": str(CHECKOUT / "python"), "CREMA_TEST_LIBRARY": str(LIBRARY)}
        environment["PYTHONPATH"] = str(pathlib.Path(__file__).parent)
        script = pathlib.Path(__file__).with_name("live_cluster.py")
        with subprocess.Popen(
            [PYTHON, script, self.directory / "logs"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                address = process.stdout.readline().strip()
                document = self.collect(f"dask://{address}")
                self.assertEqual(document["metrics"]["num_chunks"], 100)
                self.assertEqual(document["quality"]["chunks_joined_to_tasks"], 100)
                self.assertEqual(document["provenance"]["sources"], [f"dask://{address}"])
            finally:
                process.communicate("done\n", timeout=60)

    def test_where_nobody_answers_one_line_says_so(self):
        command = [CREMA, "collect", "dask://127.0.0.1:9", "-o", self.directory / "measurement"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\Acrema: dask://127.0.0.1:9: no answer .*dashboard.*\n\Z")


if __name__ == "__main__":
    unittest.main(verbosity=2)
