"""What the decorator takes from the metadata of real NanoEvents: Coffea reads a CMS file with 947 branches.

Needs Coffea, which tools/setup puts into .cache/test.
"""

import json
import os
import unittest

import installed
from installed import of_type

NAME = "nanoAOD_2015_CMS_Open_Data_ttbar.root"
DATA = str(installed.CHECKOUT / "tests/data" / NAME)

RUN = """
import json, sys, warnings
warnings.filterwarnings("ignore", "(?!crema)")
import awkward as ak
from coffea.nanoevents import NanoAODSchema
from coffea.processor import IterativeExecutor, ProcessorABC, Runner
import crema_hep as crema

class Processor(ProcessorABC):
    @crema.track_metrics
    def process(self, events):
        with crema.track_section(self, "select"), crema.track_bytes(self, events, "load"):
            count = int(ak.sum(events.Jet.pt > 30))
        if FAIL and events.metadata["entrystart"] == 0:
            raise ValueError("no such jet")
        return {"jets": count, "events": len(events)}

    def postprocess(self, accumulator):
        return accumulator

runner = Runner(IterativeExecutor(status=False), schema=NanoAODSchema, chunksize=50, savemetrics=True)
with crema.MetricsCollector(backend="local") as collector:
    output, report = runner({"ttbar": [sys.argv[1]]}, processor_instance=Processor(), treename="Events")
    collector.set_coffea_report(report)
report["columns"] = sorted(report["columns"])
with open("result.json", "w") as file:  # Coffea prints progress bars
    json.dump({"output": output, "report": report, "metrics": collector.measurement.metrics}, file)
"""


SENT = """
import sys
import cloudpickle
import crema_hep as crema

class Processor:
    @crema.track_metrics
    def process(self, events):
        return len(events)

open(sys.argv[1], "wb").write(cloudpickle.dumps(Processor()))
"""

ARRIVED = """
import sys
import cloudpickle

print(cloudpickle.load(open(sys.argv[1], "rb")).process([1, 2, 3]))
"""

has_coffea = unittest.skipUnless(
    os.access(installed.COFFEA_PYTHON, os.X_OK), "no Coffea in .cache/coffea: tools/setup coffea"
)


@has_coffea
class CloudpickledTest(installed.RecordedTest):
    """A processor from the client's __main__, as Coffea's executors send it."""

    def send(self, **environment):
        path = self.folder / "processor.pickle"
        for program in (SENT, ARRIVED):
            done = self.run_program(program, path, python=installed.COFFEA_PYTHON, **environment)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            environment = {**environment, "CREMA_DIR": str(self.records)}
            environment.update(self.at_worker)
        return done.stdout

    def test_it_records_where_it_arrives(self):
        self.at_worker = {}
        self.assertEqual(self.send(), "3\n")
        self.assertEqual([chunk["events"] for chunk in of_type(self.lines(), "chunk")], [3])

    def test_it_runs_undecorated_where_the_package_is_not_installed(self):
        self.at_worker = {"PYTHONPATH": ""}
        self.assertEqual(self.send(), "3\n")
        self.assertFalse(self.records.exists())


@has_coffea
class NanoEventsTest(installed.RecordedTest):
    def result(self):
        return json.loads((self.folder / "result.json").read_text())

    def run_coffea(self, fail=False, expected=0, replacing=None, **environment):
        program = RUN.replace("FAIL", str(fail))
        for old, new in (replacing or {}).items():
            self.assertIn(old, program)
            program = program.replace(old, new)
        done = self.run_program(program, DATA, python=installed.COFFEA_PYTHON, **environment)
        self.assertEqual(done.returncode, expected, done.stderr[-3000:])
        return done

    def test_metadata_bytes_columns_and_file_facts(self):
        done = self.run_coffea(CREMA_DIR=str(self.records))
        self.assertNotIn("crema", done.stderr)
        result = self.result()
        chunks = of_type(self.lines(), "chunk")
        self.assertEqual(len(chunks), result["report"]["chunks"])
        self.assertEqual(
            {(chunk["dataset"], chunk["file"], chunk["tree"]) for chunk in chunks}, {("ttbar", DATA, "Events")}
        )
        ranges = sorted((chunk["entry_start"], chunk["entry_stop"]) for chunk in chunks)
        self.assertEqual(ranges, [(0, 50), (50, 100), (100, 150), (150, 200)])
        self.assertEqual(sum(chunk["events"] for chunk in chunks), result["report"]["entries"])
        branches = {column.rsplit("-", 1)[0] for column in result["report"]["columns"]}
        for chunk in chunks:
            self.assertEqual(set(chunk["columns"]), branches)
            self.assertEqual([row["path"] for row in chunk["sections"]], ["select"])
            loaded = [row["sum"] for row in chunk["metrics"] if row["name"] == "load.bytes_read"]
            self.assertEqual(loaded, [chunk["bytes_read"]])
        (file,) = of_type(self.lines(), "file")
        self.assertEqual((file["branches"], file["bytes"], file["compressed_bytes"]), (947, 62802, 36169))
        self.assertEqual(result["metrics"]["total_events"], result["report"]["entries"])
        self.assertEqual(result["metrics"]["total_bytes_read_coffea"], result["report"]["bytesread"])

    def test_results_are_the_same_without_the_decorator(self):
        self.run_coffea(CREMA_DIR=str(self.records))
        recorded = self.result()["output"]
        self.run_coffea(replacing={"crema.track_metrics": "lambda function: function"})
        self.assertEqual(self.result()["output"], recorded)

    def test_a_processor_that_raises_is_a_failed_attempt_and_coffeas_own_error(self):
        done = self.run_coffea(fail=True, expected=1, CREMA_DIR=str(self.records))
        self.assertIn("no such jet", done.stderr)
        failed = [chunk for chunk in of_type(self.lines(), "chunk") if chunk["status"] == "failed"]
        self.assertEqual({chunk["error"] for chunk in failed}, {"ValueError: no such jet"})
        self.assertEqual({chunk["entry_start"] for chunk in failed}, {0})


if __name__ == "__main__":
    unittest.main(verbosity=2)
