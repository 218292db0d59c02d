"""Reads a running cluster over HTTP: once with `crema collect`, and continuously with `crema serve`."""

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
    def test_one_line_says_what_is_missing_and_both_begin_when_it_comes(self):
        truth = self.run_scenario("attached_later")
        missing = f"{truth['source']}: the scheduler has no crema plug-in; attach it with crema_hep.attach(client)"
        self.assertEqual(truth["top_before"], f"waiting for records · {missing}\n")
        self.assertEqual(truth["page"]["sources"][0]["problem"], missing)
        self.assertEqual((truth["before"]["schedulers"], truth["before"]["run"]["start_ns"]), ([], None))
        attached = truth["attached"]
        self.assertEqual((attached["schedulers"], attached["metrics"]["num_chunks"]), ([], 20))
        self.assertEqual(attached["quality"]["not_measured"], {})
        self.assertEqual(truth["page_after"]["sources"][0]["problem"], "")
        self.assertRegex(truth["top_after"], r" 20 chunks ")


if __name__ == "__main__":
    unittest.main(verbosity=2)
