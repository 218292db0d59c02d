"""`crema run` replaces what it wrote itself, and nothing else."""

import subprocess
import unittest

from run_test_case import CREMA, RunTestCase, wait_for


class OutputDirectory(RunTestCase):
    def test_is_replaced_where_crema_wrote_it(self):
        self.run_command("sh", "-c", "exit 1")
        self.assertEqual(self.run_command("sh", "-c", "exit 2").returncode, 2)
        self.assertEqual(self.end()["exit_status"], 2)
        self.assertEqual(sorted(path.name for path in self.directory.iterdir()), ["measurement.json", "records"])

    def test_is_as_before_when_the_command_does_not_start(self):
        self.run_command("sh", "-c", "exit 1")
        self.assertEqual(self.run_command("no-such-command-anywhere").returncode, 127)
        self.assertEqual(self.end()["exit_status"], 1)
        self.assertTrue((self.directory / "measurement.json").exists())

    def test_with_files_of_others_is_refused_unless_forced(self):
        self.directory.mkdir()
        precious = self.directory / "thesis.tex"
        precious.write_text("precious")
        result = self.run_command("true")
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"thesis.tex", result.stderr)
        self.assertEqual(self.run_command("true", options=("-q", "--force")).returncode, 0)
        self.assertEqual(precious.read_text(), "precious")

    def test_in_use_is_refused(self):
        self.start_python('say("ready", 1); time.sleep(600)')
        wait_for((self.out / "ready").exists)
        result = self.run_command("true")
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"still writing", result.stderr)

    def test_has_a_name_of_its_own_by_default(self):
        for _ in range(2):
            subprocess.run([CREMA, "run", "-q", "--", "true"], cwd=self.out, env=self.environment, check=True)
        self.assertEqual(len(list(self.out.glob("crema-*/records/*.tree.ndjson"))), 2)


if __name__ == "__main__":
    unittest.main()
