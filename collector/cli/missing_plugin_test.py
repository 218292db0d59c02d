"""crema on a Dask scheduler without crema's plug-in: one line says that it is missing, and how to attach it."""

import subprocess
import unittest

from collector.cli.invented_scheduler import InventedScheduler
from collector.cli.serve_test_case import CREMA, PATIENCE, ServeTestCase

NO_PLUG_IN = "the scheduler has no crema plug-in; attach it with crema_hep.attach(client)"


class MissingPlugin(ServeTestCase):
    def setUp(self):
        super().setUp()
        self.scheduler = InventedScheduler()
        self.addCleanup(self.scheduler.close)
        self.source = f"dask://127.0.0.1:{self.scheduler.port}"

    def problem(self):
        return self.wait_for("a word on it", lambda: self.json("/api/live")["sources"][0]["problem"])

    def test_serve_says_so_and_asks_for_counts_once(self):
        self.serve(source=self.source)
        self.assertEqual(self.problem(), f"{self.source}: {NO_PLUG_IN}")
        self.assertEqual(self.json("/api/v1/schedulers"), [])
        self.wait_for("more questions", lambda: self.scheduler.asked.count("/crema/v1/records?since=0") > 2)
        self.assertEqual(self.scheduler.asked.count("/json/counts.json"), 1, "Dask goes through its tasks for each")

    def test_top_says_so_in_one_line(self):
        with subprocess.Popen([CREMA, "top", self.source], stdout=subprocess.PIPE, text=True) as top:
            line = next((line for line in top.stdout if "plug-in" in line), "")
            top.terminate()
            top.wait(PATIENCE)
        self.assertEqual(line, f"waiting for records · {self.source}: {NO_PLUG_IN}\n")

    def test_collect_says_so_in_one_line(self):
        command = [CREMA, "collect", self.source, "-o", "unwritten"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(result.stderr, f"crema: {self.source}: {NO_PLUG_IN}\n")

    def test_a_server_that_is_no_scheduler_is_said_to_be_none(self):
        self.scheduler.counts = ["no", "object"]
        self.serve(source=self.source)
        self.assertRegex(self.problem(), "is not a Dask scheduler")


if __name__ == "__main__":
    unittest.main()
