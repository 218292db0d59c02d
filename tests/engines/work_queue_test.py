"""A real manager of Work Queue and its workers, one of which is killed: compares crema's figures with the manager's
own."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLE = CHECKOUT / "examples/work_queue"
LIBRARY = CHECKOUT / "bazel-bin/sdk/c_api/libcrema.so.1"
PROGRAM = CHECKOUT / "bazel-bin/collector/cli/crema"
GIVEN_UP = 120  # seconds; later than this, nothing will come


def build() -> None:
    targets = ["//sdk/c_api:libcrema.so.1", "//collector/cli:crema"]
    subprocess.run(["bazel", "build", "--noshow_progress", *targets], cwd=CHECKOUT, check=True)


def wait_for(found, seen=lambda: ""):
    deadline = time.monotonic() + GIVEN_UP
    while not (result := found()):
        if time.monotonic() > deadline:
            raise AssertionError(f"it did not come {seen()}")
        time.sleep(0.05)
    return result


def kill_tree(pid) -> None:
    """Kills the process, then all below it: orphans would go on with tasks that the manager gave to another worker."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = file.read().split()
    os.kill(pid, signal.SIGKILL)
    for child in children:
        kill_tree(int(child))


@unittest.skipUnless(
    shutil.which("work_queue_worker") and pathlib.Path("/usr/include/cctools/work_queue.h").exists(),
    "no Work Queue: tools/setup engines installs it",
)
class WorkQueueTest(unittest.TestCase):
    def setUp(self):
        build()
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.records = self.folder / "records"
        self.records.mkdir()
        self.hold = self.folder / "go"
        for name, libraries in (
            ("manager", ["-lwork_queue", "-ldttools", "-lm", "-lz"]),
            ("analysis", ["-I", str(CHECKOUT / "sdk/c_api"), str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}"]),
        ):
            source = EXAMPLE / f"{name}.c"
            command = ["gcc", "-Wall", "-Wextra", "-Werror", source, "-o", self.folder / name, *libraries]
            subprocess.run(command, check=True)

    def start_catalog(self):
        """The variables by which a manager finds it."""
        port_file, log = self.folder / "port", self.folder / "catalog.log"
        # otherwise it would report to the university's catalog, and wait for the name to be resolved
        options = ["-Z", port_file, "-I", "127.0.0.1", "-u", "127.0.0.1", "-d", "all", "-o", log]
        catalog = self.start("catalog_server", *options)
        wait_for(
            lambda: port_file.exists() and port_file.read_text(), lambda: (catalog.poll(), log.read_text()[-2000:])
        )
        return {"CATALOG_HOST": "127.0.0.1", "CATALOG_PORT": port_file.read_text().strip()}

    def start(self, *command, **options):
        process = subprocess.Popen(command, cwd=self.folder, text=True, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start_worker(self, port):
        place = ["--single-shot", "--cores", "2", "--memory", "200", "--disk", "200", "-s", self.folder]
        environment = {**os.environ, "HOLD": str(self.hold)}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return self.start("work_queue_worker", *place, "127.0.0.1", port, env=environment, **quiet)

    def serve(self, source):
        """Starts `crema serve` beside the manager. Yields a function that requests one of its tables."""
        server = self.start(PROGRAM, "serve", self.records, source, stdout=subprocess.PIPE)
        url, _, token = server.stdout.readline().strip().partition("?token=")

        def ask(table):
            request = urllib.request.Request(
                urllib.parse.urljoin(url, f"/api/v1/{table}"), headers={"Authorization": f"Bearer {token}"}
            )
            with urllib.request.urlopen(request, timeout=GIVEN_UP) as answer:
                return json.load(answer)

        return ask

    def wait_for_counts(self, ask, **counts):
        """Waits until the manager's row has these values."""

        def counts_of_row():
            rows = ask("schedulers")
            return [{name: row[name] for name in counts} for row in rows] == [counts]

        wait_for(counts_of_row, lambda: (ask("schedulers"), ask("events")))

    def open_chunks(self):
        logs = list(self.records.glob("*.jsonl"))
        return sum(b'"type":"begin"' in log.read_bytes() for log in logs)

    def test_workers_tasks_and_joins_are_the_managers(self):
        manager = self.start("./manager", "analysis", self.records, stdout=subprocess.PIPE)
        port = manager.stdout.readline().strip()
        wait_for((self.folder / "transactions.log").exists)
        ask = self.serve("transactions.log")
        killed = self.start_worker(port)
        wait_for(lambda: self.open_chunks() == 2)
        self.wait_for_counts(ask, workers=1, cores=2, processing=2, waiting=6, finished=0)
        kill_tree(killed.pid)
        wait_for(lambda: any("FAILURE" in event["text"] for event in ask("events")))
        self.wait_for_counts(ask, workers=0, cores=0, processing=0, waiting=8, finished=0)
        self.assertEqual(ask("run")["state"], "running")
        self.hold.touch()
        self.start_worker(port)
        self.wait_for_counts(ask, workers=0, processing=0, waiting=0, finished=8, erred=0)
        wait_for(lambda: any("has ended" in event["text"] for event in ask("events")))
        counted = json.loads(manager.stdout.readline())
        self.assertEqual((counted["done"], counted["failed"], counted["joined"]), (8, 0, 2))
        self.assertEqual(manager.wait(GIVEN_UP), 0)

        collect = [PROGRAM, "collect", self.records, self.folder / "transactions.log", "-o", self.folder / "run", "-q"]
        done = subprocess.run(collect, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads((self.folder / "run/measurement.json").read_text())
        metrics, quality = document["metrics"], document["quality"]
        self.assertEqual(document["run"]["engine"], "Work Queue")
        self.assertEqual((metrics["num_chunks"], metrics["total_events"]), (8, 800))
        self.assertEqual(metrics["num_lost_attempts"], 2)
        self.assertEqual(metrics["task_join_coverage"], 1.0)
        self.assertEqual(quality["tasks_read"], counted["dispatched"])
        self.assertEqual((metrics["num_tasks"], metrics["num_failed_tasks"]), (8, 0))
        workers = document["workers"]
        self.assertEqual([worker["cores"] for worker in workers], [2] * counted["joined"])
        self.assertEqual(sorted(worker["chunks"] for worker in workers), [0, 8])
        (lost,) = [worker for worker in workers if worker["state"] == "lost"]
        self.assertEqual((lost["lost"], lost["left_reason"]), (2, "FAILURE"))
        (verdict,) = [verdict for verdict in document["verdicts"] if verdict["id"] == "worker-loss"]
        self.assertIn("the engine says FAILURE", verdict["sentence"])

    @unittest.skipUnless(shutil.which("catalog_server"), "no catalog: tools/setup engines installs it")
    def test_where_its_log_is_not_a_catalog_tells_of_it(self):
        self.hold.touch()
        catalog = self.start_catalog()
        ask = self.serve(f"workqueue://127.0.0.1:{catalog['CATALOG_PORT']}/crema%20test")
        wait_for(
            lambda: any("it knows no wq_master of the name crema test" in event["text"] for event in ask("events")),
            lambda: ask("events"),
        )
        manager = self.start(
            "./manager", "analysis", self.records, "crema test", stdout=subprocess.PIPE, env={**os.environ, **catalog}
        )
        port = manager.stdout.readline().strip()
        self.wait_for_counts(ask, workers=0, cores=0, processing=0, waiting=8)
        wait_for(lambda: ask("run")["state"] == "running", lambda: ask("run"))
        self.start_worker(port)
        self.assertEqual(manager.wait(GIVEN_UP), 0)


if __name__ == "__main__":
    unittest.main()
