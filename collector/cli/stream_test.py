"""Logs from a pipe: crema reads them once, as they come, and measures them as it would measure the files."""

import json
import os
import pathlib
import pty
import shutil
import subprocess
import tempfile
import threading
import unittest

import invented_run

CREMA = str(pathlib.Path(__file__).absolute().parent / "crema")


def crema(*arguments, **keywords):
    return subprocess.run([CREMA, *arguments], capture_output=True, check=False, timeout=60, **keywords)


class StreamTest(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.logs = sorted(pathlib.Path(invented_run.write_run(str(self.directory / "logs"))).iterdir())
        self.stream = b"".join(log.read_bytes() for log in self.logs)

    def collect(self, source, *options, **keywords):
        """The figures, and the whole document."""
        out = self.directory / "out"
        result = crema("collect", source, "-o", out, "--name", "run", "--json", "--replace", *options, **keywords)
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        return {name: document[name] for name in ("metrics", "datasets", "sections", "budget", "workers")}, document

    def test_standard_input_gives_what_the_files_give(self):
        self.assertGreater(len(self.logs), 1)
        plain, _ = self.collect(self.logs[0].parent)
        streamed, document = self.collect("-", "--no-records", input=self.stream)
        self.assertEqual(streamed, plain)
        self.assertEqual(document["quality"]["warnings"], [])
        self.assertEqual(os.listdir(self.directory / "out"), ["measurement.json"])

    def test_a_named_pipe_is_one_too(self):
        plain, _ = self.collect(self.logs[0].parent)
        pipe = self.directory / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(self.stream,))
        writer.start()
        self.addCleanup(writer.join)
        self.assertEqual(self.collect(pipe, "--no-records")[0], plain)

    def test_it_says_that_a_stream_is_not_kept(self):
        result = crema("collect", "-", "-o", self.directory / "out", input=self.stream)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"does not keep the records of a stream", result.stderr)

    def test_a_log_that_came_twice_counts_once(self):
        plain, _ = self.collect(self.logs[0].parent)
        streamed, document = self.collect("-", input=self.stream + self.stream)
        self.assertEqual(streamed, plain)
        (warning,) = document["quality"]["warnings"]
        self.assertIn(f"{len(self.logs)} logs came twice", warning)

    def test_other_runs_are_left_out_and_told(self):
        other = self.stream.replace(b'"run_id":"', b'"run_id":"other-')
        self.assertNotEqual(other, self.stream)
        plain, _ = self.collect(self.logs[0].parent)
        first, document = self.collect("-", input=self.stream + other)
        self.assertEqual(first, plain)
        (warning,) = document["quality"]["warnings"]
        self.assertIn(f"{len(self.logs)} logs of other runs were left out", warning)
        self.assertIn("--run all", warning)
        both, _ = self.collect("-", "--run", "all", input=self.stream + other)
        self.assertEqual(both["metrics"]["num_chunks"], 2 * plain["metrics"]["num_chunks"])

    def test_a_stream_that_ends_in_the_middle_gives_what_came(self):
        whole, _ = self.collect(self.logs[0].parent)
        cut, document = self.collect("-", input=self.stream[: len(self.stream) * 2 // 3])
        self.assertGreater(cut["metrics"]["num_chunks"], 0)
        self.assertLess(cut["metrics"]["num_chunks"], whole["metrics"]["num_chunks"])
        self.assertEqual(document["quality"]["records_torn"] + document["quality"]["records_malformed"], 1)

    def test_what_is_no_stream_of_logs_is_one_line(self):
        compressed = subprocess.run(["gzip", "-c"], input=self.stream, capture_output=True, check=True).stdout
        for given, said in ((b"", "no record"), (b"\0" * 5000, "no record"), (compressed, "zcat")):
            result = crema("collect", "-", "-o", self.directory / "out", input=given)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertRegex(result.stderr.decode(), rf"^crema: [^\n]*{said}[^\n]*\n$")
            self.assertFalse((self.directory / "out").exists())

    def test_a_terminal_is_refused(self):
        leader, follower = pty.openpty()
        self.addCleanup(os.close, leader)
        result = crema("collect", "-", "-o", self.directory / "out", stdin=follower)
        os.close(follower)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"standard input is a terminal", result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
