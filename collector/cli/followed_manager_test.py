"""`crema serve` beside a TaskVine manager: it follows the manager's log as it grows. The log is a real run's."""

import pathlib
import re
import unittest

from collector.cli.serve_test_case import ServeTestCase

SAMPLE = pathlib.Path("collector/engines/testdata/taskvine/vine-run-info/vine-logs/transactions")
MANAGER = "TaskVine manager 15188"


class FollowedManager(ServeTestCase):
    def setUp(self):
        super().setUp()
        self.lines = SAMPLE.read_text(encoding="utf-8").splitlines(keepends=True)
        self.path = pathlib.Path(self.directory, "vine-run-info/2026-11-24T101010/vine-logs/transactions")
        self.path.parent.mkdir(parents=True)
        self.begin = next(at for at, line in enumerate(self.lines) if "MANAGER 15188 START" in line) + 1
        self.path.write_text("".join(self.lines[: self.begin]), encoding="utf-8")
        self.server = self.serve(self.logs, source=str(self.path.parent.parent.parent))

    def write(self, text):
        with self.path.open("a", encoding="utf-8") as log:
            log.write(text)

    def wait_for_row(self, what, condition):
        def row():
            rows = self.json("/api/v1/schedulers")
            return rows and condition(rows[0]) and rows[0]

        return self.wait_for(what, row)

    def test_tasks_and_workers_are_those_of_its_log(self):
        self.wait_for_row("the manager", lambda row: row["address"] == MANAGER)
        half = len(self.lines) // 2
        first = "".join(self.lines[self.begin : half])
        self.write(first[:-20])
        self.write(first[-20:])
        joined = set(re.findall(r"WORKER (\S+) CONNECTION", first))
        gone = set(re.findall(r"WORKER (\S+) DISCONNECTION", first))
        ended = len(re.findall(r"TASK \d+ RETRIEVED", first))
        self.assertGreater(ended, 0)
        row = self.wait_for_row("the first tasks", lambda row: row["finished"] == ended)
        self.assertEqual(row["workers"], len(joined - gone))
        self.assertGreater(row["tasks"], 0)
        self.assertEqual(row["tasks"], row["processing"] + row["waiting"])
        self.assertEqual(self.json("/api/v1/run")["state"], "running")
        self.write("".join(self.lines[half:]))
        whole = "".join(self.lines)
        ended = len(re.findall(r"TASK \d+ RETRIEVED", whole))
        row = self.wait_for_row("all tasks", lambda row: row["finished"] == ended)
        self.assertEqual(sum(worker["finished"] for worker in row["finished_by_worker"]), ended)
        self.assertEqual(
            {prefix["prefix"] for prefix in row["prefixes"]}, {"preprocessing", "processing", "accumulating"}
        )
        self.assertEqual((row["tasks"], row["workers"]), (0, 0))
        self.wait_for("its end", lambda: f"{MANAGER} has ended" in self.texts())
        self.assertEqual(self.json("/api/v1/quality")["records_malformed"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
