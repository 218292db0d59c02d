"""The report in a real browser: its requests, its errors, its contents, and whether one can use it.

Run by tools/test, outside Bazel: the browser is Debian's, which tools/setup test installs.

    python3 tests/browser/report_test.py                                    all of this file
    CREMA_TEST_PICTURES=DIR python3 tests/browser/report_test.py AnyRun     keeps pictures of every page
    CREMA_TEST_MILLION=1 python3 tests/browser/report_test.py MillionChunks     size and first paint of a large run
"""

import json
import os
import pathlib
import re
import subprocess
import unittest

import page_case
from contrast import LEAST_GRAPHIC_CONTRAST, LEAST_TEXT_CONTRAST, TEXTS_AND_GROUNDS, channels, contrast, of_hex
from page_case import CHECKOUT, DRAW_ALL, LARGEST_PAGE, PageTestCase, crema
from webdriver import Browser

from collector.cli import invented_run

HAS_CHARTS = (CHECKOUT / "third_party/page/node_modules/vega").is_dir()

IN_FIRST_ROW = 96  # pixels below the top of the timeline's canvas

DOWN, ENTER = "\ue015", "\ue007"  # WebDriver's names of keys

HOSTILE_NAMES = [
    "</script><img src=x onerror=alert(1)>",
    "\"quotes\" and 'single' & <b>bold</b>",
    "\u202eright to left \u05d0\u05d1\u05d2",
    "long " + "x" * 10_000,
    "{{7*7}}${7*7}<!--",
]


def setUpModule():
    page_case.require_browser()
    page_case.build()


def write_lines(directory, lines):
    invented_run.write_log(directory, lines)
    return directory


def with_sampled_cpu(directory):
    """The run of invented_run.write_run: failed, repeated and lost attempts, two workers, samples."""
    return invented_run.write_run(directory)


def empty_run(directory):
    return write_lines(directory, [invented_run.process_line(1), invented_run.end_line(1, 0)])


def all_failed(directory):
    lines = [invented_run.process_line(1)]
    for number in range(60):
        failed = invented_run.chunk_line(
            number, number, number + 0.9, status="failed", events=None, error="no such file"
        )
        failed.update(invented_run.place(number, "ttbar"))
        lines += [invented_run.begin_line(number, number), failed]
    return write_lines(directory, [*lines, invented_run.end_line(61, 60, failed=60)])


def one_chunk(directory):
    lines = [invented_run.process_line(1), invented_run.begin_line(0, 0.1), invented_run.chunk_line(0, 0.1, 3)]
    return write_lines(directory, [*lines, invented_run.end_line(3.1, 1)])


def with_stacks(directory):
    """Stacks of two datasets: `select` is 90 % `fit`, which mostly calls `exp`; `jets` inside it is `cluster` alone."""
    stacks = {"type": "stacks", "hertz": 100.0}
    lines = [invented_run.process_line(1)]
    for number, dataset in enumerate(("ttbar", "zjets")):
        lines += [
            invented_run.begin_line(number, 4 * number, dataset),
            invented_run.chunk_line(number, 4 * number, 4 * number + 3, dataset=dataset),
            {
                **stacks,
                "time_ns": invented_run.at(4 * number + 3),
                "dataset": dataset,
                "section": "select",
                "functions": [["main", "", None], ["<b>fit</b>", "fit.py", 12], ["exp", "", None]],
                "stacks": [[10, 10, 0], [20, 20, 0, 1], [70 * (number + 1), 70 * (number + 1), 0, 1, 2]],
            },
        ]
    jets = {"dataset": "zjets", "section": "select/jets", "functions": [["run", "", None], ["cluster", "", None]]}
    jets["stacks"] = [[50, 50, 0, 1]]
    return write_lines(
        directory, [*lines, {**stacks, "time_ns": invented_run.at(8), **jets}, invented_run.end_line(8, 2)]
    )


def hostile_names(directory):
    lines = [invented_run.process_line(1)]
    for number, name in enumerate(HOSTILE_NAMES):
        names = {
            "dataset": name,
            "file": "dir/" + name,
            "error": name,
            "sections": [
                {"path": name.replace("/", "|"), "count": 1, "total_ns": 10**9, "self_ns": 10**9, "cpu_ns": 10**8}
            ],
            "metrics": [{"name": name, "unit": name, "count": 1, "sum": 1, "min": 1, "max": 1}],
            "cuts": [{"name": name, "events": 5}],
            "columns": [name],
        }
        begin = invented_run.begin_line(number, 2 * number)
        begin.update(dataset=name, file="dir/" + name)
        status = "failed" if number % 2 else "ok"
        lines += [begin, invented_run.chunk_line(number, 2 * number, 2 * number + 1.5, status=status, **names)]
    write_lines(directory, [*lines, invented_run.end_line(20, len(HOSTILE_NAMES))])
    log = next(pathlib.Path(directory).iterdir())
    text = log.read_bytes()
    # bytes that are not UTF-8, as a C++ program may give them
    text = text.replace(b'"host":"node"', b'"host":"<i>host</i>"')
    log.write_bytes(text.replace(b"quotes", b"quo\xff\xfetes\xed\xa0\x80"))
    return directory


class ReportTestCase(PageTestCase):
    @classmethod
    def report_of(cls, make):
        """The page and the measurement of a run that `make` writes."""
        directory = pathlib.Path(cls.folder, make.__name__)
        if not directory.exists():
            make(str(directory / "records"))
            crema("collect", directory / "records", "-o", directory / "m", "-q")
            crema("report", directory / "m", "-q")
        return directory / "m/report.html", json.loads((directory / "m/measurement.json").read_text())


class AnyRun(ReportTestCase):
    def test_no_page_asks_for_anything_or_complains(self):
        for make in (with_sampled_cpu, empty_run, all_failed, one_chunk, hostile_names, with_stacks):
            with self.subTest(make.__name__):
                page, _ = self.report_of(make)
                self.assert_quiet(page)
                self.keep_pictures(page, make.__name__)

    def test_names_stay_text(self):
        page, _ = self.report_of(hostile_names)
        self.browser.open(page)
        counts = ["img", "b b, i", "[onerror]"]
        script = "return arguments[0].map((selector) => document.querySelectorAll(selector).length)"
        self.assertEqual(self.browser.run(script, counts), [0, 0, 0])
        text = self.browser.run("return document.body.textContent")
        self.assertIn("</script><img src=x onerror=alert(1)>", text)
        self.assertRegex(text, r"[1-9]\d* malformed lines")  # the line that is not UTF-8 is refused, and counted
        self.assertLess(max(len(word) for word in self.browser.run("return document.body.innerText").split()), 700)

    def test_every_link_leads_somewhere(self):
        for make in (with_sampled_cpu, empty_run):
            page, _ = self.report_of(make)
            self.browser.open(page)
            script = """
                const targets = [...document.querySelectorAll("a[href]")].map((link) => link.getAttribute("href"));
                return targets.filter((to) => to[0] !== "#" || !document.getElementById(to.slice(1)));
            """
            self.assertEqual(self.browser.run(script), [])
            ids = self.browser.run("return [...document.querySelectorAll('[id]')].map((element) => element.id)")
            self.assertEqual(len(ids), len(set(ids)))

    def test_figures_are_those_of_the_measurement(self):
        for make in (with_sampled_cpu, all_failed, one_chunk):
            page, measurement = self.report_of(make)
            self.browser.open(page)
            self.assert_figures_are_of(measurement)

    def test_shares_add_up(self):
        page, measurement = self.report_of(with_sampled_cpu)
        self.browser.open(page)
        self.assert_shares_add_up(measurement)

    def test_a_baseline_stands_in_the_head_and_under_the_figures(self):
        _, measurement = self.report_of(with_sampled_cpu)
        _, before = self.report_of(hostile_names)
        folder = pathlib.Path(self.folder)
        page = folder / "compared.html"
        crema("report", folder / "with_sampled_cpu/m", "--baseline", folder / "hostile_names/m", "-o", page, "-q")
        self.assert_quiet(page)
        self.keep_pictures(page, "compared")
        self.browser.open(page)
        self.assert_figures_are_of(measurement)
        said = self.browser.run("return document.getElementById('baseline').textContent")
        self.assertEqual([document["metrics"]["total_events"] for document in (before, measurement)], [300, 2000])
        self.assertRegex(said, r"^Baseline: .*should be equal is not: events 300 before, 2.000 now; ")
        self.assertIn("events of </script><img src=x onerror=alert(1)> 100 before, none now", said)
        change = "return document.querySelector(`#tile-${arguments[0]} .change`).textContent"
        self.assertRegex(self.browser.run(change, "wall_time"), r"^[+-][\d.]+\xa0% from [\d.]+\xa0s: of other events$")
        self.assertEqual(self.browser.run(change, "num_failed_attempts"), "as in the baseline")
        rate = self.browser.run(change, "event_rate_wall_khz")
        self.assertRegex(rate, r"^✓ \+[\d.\xa0]+\xa0% from [\d.]+/s: better$")

    def test_what_is_not_there_says_why(self):
        page, _ = self.report_of(empty_run)
        self.browser.open(page)
        for block in ("timeline", "time", "workers", "chunks", "custom", "failures"):
            script = "return document.getElementById(arguments[0]).closest('section').querySelector('.absent, .quiet')"
            self.assertGreater(len(self.browser.run(script + "?.textContent", block) or ""), 10, block)

    def test_text_has_contrast_in_both_themes(self):
        page, _ = self.report_of(with_sampled_cpu)
        for dark in (False, True):
            with Browser(dark=dark) as browser:
                browser.open(page)
                browser.run("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
                self.assertEqual(
                    browser.run("return document.documentElement.dataset.theme"), "dark" if dark else "light"
                )
                pairs = browser.run(TEXTS_AND_GROUNDS)
                self.assertGreater(len(pairs), 8)
                for text, ground, where, sample in pairs:
                    (front, _), (back, _) = channels(text), channels(ground)
                    self.assertGreaterEqual(contrast(front, back), LEAST_TEXT_CONTRAST, (dark, where, sample))

    def test_what_one_must_see_stands_out_in_both_themes(self):
        page, _ = self.report_of(with_sampled_cpu)
        for dark in (False, True):
            with Browser(dark=dark) as browser:
                browser.open(page)
                names = ["cpu", "wait", "opening", "overhead", "limit", "events", "data", "card", "track"]
                script = (
                    "return arguments[0].map((n) => getComputedStyle(document.body).getPropertyValue('--' + n).trim())"
                )
                colours = dict(zip(names, browser.run(script, names), strict=True))
                for name in names[:-2]:
                    for ground in ("card", "track"):
                        seen = contrast(of_hex(colours[name]), of_hex(colours[ground]))
                        self.assertGreaterEqual(seen, LEAST_GRAPHIC_CONTRAST, (dark, name, ground))

    def test_nothing_is_wider_than_the_window(self):
        page, _ = self.report_of(hostile_names)
        for width in (1280, 1024, 700):
            with Browser(width) as browser:
                browser.open(page)
                self.assertLessEqual(browser.run("return document.documentElement.scrollWidth"), width)

    def test_a_narrow_page_begins_with_the_headline(self):
        page, _ = self.report_of(with_sampled_cpu)
        with Browser(390) as browser:
            browser.open(page)
            self.assertLess(browser.run("return document.querySelector('.headline').getBoundingClientRect().top"), 300)
            self.assertLessEqual(browser.run("return document.documentElement.scrollWidth"), 390)

    def test_bars_of_a_column_begin_at_one_edge(self):
        page, _ = self.report_of(with_sampled_cpu)
        self.browser.open(page)
        columns = self.browser.run("""
            const columns = new Map();
            for (const bar of document.querySelectorAll("td svg.bar")) {
                const cell = bar.closest("td"), box = bar.getBoundingClientRect();
                if (!box.width) continue;
                const tables = [...document.querySelectorAll("table")];
                const key = tables.indexOf(cell.closest("table")) + "/" + cell.cellIndex;
                columns.set(key, [...(columns.get(key) || []), Math.round(box.left)]);
            }
            return [...columns.values()];
        """)
        self.assertTrue(any(len(lefts) > 1 for lefts in columns))
        for lefts in columns:
            self.assertEqual(len(set(lefts)), 1, lefts)

    def test_a_long_table_shows_its_first_rows_until_asked(self):
        page, _ = self.report_of(all_failed)
        self.browser.open(page)
        shown = """
            const table = document.querySelector("[aria-label^='Attempts that failed'] table");
            return [...table.tBodies[0].rows].filter((row) => !row.hidden).length;
        """
        self.assertEqual(self.browser.run(shown), 8)
        self.browser.run("document.querySelector(\"[aria-label^='Attempts that failed'] + .all-rows\").click()")
        self.assertEqual(self.browser.run(shown), 60)

    def test_the_outcome_of_a_failure_is_seen(self):
        page, _ = self.report_of(with_sampled_cpu)
        with Browser(1280) as browser:
            browser.open(page)
            table = "const region = document.querySelector(\"[aria-label^='Attempts that failed']\");"
            self.assertLessEqual(*browser.run(table + "return [region.scrollWidth, region.clientWidth]"))
            heights = browser.run(
                table + "return [...region.querySelectorAll('tbody tr')].map((row) => row.offsetHeight)"
            )
            self.assertLess(max(heights), 60)

    def test_a_print_is_short_and_light(self):
        page, _ = self.report_of(with_sampled_cpu)
        with Browser(dark=True) as browser:
            browser.open(page)
            browser.run("""
                addEventListener("beforeprint", () => {
                    const canvas = document.getElementById("timeline-canvas");
                    window.printed = canvas.toDataURL();
                });
                document.getElementById("theme").click();
                window.light = document.getElementById("timeline-canvas").toDataURL();
                document.getElementById("theme").click();
                window.dark = document.getElementById("timeline-canvas").toDataURL();
            """)
            self.assertLessEqual(len(re.findall(rb"/Type\s*/Page\b", page_case.printed(browser))), 4)
            same = "return [window.printed === window.light, window.light === window.dark]"
            self.assertEqual(browser.run(same), [True, False])

    def test_a_print_draws_what_nobody_scrolled_to(self):
        page, _ = self.report_of(with_sampled_cpu)
        with Browser() as browser:
            browser.open(page)
            shown = "[...document.querySelectorAll('[data-chart]')].filter((chart) => chart.checkVisibility())"
            drawn = f"return {shown}.map((chart) => chart.dataset.drawn || 'not yet')"
            self.assertIn("not yet", browser.run(drawn))
            page_case.printed(browser)
            self.assertEqual(set(browser.run(drawn)), {"yes"})

    def test_works_without_scripts(self):
        page, measurement = self.report_of(with_sampled_cpu)
        with Browser(scripting=False) as browser:
            browser.open(page)
            nodes = browser.devtools("DOM.getDocument", depth=0)["root"]["nodeId"]
            html = browser.devtools("DOM.getOuterHTML", nodeId=nodes)["outerHTML"].replace("&nbsp;", " ")
            self.assertIn(measurement["headline"].replace("'", "&#39;").split(";")[0][:40], html.replace("'", "&#39;"))
            self.assertNotIn('class="scripted"', html)
            self.assertEqual(browser.requests(), [browser.url])


class UsedByHand(ReportTestCase):
    def setUp(self):
        page, _ = self.report_of(with_sampled_cpu)
        self.page = page
        self.browser.open(page)
        self.browser.run(
            "document.getElementById('timeline-canvas').scrollIntoView({ block: 'center', behavior: 'instant' })"
        )

    def canvas(self):
        return self.browser.run(
            "const box = document.getElementById('timeline-canvas').getBoundingClientRect();"
            "return [box.left, box.top, box.width, box.height]"
        )

    def wait_for_fragment(self, pattern):
        """Waits until the page's address shows what the user did, which takes a moment."""
        found = self.browser.wait(f"return /{pattern}/.test(location.hash) ? [location.hash] : null")
        self.assertIsNotNone(found, f"no {pattern} in {self.browser.run('return location.hash')}")
        return found[0]

    def tip(self):
        return self.browser.run("const tip = document.getElementById('tip'); return tip.hidden ? '' : tip.innerText")

    def test_a_bar_tells_of_its_chunk(self):
        left, top, width, height = self.canvas()
        self.browser.pointer(("move", left + width / 2, top + IN_FIRST_ROW))
        text = self.browser.wait("const tip = document.getElementById('tip'); return tip.hidden ? '' : tip.innerText")
        self.assertIn("duration", text)
        self.assertRegex(text, "select|read")

    def test_dragging_zooms_and_the_address_knows(self):
        left, top, width, height = self.canvas()
        y = top + IN_FIRST_ROW
        self.browser.pointer(("move", left + width * 0.4, y), ("down",), ("move", left + width * 0.6, y), ("up",))
        zoomed = self.wait_for_fragment(r"zoom=[\d.e+-]+_[\d.e+-]+")
        self.browser.open(self.page, zoomed)
        self.assertEqual(self.browser.run("return location.hash"), zoomed)
        self.browser.keys("0")
        self.wait_for_fragment("^((?!zoom).)*$")

    def test_a_zoomed_link_leads_to_the_timeline(self):
        self.browser.open(self.page)
        self.browser.run("document.getElementById('timeline-canvas').focus()")
        self.browser.keys("+")
        zoomed = self.wait_for_fragment("zoom=")
        self.assertTrue(zoomed.startswith("#timeline&zoom="), zoomed)

    def ended_chunks(self):
        """With their starts in seconds since the run's."""
        shown = crema("show", self.page.parent, "--table", "chunks", "--sort", "start_ns", "--json")
        start_ns = json.loads((self.page.parent / "measurement.json").read_text())["run"]["start_ns"]
        chunks = [chunk for chunk in json.loads(shown) if chunk["duration"] is not None]
        return [{**chunk, "start": (chunk["start_ns"] - start_ns) / 1e9} for chunk in chunks]

    def test_a_selected_time_says_what_ran_in_it(self):
        """Computes all figures again, from the attempts that the same program exports."""
        begin, end = 0.4, 1.1
        inside = []  # seconds inside, and the chunk
        for chunk in self.ended_chunks():
            seconds = min(chunk["start"] + chunk["duration"], end) - max(chunk["start"], begin)
            if seconds > 0:
                inside.append((seconds, chunk))
        busy = sum(seconds for seconds, _ in inside)
        events = sum(
            chunk["events"] * seconds / chunk["duration"] for seconds, chunk in inside if chunk["status"] == "ok"
        )
        self.assertGreater(len(inside), 4)
        self.browser.open(self.page, f"#timeline&zoom={begin}_{end}")
        script = "const range = document.getElementById('timeline-range'); return range.hidden ? null : range.innerText"
        text = self.browser.wait(script)
        self.assertIn(f"{len(inside)} attempts", text)
        self.assertIn(f"{busy / (end - begin):.3g}"[:3], re.search(r"([\d.]+) threads busy", text)[1])
        shown = float(re.search(r"([\d.]+) events", text)[1])
        self.assertAlmostEqual(shown, events, delta=1)
        rows = self.browser.run(
            "return [...document.querySelectorAll('#timeline-range tbody tr')].map((row) => row.innerText.split('\\t'))"
        )
        shares = {row[0]: float(row[2].rstrip("\xa0%")) for row in rows}
        self.assertAlmostEqual(shares["read"], 25, delta=1)  # invented_run: of each chunk
        self.assertAlmostEqual(shares["ttbar"] + shares.get("zjets", 0), 100, delta=1)
        self.browser.run("document.querySelector('#timeline-range button').click()")
        self.assertTrue(self.browser.wait("return document.getElementById('timeline-range').hidden"))

    def test_files_are_found(self):
        self.browser.run(
            "const input = document.getElementById('timeline-find'); input.value = 'ZJETS.root';"
            "input.dispatchEvent(new Event('input'))"
        )
        found = self.browser.run("return document.getElementById('timeline-found').innerText")
        self.assertRegex(found, r"^9 of 22 attempts")
        self.wait_for_fragment("find=zjets.root")
        self.browser.run("document.getElementById('timeline-find').focus()")
        self.browser.keys("\ue007")
        self.assertIn("zjets", self.tip())

    def test_tracks_tell_of_a_moment(self):
        left, top, width, height = self.canvas()
        self.browser.pointer(("move", left + width / 2, top + height - 40))
        text = self.browser.wait("const tip = document.getElementById('tip'); return tip.hidden ? '' : tip.innerText")
        for name in ("threads busy", "Memory", "CPU", "Read"):
            self.assertIn(name, text)

    def test_the_legend_is_of_what_the_colours_mean(self):
        script = """
            document.querySelector(`button[data-mode=${arguments[0]}]`).click();
            const all = [...document.querySelectorAll("#timeline-legend li")];
            const items = all.filter((item) => item.checkVisibility());
            const seen = (item) => [...item.querySelectorAll(".key")].some((key) => key.checkVisibility());
            return items.filter(seen).map((item) => item.innerText.replaceAll("\\u00a0", " ").trim());
        """
        for mode, meant in {
            "waiting": ["worker not there", "waiting 0 %  100 %", "not measured"],
            "attempt": ["worker not there", "first attempt", "later attempt"],
            "dataset": ["ttbar", "zjets", "worker not there", "pale = waiting (> 32 %)"],
        }.items():
            self.assertEqual(self.browser.run(script, mode), meant)
        drawn = self.browser.run("return JSON.parse(document.getElementById('timeline-data').textContent)")
        self.assertEqual((drawn["paleAbove"], drawn["longFrom"]), (0.32, 1.5))
        _, first, unmeasured = self.browser.run(script, "rate")
        self.assertRegex(first, r"^events/s 0 +≥ [\d.]+ ?k?/s$")
        self.assertEqual(unmeasured, "not measured")

    def test_navigation_lands_where_it_leads(self):
        for block in ("failures", "workers"):
            self.browser.open(self.page)
            self.browser.run("document.querySelector(`nav a[href='#${arguments[0]}']`).click()", block)
            script = f"""
                const top = document.getElementById("{block}").getBoundingClientRect().top;
                const late = [...document.querySelectorAll("[data-chart]:not([data-drawn])")].filter((chart) => {{
                    const box = chart.getBoundingClientRect();
                    return chart.checkVisibility() && box.bottom > 0 && box.top < innerHeight;
                }});
                const current = document.querySelector("nav [aria-current]").hash.slice(1);
                const isAtTheEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
                const lands = Math.abs(top) < 40 || (isAtTheEnd && top > 0 && top < innerHeight);
                return !late.length && lands && current === "{block}";
            """
            landed = self.browser.wait(script, 20)
            self.assertTrue(landed, block)

    def test_keys_zoom_choose_and_tell(self):
        self.browser.run("document.getElementById('timeline-canvas').focus()")
        self.browser.keys("+")
        self.wait_for_fragment("zoom=")
        self.browser.keys("0")
        self.browser.keys("\ue007")  # Enter
        self.assertIn("duration", self.tip())
        self.browser.keys("\ue00c")  # Escape
        self.assertEqual(self.tip(), "")
        self.browser.keys("?")
        self.assertTrue(self.browser.run("return document.getElementById('help').open"))
        self.browser.keys("\ue00c")
        self.assertFalse(self.browser.run("return document.getElementById('help').open"))
        self.browser.keys("j")
        self.wait_for_fragment("^#(?!overview|top)[a-z]")

    def test_columns_sort(self):
        script = """
            const table = document.querySelector('#inputs').closest('section').querySelector('table.sortable');
            const header = [...table.tHead.rows[0].cells].find((cell) => cell.textContent === 'chunks');
            header.querySelector('button').click();
            if (arguments[0]) header.querySelector('button').click();
            const values = [...table.tBodies[0].rows].map((row) => Number(row.cells[header.cellIndex].dataset.sort));
            return [header.getAttribute('aria-sort'), values];
        """
        order, values = self.browser.run(script, False)
        self.assertEqual((order, values), ("descending", sorted(values, reverse=True)))
        self.browser.open(self.page)
        order, values = self.browser.run(script, True)
        self.assertEqual((order, values), ("ascending", sorted(values)))

    def test_the_theme_button_goes_round(self):
        seen = []
        for fragment in ("theme=light", "theme=dark", "^((?!theme).)*$"):
            self.browser.run("document.getElementById('theme').click()")
            self.wait_for_fragment(fragment)
            seen.append(self.browser.run("return document.documentElement.dataset.theme"))
        self.assertEqual(seen, ["light", "dark", "light"])

    @unittest.skipUnless(HAS_CHARTS, "built without the chart packages: tools/setup page")
    def test_charts_wait_until_they_are_seen(self):
        self.browser.open(self.page)
        self.assertEqual(self.browser.run("return typeof vega"), "undefined")
        self.assertTrue(self.browser.wait(DRAW_ALL, 120))
        self.assertGreater(self.browser.run("return document.querySelectorAll('[data-drawn=yes] canvas').length"), 5)


class Functions(ReportTestCase):
    def setUp(self):
        self.page, _ = self.report_of(with_stacks)
        self.browser.open(self.page)

    def choose(self, canvas, keys):
        """Presses the keys on the canvas. Returns the text of the card."""
        self.browser.run(f"document.getElementById('{canvas}').focus()")
        for key in keys:
            self.browser.keys(key)
        return self.browser.run("return document.getElementById('tip').innerText").replace("\xa0", " ")

    def test_what_a_function_called_is_below_it(self):
        self.assertRegex(self.choose("flame", DOWN), r"^select\s+samples\s+320\s+of all samples\s+100 %")
        self.assertRegex(self.choose("flame", DOWN), r"^main\s+samples\s+270\s+of its section’s samples\s+100 %")
        fit = self.choose("flame", DOWN)
        self.assertRegex(fit, r"^<b>fit</b>\s+fit.py:12\s+samples\s+250\s+of its section’s samples\s+93 %")
        self.assertRegex(fit, r"in itself\s+15 %")
        self.assertRegex(self.choose("flame", DOWN), r"^exp\s+samples\s+210")

    def test_a_section_that_is_chosen_above_is_the_whole(self):
        self.browser.open(self.page, "#functions&section=select%2Fjets")
        self.assertRegex(
            self.choose("flame", DOWN), r"^cluster\s+called by run\s+samples\s+50\s+of its section’s samples\s+100 %"
        )
        sections = self.browser.run(
            "return [...document.querySelectorAll('#functions tbody tr')].filter((row) => !row.hidden)"
            ".map((row) => row.cells[0].textContent)"
        )
        self.assertEqual(sections, ["select/jets"])
        self.browser.open(self.page)
        self.choose("icicle", [DOWN, ENTER])  # the largest: select
        self.assertRegex(self.choose("flame", DOWN), r"^main\s")

    def test_a_dataset_alone(self):
        self.browser.run(
            "const choice = document.getElementById('flame-dataset');"
            "choice.value = '=ttbar'; choice.dispatchEvent(new Event('change'));"
        )
        self.assertRegex(self.choose("flame", [DOWN, DOWN]), r"^main\s+samples\s+100\s")


@unittest.skipUnless(os.environ.get("CREMA_TEST_MILLION"), "takes minutes: CREMA_TEST_MILLION=1 asks for it")
class MillionChunks(ReportTestCase):
    """Prints the figures that docs/report_reference.md has."""

    def test_a_million_chunks(self):
        page_case.build("//collector/benchmarks:make_logs")
        make_logs = CHECKOUT / "bazel-bin/collector/benchmarks/make_logs"
        directory = pathlib.Path(self.folder, "million")
        subprocess.run([make_logs, "--shape=sdk", "--records=2000000", "--files=64", directory / "records"], check=True)
        crema("collect", directory / "records", "-o", directory / "m", "-q")
        subprocess.run(
            ["/usr/bin/time", "-f", "%U + %S s of CPU, %M kB", page_case.CREMA, "report", directory / "m", "-q"],
            check=True,
        )
        page = directory / "m/report.html"
        self.assertLess(page.stat().st_size, LARGEST_PAGE)
        self.browser.open(page)
        paint = self.browser.wait("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
        print(f"{page.stat().st_size} bytes, first paint after {paint:.0f} ms")
        self.assert_quiet(page)
        self.keep_pictures(page, "million")


if __name__ == "__main__":
    unittest.main()
