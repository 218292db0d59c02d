"""A test that has `crema serve` serve something, and asks it."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

CREMA = str(pathlib.Path(__file__).absolute().parent / "crema")
PATIENCE = 60  # seconds; never waited for where all is well


def environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}


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
