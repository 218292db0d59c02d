"""More chunks than fit into memory, from a pipe: crema keeps to its memory limit, and every figure is exact."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).absolute().parent
CREMA = str(HERE / "crema")
MAKE_LOGS = str(HERE.parent / "benchmarks/make_logs")
LONG = bool(os.environ.get("CREMA_TEST_LONG"))
CHUNKS, MEMORY = (100_000_000, "1G") if LONG else (1_000_000, "16M")
MOST_ANONYMOUS = {"1G": 1 << 30, "16M": 80 << 20}[MEMORY]  # with what beginning and reading take: 50 MB


def is_sanitized():
    return b"__sanitizer_" in pathlib.Path(CREMA).read_bytes()


def anonymous_bytes(pid):
    """Anonymous memory, which the kernel cannot take away."""
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    return 0  # it ends


class ManyChunks(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        system = subprocess.run(["stat", "-f", "-c", "%T", self.directory], capture_output=True, text=True)
        if system.stdout.strip() in ("tmpfs", "ramfs"):
            self.skipTest(f"{self.directory} is in memory")

    def collect(self, *options):
        """Pipes made-up logs into `crema collect`. Returns the document, what was made, and the peak memory."""
        logs = self.directory / "logs"
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir()
        pipe = logs / "node-1000-1795000000000000000-0.jsonl"
        os.mkfifo(pipe)
        maker = subprocess.Popen([MAKE_LOGS, logs, "--records", str(CHUNKS)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(maker.kill)
        document, most = self.run_collector(pipe, *options)
        made = [int(word) for word in maker.communicate()[0].split() if word.isdigit()]
        return document, made, most

    def run_collector(self, logs, *options):
        """Returns the document and the peak memory."""
        output = self.directory / "out"
        command = [CREMA, "collect", logs, "-o", output, "--replace", "--no-records", "-q", *options]
        collector = subprocess.Popen(command)
        self.addCleanup(collector.kill)
        most = 0
        while collector.poll() is None:
            most = max(most, anonymous_bytes(collector.pid))
            try:
                collector.wait(0.01)
            except subprocess.TimeoutExpired:
                continue
        self.assertEqual(collector.returncode, 0)
        return json.loads((output / "measurement.json").read_text()), most

    def collect_from_files(self, chunks, *options):
        logs = self.directory / "logs"
        if not logs.exists():
            command = [MAKE_LOGS, logs, "--records", str(chunks), "--files", "500"]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        return self.run_collector(logs, *options)

    @unittest.skipIf(is_sanitized(), "memory is not the program's own")
    def test_of_many_processes_too(self):
        chunks, memory, most_bytes = (10_000_000, "256M", 300 << 20) if LONG else (1_000_000, "64M", 112 << 20)
        document, most = self.collect_from_files(chunks, "--memory", memory, "--spill", str(self.directory))
        roomy, more = self.collect_from_files(chunks, "--memory", "8G")
        print(f"{chunks} chunks of 500 processes: {most / 1e6:.0f} MB of memory, and {more / 1e6:.0f} MB with 8G")
        self.assertLess(most, most_bytes)
        self.assertGreater(more, most)
        for part in (document, roomy):
            part.pop("provenance")
        self.assertEqual(document, roomy)

    @unittest.skipIf(is_sanitized(), "memory is not the program's own")
    def test_memory_stays_what_was_allowed_and_figures_are_exact(self):
        document, (_, chunks, events), most = self.collect("--memory", MEMORY, "--spill", str(self.directory))
        self.assertEqual(document["metrics"]["num_chunks"], chunks)
        self.assertEqual(document["metrics"]["total_events"], events)
        self.assertEqual(document["metrics"]["num_lost_attempts"], 0)
        self.assertEqual([text for text in document["quality"]["warnings"] if "memory" in text], [])
        self.assertLess(most, MOST_ANONYMOUS)
        self.assertEqual(list(self.directory.glob(".*")), [])
        print(f"{chunks} chunks: at most {most / 1e6:.0f} MB of memory outside files")
        if LONG:
            return
        roomy, _, more = self.collect("--memory", "4G")
        self.assertGreater(more, most)
        for part in (document, roomy):
            part.pop("provenance")
        self.assertEqual(document, roomy)


if __name__ == "__main__":
    unittest.main(verbosity=2)
