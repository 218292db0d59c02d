"""Runs again what failed, and nothing else: 3 of 30 files are damaged, then mended, and processed as the export
says."""

import json
import os
import unittest

import installed

MAKE = """
import sys, numpy, uproot

for number, path in enumerate(sys.argv[1:]):
    with uproot.recreate(path) as file:
        file.mktree("Events", {"pt": "float64"}).extend({"pt": numpy.arange(200.0) + number})
"""
RUN = """
import json, sys, warnings
import awkward as ak
import crema_hep
from coffea.nanoevents import BaseSchema
from coffea.processor import IterativeExecutor, ProcessorABC, Runner

class Jets(ProcessorABC):
    @crema_hep.track_metrics
    def process(self, events):
        meta = events.metadata
        if len(sys.argv) > 2 and meta["filename"].endswith("f7.root") and meta["entrystart"] == 100:
            raise OSError("a block of it cannot be read")
        return {"pt": float(ak.sum(events.pt)), "events": len(events)}

    def postprocess(self, accumulator):
        return accumulator

warnings.simplefilter("ignore")
runner = Runner(IterativeExecutor(status=False), schema=BaseSchema, chunksize=100, skipbadfiles=True)
if sys.argv[1] == "again":
    items = crema_hep.work_items("again.json", treename="Events")
    print(json.dumps([len(items), runner(items, processor_instance=Jets())]))
else:
    fileset = json.load(open(sys.argv[1]))
    print(json.dumps([0, runner(fileset, processor_instance=Jets(), treename="Events")]))
"""


@unittest.skipUnless(os.access(installed.COFFEA_PYTHON, os.X_OK), "no Coffea: tools/setup coffea installs it")
class FailedAgainTest(installed.RecordedTest):
    def coffea(self, *arguments, records):
        done = self.run_program(
            RUN, *arguments, python=installed.COFFEA_PYTHON, CREMA_DIR=str(records), CREMA_INTERVAL="0"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def crema(self, *arguments):
        done = self.run_program(
            "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)", installed.PROGRAM, *arguments
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_only_what_has_no_result_runs_again_and_all_events_are_there_once(self):
        files = [self.folder / f"f{number}.root" for number in range(30)]
        made = self.run_program(MAKE, *files, python=installed.COFFEA_PYTHON)
        self.assertEqual(made.returncode, 0, made.stderr)
        (self.folder / "fileset.json").write_text(
            json.dumps(
                {"a": list(map(str, files[:15])), "b": {"treename": "Events", "files": list(map(str, files[15:]))}}
            )
        )
        for number in (3, 20):  # these cannot be opened, so no guard begins
            files[number].rename(files[number].with_suffix(".kept"))
            files[number].write_bytes(b"not a ROOT file")
        _, first = self.coffea("fileset.json", "damaged", records=self.folder / "first")
        # f7 fails at its second chunk
        self.assertEqual(first["events"], 27 * 200 + 100)

        exported = self.crema("export", "first", "--to", "coffea-fileset", "-o", "alone.json")
        self.assertIn("--expected", exported.stderr)
        alone = json.loads((self.folder / "alone.json").read_text())
        self.assertEqual(alone, {"a": {"files": {str(files[7]): {"object_path": "Events", "steps": [[100, 200]]}}}})

        exported = self.crema(
            "export", "first", "--to", "coffea-fileset", "--expected", "fileset.json", "-o", "again.json"
        )
        self.assertNotIn("--expected", exported.stderr)
        self.crema(
            "export", "first", "--to", "chunks", "--without-result", "--expected", "fileset.json", "-o", "again.txt"
        )
        self.assertEqual(
            sorted((self.folder / "again.txt").read_text().splitlines()),
            sorted([f"{files[7]} 100 199", f"{files[3]} 0 -1", f"{files[20]} 0 -1"]),
        )

        for number in (3, 20):
            files[number].with_suffix(".kept").rename(files[number])
        items, second = self.coffea("again", records=self.folder / "second")
        self.assertEqual(items, 3)
        self.assertEqual(first["events"] + second["events"], 30 * 200)
        each = [sum(range(200)) + 200 * number for number in range(30)]
        self.assertAlmostEqual(first["pt"] + second["pt"], sum(each))

        self.crema("collect", "first", "second", "--run", "all", "-o", "merged")
        self.crema("export", "merged", "--to", "coffea-fileset", "--expected", "fileset.json", "-o", "nothing.json")
        self.assertEqual(json.loads((self.folder / "nothing.json").read_text()), {})
        document = json.loads((self.folder / "merged/measurement.json").read_text())
        self.assertEqual(document["metrics"]["total_events"], 30 * 200)


if __name__ == "__main__":
    unittest.main()
