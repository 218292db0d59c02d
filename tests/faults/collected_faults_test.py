"""Faults in the measurement: each loss that the SDK counts is there, and the program ends as it would have ended."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

CREMA = str(pathlib.Path("collector/cli/crema").absolute())
PROGRAM = str(pathlib.Path("tests/faults/faulty_program").absolute())
ONE_LINE = "the analysis's own line\n"


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}


class CollectedFaultsTest(unittest.TestCase):
    def run_with_fault(self, fault: str, status: int, output: str = ONE_LINE):
        """Runs the program alone and below `crema run`, and returns metrics and quality of the measurement."""
        with tempfile.TemporaryDirectory() as folder:
            alone = subprocess.run([PROGRAM, fault], capture_output=True, text=True, env=clean_environment())
            command = [CREMA, "run", "-q", "-o", f"{folder}/measured", "--", PROGRAM, fault]
            measured = subprocess.run(command, capture_output=True, text=True, env=clean_environment(), timeout=60)
            self.assertEqual(measured.returncode, status, measured.stderr)
            self.assertIn(alone.returncode, (status, 128 - status), "a negative status is a signal")
            self.assertEqual((measured.stdout, alone.stdout), (output, output))
            document = json.loads(pathlib.Path(folder, "measured/measurement.json").read_text())
        return document["metrics"], document["quality"]

    def test_without_a_fault_nothing_is_counted_as_lost(self):
        metrics, quality = self.run_with_fault("none", 0)
        self.assertEqual((metrics["num_chunks"], metrics["num_lost_attempts"]), (3, 0))
        self.assertEqual((quality["processes_ended"], quality["processes_lost"]), (1, 0))
        self.assertEqual((quality["records_dropped"], quality["sections_dropped"]), (0, 0))

    def test_a_killed_process_is_lost_with_its_chunk(self):
        metrics, quality = self.run_with_fault("kill", 137)
        self.assertEqual((metrics["num_chunks"], metrics["num_lost_attempts"]), (2, 1))
        self.assertEqual((quality["processes_ended"], quality["processes_lost"]), (0, 1))

    def test_a_chunk_that_is_open_at_exit_is_lost(self):
        metrics, quality = self.run_with_fault("exit", 6)
        self.assertEqual((metrics["num_chunks"], metrics["num_lost_attempts"]), (2, 1))
        self.assertEqual((quality["processes_ended"], quality["processes_lost"]), (1, 0))

    def test_a_chunk_that_ends_by_exec_is_lost(self):
        metrics, quality = self.run_with_fault("exec", 0, 2 * ONE_LINE)
        # The next program processes the same chunks again, including this one.
        self.assertEqual((metrics["num_chunks"], metrics["num_lost_attempts"]), (3, 1))
        # One process with two logs; the first has no `end`.
        self.assertEqual((quality["processes_ended"], quality["processes_lost"]), (0, 1))

    def test_chunks_beyond_the_largest_file_size_are_summed(self):
        metrics, quality = self.run_with_fault("file size", 0)
        self.assertGreater(quality["summed_chunks"], 0)
        # The first two are processed twice, and have a line each time.
        self.assertEqual((metrics["num_attempts"], metrics["num_chunks"], metrics["total_events"]), (202, 200, 2000))
        self.assertEqual((quality["records_malformed"], metrics["num_lost_attempts"]), (0, 0))
        self.assertIn("the largest size that files may have", " ".join(quality["warnings"]))
        self.assertEqual(quality["processes_ended"], 1)

    def test_sections_beyond_the_limit_of_depth_are_counted(self):
        _, quality = self.run_with_fault("depth", 0)
        self.assertEqual(quality["sections_dropped"], 200 - 64)

    def test_what_has_no_chunk_is_counted(self):
        _, quality = self.run_with_fault("late metric", 0)
        self.assertEqual(quality["records_dropped"], 1)

    def test_a_misused_guard_is_no_full_disk(self):
        _, quality = self.run_with_fault("misuse", 0)
        self.assertGreater(quality["guards_misused"], 0)
        self.assertEqual(quality["records_dropped"], quality["guards_misused"])
        warnings = " ".join(quality["warnings"])
        self.assertIn("not used as they should be", warnings)
        self.assertNotIn("full disk", warnings)


if __name__ == "__main__":
    unittest.main(verbosity=2)
