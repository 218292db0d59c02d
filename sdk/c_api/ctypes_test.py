"""libcrema.so.1 from Python: checks the log of ctypes_analysis.py."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path("sdk/c_api")
LIBRARY = HERE / "libcrema.so.1"


def run_analysis(**environment: str) -> subprocess.CompletedProcess:
    command = [sys.executable, str(HERE / "ctypes_analysis.py"), str(LIBRARY.resolve())]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
    return subprocess.run(command, env={**clean, **environment}, capture_output=True, text=True, check=True)


class CtypesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.done = run_analysis(CREMA_DIR=folder.name, CREMA_INTERVAL="0")
        logs = list(pathlib.Path(folder.name).glob("*.jsonl"))
        assert len(logs) == 1, logs
        cls.lines = [json.loads(line) for line in logs[0].read_text(encoding="utf-8").splitlines()]
        cls.chunks = [line for line in cls.lines if line["type"] == "chunk"]

    def test_the_log_is_complete(self):
        kinds = [line["type"] for line in self.lines]
        self.assertEqual(kinds, ["process", "begin", "chunk", "begin", "chunk", "end"])
        end = self.lines[-1]
        self.assertEqual((end["chunks"], end["failed"], end["open"], end["dropped"]), (2, 1, 0, 0))

    def test_chunks_are_identified(self):
        wanted = ["dataset", "file", "tree", "entry_start", "entry_stop", "events"]
        self.assertEqual([self.chunks[0][key] for key in wanted], ["ttbar", "events.root", "Events", 0, 100, 100])

    def test_sections_nest_with_any_names(self):
        rows = {(row["path"], row.get("helper", False)): row for row in self.chunks[0]["sections"]}
        self.assertEqual(
            list(rows), [("select", False), ("select/größer", False), ("fill", False), ("select/jets", True)]
        )
        self.assertEqual(rows["select/größer", False]["count"], 2)
        self.assertIn("cpu_ns", rows["fill", False])

    def test_data_of_the_chunk(self):
        chunk = self.chunks[0]
        self.assertEqual([row["path"] for row in chunk["memory_sections"]], ["arrays"])
        self.assertEqual([(row["name"], row["unit"], row["sum"]) for row in chunk["metrics"]], [("jets", "count", 3.5)])
        self.assertEqual([(row["name"], row["events"], row["weights"]) for row in chunk["cuts"]], [("all", 100, 99.5)])
        self.assertEqual({row["label"] for row in chunk["activities"]}, {"decompress", "cache"})

    def test_a_failure_has_its_reason(self):
        self.assertEqual((self.chunks[1]["status"], self.chunks[1]["error"]), ("failed", "KeyError: 'Muon_pt'"))

    def test_the_thread_is_pythons_own_number_for_it(self):
        self.assertEqual(self.chunks[0]["thread"], int(self.done.stdout))

    def test_the_analysis_prints_what_it_prints_without_recording(self):
        self.assertEqual(self.done.stderr, "")
        off = run_analysis()
        self.assertEqual((off.stderr, len(off.stdout.splitlines())), ("", 1))


if __name__ == "__main__":
    unittest.main(verbosity=2)
