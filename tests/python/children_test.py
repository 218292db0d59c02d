"""`MetricsCollector(backend="local")`: this process and its children, however they begin."""

import json
import sys
import unittest

import installed

POOLS = r"""
import concurrent.futures, multiprocessing, os, re, sys, warnings
import crema_hep as crema

def task(number):
    with crema.TrackMetrics("ttbar", "f.root", number * 10, number * 10 + 10, events=10):
        return number

def pool(how):
    return concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(how))

def measure(how, opened=None):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with crema.MetricsCollector(backend="local", track_workers=False) as collector:
            with opened or pool(how) as workers:
                assert sum(workers.map(task, range(20))) == 190
                messages = [str(warning.message) for warning in warned]
        messages = [str(warning.message) for warning in warned]
    metrics = collector.get_metrics()
    return metrics["num_chunks"], metrics["total_events"], messages

if __name__ == "__main__":
    how, when = sys.argv[1:]
    if when == "running":  # the server of forkserver began before the measurement
        with pool(how) as before:
            assert list(before.map(task, [1])) == [1]
    if when == "older":
        with pool(how) as before:
            assert list(before.map(task, range(10))) == list(range(10))
            chunks, events, (text,) = measure(how, before)
        assert not chunks, chunks
        assert re.match(r"crema: (one|\d+) child process(es)? that began before the measurement \(pid \d+", text), text
    else:
        assert measure(how) == (20, 200, []), measure(how)
    assert not [name for name in os.environ if name.startswith("CREMA_D")], os.environ
    assert "crema" not in multiprocessing.current_process()._config and not crema.enabled()
    with pool(how) as after:
        assert list(after.map(task, range(5))) == list(range(5))
    print("measured")
"""


class ChildrenTest(installed.RecordedTest):
    python = sys.executable

    def check(self, when):
        for how in ("fork", "spawn", "forkserver"):
            with self.subTest(how):
                done = self.run_program(POOLS, how, when, python=self.python)
                self.assertEqual((done.returncode, done.stdout), (0, "measured\n"), done.stderr)

    # Fault [processes]: the measured block has a pool of processes by fork, spawn or fork server
    # Program: nothing; afterwards its environment is as it was
    # Recorded: everything
    def test_children_of_every_start_method_are_measured(self):
        self.check("new")

    def test_a_measurement_inside_another_leaves_the_outer_ones_children_measured(self):
        done = self.run_program(
            POOLS.partition("if __name__")[0]
            + """
if __name__ == "__main__":
    with crema.MetricsCollector(backend="local", track_workers=False) as outer:
        assert measure("spawn") == (20, 200, [])
        with pool("spawn") as workers:
            assert list(workers.map(task, range(20, 25))) == list(range(20, 25))
    assert outer.get_metrics()["num_chunks"] == 25, outer.get_metrics()["num_chunks"]
    assert "CREMA_DIR" not in os.environ and "crema" not in multiprocessing.current_process()._config
""",
            python=self.python,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    # Fault [processes]: the fork server began before the measurement, so that it has another environment
    # Program: nothing
    # Recorded: everything
    def test_children_of_a_server_that_runs_already_are_measured(self):
        self.check("running")

    # Fault [processes]: a fork server imports crema for its children, as it does with a main module from Python 3.14 on
    # Program: nothing: the server has no thread of crema's, and nothing is printed as it outlives the measurement
    # Recorded: what the children did; the server has no log
    def test_a_server_that_imports_modules_for_its_children_records_nothing(self):
        begin = """
import concurrent.futures, json, multiprocessing, os, pathlib
import crema_hep as crema

def task(number):
    with crema.TrackMetrics("ttbar", "f.root", number, number + 1, events=1):
        return os.getpid(), os.getppid()

def run():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["crema_hep"])
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as workers:
        return list(workers.map(task, range(20)))
"""
        measured = (
            begin
            + """
if __name__ == "__main__":
    with crema.MetricsCollector(backend="local") as collector:
        pids = run()
    workers = [row["process"] for row in collector.measurement.workers]
    print(json.dumps([pids, collector.get_metrics()["num_chunks"], workers]))
"""
        )
        done = self.run_program(measured, python=self.python)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        pids, chunks, workers = json.loads(done.stdout)
        self.assertEqual(chunks, 20)
        (server,) = {parent for _, parent in pids}
        self.assertNotIn(str(server), [worker.rpartition(":")[2] for worker in workers])
        named = (
            begin
            + """
if __name__ == "__main__":
    print(json.dumps(run()))
"""
        )
        done = self.run_program(named, python=self.python, CREMA_DIR=str(self.records), CREMA_INTERVAL="0.1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        logged = {line["pid"] for line in self.lines() if line["type"] == "process"}
        pids = {pid for pid, _ in json.loads(done.stdout)}
        self.assertLessEqual(pids, logged)
        self.assertNotIn(json.loads(done.stdout)[0][1], logged)

    # Fault [processes]: the block uses a pool whose processes began before it
    # Program: one warning, with how many
    # Recorded: what the process itself did
    def test_children_that_are_older_than_the_measurement_are_told(self):
        self.check("older")


installed.add_versions(globals(), "Children", ChildrenTest)

if __name__ == "__main__":
    unittest.main(verbosity=2)
