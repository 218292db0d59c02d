"""`crema run` ends as its command did, whatever happens to crema."""

import os
import signal
import subprocess
import unittest

from run_test_case import CREMA, PATIENCE_SECONDS, RunTestCase


class ExitStatus(RunTestCase):
    def test_is_the_commands(self):
        for status in (0, 3, 255):
            self.assertEqual(self.run_command("sh", "-c", f"exit {status}").returncode, status)
            self.assertEqual(self.end()["exit_status"], status)

    def test_is_the_first_finding_where_the_command_failed(self):
        for end, words in (
            ("exit 3", "exit status 3"),
            ("kill -ABRT $$", "exit status 134, as after signal 6 (aborted)"),
        ):
            shown = self.run_command("sh", "-c", end, options=()).stderr.decode()
            finding = shown.split("what to look at")[1].splitlines()[1]
            self.assertIn(f"The run failed: {words}.", finding)
            self.assertNotIn("nothing stands out", shown.lower())

    def test_is_127_for_a_command_that_is_not_found_and_leaves_nothing(self):
        result = self.run_command("no-such-command-anywhere")
        self.assertEqual(result.returncode, 127)
        self.assertRegex(result.stderr.decode(), r"^crema: no-such-command-anywhere: not found; .*\n$")
        self.assertFalse(self.directory.exists())

    def test_says_that_the_interpreter_of_a_script_is_not_there(self):
        script = self.out / "script"
        script.write_bytes(b"#!/bin/sh\r\nexit 0\r\n")
        script.chmod(0o755)
        result = self.run_command(str(script))
        self.assertEqual(result.returncode, 127)
        self.assertRegex(result.stderr.decode(), r"^crema: .*/script: its interpreter is not there; .*\n$")

    def test_is_126_for_a_command_that_cannot_be_executed(self):
        file = self.out / "data.txt"
        file.write_text("no program")
        result = self.run_command(str(file))
        self.assertEqual(result.returncode, 126)
        self.assertRegex(result.stderr.decode(), r"^crema: .*cannot be executed.*\n$")

    def test_is_125_where_the_directory_cannot_be_made(self):
        (self.out / "run").write_text("a file")
        result = self.run_command("true")
        self.assertEqual(result.returncode, 125)
        self.assertRegex(result.stderr.decode(), r"^crema: .*\n$")

    def test_is_2_for_wrong_usage(self):
        for arguments in (["run"], ["run", "--"], ["run", "--interval", "0", "--", "true"], ["run", "--bogus"]):
            result = subprocess.run([CREMA, *arguments], capture_output=True)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertRegex(result.stderr.decode(), r"^crema: .*\n$")

    def test_stays_when_collecting_fails(self):
        # A directory in the place of the document, which therefore cannot be written.
        result = self.run_command("sh", "-c", "mkdir $CREMA_DIR/../measurement.json; exit 3")
        self.assertEqual(result.returncode, 3)
        self.assertIn(b"crema: no measurement was made", result.stderr)

    def test_stays_when_the_command_removes_its_records(self):
        result = self.run_command("sh", "-c", f"rm -rf {self.directory}; exit 5")
        self.assertEqual(result.returncode, 5)
        self.assertRegex(result.stderr.decode(), r"^crema: .*records was removed while the command ran\n$")

    def test_stays_when_nobody_reads_the_summary(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        self.addCleanup(os.close, write_end)
        process = subprocess.run(
            self.arguments("sh", "-c", "exit 3"), stderr=write_end, env=self.environment, timeout=PATIENCE_SECONDS
        )
        self.assertEqual(process.returncode, 3)

    def test_stays_where_the_caller_ignores_children(self):
        process = subprocess.run(
            self.arguments("sh", "-c", "exit 3", options=["-q"]),
            env=self.environment,
            timeout=PATIENCE_SECONDS,
            preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
        )
        self.assertEqual(process.returncode, 3)


if __name__ == "__main__":
    unittest.main()
