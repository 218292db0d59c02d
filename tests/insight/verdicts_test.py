"""Each verdict fires on a real program in which its cause was planted, and not on the same program without it.

By default the test runs a few of them. With CREMA_TEST_LONG it runs all, and ten healthy runs, on which no warning may
fire.
"""

import json
import pathlib
import unittest

from measured_runs import LONG, MeasuredRunsCase

ANALYSIS = pathlib.Path("tests/insight/faulty_analysis").resolve()
BUCKET = pathlib.Path("tests/insight/token_bucket").resolve()

# Faults with sleeping chunks: other programs on the machine hardly change them.
SLEEPING = (
    "waiting-bound",
    "chunks-too-small",
    "too-few-chunks",
    "oversized-chunks",
    "stragglers",
    "skewed-dataset",
    "slow-file",
    "slow-worker",
    "slow-spell",
    "slow-server",
    "many-small-reads",
    "long-tail",
    "idle-workers",
    "startup-dominated",
    "failing-chunks",
    "retry-waste",
    "worker-loss",
    "no-workers",
    "low-compression",
    "memory-growth",
    "leaking-section",
)
# These need an idle machine, or many seconds.
LONGER = (
    "compute-bound",
    "hot-section",
    "cpu-contention",
    "oversubscribed",
    "instrumentation-heavy",
    "scaling-lag",
    "shared-bottleneck",
)
BY_DEFAULT = ("slow-file", "startup-dominated", "retry-waste", "leaking-section")

# Verdicts that are planted elsewhere, or nowhere, with the reason.
CANNOT_BE_PLANTED = {
    "gil-contention": "never fires where nobody measures the lock",
    **dict.fromkeys(("kernel-time", "page-faults"), "tests/laboratory plants them"),
    **dict.fromkeys(("costly-dataset", "last-worker", "shutdown-dominated"), "tests/laboratory plants them"),
    "serial-module": "needs events and tasks: events_test.py",
    **dict.fromkeys(
        ("external-work", "stolen-work", "nothing-ready"),
        "need events and tasks: collector/diagnosis plants them in documents",
    ),
    "opening-bound": "needs the tasks of an engine: tests/dask",
    "failed-run": "needs no analysis: collector/cli/run_exit_status_test.py",
    "failing-tasks": "needs an engine's log: tests/engines",
    "framework-overhead": "needs the tasks of an engine: tests/dask",
    "unused-cores": "needs tasks of several cores: collector/cli/crema_taskvine_test.py",
    "spilling": "needs Dask's fine metrics: tests/dask",
    "serialization-heavy": "needs Dask's fine metrics: tests/dask",
    "compression-heavy": "needs ROOT: tests/root",
    "too-few-clusters": "needs ROOT: tests/root",
    "slow-batch": "needs ROOT: tests/root",
    "repeated-loops": "needs ROOT: tests/root",
    "spinning": "needs stacks: collector/diagnosis plants it in documents",
    "largest-loss": "is what no other verdict speaks of: collector/diagnosis plants it in documents",
    "chunks-too-large": "needs an advice on sizes that many chunks exceed: on made documents",
    "memory-pressure": "needs a control group with a limit, which a test may not make",
    **dict.fromkeys(("gpu-bound", "gpu-copies", "gpu-shared", "gpu-starved"), "need a GPU: tests/gpu has a stand-in"),
    "incomplete-measurement": "no fault of an analysis: tests/faults has killed writers and full disks",
    "healthy": "no fault",
}


class VerdictsTest(MeasuredRunsCase):
    def verdicts(self, fault, seed=1):
        """The verdicts of one run, by id."""
        lanes = {"healthy": 1, "oversubscribed": 1, "cpu-contention": 6, "shared-bottleneck": 8}.get(fault, 2)
        command = [BUCKET, "shared", 200, lanes, 6, seed] if fault == "shared-bottleneck" else [ANALYSIS, fault, seed]
        options = ["--allocations"] if fault in ("leaking-section", "none") else []
        run = self.measure(f"{fault} {seed}", *command, options=options, CREMA_THREADS=str(lanes))
        document = json.loads((run / "measurement.json").read_text())
        return {verdict["id"]: verdict for verdict in document["verdicts"]}

    def test_planted_faults_are_found_and_not_where_they_are_not(self):
        faults = SLEEPING + LONGER if LONG else BY_DEFAULT
        without = self.verdicts("none")
        missed, unfounded = [], []
        for fault in faults:
            found = self.verdicts(fault)
            print(f"{fault}: {sorted(found)}")
            if fault not in found:
                missed.append(fault)
            if fault in without and fault != "waiting-bound":  # `none` sleeps, too
                unfounded.append(fault)
        print(f"{len(faults) - len(missed)} of {len(faults)} found; without the fault: {unfounded}")
        self.assertLessEqual(len(missed), 1 if LONG else 0, missed)
        self.assertEqual(unfounded, [])

    @unittest.skipUnless(LONG, "CREMA_TEST_LONG=1 asks for it: nothing else may run on the machine")
    def test_healthy_runs_have_no_warning(self):
        warned = []
        for seed in range(10):
            found = self.verdicts("healthy", seed)
            warned += [(seed, name) for name, verdict in found.items() if verdict["severity"] in ("warning", "bad")]
        self.assertEqual(warned, [])

    def test_each_verdict_is_planted_or_has_a_reason_why_not(self):
        page = pathlib.Path("docs/verdicts.md").read_text(encoding="utf-8")
        ids = {line[4:-1] for line in page.splitlines() if line.startswith("## `")}
        planted = set(SLEEPING + LONGER)
        self.assertEqual(ids - planted, set(CANNOT_BE_PLANTED))
        self.assertEqual(planted - ids, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
