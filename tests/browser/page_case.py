"""The base of tests of pages: a browser, pages to open in it, and checks that every page has to pass."""

import base64
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(CHECKOUT))

from webdriver import Browser  # noqa: E402  (run_tests.py and unittest put this folder into the path)

CREMA = CHECKOUT / "bazel-bin/collector/cli/crema"
LARGEST_PAGE = 5_000_000
# The directory for pictures of every page: light and dark, 1,280, 1,024 and 390 pixels wide, and printed. They are
# checked by eye.
PICTURES = os.environ.get("CREMA_TEST_PICTURES")

# as a reader sees it: folded parts stay folded
DRAW_SHOWN = """
const shown = [...document.querySelectorAll("[data-chart]")].filter((chart) => chart.checkVisibility());
const waiting = shown.find((chart) => !chart.dataset.drawn);
if (!waiting) return true;
waiting.scrollIntoView({ behavior: "instant" });
return false;
"""

DRAW_ALL = """
document.querySelectorAll("details").forEach((details) => { details.open = true; });
document.querySelectorAll(".panel").forEach((panel) => { panel.hidden = false; });
const waiting = [...document.querySelectorAll("[data-chart]")].find((chart) => !chart.dataset.drawn);
if (!waiting) return true;
waiting.scrollIntoView({ behavior: "instant" });
return false;
"""


def build(*targets):
    command = ["bazel", "build", "--ui_event_filters=-info", "--noshow_progress", "//collector/cli:crema", *targets]
    subprocess.run(command, cwd=CHECKOUT, check=True)


def require_browser():
    if shutil.which("chromedriver") is None or shutil.which("chromium") is None:
        raise unittest.SkipTest("no chromium and chromium-driver: run tools/setup test")


def without_crema():
    return {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}


def crema(*arguments):
    """Runs the command. Returns what it printed."""
    result = subprocess.run(
        [CREMA, *arguments], capture_output=True, text=True, timeout=300, check=False, env=without_crema()
    )
    if result.returncode != 0:
        raise AssertionError(f"{arguments}: {result.stderr}")
    return result.stdout


def printed(browser):
    """The page that is open, as a PDF."""
    return base64.b64decode(browser.devtools("Page.printToPDF")["data"])


def value_at(document, key):
    """`workers[0].chunks` of a measurement."""
    for step in re.findall(r"[^.\[\]]+", key):
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document


class PageTestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="crema-report-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def assert_quiet(self, page):
        """Checks the completely drawn page: it made no request, and the console has no error and no policy
        violation."""
        self.browser.open(page)
        self.assertTrue(self.browser.wait(DRAW_ALL, 120), "not every chart was drawn")
        self.assertEqual(self.browser.console(), [])
        self.assertEqual(self.browser.requests(), [self.browser.url])
        self.assertEqual(self.browser.run("return document.querySelectorAll('[data-drawn=no]').length"), 0)
        self.assertLess(pathlib.Path(page).stat().st_size, LARGEST_PAGE)

    def assert_figures_are_of(self, measurement):
        """Checks that every figure of the open page is in the measurement, with the same value."""
        script = "return [...document.querySelectorAll('data[data-key]')].map((d) => [d.dataset.key, Number(d.value)])"
        figures = [
            (key, value)
            for key, value in self.browser.run(script)
            if not key.startswith(("group.", "part.", "budget."))
        ]
        self.assertGreater(len(figures), 40)
        for key, value in figures:
            self.assertEqual(value_at(measurement, key), value, key)

    def assert_shares_add_up(self, measurement):
        script = "return [...document.querySelectorAll('.budget data')].map((d) => [d.dataset.key, Number(d.value)])"
        shares = dict(self.browser.run(script))
        groups = [share for key, share in shares.items() if key.startswith("group.")]
        self.assertGreaterEqual(len(groups), 5)
        self.assertAlmostEqual(sum(groups), 1, places=9)
        total = sum(row["core_seconds"] or 0 for row in measurement["budget"])
        parts = [row for row in measurement["budget"] if f"part.{row['part']}" in shares]
        self.assertNotEqual(parts, [])
        for row in parts:
            self.assertAlmostEqual(shares[f"part.{row['part']}"], row["core_seconds"] / total, places=9)

    def keep_pictures(self, page, name):
        if PICTURES is None:
            return
        pathlib.Path(PICTURES).mkdir(parents=True, exist_ok=True)
        for width in (1280, 1024, 390):
            for dark in (False, True):
                with Browser(width, dark=dark) as browser:
                    browser.open(page)
                    browser.wait(DRAW_SHOWN, 60)
                    browser.run("scrollTo({ top: 0, behavior: 'instant' })")
                    theme = "dark" if dark else "light"
                    browser.screenshot(pathlib.Path(PICTURES, f"{name}-{width}-{theme}.png"))
                    if width == 1280:
                        pathlib.Path(PICTURES, f"{name}-{theme}.pdf").write_bytes(printed(browser))
