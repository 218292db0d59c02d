"""Who may use `crema serve`, and what it does with clients that may not, or that ask too much."""

import contextlib
import http.client
import os
import pathlib
import resource
import socket
import subprocess
import time
import unittest
import urllib.request

from collector.cli.serve_test_case import CREMA, PATIENCE, GrowingLog, ServeTestCase, Stream, environment


def raw(port, request):
    """The server's answer to these bytes, until it closes the connection."""
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
        self.assertIn("url=./", page)
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
        self.assertEqual((answer.status, answer.headers["Location"]), (303, "./"))
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
        self.assertTrue(answer.endswith(b"\r\n\r\n"), answer)  # nor does it read the answer

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
            # the client reads the bytes in the kernel only after the server gave up
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

    # Fault [server]: bytes that are not a request
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


if __name__ == "__main__":
    unittest.main()
