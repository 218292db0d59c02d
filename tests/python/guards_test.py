"""The guards of crema_hep in real processes, and the logs that they write.

Run by tools/test, outside Bazel, with each Python from 3.10 to 3.13 that the machine has.
"""

import json
import subprocess
import sys
import unittest

import installed
from installed import of_type, paths

EVERY_GUARD = """
import threading
import crema_hep as crema

with crema.TrackMetrics("ttbar", "events.root", 0, 1000, tree="Events", pass_="second") as chunk:
    with crema.track_section("select"):
        for _ in range(3):
            with crema.track_section(None, "größer/jets"):
                pass
        handle = chunk.handle()
    with crema.track_cpu_section("fill"), crema.track_memory(object(), "histograms"):
        pass
    with crema.track_time("load"):
        pass
    def help():
        with crema.track_helper(handle), crema.track_section("anti-kt"):
            crema.record_metric("jets", 5, "count")
    with crema.track_section("cluster"):
        handle = crema.current_chunk().handle()
        thread = threading.Thread(target=help)
        thread.start()
        thread.join()
    crema.record_metric("jets", 3, "count")
    crema.record_metric("weight", 0.5)
    crema.record_cut("all", 1000)
    crema.record_cut("two leptons", 250, 249.5)
    crema.record_cut("MET", 100, 99.5, parent="two leptons", seen=240, flow="signal")
    crema.record_activity("basket cache", 12, "count")
    crema.record_request("root://one", "read", 0.25, 40)
    crema.record_request("root://one", "read", 0.5, failed=True)
    crema.record_request("root://one", "read", float("nan"), 1)
    try:
        with crema.track_request("root://one", "open") as request:
            request.add_bytes(7)
            raise OSError
    except OSError:
        pass
    crema.digest_metric(("a", 1), 2, "bytes")
    with crema.meter("decompress"):
        pass
    with crema.meter("allocations", unit="count", func=iter([3, 10]).__next__):
        pass
    crema.add_bytes_read(100, 300)
    chunk.add_bytes_read(11, 22)
    chunk.add_columns(["Muon_pt", "Muon_eta", "Muon_pt"])
    chunk.set_file_info(branches=312, bytes=91234567)
    chunk.set_attribute("generator", "madgraph")
    crema.set_attribute("site", "here")
    chunk.set_events(1000)
with crema.span("postprocess"), crema.track_section("merge"):
    pass
print(threading.get_ident())
"""


class GuardsTest(installed.RecordedTest):
    python = sys.executable

    def record(self, text, *arguments, **named):
        named.setdefault("python", self.python)
        return super().record(text, *arguments, **named)

    def test_a_chunk_carries_everything_that_was_told(self):
        chunk = self.record_chunk(EVERY_GUARD)
        wanted = ["dataset", "file", "tree", "pass", "entry_start", "entry_stop", "events"]
        given = ["ttbar", "events.root", "Events", "second", 0, 1000, 1000]
        self.assertEqual([chunk[key] for key in wanted], given)
        read, opened = chunk["requests"]
        self.assertEqual(
            read,
            {
                "server": "root://one",
                "operation": "read",
                "count": 2,
                "bytes": 40,
                "total_ns": 750_000_000,
                "max_ns": 500_000_000,
                "errors": 1,
            },
        )
        self.assertEqual([opened[key] for key in ("operation", "count", "bytes", "errors")], ["open", 1, 7, 1])
        self.assertEqual((chunk["status"], chunk["bytes_read"], chunk["bytes_uncompressed"]), ("ok", 111, 322))
        self.assertEqual(chunk["columns"], ["Muon_pt", "Muon_eta"])
        self.assertEqual(chunk["attributes"], {"generator": "madgraph", "site": "here"})
        metrics = {(row["name"], row["unit"]): row["sum"] for row in chunk["metrics"]}
        self.assertEqual(metrics, {("jets", "count"): 8, ("weight", ""): 0.5})
        cuts = [(row["name"], row["events"], row["weights"]) for row in chunk["cuts"]]
        self.assertEqual(cuts, [("all", 1000, None), ("two leptons", 250, 249.5), ("MET", 100, 99.5)])
        with_input = {"seen": 240, "path": "two leptons/MET", "flow": "signal"}
        self.assertEqual({**chunk["cuts"][2], **with_input}, chunk["cuts"][2])
        activities = {(row["label"], row["unit"]): row["value"] for row in chunk["activities"]}
        self.assertGreater(activities.pop(("decompress", "seconds")), 0)
        counted = {("basket cache", "count"): 12, ('["a", 1]', "bytes"): 2, ("allocations", "count"): 7}
        self.assertEqual(activities, counted)
        self.assertEqual([row["path"] for row in chunk["memory_sections"]], ["fill/histograms"])
        (file,) = of_type(self.lines(), "file")
        self.assertEqual((file["branches"], file["bytes"], file["compressed_bytes"]), (312, 91234567, None))

    def test_sections_nest_and_their_times_add_up(self):
        chunk = self.record_chunk(EVERY_GUARD)
        self.assertEqual(paths(chunk), ["select", "select/größer%2Fjets", "fill", "load", "cluster", "cluster/anti-kt"])
        rows = {row["path"]: row for row in chunk["sections"]}
        self.assertEqual(rows["select/größer%2Fjets"]["count"], 3)
        self.assertIn("cpu_ns", rows["fill"])
        self.assertTrue(rows["cluster/anti-kt"]["helper"])
        inside = rows["select"]["total_ns"] - rows["select"]["self_ns"]
        self.assertEqual(inside, rows["select/größer%2Fjets"]["total_ns"])

    def test_spans_and_sections_outside_chunks_are_the_processs(self):
        lines = self.record(EVERY_GUARD)
        self.assertEqual([span["path"] for span in of_type(lines, "span")], ["postprocess"])
        (end,) = of_type(lines, "end")
        self.assertEqual(paths(end), ["merge"])

    def test_a_graph_of_work_to_come_is_no_chunk(self):
        lines = self.record(
            """if 1:
            import crema_hep as crema

            class Collection:  # as those of dask-awkward
                def __dask_graph__(self): raise AssertionError("computed")
                def __len__(self): raise AssertionError("computed")
                def __getattr__(self, name): raise AssertionError(name)

            @crema.track_metrics
            def process(events):
                with crema.track_section("select"):
                    return [events]

            assert type(process(Collection())[0]) is Collection
            assert process([1, 2]) == [[1, 2]]
            """
        )
        self.assertEqual([chunk["events"] for chunk in of_type(lines, "chunk")], [2])
        (end,) = of_type(lines, "end")
        self.assertEqual(paths(end), ["build graph", "build graph/select"])

    def test_the_thread_is_pythons_own_number_for_it(self):
        done = self.run_program(EVERY_GUARD, python=self.python, CREMA_DIR=str(self.records))
        (chunk,) = of_type(self.lines(), "chunk")
        self.assertEqual(chunk["thread"], int(done.stdout))

    def test_off_guards_do_nothing_and_print_nothing(self):
        done = self.run_program(EVERY_GUARD, python=self.python)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(list(self.folder.glob("**/*.jsonl")), [])

    def test_without_the_library_guards_do_nothing_and_warn_once(self):
        nowhere = str(self.folder / "libcrema.so.1")
        done = self.run_program(EVERY_GUARD, python=self.python, CREMA_LIBRARY=nowhere, CREMA_DIR=str(self.records))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("cannot be loaded"), 1, done.stderr)
        self.assertFalse(self.records.exists())

    def test_cuda_loads_the_library_beside_the_sdk_if_gpus_are_to_be_counted(self):
        (self.folder / "libcrema.so.1").symlink_to(installed.LIBRARY)
        beside = self.folder / "libcrema_gpu.so"
        beside.touch()
        program = "import os, crema_hep; print(os.environ.get('CUDA_INJECTION64_PATH'))"
        for asked, expected in [
            ({"CREMA_GPU": "1"}, str(beside)),
            ({"CREMA_GPU": "0"}, "None"),
            ({"CREMA_GPU": "1", "CUDA_INJECTION64_PATH": "/of/another"}, "/of/another"),
        ]:
            with self.subTest(asked=asked):
                library = str(self.folder / "libcrema.so.1")
                done = self.run_program(program, python=self.python, CREMA_LIBRARY=library, **asked)
                self.assertEqual((done.stdout.strip(), done.stderr), (expected, ""))

    def test_a_directory_that_cannot_be_written_costs_one_line(self):
        self.records.write_text("a file")
        done = self.run_program(EVERY_GUARD, python=self.python, CREMA_DIR=str(self.records))
        self.assertEqual((done.returncode, done.stderr.count("\n")), (0, 1), done.stderr)
        self.assertIn("cannot write record logs", done.stderr)

    def test_an_exception_fails_the_attempt_and_goes_on_unchanged(self):
        chunk = self.record_chunk("""
import crema_hep as crema

class Processor:
    @crema.track_metrics
    def process(self, events):
        with crema.track_section(self, "select"):
            raise error

error = KeyError("Muon_pt")
try:
    Processor().process([1, 2, 3])
except KeyError as caught:
    assert caught is error
else:
    raise SystemExit("no exception")
""")
        self.assertEqual((chunk["status"], chunk["error"]), ("failed", "KeyError: 'Muon_pt'"))
        self.assertEqual((chunk["events"], chunk["dataset"], chunk["file"]), (3, None, None))
        self.assertEqual(chunk["sections"][0]["failed"], 1)

    def test_strange_values_harm_nobody(self):
        chunk = self.record_chunk("""
import crema_hep as crema

class Strange:
    def __str__(self): raise RuntimeError("no text")
    def __len__(self): raise RuntimeError("no length")
    __hash__ = None
    @property
    def metadata(self): raise RuntimeError("no metadata")
    @property
    def attrs(self): raise RuntimeError("no attributes")

@crema.track_metrics
def process(events):
    with crema.track_section(events), crema.track_section("a\\0b"), crema.track_section("\\ud800"):
        crema.record_metric(events, events)
        crema.record_metric("nan", float("nan"))
        crema.record_metric("huge", 10**400)
        crema.record_cut("cut", None)
        crema.record_cut("cut", float("inf"))
        crema.record_activity(events, 1, events)
        crema.set_attribute(events, events)
        crema.add_bytes_read(float("nan"), 5)
        crema.add_bytes_read(1 << 80)
    chunk = crema.current_chunk()
    chunk.set_events("many")
    chunk.set_events(-3)
    chunk.set_events(1 << 70)
    chunk.add_bytes_read(None)
    chunk.add_columns(None)
    chunk.add_columns([events])
    chunk.set_file_info("x", None, 3.5)
    with crema.track_helper(None), crema.track_helper(chunk.handle()):
        pass
    with crema.track_bytes(events, "load"), crema.track_bytes(None, events, "load"):
        pass
    return 7

assert process(Strange()) == 7
""")
        self.assertEqual((chunk["status"], chunk["events"]), ("ok", None))
        self.assertEqual(paths(chunk), ["?", "?/a", "?/a/?"])
        self.assertEqual([row["name"] for row in chunk["metrics"]], ["nan"])
        self.assertEqual(chunk["cuts"], [])

    def test_what_is_no_number_keeps_no_data_alive(self):
        done = self.run_program("""
import gc, sys, weakref
import crema_hep as crema
class Data: pass
class Odd:
    def __float__(self, *more): raise ValueError("not one")
def process(value):
    data = Data()
    with crema.TrackMetrics("d", "f.root", 0, 1):
        crema.record_cut("all", 1000)
        crema.record_cut("all", value)
        crema.record_metric("jets", value)
    return weakref.ref(data)
gc.disable()
print([process(value)() for value in (None, "x", object(), Odd())])
""")
        self.assertEqual((done.returncode, done.stdout), (0, "[None, None, None, None]\n"), done.stderr)

    def test_a_context_of_ones_own_ends_its_section_whether_or_not_it_calls_the_base(self):
        chunk = self.record_chunk("""
import crema_hep as crema

class Silent(crema.BaseInstrumentationContext):
    def __init__(self, processor, name):
        self.name = name
    def __enter__(self):
        return self
    def __exit__(self, kind, error, trace):
        self.record_metric("silent", 3)
        assert self.recording and not self.failed

class Polite(crema.BaseInstrumentationContext):
    def __enter__(self):
        return super().__enter__()
    def __exit__(self, kind, error, trace):
        super().__exit__(kind, error, trace)
        self.record_metric("polite", self.elapsed(), "s")
        assert self.failed

with crema.TrackMetrics("ttbar"):
    with Silent(None, "silent"):
        with crema.BaseInstrumentationContext("plain"):
            pass
    try:
        with Polite(None, "polite"):
            raise ValueError
    except ValueError:
        pass
    with crema.track_section("after"):
        pass
""")
        self.assertEqual(paths(chunk), ["silent", "silent/plain", "polite", "after"])
        metrics = {(row["name"], row["unit"]) for row in chunk["metrics"]}
        self.assertEqual(metrics, {("silent", ""), ("polite", "s")})
        self.assertEqual([row.get("failed", 0) for row in chunk["sections"]], [0, 0, 1, 0])

    def test_native_sections_and_python_ones_nest_in_one_record(self):
        plugin = installed.CHECKOUT / "bazel-bin/sdk/c_api/recording_plugin.so"
        chunk = self.record_chunk(
            """
import ctypes, sys
import crema_hep as crema

with crema.TrackMetrics("ttbar", "events.root", 0, 10) as chunk:
    with crema.track_section("cluster"):
        ctypes.CDLL(sys.argv[1]).plugin_section(b"native")
""",
            plugin,
        )
        self.assertEqual(paths(chunk), ["cluster", "cluster/native"])
        self.assertEqual(len(of_type(self.lines(), "process")), 1)

    def test_sections_of_a_chunk_that_is_over_are_handed_out_once(self):
        done = self.run_program(
            """
import json
import crema_hep as crema
from crema_hep import library

def take(rows, section):
    total = section.contents
    rows.append([total.path.decode(), bool(total.is_helper), total.count, total.total_ns, total.self_ns])
    with crema.TrackMetrics("meanwhile"):
        crema.record_metric("size", total.size)

visit, visitor = library.functions["crema_visit_sections"], library.SectionVisitor(take)
with crema.TrackMetrics("ttbar"):
    with crema.track_section("größer"), crema.track_section("jets/b"):
        pass
    visit(visitor, early := [])
visit(visitor, rows := [])
visit(visitor, again := [])
print(json.dumps([early, rows, again]))
""",
            python=self.python,
            CREMA_DIR=str(self.records),
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        early, (whole, *rows), again = json.loads(done.stdout)
        # the last of the chunks that the visitor had itself
        self.assertEqual((early, [row[:3] for row in again]), ([], [["", False, 1]]))
        chunk = next(line for line in of_type(self.lines(), "chunk") if line["dataset"] == "ttbar")
        keys = ("path", "count", "total_ns", "self_ns")
        self.assertEqual(
            [[row[0], *row[2:]] for row in rows], [[section[key] for key in keys] for section in chunk["sections"]]
        )
        self.assertEqual(whole[:4], ["", False, 1, chunk["stop_ns"] - chunk["start_ns"]])
        self.assertEqual(whole[3], sum(row[4] for row in [whole, *rows]))

    def test_a_relative_directory_is_below_the_one_in_which_the_program_began(self):
        done = self.run_program(
            """
import os
import crema_hep as crema
from crema_hep.recorder import directory, named_directory
os.mkdir("scratch")
os.chdir("scratch")
with crema.TrackMetrics("ttbar"):
    pass
crema.enable()
assert directory() == named_directory() == os.path.abspath("../records"), directory()
""",
            CREMA_DIR="records",
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(of_type(self.lines(), "chunk")), 1)

    def test_threads_of_python_have_chunks_of_their_own(self):
        lines = self.record("""
import concurrent.futures
import crema_hep as crema

@crema.track_metrics
def process(events):
    for _ in range(50):
        with crema.track_section("a"), crema.track_section("b"):
            crema.record_metric("n", 1)

with concurrent.futures.ThreadPoolExecutor(4) as pool:
    list(pool.map(process, [[0] * i for i in range(40)]))
""")
        chunks = of_type(lines, "chunk")
        self.assertEqual(sorted(chunk["events"] for chunk in chunks), list(range(40)))
        for chunk in chunks:
            self.assertEqual([(row["path"], row["count"]) for row in chunk["sections"]], [("a", 50), ("a/b", 50)])
            self.assertEqual(chunk["metrics"][0]["sum"], 50)

    def test_a_forked_childs_chunks_are_its_own_and_the_parents_the_parents(self):
        lines = self.record("""
import os
import crema_hep as crema

with crema.TrackMetrics("parent"):
    with crema.track_section("outer"):
        child = os.fork()
        if child == 0:
            with crema.TrackMetrics("child"), crema.track_section("inner"):
                pass
if child != 0:
    assert os.waitpid(child, 0)[1] == 0
""")
        chunks = {chunk["dataset"]: chunk for chunk in of_type(lines, "chunk")}
        self.assertEqual((paths(chunks["parent"]), paths(chunks["child"])), (["outer"], ["inner"]))
        self.assertEqual(len(of_type(lines, "chunk")), 2)
        self.assertEqual([end["dropped"] for end in of_type(lines, "end")], [0, 0])

    def test_children_of_multiprocessing_end_their_logs(self):
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method):
                records = self.folder / method
                done = self.run_program(
                    """
import multiprocessing, sys
import crema_hep as crema

@crema.track_metrics
def process(events):
    return len(events)

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        assert sum(pool.map(process, [[0] * i for i in range(10)])) == 45
        pool.close()
        pool.join()
""",
                    method,
                    python=self.python,
                    CREMA_DIR=str(records),
                )
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.records = records
                self.assertEqual(len(of_type(self.lines(), "chunk")), 10)
                self.assertEqual(len(of_type(self.lines(), "end")), len(of_type(self.lines(), "process")))

    def test_what_users_hand_around_pickles(self):
        self.record("""
import pickle
import crema_hep as crema

class Processor:
    @crema.track_metrics
    def process(self, events):
        with crema.track_section(self, "select"):
            self.handle = crema.current_chunk().handle()
        return len(events)

processor = Processor()
assert processor.process([1]) == 1
assert pickle.loads(pickle.dumps(processor)).process([1, 2]) == 2
context = pickle.loads(pickle.dumps(crema.BaseInstrumentationContext(None, "name")))
assert context.name == "name"
try:
    with crema.TrackMetrics("ttbar") as chunk:
        pickle.dumps(chunk)
except TypeError as error:
    assert "belongs to its thread" in str(error)
else:
    raise SystemExit("an open chunk was pickled")
""")

    def test_a_queue_is_not_called_a_lock(self):
        text = """
import queue
import threading
import time
import crema_hep as crema

items = queue.Queue()

def feed():
    for item in range(15):
        time.sleep(0.1)
        items.put(item)

threading.Thread(target=feed).start()
with crema.TrackMetrics("ttbar"), crema.track_section("get"):
    for _ in range(15):
        items.get()
"""
        self.record(text, python=self.python, CREMA_WAITS="50")
        shown = [installed.PROGRAM, "show", self.records, "--json"]
        document = json.loads(subprocess.run(shown, capture_output=True, check=True).stdout)
        kinds = {row["kind"]: row["share"] for row in document["waits"] if row["section"] == "get"}
        self.assertGreater(kinds.get("lock or condition", 0), 0.5, document["waits"])
        self.assertFalse({"lock", "condition or queue"} & kinds.keys(), document["waits"])

    def test_a_sampler_runs_only_where_it_was_asked_for(self):
        program = "import crema_hep, os; print(len(os.listdir('/proc/self/task')))"
        for asked, threads in (({}, "1"), ({"CREMA_INTERVAL": "0.5"}, "2"), ({"CREMA_INTERVAL": "0"}, "1")):
            done = self.run_program(program, python=self.python, CREMA_DIR=str(self.records), **asked)
            self.assertEqual((done.stdout.strip(), done.stderr), (threads, ""), asked)


installed.add_versions(globals(), "Guards", GuardsTest)

if __name__ == "__main__":
    unittest.main(verbosity=2)
