"""crema finds and names what is planted in a run; in runs without trouble it finds nothing."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import invariants
import simulated_run

CREMA = "collector/cli/crema"
HEALTHY_SEEDS = range(10)
TOO_SMALL = r"Chunks are too small: .* \((\d+\.\d) ms to (\d+\.\d) ms in a chunk of 2.000"


def measure(run):
    """The document of a simulated run."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        records = run.write(os.path.join(folder, "records"))
        measured = os.path.join(folder, "measured")
        subprocess.run([CREMA, "collect", records, "-o", measured, "-q"], check=True, env=environment, timeout=300)
        document = json.loads(pathlib.Path(measured, "measurement.json").read_text(encoding="utf-8"))
    if broken := invariants.broken(document):
        raise AssertionError("\n".join(broken))
    return document


def verdicts(document):
    return {verdict["id"]: verdict for verdict in document["verdicts"]}


class PlantedTrouble(unittest.TestCase):
    def assert_spell_of(self, document, run):
        worker, begin, end, _ = run.trouble.slow_reads
        self.assertIn("slow-spell", verdicts(document))
        spell = document["slow_spells"][0]
        self.assertEqual((spell["by"], spell["name"]), ("worker", run.host.format(worker)))
        start = document["run"]["start_ns"] / 1e9 - simulated_run.EPOCH / 1e9
        longest = 12  # seconds: chunks that began before reads became slow again reach beyond
        self.assertAlmostEqual(spell["start"] + start, begin, delta=longest)
        self.assertAlmostEqual(spell["stop"] + start, end, delta=longest)
        self.assertEqual((spell["section"], spell["reason"]), ("read", "blocked"))
        self.assertIn("most of it in section read, blocked", verdicts(document)["slow-spell"]["sentence"])

    def test_slow_reads_for_a_while_are_named_with_worker_and_time(self):
        for kind in ("spell", "wide"):
            with self.subTest(kind):
                run = simulated_run.RUNS[kind](seed=1)
                self.assert_spell_of(measure(run), run)

    def test_a_bad_day_is_told_with_all_its_causes(self):
        run = simulated_run.RUNS["mock"](seed=1)
        document = measure(run)
        self.assert_spell_of(document, run)
        found = verdicts(document)
        self.assertIn("oversized-chunks", found)
        self.assertIn("single_top", found["oversized-chunks"]["sentence"])
        self.assertIn("memory-pressure", found)
        self.assertIn("w3 used", found["memory-pressure"]["sentence"])
        a_minute = run.trouble.memory_growth[3] * 60 / 2**20
        gained = re.search(r"gained (\d+) MiB a minute, and was .* from it", found["memory-pressure"]["sentence"])
        self.assertAlmostEqual(float(gained[1]), a_minute, delta=0.1 * a_minute)
        self.assertEqual(document["metrics"]["num_failed_attempts"], 3)
        self.assertEqual(document["metrics"]["num_chunks"], sum(one.chunks for one in simulated_run.DATASETS))

    def test_workers_that_were_killed_are_named_with_what_they_would_have_given(self):
        run = simulated_run.RUNS["killed"](seed=1)
        document = measure(run)
        self.assertEqual(document["metrics"]["num_unfinished_chunks"], 0)
        lost = [worker["name"] for worker in document["workers"] if worker["state"] == "lost"]
        self.assertEqual(sorted(lost), ["w4", "w5", "w6", "w7"])
        self.assertIn("4 of 8 workers vanished", document["headline"])
        self.assertIn("vanished workers would have given", document["headline"])
        found = verdicts(document)["worker-loss"]
        absent = sum(run.last_stop - death for death in run.trouble.deaths.values())
        evidence = {row["key"]: row["value"] for row in found["evidence"]}
        self.assertAlmostEqual(evidence["workers.absent_seconds"], absent, delta=10)

    def test_chunks_whose_time_does_not_grow_with_events_are_too_small(self):
        document = measure(simulated_run.SmallChunks(seed=1))
        self.assertEqual(document["metrics"]["num_chunks"], 12_000)
        found = verdicts(document)["chunks-too-small"]
        fixed = re.match(TOO_SMALL, found["sentence"])
        self.assertIsNotNone(fixed, found["sentence"])
        self.assertTrue(22.5 <= float(fixed[1]) <= 30, fixed[0])  # a chunk's events take a quarter at most
        self.assertAlmostEqual(float(fixed[2]), 30, delta=0.5)

    def test_chunks_of_the_same_sizes_whose_time_grows_with_events_are_not(self):
        document = measure(simulated_run.SmallChunks(seed=1, in_proportion=True))
        self.assertEqual(document["metrics"]["num_chunks"], 12_000)
        self.assertNotIn("chunks-too-small", verdicts(document))

    def test_figures_are_those_of_the_simulation(self):
        run = simulated_run.RUNS["mock"](seed=2)
        document = measure(run)
        self.assertEqual(document["metrics"]["total_events"], sum(chunk.events for chunk in run.chunks))
        rows = {row["name"]: row for row in document["datasets"]}
        for dataset in simulated_run.DATASETS:
            events = sum(chunk.events for chunk in run.chunks if chunk.dataset == dataset)
            self.assertEqual((rows[dataset.name]["chunks"], rows[dataset.name]["events"]), (dataset.chunks, events))


class NoTrouble(unittest.TestCase):
    def test_nothing_is_found_in_ten_healthy_runs(self):
        fine = {"healthy", "compute-bound", "largest-loss"}  # where time went does no harm
        for seed in HEALTHY_SEEDS:
            with self.subTest(seed=seed):
                document = measure(simulated_run.RUNS["healthy"](seed))
                self.assertEqual(document["slow_spells"], [])
                self.assertEqual(set(verdicts(document)) - fine, set())


if __name__ == "__main__":
    unittest.main()
