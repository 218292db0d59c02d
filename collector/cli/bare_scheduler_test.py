"""`crema serve` on a Dask scheduler without crema's plug-in: what it takes of the stream, and what goes wrong there."""

import unittest

from collector.cli.invented_scheduler import InventedScheduler, finished
from collector.cli.serve_test_case import PATIENCE, ServeTestCase


class BareScheduler(ServeTestCase):
    def setUp(self):
        super().setUp()
        self.scheduler = InventedScheduler()
        self.addCleanup(self.scheduler.close)

    def follow(self):
        self.server = self.serve(source=f"dask://127.0.0.1:{self.scheduler.port}")
        self.assertTrue(self.scheduler.wait_for_stream(1, PATIENCE))

    def wait_for_row(self, what, condition):
        def row():
            rows = self.json("/api/v1/schedulers")
            return rows and condition(rows[0]) and rows[0]

        return self.wait_for(what, row)

    def why(self, row):
        return row["not_measured"].get("finished_rate_now", "")

    def test_malformed_messages_are_counted_and_the_rest_is_used(self):
        self.follow()
        self.scheduler.tell(
            finished("fill-1"), "", "{", '{"name": 7}', finished("fill-2", stop="late"), finished("fill-3")
        )
        row = self.wait_for_row("the tasks", lambda row: row["finished"] == 2)
        self.assertEqual(row["prefixes"], [
            {"prefix": "fill", "finished": 2, "compute_seconds": 1.0, "compute_seconds_in_all": None}
        ])  # fmt: skip
        self.assertEqual(self.json("/api/v1/quality")["records_malformed"], 4)
        self.assertIn("prometheus_client", row["not_measured"]["compute_seconds_in_all"])

    def test_a_stream_that_ends_is_connected_again(self):
        self.follow()
        self.scheduler.tell('{"name": "add_worker", "worker": "tcp://node:1"}', finished("fill-1"))
        self.wait_for_row("the first task", lambda row: row["finished"] == 1)
        self.scheduler.hang_up()
        row = self.wait_for_row("a word on it", lambda row: row["finished_rate_now"] is None)
        self.assertRegex(self.why(row), "^no /eventstream from the scheduler")
        self.assertEqual(row["finished"], 1, "as far as they were told")
        self.assertTrue(self.scheduler.wait_for_stream(2, PATIENCE))
        self.scheduler.tell(finished("fill-2"))
        self.wait_for_row("the second task", lambda row: row["finished"] == 2 and row["finished_rate_now"] is not None)
        self.wait_for("who was not told again", lambda: "tcp://node:1 left" in self.texts())

    def test_nothing_is_sent_on_the_stream(self):
        self.follow()
        self.scheduler.tell(finished("fill-1"))
        self.wait_for_row("a task", lambda row: row["finished"] == 1)
        self.server.terminate()
        self.server.wait(PATIENCE)
        self.assertEqual(self.scheduler.received, [[]])

    def test_seconds_that_grow_while_nothing_is_told_are_told_to_somebody_else(self):
        self.follow()
        self.scheduler.counts["processing"] = 4
        self.scheduler.compute_seconds = 0.0

        def grown(row):
            self.scheduler.compute_seconds += 1
            return self.why(row).startswith("another program reads")

        row = self.wait_for_row("a word on it", grown)
        self.assertEqual(
            self.why(row), "another program reads the scheduler's /eventstream; start crema again to read it"
        )
        self.assertGreater(row["prefixes"][0]["compute_seconds_in_all"], 0)
        self.assertEqual(len(self.scheduler.streams), 1, "it is not fought over")
        self.scheduler.tell(finished("fill-1"))
        self.wait_for_row("its return", lambda row: row["finished_rate_now"] is not None)

    def test_a_scheduler_without_the_stream_tells_the_rest(self):
        self.scheduler.stream = lambda handler, fields: handler.wfile.write(b"HTTP/1.1 403 Forbidden\r\n\r\n")
        self.serve(source=f"dask://127.0.0.1:{self.scheduler.port}")
        row = self.wait_for_row("its counts", lambda row: "no /eventstream" in self.why(row))
        self.assertEqual((row["workers"], row["cores"], row["finished"]), (2, 4, None))

    def test_counts_that_are_none_are_said_to_be(self):
        self.scheduler.counts = ["no", "object"]
        self.serve(source=f"dask://127.0.0.1:{self.scheduler.port}")
        problem = self.wait_for("a word on it", lambda: self.json("/api/live")["sources"][0]["problem"])
        self.assertRegex(problem, "is no Dask scheduler")
        self.assertEqual(self.json("/api/v1/schedulers"), [])


if __name__ == "__main__":
    unittest.main()
