"""Runs real commands under the real `crema run`: what its tests have in common."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

# Beside the test, not beside this file: Python follows the links of Bazel's runfiles for modules.
CREMA = str(pathlib.Path(sys.argv[0]).absolute().parent / "crema")
# Nothing here waits for a time to pass; this only ends a test that would hang.
PATIENCE_SECONDS = 60

# Commands are Python programs; this begins each of them.
PRELUDE = """
import glob, json, os, resource, signal, subprocess, sys, time

def cpu(who=resource.RUSAGE_SELF):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime

def burn(seconds):
    while cpu() < seconds:
        sum(range(1000))

def say(name, value):
    with open(os.path.join(os.environ["OUT"], name + ".tmp"), "w") as file:
        json.dump(value, file)
    os.rename(file.name, os.path.join(os.environ["OUT"], name))

def wait_for(condition):
    while not condition():
        time.sleep(0.01)

def exists(name):
    return os.path.exists(os.path.join(os.environ["OUT"], name))

def sampled(pid, cpu_seconds):
    for path in glob.glob(os.environ["CREMA_DIR"] + "/*.tree.ndjson"):
        for line in open(path):
            for row in json.loads(line).get("process_rows", []):
                if row["pid"] == pid and row["cpu_ns"] >= cpu_seconds * 1e9:
                    return True
    return False
"""


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("the condition never came true")
        time.sleep(0.01)


def process_state(pid):
    """The state letter of proc(5), or None once the process is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None


class RunTestCase(unittest.TestCase):
    def setUp(self):
        self.out = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.out, ignore_errors=True)
        self.directory = self.out / "run"
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("CREMA_", "SLURM_", "_CONDOR_"))
        }
        self.environment["OUT"] = str(self.out)

    def arguments(self, *command, options=()):
        return [CREMA, "run", "-o", str(self.directory), *options, "--", *command]

    def run_command(self, *command, options=("-q",), **keywords):
        keywords.setdefault("env", self.environment)
        return subprocess.run(
            self.arguments(*command, options=options), capture_output=True, timeout=PATIENCE_SECONDS, **keywords
        )

    def run_python(self, program, options=("-q",), **keywords):
        return self.run_command(sys.executable, "-c", PRELUDE + program, options=options, **keywords)

    def start_python(self, program, options=("-q",), **keywords):
        process = subprocess.Popen(
            self.arguments(sys.executable, "-c", PRELUDE + program, options=options),
            env=self.environment,
            start_new_session=True,
            **keywords,
        )
        self.end_with_test(process)
        return process

    def end_with_test(self, leader):
        """The leader of a session and its group, of which crema may leave the command behind."""

        def end():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(leader.pid, signal.SIGKILL)
            leader.wait()

        self.addCleanup(end)

    def said(self, name):
        return json.loads((self.out / name).read_text())

    def lines(self, kind=None):
        (log,) = (self.directory / "records").glob("*.tree.ndjson")
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        return [line for line in lines if kind in (None, line["type"])]

    def end(self):
        (end,) = self.lines("run_end")
        return end

    def tree_cpu_seconds(self):
        end = self.end()
        return (end["tree_cpu_user_ns"] + end["tree_cpu_system_ns"]) / 1e9
