"""The adapter for JANA2, compiled into JANA2 and run.

CREMA_TEST_JANA2 names a checkout of https://github.com/JeffersonLab/JANA2, at the commit that docs/tasks.md names. The
build takes two minutes of CPU time.
"""

import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from consumers_test import CHECKOUT, install_sdk, run  # noqa: E402  (found through the line before)

ADAPTERS = CHECKOUT / "examples/task_frameworks"
SOURCES = os.environ.get("CREMA_TEST_JANA2", "")
EVENTS = 30


@unittest.skipUnless(SOURCES, "CREMA_TEST_JANA2 names no checkout of JANA2")
class Jana2Test(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        prefix = install_sdk(cls.scratch / "prefix")
        jana = cls.scratch / "jana2"
        shutil.copytree(SOURCES, jana, ignore=shutil.ignore_patterns(".git", "build"))
        run("patch", "-p0", "-i", ADAPTERS / "jana2.patch", cwd=jana)
        cls.build = cls.scratch / "build"
        options = {"CMAKE_PREFIX_PATH": prefix, "CREMA_HOOKS": ADAPTERS, "BUILD_TESTS": "OFF", "BUILD_EXAMPLES": "OFF"}
        options = [f"-D{name}={value}" for name, value in options.items()]
        run("cmake", "-S", jana, "-B", cls.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *options, cwd=jana)
        run("cmake", "--build", cls.build, "--target", "jana", "JTest", cwd=jana)

    def check_run(self, threads):
        records = self.scratch / f"records_{threads}"
        run(
            self.build / "src/programs/jana/jana",
            "-Pplugins=JTest",
            f"-Pnthreads={threads}",
            f"-Pjana:nevents={EVENTS}",
            cwd=self.scratch,
            CREMA_DIR=str(records),
            JANA_PLUGIN_PATH=str(self.build / "lib/JANA/plugins"),
        )
        (log,) = records.glob("*.jsonl")
        lines = list(map(json.loads, log.read_text().splitlines()))
        end = lines[-1]
        self.assertEqual((end["type"], end["chunks"], end["dropped"], end["misused"]), ("end", EVENTS, 0, 0))
        sums = [line for line in lines if line["type"] == "task_sums"][-1]
        (events,) = sums["latencies"]
        self.assertEqual((events["count"], events["failed"], events["not_divided"]), (EVENTS, 0, 0))
        for parts in (("active", "queued", "external", "rest"), ("critical_run", "critical_queue", "critical_gap")):
            self.assertEqual(sum(events[part + "_ns"] for part in parts), events["latency_ns"])
        of_threads = {
            key: sum(row[key] for row in sums["task_threads"])
            for key in ("tasks", "task_ns", "task_cpu_ns", "between_cpu_ns")
        }
        modules = {row["name"]: row for row in sums["task_modules"]}
        for of_thread, of_module in (("tasks", "count"), ("task_ns", "own_ns"), ("task_cpu_ns", "cpu_ns")):
            self.assertEqual(of_threads[of_thread], sum(row[of_module] for row in modules.values()))
        for name in ("PhysicsEventMap1", "PhysicsEventTap", "JTestTracker", "JTestDisentangler"):
            self.assertEqual(modules[name]["count"], EVENTS, name)
        self.assertEqual(modules["PhysicsEventTap"]["peak"], 1, "it is sequential")
        self.assertEqual(modules["PhysicsEventTap"]["queued"], EVENTS)
        # the factories run inside the map, and hold nearly all of its time
        self.assertGreater(modules["JTestTracker"]["cpu_ns"], 10 * modules["PhysicsEventMap1"]["cpu_ns"])
        # what is left of the process's CPU time is its start, and the threads that run no task
        recorded = of_threads["task_cpu_ns"] + of_threads["between_cpu_ns"]
        self.assertLessEqual(recorded, end["cpu_ns"])
        self.assertGreater(recorded, 0.9 * end["cpu_ns"])

    def test_one_thread(self):
        self.check_run(1)

    def test_more_threads_than_cores(self):
        self.check_run(4)


if __name__ == "__main__":
    unittest.main()
