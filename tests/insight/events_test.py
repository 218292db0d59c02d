"""Events that go from task to task: their verdicts, their place in the budget, and what more threads and streams bring.

The tasks of the program sleep. What is compared is of one run, or holds however busy the machine is.
"""

import json
import pathlib
import unittest

from measured_runs import LONG, MeasuredRunsCase, crema

GRAPH = pathlib.Path("tests/insight/event_graph").resolve()
PARTS = ("active", "queued", "external", "rest")


class EventsTest(MeasuredRunsCase):
    def run_graph(self, threads, streams, events=150, fit=4, request=0, write=0.5, serial=True, line=False, **more):
        name = f"{threads}_{streams}_{request}_{write}_{serial}_{line}"
        kinds = ("serial" if serial else "parallel", "line" if line else "summed")
        command = (GRAPH, threads, streams, events, fit, request, write, *kinds)
        return self.measure(name, *command, CREMA_THREADS=str(threads), **more)

    def document(self, run):
        return json.loads((run / "measurement.json").read_text(encoding="utf-8"))

    def predicted(self, run, *options):
        (row,) = self.json_of("predict", run, *options)["predicted"]
        return row

    def test_a_serial_module_is_named_and_a_parallel_one_is_not(self):
        serial = self.document(self.run_graph(4, 12, events=100, fit=2, write=10))
        (verdict,) = [verdict for verdict in serial["verdicts"] if verdict["id"] == "serial-module"]
        self.assertIn("write", verdict["sentence"])
        modules = {row["module"]: row for row in serial["modules"]}
        self.assertEqual(modules["write"]["at_once"], 1)
        self.assertAlmostEqual(sum(row["share"] for row in modules.values() if row["operation"] is None), 1)
        # it was the limit: its ceiling is the rate, but for the begin and the end of the run
        self.assertLess(serial["events"][0]["events_per_second"], modules["write"]["ceiling"])
        self.assertGreater(serial["events"][0]["events_per_second"], 0.8 * modules["write"]["ceiling"])
        parallel = self.document(self.run_graph(4, 12, events=100, fit=2, write=10, serial=False))
        self.assertNotIn("serial-module", [verdict["id"] for verdict in parallel["verdicts"]])

    def test_a_prediction_respects_the_serial_module_and_the_streams(self):
        run = self.run_graph(3, 9)
        document = self.document(run)
        rate, count = document["events"][0]["events_per_second"], document["events"][0]["events"]
        modules = {row["module"]: row for row in document["modules"]}
        wall = document["metrics"]["wall_time"]
        more = self.predicted(run, "--cores", 300)
        self.assertIn(more["limited_by"], ("module write", "events open at once"))
        self.assertGreaterEqual(more["low"] * 1.03, wall - count / rate + count / modules["write"]["ceiling"])
        few = self.predicted(run, "--streams", 1)
        self.assertEqual(few["limited_by"], "events open at once")
        self.assertGreater(few["wall_time"], 1.5 * wall)
        same = self.predicted(run, "--cores", 3)
        self.assertAlmostEqual(same["wall_time"] / wall, 1, delta=0.01)
        for row in (more, few, same):
            self.assertLessEqual(row["low"], row["wall_time"])
            self.assertLessEqual(row["wall_time"], row["high"])
        other = self.predicted(run, "--workers", 2)
        self.assertIsNone(other["wall_time"])
        self.assertIn("--streams", other["not_told"])
        scaled = self.json_of("scaling", run)
        # the measured point has the cores that the process got: fewer than 3 on a busy machine
        self.assertEqual([point["cores"] for point in scaled["points"] if point["predicted"]], [1.5, 6, 12, 24])
        self.assertIsNotNone(next(point for point in scaled["points"] if not point["predicted"])["latency"])

    def test_external_waits_are_not_made_shorter_by_cores(self):
        run = self.run_graph(4, 4, request=40)
        latency = self.document(run)["events"][0]
        needed = (latency["latency_seconds"] - latency["queued_seconds"]) / latency["events"]
        more = self.predicted(run, "--cores", 64)
        self.assertEqual(more["limited_by"], "events open at once")
        self.assertGreater(more["wall_time"], 0.95 * needed * latency["events"] / 4)
        prediction = self.json_of("predict", run)
        self.assertIn("more requests at once", prediction["not_known"])
        self.assertIn("events came at", crema("predict", run).stdout)

    @unittest.skipUnless(LONG, "CREMA_TEST_LONG=1 asks for it: nothing else may run on the machine")
    def test_predictions_come_true(self):
        before = self.run_graph(4, 8, events=600, request=20)
        for option, after in (
            ("--cores=8", self.run_graph(8, 8, events=600, request=20)),
            ("--streams=24", self.run_graph(4, 24, events=600, request=20)),
            ("--cores=1", self.run_graph(1, 8, events=600, request=20)),
        ):
            row, truth = self.predicted(before, option), self.document(after)["metrics"]["wall_time"]
            print(
                f"{option}: predicted {row['wall_time']:.2f} ({row['low']:.2f} to {row['high']:.2f}), was {truth:.2f}"
            )
            self.assertAlmostEqual(row["wall_time"] / truth, 1, delta=0.15)

    def test_events_with_lines_and_summed_ones_have_the_same_budget_and_an_older_reader_has_it_too(self):
        run = self.run_graph(2, 6, line=True)
        document = self.document(run)
        events = document["events"][0]
        self.assertAlmostEqual(sum(events[part + "_seconds"] for part in PARTS), events["latency_seconds"])
        # lanes are threads at work: no event makes one, however long it is in a queue
        metrics = document["metrics"]
        self.assertAlmostEqual(metrics["lane_time"], events["work_seconds"], delta=0.01 * events["work_seconds"])
        beyond = metrics["oversubscribed_core_seconds"]
        self.assertLess(beyond, 0.05 * metrics["core_seconds"], "a line spreads the lanes of its event evenly")
        (worker,) = document["workers"]
        cores = metrics["core_seconds"] / (worker["stop"] - worker["start"])
        self.assertAlmostEqual(metrics["ideal_wall_time"], (metrics["lane_time"] - beyond) / cores, places=5)
        self.assertLessEqual(metrics["core_efficiency"], 1)
        budget = {row["part"]: row["core_seconds"] for row in document["budget"]}
        self.assertAlmostEqual(sum(budget.values()), metrics["core_seconds"], places=6)
        self.assertEqual(budget.get("joined", 0), 0)
        # A reader from before: it does not know the new type, field and list.
        old = self.scratch / "old"
        old.mkdir()
        for log in (run / "records").glob("*.jsonl"):
            lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
            lines = [line for line in lines if line["type"] != "task_sums"]
            for line in lines:
                for field in ("detached", "tasks"):
                    line.pop(field, None)
            (old / log.name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        then = json.loads(crema("show", old, "--json").stdout)
        self.assertEqual(then["metrics"]["num_chunks"], metrics["num_chunks"])
        self.assertAlmostEqual(then["metrics"]["lane_time"], metrics["lane_time"], delta=0.01 * metrics["lane_time"])
        parts = {row["part"]: row["core_seconds"] for row in then["budget"]}
        within = 0.01 * metrics["core_seconds"] + beyond  # a line does not know when its event's tasks were at once
        for part in ("compute", "blocked", "cpu_wait"):
            self.assertAlmostEqual(parts[part], budget[part], delta=within, msg=part)

    def test_an_event_that_was_open_when_its_process_was_killed_is_lost(self):
        run = self.run_graph(2, 4, events=20, line=True)
        killed = self.scratch / "killed"
        killed.mkdir()
        (log,) = (run / "records").glob("*.jsonl")
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        last = [line["chunk"] for line in lines if line["type"] == "chunk"][-1]
        kept = [
            line for line in lines if line["type"] != "end" and not (line["type"] == "chunk" and line["chunk"] == last)
        ]
        (killed / log.name).write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
        metrics = json.loads(crema("show", killed, "--json").stdout)["metrics"]
        self.assertEqual(metrics["num_chunks"], 19)
        self.assertEqual(metrics["num_lost_attempts"] + (metrics.get("num_open_attempts") or 0), 1)

    def test_the_trace_of_a_run_shows_the_parts_that_were_summed(self):
        run = self.run_graph(2, 4, request=5, CREMA_TRACE="1")
        document = self.document(run)
        events = json.loads(crema("export", run, "--to", "perfetto", "-o", "-").stdout)["traceEvents"]
        seconds, opened, arrows = dict.fromkeys(PARTS, 0), {}, set()
        names = dict(zip(("at work", "queued", "external", "nothing ready"), PARTS))
        for event in events:
            if event["ph"] == "b" and event["cat"] == "event":
                opened.setdefault(event["id"], []).append(event)
            if event["ph"] == "e" and event["cat"] == "event":
                begin = opened[event["id"]].pop()
                if begin["name"] in names:
                    seconds[names[begin["name"]]] += (event["ts"] - begin["ts"]) / 1e6
            if event["ph"] in "sf":
                arrows.add((event["ph"], event["id"]))
        row = document["events"][0]
        self.assertEqual(len(opened), row["events"])
        for part in PARTS:
            self.assertAlmostEqual(seconds[part], row[part + "_seconds"], places=6)
        self.assertEqual(len(arrows), 2 * row["events"], "from each fit to its write")
        tasks = [event for event in events if event["ph"] == "B" and event["cat"] == "task"]
        self.assertEqual(len(tasks), row["tasks"])


if __name__ == "__main__":
    unittest.main()
