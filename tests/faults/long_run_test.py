"""Many chunks in one process: all of them arrive in the measurement, and memory stays flat.

The test has 20,000 chunks, or 10,000,000 with `tools/test --long`. The long form takes a quarter of an hour, and 11 GB
of a disk with 143 GB free. If less is free, the SDK would begin to sum chunks earlier, so the test makes fewer chunks,
but at least a million."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

CREMA = str(pathlib.Path("collector/cli/crema").absolute())
PROGRAM = str(pathlib.Path("tests/faults/long_program").absolute())
LONG = "CREMA_TEST_LONG" in os.environ
CHUNKS = 10_000_000 if LONG else 20_000
FEWEST = min(CHUNKS, 1_000_000)
MOST_BYTES = 1_300  # bytes of a chunk in the log
LIMIT = 64_000_000 if LONG else 2_000_000
LAST_LINES = 65_536  # the last sums and the end may exceed the limit by this
MOST_GROWTH = 256  # kB, from the first tenth to the last


class LongRunTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def run_with(self, chunks, **variables):
        """Returns the program's memory after each tenth, the size of its log, and the document."""
        records = f"{self.folder}/records"
        others = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
        recorded = subprocess.run(
            [PROGRAM, str(chunks)],
            env={**others, "CREMA_DIR": records, **variables},
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(recorded.stderr, "")
        (log,) = pathlib.Path(records).iterdir()
        measured = f"{self.folder}/measured"
        subprocess.run([CREMA, "collect", records, "--no-records", "-q", "-o", measured], check=True)
        document = json.loads(pathlib.Path(measured, "measurement.json").read_text())
        memory = list(map(int, recorded.stdout.split()))
        metrics = document["metrics"]
        if LONG:
            summed = document["quality"]["summed_chunks"]
            print(f"{chunks} chunks; memory in kB: {memory}; log of {log.stat().st_size} bytes; {summed} chunks summed")
        self.assertEqual(len(memory), 10)
        self.assertGreater(min(memory), 0)
        self.assertLess(memory[-1] - memory[0], MOST_GROWTH)
        self.assertEqual((metrics["num_chunks"], metrics["num_attempts"]), (chunks, chunks))
        self.assertEqual((metrics["num_failed_attempts"], metrics["num_lost_attempts"]), (0, 0))
        self.assertEqual(metrics["total_events"], 100 * chunks)
        self.assertEqual({row["path"]: row["count"] for row in document["sections"]}["select"], chunks)
        self.assertEqual(sum(row["chunks"] for row in document["files"]), chunks)
        for loss in ("records_malformed", "records_torn", "records_dropped", "records_lost", "sections_dropped"):
            self.assertEqual(document["quality"][loss], 0, loss)
        return log.stat().st_size, document

    def test_each_chunk_of_a_long_run_is_in_the_measurement(self):
        # a log may be a tenth of the free room, which includes its own size (docs/record_log.md)
        room = shutil.disk_usage(self.folder).free // 11 // MOST_BYTES
        if room < FEWEST:
            self.skipTest(f"a log of {FEWEST} chunks needs {11 * FEWEST * MOST_BYTES} free bytes")
        _, document = self.run_with(min(CHUNKS, room))
        self.assertEqual(document["quality"]["summed_chunks"], 0)

    def test_beyond_the_limit_of_the_log_each_is_in_its_sums(self):
        size, document = self.run_with(CHUNKS, CREMA_MAX_LOG_BYTES=str(LIMIT))
        self.assertLess(size, LIMIT + LAST_LINES)
        self.assertGreater(document["quality"]["summed_chunks"], CHUNKS // 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
