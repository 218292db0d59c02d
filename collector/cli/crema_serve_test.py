"""`crema serve` and `crema top` over real sockets and terminals: what is served, to whom, and what goes wrong."""

import fcntl
import json
import os
import pathlib
import pty
import signal
import socket
import subprocess
import time
import unittest

from collector.cli import invented_run
from collector.cli.serve_test_case import CREMA, PATIENCE, ServeTestCase, environment


class GrowingLog:
    """The log of a process that is alive as long as this is open."""

    def __init__(self, directory, pid=100):
        os.makedirs(directory, exist_ok=True)
        self.path = os.path.join(directory, f"node-{pid}-{time.time_ns()}-0.jsonl")
        self.file = open(self.path, "a", encoding="utf-8")  # noqa: SIM115  it is held until the process "ends"
        fcntl.flock(self.file, fcntl.LOCK_EX)
        self.start = time.time_ns()
        line = invented_run.process_line(pid)
        self.put({**line, "start_ns": self.start, "threads": 2, "attributes": {"total_events": 1000}})

    def put(self, *lines):
        for line in lines:
            self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def chunk(self, number, dataset="ttbar", **changes):
        """A chunk of 100 events that ended now and took a second."""
        now = time.time_ns()
        line = invented_run.chunk_line(number, 0, 1, dataset=dataset)
        self.put({**line, "start_ns": now - 10**9, "stop_ns": now, "events": 100, **changes})

    def end(self):
        self.put({**invented_run.end_line(0, 1), "time_ns": time.time_ns()})
        self.file.close()


class Stream:
    """The events that a page would get."""

    def __init__(self, port, path="/events", **headers):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n".encode())
        self.file = self.socket.makefile("rb")
        self.head = []
        while (line := self.file.readline().strip()) != b"":
            self.head.append(line.decode())

    def message(self):
        fields = {}
        while True:
            line = self.file.readline()
            if not line:
                return None
            line = line.decode().rstrip("\n")
            if not line and "data" in fields:
                return int(fields["id"]), json.loads(fields["data"])
            if ": " in line:
                name, value = line.split(": ", 1)
                fields[name] = value

    def close(self):
        self.file.close()
        self.socket.close()


class WhatIsServed(ServeTestCase):
    def test_the_page_has_all_its_parts_and_lets_nothing_else_in(self):
        self.serve()
        answer, page = self.get("/")
        self.assertEqual(answer.status, 200)
        self.assertIn("default-src 'none'", answer.headers["Content-Security-Policy"])
        self.assertIn("connect-src 'self'", answer.headers["Content-Security-Policy"])
        self.assertEqual(answer.headers["Cache-Control"], "no-store")
        for part in ("/live.js", "/live.css"):
            self.assertIn(f'"{part}"', page)
            self.assertEqual(self.get(part)[0].status, 200)
        self.assertNotIn("style=", page)
        self.assertNotIn("http", page.replace("https://", "").replace("http-equiv", ""))
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
                continue  # of chunks too, where a measurement takes samples only
            self.assertAlmostEqual(live[key], measured[key], delta=1e-9 * abs(measured[key]) + 1e-9, msg=key)

    def test_the_stream_sends_all_and_then_only_what_changed_and_goes_on_where_it_was(self):
        log = GrowingLog(self.logs)
        log.chunk(0)
        self.serve()
        stream = Stream(self.port)
        self.assertIn("Content-Type: text/event-stream", stream.head)
        last, delta = stream.message()
        self.assertTrue(delta["full"])
        while "ttbar" not in json.dumps(delta.get("datasets", {})):
            last, delta = stream.message()
        last, quiet = stream.message()
        self.assertNotIn("datasets", quiet)
        self.assertFalse(quiet["full"])
        stream.close()
        for number in range(1, 4):
            log.chunk(number)
        again = Stream(self.port, Last_Event_ID=last)
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

    def test_progress_needs_a_total_and_tells_it(self):
        log = GrowingLog(self.logs)
        log.chunk(0)
        self.serve("--total-events", "ttbar=400,zjets=100")
        self.wait_for("a chunk", lambda: self.json("/api/live?since=0")["progress"]["chunks"] == 1)
        progress = self.json("/api/live?since=0")["progress"]
        self.assertEqual((progress["events"], progress["total_events"], progress["share"]), (100, 500, 0.2))
        self.assertEqual(self.json("/api/v1/datasets")[0]["total_events"], 400)


class WhoIsServed(ServeTestCase):
    def test_only_get_and_only_this_machine_by_its_names(self):
        self.serve()
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            answer, _ = self.get("/", method=method)
            self.assertEqual((answer.status, answer.headers["Allow"]), (405, "GET"))
        self.assertEqual(self.get("/", Host="evil.example.org")[0].status, 403)
        self.assertEqual(self.get("/events", Host="evil.example.org:80")[0].status, 403)
        self.assertEqual(self.get("/", Host=f"localhost:{self.port}")[0].status, 200)
        answer, _ = self.get("/api/v1/run", Origin="http://evil.example.org")
        self.assertNotIn("Access-Control-Allow-Origin", answer.headers)

    def test_a_token_is_asked_for(self):
        self.serve("--token", "abc123")
        self.assertTrue(self.url.endswith("/?token=abc123"))
        self.assertEqual(self.get("/")[0].status, 401)
        self.assertEqual(self.get("/metrics", Authorization="Bearer wrong")[0].status, 401)
        self.assertEqual(self.get("/metrics", Authorization="Bearer abc123")[0].status, 200)
        answer, _ = self.get("/?token=abc123")
        self.assertEqual((answer.status, answer.headers["Location"]), (303, "/"))
        cookie = answer.headers["Set-Cookie"]
        self.assertIn("HttpOnly", cookie)
        self.assertEqual(self.get("/", Cookie=cookie.split(";")[0])[0].status, 200)

    def test_another_address_makes_up_a_token(self):
        self.serve("--bind", "0.0.0.0")
        self.assertRegex(self.url, r"^http://0\.0\.0\.0:\d+/\?token=[0-9a-f]{32}$")
        self.assertEqual(self.get("/")[0].status, 401)

    def test_one_client_too_many_is_turned_away_and_comes_in_later(self):
        self.serve()
        streams = [Stream(self.port) for _ in range(32)]
        self.assertEqual(self.get("/")[0].status, 503)
        for stream in streams:
            self.assertIsNotNone(stream.message())
            stream.close()
        self.wait_for("room", lambda: self.get("/")[0].status == 200)

    def test_who_takes_nothing_is_dropped_and_others_do_not_wait_for_him(self):
        log = GrowingLog(self.logs)
        for number in range(150):
            log.chunk(number, dataset=f"dataset_{number}_" + "x" * 2000)
        self.serve()
        self.wait_for("the log", lambda: self.json("/api/v1/metrics")["num_chunks"] == 150)
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", self.port))
        self.addCleanup(slow.close)
        request = b"GET /api/live?since=0 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        slow.sendall(request * 100)  # some 30 MB of answers
        page = Stream(self.port)
        other = Stream(self.port)
        for _ in range(3):
            self.assertIsNotNone(page.message())
            self.assertIsNotNone(other.message())
        self.assertEqual(self.get("/")[0].status, 200)
        received = 0
        slow.settimeout(PATIENCE)

        def is_dropped():
            # what the kernel holds is read only after the server gave up
            state = pathlib.Path("/proc/net/tcp").read_text().splitlines()
            local = f":{slow.getsockname()[1]:04X}"
            mine = [line.split() for line in state if line.split()[2].endswith(local)]
            return not mine or all(fields[3] != "01" for fields in mine)

        self.wait_for("the slow client to be dropped", is_dropped)
        try:
            while data := slow.recv(1 << 16):
                received += len(data)
        except ConnectionError:
            pass
        self.assertLess(received, 30_000_000)

    def test_nonsense_is_answered_or_dropped_and_harms_nobody(self):
        self.serve()
        for nonsense in (
            b"\x00\xff" * 100 + b"\r\n\r\n",
            b"GET\r\n\r\n",
            b"GET / HTTP/9.9\r\n\r\n",
            b"\r\n" * 50,
            b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n",
        ):
            client = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
            client.sendall(nonsense)
            client.close()
        self.assertEqual(self.get("/")[0].status, 200)


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

    def test_sigterm_ends_it_with_clients_connected(self):
        server = self.serve()
        stream = Stream(self.port)
        stream.message()
        idle = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(PATIENCE), 0)
        while stream.message() is not None:
            pass
        self.assertEqual(idle.recv(1), b"")
        idle.close()

    def test_logs_that_come_later_are_found(self):
        self.serve()
        self.assertEqual(self.json("/api/v1/metrics")["num_chunks"], 0)
        log = GrowingLog(os.path.join(self.logs, "records"))
        log.chunk(0)
        self.wait_for("the chunk", lambda: self.json("/api/v1/metrics")["num_chunks"] == 1)


class Top(ServeTestCase):
    def on_terminal(self, log, how):
        """Runs `crema top` on a terminal, ends it by `how(process, master)`; what it drew, and its status."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        fcntl.ioctl(slave, 0x5414, b"\x18\x00\x50\x00\x00\x00\x00\x00")  # TIOCSWINSZ: 24 rows, 80 columns
        before = subprocess.run(["stty", "-g"], stdin=slave, capture_output=True, check=True).stdout
        process = subprocess.Popen(
            [CREMA, "top", self.logs],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env={**environment(), "TERM": "xterm", "LC_ALL": "C.UTF-8"},
        )
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
        ):
            drawn, status = self.on_terminal(log, how)
            self.assertEqual(status, 0)
            self.assertTrue(drawn.startswith("\033[?1049h"))
            self.assertIn("\033[?25h\033[?1049l", drawn)
            first = drawn.split("\033[H")[1].split("\033[J")[0]
            self.assertLessEqual(first.count("\r\n") + 1, 24)

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
