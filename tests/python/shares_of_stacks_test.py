"""The functions of a section: shares of known work, on each Python. A busy machine makes them less precise, so these
tests run alone.

Run by tools/test, outside Bazel.
"""

import math
import unittest

import installed
from shares import SHARES


def counted(lines) -> dict:
    """[samples, squares] by section and innermost function."""
    found = {}
    for line in installed.of_type(lines, "stacks"):
        for samples, squares, *functions in line["stacks"]:
            row = found.setdefault((line["section"], line["functions"][functions[-1]][0]), [0, 0])
            row[0] += samples
            row[1] += squares
    return found


class SharesOfStacksTest(installed.RecordedTest):
    python = "python3"

    def test_shares_are_those_of_the_cpu_time(self):
        lines = self.record(SHARES, python=self.python, CREMA_STACKS="100")
        (end,) = installed.of_type(lines, "end")
        self.assertEqual((end["dropped"], end["open"]), (0, 0))
        rows = {name: row for (section, name), row in counted(lines).items() if section == "select/a%2Fb"}
        total, squares = (sum(row[place] for row in rows.values()) for place in (0, 1))
        sightings = total * total / squares
        self.assertGreater(sightings, 30)
        between = rows["heavy"][0] + rows["light"][0]
        share = rows["heavy"][0] / between
        # Five standard deviations: the machine may be busy, and a test that fails by chance is useless.
        self.assertLess(abs(share - 0.7), 5 * math.sqrt(0.7 * 0.3 / sightings), rows)
        self.assertGreater(between / total, 0.8, rows)
        for line in installed.of_type(lines, "stacks"):
            self.assertEqual((line["dataset"], line["hertz"]), ("zjets", 100))
            for name, file, number in line["functions"]:
                if name in ("heavy", "light"):
                    self.assertEqual((file, number), (name + ".py", 1))


installed.add_versions(globals(), "SharesOfStacks", SharesOfStacksTest)

if __name__ == "__main__":
    unittest.main()
