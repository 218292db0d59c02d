"""Measured blocks: passes, failures, which records belong to them, and tables of many chunks."""

import json
import os
import subprocess
import sys
import unittest

import installed

EVENTS = """
import json, sys, time, warnings
import crema_hep as crema

class Events(list):
    def __init__(self, first, last):
        super().__init__(range(first, last))
        self.metadata = dict(dataset="ttbar", filename="f.root", treename="Events", entrystart=first, entrystop=last)

def counts(block):
    with crema.MetricsCollector(backend="local") as collector:
        block()
    metrics = collector.get_metrics()
    return [metrics[name] for name in ("num_chunks", "num_attempts", "total_events", "num_recomputed_chunks")]

pieces = [Events(first, first + 10) for first in range(0, 100, 10)]
"""


class PassesTest(installed.RecordedTest):
    def facts_of(self, text):
        done = self.run_program(f"{EVENTS}\n{text}\nprint(json.dumps(facts))\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_two_functions_over_the_same_chunks_are_two_passes(self):
        facts = self.facts_of("""
class Weights:
    @crema.track_metrics
    def process(self, events): return 1
class Base:
    @crema.track_metrics
    def process(self, events): return 2
class Nominal(Base): pass
class Shifted(Base): pass
@crema.track_metrics
def plain(events): return 3
facts = counts(lambda: [f(p) for f in (Weights().process, Nominal().process, Shifted().process, plain) for p in pieces])
""")
        self.assertEqual(facts, [40, 40, 400, 0])

    def test_one_function_twice_is_a_repeat_unless_its_author_says_otherwise(self):
        facts = self.facts_of("""
class Weights:
    @crema.track_metrics
    def process(self, events): return 1
def in_spans():
    for name in ("nominal", "shifted"):
        with crema.span(name):
            for piece in pieces: Weights().process(piece)
def named(events): return 1
first, second = crema.track_metrics(pass_="first")(named), crema.track_metrics(pass_="second")(named)
facts = [counts(lambda: [Weights().process(piece) for _ in range(2) for piece in pieces]), counts(in_spans)]
facts += [counts(lambda: [function(piece) for function in (first, second) for piece in pieces])]
""")
        self.assertEqual(facts, [[10, 20, 100, 10], [20, 20, 200, 0], [20, 20, 200, 0]])

    def test_functions_of_one_name_in_two_modules_are_two_passes(self):
        facts = self.facts_of("""
import types
def processor_of(module):
    names = {"__name__": module, "crema": crema}
    exec("class Processor:\\n    @crema.track_metrics\\n    def process(self, events): return 1", names)
    return names["Processor"]()
first, second = processor_of("workflow_a"), processor_of("workflow_b")
facts = counts(lambda: [processor.process(piece) for processor in (first, second) for piece in pieces])
""")
        self.assertEqual(facts, [20, 20, 200, 0])

    def test_an_attempt_that_is_tried_again_is_one_chunk(self):
        facts = self.facts_of("""
tried = set()
@crema.track_metrics
def flaky(events):
    if events[0] not in tried:
        tried.add(events[0])
        raise OSError("not yet")
def block():
    for piece in pieces:
        try: flaky(piece)
        except OSError: flaky(piece)
facts = counts(block)
""")
        self.assertEqual(facts, [10, 20, 100, 0])

    def test_a_method_that_calls_the_one_it_overrides_is_one_chunk(self):
        facts = self.facts_of("""
class Base:
    @crema.track_metrics
    def process(self, events): return 1
class Derived(Base):
    @crema.track_metrics
    def process(self, events): return super().process(events)
facts = counts(lambda: [Derived().process(piece) for piece in pieces])
""")
        self.assertEqual(facts, [10, 10, 100, 0])

    def test_a_pass_that_is_named_is_one_inside_another_function_too(self):
        facts = self.facts_of("""
@crema.track_metrics(pass_="inner")
def inner(events): return 1
@crema.track_metrics
def outer(events): return inner(events)
facts = counts(lambda: [outer(piece) for piece in pieces])
""")
        self.assertEqual(facts, [20, 20, 200, 0])

    def test_a_span_inside_a_chunk_is_in_no_pass_of_another_thread(self):
        facts = self.facts_of("""
import threading
is_open, may_close = threading.Event(), threading.Event()
@crema.track_metrics
def other(events): return 1
def slow():
    with crema.TrackMetrics("d", "g.root", 0, 1, events=0), crema.span("select"):
        is_open.set()
        may_close.wait(60)
def block():
    thread = threading.Thread(target=slow)
    thread.start()
    is_open.wait(60)
    other(pieces[0])
    may_close.set()
    thread.join()
    other(pieces[0])
facts = counts(block)
""")
        self.assertEqual(facts, [2, 3, 10, 1])

    def test_spans_of_many_threads_close_their_own(self):
        facts = self.facts_of("""
import threading
sys.setswitchinterval(1e-6)
def spans():
    for _ in range(3000):
        with crema.span("x"):
            pass
threads = [threading.Thread(target=spans) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
from crema_hep import passes
facts = len(passes.open_spans)
""")
        self.assertEqual(facts, 0)


class FailedBlockTest(installed.RecordedTest):
    BLOCK = """
import json
import crema_hep as crema
facts = []
errors = [None, MemoryError("the\\0analysis \\ud800 died\\nhere"), KeyboardInterrupt(), SystemExit(3)]
for run, error in enumerate([*errors, SystemExit(0), RuntimeError("x" * 5000)]):
    try:
        with crema.MetricsCollector(backend="local", name="mine") as collector:
            with crema.TrackMetrics("d", "f", run, run + 1, events=1):
                pass
            if error is not None:
                raise error
    except BaseException as raised:
        assert raised is error
    run_of = collector.measurement.run
    facts.append([run_of["state"], run_of["exit_status"], (run_of["error"] or "")[:40], collector.measurement.headline])
    collector.save_measurement("history", f"run{run}")
assert run_of["name"] == "mine"
print(json.dumps(facts))
"""

    def test_the_last_line_of_a_failed_block_shows_where_its_measurement_is(self):
        done = self.run_program("""
import crema_hep as crema
with crema.MetricsCollector(backend="local", output_dir="of it"):
    raise KeyError("Jet_pt")
""")
        self.assertNotEqual(done.returncode, 0)
        (path,) = (self.folder / "of it").iterdir()
        self.assertIn(f"the block failed; crema show '{path.relative_to(self.folder)}' shows", done.stderr)

    def test_a_block_that_leaves_the_program_without_an_error_has_not_failed(self):
        done = self.run_program("""
import sys
import crema_hep as crema
with crema.MetricsCollector(backend="local", output_dir="of it"):
    sys.exit()
""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len([*(self.folder / "of it").iterdir()]), 1)

    def test_a_block_that_an_exception_leaves_failed(self):
        done = self.run_program(self.BLOCK)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        facts = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(
            [row[:3] for row in facts],
            [
                ["finished", None, ""],
                ["failed", 1, "MemoryError: the analysis ? died here"],
                ["failed", 130, "KeyboardInterrupt"],
                ["failed", 3, "SystemExit: 3"],
                ["finished", 0, ""],
                ["failed", 1, "RuntimeError: " + 26 * "x"],
            ],
        )
        self.assertTrue(facts[1][3].startswith("The run failed with MemoryError: the analysis"), facts[1])
        command = [installed.PROGRAM, "history", "history", "--json"]
        history = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        left_out = json.loads(history.stdout)["left_out"]
        self.assertEqual(len(left_out), 4, left_out)
        self.assertTrue(all(run["reason"].startswith("it failed with ") for run in left_out), left_out)

    def test_what_a_framework_wrapped_stands_first(self):
        done = self.run_program("""
import concurrent.futures, json
import crema_hep as crema
def process(item):
    try:
        raise KeyError("Jet_pt")
    except KeyError as error:
        raise RuntimeError("Failed processing file: WorkItem(" + item * 500 + ")") from error
def in_this_process():
    process("x")
def in_a_pool():
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        pool.submit(process, "x").result()
def in_a_circle():
    error = RuntimeError("round")
    error.__cause__ = error
    raise error
facts = []
for run in (in_this_process, in_a_pool, in_a_circle):
    try:
        with crema.MetricsCollector(backend="local") as collector:
            with crema.TrackMetrics("d", "f", 0, 1, events=1):
                pass
            run()
    except RuntimeError:
        pass
    facts.append(collector.measurement.run["error"])
print(json.dumps(facts))
""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        here, pool, circle = json.loads(done.stdout.splitlines()[-1])
        wrapped = "KeyError: 'Jet_pt' (RuntimeError: Failed processing file: WorkItem(xxxx"
        self.assertEqual((here[: len(wrapped)], pool[: len(wrapped)]), (wrapped, wrapped))
        self.assertEqual(circle, "RuntimeError: round")


class FailedStartTest(installed.RecordedTest):
    BEGIN = """
import os, pathlib, signal, sys, types
import crema_hep as crema
from crema_hep import recorder

class Timeout(Exception):
    pass

def handler(*_):
    raise Timeout

signal.signal(signal.SIGALRM, handler)

def is_as_before():
    return not crema.enabled() and "CREMA_DIR" not in os.environ and not recorder._values_before
"""

    def run_block(self, text):
        done = self.run_program(self.BEGIN + text)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    # Fault [processes]: Parsl is monitored, and a part of it that crema needs is missing
    # Program: one warning; afterwards its environment is as it was
    # Recorded: nothing; `get_metrics()` says why
    def test_a_start_that_fails_leaves_nothing_on(self):
        printed = self.run_block("""
class ParslExecutor:
    pass

hub = types.SimpleNamespace(resource_monitoring_enabled=True)
sys.modules["parsl"] = types.ModuleType("parsl")
sys.modules["parsl"].dfk = lambda: types.SimpleNamespace(monitoring=hub, executors={})
sys.modules["parsl.monitoring"] = None
with crema.MetricsCollector(ParslExecutor()) as collector:
    assert is_as_before()
assert is_as_before()
try:
    collector.get_metrics()
except RuntimeError as error:
    print(error, file=sys.stderr)
""")
        self.assertIn("crema: cannot start the measurement: ", printed)
        self.assertIn("crema: nothing was measured: ", printed)

    # Fault [exceptions]: a timeout strikes as a collector's block begins or ends
    # Program: nothing; the exception arrives, and its environment is as before
    # Recorded: what came before
    def test_a_timeout_as_a_block_begins_or_ends_leaves_nothing_on(self):
        printed = self.run_block("""
class Odd(Exception):
    def __str__(self):
        signal.raise_signal(signal.SIGALRM)
        return "odd"

flush = recorder.flush

def strike():
    recorder.flush = flush
    signal.raise_signal(signal.SIGALRM)

for where in (strike, flush):
    recorder.flush = where
    arrived = False
    try:
        with crema.MetricsCollector(backend="local"):
            assert where is flush and not is_as_before()
            raise Odd
    except Timeout:
        arrived = True
    assert arrived and is_as_before()
""")
        self.assertEqual(printed, "")

    def test_a_log_that_goes_as_a_block_begins_is_left_out(self):
        printed = self.run_block("""
place = pathlib.Path("records")
place.mkdir()
(place / "host-1-1-0.jsonl").symlink_to("gone")
recorder.enable(place)
recorder.disable()
with crema.MetricsCollector(backend="local") as collector:
    with crema.TrackMetrics("ttbar", "f.root", 0, 10, events=10):
        pass
assert is_as_before() and collector.get_metrics()["num_chunks"] == 1
""")
        self.assertEqual(printed, "")


class PoolsTest(installed.RecordedTest):
    def test_a_pool_that_python_ends_by_a_signal_is_no_loss(self):
        done = self.run_program("""
import json, multiprocessing, os, time
import crema_hep as crema
def work(number):
    with crema.TrackMetrics("d", "f", number, number + 1, events=1):
        return os.getpid()
if __name__ == "__main__":
    with crema.MetricsCollector(backend="local") as collector:
        with multiprocessing.Pool(2) as pool:
            pool.map(work, range(20))
        pid = os.fork()
        if pid == 0:
            work(20)
            os._exit(0)
        os.waitpid(pid, 0)
        time.sleep(1.2)
        work(21)
    facts = collector.measurement
    states = [row["state"] for row in facts.workers]
    print(json.dumps([states, facts.quality["processes_lost"], facts.run["state"], facts.document["trouble"]["state"],
                      facts.metrics["num_chunks"], [verdict["id"] for verdict in facts.verdicts]]))
""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        states, lost, state, trouble, chunks, verdicts = json.loads(done.stdout)
        self.assertIn("unreported", states)
        self.assertEqual((lost, state, trouble, chunks), (0, "finished", "finished", 22))
        self.assertNotIn("worker-loss", verdicts)

    def test_a_child_that_dies_in_a_chunk_is_lost(self):
        done = self.run_program("""
import json, os, signal
import crema_hep as crema
with crema.MetricsCollector(backend="local") as collector:
    for number in range(2):
        pid = os.fork()
        if pid == 0:
            with crema.TrackMetrics("d", "f", 2 * number, 2 * number + 1, events=1):
                pass
            with crema.TrackMetrics("d", "f", 2 * number + 1, 2 * number + 2, events=1):
                os.kill(os.getpid(), signal.SIGKILL) if number == 1 else None
            os._exit(0)
        os.waitpid(pid, 0)
print(json.dumps([sorted(row["state"] for row in collector.measurement.workers),
                  collector.measurement.quality["processes_lost"]]))
""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout), [["lost", "unreported"], 1])


class BlocksTest(installed.RecordedTest):
    def test_a_collector_shows_its_last_block(self):
        done = self.run_program("""
import crema_hep as crema
collector = crema.MetricsCollector(backend="local")
for chunks in (3, 2):
    with collector:
        for number in range(chunks):
            with crema.TrackMetrics("d", "f", number, number + 1, events=1): pass
    collector.set_coffea_report({"entries": chunks, "chunks": chunks, "processtime": 1, "bytesread": 1, "columns": []})
    metrics = collector.get_metrics()
    print(metrics["num_chunks"], metrics["total_events"], collector.measurement.quality["event_coverage"])
""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.split("\n")[:2], ["3 3 1.0", "2 2 1.0"])

    def test_what_is_no_report_of_coffea_is_left_out_with_a_warning(self):
        done = self.run_program("""
import crema_hep as crema
collector = crema.MetricsCollector(backend="local")
with collector:
    with crema.TrackMetrics("d", "f", 0, 1, events=1): pass
for wrong in ({"ttbar": {"entries": 1}}, ({"ttbar": 1}, {"entries": 1}), 7):
    collector.set_coffea_report(wrong)
    print(collector.get_metrics()["num_chunks"])
""")
        self.assertEqual((done.returncode, done.stdout), (0, "1\n1\n1\n"))
        self.assertEqual(done.stderr.count("give it the second value of `output, report"), 3)


class SharedDirectoryTest(installed.RecordedTest):
    KERNEL = '''
import multiprocessing, subprocess, sys, time
import crema_hep as crema
CHILD = """
import sys, crema_hep as crema
first = int(sys.argv[1])
with crema.TrackMetrics("ttbar", "f.root", first, first + 10, events=10):
    pass
"""
def chunk(number):
    with crema.TrackMetrics("ttbar", "f.root", number * 10, number * 10 + 10, events=10):
        time.sleep(0.02)
if __name__ == "__main__":
    first = int(sys.argv[1]) * 1000
    with crema.MetricsCollector(backend="local") as collector:
        for number in range(30):
            chunk(first + number)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            pool.map(chunk, range(first + 30, first + 40))
            pool.close()
            pool.join()
        subprocess.run([sys.executable, "-c", CHILD, f"{first + 40}0"], check=True)
        time.sleep(1)
    metrics = collector.get_metrics()
    print(metrics["num_chunks"], metrics["total_events"])
'''

    def test_two_programs_with_one_directory_each_measure_their_own(self):
        script = self.folder / "kernel.py"
        script.write_text(self.KERNEL)
        environment = self.environment(CREMA_DIR=str(self.records))
        command, pipe = [sys.executable, script], subprocess.PIPE
        running = [
            subprocess.Popen([*command, str(number)], env=environment, stdout=pipe, stderr=pipe, text=True)
            for number in range(2)
        ]
        printed = [process.communicate(timeout=120) for process in running]
        self.assertEqual([out for out, _ in printed], ["41 410\n", "41 410\n"])
        self.assertTrue(any("are not measured" in errors for _, errors in printed), printed)  # both, but for the first


class TablesTest(installed.RecordedTest):
    python = os.environ.get("CREMA_TEST_PANDAS_PYTHON") or str(installed.COFFEA_PYTHON)

    def setUp(self):
        super().setUp()
        probe = [self.python, "-c", "import pandas, pyarrow"]
        if not os.access(self.python, os.X_OK) or subprocess.run(probe, capture_output=True, check=False).returncode:
            self.skipTest("no pandas and pyarrow in .cache/coffea: tools/setup coffea installs them")

    def test_a_table_of_chunks_takes_little_more_than_the_finished_one(self):
        done = self.run_program(
            """
import gc, tracemalloc
import crema_hep as crema
import pandas, pyarrow.parquet
crema.enable("records")
for number in range(20_000):
    with crema.TrackMetrics(f"d{number % 5}", f"f{number // 1000}", number, number + 1, events=1):
        pass
crema.flush()
measurement = crema.load("records")
pandas.DataFrame({"a": [1]})
tracemalloc.start()
frame = measurement.table("chunks")
gc.collect()
finished, peak = tracemalloc.get_traced_memory()
tracemalloc.stop()
rows = measurement.chunks
assert list(frame.columns) == list(rows[0]), frame.columns
assert len(frame) == len(rows) == 20_000
assert (peak - finished) / len(frame) < 200, (peak - finished) / len(frame)
for name in ("start_ns", "duration", "events", "dataset", "bytes_read", "thread"):
    values = [None if pandas.isna(value) else value for value in frame[name]]
    assert values == [row[name] for row in rows], name
measurement.to_parquet("chunks.parquet")
again = pyarrow.parquet.read_table("chunks.parquet")
assert again.num_rows == 20_000 and again["start_ns"].to_pylist() == [row["start_ns"] for row in rows]
assert measurement.arrow("budget").num_rows == len(measurement.budget)
""",
            python=self.python,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class DamagedTest(installed.RecordedTest):
    def test_a_damaged_measurement_is_one_line_or_has_empty_parts(self):
        done = self.run_program("""
import json, pathlib, shutil
import crema_hep as crema
with crema.MetricsCollector(backend="local", output_dir="out") as collector:
    with crema.TrackMetrics("d", "f", 0, 1, events=1):
        pass
(saved,) = pathlib.Path("out").iterdir()
document = json.loads((saved / "measurement.json").read_text())
views = ("definitions", "quality", "timelines", "chunk_metrics", "span_metrics", "tracking_data", "headline")
facts = set()
for key in document:
    for value in (None, 5, "x", [5]):
        (saved / "measurement.json").write_text(json.dumps({**document, key: value}))
        for view in views:
            try:
                getattr(crema.load(saved), view)
            except RuntimeError as error:
                assert "\\n" not in str(error), error
                facts.add(view)

def places(value, path=()):
    # where there are values; of lists, the first place
    inner = value.items() if isinstance(value, dict) else list(enumerate(value))[:1] if isinstance(value, list) else ()
    for name, below in inner:
        yield (*path, name)
        yield from places(below, (*path, name))

document["fine"] = [{"context": "execute", "function": "f", "activity": "a", "unit": "seconds", "value": 1.5}]
refused = 0
for path in places({part: document[part] for part in ("run", "timelines", "fine")}):
    *above, name = path
    for value in (5, "x", None, [5], {"x": 5}, 1e300, -1):
        damaged = json.loads(json.dumps(document))
        holder = damaged
        for part in above:
            holder = holder[part]
        holder[name] = value
        (saved / "measurement.json").write_text(json.dumps(damaged))
        try:
            measurement = crema.load(saved)
        except RuntimeError:
            refused += 1
            continue
        measurement.span_metrics, measurement.tracking_data, repr(measurement), crema.load_measurement(saved)
assert refused > 50, refused
(saved / "measurement.json").write_text("[" * 100_000)
try:
    crema.load(saved)
except RuntimeError as error:
    assert "measurement.json" in str(error)
else:
    raise AssertionError("a deep document was taken")
print(len(facts))
""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "7\n", "a part of a wrong kind is refused as the document is loaded")


class WarningsTest(installed.RecordedTest):
    def test_a_warning_points_at_the_users_line(self):
        done = self.run_program("""
import warnings
import crema_hep as crema
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    collector = crema.MetricsCollector(backend="local")
    with collector:
        with crema.TrackMetrics("d", "f", 0, 1, events=1):
            pass
    collector.set_chunk_metrics([{"num_events": 5}, {"num_events": 5}])
    collector.get_metrics()  # here
    @crema.track_metrics  # and here
    class NoFunction: pass
print([(warning.filename == __file__, warning.lineno) for warning in caught])
lines = open(__file__).read().splitlines()
print([n for n, line in enumerate(lines, 1) if line.endswith("here")])
""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        where, lines = map(eval, done.stdout.splitlines())
        self.assertEqual([is_users for is_users, _ in where], [True] * 3)
        self.assertEqual({line for _, line in where}, set(lines))


if __name__ == "__main__":
    unittest.main(verbosity=2)
