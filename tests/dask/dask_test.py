"""Compares crema's measurements of real Dask clusters with what Dask itself and the tasks record of the same run.

Run by tools/test, outside Bazel: needs a Python with distributed, which tools/setup puts into .cache/coffea
(CREMA_TEST_DASK_PYTHON names another). scenarios.py makes the clusters work. With CREMA_OLD_DASK=1 the tests also
measure the newest Dask that works with dask-awkward; `tools/setup old-dask` fetches it.
"""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "collector/cli"))

import invented_run  # noqa: E402
from dask_test_case import CHECKOUT, CREMA, LIBRARY, OLD_PYTHON, DaskTestCase, build, why_not  # noqa: E402


def fine_sums(document):
    sums = {}
    for row in document["fine"]:
        if row["context"] == "execute":
            key = "|".join(("execute", row["function"], row["activity"], row["unit"]))
            sums[key] = sums.get(key, 0) + row["value"]
    return sums


class ActivitiesTestCase(DaskTestCase):
    def check_activities(self, document, truth):
        """The activities of tasks are those that Dask itself added up."""
        ours = fine_sums(document)
        theirs = {key: value for key, value in truth["fine"].items() if key.startswith("execute|")}
        self.assertEqual(sorted(ours), sorted(theirs))
        for key, value in theirs.items():
            self.assertAlmostEqual(ours[key], value, places=6, msg=key)


class HealthyRun(ActivitiesTestCase):
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
            # the right task is the one that overlaps most: no other task overlaps more
            overlap = min(chunk["stop_ns"], task["stop_ns"]) - max(chunk["start_ns"], task["start_ns"])
            self.assertGreater(2 * overlap, chunk["stop_ns"] - chunk["start_ns"], chunk)

    def test_activities_are_dasks_own(self):
        self.check_activities(self.document, self.truth)

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
        # Fields that a process writes at its end, after the last drain: its cost, and what the kernel counted.
        at_the_end = (
            "instrumentation_overhead",
            "peak_memory_bytes",
            "peak_total_memory_bytes",
            "memory_utilization_max",
        )
        at_the_end += ("process_read_calls", "process_read_call_bytes", "throttled_time")
        for key in at_the_end:
            before = self.document["metrics"][key]
            if before is not None and key != "instrumentation_overhead":
                self.assertGreaterEqual(both["metrics"][key], before, key)
        for name in ("metrics", "budget", "fine"):
            known = [{**document[name]} if name == "metrics" else document[name] for document in (both, self.document)]
            for metrics in known if name == "metrics" else ():
                metrics.update(dict.fromkeys(at_the_end))
            self.assertEqual(*known)

    def test_attempts_name_workers_as_the_tables_do(self):
        command = [CREMA, "export", self.directory / "run.ndjson", "--to", "chunks", "-o", "-", "-q"]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        attempts = collections.Counter(json.loads(line)["worker"] for line in lines)
        self.assertEqual(attempts, {row["name"]: row["attempts"] for row in self.document["workers"]})
        self.assertTrue(all(name.startswith("tcp://") for name in attempts), attempts)

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

    def assert_adopted(self, truth, document):
        metrics, quality = document["metrics"], document["quality"]
        self.assertEqual(metrics["num_chunks"], truth["chunks"])
        self.assertEqual((metrics["num_unfinished_chunks"], quality["records_lost_bytes"]), (0, 0))
        self.assertEqual(quality["processes_lost"], 1)
        # results that were computed again: they count once, and their cost counts twice
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


class Ends(DaskTestCase):
    """How a worker left, and what crema says of it: the table of docs/dask_reference.md."""

    LOST = "its connection broke: killed, crashed, or out of memory"

    def assert_left(self, name, state, reason):
        truth, document = self.measure(name)
        rows = {row["name"]: row for row in document["workers"]}
        row = rows[truth["left"]]
        self.assertEqual((row["state"], row["left_reason"], row["lost"]), (state, reason, 0))
        self.assertEqual(document["metrics"]["num_chunks"], truth["chunks"])
        self.assertEqual(document["quality"]["processes_lost"], int(state == "lost"))
        losses = [verdict["sentence"] for verdict in document["verdicts"] if verdict["id"] == "worker-loss"]
        self.assertEqual(len(losses), int(state == "lost"), losses)
        shutil.rmtree(self.directory / "logs")
        return truth

    def test_a_retired_worker_is_retired(self):
        self.assert_left("leaves_by_retirement", "ended", "retired")

    def test_a_retired_worker_that_its_nanny_kills_is_retired(self):
        self.assert_left("leaves_by_retirement_and_is_killed", "ended", "retired")

    def test_adaptive_workers_that_their_nannies_kill_are_retired(self):
        truth, document = self.measure("leaves_adaptive")
        self.assertEqual(document["metrics"]["num_chunks"], truth["chunks"])
        self.assertEqual({row["left_reason"] for row in document["workers"]}, {"retired"})
        self.assertEqual({row["state"] for row in document["workers"]}, {"ended"})

    def test_an_idle_worker_that_is_killed_is_lost(self):
        self.assert_left("leaves_by_kill", "lost", self.LOST)

    def test_a_worker_that_its_nanny_ends_for_its_memory_is_lost(self):
        truth = self.assert_left("leaves_out_of_memory", "lost", self.LOST)
        self.assertEqual(truth["error"], "KilledWorker")

    def test_a_worker_whose_lifetime_is_over_is_retired(self):
        self.assert_left("leaves_by_lifetime", "ended", "retired")

    def test_a_worker_without_heartbeats_is_lost(self):
        self.assert_left("leaves_without_heartbeats", "lost", "it stopped sending heartbeats")

    def test_pools_that_tasks_end_have_lost_nobody(self):
        truth, document = self.measure("pools_of_tasks")
        self.assertEqual(document["metrics"]["num_chunks"], truth["chunks"])
        self.assertEqual(document["quality"]["processes_lost"], 0)
        self.assertEqual(document["quality"]["processes_unreported"], truth["pids"])
        self.assertEqual([row["state"] for row in document["workers"]], ["running"])

    def test_workers_that_close_are_closed(self):
        """By SIGTERM, with and without a nanny."""
        truth, document = self.measure("preloaded")
        self.assert_complete(truth, document)
        left = {(row["state"], row["left_reason"]) for row in document["workers"] if row["state"] != "running"}
        self.assertEqual(left, {("ended", "closed")})

    def test_a_restarted_cluster_has_lost_nobody(self):
        self.assert_left("leaves_by_restart", "ended", "restarted")

    def test_chunks_that_are_open_at_a_restart_belong_to_their_tasks(self):
        truth, document = self.measure("restarted_in_chunks")
        metrics, quality = document["metrics"], document["quality"]
        self.assertEqual((metrics["num_attempts"], metrics["num_failed_attempts"]), (truth["ended"] + 2, 0))
        ended = truth["ended"] + 2 - metrics["num_lost_attempts"]  # on a busy machine nannies kill before chunks end
        self.assertEqual((quality["chunks_joined_to_tasks"], quality["chunks_unjoined"]), (ended, 0))
        self.assertEqual([text for text in quality["warnings"] if "compute time" in text], [])
        self.assert_budget_adds_up(document)

    def test_a_restarted_worker_is_not_lost(self):
        self.assert_left("leaves_by_restart_of_workers", "ended", "closed")


class BelowWorkers(DaskTestCase):
    def test_programs_that_tasks_start_are_in_their_tasks(self):
        self.assert_below(*self.measure("programs_of_tasks"), workers=2)

    def test_a_pool_inside_a_worker_is_the_workers(self):
        truth, document = self.measure("pool_in_worker")
        self.assertEqual(truth["pids"], 2)
        self.assert_below(truth, document, workers=1)
        self.assertIsNone(document["quality"]["fine_metrics_coverage"])  # Dask meters nothing inside such tasks
        self.assertEqual([row for row in document["verdicts"] if row["id"] == "incomplete-measurement"], [])

    def assert_below(self, truth, document, workers):
        metrics = document["metrics"]
        self.assertEqual((metrics["num_chunks"], metrics["total_events"]), (20, 200))
        self.assertEqual(document["quality"]["chunks_unjoined"], 0)
        self.assertEqual(document["quality"]["processes_lost"], 0)
        self.assertEqual((metrics["peak_workers"], metrics["peak_cores"]), (workers, 2))
        self.assert_budget_adds_up(document)


class Lanes(DaskTestCase):
    def test_a_driver_that_waits_for_its_tasks_holds_no_lane(self):
        truth, document = self.measure("seceded")
        self.assertEqual(document["metrics"]["num_chunks"], truth["chunks"])
        self.assertEqual(document["metrics"]["oversubscribed_core_seconds"], 0)
        parts = {row["part"]: row["share"] for row in document["budget"]}
        self.assertLess(parts["framework"], 0.5, parts)
        self.assert_budget_adds_up(document)

    def test_chunks_on_threads_of_a_task_are_the_tasks(self):
        _, document = self.measure("threads_in_task")
        self.assertEqual(document["quality"]["chunks_joined_to_tasks"], 32)
        self.assertEqual(document["quality"]["chunks_unjoined"], 0)
        self.assertEqual(document["quality"]["tasks_without_chunk"], 0)
        self.assert_budget_adds_up(document)

    def test_chunks_of_tasks_that_still_run_are_the_tasks(self):
        truth = self.run_scenario("still_running")
        around = []
        for name in ("open.ndjson", "run.ndjson"):  # as the measurement ended, and when the tasks had
            document = self.collect(self.directory / name)
            self.assertEqual(document["metrics"]["num_chunks"], truth["chunks"])
            self.assertEqual((document["quality"]["tasks_read"], document["quality"]["chunks_unjoined"]), (2, 0))
            self.assert_budget_adds_up(document)
            around.append(document["metrics"]["outside_chunk_time"])
        self.assertLess(around[0], around[1])


class Passes(DaskTestCase):
    def test_functions_and_spans_are_passes_and_no_repeats(self):
        counts = self.run_scenario("passes")["counts"]
        self.assertEqual(counts["functions"], [40, 400, 0])
        self.assertEqual(counts["decorated"], [40, 400, 0])
        self.assertEqual(counts["spans"], [40, 400, 0])
        self.assertEqual(counts["once"], [20, 200, 20], "the same function over the same chunks is a repeat")


class Faults(ActivitiesTestCase):
    def test_failing_and_repeated_tasks_are_all_seen(self):
        truth, document = self.measure("failing")
        metrics = document["metrics"]
        attempts = truth["failing"] * truth["attempts_of_each"]
        self.assertEqual(metrics["num_chunks"], truth["chunks"])
        self.assertEqual(metrics["num_failed_attempts"], attempts)
        self.assertEqual(metrics["num_unfinished_chunks"], truth["failing"])
        self.assertEqual(document["quality"]["chunks_joined_to_tasks"], truth["chunks"] + attempts)
        self.assertGreater(metrics["failed_time_seconds"], 0)
        log = (self.directory / "run.ndjson").read_text()
        self.assertIn("403 for 'https://host/f.root', root://host//f", log)
        self.assertNotIn("pa55word", log)

    def test_chunks_of_cancelled_tasks_count_and_are_joined(self):
        truth, document = self.measure("cancelled")
        self.assertTrue(truth["results"])
        outcomes = collections.Counter(
            json.loads(line)["outcome"]
            for path in (self.directory / "logs").glob("*.jsonl")
            for line in path.read_text().splitlines()
            if '"type":"task"' in line
        )
        self.assertGreater(outcomes["cancelled"], 0, outcomes)
        self.assertGreater(document["metrics"]["num_attempts"], 0)
        self.assertEqual(document["quality"]["chunks_unjoined"], 0)
        self.assertEqual(document["quality"]["chunks_joined_to_tasks"], document["metrics"]["num_attempts"])
        self.assert_budget_adds_up(document)

    def test_a_directory_that_cannot_be_written_costs_records_and_no_result(self):
        truth, document = self.measure("unwritable")
        self.assertTrue(truth["results"])
        self.assertEqual(document["quality"]["workers_unseen"], 2)
        self.assertTrue([text for text in document["quality"]["warnings"] if "/proc/crema" in text])
        self.assertIsNone(document["metrics"]["num_attempts"])

    # Fault [cluster]: the logs of workers reach a limit (`CREMA_MAX_LOG_BYTES`, or a tenth of what is free on the disk)
    # Program: nothing
    # Recorded: totals of chunks and activities are exact; tasks without a line are in `quality.tasks_left_out`
    def test_logs_of_workers_stay_below_their_limit(self):
        truth = self.run_scenario("small_logs")
        self.assertEqual(truth["results"], truth["tasks"])
        # workers write the sums of the last seconds at their end
        document = self.collect(self.directory / "run.ndjson", self.directory / "logs")
        sizes = [path.stat().st_size for path in (self.directory / "logs").glob("*.jsonl")]
        self.assertEqual(len(sizes), 4)  # the SDK's and the plug-in's, of two workers
        self.assertLess(max(sizes), 100_000)
        metrics, quality = document["metrics"], document["quality"]
        self.assertEqual((metrics["num_chunks"], metrics["num_attempts"]), (truth["chunks"], truth["chunks"]))
        self.assertEqual((quality["records_dropped"], quality["records_lost"]), (0, 0))
        self.assertEqual(quality["tasks_read"] + quality["tasks_left_out"], truth["tasks"])
        self.assertGreater(quality["tasks_left_out"], 0)
        self.assertRegex(" ".join(quality["warnings"]), "[0-9]+ tasks have no record, because the disk")
        self.check_activities(document, truth)

    def test_plug_ins_that_do_not_arrive_stop_neither_tasks_nor_new_workers(self):
        truth = self.run_scenario("broken_pickle")
        unsendable, broken = truth["refusals"]
        self.assertEqual((list(unsendable), list(broken)), (["workers"], ["workers"]))
        self.assertIn("unsendable on purpose", unsendable["workers"])
        self.assertIn("broken on purpose", broken["workers"])
        self.assertEqual(truth["workers"], 3)
        self.assertEqual(set(truth["silent"].values()), {"has no crema plug-in"})
        document = self.collect(self.directory / "run.ndjson")
        self.assertEqual(document["quality"]["workers_unseen"], 3)
        self.assertIsNone(document["metrics"]["num_attempts"])
        self.assertRegex(" ".join(document["quality"]["warnings"]), "has no crema plug-in")

    # Fault [cluster]: the client's Python is of another version than the scheduler's and the workers'
    # Program: one line on stderr; nothing that travels is read there, as its bytecode could crash them
    # Recorded: nothing
    def test_plug_ins_of_another_python_are_not_read(self):
        program = """
import pickle, sys
import cloudpickle
from crema_hep import dask_plugin
cloudpickle.register_pickle_by_value(dask_plugin)
kinds = (dask_plugin.CremaWorkerPlugin, dask_plugin.CremaSchedulerPlugin)
sent = [cloudpickle.dumps(kind()) for kind in kinds]
assert [type(pickle.loads(one)).__name__ for one in sent] == [kind.__name__ for kind in kinds]
sys.version_info = (3, 99, 0)
cloudpickle.loads = None
print(type(pickle.loads(sent[0])).__name__)
try:
    pickle.loads(sent[1])
except RuntimeError as error:
    print(error)
"""
        environment = {**os.environ, "PYTHONPATH": str(CHECKOUT / "python"), "CREMA_LIBRARY": str(LIBRARY)}
        done = subprocess.run(
            [self.python, "-c", program], env=environment, capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^WorkerPlugin\nit comes from Python \(3, \d+\)\n$")

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
        # and crema says that the scheduler's side is missing
        self.assertEqual(truth["status"], 1)
        missing = "the scheduler has no crema plug-in; attach it with crema_hep.attach(client)"
        self.assertEqual(truth["stderr"], f"crema: {truth['source']}: {missing}\n")


class Sessions(ActivitiesTestCase):
    def test_one_collector_after_another_measures_its_own_chunks(self):
        truth, document = self.measure("two_collectors")
        # both sessions are in the log; --start is where the second one began
        self.assertEqual(document["metrics"]["num_chunks"], truth["all_chunks"])
        start, stop = (str(value / 1e9) for value in truth["window"])
        document = self.collect(self.directory / "run.ndjson", "--start", start, "--stop", stop)
        self.assertEqual(document["metrics"]["num_chunks"], truth["chunks"])

    def chunks_by_dataset(self, window):
        start, stop = (str(value / 1e9) for value in window)
        document = self.collect(self.directory / "run.ndjson", "--start", start, "--stop", stop)
        return {row["name"]: row["chunks"] for row in document["datasets"]}

    def test_collectors_that_overlap_see_what_began_between_their_bounds(self):
        windows = self.run_scenario("overlapping_collectors")["windows"]
        self.assertEqual(self.chunks_by_dataset(windows["first"]), {"first": 100, "second": 40})
        self.assertEqual(self.chunks_by_dataset(windows["second"]), {"first": 40, "second": 70})

    def test_plug_ins_that_are_registered_again_count_nothing_twice(self):
        truth = self.run_scenario("registered_again")
        bounds = ("--start", str(truth["first_start_ns"] / 1e9), "--stop", str(truth["window"][1] / 1e9))
        document = self.collect(self.directory / "run.ndjson", *bounds)
        self.assertEqual(document["metrics"]["num_chunks"], 100)
        self.assertEqual((document["metrics"]["num_lost_attempts"], document["quality"]["records_lost_bytes"]), (0, 0))
        # nobody recorded the tasks and chunks in between; Dask's activities at the next drain include them
        self.assertEqual(document["quality"]["chunks_joined_to_tasks"], 100)
        self.check_activities(document, truth)

    def test_a_scheduler_that_was_started_again_is_told_and_the_logs_have_the_rest(self):
        truth, document = self.measure("scheduler_restarted")
        self.assertEqual(document["metrics"]["num_chunks"], truth["chunks"])
        self.assertRegex(" ".join(truth["missing"]), "the scheduler was started again")
        both = self.collect(self.directory / "run.ndjson", self.directory / "logs", "--run", "all")
        self.assertEqual(both["metrics"]["num_chunks"], truth["all_chunks"])

    def test_guards_that_ran_before_anybody_attached_record_from_then_on(self):
        for name in ("guards_before_attach", "native_guards_before_attach"):
            with self.subTest(name):
                self.assert_complete(*self.measure(name))
                shutil.rmtree(self.directory / "logs")

    def test_a_session_that_goes_on_is_running(self):
        truth, document = self.measure("open_session")
        self.assertEqual(document["run"]["state"], "finished")
        document = self.collect(self.directory / "open.ndjson")
        self.assertEqual((document["run"]["state"], document["metrics"]["num_chunks"]), ("running", truth["chunks"]))

    def test_several_runs_of_coffea_in_one_collector(self):
        truth = self.run_scenario("coffea_twice")
        metrics, reports = truth["metrics"], truth["reports"]
        self.assertEqual(metrics["total_events"], sum(output["events"] for output in truth["outputs"]))
        self.assertEqual(metrics["num_chunks"], sum(report["chunks"] for report in reports))
        self.assertEqual(metrics["total_bytes_read_coffea"], sum(report["bytesread"] for report in reports))
        self.assertEqual([chunk["status"] for chunk in truth["chunks"]], ["ok"] * metrics["num_chunks"])
        entries = [(chunk["dataset"], chunk["entry_start"], chunk["entry_stop"]) for chunk in truth["chunks"]]
        wanted = [(dataset, first, first + 100) for dataset in ("ttbar", "wjets") for first in (0, 100)]
        self.assertEqual(sorted(entries), wanted)
        self.assertGreaterEqual(metrics["fine_metrics_coverage"], 0.999)
        # opening the files: around the chunks, and more than they are
        self.assertGreater(metrics["outside_chunk_time"], metrics["busy_time"])
        spans = {row["span"] for row in truth["fine"] if row["function"] == "Jets"}
        self.assertEqual(sorted(truth["spans"][span][0] for span in spans), ["ttbar", "wjets"])
        self.assertEqual(len(list((self.directory / "saved").iterdir())), 1)

    def test_datasets_have_spans_of_their_own(self):
        truth, document = self.measure("spans_of_datasets")
        self.assert_complete(truth, document)
        functions = {}
        for row in document["fine"]:
            if row["context"] == "execute":
                functions.setdefault(row["span"], set()).add(row["function"])
        self.assertEqual([len(of_span) for of_span in functions.values()], [1] * len(truth["datasets"]))
        names = sorted(truth["span_names"][span][0] for span in functions)
        self.assertEqual(names, sorted(truth["datasets"]))


class RecordsOnHosts(DaskTestCase):
    def test_each_host_collects_what_it_has_and_each_log_counts_once(self):
        for pid, (name, chunks) in enumerate({"of_one": 3, "of_two": 4, "of_both": 5}.items(), 1):
            lines = [invented_run.process_line(pid, host=name)]
            lines += [invented_run.chunk_line(number, number, number + 1) for number in range(chunks)]
            invented_run.write_log(str(self.directory / name), [*lines, invented_run.end_line(chunks, chunks)])
        truth = self.run_scenario("records_on_hosts")
        self.assertEqual(truth["missing"], {})
        self.assertRegex(
            truth["nothing"], r"^crema: no host has records: 127.0.0.[23]: none of \S+/of_nobody is there; .*$"
        )
        merged = json.loads((self.directory / "merged/measurement.json").read_text())
        together = self.collect(*(self.directory / name for name in ("of_one", "of_two", "of_both")))
        self.assertEqual(merged["metrics"]["num_attempts"], 12)  # of 5 chunks: the logs name the same ones
        self.assertEqual(merged["metrics"], together["metrics"])


class Bounds(DaskTestCase):
    # Fault [cluster]: a worker is stopped (SIGSTOP, or native code that holds the interpreter's lock) as crema attaches
    # Program: one line on stderr; it waits some seconds, and works with the others
    # Recorded: the others, and that one from when it goes on
    def test_a_worker_that_is_stuck_is_not_waited_for(self):
        truth = self.run_scenario("stuck_worker")
        self.assertEqual((truth["results"], truth["state"], truth["late"]), (True, "T", True))
        self.assertEqual(truth["flushed"], {truth["stuck"]: "did not take the plug-in yet"})
        self.assertEqual(truth["silent"], {})  # once it goes on
        self.assert_complete(truth, self.collect(self.directory / "run.ndjson"))

    # Fault [cluster]: the scheduler is stopped as crema attaches
    # Program: two lines on stderr; it waits some seconds
    # Recorded: what guards write into files
    def test_a_scheduler_that_is_stuck_is_not_waited_for(self):
        truth = self.run_scenario("stuck_scheduler")
        self.assertEqual((truth["state"], truth["results"]), ("T", [0, 1, 2, 3, 4]))
        self.assertEqual(sorted(truth["refused"]), ["scheduler", "workers"])

    # Fault [cluster]: `Client(asynchronous=True)`, or workers inside the client's process (`processes=False`)
    # Program: one warning; its event loop is never blocked, its environment stays as it was
    # Recorded: nothing; `get_metrics()` says why
    def test_what_cannot_be_measured_truly_is_refused_in_one_line(self):
        truth = self.run_scenario("refusals")
        results, outcome = truth["asynchronous"]
        self.assertEqual(results, list(range(10)))
        self.assertRegex(
            outcome, "^crema: nothing was measured: a Client with asynchronous=True cannot be measured: .*$"
        )
        self.assertEqual(len(truth["asynchronous_warned"]), 1)
        for protocol in ("None", "tcp://"):
            results, outcome = truth[f"threads {protocol}"]
            self.assertEqual(results, list(range(10)))
            self.assertRegex(outcome, r"^crema: nothing was measured: workers inside this process .*backend='local'.*$")
        self.assertEqual(len(truth["threads_warned"]), 2)
        self.assertEqual(truth["left"], [False])

    # Fault [cluster]: crema is taken off a cluster, by `detach` or by unregistering its plug-ins
    # Program: nothing: no variable, plug-in, handler or open log stays, and guards record no more
    # Recorded: what came before; attached again, what comes after
    def test_detached_it_leaves_no_trace(self):
        truth, document = self.measure("detached")
        self.assertLessEqual(truth["failed_keys"], 20)
        self.assertEqual((truth["refused_detach"], truth["detach"]), (False, True))
        self.assertEqual(truth["after"], truth["before"])
        self.assertEqual(truth["unregistered"], truth["before"])
        start, stop = (str(value / 1e9) for value in truth["window"])
        document = self.collect(self.directory / "run.ndjson", "--start", start, "--stop", stop)
        self.assertEqual(document["metrics"]["num_chunks"], truth["chunks"])

    # Fault [guards]: threads of a worker share a scattered object with guards of its own; tasks are coroutines
    # Program: nothing: no worker is lost, every result comes
    # Recorded: everything; coroutines are not chunks
    def test_threads_of_a_worker_may_share_guards(self):
        truth, document = self.measure("shared_guards")
        self.assertTrue(truth["results"] and truth["coroutines"] and truth["same_process"])
        self.assertEqual(document["metrics"]["num_chunks"], truth["chunks"])
        self.assertEqual(document["metrics"]["num_attempts"], truth["chunks"])
        counts = {row["path"]: row["count"] for row in document["sections"]}
        self.assertEqual(counts, {"load": 200, "load/load": 200, "(other)": 200})

    # Fault [cluster]: two clients, an upload, stolen work, a graph without chunks; a worker is killed in a flush
    # Program: nothing
    # Recorded: everything: another worker adopts the log
    def test_others_may_use_the_cluster_at_the_same_time(self):
        truth, document = self.measure("alongside")
        self.assertEqual(truth["results"], [True, sum(range(20))])
        self.assertLessEqual(len(truth["flush"]), 1)
        chunks = {row["name"]: row["chunks"] for row in document["datasets"]}
        self.assertEqual(chunks, {"ttbar": 170, "wjets": 150})
        self.assertEqual(document["quality"]["records_lost_bytes"], 0)

    @unittest.skipUnless(os.environ.get("CREMA_TEST_LONG") == "1", "CREMA_TEST_LONG=1 asks for it: a minute and more")
    def test_twenty_thousand_tasks_on_workers_that_spill(self):
        truth, document = self.measure("many_tasks")
        self.assertEqual(truth["sizes"], 40 * 5_000_000)
        self.assertEqual(document["metrics"]["num_chunks"], truth["chunks"])
        self.assertEqual(document["quality"]["records_lost_bytes"], 0)
        self.assert_budget_adds_up(document)


class PythonsLock(DaskTestCase):
    """gilknocker in the workers reports how hard the lock is to get."""

    packages = (CHECKOUT / ".cache/coffea/gilknocker",)

    def lock_of(self, name):
        document = self.measure(name)[1]
        fired = [verdict["id"] for verdict in document["verdicts"]]
        (points,) = document["timelines"]["worker_gil_contention"].values()
        return document["metrics"], [value for _, value in points], fired

    def test_threads_that_run_python_wait_for_it(self):
        metrics, points, fired = self.lock_of("python_threads")
        self.assertIn("gil-contention", fired)
        self.assertGreaterEqual(metrics["gil_contention"], 0.7)
        self.assertGreater(max(points), 0.7)

    def test_threads_that_wait_in_native_code_do_not(self):
        metrics, points, fired = self.lock_of("native_threads")
        self.assertNotIn("gil-contention", fired)
        self.assertIn("waiting-bound", fired)
        self.assertLess(metrics["gil_contention"], 0.7)
        self.assertLessEqual(max(points), 1)


class DasksOwnView(DaskTestCase):
    def assert_cpu_is_whole(self, truth):
        """Dask's thread-cpu equals what the tasks measured themselves: nothing was subtracted from it."""
        for prefix, seconds in truth["cpu"].items():
            self.assertGreaterEqual(truth["fine"][f"execute|{prefix}|thread-cpu|seconds"], seconds)

    def test_sections_are_activities_and_thread_cpu_stays_as_it_is(self):
        truth, document = self.measure("sections_in_dask")
        self.assertEqual(document["metrics"]["num_chunks"], truth["chunks"])
        self.assertEqual(document["metrics"]["num_failed_attempts"], 5)
        self.assertGreaterEqual(document["quality"]["fine_metrics_coverage"], 0.999)
        self.assert_cpu_is_whole(truth)
        self_seconds = {}
        for row in document["sections"]:
            unit = "native-helper-seconds" if row["helper"] else "native-seconds"
            self_seconds[f"{row['path']}|{unit}"] = row["self"]
        in_dask = {}
        for key, value in truth["fine"].items():
            context, _, *activity = key.split("|")
            if context == "execute" and activity[-1].startswith("native-"):
                in_dask["|".join(activity)] = in_dask.get("|".join(activity), 0) + value
        self.assertIn("select/jets%2Fb|native-seconds", in_dask)
        self.assertIn("clusters|native-helper-seconds", in_dask)
        self.assertEqual(sorted(in_dask), sorted(self_seconds))
        for key, value in self_seconds.items():
            self.assertAlmostEqual(in_dask[key], value, places=6, msg=key)
        whole = sum(value for key, value in in_dask.items() if key.endswith("|native-seconds"))
        self.assertAlmostEqual(whole, document["metrics"]["busy_time"], places=6)
        # sections of failed chunks are there, too
        self.assertGreater(truth["fine"]["execute|failing|select|native-seconds"], 0)

    def test_sections_can_be_kept_out_of_it(self):
        truth, document = self.measure("sections_not_in_dask")
        self.assertEqual(document["metrics"]["num_chunks"], truth["chunks"])
        self.assert_cpu_is_whole(truth)
        self.assertEqual([key for key in truth["fine"] if "native" in key.split("|")[-1]], [])


@unittest.skipUnless(os.environ.get("CREMA_OLD_DASK") == "1", "CREMA_OLD_DASK=1 asks for it")
class OldDaskTestCase(DaskTestCase):
    python = OLD_PYTHON

    def setUp(self):
        self.assertTrue(os.access(OLD_PYTHON, os.X_OK), "tools/setup old-dask fetches it")
        super().setUp()


class EndsOnOldDask(OldDaskTestCase, Ends):
    """The same table."""


class OldDask(OldDaskTestCase):
    def test_nothing_is_lost(self):
        for name in ("healthy", "workers_come_and_go", "restarted", "guards_before_attach", "spans_of_datasets"):
            with self.subTest(name):
                self.assert_complete(*self.measure(name))
                shutil.rmtree(self.directory / "logs")

    def test_the_log_of_a_killed_worker_is_adopted(self):
        truth, document = self.measure("killed")
        self.assertEqual(document["metrics"]["num_chunks"], truth["chunks"])
        self.assertEqual(document["quality"]["records_lost_bytes"], 0)

    def test_sections_are_activities_of_its_own(self):
        truth, document = self.measure("sections_in_dask")
        in_dask = sum(value for key, value in truth["fine"].items() if key.endswith("|native-seconds"))
        self.assertAlmostEqual(in_dask, document["metrics"]["busy_time"], places=6)


class Collector(DaskTestCase):
    def test_a_collector_tells_what_was_measured_when_its_cluster_is_gone(self):
        truth = self.run_scenario("asked_afterwards")
        document = json.loads(pathlib.Path(truth["saved"], "measurement.json").read_text())
        self.assertEqual((truth["metrics"], truth["again"], document["metrics"]["num_chunks"]), (50, 30, 30))
        self.assertEqual(document["quality"]["chunks_joined_to_tasks"], 30)
        self.assertRegex(truth["ended"], "^crema: nothing was measured: the client is closed")


if __name__ == "__main__":
    unittest.main(verbosity=2)
