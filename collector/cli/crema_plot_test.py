"""`crema plot` without a renderer: which charts there are, where it writes them, and what it never overwrites."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from collector.cli import invented_run

CREMA = str(pathlib.Path(__file__).absolute().parent / "crema")
NO_RENDERER = "/nonexistent/python"


def crema(*arguments, **more_environment):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
    environment.update(more_environment)
    return subprocess.run([CREMA, *arguments], capture_output=True, text=True, env=environment, timeout=300)


class PlotTestCase(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.records = invented_run.write_run(self.path("records"))

    def path(self, name):
        return os.path.join(self.directory, name)

    def specification(self, name, *arguments):
        path = self.path(name + ".json")
        result = crema("plot", self.records, name, "-o", path, *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))

    def assert_one_line(self, result, pattern, status=1):
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertRegex(result.stderr, r"^crema: [^\n]*" + pattern + r"[^\n]*\n$")

    def python_that(self, body):
        """A stand-in for a Python with a renderer that fails."""
        path = self.path("python")
        pathlib.Path(path).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        os.chmod(path, 0o755)
        return path


class Names(PlotTestCase):
    def test_all_are_listed_without_a_run(self):
        listed = crema("plot", "--list")
        names = [line.split()[0] for line in listed.stdout.splitlines()]
        self.assertEqual(listed.returncode, 0)
        self.assertGreaterEqual(len(names), 30)
        self.assertIn("chunk_timeline", names)
        self.assertIn("custom_<name>", names)

    def test_of_a_run_it_is_said_what_is_missing_and_why(self):
        lines = dict(
            line.split(maxsplit=1) for line in crema("plot", self.records, "--list").stdout.splitlines() if line
        )
        self.assertEqual(lines["chunk_timeline"], "What ran where and when?")
        self.assertEqual(lines["custom_jets"], "What values did jets have?")
        self.assertRegex(lines["total_active_tasks_timeline"], "^– no scheduler ")

    def test_names_do_not_steer_the_terminal(self):
        line = invented_run.chunk_line(0, 0, 1, metrics=[{**METRIC, "name": "\033]0;title\a\033[31m\r\nx"}])
        run = self.path("odd")
        invented_run.write_log(run, [invented_run.process_line(1), line, invented_run.end_line(1, 1)])
        listed = crema("plot", run, "--list")
        self.assertIn("custom_?]0;title??[31m  x", listed.stdout)
        missing = crema("plot", self.path("\033[31m"), "--list")
        self.assert_one_line(missing, r"\?\[31m")
        for text in (listed.stdout, missing.stderr):
            self.assertEqual([letter for letter in text if letter < " " and letter != "\n"], [])

    def test_an_unknown_one_is_one_line(self):
        self.assert_one_line(crema("plot", self.records, "pie", "-o", self.path("a.json")), "`pie`.*--list")
        self.assertFalse(os.path.exists(self.path("a.json")))

    def test_a_former_one_leads_to_the_one_that_answers(self):
        former = crema("plot", self.records, "occupancy_timeline", "-o", self.path("a.json"))
        self.assert_one_line(former, "`occupancy_timeline` is gone; `total_active_tasks_timeline` answers")

    def test_one_that_has_no_figures_says_why(self):
        result = crema("plot", self.records, "total_active_tasks_timeline", "-o", self.path("a.json"))
        self.assert_one_line(result, "total_active_tasks_timeline: not drawn: no scheduler")


class Figures(PlotTestCase):
    def document(self, source=None):
        return json.loads(crema("show", source or self.records, "--json").stdout)

    def test_the_budget_is_that_of_the_document(self):
        rows = self.specification("activity_breakdown")["data"]["values"]
        drawn = [(row["group"], row["seconds"]) for row in rows]
        expected = [(row["group"], row["core_seconds"]) for row in self.document()["budget"]]
        self.assertEqual(len({row["part"] for row in rows}), len(expected))
        self.assertEqual(drawn, expected)

    def test_sections_are_those_of_the_document(self):
        drawn = {row["section"]: row["self"] for row in self.specification("section_self_time")["data"]["values"]}
        expected = {
            row["path"] + (" (helper)" if row["helper"] else ""): row["self"] for row in self.document()["sections"]
        }
        self.assertEqual(drawn, expected)

    def test_each_attempt_that_ended_is_a_box_of_the_timeline(self):
        boxes = self.specification("chunk_timeline")["layer"][0]["data"]["values"]
        metrics = self.document()["metrics"]
        self.assertEqual(len(boxes), metrics["num_attempts"] - metrics["num_lost_attempts"])
        self.assertAlmostEqual(sum(box["to"] - box["from"] for box in boxes), metrics["busy_time"], places=4)

    def test_events_are_the_area_under_their_rate(self):
        layers = self.specification("throughput_timeline")["vconcat"][0]["layer"]
        steps = next(layer for layer in layers if layer["mark"]["type"] == "line")["data"]["values"]
        area = sum((b["t"] - a["t"]) * a["v"] for a, b in zip(steps, steps[1:], strict=False))
        self.assertAlmostEqual(area, self.document()["metrics"]["total_events"], delta=0.5)

    def test_a_second_run_is_compared_with(self):
        slower = invented_run.write_run(self.path("slower"), run_id="slower", slower=2.0)
        values = self.specification("compare_chunk_duration_mean", "--baseline", slower)["data"]["values"]
        by_role = {row["role"]: row["v"] for row in values}
        for role, source in (("baseline", slower), ("this run", self.records)):
            self.assertEqual(by_role[role], self.document(source)["metrics"]["chunk_duration_mean"])

    def test_a_measurement_without_records_has_the_charts_of_its_document(self):
        measurement = self.path("measurement")
        crema("collect", self.records, "-o", measurement, "-q", "--no-records")
        lines = crema("plot", measurement, "--list").stdout
        self.assertRegex(lines, r"activity_breakdown +Where did")
        self.assertRegex(lines, r"chunk_timeline +– ")

    def test_the_dark_theme_differs_in_its_config_only(self):
        light = self.specification("cut_flow")
        dark = self.specification("cut_flow", "--theme", "dark")
        self.assertNotEqual(light.pop("config"), dark.pop("config"))
        self.assertEqual(light, dark)


class Output(PlotTestCase):
    def test_several_charts_need_a_directory_or_a_pattern(self):
        several = ("cut_flow", "section_icicle")
        result = crema("plot", self.records, *several, "-o", self.path("a.json"))
        self.assert_one_line(result, "{name}", status=2)
        pattern = self.path("{name}_of_it.json")
        self.assertEqual(crema("plot", self.records, *several, "-o", pattern).returncode, 0)
        self.assertTrue(os.path.exists(self.path("cut_flow_of_it.json")))
        directory = self.path("plots")
        self.assertEqual(crema("plot", self.records, *several, "-o", directory, "--format", "json").returncode, 0)
        self.assertEqual(sorted(os.listdir(directory)), ["cut_flow.json", "section_icicle.json"])

    def test_what_users_call_their_metrics_is_no_path(self):
        line = invented_run.chunk_line(0, 0, 1, metrics=[{**METRIC, "name": "../../etc/x"}])
        run = self.path("odd")
        invented_run.write_log(run, [invented_run.process_line(1), line, invented_run.end_line(1, 1)])
        directory = self.path("plots")
        crema("plot", run, "-q", "-o", directory, "--format", "json")
        self.assertIn("custom_.._.._etc_x.json", os.listdir(directory))

    def test_replaces_only_what_crema_wrote(self):
        path = pathlib.Path(self.path("a.json"))
        for _ in range(2):
            self.assertEqual(crema("plot", self.records, "cut_flow", "-o", str(path)).returncode, 0)
        path.write_text('{"thesis": 1}')
        self.assert_one_line(crema("plot", self.records, "cut_flow", "-o", str(path)), "--force")
        self.assertEqual(path.read_text(), '{"thesis": 1}')
        self.assertEqual(crema("plot", self.records, "cut_flow", "-o", str(path), "--force").returncode, 0)

    def test_nothing_is_written_where_one_file_is_in_the_way(self):
        os.mkdir(self.path("plots"))
        pathlib.Path(self.path("plots/section_icicle.json")).write_text("years of work")
        names = ("cut_flow", "section_icicle")
        result = crema("plot", self.records, *names, "-o", self.path("plots"), "--format", "json")
        self.assert_one_line(result, "section_icicle.json")
        self.assertEqual(os.listdir(self.path("plots")), ["section_icicle.json"])


class WithoutARenderer(PlotTestCase):
    def test_the_specifications_are_written_and_one_line_says_how_to_get_pictures(self):
        result = crema("plot", self.records, "-q", "-o", self.path("plots"), CREMA_PLOT_PYTHON=NO_RENDERER)
        self.assert_one_line(result, "pip install vl-convert-python==")
        written = os.listdir(self.path("plots"))
        self.assertIn("cut_flow.json", written)
        self.assertTrue(all(name.endswith(".json") for name in written))

    def test_a_python_without_it_is_named(self):
        python = self.python_that("exit 42")
        result = crema("plot", self.records, "cut_flow", "-o", self.path("a.png"), "--python", python)
        self.assert_one_line(result, "tried " + python)
        self.assertTrue(os.path.exists(self.path("a.json")))
        self.assertFalse(os.path.exists(self.path("a.png")))

    def test_what_it_says_of_a_chart_is_told_with_the_file(self):
        python = self.python_that("echo no room on this planet")
        result = crema("plot", self.records, "cut_flow", "-o", self.path("a.png"), "--python", python)
        self.assert_one_line(result, "a.png: the renderer says: no room on this planet")

    def test_one_that_dies_is_told_with_its_last_words(self):
        python = self.python_that("echo out of memory >&2; kill -9 $$")
        result = crema("plot", self.records, "cut_flow", "-o", self.path("a.png"), "--python", python)
        self.assert_one_line(result, "status 137: out of memory")
        self.assertEqual(sorted(os.listdir(self.directory)), ["python", "records"])


METRIC = {"unit": "", "count": 1, "sum": 1, "min": 1, "max": 1}

if __name__ == "__main__":
    unittest.main()
