"""`crema serve` and `crema top` over real sockets and terminals: what is served, to whom, and what goes wrong."""

import contextlib
import fcntl
import http.client
import json
import os
import pathlib
import pty
import resource
import signal
import socket
import subprocess
import time
import unittest
import urllib.request

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

    def __init__(self, port, token, path="/events", **headers):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {token}", **headers}
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
        stream = Stream(self.port, self.token)
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


def raw(port, request):
    """What the server answers to these bytes, until it closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
        client.sendall(request)
        answer = b""
        try:
            while data := client.recv(1 << 16):
                answer += data
        except ConnectionResetError:
            pass
        return answer


class WhoIsServed(ServeTestCase):
    # Fault [server]: other methods than GET, and other hosts' names (DNS rebinding)
    # Shown: refused
    def test_only_get_and_only_this_machine_by_its_names(self):
        self.serve("--host", "Node17.cluster.example")
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "HEAD", "TRACE", "BREW"):
            answer, _ = self.get("/", method=method)
            self.assertEqual((answer.status, answer.headers["Allow"]), (405, "GET"), method)
        own = socket.gethostname()
        for host in ("evil.example.org", "evil.example.org:80", f"{own}.evil.example.org", "localhost.", "10.9.8.7"):
            for path in ("/", "/events", "/metrics"):
                self.assertEqual(self.get(path, Host=host)[0].status, 403, host)
        for host in (f"localhost:{self.port}", "127.0.0.1", "[::1]:80", own, "node17.cluster.example:1"):
            self.assertEqual(self.get("/", Host=host)[0].status, 200, host)
        answer, _ = self.get("/api/v1/run", Origin="http://evil.example.org")
        self.assertNotIn("Access-Control-Allow-Origin", answer.headers)

    # Fault [server]: a request with no `Host`, with two, or without a path
    # Shown: refused
    def test_a_request_has_one_host_and_a_path(self):
        self.serve()
        token = f"Authorization: Bearer {self.token}\r\nConnection: close\r\n\r\n".encode()
        for request in (
            b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example.org\r\n" + token,
            b"GET /metrics HTTP/1.1\r\nHost: evil.example.org\r\nHost: localhost\r\n" + token,
            b"GET /metrics HTTP/1.1\r\n" + token,
            b"GET http://evil.example.org/metrics HTTP/1.1\r\nHost: localhost\r\n" + token,
        ):
            self.assertTrue(raw(self.port, request).startswith(b"HTTP/1.1 400 "), request)

    # Fault [server]: pages of other sites ask
    # Shown: they get nothing; a link from there works
    def test_other_sites_pages_get_nothing_but_may_lead_here(self):
        self.serve()
        for site in ("cross-site", "same-site"):  # another port of this host is of the same site
            for mode in ("no-cors", "cors", "websocket"):
                answer, _ = self.get("/metrics", **{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode})
                self.assertEqual(answer.status, 403)
            answer, _ = self.get("/", **{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"})
            self.assertEqual(answer.status, 200)
        answer, page = self.get(
            f"/?token={self.token}", **{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        )
        # a browser sends no strict cookie with a redirection that began elsewhere
        self.assertEqual((answer.status, answer.headers["Location"]), (200, None))
        self.assertIn("url=/", page)
        self.assertIn("SameSite=Strict", answer.headers["Set-Cookie"])

    # Fault [server]: another user of the machine asks
    # Shown: nothing without the token
    def test_a_token_is_always_asked_for(self):
        self.serve()
        self.assertRegex(self.url, r"^http://127\.0\.0\.1:\d+/\?token=[0-9a-f]{32}$")
        for path in ("/", "/metrics", "/events", "/api/v1", "/live.js", "/report", "/nowhere"):
            answer, body = self.get(path, Authorization=None)
            self.assertEqual(answer.status, 401, path)
            self.assertNotIn(self.token, body + str(answer.headers))
            self.assertEqual(answer.headers["Referrer-Policy"], "no-referrer")
        self.assertEqual(self.get("/metrics", Authorization="Bearer wrong")[0].status, 401)
        self.assertEqual(self.get("/metrics", Authorization=f"Bearer {self.token}")[0].status, 200)
        encoded = "".join(f"%{ord(letter):02x}" for letter in self.token)
        self.assertEqual(self.get(f"/metrics?token={encoded}", Authorization=None)[0].status, 200)

    def test_the_printed_address_works_when_it_is_opened_and_leaves_a_cookie(self):
        self.serve("--token", "abc-12345")
        self.assertTrue(self.url.endswith("/?token=abc-12345"))
        answer, _ = self.get("/?token=abc-12345", Authorization=None)
        self.assertEqual((answer.status, answer.headers["Location"]), (303, "/"))
        cookie = answer.headers["Set-Cookie"]
        for part in ("HttpOnly", "SameSite=Strict", "Path=/"):
            self.assertIn(part, cookie)
        self.assertEqual(self.get("/", Cookie=cookie.split(";")[0])[0].status, 200)

    def test_two_servers_of_one_host_keep_each_others_cookies(self):
        cookies = []
        for _ in range(2):
            self.serve()
            answer, _ = self.get(f"/?token={self.token}", Authorization=None)
            cookies.append(answer.headers["Set-Cookie"].split(";")[0])
        self.assertNotEqual(cookies[0].split("=")[0], cookies[1].split("=")[0])
        self.assertEqual(self.get("/", Cookie="; ".join(cookies))[0].status, 200)
        self.assertEqual(self.get("/", Cookie=cookies[0])[0].status, 401)

    def test_a_token_file_is_made_and_kept_and_the_address_is_printed_without_it(self):
        file = pathlib.Path(self.directory, "token")
        for _ in range(2):
            server = self.serve("--token-file", str(file))
            self.assertEqual(self.token, "")
            self.assertEqual(file.stat().st_mode & 0o7777, 0o600)
            token = file.read_text().strip()
            self.assertEqual(self.get("/metrics")[0].status, 401)
            self.assertEqual(self.get("/metrics", Authorization=f"Bearer {token}")[0].status, 200)
            server.terminate()
            out, err = server.communicate(timeout=PATIENCE)
            self.assertNotIn(token, out + err)
        file.chmod(0o644)
        result = subprocess.run(
            [CREMA, "serve", self.logs, "--token-file", str(file)], capture_output=True, text=True, env=environment()
        )
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^crema: [^\n]*mode 0644[^\n]*\n$")

    def test_no_token_is_asked_for_where_it_was_said(self):
        self.serve("--no-token")
        self.assertRegex(self.url, r"^http://127\.0\.0\.1:\d+/$")
        self.assertEqual(self.get("/metrics")[0].status, 200)
        self.assertEqual(self.get("/metrics", Host="evil.example.org")[0].status, 403)

    def test_wrong_tokens_are_wrong_usage(self):
        for options in (
            ["--token", ""],
            ["--token", "short"],
            ["--token", "with; semicolon"],
            ["--token", "twice-given", "--no-token"],
            ["--token", "twice-given", "--token-file", "token"],
            ["--token-file", "token", "--no-token"],
        ):
            result = subprocess.run(
                [CREMA, "serve", self.logs, *options], capture_output=True, text=True, env=environment()
            )
            self.assertEqual((result.returncode, result.stdout), (2, ""), options)
            self.assertRegex(result.stderr, r"^crema: [^\n]*\n$")

    def test_at_all_addresses_the_printed_one_has_a_name(self):
        self.serve("--bind", "0.0.0.0")
        self.assertRegex(self.url, rf"^http://{socket.gethostname().lower()}:\d+/\?token=[0-9a-f]{{32}}$")
        self.assertEqual(self.get("/", Authorization=None)[0].status, 401)
        self.assertEqual(self.get("/", Host=self.url.split("/")[2])[0].status, 200)
        self.serve("--bind", "0.0.0.0", "--host", "node17.example")
        self.assertRegex(self.url, r"^http://node17\.example:\d+/")

    def test_by_ipv6_as_well(self):
        if not pathlib.Path("/proc/net/if_inet6").exists():
            self.skipTest("this machine has no IPv6")
        self.serve("--bind", "::1")
        self.assertRegex(self.url, r"^http://\[::1\]:\d+/\?token=")
        with urllib.request.urlopen(self.url.replace("/?", "/metrics?"), timeout=PATIENCE) as answer:
            self.assertEqual(answer.status, 200)

    def test_one_client_too_many_is_turned_away_and_comes_in_later(self):
        self.serve()
        streams = [Stream(self.port, self.token) for _ in range(32)]
        self.assertEqual(self.get("/")[0].status, 503)
        for stream in streams:
            self.assertIsNotNone(stream.message())
            stream.close()
        self.wait_for("room", lambda: self.get("/")[0].status == 200)

    def test_clients_that_ask_no_more_make_room(self):
        self.serve()
        idle = [http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE) for _ in range(40)]
        for client in idle:
            client.request("GET", "/live.css", headers={"Authorization": f"Bearer {self.token}"})
            answer = client.getresponse()
            self.assertEqual(answer.status, 200)
            answer.read()  # the connection stays
        for client in idle:
            client.close()

    # Fault [server]: clients without a token take all connections
    # Shown: who has the token comes in
    def test_strangers_cannot_fill_the_server(self):
        server = self.serve()
        page = Stream(self.port, self.token)
        silent = [socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) for _ in range(300)]
        half = [socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) for _ in range(300)]
        for client in half:
            with contextlib.suppress(ConnectionError):  # dropped already
                client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        self.assertEqual(self.get("/")[0].status, 200)
        self.assertIsNotNone(page.message())
        self.assertLess(len(os.listdir(f"/proc/{server.pid}/fd")), 100)
        for client in silent + half:
            client.close()

    # Fault [server]: no descriptor is left
    # Shown: it goes on with those that it has, and waits without using a core
    def test_at_the_limit_of_descriptors_it_serves_on_and_burns_no_core(self):
        def few_descriptors():
            resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))

        server = self.serve(preexec_fn=few_descriptors)
        page = Stream(self.port, self.token)
        held = [socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) for _ in range(40)]
        ticks = os.sysconf("SC_CLK_TCK")

        def cpu_seconds():
            fields = pathlib.Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / ticks

        begin, cpu_begin = time.monotonic(), cpu_seconds()
        for _ in range(4):
            self.assertIsNotNone(page.message())
        self.assertLess((cpu_seconds() - cpu_begin) / (time.monotonic() - begin), 0.25)
        self.assertEqual(self.get("/")[0].status, 200)
        for client in held:
            client.close()

    def test_requests_in_one_piece_are_answered_one_by_one(self):
        self.serve()
        head = f"Host: localhost\r\nAuthorization: Bearer {self.token}\r\n".encode()
        last = b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n"
        answers = raw(self.port, (b"GET /live.css HTTP/1.1\r\n" + head + b"\r\n") * 3 + last)
        self.assertEqual(answers.count(b"HTTP/1.1 200 OK"), 3)
        self.assertEqual(answers.count(b"HTTP/1.1 401 "), 1)  # each request shows the token anew

    # Fault [server]: requests with a body
    # Shown: refused
    def test_a_body_is_refused(self):
        self.serve()
        head = f"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.token}\r\n".encode()
        for body in (
            b"Content-Length: 4\r\n\r\nabcd",
            b"Content-Length: 99999999999\r\n\r\n",
            b"Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n",
        ):
            self.assertTrue(raw(self.port, head + body).startswith(b"HTTP/1.1 413 "), body)
        both = b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n"
        self.assertRegex(raw(self.port, head + both), rb"^HTTP/1.1 4\d\d ")
        self.assertEqual(raw(self.port, head + both).count(b"HTTP/1.1"), 1)
        answer = raw(self.port, b"HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertTrue(answer.endswith(b"\r\n\r\n"), answer)  # none of the answer either

    # Fault [server]: headers without an end
    # Shown: refused
    def test_a_flood_of_headers_is_refused(self):
        self.serve()
        flood = b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 20_000
        self.assertRegex(raw(self.port, flood), rb"^(HTTP/1.1 413 |$)")
        self.assertEqual(self.get("/")[0].status, 200)

    # Fault [server]: a client takes nothing of what it asked for
    # Shown: it is dropped; others do not wait
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
        request = f"GET /api/live?since=0&token={self.token} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        slow.sendall(request * 100)  # some 30 MB of answers
        page = Stream(self.port, self.token)
        other = Stream(self.port, self.token)
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

    # Fault [server]: bytes that are no request
    # Shown: an answer, or none; others are served
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
