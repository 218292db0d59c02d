"""Figures and tables of a measurement in a notebook, also in a real kernel.

Run by tools/test, outside Bazel. The kernel is in .cache/test/jupyter (tools/setup test), without pandas; pandas is in
.cache/coffea (tools/setup coffea); pictures are drawn with .cache/plots (tools/setup plots).
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest
import unittest.mock

import installed
from notebook_case import RENDERER, NotebookTest, write_empty, write_hostile

# isort: split
# found through the import before
from crema_hep import plot, program
from crema_hep.measurement import Measurement, load

from collector.cli import invented_run

KERNEL = installed.CHECKOUT / ".cache/test/jupyter/bin/python"
VEGA_LITE = "application/vnd.vegalite.v5+json"


class PlotTest(NotebookTest):
    def draw(self, name, write=invented_run.write_run, **options):
        return load(self.measure(write)).plot(name, **options)

    def without_renderer(self):
        """Names a Python without vl-convert as the renderer. Skips the test if this Python has it."""
        os.environ["CREMA_PLOT_PYTHON"] = sys.executable
        if (
            subprocess.run([sys.executable, "-c", "import vl_convert"], capture_output=True, check=False).returncode
            == 0
        ):
            self.skipTest(f"{sys.executable} has vl-convert")

    def need_renderer(self):
        if not RENDERER.exists():
            self.skipTest("no renderer in .cache/plots: run tools/setup plots")

    def test_the_specification_is_the_programs(self):
        drawn = self.draw("runtime_distribution")
        target = self.folder / "chart.json"
        program.run("plot", self.folder / "measurement", "runtime_distribution", "-q", "-o", target)
        self.assertEqual(drawn.spec, json.loads(target.read_text()))
        bundle = drawn._repr_mimebundle_(include=["text/plain"])
        self.assertEqual(list(bundle), ["text/plain", VEGA_LITE])
        self.assertIn("vega-lite/v5", bundle[VEGA_LITE]["$schema"])
        self.assertIn("How long do chunks take?", bundle["text/plain"])

    def test_a_picture_stands_in(self):
        self.need_renderer()
        drawn = self.draw("runtime_distribution")
        self.assertRegex(drawn._repr_mimebundle_()["image/svg+xml"], "^<svg")
        with unittest.mock.patch.object(plot, "_LARGEST_SVG", 100):
            bundle = drawn._repr_mimebundle_()
        self.assertNotIn("image/svg+xml", bundle)
        self.assertRegex(bundle["image/png"], "^iVBORw0KGgo")  # the signature of PNG in base64

    def test_without_a_renderer_the_text_says_how_to_get_one(self):
        drawn = self.draw("runtime_distribution")
        self.without_renderer()
        bundle = drawn._repr_mimebundle_()
        self.assertEqual(list(bundle), ["text/plain", VEGA_LITE])
        line = bundle["text/plain"].splitlines()[-1]
        self.assertRegex(
            line, r"^no picture: crema: no Python with vl-convert .*; for pictures: pip install vl-convert-py"
        )
        self.assertNotIn("figure.", line)

    def test_one_without_figures_says_why(self):
        for name, write in (("data_access_percentage", invented_run.write_run), ("chunk_timeline", write_empty)):
            drawn = self.draw(name, write)
            listed = program.run("plot", self.folder / "measurement", "--list")
            self.assertIsNone(drawn.spec)
            self.assertEqual(re.search(f"^{name} +– (.*)", listed, re.MULTILINE)[1], drawn.reason)
            self.assertEqual(drawn._repr_mimebundle_(), {"text/plain": f"{name}: not drawn: {drawn.reason}"})
            with self.assertRaisesRegex(program.ProgramError, "not drawn"):
                drawn.save(self.folder / "chart.svg")
            self.setUp()

    def test_every_listed_plot_can_be_asked_for(self):
        measurement = load(self.measure())
        listed = program.run("plot", measurement.source, "--list")
        self.assertEqual(measurement.plots, [line.split()[0] for line in listed.splitlines()])
        for name in measurement.plots:
            drawn = measurement.plot(name)
            self.assertNotEqual(drawn.spec is None, drawn.reason is None, name)

    def test_an_unknown_name_raises_with_what_is_near(self):
        measurement = load(self.measure())
        with self.assertRaisesRegex(ValueError, "'runtime_distribtion': did you mean runtime_distribution") as near:
            measurement.plot("runtime_distribtion")
        self.assertNotIn("chunk_timeline", str(near.exception))
        for unknown in ("pie", "", None, "-o", "custom_", "custom_pie", "compare_pie", "compare_<metric>", "\x1b[31m"):
            with self.subTest(unknown), self.assertRaisesRegex(ValueError, "no plot is called") as raised:
                measurement.plot(unknown)
            self.assertTrue(str(raised.exception).isprintable())
        with self.assertRaisesRegex(ValueError, "there are .*chunk_timeline.*custom_jets, compare_<metric>"):
            measurement.plot("qqqqqq")
        with self.assertRaisesRegex(ValueError, "light and dark"):
            measurement.plot("cut_flow", theme="blue")

    def test_themes_and_baselines_are_the_programs(self):
        measurement = load(self.measure())
        other = load(self.measure(name="other"))
        dark = measurement.plot("cut_flow", theme="dark").spec["config"]
        self.assertNotEqual(dark["background"], measurement.plot("cut_flow").spec["config"]["background"])
        self.assertIn("no second run", measurement.plot("compare_wall_time").reason)
        by_path = measurement.plot("compare_wall_time", baseline=other.source)
        self.assertEqual(measurement.plot("compare_wall_time", baseline=other).spec, by_path.spec)

    def test_a_picture_is_saved_where_one_wants_it(self):
        self.need_renderer()
        drawn = self.draw("cut_flow")
        self.assertEqual(drawn.save(self.folder / "cuts.png").read_bytes()[:4], b"\x89PNG")
        (self.folder / "thesis.svg").write_text("mine")
        with self.assertRaisesRegex(program.ProgramError, "thesis.svg"):
            drawn.save(self.folder / "thesis.svg")

    def test_hostile_names_stay_text(self):
        self.need_renderer()
        measurement = load(self.measure(write_hostile))
        for name in ("section_self_time", "cut_flow", *(n for n in measurement.plots if n.startswith("custom_"))):
            try:
                drawn = measurement.plot(name)
            except program.ProgramError as error:
                self.assertRegex(str(error), "null byte|argument")
                continue
            bundle = drawn._repr_mimebundle_()
            json.dumps(bundle).encode("utf-8")
            self.assertNotRegex(bundle.get("image/svg+xml", ""), "<(script|img|foreignObject|a )")
            self.assertNotRegex(bundle["text/plain"], "[\u202e\x00\x1b]")

    def test_a_source_that_is_gone_is_one_line(self):
        measurement = Measurement(self.folder / "gone", load(self.measure()).document)
        with self.assertRaisesRegex(program.ProgramError, "^crema: [^\n]*gone[^\n]*$"):
            measurement.plot("cut_flow")
        scheduler = Measurement("dask://127.0.0.1:1", measurement.document)
        with self.assertRaisesRegex(program.ProgramError, "^crema: dask://127.0.0.1:1: no answer"):
            scheduler.plot("cut_flow")


class TableTest(NotebookTest):
    def test_without_pandas_tables_are_rows_and_a_frame_says_what_it_needs(self):
        measurement = load(self.measure())
        with unittest.mock.patch.dict(sys.modules, pandas=None):
            self.assertEqual(measurement.table("workers"), measurement.document["workers"])
            with self.assertRaisesRegex(ImportError, r"a DataFrame needs pandas: pip install pandas; .* table\(name\)"):
                measurement.dataframe("workers")

    def test_an_unknown_table_raises_with_those_there_are(self):
        measurement = load(self.measure())
        for unknown in ("nosuch", "save", "document"):
            with self.assertRaisesRegex(ValueError, f"no table '{unknown}': there are attributes, budget, .*, chunks"):
                measurement.table(unknown)

    def test_frames_hold_the_numbers_of_the_document(self):
        if not installed.COFFEA_PYTHON.exists():
            self.skipTest("no pandas in .cache/coffea: run tools/setup coffea")
        self.measure()
        done = self.run_program(
            """
import json, math
import crema_hep, pandas
measurement = crema_hep.load("measurement")
checked = 0
for name in [*(name for name in dir(measurement) if isinstance(measurement.document.get(name), list)), "chunks"]:
    rows, frame = measurement.rows(name), measurement.table(name)
    assert type(frame) is pandas.DataFrame and len(frame) == len(rows), name
    for position, row in enumerate(rows):
        for field in frame.columns:
            value, cell = row.get(field), frame[field].iloc[position]
            if value is None:
                assert pandas.isna(cell), (name, field, cell)
            elif isinstance(value, (int, float)):
                assert cell == value and int(cell) == int(value), (name, field, cell, value)
                checked += 1
            else:
                assert cell == value, (name, field)
gaps = measurement.dataframe("chunks")["stop_ns"]
rows = [{"n": 2**63, "m": 2**53 + 1, "f": 1}, {"n": None, "m": 0.5, "f": 0.5, "late": True}]
frame = crema_hep.dataframe.dataframe(rows)
assert [int(frame["n"][0]), int(frame["m"][0])] == [2**63, 2**53 + 1]
assert (frame["f"][1], frame["late"][1]) == (0.5, True)
print(json.dumps([checked > 300, str(gaps.dtype), int(gaps.isna().sum())]))
""",
            python=str(installed.COFFEA_PYTHON),
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout), [True, "Int64", 1])


class KernelTest(NotebookTest):
    def show(self, cells, **environment):
        """Returns a kernel's output for each cell."""
        if not KERNEL.exists():
            self.skipTest("no Jupyter kernel in .cache/test/jupyter: run tools/setup test")
        done = subprocess.run(
            [KERNEL, pathlib.Path(__file__).with_name("kernel_outputs.py")],
            input=json.dumps(cells),
            cwd=self.folder,
            env=self.environment(CREMA_PLOT_PYTHON=str(RENDERER), **environment),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_kernel_shows_summary_figure_tables_and_errors(self):
        document = json.loads((self.measure() / "measurement.json").read_text())
        loaded, summary, figure, metric, missing, unknown, frame, rows = self.show(
            [
                "import crema_hep; measurement = crema_hep.load('measurement')",
                "measurement",
                "measurement.plot('runtime_distribution')",
                "measurement.metrics['event_rate_wall_khz']",
                "measurement.plot('data_access_percentage')",
                "measurement.plot('runtime_distribtion')",
                "measurement.dataframe('workers')",
                "measurement.table('workers') == measurement.workers",
            ]
        )
        self.assertEqual(loaded, [])
        self.assertEqual(set(summary[0]["data"]), {"text/html", "text/plain"})
        self.assertIn(document["headline"], summary[0]["data"]["text/html"])
        kinds = {"text/plain", VEGA_LITE} | ({"image/svg+xml"} if RENDERER.exists() else set())
        self.assertEqual(set(figure[0]["data"]), kinds)
        self.assertEqual(figure[0]["data"][VEGA_LITE]["usermeta"], {"crema": "runtime_distribution"})
        self.assertEqual(float(metric[0]["data"]["text/plain"]), document["metrics"]["event_rate_wall_khz"])
        self.assertEqual(list(missing[0]["data"]), ["text/plain"])
        self.assertEqual((unknown[0]["type"], unknown[0]["ename"]), ("error", "ValueError"))
        self.assertEqual((frame[0]["type"], frame[0]["ename"]), ("error", "ImportError"))
        self.assertEqual(rows[0]["data"]["text/plain"], "True")

    def test_a_kernel_shows_what_it_has_just_measured(self):
        block = """
import crema_hep
with crema_hep.MetricsCollector(backend="local") as collector:
    for first in range(0, 30, 10):
        with crema_hep.TrackMetrics("ttbar", "events.root", first, first + 10, events=10):
            pass
"""
        measured, summary, figure = self.show(
            [block, "collector.measurement", "collector.measurement.plot('cut_flow')"]
        )
        self.assertEqual(measured, [])
        self.assertRegex(summary[0]["data"]["text/html"], 'value="30">30</data> events')
        self.assertIn("cut_flow: not drawn: ", figure[0]["data"]["text/plain"])

    def test_a_kernel_shows_hostile_and_empty_measurements(self):
        self.measure(write_hostile, "hostile")
        self.measure(write_empty, "empty")
        cells = ["import crema_hep", "crema_hep.load('hostile')", "crema_hep.load('empty')"]
        cells += ["crema_hep.load('empty').plot('chunk_timeline')", "crema_hep.load('hostile').plot('cut_flow')"]
        outputs = self.show(cells)
        self.assertEqual([[output["type"] for output in cell] for cell in outputs], [[]] + [["execute_result"]] * 4)
        self.assertIn("&lt;b&gt;bold", outputs[1][0]["data"]["text/html"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
