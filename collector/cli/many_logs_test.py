"""Many small logs, and many threads that read them: what a log costs, and that threads change nothing."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import invented_run

CREMA = str(pathlib.Path(__file__).absolute().parent / "crema")
LOGS = 20_000
# A log with one chunk takes 8 KB. With sums of its own, of every kind, it took 17 KB.
MOST_BYTES_EACH = 12_000


def is_sanitized():
    """Sanitizers keep memory that the program has freed."""
    return b"__sanitizer_" in pathlib.Path(CREMA).read_bytes()


def write_logs(directory, count):
    directory.mkdir()
    for pid in range(1, count + 1):
        lines = [
            invented_run.process_line(pid),
            invented_run.begin_line(pid, pid % 100, f"set{pid % 3}"),
            invented_run.chunk_line(pid, pid % 100, pid % 100 + 1 + pid % 7),
        ]
        (directory / f"node-{pid}-1-0.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return directory


class ManyLogs(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def collect(self, logs, output, *options):
        """The document without what tells of the collecting, and the program's peak memory in bytes."""
        command = [CREMA, "collect", str(logs), "-o", str(self.directory / output), "--no-records", "-q", *options]
        process = subprocess.Popen(command)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        document = json.loads((self.directory / output / "measurement.json").read_text())
        document.pop("provenance")
        return json.dumps(document), usage.ru_maxrss * 1024

    def test_the_number_of_threads_does_not_change_the_document(self):
        logs = write_logs(self.directory / "logs", 60)
        documents = {self.collect(logs, f"out{jobs}", "--jobs", str(jobs))[0] for jobs in (1, 2, 3, 64)}
        self.assertEqual(documents, {self.collect(logs, "default")[0]})
        self.assertIn('"num_chunks"', documents.pop())

    def test_no_threads_are_wrong_usage(self):
        for jobs in ("0", "-1", "many"):
            result = subprocess.run([CREMA, "collect", "a", "-o", "b", "--jobs", jobs], capture_output=True, text=True)
            self.assertEqual(result.returncode, 2, jobs)
            self.assertRegex(result.stderr, r"^crema: [^\n]*--jobs[^\n]*\n$")

    @unittest.skipIf(is_sanitized(), "memory is not the program's own")
    def test_each_log_costs_little_memory(self):
        few = self.collect(write_logs(self.directory / "few", 100), "of_few")[1]
        many = self.collect(write_logs(self.directory / "many", LOGS), "of_many")[1]
        self.assertLess((many - few) / LOGS, MOST_BYTES_EACH)


if __name__ == "__main__":
    unittest.main()
