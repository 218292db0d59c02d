"""The files of the Dask plug-in in a worker's process: who owns their descriptors, and what happens on a short disk.

Run by tools/test, outside Bazel: needs a Python with distributed, but no cluster. The tests use the log as the plug-in
does, with the real kernel, in separate processes.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from dask_test_case import CHECKOUT, PYTHON, why_not

BEGIN = """
import importlib.util, os, resource, sys, types
spec = importlib.util.spec_from_file_location("dask_plugin", os.environ["CREMA_TEST_PLUGIN"])
dask_plugin = importlib.util.module_from_spec(spec)
spec.loader.exec_module(dask_plugin)
folder = sys.argv[1]
log = dask_plugin._Log(folder + "/logs", "host", 42, 1000)
log.begin(dask_plugin._line(type="process", schema="crema.records/1"))

def task(number):
    log.write_task(dask_plugin._line(type="task", key="a task " + "x" * 200, attempt=number))

def end():
    fields = dict(unwritten=log.unwritten, tasks_left_out=log.tasks_left_out)
    return log.write_kept(dask_plugin._line(type="end", **fields), is_last=True)
"""
# The part of a worker that `_write_fine` looks at, with activities.
PLUGIN = """
plugin = dask_plugin.CremaWorkerPlugin()
plugin.log, plugin.clock, plugin._fine = log, dask_plugin._Clock(), {}
totals = {("execute", "span", "prefix", "thread-cpu", "seconds"): 1.0, ("get-data", "network", "bytes"): 7}
plugin.worker = types.SimpleNamespace(digests_total=totals, address="tcp://w:1")
"""


class WorkerLogTest(unittest.TestCase):
    def setUp(self):
        if why_not():
            self.skipTest(why_not())
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def run_worker(self, text, *before, **variables):
        """Runs `text` in a process that has begun a log. Returns what it printed. Exit status 77: this is not permitted
        here."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
        environment.update(CREMA_TEST_PLUGIN=str(CHECKOUT / "python/crema_hep/dask_plugin.py"), **variables)
        command = [*before, PYTHON, "-c", BEGIN + text, str(self.folder)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode == 77:
            self.skipTest("not allowed to mount a small tmpfs")
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return json.loads(done.stdout) if done.stdout else None

    def lines(self, folder="logs"):
        (path,) = (self.folder / folder).glob("*.jsonl")
        return [json.loads(line) for line in path.read_text().splitlines()], path.stat().st_size

    # Fault [library]: native code of a Dask worker closes all descriptors, and gets the numbers of the plug-in's files
    # Program: nothing: no line lands in its own files, and they stay open
    # Recorded: what came before
    def test_files_under_the_numbers_of_the_plug_in_stay_what_they_are(self):
        said = self.run_worker("""
import fcntl, json
cluster = dask_plugin._OwnFile(folder + "/cluster.ndjson", os.O_CREAT)
numbers = [log._file.fd, log._room._file.fd, cluster.fd]
flags = [fcntl.fcntl(number, fcntl.F_GETFD) for number in numbers]
task(0)
cluster.append(b"{}\\n")
os.closerange(3, 1100)
results = os.open(folder + "/results", os.O_RDWR | os.O_CREAT | os.O_APPEND)
for number in numbers:
    os.dup2(results, number)
for number in range(1, 50):
    task(number)
log._room.give(100)
try:
    cluster.append(b"{}\\n")
except OSError:
    pass
wrote_end = end()
log.close()
cluster.close()
for number in numbers:
    os.write(number, b"result\\n")
print(json.dumps([numbers, flags, log.unwritten, wrote_end]))
""")
        numbers, flags, unwritten, wrote_end = said
        self.assertGreaterEqual(min(numbers), 768)
        self.assertEqual(flags, [1, 1, 1])  # FD_CLOEXEC
        self.assertEqual((self.folder / "results").read_text(), "result\n" * 3)
        self.assertEqual((unwritten, wrote_end), (49, False))
        self.assertEqual([line["type"] for line in self.lines()[0]], ["process", "task"])

    # Fault [cluster]: crema is taken off a cluster, and closing a worker's log fails, as on a network's full disk
    # Program: nothing: no variable stays, and no descriptor
    # Recorded: what came before
    def test_a_log_that_cannot_be_closed_leaves_no_trace(self):
        self.run_worker(
            PLUGIN
            + """
import asyncio, errno
numbers = {log._file.fd, log._room._file.fd}
close = os.close

def close_late(number):
    close(number)
    if number in numbers:
        raise OSError(errno.EIO, "an earlier write failed")

os.close = close_late
os.environ["CREMA_DIR"] = folder
plugin._environment, plugin._switched_on, plugin._threads = {"CREMA_DIR": folder}, False, None
plugin._task = types.SimpleNamespace(cancel=lambda: None)
worker = types.SimpleNamespace(handlers={}, active_threads={}, status=types.SimpleNamespace(name="running"))
asyncio.run(plugin.teardown(worker))
assert "CREMA_DIR" not in os.environ
assert not numbers & set(map(int, os.listdir("/proc/self/fd")))
"""
        )

    def test_errors_keep_their_words_and_no_secret(self):
        texts = {
            "403 for root://host//f?authz=Bearer ab1 (Authorization: Bearer ab1)": "403 for root://host//f *** "
            "(Authorization: Bearer ***)",
            "x_token: ab1, password=ab1": "x_token: ***, password=***",
            "Unexpected token: } in the basic selection": "Unexpected token: } in the basic selection",
            "Invalid bearer token": "Invalid bearer token",
        }
        said = self.run_worker(
            f"import json; print(json.dumps([dask_plugin._without_secrets(text) for text in {list(texts)}]))"
        )
        self.assertEqual(said, list(texts.values()))

    # Fault [cluster]: the log of a Dask worker comes near `CREMA_MAX_LOG_BYTES`
    # Program: nothing
    # Recorded: the first tasks; the others are counted in `end.tasks_left_out`; what Dask's activities came to
    def test_a_log_stays_below_its_limit(self):
        self.run_worker(
            PLUGIN
            + """
for number in range(2000):
    task(number)
    totals["get-data", "network", "bytes"] += 1
assert plugin._write_fine() == 0
assert end()
""",
            CREMA_MAX_LOG_BYTES="200000",
        )
        lines, size = self.lines()
        self.assertLess(size, 200_000)
        tasks = [line for line in lines if line["type"] == "task"]
        self.assertGreater(len(tasks), 400)
        self.assertEqual(len(tasks) + lines[-1]["tasks_left_out"], 2000)
        self.assertEqual(lines[-1]["unwritten"], 0)
        self.assertEqual(sum(row[-1] for line in lines if line["type"] == "fine" for row in line["rows"]), 2008.0)

    # Fault [cluster]: the disk of a Dask worker is small, and its tasks fill it with their results
    # Program: nothing: tasks' lines take a tenth of what was free, and leave the rest to the results
    # Recorded: the first tasks; the others are counted in `end.tasks_left_out`; what Dask's activities came to, and the
    # end, for which room was kept
    def test_a_full_disk_has_room_for_sums_and_the_end(self):
        (self.folder / "logs").mkdir()
        mount = 'mount --make-rprivate / && mount -t tmpfs -o size=4m small "$0" || exit 77; exec "$@"'
        self.run_worker(
            PLUGIN
            + """
import shutil
for number in range(5000):
    task(number)
filler = os.open(folder + "/logs/results", os.O_WRONLY | os.O_CREAT)
results = 0
try:
    while True:
        results += os.write(filler, bytes(4096))
except OSError:
    pass
assert results > 3_000_000, results
assert plugin._write_fine() == 0
assert end()
log.close()
shutil.copytree(folder + "/logs", folder + "/kept", ignore=lambda *_: ["results"])
os.rename(folder + "/kept", folder + "/saved")
""",
            *("unshare", "--mount", "sh", "-c", mount, str(self.folder / "logs")),
        )
        lines, size = self.lines("saved")
        self.assertLess(size, 600_000)
        self.assertEqual(sum(row[-1] for line in lines if line["type"] == "fine" for row in line["rows"]), 8.0)
        tasks = [line for line in lines if line["type"] == "task"]
        self.assertEqual((lines[-1]["type"], len(tasks) + lines[-1]["tasks_left_out"]), ("end", 5000))

    # Fault [cluster]: a Dask worker's log cannot be written for a while (here by `RLIMIT_FSIZE`)
    # Program: nothing
    # Recorded: what Dask's activities came to meanwhile, as soon as it can; tasks are counted in `end.tasks_left_out`
    def test_what_could_not_be_told_is_told_by_the_next_line(self):
        self.run_worker(
            PLUGIN
            + """
assert plugin._write_fine() == 0
resource.setrlimit(resource.RLIMIT_FSIZE, (log._size, resource.RLIM_INFINITY))
totals["get-data", "network", "bytes"] += 10
assert plugin._write_fine() == 1
task(1)
totals["get-data", "network", "bytes"] += 10
assert plugin._write_fine() == 1
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert plugin._write_fine() == 0
assert plugin._write_fine() == 0
assert end()
"""
        )
        lines, _ = self.lines()
        rows = [row for line in lines if line["type"] == "fine" for row in line["rows"]]
        self.assertEqual(sum(row[-1] for row in rows if row[0] == "get-data"), 27)
        self.assertEqual(lines[-1]["tasks_left_out"], 1)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
