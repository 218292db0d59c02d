"""The measurement of chunks of one copy of the SDK inside chunks of another copy."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

CREMA = str(pathlib.Path("collector/cli/crema").absolute())
PROGRAM = str(pathlib.Path("tests/faults/nesting_program").absolute())
PLUGIN = str(pathlib.Path("tests/faults/nesting_plugin.so").absolute())


class NestedCopiesTest(unittest.TestCase):
    def test_what_the_inner_chunks_take_counts_once(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
        with tempfile.TemporaryDirectory() as folder:
            records, measured = f"{folder}/records", f"{folder}/measured"
            environment["CREMA_DIR"] = records
            said = subprocess.run([PROGRAM, PLUGIN], env=environment, check=True, capture_output=True, text=True).stdout
            cpu_ns, wall_ns = map(int, said.split())
            self.assertEqual(len(list(pathlib.Path(records).glob("*.jsonl"))), 2)
            subprocess.run([CREMA, "collect", records, "-q", "-o", measured], env=environment, check=True)
            document = json.loads((pathlib.Path(measured) / "measurement.json").read_text())
        metrics = document["metrics"]
        self.assertEqual(metrics["num_chunks"], 20)
        self.assertGreaterEqual(metrics["chunk_cpu_time"], 0.2)
        self.assertLessEqual(metrics["chunk_cpu_time"], cpu_ns / 1e9)
        self.assertLessEqual(metrics["busy_time"], wall_ns / 1e9 * 1.001)
        busy = {row["name"]: row["duration_sum"] for row in document["datasets"]}
        self.assertGreaterEqual(busy["plug-in"], 0.2)
        self.assertLess(busy["host"], busy["plug-in"])
        self.assertAlmostEqual(sum(row["self"] for row in document["sections"]), metrics["busy_time"], 6)


if __name__ == "__main__":
    unittest.main()
