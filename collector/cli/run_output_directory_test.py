"""Where `crema run` writes, and what happens to files that were there before."""

import json
import os
import subprocess
import time
import unittest

from run_test_case import CREMA, RunTestCase, wait_for


class OutputDirectory(RunTestCase):
    def older(self):
        return sorted(path for path in self.out.glob("run.*"))

    def test_keeps_the_older_measurement_under_the_time_of_its_start(self):
        self.run_command("sh", "-c", "exit 1")
        (self.directory / "report.html").write_text("made from it")
        start_ns = json.loads((self.directory / "measurement.json").read_text())["run"]["start_ns"]
        result = self.run_command("sh", "-c", "exit 2", options=())
        self.assertEqual(result.returncode, 2)
        self.assertEqual(self.end()["exit_status"], 2)
        self.assertEqual(sorted(path.name for path in self.directory.iterdir()), ["measurement.json", "records"])
        (older,) = self.older()
        self.assertEqual(older.name, time.strftime("run.%Y%m%dT%H%M%SZ", time.gmtime(start_ns // 10**9)))
        self.assertEqual(sorted(path.name for path in older.iterdir()), ["measurement.json", "records", "report.html"])
        self.assertIn(str(older).encode(), result.stderr)

    # Fault [outputs]: a run was killed, and is started again into the same directory
    # Shown: the new one; what the killed one recorded under the time of its start
    def test_keeps_the_records_of_a_run_that_was_killed(self):
        self.run_command("true")
        (self.directory / "measurement.json").unlink()
        self.assertEqual(self.run_command("true").returncode, 0)
        (older,) = self.older()
        self.assertEqual([path.name for path in older.iterdir()], ["records"])

    def test_throws_the_older_one_away_where_asked(self):
        self.run_command("sh", "-c", "exit 1")
        self.assertEqual(self.run_command("sh", "-c", "exit 2", options=("-q", "--replace")).returncode, 2)
        self.assertEqual(self.end()["exit_status"], 2)
        self.assertEqual([path.name for path in self.out.iterdir()], ["run"])

    def test_is_where_a_link_leads(self):
        scratch = self.out / "scratch"
        scratch.mkdir()
        self.directory.symlink_to(scratch)
        for status in (1, 2):
            self.assertEqual(self.run_command("sh", "-c", f"exit {status}").returncode, status)
        self.assertTrue(self.directory.is_symlink())
        self.assertEqual(self.end()["exit_status"], 2)
        self.assertEqual(len(list(self.out.glob("scratch.*"))), 1)

    def test_may_be_the_current_directory_which_stays(self):
        here = self.out / "here"
        here.mkdir()
        before = here.stat().st_ino
        for name in (".", "./", "../here", str(here), "nowhere/.."):
            with self.subTest(name=name):
                command = [CREMA, "run", "-q", "-o", name, "--", "sh", "-c", "pwd > beside"]
                result = subprocess.run(command, cwd=here, env=self.environment, capture_output=True)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(len(list(here.glob("records/*.tree.ndjson"))), 1)
                self.assertEqual((here / "beside").read_text(), f"{here}\n")
        self.assertEqual(here.stat().st_ino, before)
        self.assertEqual(len(list(self.out.glob("here.*"))), 4)

    # Fault [outputs]: several `crema run -o DIR` begin at once
    # Shown: one runs; the others say in one line that DIR is in use, and run nothing (status 125)
    def test_is_one_runs_where_several_begin_at_once(self):
        for older in (False, True):
            with self.subTest(older=older):
                self.directory = self.out / f"raced{older}"
                if older:
                    self.assertEqual(self.run_command("true").returncode, 0)
                gate = self.out / f"gate{older}"
                command = f"cat {gate} >/dev/null; echo; : > {self.out}/done-$$"
                os.mkfifo(gate)
                runs = [
                    subprocess.Popen(
                        self.arguments("sh", "-c", command, options=("-q",)),
                        env=self.environment,
                        stderr=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                    )
                    for _ in range(8)
                ]
                for run in runs:
                    self.addCleanup(run.wait)
                    self.addCleanup(run.kill)
                wait_for(lambda runs=runs: sum(run.poll() is not None for run in runs) >= 7)
                with open(gate, "wb"):
                    pass
                results = sorted(run.wait() for run in runs)
                self.assertEqual(results, [0] + [125] * 7)
                for run in runs:
                    _, stderr = run.communicate()
                    if run.returncode == 125:
                        self.assertRegex(stderr, rb"^crema: [^\n]*writing into it[^\n]*\n$")
                self.assertEqual(len(list(self.directory.glob("records/*.tree.ndjson"))), 1)
                self.assertEqual(len(list(self.out.glob(f"{self.directory.name}.*"))), int(older))

    def test_is_as_before_when_the_command_does_not_start(self):
        self.run_command("sh", "-c", "exit 1")
        self.assertEqual(self.run_command("no-such-command-anywhere").returncode, 127)
        self.assertEqual(self.end()["exit_status"], 1)
        self.assertTrue((self.directory / "measurement.json").exists())
        self.assertEqual([path.name for path in self.out.iterdir()], ["run"])

    def test_that_was_new_is_gone_when_the_command_does_not_start(self):
        self.assertEqual(self.run_command("no-such-command-anywhere").returncode, 127)
        self.assertEqual(list(self.out.iterdir()), [])

    def test_among_files_of_others_is_as_before_when_the_command_does_not_start(self):
        self.run_command("sh", "-c", "exit 1")
        (self.directory / "thesis.tex").write_text("precious")
        self.assertEqual(self.run_command("no-such-command-anywhere", options=("-q", "--force")).returncode, 127)
        self.assertEqual(self.end()["exit_status"], 1)
        self.assertEqual(
            sorted(path.name for path in self.directory.iterdir()), ["measurement.json", "records", "thesis.tex"]
        )

    # Fault [outputs]: the directory of a run has files that crema did not write
    # Shown: one line, and nothing is run; with `--force` they stay where they are
    def test_with_files_of_others_is_refused_unless_forced(self):
        self.directory.mkdir()
        precious = self.directory / "thesis.tex"
        precious.write_text("precious")
        result = self.run_command("true")
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"thesis.tex", result.stderr)
        self.assertEqual(self.run_command("true", options=("-q", "--force")).returncode, 0)
        self.assertEqual(precious.read_text(), "precious")
        self.assertEqual(self.run_command("sh", "-c", "exit 2", options=("-q", "--force")).returncode, 2)
        self.assertEqual(precious.read_text(), "precious")
        (older,) = self.older()
        self.assertEqual(sorted(path.name for path in older.iterdir()), ["measurement.json", "records"])

    def test_in_use_is_refused(self):
        self.start_python('say("ready", 1); time.sleep(600)')
        wait_for((self.out / "ready").exists)
        result = self.run_command("true")
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"another crema is writing into it", result.stderr)

    def test_has_a_name_of_its_own_by_default(self):
        for _ in range(2):
            subprocess.run([CREMA, "run", "-q", "--", "true"], cwd=self.out, env=self.environment, check=True)
        self.assertEqual(len(list(self.out.glob("crema-*/records/*.tree.ndjson"))), 2)


if __name__ == "__main__":
    unittest.main()
