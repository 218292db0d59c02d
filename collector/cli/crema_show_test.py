"""`crema show`: tables, single chunks, JSON, and its messages if it fails."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock

from collector.cli import invented_run

CREMA = str(pathlib.Path(__file__).absolute().parent / "crema")


def crema(*arguments, text_in=""):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
    return subprocess.run(
        [CREMA, *arguments], input=text_in, capture_output=True, text=True, env=environment, timeout=60
    )


class Show(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.records = invented_run.write_run(os.path.join(self.directory, "records"))

    def chunks(self, *arguments):
        result = crema("show", self.records, "--table", "chunks", "--json", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_lists_the_slowest_chunks_first(self):
        durations = [chunk["duration"] for chunk in self.chunks("--top", "3")]
        self.assertEqual(durations, [0.2, 0.19, 0.19])

    def test_a_name_that_is_not_utf_8_is_shown_as_far_as_it_can_be(self):
        named = os.path.join(os.fsencode(self.directory), b"caf\xe9")
        shutil.copytree(os.fsencode(self.records), named)
        for command in ("show", "verdict"):
            result = subprocess.run([CREMA, command, named, "--json"], capture_output=True, timeout=60)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            json.loads(result.stdout)

    def test_a_program_gets_every_attempt(self):
        exported = crema("export", self.records, "--to", "chunks", "-o", "-")
        self.assertEqual(exported.returncode, 0, exported.stderr)
        self.assertEqual(len(self.chunks()), len(exported.stdout.splitlines()))
        self.assertGreater(len(self.chunks()), 20)

    def test_a_source_may_follow_options_with_names(self):
        commands = (
            ("show", "--table", "sections", "--table", "cuts"),
            ("show", "--metric", "wall_time"),
            ("show", "--table", "chunks", "--where", "status=ok"),
            ("verdict", "--fail-on", "no-workers"),
            ("predict", "--cores", "4"),
        )
        for command, *options in commands:
            with self.subTest(command=command, options=options):
                before, after = crema(command, self.records, *options), crema(command, *options, self.records)
                self.assertEqual((after.returncode, after.stderr), (before.returncode, before.stderr))
                self.assertEqual(after.stdout, before.stdout)
                self.assertTrue(after.stdout)

    def test_takes_conditions_together(self):
        rows = self.chunks("--where", "dataset=zjets,worker=node:101", "--where", "status=ok")
        self.assertEqual(sorted(row["chunk"] for row in rows), [6, 7, 8, 9])

    def test_failed_attempts_are_those_that_failed_or_were_lost(self):
        rows = {row["status"]: row for row in self.chunks("--failed")}
        self.assertEqual(sorted(rows), ["failed", "lost"])
        self.assertIn("bad basket", rows["failed"]["error"])
        self.assertIsNone(rows["lost"]["duration"])

    def test_reads_the_records_of_a_measurement_again(self):
        measurement = os.path.join(self.directory, "measurement")
        self.assertEqual(crema("collect", self.records, "-o", measurement, "-q").returncode, 0)
        again = json.loads(crema("show", measurement, "--sort", "events", "--json").stdout)
        self.assertEqual(again, self.chunks("--sort", "events"))

    def test_the_summary_as_html_is_one_piece_that_loads_nothing(self):
        lines = pathlib.Path(self.records, os.listdir(self.records)[0]).read_text()
        pathlib.Path(self.records, os.listdir(self.records)[0]).write_text(lines.replace('"zjets"', '"<script>zjets"'))
        shown = crema("show", self.records, "--html")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertRegex(shown.stdout, r'^<div class="crema"><style>(.|\n)*</div>\n$')
        self.assertNotRegex(shown.stdout, r"<script|<link|<img|url\(|http|@import")
        self.assertIn("&lt;script&gt;zjets", shown.stdout)

    def test_a_document_on_standard_input_is_shown_as_the_measurement_is(self):
        measurement = os.path.join(self.directory, "measurement")
        crema("collect", self.records, "-o", measurement, "-q")
        document = pathlib.Path(measurement, "measurement.json").read_text()
        for options in (["--html"], ["--json"], ["--table", "workers"], []):
            given = crema("show", "-", *options, text_in=document).stdout
            shown = crema("show", measurement, *options, "-q").stdout
            if not options:  # its commands name the measurement
                given, shown = (re.sub(r"[│\s]", "", text).replace(measurement, "") for text in (given, shown))
            self.assertEqual(given, shown)
        for text in ("", "[]", "{}", "\0", document[:-10]):
            refused = crema("show", "-", "--html", text_in=text)
            self.assertEqual((refused.returncode, refused.stdout), (1, ""))
            self.assertRegex(refused.stderr, "^crema: standard input: is not a measurement[^\n]*\n$")
        refused = crema("show", "-", "--table", "chunks", "--top", "3", text_in=document)
        self.assertRegex(refused.stderr, "^crema: standard input has no single chunks[^\n]*\n$")

    def test_html_is_the_whole_summary(self):
        for other in (["--json"], ["--table", "workers"], ["--metric", "wall_time"]):
            self.assertEqual(crema("show", self.records, "--html", *other).returncode, 2)

    def test_says_in_one_line_that_the_records_are_missing(self):
        measurement = os.path.join(self.directory, "measurement")
        crema("collect", self.records, "-o", measurement, "-q", "--no-records")
        result = crema("show", measurement, "--table", "chunks", "--top", "3")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^crema: [^\n]*without its records[^\n]*\n$")

    def test_refuses_a_run_that_the_measurement_does_not_hold(self):
        measurement = os.path.join(self.directory, "measurement")
        self.assertEqual(crema("collect", self.records, "-o", measurement, "-q").returncode, 0)
        result = crema("show", measurement, "--run", "nosuch")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^crema: [^\n]*nosuch[^\n]*\n$")

    def test_takes_no_other_file_for_a_record_log(self):
        measurement = os.path.join(self.directory, "measurement")
        self.assertEqual(crema("collect", self.records, "-o", measurement, "-q").returncode, 0)
        result = crema("show", os.path.join(measurement, "measurement.json"))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^crema: [^\n]*give its directory\n$")

    def test_lists_what_there_is_where_a_name_is_unknown(self):
        for arguments in (["--sort", "size"], ["--where", "size=3"], ["--table", "chunk"]):
            result = crema("show", self.records, *arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertRegex(result.stderr, r"^crema: [^\n]*\n$")
            self.assertIn("dataset", result.stderr)

    def test_near_misses_are_answered_with_what_was_meant(self):
        beside = self.records[:-1]
        listed = "[^?]*"
        for arguments, status, meant in (
            (["show", beside], 1, "no such directory; did you mean records?"),
            (["report", beside + "/"], 1, "no such directory; did you mean records?"),
            (["compare", self.records, beside], 1, "no such directory; did you mean records?"),
            (["history", beside], 1, r"\); did you mean records?"),
            (["top", beside], 1, "no such directory; did you mean records?"),
            (["plot", self.records, "sectoin_icicle"], 1, f"did you mean section_icicle{listed}?"),
            (["show", self.records, "--sort", "durtion"], 2, "did you mean duration?"),
            (["show", self.records, "--where", "datset=ttbar"], 2, "did you mean dataset?"),
            (["show", self.records, "--where", "dataset=tbar"], 0, "did you mean ttbar?"),
            (["show", self.records, "--where", "worker=node"], 0, "did you mean node:100, node:101?"),
            (["show", self.records, "--metric", "wal_time", "--json"], 1, f"did you mean {listed}wall_time{listed}?"),
            (["show", self.records, "--run", "ru"], 1, "the run ru; did you mean run?; it holds run"),
            (["predict", self.records, "--faster", "selct=2"], 1, "did you mean select?"),
        ):
            result = crema(*arguments)
            self.assertEqual(result.returncode, status, (arguments, result.stderr))
            text = " ".join((result.stdout + result.stderr).split())
            self.assertRegex(text, meant.replace("?", r"\?").replace(r"[^\?]*", listed), arguments)
        for where in ("dataset=ttbar,events=3", "dataset=nothing at all"):
            self.assertNotIn("did you mean", crema("show", self.records, "--where", where).stdout)

    def test_a_run_that_is_not_there_is_refused_with_the_one_that_is(self):
        measurement = os.path.join(self.directory, "measurement")
        self.assertEqual(crema("run", "-q", "-o", measurement, "--", "true").returncode, 0)
        run = json.loads(crema("show", measurement, "--json").stdout)["run"]["id"]
        refused = crema("show", measurement, "--run", run[:4])
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"the run {run[:4]}; did you mean {run}?; it holds the run {run}\n", refused.stderr)

    def test_several_tables_and_metrics_may_be_named_at_once(self):
        for option, names in (("--table", "sections,cuts"), ("--metric", "wall_time,num_chunks")):
            repeated = [word for name in names.split(",") for word in (option, name)]
            once = crema("show", self.records, option, names)
            self.assertEqual((once.returncode, once.stderr), (0, ""))
            self.assertEqual(once.stdout, crema("show", self.records, *repeated).stdout)

    def test_conditions_go_with_the_table_of_chunks(self):
        self.assertEqual(crema("show", self.records, "--table", "run", "--top", "3").returncode, 2)

    def test_a_directory_of_measurements_is_answered_with_one_of_them(self):
        for name in ("1", "2"):
            crema("collect", self.records, "-o", os.path.join(self.directory, "nightly", name), "-q")
        result = crema("show", os.path.join(self.directory, "nightly"))
        self.assertEqual(result.returncode, 1)
        self.assertIn(os.path.join(self.directory, "nightly", "2"), result.stderr)

    @unittest.mock.patch.dict(os.environ, COLUMNS="1000")  # room for the paths of a test
    def test_each_answer_names_the_next_step_unless_quiet(self):
        measurement = os.path.join(self.directory, "measurement")
        page = os.path.join(self.directory, "page.html")
        for arguments, following in (
            (["collect", self.records, "-o", measurement], f"crema report {measurement}"),
            (["show", measurement], f"crema report {measurement}"),
            (["report", measurement, "-o", page], "crema run --stacks -- COMMAND"),
            (["verdict", measurement], f"crema report {measurement}"),  # too few chunks have a record to predict it
            (["compare", measurement, self.records], f"crema report {self.records}"),
        ):
            result = crema(*arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"\nnext: {following}", "\n" + result.stdout + result.stderr)
            quiet = crema(*arguments, "-q")
            self.assertNotIn("next:", quiet.stdout + quiet.stderr)
        for arguments in (["--json"], ["--html"], ["--table", "cuts"], ["--metric", "wall_time"]):
            self.assertNotIn("next:", crema("show", measurement, *arguments).stdout)

    def test_every_table_is_there_as_text_and_as_json(self):
        unknown = crema("show", self.records, "--table", "none").stderr
        tables = re.search(r"{(.*)}", unknown)[1].split(",")
        self.assertIn("resource_advice", tables)
        for table in tables:
            result = crema("show", self.records, "--table", table, "--ascii", "--width", "72")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(result.stdout.isascii())
            self.assertLessEqual(max(map(len, result.stdout.splitlines())), 72, table)
            self.assertIsNotNone(json.loads(crema("show", self.records, "--table", table, "--json").stdout))

    def test_an_empty_table_says_what_would_fill_it(self):
        measurement = os.path.join(self.directory, "of_true")
        self.assertEqual(crema("run", "-q", "-o", measurement, "--", "true").returncode, 0)
        for table, text in (
            ("verdicts", "most verdicts need chunks (TrackMetrics)"),
            ("chunk_fits", "put TrackMetrics around a chunk of work"),
            ("expected_time", "a fit needs 8 ok ones of one dataset"),
            ("chunk_size_advice", "a fit needs 8 ok ones of one dataset"),
            ("budget", "no budget: no chunk was recorded; put TrackMetrics around a chunk of work"),
            ("chunks", "put TrackMetrics around a chunk of work"),
            ("workers", "put TrackMetrics around a chunk of work"),
            ("hosts", "put TrackMetrics around a chunk of work"),
            ("threads", "put TrackMetrics around a chunk of work"),
        ):
            self.assertIn(text, crema("show", measurement, "--table", table, "-q").stdout.replace("\n", " "), table)


if __name__ == "__main__":
    unittest.main()
