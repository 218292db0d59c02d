"""`crema serve` and `crema top` over real sockets and terminals: what they show, to whom, and what can go wrong."""

import fcntl
import json
import os
import pty
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from collector.cli import invented_run
from collector.cli.serve_test_case import CREMA, PATIENCE, GrowingLog, ServeTestCase, Stream, environment


class WhatIsServed(ServeTestCase):
    def test_the_page_has_all_its_parts_and_lets_nothing_else_in(self):
        self.serve()
        answer, index = self.get("/")
        page = index
        self.assertEqual(answer.status, 200)
        self.assertIn("default-src 'none'", answer.headers["Content-Security-Policy"])
        self.assertIn("connect-src 'self'", answer.headers["Content-Security-Policy"])
        self.assertEqual(answer.headers["Cache-Control"], "no-store")
        for part in ("/live.js", "/live.css"):
            self.assertIn(f'"{part[1:]}"', page)
            answer, text = self.get(part)
            self.assertEqual(answer.status, 200)
            page += text
        # behind a proxy all addresses have a prefix
        self.assertNotRegex(page, r"""["'`(]/(live|report|api|events|metrics)""")
        self.assertNotIn("style=", index)
        self.assertNotIn("http", index.replace("https://", "").replace("http-equiv", ""))
        self.assertEqual(self.get("/etc/passwd")[0].status, 404)
        self.assertEqual(self.get("/../../etc/passwd")[0].status, 404)

    def test_figures_grow_with_the_log_and_equal_those_of_the_measurement(self):
        log = GrowingLog(self.logs)
        self.serve()
        for number in range(3):
            log.chunk(number)
        log.chunk(3, status="failed", error="disk on fire")
        log.chunk(4, entry_start=300, entry_stop=400)  # the same chunk again
        self.wait_for("four results", lambda: self.json("/api/v1/metrics")["num_chunks"] == 4)
        self.assertEqual(self.json("/api/v1/run")["state"], "running")
        log.end()
        self.wait_for("the end", lambda: self.json("/api/v1/run")["state"] == "finished")
        live = self.json("/api/v1/metrics")
        shown = subprocess.run(
            [CREMA, "show", self.logs, "--json"], capture_output=True, text=True, env=environment(), check=True
        )
        measured = json.loads(shown.stdout)["metrics"]
        compared = [key for key in live if not key.startswith("live_")]
        self.assertGreater(len(compared), 15)
        for key in compared:
            if live[key] is None or key == "peak_memory_bytes" or key == "memory_utilization_max":
                continue  # from chunks, too; a measurement uses only samples
            self.assertIsNotNone(measured[key], key)
            self.assertAlmostEqual(live[key], measured[key], delta=1e-9 * abs(measured[key]) + 1e-9, msg=key)

    def test_the_stream_sends_all_and_then_only_what_changed_and_goes_on_where_it_was(self):
        log = GrowingLog(self.logs)
        log.chunk(0)
        self.serve()
        stream = Stream(self.port, self.token)
        self.assertIn("Content-Type: text/event-stream", stream.head)
        last, delta = stream.message()
        self.assertTrue(delta["full"])
        self.assertFalse(delta["tiles"]["is_quiet"])  # what the page asks
        self.assertEqual(delta["stream_pale_above"], 0.32)
        while "ttbar" not in json.dumps(delta.get("datasets", {})):
            last, delta = stream.message()
        last, quiet = stream.message()
        self.assertNotIn("datasets", quiet)
        self.assertFalse(quiet["full"])
        stream.close()
        for number in range(1, 4):
            log.chunk(number)
        again = Stream(self.port, self.token, Last_Event_ID=last)
        seen = again.message()
        while "datasets" not in seen[1]:
            self.assertFalse(seen[1]["full"])
            seen = again.message()
        self.assertFalse(seen[1]["full"])
        again.close()
        polled = self.json(f"/api/live?since={last}")
        self.assertFalse(polled["full"])
        self.assertTrue(self.json("/api/live?since=0")["full"])
        self.assertTrue(self.json("/api/live?since=99999999999999")["full"])

    def test_what_nobody_measured_has_no_line(self):
        unknown = dict.fromkeys(("events", "bytes_read", "rss_start_bytes", "rss_stop_bytes", "rss_peak_bytes"))
        GrowingLog(self.logs).chunk(0, **unknown)
        self.serve()
        self.wait_for("the chunk", lambda: self.json("/api/v1/metrics")["num_chunks"] >= 1)
        seconds = self.wait_for("a second", lambda: self.json("/api/live?since=0").get("seconds"))
        for row in seconds.values():  # events, bytes, cores busy, CPU efficiency, memory, ...
            self.assertEqual((row[0], row[1], row[4]), (None, None, None))

    def test_hostile_names_stay_text_in_json_and_prometheus(self):
        log = GrowingLog(self.logs)
        hostile = '</script><img src=x onerror=alert(1)>"\\\n\u202e' + "x" * 10000
        log.chunk(0, dataset=hostile)
        with open(log.path, "ab") as raw:
            raw.write(json.dumps(invented_run.chunk_line(1, 0, 1, dataset="@@")).encode().replace(b"@@", b"\xff\xfe"))
            raw.write(b"\n")
        self.serve()
        self.wait_for("the chunk", lambda: self.json("/api/v1/metrics")["num_chunks"] >= 1)
        self.assertEqual(self.json("/api/v1/datasets")[0]["name"], hostile)
        answer, text = self.get("/metrics")
        self.assertEqual(answer.status, 200)
        self.assertIn("crema_dataset_chunks", text)
        for line in text.splitlines():
            self.assertRegex(line, r"^(# (HELP|TYPE) crema_\w+ .*|crema_\w+(\{.*\})? \S+)$")

    def test_gpus_of_a_run_that_goes_on_are_shown(self):
        log = GrowingLog(self.logs)
        log.chunk(0)
        path = os.path.join(self.logs, f"node-99-{log.start}.tree.ndjson")
        gpu = {"index": 0, "utilization_percent": 75, "power_mw": 250000, "tree_memory_bytes": 2 * 10**9}
        with open(path, "a", encoding="utf-8") as tree:
            fcntl.flock(tree, fcntl.LOCK_EX)
            for line in (
                {"type": "run", "name": "r", "command": ["r"], "host": "node", "pid": 100, "start_ns": log.start},
                {"type": "tree_sample", "time_ns": time.time_ns(), "gpus": [gpu]},
            ):
                tree.write(json.dumps(line) + "\n")
            tree.flush()
            self.serve()
            self.wait_for("the GPU", lambda: self.json("/api/v1/metrics").get("live_gpu_utilization") == 0.75)
            text = self.get("/metrics")[1]
            self.assertRegex(text, r"(?m)^crema_live_gpu_memory_bytes\S* 2000000000$")
            (tile,) = [row for row in self.json("/api/live?since=0")["tiles"]["rows"] if row["label"] == "GPU"]
            self.assertEqual((tile["text"], tile["mark"]), ("75 %", None))

    def test_progress_needs_a_total_and_tells_it(self):
        log = GrowingLog(self.logs)
        log.chunk(0)
        self.serve("--total-events", "ttbar=400,zjets=100")
        self.wait_for("a chunk", lambda: self.json("/api/live?since=0")["progress"]["chunks"] == 1)
        progress = self.json("/api/live?since=0")["progress"]
        self.assertEqual((progress["events"], progress["total_events"], progress["share"]), (100, 500, 0.2))
        self.assertEqual(self.json("/api/v1/datasets")[0]["total_events"], 400)


class WhatGoesWrong(ServeTestCase):
    def test_a_port_in_use_is_one_line(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            result = subprocess.run(
                [CREMA, "serve", self.logs, "--port", str(port)], capture_output=True, text=True, env=environment()
            )
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, rf"^crema: 127\.0\.0\.1 port {port}: Address already in use; .*--port[^\n]*\n$")

    def test_a_source_that_is_not_there_is_one_line(self):
        for command in ("serve", "top"):
            result = subprocess.run(
                [CREMA, command, self.logs + "x"], capture_output=True, text=True, env=environment()
            )
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, r"^crema: [^\n]*no such directory[^\n]*\n$")

    def test_wrong_totals_are_wrong_usage(self):
        for total in ("many", "ttbar=", "ttbar=-5", "0"):
            result = subprocess.run(
                [CREMA, "serve", self.logs, f"--total-events={total}"],
                capture_output=True,
                text=True,
                env=environment(),
            )
            self.assertEqual((result.returncode, result.stdout), (2, ""), total)

    # Fault [server]: the directory vanishes, and comes back
    # Shown: a warning; it is followed again
    def test_a_source_that_vanishes_and_comes_back_is_told(self):
        log = GrowingLog(self.logs)
        log.chunk(0)
        self.serve()
        self.wait_for("a chunk", lambda: self.json("/api/v1/metrics")["num_chunks"] == 1)
        os.rename(self.logs, self.logs + ".away")
        self.wait_for("the warning", lambda: any("has vanished" in text for text in self.texts()))
        self.assertFalse(self.json("/api/live?since=0")["sources"][0]["is_there"])
        os.rename(self.logs + ".away", self.logs)
        log.chunk(1)
        self.wait_for("the second chunk", lambda: self.json("/api/v1/metrics")["num_chunks"] == 2)
        self.assertTrue(any("is back" in text for text in self.texts()))

    # Fault [server]: the run dies
    # Shown: it is shown as dead, with its lost chunks
    def test_a_run_that_stops_without_an_end_is_told(self):
        log = GrowingLog(self.logs)
        log.put({**invented_run.begin_line(7, 0), "time_ns": time.time_ns()})
        log.chunk(0)
        self.serve()
        self.wait_for("a chunk in progress", lambda: len(self.json("/api/v1/chunks")) == 1)
        log.file.close()
        self.wait_for("the end", lambda: self.json("/api/v1/run")["state"] == "killed")
        self.assertEqual(self.json("/api/v1/metrics")["num_lost_attempts"], 1)
        self.assertEqual(self.json("/api/v1/chunks"), [])
        self.assertTrue(any("vanished without an end" in text for text in self.texts()))

    def test_it_names_the_next_step_when_it_ends(self):
        log = GrowingLog(self.logs)
        log.chunk(0)
        server = self.serve()
        self.wait_for("the chunk", lambda: self.json("/api/v1/metrics")["num_chunks"] == 1)
        server.send_signal(signal.SIGTERM)
        said = server.communicate(timeout=PATIENCE)[1]
        command = re.search(r"^next: crema (show .*?)  \(", said, re.MULTILINE)[1]
        following = subprocess.run([CREMA, *command.split()], capture_output=True, env=environment(), timeout=PATIENCE)
        self.assertEqual(following.returncode, 0, following.stderr)

    def test_sigterm_ends_it_with_clients_connected(self):
        server = self.serve()
        stream = Stream(self.port, self.token)
        stream.message()
        idle = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(PATIENCE), 0)
        while stream.message() is not None:
            pass
        self.assertEqual(idle.recv(1), b"")
        idle.close()

    def test_sigterm_ends_it_while_it_makes_the_report(self):
        log = GrowingLog(self.logs)
        log.chunk(0)
        log.end()
        measured = os.path.join(self.directory, "measured")
        subprocess.run([CREMA, "collect", self.logs, "-o", measured, "-q"], env=environment(), check=True)
        server = self.serve(source=measured)
        self.wait_for("the end", lambda: self.json("/api/v1/run")["state"] == "finished")
        signal.signal(signal.SIGIO, signal.SIG_IGN)  # the kernel says so that the lease is to be given up
        with open(os.path.join(measured, "measurement.json"), "ab") as document:
            try:
                fcntl.fcntl(document, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            except OSError as error:
                self.skipTest(f"no leases here: {error}")
            # Whoever opens the document waits for the lease: for 45 s (/proc/sys/fs/lease-break-time).
            self.assertEqual(self.get("/report")[0].status, 202)
            self.wait_for("the lease", lambda: fcntl.fcntl(document, fcntl.F_GETLEASE) != fcntl.F_WRLCK)
            server.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(PATIENCE / 2), 0)
        self.assertIn("next: crema show", server.stderr.read())

    def test_logs_that_come_later_are_found(self):
        self.serve()
        self.assertEqual(self.json("/api/v1/metrics")["num_chunks"], 0)
        log = GrowingLog(os.path.join(self.logs, "records"))
        log.chunk(0)
        self.wait_for("the chunk", lambda: self.json("/api/v1/metrics")["num_chunks"] == 1)


class Top(ServeTestCase):
    def start_on(self, slave):
        """Starts `crema top` on a terminal, which is not its controlling one."""
        fcntl.ioctl(slave, 0x5414, b"\x18\x00\x50\x00\x00\x00\x00\x00")  # TIOCSWINSZ: 24 rows, 80 columns
        return subprocess.Popen(
            [CREMA, "top", self.logs],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env={**environment(), "TERM": "xterm", "LC_ALL": "C.UTF-8"},
        )

    def on_terminal(self, log, how):
        """Runs `crema top` on a terminal, and ends it by `how(process, master)`. Returns what it drew, and its
        status."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        before = subprocess.run(["stty", "-g"], stdin=slave, capture_output=True, check=True).stdout
        process = self.start_on(slave)
        drawn = b""
        while b"what happened" not in drawn or b"1 chunk" not in drawn:
            drawn += os.read(master, 1 << 16)
        how(process, master)
        status = process.wait(PATIENCE)
        os.set_blocking(master, False)
        try:
            while data := os.read(master, 1 << 16):
                drawn += data
        except (BlockingIOError, OSError):
            pass
        self.assertEqual(subprocess.run(["stty", "-g"], stdin=slave, capture_output=True, check=True).stdout, before)
        os.close(slave)
        return drawn.decode(), status

    def test_gives_the_terminal_back_however_it_ends(self):
        log = GrowingLog(self.logs)
        log.chunk(0)
        for how in (
            lambda process, master: os.write(master, b"q"),
            lambda process, master: process.send_signal(signal.SIGINT),
            lambda process, master: process.send_signal(signal.SIGTERM),
            # Two signals are there at once: SIGTERM is taken first.
            lambda process, master: [
                process.send_signal(number)
                for number in (signal.SIGSTOP, signal.SIGWINCH, signal.SIGTERM, signal.SIGCONT)
            ],
        ):
            drawn, status = self.on_terminal(log, how)
            self.assertEqual(status, 0)
            self.assertTrue(drawn.startswith("\033[?1049h"))
            self.assertRegex(drawn, r"\033\[\?25h\033\[\?1049lnext: crema show \S+ --run \S+")
            first = drawn.split("\033[H")[1].split("\033[J")[0]
            self.assertLessEqual(first.count("\r\n") + 1, 24)

    def test_it_ends_if_the_terminal_is_gone_when_it_draws_for_a_signal(self):
        log = GrowingLog(self.logs)
        log.chunk(0)
        master, slave = pty.openpty()
        process = self.start_on(slave)
        drawn = b""
        while b"1 chunk" not in drawn:
            drawn += os.read(master, 1 << 16)
        time.sleep(0.3)  # between two pictures: the signal's is the first that cannot be drawn
        os.close(master)
        process.send_signal(signal.SIGWINCH)
        self.assertEqual(process.wait(PATIENCE), 0)
        os.close(slave)

    def test_ends_with_a_run_without_guards(self):
        with tempfile.TemporaryDirectory() as out:
            subprocess.run([CREMA, "run", "-q", "-o", f"{out}/plain", "--", "true"], check=True, env=environment())
            command = [CREMA, "top", f"{out}/plain"]
            done = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=PATIENCE)
            self.assertRegex(done.stdout, r"finished · 0 chunks[^\n]*\n$")
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_prints_lines_where_there_is_no_terminal(self):
        log = GrowingLog(self.logs)
        log.chunk(0)
        log.end()
        result = subprocess.run(
            [CREMA, "top", self.logs], capture_output=True, text=True, env=environment(), timeout=PATIENCE
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^\d+:\d\d finished · 1 chunk · 100 events \(10 %\) · [^\n]*\n$")
        self.assertNotIn("\033", result.stdout)


if __name__ == "__main__":
    unittest.main()
