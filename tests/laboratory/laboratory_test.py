"""What a report says first about programs with planted faults, and that it does not warn of healthy ones.

Run by tools/test --long, outside Bazel. Only runs on a quiet machine count for the bounds.
"""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import laboratory  # noqa: E402  (found through the line before)

LEAST_POINTS = 0.85  # of all programs; those that miss it say which evidence is not recorded yet
MOST_ALARMS = 0.1  # of the healthy runs


@unittest.skipUnless(os.environ.get("CREMA_TEST_LONG"), "CREMA_TEST_LONG=1 asks for it: it takes five minutes")
class LaboratoryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        laboratory.build()

    def outcomes(self, is_healthy, spinners=()):
        """The runs that nothing else disturbed."""
        programs = [program for program in laboratory.programs() if program.is_healthy == is_healthy]
        outcomes = [laboratory.run_and_print(program, False, spinners) for program in programs]
        quiet = [outcome for outcome in outcomes if outcome.is_quiet]
        if len(quiet) < len(outcomes) / 2:
            self.skipTest(f"only {len(quiet)} of {len(outcomes)} runs were on a quiet machine")
        return quiet

    def test_first_sentences_name_what_is_planted(self):
        outcomes = self.outcomes(is_healthy=False)
        points = sum(outcome.points for outcome in outcomes)
        print(f"{points} of {2 * len(outcomes)} points")
        self.assertGreaterEqual(points, LEAST_POINTS * 2 * len(outcomes))

    def test_healthy_runs_raise_no_alarm_whatever_else_runs(self):
        for spinners in ((), [(os.cpu_count() or 1, None)]):
            outcomes = self.outcomes(is_healthy=True, spinners=spinners)
            alarms = [outcome.program.name for outcome in outcomes if outcome.alarms]
            self.assertLessEqual(len(alarms), MOST_ALARMS * len(outcomes), alarms)


if __name__ == "__main__":
    unittest.main(verbosity=2)
