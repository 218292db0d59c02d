"""The block "What would help" of a real run's report says what `crema predict` and `crema scaling` say."""

import html
import re
import shutil
import unittest

from measured_runs import QUEUE, MeasuredRunsCase, crema


def block_of(page):
    """The text of the block, with separate cells of the tables."""
    begin = page.index('aria-labelledby="outlook"')
    text = page[begin : page.index('<section class="block', begin)]
    return html.unescape(re.sub(r"<[^>]+>", "|", text)).replace("\xa0", " ")


class OutlookTest(MeasuredRunsCase):
    def report_of(self, run):
        page = self.scratch / "page.html"
        done = crema("report", "-q", "--force", run, "-o", page)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return page.read_text()

    def test_changes_stand_best_first(self):
        run = self.measure("run", QUEUE, 4, 120, 1, 0, 1, 1, CREMA_THREADS="4")
        prediction = self.json_of("predict", run)
        page = self.report_of(run)
        block = block_of(page)
        if prediction["refused"]:  # this machine may be too busy for a replay
            self.assertIn(prediction["refused"], block)
            self.skipTest("no replay on this busy machine: " + prediction["refused"])
        places = [page.index(f'<span title="{row["change"]}">') for row in prediction["predicted"]]
        self.assertEqual(places, sorted(places))
        times = [row["wall_time"] for row in prediction["predicted"]]
        self.assertEqual(times, sorted(times))
        self.assertIn(self.json_of("scaling", run)["sentence"], block)
        for chart in ("prediction", "scaling"):
            self.assertIn(f'id="spec-{chart}"', page)

    def test_a_run_that_cannot_be_replayed_says_why(self):
        run = self.measure("run", QUEUE, 2, 10, 1, 0, 1, 1)
        shutil.rmtree(run / "records")
        page = self.report_of(run)
        self.assertIn("Nothing is predicted from this run: ", block_of(page))
        self.assertNotIn('id="spec-prediction"', page)


if __name__ == "__main__":
    unittest.main(verbosity=2)
