"""Lines `next:`: no command names one that refuses, and what has no answer names the step that leads to one."""

import os
import pathlib
import pty
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from collector.cli import invented_run

CREMA = str(pathlib.Path(__file__).absolute().parent / "crema")
ENGINES = pathlib.Path("collector/engines/testdata").absolute()
OTHERS = pathlib.Path("collector/sources").absolute()
PLACEHOLDER = r"\b(COMMAND|BEFORE|AFTER|RUN|DIR)\b"
WITHOUT_CHUNKS = (
    "plain",
    "slurm/jobs.txt",
    "htcondor/jobs.log",
    "vine-run-info",
    "work_queue/transactions.log",
    "prmon",
)
# `even` is predicted. The others have too few chunks with a record, no wall time, no records, or a replay that misses.
NOT_PREDICTED = (*WITHOUT_CHUNKS, "logs", "no_records", "roastcoffea", "collected_roastcoffea", "on_slurm", "on_vine")
FORMATS = "chunks coffea-fileset csv roastcoffea prometheus perfetto folded stacks speedscope pprof cms-resources prmon"


def environment():
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
    return {**kept, "COLUMNS": "1000"}  # room for all paths


def write_even_run(directory):
    """Two workers of 16 chunks that follow each other, until the run ends: a replay takes as long."""
    for pid in (201, 202):
        lines = [invented_run.process_line(pid, run_id="even")]
        for number in range(16):
            place = invented_run.place(number + 100 * pid, "ttbar")
            stop = (number + 1) / 2
            lines.append(invented_run.chunk_line(number, number / 2, stop, **place))
        lines.append(invented_run.end_line(8, 16))
        invented_run.write_log(directory, lines)


class NextStepsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        invented_run.write_run(cls.scratch / "logs")
        write_even_run(cls.scratch / "even")
        for name in ("slurm", "htcondor", "taskvine", "work_queue"):
            shutil.copytree(ENGINES / name, cls.scratch / name)
        shutil.copytree(ENGINES / "taskvine/vine-run-info", cls.scratch / "vine-run-info")
        shutil.copytree(OTHERS / "prmon/testdata", cls.scratch / "prmon")
        shutil.copytree(OTHERS / "roastcoffea/testdata/measurement", cls.scratch / "roastcoffea")
        for command in (
            "run -q -o plain -- true",
            "collect -q even --no-records -o no_records",
            "collect -q roastcoffea -o collected_roastcoffea",
            f"collect -q slurm/records {WITHOUT_CHUNKS[1]} -o on_slurm",
            "collect -q taskvine/records vine-run-info -o on_vine",
        ):
            done = cls.crema(*command.split())
            assert done.returncode == 0, done.stderr

    @classmethod
    def crema(cls, *arguments, **keywords):
        keywords = {"capture_output": True, **keywords}
        command = [CREMA, *arguments]
        return subprocess.run(command, text=True, cwd=cls.scratch, env=environment(), timeout=300, **keywords)

    def on_terminal(self, *arguments):
        """What it writes to a terminal."""
        terminal, end = pty.openpty()
        self.addCleanup(os.close, terminal)
        process = subprocess.Popen([CREMA, *arguments], stdout=end, stderr=end, cwd=self.scratch, env=environment())
        os.close(end)
        shown = b""
        try:
            while data := os.read(terminal, 1 << 16):
                shown += data
        except OSError:  # EIO: nobody writes any more
            pass
        self.assertEqual(process.wait(300), 0, shown)
        return shown.decode(errors="replace").replace("\r\n", "\n")

    def steps_of(self, text):
        return re.findall(r"^next: (.*?)(?:  \(.*)?$", text, re.MULTILINE)

    def assert_leads_on(self, text, *command):
        """Whether a command that it names can be typed, and is one that ends well."""
        steps = self.steps_of(text)
        self.assertEqual(len(steps), 1, (command, text))
        if steps[0].startswith("crema ") and not re.search(PLACEHOLDER, steps[0]):
            following = self.crema(*shlex.split(steps[0])[1:])
            self.assertEqual(following.returncode, 0, (command, steps[0], following.stderr))
        return steps[0]

    def test_no_command_names_one_that_refuses(self):
        for source in ("even", *NOT_PREDICTED):
            for command in (
                ("show", source),
                ("verdict", source),
                ("compare", "even", source),
                ("compare", "--before", "even", "--after", source),
                ("report", source, "-o", "page.html"),
                ("scaling", "even", source),
            ):
                with self.subTest(command=command):
                    done = self.crema(*command)
                    self.assertIn(done.returncode, (0, 1) if command[0] == "scaling" else (0,), done.stderr)
                    self.assert_leads_on(done.stdout + done.stderr, *command)
            for command in (("predict", source), ("scaling", source)):
                with self.subTest(command=command):
                    done = self.crema(*command)
                    self.assertEqual(done.returncode, 0 if source == "even" else 1)
                    if not done.stderr:  # without records there is only one line, which says so
                        self.assert_leads_on(done.stdout, *command)

    def test_a_sentence_names_the_run_in_its_commands(self):
        seen = set()
        for source in ("even", *NOT_PREDICTED):
            for command in (("show", source), ("verdict", source), ("show", source, "--table", "quality")):
                with self.subTest(command=command):
                    text = self.crema(*command).stdout
                    self.assertNotRegex(text, r"crema (show|export) (--|RUN)")
                    for table in re.findall(rf"crema show {source} --table (\w+)", text):
                        self.assertEqual(self.crema("show", source, "--table", table).returncode, 0, table)
                        seen.add(table)
        self.assertIn("quality", seen)
        document = self.crema("show", "even", "--json").stdout
        self.assertIn("crema show --table", self.crema("show", "-", input=document).stdout)

    def test_predict_is_named_only_where_it_answers(self):
        for command in (("verdict",), ("compare", "plain"), ("compare", "--before", "plain", "--after"), ("scaling",)):
            self.assertEqual(self.steps_of(self.crema(*command, "even").stdout), ["crema predict even"], command)
            for source in NOT_PREDICTED:
                self.assertNotIn("crema predict", self.crema(*command, source).stdout, (command, source))

    def test_where_nothing_was_predicted_no_change_brought_anything(self):
        self.assertEqual(self.steps_of(self.crema("predict", "even").stdout), ["crema compare even AFTER"])
        done = self.crema("predict", "even", "--chunk-events", "5000")
        self.assertNotIn("what the change brought", done.stdout)
        self.assertEqual(self.steps_of(done.stdout), ["crema predict even"])

    def test_a_chosen_run_is_chosen_in_the_next_step_too(self):
        shutil.copytree(self.scratch / "even", self.scratch / "two_runs")
        invented_run.write_run(self.scratch / "two_runs", run_id="other", first_pid=900)
        for command in ("show", "verdict"):
            done = self.crema(command, "two_runs", "--run", "even")
            self.assertRegex(self.assert_leads_on(done.stdout, command), "two_runs --run even$")

    def test_a_run_is_named_by_its_own_command_where_it_can_be_typed(self):
        words = ["sh", "-c", 'echo "it\'s $0" >typed', "a b"]
        self.crema("run", "-q", "-o", "a run's", "--", *words)
        (self.scratch / "typed").unlink()
        step = self.assert_leads_on(self.crema("report", "a run's", "-o", "page.html").stderr, "report")
        self.assertEqual(shlex.split(step), ["crema", "run", "--", *words])
        self.assertEqual((self.scratch / "typed").read_text(), "it's a b\n")
        self.assertEqual(self.steps_of(self.crema("show", "a run's").stdout), ["crema report 'a run'\\''s'"])
        for command in (["true", "--token=abc"], ["true", "a" * 2000], ["true", "a\nb"]):
            self.crema("run", "-q", "-o", "no_words", "--replace", "--", *command)
            step = self.assert_leads_on(self.crema("report", "no_words", "-o", "page.html").stderr, "report")
            self.assertEqual(step, "crema run -- COMMAND")

    def test_a_run_whose_stacks_were_asked_for_says_that_it_has_none(self):
        done = self.crema("run", "--stacks", "-o", "no_stacks", "--", "true")
        self.assertIn("crema: no chunk was recorded: stacks and waits need guards", done.stderr)
        self.assertNotIn("waits need guards", self.crema("run", "-o", "no_stacks", "--replace", "--", "true").stderr)

    def test_stacks_and_waits_of_a_command_without_guards_need_guards(self):
        for table in ("functions", "waits"):
            shown = self.on_terminal("show", "plain", "--table", table)
            self.assertIn("need guards", shown)
            self.assertNotIn("crema run --", shown.replace("crema run -- true", ""))
            self.assert_leads_on(shown, table)
            self.assertIn(
                "crema run --" + table.replace("functions", "stacks"),
                self.on_terminal("show", "even", "--table", table),
            )
        for name in ("stacks", "speedscope", "pprof"):
            done = self.crema("export", "plain", "--to", name, "-o", "nothing")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"^crema: [^\n]*need guards[^\n]*TrackMetrics[^\n]*\n$")

    def test_tables_figures_and_lists_lead_on_where_a_person_reads_them(self):
        unknown = self.crema("show", "even", "--table", "none").stderr
        for table in re.search(r"{(.*)}", unknown)[1].split(","):
            self.assertEqual(len(self.steps_of(self.on_terminal("show", "even", "--table", table))), 1, table)
        for command in (
            ("show", "even", "--metric", "wall_time"),
            ("show", "plain", "--table", "processes"),
            ("plot", "plain", "--list"),
            ("plot", "--list"),
        ):
            self.assert_leads_on(self.on_terminal(*command), *command)
            self.assertEqual(self.steps_of(self.on_terminal(*command, "-q")), [], command)
            piped = self.crema(*command)
            self.assertNotIn("next:", piped.stdout + piped.stderr)

    def test_exports_say_who_reads_them(self):
        for source in ("even", *NOT_PREDICTED):
            for name in FORMATS.split():
                out = f"{name}-{source.replace('/', '-')}"
                done = self.crema("export", source, "--to", name, "-o", out)
                with self.subTest(source=source, format=name):
                    if done.returncode != 0:
                        self.assertRegex(done.stderr.splitlines()[-1], "^crema: ")
                        self.assertFalse((self.scratch / out).exists())
                        continue
                    step = self.assert_leads_on(done.stderr, "export", source, name)
                    if name == "coffea-fileset" and (self.scratch / out).read_text() == "{}\n":
                        why = "no chunk was recorded" if source in WITHOUT_CHUNKS else "nothing is left"
                        self.assertIn(why, done.stderr)
                        self.assertIn("crema report", step)
                    else:
                        self.assertIn(out, step)
                    if source == "even":
                        self.assertNotIn("next:", self.crema("export", source, "--to", name, "-o", out, "-q").stderr)

    def test_an_export_that_would_hold_nothing_is_refused(self):
        for source in WITHOUT_CHUNKS:
            for out in ("none.jsonl", "none.csv"):
                done = self.crema("export", source, "--to", "chunks", "-o", out)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, r"^crema: [^\n]*TrackMetrics[^\n]*\n$")
                self.assertFalse((self.scratch / out).exists())
            piped = self.crema("export", source, "--to", "chunks", "-o", "-")
            self.assertEqual((piped.returncode, piped.stdout), (0, ""), "a program reads that there are none")
            if source == "plain":
                continue  # its processes were sampled
            done = self.crema("export", source, "--to", "perfetto", "-o", "none.json")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"^crema: [^\n]*crema run samples [^\n]*\n$")
            self.assertFalse((self.scratch / "none.json").exists())

    def test_history_of_few_runs_says_how_many_it_needs_and_how_to_get_them(self):
        shutil.copytree(self.scratch / "plain", self.scratch / "nightly/1")
        done = self.crema("history", "nightly", "--metric", "wall_time")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("8 are needed", done.stdout)
        self.assertEqual(self.steps_of(done.stdout), ["crema run -o DIR/NAME -- COMMAND"])
        self.assertNotIn("next:", self.crema("history", "nightly", "--metric", "wall_time", "--json").stdout)
        for number in range(2, 9):
            done = self.crema("run", "-q", "-o", f"nightly/{number}", "--", "true")
        self.assert_leads_on(self.crema("history", "nightly", "--metric", "wall_time").stdout, "history")

    def test_doctor_leads_to_the_first_run(self):
        self.assertEqual(self.steps_of(self.crema("doctor").stdout), ["crema run -- COMMAND"])
        for options in (["-q"], ["--json"]):
            self.assertNotIn("next:", self.crema("doctor", *options).stdout)


if __name__ == "__main__":
    unittest.main()
