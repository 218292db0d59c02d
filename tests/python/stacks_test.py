"""The functions of a section, on each Python: where stacks begin and whose they are, and that nothing else changes.

Run by tools/test, outside Bazel.
"""

import json
import shutil
import subprocess
import unittest

import installed
from shares import SHARES


class StacksTest(installed.RecordedTest):
    python = "python3"

    def run_shares(self, **environment):
        return self.record(SHARES, python=self.python, **environment)

    def test_a_stack_begins_where_the_chunk_does_and_is_cut_on_the_outside(self):
        lines = self.run_shares(CREMA_STACKS="500")
        deep = []
        for line in installed.of_type(lines, "stacks"):
            names = [function[0] for function in line["functions"]]
            if line["section"] == "":
                deep += [[names[place] for place in stack[2:]] for stack in line["stacks"]]
        self.assertTrue(any(stack[0] == "(outer frames)" and stack[1] == "descend" for stack in deep), deep)
        self.assertLessEqual(max(map(len, deep)), 129)
        whole = [line for line in installed.of_type(lines, "stacks") if line["section"] == "select/a%2Fb"][0]
        first = {whole["functions"][stack[2]][0] for stack in whole["stacks"]}
        self.assertEqual(first, {"<module>"})

    def test_no_other_figure_changes_and_nothing_is_there_unless_it_is_asked_for(self):
        def totals(**switch):
            lines = self.run_shares(**switch)
            shutil.rmtree(self.records)
            self.assertEqual(bool(installed.of_type(lines, "stacks")), bool(switch))
            (chunk,) = installed.of_type(lines, "chunk")
            names = (
                "status",
                "dataset",
                "file",
                "entry_start",
                "entry_stop",
                "events",
                "metrics",
                "cuts",
                "attributes",
            )
            counts = [(row["path"], row["count"]) for row in chunk["sections"]]
            return [chunk[name] for name in names], counts

        self.assertEqual(totals(CREMA_STACKS="100"), totals())

    def test_a_rate_that_is_none_takes_no_stacks(self):
        text = """
import time
import crema_hep as crema
with crema.TrackMetrics("a"):
    until = time.thread_time() + 0.3
    while time.thread_time() < until:
        pass
"""
        for rate in ("100", "", "0", "-5", "many", "nan", "inf"):
            warning = f"crema: CREMA_STACKS={rate} makes no sense, and counts as not set\n"
            lines = self.record(text, errors="" if rate in ("100", "", "0") else warning, CREMA_STACKS=rate)
            shutil.rmtree(self.records)
            self.assertEqual(bool(installed.of_type(lines, "stacks")), rate == "100", rate)

    def test_forked_children_count_their_own_and_no_fork_warns(self):
        text = """
import os
import time
import crema_hep as crema

def burn():
    until = time.thread_time() + 0.5
    while time.thread_time() < until:
        pass

with crema.TrackMetrics("parent"), crema.track_section("outer"):
    burn()
    for _ in range(5):
        child = os.fork()
        if child == 0:
            break
        os.waitpid(child, 0)
    if child == 0:
        with crema.TrackMetrics("child"), crema.track_section("inner"):
            burn()
        crema.flush()
        os._exit(0)
    burn()
"""
        lines = self.record(text, python=self.python, CREMA_STACKS="200", PYTHONWARNINGS="default")
        places = {(line["dataset"], line["section"]) for line in installed.of_type(lines, "stacks")}
        in_sections = {place for place in places if place[1]}  # a guard's own code may be seen outside of them
        self.assertEqual(in_sections, {("parent", "outer"), ("child", "inner")})

    def test_children_of_multiprocessing_write_theirs_as_they_end(self):
        text = """
import multiprocessing
import time
import crema_hep as crema

def work(dataset):
    with crema.TrackMetrics(dataset):
        until = time.thread_time() + 0.5
        while time.thread_time() < until:
            pass

if __name__ == "__main__":
    for method in ("fork", "spawn"):
        child = multiprocessing.get_context(method).Process(target=work, args=(method,))
        child.start()
        child.join()
"""
        lines = self.record(text, python=self.python, CREMA_STACKS="200")
        datasets = {line["dataset"] for line in installed.of_type(lines, "stacks")}
        self.assertEqual(datasets, {"fork", "spawn"})

    def test_names_by_the_thousand_are_bounded(self):
        text = """
import crema_hep as crema
from crema_hep import stacks
counts = stacks._Counts()
for i in range(50_000):
    counts.add("a", (f"section {i}",), [compile(f"{i}", "a.py", "exec")], 1)
assert len(counts.stacks) == 2 * stacks.MOST_STACKS + 1, len(counts.stacks)
assert len(counts.codes) == stacks.MOST_STACKS
assert sum(row[0] for row in counts.stacks.values()) == 50_000
"""
        self.record(text, python=self.python)

    def test_no_garbage_is_collected_while_python_lists_its_threads(self):
        version = subprocess.run(
            [self.python, "-c", "import sys; print(sys.hexversion)"], capture_output=True, check=True
        )
        if int(version.stdout) >= 0x030C0000:
            self.skipTest("Python collects no garbage inside functions written in C")
        text = """
import gc
import sys
import threading
from crema_hep import stacks

inside, collections = False, 0
current_frames = sys._current_frames
main = threading.get_ident()
stop = threading.Event()

def compute():
    while not stop.is_set():
        sum(range(50))

def list_them():
    global inside
    inside = True
    frames = current_frames()
    inside = False
    return frames

def note(phase, info):
    global collections
    collections += inside and threading.get_ident() == main

threads = [threading.Thread(target=lambda: compute()) for _ in range(4)]
for thread in threads:
    thread.start()
sys._current_frames = list_them
gc.callbacks.append(note)
gc.set_threshold(1)
kept = []
for _ in range(1000):
    kept.append([])
    stacks._frames_of_threads()
stop.set()
assert collections == 0, collections
assert gc.isenabled()
"""
        self.record(text, python=self.python)

    def test_the_collector_shows_functions_by_section(self):
        self.run_shares(CREMA_STACKS="100")
        shown = [installed.PROGRAM, "show", self.records, "--json"]
        document = json.loads(subprocess.run(shown, capture_output=True, check=True).stdout)
        rows = [row for row in document["functions"] if row["section"] == "select/a%2Fb"]
        self.assertEqual(rows[0]["function"], "heavy")
        self.assertEqual({row["dataset"] for row in rows}, {"zjets"})
        self.assertAlmostEqual(sum(row["share"] for row in rows), 1)
        self.assertGreater(document["metrics"]["instrumentation_overhead"], 0)
        self.assertFalse(document["quality"]["warnings"])
        folded = subprocess.run(
            [installed.PROGRAM, "export", self.records, "--to", "folded", "-o", "-"], capture_output=True, check=True
        ).stdout.decode()
        self.assertRegex(folded, r"(?m)^chunks;select;a/b;heavy \d+$")


installed.add_versions(globals(), "Stacks", StacksTest)

if __name__ == "__main__":
    unittest.main()
