"""Parsl's HighThroughputExecutor as a user runs it: a task that fails once, and one whose worker is killed."""

import json
import os
import unittest

import installed

PARSL_PYTHON = installed.CHECKOUT / ".cache/parsl/bin/python"
RUN = """
import json, sys
import crema_hep
import parsl
from parsl.config import Config
from parsl.executors import HighThroughputExecutor
from parsl.monitoring import MonitoringHub
from parsl.providers import LocalProvider

@parsl.python_app
def process(number, marks):
    import os, pathlib, signal, time
    import crema_hep

    is_first = not (mark := pathlib.Path(marks, str(number))).exists()
    mark.touch()
    with crema_hep.TrackMetrics("ttbar", f"f{number}.root", 0, 100) as chunk:
        if number == 3 and is_first:
            raise OSError("a block of it cannot be read")
        if number == 7 and is_first:
            # Parsl's workers share a queue of results: one that is killed while a thread of its own still has that
            # queue's lock, for the result before, keeps all others waiting for ever.
            time.sleep(1)
            os.kill(os.getpid(), signal.SIGKILL)
        chunk.set_events(100)
    return number

class ParslExecutor:  # what a collector needs of Coffea's
    config = None

if __name__ == "__main__":
    executor = HighThroughputExecutor(
        label="htex", address="127.0.0.1", max_workers_per_node=2, cores_per_worker=0.01,
        provider=LocalProvider(init_blocks=1, max_blocks=1), heartbeat_period=2,  # how often it looks for dead workers
    )
    hub = MonitoringHub(resource_monitoring_interval=0) if "monitored" in sys.argv else None
    config = Config(executors=[executor], retries=1, run_dir="runinfo", monitoring=hub, strategy="none")
    with parsl.load(config):
        with crema_hep.MetricsCollector(ParslExecutor()) as collector:
            futures = [process(number, sys.argv[1]) for number in range(20)]
            results = [future.result() for future in futures]
    print(json.dumps([results, collector.measurement.document]))
"""

# A worker's messages, without a worker: its tasks close what they find open, and open files of their own.
CLOSING = """
import os, sys
import crema_hep
from crema_hep import parsl_radio
from parsl.monitoring.message_type import MessageType

class Sender:
    def send(self, message): pass

def run_task(number):
    for kind in ("first_msg", "last_msg"):
        task = {"run_id": "run", "task_id": number, "try_id": 0, kind: True}
        parsl_radio._Sender(Sender(), "records").send((MessageType.WORKER_TASK_INFO, task))

with crema_hep.TrackMetrics("ttbar", "f.root", 0, 1):
    pass
run_task(0)
os.closerange(3, 256)
files = [os.open(f"result{number}", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600) for number in range(20)]
run_task(1)
number = parsl_radio._log._descriptor
assert number >= 768 and not os.get_inheritable(number), number
os.dup2(files[0], number)
run_task(2)
print([os.fstat(file).st_size for file in files])
"""


@unittest.skipUnless(os.access(PARSL_PYTHON, os.X_OK), "no Parsl: tools/setup engines installs it")
class ParslTest(installed.RecordedTest):
    def run_parsl(self, *arguments):
        marks = self.folder / "marks"
        marks.mkdir()
        path = f"{PARSL_PYTHON.parent}:{os.environ['PATH']}"  # Parsl starts programs of its own by their names
        done = self.run_program(RUN, marks, *arguments, python=PARSL_PYTHON, PATH=path)
        self.assertEqual(done.returncode, 0, done.stderr)
        results, document = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(results, list(range(20)))
        return document, done.stderr

    def test_each_chunk_is_in_its_task_and_tries_are_counted(self):
        document, _ = self.run_parsl("monitored")
        metrics = document["metrics"]
        self.assertEqual(metrics["num_chunks"], 20)
        self.assertEqual(metrics["total_events"], 2000)
        self.assertEqual((metrics["num_failed_attempts"], metrics["num_lost_attempts"]), (1, 1))
        self.assertEqual(metrics["task_join_coverage"], 1.0)
        self.assertEqual(document["quality"]["chunks_unjoined"], 0)
        # 20 tasks, and the one that failed; the task of the killed process has no end
        self.assertEqual(document["quality"]["tasks_read"], 21)
        (killed,) = [worker for worker in document["workers"] if worker["lost"]]
        self.assertEqual(killed["state"], "lost")
        for worker in document["workers"]:  # a process that was killed in its first task recorded no task
            if worker is not killed:
                self.assertRegex(worker["name"], "^block-0/.*/worker_[01]:")

    def test_without_monitoring_processes_stand_alone_and_the_remedy_is_said(self):
        document, printed = self.run_parsl()
        self.assertEqual(document["metrics"]["num_chunks"], 20)
        self.assertIn("MonitoringHub(resource_monitoring_interval=0)", printed)

    # Fault [library]: a task of Parsl closes all descriptors, and gets the number of the log of tasks
    # Program: nothing: no line lands in its own files
    # Recorded: the tasks until then
    def test_files_of_a_task_stay_what_they_are(self):
        done = self.run_program(CLOSING, python=PARSL_PYTHON, CREMA_DIR=str(self.records))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"{20 * [0]}\n", ""))
        tasks = installed.of_type(self.lines(), "task")
        self.assertEqual([task["key"] for task in tasks], ["run/0", "run/1"])


if __name__ == "__main__":
    unittest.main()
