"""A process that writes several logs is one process in the measurement, with all its chunks and its end."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

CREMA = str(pathlib.Path("collector/cli/crema").absolute())
PROGRAM = str(pathlib.Path("tests/faults/crowded_program").absolute())
CHUNKS = 60
EVENTS = 10  # of a chunk


class SeveralLogsTest(unittest.TestCase):
    def measure(self, threads, *arguments, status=0):
        """The number of logs, and the measurement that `crema collect` makes of them."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
        with tempfile.TemporaryDirectory() as folder:
            records, measured = f"{folder}/records", f"{folder}/measured"
            command = [PROGRAM, str(threads), str(CHUNKS), *arguments]
            run = subprocess.run(command, env={**environment, "CREMA_DIR": records}, capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stdout, run.stderr), (status, f"{threads * CHUNKS}\n", ""))
            logs = len(list(pathlib.Path(records).glob("*.jsonl")))
            subprocess.run([CREMA, "collect", records, "-q", "-o", measured], env=environment, check=True)
            return logs, json.loads(pathlib.Path(measured, "measurement.json").read_text())

    def assert_complete(self, document, threads):
        metrics, quality = document["metrics"], document["quality"]
        self.assertEqual((metrics["num_chunks"], metrics["num_attempts"]), (threads * CHUNKS, threads * CHUNKS))
        self.assertEqual(metrics["total_events"], threads * CHUNKS * EVENTS)
        self.assertEqual((quality["processes_ended"], quality["processes_unreported"]), (1, 0))
        self.assertEqual((quality["records_lost"], quality["records_dropped"], quality["warnings"]), (0, 0, []))
        self.assertEqual(len(document["workers"]), 1)
        self.assertEqual(len(document["threads"]), threads)

    def test_of_sixteen_threads(self):
        logs, document = self.measure(16)
        self.assertEqual(logs, 2)
        self.assert_complete(document, 16)

    def test_of_sixty_four_threads(self):
        logs, document = self.measure(64)
        self.assertGreater(logs, 2)
        self.assertLessEqual(logs, 8)
        self.assert_complete(document, 64)

    def test_that_was_killed(self):
        logs, document = self.measure(16, "kill", status=-9)
        metrics, quality = document["metrics"], document["quality"]
        self.assertEqual(logs, 2)
        self.assertEqual((metrics["num_chunks"], metrics["num_lost_attempts"]), (16 * CHUNKS, 16))
        self.assertEqual((quality["processes_ended"], quality["processes_lost"]), (0, 1))
        self.assertEqual(len(document["workers"]), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
