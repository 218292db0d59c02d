"""The live page in a real browser, while a job of several processes runs, loses one, and ends."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import page_case
from page_case import CHECKOUT, CREMA, DRAW_ALL, PageTestCase, crema, without_crema

from collector.cli import invented_run
from collector.cli.invented_scheduler import InventedScheduler

sys.path.insert(0, str(CHECKOUT / "tests/simulated"))

import simulated_run  # noqa: E402

WORKERS = 4
PATIENCE = 60  # seconds: only a failing test waits so long


def setUpModule():
    page_case.require_browser()
    page_case.build("//sdk/c_api:libcrema.so.1")


class LivePage(PageTestCase):
    def start_server(self, source, *options):
        """The server, and the address that it prints."""
        command = [CREMA, "serve", source, "-q", *options]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=without_crema())
        self.addCleanup(self.end, server)
        return server, server.stdout.readline().strip()

    def serve(self, source):
        """Starts a server and opens its page."""
        self.server, printed = self.start_server(source)
        self.assertRegex(printed, "^http://127.0.0.1:.*token=")
        self.address = printed.partition("?")[0]
        self.browser.open_address(printed)
        self.assertEqual(self.browser.run("return location.href"), self.address, "the token stays in no history")

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def start_job(self, measurement):
        """Starts the job under `crema run`. Returns its process, and the process ids of the workers."""
        directory = pathlib.Path(self.folder, "job")
        directory.mkdir()
        script = pathlib.Path(__file__).with_name("several_workers.py")
        environment = {
            **without_crema(),
            "CREMA_LIBRARY": str(CHECKOUT / "bazel-bin/sdk/c_api/libcrema.so.1"),
            "PYTHONPATH": str(CHECKOUT / "python"),
        }
        command = [CREMA, "run", "-q", "-o", measurement, "--", sys.executable, script, directory, str(WORKERS)]
        job = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        self.addCleanup(self.end, job)
        self.addCleanup((directory / "stop").touch)
        end = time.monotonic() + PATIENCE
        while not (directory / "pids").exists():
            self.assertLess(time.monotonic(), end, "the job did not start")
            time.sleep(0.05)
        return job, directory, [int(pid) for pid in (directory / "pids").read_text().split()]

    def wait_for(self, what, script):
        found = self.browser.wait(script, PATIENCE)
        self.assertTrue(found, f"{what}: {self.browser.run('return document.body.innerText')}")
        return found

    def assert_asks_only_its_server(self):
        self.assertEqual(self.browser.console(), [])
        for address in self.browser.requests():
            self.assertRegex(address, f"^({re.escape(self.address)}|data:,|about:blank)")

    def keep_picture(self, name):
        if page_case.PICTURES:
            pathlib.Path(page_case.PICTURES).mkdir(parents=True, exist_ok=True)
            self.browser.screenshot(pathlib.Path(page_case.PICTURES, name))

    def test_a_run_in_which_a_worker_is_killed(self):
        measurement = pathlib.Path(self.folder, "watched")
        job, directory, pids = self.start_job(measurement)
        self.serve(measurement)
        running = f"return document.querySelectorAll('.worker:not(.gone)').length === {WORKERS}"
        self.wait_for("all workers", running)
        self.wait_for("chunks", "return /[1-9]\\d* chunks/.test(document.getElementById('done').innerText)")
        self.assertIn("running", self.browser.run("return document.getElementById('state').innerText"))
        self.assert_report_so_far()
        self.assert_stream()

        os.kill(pids[1], signal.SIGKILL)
        gone = self.wait_for("the loss", "return document.querySelector('.worker.gone')?.innerText")
        self.assertIn("vanished", gone)
        first = self.browser.run("return document.querySelector('.worker').className")
        self.assertIn("lost", first, "it stands before those that run")
        self.assertIn(str(pids[1]), gone)
        self.assertIn(str(pids[1]), self.browser.run("return document.getElementById('events').innerText"))
        self.keep_picture("live-lost-worker.png")

        (directory / "stop").touch()
        self.assertEqual(job.wait(PATIENCE), 0)
        self.wait_for("the end", "return document.getElementById('state').innerText.startsWith('finished')")
        self.assert_asks_only_its_server()
        self.assertFalse(self.browser.run("return document.getElementById('so-far').checkVisibility()"))
        self.assert_equals_collected(measurement)
        self.keep_picture("live-finished.png")
        self.follow_to_the_report(measurement)

    def assert_stream(self):
        """Checks that every chunk that ended lately is a bar on its thread, and that bars of a thread do not
        overlap."""
        ask = "return fetch('/api/live?since=0').then((answer) => answer.json())"
        of_each = f".then((live) => new Set(Object.values(live.stream).map((bar) => bar[0])).size === {WORKERS})"
        self.wait_for("a chunk of each worker", ask + of_each)
        answer_of_server = self.browser.run(ask)
        threads = {}
        for worker, lane, start, stop, _, failed, _ in answer_of_server["stream"].values():
            self.assertEqual((lane, failed), (0, False))  # each worker of the job has one thread
            self.assertGreater(stop, start)
            threads.setdefault(worker, []).append((start, stop))
        self.assertEqual(len(threads), WORKERS)
        for bars in threads.values():
            bars.sort()
            for (_, stop), (start, _) in zip(bars, bars[1:], strict=False):
                self.assertGreaterEqual(start, stop - 0.011)  # times are rounded to a hundredth of a second
        self.assertTrue(self.browser.run("return document.getElementById('stream').checkVisibility()"))

    def assert_report_so_far(self):
        """While the job runs, the link leads to a page of the records so far."""
        self.assertTrue(self.browser.run("return document.getElementById('so-far').checkVisibility()"))
        fetched = "return fetch('/report').then((answer) => (answer.status === 200 ? answer.text() : null))"
        self.assertIn("still running: partial", self.wait_for("the report so far", fetched))

    def assert_equals_collected(self, measurement):
        collected = pathlib.Path(self.folder, "collected")
        crema("collect", measurement / "records", "-o", collected, "-q")
        metrics = json.loads((collected / "measurement.json").read_text())["metrics"]
        done = self.browser.run("return document.getElementById('done').innerText")
        self.assertEqual(
            int(re.search(r"([\d\s]+) chunks", done)[1].replace("\u00a0", "").replace(" ", "")), metrics["num_chunks"]
        )
        self.assertEqual(metrics["num_lost_attempts"], 1)
        live = self.browser.run("return fetch('/api/v1/metrics').then((answer) => answer.json())")
        for key in ("num_chunks", "num_attempts", "num_failed_attempts", "num_lost_attempts", "total_events"):
            self.assertEqual(live[key], metrics[key], key)

    def follow_to_the_report(self, measurement):
        self.assertIn("crema report", self.wait_for("the hint", "return document.getElementById('banner').innerText"))
        self.browser.run("document.querySelector('#banner a').click()")
        self.wait_for("the report", "return document.querySelector('#timeline') !== null")
        self.assertTrue(self.browser.wait(DRAW_ALL, 120), "not every chart was drawn")
        self.assertEqual(self.browser.console(), [])
        self.assert_figures_are_of(json.loads((measurement / "measurement.json").read_text()))

    def test_a_scheduler_without_the_plug_in(self):
        scheduler = InventedScheduler()
        self.addCleanup(scheduler.close)
        self.serve(f"dask://127.0.0.1:{scheduler.port}")
        banner = "return document.getElementById('banner').innerText"
        self.wait_for("a word on it", f"{banner}.includes('attach it with crema_hep.attach(client)')")
        self.assertIn("waiting for records", self.browser.run("return document.getElementById('state').innerText"))
        self.assert_asks_only_its_server()
        self.keep_picture("live-without-plug-in.png")

    def test_a_dataset_has_the_colour_that_it_has_in_the_report(self):
        def colours(items):
            return self.browser.run(
                f"""return Object.fromEntries([...document.querySelectorAll("{items}")].map((item) => [
                      item.textContent.trim().split(/\\s/)[0],
                      getComputedStyle(item.querySelector(".key")).backgroundColor]))"""
            )

        self.serve(simulated_run.RUNS["healthy"](seed=1).write(os.path.join(self.folder, "records")))
        self.wait_for("the end", "return document.querySelector('#banner a') !== null")
        live = colours("#datasets li")
        self.assertEqual(len(set(live.values())), len(simulated_run.DATASETS))
        self.browser.run("document.querySelector('#banner a').click()")
        self.wait_for("the report", "return document.querySelector('#timeline-legend') !== null")
        self.assertEqual(colours("#timeline-legend li:has([data-slot])"), live)

    def test_a_server_that_is_started_again_is_told(self):
        """The new server has another token: the page says what to do."""
        records = invented_run.write_run(os.path.join(self.folder, "records"))
        self.serve(records)
        self.wait_for("the page", "return document.getElementById('updated').innerText.startsWith('updated')")
        port = re.search(r":(\d+)/", self.address)[1]
        self.server.kill()
        self.server.wait()
        self.start_server(records, "--port", port)
        self.wait_for("the reason", "return document.getElementById('updated').innerText.includes('started again')")

    def test_a_path_that_is_no_text(self):
        """A directory whose name holds bytes that are no UTF-8 breaks neither page nor server nor report."""
        directory = os.path.join(os.fsencode(self.folder), b"run \xff\xfe<b>&\xed\xa0\x80")
        invented_run.write_run(os.fsdecode(os.path.join(directory, b"records")))
        self.serve(directory)
        self.wait_for("the end", "return document.querySelector('#banner a') !== null")
        self.assertIn("run \ufffd\ufffd<b>&", self.browser.run("return document.getElementById('name').innerText"))
        for path in ("/api/v1", "/metrics", "/api/live?since=0"):
            self.assertEqual(self.browser.run(f"return fetch('{path}').then((answer) => answer.status)"), 200)
        self.browser.run("document.querySelector('#banner a').click()")
        self.wait_for("the report", "return document.querySelector('#timeline') !== null")
        self.assert_asks_only_its_server()

        written = os.path.join(directory, b"measured")
        crema("collect", os.path.join(directory, b"records"), "-o", written, "-q")
        crema("report", written, "-q")
        page = pathlib.Path(self.folder, "copy.html")
        shutil.copy(os.path.join(written, b"report.html"), page)
        page.read_text(encoding="utf-8")  # all of it is text
        self.assert_quiet(page)


if __name__ == "__main__":
    unittest.main()
