"""Requests all documents of `crema serve`, once it has read everything."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request

READ_SECONDS = 1.0  # the server reads once a second
START_PATIENCE = 60.0
READ_PATIENCE = 5.0  # after the last new record, for sources in which the server counts fewer records than `collect`
REPORT_PATIENCE = 120.0
SERVE_SECONDS = 300.0  # the time limit of a server; only a hanging one takes so long
ENDPOINT = re.compile(r"^\| `(/api/v1[\w/]*)` \|", re.MULTILINE)
MORE_ENDPOINTS = ("/api/live?since=0", "/metrics", "/api/v1/no-such-document")
COUNTED = ("records_read", "records_malformed", "records_unknown")


class ServeError(RuntimeError):
    """The server did not answer; the text says why."""


def endpoints(root: pathlib.Path) -> list[str]:
    """The documents that docs/live_api.md lists."""
    listed = ENDPOINT.findall((root / "docs/live_api.md").read_text())
    if not listed:
        raise ServeError("docs/live_api.md lists no documents: mend tools/served_documents.py")
    return [*listed, *MORE_ENDPOINTS]


def get(address: str, path: str) -> tuple[int, str, bytes]:
    """Status, type and body of an answer."""
    try:
        with urllib.request.urlopen(address + path, timeout=START_PATIENCE) as answer:
            return answer.status, answer.headers.get("Content-Type", ""), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers.get("Content-Type", ""), error.read()


def wait_until_read(address: str, records: int) -> None:
    """Returns when the server has counted this many records (or as many as it will), and notices nothing new."""
    last = -1
    end = time.monotonic() + READ_PATIENCE
    while time.monotonic() < end:
        quality = json.loads(get(address, "/api/v1/quality")[2])
        count = sum(quality[name] or 0 for name in COUNTED)
        if count != last:
            last, end = count, time.monotonic() + READ_PATIENCE
        if count >= records:
            break
        time.sleep(0.1)
    before, unchanged = b"", 0
    end = time.monotonic() + START_PATIENCE
    while time.monotonic() < end:
        time.sleep(1.5 * READ_SECONDS)
        noticed = get(address, "/api/v1/quality")[2] + get(address, "/api/v1/events")[2]
        unchanged = unchanged + 1 if noticed == before else 0
        if unchanged == 2:  # once may be a server that got no CPU
            break
        before = noticed


def write_answers(address: str, paths: list[str], folder: pathlib.Path) -> None:
    for path in paths:
        status, kind, body = get(address, path)
        file = folder / path.lstrip("/").replace("?", "_")
        if file.name == "v1":
            file = file / "all"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
        file.with_name(file.name + ".head").write_text(f"{status} {kind}\n")


def write_report(address: str, folder: pathlib.Path) -> None:
    end = time.monotonic() + REPORT_PATIENCE
    while (answer := get(address, "/report"))[0] == 202 and time.monotonic() < end:
        time.sleep(0.1)
    (folder / "served_report.html").write_bytes(answer[2])


def ask(command: list[str], paths: list[str], records: int, output: pathlib.Path, **process) -> int:
    """Starts a server, and writes its answers and what it printed into a folder. Returns its exit status."""
    folder = output / "files"
    with open(output / "stderr", "wb") as errors:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, start_new_session=True, **process)

    def kill() -> None:
        with contextlib.suppress(ProcessLookupError):  # it and what it started, which may hold its stdout
            os.killpg(server.pid, signal.SIGKILL)

    with contextlib.ExitStack() as stack:
        stack.callback(server.wait)
        stack.callback(kill)
        deadline = threading.Timer(SERVE_SECONDS, kill)
        deadline.start()
        stack.callback(deadline.cancel)
        first = server.stdout.readline()
        address = re.match(rb"http://[^/]+", first)
        if address:
            text = address[0].decode()
            wait_until_read(text, records)
            write_answers(text, paths, folder)
            write_report(text, folder)
            server.send_signal(signal.SIGINT)
        try:
            rest, _ = server.communicate(timeout=START_PATIENCE)
        except subprocess.TimeoutExpired:
            raise ServeError(f"the server did not end within {START_PATIENCE:.0f} s of SIGINT") from None
        (output / "stdout").write_bytes(first + rest)
    return server.returncode
