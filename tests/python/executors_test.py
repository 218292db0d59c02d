"""`MetricsCollector(executor)`: Coffea's own executors, as a user runs them."""

import json
import os
import shutil
import unittest

import installed

PROCESSOR = """
import awkward as ak
import crema_hep
from coffea.processor import ProcessorABC


class Jets(ProcessorABC):
    @crema_hep.track_metrics
    def process(self, events):
        with crema_hep.track_section(self, "select"):
            return {"jets": int(ak.sum(events.Jet.pt > 30)), "events": len(events)}

    def postprocess(self, accumulator):
        return accumulator
"""

RUN = """
import json, sys, warnings
import crema_hep
from coffea.nanoevents import NanoAODSchema
from coffea.processor import FuturesExecutor, IterativeExecutor, Runner
from processor import Jets

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    kind, path = sys.argv[1:]
    executor = IterativeExecutor(status=False) if kind == "iterative" else FuturesExecutor(workers=2, status=False)
    runner = Runner(executor, schema=NanoAODSchema, chunksize=25, savemetrics=True)
    with crema_hep.MetricsCollector(executor) as collector:
        output, report = runner({"ttbar": [path]}, processor_instance=Jets(), treename="Events")
        collector.set_coffea_report(report)
    measurement = collector.measurement
    print(json.dumps({
        "output": output["events"],
        "chunks": collector.get_metrics()["num_chunks"],
        "events": collector.get_metrics()["total_events"],
        "sections": sorted({row["path"] for row in measurement.document["sections"]}),
        "workers": [[row["chunks"], row["cores"]] for row in measurement.document["workers"]],
        "lost": measurement.quality["processes_lost"],
        "coverage": measurement.quality["event_coverage"],
    }))
"""

# The part of Coffea's class that a collector needs, for machines without the library of TaskVine.
VINE = """
import json, os, sys, types
import crema_hep

class Task:
    def __init__(self):
        self.variables = {}
    def set_env_var(self, name, value):
        self.variables[name] = value

class Manager:
    logging_directory = sys.argv[1]
    def __init__(self):
        self.submitted = []
    def submit(self, task):
        self.submitted.append(task)
        return len(self.submitted)

class TaskVineExecutor:
    custom_init = None

executor = TaskVineExecutor()
asked = []
executor.custom_init = own = lambda manager: asked.append(manager)
manager = Manager()
with crema_hep.MetricsCollector(executor, output_dir="saved") as collector:
    for phase in range(2):  # Coffea asks for each phase
        executor.custom_init(manager)
    assert manager.submit(Task()) == 1
assert executor.custom_init is own and asked == [manager, manager]
manager.submit(Task())  # of a later run, which nobody measures
print(json.dumps({"environments": [sorted(task.variables) for task in manager.submitted],
                  "directory": manager.submitted[0].variables["CREMA_DIR"],
                  "engine": collector.measurement.document["run"]["engine"]}))
"""


@unittest.skipUnless(os.access(installed.COFFEA_PYTHON, os.X_OK), "no Coffea: tools/setup coffea installs it")
class ExecutorsTest(installed.RecordedTest):
    def measure(self, kind):
        (self.folder / "processor.py").write_text(PROCESSOR)
        path = shutil.copy(installed.CHECKOUT / "tests/data/nanoAOD_2015_CMS_Open_Data_ttbar.root", self.folder)
        done = self.run_program(RUN, kind, path, python=installed.COFFEA_PYTHON)
        self.assertEqual(done.returncode, 0, done.stderr)
        measured = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual((measured["output"], measured["chunks"], measured["events"]), (200, 8, 200))
        self.assertIn("select", "".join(measured["sections"]))
        self.assertEqual((measured["lost"], measured["coverage"]), (0, 1))
        self.assertEqual(sum(chunks for chunks, _ in measured["workers"]), 8)
        return measured

    def test_iterative_is_one_worker_of_one_core(self):
        self.assertEqual(self.measure("iterative")["workers"], [[8, 1]])

    def test_processes_of_the_futures_pool_are_workers(self):
        workers = self.measure("futures")["workers"]
        self.assertIn(len(workers), (1, 2))  # one process of the pool may take all chunks
        self.assertEqual({cores for _, cores in workers}, {1})


class TaskVineTest(installed.RecordedTest):
    def test_tasks_are_told_where_to_record_and_the_managers_log_is_measured(self):
        sample = installed.CHECKOUT / "collector/engines/testdata/taskvine/vine-run-info/vine-logs"
        done = self.run_program(VINE, sample, CREMA_DIR="shared")
        self.assertEqual(done.returncode, 0, done.stderr)
        measured = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(measured["environments"], [["CREMA_DIR", "CREMA_INTERVAL"], []])
        self.assertEqual(measured["directory"], str(self.folder / "shared"))
        self.assertEqual(measured["engine"], "TaskVine")


if __name__ == "__main__":
    unittest.main()
