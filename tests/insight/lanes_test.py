"""Work that a thread does inside other work of its own is counted once, and needs no core of its own."""

import json
import pathlib
import unittest

from measured_runs import MeasuredRunsCase

PROGRAM = pathlib.Path("tests/insight/work_inside_work").resolve()
THREADS = {
    "chunk-in-chunk": 1,
    "chunk-in-helper": 1,
    "helper-in-helper": 1,
    "events-at-once": 2,
    "events-in-turn": 1,
    "two-threads": 2,
}


class LanesTest(MeasuredRunsCase):
    def test_a_run_has_the_cores_of_its_threads_however_work_nests(self):
        for kind, threads in THREADS.items():
            with self.subTest(kind):
                run = self.measure(kind, PROGRAM, kind)
                document = json.loads((run / "measurement.json").read_text(encoding="utf-8"))
                metrics = document["metrics"]
                self.assertEqual([worker["cores"] for worker in document["workers"]], [threads])
                # Clocks are read one after the other, and a thread may lose its CPU between two of them. An owner that
                # waits for a CPU is one more thread beside its helpers.
                lines = [json.loads(line) for path in (run / "records").glob("*.jsonl") for line in path.open()]
                chunks = [line for line in lines if line["type"] == "chunk"]
                ready = sum(chunk["cpu_wait_ns"] or 0 for chunk in chunks if chunk.get("helper_scope_ns")) / 1e9
                self.assertLessEqual(metrics["lane_time"], 1.02 * threads * metrics["wall_time"] + ready, chunks)
                self.assertLessEqual(metrics["ideal_wall_time"], metrics["wall_time"])
                self.assertLessEqual(metrics["balance"] or 0, 1)
                self.assertLess(metrics["oversubscribed_core_seconds"], 0.1 * metrics["core_seconds"])
                budget = {row["part"]: row["core_seconds"] for row in document["budget"]}
                self.assertLess(budget.get("blocked", 0), 0.1 * metrics["core_seconds"], "no thread ever blocked")
                if kind.startswith("events"):
                    (row,) = document["sections"]
                    self.assertAlmostEqual(row["share"], 1, places=6, msg="no time but that of tasks")


if __name__ == "__main__":
    unittest.main()
