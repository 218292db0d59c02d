"""A measurement's summary in a real browser, with the style sheet of a light and of a dark notebook around it.

Run by tools/test, outside Bazel: the browser is Debian's, which tools/setup test installs.

    python3 tests/browser/notebook_page_test.py                        all
    python3 tests/browser/notebook_page_test.py --screenshots DIR      keeps pictures, light and dark
"""

import os
import pathlib
import shutil
import sys
import tempfile
import unittest
import warnings

import page_case
from contrast import LEAST_TEXT_CONTRAST, channels, contrast
from page_case import CHECKOUT, CREMA
from report_test import hostile_names, with_sampled_cpu
from webdriver import Browser

sys.path.insert(0, str(CHECKOUT / "python"))

with warnings.catch_warnings(action="ignore"):  # this process records nothing, and needs no library
    from crema_hep.measurement import load

SCREENSHOTS = None
# The part of JupyterLab's style that affects the summary: colours of the themes, tables and paragraphs.
NOTEBOOK = """<!doctype html><meta charset="utf-8"><style>
body{{margin:16px;background:{ground};color:{ink};font:14px/1.5 system-ui}}
.notebook table{{border-collapse:collapse;border:none;color:{ink};font-size:12px;table-layout:fixed;margin:0 auto 1em}}
.notebook td,.notebook th{{vertical-align:middle;padding:.5em;line-height:normal;max-width:none;text-align:right}}
.notebook th{{font-weight:bold}}
.notebook tbody tr:nth-child(odd){{background:{stripe}}}
.notebook p{{text-align:left;margin:0 0 1em}}
</style><div class="notebook">{summary}</div>"""
THEMES = {
    "light": {"ground": "#ffffff", "ink": "rgba(0,0,0,0.87)", "stripe": "#f5f5f5"},
    "dark": {"ground": "#111111", "ink": "rgba(255,255,255,0.87)", "stripe": "#212121"},
}
TEXTS = """
const seen = new Map();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || element.tagName === "STYLE") continue;
  let opacity = 1;
  for (let around = element; around; around = around.parentElement) opacity *= getComputedStyle(around).opacity;
  const text = [getComputedStyle(element).color, opacity, element.tagName + "." + element.className];
  seen.set(text.join(), text);
}
return [...seen.values()];
"""


def setUpModule():
    page_case.require_browser()
    page_case.build()
    os.environ["CREMA_PROGRAM"] = str(CREMA)


def blended(colour, opacity, ground):
    front, alpha = channels(colour)
    back, _ = channels(ground)
    share = alpha * opacity
    return [share * one + (1 - share) * other for one, other in zip(front, back)]


class NotebookPageTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def open(self, browser, write, theme):
        """A notebook of this theme with the summary of these records, completely unfolded."""
        directory = self.folder / f"{write.__name__}"
        if not directory.exists():
            write(str(directory))
        page = self.folder / f"{write.__name__}_{theme}.html"
        page.write_text(NOTEBOOK.format(summary=load(directory)._repr_html_(), **THEMES[theme]))
        browser.open(page)
        browser.run("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
        if SCREENSHOTS:
            browser.screenshot(pathlib.Path(SCREENSHOTS, f"notebook_{write.__name__}_{theme}.png"))

    def test_text_has_contrast_in_light_and_dark_notebooks(self):
        with Browser(1000) as browser:
            for theme in THEMES:
                self.open(browser, with_sampled_cpu, theme)
                ground = browser.run("return getComputedStyle(document.body).backgroundColor")
                texts = browser.run(TEXTS)
                self.assertGreater(len(texts), 8)
                for colour, opacity, where in texts:
                    front = blended(colour, opacity, ground)
                    self.assertGreaterEqual(contrast(front, channels(ground)[0]), LEAST_TEXT_CONTRAST, (theme, where))

    def test_rows_have_the_notebooks_ground_and_names_stand_left(self):
        with Browser(1000) as browser:
            self.open(browser, with_sampled_cpu, "dark")
            rows = "[...document.querySelectorAll('tbody tr')].map((row) => getComputedStyle(row).backgroundColor)"
            self.assertEqual(set(browser.run(f"return {rows}")), {"rgba(0, 0, 0, 0)"})
            names = "[...document.querySelectorAll('td:first-child')].map((cell) => getComputedStyle(cell).textAlign)"
            self.assertEqual(set(browser.run(f"return {names}")), {"left"})

    def test_hostile_names_do_nothing(self):
        with Browser(1000) as browser:
            self.open(browser, hostile_names, "light")
            self.assertEqual(browser.requests(), [browser.url])
            self.assertEqual(browser.console(), [])
            self.assertEqual(browser.run("return document.querySelectorAll('script, img, a, .crema .crema').length"), 0)
            self.assertIn("onerror=alert(1)", browser.run("return document.body.innerText"))

    def test_nothing_is_wider_than_the_window(self):
        for width in (1280, 700, 420):
            with Browser(width) as browser:
                self.open(browser, hostile_names, "light")
                self.assertLessEqual(browser.run("return document.documentElement.scrollWidth"), width)

    def test_the_bar_of_the_budget_fills_its_line(self):
        with Browser(1000) as browser:
            self.open(browser, with_sampled_cpu, "light")
            bar, first = browser.run(
                "const bar = document.querySelector('.bar'); const boxes = [...bar.children];"
                "return [bar, boxes[0]].map((box) => box.getBoundingClientRect().width)"
            )
            self.assertGreater(bar, 900)
            self.assertAlmostEqual(first / bar, 0.52, delta=0.01)


if __name__ == "__main__":
    if "--screenshots" in sys.argv:
        at = sys.argv.index("--screenshots")
        SCREENSHOTS = sys.argv[at + 1]
        del sys.argv[at : at + 2]
    unittest.main(verbosity=2)
