import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

import output_difference
import same_output

HERE = pathlib.Path(__file__).parent
CREMA = pathlib.Path(os.environ.get("CREMA_PROGRAM", "collector/cli/crema")).resolve()
# A program that runs crema, and then applies `change` to the output of the command `name`, or of all commands if there
# is not a name.
WRAPPER = """#!/usr/bin/python3
import os, pathlib, subprocess, sys
if {name!r} not in ("", *sys.argv[1:2]) or sys.argv[1:2] == ["serve"]:
    os.execv({crema!r}, [{crema!r}, *sys.argv[1:]])
done = subprocess.run([{crema!r}, *sys.argv[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
out, err, status = done.stdout, done.stderr, done.returncode
if "--help" not in sys.argv or not {name!r}:
    {change}
sys.stdout.buffer.write(out)
sys.stderr.buffer.write(err)
sys.exit(status)
"""
LIVE_PAGE = "| GET | answer |\n|---|---|\n| `/api/v1` | all |\n| `/api/v1/run` | the run |\n"


class SameOutputTest(unittest.TestCase):
    """On a small checkout: the run that tests invent, and a directory of its logs."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        cls.addClassCleanup(shutil.rmtree, cls.scratch, ignore_errors=True)
        cls.inputs = cls.scratch / "checkout"
        (cls.inputs / "collector/cli").mkdir(parents=True)
        shutil.copy(HERE.parent / "collector/cli/invented_run.py", cls.inputs / "collector/cli")
        (cls.inputs / "docs").mkdir()
        (cls.inputs / "docs/live_api.md").write_text(LIVE_PAGE)

    def wrapper(self, name="", change="pass"):
        path = self.scratch / f"wrapper_{self._testMethodName}_{name}"
        path.write_text(WRAPPER.format(crema=str(CREMA), name=name, change=change))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def compare(self, new, *options):
        """The exit status, the lines of differences, and the summary."""
        command = [
            sys.executable,
            HERE / "same_output.py",
            CREMA,
            new,
            "--inputs",
            self.inputs,
            "--records=0",
            *options,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        *lines, summary = done.stdout.splitlines()
        return done.returncode, [line for line in lines if not line.startswith("not compared")], summary

    def assert_found(self, change, command, where, name="verdict", kind="different"):
        status, lines, summary = self.compare(
            self.wrapper(name, change), "--only=invented/*", f"--commands={command},collect"
        )
        self.assertEqual(status, 1, summary)
        self.assertIn(f"{kind}: invented/run: {command}: {where}", "\n".join(lines))
        self.assertEqual([line for line in lines if f" {command}: " not in line], [])

    def test_a_program_that_changes_nothing_has_no_difference(self):
        status, lines, summary = self.compare(self.wrapper(), "--quick")
        self.assertEqual((status, lines), (0, []), summary)
        counted = int(summary.split()[0])
        self.assertGreater(counted, 100)
        self.assertIn(f" {counted - self.missing(summary)} equal, 0 different, 0 not deterministic", summary)

    @staticmethod
    def missing(summary):
        return int(summary.split(" not compared")[0].split()[-1])

    def test_one_byte_of_stdout_is_found_with_its_offset(self):
        self.assert_found("out = out[:7] + b'#' + out[8:]", "verdict", "stdout at 7: ")

    def test_the_exit_status_is_compared(self):
        self.assert_found("status = 9", "verdict", "status at 0: '0\\n' | '9\\n'")

    def test_stderr_is_compared(self):
        self.assert_found("err += b'a word'", "verdict", "stderr at 0: '' | 'a word'")

    def test_one_byte_of_a_file_is_found(self):
        change = "p = pathlib.Path('csv/run.csv'); p.write_bytes(p.read_bytes()[:-1] + b'#')"
        self.assert_found(change, "export-csv", "csv/run.csv at ", name="export")

    def test_a_file_that_only_one_wrote_is_found(self):
        change = "pathlib.Path('more').write_text('')"
        self.assert_found(change, "export-csv", "more only NEW wrote it", name="export")

    def test_a_program_that_changes_its_input_is_found(self):
        change = "p = pathlib.Path('../measured/measurement.json'); p.write_bytes(p.read_bytes() + b' ')"
        self.assert_found(change, "verdict", "changed its input only NEW wrote it")

    def test_a_difference_in_one_table_does_not_hide_another(self):
        change = "out = out.replace(b'ttbar', b'tt', 1)"
        status, lines, _ = self.compare(
            self.wrapper("show", change), "--only=invented/run", "--commands=show-tables@80", "--quick"
        )
        self.assertEqual((status, lines), (0, []))  # --quick has no such width
        status, lines, _ = self.compare(
            self.wrapper("show", change), "--only=invented/run", "--commands=show-tables@80"
        )
        self.assertEqual(status, 1)
        tables = {line.split(": ")[2] for line in lines}
        self.assertLessEqual({"show-datasets@80", "show-files@80"}, tables)
        self.assertNotIn("show-tables@80", tables)

    def test_a_measurement_that_differs_is_read_by_its_own_program_too(self):
        change = (
            "p = pathlib.Path('measured/measurement.json'); "
            "p.write_bytes(p.read_bytes().replace(b'\"ttbar\"', b'\"ttba\"'))"
        )
        status, lines, _ = self.compare(self.wrapper("collect", change), "--only=invented/run", "--commands=show-json")
        self.assertEqual(status, 1)
        self.assertEqual([line.split(": ")[2] for line in lines], ["own:show-json"])

    def test_what_differs_from_run_to_run_is_not_deterministic(self):
        change = "import time; out += str(time.time_ns()).encode()"
        wrapper = self.wrapper("verdict", change)
        self.assert_found(change, "verdict", "stdout at ")  # only NEW does this
        command = [sys.executable, HERE / "same_output.py", wrapper, CREMA, "--inputs", self.inputs, "--records=0"]
        command += ["--only=invented/run", "--commands=verdict"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("not deterministic: invented/run: verdict: stdout at ", done.stdout)
        self.assertIn(" 0 different, 1 not deterministic", done.stdout)

    def test_answers_of_the_server_are_compared(self):
        wrapper = self.scratch / "serves_another_name"
        wrapper.write_text(f'#!/bin/sh\ncase $1 in serve) exec {CREMA} "$@" --name other ;; esac\nexec {CREMA} "$@"\n')
        wrapper.chmod(0o755)
        status, lines, _ = self.compare(wrapper, "--only=invented/run", "--commands=serve")
        self.assertEqual(status, 1)
        found = "\n".join(lines)
        for file in ("api/v1/all", "api/v1/run", "metrics", "served_report.html"):
            self.assertIn(f"different: invented/run: serve: {file} at ", found)
        # on a busy machine the last second may come after the question
        self.assertRegex(found, r"(different|not deterministic): invented/run: serve: api/live_since=0 at ")
        self.assertNotIn("api/v1/no-such-document", found)

    def test_names_that_only_one_program_has_are_found(self):
        change = "out = out.replace(b'Tables: run,', b'Tables: run, more,')"
        status, lines, _ = self.compare(self.wrapper("", change), "--only=none", "--commands=names")
        self.assertEqual(status, 1)
        self.assertEqual(lines, ["different: program: names: tables/more only NEW wrote it"])

    def test_wanted_differences_are_allowed_and_those_not_found_are_named(self):
        allowed = self.scratch / "allowed"
        allowed.write_text(
            "# steps\ninvented/* verdict std?ut the sentence is new\nnowhere * * this is in no case at all\n"
        )
        wrapper = self.wrapper("verdict", "out += b'a sentence'")
        options = ["--only=invented/run", "--commands=verdict", f"--allow={allowed}"]
        status, lines, summary = self.compare(wrapper, *options)
        self.assertEqual((status, lines), (0, ["allowed, but not found: nowhere * *"]))
        self.assertTrue(summary.endswith("; 1 allowed differences"), summary)
        allowed.write_text("invented/* verdict stdout\n")
        with self.assertRaises(ValueError):
            same_output.read_allowed(allowed)

    def test_inputs_that_are_not_there_are_named(self):
        command = [sys.executable, HERE / "same_output.py", CREMA, CREMA, "--inputs", self.inputs]
        command += ["--make-logs=/nowhere", "--only=none", "--commands=none"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertIn("not compared: tests/simulated/simulated_run.py: *: not in", done.stdout)
        self.assertIn("not compared: made_records: *: /nowhere is not there", done.stdout)


class MasksTest(unittest.TestCase):
    def test_only_times_of_now_are_masked_in_events(self):
        now = output_difference.STARTED_NS
        text = f'"time_ns": {now - 1}, "time_ns": {now + 1}'.encode()
        masked = output_difference.masked(text, "files/api/v1/events", "serve")
        self.assertEqual(masked, f'"time_ns": {now - 1}, "time_ns": MASKED'.encode())
        self.assertEqual(output_difference.masked(text, "files/api/v1/run", "serve"), text)


if __name__ == "__main__":
    unittest.main()
