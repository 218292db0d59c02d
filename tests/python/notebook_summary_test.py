"""A measurement's summary as HTML: what it says, and that no text of a document becomes markup. Run by tools/test."""

import copy
import html.parser
import os
import re
import unittest

from notebook_case import HOSTILE_NAMES, NotebookTest, write_empty, write_hostile

# isort: split
# found through the import before
from crema_hep import program
from crema_hep.measurement import Measurement, load

NO_NUMBERS = [None, True, "12", "<b>", [], {}, -1, 0]

GROUPS = [
    "CPU in your code",
    "Waiting in your code",
    "Opening and reading around your code",
    "Framework and repeats",
    "Idle",
    "Not measured",
]


class Page(html.parser.HTMLParser):
    """The elements of a page, whether they are closed in order, and its text."""

    VOID = ("br", "img", "hr", "input", "link", "meta")

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.open, self.text = set(), set(), [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attributes)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data + "\n"


def shown(document):
    """What a notebook shows of this document."""
    return Measurement("nowhere", document)._repr_html_()


class SummaryTest(NotebookTest):
    def assert_harmless(self, text):
        page = Page(text)
        self.assertEqual(page.open, [])
        allowed = {"div", "style", "p", "b", "i", "h4", "span", "small", "code", "bdi", "data", "details", "summary"}
        self.assertLessEqual(page.tags, allowed | {"table", "thead", "tbody", "tr", "th", "td"})
        self.assertLessEqual(page.attributes, {"class", "style", "title", "open", "data-key", "value"})
        self.assertEqual(text.encode("utf-8").decode("utf-8"), text)
        self.assertNotRegex(text, "[\u202a-\u202e\u2066-\u2069\x00-\x08\x1b]")
        return page

    def test_the_verdict_comes_first_and_nothing_is_active(self):
        measurement = load(self.measure())
        text = measurement._repr_html_()
        page = self.assert_harmless(text)
        self.assertEqual(page.text.strip().splitlines()[0], measurement.headline)
        self.assertLess(len(text), 15_000)

    def test_figures_read_as_the_terminals(self):
        path = self.measure()
        page = self.assert_harmless(load(path)._repr_html_())
        terminal = program.run("show", path, "--width", 160, "--color", "never").replace("\u00a0", " ")
        rows = dict(re.findall(r"<span class=\"muted\">([^<]*)</span><b>([^<]*)</b>", load(path)._repr_html_()))
        self.assertEqual(len(rows), 8)
        for label, value in rows.items():
            self.assertRegex(terminal, rf"{label} +{re.escape(value.replace(chr(160), ' '))} ")
        for row in load(path).budget:
            self.assertIn(row["group"], page.text)
        self.assertIn("1.78 s", page.text.replace("\u00a0", " "))

    def test_it_is_the_programs_of_any_source(self):
        path = self.measure()
        of_records = load(f"{path} records")
        self.assertEqual(load(path)._repr_html_(), program.run("show", path, "--html"))
        self.assertEqual(of_records._repr_html_(), program.run("show", of_records.source, "--html"))

    def test_it_shows_the_document_as_it_is_now(self):
        document = load(self.measure()).document
        document["headline"] = "Nothing happened."
        self.assertIn("Nothing happened.", shown(document))

    def test_without_the_program_it_is_the_plain_form_and_the_reason(self):
        measurement = load(self.measure())
        for program_, reason in (("/nowhere/crema", "cannot run /nowhere/crema"), ("/bin/false", "status 1")):
            os.environ["CREMA_PROGRAM"] = program_
            text = measurement._repr_html_()
            self.assertRegex(text, f"^<pre>&lt;crema measurement [^\n]*\ncrema: [^\n]*{reason}[^\n]*</pre>$")
        measurement.document["metrics"]["wall_time"] = {1, 2}  # no JSON
        self.assertRegex(measurement._repr_html_(), "^<pre>&lt;crema measurement [^\n]*\n[^\n]*JSON[^\n]*</pre>$")

    def test_hostile_names_stay_text(self):
        page = self.assert_harmless(load(self.measure(write_hostile))._repr_html_())
        self.assertIn("<b>bold</b> -->", page.text)
        self.assertIn("alert(1)", page.text)
        self.assertLess(len(page.text), 20_000)

    def test_any_text_of_a_document_may_be_hostile(self):
        document = load(self.measure()).document

        def poisoned(value, name):
            if isinstance(value, dict):
                return {key: part if key == "schema" else poisoned(part, name) for key, part in value.items()}
            if isinstance(value, list):
                return [poisoned(part, name) for part in value]
            return name if isinstance(value, str) else value

        for name in HOSTILE_NAMES:
            with self.subTest(name[:20]):
                self.assert_harmless(shown(poisoned(document, name)))

    def test_values_that_are_no_numbers_are_dashes(self):
        document = load(self.measure()).document
        for wrong in NO_NUMBERS:
            broken = copy.deepcopy(document)
            broken["metrics"] = dict.fromkeys(broken["metrics"], wrong)
            for table in ("workers", "datasets", "sections", "budget", "cuts", "verdicts"):
                broken[table] = [dict.fromkeys(row, wrong) for row in broken[table]] + [wrong]
            broken["run"] = dict.fromkeys(broken["run"], wrong)
            broken["quality"] = dict.fromkeys(broken["quality"], wrong)
            with self.subTest(wrong=str(wrong)[:20]):
                page = self.assert_harmless(shown(broken))
                self.assertIn("Can I trust this?", page.text)
                if type(wrong) is not int:
                    self.assertNotRegex(page.text, r"\b0.s\b|\b0\.0.%")
        self.assert_harmless(shown({"schema": document["schema"]}))

    def test_without_data_a_dash_and_the_reason_stand_for_each_figure(self):
        measurement = load(self.measure(write_empty))
        page = self.assert_harmless(measurement._repr_html_())
        self.assertEqual(page.text.strip().splitlines()[0], measurement.headline)
        self.assertIn("no result said how many events it had", page.text)
        self.assertIn(measurement.quality["not_measured"]["core_seconds"], page.text)
        self.assertNotIn("0.0 %", page.text)

    def test_a_large_run_has_a_small_summary(self):
        document = load(self.measure()).document
        for table in ("workers", "datasets", "sections", "cuts", "verdicts"):
            document[table] = document[table] * 1000
        document["quality"]["warnings"] = ["something is wrong " * 1000] * 1000
        text = shown(document)
        page = self.assert_harmless(text)
        self.assertIn("1990 more", page.text.replace("\n", ""))
        self.assertLess(len(text), 40_000)

    def test_colours_are_seen_on_light_and_dark(self):
        def luminance(colour):  # WCAG 2.2, "relative luminance"
            parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
            linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

        document = load(self.measure()).document
        document["verdicts"] = [{"severity": severity} for severity in ("bad", "warning", "good")]
        groups = [{"group": group, "part": "any", "core_seconds": 1} for group in GROUPS]
        found = re.findall(r"(?:background|color):(#[0-9a-f]{6})", shown({**document, "budget": groups}))
        self.assertEqual(len(set(found)), len(GROUPS) + 2)  # a warning's is that of waiting
        for colour in found:
            for ground in ("#ffffff", "#111111"):
                dark, light = sorted([luminance(colour), luminance(ground)])
                self.assertGreaterEqual((light + 0.05) / (dark + 0.05), 3, f"{colour} on {ground}")

    def test_the_plain_form_is_one_line(self):
        measurement = load(self.measure(write_hostile))
        measurement.document["run"]["name"] = HOSTILE_NAMES[4]
        self.assertTrue(repr(measurement).isprintable(), repr(measurement))
        self.assertIn(measurement.headline, repr(measurement))

    def test_what_is_no_measurement_is_refused_in_one_line(self):
        for text in ("[]", "{}", '{"run": 1, "metrics": {}}', "null"):
            (self.folder / "measurement.json").write_text(text)
            with self.assertRaisesRegex(program.ProgramError, "no run and metrics"):
                load(self.folder)


if __name__ == "__main__":
    unittest.main(verbosity=2)
