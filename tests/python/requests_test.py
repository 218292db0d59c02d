"""crema measures uproot's requests to storage while a decorated function runs; the user writes no line for it.

Run by tools/test, outside Bazel, with the Python of tools/setup coffea. An HTTP server of this machine serves a file,
and answers slowly for a while.
"""

import http.server
import os
import re
import shutil
import threading
import time
import unittest

import installed

DATA = installed.CHECKOUT / "tests/data/nanoAOD_2015_CMS_Open_Data_ttbar.root"
DELAY_SECONDS = 0.2

READS = """
import sys
import uproot
from uproot.source import file, fsspec, http
import crema_hep as crema

path = sys.argv[1]
kinds = [fsspec.FSSpecSource, http.HTTPSource, http.MultithreadedHTTPSource, file.MemmapSource]
kinds.append(uproot.source.chunk.MultithreadedSource)
before = [dict(vars(kind)) for kind in kinds]
named = {"handler": getattr({"fsspec": fsspec, "http": http, "file": file}[sys.argv[2]], sys.argv[3])}

@crema.track_metrics
def analyse(events):
    assert [dict(vars(kind)) for kind in kinds] != before
    with uproot.open(path, **named) as opened:
        return len(opened["Events"]["LHEPdfWeight"].array(library="np"))

@crema.track_metrics
def fails(events):
    uproot.open(path + ".gone", **named)

print(analyse(1))
try:
    fails(1)
except Exception as error:
    print(type(error).__name__)
assert [dict(vars(kind)) for kind in kinds] == before
with uproot.open(path, **named) as opened:  # outside every chunk
    opened["Events"]["LHEPdfWeight"].array(library="np")
"""


ALONE = """
import sys
import fsspec
from fsspec.implementations import http, local
import crema_hep as crema

kinds = [http.HTTPFile, local.LocalFileOpener]
before = [dict(vars(kind)) for kind in kinds]

@crema.track_metrics
def analyse(path):
    with fsspec.open(path, "rb").open() as file:
        file.seek(1000)
        return len(file.read(5000))

@crema.track_metrics
def fails(path):
    with fsspec.open(path, "rb").open() as file:
        file._fetch_range(-5, "x")

assert analyse(sys.argv[1]) == 5000
try:
    fails(sys.argv[1])
except Exception:
    pass
assert [dict(vars(kind)) for kind in kinds] == before
"""


class _File(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        content = self.server.content
        if not self.path.endswith(".root"):
            self.send_error(404)
            return
        with self.server.lock:
            self.server.answered += 1
            slow = self.server.answered in self.server.slow
        if slow:
            time.sleep(DELAY_SECONDS)
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if asked is None:
            self.send_response(200)
            part = content
        else:
            start, stop = int(asked[1]), min(int(asked[2]) + 1, len(content))
            part = content[start:stop]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(part)

    def log_message(self, *arguments):
        pass


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """A client may disconnect at any time."""


class RequestsTest(installed.RecordedTest):
    python = str(installed.COFFEA_PYTHON)

    def setUp(self):
        super().setUp()
        if not installed.COFFEA_PYTHON.exists():
            self.skipTest("no .cache/coffea: tools/setup coffea")

    def rows(self, path, *handler, text=READS):
        recorded = self.record(text, path, *handler, python=self.python, CREMA_REQUESTS="1")
        chunks = installed.of_type(recorded, "chunk")
        self.assertEqual([chunk["status"] for chunk in chunks], ["ok", "failed"])
        return [chunk.get("requests", []) for chunk in chunks]

    def served(self, *handler, text=READS):
        """The chunks' rows, and the server's name."""
        server = _Server(("127.0.0.1", 0), _File)
        server.content = DATA.read_bytes()
        server.lock = threading.Lock()
        server.answered = 0
        server.slow = range(2, 5)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            name = f"http://127.0.0.1:{server.server_port}"
            return self.rows(f"{name}/events.root", *handler, text=text), name
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def check_served(self, *handler, errors=0):
        (rows, failed), name = self.served(*handler)
        self.assertGreaterEqual(sum(row.get("errors", 0) for row in failed), errors)
        self.assertEqual({row["server"] for row in rows}, {name})
        self.assertEqual({row["operation"] for row in rows}, {"read", "readv"})
        self.assertGreaterEqual(max(row["max_ns"] for row in rows), DELAY_SECONDS * 1e9)
        self.assertGreater(sum(row["bytes"] for row in rows), 1000)
        self.assertGreaterEqual(sum(row["count"] for row in rows), 3)

    def test_a_server_that_answers_slowly_for_a_while_is_told_with_its_slowest_request(self):
        self.check_served("http", "HTTPSource", errors=1)

    def test_fsspecs_requests_are_told_too(self):
        self.check_served("fsspec", "FSSpecSource")

    def test_fsspec_alone_is_measured_too(self):
        (rows, failed), name = self.served(text=ALONE)
        (row,) = rows
        self.assertEqual((row["server"], row["operation"]), (name, "read"))
        self.assertGreaterEqual(row["bytes"], 5000)
        self.assertGreaterEqual(row["count"], 1)
        self.assertEqual([row["errors"] for row in failed if "errors" in row], [1])

    def test_a_local_file_of_fsspecs_is_of_its_mount(self):
        rows, _ = self.rows(str(DATA), text=ALONE)
        (row,) = rows
        self.assertEqual((row["server"], row["operation"], row["bytes"]), (self.mount(), "read", 5000))

    def test_who_asks_is_not_in_the_name_of_the_server(self):
        text = """
import crema_hep as crema
with crema.TrackMetrics("ttbar"):
    crema.record_request("root://me:hunter2@one:1094//data", "read", 1.0)
"""
        chunk = self.record_chunk(text)
        self.assertEqual([row["server"] for row in chunk["requests"]], ["root://one:1094//data"])

    def test_totals_are_the_same_with_requests_and_without(self):
        text = READS.replace("    assert [dict(vars(kind)) for kind in kinds] != before\n", "")
        self.assertNotEqual(text, READS)

        def totals(**switch):
            recorded = self.record(text, DATA, "file", "MemmapSource", python=self.python, **switch)
            shutil.rmtree(self.records)
            chunks = installed.of_type(recorded, "chunk")
            self.assertEqual(["requests" in chunk for chunk in chunks], [bool(switch), False])
            names = ("status", "events", "bytes_read", "dataset", "columns", "metrics", "cuts")
            return [[chunk.get(name) for name in names] + installed.paths(chunk) for chunk in chunks]

        self.assertEqual(totals(), totals(CREMA_REQUESTS="1"))

    def test_nothing_is_measured_unless_it_is_asked_for(self):
        quiet = READS.replace("analyse(events):\n    assert", "analyse(events):\n    assert not")
        self.assertNotEqual(quiet, READS)
        chunks = installed.of_type(self.record(quiet, DATA, "file", "MemmapSource", python=self.python), "chunk")
        self.assertEqual(
            [(chunk["status"], chunk.get("requests")) for chunk in chunks], [("ok", None), ("failed", None)]
        )

    def mount(self):
        mount = os.path.abspath(DATA)
        while not os.path.ismount(mount):
            mount = os.path.dirname(mount)
        return mount

    def test_a_file_is_of_its_mount(self):
        rows, _ = self.rows(str(DATA), "file", "MemmapSource")
        self.assertEqual({row["server"] for row in rows}, {self.mount()})
        self.assertGreater(sum(row["bytes"] for row in rows), 1000)


if __name__ == "__main__":
    unittest.main()
