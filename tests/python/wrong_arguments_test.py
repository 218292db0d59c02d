"""Wrong arguments and missing packages: one line that names the remedy, and nothing that stops the analysis."""

import json
import re
import subprocess
import unittest

import installed

CAUGHT = """
import json, pathlib, sys, warnings
for missing in %r:
    sys.modules[missing] = None
import crema_hep as crema

def line_of(action):
    try:
        action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"

def warning_of(action):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [str(warning.message) for warning in caught]
"""


class WrongArgumentsTest(installed.RecordedTest):
    def facts_of(self, text, missing=(), errors="", **environment):
        done = self.run_program(f"{CAUGHT % (missing,)}\n{text}\nprint(json.dumps(facts))\n", **environment)
        self.assertEqual((done.returncode, done.stderr), (0, errors))
        return json.loads(done.stdout)

    def assert_lines(self, facts, *patterns):
        self.assertEqual(len(facts), len(patterns), facts)
        for fact, pattern in zip(facts, patterns):
            self.assertNotIn("\n", fact)
            self.assertRegex(fact, pattern)

    def test_a_missing_package_is_named_with_its_installation(self):
        facts = self.facts_of(
            """
facts = [line_of(action) for action in (
    lambda: crema.MetricsCollector("tcp://127.0.0.1:1"), lambda: crema.MetricsCollector(object()),
    lambda: crema.attach, lambda: crema.get_span_metrics, lambda: crema.work_items({}))]
with crema.MetricsCollector(backend="local"):
    pass
facts += warning_of(crema.MetricsCollector(backend="parsl").__enter__)
""",
            missing=("distributed", "dask", "cloudpickle", "coffea", "uproot", "parsl"),
        )
        installs = "needs distributed: pip install distributed"
        self.assert_lines(
            facts,
            r"^ValueError: .*use Client\('tcp://127.0.0.1:1'\)$",
            f"^ModuleNotFoundError: crema: backend 'dask' {installs}; backend='local' measures",
            f"^ModuleNotFoundError: crema: crema_hep.attach {installs}$",
            f"^ModuleNotFoundError: crema: crema_hep.get_span_metrics {installs}$",
            "^ModuleNotFoundError: crema: work_items needs coffea: pip install coffea$",
            "^crema: cannot start the measurement: backend 'parsl' needs parsl: pip install parsl$",
        )

    def test_a_package_without_a_part_needs_another_version(self):
        facts = self.facts_of("""
from crema_hep.requirements import missing_package
facts = [str(missing_package(ModuleNotFoundError("No module named 'dask.new'", name="dask.new"), "attach"))]
""")
        self.assert_lines(facts, "^crema: attach needs another version of dask .*: pip install --upgrade dask$")

    def test_the_name_of_a_backend_is_not_a_client(self):
        facts = self.facts_of('facts = [line_of(lambda: crema.MetricsCollector("local"))]')
        self.assert_lines(facts, "^ValueError: .* needs a Client, not the text 'local': use backend='local'$")

    def test_a_measurement_of_another_schema_is_refused_in_the_programs_words(self):
        facts = self.facts_of("""
from crema_hep import program
with crema.MetricsCollector(backend="local", output_dir="out"):
    pass
(saved,) = pathlib.Path("out").iterdir()
document = json.loads((saved / "measurement.json").read_text())
facts = []
for schema in ("crema.measurement/2", None):
    (saved / "measurement.json").write_text(json.dumps({**document, "schema": schema}))
    facts += [line_of(lambda: crema.load(saved)), line_of(lambda: program.run("show", saved))]
facts += [line_of(lambda: crema.load(wrong)) for wrong in (5, None)]
""")
        self.assertEqual(facts[0], facts[1])
        self.assertIn("its schema is crema.measurement/2, but this crema reads crema.measurement/1", facts[0])
        for fact in facts[2:4]:
            self.assertIn("schema", fact)
        self.assert_lines(facts[4:], "^TypeError: crema: load takes a path", "^TypeError: crema: load takes a path")

    def test_a_plan_is_refused_in_one_line(self):
        facts = self.facts_of("""
collector = crema.MetricsCollector(backend="local")
plans = ("x", None, 5, [1, 2], {"a": -1}, {"a": "5"}, {"a": float("nan")})
facts = [line for plan in plans for line in warning_of(lambda: collector.set_plan(plan))]
facts += warning_of(lambda: collector.set_plan({"ttbar": 5}))
""")
        kinds, counts = "a plan is the list of chunks of Runner.preprocess", "which is not a number of events"
        self.assert_lines(facts, *[kinds] * 4, *[counts] * 3)

    def test_what_other_tools_recorded_is_refused_in_one_line(self):
        facts = self.facts_of("""
collector = crema.MetricsCollector(backend="local")
facts = [line for wrong in ("x", 5, [1]) for line in warning_of(lambda: collector.set_chunk_metrics(wrong))]
facts += warning_of(lambda: collector.set_coffea_report(None, "x"))
facts += warning_of(lambda: collector.set_chunk_metrics(None)) + warning_of(lambda: collector.set_chunk_metrics([{}]))
facts += [line_of(lambda: crema.extract_per_task_metrics(5))]
""")
        chunks = "^crema: set_chunk_metrics takes roastcoffea's list of dictionaries, not this"
        self.assert_lines(
            facts, *[chunks] * 3, "^crema: custom_metrics are a dictionary", "^TypeError: crema: .*not this int"
        )

    def test_a_measurement_is_not_saved_into_a_file(self):
        facts = self.facts_of("""
pathlib.Path("file").write_text("mine")
with crema.MetricsCollector(backend="local") as collector:
    pass
facts = [line_of(lambda: collector.save_measurement(place)) for place in ("file", "file/below")]
facts += [line_of(lambda: collector.measurement.to_parquet("x.parquet", "sectoins"))]
""")
        file = "^FileExistsError: crema: .* is not a directory: choose another output_dir$"
        self.assert_lines(facts, file, file, "^ValueError: crema: a measurement has no table 'sectoins'")

    def test_enable_says_what_it_lacks(self):
        done = self.run_program("""
import crema_hep as crema
print(crema.enable(), crema.enable("records", threads="x"), crema.enable("records", interval="1s"))
print(crema.enable("records"))
crema.disable()
print(crema.enable())  # resumes the log
""")
        self.assertEqual((done.returncode, done.stdout), (0, "False False False\nTrue\nTrue\n"))
        lines = [re.sub("^crema: cannot enable recording: ", "", line) for line in done.stderr.splitlines()]
        self.assertEqual(
            lines,
            [
                "give it a directory, or set CREMA_DIR",
                "threads is a number, not 'x'",
                "interval is a number, not '1s'",
            ],
        )

    def test_a_negative_cut_is_counted_with_its_reason(self):
        self.record("import crema_hep as crema\nwith crema.TrackMetrics('a'):\n    crema.record_cut('negative', -1)\n")
        command = [installed.PROGRAM, "show", self.records, "--json"]
        shown = subprocess.run(command, check=True, capture_output=True, text=True)
        lines = [line for line in json.loads(shown.stdout)["quality"]["warnings"] if "not kept" in line]
        self.assert_lines(lines, "a cut with invalid numbers")


if __name__ == "__main__":
    unittest.main()
