"""What every subcommand of the program `crema` promises: help, errors in one line, exit statuses, JSON."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

CREMA = str(pathlib.Path(__file__).absolute().parent / "crema")
SUBCOMMANDS = ("run", "collect", "merge", "show", "verdict", "compare", "export", "doctor", "config")


def crema(*arguments, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
    environment.update(variables)
    return subprocess.run([CREMA, *arguments], capture_output=True, text=True, env=environment, timeout=60)


class Program(unittest.TestCase):
    def test_says_its_version(self):
        result = crema("--version")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"^crema \d+\.\d+\.\d+\n$")

    def test_help_of_each_subcommand_has_an_example_and_the_options_of_all(self):
        for name in SUBCOMMANDS:
            result = crema(name, "--help")
            self.assertEqual(result.returncode, 0, name)
            self.assertIn(f"crema {name}", result.stdout)
            self.assertIn("Example:", result.stdout)
            prints_figures = name != "export"
            for option in ("--quiet", "--color", "--ascii", *(["--json"] if prints_figures else [])):
                self.assertIn(option, result.stdout, name)

    def test_help_does_not_require_a_source_where_the_newest_measurement_is_taken(self):
        for name in ("show", "verdict", "report", "predict"):
            self.assertRegex(crema(name, "--help").stdout, rf"crema {name} [^\n]*\[SOURCE\]", name)

    def test_help_has_no_words_of_the_parser(self):
        for name in SUBCOMMANDS:
            self.assertNotRegex(
                crema(name, "--help").stdout, r"Excludes:|Needs:|REQUIRED|\(\d+x\)|:\{|in \[|\bU?INT\b|FLOAT"
            )
        shown = crema("show", "--help").stdout
        self.assertIn("--color auto|always|never (default auto)\n", shown)
        self.assertRegex(shown, r"--top N, 1 to 100000 +Number of chunks")
        self.assertIn("Usage: crema scaling [OPTIONS] SOURCE...\n", crema("scaling", "--help").stdout)
        self.assertRegex(crema("export", "--help").stdout, r"--to FORMAT \(required\) +The format")

    def test_wrong_usage_is_status_2_and_one_line(self):
        wrong = [["bogus"], ["show"], ["show", "a", "--color", "pink"], ["show", "a", "--width", "-3"]]
        wrong += [["predict"], ["verdict"], ["verdict", "a", "--fail-on", "no-such-verdict"], ["collect", "-o", "b"]]
        wrong += [["collect", "a"], ["collect", "a", "-o", "b", "--start", "yesterday"], ["doctor", "extra"]]
        wrong += [["collect", "a", "-o", "b", "--start", "1795288669160497243"]]  # nanoseconds
        wrong += [["collect", "a", "-o", "b", "--start", "20", "--stop", "10"]]
        for arguments in wrong:
            result = crema(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertRegex(result.stderr, r"^crema: [^\n]*--help`\n$")
            self.assertEqual(result.stdout, "")

    def test_a_command_that_there_is_not_is_named(self):
        self.assertIn("there is no command `bogus`", crema("bogus").stderr)

    def test_near_misses_are_answered_with_what_was_meant(self):
        for arguments, meant in (
            (["shwo", "a"], "did you mean show?"),
            (["show", "a", "--tabel", "cuts"], "there is no option `--tabel`; did you mean --table"),
            (["show", "a", "--width", "wide"], "--width: give a whole number (1 to 1000000000), not wide"),
            (["show", "a", "--width", "9" * 300], f"--width: give a whole number (1 to 1000000000), not {'9' * 40}..."),
            (["predict", "a", "--cores", "9" * 300], f"--cores: give a number (1 to 1000000000), not {'9' * 40}..."),
            (["collect", "a", "--jobs", "5000"], "--jobs: give a whole number (1 to 1024), not 5000"),
            (["show", "a", "--table", "section"], "did you mean sections, memory_sections, process_sections?"),
            (["export", "a", "--to", "perfeto", "-o", "b"], "did you mean perfetto?"),
            (["verdict", "a", "--fail-on", "long_tail"], "did you mean long-tail?"),
            (["run", "./analysis", "-n", "3"], "crema run -- ./analysis"),
            (["run", "-o", "out", "sleep", "1"], "as in `crema run -o out -- sleep 1`"),
            (["run", "--stack", "--", "true"], "did you mean --stacks?"),
            (["report", "a", "b"], "`b` is one argument too many"),
            (["show", "a", "--run"], "--run needs a value (TEXT)"),
            (["show", "a", "--top"], "--top needs a value (N, 1 to 100000)"),
            (["show", "a", "--sort"], "--sort needs a value (FIELD)"),
            (["collect", "a", "-o", "b", "-o", "c"], "--output is given twice"),
            (["show", "a", "--top", "3", "--top", "4"], "--top is given twice"),
            (["collect", "a", "--out", "b"], "there is no option `--out`; did you mean --output"),
            (["export", "a", "-o", "b", "--format", "csv"], "there is no option `--format`"),
            (["run", "--max-log-bytes", "1e6", "--", "true"], "--max-log-bytes: give"),
            (["serve", "a", "--port", "70000"], "--port: give a whole number (0 to 65535), not 70000"),
            (["plot", "a", "chunk_timeline", "-o", "b.jpg"], "the file must end in .png, .svg, .pdf or .json"),
            (["-q", "show", "a"], "put `-q` behind the command"),
            (["help"], "there is no command `help`; did you mean --help"),
            (["version"], "there is no command `version`; did you mean --version"),
            (["--hlep"], "there is no option `--hlep`; did you mean --help?"),
            (["."], "name a command first, as in `crema show .`"),
            (["x" * 5000], "there is no command"),
        ):
            result = crema(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(meant, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)

    def test_without_a_source_the_newest_measurement_here_is_shown(self):
        with tempfile.TemporaryDirectory() as here:
            for name, seconds in (("older", 200), ("-newer", 300), ("oldest", 100)):
                document = pathlib.Path(here, name, "measurement.json")
                document.parent.mkdir()
                document.write_text(json.dumps({"schema": "crema.measurement/1", "metrics": {"num_chunks": seconds}}))
                os.utime(document, (seconds, seconds))
            pathlib.Path(here, "not_a_measurement").mkdir()

            def run(*command):
                return subprocess.run([CREMA, *command], cwd=here, capture_output=True, text=True, check=False)

            done = run("show", "--json", "--metric", "num_chunks")
            self.assertEqual((done.returncode, json.loads(done.stdout)["value"]), (0, 300), done.stderr)
            self.assertEqual(
                done.stderr, "crema: no SOURCE was given: this is of ./-newer, the newest measurement here\n"
            )
            self.assertEqual(run("show", "--table", "quality").returncode, 0)
            for command in (["export", "--to", "csv"], ["verdict", "--fail-on", "long-tail"]):
                refused = run(*command)
                self.assertEqual(refused.returncode, 2)
                self.assertIn("SOURCE is required, for example ./-newer; see", refused.stderr, command)

    def test_what_cannot_be_done_is_status_1_and_one_line(self):
        for arguments in (["show", "/nonexistent"], ["collect", "/nonexistent", "-o", "/tmp/never"]):
            result = crema(*arguments)
            self.assertEqual(result.returncode, 1, arguments)
            self.assertRegex(result.stderr, r"^crema: [^\n]*\n$")


class UnusableSources(unittest.TestCase):
    def test_are_named_with_the_remedy(self):
        with tempfile.TemporaryDirectory() as scratch:
            here = pathlib.Path(scratch)
            for name in ("kept/measurement.json", "run.tar.gz", "log.txt"):
                (here / name).parent.mkdir(exist_ok=True)
                (here / name).write_text('{"schema": "crema.measurement/1"}')
            subprocess.run([CREMA, "run", "-q", "-o", "run", "--", "true"], cwd=here, check=True)
            process = '{"type":"process","schema":"crema.records/1"}'
            (here / "log.txt").write_text(process + "\n")
            for arguments, remedy in (
                (["top", "kept"], "is a measurement without its records; `crema show` prints it"),
                (["serve", "kept"], "is a measurement without its records"),
                (["show", "http://127.0.0.1:8787/status"], "an address is dask:// or taskvine://"),
                (["top", "tcp://127.0.0.1:8786"], "workqueue://, then HOST:PORT"),
                (["top", "dask://http://127.0.0.1:8787/status"], "write dask://HOST:PORT"),
                (["collect", "run.tar.gz", "-o", "out"], "is an archive; unpack it"),
                (["collect", "log.txt", "-o", "out"], "give it a name that ends in .jsonl"),
                (["history", "kept/measurement.json"], "give directories"),
                (["history", "run", "--metric", "wall"], "there is no metric `wall`"),
                (["report", "kept", "-o", "/proc/report.html"], "/proc/report.html: cannot be written"),
            ):
                done = subprocess.run([CREMA, *arguments], cwd=here, capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 1, (arguments, done.stderr))
                self.assertIn(remedy, done.stderr, arguments)


class EmptyPaths(unittest.TestCase):
    # Fault [outputs]: an empty path (`-o ""`, an unset variable)
    # Shown: one line that names the option, status 2; nothing is written
    def test_are_wrong_usage_and_one_line(self):
        for arguments in (
            ("collect", "logs", "-o", ""),
            ("collect", "", "-o", "out"),
            ("collect", "logs", "--coffea-report", "", "-o", "out"),
            ("collect", "logs", "--spill", "", "-o", "out"),
            ("compare", "logs", "logs", "--junit", ""),
            ("export", "logs", "--to", "coffea-fileset", "--expected", "", "-o", "out"),
            ("merge", "a", "b", "-o", ""),
            ("merge", "a", "", "-o", "out"),
            ("run", "-o", "", "--", "true"),
            ("run", "--output=", "--", "true"),
            ("show", ""),
            ("show", "--metrics-by-dataset", ""),
            ("verdict", ""),
            ("compare", "a", ""),
            ("report", ""),
            ("report", "logs", "-o", ""),
            ("report", "logs", "--baseline", ""),
            ("plot", ""),
            ("plot", "logs", "-o", ""),
            ("plot", "logs", "--baseline", ""),
            ("plot", "logs", "--python", ""),
            ("export", "", "--to", "chunks", "-o", "out"),
            ("export", "logs", "--to", "chunks", "-o", ""),
            ("serve", ""),
            ("serve", "logs", "--token-file", ""),
            ("serve", "logs", "--bind", ""),
            ("serve", "logs", "--host", ""),
            ("top", ""),
        ):
            with self.subTest(arguments=arguments), tempfile.TemporaryDirectory() as folder:
                os.mkdir(os.path.join(folder, "logs"))
                result = subprocess.run(
                    [CREMA, *arguments], cwd=folder, capture_output=True, text=True, timeout=60, check=False
                )
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertRegex(result.stderr, rf"^crema: [^\n]*see `crema {arguments[0]} --help`\n$")
                self.assertEqual(os.listdir(folder), ["logs"])

    def test_are_refused_by_each_option_whose_help_says_that_it_takes_a_place(self):
        tried = set()
        for command in re.findall(
            r"(?m)^  ([a-z]+) ", crema("--help").stdout.split("Subcommands:")[1].split("Example:")[0]
        ):
            places = r"ADDRESS|DIR|FILE|PATH|SOURCE"
            help_text = crema(command, "--help").stdout
            options = re.findall(rf"(?m)^  (?:-\w,)?(--[\w-]+) (?:{places})\b", help_text)
            for option in [*options, *re.findall(rf"(?m)^  ({places})\b", help_text)]:
                with self.subTest(command=command, option=option):
                    result = crema(command, option, "") if option.startswith("--") else crema(command, "")
                    self.assertEqual((result.returncode, result.stdout), (2, ""))
                    self.assertEqual(result.stderr, f"crema: {option}: is empty; see `crema {command} --help`\n")
                tried.add(option)
        expected = {"SOURCE", "DIR", "--output", "--before", "--after", "--chart", "--coffea-report", "--bind"}
        self.assertLessEqual(expected, tried)


class Coffea(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.folder)
        self.report = self.folder / "ttbar.json"
        columns = ["Jet_pt-data", "nJet-offsets"]
        report = {"bytesread": 4000, "columns": columns, "entries": 300, "processtime": 12.5, "chunks": 3}
        self.report.write_text(json.dumps(report))

    # Fault [outputs]: standard output is a full disk
    # Shown: one line, status 1
    def test_what_does_not_arrive_on_stdout_is_status_1(self):
        measurement = str(self.folder / "measurement")
        collect = ["collect", "--coffea-report", str(self.report), "-o", measurement]
        for command in (collect, ["doctor"], ["show", measurement], ["verdict", measurement, "--json"]):
            with open("/dev/full", "w") as full:
                result = subprocess.run([CREMA, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(result.returncode, 1, command)
            self.assertEqual(result.stderr, "crema: stdout: No space left on device\n")

    def test_a_report_alone_makes_a_measurement(self):
        measurement = self.folder / "measurement"
        result = crema("collect", "--coffea-report", str(self.report), "-o", str(measurement))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Coffea reports 3 chunks", result.stdout.replace("\n", " "))
        document = json.loads((measurement / "measurement.json").read_text())
        self.assertEqual(document["metrics"]["total_events"], 300)
        self.assertEqual(document["run"]["total_events_source"], "coffea_report")
        shown = crema("show", str(measurement), "--metric", "busy_time", "--json")
        self.assertEqual(json.loads(shown.stdout)["value"], 12.5)
        shown = crema("show", "--coffea-report", str(self.report), "--json")
        self.assertEqual(json.loads(shown.stdout)["metrics"]["num_columns_read"], 2)

    def test_what_had_no_records_is_not_to_be_collected_again(self):
        measurement = str(self.folder / "measurement")
        crema("collect", "--coffea-report", str(self.report), "-o", measurement, "-q")
        refused = crema("predict", measurement)
        self.assertEqual(refused.returncode, 1)
        self.assertRegex(refused.stderr, "made without record logs; measure with `crema run`")

    def test_figures_by_dataset_become_rows(self):
        by_dataset = self.folder / "by_dataset.json"
        by_dataset.write_text(json.dumps({"TTbar": {"entries": 7, "duration": 2.0}}))
        shown = crema("show", "--metrics-by-dataset", str(by_dataset), "--table", "datasets")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("TTbar", shown.stdout)

    def test_a_bad_file_is_status_1_and_one_line(self):
        bad = self.folder / "bad.json"
        for text in ("", "{", "[]", "{}", '{"entries": "many"}', "{'entries': 1}", '{"entries": NaN}'):
            bad.write_text(text)
            for option in ("--coffea-report", "--metrics-by-dataset"):
                result = crema("show", option, str(bad))
                self.assertEqual(result.returncode, 1, text)
                self.assertRegex(result.stderr, r"^crema: [^\n]*bad\.json[^\n]*\n$")

    def test_verdict_is_a_gate(self):
        source = ("verdict", "--coffea-report", str(self.report))
        passed = crema(*source, "--fail-on", "long-tail,failing-chunks")
        self.assertEqual(passed.returncode, 0, passed.stderr)
        self.assertIn("incomplete-measurement", passed.stdout)
        fallen = crema(*source, "--fail-on", "long-tail,incomplete-measurement", "--json")
        self.assertEqual(fallen.returncode, 3)
        self.assertEqual(fallen.stderr, "crema: incomplete-measurement fired\n")
        self.assertEqual(json.loads(fallen.stdout)["failed_on"], ["incomplete-measurement"])
        silent = crema(*source, "--fail-on", "incomplete-measurement", "--quiet")
        self.assertEqual((silent.returncode, silent.stdout), (3, ""))


class Doctor(unittest.TestCase):
    def test_json_says_what_was_found_and_what_a_guard_costs(self):
        result = crema("doctor", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        checks = {check["id"]: check for check in document["checks"]}
        for name in ("clock", "cores", "cgroup", "schedstat", "io", "pss", "children", "pressure", "perf", "limits"):
            self.assertIn(checks[name]["state"], ("good", "limited", "missing"))
        self.assertEqual(checks["cores"]["value"]["source"], "affinity")
        self.assertEqual(checks["cores"]["value"]["cores"], len(os.sched_getaffinity(0)))
        cost = document["guard_cost_ns"]
        self.assertLess(0, cost["off"])
        self.assertLess(cost["off"], cost["section"])
        self.assertLess(cost["section"], cost["chunk"])

    def test_leaves_nothing_behind(self):
        temporary = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, temporary)
        records = os.path.join(temporary, "records")
        crema("doctor", "-q", TMPDIR=temporary, CREMA_DIR=records)
        self.assertEqual(os.listdir(temporary), [])

    def test_says_why_there_is_no_cost(self):
        result = crema("doctor", CREMA_OFF="1")
        self.assertEqual(result.returncode, 0)
        self.assertIn("CREMA_OFF", result.stdout)
        self.assertIsNone(json.loads(crema("doctor", "--json", CREMA_OFF="1").stdout)["guard_cost_ns"])


class Output(unittest.TestCase):
    def test_has_colours_where_they_are_asked_for(self):
        self.assertIn("\x1b[", crema("doctor", "--color=always", NO_COLOR="1", CREMA_OFF="1").stdout)
        self.assertNotIn("\x1b[", crema("doctor", CREMA_OFF="1").stdout)

    def test_is_ascii_where_asked_for_or_where_the_locale_is(self):
        plain = crema("doctor", "--ascii", LC_ALL="C.UTF-8", CREMA_OFF="1").stdout
        self.assertTrue(plain.isascii(), plain)
        self.assertTrue(crema("doctor", LC_ALL="C", CREMA_OFF="1").stdout.isascii())
        self.assertTrue(re.search("[✓▲✕]", crema("doctor", LC_ALL="C.UTF-8", CREMA_OFF="1").stdout))


if __name__ == "__main__":
    unittest.main()
