"""Compares what threads wait for with programs that time each of their waits themselves.

With CREMA_TEST_LONG there are 100 runs: the truth should lie in the stated range in about 95 of them.
"""

import json
import unittest

from measured_runs import LONG, PLANTED_WAITS, MeasuredRunsCase

KINDS = ("sleep", "read", "lock or condition", "poll", "network", "child process")
SHARES = (0.1, 0.5, 0.9)


class WaitsTest(MeasuredRunsCase):
    def planted(self, kind, share, seconds=4):
        """The truth, and the rows of the table `waits` by kind."""
        name = f"{kind} {share} {self.id()}"
        run = self.measure(name, PLANTED_WAITS, kind, share, seconds, options=("--waits=100",))
        truth = json.loads(self.printed[name])
        rows = {}
        for row in self.json_of("show", run)["waits"]:
            rows.setdefault(row["kind"], []).append(row)
        return truth, rows

    def test_each_kind_is_named_and_nothing_that_is_not_planted(self):
        for kind in KINDS:
            with self.subTest(kind):
                truth, rows = self.planted(kind, 0.5)
                self.assertIn(kind, rows)
                # The program waits for a thread that ends, which takes long on a busy machine.
                self.assertLessEqual(set(rows), {kind, truth["other"], "lock or condition", "other", "not known"})

    def test_the_table_adds_up_to_the_blocked_time(self):
        name = "sum"
        run = self.measure(name, PLANTED_WAITS, "read", 0.5, 2, options=("--waits=100",))
        document = self.json_of("show", run)
        seconds = sum(row["seconds"] for row in document["waits"])
        self.assertAlmostEqual(seconds, document["metrics"]["chunk_blocked"], delta=1e-6)

    @unittest.skipUnless(LONG, "takes minutes")
    def test_the_truth_lies_in_the_stated_range(self):
        inside = runs = 0
        while runs < 100:
            for kind in KINDS:
                for share in SHARES:
                    truth, rows = self.planted(kind, share)
                    runs += 1
                    row = rows.get(kind, [{"low": 0, "high": 0, "share": None}])[0]
                    is_inside = row["low"] <= truth["share"] <= row["high"]
                    inside += is_inside
                    print(f"{kind} {truth['share']:.3f}: {row['share']} ({row['low']} to {row['high']}) {is_inside}")
        print(f"{inside} of {runs} inside")
        self.assertGreaterEqual(inside / runs, 0.9)


if __name__ == "__main__":
    unittest.main()
