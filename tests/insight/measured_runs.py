"""Runs programs whose chunks take known times, and measures each into a separate directory."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import invariants

CREMA = pathlib.Path("collector/cli/crema").resolve()
PLANTED_WAITS = pathlib.Path("tests/insight/planted_waits").resolve()
QUEUE = pathlib.Path("tests/insight/chunk_queue").resolve()
LONG = bool(os.environ.get("CREMA_TEST_LONG"))


def crema(*arguments, **options):
    return subprocess.run([CREMA, *map(str, arguments)], check=False, capture_output=True, text=True, **options)


class MeasuredRunsCase(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.printed = {}  # run: the standard output of its command

    def measure(self, name, *command, options=(), **variables):
        directory = self.scratch / name
        environment = {**os.environ, **variables}
        run = [CREMA, "run", "-q", *options, "-o", directory, "--", *map(str, command)]
        done = subprocess.run(run, check=True, env=environment, stdout=subprocess.PIPE, text=True)
        self.printed[name] = done.stdout
        document = json.loads((directory / "measurement.json").read_text(encoding="utf-8"))
        self.assertEqual(invariants.broken(document), [])
        return directory

    def json_of(self, *arguments):
        done = crema(*arguments, "--json")
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)
