"""A running cluster, asked over HTTP: once by `crema collect`, and all the time by `crema serve`."""

import os
import pathlib
import subprocess
import unittest

from dask_test_case import CHECKOUT, CREMA, LIBRARY, PYTHON, DaskTestCase


class Live(DaskTestCase):
    def test_a_running_cluster_is_read_over_http(self):
        environment = {**os.environ, "CREMA_TEST_PYTHON": str(CHECKOUT / "python"), "CREMA_TEST_LIBRARY": str(LIBRARY)}
        environment["CREMA_LIBRARY"] = str(LIBRARY)
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


class Watched(DaskTestCase):
    def test_a_run_is_watched_to_its_end_though_a_worker_is_killed_in_it(self):
        truth = self.run_scenario("watched")
        during, after = truth["during"], truth["after"]
        self.assertEqual(during["run"]["state"], "running")
        self.assertGreater(during["metrics"]["num_chunks"], 0)
        self.assertLess(during["metrics"]["num_chunks"], truth["chunks"])
        self.assertEqual(after["run"]["state"], "finished")
        document = self.collect(self.directory / "run.ndjson")
        for key in ("num_chunks", "num_attempts", "num_lost_attempts", "num_recomputed_chunks", "total_events"):
            self.assertEqual(after["metrics"][key], document["metrics"][key], key)
        self.assertEqual(after["metrics"]["num_chunks"], truth["chunks"])
        planned = {row["name"]: row["total_events"] for row in after["datasets"]}
        self.assertEqual(planned, truth["planned"])
        states = sorted(row["state"] for row in after["workers"])
        self.assertEqual(states.count("lost"), 1, states)
        self.assertIn(truth["victim"], [row["name"] for row in after["workers"] if row["state"] == "lost"])


class WithoutThePlugIn(DaskTestCase):
    def test_what_every_scheduler_tells_is_followed_until_there_is_a_plug_in(self):
        truth = self.run_scenario("followed_without_plugin")
        self.assertRegex(truth["top"], r"no records · 2 workers, 4 cores · 0 tasks: .*, 0 failed · 0 finished")
        self.check_scheduler(truth)
        self.check_page(truth)
        attached = truth["attached"]
        self.assertEqual((attached["schedulers"], attached["metrics"]["num_chunks"]), ([], 20))
        self.assertNotIn("live_finished_tasks", attached["metrics"])
        self.assertEqual(attached["quality"]["not_measured"], {})

    def test_a_rate_is_not_known_once_another_program_reads_the_stream(self):
        truth = self.run_scenario("stream_taken_over")
        self.assertGreater(truth["before"]["schedulers"][0]["finished_rate_now"], 0)
        (row,) = truth["after"]["schedulers"]
        self.assertIsNone(row["finished_rate_now"])
        self.assertIsNone(truth["after"]["metrics"]["live_finished_task_rate_hz"])
        self.assertRegex(truth["after"]["quality"]["not_measured"]["live_finished_task_rate_hz"], "another program")

    def check_scheduler(self, truth):
        (row,) = truth["bare"]["schedulers"]
        self.assertEqual((row["address"], row["workers"], row["cores"]), (truth["source"], 2, 4))
        finished = {tasks["prefix"]: tasks["finished"] for tasks in row["prefixes"] if tasks["finished"]}
        self.assertEqual(finished, {"plain": 100, "other-plain": 7})
        self.assertTrue(all(tasks["compute_seconds"] > 0 for tasks in row["prefixes"] if tasks["finished"]))
        by_worker = {worker["worker"]: worker["finished"] for worker in row["finished_by_worker"]}
        self.assertEqual(sorted(by_worker), truth["workers"])
        self.assertEqual(sum(by_worker.values()), 107)
        metrics = truth["bare"]["metrics"]
        self.assertEqual((metrics["live_scheduler_cores"], metrics["live_erred_tasks"]), (4, 3))
        for key in ("num_chunks", "busy_time", "core_seconds", "wall_time", "live_workers"):
            self.assertIsNone(metrics[key])
            self.assertRegex(truth["bare"]["quality"]["not_measured"][key], "no crema plug-in")
        self.assertEqual((truth["bare"]["workers"], truth["bare"]["run"]["start_ns"]), ([], None))
        self.assertEqual(truth["bare"]["quality"]["records_malformed"], 0)

    def check_page(self, truth):
        page = truth["page"]
        self.assertRegex(
            page["sources"][0]["problem"], "no crema plug-in; attach it with .*memory, which tasks failed$"
        )
        self.assertEqual(
            (page["run"]["is_bare"], page["tiles"]["failed"], page["progress"]["chunks"]), (True, None, None)
        )
        texts = [event["text"] for event in truth["events"]]
        self.assertIn(f"{truth['gone']} left", texts)
        self.assertIn(f"{truth['source']} has no crema plug-in", texts)


if __name__ == "__main__":
    unittest.main(verbosity=2)
