"""If Python, the C library or the program is not what the package needs, one line names the remedy."""

import pathlib
import re
import subprocess
import unittest

import installed

PROGRAM_OF = """
import sys
from crema_hep import program, requirements
requirements.glibc_version = lambda: {glibc}
program.pathlib.Path.exists = lambda path: True  # the wheel's program
print(program.path())
"""
SCRIPT = """#!/usr/bin/env python3
from crema_hep.program import main
main()
"""


def older_pythons():
    folder = pathlib.Path.home() / ".pyenv/versions"
    found = [path for path in sorted(folder.glob("3.*/bin/python")) if 6 <= int(path.parts[-3].split(".")[1]) < 10]
    return [*found, *(path for path in [pathlib.Path("/usr/bin/python3.9")] if path.exists())]


class RequirementsTest(installed.RecordedTest):
    def import_with(self, python):
        return self.run_program("import crema_hep", python=str(python))

    def test_an_old_python_is_told_what_to_do(self):
        pythons = older_pythons()
        if not pythons:
            self.skipTest("no Python older than 3.10 in ~/.pyenv/versions")
        for python in pythons:
            with self.subTest(str(python)):
                done = self.import_with(python)
                self.assertEqual(done.returncode, 1)
                last = done.stderr.splitlines()[-1]
                self.assertRegex(
                    last, r"^ImportError: crema_hep needs Python 3\.10 or newer, and this is 3\.\d \(/.*venv"
                )

    def test_an_old_glibc_or_none_is_told_instead_of_started(self):
        for glibc, named in (("(2, 31)", "glibc 2.31"), ("None", "another C library")):
            done = self.run_program(PROGRAM_OF.format(glibc=glibc), CREMA_PROGRAM="")
            self.assertEqual(done.returncode, 1)
            last = done.stderr.splitlines()[-1]
            self.assertIn(f"need glibc 2.34, and this system has {named}: use AlmaLinux 9", last)

    def test_glibc_that_is_new_enough_has_its_program(self):
        done = self.run_program(PROGRAM_OF.format(glibc="(2, 34)"), CREMA_PROGRAM="")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.endswith("crema_hep/bin/crema\n"))

    def test_a_measured_command_gets_signals_as_they_are(self):
        plain = subprocess.run(
            ["grep", "SigIgn", "/proc/self/status"], capture_output=True, text=True, check=True
        ).stdout
        done = self.run_program(SCRIPT, "run", "-q", "-o", "measured", "--", "grep", "SigIgn", "/proc/self/status")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, plain, ""))

    def test_this_glibc_is_known(self):
        printed = subprocess.check_output(["ldd", "--version"], text=True).splitlines()[0]
        version = tuple(map(int, re.search(r"(\d+)\.(\d+)$", printed).groups()))
        done = self.run_program("from crema_hep import requirements; print(requirements.glibc_version())")
        self.assertEqual(done.stdout, f"{version}\n")

    def test_without_a_program_the_command_says_how_to_install(self):
        script = self.folder / "bin/crema"  # as pip writes it, where the package came without its native parts
        script.parent.mkdir()
        script.write_text(SCRIPT)
        script.chmod(0o755)
        for path in (f"{script.parent}:/usr/bin:/bin", "/usr/bin:/bin"):
            environment = self.environment(CREMA_PROGRAM="", PATH=path)
            done = subprocess.run([script, "--version"], env=environment, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(
                done.stderr, r"^crema: this installation of crema_hep has no program: install the wheel[^\n]*\n$"
            )


if __name__ == "__main__":
    unittest.main(verbosity=2)
