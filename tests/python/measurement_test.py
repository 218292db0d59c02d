"""Collectors and measurements in Python: roastcoffea's interface on real runs of this machine."""

import json
import os
import subprocess
import sys
import unittest

import installed

RUN = """
import json, sys, time, warnings
import crema_hep as crema

class Processor:
    @crema.track_metrics
    def process(self, events):
        with crema.track_section(self, "select"):
            with crema.track_section(self, "jets"), crema.track_memory(self, "arrays"):
                time.sleep(0.001)
        crema.record_metric("jets", 3, "count")
        crema.record_cut("all", len(events))
        crema.record_activity("cache", 7, "bytes")
        return len(events)

def run(collector, chunks=4, size=10):
    with collector:
        for _ in range(chunks):
            with crema.TrackMetrics("ttbar"):
                pass
            Processor().process([0] * size)
    return collector

def warnings_of(action):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [str(warning.message) for warning in caught]
"""


class MeasurementTest(installed.RecordedTest):
    def facts_of(self, text, *arguments, **environment):
        """Returns what the program puts into `facts`."""
        program = f"{RUN}\nfacts = None\n{text}\nprint(json.dumps(facts))\n"
        done = self.run_program(program, *arguments, **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_a_local_collector_measures_its_block_and_nothing_before(self):
        facts = self.facts_of("""
run(crema.MetricsCollector(backend="local"), chunks=2)
before = time.time()
collector = run(crema.MetricsCollector(backend="local"))
after = time.time()
metrics = collector.get_metrics()
worker_counts = metrics.pop("tracking_data")["worker_counts"]
facts = [metrics, after - before, collector.measurement.quality, collector.measurement.run]
facts += [sorted(worker_counts.values())]
""")
        metrics, seconds, quality, run, counts = facts
        self.assertEqual((metrics["num_chunks"], metrics["total_events"]), (8, 40))
        self.assertLess(metrics["wall_time"], seconds)
        self.assertGreater(metrics["wall_time"], metrics["busy_time"])
        self.assertEqual(metrics["elapsed_time_seconds"], metrics["wall_time"])
        self.assertGreater(metrics["peak_memory_bytes"], 1e6)
        self.assertEqual((quality["processes_lost"], quality["records_malformed"]), (0, 0))
        self.assertEqual((run["state"], run["boundary"], run["name"]), ("finished", "context", "analysis.py"))
        self.assertEqual(counts[-1], 1)

    def test_under_crema_run_the_block_is_measured_too(self):
        script = self.folder / "analysis.py"
        script.write_text(f'{RUN}\nprint(run(crema.MetricsCollector(backend="local")).get_metrics()["num_chunks"])\n')
        command = ["run", "-q", "-o", str(self.folder / "run"), "--", sys.executable, str(script)]
        done = subprocess.run(
            [installed.PROGRAM, *command],
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        self.assertEqual((done.returncode, done.stdout), (0, "8\n"), done.stderr)
        document = json.loads((self.folder / "run/measurement.json").read_text())
        self.assertEqual(document["metrics"]["num_chunks"], 8)

    def test_children_of_the_block_are_measured(self):
        facts = self.facts_of("""
import multiprocessing
with crema.MetricsCollector(backend="local", track_workers=False) as collector:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(Processor().process, [[0] * 5] * 10)
        pool.close()
        pool.join()
facts = [collector.get_metrics()["total_events"], collector.measurement.quality["processes_lost"]]
""")
        self.assertEqual(facts, [50, 0])

    def test_chunks_have_the_references_structure(self):
        chunks = self.facts_of('facts = run(crema.MetricsCollector(backend="local"), chunks=1).chunk_metrics')
        chunk = next(chunk for chunk in chunks if chunk["sections"])
        self.assertEqual((chunk["num_events"], chunk["custom_metrics"]), (10, {"jets": 3.0}))
        self.assertAlmostEqual(chunk["processing_time"], chunk["t_end"] - chunk["t_start"], places=5)
        self.assertAlmostEqual(chunk["processing_time"], chunk["duration"], places=9)
        delta_gb = chunk["memory_end_gb"] - chunk["memory_start_gb"]
        self.assertAlmostEqual(chunk["memory_delta_gb"], delta_gb, places=9)
        names = {row["section_name"]: row["time_delta"] for row in chunk["sections"]}
        self.assertEqual(list(names), ["select", "select/jets"])
        self.assertGreaterEqual(names["select/jets"], 0.001)
        (memory,) = chunk["memory_sections"]
        self.assertEqual(memory["section_name"], "select/jets/arrays")
        self.assertAlmostEqual(memory["memory_delta_gb"], memory["memory_end_gb"] - memory["memory_start_gb"], places=9)

    def test_span_metrics_have_tuples_as_keys(self):
        facts = self.facts_of("""
collector = run(crema.MetricsCollector(backend="local"))
facts = [[list(key), value] for key, value in collector.span_metrics.items()]
""")
        self.assertEqual(facts, [[["native", None, "cache", "bytes"], 28.0]])

    def test_per_task_metrics_keep_units_apart(self):
        facts = self.facts_of("""
spans = {
    ("execute", "Processor", "thread-cpu", "seconds"): 2.5,
    ("execute", "Processor", "disk-read", "seconds"): 1.5,
    ("execute", "Processor", "disk-read", "bytes"): 5e9,
    ("execute", "Processor", "old"): 3,
    ("get-data", "network", "seconds"): 9,
    "('execute', 'reduce', 'thread-cpu', 'seconds')": 0.5,
    "no tuple": 1,
    ("short",): 1,
}
facts = crema.extract_per_task_metrics(spans)
""")
        processor = {"thread-cpu": 2.5, "disk-read": 1.5, "disk-read (bytes)": 5e9, "old": 3}
        self.assertEqual(facts, {"Processor": processor, "reduce": {"thread-cpu": 0.5}})

    def test_a_saved_measurement_is_loaded_whole(self):
        facts = self.facts_of("""
collector = run(crema.MetricsCollector(backend="local"))
path = collector.save_measurement("benchmarks", measurement_name="my_run")
again = collector.save_measurement("benchmarks", measurement_name="my_run")
metrics, start, stop = crema.load_measurement(path)
measurement = crema.load(path)
assert metrics.pop("tracking_data") == collector.tracking_data == measurement.tracking_data
facts = [str(path) == str(again), metrics == measurement.metrics == collector.measurement.metrics, stop - start,
        metrics["wall_time"], len(measurement.chunks), [row["path"] for row in measurement.sections],
        sum(row["core_seconds"] for row in measurement.budget), metrics["core_seconds"],
        bool(measurement.verdicts), measurement.definitions["wall_time"]["unit"], repr(measurement)[:10],
        type(measurement.table("sections")).__name__]
""")
        same_path, same_metrics, seconds, wall_time, chunks, sections, budget, core_seconds, *rest = facts
        self.assertTrue(same_path and same_metrics)
        self.assertAlmostEqual(seconds, wall_time, places=5)
        self.assertEqual((chunks, sections[:2]), (8, ["select", "select/jets"]))
        self.assertAlmostEqual(budget, core_seconds, places=6)
        self.assertEqual(rest[:3], [True, "s", "<crema mea"])
        self.assertIn(rest[3], ("list", "DataFrame"))
        self.assertEqual([path.name for path in (self.folder / "benchmarks").iterdir()], ["my_run"])

    def test_an_output_directory_is_saved_to_as_the_block_ends(self):
        self.facts_of('run(crema.MetricsCollector(backend="local", output_dir="out"))')
        self.assertEqual(len(list(self.folder.glob("out/*/measurement.json"))), 1)

    def test_chunks_that_a_living_process_summed_are_measured(self):
        done = self.run_program(
            """
import crema_hep as crema
with crema.MetricsCollector(backend="local") as collector:
    for run in range(2000):
        with crema.TrackMetrics("d", "f", run, run + 1, events=1):
            pass
warnings = [line for line in collector.measurement.quality["warnings"] if "summed" in line]
print(collector.metrics["num_chunks"], collector.metrics["total_events"], *warnings)
""",
            CREMA_MAX_LOG_BYTES="100000",
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^2000 2000 \d+ of 2000 chunks .* for processes that have ended; ")

    def test_measurements_of_one_second_are_all_kept(self):
        done = self.run_program("""
import time
import crema_hep as crema
time.strftime = lambda form: "2026-11-30_14-02-41"
for run in range(3):
    with crema.MetricsCollector(backend="local", name=f"run{run}", output_dir="runs"):
        pass
print(*sorted(crema.load(path).run["name"] for path in crema.measurement.pathlib.Path("runs").iterdir()))
""")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "run0 run1 run2\n", ""))

    def test_what_cannot_be_written_says_where_and_what_to_do(self):
        done = self.run_program("""
import pathlib, shutil
import crema_hep as crema
with crema.MetricsCollector(backend="local", output_dir="runs") as collector:
    shutil.copytree = lambda source, target: pathlib.Path("runs/missing/x").write_text("")
print(*pathlib.Path("runs").iterdir())
""")
        self.assertEqual((done.returncode, done.stdout), (0, "\n"))
        self.assertRegex(
            done.stderr,
            r"cannot save the measurement: runs/\S* cannot be written: No such file or directory; save it elsewhere "
            r"before this program ends: save_measurement\(DIRECTORY\)",
        )

    def test_what_stands_there_already_is_not_replaced(self):
        (self.folder / "out/mine").mkdir(parents=True)
        facts = self.facts_of("""
collector = run(crema.MetricsCollector(backend="local"))
try:
    collector.save_measurement("out", "mine")
except FileExistsError as error:
    facts = str(error)
""")
        self.assertIn("out/mine exists, and is not a measurement", facts)

    def test_logs_are_loaded_without_a_measurement(self):
        facts = self.facts_of(
            """
run_plain = [Processor().process([0] * 10) for _ in range(3)]
crema.flush()
facts = [crema.load(sys.argv[1]).metrics["num_chunks"], crema.load(sys.argv[1]).run["state"]]
""",
            self.records,
            CREMA_DIR=str(self.records),
        )
        self.assertEqual(facts, [3, "running"])

    def test_what_cannot_be_loaded_is_one_line(self):
        (self.folder / "torn").mkdir()
        (self.folder / "torn/measurement.json").write_text("{")
        facts = self.facts_of("""
facts = []
for path in ("nowhere", "torn"):
    try:
        crema.load(path)
    except RuntimeError as error:
        facts.append(str(error))
""")
        self.assertEqual([(text[:7], "\n" in text) for text in facts], [("crema: ", False)] * 2)
        self.assertIn("nowhere", facts[0])
        self.assertIn("torn/measurement.json", facts[1])

    def test_before_the_block_has_ended_there_is_nothing_to_ask_for(self):
        facts = self.facts_of("""
facts = []
with crema.MetricsCollector(backend="local") as collector:
    assert collector.metrics is None
    for ask in (collector.get_metrics, lambda: collector.save_measurement("out")):
        try:
            ask()
        except RuntimeError as error:
            facts.append(str(error))
for wrong in (lambda: crema.MetricsCollector(backend="slurm"), lambda: crema.MetricsCollector()):
    try:
        wrong()
    except ValueError as error:
        facts.append(str(error))
""")
        self.assertTrue(facts[0].startswith("Timing not available"))
        self.assertEqual(facts[1], "Cannot save measurement before context manager completes")
        self.assertTrue(facts[2].startswith("Unsupported backend: slurm"))
        self.assertIn("needs a Client", facts[3])

    def test_a_backend_is_one_module_and_one_row(self):
        facts = self.facts_of("""
import sys, types
from crema_hep import backends, local_backend
module = types.ModuleType("made_up_backend")
class MadeUp(local_backend.LocalBackend):
    def detach(self):
        facts.append("detached")
module.backend_of = lambda collector: MadeUp(collector.track_workers, collector.worker_tracking_interval)
sys.modules[module.__name__] = module
backends.BACKENDS["made-up"] = backends.Backend(module.__name__, needs_client=False)
facts = []
collector = run(crema.MetricsCollector(backend="made-up"), chunks=2)
facts.append(collector.get_metrics()["num_chunks"])
collector.detach()
""")
        self.assertEqual(facts, [4, "detached"])

    def test_coffeas_report_is_kept_and_a_difference_is_a_warning(self):
        agreeing = self.facts_of("""
collector = run(crema.MetricsCollector(backend="local"))
report = {"bytesread": 1000, "columns": {"Jet_pt-data"}, "entries": 40, "processtime": 0.5, "chunks": 8}
collector.set_coffea_report(report)
facts = [warnings_of(collector.get_metrics), collector.get_metrics()["total_bytes_read"]]
""")
        self.assertEqual(agreeing[1], 1000)
        self.assertEqual(agreeing[0], [])
        facts = self.facts_of("""
collector = run(crema.MetricsCollector(backend="local"))
report = {"bytesread": 1000, "columns": [], "entries": 4000, "processtime": 0.5, "chunks": 8}
collector.set_coffea_report(report, custom_metrics={"ttbar": {"entries": 40, "duration": 0.5}})
facts = [warnings_of(collector.get_metrics), collector.get_metrics()["total_events"]]
""")
        self.assertEqual(facts[1], 40)
        self.assertEqual(len(facts[0]), 1, facts[0])
        self.assertRegex(facts[0][0], "events: 40 in .*, 4 000 in .*; the first is used")

    def test_a_block_that_never_ends_leaves_nothing_behind(self):
        facts = self.facts_of("""
import atexit
collector = crema.MetricsCollector(backend="local", worker_tracking_interval=0.05)
atexit.register(time.sleep, 1.5)  # once the directory is removed, which the sampler would see, and make it anew
collector.__enter__()
facts = [crema.enabled(), str(crema.recorder.directory())]
""")
        self.assertTrue(facts[0])
        self.assertFalse(os.path.exists(facts[1]), facts[1])

    def test_chunks_of_roastcoffea_are_accepted_and_a_difference_is_a_warning(self):
        facts = self.facts_of("""
collector = run(crema.MetricsCollector(backend="local"))
collector.extract_metrics_from_output(None)
output = {"sum": 1, "__roastcoffea_metrics__": [{"num_events": 5, "duration": 1.0}] * 8}
collector.extract_metrics_from_output(output)
facts = [output, warnings_of(collector.get_metrics), collector.get_metrics()["total_events"]]
collector.set_chunk_metrics([{"num_events": 5}] * 3)
facts += [warnings_of(collector.get_metrics)]
""")
        self.assertEqual(facts[:3], [{"sum": 1}, [], 40])
        (difference, events) = facts[3]
        self.assertIn("num_chunks: 8 by crema's records, which count; 3", difference)
        self.assertIn("total_events: 40 by crema's records", events)

    def test_a_plan_is_events_by_dataset(self):
        facts = self.facts_of("""
from types import SimpleNamespace as Chunk
from crema_hep.reported_chunks import planned_events
def chunks():
    for dataset, start in (("ttbar", 0), ("ttbar", 100), ("wjets", 0)):
        yield Chunk(dataset=dataset, entrystart=start, entrystop=start + 100)
collector = crema.MetricsCollector(backend="local")
used_up = chunks()
facts = [planned_events(list(chunks())), planned_events({"ttbar": 5}), warnings_of(lambda: collector.set_plan(used_up)),
        len(list(used_up)), warnings_of(lambda: collector.set_plan(7))]
""")
        self.assertEqual(facts[:2], [{"ttbar": 200, "wjets": 100}, {"ttbar": 5}])
        self.assertIn("the plan must be a list", facts[2][0])
        self.assertEqual(facts[3], 3)
        self.assertEqual(len(facts[4]), 1)

    def test_chunks_that_only_another_tool_saw_stand_in(self):
        facts = self.facts_of("""
with crema.MetricsCollector(backend="local") as collector:
    time.sleep(0.01)
chunks = [{"num_events": 5, "duration": 1.5, "bytes_read": 100, "dataset": name} for name in ("ttbar", "wjets") * 2]
collector.set_chunk_metrics(chunks + [{"error": "no such branch", "duration": 7.0, "dataset": "ttbar"}])
facts = [warnings_of(collector.get_metrics), collector.measurement.metrics, collector.measurement.datasets,
        len(collector.chunk_metrics)]
""")
        warnings_given, metrics, datasets, chunks = facts
        self.assertEqual(len(warnings_given), 1, warnings_given)
        self.assertIn("no chunk was recorded", warnings_given[0])
        self.assertEqual((metrics["num_chunks"], metrics["total_events"], metrics["busy_time"]), (4, 20, 6))
        self.assertEqual(
            {row["name"]: (row["events"], row["duration_sum"]) for row in datasets},
            {"ttbar": (10, 3), "wjets": (10, 3)},
        )
        self.assertEqual(chunks, 5)

    def test_an_exception_in_the_block_is_the_users(self):
        facts = self.facts_of("""
try:
    with crema.MetricsCollector(backend="local") as collector:
        Processor().process([0] * 10)
        raise KeyError("mine")
except KeyError as error:
    facts = [str(error), collector.get_metrics()["num_chunks"]]
""")
        self.assertEqual(facts, ["'mine'", 1])

    def test_a_backend_that_fails_is_one_warning_and_the_block_runs(self):
        for what in ("start", "stop"):
            facts = self.facts_of(f"""
crema.disable()
collector = crema.MetricsCollector(backend="local", output_dir="saved")
def fail():
    raise OSError("no scheduler")
collector.metrics_backend.{what} = fail
facts = []
def block():
    with collector:
        facts.append("ran")
facts += warnings_of(block)[:1]
try:
    facts.append(collector.get_metrics()["num_chunks"])
except RuntimeError as error:
    facts.append(str(error))
""")
            self.assertEqual(facts[0], "ran")
            self.assertIn(f"cannot {what} the measurement: no scheduler", facts[1])
            self.assertRegex(facts[2], "^crema: nothing was measured: (no scheduler|the records were not taken .*)$")

    def test_the_summary_is_the_programs(self):
        done = self.run_program(f'{RUN}\nrun(crema.MetricsCollector(backend="local")).print_summary()\n')
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("where the core-seconds went", done.stdout)
        self.assertRegex(done.stdout, r"crema show --table .*\n(.*\n)*.*save_measurement\(DIR\)\n$")

    def test_commands_in_the_summary_of_a_saved_measurement_name_its_folder(self):
        done = self.run_program(f"""{RUN}
collector = run(crema.MetricsCollector(backend="local", output_dir="a b"))
collector.print_summary()
""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"crema show 'a b/[-_0-9]+'")
        self.assertNotIn("save_measurement", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
