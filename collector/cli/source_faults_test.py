"""Damaged or wrong sources: crema uses the rest, and names each thing that it left out in one line."""

import ctypes
import json
import os
import pathlib
import shutil
import signal
import socketserver
import subprocess
import tempfile
import threading
import time
import unittest

import invented_run

CREMA = str(pathlib.Path(__file__).absolute().parent / "crema")


def obey_file_modes():
    """Starts the program without the two capabilities (capabilities(7)) by which root may read everything."""
    prctl_drop_from_bounding_set, dac_override, dac_read_search = 24, 1, 2
    for capability in (dac_override, dac_read_search):
        ctypes.CDLL(None).prctl(prctl_drop_from_bounding_set, capability, 0, 0, 0)


def crema(*arguments, **options):
    return subprocess.run([CREMA, *arguments], capture_output=True, text=True, timeout=120, **options)


class EndlessServer(socketserver.ThreadingTCPServer):
    """Answers every request with an endless body."""

    daemon_threads = True

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            self.request.recv(65536)
            try:
                self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                pass  # nobody listens any more

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *error):
        self.shutdown()
        super().__exit__(*error)


class SourceFaults(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.records = pathlib.Path(invented_run.write_run(str(self.directory / "records")))
        self.untouched = self.measure()

    def measure(self, **options):
        result = crema("show", str(self.records), "--json", **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def expect_rest_and_one_warning(self, name, what, **options):
        """Checks that the figures are those of the run without the bad log, and that one warning names this log."""
        document = self.measure(**options)
        self.assertEqual(document["metrics"], self.untouched["metrics"])
        warnings = [warning for warning in document["quality"]["warnings"] if name in warning]
        self.assertEqual(len(warnings), 1, document["quality"]["warnings"])
        self.assertIn(what, warnings[0])

    def test_a_fifo_among_the_logs_is_not_waited_for(self):
        os.mkfifo(self.records / "pipe.jsonl")
        self.expect_rest_and_one_warning("pipe.jsonl", "cannot read it as a log")

    def test_a_foreign_file_adds_no_process(self):
        (self.records / "notes.jsonl").write_text("hello\n")
        self.expect_rest_and_one_warning("notes.jsonl", "holds no record that can be read")

    def test_a_schedulers_answer_without_an_end_is_not_read_to_its_end(self):
        with EndlessServer() as server:
            result = crema("collect", f"dask://127.0.0.1:{server.server_address[1]}", "-o", str(self.directory / "out"))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^crema: [^\n]*/crema/v1/flush is larger than 64 MiB[^\n]*\n$")

    def test_a_full_disk_keeps_the_older_measurement(self):
        script = """
            mount --make-rprivate / && mount -t tmpfs -o size=2m small "$DISK" || exit 77
            "$CREMA" collect "$LOGS" -q --name old -o "$DISK/out" || exit 78
            head -c 100m /dev/zero >"$DISK/others" 2>/dev/null
            "$CREMA" collect "$LOGS" -q --name new -o "$DISK/out" && exit 79
            rm "$DISK/others"
            "$CREMA" show "$DISK/out" --json | grep -q '"name": *"old"' || exit 80
            [ "$(ls -A "$DISK")" = out ] || exit 81
        """
        disk = self.directory / "disk"
        disk.mkdir()
        variables = {**os.environ, "DISK": str(disk), "LOGS": str(self.records), "CREMA": CREMA}
        command = ["unshare", "-m", "sh", "-c", script]
        result = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        if "unshare" in result.stderr or result.returncode == 77:
            self.skipTest("mounting is not allowed here")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"^crema: [^\n]*No space left on device[^\n]*\n$")

    def test_a_fifo_as_the_source_is_refused(self):
        os.mkfifo(self.directory / "pipe.jsonl")
        result = crema("show", str(self.directory / "pipe.jsonl"))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^crema: [^\n]*pipe.jsonl: is neither a file nor a directory\n$")

    def test_a_directory_of_measurements_names_some(self):
        for number in range(4):
            crema("collect", str(self.records), "-o", str(self.directory / "runs" / f"run{number}"), "-q")
        named = r"holds some; name one, for example \S*run3, \S*run2, \S*run1\n$"
        self.assertRegex(crema("show", str(self.directory / "runs")).stderr, named)
        (self.directory / "runs" / "truth.jsonl").write_text("{}\n")
        self.assertRegex(crema("show", str(self.directory / "runs")).stderr, named)
        self.assertRegex(crema("compare", str(self.records), str(self.directory / "runs")).stderr, named)

    def test_a_directory_with_a_logs_name_is_left_out(self):
        (self.records / "folder.jsonl").mkdir()
        self.expect_rest_and_one_warning("folder.jsonl", "cannot read it as a log")

    def test_links_that_lead_nowhere_are_left_out(self):
        (self.records / "loop.jsonl").symlink_to("loop.jsonl")
        self.expect_rest_and_one_warning("loop.jsonl", "cannot read it as a log")
        (self.records / "gone.jsonl").symlink_to("/nonexistent/log")
        self.expect_rest_and_one_warning("gone.jsonl", "cannot read it as a log")

    def test_a_link_to_a_log_is_the_log(self):
        for log in sorted(self.records.glob("*.jsonl")):
            log.rename(self.directory / log.name)
            log.symlink_to(self.directory / log.name)
        self.assertEqual(self.measure()["metrics"], self.untouched["metrics"])

    def test_a_log_and_a_link_to_it_count_once(self):
        for log in sorted(self.records.glob("*.jsonl")):
            (self.records / ("again-" + log.name)).symlink_to(log)
        self.assertEqual(self.measure()["metrics"], self.untouched["metrics"])

    def test_a_log_that_may_not_be_read_is_left_out(self):
        unreadable = self.records / "secret.jsonl"
        unreadable.write_text("{}\n")
        unreadable.chmod(0)
        self.expect_rest_and_one_warning("secret.jsonl", "Permission denied", preexec_fn=obey_file_modes)

    def test_100000_empty_logs_are_one_warning(self):
        for i in range(100_000):
            os.close(os.open(self.records / f"empty-{i:05}.jsonl", os.O_CREAT | os.O_WRONLY))
        self.expect_rest_and_one_warning("empty-00000.jsonl", "so are 99999 more")

    def test_a_gigantic_line_is_one_malformed_line(self):
        log = sorted(self.records.glob("*.jsonl"))[0]
        with open(log, "a") as file:
            file.write('{"type":"chunk","chunk":7,"dataset":"')
            for _ in range(100):
                file.write("x" * 1_000_000)
            file.write('"}\n')
        document = self.measure()
        self.assertEqual(document["quality"]["records_malformed"], 1)
        self.assertEqual(document["metrics"]["num_chunks"], self.untouched["metrics"]["num_chunks"])

    def test_a_file_of_binary_rubbish_is_left_out(self):
        (self.records / "rubbish.jsonl").write_bytes(bytes(range(256)) * 40)
        self.expect_rest_and_one_warning("rubbish.jsonl", "holds no record that can be read")

    def test_binary_rubbish_in_a_log_is_counted_line_by_line(self):
        rubbish = bytes(range(256)) * 40
        with open(sorted(self.records.glob("*.jsonl"))[0], "ab") as file:
            file.write(rubbish)
        document = self.measure()
        lines = sum(1 for line in rubbish.split(b"\n") if line.strip(b" \t\r"))
        quality = document["quality"]
        self.assertEqual(quality["records_malformed"] + quality["records_torn"], lines)
        self.assertEqual(document["metrics"]["num_chunks"], self.untouched["metrics"]["num_chunks"])

    def test_a_directory_that_vanishes_while_it_is_read(self):
        """Checks that crema ends by itself, whenever the source vanishes: with the records so far, or with one line."""
        for delay in (0.0, 0.002, 0.005, 0.01, 0.02, 0.05):
            records = pathlib.Path(invented_run.write_run(str(self.directory / f"records-{delay}")))
            log = sorted(records.glob("*.jsonl"))[0]
            for i in range(300):
                shutil.copy(log, records / f"copy-{i}.jsonl")
            process = subprocess.Popen(
                [CREMA, "show", str(records), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            time.sleep(delay)
            shutil.rmtree(records)
            output, errors = process.communicate(timeout=60)
            self.assertIn(process.returncode, (0, 1), errors)
            if process.returncode == 0:
                self.assertGreaterEqual(json.loads(output)["quality"]["records_read"], 0)
            else:
                self.assertRegex(errors, r"^crema: [^\n]+\n$")

    def test_a_full_pipe_ends_it_as_it_ends_any_program(self):
        process = subprocess.Popen([CREMA, "show", str(self.records), "--json"], stdout=subprocess.PIPE)
        process.stdout.close()
        self.assertIn(process.wait(timeout=60), (-signal.SIGPIPE, 1))


if __name__ == "__main__":
    unittest.main(verbosity=2)
