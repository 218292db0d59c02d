"""The functions of a section: shares of known work, on each Python, and that nothing else changes.

Run by tools/test, outside Bazel.
"""

import json
import math
import shutil
import subprocess
import unittest

import installed

SHARES = """
import sys
import time
import crema_hep as crema

source = "def {name}(n):\\n    x = 0.0\\n    for i in range(n):\\n        x += i * 0.5\\n    return x\\n"
for name in ("heavy", "light"):
    exec(compile(source.format(name=name), name + ".py", "exec"))

def repeat(times):
    for _ in range(times):
        heavy(7000)
        light(3000)

def work(seconds):
    # No system call between: on full cores, the kernel takes the CPU away at such calls more often than elsewhere.
    begin = time.thread_time()
    repeat(100)
    repeat(round(100 * seconds / (time.thread_time() - begin)) - 100)

def descend(levels, seconds):
    if levels:
        descend(levels - 1, seconds)
    else:
        work(seconds)

with crema.TrackMetrics("zjets", "events.root", 0, 10) as chunk:
    with crema.track_section("select"), crema.track_section("a/b"):
        work(2)
    descend(200, 0.2)
    with crema.track_section("waits"):
        time.sleep(1)
    chunk.set_events(10)
"""


def counted(lines) -> dict:
    """[samples, squares] by section and innermost function."""
    found = {}
    for line in installed.of_type(lines, "stacks"):
        for samples, squares, *functions in line["stacks"]:
            row = found.setdefault((line["section"], line["functions"][functions[-1]][0]), [0, 0])
            row[0] += samples
            row[1] += squares
    return found


class StacksTest(installed.RecordedTest):
    python = "python3"

    def run_shares(self, **environment):
        return self.record(SHARES, python=self.python, **environment)

    def test_shares_are_those_of_the_cpu_time(self):
        lines = self.run_shares(CREMA_STACKS="100")
        (end,) = installed.of_type(lines, "end")
        self.assertEqual((end["dropped"], end["open"]), (0, 0))
        rows = {name: row for (section, name), row in counted(lines).items() if section == "select/a%2Fb"}
        total, squares = (sum(row[place] for row in rows.values()) for place in (0, 1))
        sightings = total * total / squares
        self.assertGreater(sightings, 30)
        between = rows["heavy"][0] + rows["light"][0]
        share = rows["heavy"][0] / between
        # Five standard deviations: the machine may be busy, and a test that fails by chance is useless.
        self.assertLess(abs(share - 0.7), 5 * math.sqrt(0.7 * 0.3 / sightings), rows)
        self.assertGreater(between / total, 0.8, rows)
        for line in installed.of_type(lines, "stacks"):
            self.assertEqual((line["dataset"], line["hertz"]), ("zjets", 100))
            for name, file, number in line["functions"]:
                if name in ("heavy", "light"):
                    self.assertEqual((file, number), (name + ".py", 1))

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
        for rate in ("", "0", "-5", "many", "nan", "inf"):
            lines = self.record(
                "import crema_hep as crema\nwith crema.TrackMetrics('a'):\n    pass\n", CREMA_STACKS=rate
            )
            shutil.rmtree(self.records)
            self.assertEqual(installed.of_type(lines, "stacks"), [])

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

    def test_the_collector_tells_functions_by_section(self):
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
