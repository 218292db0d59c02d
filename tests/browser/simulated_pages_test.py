"""Reports of whole simulated runs: how long they are, how many pages they print, and how a narrow window begins."""

import os
import pathlib
import re
import sys
import unittest

import page_case
from page_case import CHECKOUT, DRAW_SHOWN, PageTestCase, crema
from webdriver import Browser

sys.path.insert(0, str(CHECKOUT / "tests/simulated"))

import simulated_run  # noqa: E402

LONGEST_PIXELS = 6100
MOST_PRINTED_PAGES = 4


def setUpModule():
    page_case.require_browser()
    page_case.build()


class SimulatedPages(PageTestCase):
    def report_of(self, kind):
        folder = pathlib.Path(self.folder, kind)
        records = simulated_run.RUNS[kind](seed=1).write(os.path.join(folder, "records"))
        crema("collect", records, "-o", folder / "measured", "-q")
        crema("report", folder / "measured", "-q")
        return folder / "measured/report.html"

    def assert_cells_hold_their_text(self, browser):
        """Checks that no figure of a table overlaps its neighbour."""
        script = """
            return [...document.querySelectorAll("td")]
              .filter((cell) => cell.checkVisibility() && cell.querySelector("svg.bar"))
              .filter((cell) => {
                const text = document.createRange();
                text.selectNodeContents(cell.querySelector("data"));
                const bar = cell.querySelector("svg.bar").getBoundingClientRect();
                const { left, right } = text.getBoundingClientRect(), edge = cell.getBoundingClientRect().right;
                return right > edge + 1 || left < bar.right - 1;
              })
              .map((cell) => cell.innerText)"""
        self.assertEqual(browser.run(script), [])

    def assert_no_table_is_cut(self, browser):
        """Checks that every column of every table that is shown is visible."""
        script = """
            return [...document.querySelectorAll(".scroll")]
              .filter((region) => region.checkVisibility() && region.scrollWidth > region.clientWidth + 1)
              .map((region) => [region.scrollWidth, region.clientWidth, region.innerText.slice(0, 200)])"""
        self.assertEqual(browser.run(script), [])

    def open_report(self, kind):
        page = self.report_of(kind)
        self.assert_quiet(page)
        self.keep_pictures(page, kind)
        return page

    def assert_page_is_short(self, kind):
        page = self.open_report(kind)
        with Browser(1280) as browser:
            browser.open(page)
            self.assertTrue(browser.wait(DRAW_SHOWN, 60))
            self.assert_cells_hold_their_text(browser)
            self.assert_no_table_is_cut(browser)
            height = browser.run("return document.documentElement.scrollHeight")
            self.assertLessEqual(height, LONGEST_PIXELS)
            pages = re.findall(rb"/Type\s*/Page\b", page_case.printed(browser))
            self.assertLessEqual(len(pages), MOST_PRINTED_PAGES)
        with Browser(1024) as browser:
            browser.open(page)
            self.assert_cells_hold_their_text(browser)
            self.assert_no_table_is_cut(browser)
        with Browser(390) as browser:
            browser.open(page)
            self.assert_cells_hold_their_text(browser)
            top = browser.run("return document.querySelector('.headline').getBoundingClientRect().top")
            self.assertLess(top, 300)
            self.assertLessEqual(browser.run("return document.documentElement.scrollWidth"), 390)

    def test_every_row_of_the_timeline_is_drawn(self):
        """The order of the rows is that of the workers' names, whichever worker begins first."""
        datasets = (simulated_run.Dataset("ttbar", 60, 82000, 38), simulated_run.Dataset("zjets", 40, 105000, 40))
        script = """
            const canvas = document.getElementById("timeline-canvas");
            const style = getComputedStyle(document.documentElement);
            const hexes = ["--dataset1", "--dataset2"].map((name) => style.getPropertyValue(name).trim());
            const colours = hexes.map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)).join());
            const { width, height } = canvas, { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
            let bands = 0, inside = false;
            for (let y = 0; y < height; y++) {
              let bars = 0;
              for (let x = 0; x < width; x++) {
                const at = 4 * (y * width + x);
                bars += colours.includes([data[at], data[at + 1], data[at + 2]].join());
              }
              if (!inside && bars > width / 3) bands++;
              inside = bars > width / 3;
            }
            return bands"""
        for first in (0, 2, 3):
            with self.subTest(first):
                late = {worker: 1.0 if worker == first else 1.5 + worker / 10 for worker in range(4)}
                run = simulated_run.SimulatedRun(
                    simulated_run.Trouble(late_workers=late), 1, workers=4, threads=2, datasets=datasets
                )
                folder = pathlib.Path(self.folder, f"first{first}")
                crema("collect", run.write(os.path.join(folder, "records")), "-o", folder / "measured", "-q")
                crema("report", folder / "measured", "-q")
                self.browser.open(folder / "measured/report.html")
                self.assertEqual(self.browser.run(script), 8)

    def test_a_bad_day(self):
        self.assert_page_is_short("mock")

    def test_long_names_and_more_chunks(self):
        self.assert_page_is_short("wide")

    def test_half_of_the_workers_were_killed(self):
        self.open_report("killed")
        text = self.browser.run("return document.body.innerText")
        self.assertIn("4 of 8 workers vanished", text)
        for tile in ("tile-balance", "tile-wall_time"):
            self.assertRegex(self.browser.run(f"return document.getElementById('{tile}').innerText"), "4 lost workers")
        self.assertNotIn(
            "good", self.browser.run("return document.querySelector('#tile-num_failed_attempts .pill').innerText")
        )


if __name__ == "__main__":
    unittest.main()
