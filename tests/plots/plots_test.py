"""Draws all charts of several runs with the real renderer, and validates them with Vega-Lite's own schemas.

Run by tools/test, outside Bazel: `tools/setup plots` puts the renderer, a validator and the schemas into .cache/plots.
"""

import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(CHECKOUT))

from collector.cli import invented_run  # noqa: E402  (found through the line before)

CREMA = CHECKOUT / "bazel-bin/collector/cli/crema"
ZJETS = CHECKOUT / "bazel-bin/examples/zjets/zjets"
TOOLS = CHECKOUT / ".cache/plots"
PYTHON = TOOLS / "bin/python"
VALIDATOR = pathlib.Path(__file__).with_name("valid_specifications.py")
SIGNATURES = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<svg", "pdf": b"%PDF"}

HOSTILE_NAMES = [
    "</script><img src=x onerror=alert(1)>",
    "quote \" and ' and \\",
    "\u202egnp.elif",
    "x" * 10_000,
    "x" * 9_999 + "y",
    "",
    "\u05e9\u05dc\u05d5\u05dd",
    "tab\tnew\nline",
    "datum.value + event",
    '{"expr": "1"}',
    "http://127.0.0.1:1/picture.png",
]


@functools.cache
def why_not() -> str:
    """Why nothing can be drawn; empty if it can."""
    if not os.access(PYTHON, os.X_OK):
        return "no renderer in .cache/plots: run tools/setup plots"
    return ""


@functools.cache
def build() -> None:
    command = ["bazel", "build", "--ui_event_filters=-info", "--noshow_progress"]
    subprocess.run([*command, "//collector/cli:crema", "//examples/zjets"], cwd=CHECKOUT, check=True)


def environment():
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
    return {**kept, "CREMA_PLOT_PYTHON": str(PYTHON)}


def run(*command):
    return subprocess.run(
        command, cwd=CHECKOUT, capture_output=True, text=True, env=environment(), timeout=600, check=False
    )


def write_empty(directory):
    invented_run.write_log(directory, [invented_run.process_line(1), invented_run.end_line(1, 0)])


def write_failed(directory):
    lines = [invented_run.process_line(1)]
    for number in range(6):
        start = 0.1 + 0.2 * number
        changes = {"status": "failed", "events": None, "error": "boom", "cuts": [], "metrics": []}
        lines += [
            invented_run.begin_line(number, start),
            invented_run.chunk_line(number, start, start + 0.2, **changes),
        ]
    invented_run.write_log(directory, [*lines, invented_run.end_line(1.5, 6, failed=6)])


def write_one_chunk(directory):
    lines = [invented_run.process_line(1), invented_run.begin_line(0, 0.1), invented_run.chunk_line(0, 0.1, 0.4)]
    invented_run.write_log(directory, [*lines, invented_run.end_line(0.5, 1)])


def write_hostile(directory):
    """Names that could break a page, a path or an expression, and bytes that are not UTF-8."""
    lines = [invented_run.process_line(1, run_id="\u202e</script>")]
    for number, name in enumerate(HOSTILE_NAMES):
        start = 0.1 + 0.1 * number
        section = {"path": name.replace("/", "%2F") or "x", "count": 1, "total_ns": 5_000_000, "self_ns": 5_000_000}
        lines.append(
            invented_run.chunk_line(
                number,
                start,
                start + 0.1,
                **{**invented_run.place(number, name), "file": name},
                sections=[{**section, "cpu_ns": 1000, "min_ns": 1, "max_ns": 2}],
                metrics=[{"name": name, "unit": name[:20], "count": 1, "sum": 5, "min": 5, "max": 5}],
                cuts=[{"name": name, "events": 3, "weights": 1.0}],
            )
        )
    path = pathlib.Path(invented_run.write_log(directory, [*lines, invented_run.end_line(2, len(HOSTILE_NAMES))]))
    path.write_bytes(path.read_bytes().replace(b"quote", b"quo\xff\xfete"))


class Plots(unittest.TestCase):
    def setUp(self):
        if why_not():
            self.skipTest(why_not())
        build()
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)

    def plot(self, source, name, *arguments):
        directory = self.directory / name
        result = run(CREMA, "plot", "-q", source, "-o", directory, *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return directory

    def assert_valid(self, directory):
        """Checks that each specification is valid in both schemas, and that the renderer printed no warning about
        it."""
        result = run(PYTHON, VALIDATOR, TOOLS / "schemas", directory)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)

    def assert_drawn(self, source, fewest, *arguments):
        drawn = self.plot(source, "plots", "--format", "png,svg,pdf,json", *arguments)
        self.assert_valid(drawn)
        names = {path.stem for path in drawn.glob("*.json")}
        self.assertGreaterEqual(len(names), fewest)
        for name in names:
            for extension, signature in SIGNATURES.items():
                path = drawn / f"{name}.{extension}"
                self.assertEqual(path.read_bytes()[: len(signature)], signature, path)
        return drawn

    def test_of_the_example(self):
        measurement = self.directory / "zjets"
        histograms = self.directory / "histograms.json"
        command = [ZJETS, "--processes=2", "--events=100", "--chunk=20", "--pileup=0", "--output", histograms]
        self.assertEqual(run(CREMA, "run", "-q", "-o", measurement, "--", *command).returncode, 0)
        self.assert_drawn(measurement, 18)

    def test_of_a_run_with_failures_and_a_lost_worker(self):
        drawn = self.assert_drawn(invented_run.write_run(str(self.directory / "records")), 18)
        subtitle = json.loads((drawn / "failures_timeline.json").read_text())["title"]["subtitle"][0]
        self.assertIn("1 failed, 1 lost, 1 repeated with success", subtitle)

    def test_with_a_baseline(self):
        records = invented_run.write_run(str(self.directory / "records"))
        baseline = invented_run.write_run(str(self.directory / "slower"), run_id="slower", slower=1.5)
        self.assert_drawn(records, 22, "--baseline", baseline)

    def test_in_the_dark_theme(self):
        self.assert_drawn(invented_run.write_run(str(self.directory / "records")), 18, "--theme", "dark")

    def test_of_runs_with_little_in_them(self):
        for name, write, fewest in (
            ("failed", write_failed, 6),
            ("one", write_one_chunk, 12),
        ):
            with self.subTest(name):
                write(str(self.directory / name))
                self.assert_drawn(self.directory / name, fewest)
                shutil.rmtree(self.directory / "plots")

    def test_of_an_empty_run_there_is_none(self):
        write_empty(str(self.directory / "empty"))
        drawn = self.plot(self.directory / "empty", "plots", "--format", "json")
        self.assertEqual(list(drawn.glob("*")), [])

    def test_of_hostile_names(self):
        write_hostile(str(self.directory / "hostile"))
        drawn = self.assert_drawn(self.directory / "hostile", 18)
        self.assertEqual({path.parent for path in drawn.rglob("*")}, {drawn})
        for path in drawn.glob("*.svg"):
            self.assertNotIn("<img", path.read_text(), path)
            self.assertNotIn("<script", path.read_text(), path)

    def test_a_picture_is_replaced_and_somebody_elses_is_not(self):
        records = invented_run.write_run(str(self.directory / "records"))
        for extension in SIGNATURES:
            path = self.directory / f"flow.{extension}"
            for _ in range(2):
                self.assertEqual(run(CREMA, "plot", records, "cut_flow", "-o", path).returncode, 0, extension)
            path.write_bytes(SIGNATURES[extension] + b" years of work")
            result = run(CREMA, "plot", records, "cut_flow", "-o", path)
            self.assertEqual(result.returncode, 1)
            self.assertIn("--force", result.stderr)

    def test_a_picture_has_two_pixels_a_unit(self):
        records = invented_run.write_run(str(self.directory / "records"))
        path = self.directory / "flow.png"
        run(CREMA, "plot", records, "cut_flow", "-o", path)
        width = int.from_bytes(path.read_bytes()[16:20], "big")
        run(CREMA, "plot", records, "cut_flow", "-o", path.with_suffix(".svg"))
        drawn = path.with_suffix(".svg").read_text().split('width="', 1)[1].split('"', 1)[0]
        self.assertAlmostEqual(width, 2 * float(drawn), delta=2)


if __name__ == "__main__":
    unittest.main()
