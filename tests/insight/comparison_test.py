"""`crema compare` of real runs: equal ones, and ones with a slower section.

With CREMA_TEST_LONG there are 20 pairs of each kind, and 20 more of each while other processes keep the cores busy.
"""

import contextlib
import json
import subprocess
import sys
import unittest

from measured_runs import LONG, QUEUE, MeasuredRunsCase

LANES, CHUNKS, SEED = 2, 150, 1


@contextlib.contextmanager
def other_work(processes):
    """Keeps this many cores busy."""
    workers = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


class ComparisonTest(MeasuredRunsCase):
    def run_of(self, name, slower, cpu):
        """`select`, 60 % of each chunk, takes `slower` times as long."""
        return self.measure(name, QUEUE, LANES, CHUNKS, SEED, cpu, 1 / slower, 1)

    def sides(self, runs, slower=1.0, cpu=0.3):
        """Makes this many runs a side, in turns; on the second side `select` takes longer."""
        before, changed = [], []
        for number in range(runs):
            before.append(self.run_of(f"before {self.id()} {len(self.compared)} {number}", 1.0, cpu))
            changed.append(self.run_of(f"after {self.id()} {len(self.compared)} {number}", slower, cpu))
        options = [item for run in before for item in ("--before", run)]
        options += [item for run in changed for item in ("--after", run)]
        answer = self.json_of("compare", *options)
        self.compared.append(answer)
        self.runs = before + changed
        range_ = f"{answer['low']:+.2%} to {answer['high']:+.2%}"
        print(f"{runs} a side, x {slower}: {answer['conclusion']} {answer['change']:+.2%} ({range_}), {sure(answer)}")
        return answer

    def setUp(self):
        super().setUp()
        self.compared = []

    def test_pairs_speak_for_the_whole_of_both_runs(self):
        answer = self.sides(1, slower=2, cpu=0)
        self.assertEqual((answer["paired_by"], answer["pairs"]), ("chunk", CHUNKS))
        for share in answer["paired_shares"]:
            self.assertAlmostEqual(share, 1)
        documents = [json.loads((run / "measurement.json").read_text()) for run in self.runs]
        before, after = (document["metrics"]["busy_time"] for document in documents)
        waited = [document["metrics"]["chunk_cpu_wait"] for document in documents]
        self.assertEqual(answer["compared"], "work")
        for ours, theirs in zip(answer["waiting"], waited):
            self.assertAlmostEqual(ours, theirs, places=6)
        work = before - waited[0]
        self.assertAlmostEqual(answer["change"], (after - waited[1]) / work - 1, places=6)
        effects = {effect["what"]: effect["change"] for effect in answer["effects"]}
        self.assertAlmostEqual(sum(effects.values()), answer["change"])
        was, now = (
            next(row["total"] for row in document["sections"] if row["path"] == "select") for document in documents
        )
        self.assertAlmostEqual(effects["select"] * work, now - was, delta=sum(waited) + 1e-6)
        (elapsed,) = answer["elapsed"]
        self.assertAlmostEqual(sum(part["difference"] for part in elapsed["parts"]), elapsed["difference"], places=6)
        roots = [row["difference"] for row in answer["section_tree"] if row["depth"] == 0]
        self.assertAlmostEqual(sum(roots), after - before, places=6)
        self.assertRegex(answer["sentences"][0], r"^after.* took .* The work in its chunks is .* longer \(.* to .*\)")

    def test_several_runs_a_side_measure_what_equal_runs_differ_by(self):
        answer = self.sides(2, slower=2, cpu=0)
        self.assertEqual(answer["runs_a_side"], [2, 2])
        self.assertGreater(answer["between_runs"], 0)
        self.assertEqual([row["effect"] for row in answer["runs_needed"]], [0.01, 0.02, 0.05, 0.1])
        self.assertEqual([len(answer["sides"][side]) for side in ("before", "after")], [2, 2])

    @unittest.skipUnless(LONG, "CREMA_TEST_LONG=1 asks for it: five minutes, and nothing else on the machine")
    def test_equal_runs_are_not_called_different_and_five_per_cent_are_seen(self):
        different = sum(is_different(self.sides(1)) for _ in range(20))
        named = sum(names_select(self.sides(1, slower=1.05)) for _ in range(20))
        print(f"one run a side: {different} of 20 equal pairs called different, {named} of 20 slower ones named")
        self.assertLessEqual(different, 1)
        self.assertGreaterEqual(named, 19)

    @unittest.skipUnless(LONG, "CREMA_TEST_LONG=1 asks for it: half an hour")
    def test_so_it_is_while_others_keep_the_cores_busy(self):
        with other_work(2):
            different = sum(is_different(self.sides(4)) for _ in range(20))
            named = sum(names_select(self.sides(4, slower=1.05)) for _ in range(20))
            alone = [self.sides(1, slower=1.05)["conclusion"] for _ in range(20)]
        print(f"four a side, loaded: {different} of 20 equal ones called different, {named} of 20 slower ones named")
        print(f"one a side, loaded: {alone}")
        self.assertLessEqual(different, 1)
        self.assertGreaterEqual(named, 19)
        self.assertNotIn("faster", alone)

    @unittest.skipUnless(LONG, "CREMA_TEST_LONG=1 asks for it: three minutes")
    def test_one_run_a_side_shows_large_changes_beside_others_where_chunks_compute(self):
        with other_work(2):
            different = sum(is_different(self.sides(1, cpu=1)) for _ in range(12))
            named = sum(names_select(self.sides(1, slower=1.4, cpu=1)) for _ in range(8))
        print(f"one a side, loaded: {different} of 12 equal ones called different, {named} of 8 slower ones named")
        self.assertEqual(different, 0)
        self.assertGreaterEqual(named, 7)


def sure(answer):
    return [effect["what"] for effect in answer["effects"] if effect["is_sure"]]


def is_different(answer):
    return answer["conclusion"] in ("slower", "faster")


def names_select(answer):
    return "select" in sure(answer) and answer["conclusion"] != "faster"


if __name__ == "__main__":
    unittest.main(verbosity=2)
