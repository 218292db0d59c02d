"""A test that has `crema serve` serve something, and asks it."""

import contextlib
import fcntl
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

from collector.cli import invented_run

CREMA = str(pathlib.Path(__file__).absolute().parent / "crema")
PATIENCE = 60  # seconds; never waited for where all is well


def environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}


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


class ServeTestCase(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.logs = os.path.join(self.directory, "logs")
        os.mkdir(self.logs)

    def serve(self, *arguments, source=None, **keywords):
        """Starts a server; its process, the address that it prints, and the token in it."""
        server = subprocess.Popen(
            [CREMA, "serve", source or self.logs, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            **keywords,
        )
        self.addCleanup(self.end, server)
        self.url = server.stdout.readline().strip()
        self.assertRegex(self.url, r"^http://", server.stderr.read() if not self.url else "")
        self.port = int(re.search(r":(\d+)/", self.url)[1])
        self.token = self.url.partition("?token=")[2]
        return server

    def end(self, server):
        if server.poll() is None:
            server.kill()
        server.communicate()

    def get(self, path, method="GET", **headers):
        """Asks with the token, or with what `headers` say instead."""
        if self.token and not {"Authorization", "Cookie"} & set(headers):
            headers["Authorization"] = f"Bearer {self.token}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(connection):  # the server has room for few clients
            connection.request(method, path, headers={name: value for name, value in headers.items() if value})
            answer = connection.getresponse()
            return answer, answer.read().decode()

    def json(self, path):
        answer, body = self.get(path)
        self.assertEqual(answer.status, 200, body)
        return json.loads(body)

    def wait_for(self, what, condition):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.1)
        raise self.failureException(f"waited in vain for {what}")

    def texts(self):
        return [event["text"] for event in self.json("/api/v1/events")]
