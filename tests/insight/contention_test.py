"""The verdict `shared-bottleneck` on real programs, with and without a resource of known rate that all chunks share.

With CREMA_TEST_LONG there are 20 runs of one kind and 10 of the other.
"""

import json
import pathlib
import unittest

from measured_runs import LONG, MeasuredRunsCase

BUCKET = pathlib.Path("tests/insight/token_bucket").resolve()
LANES = 8
SECONDS = 6 if LONG else 4


class ContentionTest(MeasuredRunsCase):
    def run_of(self, kind, rate, seed):
        """The row of contention, and whether the verdict fired."""
        name = f"{kind} {seed}"
        run = self.measure(name, BUCKET, kind, rate, LANES, SECONDS, seed, CREMA_THREADS=str(LANES))
        document = json.loads((run / "measurement.json").read_text())
        (row,) = document["contention"]
        return row, "shared-bottleneck" in [verdict["id"] for verdict in document["verdicts"]]

    def test_a_resource_that_is_shared_is_found_with_its_rate(self):
        found = 0
        for seed in range(20 if LONG else 1):
            rate = 100 + 20 * seed
            row, fired = self.run_of("shared", rate, seed)
            near = fired and abs(row["ceiling"] - rate) < (0.15 if LONG else 0.3) * rate
            found += near
            print(f"{rate} events a second: ", row["ceiling"], row["ceiling_low"], row["ceiling_high"], fired)
        self.assertGreaterEqual(found, 19 if LONG else 1)

    def test_chunks_that_wait_for_themselves_share_nothing(self):
        fired = [self.run_of("alone", 200, seed)[1] for seed in range(10 if LONG else 1)]
        self.assertEqual(fired, [False] * len(fired))


if __name__ == "__main__":
    unittest.main(verbosity=2)
