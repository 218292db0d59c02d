"""Compares what threads wait for with programs that time each of their waits themselves.

With CREMA_TEST_LONG there are 100 runs: the truth should lie in the stated range in about 95 of them.
"""

import json
import unittest

from measured_runs import LONG, PLANTED_WAITS, MeasuredRunsCase

# Each kind, with the function that waits and the object.
KINDS = {
    "sleep": ("NapFor", None),
    "read": ("ReadTheAnswer", "pipe"),
    "lock": ("TakeTheLock", "held by section holding"),
    "condition or queue": ("WaitForTheQueue", None),
    "poll": ("PollThePipe", None),
    "network": ("ReadTheAnswer", "socket"),
    "child process": ("WaitForTheChild", None),
}
SHARES = (0.1, 0.5, 0.9)


class WaitsTest(MeasuredRunsCase):
    def planted(self, kind, share, seconds=4):
        """The truth, and the rows of the table `waits` by kind."""
        name = f"{kind} {share} {self.id()}"
        run = self.measure(name, PLANTED_WAITS, kind, share, seconds, options=("--waits=100",))
        truth = json.loads(self.printed[name])
        rows = {}
        for row in self.json_of("show", run)["waits"]:
            if row["dataset"] == "planted":
                rows.setdefault(row["kind"], []).append(row)
        return truth, rows

    def test_each_kind_is_named_and_nothing_that_is_not_planted(self):
        for kind in KINDS:
            with self.subTest(kind):
                truth, rows = self.planted(kind, 0.5)
                self.assertIn(kind, rows)
                # The program waits for a thread that ends, which takes long on a busy machine.
                self.assertLessEqual(set(rows), {kind, truth["other"], "condition or queue", "other", "not known"})
                most = max(rows[kind], key=lambda row: row["seconds"])
                self.assertEqual(most["function"].rsplit("::")[-1], KINDS[kind][0])
                self.assertEqual(most["object"], KINDS[kind][1])

    def test_without_a_rate_there_are_no_functions(self):
        run = self.measure("plain", PLANTED_WAITS, "sleep", 0.9, 6)
        rows = self.json_of("show", run)["waits"]
        self.assertTrue(rows)
        self.assertEqual({row["function"] for row in rows}, {None})

    def test_a_search_for_the_other_end_of_a_socket_does_not_keep_from_looking(self):
        run = self.measure("sockets", PLANTED_WAITS, "network", 0.9, 10)
        kinds = {row["kind"] for row in self.json_of("show", run)["waits"]}
        self.assertIn("network", kinds)

    def test_the_table_adds_up_to_the_blocked_time(self):
        name = "sum"
        run = self.measure(name, PLANTED_WAITS, "read", 0.5, 2, options=("--waits=100",))
        document = self.json_of("show", run)
        seconds = sum(row["seconds"] for row in document["waits"])
        self.assertAlmostEqual(seconds, document["metrics"]["chunk_blocked"], delta=1e-6)

    @unittest.skipUnless(LONG, "takes minutes: CREMA_TEST_LONG=1")
    def test_the_truth_lies_in_the_stated_range(self):
        inside = runs = 0
        while runs < 100:
            for kind in KINDS:
                for share in SHARES:
                    truth, rows = self.planted(kind, share)
                    runs += 1
                    of_kind = rows.get(kind, [{"low": 0, "high": 0, "share": 0}])
                    row = max(of_kind, key=lambda row: row["share"])
                    rest = sum(other["share"] for other in of_kind) - row["share"]  # not seen in the function
                    low, high = row["low"] + rest, row["high"] + rest
                    is_inside = low <= truth["share"] <= high
                    inside += is_inside
                    print(
                        f"{kind} {truth['share']:.3f}: {row['share'] + rest:.3f} ({low:.3f} to {high:.3f}) {is_inside}"
                    )
        print(f"{inside} of {runs} inside")
        self.assertGreaterEqual(inside / runs, 0.9)


if __name__ == "__main__":
    unittest.main()
