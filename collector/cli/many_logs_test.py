"""Many small logs, and many threads that read them: the cost of a log, and that threads change no figure."""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import unittest

import invented_run

CREMA = str(pathlib.Path(__file__).absolute().parent / "crema")
LOGS = 20_000
LONG = bool(os.environ.get("CREMA_TEST_LONG"))
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


def write_long_log(directory, count):
    write_logs(directory, 1)
    (log,) = directory.iterdir()
    with open(log, "a") as file:
        for number in range(2, count + 1):
            file.write(json.dumps(invented_run.chunk_line(number, number, number + 1 + number % 7)) + "\n")
    return directory


class ManyLogs(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def collect(self, logs, output, *options, **how):
        """The document without the fields about the collection itself, and the program's peak memory in bytes."""
        command = [CREMA, "collect", str(logs), "-o", str(self.directory / output), "--no-records", "-q", *options]
        process = subprocess.Popen(command, **how)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        document = json.loads((self.directory / output / "measurement.json").read_text())
        document.pop("provenance")
        return json.dumps(document), usage.ru_maxrss * 1024

    def test_the_number_of_threads_does_not_change_the_document(self):
        logs = write_logs(self.directory / "logs", 60)
        documents = {self.collect(logs, f"out{jobs}", "--jobs", str(jobs))[0] for jobs in (1, 2, 3, 64)}
        documents.add(self.collect(logs, "short_of_memory", "--jobs", "3", "--memory", "1K")[0])
        self.assertEqual(documents, {self.collect(logs, "default")[0]})
        self.assertIn('"num_chunks"', documents.pop())

    def test_more_logs_than_descriptors_are_read(self):
        logs = write_logs(self.directory / "logs", 100_000 if LONG else 3000)

        def few_descriptors():
            resource.setrlimit(resource.RLIMIT_NOFILE, (1024 if LONG else 64,) * 2)

        limited = self.collect(logs, "limited", preexec_fn=few_descriptors)[0]
        self.assertEqual(limited, self.collect(logs, "free")[0])
        self.assertEqual(json.loads(limited)["metrics"]["num_chunks"], 100_000 if LONG else 3000)

    def test_a_log_may_grow_while_it_is_read(self):
        logs = write_logs(self.directory / "logs", 1)
        (log,) = logs.iterdir()
        lines = [json.dumps(invented_run.chunk_line(number, number, number + 1)) + "\n" for number in range(2, 40_000)]
        with open(log, "a") as file:
            file.writelines(lines[:20_000])
            file.flush()
            command = [CREMA, "collect", str(logs), "-o", str(self.directory / "out"), "-q"]
            process = subprocess.Popen(command)
            for line in lines[20_000:]:
                file.write(line)  # in blocks that end inside a line
            self.assertEqual(process.wait(), 0)
        document = json.loads((self.directory / "out" / "measurement.json").read_text())
        chunks = document["metrics"]["num_chunks"]
        self.assertGreaterEqual(chunks, 20_001)
        self.assertLessEqual(chunks, 40_001)
        self.assertEqual(document["quality"]["records_malformed"], 0)
        self.assertLessEqual(document["quality"]["records_torn"], 1)

    def test_of_those_that_write_into_one_directory_one_does(self):
        logs = write_logs(self.directory / "logs", 2000)
        command = [CREMA, "collect", str(logs), "-o", str(self.directory / "out"), "-q"]
        writers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(6)]
        for writer in writers:
            _, errors = writer.communicate()
            if writer.returncode == 0:
                continue
            self.assertEqual(writer.returncode, 1)
            self.assertRegex(errors, r"^crema: [^\n]*another crema is writing into it[^\n]*\n$")
        self.assertIn(0, [writer.returncode for writer in writers])
        document = json.loads((self.directory / "out" / "measurement.json").read_text())
        self.assertEqual(document["metrics"]["num_chunks"], 2000)
        self.assertEqual(len(list((self.directory / "out" / "records").iterdir())), 2000)
        self.assertEqual(list(self.directory.rglob(".*")), [])

    def test_chunks_that_have_no_room_in_memory_go_to_files(self):
        logs = write_long_log(self.directory / "logs", 3000)
        spill = self.directory / "spill"
        spill.mkdir()
        whole = self.collect(logs, "whole")[0]
        self.assertEqual(self.collect(logs, "spilled", "--memory", "1K", "--spill", str(spill))[0], whole)
        self.assertEqual(list(spill.iterdir()), [])

    # Fault [many]: more chunks than memory has room for, and the directory of `--spill` has none either
    # Shown: the whole measurement, with a warning that they stayed in memory
    def test_chunks_for_which_there_is_no_room_stay_in_memory(self):
        logs = write_long_log(self.directory / "logs", 3000)
        missing = str(self.directory / "missing")
        document = json.loads(self.collect(logs, "out", "--memory", "1K", "--spill", missing)[0])
        self.assertEqual(document["metrics"]["num_chunks"], 3000)
        warnings = "\n".join(document["quality"]["warnings"])
        reason = "(No such file or directory), so what did not fit stayed in memory"
        self.assertIn(f"could not spill to {missing} {reason}", warnings)

    def test_no_memory_is_wrong_usage(self):
        for memory in ("0", "-1", "1X", ""):
            result = subprocess.run(
                [CREMA, "collect", "a", "-o", "b", "--memory", memory], capture_output=True, text=True
            )
            self.assertEqual(result.returncode, 2, memory)
            self.assertRegex(result.stderr, r"^crema: [^\n]*--memory[^\n]*\n$")

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
    unittest.main(verbosity=2)
