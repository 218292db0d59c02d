"""Logs that were compressed after the run: crema reads and keeps them compressed."""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import invented_run

from collector.cli.serve_test_case import ServeTestCase

CREMA = str(pathlib.Path(__file__).absolute().parent / "crema")


def compress(log):
    """As `gzip LOG` does."""
    packed = log.with_name(log.name + ".gz")
    packed.write_bytes(gzip.compress(log.read_bytes()))
    log.unlink()
    return packed


def crema(*arguments):
    return subprocess.run([CREMA, *arguments], capture_output=True, text=True, check=False)


class CompressedLogs(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.logs = pathlib.Path(invented_run.write_run(str(self.directory / "logs")))
        self.packed = self.directory / "packed"
        shutil.copytree(self.logs, self.packed)
        for log in sorted(self.packed.iterdir()):
            compress(log)

    def collect(self, logs, output):
        result = crema("collect", str(logs), "-o", str(self.directory / output), "--name", "run", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        document.pop("provenance")
        return document

    def test_they_give_the_same_measurement_and_exports(self):
        plain = self.collect(self.logs, "of_plain")
        self.assertEqual(self.collect(self.packed, "of_packed"), plain)
        self.assertEqual(plain["metrics"]["num_chunks"], 20)
        kept = sorted(path.name for path in (self.directory / "of_packed" / "records").iterdir())
        self.assertEqual(kept, sorted(path.name for path in self.packed.iterdir()))
        rows = [
            crema("export", str(self.directory / name), "--to", "chunks", "-o", "-").stdout
            for name in ("of_plain", "of_packed")
        ]
        self.assertEqual(rows[0], rows[1])
        self.assertIn("ttbar", rows[0])

    def test_entries_of_stragglers_are_found_in_a_compressed_log(self):
        lines, now = [invented_run.process_line(7)], 0.0
        for number in range(400):
            stop = now + (3 if number % 80 == 40 else 0.1)
            begin = {**invented_run.begin_line(number, now, "ttbar"), **invented_run.place(number, "ttbar")}
            lines += [begin, invented_run.chunk_line(number, now, stop)]
            now = stop
        logs = self.directory / "slow"
        log = pathlib.Path(invented_run.write_log(str(logs), [*lines, invented_run.end_line(now, 400)]))
        plain = self.collect(logs, "of_slow")
        self.assertGreater(len(log.read_bytes()), 10 * 16384, "chunks of several stretches")
        self.assertGreaterEqual(len([row for row in plain["stragglers"] if row["entry_start"] is not None]), 5)
        compress(log)
        self.assertEqual(self.collect(logs, "of_slow_packed"), plain)

    def test_they_are_not_followed(self):
        log = sorted(self.packed.iterdir())[0]
        result = crema("serve", str(log))
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, f"crema: {log}: compressed logs are not followed; `crema collect` reads them\n")

    def test_one_compressed_log_is_a_source(self):
        log = sorted(self.packed.iterdir())[0]
        document = self.collect(log, "of_one")
        self.assertEqual(document["metrics"]["num_chunks"], 10)

    def test_a_log_that_was_cut_is_used_up_to_there_and_named(self):
        log = sorted(self.packed.iterdir())[1]
        log.write_bytes(log.read_bytes()[:-100])
        document = self.collect(self.packed, "of_cut")
        self.assertGreater(document["metrics"]["num_chunks"], 10)
        self.assertIn(
            f"{log}: damaged: its compressed data ends early; what was read so far is used",
            document["quality"]["warnings"],
        )

    def test_of_a_log_and_its_compressed_copy_the_fuller_is_read_once(self):
        log = sorted(self.logs.iterdir())[0]
        copy = log.with_name(log.name + ".gz")
        copy.write_bytes(gzip.compress(log.read_bytes()))
        log.write_text("".join(log.read_text().splitlines(keepends=True)[:8]))
        document = self.collect(self.logs, "of_both")
        self.assertEqual(document["metrics"]["num_chunks"], 20)
        self.assertEqual(
            document["quality"]["warnings"],
            [f"{log} and {copy} are logs of the same process; only the fuller, {copy}, was read"],
        )


class CompressedLogsBesideARunningJob(ServeTestCase):
    def test_they_are_said_not_to_be_followed(self):
        logs = pathlib.Path(invented_run.write_run(self.logs))
        compress(sorted(logs.iterdir())[0])
        self.serve(source=str(logs))
        problem = self.wait_for("a word on it", lambda: self.json("/api/live")["sources"][0]["problem"])
        self.assertEqual(problem, f"{logs}: compressed logs in it are not followed; `crema collect` reads them")


if __name__ == "__main__":
    unittest.main()
